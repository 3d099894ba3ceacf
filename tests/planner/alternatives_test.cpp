#include <gpuplan/planner/duty.hpp>
#include <gpuplan/planner/owned.hpp>
#include <gpuplan/planner/token_apis.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

#include <algorithm>

namespace gpuplan::testing {
namespace {

constexpr const char* kMarket = R"(
models:
  - {name: small-8b, family: small, layers: 32, hidden_size: 4096, heads: 32, kv_heads: 8, head_dim: 128, intermediate_size: 14336, vocab_size: 128256, native_format: bf16}
providers:
  - name: seller
    country: DE
    vat_percent: 20
    token_apis:
      - {model: small-8b, input_per_1m: 0.2, output_per_1m: 0.6, cached_input_per_1m: 0.1, batch_input_per_1m: 0.1, batch_output_per_1m: 0.3, currency: USD, vat: excluded, observed_on: 2026-11-01, source: "a list"}
      - {model: Owner/Small-8B-Turbo, input_per_1m: 0.1, output_per_1m: 0.1, currency: USD, vat: included, source: "a list"}
      - {model: small-8b-vision-11b, input_per_1m: 0.01, output_per_1m: 0.01, currency: USD, source: "a list"}
)";

TokenComparison work() {
  TokenComparison work;
  work.request = {1000, 0, 500, false};
  work.requests = 1e6;
  work.rented = {{"cheap", 100, 1e6}, {"large", 300, 1e7}};
  return work;
}

}  // namespace

TEST_CASE("token APIs: the same requests cost their tokens, and renting wins from rent over price on", "[planner]") {
  const Catalog catalog = with_overlay(kMarket);
  const auto apis = token_alternatives(catalog, "small-8b", work(), {});
  REQUIRE(apis.size() == 2);
  // The edition with a longer name is cheaper: 1,500 tokens at 0.1 a million with 20 % VAT in it are 0.000125 without.
  CHECK(apis[0].model == "Owner/Small-8B-Turbo");
  CHECK_FALSE(apis[0].same_name);
  CHECK(apis[0].per_request == Approx(0.000125));
  CHECK(apis[0].cost == Approx(125));
  // 100 a month is 800,000 of these requests, and the option carries a million.
  CHECK(apis[0].rented == "cheap");
  CHECK(*apis[0].break_even.requests == Approx(800000));
  // 1,000 in at 0.2 and 500 out at 0.6 a million: 0.0002 + 0.0003.
  CHECK(apis[1].same_name);
  CHECK(apis[1].per_request == Approx(0.0005));
  CHECK(*apis[1].break_even.requests == Approx(200000));
}

TEST_CASE("token APIs: cached prompts and batches have their own prices", "[planner]") {
  const Catalog catalog = with_overlay(kMarket);
  TokenComparison asked = work();
  asked.request.cached_share = 0.5;  // 500 at 0.2, 500 at 0.1, 500 at 0.6
  CHECK(token_alternatives(catalog, "small-8b", asked, {})[1].per_request == Approx(0.00045));
  asked = work();
  asked.request.batch = true;  // 1,000 at 0.1, 500 at 0.3
  CHECK(token_alternatives(catalog, "small-8b", asked, {})[1].per_request == Approx(0.00025));
}

TEST_CASE("token APIs: renting that is dearer by the token at full load never wins", "[planner]") {
  const Catalog catalog = with_overlay(kMarket);
  TokenComparison asked = work();
  asked.rented = {{"slow", 1000, 1e6}};  // 0.001 a request against 0.0005
  for (const auto& api : token_alternatives(catalog, "small-8b", asked, {})) {
    CHECK_FALSE(api.break_even.requests);
    CHECK(api.rented.empty());
  }
  // The larger machine is dearer by the month and cheaper by the request: it is the one that wins.
  asked.rented.push_back({"large", 3000, 3e7});
  const auto apis = token_alternatives(catalog, "small-8b", asked, {});
  CHECK(apis[1].rented == "large");
  CHECK(*apis[1].break_even.requests == Approx(3000 / 0.0005));
}

TEST_CASE("token APIs: imported prices stand among those of the catalogue", "[planner]") {
  const Catalog catalog = with_overlay(kMarket);
  const std::vector<ListedTokenPrice> imported = {
      {"seller", "acme/small-8b", 0.05, 0.05, "USD", Vat::unknown, "2026-11-29", "somebody's list"},
      {"nobody", "other-model", 0.01, 0.01, "USD", Vat::unknown, "", ""},
      {"nobody", "small-8b", 0.01, 0.01, "ZZZ", Vat::unknown, "", "a currency without a rate"}};
  const auto apis = token_alternatives(catalog, "small-8b", work(), imported);
  REQUIRE(apis.size() == 3);
  CHECK(apis[0].imported);
  CHECK(apis[0].provider == "seller");
  CHECK(apis[0].per_request == Approx(0.000075));
  CHECK(apis[0].observed_on == "2026-11-29");
}

