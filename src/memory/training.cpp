#include <gpuplan/memory/training.hpp>

#include <gpuplan/memory/training_terms.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::pair<TrainingPhase, std::string_view> kPhases[] = {
    {TrainingPhase::load, "load"},     {TrainingPhase::first_step, "first_step"},
    {TrainingPhase::steady, "steady"}, {TrainingPhase::accumulation, "accumulation"},
    {TrainingPhase::update, "update"}, {TrainingPhase::checkpoint, "checkpoint"}};

double as_double(std::int64_t n) { return static_cast<double>(n); }

template <class T>
Text source_of(const TrainingMemoryInputs& in, const Fact<T>& fact) {
  return in.catalog && fact.known() ? in.catalog->source(fact.source).text : Text{};
}

// What of a pass is alive: when the loss is computed, or when a layer runs backwards.
enum class Moment : std::uint8_t { loss, backward };

using Inputs = std::vector<ExplainInput>;

// Terms of one device, in the order of reports, with their formulas.
class Terms {
 public:
  Terms(Breakdown<Bytes>& terms, Explain* why) : terms_(terms), why_(why) {}

  /// @param inputs  makes the formula's inputs; called for a recorder alone, for searches pay for no words
  template <class Make>
  void add(std::string_view id, Bytes value, std::string_view formula, const Make& inputs) {
    add(id, value, value, value, formula, inputs);
  }
  template <class Make>
  void add(std::string_view id, Bytes value, Bytes low, Bytes high, std::string_view formula, const Make& inputs) {
    if (value <= Bytes{} && high <= Bytes{}) return;
    terms_.add(id, value, low, high);
    if (why_) why_->term("memory." + std::string(id), value, formula, inputs());
  }

 private:
  Breakdown<Bytes>& terms_;
  Explain* why_;
};

class StageAccount {
 public:
  StageAccount(const TrainingMemoryInputs& in, std::int64_t stage)
      : in_(in),
        job_(in.job),
        shape_(stage_shape(in, stage)),
        held_(held_states(in, shape_)),
        widths_(widths_of(in)),
        shards_(shard_degrees(in.job)),
        recompute_(recompute_of(in)),
        kept_(kept_activations(in, recompute_)),
        tokens_(as_double(in.job.micro_batch) * as_double(in.job.sequence) / as_double(in.job.cp)) {}

  // A pass peaks when the loss is computed or when a layer runs backwards: the fuller one stands for the phase.
  [[nodiscard]] StageMemory phase(TrainingPhase phase, Explain* why) const {
    StageMemory loss = at(phase, Moment::loss, nullptr);
    StageMemory backward = at(phase, Moment::backward, nullptr);
    const Moment fuller = loss.terms.total() >= backward.terms.total() ? Moment::loss : Moment::backward;
    if (why) return at(phase, fuller, why);
    return fuller == Moment::loss ? std::move(loss) : std::move(backward);
  }

  [[nodiscard]] StageMemory at(TrainingPhase phase, Moment moment, Explain* why) const {
    StageMemory result{shape_.stage, phase, {}};
    Terms terms(result.terms, why);
    const bool passes =
        phase == TrainingPhase::first_step || phase == TrainingPhase::steady || phase == TrainingPhase::accumulation;
    add_states(phase, passes, terms);
    if (passes) add_activations(moment, terms);
    if (passes) add_logits(moment, terms);
    add_gathered(phase, moment, passes, terms);
    add_dequantized(passes, terms);
    add_buckets(phase, terms);
    add_update(phase, terms);
    const Bytes moving = moving_of(result.terms);
    add_overheads(moving, terms);
    return result;
  }

 private:
  [[nodiscard]] bool offloads_states() const { return job_.offload != TrainingOffload::none; }
  [[nodiscard]] bool offloads_weights() const { return job_.offload == TrainingOffload::all; }

  void add_states(TrainingPhase phase, bool passes, Terms& out) const {
    add_weights(out);
    const double weight_shards = offloads_weights() ? 0 : 1;
    out.add("fp8_weights", bytes(2 * held_.eight_bit) * (passes ? weight_shards : 0), "copies * parameters", [&] {
      return Inputs{{"copies", bytes(2)}, {"parameters", held_.eight_bit}};
    });  // by rows and by columns
    const bool states = phase != TrainingPhase::load && !offloads_states();
    const double dense = held_.dense_trained;
    const double experts = held_.expert_trained;
    const double ranks = shards_.states;
    const double expert_ranks = shards_.expert_states;
    if (states) {
      out.add("master_weights", bytes(widths_.master) * (dense / ranks + experts / expert_ranks),
              "width * (dense / ranks + experts / expert_ranks)", [&] {
                return Inputs{{"width", bytes(widths_.master)},
                              {"dense", dense},
                              {"experts", experts},
                              {"ranks", ranks},
                              {"expert_ranks", expert_ranks}};
              });
    }
    add_gradients(phase, passes, out);
    if (states && phase != TrainingPhase::first_step) {
      out.add("optimizer", held_.dense_states / ranks + held_.expert_states / expert_ranks,
              "dense / ranks + experts / expert_ranks", [&] {
                return Inputs{{"dense", held_.dense_states},
                              {"experts", held_.expert_states},
                              {"ranks", ranks},
                              {"expert_ranks", expert_ranks}};
              });
    }
    add_adapters(phase, out);
  }

