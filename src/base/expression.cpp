#include <gpuplan/base/expression.hpp>

#include "source.hpp"
#include "utf8.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

constexpr int kMaxNesting = 200;
constexpr std::array<std::string_view, 9> kFunctions = {"min",  "max", "ceil", "floor", "round",
                                                        "sqrt", "exp", "log",  "abs"};

bool is_null(const ExpressionValue& value) { return std::holds_alternative<std::monostate>(value); }
bool is_text(const ExpressionValue& value) { return std::holds_alternative<std::string>(value); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

/// Evaluates while it reads. A part that `&&` or `||` skips is read too, so that its names are checked, but not computed.
class Evaluator {
 public:
  Evaluator(std::string_view text, const NameLookup& lookup, std::string_view origin)
      : text_(text), lookup_(lookup), origin_(origin) {}

  ExpressionValue whole() {
    skip_space();
    if (at_end()) fail("expression.syntax", "empty expression", position_, "an expression, such as 'cost < 100'");
    ExpressionValue value = either();
    if (!at_end()) unexpected();
    return value;
  }

  [[noreturn]] void fail(std::string_view id, std::string message, std::size_t at, std::string_view expected = {},
                         std::string nearest = {}) const {
    Problem problem;
    problem.id = id;
    problem.message = std::move(message);
    const auto column = 1 + std::count_if(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at),
                                          [](char c) { return !is_utf8_continuation(c); });
    problem.place = Place{origin_, 1, static_cast<int>(column)};
    problem.expected = expected;
    problem.nearest = std::move(nearest);
    problem.excerpt = text_;
    throw InputError(std::move(problem));
  }

 private:
  /// Keeps the recursion, and so the stack, within bounds.
  class Nesting {
   public:
    explicit Nesting(Evaluator& in) : in_(in) {
      if (++in_.nesting_ > kMaxNesting) in_.fail("expression.syntax", "nested too deeply", in_.position_);
    }
    ~Nesting() { --in_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Evaluator& in_;
  };

  [[nodiscard]] bool at_end() const { return position_ == text_.size(); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  void skip_space() {
    while (!at_end() && std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos) ++position_;
  }
  bool take(std::string_view token) {
    if (!text_.substr(position_).starts_with(token)) return false;
    position_ += token.size();
    skip_space();
    return true;
  }
  [[noreturn]] void unexpected(std::string_view expected = {}) const {
    if (at_end()) fail("expression.syntax", "unexpected end", position_, expected);
    for (const auto& [one, two] : {std::pair("=", "=="), std::pair("&", "&&"), std::pair("|", "||")}) {
      if (peek() == one[0]) fail("expression.syntax", "unexpected " + quote(one), position_, quote(two));
    }
    const std::size_t length = std::max<std::size_t>(decode_utf8(text_.substr(position_)).length, 1);
    fail("expression.syntax", "unexpected " + quote(text_.substr(position_, length)), position_, expected);
  }
  [[nodiscard]] bool skipping() const { return skipping_ > 0; }

  double number(const ExpressionValue& value, std::size_t at) const {
    if (skipping()) return 1;
    if (const double* n = std::get_if<double>(&value)) return *n;
    if (const bool* b = std::get_if<bool>(&value)) return *b ? 1 : 0;
    fail("expression.type", is_null(value) ? "null is not a number" : "a string is not a number", at, "a number");
  }
  bool truth(const ExpressionValue& value, std::size_t at) const {
    if (skipping()) return false;
    if (const bool* b = std::get_if<bool>(&value)) return *b;
    fail("expression.type", "not a truth value", at, "a comparison, such as 'x > 0'");
  }
  double finite(double value, std::size_t at) const {
    if (!skipping() && !std::isfinite(value)) fail("expression.not_finite", "the outcome is not a finite number", at);
    return value;
  }

  ExpressionValue either() {
    const std::size_t start = position_;
    ExpressionValue left = both();
    while (take("||")) {
      const bool holds = truth(left, start);
      const bool right = right_of(holds, &Evaluator::both);
      left = holds || right;
    }
    return left;
  }
  ExpressionValue both() {
    const std::size_t start = position_;
    ExpressionValue left = comparison();
    while (take("&&")) {
      const bool holds = truth(left, start);
      const bool right = right_of(!holds, &Evaluator::comparison);
      left = holds && right;
    }
    return left;
  }
  /// The truth of the part that follows; false when it is skipped.
  bool right_of(bool skip, ExpressionValue (Evaluator::*part)()) {
    const std::size_t start = position_;
    skipping_ += skip ? 1 : 0;
    const ExpressionValue value = (this->*part)();
    const bool holds = truth(value, start);
    skipping_ -= skip ? 1 : 0;
    return holds;
  }

  std::string_view take_comparison() {
    for (const std::string_view op : {"<=", ">=", "==", "!=", "<", ">"}) {
      if (take(op)) return op;
    }
    return {};
  }
  ExpressionValue comparison() {
    const std::size_t start = position_;
    const ExpressionValue left = sum();
    const std::size_t op_at = position_;
    const std::string_view op = take_comparison();
    if (op.empty()) return left;
    const std::size_t right_start = position_;
    const ExpressionValue right = sum();
    const std::size_t again = position_;
    if (!take_comparison().empty()) {
      fail("expression.syntax", "comparisons cannot be chained", again, "'&&' between two comparisons");
    }
    if (skipping()) return false;
    if (is_null(left) || is_null(right)) {
      const bool equal = is_null(left) && is_null(right);
      return op == "==" ? equal : op == "!=" ? !equal : false;
    }
    if (is_text(left) && is_text(right)) {
      if (op == "==") return left == right;
      if (op == "!=") return left != right;
      fail("expression.type", "strings have no order", op_at, "'==' or '!='");
    }
    return compare(number(left, start), op, number(right, right_start));
  }
  static bool compare(double a, std::string_view op, double b) {
    if (op == "<") return a < b;
    if (op == ">") return a > b;
    if (op == "<=") return a <= b;
    if (op == ">=") return a >= b;
    const bool equal = a <= b && a >= b;
    return op == "==" ? equal : !equal;
  }

  ExpressionValue sum() {
    const std::size_t start = position_;
    ExpressionValue left = product();
    for (;;) {
      const std::size_t op_at = position_;
      const bool plus = take("+");
      if (!plus && !take("-")) return left;
      const std::size_t right_start = position_;
      const ExpressionValue right = product();
      const double a = number(left, start);
      const double b = number(right, right_start);
      left = finite(plus ? a + b : a - b, op_at);
    }
  }
  ExpressionValue product() {
    const std::size_t start = position_;
    ExpressionValue left = unary();
    for (;;) {
      const std::size_t op_at = position_;
      const bool times = take("*");
      if (!times && !take("/")) return left;
      const std::size_t right_start = position_;
      const ExpressionValue right = unary();
      const double a = number(left, start);
      const double b = number(right, right_start);
      if (!times && !(std::abs(b) > 0) && !std::isnan(b))
        fail("expression.division_by_zero", "division by zero", op_at);
      left = finite(times ? a * b : a / b, op_at);
    }
  }
  ExpressionValue unary() {
    const Nesting nesting(*this);
    const bool is_not = peek() == '!' && peek(1) != '=';
    if (!is_not && peek() != '-') return power();
    ++position_;
    skip_space();
    const std::size_t start = position_;
    const ExpressionValue value = unary();
    if (is_not) return !truth(value, start);
    return -number(value, start);
  }
  ExpressionValue power() {
    const std::size_t start = position_;
    ExpressionValue base = primary();
    const std::size_t op_at = position_;
    if (!take("^")) return base;
    const std::size_t right_start = position_;
    const ExpressionValue exponent = unary();
    const double a = number(base, start);
    const double b = number(exponent, right_start);
    return finite(std::pow(a, b), op_at);
  }

  ExpressionValue primary() {
    const char c = peek();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return literal();
    if (c == '"' || c == '\'') return string();
    if (is_name_start(c)) return name_or_call();
    if (!take("(")) unexpected("a number, a string, a name or '('");
    ExpressionValue value = either();
    if (!take(")")) unexpected("')'");
    return value;
  }
  ExpressionValue literal() {
    const std::size_t start = position_;
    double value = 0;
    const auto result = std::from_chars(text_.data() + start, text_.data() + text_.size(), value);
    if (result.ec != std::errc()) fail("expression.syntax", "the number is too large or too small", start);
    position_ = static_cast<std::size_t>(result.ptr - text_.data());
    if (is_name_part(peek()) || peek() == '.') unexpected("an operator");
    skip_space();
    return value;
  }
  ExpressionValue string() {
    const std::size_t start = position_;
    const std::size_t end = text_.find(text_[start], start + 1);
    if (end == std::string_view::npos) fail("expression.syntax", "the string has no end", start);
    position_ = end + 1;
    skip_space();
    return std::string(text_.substr(start + 1, end - start - 1));
  }

  /// A name with its dots and indices: options[0].count
  std::string_view take_name() {
    const std::size_t start = position_;
    while (is_name_part(peek())) ++position_;
    for (;;) {
      if (peek() == '.' && is_name_start(peek(1))) {
        ++position_;
        while (is_name_part(peek())) ++position_;
      } else if (peek() == '[') {
        ++position_;
        const std::size_t digits = position_;
        while (is_digit(peek())) ++position_;
        if (position_ == digits || peek() != ']') unexpected("an index, such as '[0]'");
        ++position_;
      } else {
        return text_.substr(start, position_ - start);
      }
    }
  }
  ExpressionValue name_or_call() {
    const std::size_t start = position_;
    const std::string_view name = take_name();
    skip_space();
    if (peek() == '(') return call(name, start);
    if (name == "true") return true;
    if (name == "false") return false;
    if (name == "null") return std::monostate();
    auto value = lookup_ ? lookup_(name) : std::nullopt;
    if (!value) fail("expression.unknown_name", "unknown name " + quote(name), start);
    return std::move(*value);
  }

  ExpressionValue call(std::string_view name, std::size_t start) {
    if (std::find(kFunctions.begin(), kFunctions.end(), name) == kFunctions.end()) {
      fail("expression.unknown_name", "unknown function " + quote(name), start,
           "min, max, ceil, floor, round, sqrt, exp, log or abs", nearest_name(name, kFunctions));
    }
    take("(");
    std::vector<double> arguments;
    if (peek() != ')') {
      do {
        const std::size_t argument = position_;
        const ExpressionValue value = either();
        arguments.push_back(number(value, argument));
      } while (take(","));
    }
    if (!take(")")) unexpected("',' or ')'");
    return finite(apply(name, arguments, start), start);
  }
  double apply(std::string_view name, const std::vector<double>& arguments, std::size_t start) const {
    const bool many = name == "min" || name == "max";
    if (arguments.empty() || (!many && arguments.size() > 1)) {
      fail("expression.syntax", "wrong number of arguments", start,
           quote(name) + (many ? " of one or more values" : " of one value"));
    }
    const double x = arguments.front();
    if (name == "min") return *std::min_element(arguments.begin(), arguments.end());
    if (name == "max") return *std::max_element(arguments.begin(), arguments.end());
    if (name == "ceil") return std::ceil(x);
    if (name == "floor") return std::floor(x);
    if (name == "round") return std::round(x);
    if (name == "sqrt") return std::sqrt(x);
    if (name == "exp") return std::exp(x);
    if (name == "log") return std::log(x);
    return std::abs(x);
  }

  std::string_view text_;
  const NameLookup& lookup_;
  std::string origin_;
  std::size_t position_ = 0;
  int nesting_ = 0;
  int skipping_ = 0;
};

}  // namespace

ExpressionValue evaluate_expression(std::string_view text, const NameLookup& lookup, std::string_view origin) {
  return Evaluator(text, lookup, origin).whole();
}

double evaluate_number(std::string_view text, const NameLookup& lookup, std::string_view origin) {
  Evaluator evaluator(text, lookup, origin);
  const ExpressionValue value = evaluator.whole();
  if (const double* number = std::get_if<double>(&value)) return *number;
  if (const bool* truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
  evaluator.fail("expression.type", is_null(value) ? "the outcome is null" : "the outcome is a string", 0, "a number");
}

bool evaluate_condition(std::string_view text, const NameLookup& lookup, std::string_view origin) {
  Evaluator evaluator(text, lookup, origin);
  const ExpressionValue value = evaluator.whole();
  if (const bool* truth = std::get_if<bool>(&value)) return *truth;
  evaluator.fail("expression.type", "the outcome is not a truth value", 0, "a comparison, such as 'x > 0'");
}

}  // namespace gpuplan
