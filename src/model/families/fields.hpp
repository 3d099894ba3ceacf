#pragma once
/// Typed looks into a config.json: keys nobody asks for are ignored, null is absent, numbers are whole and bounded.

#include <gpuplan/base/reader.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuplan {

/// Spellings of one field; the first that is there and not null counts.
using Keys = std::initializer_list<std::string_view>;

/// What a reader of a family has to say besides numbers.
struct FieldNotes {
  std::vector<std::string> missing;       ///< keys without which there is no network
  std::vector<std::string> not_modelled;  ///< parts the decoder leaves out
  std::vector<std::string> unreadable;    ///< why there can be no decoder
  std::vector<Problem> warnings;
};

class Fields {
 public:
  static constexpr std::int64_t kMost = 1000000000;  ///< so that products of two stay inside 64 bits

  /// @param problems  a reader of the whole document, which collects what is wrong
  Fields(const Node& node, Reader& problems, FieldNotes& notes) : node_(node), problems_(problems), notes_(notes) {}

  /// The first value that is there and not null, else null.
  [[nodiscard]] const Node* find(Keys keys) const;
  [[nodiscard]] bool has(Keys keys) const { return find(keys) != nullptr; }
  /// Whether the key is there, be it null.
  [[nodiscard]] bool states(std::string_view key) const { return node_.find(key) != nullptr; }
  [[nodiscard]] const Node& node() const { return node_; }
  /// The same over a mapping inside.
  [[nodiscard]] Fields inside(const Node& node) const { return {node, problems_, notes_}; }

  std::int64_t count(Keys keys);                             ///< required, at least 1
  std::int64_t count_or(Keys keys, std::int64_t otherwise);  ///< at least 1
  std::int64_t assumed(Keys keys, std::int64_t otherwise);  ///< as `count_or`, with a warning when the key is not there
  std::int64_t amount_or(Keys keys, std::int64_t otherwise);  ///< at least 0
  std::optional<std::int64_t> amount(Keys keys);              ///< at least 0
  bool flag(Keys keys, bool otherwise);
  [[nodiscard]] std::string text(Keys keys) const;  ///< empty when absent or not a string
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;
  std::vector<std::int64_t> amounts(std::string_view key);  ///< a list of whole numbers, at least 0

  /// Whether nothing was missing or wrong so far, so that numbers can be compared.
  [[nodiscard]] bool sound() const { return notes_.missing.empty() && problems_.problems().empty(); }

  void missing(std::string_view what) { notes_.missing.emplace_back(what); }
  void not_modelled(std::string what) { notes_.not_modelled.push_back(std::move(what)); }
  void unreadable(std::string why) { notes_.unreadable.push_back(std::move(why)); }
  void warn(std::string id, std::string message, std::string_view key = {});
  void wrong(std::string_view key, std::string message, std::string expected);

 private:
  std::optional<std::int64_t> whole(Keys keys, std::int64_t least);
  std::optional<std::int64_t> parse(const Node& node, std::string_view key, std::int64_t least);

  const Node& node_;
  Reader& problems_;
  FieldNotes& notes_;
};

/// A count of at most `most`, for factors of long products; required when there is no `otherwise` (0).
std::int64_t bounded_count(Fields& in, std::string_view key, std::int64_t otherwise, std::int64_t most);
/// The product, or more than any network has when it is more than that.
std::int64_t bounded_product(std::initializer_list<std::int64_t> factors);
/// A number that is -1 when there is none.
std::int64_t positive_or(Fields& in, std::string_view key, std::int64_t otherwise);

/// A scalar as a quoted string; nullopt for anything else.
std::optional<std::string> string_of(const Node* node);
/// A scalar as an unquoted whole number (`4096`, `4096.0`); nullopt for anything else.
std::optional<std::int64_t> whole_number_of(const Node* node);
/// A scalar as an unquoted number, finite; nullopt for anything else.
std::optional<double> number_of(const Node* node);
/// A scalar as true or false; nullopt for anything else.
std::optional<bool> boolean_of(const Node* node);

}  // namespace gpuplan
