#pragma once
/// A record as lines of text, field by field, with the mark and the source of each fact: equal records give equal lines.

#include "catalog/fields.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/catalog/catalog.hpp>

#include <span>
#include <string>
#include <vector>

namespace gpuplan::testing {

class FlatVisitor {
 public:
  FlatVisitor(std::span<const Source> sources, std::string prefix) : sources_(sources), prefix_(std::move(prefix)) {}
  std::vector<std::string> lines;

  void name(std::string_view key, const Text& member) { add(key, std::string(member)); }
  void text(std::string_view key, const Text& member) { add(key, std::string(member)); }
  void texts(std::string_view key, const Texts& member) {
    const std::vector<std::string> parts(member.begin(), member.end());
    add(key, std::to_string(member.size()) + ": " + join(parts, "|"));
  }
  template <class Unit, class T>
  void fact(std::string_view key, const Fact<T>& member, Mark = Mark::published) {
    if constexpr (std::is_arithmetic_v<T>) {
      add_fact(key, member,
               std::is_same_v<T, double> ? format_shortest(static_cast<double>(member.value))
                                         : std::to_string(member.value));
    } else {
      add_fact(key, member, format_shortest(member.value.base()));
    }
  }
  void truth(std::string_view key, const Fact<bool>& member) { add_fact(key, member, member.value ? "yes" : "no"); }
  void flag(std::string_view key, const bool& member) { add(key, member ? "yes" : "no"); }
  template <class E>
  void choice(std::string_view key, const E& member) {
    add(key, std::string(enum_name(member)));
  }
  template <class N>
  void nested(std::string_view key, const std::span<const N>& member) {
    add(key, std::to_string(member.size()));
    for (std::size_t i = 0; i < member.size(); ++i) {
      FlatVisitor inner(sources_, prefix_ + std::string(key) + "[" + std::to_string(i) + "].");
      visit_fields(inner, member[i]);
      lines.insert(lines.end(), inner.lines.begin(), inner.lines.end());
    }
  }
  void marks(const FieldMarks& member) {
    for (const FieldMark& mark : member) {
      add("marks", std::string(mark.field) + " " + std::string(to_string(mark.mark)) + " " + source_text(mark.source));
    }
  }
  void source(const SourceId& id) { add("source", source_text(id)); }

 private:
  [[nodiscard]] std::string source_text(SourceId id) const {
    const Source& source = sources_[id];
    return std::string(source.text) + " @ " + std::string(source.observed_on) + " @ " +
           std::string(to_string(source.layer));
  }
  void add(std::string_view key, const std::string& value) {
    lines.push_back(prefix_ + std::string(key) + " = " + value);
  }
  template <class T>
  void add_fact(std::string_view key, const Fact<T>& member, const std::string& value) {
    if (!member.known()) return add(key, "unknown");
    add(key, value + " (" + std::string(to_string(member.mark)) + ", " + source_text(member.source) + ")");
  }
  std::span<const Source> sources_;
  std::string prefix_;
};

template <class R>
std::vector<std::string> flat_record(const R& record, std::span<const Source> sources) {
  FlatVisitor visitor(sources, "");
  visit_fields(visitor, record);
  return visitor.lines;
}

/// All sources of a catalogue, which gives them one by one.
inline std::vector<Source> sources_of(const Catalog& catalog, std::size_t count) {
  std::vector<Source> sources;
  for (std::size_t i = 0; i < count; ++i) sources.push_back(catalog.source(static_cast<SourceId>(i)));
  return sources;
}

/// The first lines that differ, old and new.
inline std::vector<std::string> differences(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()) && lines.size() < 4; ++i) {
    const std::string left = i < a.size() ? a[i] : "";
    const std::string right = i < b.size() ? b[i] : "";
    if (left != right) lines.push_back(left + "  <>  " + right);
  }
  return lines;
}

}  // namespace gpuplan::testing
