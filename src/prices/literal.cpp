#include "literal.hpp"

#include <gpuplan/base/parse.hpp>

#include <cctype>
#include <string>

namespace gpuplan {
namespace {

using Json = nlohmann::json;
constexpr int kMaxDepth = 32;

class LiteralParser {
 public:
  explicit LiteralParser(std::string_view text) : text_(text) {}

  std::optional<Json> whole() {
    auto value = parse(0);
    skip();
    if (!value || at_ != text_.size()) return std::nullopt;
    return value;
  }

 private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::optional<Json> parse(int depth) {
    skip();
    if (depth > kMaxDepth || at_ >= text_.size()) return std::nullopt;
    switch (text_[at_]) {
      case '{':
        return mapping(depth);
      case '[':
        return sequence(depth, ']');
      case '(':
        return sequence(depth, ')');
      case '\'':
      case '"':
        if (auto text = quoted()) return Json(std::move(*text));
        return std::nullopt;
      default:
        return word();
    }
  }
  std::optional<Json> mapping(int depth) {
    Json out = Json::object();
    ++at_;
    while (!take('}')) {
      auto key = parse(depth + 1);
      if (!key || !key->is_string() || !take(':')) return std::nullopt;
      auto value = parse(depth + 1);
      if (!value) return std::nullopt;
      out[key->get<std::string>()] = std::move(*value);
      if (take(',')) continue;
      if (!take('}')) return std::nullopt;
      break;
    }
    return out;
  }
  std::optional<Json> sequence(int depth, char end) {
    Json out = Json::array();
    ++at_;
    while (!take(end)) {
      auto value = parse(depth + 1);
      if (!value) return std::nullopt;
      out.push_back(std::move(*value));
      if (take(',')) continue;
      if (!take(end)) return std::nullopt;
      break;
    }
    return out;
  }
  std::optional<std::string> quoted() {
    const char quote = text_[at_++];
    std::string out;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_++];
    }
    if (at_ >= text_.size()) return std::nullopt;
    ++at_;
    return out;
  }
  std::optional<Json> word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  std::string_view("+-._").find(text_[at_]) != std::string_view::npos)) {
      ++at_;
    }
    const std::string_view found = text_.substr(begin, at_ - begin);
    if (found == "None" || found == "null" || found == "nan" || found == "NaN") return Json(nullptr);
    if (found == "True" || found == "true") return Json(true);
    if (found == "False" || found == "false") return Json(false);
    if (const auto number = parse_number(found); number.value) return Json(*number.value);
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Json> parse_literal(std::string_view text) { return LiteralParser(text).whole(); }

}  // namespace gpuplan
