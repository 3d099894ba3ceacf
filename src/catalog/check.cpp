#include "dataset.hpp"

#include <gpuplan/base/text.hpp>

#include <map>
#include <set>

namespace gpuplan {
namespace {

class Checker {
 public:
  Checker(const Dataset& dataset, std::string_view origin) : dataset_(dataset), origin_(origin) {}

  void run() {
    unique_names(dataset_.accelerators, "accelerator");
    unique_names(dataset_.links, "link");
    unique_names(dataset_.nodes, "node");
    unique_names(dataset_.models, "model");
    unique_names(dataset_.engines, "engine");
    unique_names(dataset_.providers, "provider");
    for (const CurrencyRate& rate : dataset_.currencies) {
      if (!rate.per_usd.known() || rate.per_usd.value <= 0) report("currency '" + std::string(rate.currency) + "' has no rate");
    }
    for (const Accelerator& gpu : dataset_.accelerators) check(gpu);
    for (const NodeDesign& node : dataset_.nodes) check(node);
    for (const Provider& provider : dataset_.providers) check(provider);
    if (!problems_.empty()) throw InputError(std::move(problems_));
  }

 private:
  void report(std::string message, std::string nearest = {}) {
    problems_.push_back({"catalog.inconsistent", std::move(message), Place{std::string(origin_), 0, 0}, {}, std::move(nearest), {}});
  }
  template <class R>
  void unique_names(const std::vector<R>& records, std::string_view what) {
    std::map<std::string, std::string> owners;
    for (const R& record : records) {
      std::set<std::string> own;
      own.insert(lookup_key(record.name));
      for (const Text alias : record.aliases) own.insert(lookup_key(alias));
      for (const auto& key : own) {
        const auto [entry, fresh] = owners.emplace(key, record.name);
        if (!fresh) {
          report(std::string(what) + " name '" + key + "' belongs to '" + entry->second + "' and '" + std::string(record.name) + "'");
        }
      }
    }
  }
  template <class R>
  bool known(const std::vector<R>& records, Text name) {
    const std::string key = lookup_key(name);
    for (const R& record : records) {
      if (lookup_key(record.name) == key) return true;
      for (const Text alias : record.aliases) {
        if (lookup_key(alias) == key) return true;
      }
    }
    return false;
  }
  void check(const Accelerator& gpu) {
    for (const Text link : {gpu.scale_up_link, gpu.host_link}) {
      if (!link.empty() && !known(dataset_.links, link)) {
        report("accelerator '" + std::string(gpu.name) + "' names the unknown link '" + std::string(link) + "'");
      }
    }
    if (!gpu.memory_bandwidth.known()) report("accelerator '" + std::string(gpu.name) + "' has no memory bandwidth");
  }
  void check(const NodeDesign& node) {
    for (const Text name : node.accelerators) {
      if (!known(dataset_.accelerators, name)) {
        report("node '" + std::string(node.name) + "' names the unknown accelerator '" + std::string(name) + "'");
      }
    }
    for (const Text link : {node.fabric_link, node.nic_link}) {
      if (!link.empty() && !known(dataset_.links, link)) {
        report("node '" + std::string(node.name) + "' names the unknown link '" + std::string(link) + "'");
      }
    }
  }
  void check(const Provider& provider) {
    for (const Offer& offer : provider.offers) {
      const auto [entry, fresh] = offer_ids_.insert(std::string(offer.id));
      if (!fresh) report("offer id '" + std::string(offer.id) + "' stands twice");
      if (offer.price.known() && offer.price.value <= 0) report("offer '" + std::string(offer.id) + "' has a price of 0");
      if (!offer.rankable) continue;
      if (!known(dataset_.accelerators, offer.gpu)) {
        report("offer '" + std::string(offer.id) + "' names the unknown accelerator '" + std::string(offer.gpu) + "'");
      }
      if (!offer.count.known() || offer.count.value < 1) report("offer '" + std::string(offer.id) + "' has no count");
      if (!known_currency(offer.currency)) report("offer '" + std::string(offer.id) + "' has an unknown currency");
    }
  }
  bool known_currency(Text code) {
    for (const CurrencyRate& rate : dataset_.currencies) {
      if (rate.currency == code) return true;
    }
    return false;
  }

  const Dataset& dataset_;
  std::string_view origin_;
  std::vector<Problem> problems_;
  std::set<std::string> offer_ids_;
};

}  // namespace

void check_facts(const Dataset& dataset, std::string_view origin) { Checker(dataset, origin).run(); }

}  // namespace gpuplan
