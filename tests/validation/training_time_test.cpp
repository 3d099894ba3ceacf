#include <gpuplan/validation/training_time.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

#include <gpuplan/base/reader.hpp>
#include <gpuplan/validation/errors.hpp>

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace gpuplan::testing {
namespace {

std::string file(const std::string& path) { return std::string(GPUPLAN_SOURCE_DIR) + "/" + path; }

struct Works {
  std::vector<TrainingRowWork> works;
  std::size_t rows = 0;
};

const Works& works() {
  static const Works all = [] {
    Works found;
    const Ceilings ceilings(built_in());
    const std::string path = file("data/measured/training_time.csv");
    for (const TrainingRow& row : read_training_time_rows(read_csv(read_text_file(path), path), path)) {
      ++found.rows;
      auto work = training_row_work(built_in(), ceilings, row);
      if (auto* known = std::get_if<TrainingRowWork>(&work)) found.works.push_back(std::move(*known));
    }
    return found;
  }();
  return all;
}

// Each source weighs the same.
double median_error(bool fine_tuning, double share = 0.5) {
  std::map<std::string_view, double> rows;
  const auto is_of = [&](const TrainingRowWork& w) { return (w.row.task != "pretrain") == fine_tuning; };
  for (const TrainingRowWork& w : works().works) rows[w.row.source] += is_of(w) ? 1 : 0;
  std::vector<Weighted> errors;
  for (const TrainingRowWork& w : works().works) {
    if (!is_of(w)) continue;
    const double error = std::abs(predicted_value(w, constants_of(*w.framework)) / w.row.value - 1);
    errors.push_back({error, 1 / rows[w.row.source]});
  }
  return weighted_quantile(errors, share);
}

}  // namespace

TEST_CASE("training rows: at least 95 % are predicted", "[validation]") {
  CHECK(static_cast<double>(works().works.size()) >= 0.95 * static_cast<double>(works().rows));
}

TEST_CASE("training rows: half of the predictions are within 9 % for pretraining and 15 % for fine-tuning",
          "[validation]") {
  CHECK(median_error(false) <= 0.09);
  CHECK(median_error(true) <= 0.15);
  CHECK(median_error(false, 0.9) <= 0.33);
  CHECK(median_error(true, 0.9) <= 0.45);
}

TEST_CASE("training rows: fitting them again gives the constants of the catalogue", "[validation][slow]") {
  const std::string before = read_text_file(file("data/training.yaml"));
  CHECK(with_calibration(before, calibrate_training(built_in(), works().works)) == before);
}

}  // namespace gpuplan::testing
