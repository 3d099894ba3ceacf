#include <gpuplan/perf/training_search.hpp>

#include "training_step.hpp"

#include <gpuplan/memory/training_terms.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

std::vector<std::int64_t> powers_of_two(std::int64_t most) {
  std::vector<std::int64_t> powers;
  for (std::int64_t n = 1; n <= most; n *= 2) powers.push_back(n);
  return powers;
}

std::vector<std::int64_t> divisors(std::int64_t number, std::int64_t most) {
  std::vector<std::int64_t> found;
  for (std::int64_t n = 1; n <= std::min(number, most); ++n) {
    if (number % n == 0) found.push_back(n);
  }
  return found;
}

std::int64_t experts_of(const Architecture& a) {
  for (const MlpGroup& group : mlps_of(a)) {
    if (group.mlp.has_experts()) return group.mlp.experts;
  }
  return 1;
}

constexpr std::int64_t kMostTensorRanks = 64;
constexpr std::int64_t kMostChunks = 16;
constexpr std::int64_t kMostMicroBatch = 64;
constexpr std::int64_t kLeastShare = 4096;  // tokens of a sequence that one rank of cp has at least

bool better(const LayoutChoice& a, const LayoutChoice& b) {
  const auto key = [](const LayoutChoice& c) {
    const TrainingSpec& j = c.job;
    return std::tuple(c.verdict == FitVerdict::tight, c.step_seconds, j.tp, j.pp, j.cp, j.ep, j.vpp, j.micro_batch,
                      j.recompute, j.sharding, j.offload, j.sequence_parallel, j.activation_offload);
  };
  return key(a) < key(b);
}

// The best few, sorted.
class Best {
 public:
  explicit Best(std::size_t keep) : keep_(std::max<std::size_t>(keep, 1)) {}
  [[nodiscard]] bool would_enter(double step) const {
    if (choices_.size() < keep_ || step <= choices_.back().step_seconds) return true;
    return choices_.back().verdict == FitVerdict::tight;  // slower ones that fit with their overheads go before
  }
  void enter(LayoutChoice choice) {
    choices_.insert(std::upper_bound(choices_.begin(), choices_.end(), choice, better), std::move(choice));
    if (choices_.size() > keep_) choices_.pop_back();
  }
  std::vector<LayoutChoice> take() { return std::move(choices_); }

 private:
  std::size_t keep_;
  std::vector<LayoutChoice> choices_;
};

// Every division of the devices that the space allows: tp, cp, pp, ep, with the data-parallel ranks that follow.
void each_division(const TrainingTimeInputs& in, const LayoutSpace& space,
                   const std::function<void(const TrainingSpec&)>& visit) {
  for (const std::int64_t tp : space.tp) {
    for (const std::int64_t cp : space.cp) {
      for (const std::int64_t pp : space.pp) {
        const std::int64_t group = tp * cp * pp;
        if (group > space.devices || space.devices % group != 0) continue;
        TrainingSpec job = in.memory.job;
        job.tp = tp;
        job.cp = cp;
        job.pp = pp;
        job.dp = space.devices / group;
        if (space.global_batch % job.dp != 0) continue;
        for (const std::int64_t ep : space.ep) {
          if (ep > job.dp * cp || (job.dp * cp) % ep != 0) continue;
          job.ep = ep;
          visit(job);
        }
      }
    }
  }
}

bool chunks_fit(const TrainingSpec& job, std::int64_t layers, std::int64_t vpp) {
  if (vpp == 1) return true;
  const bool divides = job.pp > 1 && (layers / job.pp) % vpp == 0;
  return divides && job.grad_accum % job.pp == 0;  // the interleaved schedule runs micro-batches in groups of pp
}

TrainingTimeInputs with_job(const TrainingTimeInputs& in, const TrainingSpec& job) {
  TrainingTimeInputs changed = in;
  changed.memory.job = job;
  return changed;
}

