#include <gpuplan/planner/compare.hpp>
#include <gpuplan/planner/price_band.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

#include <gpuplan/report/build.hpp>

#include <algorithm>

namespace gpuplan::testing {
namespace {

const Catalog& market() {
  static const Catalog catalog = with_overlay(R"(
replace: true
rates: [{currency: USD, per_usd: 1}]
links: [{name: wire, category: host, gb_per_s_per_direction: 10}]
accelerators:
  - {name: board, form_factor: sxm, vendor: NVIDIA, memory_gib: 80, memory_bandwidth_gb_per_s: 2000, bf16_tflops: 400, compute_capability: "9.0", host_link: wire}
  - {name: card, form_factor: pcie, vendor: NVIDIA, memory_gib: 40, memory_bandwidth_gb_per_s: 1000, bf16_tflops: 100, compute_capability: "8.9", host_link: wire}
providers:
  - name: left
    vat_percent: 20
    offers:
      - {id: left/spot, gpu: board, count: 1, scope: gpu, contract: spot, price: 1, currency: USD, unit: hour, observed_on: 2026-11-01, source: a}
      - {id: left/dear, gpu: board, count: 1, scope: gpu, price: 3, currency: USD, unit: hour, observed_on: 2026-11-01, source: a}
      - {id: left/hour, gpu: board, count: 1, scope: gpu, price: 2, currency: USD, unit: hour, observed_on: 2026-11-01, source: a}
      - {id: left/eight, gpu: board, count: 8, scope: instance, price: 12, currency: USD, unit: hour, observed_on: 2025-01-01, source: a}
      - {id: left/card, gpu: card, count: 1, scope: gpu, price: 0.5, currency: USD, unit: hour, source: a}
  - name: right
    offers:
      - {id: right/hour, gpu: board, count: 4, scope: gpu, price: 2.5, currency: USD, unit: hour, observed_on: 2026-11-01, source: a}
  - name: silent
    price_on_request: true
)");
  return catalog;
}

EstimateRequest request(std::optional<std::int64_t> count = {}) {
  EstimateRequest in;
  in.accelerators = {market().find_accelerator("board")};
  in.count = count;
  in.as_of = {2026, 11, 30};
  return in;
}

Text chosen(const EstimateRequest& in, const std::string& name) {
  const auto compared = compare_offers(market(), in, {name, "right"});
  return compared.front().offer ? compared.front().offer->id : Text{};
}

const CompareDocument::Row& row(const CompareDocument& document, std::string_view id) {
  const auto found =
      std::find_if(document.rows.begin(), document.rows.end(), [&](const auto& r) { return r.id == id; });
  if (found == document.rows.end()) throw std::runtime_error("no such row");
  return *found;
}
double value(const CompareDocument& document, std::string_view id, std::size_t column) {
  return std::get<double>(row(document, id).values[column].cell.value);
}

}  // namespace

TEST_CASE("compare: a provider stands for its cheapest offer on demand", "[planner]") {
  CHECK(chosen(request(), "left") == "left/hour");
  CHECK(chosen(request(8), "left") == "left/eight");  // 1.5 a device and hour
  EstimateRequest spot = request();
  spot.contracts = {Contract::spot};
  CHECK(chosen(spot, "left") == "left/spot");
}

TEST_CASE("compare: an accelerator stands for its cheapest offer, an id for itself", "[planner]") {
  CHECK(chosen(request(), "board") == "left/hour");
  CHECK(chosen(request(), "card") == "left/card");
  CHECK(chosen(request(), "left/dear") == "left/dear");
}

TEST_CASE("compare: what has no offer says why", "[planner]") {
  const auto compared = compare_offers(market(), request(3), {"right", "silent", "left"});
  CHECK_FALSE(compared[0].offer);
  CHECK(compared[0].why_not == "sold by 4 devices");
  CHECK_FALSE(compared[1].offer);
  CHECK_FALSE(compared[1].why_not.empty());
  CHECK(compared[2].devices == 3);
}

TEST_CASE("compare: every unknown name is told", "[planner]") {
  try {
    (void)compare_offers(market(), request(), {"lefft", "right", "bord"});
    FAIL("no error");
  } catch (const InputError& error) {
    REQUIRE(error.problems().size() == 2);
    CHECK(error.problems()[0].nearest == "left");
    CHECK(error.problems()[1].nearest == "board");
  }
}

TEST_CASE("compare: prices older than asked do not stand for a provider", "[planner]") {
  EstimateRequest in = request(8);
  in.max_age_days = 90;
  CHECK(chosen(in, "left") == "left/hour");
}

TEST_CASE("compare: figures are of all devices, the best is marked, differences are from it", "[planner]") {
  const EstimateRequest in = request(8);
  const auto document = report_compare(market(), in, compare_offers(market(), in, {"left", "right"}));
  CHECK(value(document, "price.per_hour", 0) == Approx(12));
  CHECK(value(document, "price.per_hour", 1) == Approx(20));
  CHECK(value(document, "price.per_gpu_hour", 0) == Approx(1.5));
  CHECK(value(document, "price.per_month", 0) == Approx(12 * 730));
  CHECK(value(document, "price.per_tflops_month", 0) == Approx(1.5 * 730 / 400));
  CHECK(value(document, "price.per_gb_per_s_month", 0) == Approx(1.5 * 730 / 2000));
  const auto& hour = row(document, "price.per_hour");
  CHECK(hour.values[0].best);
  CHECK_FALSE(hour.values[1].best);
  CHECK(hour.values[1].difference_percent.value() == Approx(100 * (20.0 / 12 - 1)));
  CHECK_FALSE(row(document, "hardware.bf16").values[0].best);  // the same device
  CHECK(value(document, "price.age_days", 1) == Approx(29));
}

TEST_CASE("compare: what nobody says is unknown, not nothing", "[planner]") {
  const auto document = report_compare(market(), request(), compare_offers(market(), request(), {"left", "right"}));
  const auto& vat = row(document, "contract.vat_percent");
  CHECK(std::get<double>(vat.values[0].cell.value) == Approx(20));
  CHECK(std::holds_alternative<std::monostate>(vat.values[1].cell.value));
  const bool told = std::any_of(document.notes.begin(), document.notes.end(), [](const std::string& note) {
    return note.find("contract.sla_percent") != std::string::npos;
  });
  CHECK(told);
}

TEST_CASE("compare: offers of different classes are told", "[planner]") {
  const auto document = report_compare(market(), request(), compare_offers(market(), request(), {"card", "right"}));
  const bool told = std::any_of(document.notes.begin(), document.notes.end(), [](const std::string& note) {
    return note.find("different classes: slot; fabric") != std::string::npos;
  });
  CHECK(told);
}

TEST_CASE("price band: a price below a quarter of the median of its class is told, a low one is not", "[planner]") {
  std::string offers;
  for (const char* price : {"2", "2", "2", "2", "0.6", "0.4"})
    offers += std::string("      - {id: one/") + std::to_string(offers.size()) +
              ", gpu: board, count: 1, scope: gpu, price: " + price +
              ", currency: USD, unit: hour, observed_on: 2026-11-01, source: a}\n";
  const Catalog catalog = with_overlay(R"(
replace: true
rates: [{currency: USD, per_usd: 1}]
links: [{name: wire, category: host, gb_per_s_per_direction: 10}]
accelerators:
  - {name: board, form_factor: sxm, vendor: NVIDIA, memory_gib: 80, memory_bandwidth_gb_per_s: 2000, bf16_tflops: 400, compute_capability: "9.0", host_link: wire}
providers:
  - name: one
    offers:
)" + offers);
  const Provider& one = required(catalog.find_provider("one"), "one");
  REQUIRE(one.offers.size() == 6);
  CHECK_FALSE(far_below_class(catalog, one, one.offers[4]));  // 0.6 of a median of 2
  const auto finding = far_below_class(catalog, one, one.offers[5]);
  REQUIRE(finding);
  CHECK(finding->find("0.400 USD a GPU and hour, the median of 6 on_demand offers of board is 2.00") == 0);
}

}  // namespace gpuplan::testing