TEST_CASE("token APIs: a service's name of a model is an edition of it, never another size", "[planner]") {
  const Catalog& catalog = built_in();
  struct Row {
    const char* sold;
    const char* preset;  // null: none
  };
  const auto row = GENERATE(values<Row>({{"Meta-Llama-3.1-8B-Instruct-Turbo", nullptr},
                                         {"llama-3.1-8b-instant", "llama-3.1-8b"},
                                         {"meta-llama/llama-3.3-70b-instruct", "llama-3.3-70b"},
                                         {"llama-3_3-70b-instruct-fast", "llama-3.3-70b"},
                                         {"deepseek-r1-distill-qwen-14b", nullptr},
                                         {"gpt-oss-120b-fast", "gpt-oss-120b"},
                                         {"qwen3-32b-fp8", "qwen3-32b"}}));
  CAPTURE(row.sold);
  bool same = false;
  const ModelPreset* preset = preset_of_service(catalog, row.sold, same);
  if (!row.preset) {
    // Whatever it is taken for must have the size that it says.
    if (preset) CHECK(std::string(preset->name).find("8b") != std::string::npos);
  } else {
    REQUIRE(preset);
    CHECK(preset == catalog.find_model(row.preset));
  }
}

TEST_CASE("owned: an hour is the month's cost over 730 hours with the energy of an hour", "[planner]") {
  const Catalog catalog = with_overlay(R"(
owned_hardware:
  - {name: our-server, title: "Our server", gpu: H100-SXM5-80GB, count: 8, capex: 240000, currency: USD, lifetime_years: 4, power_w: 10000, source: "an invoice"}
energy:
  - {name: DE, price_per_kwh: 0.2, currency: USD, pue: 1.5, source: "a bill"}
)");
  OwnedTerms terms;
  terms.country = "DE";
  const auto offers = owned_offers(catalog, terms);
  const auto ours = std::find_if(offers.begin(), offers.end(),
                                 [](const AddedOffer& offer) { return offer.id == "owned/our-server"; });
  REQUIRE(ours != offers.end());
  // 240,000 over 48 months is 5,000 a month; 10 kW * 1.5 * 0.2 is 3 an hour.
  CHECK(*ours->price == Approx(5000 / 730.0 + 3));
  CHECK(ours->count == 8);
  CHECK(ours->contract == Contract::owned);
  terms.power_price = 0.1;
  terms.lifetime_years = 2;
  const auto dearer = owned_offers(catalog, terms);
  const auto again = std::find_if(dearer.begin(), dearer.end(),
                                  [](const AddedOffer& offer) { return offer.id == "owned/our-server"; });
  REQUIRE(again != dearer.end());
  CHECK(*again->price == Approx(10000 / 730.0 + 1.5));
}

TEST_CASE("duty: what cannot be stopped is billed all month, the rest when it is on", "[planner]") {
  const Catalog catalog = with_overlay(R"(
providers:
  - name: stops
    country: DE
    billing_granularity_s: 3600
    terms: {off_state: nothing}
    offers:
      - {id: stops/hour, gpu: L4, count: 1, scope: instance, contract: on_demand, price: 1, currency: USD, unit: hour, source: s}
      - {id: stops/month, gpu: L4, count: 1, scope: instance, contract: dedicated, price: 300, currency: USD, unit: month, source: s}
  - name: keeps
    country: DE
    terms: {off_state: storage}
    storage:
      - {product: disk, price: 0.1, currency: USD, unit: gb_month, kind: block, source: s}
    offers:
      - {id: keeps/hour, gpu: L4, count: 1, scope: instance, contract: on_demand, price: 1, currency: USD, unit: hour, source: s}
  - name: goes-on
    country: DE
    terms: {off_state: all}
    offers:
      - {id: goes-on/hour, gpu: L4, count: 1, scope: instance, contract: on_demand, price: 1, currency: USD, unit: hour, source: s}
)");
  EstimateRequest request;
  const auto cost_of = [&](const char* provider, std::size_t offer, const char* hours) {
    const Provider* p = catalog.find_provider(provider);
    REQUIRE(p);
    return duty_cost(catalog, request, *parse_duty(hours).value, *p, p->offers[offer], gigabytes(100));
  };
  const double weeks = 365.0 / 7 / 12;
  CHECK(cost_of("stops", 0, "Mon-Fri 8-20").billed_hours == Approx(60 * weeks));
  CHECK(cost_of("stops", 0, "Mon-Fri 8-20").off == OffBilling::nothing);
  // Half hours are billed whole, each time.
  CHECK(cost_of("stops", 0, "Mon-Fri 8-9:30").billed_hours == Approx(5 * 2 * weeks));
  CHECK(cost_of("stops", 1, "Mon-Fri 8-20").billed_hours == Approx(730));
  CHECK(cost_of("stops", 1, "Mon-Fri 8-20").off == OffBilling::all);
  CHECK(cost_of("goes-on", 0, "Mon-Fri 8-20").billed_hours == Approx(730));
  // 100 GB at 0.1 for the part of the month that the machine is off: 1 - 60 / 168.
  const DutyCost kept = cost_of("keeps", 0, "Mon-Fri 8-20");
  CHECK(kept.off == OffBilling::storage);
  CHECK(kept.storage_per_month == Approx(10 * (1 - 60.0 / 168)));
  CHECK(cost_of("keeps", 0, "always").storage_per_month == Approx(0).margin(1e-12));
}

}  // namespace gpuplan::testing
