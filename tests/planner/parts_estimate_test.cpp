#include <gpuplan/planner/parts_estimate.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "explanations.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace gpuplan::testing {
namespace {

EstimateRequest request_for(const std::string& model, const std::string& dtype = {}) {
  EstimateRequest request;
  request.job.model = {model, false};
  if (!dtype.empty()) request.job.dtype = {dtype, false};
  request.as_of = {2026, 11, 30};
  return request;
}

PartsEstimate estimated(const EstimateRequest& request) {
  return estimate_parts(built_in(), request, resolve_model(built_in(), request.job.model.value, {}));
}

const PartsFit& fit_on(const PartsEstimate& estimate, std::string_view device) {
  for (const PartsFit& fit : estimate.plan.hardware) {
    if (fit.accelerator->name == gpu(device).name && fit.time) return fit;
  }
  throw std::runtime_error("does not run on " + std::string(device));
}

double latency_on(const PartsEstimate& estimate, std::string_view device) {
  return fit_on(estimate, device).time->latency.value / seconds(1);
}

}  // namespace

TEST_CASE("parts estimate: every kind of network that hosting is rented for is a job", "[planner][parts]") {
  // The uses that the founding documents name: diffusion, computer vision, speech synthesis, recommenders; and embedding.
  struct Row {
    const char* model;
    JobType type;
    ItemKind item;
  };
  const auto row = GENERATE(values<Row>({{"sdxl", JobType::generate, ItemKind::image},
                                         {"flux.1-dev", JobType::generate, ItemKind::image},
                                         {"resnet50", JobType::embed, ItemKind::image},
                                         {"bge-m3", JobType::embed, ItemKind::document},
                                         {"whisper-large-v3", JobType::embed, ItemKind::recording},
                                         {"dlrm-dcnv2", JobType::recommend, ItemKind::sample}}));
  CAPTURE(row.model);
  const PartsEstimate estimate = estimated(request_for(row.model));
  CHECK(estimate.plan.type == row.type);
  CHECK(estimate.item == row.item);
  REQUIRE_FALSE(estimate.options.empty());
  for (const PartsOption& option : estimate.options) {
    CHECK(std::isfinite(option.per_1000_items));
    CHECK(option.per_1000_items > 0);
    CHECK(option.total_cost == Approx(option.per_month));
  }
}

TEST_CASE("parts estimate: small networks run on small cards and on processors", "[planner][parts]") {
  // T4 and RTX A4000 suffice for most inference; BERT-base and DistilBERT run on a CPU. A request of 512 tokens in under a second.
  for (const char* model : {"bert-base-uncased", "distilbert-base-uncased"}) {
    CAPTURE(model);
    EstimateRequest request = request_for(model);
    request.job.parts.length = 512;
    const PartsEstimate estimate = estimated(request);
    for (const char* device : {"T4", "RTX-A4000"}) {
      CAPTURE(device);
      CHECK(latency_on(estimate, device) < 1);
    }
    // How much memory a server has is no fact of its processor: the time alone.
    PartsTimeInputs in;
    in.model = &estimate.plan.model;
    in.runtime = estimate.plan.runtime;
    in.accelerator = &gpu("EPYC-7742");
    in.job = estimate.plan.job;
    CHECK(parts_time(in, Ceilings(built_in()), nullptr).latency.value < seconds(1));
  }
}

TEST_CASE("parts estimate: a compiled engine is several times an eager one where launches decide", "[planner][parts]") {
  // TensorRT two to five times, by the founding documents: so for small texts one at a time.
  EstimateRequest request = request_for("bert-base-uncased", "fp16");
  request.job.parts.length = 128;
  request.job.engine = {"pytorch-1", false};
  const double eager = latency_on(estimated(request), "A100-SXM4-80GB");
  request.job.engine = {"tensorrt", false};
  const double compiled = latency_on(estimated(request), "A100-SXM4-80GB");
  CHECK(eager / compiled >= 2);
}

TEST_CASE("parts estimate: options cost what their hours cost, and twice the devices halve the job",
          "[planner][parts]") {
  EstimateRequest request = request_for("bge-m3");
  request.job.parts.tokens = 1e10;
  request.job.parts.chooses_batch = true;
  request.accelerators = {&gpu("H100-SXM5-80GB")};
  request.count = 1;
  const PartsEstimate one = estimated(request);
  request.count = 2;
  const PartsEstimate two = estimated(request);
  REQUIRE_FALSE(one.options.empty());
  REQUIRE_FALSE(two.options.empty());
  for (const PartsOption& option : one.options) {
    REQUIRE(option.total.has_value());
    CHECK(option.accelerator == request.accelerators.front());
    CHECK(option.devices == 1);
    const double hours_taken = option.total->value / hours(1);
    CHECK(option.per_hour * hours_taken == Approx(1e4 * *option.per_1m_tokens).epsilon(1e-6));  // 10^10 tokens
    CHECK(option.total_cost >= option.per_hour * hours_taken * (1 - 1e-9));  // whole quanta are billed
    double billed = 0;
    for (const auto& term : option.bill.terms()) billed += term.value;
    CHECK(option.total_cost == Approx(billed));
  }
  CHECK(two.options.front().total->value / seconds(1) == Approx(one.options.front().total->value / seconds(1) / 2));
}

TEST_CASE("parts estimate: the chosen batch fits and is not slower an item than one by one", "[planner][parts]") {
  EstimateRequest request = request_for("sdxl", "fp16");
  const PartsEstimate single = estimated(request);
  request.job.parts.chooses_batch = true;
  const PartsEstimate chosen = estimated(request);
  for (const char* device : {"GeForce-RTX-4090", "H200-SXM-141GB", "L4"}) {
    CAPTURE(device);
    const PartsFit& fit = fit_on(chosen, device);
    CHECK(fit.memory.verdict != FitVerdict::does_not_fit);
    CHECK(fit.time->items_per_s().value >= fit_on(single, device).time->items_per_s().value * (1 - 1e-12));
  }
  CHECK(fit_on(chosen, "H200-SXM-141GB").batch >= fit_on(chosen, "L4").batch);
}

TEST_CASE("parts estimate: options are ranked, the front is marked, and the first is explained", "[planner][parts]") {
  EstimateRequest request = request_for("sdxl", "fp16");
  request.job.parts.steps = 30;
  const PartsEstimate estimate = estimated(request);
  REQUIRE(estimate.options.size() > 10);
  CHECK(std::is_sorted(estimate.options.begin(), estimate.options.end(),
                       [](const PartsOption& a, const PartsOption& b) { return a.total_cost < b.total_cost; }));
  CHECK(estimate.options.front().on_pareto_front);
  for (const PartsOption& option : estimate.options) CHECK(option.on_pareto_front == (option.dominated_by == 0));
  Explain why;
  explain_option(built_in(), request, estimate, estimate.options.front(), why);
  check_formulas(why);
  const auto& terms = why.terms();
  CHECK(std::any_of(terms.begin(), terms.end(), [](const ExplainedTerm& term) { return term.id == "time.unet"; }));
  request.sort = SortBy::time;
  const PartsEstimate by_time = estimated(request);
  CHECK(by_time.options.front().time.latency.value <= estimate.options.front().time.latency.value);
}

TEST_CASE("parts estimate: what a network does not count is refused", "[planner][parts]") {
  EstimateRequest request = request_for("sdxl");
  request.job.parts.tokens = 1e6;
  CHECK_THROWS_AS(estimated(request), InputError);
  request = request_for("resnet50");
  request.job.type = {JobType::generate, false};
  CHECK_THROWS_AS(estimated(request), InputError);
}

}  // namespace gpuplan::testing
