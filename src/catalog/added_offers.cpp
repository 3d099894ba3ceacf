#include "dataset.hpp"

#include <gpuplan/base/text.hpp>

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

template <class T>
Fact<T> fact(const std::optional<T>& value, SourceId source) {
  return value ? Fact<T>{*value, Mark::published, source} : Fact<T>{};
}

// Lists repeat their words: each is kept once.
class Words {
 public:
  explicit Words(Dataset& into) : into_(into) {}
  Text keep(const std::string& text) {
    if (text.empty()) return {};
    const auto found = known_.find(text);
    if (found != known_.end()) return found->second;
    const Text kept = into_.keep(text);
    known_.emplace(kept, kept);
    return kept;
  }

 private:
  Dataset& into_;
  std::unordered_map<std::string_view, Text> known_;
};

// What the offers are ranked by must be there: a catalogue changes, and what was imported against another does not.
class KnownNames {
 public:
  explicit KnownNames(const Dataset& data) {
    for (const Accelerator& gpu : data.accelerators) {
      accelerators_.insert(lookup_key(gpu.name));
      for (const Text alias : gpu.aliases) accelerators_.insert(lookup_key(alias));
    }
    for (const CurrencyRate& rate : data.currencies) currencies_.insert(std::string(rate.currency));
  }
  // Why the offer cannot compete, or empty.
  [[nodiscard]] std::string_view missing(const AddedOffer& offer) {
    if (!knows_accelerator(offer.gpu)) return "the catalogue has no such accelerator";
    if (!currencies_.contains(offer.currency)) return "the catalogue has no rate for its currency";
    if (!offer.count || *offer.count < 1) return "the number of GPUs is not known";
    if (!offer.price || *offer.price <= 0) return "no price";
    return {};
  }

 private:
  // Lists repeat their words, and a key is made of each once.
  bool knows_accelerator(std::string_view name) {
    const auto [entry, fresh] = asked_.try_emplace(name, false);
    if (fresh) entry->second = accelerators_.contains(lookup_key(name));
    return entry->second;
  }
  std::unordered_set<std::string> accelerators_, currencies_;
  std::unordered_map<std::string_view, bool> asked_;  // of names that the offers hold
};

// The sources of a list, which are few, by the offers' own texts.
class KnownSources {
 public:
  explicit KnownSources(Dataset& into) : into_(into) {}
  SourceId of(const AddedOffer& offer) {
    auto& days = known_[offer.source];
    for (const auto& [day, id] : days) {
      if (day == offer.observed_on) return id;
    }
    return days.emplace_back(offer.observed_on, into_.source(offer.source, offer.observed_on, Layer::store)).second;
  }

 private:
  Dataset& into_;
  std::unordered_map<std::string_view, std::vector<std::pair<std::string_view, SourceId>>> known_;
};

Offer offer_of(const AddedOffer& added, Text provider, Dataset& into, Words& words, KnownSources& sources) {
  const SourceId source = sources.of(added);
  Offer offer;
  offer.id = into.keep(added.id);
  offer.provider = provider;
  offer.gpu = words.keep(added.gpu);
  offer.count = fact(added.count, source);
  offer.scope = added.scope;
  offer.includes_host = added.includes_host;
  offer.marketplace = added.marketplace;
  offer.contract = added.contract;
  offer.term = words.keep(added.term);
  offer.term_months = fact(added.term_months, source);
  offer.price = fact(added.price, source);
  offer.currency = words.keep(added.currency);
  offer.unit = added.unit;
  offer.vat = added.vat;
  offer.region = words.keep(added.region);
  offer.country = words.keep(added.country);
  offer.interconnect = words.keep(added.interconnect);
  offer.network = fact(added.network, source);
  offer.vcpus = fact(added.vcpus, source);
  offer.ram = fact(added.ram, source);
  offer.storage = fact(added.storage, source);
  offer.product = words.keep(added.product);
  offer.setup_fee = fact(added.setup_fee, source);
  offer.interruptions_per_month = fact(added.interruptions_per_month, source);
  offer.confidence = added.confidence;
  offer.rankable = added.rankable;
  offer.why_not = words.keep(added.why_not);
  offer.notes = words.keep(added.notes);
  offer.source = source;
  return offer;
}

}  // namespace

void add_offers(Dataset& into, std::span<const AddedOffer> added) {
  if (added.empty()) return;
  std::unordered_map<std::string_view, std::vector<const AddedOffer*>> by_provider;
  std::vector<std::string_view> order;
  for (const AddedOffer& offer : added) {
    auto& offers = by_provider[offer.provider];
    if (offers.empty()) order.push_back(offer.provider);
    offers.push_back(&offer);
  }
  Words words(into);
  KnownNames known_names(into);
  KnownSources sources(into);
  for (const std::string_view name : order) {
    Provider* provider = nullptr;
    for (Provider& known : into.providers) {
      if (known.name == name) provider = &known;
    }
    if (!provider) {
      provider = &into.providers.emplace_back();
      provider->name = provider->title = into.keep(name);
      provider->source = sources.of(*by_provider[name].front());
    }
    std::vector<Offer> offers;
    offers.reserve(provider->offers.size() + by_provider[name].size());
    offers.assign(provider->offers.begin(), provider->offers.end());
    for (const AddedOffer* added_offer : by_provider[name]) {
      Offer& offer = offers.emplace_back(offer_of(*added_offer, provider->name, into, words, sources));
      if (const std::string_view why = known_names.missing(*added_offer); offer.rankable && !why.empty()) {
        offer.rankable = false;
        offer.why_not = why;
      }
    }
    provider->offers = into.keep_list(std::move(offers));
  }
}

}  // namespace gpuplan
