// The planner against an exhaustive search over a small market, and what must hold when the market changes.

#include "planner/offers.hpp"
#include "small_market.hpp"

#include "catch.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace gpuplan::testing {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

// Sequences a replica of `n` devices holds, counted one by one: the widest tensor parallelism of 1, 2, 4, 8 that divides
// n, the rest in pipeline stages.
std::int64_t held(const Catalog& catalog, const EstimateRequest& request, const Accelerator& accelerator,
                  std::int64_t devices) {
  ModelIdentity found;
  const ServedModel model = serve_model(catalog, request.job, {}, found);
  InferenceMemoryInputs in;
  in.model = &model;
  in.engine = catalog.find_engine("vllm");
  in.visible = accelerator.visible_memory;
  for (const std::int64_t tp : {1, 2, 4, 8}) {
    if (devices % tp == 0) in.layout.tp = tp;
  }
  in.layout.pp = devices / in.layout.tp;
  in.request = {request.job.context.value, request.job.input.value, request.job.output.value};
  std::int64_t n = 0;
  while (n < 6 && inference_memory(in, n + 1, nullptr).terms.total() <= *in.visible) ++n;
  return n;
}

// The cheapest month of every layout and number of instances of an offer, up to 100 of them.
double cheapest(const Catalog& catalog, const EstimateRequest& request, const SmallOffer& offer) {
  double best = kNone;
  for (std::int64_t devices = 1; devices <= 8; ++devices) {
    const std::int64_t sequences = held(catalog, request, gpu(catalog, offer.gpu), devices);
    for (std::int64_t instances = 1; instances <= 100; ++instances) {
      // Single devices come from one host of eight; a replica never leaves its host.
      const std::int64_t replicas = offer.count == 1 ? instances / devices : instances * (offer.count / devices);
      if (replicas * sequences < request.job.concurrency.value) continue;
      const double units = static_cast<double>(offer.whole_instance ? instances : instances * offer.count);
      best = std::min(best, units * offer.price * (offer.monthly ? 1 : offer.at_store ? 730 : 720));
      break;
    }
  }
  return best;
}

double best_month(const Catalog& catalog, const EstimateRequest& request) {
  const Estimate estimate = make_estimate(catalog, request);
  return estimate.options.empty() ? kNone : estimate.options.front().per_month;
}

}  // namespace

// A host of 8 holds two replicas of 3 and leaves 2 devices idle, so 16 devices hold 4 and not 16 / 3 = 5.
TEST_CASE("planner: a replica that fits in a host does not straddle two", "[planner]") {
  CHECK(replicas_in_instance({16, 8}, 3) == 4);
  CHECK(replicas_in_instance({16, 8}, 5) == 2);
  CHECK(replicas_in_instance({16, 8}, 8) == 2);
  CHECK(replicas_in_instance({16, 8}, 16) == 1);  // over both hosts
  CHECK(replicas_in_instance({12, 8}, 3) == 3);   // two in the full host, one in the half one
  CHECK(replicas_in_instance({8, 8}, 3) == 2);
}

TEST_CASE("planner: the best option is the one that trying everything finds", "[planner]") {
  const Catalog catalog = small_market(usual_offers());
  for (const char* model : {"eight", "seventy"}) {
    for (const char* dtype : {"bf16", "int4"}) {
      for (const std::int64_t context : {2048, 8192, 40000}) {
        for (const std::int64_t concurrency : {1, 2, 5, 6, 7, 13, 40}) {
          const EstimateRequest request = request_of(model, dtype, concurrency, context);
          double best = kNone;
          for (const SmallOffer& offer : usual_offers()) best = std::min(best, cheapest(catalog, request, offer));
          CAPTURE(model, dtype, context, concurrency);
          CHECK(best_month(catalog, request) == Approx(best));
        }
      }
    }
  }
}

