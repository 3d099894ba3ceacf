#include <gpuplan/validation/parts.hpp>
#include <gpuplan/validation/validate.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace gpuplan::testing {
namespace {

Validation shipped() {
  const std::string path = std::string(GPUPLAN_SOURCE_DIR) + "/data/measured/images.csv";
  std::ifstream in(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  return validate_table(built_in(), read_csv(text, path), path);
}

RowSummary summary_of(const std::vector<ValidatedRow>& rows, std::string_view metric) {
  const std::vector<std::string> keys = {"metric"};
  for (const RowSummary& summary : summarize_rows(rows, keys)) {
    if (summary.by.front() == metric) return summary;
  }
  throw std::runtime_error("no rows of " + std::string(metric));
}

}  // namespace

TEST_CASE("parts rows: the shipped rows of images keep inside their bars", "[validation][parts]") {
  const Validation validation = shipped();
  const RowSummary peak = summary_of(validation.scored, "peak_bytes_per_device");
  CAPTURE(peak.median_abs_error, peak.p90_abs_error, peak.bias);
  CHECK(peak.rows == 105);
  CHECK(peak.predicted == 105);
  CHECK(peak.median_abs_error <= 0.10);
  CHECK(peak.p90_abs_error <= 0.30);
  CHECK(peak.coverage_80.value() >= 0.7);
  const RowSummary fits = summary_of(validation.scored, "fits");
  CAPTURE(fits.mean_abs_error);
  CHECK(fits.rows == 42);
  CHECK(fits.mean_abs_error <= 0.03);
  CHECK_FALSE(fits.coverage_80.has_value());
}

TEST_CASE("parts rows: what cannot be predicted says why", "[validation][parts]") {
  const auto how = [](PartsRow row) { return predict_parts_memory(built_in(), row).how; };
  PartsRow row;
  row.engine = "diffusers";
  row.model = "sdxl";
  row.accelerator = "A10";
  row.metric = "fits";
  CHECK(predict_parts_memory(built_in(), row).value.has_value());
  PartsRow other = row;
  other.model = "no such model";
  CHECK(how(other) == "model.unknown");
  other = row;
  other.model = "llama-3.1-8b";
  CHECK(how(other) == "model.not_modelled");
  other = row;
  other.accelerator = "no such card";
  CHECK(how(other) == "accelerator.unknown");
  other = row;
  other.engine = "no such library";
  CHECK(how(other) == "engine.unknown");
  other = row;
  other.weights = "no such format";
  CHECK(how(other) == "weights.unknown");
}

}  // namespace gpuplan::testing
