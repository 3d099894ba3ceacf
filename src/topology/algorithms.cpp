#include <gpuplan/topology/algorithms.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

// Levels of a binary tree over n.
double depth(double n) { return std::ceil(std::log2(n) - 1e-9); }

// What the host's network gives the group: at most its share, and no more than its ranks bring.
BytesPerSecond network_of_group(const Fabric& fabric, const RankGroup& group) {
  const double devices = std::max(as_double(fabric.domain), as_double(group.inside));
  const double share = std::min(as_double(group.inside), devices / std::max(1.0, group.sharing));
  return share / std::max(1.0, fabric.oversubscription) * fabric.between.rate;
}

// Inside a host, without the part that leaves it.
AlgorithmTerms ring_inside(const Fabric& fabric, Collective kind, double k) {
  AlgorithmTerms t{"ring"};
  const auto devices = static_cast<std::int64_t>(k);
  t.share = ring_share(fabric.inside, fabric.domain, devices);
  t.pair = devices == 2;
  t.steps = (kind == Collective::all_reduce ? 2 : 1) * (k - 1);
  t.sent = bus_factor(kind, k);
  t.copied = 1 / k;
  return t;
}

void add_inside(Algorithms& all, const Fabric& fabric, Collective kind, double n, Kernels kernels) {
  const auto devices = static_cast<std::int64_t>(n);
  if (kind == Collective::all_to_all || kind == Collective::point_to_point) {
    AlgorithmTerms t{kind == Collective::all_to_all ? "pairwise" : "copy", SpeedKind::exchange};
    t.steps = 1;
    t.sent = bus_factor(kind, n);
    t.copied = kind == Collective::all_to_all ? 1 / n : 0;
    t.pair = devices == 2 || kind == Collective::point_to_point;
    t.share = kind == Collective::all_to_all ? exchange_share(fabric.inside, fabric.domain, devices)
                                             : ring_share(fabric.inside, fabric.domain, 2);
    all.add(t);
    return;
  }
  all.add(ring_inside(fabric, kind, n));
  if (kind != Collective::all_reduce) return;
  if (fabric.inside.reduces && devices > 2) {
    // Each rank has the switch reduce its part and multicast it: it sends the whole once for the others, and its part.
    AlgorithmTerms t{"in-switch", SpeedKind::in_switch};
    t.steps = 2;
    t.sent = 1 + 1 / n;
    all.add(t);
  }
  if (kernels == Kernels::engine && !fabric.inside.crosses_host) {
    AlgorithmTerms t{"one-shot", SpeedKind::exchange};
    t.share = exchange_share(fabric.inside, fabric.domain, devices);
    t.pair = devices == 2;
    t.steps = 1;
    t.sent = n - 1;
    all.add(t);
    t.name = "two-shot";
    t.steps = 2;
    t.sent = 2 * (n - 1) / n;
    all.add(t);
  }
}

// Trees between the hosts: up and down an all-reduce, one way the others. Two trees share the bytes, so that a host sends half of them
// to its parent and to two children in one and to its parent in the other.
void add_trees(Algorithms& all, const Fabric& fabric, const AlgorithmTerms& ring, double k, double h) {
  AlgorithmTerms t{k > 1 ? "hierarchical tree" : "tree"};
  t.network = ring.network;
  t.share = ring.share;
  t.pair = ring.pair;
  t.steps = 2 * (k - 1);
  t.sent = 2 * (k - 1) / k;
  t.hops = 2 * depth(h);
  t.leaving = std::min(2.0, h / 2);
  all.add(t);
  if (!fabric.inside.reduces || k <= 2) {
    if (!fabric.between.reduces) return;
  } else {
    t.inside = SpeedKind::in_switch;
    t.share = 1;
    t.steps = 2;
    t.sent = 1 + 1 / k;
    all.add(t);
  }
  if (!fabric.between.reduces) return;
  t.name = k > 1 ? "hierarchical in-network" : "in-network";
  t.in_network = true;
  t.hops = 2;
  t.leaving = 1;
  all.add(t);
}

