#include <gpuplan/cost/break_even.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "explanations.hpp"

namespace gpuplan::testing {
namespace {

const Catalog& market() {
  static const Catalog catalog = with_overlay(R"(
replace: true
rates: [{currency: USD, per_usd: 1}, {currency: EUR, per_usd: 0.8}]
links: [{name: wire, category: host, gb_per_s_per_direction: 10}]
accelerators:
  - {name: board, form_factor: sxm, vendor: NVIDIA, memory_gib: 80, memory_bandwidth_gb_per_s: 1000, host_link: wire}
  - {name: other, form_factor: pcie, vendor: NVIDIA, memory_gib: 80, memory_bandwidth_gb_per_s: 1000, host_link: wire}
owned_hardware:
  - {name: bought, gpu: board, count: 8, capex: 240000, currency: EUR, lifetime_years: 4, residual_percent: 20, power_w: 10000,
     upkeep_percent: 5, staff_per_year: 12000, rack_per_month: 400}
  - {name: unpriced, gpu: board, count: 8, lifetime_years: 4}
energy:
  - {name: world, price_per_kwh: 0.2, currency: USD, grams_co2_per_kwh: 500, pue: 1.5}
  - {name: XX, price_per_kwh: 0.1, currency: EUR, grams_co2_per_kwh: 50}
providers:
  - name: cloud
    vat_percent: 20
    offers:
      - {id: dedicated, gpu: board, count: 8, scope: instance, contract: dedicated, price: 9000, currency: USD, unit: month}
      - {id: hour, gpu: board, count: 8, scope: gpu, price: 2, currency: USD, unit: hour}
      - {id: spot, gpu: board, count: 8, scope: gpu, contract: spot, price: 1, currency: USD, unit: hour}
      - {id: hidden, gpu: board, count: 8, scope: gpu, price: 0.5, currency: USD, unit: hour, rankable: false, why_not: stale}
      - {id: in-a-slot, gpu: other, count: 8, scope: gpu, price: 0.1, currency: USD, unit: hour}
    token_apis:
      - {model: m, input_per_1m: 1, output_per_1m: 4, cached_input_per_1m: 0.1, batch_input_per_1m: 0.5, batch_output_per_1m: 2, currency: USD}
      - {model: half, input_per_1m: 1, currency: USD}
      - {model: gross, input_per_1m: 1.2, output_per_1m: 1.2, currency: EUR, vat: included}
  - name: crowd
    marketplace: true
    offers:
      - {id: crowd, gpu: board, count: 1, scope: gpu, price: 0.7, currency: USD, unit: hour}
)");
  return catalog;
}

const OwnedHardware& bought() { return *market().find_owned_hardware("bought"); }

}  // namespace

TEST_CASE("break-even: a month against its hours", "[cost]") {
  const UtilizationInputs in{900, 2, 730};
  CHECK(break_even_utilization(in, nullptr).value() == Approx(900.0 / 1460));
  CHECK_FALSE(break_even_utilization({900, 0, 730}, nullptr).has_value());
  CHECK(break_even_utilization({2000, 2, 730}, nullptr).value() > 1);  // the month is never cheaper
}

TEST_CASE("break-even: the curve crosses where it says", "[cost]") {
  const UtilizationInputs in{900, 2, 730};
  const auto curve = utilization_curve(in, 100);
  REQUIRE(curve.size() == 101);
  const double share = break_even_utilization(in, nullptr).value();
  for (const UtilizationPoint& point : curve) CHECK((point.hourly < point.committed) == (point.utilization < share));
  CHECK(curve.front().hourly == Approx(0));
  CHECK(curve.back().hourly == Approx(1460));
}

TEST_CASE("break-even: a commitment is compared with hours of its own class alone", "[cost]") {
  const Provider& cloud = *market().find_provider("cloud");
  const auto found = cheapest_hourly(market(), cloud, offer(cloud, "dedicated"), "USD", VatHandling::exclude);
  REQUIRE(found.offer);
  CHECK(found.offer->id ==
        "hour");  // not the marketplace's, the spot price, the one that does not compete, the card in a slot
  CHECK(found.per_gpu_hour == Approx(2));
}

TEST_CASE("owned: price, capital, upkeep, staff and energy make the month", "[cost]") {
  OwnedInputs in;
  in.hardware = &bought();
  in.energy = market().find_energy("");
  in.currency = "USD";
  in.capital_percent = 6;
  const auto cost = owned_cost(market(), in, nullptr);
  REQUIRE(cost.has_value());
  // price 300,000 USD; (1 - 0.2) / 48 months = 5,000; capital 300,000 * 0.6 * 6 % / 12 = 900; upkeep 1,250;
  // staff 15,000 / 12 = 1,250; rack 500; energy 10 kW * 1.5 * 0.2 = 3 an hour
  CHECK(cost->fixed_per_month == Approx(5000 + 900 + 1250 + 1250 + 500));
  CHECK(cost->per_hour == Approx(3));
  CHECK(cost->per_month.total() == Approx(8900 + 3 * 730));
  CHECK(cost->devices == 8);
  // rented at 2 a GPU and hour: 8,900 / (16 - 3) = 684.6 hours
  CHECK(break_even_hours(*cost, 16).value() == Approx(8900.0 / 13));
  CHECK_FALSE(break_even_hours(*cost, 2.5).has_value());
}

TEST_CASE("owned: figures of one's own replace those of the catalogue, and an unknown price gives no cost", "[cost]") {
  OwnedInputs in;
  in.hardware = market().find_owned_hardware("unpriced");
  CHECK_FALSE(owned_cost(market(), in, nullptr).has_value());
  in.capex = 48000;
  in.power_price = 0.3;
  const auto cost = owned_cost(market(), in, nullptr);
  REQUIRE(cost.has_value());
  CHECK(cost->fixed_per_month == Approx(1000));
  CHECK(cost->power_is_unknown);
}

TEST_CASE("tokens: input, cached input, output and batches are priced apart", "[cost]") {
  const Provider& cloud = *market().find_provider("cloud");
  const auto price = [&](std::size_t i, const TokenLoad& load, std::string_view currency = "USD",
                         VatHandling vat = VatHandling::exclude) {
    return token_price(market(), cloud, cloud.token_apis[i], load, currency, vat);
  };
  CHECK(price(0, {1000, 0, 500, false}).value() == Approx((1000 + 500 * 4) / 1e6));
  CHECK(price(0, {1000, 0.5, 500, false}).value() == Approx((500 + 500 * 0.1 + 500 * 4) / 1e6));
  CHECK(price(0, {1000, 0, 500, true}).value() == Approx((500 + 1000) / 1e6));
  CHECK(price(1, {1000, 0, 0, false}).value() == Approx(1e-3));
  CHECK_FALSE(price(1, {1000, 0, 1, false}).has_value());
  CHECK(price(2, {1e6, 0, 0, false}).value() == Approx(1 / 0.8));  // 1.2 EUR with 20 % VAT
  CHECK(price(2, {1e6, 0, 0, false}, "EUR", VatHandling::include).value() == Approx(1.2));
}

TEST_CASE("volume: renting wins from where the service costs as much, until the next machine is needed", "[cost]") {
  // 1,000 a month carry a million requests; the service takes 0.0015 each: 666,667 requests
  const VolumeBreakEven one = break_even_volume({0.0015, 1000, 1e6});
  REQUIRE(one.requests.has_value());
  CHECK(*one.requests == Approx(1000 / 0.0015));
  CHECK_FALSE(one.rented_wins_from_there_on);  // a million and one requests: 2,000 against 1,500
  CHECK(break_even_volume({0.002, 1000, 1e6}).rented_wins_from_there_on);
  CHECK_FALSE(break_even_volume({0.0009, 1000, 1e6}).requests.has_value());  // a full machine takes 0.001 a request
  CHECK_FALSE(break_even_volume({0, 1000, 1e6}).requests.has_value());
}

TEST_CASE("serverless: busy time, waiting workers and cold starts are billed", "[cost]") {
  // 60 requests an hour of 10 s, no waiting: each starts cold, 30 s: 60 * 40 s = 2,400 s an hour
  ServerlessInputs in;
  in.per_second = 0.001;
  in.requests_per_hour = 60;
  in.busy = seconds(10);
  in.cold_start = seconds(30);
  const ServerlessCost cost = serverless_cost(in, nullptr);
  CHECK(cost.cold_share == Approx(1));
  CHECK(cost.per_hour == Approx(2.4));
  CHECK(cost.busy_share == Approx(0.25));
  in.keep_alive = hours(10);  // a worker that never leaves is billed all the time
  CHECK(serverless_cost(in, nullptr).per_hour == Approx(3.6));
}

TEST_CASE("serverless: an instance that is always on wins from some load on", "[cost]") {
  ServerlessInputs in;
  in.per_second = 0.001;
  in.busy = seconds(10);
  // 0.01 a request without cold starts: 1.8 an hour are 180 requests
  CHECK(break_even_requests(in, 1.8).value() == Approx(180));
  CHECK_FALSE(break_even_requests(in, 4).has_value());  // a worker costs 3.6 at most
}

TEST_CASE("energy: power, building and grid", "[cost]") {
  const EnergyUse use = energy_use(market(), watts(700), hours(100), market().find_energy("RU"), "USD", nullptr);
  CHECK(use.kilowatt_hours == Approx(0.7 * 100 * 1.5));  // the world's, as nothing is known of the country
  CHECK(use.kilograms_co2.value() == Approx(105 * 0.5));
  CHECK(use.cost.value() == Approx(21));
  const EnergyUse there = energy_use(market(), watts(700), hours(100), market().find_energy("xx"), "USD", nullptr);
  CHECK(there.pue_is_assumed);  // the world's
  CHECK(there.kilowatt_hours == Approx(105));
  CHECK(there.cost.value() == Approx(105 * 0.1 / 0.8));
}

TEST_CASE("break-even: every recorded formula gives its term", "[cost]") {
  Explain why;
  OwnedInputs owned;
  owned.hardware = &bought();
  owned.energy = market().find_energy("");
  (void)owned_cost(market(), owned, &why);
  (void)break_even_utilization({900, 2, 730}, &why);
  ServerlessInputs in;
  in.per_second = 0.001;
  in.requests_per_hour = 60;
  in.busy = seconds(10);
  in.keep_alive = seconds(60);
  (void)serverless_cost(in, &why);
  (void)energy_use(market(), watts(700), hours(3), market().find_energy(""), "USD", &why);
  check_formulas(why);
}

}  // namespace gpuplan::testing
