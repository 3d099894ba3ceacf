#include "header_json.hpp"

#include "bytes.hpp"

#include <gpuplan/base/error.hpp>

#include <nlohmann/json.hpp>

#include <limits>
#include <unordered_set>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::size_t kMaxDepth = 16;

class Walker {
 public:
  Walker(const std::string& origin, JsonVisitor& visitor) : origin_(origin), visitor_(visitor) {}

  bool null() { return give({}); }
  bool boolean(bool /*value*/) { return give({JsonValue::Kind::boolean}); }
  bool number_integer(std::int64_t value) { return whole(value); }
  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      refuse("input.bad_value", origin_, "number " + std::to_string(value) + " of " + key_path(keys_) + " is too large",
             "a number below 2^63");
    }
    return whole(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string& text) {
    return give({JsonValue::Kind::number, 0, false, value, text});
  }
  bool string(std::string& value) { return give({JsonValue::Kind::text, 0, false, 0, value}); }
  bool binary(nlohmann::json::binary_t& /*value*/) { return false; }  // not in JSON text

  bool start_object(std::size_t /*size*/) { return begin(JsonValue::Kind::object); }
  bool start_array(std::size_t /*size*/) { return begin(JsonValue::Kind::array); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool key(std::string& name) {
    if (!seen_.back().insert(name).second) {
      keys_.back() = name;
      refuse("input.duplicate_key", origin_, "key " + in_quotes(key_path(keys_)) + " is there twice", "each key once");
    }
    keys_.back() = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& /*error*/) {
    refuse(
        "input.syntax", origin_,
        "bad JSON at byte " + std::to_string(position) + ": unexpected " + (token.empty() ? "end" : in_quotes(token)),
        "one JSON object and nothing after it");
  }

 private:
  bool whole(std::int64_t value) {
    return give({JsonValue::Kind::whole, value, value < 0, static_cast<double>(value)});
  }
  bool give(const JsonValue& value) {
    visitor_.visit(keys_, value);
    return true;
  }
  bool begin(JsonValue::Kind kind) {
    if (keys_.size() >= kMaxDepth) {
      refuse("input.too_deep", origin_, "the header is nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
    give({kind});
    keys_.emplace_back();
    seen_.emplace_back();
    return true;
  }
  bool end() {
    keys_.pop_back();
    seen_.pop_back();
    return true;
  }

  const std::string& origin_;
  JsonVisitor& visitor_;
  std::vector<std::string> keys_;
  std::vector<std::unordered_set<std::string>> seen_;  // the keys of each open object
};

}  // namespace

std::string key_path(const std::vector<std::string>& keys) {
  std::string out;
  for (const std::string& key : keys) {
    if (key.empty()) continue;
    if (!out.empty()) out += ": ";
    out += key;
  }
  return out;
}

void walk_json(std::string_view text, const std::string& origin, JsonVisitor& visitor) {
  Walker walker(origin, visitor);
  const bool ok = nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &walker);
  GPUPLAN_ASSERT(ok, "a JSON error is thrown by its handler");
}

}  // namespace gpuplan
