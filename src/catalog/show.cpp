#include "fields.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/catalog/catalog.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

class ShowVisitor {
 public:
  ShowVisitor(SourceId record_source, FieldMarks marks) : record_source_(record_source), marks_(marks) {}
  std::vector<ShownField> fields;

  void name(std::string_view key, const Text& member) { add(key, std::string(member)); }
  void text(std::string_view key, const Text& member) {
    if (!member.empty()) add(key, std::string(member));
  }
  void texts(std::string_view key, const Texts& member) {
    if (member.empty()) return;
    const std::vector<std::string> parts(member.begin(), member.end());
    add(key, join(parts, ", "));
  }
  template <class Unit, class T>
  void fact(std::string_view key, const Fact<T>& member, Mark = Mark::published) {
    if (!member.known()) return;
    std::string value;
    if constexpr (std::same_as<T, std::int64_t>) {
      value = std::to_string(member.value);
    } else {
      value = format_shortest(Unit::read(member.value));
    }
    fields.push_back({key, std::move(value), member.mark, member.source});
  }
  void truth(std::string_view key, const Fact<bool>& member) {
    if (member.known()) fields.push_back({key, member.value ? "yes" : "no", member.mark, member.source});
  }
  void flag(std::string_view key, const bool& member) {
    if (member) add(key, "yes");
  }
  template <class E>
  void choice(std::string_view key, const E& member) {
    if (const std::string_view word = enum_name(member); word != "unknown") add(key, std::string(word));
  }
  template <class N>
  void nested(std::string_view key, const std::span<const N>& member) {
    if (!member.empty()) add(key, std::to_string(member.size()) + (member.size() == 1 ? " record" : " records"));
  }
  void marks(const FieldMarks&) {}
  void source(const SourceId&) {}

 private:
  void add(std::string_view key, std::string value) {
    const auto known =
        std::find_if(marks_.begin(), marks_.end(), [&](const FieldMark& mark) { return mark.field == key; });
    const bool marked = known != marks_.end();
    fields.push_back(
        {key, std::move(value), marked ? known->mark : Mark::published, marked ? known->source : record_source_});
  }
  SourceId record_source_;
  FieldMarks marks_;
};

template <class R>
std::vector<ShownField> shown(const R& record) {
  ShowVisitor visitor(record.source, record.marks);
  visit_fields(visitor, record);
  return std::move(visitor.fields);
}

}  // namespace

std::vector<ShownField> fields_of(const Accelerator& record) { return shown(record); }
std::vector<ShownField> fields_of(const ModelPreset& record) { return shown(record); }
std::vector<ShownField> fields_of(const Provider& record) { return shown(record); }
std::vector<ShownField> fields_of(const ProviderTerms& record) { return shown(record); }
std::vector<ShownField> fields_of(const HostParts& record) { return shown(record); }
std::vector<ShownField> fields_of(const Offer& record) { return shown(record); }
std::vector<ShownField> fields_of(const Engine& record) { return shown(record); }
std::vector<ShownField> fields_of(const TrainingFramework& record) { return shown(record); }
std::vector<ShownField> fields_of(const Runtime& record) { return shown(record); }
std::vector<ShownField> fields_of(const Link& record) { return shown(record); }
std::vector<ShownField> fields_of(const NodeDesign& record) { return shown(record); }

}  // namespace gpuplan