class Search {
 public:
  Search(const TrainingTimeInputs& in, const LayoutSpace& space, const Ceilings& ceilings)
      : in_(in),
        space_(space),
        ceilings_(ceilings),
        constants_(constants_of(*in.memory.framework)),
        scratch_(in),
        capacity_(in.memory.visible.or_else({})),
        master_(widths_of(in.memory).master),
        best_(space.keep) {}

  LayoutSearch run() {
    each_division(in_, space_, [&](const TrainingSpec& job) { divide(job); });
    found_.best = best_.take();
    return std::move(found_);
  }

 private:
  // What the layouts of one division and sharding share.
  struct States {
    StateSharding sharding;
    TrainingOffload offload;
    StateSeconds seconds;
    Bytes held;  // weights, master weights and states of the first stage: the least that its device holds
  };
  // What the layouts share that divide a layer and its micro-batch alike, whatever the pipeline.
  struct Layers {
    std::array<std::optional<LayerSeconds>, 3> seconds;  // by Recompute; empty until a layout needs it
    std::array<std::optional<Bytes>, 3> kept;            // activations of one layer and micro-batch
  };
  using LayersKey = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool,
                               bool>;  // tp, cp, ep, micro_batch, sp, offload

  // States that no device holds are left out before anything is timed.
  void divide(const TrainingSpec& division) {
    std::vector<States> states;
    std::int64_t too_large = 0;
    const HeldStates* held = nullptr;
    if (space_.check_memory) held = &held_of(division);
    for (const StateSharding sharding : space_.sharding) {
      for (const TrainingOffload offload : space_.offload) {
        TrainingSpec job = division;
        job.sharding = sharding;
        job.offload = offload;
        const Bytes least = held ? least_held(*held, job) : Bytes{};
        if (held && least > capacity_) {
          ++too_large;
        } else {
          states.push_back(states_of(job, least));
        }
      }
    }
    for (const bool divided : space_.sequence_parallel) {
      if (divided && division.tp == 1 && space_.sequence_parallel.size() > 1) continue;
      for (const std::int64_t micro_batch : space_.micro_batch) {
        const std::int64_t each = space_.global_batch / division.dp;
        if (each % micro_batch != 0) continue;
        TrainingSpec job = division;
        job.sequence_parallel = divided;
        job.micro_batch = micro_batch;
        job.grad_accum = each / micro_batch;
        for (const bool offload : space_.activation_offload) {
          job.activation_offload = offload;
          evaluate(job, states, too_large);
        }
      }
    }
  }

  // What a stage holds before data-parallel ranks divide it.
  const HeldStates& held_of(const TrainingSpec& division) {
    const auto [entry, fresh] = held_.try_emplace({division.tp, division.pp, division.ep});
    if (fresh) {
      scratch_.memory.job = division;
      entry->second = held_states(scratch_.memory, stage_shape(scratch_.memory, 0));
    }
    return entry->second;
  }

  Bytes least_held(const HeldStates& held, const TrainingSpec& job) const {
    if (job.offload == TrainingOffload::all) return {};
    const ShardDegrees shards = shard_degrees(job);
    Bytes least = held.dense_weights / shards.weights + held.expert_weights / shards.expert_weights;
    if (job.offload == TrainingOffload::none) {
      least += bytes(master_) * (held.dense_trained / shards.states + held.expert_trained / shards.expert_states) +
               held.dense_states / shards.states + held.expert_states / shards.expert_states;
    }
    return least;
  }

  States states_of(TrainingSpec job, Bytes held) {
    job.micro_batch = 1;
    job.grad_accum = 1;
    job.recompute = Recompute::none;
    scratch_.memory.job = job;
    const TrainingWork work = state_work(scratch_, ceilings_);
    gradients_overlap_ = work.gradients_overlap;
    layers_overlap_ = work.layers_overlap;
    fullest_ = work.fullest;
    return {job.sharding, job.offload, state_seconds(work, constants_), held};
  }

