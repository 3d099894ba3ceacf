#include "catch.hpp"

#include "../perf/serving_fixture.hpp"

#include <gpuplan/validation/evidence.hpp>

#include <algorithm>

using namespace gpuplan;
using gpuplan::testing::built_in;

namespace {

const Accelerator& card(std::string_view name) {
  const Accelerator* found = built_in().find_accelerator(name);
  REQUIRE(found);
  return *found;
}

EvidenceIndex serving(std::string_view model, std::string_view engine, std::string_view format = {}) {
  const ModelPreset* preset = model.empty() ? nullptr : built_in().find_model(model);
  REQUIRE((model.empty() || preset));
  return {built_in(), {EvidenceJob::serve, preset, engine, format}};
}

}  // namespace

TEST_CASE("evidence: every measured group has its fields, and its accelerator is in the catalogue", "[validation]") {
  const auto groups = measured_groups();
  REQUIRE(groups.size() > 800);
  for (const MeasuredGroup& g : groups) {
    CAPTURE(g.file, g.first_row);
    CHECK(g.rows > 0);
    CHECK_FALSE(g.first_row.empty());
    CHECK_FALSE(g.metrics.empty());
    CHECK(g.source.rfind("http", 0) == 0);
    if (g.file == "inference.csv") CHECK(built_in().find_accelerator(g.accelerator));
  }
}

TEST_CASE("evidence: this model on this card with this engine is measured, else the nearest is named", "[validation]") {
  // data/measured/inference.csv has Llama 3.1 8B on an A100 40GB in vLLM 0.7.3 (accelmark), and nothing of it on an L40S.
  const Evidence same = serving("llama-3.1-8b", "vllm", "fp8").of(card("A100-SXM4-40GB"));
  CHECK(same.grade == EvidenceGrade::measured);
  CHECK(same.group->accelerator == "A100 SXM4 40GB");
  CHECK(same.group->format == "fp8");
  const Evidence other_engine = serving("llama-3.1-8b", "ctranslate2").of(card("A100-SXM4-40GB"));
  CHECK(other_engine.grade == EvidenceGrade::near);
  CHECK(built_in().find_model(other_engine.group->model) == built_in().find_model("llama-3.1-8b"));
  const Evidence other_model = serving("smollm2-135m", "vllm").of(card("A100-SXM4-40GB"));
  CHECK(other_model.grade == EvidenceGrade::near);
  CHECK(other_model.group->accelerator == "A100 SXM4 40GB");
  CHECK(other_model.group->engine == "vllm");
}

TEST_CASE("evidence: nothing is near a model and a card that nobody measured", "[validation]") {
  const Evidence none = serving({}, "vllm").of(card("Tesla-K80"));
  CHECK(none.grade == EvidenceGrade::physics);
  CHECK_FALSE(none.group);
}

TEST_CASE("evidence: a release's record counts as its engine", "[validation]") {
  CHECK(serving("llama-3.1-8b", "vllm-v0").of(card("A100-SXM4-40GB")).grade == EvidenceGrade::measured);
}

TEST_CASE("evidence: all groups come nearest first", "[validation]") {
  const auto all = serving("llama-3.1-8b", "vllm").all({&card("A100-SXM4-40GB")});
  REQUIRE(all.size() > 5);
  CHECK(all.front().grade == EvidenceGrade::measured);
  CHECK(std::is_partitioned(all.begin(), all.end(),
                            [](const Evidence& e) { return e.grade == EvidenceGrade::measured; }));
}
