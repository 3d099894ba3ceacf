#include <gpuplan/validation/parts_time.hpp>

#include <gpuplan/validation/parts_fit.hpp>
#include <gpuplan/validation/validate.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace gpuplan::testing {
namespace {

std::string file(const std::string& name) {
  std::ifstream in(std::string(GPUPLAN_SOURCE_DIR) + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const std::string kColumns =
    "id,source,task,engine,model,accelerator,weights,batch,input_tokens,image_pixels,steps,count,variant,metric,"
    "value\n";

ValidatedRow only_row(const std::string& row) {
  const std::string text = kColumns + row + "\n";
  return validate_table(built_in(), read_csv(text, "rows.csv"), "rows.csv").scored.at(0);
}

}  // namespace

TEST_CASE("parts time rows: the shipped rows keep inside their bars", "[validation][parts]") {
  const std::string path = "/data/measured/parts_time.csv";
  const Validation validation = validate_table(built_in(), read_csv(file(path), path), path);
  const RowSummary all = summarize_rows(validation.scored, {}).front();
  CAPTURE(all.median_abs_error, all.p90_abs_error, all.bias);
  CHECK(all.rows == 785);
  CHECK(static_cast<double>(all.predicted) >= 0.95 * static_cast<double>(all.rows));
  CHECK(all.median_abs_error <= 0.15);
  CHECK(all.p90_abs_error <= 0.45);
}

TEST_CASE("parts time rows: training of other networks keeps inside its bars", "[validation][parts]") {
  const std::string path = "/data/measured/parts_training.csv";
  const Validation validation = validate_table(built_in(), read_csv(file(path), path), path);
  const RowSummary all = summarize_rows(validation.scored, {}).front();
  CAPTURE(all.median_abs_error, all.p90_abs_error, all.bias);
  CHECK(all.rows == 140);
  CHECK(all.predicted == 140);
  CHECK(all.median_abs_error <= 0.09);
  CHECK(all.p90_abs_error <= 0.30);
}

TEST_CASE("parts time rows: rates count every device, latencies one batch", "[validation][parts]") {
  const std::string one =
      "a,s,image-classification,transformers,resnet50,A100-SXM4-80GB,fp16,64,,50176,,1,,images_per_s,1";
  const std::string two =
      "a,s,image-classification,transformers,resnet50,A100-SXM4-80GB,fp16,64,,50176,,2,,images_per_s,1";
  const std::string batch =
      "a,s,image-classification,transformers,resnet50,A100-SXM4-80GB,fp16,64,,50176,,1,,batch_latency_s,1";
  CHECK(*only_row(two).predicted == Approx(2 * *only_row(one).predicted));
  CHECK(*only_row(one).predicted == Approx(64 / *only_row(batch).predicted));
}

TEST_CASE("parts time rows: what is unknown is said", "[validation][parts]") {
  const auto how = [](const std::string& row) { return only_row(row).how; };
  CHECK(how("a,s,encoder,transformers,no-such-model,T4,fp16,1,512,,,,,batch_latency_s,1") == "model.unknown");
  CHECK(how("a,s,encoder,no-such-engine,bert-base-uncased,T4,fp16,1,512,,,,,batch_latency_s,1") == "engine.unknown");
  CHECK(how("a,s,encoder,transformers,bert-base-uncased,T5,fp16,1,512,,,,,batch_latency_s,1") == "accelerator.unknown");
  CHECK(how("a,s,encoder,transformers,bert-base-uncased,T4,fp17,1,512,,,,,batch_latency_s,1") == "weights.unknown");
}

TEST_CASE("parts fit: data/runtimes.yaml is what the rows give", "[validation][parts][slow]") {
  const Ceilings ceilings(built_in());
  PartsRowReader reader(built_in(), ceilings);
  const std::string text = file("/data/measured/parts_time.csv");
  const auto rows = read_parts_time_rows(read_csv(text, "parts_time.csv"), "parts_time.csv");
  std::vector<PartsRowWork> works;
  for (const PartsTimeRow& row : rows) {
    auto work = reader.work_of(row);
    if (auto* known = std::get_if<PartsRowWork>(&work)) works.push_back(std::move(*known));
  }
  const PartsFitResult fit = fit_parts_constants(built_in(), works);
  for (const FittedRuntime& fitted : fit.runtimes) {
    if (fitted.rows == 0) continue;
    const Runtime& runtime = required(built_in().find_runtime(fitted.name), fitted.name);
    CAPTURE(fitted.name);
    CHECK(constants_of(runtime).compute == Approx(fitted.constants.compute).epsilon(1e-3));
    CHECK(constants_of(runtime).convolution == Approx(fitted.constants.convolution).epsilon(1e-3));
    CHECK(constants_of(runtime).bandwidth == Approx(fitted.constants.bandwidth).epsilon(1e-3));
    CHECK(constants_of(runtime).launch == Approx(fitted.constants.launch).epsilon(1e-3));
  }
}

}  // namespace gpuplan::testing