void add_between(Algorithms& all, const Fabric& fabric, Collective kind, const RankGroup& group) {
  const double k = as_double(group.inside);
  const double h = as_double(group.hosts);
  const double n = k * h;
  AlgorithmTerms t = ring_inside(fabric, kind, k);
  t.network = network_of_group(fabric, group);
  if (kind == Collective::point_to_point || kind == Collective::all_to_all) {
    t.name = kind == Collective::all_to_all ? "pairwise" : "copy";
    t.inside = SpeedKind::exchange;
    t.steps = 0;
    t.hops = 1;
    t.sent = kind == Collective::all_to_all ? (k - 1) / n : 0;
    t.share = exchange_share(fabric.inside, fabric.domain, group.inside);
    t.copied = kind == Collective::all_to_all ? 1 / n : 0;
    t.leaving = kind == Collective::all_to_all ? k * (n - k) / n : k;
    all.add(t);
    return;
  }
  // One ring through all ranks, as often as there are NICs, each entering and leaving a host once.
  const double ways = kind == Collective::all_reduce ? 2 : 1;
  t.steps = ways * (n - h);
  t.hops = ways * (h - 1);
  t.sent = k > 1 ? bus_factor(kind, n) : 0;
  t.copied = 1 / n;
  t.leaving = bus_factor(kind, n);
  all.add(t);
  if (kind == Collective::all_reduce) return add_trees(all, fabric, t, k, h);
  if (group.inside > 1) return;
  t.name = "tree";
  t.hops = depth(h);
  all.add(t);
}

// With nothing to join inside the host a call costs what it does on such a device.
BytesPerSecond at_least_something(BytesPerSecond rate) { return std::max(rate, BytesPerSecond::from_base(1e-300)); }

}  // namespace

double bus_factor(Collective kind, double n) {
  switch (kind) {
    case Collective::all_reduce:
      return 2 * (n - 1) / n;
    case Collective::reduce_scatter:
    case Collective::all_gather:
    case Collective::all_to_all:
      return (n - 1) / n;
    case Collective::broadcast:
    case Collective::point_to_point:
      return 1;
  }
  return 1;
}

Algorithms algorithms_of(const Fabric& fabric, Collective kind, const RankGroup& group, Kernels kernels) {
  Algorithms all;
  if (group.hosts <= 1) {
    add_inside(all, fabric, kind, as_double(group.inside), kernels);
  } else {
    add_between(all, fabric, kind, group);
  }
  return all;
}

const LevelSpeed& speed_inside(const FabricLevel& level, SpeedKind kind) {
  if (kind == SpeedKind::in_switch) return level.in_switch;
  return kind == SpeedKind::exchange ? level.exchange : level.ring;
}

const LevelSpeed& speed_between(const FabricLevel& level, const AlgorithmTerms& terms) {
  return terms.in_network ? level.in_switch : level.network;
}

Seconds algorithm_time(const Fabric& fabric, const AlgorithmTerms& terms, Bytes size, bool bulk) {
  constexpr Seconds kNever = seconds(std::numeric_limits<double>::infinity());
  const LevelSpeed& in = speed_inside(fabric.inside, terms.inside);
  const LevelSpeed& out = speed_between(fabric.between, terms);
  const bool stays = terms.hops <= 0;
  const double in_efficiency = !bulk                                  ? in.efficiency
                               : terms.pair && in.pair_efficiency > 0 ? in.pair_efficiency
                                                                      : in.bulk_efficiency;
  const double out_efficiency = stays ? 1 : bulk ? out.bulk_efficiency : out.efficiency;
  if (in_efficiency <= 0 || out_efficiency <= 0) return kNever;
  // Without peer-to-peer every byte is written to the host's memory and read from it again.
  const double passes = fabric.inside.crosses_host ? 2 : 1;
  Seconds latency =
      bulk ? in.bulk_launch + terms.steps * passes * in.bulk_hop : in.launch + terms.steps * passes * in.hop;
  Seconds transfer;
  if (terms.sent > 0) {
    const BytesPerSecond rate = at_least_something(terms.share * fabric.inside.rate);
    transfer = passes * terms.sent * (size / (rate * in_efficiency));
    if (bulk && in.copy_efficiency > 0) transfer += terms.copied * (size / (fabric.inside.rate * in.copy_efficiency));
  }
  if (stays) return latency + transfer;
  latency += bulk ? out.bulk_launch + terms.hops * out.bulk_hop : out.launch + terms.hops * out.hop;
  return latency + std::max(transfer, terms.leaving * (size / (terms.network * out_efficiency)));
}

}  // namespace gpuplan
