// Checks data/*.yaml and writes it as constant-initialised C++: nothing is parsed when the program starts.
//
//   embed_catalog OUTPUT.cpp data/gpus.yaml data/links.yaml …

#include "../src/catalog/dataset.hpp"
#include "../src/catalog/fields.hpp"

#include <gpuplan/base/text.hpp>

#include <cstdio>
#include <exception>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

namespace gpuplan {
namespace {

constexpr std::size_t kBuiltInNodes = 2'000'000;

std::string literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte >= 0x7f) {
      char octal[8];
      std::snprintf(octal, sizeof octal, "\\%03o", byte);
      out += octal;
    } else {
      out += c;
    }
  }
  return out + "\"sv";
}

template <class T>
constexpr std::string_view type_name() {
  if constexpr (std::same_as<T, Bytes>) return "Bytes";
  if constexpr (std::same_as<T, BytesPerSecond>) return "BytesPerSecond";
  if constexpr (std::same_as<T, FlopPerSecond>) return "FlopPerSecond";
  if constexpr (std::same_as<T, Watts>) return "Watts";
  if constexpr (std::same_as<T, Seconds>) return "Seconds";
  return "";
}
template <class E>
constexpr std::string_view enum_type() {
  if constexpr (std::same_as<E, PeerToPeer>) return "PeerToPeer";
  if constexpr (std::same_as<E, FabricShape>) return "FabricShape";
  if constexpr (std::same_as<E, LinkCategory>) return "LinkCategory";
  if constexpr (std::same_as<E, NormKind>) return "NormKind";
  if constexpr (std::same_as<E, QkNorm>) return "QkNorm";
  if constexpr (std::same_as<E, Contract>) return "Contract";
  if constexpr (std::same_as<E, PriceScope>) return "PriceScope";
  if constexpr (std::same_as<E, PriceUnit>) return "PriceUnit";
  if constexpr (std::same_as<E, Vat>) return "Vat";
  if constexpr (std::same_as<E, Confidence>) return "Confidence";
  if constexpr (std::same_as<E, Availability>) return "Availability";
  if constexpr (std::same_as<E, OffState>) return "OffState";
  if constexpr (std::same_as<E, StorageKind>) return "StorageKind";
  if constexpr (std::same_as<E, StorageScope>) return "StorageScope";
}

template <class R>
constexpr std::string_view record_type() {
  if constexpr (std::same_as<R, Accelerator>) return "Accelerator";
  if constexpr (std::same_as<R, Link>) return "Link";
  if constexpr (std::same_as<R, NodeDesign>) return "NodeDesign";
  if constexpr (std::same_as<R, ModelPreset>) return "ModelPreset";
  if constexpr (std::same_as<R, Engine>) return "Engine";
  if constexpr (std::same_as<R, TrainingFramework>) return "TrainingFramework";
  if constexpr (std::same_as<R, Runtime>) return "Runtime";
  if constexpr (std::same_as<R, EngineFormat>) return "EngineFormat";
  if constexpr (std::same_as<R, CollectiveSpeed>) return "CollectiveSpeed";
  if constexpr (std::same_as<R, EngineInterval>) return "EngineInterval";
  if constexpr (std::same_as<R, EngineRelease>) return "EngineRelease";
  if constexpr (std::same_as<R, Provider>) return "Provider";
  if constexpr (std::same_as<R, HostParts>) return "HostParts";
  if constexpr (std::same_as<R, Offer>) return "Offer";
  if constexpr (std::same_as<R, TokenPrice>) return "TokenPrice";
  if constexpr (std::same_as<R, StoragePrice>) return "StoragePrice";
  if constexpr (std::same_as<R, CpuServer>) return "CpuServer";
  if constexpr (std::same_as<R, ProviderTerms>) return "ProviderTerms";
  if constexpr (std::same_as<R, StorageClass>) return "StorageClass";
  if constexpr (std::same_as<R, FrameworkPackage>) return "FrameworkPackage";
  if constexpr (std::same_as<R, FrameworkRelease>) return "FrameworkRelease";
  if constexpr (std::same_as<R, CudaRelease>) return "CudaRelease";
  if constexpr (std::same_as<R, OwnedHardware>) return "OwnedHardware";
  if constexpr (std::same_as<R, EnergyMix>) return "EnergyMix";
  if constexpr (std::same_as<R, FailureStudy>) return "FailureStudy";
  if constexpr (std::same_as<R, FormatQuality>) return "FormatQuality";
  if constexpr (std::same_as<R, UseCase>) return "UseCase";
  if constexpr (std::same_as<R, CurrencyRate>) return "CurrencyRate";
}

// Arrays that records refer to stand before them.
class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(out) {}

  std::string list_of(Texts items) {
    if (items.empty()) return "{}";
    std::string body;
    for (const Text item : items) body += literal(item) + ", ";
    return array("std::string_view", items.size(), body);
  }
  std::string list_of(FieldMarks marks) {
    if (marks.empty()) return "{}";
    std::string body;
    for (const FieldMark& mark : marks) {
      body += "{" + literal(mark.field) + ", Mark{" + std::to_string(static_cast<int>(mark.mark)) + "}, " +
              std::to_string(mark.source) + "}, ";
    }
    return array("FieldMark", marks.size(), body);
  }
  template <class R>
  std::string array_of(std::span<const R> records);

 private:
  std::string array(std::string_view type, std::size_t size, const std::string& body) {
    const auto known = arrays_.find(body);
    if (known != arrays_.end()) return known->second;
    const std::string name = "a" + std::to_string(next_++);
    out_ << "constexpr " << type << ' ' << name << '[' << size << "] = {" << body << "};\n";
    arrays_.emplace(body, name);
    return name;
  }
  std::ostream& out_;
  int next_ = 0;
  std::map<std::string, std::string> arrays_;
};