  Layers& layers_of(const TrainingSpec& job) {
    return layers_[LayersKey{job.tp, job.cp, job.ep, job.micro_batch, job.sequence_parallel, job.activation_offload}];
  }

  const LayerSeconds& seconds_of(Layers& layers, TrainingSpec job, Recompute recompute) {
    auto& seconds = layers.seconds[static_cast<std::size_t>(recompute)];
    if (!seconds) {
      job.recompute = recompute;
      scratch_.memory.job = job;
      seconds = layer_seconds(layer_work(scratch_, ceilings_), constants_);
    }
    return *seconds;
  }

  Bytes kept_of(Layers& layers, TrainingSpec job, Recompute recompute) {
    auto& kept = layers.kept[static_cast<std::size_t>(recompute)];
    if (!kept) {
      job.recompute = recompute;
      scratch_.memory.job = job;
      const double tokens = as_double(job.micro_batch) * as_double(job.sequence) / as_double(job.cp);
      const KeptActivations of = kept_activations(scratch_.memory, recompute);
      const Bytes each = recompute == Recompute::full ? of.checkpoint : of.total();
      kept = job.activation_offload ? Bytes{} : each * tokens;
    }
    return *kept;
  }

  // The inner loop.
  void evaluate(TrainingSpec job, const std::vector<States>& states, std::int64_t too_large) {
    Layers& layers = layers_of(job);
    const std::int64_t network_layers = in_.memory.model->architecture.layers;
    std::optional<StepShapeOf> shape;
    for (const std::int64_t vpp : space_.vpp) {
      if (!chunks_fit(job, network_layers, vpp)) continue;
      job.vpp = vpp;
      scratch_.memory.job = job;
      const StageShape stage = stage_shape(scratch_.memory, 0);
      for (const Recompute recompute : space_.recompute) {
        found_.too_large += too_large;
        const Bytes kept =
            space_.check_memory ? stage.in_flight * stage.layers * kept_of(layers, job, recompute) : Bytes{};
        const LayerSeconds* seconds = nullptr;
        for (const States& s : states) {
          if (space_.check_memory && s.held + kept > capacity_) {
            ++found_.too_large;
            continue;
          }
          if (!seconds) seconds = &seconds_of(layers, job, recompute);
          if (!shape) shape = shape_for(job);
          shape->chunks = as_double(vpp);
          ++found_.evaluated;
          const double step = join_step(*seconds, s.seconds, *shape, constants_).total(shape->micro_batches);
          if (!best_.would_enter(step)) continue;
          job.recompute = recompute;
          job.sharding = s.sharding;
          job.offload = s.offload;
          consider(job, step);
        }
      }
    }
  }

  StepShapeOf shape_for(const TrainingSpec& job) {
    scratch_.memory.job = job;
    return {as_double(job.grad_accum), as_double(job.pp), 1, fullest_, handover_seconds(scratch_),
            gradients_overlap_,        layers_overlap_};
  }

  void consider(const TrainingSpec& job, double step) {
    FitVerdict verdict = FitVerdict::fits;
    if (space_.check_memory) {
      ++found_.checked;
      scratch_.memory.job = job;
      verdict = training_verdict(scratch_.memory);
      if (verdict == FitVerdict::does_not_fit) return;
      if (!space_.leaves_room) verdict = FitVerdict::fits;
    }
    best_.enter({job, step, verdict});
  }

  const TrainingTimeInputs& in_;
  const LayoutSpace& space_;
  const Ceilings& ceilings_;
  TrainingConstants constants_;
  TrainingTimeInputs scratch_;  // `in_` with the job at hand: copied once
  Bytes capacity_;
  double master_;
  Best best_;
  LayoutSearch found_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, HeldStates> held_;  // by tp, pp, ep
  std::map<LayersKey, Layers> layers_;
  bool gradients_overlap_ = true;
  bool layers_overlap_ = false;
  double fullest_ = 1;
};

}  // namespace

