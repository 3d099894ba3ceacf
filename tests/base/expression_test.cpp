#include <gpuplan/base/error.hpp>
#include <gpuplan/base/expression.hpp>

#include "catch.hpp"

#include <string>

namespace gpuplan {
namespace {

std::optional<ExpressionValue> lookup(std::string_view name) {
  if (name == "x") return 3.0;
  if (name == "zero") return 0.0;
  if (name == "best.cost.per_hour") return 12.5;
  if (name == "options[1].count") return 7.0;
  if (name == "gpu") return std::string("H100");
  if (name == "fits") return true;
  if (name == "missing") return std::monostate();
  return std::nullopt;
}

Problem problem_of(const std::string& text) {
  try {
    (void)evaluate_expression(text, lookup, "--assert");
  } catch (const InputError& error) {
    REQUIRE(error.problems().size() == 1);
    return error.problems()[0];
  }
  FAIL("no problem in: " << text);
  return {};
}

std::string repeat(const std::string& part, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += part;
  return out;
}

TEST_CASE("expression: arithmetic follows the usual order", "[base]") {
  struct Row {
    const char* text;
    double value;
  };
  const auto row = GENERATE(values<Row>({
      {"1 + 2 * 3", 7},
      {"(1 + 2) * 3", 9},
      {"7 - 2 - 1", 4},
      {"16 / 4 / 2", 2},
      {"2 ^ 3 ^ 2", 512},
      {"-2 ^ 2", -4},
      {"2 ^ -1", 0.5},
      {"1 - -1", 2},
      {"--3", 3},
      {"2e3 + .5", 2000.5},
      {"1.5e-1 * 2", 0.3},
      {"x * 2", 6},
      {" best.cost.per_hour*2 ", 25},
      {"options[1].count", 7},
      {"min(3, 1, 2)", 1},
      {"max(3, x ^ 2)", 9},
      {"max(4)", 4},
      {"ceil(7 / 2)", 4},
      {"floor ( 7 / 2 )", 3},
      {"round(2.5)", 3},
      {"sqrt(16) + abs(-2)", 6},
      {"exp(0) + log(1)", 1},
      {"(1 < 2) + true", 2},
  }));
  CAPTURE(row.text);
  CHECK(evaluate_number(row.text, lookup, "--assert") == Approx(row.value));
}

TEST_CASE("expression: conditions", "[base]") {
  struct Row {
    const char* text;
    bool value;
  };
  const auto row = GENERATE(values<Row>({
      {"x == 3", true},          {"x != 3", false},          {"x < 3 || x >= 3", true},
      {"x > 3 && fits", false},  {"x <= 3 && fits", true},   {"true || true && false", true},
      {"!fits", false},          {"!(x > 5)", true},         {"gpu == 'H100'", true},
      {"gpu != \"A100\"", true}, {"gpu == 'h100'", false},   {"missing == null", true},
      {"x != null", true},       {"missing != null", false}, {"missing < 1", false},
      {"missing > 1", false},    {"missing == 1", false},    {"null == null", true},
      {"fits == true", true},    {"1 + 1 == 2", true},
  }));
  CAPTURE(row.text);
  CHECK(evaluate_condition(row.text, lookup, "--assert") == row.value);
}

TEST_CASE("expression: what && and || skip is not computed, but its names are checked", "[base]") {
  CHECK_FALSE(evaluate_condition("missing != null && missing + 1 > 0", lookup, "--assert"));
  CHECK(evaluate_condition("zero == 0 || 1 / zero > 2", lookup, "--assert"));
  CHECK_FALSE(evaluate_condition("false && sqrt(-1) > gpu", lookup, "--assert"));
  CHECK(problem_of("true || nothing > 1").id == "expression.unknown_name");
}

TEST_CASE("expression: syntax problems name the column", "[base]") {
  struct Row {
    const char* text;
    int column;
  };
  const auto row = GENERATE(values<Row>({
      {"", 1},           {"   ", 4},         {"1 +", 4},        {"1 2", 3},           {"(1", 3},    {"1)", 2},
      {"x = 3", 3},      {"fits & fits", 6}, {"1 < 2 < 3", 7},  {"'abc", 1},          {"1.2.3", 4}, {"2x", 2},
      {"0x10", 2},       {"1e999", 1},       {"options[a]", 9}, {"options[]", 9},     {"x.", 2},    {"min()", 1},
      {"sqrt(1, 2)", 1}, {"min(1,", 7},      {"é", 1},          {"gpu == 'é' +", 13}, {"1 # 2", 3},
  }));
  CAPTURE(row.text);
  const Problem problem = problem_of(row.text);
  CHECK(problem.id == "expression.syntax");
  REQUIRE(problem.place.has_value());
  CHECK(problem.place->origin == "--assert");
  CHECK(problem.place->column == row.column);
  CHECK(problem.excerpt == row.text);
}

TEST_CASE("expression: an unknown name or function is named", "[base]") {
  const Problem name = problem_of("1 + best.cots");
  CHECK(name.id == "expression.unknown_name");
  CHECK(name.message == "unknown name 'best.cots'");
  CHECK(name.place->column == 5);
  const Problem function = problem_of("cell(1)");
  CHECK(function.id == "expression.unknown_name");
  CHECK(function.nearest == "ceil");
}

TEST_CASE("expression: types do not mix", "[base]") {
  const auto text = GENERATE("gpu + 1", "missing * 2", "gpu < 'I'", "gpu == 3", "1 && fits", "!x", "-gpu",
                             "min(1, gpu)", "missing && fits", "!missing");
  CAPTURE(text);
  CHECK(problem_of(text).id == "expression.type");
}

TEST_CASE("expression: the outcome must be what was asked for", "[base]") {
  CHECK(evaluate_number("fits", lookup, "--assert") == Approx(1));
  CHECK_THROWS_AS(evaluate_number("gpu", lookup, "--assert"), InputError);
  CHECK_THROWS_AS(evaluate_number("null", lookup, "--assert"), InputError);
  CHECK_THROWS_AS(evaluate_condition("x", lookup, "--assert"), InputError);
  CHECK_THROWS_AS(evaluate_condition("missing", lookup, "--assert"), InputError);
  CHECK(std::get<std::string>(evaluate_expression("'a b'", lookup, "--assert")) == "a b");
}

TEST_CASE("expression: division by zero is a problem at the sign", "[base]") {
  const Problem problem = problem_of("1 + x / zero");
  CHECK(problem.id == "expression.division_by_zero");
  CHECK(problem.place->column == 7);
}

TEST_CASE("expression: an outcome that is no finite number is a problem", "[base]") {
  const auto text = GENERATE("sqrt(-1)", "log(zero)", "10 ^ 400", "exp(1e6)", "1e308 * 10");
  CAPTURE(text);
  CHECK(problem_of(text).id == "expression.not_finite");
}

TEST_CASE("expression: nesting is limited, length is not", "[base]") {
  CHECK(evaluate_number(repeat("(", 150) + "1" + repeat(")", 150), lookup, "--assert") == Approx(1));
  CHECK(problem_of(repeat("(", 100000)).id == "expression.syntax");
  CHECK(problem_of(repeat("-", 100000) + "1").id == "expression.syntax");
  CHECK(problem_of(repeat("2^", 100000) + "1").id == "expression.syntax");
  CHECK(problem_of(repeat("abs(", 100000)).id == "expression.syntax");
  CHECK(evaluate_number("0" + repeat("+1", 100000), lookup, "--assert") == Approx(100000));
}

}  // namespace
}  // namespace gpuplan
