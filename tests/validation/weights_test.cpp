#include "catalogues.hpp"
#include "catch.hpp"

#include <gpuplan/validation/weights.hpp>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace gpuplan;
using testing::built_in;

namespace {

constexpr const char* kHeader = "id,source,model,weights,weights_bits,tp,metric,score,value\n";

std::vector<WeightsRow> rows_of(const std::string& lines) { return read_weights_rows(kHeader + lines, "rows.csv"); }

}  // namespace

TEST_CASE("weights: published sizes are met within the bars", "[validation]") {
  std::ifstream in(std::string(GPUPLAN_SOURCE_DIR) + "/data/measured/weights.csv", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::vector<WeightsPrediction> predictions;
  for (const WeightsRow& row : read_weights_rows(text, "weights.csv")) {
    predictions.push_back(predict_weights(built_in(), row));
    CAPTURE(row.id, predictions.back().how);
    CHECK(predictions.back().is_predicted());
  }
  const WeightsSummary all = summarize_weights(predictions);
  CHECK(all.rows == 71);
  CHECK(all.unpredicted == 0);
  CHECK(all.median <= 0.005);
  CHECK(all.p95 <= 0.03);
}

TEST_CASE("weights: rows of other metrics and those not scored are passed over", "[validation]") {
  const auto rows = rows_of(
      "a,s,llama-3.1-8b,bf16,,1,file_bytes,yes,16060522496\n"
      "b,s,llama-3.1-8b,bf16,,1,ttft_s,yes,1\n"
      "c,s,llama-3.1-8b,bf16,,1,file_bytes,no,1\n");
  REQUIRE(rows.size() == 1);
  const WeightsPrediction p = predict_weights(built_in(), rows[0]);
  CHECK(p.predicted == Approx(16060522496.0));  // 2 bytes x 8030261248 parameters
  CHECK(p.abs_error() < 1e-9);
}

TEST_CASE("weights: a rank holds its share, and a mix of somebody's own its stated average", "[validation]") {
  const auto rows = rows_of(
      "a,s,llama-3.1-8b,bf16,,2,weights_bytes_per_device,yes,8e9\n"
      "b,s,llama-3.1-8b,gguf:IQ2_K,4,1,file_bytes,yes,4015130624\n"
      "c,s,llama-3.1-8b,gguf:Q8_0,8.5,1,file_bytes,yes,8.5e9\n");
  // All matrices are split by two, norms (65 x 4096 in bf16) are not.
  CHECK(predict_weights(built_in(), rows[0]).predicted == Approx((16060522496.0 + 65 * 4096 * 2) / 2));
  const WeightsPrediction own = predict_weights(built_in(), rows[1]);
  CHECK(own.how == "bits:4");
  CHECK(own.predicted == Approx(8030261248.0 / 2));
  CHECK(predict_weights(built_in(), rows[2]).how == "gguf:Q8_0");
}

TEST_CASE("weights: what cannot be predicted says why, and what is no table is refused", "[validation]") {
  const auto rows = rows_of(
      "a,s,no-such-model,bf16,,1,file_bytes,yes,1\n"
      "b,s,llama-3.1-8b,zip,,1,file_bytes,yes,1\n");
  CHECK(predict_weights(built_in(), rows[0]).how == "model.unknown");
  const WeightsPrediction zip = predict_weights(built_in(), rows[1]);
  CHECK(zip.how == "format.unknown");
  CHECK(summarize_weights(std::vector{zip}).unpredicted == 1);
  CHECK_THROWS_AS(rows_of("a,s,llama-3.1-8b,bf16,,1,file_bytes,yes,-5\n"), InputError);
  CHECK_THROWS_AS(read_weights_rows("id,value\n1,2\n", "x.csv"), InputError);
}