  void add_weights(Terms& out) const {
    if (offloads_weights()) return;
    Bytes dense = held_.dense_weights / shards_.weights;
    Bytes experts = held_.expert_weights / shards_.expert_weights;
    const double whole = in_.framework->loads_whole && shards_.weights > 1 ? 1 : 0;
    const Bytes all = held_.dense_weights + held_.expert_weights;
    out.add("weights", dense + experts + whole * all,
            "dense / ranks + experts / expert_ranks + whole * (dense + experts)", [&] {
              return Inputs{{"dense", held_.dense_weights},
                            {"experts", held_.expert_weights},
                            {"ranks", shards_.weights},
                            {"expert_ranks", shards_.expert_weights},
                            {"whole", whole}};
            });
  }

  // Of a pass that begins: nothing unless gradients live in buffers or other micro-batches left theirs.
  void add_gradients(TrainingPhase phase, bool passes, Terms& out) const {
    if (phase == TrainingPhase::load || phase == TrainingPhase::checkpoint) return;
    const bool alive = !passes || phase == TrainingPhase::accumulation || in_.framework->keeps_gradients;
    if (!alive) return;
    if (job_.optimizer_in_backward) {
      out.add("gradients", bytes(widths_.gradient * (held_.dense_trained > 0 ? held_.largest_tensor : 0)),
              "width * largest", [&] {
                return Inputs{{"width", bytes(widths_.gradient)}, {"largest", held_.largest_tensor}};
              });
      return;
    }
    if (offloads_states() && shards_.gradients > 1) return;  // they go to the host with the states
    out.add("gradients",
            bytes(widths_.gradient) *
                (held_.dense_trained / shards_.gradients + held_.expert_trained / shards_.expert_gradients),
            "width * (dense / ranks + experts / expert_ranks)", [&] {
              return Inputs{{"width", bytes(widths_.gradient)},
                            {"dense", held_.dense_trained},
                            {"experts", held_.expert_trained},
                            {"ranks", shards_.gradients},
                            {"expert_ranks", shards_.expert_gradients}};
            });
  }

  // Adapters with their gradients and states, which are too small to be told apart.
  void add_adapters(TrainingPhase phase, Terms& out) const {
    if (held_.adapter_trained <= 0) return;
    const Widths w = adapter_widths(in_);
    const bool trains = phase != TrainingPhase::load;
    const double width = w.weight + (trains ? w.gradient : 0);
    const Bytes states =
        trains && phase != TrainingPhase::first_step && !offloads_states() ? held_.adapter_states : Bytes{};
    out.add("adapters", bytes(width) * held_.adapter_trained / shards_.weights + states / shards_.states,
            "width * parameters / ranks + states / state_ranks", [&] {
              return Inputs{{"width", bytes(width)},
                            {"parameters", held_.adapter_trained},
                            {"ranks", shards_.weights},
                            {"states", states},
                            {"state_ranks", shards_.states}};
            });
  }

  void add_kind(std::string_view id, Bytes per_token, double layers, Terms& out) const {
    out.add(id, per_token * (tokens_ * layers * shape_.in_flight), "per_token * tokens * layers * in_flight", [&] {
      return Inputs{{"per_token", per_token}, {"tokens", tokens_}, {"layers", layers}, {"in_flight", shape_.in_flight}};
    });
  }

  void add_activations(Moment moment, Terms& out) const {
    const double layers =
        job_.activation_offload ? std::min(2.0, shape_.layers) : shape_.layers;  // one comes while one is used
    if (recompute_ == Recompute::full) {
      add_kind("checkpoints", kept_.checkpoint, layers, out);
    } else {
      add_kind("activations_attention", kept_.attention, layers, out);
      add_kind("activations_mlp", kept_.mlp, layers, out);
      add_kind("activations_experts", kept_.experts, layers, out);
      add_kind("activations_recurrent", kept_.recurrent, layers, out);
    }
    if (moment == Moment::loss) return;
    const Bytes again = recompute_ == Recompute::full ? kept_.heaviest : kept_.scores;
    out.add("recompute", again * tokens_, "per_token * tokens", [&] {
      return Inputs{{"per_token", again}, {"tokens", tokens_}};
    });
    out.add("backward", kept_.backward * tokens_, "per_token * tokens", [&] {
      return Inputs{{"per_token", kept_.backward}, {"tokens", tokens_}};
    });
  }

