#include "level.hpp"

#include <algorithm>
#include <vector>

namespace gpuplan {
namespace {

double median(std::vector<double> values, double nothing_known) {
  if (values.empty()) return nothing_known;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// A link that states no efficiency or latency is given the median of its category's links that do.
template <class Member>
double median_of(const Catalog& catalog, LinkCategory category, Member member, double nothing_known) {
  std::vector<double> values;
  for (const Link& link : catalog.links()) {
    if (link.category != category) continue;
    if (const auto value = member(link); value > 0) values.push_back(value);
  }
  return median(std::move(values), nothing_known);
}

double efficiency_of(const Link& link) { return std::min(link.all_reduce_efficiency.or_else(0), 1.0); }
double point_to_point_of(const Link& link) { return link.point_to_point_efficiency.or_else(0); }
double latency_2_of(const Link& link) { return link.all_reduce_latency_2.or_else({}).base(); }
double latency_8_of(const Link& link) { return link.all_reduce_latency_8.or_else({}).base(); }

double stated_or_median(const Catalog& catalog, const Link& link, double (*member)(const Link&), double nothing_known) {
  if (const double stated = member(link); stated > 0) return stated;
  return median_of(catalog, link.category, member, nothing_known);
}

const CollectiveSpeed* speed_of(const Link& link, std::string_view algorithm) {
  for (const CollectiveSpeed& speed : link.collectives) {
    if (speed.algorithm == algorithm) return &speed;
  }
  return nullptr;
}

// What the record says; of the rest what is usual.
LevelSpeed complete(const CollectiveSpeed& speed, const LevelSpeed& usual) {
  LevelSpeed s;
  s.launch = speed.launch.or_else(usual.launch);
  s.hop = speed.hop.or_else(usual.hop);
  s.efficiency = speed.efficiency.or_else(usual.efficiency);
  s.bulk_launch = speed.bulk_launch.or_else(usual.bulk_launch);
  s.bulk_hop = speed.bulk_hop.or_else(usual.bulk_hop);
  s.bulk_efficiency = speed.bulk_efficiency.or_else(usual.bulk_efficiency);
  s.pair_efficiency = speed.pair_efficiency.or_else(0);
  s.copy_efficiency = speed.copy_efficiency.or_else(0);
  s.fitted = true;
  return s;
}

// The middle of what the category's links reach.
LevelSpeed usual(const Catalog& catalog, LinkCategory category, std::string_view algorithm) {
  std::vector<const CollectiveSpeed*> known;
  for (const Link& link : catalog.links()) {
    const CollectiveSpeed* speed = link.category == category ? speed_of(link, algorithm) : nullptr;
    if (speed) known.push_back(speed);
  }
  const auto middle = [&](auto member) {
    std::vector<double> values;
    for (const CollectiveSpeed* speed : known) {
      if ((speed->*member).known())
        values.push_back((speed->*member).value / decltype((speed->*member).value)::from_base(1));
    }
    return median(std::move(values), 0);
  };
  const auto share = [&](Fact<double> CollectiveSpeed::*member) {
    std::vector<double> values;
    for (const CollectiveSpeed* speed : known) {
      if ((speed->*member).known()) values.push_back(*(speed->*member));
    }
    return median(std::move(values), 0);
  };
  LevelSpeed s;
  s.launch = seconds(middle(&CollectiveSpeed::launch));
  s.hop = seconds(middle(&CollectiveSpeed::hop));
  s.efficiency = share(&CollectiveSpeed::efficiency);
  s.bulk_launch = seconds(middle(&CollectiveSpeed::bulk_launch));
  s.bulk_hop = seconds(middle(&CollectiveSpeed::bulk_hop));
  s.bulk_efficiency = share(&CollectiveSpeed::bulk_efficiency);
  s.copy_efficiency = share(&CollectiveSpeed::copy_efficiency);
  return s;
}

// A link with efficiency and latencies of its own but without fitted constants: the latencies of 2 and 8 devices are those of 2
// and 14 steps of a ring.
LevelSpeed from_stated(const Link& link, const FabricLevel& level, LevelSpeed s, double efficiency) {
  constexpr Seconds kLeastLaunch = microseconds(1);  // no kernel starts sooner
  if (link.all_reduce_latency_2.known() || link.all_reduce_latency_8.known() || s.launch <= Seconds{}) {
    s.hop = s.bulk_hop = (1.0 / 12) * (level.latency_8 - level.latency_2);
    s.launch = s.bulk_launch = std::max(kLeastLaunch, level.latency_2 - 2 * s.hop);
  }
  if (efficiency > 0) s.bulk_efficiency = efficiency;
  if (s.bulk_efficiency <= 0) s.bulk_efficiency = 1;
  return s;
}

// Whether the record leaves nothing to what is usual. A reduction in the switch is not sent word by word, and a network takes no launch.
bool says_all(const CollectiveSpeed& speed, double stated_efficiency) {
  const bool latencies = speed.bulk_hop.known() && (speed.hop.known() || speed.algorithm == "in_switch");
  const bool words = speed.efficiency.known() || speed.algorithm == "in_switch";
  return latencies && words && (speed.bulk_efficiency.known() || stated_efficiency > 0);
}

// The usual is looked up only where it is needed: fabrics are made for every offer.
LevelSpeed speed(const Catalog& catalog, const Link& link, const FabricLevel& level, std::string_view algorithm,
                 double stated_efficiency) {
  const CollectiveSpeed* own = speed_of(link, algorithm);
  LevelSpeed usually;
  usually.efficiency = 0;
  usually.bulk_efficiency = stated_efficiency;
  if (!own || !says_all(*own, stated_efficiency))
    usually = from_stated(link, level, usual(catalog, link.category, algorithm), stated_efficiency);
  return own ? complete(*own, usually) : usually;
}

}  // namespace

FabricLevel level_of(const Catalog& catalog, const Link& link, BytesPerSecond rate) {
  FabricLevel level;
  level.link = link.name;
  level.rate = rate > BytesPerSecond{} ? rate : link.rate.or_else({});
  // A link kind nobody has measured is given its nominal rate; the categories in the catalogue all have measured members.
  level.point_to_point_efficiency = stated_or_median(catalog, link, point_to_point_of, 1);
  level.efficiency = stated_or_median(catalog, link, efficiency_of, level.point_to_point_efficiency);
  level.latency_2 = seconds(stated_or_median(catalog, link, latency_2_of, 0));
  level.latency_8 = std::max(level.latency_2, seconds(stated_or_median(catalog, link, latency_8_of, 0)));
  level.shape = link.shape;
  level.links = link.links_per_device.or_else(0);
  const double all_reduce = efficiency_of(link);
  const double copy = point_to_point_of(link);
  if (link.category == LinkCategory::scale_out) {
    level.network = speed(catalog, link, level, "network", all_reduce > 0 ? all_reduce : copy);
    // A network that could reduce seldom does: only one that was seen to is taken to.
    level.reduces = speed_of(link, "in_network") != nullptr;
    if (level.reduces) level.in_switch = speed(catalog, link, level, "in_network", 0);
  }
  if (link.category != LinkCategory::scale_out) {
    level.ring = speed(catalog, link, level, "ring", all_reduce > 0 ? all_reduce : copy);
    level.exchange = speed(catalog, link, level, "exchange", copy > 0 ? copy : all_reduce);
    level.network = level.ring;  // where it is taken for what joins hosts too
  }
  if (link.category != LinkCategory::scale_out && link.in_network_reduction.or_else(false)) {
    level.in_switch = speed(catalog, link, level, "in_switch", 0);
    level.reduces = level.in_switch.fitted || level.shape == FabricShape::switched;
  }
  level.source = link.source;
  return level;
}

}  // namespace gpuplan
