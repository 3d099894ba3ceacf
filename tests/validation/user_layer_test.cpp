#include <gpuplan/validation/user_layer.hpp>

#include <gpuplan/validation/predict.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

#include <cmath>
#include <string>

namespace gpuplan::testing {
namespace {

// A host of eight whose links do what the catalogue says, but all of it `slower` times slower.
std::vector<CollectiveRow> host(double slower) {
  std::vector<CollectiveRow> rows;
  for (const std::int64_t n : {2, 4, 8}) {
    for (double size = 512; size < 2e9; size *= 4) {
      CollectiveRow row;
      row.id = row.source = "mine";
      row.metric = "collective_s";
      row.link = "nvlink3";
      row.kind = Collective::all_gather;
      row.group = {n, 1, 1};
      row.domain = 8;
      row.size = bytes(size);
      const auto fabric = fabric_of_row(built_in(), row);
      row.value = slower * collective_time(*fabric, row.kind, row.group, row.size).time.base();
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("own layer: links that are half as fast are so for every collective then", "[validation]") {
  const UserCalibration mine = calibrate_own(built_in(), {}, host(2));
  REQUIRE(mine.links.size() == 1);
  CHECK(mine.links[0].name == "nvlink3");
  CHECK(mine.links[0].error_before == Approx(0.5).margin(0.01));
  CHECK(mine.links[0].error_after < 0.05);
  const Catalog after = with_overlay(user_layer_yaml(mine, "2026-11-30"), Layer::user);
  for (const CollectiveRow& row : host(2)) {
    CAPTURE(row.group.inside, row.size / bytes(1));
    CHECK(*predict_collective(after, row).value == Approx(row.value).epsilon(0.2));
  }
  // What the rows say nothing of stays.
  const auto exchange = [](const Catalog& catalog) {
    for (const CollectiveSpeed& s : catalog.find_link("nvlink3")->collectives) {
      if (s.algorithm == "exchange") return *s.bulk_efficiency;
    }
    return 0.0;
  };
  CHECK(exchange(after) == Approx(exchange(built_in())));
}

TEST_CASE("own layer: a single row moves constants to it and nothing into nonsense", "[validation]") {
  std::vector<CollectiveRow> rows = host(1);
  rows.resize(1);
  for (const double times : {1e-6, 1.0, 1e6}) {
    rows[0].value = host(1).front().value * times;
    const UserCalibration mine = calibrate_own(built_in(), {}, rows);
    if (mine.links.empty()) continue;  // nothing was better than what is there
    const Catalog after = with_overlay(user_layer_yaml(mine, "2026-11-30"), Layer::user);
    const double predicted = *predict_collective(after, rows[0]).value;
    CHECK((std::isfinite(predicted) && predicted > 0));
  }
}

TEST_CASE("own layer: an engine's constants start at the catalogue's and follow the rows", "[validation]") {
  // A device and model of the catalogue that decode a third slower than predicted.
  MeasuredRow row;
  row.id = row.source = "mine";
  row.engine = "vllm";
  row.model = "llama-3.1-8b";
  row.accelerator = "L40S";
  row.weights = "bf16";
  row.mode = MeasuredMode::single;
  row.metric = Metric::decode_tokens_per_s;
  row.input = 512;
  row.output = 128;
  row.concurrency = 1;
  const Ceilings ceilings(built_in());
  RowReader reader(built_in(), ceilings);
  const auto work = std::get<RowWork>(reader.work_of(row));
  row.value = predicted_value(work, constants_of(engine("vllm"))) / 1.5;
  const std::vector<MeasuredRow> rows = {row};
  const UserCalibration mine = calibrate_own(built_in(), rows, {});
  REQUIRE(mine.engines.size() == 1);
  CHECK(mine.engines[0].error_before == Approx(0.5).margin(0.01));
  CHECK(mine.engines[0].error_after < 0.2);
  const Catalog after = with_overlay(user_layer_yaml(mine, "2026-11-30"), Layer::user);
  const EngineConstants read = constants_of(required(after.find_engine("vllm"), "vllm"));
  CHECK(read.bandwidth == Approx(mine.engines[0].after.bandwidth).epsilon(0.01));
  CHECK(read.launch == Approx(mine.engines[0].after.launch).epsilon(0.01));
}

TEST_CASE("own layer: rows that cannot be predicted are counted by their reason", "[validation]") {
  CollectiveRow row = host(1).front();
  row.link = "warp-drive";
  const std::vector<CollectiveRow> rows = {row};
  const UserCalibration mine = calibrate_own(built_in(), {}, rows);
  CHECK(mine.links.empty());
  REQUIRE(mine.left.size() == 1);
  CHECK(mine.left[0].reason == "link.unknown");
}

}  // namespace gpuplan::testing
