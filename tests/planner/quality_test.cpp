#include "catch.hpp"

#include "../perf/serving_fixture.hpp"

#include <gpuplan/planner/quality.hpp>

using namespace gpuplan;
using gpuplan::testing::built_in;

TEST_CASE("quality: 16 bit and a model's own format cost nothing", "[planner]") {
  for (const char* format : {"bf16", "fp16", "fp32"}) CHECK(quality_of(built_in(), format, false, 8e9)->loss == 0);
  const auto native = quality_of(built_in(), "mxfp4", true, 120e9);
  REQUIRE(native);
  CHECK(native->loss == 0);
  CHECK_FALSE(native->record);
}

TEST_CASE("quality: the loss is that of the measured model of the nearest size", "[planner]") {
  // 67.57 of 69.32 on Llama 3.1 8B, 78.54 of 78.67 on the 70B model.
  CHECK(quality_of(built_in(), "int4-gptq-g128", false, 7e9)->loss == Approx(1 - 67.57 / 69.32));
  CHECK(quality_of(built_in(), "int4-gptq-g128", false, 60e9)->loss == Approx(1 - 78.54 / 78.67));
  // Perplexity grows from 7.93 to 8.02 on Qwen2 7B.
  const auto mix = quality_of(built_in(), "gguf:Q4_K_M", false, 7.5e9);
  REQUIRE(mix);
  CHECK(mix->record->measure == "perplexity");
  CHECK(mix->loss == Approx(8.02 / 7.93 - 1));
}

TEST_CASE("quality: nothing is known of a format that nobody measured", "[planner]") {
  CHECK_FALSE(quality_of(built_in(), "int4-awq-g128", false, 8e9));
  CHECK_FALSE(quality_of(built_in(), "exl2:2.5", false, 8e9));
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