  // plain: the logits, their copy in fp32, the logarithms of the softmax and its gradient; chunked: the logits, the rest for one chunk;
  // fused: all for one chunk.
  void add_logits(Moment moment, Terms& out) const {
    if (!shape_.last || moment != Moment::loss) return;
    constexpr double kChunks = 8;
    const double element = job_.precision == TrainingPrecision::fp32 ? 4 : 2;
    double width = element + 12;
    if (cross_entropy_of(in_) == CrossEntropy::chunked) width = element + 12 / kChunks;
    if (cross_entropy_of(in_) == CrossEntropy::fused) width = (element + 12) / kChunks;
    const double vocabulary = as_double(in_.model->architecture.vocab);
    out.add(
        "logits", bytes(width) * (tokens_ * vocabulary / as_double(job_.tp)), "width * tokens * vocabulary / ranks",
        [&] {
          return Inputs{
              {"width", bytes(width)}, {"tokens", tokens_}, {"vocabulary", vocabulary}, {"ranks", as_double(job_.tp)}};
        });
  }

  // Weights that are divided are gathered where they are used: the layers at work, and the embedding and head, which stay.
  void add_gathered(TrainingPhase phase, Moment moment, bool passes, Terms& out) const {
    if (shards_.weights <= 1 && !offloads_weights()) return;
    if (!passes && phase != TrainingPhase::checkpoint) return;
    if (in_.framework->live_parameters.known()) {
      const double all = (held_.dense_weights + held_.expert_weights) / bytes(widths_.weight);
      const double live = std::min(all, in_.framework->live_parameters.value);
      out.add("gathered", bytes(widths_.weight) * live, "width * live", [&] {
        return Inputs{{"width", bytes(widths_.weight)}, {"live", live, source_of(in_, in_.framework->live_parameters)}};
      });
      return;
    }
    // When the loss is computed, one layer is fetched ahead; backwards, the whole gradient of the layer at work is there too.
    const bool backward = passes && moment == Moment::backward;
    const double layers = backward ? as_double(in_.framework->gathered_layers.or_else(2)) : 1;
    const Bytes gradients = bytes(widths_.gradient) * (backward ? held_.layer_trained : 0);
    const Bytes used_apart = backward ? Bytes{} : held_.largest_end;
    const Bytes ends = in_.framework->gathers_ends_apart ? used_apart : held_.root_weights;
    out.add("gathered", held_.layer_weights * layers + ends + gradients, "layer * layers + ends + gradients", [&] {
      return Inputs{{"layer", held_.layer_weights}, {"layers", layers}, {"ends", ends}, {"gradients", gradients}};
    });
  }

  // The largest quantized matrix, expanded to 16 bit for its product.
  void add_dequantized(bool passes, Terms& out) const {
    if (!passes || !job_.quantizes_weights()) return;
    out.add("dequantized", bytes(widths_.weight) * held_.largest_quantized, "width * largest", [&] {
      return Inputs{{"width", bytes(widths_.weight)}, {"largest", held_.largest_quantized}};
    });
  }

  // Gradients on their way: without a size of buckets they are copied as a whole where ranks hold all of them.
  void add_buckets(TrainingPhase phase, Terms& out) const {
    const double trained = held_.dense_trained + held_.expert_trained + held_.adapter_trained;
    if (phase == TrainingPhase::load || phase == TrainingPhase::checkpoint || job_.dp * job_.cp == 1) return;
    const Fact<double>& size = in_.framework->bucket_parameters;
    if (!size.known() && shards_.gradients > 1) return;
    const double parameters = size.known() ? std::min(trained, size.value) : trained;
    const double count = size.known() ? as_double(in_.framework->buckets.or_else(1)) : 1;
    const double width = size.known() ? std::min(widths_.gradient, 2.0) : widths_.gradient;
    out.add("buckets", bytes(width) * (count * parameters), "width * count * parameters", [&] {
      return Inputs{{"width", bytes(width)}, {"count", count}, {"parameters", parameters, source_of(in_, size)}};
    });
  }

