#include <gpuplan/prices/store.hpp>

#include <gpuplan/base/text.hpp>
#include <gpuplan/catalog/offer_class.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace gpuplan {
namespace {

constexpr double kMemory = 0.15;

std::string money(double usd) { return "$" + format_significant(usd, 3); }

std::string place_of(const ImportedOffer& o) {
  return o.provider + '\n' + o.gpu + '\n' + o.region + '\n' + o.tier + '\n' + o.currency;
}

class Linter {
 public:
  Linter(const Catalog& catalog, const std::vector<StoredOffer>& offers) : catalog_(catalog), offers_(offers) {}

  std::vector<LintFinding> run() {
    more_for_less();
    spot_above_on_demand();
    far_from_class();
    memory_against_name();
    duplicates();
    return std::move(findings_);
  }

 private:
  void find(std::string id, const StoredOffer& offer, std::string message) {
    findings_.push_back({std::move(id), offer.id, std::move(message)});
  }

  // Machines of one provider, accelerator and contract: more GPUs for less money in all.
  void more_for_less() {
    std::map<std::string, std::map<std::int64_t, const StoredOffer*>> groups;
    for (const StoredOffer& s : offers_) {
      const ImportedOffer& o = s.offer;
      if (!s.usd_gpu_hour || !o.count || o.scope != PriceScope::instance || o.marketplace) continue;
      auto& cheapest = groups[place_of(o) + '\n' + std::string(to_string(o.contract)) + '\n' + o.term][*o.count];
      if (!cheapest || *s.usd_gpu_hour < *cheapest->usd_gpu_hour) cheapest = &s;
    }
    for (const auto& [key, by_count] : groups) {
      const StoredOffer* fewer = nullptr;
      for (const auto& [count, offer] : by_count) {
        const auto total = [](const StoredOffer& s) { return *s.usd_gpu_hour * static_cast<double>(*s.offer.count); };
        if (fewer && total(*offer) < total(*fewer)) {
          find("lint.more_for_less", *offer,
               std::to_string(count) + " GPUs cost " + money(total(*offer)) + " an hour, " +
                   std::to_string(*fewer->offer.count) + " cost " + money(total(*fewer)) + " (" + fewer->id + ")");
        }
        if (!fewer || total(*offer) > total(*fewer)) fewer = offer;
      }
    }
  }

  void spot_above_on_demand() {
    std::map<std::string, const StoredOffer*> on_demand;
    const auto key = [](const ImportedOffer& o) {
      return place_of(o) + '\n' + o.product + '\n' + std::to_string(o.count.value_or(0));
    };
    for (const StoredOffer& s : offers_) {
      if (s.usd_gpu_hour && s.offer.contract == Contract::on_demand) on_demand[key(s.offer)] = &s;
    }
    for (const StoredOffer& s : offers_) {
      if (s.offer.contract != Contract::spot) continue;
      if (s.offer.savings_percent.value_or(0) < 0) {
        find("lint.spot_above_on_demand", s,
             "savings of " + format_shortest(*s.offer.savings_percent) + " %: spot is dearer");
      }
      const auto found = on_demand.find(key(s.offer));
      if (found == on_demand.end() || !s.usd_gpu_hour || *s.usd_gpu_hour <= *found->second->usd_gpu_hour * 1.0001)
        continue;
      find(
          "lint.spot_above_on_demand", s,
          "spot at " + money(*s.usd_gpu_hour) + " a GPU and hour, on demand at " + money(*found->second->usd_gpu_hour));
    }
  }

  void far_from_class() {
    std::map<std::tuple<std::string, Contract>, std::vector<double>> classes;
    const auto class_of = [](const ImportedOffer& o) { return std::tuple(o.gpu, o.contract); };
    for (const StoredOffer& s : offers_) {
      if (s.usd_gpu_hour && catalog_.find_accelerator(s.offer.gpu))
        classes[class_of(s.offer)].push_back(*s.usd_gpu_hour);
    }
    std::map<std::tuple<std::string, Contract>, std::optional<double>> medians;
    for (const auto& [key, prices] : classes) medians[key] = class_median(prices);
    for (const StoredOffer& s : offers_) {
      if (!s.usd_gpu_hour) continue;
      const auto found = classes.find(class_of(s.offer));
      if (found == classes.end() || !medians[found->first]) continue;
      const double median = *medians[found->first];
      const double ratio = *s.usd_gpu_hour / median;
      if (ratio <= kPriceBand && ratio >= 1 / kPriceBand) continue;
      find("lint.far_from_class", s,
           money(*s.usd_gpu_hour) + " a GPU and hour, the median of " + std::to_string(found->second.size()) + " " +
               std::string(to_string(s.offer.contract)) + " offers of " + s.offer.gpu + " is " + money(median));
    }
  }

  void memory_against_name() {
    for (const StoredOffer& s : offers_) {
      const Accelerator* gpu = catalog_.find_accelerator(s.offer.gpu);
      if (!gpu || !s.offer.gpu_memory_gb || s.offer.share || !gpu->memory_label.known()) continue;
      const double label = gpu->memory_label.value / gigabytes(1);
      if (std::abs(*s.offer.gpu_memory_gb / label - 1) <= kMemory) continue;
      find("lint.memory", s,
           format_significant(*s.offer.gpu_memory_gb, 3) + " GB a GPU in the list, " + std::string(gpu->name) +
               " has " + format_significant(label, 3));
    }
  }

  void duplicates() {
    std::map<std::tuple<std::int64_t, std::string>, std::vector<const StoredOffer*>> same;
    for (const StoredOffer& s : offers_) same[{s.snapshot, identity_of(s.offer)}].push_back(&s);
    for (const auto& [key, rows] : same) {
      if (rows.size() < 2) continue;
      std::set<double> prices;
      for (const StoredOffer* s : rows) prices.insert(s->offer.price.value_or(s->offer.input_per_1m.value_or(-1)));
      if (prices.size() == 1) {
        find("lint.duplicate", *rows.front(), std::to_string(rows.size()) + " rows say the same");
      } else {
        find("lint.contradiction", *rows.front(),
             std::to_string(rows.size()) + " rows of one thing have " + std::to_string(prices.size()) +
                 " prices, from " + format_shortest(*prices.begin()) + " to " + format_shortest(*prices.rbegin()));
      }
    }
  }

  const Catalog& catalog_;
  const std::vector<StoredOffer>& offers_;
  std::vector<LintFinding> findings_;
};

}  // namespace

std::vector<LintFinding> lint_prices(const Catalog& catalog, const std::vector<StoredOffer>& offers) {
  return Linter(catalog, offers).run();
}

}  // namespace gpuplan
