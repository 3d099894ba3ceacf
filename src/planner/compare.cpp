#include <gpuplan/planner/compare.hpp>

#include <gpuplan/base/text.hpp>
#include <gpuplan/planner/offer_rules.hpp>

#include <algorithm>
#include <tuple>

namespace gpuplan {
namespace {

// What is taken first where the request does not say.
constexpr Contract kPreference[] = {Contract::on_demand,  Contract::dedicated, Contract::cluster, Contract::managed,
                                    Contract::serverless, Contract::reserved,  Contract::spot};

std::int64_t preference(Contract contract) {
  return std::find(std::begin(kPreference), std::end(kPreference), contract) - std::begin(kPreference);
}

struct Named {
  const Provider* provider = nullptr;
  const Offer* offer = nullptr;
  std::vector<const Accelerator*> accelerators;
};

bool asks_for(const EstimateRequest& request, const Provider& provider, const Offer& offer) {
  if (!request.contracts.empty() &&
      std::find(request.contracts.begin(), request.contracts.end(), offer.contract) == request.contracts.end()) {
    return false;
  }
  if (!request.providers.empty() &&
      std::find(request.providers.begin(), request.providers.end(), &provider) == request.providers.end()) {
    return false;
  }
  if (!request.country.empty() && to_lower(offer.country) != to_lower(request.country)) return false;
  return request.region.empty() || to_lower(offer.region).find(to_lower(request.region)) != std::string::npos;
}

class Chooser {
 public:
  Chooser(const Catalog& catalog, const EstimateRequest& request)
      : catalog_(catalog), request_(request), rules_{request.as_of, request.max_age_days, request.software} {}

  ComparedOffer choose(const std::string& name, const Named& named) {
    ComparedOffer best;
    best.name = name;
    const auto& wanted = named.accelerators.empty() ? request_.accelerators : named.accelerators;
    if (named.accelerators.size() == 1) best.accelerator = named.accelerators.front();
    best.provider = named.provider;
    std::tuple<std::int64_t, std::int64_t, double, Text> least;
    for (const Provider& provider : catalog_.providers()) {
      if (named.provider && named.provider != &provider) continue;
      for (const Offer& offer : provider.offers) {
        if (named.offer && named.offer != &offer) continue;
        const Accelerator* accelerator = catalog_.find_accelerator(offer.gpu);
        const bool among = wanted.empty() || std::find(wanted.begin(), wanted.end(), accelerator) != wanted.end();
        if (!accelerator || (!among && !named.offer)) continue;
        if (!named.offer && (!offer.rankable || !asks_for(request_, provider, offer))) continue;
        auto candidate = priced(name, provider, offer, *accelerator);
        if (!candidate) continue;
        // Without a number the smallest machine, so that the same amount is compared.
        const std::tuple rank(request_.contracts.empty() && !named.offer ? preference(offer.contract) : 0,
                              request_.count ? 0 : candidate->devices,
                              candidate->hourly.total() / static_cast<double>(candidate->devices), offer.id);
        if (best.offer && least <= rank) continue;
        least = rank;
        best = std::move(*candidate);
      }
    }
    if (!best.offer) best.why_not = why_.empty() ? "no such offer is known" : why_;
    why_.clear();
    return best;
  }

 private:
  std::optional<ComparedOffer> priced(const std::string& name, const Provider& provider, const Offer& offer,
                                      const Accelerator& accelerator) {
    if (const auto refused = refused_by_rules(catalog_, rules_, provider, offer, accelerator)) {
      why_ = refused->rule + ": " + refused->available;
      return std::nullopt;
    }
    if (!offer.count.known() || *offer.count < 1) return std::nullopt;
    const std::int64_t count = request_.count.value_or(*offer.count);
    if (count % *offer.count != 0) {
      why_ = "sold by " + std::to_string(*offer.count) + " devices";
      return std::nullopt;
    }
    ComparedOffer compared;
    compared.name = name;
    compared.provider = &provider;
    compared.offer = &offer;
    compared.accelerator = &accelerator;
    compared.instances = count / *offer.count;
    compared.devices = count;
    const auto hourly =
        hourly_cost(catalog_, {&provider, &offer, compared.instances, request_.currency, request_.vat}, nullptr);
    if (!hourly) {
      why_ = provider.price_on_request ? "price on request" : "the price is not known";
      return std::nullopt;
    }
    compared.hourly = *hourly;
    return compared;
  }

  const Catalog& catalog_;
  const EstimateRequest& request_;
  OfferRules rules_;
  std::string why_;
};

const Offer* find_offer(const Catalog& catalog, const std::string& id, const Provider*& owner) {
  const std::string key = lookup_key(id);
  for (const Provider& provider : catalog.providers()) {
    for (const Offer& offer : provider.offers) {
      if (lookup_key(offer.id) != key) continue;
      owner = &provider;
      return &offer;
    }
  }
  return nullptr;
}

Problem unknown(const Catalog& catalog, const std::string& name) {
  std::vector<std::string_view> names;
  const std::string provider = catalog.nearest_provider(name);
  const std::string accelerator = catalog.nearest_accelerator(name);
  for (const std::string* candidate : {&provider, &accelerator}) {
    if (!candidate->empty()) names.push_back(*candidate);
  }
  return {"input.unknown_name",
          "nothing is called '" + name + "'",
          std::nullopt,
          "a provider, an accelerator or an offer's id",
          nearest_name(name, names),
          {}};
}

Named resolve(const Catalog& catalog, const std::string& name, std::vector<Problem>& problems) {
  Named named;
  if (name.find('/') != std::string::npos) named.offer = find_offer(catalog, name, named.provider);
  if (named.offer) return named;
  named.provider = catalog.find_provider(name);
  if (named.provider) return named;
  named.accelerators = catalog.select_accelerators(name);
  if (named.accelerators.empty()) problems.push_back(unknown(catalog, name));
  return named;
}

// Each is planned by itself, as another's cheaper layout is none of its own.
void plan(const Catalog& catalog, const EstimateRequest& request, ComparedOffer& compared) {
  EstimateRequest own = request;
  own.providers = {compared.provider};
  own.accelerators = {compared.accelerator};
  own.contracts = {compared.offer->contract};
  own.region.clear();
  own.country.clear();
  own.count = compared.devices;
  const Estimate estimate = make_estimate(catalog, own);
  for (const Option& option : estimate.options) {
    if (option.offer == compared.offer) compared.option = option;
  }
  for (const RejectedOffer& rejected : estimate.rejected) {
    if (rejected.offer == compared.offer) compared.rejection = rejected.rejection;
  }
}

}  // namespace

std::vector<ComparedOffer> compare_offers(const Catalog& catalog, const EstimateRequest& request,
                                          const std::vector<std::string>& names) {
  std::vector<Problem> problems;
  std::vector<Named> named;
  for (const std::string& name : names) named.push_back(resolve(catalog, name, problems));
  if (!problems.empty()) throw InputError(std::move(problems));
  Chooser chooser(catalog, request);
  std::vector<ComparedOffer> compared;
  for (std::size_t i = 0; i < names.size(); ++i) compared.push_back(chooser.choose(names[i], named[i]));
  if (request.job.model.value.empty()) return compared;
  for (ComparedOffer& one : compared) {
    if (one.offer && one.offer->rankable) plan(catalog, request, one);
  }
  return compared;
}

}  // namespace gpuplan
