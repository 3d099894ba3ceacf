#include <gpuplan/report/render.hpp>

#include "catch.hpp"
#include "report/documents.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

ListDocument list_of(std::vector<std::vector<Cell>> rows) {
  return {"offers", {"id", "price", "ok"}, std::move(rows), "a note"};
}

}  // namespace

TEST_CASE("csv: lines end in CRLF, and a note is not part of it", "[report]") {
  CHECK(render_csv(list_of({{{std::string("a")}, {1.5}, {true}}})) == "id,price,ok\r\na,1.5,true\r\n");
}

TEST_CASE("csv: commas, quotes and line breaks are quoted as RFC 4180 says, all else is not", "[report]") {
  const std::string csv = render_csv(list_of({{{std::string("a,b")}, {}, {}},
                                              {{std::string("say \"x\"")}, {}, {}},
                                              {{std::string("two\nlines")}, {}, {}},
                                              {{std::string("it's; fine")}, {}, {}}}));
  CHECK(csv == "id,price,ok\r\n\"a,b\",,\r\n\"say \"\"x\"\"\",,\r\n\"two\nlines\",,\r\nit's; fine,,\r\n");
}

TEST_CASE("csv: an unknown value is an empty field, never zero", "[report]") {
  CHECK(render_csv(list_of({{{std::string("a")}, {}, {false}}})) == "id,price,ok\r\na,,false\r\n");
}

TEST_CASE("csv: numbers are whole or the shortest that reads back", "[report]") {
  CHECK(render_csv(list_of({{{std::string("a")}, {0.1}, {}}, {{std::string("b")}, {1e12}, {}}})) ==
        "id,price,ok\r\na,0.1,\r\nb,1000000000000,\r\n");
}

TEST_CASE("csv: options become rows, terms become columns by their id, and the header is the union of all rows",
          "[report]") {
  EstimateDocument d = testing::estimate_document();
  d.options.resize(2);
  d.options[1].cost.terms = {{"compute", 100}, {"host_cpu", 46}};
  const auto rows = split(render_csv(d), '\n');
  REQUIRE(rows.size() == 3);
  const auto header = split(rows[0], ',');
  const auto column = [&](std::string_view name) {
    const auto at = std::find(header.begin(), header.end(), name);
    REQUIRE(at != header.end());
    return static_cast<std::size_t>(at - header.begin());
  };
  // Fields may be empty: count the commas.
  const auto field = [](std::string_view row, std::size_t n) {
    for (; n > 0; --n) row.remove_prefix(row.find(',') + 1);
    return std::string(row.substr(0, row.find(',')));
  };
  CHECK(field(rows[1], column("memory.terms.weights.bytes")) == "40000000000");
  CHECK(field(rows[1], column("cost.terms.compute.amount")) == "73");
  CHECK(field(rows[1], column("cost.terms.host_cpu.amount")).empty());
  CHECK(field(rows[2], column("cost.terms.host_cpu.amount")) == "46");
  CHECK(std::count(rows[1].begin(), rows[1].end(), ',') == std::count(rows[0].begin(), rows[0].end(), ','));
}

}  // namespace gpuplan