LayoutSpace filled(LayoutSpace space, const TrainingTimeInputs& in) {
  const Architecture& a = in.memory.model->architecture;
  const TrainingSpec& job = in.memory.job;
  if (space.global_batch <= 0)
    space.global_batch = std::max<std::int64_t>(1, job.micro_batch * job.grad_accum * job.dp);
  if (space.tp.empty()) {
    for (const std::int64_t n :
         powers_of_two(std::min({space.devices, kMostTensorRanks, std::max<std::int64_t>(1, in.fabric.domain)}))) {
      if (a.heads % n == 0) space.tp.push_back(n);
    }
  }
  if (space.tp.empty()) space.tp = {1};
  if (space.pp.empty()) space.pp = divisors(a.layers, space.devices);
  if (space.vpp.empty()) space.vpp = divisors(a.layers, kMostChunks);
  if (space.cp.empty()) space.cp = powers_of_two(std::max<std::int64_t>(1, job.sequence / kLeastShare));
  if (space.ep.empty()) space.ep = divisors(experts_of(a), space.devices);
  if (space.micro_batch.empty()) space.micro_batch = powers_of_two(std::min(kMostMicroBatch, space.global_batch));
  if (space.recompute.empty()) space.recompute = {Recompute::none, Recompute::selective, Recompute::full};
  if (space.recompute.size() == 3 && job.flash_attention)
    space.recompute = {Recompute::none, Recompute::full};  // there are no scores to compute again
  if (space.sharding.empty()) space.sharding = {StateSharding::none, StateSharding::zero1, StateSharding::fsdp};
  if (space.offload.empty()) space.offload = {job.offload};
  if (space.sequence_parallel.empty()) space.sequence_parallel = {false, true};
  if (space.activation_offload.empty()) space.activation_offload = {job.activation_offload};
  return space;
}

LayoutSearch search_layouts(const TrainingTimeInputs& in, const LayoutSpace& space, const Ceilings& ceilings) {
  const LayoutSpace whole = filled(space, in);
  return Search(in, whole, ceilings).run();
}

LayoutSearch search_by_brute_force(const TrainingTimeInputs& in, const LayoutSpace& space, const Ceilings& ceilings) {
  const LayoutSpace whole = filled(space, in);
  const TrainingConstants constants = constants_of(*in.memory.framework);
  LayoutSearch found;
  Best best(whole.keep);
  const auto try_layout = [&](const TrainingSpec& job) {
    ++found.evaluated;
    const TrainingTimeInputs with = with_job(in, job);
    const FitVerdict verdict = whole.check_memory ? training_memory(with.memory, nullptr).verdict : FitVerdict::fits;
    if (verdict == FitVerdict::does_not_fit) return;
    best.enter(
        {job, step_seconds(training_work(with, ceilings), constants), whole.leaves_room ? verdict : FitVerdict::fits});
  };
  each_division(in, whole, [&](TrainingSpec job) {
    for (const bool divided : whole.sequence_parallel) {
      if (divided && job.tp == 1 && whole.sequence_parallel.size() > 1) continue;
      job.sequence_parallel = divided;
      for (const std::int64_t micro_batch : whole.micro_batch) {
        const std::int64_t each = whole.global_batch / job.dp;
        if (each % micro_batch != 0) continue;
        job.micro_batch = micro_batch;
        job.grad_accum = each / micro_batch;
        for (const std::int64_t vpp : whole.vpp) {
          if (!chunks_fit(job, in.memory.model->architecture.layers, vpp)) continue;
          job.vpp = vpp;
          for (const Recompute recompute : whole.recompute) {
            for (const StateSharding sharding : whole.sharding) {
              for (const TrainingOffload offload : whole.offload) {
                for (const bool swapped : whole.activation_offload) {
                  job.recompute = recompute;
                  job.sharding = sharding;
                  job.offload = offload;
                  job.activation_offload = swapped;
                  try_layout(job);
                }
              }
            }
          }
        }
      }
    }
  });
  found.best = best.take();
  return found;
}

}  // namespace gpuplan