  void add_update(TrainingPhase phase, Terms& out) const {
    if (phase != TrainingPhase::update || job_.optimizer_in_backward) return;
    const double each = in_.framework->update_bytes.or_else(0);
    const double parameters = held_.dense_trained / shards_.states + held_.expert_trained / shards_.expert_states;
    if (offloads_states()) return;
    out.add("update", bytes(each) * parameters, "each * parameters", [&] {
      return Inputs{{"each", bytes(each), source_of(in_, in_.framework->update_bytes)}, {"parameters", parameters}};
    });
  }

  // What comes and goes, and so leaves holes in the allocator's blocks.
  [[nodiscard]] static Bytes moving_of(const Breakdown<Bytes>& terms) {
    constexpr std::array<std::string_view, 11> kMoving = {"checkpoints",
                                                          "activations_attention",
                                                          "activations_mlp",
                                                          "activations_experts",
                                                          "activations_recurrent",
                                                          "recompute",
                                                          "backward",
                                                          "logits",
                                                          "gathered",
                                                          "update"};
    Bytes sum;
    for (const std::string_view id : kMoving) sum += terms.of(id);
    return sum;
  }

  void add_overheads(Bytes moving, Terms& out) const {
    const TrainingFramework& f = *in_.framework;
    const Bytes workspace = f.workspace.or_else({});
    out.add("workspace", workspace, "workspace", [&] {
      return Inputs{{"workspace", workspace, source_of(in_, f.workspace)}};
    });
    const double share = f.fragmentation.or_else(0);
    out.add("fragmentation", moving * share, moving * f.fragmentation_low.or_else(share),
            moving * f.fragmentation_high.or_else(share), "moving * share", [&] {
              return Inputs{{"moving", moving}, {"share", share, source_of(in_, f.fragmentation)}};
            });
    double groups = 0;
    for (const std::int64_t degree : {job_.tp, job_.pp, job_.dp, job_.cp, job_.ep}) groups += degree > 1 ? 1 : 0;
    const Bytes each = f.communicator.or_else({});
    out.add("communication", groups * each, "groups * each", [&] {
      return Inputs{{"groups", groups}, {"each", each, source_of(in_, f.communicator)}};
    });
    const Bytes context = f.context.or_else({});
    out.add("context", context, "context", [&] { return Inputs{{"context", context, source_of(in_, f.context)}}; });
  }

  const TrainingMemoryInputs& in_;
  const TrainingSpec& job_;
  StageShape shape_;
  HeldStates held_;
  Widths widths_;
  ShardDegrees shards_;
  Recompute recompute_;
  KeptActivations kept_;
  double tokens_;
};

std::vector<TrainingPhase> phases_of(const TrainingSpec& job) {
  std::vector<TrainingPhase> phases = {TrainingPhase::load, TrainingPhase::first_step, TrainingPhase::steady};
  if (job.grad_accum > 1) phases.push_back(TrainingPhase::accumulation);
  phases.push_back(TrainingPhase::update);
  phases.push_back(TrainingPhase::checkpoint);
  return phases;
}

}  // namespace

std::string_view to_string(TrainingPhase value) {
  for (const auto& [phase, name] : kPhases) {
    if (phase == value) return name;
  }
  return "?";
}

// 1F1B: stage i keeps p − i micro-batches, at most as many as there are. Interleaved with v chunks: in chunks, 2(p − i − 1) + (v − 1)p + 1
// of v·m (Narayanan et al., arXiv:2104.04473, section 2.2, as Megatron-LM warms up): L(1 + (p − 1)/(p·v)) layers on the first stage.
StageShape stage_shape(const TrainingMemoryInputs& in, std::int64_t stage) {
  const TrainingSpec& job = in.job;
  const double p = as_double(job.pp);
  const double v = as_double(job.vpp);
  const double i = as_double(stage);
  StageShape shape;
  shape.stage = stage;
  shape.first = stage == 0;
  shape.last = stage + 1 == job.pp;
  const double all = as_double(in.model->architecture.layers);
  const std::int64_t base = in.model->architecture.layers / job.pp;
  const std::int64_t more = in.model->architecture.layers % job.pp;
  // What does not divide evenly goes to the stages after the first, which have no embedding.
  const bool extra = more > 0 && stage > 0 && stage <= more;
  shape.layers = as_double(base) + (extra ? 1 : 0);
  shape.share = all > 0 ? shape.layers / all : 0;
  const double micro_batches = as_double(job.grad_accum);
  if (job.vpp > 1) {
    const double chunks = std::min(2 * (p - i - 1) + (v - 1) * p + 1, v * micro_batches);
    shape.in_flight = chunks / v;
  } else {
    shape.in_flight = std::min(p - i, micro_batches);
  }
  return shape;
}

