#pragma once
/// JSON of a file's header as a walk: each value with the keys that lead to it. Nothing is built, so that memory does not
/// depend on what a header holds, and places are keys, not lines, because no person wrote it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

struct JsonValue {
  enum class Kind { null, boolean, whole, number, text, object, array };  ///< the last two: its beginning
  Kind kind = Kind::null;
  std::int64_t whole = 0;    ///< of `whole`
  bool is_negative = false;  ///< of `whole`
  double number = 0;         ///< of `whole` and `number`
  std::string_view text;     ///< of `text`; and of `number`: as written
};

class JsonVisitor {
 public:
  JsonVisitor() = default;
  JsonVisitor(const JsonVisitor&) = delete;
  JsonVisitor& operator=(const JsonVisitor&) = delete;
  virtual ~JsonVisitor() = default;
  /// @param keys  of the objects around the value; an array adds an empty one
  virtual void visit(const std::vector<std::string>& keys, const JsonValue& value) = 0;
};

/// Throws InputError: `input.syntax` (also for NaN and a second document), `input.duplicate_key`, `input.too_deep`,
/// `input.bad_value` for whole numbers past 2^63.
void walk_json(std::string_view text, const std::string& origin, JsonVisitor& visitor);

/// `layers.0.weight: shape`
std::string key_path(const std::vector<std::string>& keys);

}  // namespace gpuplan
