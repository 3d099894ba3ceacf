#include <gpuplan/report/build.hpp>

#include "catch.hpp"
#include "explanations.hpp"

#include <algorithm>

namespace gpuplan {
namespace {

const Catalog& small() {
  static const Catalog catalog = load_catalog({{GPUPLAN_SOURCE_DIR "/tests/data/catalog.yaml", Layer::flag}});
  return catalog;
}

EstimateRequest request_for(const std::string& model) {
  EstimateRequest request;
  request.job.model = {model, false};
  request.as_of = {2026, 11, 30};
  return request;
}

EstimateDocument report_of(const EstimateRequest& request, bool explain = false) {
  return report_estimate(small(), request, make_estimate(small(), request), explain);
}

}  // namespace

TEST_CASE("report: terms of memory and money add up in every option", "[report]") {
  EstimateRequest request = request_for("llama-70b");
  request.job.dtype = {"int4", false};
  request.vat = VatHandling::include;
  request.currency = "RUB";
  const EstimateDocument d = report_of(request);
  REQUIRE_FALSE(d.options.empty());
  for (const OptionDocument& o : d.options) {
    CAPTURE(o.offer);
    double money = 0;
    for (const CostTerm& term : o.cost.terms) money += term.amount;
    CHECK(money == Approx(o.cost.per_month));
    double bytes = 0;
    for (const MemoryTerm& term : o.memory.terms) bytes += term.bytes;
    CHECK(bytes == Approx(o.memory.per_device_bytes));
    CHECK(o.memory.headroom_bytes == Approx(o.memory.capacity_bytes - o.memory.per_device_bytes));
  }
}

TEST_CASE("report: parts of the weights add up, and so do their parameters", "[report]") {
  const ModelDocument model = report_of(request_for("deepseek-v3")).model;
  double bytes = 0;
  double parameters = 0;
  for (const auto& part : model.parts) {
    bytes += part.bytes;
    parameters += part.parameters;
  }
  CHECK(bytes == Approx(model.weights_bytes));
  CHECK(parameters == model.parameters);
}

TEST_CASE("report: explained terms execute, and those of money give the price of the hour", "[report]") {
  EstimateRequest request = request_for("llama-8b");
  request.country = "RU";
  const EstimateDocument d = report_of(request, true);
  double hour = 0;
  for (const ExplainedTerm& term : d.explanation) {
    CAPTURE(term.id, term.formula);
    CHECK(testing::executed(term) == Approx(term.value).epsilon(1e-9).margin(1e-15));
    if (term.id.substr(0, 5) == "cost.") hour += term.value;
  }
  CHECK(hour == Approx(d.options.front().cost.per_hour));
}

TEST_CASE("report: ranks run from one, and a dominated option names one that is no dearer", "[report]") {
  const EstimateDocument d = report_of(request_for("llama-8b"));
  for (std::size_t i = 0; i < d.options.size(); ++i) {
    const OptionDocument& o = d.options[i];
    CHECK(o.rank == static_cast<std::int64_t>(i) + 1);
    CHECK(o.pareto == (o.dominated_by == 0));
    if (o.dominated_by > 0)
      CHECK(d.options[static_cast<std::size_t>(o.dominated_by) - 1].cost.per_month <= o.cost.per_month);
  }
}

TEST_CASE("report: an offer without a price is listed last, unpriced and with its reason", "[report]") {
  const ListDocument list = list_offers(small(), {}, "USD", VatHandling::exclude);
  const auto& last = list.rows.back();
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(list.columns.begin(), list.columns.end(), name) - list.columns.begin());
  };
  CHECK(std::get<std::string>(last[column("id")].value) == "bazaar/h100-x1/on_demand");
  CHECK(std::holds_alternative<std::monostate>(last[column("per_gpu_hour")].value));
  CHECK(std::get<std::string>(last[column("why_not")].value) == "no price");
}

TEST_CASE("report: a provider without any price stays listed, on request", "[report]") {
  const ListDocument list = list_providers(small(), {}, {2026, 11, 30});
  REQUIRE(list.rows.size() == 5);
  CHECK(std::get<std::string>(list.rows.back().back().value) == "price on request");
}

}  // namespace gpuplan
