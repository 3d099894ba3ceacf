// What holds for every estimate over the built-in catalogue.

#include "small_market.hpp"

#include <gpuplan/model/config.hpp>
#include <gpuplan/planner/parts.hpp>

#include "catch.hpp"
#include "explanations.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace gpuplan::testing {
namespace {

bool positive(double value) { return std::isfinite(value) && value > 0; }

template <class Q>
bool sound(const Interval<Q>& interval) {
  return positive(interval.value.base()) && positive(interval.low.base()) && positive(interval.high.base()) &&
         interval.low <= interval.value && interval.value <= interval.high;
}

std::string unsound(const ServingTime& time) {
  if (!sound(time.ttft)) return "ttft";
  if (!sound(time.tpot)) return "tpot";
  if (!sound(time.step)) return "step";
  if (!sound(time.e2e)) return "e2e";
  if (!sound(time.prefill)) return "prefill";
  if (!sound(time.decode)) return "decode";
  if (!sound(time.output)) return "output";
  return "";
}

std::string unsound(const InferenceMemory& memory) {
  Bytes sum;
  for (const auto& term : memory.terms.terms()) {
    if (!std::isfinite(term.value.base()) || term.value < Bytes{}) return "memory." + std::string(term.id);
    sum += term.value;
  }
  if (!positive(memory.capacity.base()) || !positive(memory.terms.total().base())) return "memory";
  if (std::abs(sum / memory.terms.total() - 1) > 1e-12) return "memory does not add up";
  if (memory.verdict == FitVerdict::does_not_fit || memory.headroom() < Bytes{}) return "memory does not fit";
  return "";
}

// The first thing that cannot be true of an option, or nothing.
std::string unsound(const Option& o, std::int64_t concurrency) {
  if (const auto what = unsound(o.alone); !what.empty()) return "alone." + what;
  if (const auto what = unsound(o.at); !what.empty()) return "at." + what;
  if (const auto what = unsound(o.memory); !what.empty()) return what;
  if (!positive(o.per_hour) || !positive(o.per_month) || !positive(o.per_1m_output_tokens)) return "cost";
  double sum = 0;
  for (const auto& term : o.hourly.terms()) sum += term.value;
  if (std::abs(sum / o.per_hour - 1) > 1e-12) return "cost does not add up";
  if (o.devices != o.instances * *o.offer->count && o.devices != o.instances) return "devices are not the instances'";
  if (o.devices < o.layout.devices() || o.layout.dp < 1) return "more devices used than rented";
  if (o.layout.dp * o.max_concurrency < concurrency) return "the demand is not carried";
  if (o.demand > o.max_concurrency || o.demand * o.layout.dp < concurrency) return "the demand of a replica";
  if (o.accelerator != built_in().find_accelerator(o.offer->gpu)) return "another accelerator";
  return "";
}

void check_sound(const Estimate& estimate, std::int64_t concurrency) {
  for (const Option& option : estimate.options) {
    if (const std::string what = unsound(option, concurrency); !what.empty())
      FAIL_CHECK(option.offer->id << ": " << what);
  }
  for (const HardwareFit& fit : estimate.hardware) {
    if (fit.rejection) continue;
    REQUIRE((fit.alone.has_value() && fit.loaded.has_value()));
    if (const auto what = unsound(*fit.alone) + unsound(*fit.loaded); !what.empty())
      FAIL_CHECK(fit.accelerator->name << ": " << what);
    if (fit.max_concurrency < 1) FAIL_CHECK(fit.accelerator->name << " holds no sequence");
  }
}

// The most positions that a preset takes, whether its record or its own configuration says so.
std::int64_t most_positions(const ModelPreset& model) {
  const auto decoder = read_model_preset(model).network.decoder;
  return decoder && decoder->max_position > 0 ? decoder->max_position : 4096;
}

// A request that a preset can take: as long as its positions allow.
EstimateRequest request_for(const ModelPreset& model, const std::string& dtype) {
  EstimateRequest request =
      request_of(std::string(model.name), dtype, 1, std::min<std::int64_t>(4096, most_positions(model)));
  request.job.input = {request.job.context.value / 4, false};
  request.job.output = {request.job.context.value / 16, false};
  return request;
}

// A network that does not generate token by token has a footprint, and nothing to serve.
void check_parts(const ModelPreset& model, const std::string& dtype) {
  EstimateRequest request;
  request.job.model = {std::string(model.name), false};
  request.job.dtype = {dtype, false};
  const ResolvedModel resolved = resolve_model(built_in(), std::string(model.name), {});
  REQUIRE(runs_by_parts(resolved));
  const PartsPlan plan = fit_parts(built_in(), request, resolved);
  for (const PartsFit& fit : plan.hardware) {
    if (!positive(fit.memory.terms.total().base()) || !positive(fit.memory.capacity.base()))
      FAIL_CHECK(fit.accelerator->name << ": memory");
    const bool holds = fit.memory.terms.total() <= fit.memory.capacity;
    if (!holds && !fit.rejection) FAIL_CHECK(fit.accelerator->name << ": does not hold it");
  }
}

bool generates(const ModelPreset& model) { return read_model_preset(model).network.decoder.has_value(); }

double month(const Option& option) { return option.per_month; }
double time_of(const Option& option) { return option.at.e2e.value.base(); }

double cheapest(const Estimate& estimate) {
  double best = HUGE_VAL;
  for (const Option& option : estimate.options) best = std::min(best, month(option));
  return best;
}

// `a` is no dearer and no slower than `b`, and better in one; of equals the first by id stands.
bool dominates(const Option& a, const Option& b) {
  if (month(a) > month(b) || time_of(a) > time_of(b)) return false;
  return month(a) < month(b) || time_of(a) < time_of(b) || a.offer->id < b.offer->id;
}

Problem problem_of_estimate(const EstimateRequest& request) {
  const auto problems = problems_of([&] { (void)make_estimate(built_in(), request); });
  REQUIRE(problems.size() == 1);
  return problems[0];
}

const Estimate& usual() {
  static const Estimate estimate = make_estimate(built_in(), request_of("llama-3.1-8b", "bf16", 8));
  return estimate;
}

}  // namespace