CrossEntropy cross_entropy_of(const TrainingMemoryInputs& in) {
  if (in.job.cross_entropy) return *in.job.cross_entropy;
  return parse_cross_entropy(in.framework->cross_entropy).value.value_or(CrossEntropy::plain);
}

Recompute recompute_of(const TrainingMemoryInputs& in) {
  if (in.job.recompute) return *in.job.recompute;
  if (in.framework->recompute == "sharded")
    return shard_degrees(in.job).weights > 1 ? Recompute::full : Recompute::none;
  if (in.framework->recompute != "fitting")
    return parse_recompute(in.framework->recompute).value.value_or(Recompute::none);
  TrainingMemoryInputs without = in;
  without.job.recompute = Recompute::none;
  return training_verdict(without) == FitVerdict::does_not_fit ? Recompute::full : Recompute::none;
}

std::vector<Bytes> moment_totals(const TrainingMemoryInputs& in) {
  std::vector<Bytes> totals;
  for (std::int64_t stage = 0; stage < in.job.pp; ++stage) {
    const StageAccount account(in, stage);
    for (const TrainingPhase phase : phases_of(in.job)) {
      for (const Moment moment : {Moment::loss, Moment::backward})
        totals.push_back(account.at(phase, moment, nullptr).terms.total());
    }
  }
  return totals;
}

TrainingMemory training_memory(const TrainingMemoryInputs& asked, Explain* why) {
  TrainingMemoryInputs in = asked;
  in.job.recompute = recompute_of(asked);
  TrainingMemory memory;
  memory.capacity = in.visible.or_else({});
  memory.recompute = *in.job.recompute;
  Bytes highest;
  for (std::int64_t stage = 0; stage < in.job.pp; ++stage) {
    const StageAccount account(in, stage);
    for (const TrainingPhase phase : phases_of(in.job)) {
      memory.phases.push_back(account.phase(phase, nullptr));
      highest = std::max(highest, memory.phases.back().terms.high());
      if (memory.phases.back().terms.total() > memory.peak().terms.total())
        memory.peak_index = memory.phases.size() - 1;
    }
  }
  if (memory.peak().terms.total() <= memory.capacity)
    memory.verdict = highest > memory.capacity ? FitVerdict::tight : FitVerdict::fits;
  if (why) (void)StageAccount(in, memory.peak().stage).phase(memory.peak().phase, why);
  return memory;
}

// A stage keeps fewer micro-batches than the one before it. The layers that do not divide evenly begin with the second stage and those
// in the middle have neither end: none of them holds more than the second does.
FitVerdict training_verdict(const TrainingMemoryInputs& asked) {
  TrainingMemoryInputs in = asked;
  in.job.recompute = recompute_of(asked);
  const Bytes capacity = in.visible.or_else({});
  const std::int64_t last = in.job.pp - 1;
  const std::vector<TrainingPhase> phases = phases_of(in.job);
  FitVerdict verdict = FitVerdict::fits;
  for (const std::int64_t stage : {std::int64_t{0}, std::int64_t{1}, last}) {
    if (stage > last) continue;
    const StageAccount account(in, stage);
    for (const TrainingPhase phase : phases) {
      const StageMemory held = account.phase(phase, nullptr);
      if (held.terms.total() > capacity) return FitVerdict::does_not_fit;
      if (held.terms.high() > capacity) verdict = FitVerdict::tight;
    }
    if (stage == last) break;
  }
  return verdict;
}

// A tool that asks the allocator or the driver sees what both kinds of phases need at their largest: blocks that activations leave are
// too small for the flat buffers of the optimizer's step. Only when memory runs out are they given back.
Bytes reported_peak(const TrainingMemory& memory, MemoryKind kind, std::optional<std::int64_t> stage) {
  Bytes most;
  for (const StageMemory& phase : memory.phases) {
    if (stage && phase.stage != *stage) continue;
    Bytes total = phase.terms.total();
    if (kind != MemoryKind::device) total -= phase.terms.of("context") + phase.terms.of("communication");
    if (kind == MemoryKind::allocated) {
      total -= phase.terms.of("fragmentation");
    } else if (phase.phase == TrainingPhase::steady || phase.phase == TrainingPhase::accumulation) {
      Bytes update;
      for (const StageMemory& other : memory.phases)
        if (other.stage == phase.stage) update = std::max(update, other.terms.of("update"));
      total = std::max(total, std::min(total + update, memory.capacity));
    }
    most = std::max(most, total);
  }
  return most;
}

}  // namespace gpuplan
