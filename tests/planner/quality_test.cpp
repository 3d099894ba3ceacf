#include "catch.hpp"

#include "../perf/serving_fixture.hpp"

#include <gpuplan/planner/batch_estimate.hpp>
#include <gpuplan/planner/model_resolution.hpp>
#include <gpuplan/planner/quality.hpp>

using namespace gpuplan;
using gpuplan::testing::built_in;
using gpuplan::testing::served;

TEST_CASE("quality: 16 bit and a model's own format cost nothing", "[planner]") {
  ServedModel model = served("llama-3.1-8b");
  model.is_native = false;
  REQUIRE(quality_of(built_in(), model));
  CHECK(quality_of(built_in(), model)->loss == 0);
  JobSpec job;
  job.model = {"gpt-oss-20b", false};
  job.dtype = {"mxfp4", false};  // as it was published
  ModelIdentity identity;
  const ServedModel own = serve_model(built_in(), job, {}, identity);
  CHECK(own.is_native);
  CHECK(quality_of(built_in(), own)->loss == 0);
  CHECK_FALSE(below_quality(built_in(), own, 1));
  job.dtype = {"int4-awq-g128", false};
  const ServedModel other = serve_model(built_in(), job, {}, identity);
  CHECK_FALSE(other.is_native);
  CHECK_FALSE(quality_of(built_in(), other));
  CHECK(below_quality(built_in(), other, 0.5)->available == "not known of int4-awq-g128");
}

TEST_CASE("quality: the loss is that of the measured model of the nearest size", "[planner]") {
  // 67.57 of 69.32 on Llama 3.1 8B, 78.54 of 78.67 on the 70B model.
  CHECK(quality_of(built_in(), "int4-gptq-g128", 7e9)->loss == Approx(1 - 67.57 / 69.32));
  CHECK(quality_of(built_in(), "int4-gptq-g128", 60e9)->loss == Approx(1 - 78.54 / 78.67));
  // Perplexity grows from 7.93 to 8.02 on Qwen2 7B.
  const auto mix = quality_of(built_in(), "gguf:Q4_K_M", 7.5e9);
  REQUIRE(mix);
  CHECK(mix->record->measure == "perplexity");
  CHECK(mix->loss == Approx(8.02 / 7.93 - 1));
  CHECK_FALSE(quality_of(built_in(), "exl2:2.5", 8e9));
}

TEST_CASE("quality: a format that keeps too little runs nowhere, in batch jobs too", "[planner]") {
  EstimateRequest request;
  request.job.model = {"llama-3.1-8b", false};
  request.job.dtype = {"int4-gptq-g128", false};  // keeps 97.5 %
  request.accelerators = {built_in().find_accelerator("L40S")};
  request.min_quality = 0.97;
  CHECK_FALSE(make_estimate(built_in(), request).options.empty());
  request.min_quality = 0.98;
  const Estimate none = make_estimate(built_in(), request);
  CHECK(none.options.empty());
  REQUIRE_FALSE(none.rejected.empty());
  CHECK(none.rejected.front().rejection.rule == "quality");
  BatchLoad load;
  load.requests = 1000;
  CHECK(estimate_batch(built_in(), request, load).options.empty());
}

TEST_CASE("quality: every record is of a format that the program knows", "[planner]") {
  REQUIRE(built_in().format_qualities().size() > 50);
  for (const FormatQuality& q : built_in().format_qualities()) {
    CAPTURE(q.name);
    CHECK(parse_scheme(q.format).value);
    const double ratio = *q.score / *q.original;
    CHECK((q.measure == "perplexity" ? ratio >= 1 : ratio <= 1));
  }
}