TEST_CASE("planner: every offer's option is the cheapest of its own", "[planner]") {
  const Catalog catalog = small_market(usual_offers());
  for (const std::int64_t concurrency : {1, 9, 30}) {
    const EstimateRequest request = request_of("seventy", "int4", concurrency);
    const Estimate estimate = make_estimate(catalog, request);
    for (const SmallOffer& offer : usual_offers()) {
      const auto found = std::find_if(estimate.options.begin(), estimate.options.end(),
                                      [&](const Option& o) { return o.offer->id == offer.id; });
      const double expected = cheapest(catalog, request, offer);
      CAPTURE(offer.id, concurrency);
      REQUIRE((found != estimate.options.end()) == (expected < kNone));
      if (expected < kNone) CHECK(found->per_month == Approx(expected));
    }
  }
}

TEST_CASE("planner: one more offer never worsens the best", "[planner]") {
  Dice dice(4);
  for (int round = 0; round < 12; ++round) {
    std::vector<SmallOffer> offers;
    double before = kNone;
    const EstimateRequest request =
        request_of(dice.heads() ? "eight" : "seventy", dice.heads() ? "bf16" : "int4", dice.whole(1, 20));
    for (int i = 0; i < 6; ++i) {
      static constexpr const char* kCards[] = {"small", "middle", "big"};
      SmallOffer offer;
      offer.id = "offer-" + std::to_string(i);
      offer.gpu = kCards[dice.whole(0, 2)];
      offer.count = std::int64_t{1} << dice.whole(0, 3);
      offer.whole_instance = dice.heads();
      offer.price = dice.real(0.1, 30);
      offer.at_store = dice.heads();
      offers.push_back(std::move(offer));
      const double now = best_month(small_market(offers), request);
      CAPTURE(round, i);
      CHECK(now <= before);
      before = now;
    }
  }
}

TEST_CASE("planner: more requests at once never cost less", "[planner]") {
  const Catalog catalog = small_market(usual_offers());
  for (const char* model : {"eight", "seventy"}) {
    double before = 0;
    for (std::int64_t concurrency = 1; concurrency <= 60; ++concurrency) {
      const double now = best_month(catalog, request_of(model, "int4", concurrency));
      CAPTURE(model, concurrency);
      CHECK(now >= before);
      before = now;
    }
  }
}

TEST_CASE("planner: a longer context never costs less", "[planner]") {
  const Catalog catalog = small_market(usual_offers());
  double before = 0;
  for (std::int64_t context = 2048; context <= 131072; context *= 2) {
    const double now = best_month(catalog, request_of("seventy", "int4", 4, context));
    CAPTURE(context);
    CHECK(now >= before);
    before = now;
  }
}

TEST_CASE("planner: the count that was asked for is the count that is rented", "[planner]") {
  const Catalog catalog = small_market(usual_offers());
  for (const std::int64_t count : {1, 2, 3, 4, 8, 16}) {
    EstimateRequest request = request_of("eight", "int4");
    request.count = count;
    const Estimate estimate = make_estimate(catalog, request);
    CAPTURE(count);
    CHECK_FALSE(estimate.options.empty());
    for (const Option& option : estimate.options) {
      CHECK(option.devices == count);
      CHECK(option.layout.devices() <= count);
      CHECK(count % *option.offer->count == 0);
    }
    for (const HardwareFit& fit : estimate.hardware) {
      if (!fit.rejection) CHECK(fit.layout.devices_per_replica() <= count);
    }
  }
}

TEST_CASE("planner: a count that an offer does not sell is a rejection", "[planner]") {
  const Catalog catalog = small_market({{"big-box", "big", 8, true, 18, false}});
  EstimateRequest request = request_of("eight");
  request.count = 3;
  const Estimate estimate = make_estimate(catalog, request);
  CHECK(estimate.options.empty());
  REQUIRE(estimate.rejected.size() == 1);
  CHECK(estimate.rejected[0].rejection.rule == "count");
}

