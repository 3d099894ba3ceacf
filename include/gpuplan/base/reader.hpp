#pragma once
/// Reading what people write: YAML and JSON into one tree that knows the place of each key, and a cursor over it that
/// collects problems instead of stopping at the first.
///
///     const Node root = parse_yaml(text, "job.yaml");
///     Reader in(root, "job.yaml");
///     job.context = in.optional("context", parse_count).value_or(4096);
///     in.done();       // unknown keys become problems with the nearest known one
///     in.finish();     // throws InputError when there were problems
///
/// Refused with a place: unknown and duplicate keys, alias expansion past 10^5 nodes, a second document, depth over 128,
/// NUL and bad UTF-8, NaN and Infinity, octal and hex numbers, files over 64 MiB. A BOM is accepted.

#include <gpuplan/base/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuplan {

struct Node {
  enum class Kind { null, scalar, sequence, mapping };
  Kind kind = Kind::null;
  std::string scalar;   ///< text as written; numbers and booleans are told apart by who reads them
  bool quoted = false;  ///< a quoted scalar is a string, whatever it looks like
  Place place;
  std::vector<Node> items;                    ///< of a sequence, or the values of a mapping
  std::vector<std::string> keys;              ///< of a mapping, parallel to `items`
  std::vector<Place> key_places;              ///< of a mapping, parallel to `items`
  std::shared_ptr<const std::string> source;  ///< the document's text, for excerpts; on the root only

  [[nodiscard]] const Node* find(std::string_view key) const;  ///< null when absent or not a mapping
};

/// What a scalar parser gives: a value, or what is wrong with the text.
template <class T>
struct Parsed {
  std::optional<T> value;
  std::string message;   ///< e.g. "unknown contract 'spott'"
  std::string expected;  ///< e.g. "on_demand, spot, reserved, …"
  std::string nearest;
  std::string id = "input.bad_value";

  static Parsed ok(T v) { return {std::move(v), {}, {}, {}, {}}; }
  static Parsed fail(std::string message, std::string expected = {}, std::string nearest = {},
                     std::string id = "input.bad_value") {
    return {std::nullopt, std::move(message), std::move(expected), std::move(nearest), std::move(id)};
  }
};

inline constexpr std::size_t kMaxDocumentBytes = std::size_t{64} << 20;
inline constexpr int kMaxDocumentDepth = 128;
inline constexpr std::size_t kMaxDocumentNodes = 100000;  ///< after alias expansion, per document of the user's

/// What to do with the words NaN, Infinity and -Infinity, which are no JSON but which Python's json module writes.
enum class NonFinite : std::uint8_t { refused, accepted };  ///< accepted: unquoted scalars, with the word as text

/// @param max_nodes  raised only for built-in data at build time and for files that programs write (a model's configuration)
/// Throws InputError (`input.syntax`, `input.duplicate_key`, `input.too_large`, `input.encoding`, …).
Node parse_yaml(std::string_view text, std::string_view origin, std::size_t max_nodes = kMaxDocumentNodes);
Node parse_json(std::string_view text, std::string_view origin, std::size_t max_nodes = kMaxDocumentNodes,
                NonFinite non_finite = NonFinite::refused);

/// The bytes of a file, or of standard input for `-`. Throws InputError: `input.not_found`, `input.unreadable` (also for a
/// folder), `input.empty`, `input.too_large`, `input.binary` (a NUL byte).
std::string read_text_file(const std::string& path, std::size_t limit = kMaxDocumentBytes);

/// YAML or JSON by content: JSON when the first non-blank character is `{` or `[` and the name does not end in .yaml/.yml.
Node read_document(const std::string& path);

class Reader {
 public:
  /// A reader of a whole document; `root` must outlive it. A root that is not a mapping is a problem.
  Reader(const Node& root, std::string_view origin);

  /// The scalar under `key`, parsed; a missing key, a sequence or mapping, or a null is a problem, and T{} is given.
  template <class Parse>
  auto required(std::string_view key, Parse parse) {
    using T = typename std::invoke_result_t<Parse, std::string_view>;
    using V = typename decltype(T::value)::value_type;
    const Node* node = take(key);
    if (!node) {
      missing(key);
      return V{};
    }
    auto value = scalar(*node, key, parse);
    return value ? std::move(*value) : V{};
  }

  /// As `required`, but absent and null give nullopt without a problem.
  template <class Parse>
  auto optional(std::string_view key, Parse parse) {
    using T = typename std::invoke_result_t<Parse, std::string_view>;
    using V = typename decltype(T::value)::value_type;
    const Node* node = take(key);
    if (!node || node->kind == Node::Kind::null) return std::optional<V>{};
    return scalar(*node, key, parse);
  }

  /// A list of scalars; one scalar counts as a list of one. Absent gives an empty list.
  template <class Parse>
  auto list(std::string_view key, Parse parse) {
    using T = typename std::invoke_result_t<Parse, std::string_view>;
    using V = typename decltype(T::value)::value_type;
    std::vector<V> out;
    for (const Node* node : take_items(key)) {
      if (auto value = scalar(*node, key, parse)) out.push_back(std::move(*value));
    }
    return out;
  }

  /// One reader per mapping in the list under `key` (absent: none). They share this reader's problems.
  std::vector<Reader> each(std::string_view key);
  /// The mapping under `key`, if present.
  std::optional<Reader> child(std::string_view key);

  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] const Place& place() const { return node_->place; }
  [[nodiscard]] const Node& node() const { return *node_; }
  /// The place of the value under `key`, else of the mapping.
  [[nodiscard]] Place place_of(std::string_view key) const;

  /// Marks a key as known without reading it.
  void ignore(std::string_view key) { (void)take(key); }

  void problem(Problem p);
  /// Every key that nobody asked for becomes `input.unknown_key` with the nearest known one.
  void done();
  /// Throws InputError when any reader of this document met a problem.
  void finish() const;
  [[nodiscard]] const std::vector<Problem>& problems() const { return *problems_; }

 private:
  Reader(const Node& node, const Reader& parent);
  const Node* take(std::string_view key);
  std::vector<const Node*> take_items(std::string_view key);
  void missing(std::string_view key);
  void not_scalar(const Node& node, std::string_view key);
  void bad_value(const Node& node, std::string id, std::string message, std::string expected, std::string nearest);

  template <class Parse>
  auto scalar(const Node& node, std::string_view key, Parse parse) {
    auto parsed = parse(std::string_view(node.scalar));
    if (node.kind != Node::Kind::scalar) {
      not_scalar(node, key);
      parsed.value.reset();
    } else if (!parsed.value) {
      bad_value(node, parsed.id, parsed.message, parsed.expected, parsed.nearest);
    }
    return std::move(parsed.value);
  }

  const Node* node_;
  std::shared_ptr<const std::string> source_;
  std::shared_ptr<std::vector<Problem>> problems_;
  std::vector<std::string> asked_;
};

}  // namespace gpuplan
