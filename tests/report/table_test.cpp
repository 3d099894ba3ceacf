#include "report/render/table.hpp"

#include "catch.hpp"

#include <gpuplan/base/text.hpp>

namespace gpuplan {
namespace {

TextStyle no_wider_than(int width) { return {100, width, false, false}; }

std::vector<std::string> lines_of(const std::string& text) { return split(text, '\n'); }

}  // namespace

TEST_CASE("table: columns are as wide as their widest cell, numbers stand right", "[report]") {
  const std::string table = layout_table({{"name"}, {"n", true}}, {{"a", "1"}, {"longer", "1,000"}}, no_wider_than(0));
  CHECK(table ==
        "name        n\n"
        "a           1\n"
        "longer  1,000\n");
}

TEST_CASE("table: letters of two bytes and two columns keep the columns straight", "[report]") {
  const std::string table =
      layout_table({{"name"}, {"n", true}}, {{"Köln", "1"}, {"東京", "2"}, {"abcd", "3"}}, no_wider_than(0));
  CHECK(table ==
        "name  n\n"
        "Köln  1\n"
        "東京  2\n"
        "abcd  3\n");
}

TEST_CASE("table: a column that is empty in every row is left out, and nothing is printed without rows", "[report]") {
  CHECK(layout_table({{"a"}, {"b"}, {"c"}}, {{"1", "", "3"}}, no_wider_than(0)) == "a  c\n1  3\n");
  CHECK(layout_table({{"a"}, {"b"}}, {}, no_wider_than(0)).empty());
}

TEST_CASE("table: no line ends in blanks", "[report]") {
  for (const std::string& line :
       lines_of(layout_table({{"a"}, {"long title"}}, {{"1", "2"}, {"3", ""}}, no_wider_than(0)))) {
    CHECK_FALSE(line.ends_with(' '));
  }
}

TEST_CASE("table: what has no room is left out by its number and named", "[report]") {
  const std::vector<TableColumn> columns = {{"name"}, {"first", false, 1}, {"third", false, 3}, {"second", false, 2}};
  const std::vector<std::vector<std::string>> rows = {{"aaaa", "bbbbb", "ccccc", "dddddd"}};
  SECTION("all of it fits") {
    CHECK(layout_table(columns, rows, no_wider_than(26)) == "name  first  third  second\naaaa  bbbbb  ccccc  dddddd\n");
  }
  SECTION("one column less") {
    CHECK(layout_table(columns, rows, no_wider_than(25)) ==
          "name  first  second\naaaa  bbbbb  dddddd\n(not shown for want of room: third)\n");
  }
  SECTION("a narrower one may take the place of a wider one before it") {
    CHECK(layout_table(columns, rows, no_wider_than(18)) ==
          "name  first  third\naaaa  bbbbb  ccccc\n(not shown for want of room: second)\n");
  }
  SECTION("columns without a number stay whatever the width") {
    CHECK(lines_of(layout_table(columns, rows, no_wider_than(1))).front() == "name");
  }
}

TEST_CASE("table: only a header in colour carries escapes", "[report]") {
  const std::string table = layout_table({{"a"}}, {{"1"}}, {100, 0, true, false});
  CHECK(table == "\x1b[1ma\x1b[0m\n1\n");
}

}  // namespace gpuplan