class EmitVisitor {
 public:
  explicit EmitVisitor(Writer& writer) : writer_(writer) {}
  std::string body;

  void name(std::string_view, const Text& member) { text({}, member); }
  void text(std::string_view, const Text& member) { add(member.empty() ? "{}" : literal(member)); }
  void texts(std::string_view, const Texts& member) { add(writer_.list_of(member)); }
  template <class Unit, class T>
  void fact(std::string_view, const Fact<T>& member, Mark = Mark::published) {
    if (!member.known()) return add("{}");
    if constexpr (std::same_as<T, std::int64_t>) {
      add_fact(std::to_string(member.value) + "LL", member);
    } else if constexpr (std::same_as<T, double>) {
      add_fact("double{" + format_shortest(member.value) + "}", member);
    } else {
      add_fact(std::string(type_name<T>()) + "::from_base(" + format_shortest(member.value.base()) + ")", member);
    }
  }
  void truth(std::string_view, const Fact<bool>& member) {
    if (!member.known()) return add("{}");
    add_fact(member.value ? "true" : "false", member);
  }
  void flag(std::string_view, const bool& member) { add(member ? "true" : "false"); }
  template <class E>
  void choice(std::string_view, const E& member) {
    add(std::string(enum_type<E>()) + "{" + std::to_string(static_cast<int>(member)) + "}");
  }
  template <class N>
  void nested(std::string_view, const std::span<const N>& member) {
    add(writer_.array_of(member));
  }
  void marks(const FieldMarks& marks) { add(writer_.list_of(marks)); }
  void source(const SourceId& id) { add(std::to_string(id)); }

 private:
  void add(std::string_view text) { (body += text) += ", "; }
  template <class T>
  void add_fact(const std::string& value, const Fact<T>& member) {
    add("{" + value + ", Mark{" + std::to_string(static_cast<int>(member.mark)) + "}, " +
        std::to_string(member.source) + "}");
  }
  Writer& writer_;
};

template <class R>
std::string Writer::array_of(std::span<const R> records) {
  if (records.empty()) return "{}";
  std::string body;
  for (const R& record : records) {
    EmitVisitor visitor(*this);
    visit_fields(visitor, record);
    body += "\n  {" + visitor.body + "},";
  }
  return array(record_type<R>(), records.size(), body);
}

void write(std::ostream& out, const Dataset& dataset) {
  out << "// Written by tools/embed_catalog from data/*.yaml; edit those.\n"
         "#include \"embedded.hpp\"\n\nnamespace gpuplan {\nnamespace {\nusing namespace std::literals;\n";
  Writer writer(out);
  const CatalogView view = dataset.view();
  std::vector<std::string> names = {writer.array_of(view.accelerators),
                                    writer.array_of(view.links),
                                    writer.array_of(view.nodes),
                                    writer.array_of(view.models),
                                    writer.array_of(view.engines),
                                    writer.array_of(view.training_frameworks),
                                    writer.array_of(view.runtimes),
                                    writer.array_of(view.providers),
                                    writer.array_of(view.storage_classes),
                                    writer.array_of(view.framework_releases),
                                    writer.array_of(view.cuda_releases),
                                    writer.array_of(view.owned_hardware),
                                    writer.array_of(view.energy),
                                    writer.array_of(view.failure_studies),
                                    writer.array_of(view.format_qualities),
                                    writer.array_of(view.use_cases),
                                    writer.array_of(view.currencies)};
  out << "constexpr Source kSources[] = {\n";
  for (const Source& source : view.sources) {
    out << "  {" << literal(source.text) << ", " << literal(source.observed_on) << "},\n";
  }
  out << "};\n\nconstexpr CatalogView kBuiltIn{";
  for (const auto& name : names) out << name << ", ";
  out << "kSources, " << literal(view.hash) << "};\n}  // namespace\n\n"
      << "const CatalogView& built_in_catalog() { return kBuiltIn; }\n\n}  // namespace gpuplan\n";
}

int run(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: embed_catalog OUTPUT.cpp FILE.yaml …\n", stderr);
    return 2;
  }
  Dataset dataset;
  std::vector<FactsDocument> documents;
  for (int i = 2; i < argc; ++i) {
    const std::string path = argv[i];
    const std::string origin = path.substr(path.rfind('/') + 1);
    const std::string text = read_text_file(path);
    documents.push_back({"data/" + origin, parse_yaml(text, "data/" + origin, kBuiltInNodes)});
    read_facts(dataset, documents.back().root, documents.back().origin, Layer::built_in);
    dataset.hash = content_hash(text, dataset.hash);
  }
  check_facts(dataset, documents);
  std::ostringstream out;
  write(out, dataset);
  std::ofstream file(argv[1], std::ios::binary);
  file << out.str();
  return file.flush() ? 0 : 1;
}

}  // namespace
}  // namespace gpuplan

int main(int argc, char** argv) {
  try {
    return gpuplan::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
