#include <gpuplan/cost/job_cost.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "explanations.hpp"

#include <cmath>
#include <string>

namespace gpuplan::testing {
namespace {

const Catalog& market() {
  static const Catalog catalog = with_overlay(R"(
replace: true
rates: [{currency: USD, per_usd: 1}, {currency: EUR, per_usd: 0.8}, {currency: RUB, per_usd: 80}]
links: [{name: wire, category: host, gb_per_s_per_direction: 10}]
accelerators: [{name: card, vendor: NVIDIA, memory_gib: 80, memory_bandwidth_gb_per_s: 1000, host_link: wire}]
providers:
  - name: metered
    billing_granularity_s: 60
    vat_percent: 20
    terms: {minimum_billed_s: 600}
    storage:
      - {product: object, price: 0.02, currency: USD, unit: gb_month, kind: object, free_gb: 100}
      - {product: disk, price: 0.10, currency: USD, unit: gb_month, kind: block}
      - {product: traffic, price: 0.05, currency: USD, unit: gb_egress}
    offers:
      - {id: metered, gpu: card, count: 8, scope: gpu, price: 2, currency: USD, unit: hour}
      - {id: by-hour, gpu: card, count: 1, scope: gpu, price: 3, currency: EUR, unit: hour, billing_granularity_s: 3600}
  - name: silent
    offers:
      - {id: silent, gpu: card, count: 1, scope: gpu, price: 2, currency: USD, unit: hour}
      - {id: unpriced, gpu: card, count: 1, scope: gpu, currency: USD, unit: hour}
  - name: monthly
    hours_per_month: 720
    vat_percent: 25
    offers:
      - {id: box, gpu: card, count: 4, scope: instance, contract: dedicated, price: 900, currency: EUR, unit: month, vat: included, setup_fee: 200}
      - {id: year, gpu: card, count: 1, scope: gpu, contract: reserved, term_months: 12, price: 1, currency: USD, unit: hour, upfront: 1000}
      - {id: fleet, gpu: card, count: 8, scope: gpu, contract: cluster, price: 2, currency: USD, unit: hour, minimum_term_days: 14, minimum_count: 16}
)");
  return catalog;
}

JobCostInputs job(std::string_view id, Seconds duration) {
  for (const Provider& one : market().providers()) {
    for (const Offer& candidate : one.offers) {
      if (candidate.id != id) continue;
      JobCostInputs in;
      in.provider = &one;
      in.offer = &candidate;
      in.duration = duration;
      return in;
    }
  }
  throw std::runtime_error("no such offer");
}

JobCost bill(const JobCostInputs& in) {
  const auto cost = job_cost(market(), in, nullptr);
  REQUIRE(cost.has_value());
  return *cost;
}

}  // namespace

TEST_CASE("job cost: a started quantum is billed whole, and the rest of it is idle", "[cost]") {
  // 8 cards at 2 USD/h; 3,630 s are 61 minutes of 60 s: used 16 * 3630/3600 = 16.1333, billed 16 * 3660/3600 = 16.2667
  const JobCost cost = bill(job("metered", seconds(3630)));
  CHECK(cost.billed / seconds(1) == Approx(3660));
  CHECK(cost.terms.of("compute") == Approx(16.0 * 3630 / 3600));
  CHECK(cost.terms.of("idle") == Approx(16.0 * 30 / 3600));
  CHECK(cost.p50() == Approx(16.0 * 3660 / 3600));
  CHECK_FALSE(cost.granularity_is_assumed);
}

TEST_CASE("job cost: a short run pays the shortest time that is billed", "[cost]") {
  const JobCost cost = bill(job("metered", seconds(30)));
  CHECK(cost.billed / seconds(1) == Approx(600));
  CHECK(cost.p50() == Approx(16.0 / 6));
}

TEST_CASE("job cost: an offer's own granularity goes before the provider's", "[cost]") {
  const JobCost cost = bill(job("by-hour", minutes(61)));
  CHECK(cost.billed / hours(1) == Approx(2));
  CHECK(cost.p50() == Approx(2 * 3 / 0.8));  // EUR to USD
}

TEST_CASE("job cost: a whole number of quanta stays that, whatever doubles make of it", "[cost]") {
  CHECK(billed_time(*market().find_provider("metered"), *job("by-hour", {}).offer, hours(0.1 + 0.2) / 0.3).time /
            hours(1) ==
        Approx(1));
}

TEST_CASE("job cost: an unstated granularity is the unit of the price, and is said to be assumed", "[cost]") {
  const JobCost cost = bill(job("silent", minutes(90)));
  CHECK(cost.granularity_is_assumed);
  CHECK(cost.p50() == Approx(4));
}

TEST_CASE("job cost: a dedicated server is paid for whole months and set up once", "[cost]") {
  JobCostInputs in = job("box", hours(725));  // five hours into the second month of 720 h
  in.currency = "EUR";
  const JobCost cost = bill(in);
  CHECK(cost.billed / hours(1) == Approx(1440));
  // net of 25 % VAT: 720 a month, set-up 160
  CHECK(cost.terms.of("compute") == Approx(720.0 * 725 / 720));
  CHECK(cost.terms.of("idle") == Approx(1440 - 725));
  CHECK(cost.terms.of("setup") == Approx(160));
  CHECK(cost.p50() == Approx(1600));
  in.vat = VatHandling::include;
  CHECK(bill(in).p50() == Approx(2000));
}

TEST_CASE("job cost: a reserved year is paid to its end, with what is paid at its start", "[cost]") {
  const JobCost cost = bill(job("year", hours(100)));
  CHECK(cost.terms.of("compute") == Approx(100));
  CHECK(cost.terms.of("idle") == Approx(12 * 720 - 100));
  CHECK(cost.terms.of("upfront") == Approx(1000));
  CHECK(bill(job("year", hours(12 * 720 + 1))).terms.of("upfront") == Approx(2000));
}

TEST_CASE("job cost: a cluster is billed for its least size and time", "[cost]") {
  const JobCost cost = bill(job("fleet", days(2)));  // one quantity of 8; at least 16 devices for 14 days
  CHECK(cost.instances == 2);
  CHECK(cost.billed / days(1) == Approx(14));
  CHECK(cost.terms.of("compute") == Approx(8 * 2 * 48));
  CHECK(cost.p50() == Approx(16 * 2 * 24 * 14));
}

TEST_CASE("job cost: bytes at rest and bytes sent out are terms of their own", "[cost]") {
  JobCostInputs in = job("metered", hours(73));
  in.stored = gigabytes(1100);
  in.stored_for = hours(365);  // half a month
  in.egress = gigabytes(40);
  CHECK(bill(in).terms.of("storage") == Approx(1000 * 0.02 / 2));  // 100 GB are free, the object store is cheapest
  CHECK(bill(in).terms.of("egress") == Approx(2));
  in.stored_in = StorageKind::block;
  CHECK(bill(in).terms.of("storage") == Approx(1100 * 0.10 / 2));
  in.stored_for = {};  // as long as it runs: 73 of 730 hours
  CHECK(bill(in).terms.of("storage") == Approx(1100 * 0.10 / 10));
}

TEST_CASE("job cost: what the provider has no price for is said, not counted as nothing", "[cost]") {
  JobCostInputs in = job("silent", hours(1));
  in.stored = gigabytes(10);
  in.egress = gigabytes(10);
  in.vat = VatHandling::include;
  const JobCost cost = bill(in);
  CHECK(cost.storage_is_unpriced);
  CHECK(cost.egress_is_unpriced);
  CHECK(cost.tax_is_unknown);
  CHECK_FALSE(job_cost(market(), job("unpriced", hours(1)), nullptr).has_value());
}

TEST_CASE("job cost: P90 is the bill of the longer time", "[cost]") {
  JobCostInputs in = job("metered", hours(10));
  in.duration_high = hours(12);
  CHECK(bill(in).p50() == Approx(160));
  CHECK(bill(in).p90() == Approx(192));
  in.duration_high = hours(1);  // never less than what is expected
  CHECK(bill(in).p90() == Approx(160));
}

TEST_CASE("job cost: terms add up to the cent in every currency", "[cost]") {
  for (const std::string_view currency : {"USD", "EUR", "RUB"}) {
    for (const std::string_view id : {"metered", "by-hour", "box", "year", "fleet"}) {
      for (const double hours_of_work : {0.01, 1.7, 36.6, 731.3}) {
        JobCostInputs in = job(id, hours(hours_of_work));
        in.currency = currency;
        in.vat = VatHandling::include;
        in.stored = gigabytes(512.3);
        in.egress = gigabytes(33.3);
        const Breakdown<double> cents = rounded(bill(in).terms);
        double sum = 0;
        for (const auto& term : cents.terms()) sum += std::round(term.value * 100);
        CAPTURE(currency, id, hours_of_work);
        CHECK(sum == std::round(bill(in).p50() * 100));
        CHECK(std::round(cents.high() * 100) == std::round(bill(in).p90() * 100));
      }
    }
  }
}

TEST_CASE("job cost: every recorded formula gives its term, and recording changes nothing", "[cost]") {
  for (const std::string_view id : {"metered", "by-hour", "box", "year", "fleet"}) {
    JobCostInputs in = job(id, hours(36.6));
    in.vat = VatHandling::include;
    in.stored = gigabytes(512);
    in.egress = gigabytes(33);
    Explain why;
    const auto recorded = job_cost(market(), in, &why);
    REQUIRE(recorded.has_value());
    check_formulas(why);
    CHECK(recorded->p50() == bill(in).p50());
  }
}

TEST_CASE("job cost: a longer job is never cheaper, on any built-in offer", "[cost]") {
  std::size_t priced = 0;
  for (const Provider& provider : built_in().providers()) {
    for (const Offer& offer : provider.offers) {
      double before = 0;
      for (const double hours_of_work : {0.001, 0.5, 1.0, 24.0, 800.0, 9000.0}) {
        JobCostInputs in;
        in.provider = &provider;
        in.offer = &offer;
        in.duration = hours(hours_of_work);
        if (offer.currency.empty()) continue;
        const auto cost = job_cost(built_in(), in, nullptr);
        if (!cost) continue;
        CAPTURE(offer.id, hours_of_work);
        CHECK(cost->p50() > 0);
        CHECK(cost->p50() >= before * (1 - 1e-12));
        CHECK(cost->terms.of("idle") >= -1e-9);
        before = cost->p50();
        ++priced;
      }
    }
  }
  CHECK(priced > 5000);
}

}  // namespace gpuplan::testing