TEST_CASE("estimate: every preset gives finite and positive numbers in 16 bit and in INT4", "[planner][slow]") {
  for (const char* dtype : {"bf16", "int4"}) {
    for (const ModelPreset& model : built_in().models()) {
      CAPTURE(model.name, dtype);
      if (!generates(model)) {
        check_parts(model, dtype);
        continue;
      }
      const Estimate estimate = make_estimate(built_in(), request_for(model, dtype));
      check_sound(estimate, 1);
      if (parameters(estimate.model.network) < 100'000'000'000) CHECK_FALSE(estimate.options.empty());
    }
  }
}

TEST_CASE("estimate: random jobs give finite and positive numbers", "[planner][slow]") {
  Dice dice(5);
  for (int i = 0; i < 150; ++i) {
    const auto& model = built_in().models()[static_cast<std::size_t>(
        dice.whole(0, static_cast<std::int64_t>(built_in().models().size()) - 1))];
    const auto& format =
        schemes()[static_cast<std::size_t>(dice.whole(0, static_cast<std::int64_t>(schemes().size()) - 1))];
    const auto& on = built_in().engines()[static_cast<std::size_t>(
        dice.whole(0, static_cast<std::int64_t>(built_in().engines().size()) - 1))];
    if (!generates(model)) {
      CAPTURE(i, model.name, format.name);
      check_parts(model, std::string(format.name));
      continue;
    }
    EstimateRequest request = request_of(std::string(model.name), std::string(format.name), dice.whole(1, 300),
                                         dice.whole(2, std::min<std::int64_t>(most_positions(model), 200000)));
    request.job.engine = {std::string(on.name), false};
    request.job.input = {dice.whole(1, request.job.context.value - 1), false};
    request.job.output = {dice.whole(1, request.job.context.value - request.job.input.value), false};
    if (dice.heads()) request.count = dice.whole(1, 32);
    CAPTURE(i, model.name, format.name, on.name, request.job.context.value, request.job.concurrency.value,
            request.count.value_or(0));
    check_sound(make_estimate(built_in(), request), request.job.concurrency.value);
  }
}

TEST_CASE("estimate: the largest demand that can be typed gives finite numbers", "[planner]") {
  const std::int64_t most = std::int64_t{1} << 53;
  check_sound(make_estimate(built_in(), request_of("llama-3.1-8b", "bf16", most)), most);
}

TEST_CASE("estimate: every offer that may compete is an option or a rejection, once", "[planner]") {
  std::multiset<Text> seen;
  for (const Option& option : usual().options) seen.insert(option.offer->id);
  for (const RejectedOffer& rejected : usual().rejected) {
    seen.insert(rejected.offer->id);
    CHECK_FALSE(rejected.rejection.rule.empty());
    CHECK_FALSE(rejected.rejection.smallest_change.empty());
  }
  for (const Provider& one : built_in().providers()) {
    for (const Offer& offer : one.offers) {
      CAPTURE(offer.id);
      CHECK(seen.count(offer.id) == (offer.rankable ? 1U : 0U));
    }
  }
}

TEST_CASE("estimate: options stand in the order that was asked for", "[planner]") {
  const auto ordered = [](SortBy sort, auto less) {
    EstimateRequest request = request_of("llama-3.1-8b", "bf16", 8);
    request.sort = sort;
    const Estimate estimate = make_estimate(built_in(), request);
    return std::is_sorted(estimate.options.begin(), estimate.options.end(), less);
  };
  CHECK(ordered(SortBy::cost, [](const Option& a, const Option& b) { return month(a) < month(b); }));
  CHECK(ordered(SortBy::time, [](const Option& a, const Option& b) { return time_of(a) < time_of(b); }));
  CHECK(ordered(SortBy::pareto,
                [](const Option& a, const Option& b) { return a.on_pareto_front && !b.on_pareto_front; }));
}

TEST_CASE("estimate: the Pareto front is what comparing all pairs gives", "[planner]") {
  for (const SortBy sort : {SortBy::cost, SortBy::time, SortBy::pareto}) {
    EstimateRequest request = request_of("llama-3.1-8b", "bf16", 8);
    request.sort = sort;
    const Estimate estimate = make_estimate(built_in(), request);
    std::int64_t on_front = 0;
    for (const Option& option : estimate.options) {
      const bool dominated = std::any_of(estimate.options.begin(), estimate.options.end(), [&](const Option& other) {
        return &other != &option && dominates(other, option);
      });
      CAPTURE(option.offer->id);
      CHECK(option.on_pareto_front == !dominated);
      on_front += option.on_pareto_front;
    }
    CHECK(on_front >= 2);
  }
}

TEST_CASE("estimate: what dominates an option is no dearer and no slower", "[planner]") {
  for (const SortBy sort : {SortBy::cost, SortBy::time, SortBy::pareto}) {
    EstimateRequest request = request_of("llama-3.1-8b", "bf16", 8);
    request.sort = sort;
    const Estimate estimate = make_estimate(built_in(), request);
    for (const Option& option : estimate.options) {
      CAPTURE(option.offer->id, option.dominated_by);
      CHECK((option.dominated_by == 0) == option.on_pareto_front);
      if (option.dominated_by == 0) continue;
      REQUIRE(option.dominated_by <= static_cast<std::int64_t>(estimate.options.size()));
      const Option& better = estimate.options[static_cast<std::size_t>(option.dominated_by - 1)];
      CHECK(dominates(better, option));
    }
  }
}

TEST_CASE("estimate: two runs give the same bits in the same order", "[planner]") {
  const Estimate again = make_estimate(built_in(), request_of("llama-3.1-8b", "bf16", 8));
  REQUIRE(again.options.size() == usual().options.size());
  const auto all = [](const Option& o) {
    return std::tuple(o.offer->id, o.per_month, o.at.ttft.value.base(), o.at.tpot.value.base(),
                      o.memory.terms.total().base(), o.layout.tp, o.layout.pp, o.layout.dp, o.dominated_by);
  };
  for (std::size_t i = 0; i < again.options.size(); ++i) CHECK(all(again.options[i]) == all(usual().options[i]));
}

TEST_CASE("estimate: a filter keeps what it names and finds nothing cheaper", "[planner]") {
  const double best = cheapest(usual());
  EstimateRequest request = request_of("llama-3.1-8b", "bf16", 8);
  const auto filtered = [&] {
    Estimate estimate = make_estimate(built_in(), request);
    CHECK_FALSE(estimate.options.empty());
    CHECK(cheapest(estimate) >= best);
    CHECK(estimate.options.size() < usual().options.size());
    return estimate;
  };
  SECTION("a contract") {
    request.contracts = {Contract::reserved};
    for (const Option& option : filtered().options) CHECK(option.offer->contract == Contract::reserved);
  }
  SECTION("a provider") {
    request.providers = {&provider("Selectel")};
    for (const Option& option : filtered().options) CHECK(option.provider->name == "selectel");
  }
  SECTION("a family") {
    request.accelerators = built_in().select_accelerators("H100");
    for (const Option& option : filtered().options) CHECK(option.accelerator->family == "H100");
  }
  SECTION("a country") {
    request.country = "ru";
    for (const Option& option : filtered().options) {
      CHECK((option.offer->country == "RU" || (option.offer->country.empty() && option.provider->country == "RU")));
    }
  }
  SECTION("a region") {
    request.region = "moscow";
    for (const Option& option : filtered().options) CHECK(option.offer->region.find("oscow") != Text::npos);
  }
}

TEST_CASE("estimate: what a filter leaves out is not called rejected", "[planner]") {
  EstimateRequest request = request_of("llama-3.1-70b");
  request.providers = {&provider("Selectel")};
  for (const RejectedOffer& rejected : make_estimate(built_in(), request).rejected)
    CHECK(rejected.offer->provider == "selectel");
}

TEST_CASE("estimate: VAT is never cheaper", "[planner]") {
  EstimateRequest request = request_of("llama-3.1-8b");
  const double without = cheapest(make_estimate(built_in(), request));
  request.vat = VatHandling::include;
  CHECK(cheapest(make_estimate(built_in(), request)) >= without);
}

TEST_CASE("estimate: an unknown name is refused with the nearest", "[planner]") {
  SECTION("a model") {
    const Problem problem = problem_of_estimate(request_of("llama-3.1-8bb"));
    CHECK(problem.id == "input.unknown_name");
    CHECK(problem.nearest == "llama-3.1-8b");
    CHECK(problem.place->origin == "--model");
  }
  SECTION("no model") { CHECK(problem_of_estimate(request_of("")).id == "input.missing"); }
  SECTION("a weight format") {
    const Problem problem = problem_of_estimate(request_of("llama-3.1-8b", "bf61"));
    CHECK(problem.id == "input.unknown_name");
    CHECK(problem.nearest == "bf16");
    CHECK(problem.place->origin == "--dtype");
  }
  SECTION("a cache format") {
    EstimateRequest request = request_of("llama-3.1-8b");
    request.job.kv_dtype = {"fp88", false};
    const Problem problem = problem_of_estimate(request);
    CHECK(problem.nearest == "fp8");
    CHECK(problem.place->origin == "--kv-dtype");
  }
  SECTION("an engine") {
    EstimateRequest request = request_of("llama-3.1-8b");
    request.job.engine = {"vlm", false};
    const Problem problem = problem_of_estimate(request);
    CHECK(problem.id == "input.unknown_name");
    CHECK(problem.nearest == "vllm");
    CHECK(problem.place->origin == "--engine");
  }
  SECTION("a currency") {
    EstimateRequest request = request_of("llama-3.1-8b");
    request.currency = "RUBB";
    const Problem problem = problem_of_estimate(request);
    CHECK(problem.id == "input.unknown_name");
    CHECK(problem.nearest == "RUB");
    CHECK(problem.place->origin == "--currency");
  }
}

TEST_CASE("estimate: a job that is not modelled is refused, not guessed", "[planner]") {
  for (const JobType type : {JobType::pretrain, JobType::full, JobType::lora, JobType::qlora, JobType::embed,
                             JobType::generate, JobType::recommend}) {
    EstimateRequest request = request_of("llama-3.1-8b");
    request.job.type = {type, false};
    CAPTURE(to_string(type));
    CHECK(problem_of_estimate(request).id == "job.not_modelled");
  }
}

TEST_CASE("estimate: a context beyond the model's positions is refused", "[planner]") {
  CHECK(make_estimate(built_in(), request_of("llama-3.1-8b", "bf16", 1, 131072)).options.size() > 10);
  const Problem problem = problem_of_estimate(request_of("llama-3.1-8b", "bf16", 1, 131073));
  CHECK(problem.id == "input.out_of_range");
  CHECK(problem.message.find("131,072") != std::string::npos);
}

TEST_CASE("estimate: all contradictions of a job are named at once", "[planner]") {
  EstimateRequest request = request_of("llama-3.1-8b", "bf16", 1, 131073);
  request.job.input = {131073, false};
  request.currency = "RUR";
  request.job.type = {JobType::lora, false};
  std::set<std::string> ids;
  for (const Problem& problem : problems_of([&] { (void)make_estimate(built_in(), request); })) ids.insert(problem.id);
  CHECK(ids ==
        std::set<std::string>{"input.contradiction", "job.not_modelled", "input.unknown_name", "input.out_of_range"});
}

TEST_CASE("estimate: explaining an option gives its own terms, each by its formula", "[planner]") {
  for (const auto& [model, dtype, concurrency] :
       {std::tuple("llama-3.1-8b", "bf16", 1), std::tuple("llama-3.1-70b", "int4", 16),
        std::tuple("deepseek-v3", "fp8", 4)}) {
    const EstimateRequest request = request_of(model, dtype, concurrency);
    const Estimate estimate = make_estimate(built_in(), request);
    REQUIRE_FALSE(estimate.options.empty());
    for (std::size_t i = 0; i < estimate.options.size(); i += 1 + estimate.options.size() / 12) {
      const Option& option = estimate.options[i];
      CAPTURE(model, option.offer->id, option.layout.tp);
      Explain why;
      explain_option(built_in(), request, estimate, option, why);
      check_formulas(why);
      Bytes memory;
      double cost = 0;
      for (const ExplainedTerm& term : why.terms()) {
        if (term.id.rfind("memory.", 0) == 0) memory += bytes(term.value);
        if (term.id.rfind("cost.", 0) == 0) cost += term.value;
      }
      CHECK(memory / option.memory.terms.total() == Approx(1));
      CHECK(cost == Approx(option.per_hour));
    }
  }
}

TEST_CASE("estimate: the longest context is the longest that fits", "[planner]") {
  const Estimate estimate = make_estimate(built_in(), request_of("llama-3.1-70b", "int4"));
  REQUIRE(estimate.longest_context.has_value());
  const Option& best = estimate.options.front();
  InferenceMemoryInputs in{&estimate.model, estimate.engine,  built_in().visible_memory(*best.accelerator),
                           best.layout,     estimate.request, nullptr,
                           best.accelerator};
  in.request.context = *estimate.longest_context;
  CHECK(max_concurrency(in) >= 1);
  in.request.context = *estimate.longest_context + 1;
  CHECK((max_concurrency(in) == 0 || *estimate.longest_context == 131072));
}

TEST_CASE("estimate: hardware is listed with the fewest devices that run the job", "[planner]") {
  const Estimate estimate = fit_job(built_in(), request_of("llama-3.1-70b", "int4"));
  CHECK(estimate.hardware.size() == built_in().accelerators().size());
  const auto devices = [&](std::string_view name) {
    for (const HardwareFit& fit : estimate.hardware) {
      if (fit.accelerator == &gpu(name)) return fit.rejection ? 0 : fit.layout.devices_per_replica();
    }
    return std::int64_t{-1};
  };
  // About 40 GB of weights: one card of 48 GB, two of 24 GB, four of 16 GB.
  CHECK(devices("RTX-A6000") == 1);
  CHECK(devices("H100-SXM5-80GB") == 1);
  CHECK(devices("RTX 4090") == 2);
  CHECK(devices("V100-SXM2-16GB") == 0);  // no AWQ kernels below 7.5
  CHECK(std::is_sorted(estimate.hardware.begin(), estimate.hardware.end(),
                       [](const HardwareFit& a, const HardwareFit& b) { return !a.rejection && b.rejection; }));
}

TEST_CASE("estimate: a name that was understood is a warning", "[planner]") {
  const auto warned = [](const Estimate& estimate, std::string_view id) {
    return std::any_of(estimate.warnings.begin(), estimate.warnings.end(),
                       [&](const Warning& w) { return w.id == id; });
  };
  CHECK(warned(make_estimate(built_in(), request_of("meta-llama/Llama-3.1-8B")), "model.alias"));
  CHECK_FALSE(warned(usual(), "model.alias"));
}

TEST_CASE("estimate: an order is read by its word", "[planner]") {
  for (const SortBy sort : {SortBy::cost, SortBy::time, SortBy::pareto})
    CHECK(parse_sort(to_string(sort)).value == sort);
  CHECK(parse_sort("costs").nearest == "cost");
}

}  // namespace gpuplan::testing
