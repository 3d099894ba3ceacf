#include <gpuplan/base/error.hpp>

#include "catch.hpp"

#include <string>

namespace gpuplan {
namespace {

Problem example() {
  Problem p;
  p.id = "input.unknown_name";
  p.message = "unknown accelerator 'H10-SXM'";
  p.place = Place{"job.yaml", 7, 8};
  p.expected = "a name or alias from the catalog (see 'gpuplan gpus')";
  p.nearest = "H100-SXM5-80GB";
  p.excerpt = "  gpu: H10-SXM";
  return p;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("error: a problem is printed with its line, a caret and the nearest name", "[base]") {
  CHECK(format_problem(example()) ==
        "job.yaml:7:8: error: unknown accelerator 'H10-SXM' [input.unknown_name]\n"
        "    7 |   gpu: H10-SXM\n"
        "      |        ^\n"
        "  expected: a name or alias from the catalog (see 'gpuplan gpus')\n"
        "  nearest:  H100-SXM5-80GB");
}

TEST_CASE("error: a flag has no line", "[base]") {
  Problem p = example();
  p.place = Place{"--gpu", 0, 0};
  p.excerpt.clear();
  p.expected.clear();
  p.nearest.clear();
  CHECK(format_problem(p) == "--gpu: error: unknown accelerator 'H10-SXM' [input.unknown_name]");
}

TEST_CASE("error: the words behind a flag get a caret without a line number", "[base]") {
  Problem p;
  p.id = "expression.syntax";
  p.message = "unexpected end";
  p.place = Place{"--assert", 1, 4};
  p.excerpt = "a <";
  CHECK(format_problem(p) ==
        "--assert: error: unexpected end [expression.syntax]\n"
        "      | a <\n"
        "      |    ^");
}

TEST_CASE("error: a problem without a place or with a file alone", "[base]") {
  Problem p;
  p.id = "input.not_found";
  p.message = "no such file";
  CHECK(format_problem(p) == "error: no such file [input.not_found]");
  p.place = Place{"job.yaml", 0, 0};
  CHECK(format_problem(p) == "job.yaml: error: no such file [input.not_found]");
  p.place->line = 3;
  CHECK(format_problem(p) == "job.yaml:3: error: no such file [input.not_found]");
}

TEST_CASE("error: the caret stands under the column of wide and accented letters", "[base]") {
  Problem p = example();
  p.excerpt = "模é: x";  // 5 columns before the x, 4 characters
  p.place->column = 5;
  CHECK(has(format_problem(p), "    7 | 模é: x\n      |      ^\n"));
}

TEST_CASE("error: control characters do not reach the terminal", "[base]") {
  Problem p = example();
  p.excerpt = "a: \x1b[31m\tx\xff";
  p.message = "unknown name '\x1b[31m'";
  p.place->column = 4;
  CHECK(has(format_problem(p), "error: unknown name '?[31m' ["));
  CHECK(has(format_problem(p), "    7 | a: ?[31m x?\n      |    ^\n"));
}

TEST_CASE("error: a long line is cut around the caret", "[base]") {
  Problem p = example();
  p.excerpt = std::string(500, 'a') + "X" + std::string(500, 'b');
  p.place->column = 501;
  const std::string text = format_problem(p);
  CHECK(has(text, "    7 | …" + std::string(60, 'a') + "X" + std::string(59, 'b') + "…\n"));
  CHECK(has(text, "      |  " + std::string(60, ' ') + "^\n"));
}

TEST_CASE("error: what() tells all problems", "[base]") {
  Problem second = example();
  second.message = "another one";
  const InputError error({example(), second});
  CHECK(error.problems().size() == 2);
  CHECK(std::string(error.what()) == format_problem(example()) + "\n" + format_problem(second));
}

TEST_CASE("error: a broken assertion says what had to hold", "[base]") {
  const auto broken = [] { GPUPLAN_ASSERT(1 + 1 == 3, "sums are right"); };
  try {
    broken();
    FAIL("no exception");
  } catch (const InternalError& error) {
    CHECK(has(error.what(), "sums are right (1 + 1 == 3, "));
  }
  GPUPLAN_ASSERT(true, "this holds");
}

}  // namespace
}  // namespace gpuplan