TEST_CASE("planner: what does not fit is rejected with the memory it needs", "[planner]") {
  const Catalog catalog = small_market({{"small-1", "small", 1, true, 1, false}});
  const Estimate estimate = make_estimate(catalog, request_of("seventy"));
  CHECK(estimate.options.empty());
  REQUIRE(estimate.rejected.size() == 1);
  CHECK(estimate.rejected[0].rejection.rule == "memory");
  CHECK_FALSE(estimate.rejected[0].rejection.needed.empty());
  CHECK_FALSE(estimate.rejected[0].rejection.available.empty());
}

TEST_CASE("planner: idle devices of a rented instance serve too", "[planner]") {
  // 8 cards of 79 GiB, a model of 16 GB on each: eight replicas, though one would do.
  const Catalog catalog = small_market({{"big-box", "big", 8, true, 18, false}});
  const Estimate estimate = make_estimate(catalog, request_of("eight"));
  REQUIRE(estimate.options.size() == 1);
  const Option& option = estimate.options[0];
  CHECK(option.instances == 1);
  CHECK(option.devices == 8);
  CHECK(option.layout.devices() == 8);
}

TEST_CASE("planner: a replica over hosts is tensor parallel inside and a pipeline between", "[planner]") {
  // 405.85 B parameters, 812 GB: eight cards of 0.9 * 79.2 GiB hold 612 GB, sixteen 1225 GB.
  const Catalog joined = small_market({{"big-box", "big", 8, true, 18, false, false, 3200}});
  const Estimate estimate = make_estimate(joined, request_of("huge"));
  REQUIRE(estimate.options.size() == 1);
  const Option& option = estimate.options[0];
  CHECK(option.layout.tp == 8);
  CHECK(option.layout.pp == 2);
  CHECK(option.instances == 2);
  CHECK(option.devices == 16);
  CHECK(option.per_hour == Approx(36));
  CHECK(option.fabric.between.link == "fibre");
}

TEST_CASE("planner: hosts without a stated network are not joined", "[planner]") {
  const Catalog apart = small_market({{"big-box", "big", 8, true, 18, false}});
  const Estimate estimate = make_estimate(apart, request_of("huge"));
  CHECK(estimate.options.empty());
  REQUIRE(estimate.rejected.size() == 1);
  CHECK(estimate.rejected[0].rejection.rule == "memory");
}

TEST_CASE("planner: a month is the provider's own number of hours", "[planner]") {
  const Catalog catalog = small_market({{"big-1", "big", 1, false, 2.5, false}});
  const Option option = make_estimate(catalog, request_of("eight")).options.at(0);
  CHECK(option.per_hour == Approx(2.5));
  CHECK(option.per_month == Approx(1800));  // 2.5 * 720
  CHECK(option.per_1m_output_tokens == Approx(2.5 / 3600 / option.output_tokens_per_s() * 1e6));
}

TEST_CASE("planner: the age of a price is counted to the asked day", "[planner]") {
  const Catalog catalog = small_market({{"big-1", "big", 1, false, 2.5, false}});
  // 2026-09-01 to 2026-11-30: 29 + 31 + 30 days
  CHECK(make_estimate(catalog, request_of("eight")).options.at(0).price_age_days == 90);
}

TEST_CASE("planner: another currency scales every price by its rate", "[planner]") {
  const Catalog catalog = small_market(usual_offers());
  const Estimate dollars = make_estimate(catalog, request_of("eight"));
  EstimateRequest request = request_of("eight");
  request.currency = "EUR";
  const Estimate euros = make_estimate(catalog, request);
  REQUIRE(euros.options.size() == dollars.options.size());
  for (std::size_t i = 0; i < euros.options.size(); ++i) {
    CHECK(euros.options[i].offer->id == dollars.options[i].offer->id);
    CHECK(euros.options[i].per_month == Approx(0.8 * dollars.options[i].per_month));
  }
}

}  // namespace gpuplan::testing
