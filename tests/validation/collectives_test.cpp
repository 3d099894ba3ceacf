#include <gpuplan/validation/collectives.hpp>

#include <gpuplan/base/reader.hpp>
#include <gpuplan/validation/validate.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

#include <string>

namespace gpuplan::testing {
namespace {

const std::string& table_path() {
  static const std::string path = std::string(GPUPLAN_SOURCE_DIR) + "/data/measured/collectives.csv";
  return path;
}

const CsvTable& table() {
  static const CsvTable read = read_csv(read_text_file(table_path()), table_path());
  return read;
}

}  // namespace

TEST_CASE("collectives: the measured rows are predicted within the bars", "[validation]") {
  const Validation v = validate_table(built_in(), table(), table_path());
  const std::vector<std::string> keys = {"mode"};
  const auto groups = summarize_rows(v.scored, keys);
  REQUIRE(groups.size() == 2);
  for (const RowSummary& group : groups) {
    const bool inside = group.by.front() == "inside";
    CAPTURE(group.by.front());
    CHECK(group.predicted == group.rows);
    CHECK(group.median_abs_error <= (inside ? 0.10 : 0.20));
    CHECK(group.p90_abs_error <= (inside ? 0.30 : 0.50));
  }
  CHECK(v.rows == 2321);
  CHECK(v.scored.size() == 2321 - 168);  // those that their source calls suspicious
}

TEST_CASE("collectives: fitting again gives the constants of the catalogue", "[validation][slow]") {
  const std::string path = std::string(GPUPLAN_SOURCE_DIR) + "/data/links.yaml";
  const std::string before = read_text_file(path);
  const auto rows = read_collective_rows(table(), table_path());
  const auto fitted = fit_collectives(with_speeds(built_in(), {}), rows);
  CHECK(with_speeds(before, fitted) == before);
  // Nor do they depend on what is there: without the fitted lines the same comes out.
  CHECK(with_speeds(with_speeds(before, {}), fitted) == before);
}

TEST_CASE("collectives: a time and its bus bandwidth are one measurement", "[validation]") {
  const std::string head = "id,source,link,collective,count,nodes,message_bytes,metric,value\n";
  // 1 GB over eight ranks in 10 ms: 1.75 * 100 GB/s
  const auto rows =
      read_collective_rows(read_csv(head + "a,s,nvlink4,all_reduce,8,1,1000000000,collective_s,0.01\n"
                                           "b,s,nvlink4,all_reduce,8,1,1000000000,bus_bytes_per_s,1.75e11\n",
                                    "t.csv"),
                           "t.csv");
  CHECK(rows[0].time() / milliseconds(1) == Approx(10));
  CHECK(rows[1].time() / milliseconds(1) == Approx(10));
}

TEST_CASE("collectives: what cannot be predicted says why", "[validation]") {
  const std::string head = "id,source,link,network_link,network_gbit,collective,algorithm,count,nodes,metric,value\n";
  const auto how = [&](const std::string& line) {
    const auto rows = read_collective_rows(read_csv(head + line, "t.csv"), "t.csv");
    return predict_collective(built_in(), rows.front()).how;
  };
  CHECK(how("a,s,warp-drive,,,all_reduce,,8,1,collective_s,1\n") == "link.unknown");
  CHECK(how("a,s,nvlink4,ib-ndr,,all_reduce,,16,2,collective_s,1\n") == "network.unknown");
  CHECK(how("a,s,nvlink4,,,all_reduce,,1,1,collective_s,1\n") == "ranks.one");
  CHECK(how("a,s,nvlink4,,,all_gather,in-switch,8,1,collective_s,1\n") == "algorithm.unknown");
}

TEST_CASE("collectives: wrong fields are told with their place and the nearest word", "[validation]") {
  const std::string text = "id,source,link,collective,count,metric,value\na,s,nvlink4,all_redduce,8,collective_s,nan\n";
  try {
    (void)read_collective_rows(read_csv(text, "t.csv"), "t.csv");
    FAIL("read");
  } catch (const InputError& error) {
    REQUIRE(error.problems().size() == 2);
    CHECK(at(error.problems()[0]) == "t.csv:2:4");
    CHECK(at(error.problems()[1]) == "t.csv:2:7");
  }
}

}  // namespace gpuplan::testing
