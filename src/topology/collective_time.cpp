#include <gpuplan/base/error.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/topology/algorithms.hpp>
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

// The fabric as the group sees it: a network of which nothing is known is taken to be the link inside.
const Fabric& known_network(const Fabric& fabric, const RankGroup& group, Fabric& changed) {
  if (group.hosts <= 1 || fabric.between.rate > BytesPerSecond{}) return fabric;
  changed = fabric;
  changed.between = fabric.inside;
  changed.between.network = fabric.inside.ring;
  return changed;
}

struct Choice {
  const AlgorithmTerms* terms = nullptr;
  bool bulk = false;
  Seconds time;
};

Choice cheapest(const Fabric& fabric, const Algorithms& all, Bytes size) {
  Choice best;
  for (std::size_t i = 0; i < all.count; ++i) {
    for (const bool bulk : {false, true}) {
      const Seconds time = algorithm_time(fabric, all.list[i], size, bulk);
      if (!best.terms || time < best.time) best = {&all.list[i], bulk, time};
    }
  }
  return best;
}

void explain(const Fabric& fabric, Collective kind, const Choice& choice, Bytes size, Explain& why) {
  const AlgorithmTerms& t = *choice.terms;
  const LevelSpeed& in = speed_inside(fabric.inside, t.inside);
  const LevelSpeed& out = speed_between(fabric.between, t);
  const double pair = t.pair && in.pair_efficiency > 0 ? in.pair_efficiency : in.bulk_efficiency;
  const bool leaves = t.hops > 0;
  std::vector<ExplainInput> inputs = {{"launch", choice.bulk ? in.bulk_launch : in.launch},
                                      {"steps", t.steps},
                                      {"passes", fabric.inside.crosses_host ? 2.0 : 1.0},
                                      {"hop", choice.bulk ? in.bulk_hop : in.hop},
                                      {"size", size}};
  std::string inside = "0";
  if (t.sent > 0) {
    inside = "passes * sent * size / (share * rate * efficiency)";
    inputs.insert(inputs.end(), {{"sent", t.sent},
                                 {"share", t.share},
                                 {"rate", fabric.inside.rate},
                                 {"efficiency", choice.bulk ? pair : in.efficiency}});
    if (choice.bulk && in.copy_efficiency > 0) {
      inside += " + copied * size / (rate * copy_efficiency)";
      inputs.insert(inputs.end(), {{"copied", t.copied}, {"copy_efficiency", in.copy_efficiency}});
    }
  }
  std::string formula = "launch + steps * passes * hop";
  if (leaves) {
    formula +=
        " + network_launch + hops * network_hop + max(" + inside + ", leaving * size / (network * network_efficiency))";
    inputs.insert(inputs.end(), {{"network_launch", choice.bulk ? out.bulk_launch : out.launch},
                                 {"hops", t.hops},
                                 {"network_hop", choice.bulk ? out.bulk_hop : out.hop},
                                 {"leaving", t.leaving},
                                 {"network", t.network},
                                 {"network_efficiency", choice.bulk ? out.bulk_efficiency : out.efficiency}});
  } else {
    formula += " + " + inside;
  }
  why.term("time." + std::string(to_string(kind)), choice.time, formula, std::move(inputs));
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

CollectiveTime collective_time(const Fabric& fabric, Collective kind, const RankGroup& group, Bytes size, Explain* why,
                               Kernels kernels) {
  if (group.ranks() <= 1) return {};
  Fabric changed;
  const Fabric& known = known_network(fabric, group, changed);
  GPUPLAN_ASSERT((group.inside <= 1 || known.inside.rate > BytesPerSecond{}) &&
                     (group.hosts <= 1 || known.between.rate > BytesPerSecond{}),
                 "links of known rate join the ranks of a group");
  const Algorithms all = algorithms_of(known, kind, group, kernels);
  Choice best = cheapest(known, all, size);
  constexpr Seconds kLeast = microseconds(1);  // no kernel starts sooner, whatever a catalogue says
  if (best.time < kLeast) {
    if (why) why->term("time." + std::string(to_string(kind)), kLeast, "least", {{"least", kLeast}});
    return {kLeast, best.terms->name};
  }
  if (why) explain(known, kind, best, size, *why);
  return {best.time, best.terms->name};
}

BytesPerSecond bus_bandwidth(Collective kind, std::int64_t ranks, Bytes size, Seconds time) {
  if (ranks <= 1 || time <= Seconds{}) return {};
  return bus_factor(kind, as_double(ranks)) * (size / time);
}

}  // namespace gpuplan
