#include "catalog/dataset.hpp"
#include "flat_record.hpp"

#include "catalogues.hpp"
#include "catch.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace gpuplan::testing {
namespace {

// As tools/embed_catalog reads them.
const Dataset& data_files() {
  static const auto dataset = [] {
    auto read = std::make_unique<Dataset>();
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(GPUPLAN_SOURCE_DIR) + "/data")) {
      if (entry.path().extension() == ".yaml") names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const std::string text = read_text_file(std::string(GPUPLAN_SOURCE_DIR) + "/data/" + name);
      read_facts(*read, parse_yaml(text, "data/" + name, 2'000'000), "data/" + name, Layer::built_in);
      read->hash = content_hash(text, read->hash);
    }
    return read;
  }();
  return *dataset;
}

template <class R>
void check_equal(std::span<const R> compiled_in, std::span<const R> read) {
  REQUIRE(compiled_in.size() == read.size());
  const std::vector<Source> sources = sources_of(built_in(), data_files().sources.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    const auto different =
        differences(flat_record(compiled_in[i], sources), flat_record(read[i], data_files().sources));
    CAPTURE(different);
    CHECK(different.empty());
  }
}

// Walks all facts, those of nested records too, and keeps the names of those that nobody stands for.
class SourceVisitor {
 public:
  explicit SourceVisitor(const Catalog& catalog) : catalog_(catalog) {}
  std::vector<std::string> nameless;

  void name(std::string_view, const Text& member) { owner_ = member; }
  void text(std::string_view, const Text&) {}
  void texts(std::string_view, const Texts&) {}
  template <class Unit, class T>
  void fact(std::string_view key, const Fact<T>& member, Mark = Mark::published) {
    if (member.known() && catalog_.source(member.source).text.empty())
      nameless.push_back(owner_ + "." + std::string(key));
  }
  void truth(std::string_view key, const Fact<bool>& member) { fact<AsCount>(key, member); }
  void flag(std::string_view, const bool&) {}
  template <class E>
  void choice(std::string_view, const E&) {}
  template <class N>
  void nested(std::string_view, const std::span<const N>& member) {
    for (const N& record : member) visit_fields(*this, record);
  }
  void marks(const FieldMarks&) {}
  void source(const SourceId&) {}

 private:
  const Catalog& catalog_;
  std::string owner_;
};

template <class R>
std::vector<std::string> facts_without_source(const Catalog& catalog, const R& record) {
  SourceVisitor visitor(catalog);
  visit_fields(visitor, record);
  return visitor.nameless;
}

}  // namespace

// The marks in the data files against those that are shown: 629 fields of accelerators are named in `derived` and
// `from_memory`, words as well as numbers, and each that has a value must show it.
TEST_CASE("embedded catalogue: a field that the data marks shows its mark", "[catalog][slow]") {
  const Node root = parse_yaml(read_text_file(GPUPLAN_SOURCE_DIR "/data/gpus.yaml"), "gpus.yaml", 1'000'000);
  std::size_t checked = 0;
  for (const Node& record : root.find("accelerators")->items) {
    const Accelerator* gpu = built_in().find_accelerator(record.find("name")->scalar);
    REQUIRE(gpu);
    const auto shown = fields_of(*gpu);
    for (const auto& [list, mark] :
         {std::pair{"derived", Mark::derived}, std::pair{"from_memory", Mark::from_memory}}) {
      const Node* fields = record.find(list);
      if (!fields) continue;
      for (const Node& field : fields->items) {
        if (!record.find(field.scalar)) continue;
        CAPTURE(gpu->name, field.scalar);
        const auto found =
            std::find_if(shown.begin(), shown.end(), [&](const ShownField& s) { return s.name == field.scalar; });
        REQUIRE(found != shown.end());
        // from_memory is the weaker claim and wins where a field stands in both lists.
        CHECK((found->mark == mark || found->mark == Mark::from_memory));
        ++checked;
      }
    }
  }
  CHECK(checked > 500);
}

TEST_CASE("embedded catalogue: it is data/*.yaml, field by field, with marks and sources", "[catalog][slow]") {
  const CatalogView read = data_files().view();
  check_equal(built_in().accelerators(), read.accelerators);
  check_equal(built_in().links(), read.links);
  check_equal(built_in().nodes(), read.nodes);
  check_equal(built_in().models(), read.models);
  check_equal(built_in().engines(), read.engines);
  check_equal(built_in().runtimes(), read.runtimes);
  check_equal(built_in().providers(), read.providers);
  check_equal(built_in().storage_classes(), read.storage_classes);
  check_equal(built_in().framework_releases(), read.framework_releases);
  check_equal(built_in().cuda_releases(), read.cuda_releases);
  check_equal(built_in().owned_hardware(), read.owned_hardware);
  check_equal(built_in().energy(), read.energy);
  check_equal(built_in().failure_studies(), read.failure_studies);
  check_equal(built_in().format_qualities(), read.format_qualities);
  check_equal(built_in().use_cases(), read.use_cases);
  check_equal(built_in().currencies(), read.currencies);
}

TEST_CASE("embedded catalogue: its hash is that of the data files", "[catalog][slow]") {
  CHECK(built_in().hash() == data_files().hash);
  CHECK(built_in().hash().size() == 16);
}

TEST_CASE("embedded catalogue: every known fact has a source", "[catalog]") {
  const auto check = [](const auto& records) {
    for (const auto& record : records) {
      const auto nameless = facts_without_source(built_in(), record);
      CAPTURE(nameless);
      CHECK(nameless.empty());
    }
  };
  check(built_in().accelerators());
  check(built_in().links());
  check(built_in().nodes());
  check(built_in().models());
  check(built_in().engines());
  check(built_in().runtimes());
  check(built_in().storage_classes());
  check(built_in().framework_releases());
  check(built_in().cuda_releases());
  check(built_in().owned_hardware());
  check(built_in().energy());
  check(built_in().failure_studies());
  check(built_in().format_qualities());
  check(built_in().use_cases());
  check(built_in().currencies());
  for (const Provider& provider : built_in().providers()) {  // its terms of billing stand without one
    check(provider.terms);
    check(provider.host_parts);
    check(provider.offers);
    check(provider.token_apis);
    check(provider.storage);
    check(provider.cpu_servers);
  }
}

TEST_CASE("embedded catalogue: every accelerator says when its figures were collected", "[catalog]") {
  for (const Accelerator& gpu : built_in().accelerators()) {
    CAPTURE(gpu.name);
    CHECK_FALSE(built_in().source(gpu.source).observed_on.empty());
  }
}

TEST_CASE("embedded catalogue: a hash depends on the text and on what came before", "[catalog]") {
  // FNV-1a, 64 bit: the offset basis for no text; http://www.isthe.com/chongo/tech/comp/fnv gives af63dc4c8601ec8c for "a".
  CHECK(content_hash("") == "cbf29ce484222325");
  CHECK(content_hash("a") == "af63dc4c8601ec8c");
  CHECK(content_hash("b", content_hash("a")) != content_hash("a", content_hash("b")));
}

}  // namespace gpuplan::testing
