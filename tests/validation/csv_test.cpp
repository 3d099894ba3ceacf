#include "catch.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/validation/csv.hpp>
#include <gpuplan/validation/measured.hpp>

#include <string>

using namespace gpuplan;

namespace {

constexpr const char* kHeader = "id,source,engine,model,accelerator,mode,metric,value,tp,concurrency\n";

std::vector<Problem> problems_of(const std::string& text) {
  try {
    (void)read_csv(text, "x.csv");
  } catch (const InputError& error) {
    return error.problems();
  }
  return {};
}

}  // namespace

TEST_CASE("csv: quotes hold commas, quotes and line ends", "[validation]") {
  const CsvTable table = read_csv("a,b\r\n\"1,5\",\"say \"\"x\"\"\"\n\"two\nlines\",\n", "x.csv");
  REQUIRE(table.records.size() == 2);
  CHECK(table.columns == std::vector<std::string>{"a", "b"});
  CHECK(table.records[0].fields == std::vector<std::string>{"1,5", "say \"x\""});
  CHECK(table.records[1].fields == std::vector<std::string>{"two\nlines", ""});
  CHECK(table.records[1].line == 3);
  CHECK(table.column("b") == 1);
  CHECK_FALSE(table.column("c").has_value());
}

TEST_CASE("csv: a byte-order mark and a missing last line end are accepted", "[validation]") {
  const CsvTable table = read_csv(
      "\xEF\xBB\xBF"
      "a,b\n1,2",
      "x.csv");
  CHECK(table.columns.front() == "a");
  REQUIRE(table.records.size() == 1);
  CHECK(table.records[0].fields[1] == "2");
}

TEST_CASE("csv: what breaks the format is refused with its place", "[validation]") {
  CHECK(problems_of("a,b\n1\n").at(0).place->line == 2);
  CHECK(problems_of("a,b\n1,2,3\n").size() == 1);
  CHECK(problems_of("a,a\n1,2\n").at(0).message == "the column 'a' is there twice");
  CHECK_FALSE(problems_of("a,b\n\"1\"x,2\n").empty());
  CHECK_FALSE(problems_of("a,b\n\"1,2\n").empty());
  CHECK_FALSE(problems_of("a,b\n1\",2\n").empty());
  CHECK_FALSE(problems_of("").empty());
  CHECK_FALSE(problems_of(std::string("a,b\n1,\0\n", 8)).empty());
  CHECK_FALSE(problems_of("a,b\n1,\xff\n").empty());
}

TEST_CASE("csv: all problems of a file come at once", "[validation]") {
  CHECK(problems_of("a,b\n1\n2\n3,4\n5\n").size() == 3);
}

TEST_CASE("measured rows: numbers are read and empty fields are not known", "[validation]") {
  const auto rows =
      read_measured(std::string(kHeader) + "r1,s,vllm,llama-3.1-8b,H100,concurrency,tpot_s,0.012,2,\n", "x.csv");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].metric == Metric::tpot_s);
  CHECK(rows[0].mode == MeasuredMode::concurrency);
  CHECK(rows[0].value == Approx(0.012));
  CHECK(rows[0].tp == 2);
  CHECK(rows[0].pp == 1);
  CHECK_FALSE(rows[0].concurrency.has_value());
}

TEST_CASE("measured rows: every bad value is a problem", "[validation]") {
  const std::string text = std::string(kHeader) + "r1,s,vllm,m,H100,concurrency,tpot_s,nan,2,\n" +
                           "r2,s,vllm,m,H100,sideways,tpot_s,1,x,\n" + ",s,vllm,m,H100,single,tpot_s,0,1,\n";
  try {
    (void)read_measured(text, "x.csv");
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(error.problems().size() == 5);
  }
  CHECK_THROWS_AS(read_measured("id,source\n1,2\n", "x.csv"), InputError);
}

TEST_CASE("measured rows: metrics that are no times are kept and not predicted", "[validation]") {
  const auto rows = read_measured(std::string(kHeader) + "r1,s,vllm,m,H100,load,fits,0,1,\n", "x.csv");
  CHECK(rows.at(0).metric == Metric::other);
}

TEST_CASE("measured rows: a variant is looked up by its key", "[validation]") {
  MeasuredRow row;
  row.variant = "backend=pytorch;quant_kernel=fp8_block";
  CHECK(variant_of(row, "quant_kernel") == "fp8_block");
  CHECK(variant_of(row, "backend") == "pytorch");
  CHECK(variant_of(row, "kernel").empty());
}
