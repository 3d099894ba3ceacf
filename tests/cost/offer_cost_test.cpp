#include <gpuplan/cost/offer_cost.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "explanations.hpp"

#include <cmath>
#include <string>

namespace gpuplan::testing {
namespace {

// The figures of Selectel's price book of July 2026 and a rate of 80 RUB, so that a newer price moves nothing here.
const Catalog& small() {
  static const Catalog catalog = with_overlay(R"(
replace: true
rates: [{currency: USD, per_usd: 1}, {currency: RUB, per_usd: 80}]
links: [{name: wire, category: host, gb_per_s_per_direction: 10}]
accelerators: [{name: card, vendor: NVIDIA, memory_gib: 80, memory_bandwidth_gb_per_s: 1000, host_link: wire}]
providers:
  - name: by-part
    hours_per_month: 730
    vat_percent: 22
    host_parts:
      {currency: RUB, vat: included, vcpu_per_hour: 1.0071, ram_gib_per_hour: 0.3662, vcpu_per_hour_spot: 0.2518,
       ram_gib_per_hour_spot: 0.0919, disk_gb_month: 9.936, vcpus_per_gpu: 8, ram_gib_per_gpu: 64, disk_gb_per_instance: 200}
    offers:
      - {id: h100, gpu: card, count: 1, scope: gpu, includes_host: false, contract: on_demand, price: 410.9589, currency: RUB, unit: hour, vat: included}
      - {id: h100-spot, gpu: card, count: 1, scope: gpu, includes_host: false, contract: spot, price: 205, currency: RUB, unit: hour, vat: included}
      - {id: own-host, gpu: card, count: 1, scope: gpu, includes_host: false, price: 100, currency: RUB, unit: hour, vat: included, vcpus: 4, ram_gb: 137.438953472}
      - {id: silent-vat, gpu: card, count: 1, scope: gpu, price: 122, currency: RUB, unit: hour}
      - {id: net, gpu: card, count: 1, scope: gpu, price: 122, currency: RUB, unit: hour, vat: excluded}
      - {id: gross, gpu: card, count: 1, scope: gpu, price: 122, currency: RUB, unit: hour, vat: included}
      - {id: month, gpu: card, count: 1, scope: gpu, price: 73000, currency: RUB, unit: month, vat: excluded}
  - name: whole
    hours_per_month: 720
    offers:
      - {id: eight, gpu: card, count: 8, scope: gpu, price: 3, currency: USD, unit: hour}
      - {id: box, gpu: card, count: 8, scope: instance, price: 20, currency: USD, unit: hour}
      - {id: month-720, gpu: card, count: 1, scope: gpu, price: 7200, currency: USD, unit: month}
      - {id: per-second, gpu: card, count: 1, scope: gpu, price: 0.001, currency: USD, unit: second}
      - {id: bare, gpu: card, count: 1, scope: gpu, includes_host: false, price: 1, currency: USD, unit: hour}
      - {id: no-price, gpu: card, count: 1, scope: gpu, currency: USD, unit: hour}
  - name: plain
    offers:
      - {id: plain-month, gpu: card, count: 1, scope: gpu, price: 730, currency: USD, unit: month}
)");
  return catalog;
}

std::optional<Breakdown<double>> cost(std::string_view id, std::string_view currency = "USD",
                                      VatHandling vat = VatHandling::exclude, std::int64_t instances = 1,
                                      Explain* why = nullptr) {
  for (const Provider& one : small().providers()) {
    for (const Offer& candidate : one.offers) {
      if (candidate.id == id) return hourly_cost(small(), {&one, &candidate, instances, currency, vat}, why);
    }
  }
  throw std::runtime_error("no such offer");
}

double total(std::string_view id, std::string_view currency = "USD", VatHandling vat = VatHandling::exclude,
             std::int64_t instances = 1) {
  const auto terms = cost(id, currency, vat, instances);
  REQUIRE(terms.has_value());
  return terms->total();
}

}  // namespace

TEST_CASE("cost: a server by part is its GPU, vCPU, RAM and disk, with VAT", "[cost]") {
  const auto terms = cost("h100", "RUB", VatHandling::include);
  REQUIRE(terms.has_value());
  // 410.9589 + 8 * 1.0071 + 64 * 0.3662 + 200 * 9.936 / 730
  //   = 410.9589 + 8.0568 + 23.4368 + 2.7221918 = 445.1746918 RUB/h, VAT of 22 % within
  CHECK(terms->total() == Approx(445.1746918));
  // net of VAT: 445.1746918 / 1.22 = 364.8972884; VAT: 80.2774034
  CHECK(terms->of("tax") == Approx(80.2774034));
  CHECK(terms->of("compute") == Approx(410.9589 / 1.22));
  CHECK(terms->of("host_cpu") == Approx(8.0568 / 1.22));
  CHECK(terms->of("host_ram") == Approx(23.4368 / 1.22));
  CHECK(terms->of("host_disk") == Approx(2.7221918 / 1.22));
}

TEST_CASE("cost: without VAT the same server costs what the listed prices hold net", "[cost]") {
  CHECK(total("h100", "RUB") == Approx(364.8972884));  // 445.1746918 / 1.22
  CHECK(total("h100", "USD") == Approx(4.5612161));    // 364.8972884 / 80
}

TEST_CASE("cost: Selectel's H100 is priced from its own record", "[cost]") {
  const Provider& selectel = provider("Selectel");
  const Offer& h100 = offer(selectel, "selectel/h100-sxm5-80gb-x1/on_demand/moscow-ru-7b");
  const HostParts& parts = selectel.host_parts.front();
  REQUIRE(h100.vat == Vat::included);
  REQUIRE(parts.vat == Vat::included);
  CHECK(*selectel.vat_percent == Approx(22));  // Russian VAT of 2026
  const double gross = *h100.price + *parts.vcpus_per_gpu * *parts.vcpu_per_hour +
                       *parts.ram_gib_per_gpu * *parts.ram_gib_per_hour +
                       *parts.disk_gb_per_instance * *parts.disk_gb_month / 730;
  const double rate = *built_in().find_currency("RUB")->per_usd;
  const auto in = [&](std::string_view currency, VatHandling vat) {
    return hourly_cost(built_in(), {&selectel, &h100, 1, currency, vat}, nullptr)->total();
  };
  CHECK(in("RUB", VatHandling::include) == Approx(gross));
  CHECK(in("RUB", VatHandling::exclude) == Approx(gross / 1.22));
  CHECK(in("USD", VatHandling::include) == Approx(gross / rate));
  CHECK(in("USD", VatHandling::exclude) == Approx(gross / 1.22 / rate));
}

TEST_CASE("cost: a spot GPU goes with spot rates of its host", "[cost]") {
  // (205 + 8 * 0.2518 + 64 * 0.0919 + 200 * 9.936 / 730) / 1.22 = (205 + 2.0144 + 5.8816 + 2.7221918) / 1.22
  CHECK(total("h100-spot", "RUB") == Approx(215.6181918 / 1.22));
}

TEST_CASE("cost: an offer's own host replaces the provider's usual one", "[cost]") {
  // 137.438953472 GB are 128 GiB: (100 + 4 * 1.0071 + 128 * 0.3662 + 2.7221918) / 1.22
  CHECK(total("own-host", "RUB") == Approx((100 + 4.0284 + 46.8736 + 2.7221918) / 1.22));
}

TEST_CASE("cost: the disk is per instance, vCPU and RAM per GPU", "[cost]") {
  const auto three = cost("h100", "RUB", VatHandling::exclude, 3);
  REQUIRE(three.has_value());
  CHECK(three->of("host_cpu") == Approx(3 * 8.0568 / 1.22));
  CHECK(three->of("host_disk") == Approx(3 * 2.7221918 / 1.22));
}

TEST_CASE("cost: a price that is silent about VAT is taken as it stands", "[cost]") {
  CHECK(total("silent-vat", "RUB") == Approx(122));
  CHECK(total("net", "RUB") == Approx(122));
  CHECK(total("gross", "RUB") == Approx(100));  // 122 / 1.22
}

TEST_CASE("cost: VAT is added to what does not hold it", "[cost]") {
  CHECK(total("net", "RUB", VatHandling::include) == Approx(148.84));  // 122 * 1.22
  CHECK(total("gross", "RUB", VatHandling::include) == Approx(122));
}

TEST_CASE("cost: a provider whose VAT is unknown adds none", "[cost]") {
  CHECK(total("eight", "USD", VatHandling::include) == Approx(24));
}

TEST_CASE("cost: a monthly price is spread over the provider's own month", "[cost]") {
  CHECK(total("month", "RUB") == Approx(100));      // 73000 / 730
  CHECK(total("month-720", "USD") == Approx(10));   // 7200 / 720
  CHECK(total("plain-month", "USD") == Approx(1));  // 730 / 730, the usual month
  CHECK(hours_per_month(small().providers()[1]) == Approx(720));
  CHECK(hours_per_month(small().providers()[2]) == Approx(730));
}

TEST_CASE("cost: a price by the second is 3600 of them an hour", "[cost]") {
  CHECK(total("per-second") == Approx(3.6));
}

TEST_CASE("cost: a price is for one GPU or for the whole instance", "[cost]") {
  CHECK(total("eight", "USD", VatHandling::exclude, 2) == Approx(48));  // 2 * 8 * 3
  CHECK(total("box", "USD", VatHandling::exclude, 2) == Approx(40));    // 2 * 20
}

TEST_CASE("cost: a GPU without a host, or without a price, costs nothing that could be said", "[cost]") {
  CHECK_FALSE(cost("bare").has_value());
  CHECK_FALSE(cost("no-price").has_value());
}

TEST_CASE("cost: terms add up for every offer, with and without VAT", "[cost]") {
  std::int64_t priced = 0;
  for (const Provider& one : built_in().providers()) {
    for (const Offer& candidate : one.offers) {
      if (!candidate.rankable) continue;
      for (const VatHandling vat : {VatHandling::exclude, VatHandling::include}) {
        const auto terms = hourly_cost(built_in(), {&one, &candidate, 2, "EUR", vat}, nullptr);
        CAPTURE(candidate.id);
        if (!terms) continue;
        ++priced;
        double sum = 0;
        for (const auto& term : terms->terms()) sum += term.value;
        CHECK(sum == Approx(terms->total()));
        CHECK((std::isfinite(terms->total()) && terms->total() > 0));
      }
    }
  }
  CHECK(priced > 1000);
}

TEST_CASE("cost: twice the instances cost twice as much", "[cost]") {
  for (const char* id : {"h100", "h100-spot", "eight", "box", "month"}) {
    CAPTURE(id);
    CHECK(total(id, "USD", VatHandling::include, 2) == Approx(2 * total(id, "USD", VatHandling::include, 1)));
  }
}

TEST_CASE("cost: every recorded formula gives its term, and recording changes nothing", "[cost]") {
  for (const char* id : {"h100", "h100-spot", "own-host", "eight", "box", "month", "per-second"}) {
    CAPTURE(id);
    Explain why;
    const auto recorded = cost(id, "USD", VatHandling::include, 3, &why);
    REQUIRE(recorded.has_value());
    check_formulas(why);
    CHECK(recorded->total() == total(id, "USD", VatHandling::include, 3));  // the same bits
    CHECK(why.terms().size() == recorded->terms().size());
    for (std::size_t i = 0; i < why.terms().size(); ++i) {
      CHECK(why.terms()[i].id == "cost." + std::string(recorded->terms()[i].id));
      CHECK(why.terms()[i].value == Approx(recorded->terms()[i].value));
    }
  }
}

}  // namespace gpuplan::testing
