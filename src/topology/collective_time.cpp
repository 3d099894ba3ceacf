#include <gpuplan/base/error.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/topology/collectives.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

struct Word {
  Collective value;
  std::string_view name;
  std::string_view other;  // as nccl-tests and frameworks spell it
};
constexpr std::array kWords = {Word{Collective::all_reduce, "all-reduce", "allreduce"},
                               Word{Collective::reduce_scatter, "reduce-scatter", "reducescatter"},
                               Word{Collective::all_gather, "all-gather", "allgather"},
                               Word{Collective::all_to_all, "all-to-all", "alltoall"},
                               Word{Collective::broadcast, "broadcast", "bcast"},
                               Word{Collective::point_to_point, "point-to-point", "sendrecv"}};

// Bytes that leave one rank over the bytes of the collective, by an algorithm that sends no byte twice. The same factors
// make the bus bandwidth.
double traffic(Collective kind, double n) {
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

// An all-reduce is a reduce-scatter and an all-gather; the others have the latency of one of them.
double latency_share(Collective kind) { return kind == Collective::all_reduce ? 1 : 0.5; }

Seconds latency_of(const FabricLevel& level, Collective kind, std::int64_t n) {
  if (kind == Collective::point_to_point) return 0.5 * level.latency_2;
  return latency_share(kind) * all_reduce_latency(level, n);
}

struct Stretch {
  Seconds latency;
  Seconds transfer;
};

// Without peer-to-peer every byte is written to the host's memory and read from it again.
Stretch stretch(const FabricLevel& level, Collective kind, std::int64_t n, Bytes sent, double share) {
  if (n <= 1) return {};
  const double passes = level.crosses_host ? 2 : 1;
  const double efficiency = kind == Collective::point_to_point || kind == Collective::all_to_all
                                ? level.point_to_point_efficiency
                                : level.efficiency;
  return {passes * latency_of(level, kind, n), passes * (sent / (share * level.rate * efficiency))};
}

CollectiveTime cheaper(CollectiveTime a, CollectiveTime b) { return b.time < a.time ? b : a; }

CollectiveTime time_inside(const FabricLevel& level, Collective kind, std::int64_t n, Bytes size) {
  const Stretch ring = stretch(level, kind, n, traffic(kind, as_double(n)) * size, 1);
  CollectiveTime best{ring.latency + ring.transfer, kind == Collective::point_to_point ? "copy" : "ring"};
  if (level.crosses_host) return best;
  // Every rank reads all the others' buffers at once: one exchange, of n - 1 times the bytes.
  if (kind == Collective::all_reduce) {
    const Seconds one_shot =
        level.latency_2 + (as_double(n) - 1) * (size / (level.rate * level.point_to_point_efficiency));
    best = cheaper(best, {one_shot, "one-shot"});
  }
  return best;
}

// The share of `between.rate` (a rank's share of the host's network) that a rank of the group has.
double network_share(const Fabric& fabric, const RankGroup& group) {
  const double devices = std::max(as_double(fabric.domain), as_double(group.inside));
  const double its_part = devices / std::max(1.0, group.sharing);
  return std::min(1.0, its_part / as_double(group.inside));
}

// Inside the hosts on all their links, between them with each rank's part of the bytes on its own NIC; the transfers overlap.
CollectiveTime time_between(const Fabric& fabric, const FabricLevel& between, Collective kind, const RankGroup& group,
                            Bytes size) {
  const double inside = as_double(group.inside);
  const double share = network_share(fabric, group);
  const bool whole = kind == Collective::point_to_point || kind == Collective::all_to_all;
  const double ranks = as_double(group.ranks());
  const double hosts = as_double(group.hosts);
  const Bytes leaving = kind == Collective::all_to_all ? (ranks - inside) / ranks * size
                        : whole                        ? size
                                                       : traffic(kind, hosts) * (size / inside);
  const Stretch out = stretch(between, kind, group.hosts, leaving, share);
  if (kind == Collective::point_to_point) return {out.latency + out.transfer, "copy"};
  const Stretch in = stretch(fabric.inside, kind, group.inside, traffic(kind, ranks) * size, 1);
  return {out.latency + in.latency + std::max(out.transfer, in.transfer), whole ? "pairwise" : "hierarchical ring"};
}

}  // namespace

std::string_view to_string(Collective value) {
  for (const Word& word : kWords) {
    if (word.value == value) return word.name;
  }
  return kWords.front().name;
}

Parsed<Collective> parse_collective(std::string_view text) {
  std::vector<std::string_view> names;
  for (const Word& word : kWords) {
    if (lookup_key(text) == lookup_key(word.name) || lookup_key(text) == word.other)
      return Parsed<Collective>::ok(word.value);
    names.push_back(word.name);
  }
  const std::vector<std::string> listed(names.begin(), names.end());
  return Parsed<Collective>::fail("unknown collective '" + std::string(text) + "'", join(listed, ", "),
                                  nearest_name(text, names), "input.unknown_name");
}

CollectiveTime collective_time(const Fabric& fabric, Collective kind, const RankGroup& group, Bytes size,
                               Explain* why) {
  if (group.ranks() <= 1) return {};
  const FabricLevel& between = fabric.between.rate > BytesPerSecond{} ? fabric.between : fabric.inside;
  GPUPLAN_ASSERT((group.inside <= 1 || fabric.inside.rate > BytesPerSecond{}) &&
                     (group.hosts <= 1 || between.rate > BytesPerSecond{}),
                 "links of known rate join the ranks of a group");
  const CollectiveTime best = group.hosts <= 1 ? time_inside(fabric.inside, kind, group.inside, size)
                                               : time_between(fabric, between, kind, group, size);
  if (why) why->term("time." + std::string(to_string(kind)), best.time, "time", {{"time", best.time}});
  return best;
}

BytesPerSecond bus_bandwidth(Collective kind, std::int64_t ranks, Bytes size, Seconds time) {
  if (ranks <= 1 || time <= Seconds{}) return {};
  return traffic(kind, as_double(ranks)) * (size / time);
}

}  // namespace gpuplan
