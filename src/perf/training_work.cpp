// What a training step has to do on the fullest device: operators of each pass and the seconds of its collectives.

#include <gpuplan/perf/training.hpp>

#include "training_step.hpp"

#include <gpuplan/memory/training_terms.hpp>
#include <gpuplan/model/kv_cache.hpp>
#include <gpuplan/model/operators.hpp>
#include <gpuplan/model/stored_scheme.hpp>
#include <gpuplan/topology/collectives.hpp>

#include <algorithm>
#include <cmath>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

bool is_at_an_end(std::string_view id) {
  return id == "embedding" || id == "embedding_norm" || id == "positions" || id == "final_norm" || id == "head" ||
         id == "loss";
}
bool is_at_the_last_end(std::string_view id) { return id == "final_norm" || id == "head" || id == "loss"; }
bool is_norm(std::string_view id) { return id == "norm" || id == "final_norm" || id == "attention.qk_norm"; }

// Ranks of a group whose members are `stride` devices apart: tp innermost, then cp, dp with the experts in it, pp.
RankGroup group_of(const Fabric& fabric, std::int64_t ranks, std::int64_t stride) {
  RankGroup g;
  const std::int64_t domain = std::max<std::int64_t>(1, fabric.domain);
  g.inside = std::clamp<std::int64_t>(domain / std::max<std::int64_t>(1, stride), 1, std::max<std::int64_t>(1, ranks));
  g.hosts = (ranks + g.inside - 1) / g.inside;
  return g;
}

double collective_seconds(const Fabric& fabric, Collective kind, const RankGroup& ranks, double size) {
  if (ranks.ranks() <= 1 || size <= 0) return 0;
  return collective_time(fabric, kind, ranks, bytes(size)).time.base();
}

class WorkOfStep {
 public:
  WorkOfStep(const TrainingTimeInputs& in, const Ceilings& ceilings)
      : in_(in), job_(in.memory.job), ceilings_(ceilings), a_(in.memory.model->architecture) {
    sequences_ = as_double(job_.micro_batch);
    length_ = as_double(job_.sequence) / as_double(job_.cp);
    tokens_ = sequences_ * length_;
  }

  TrainingWork work() {
    TrainingWork w = shape();
    add_layers(w);
    add_states(w);
    w.handover = handover_seconds(in_);
    count_flops(w);
    return w;
  }
  TrainingWork layers() {
    TrainingWork w = shape();
    add_layers(w);
    set_host_rate(w);
    return w;
  }
  TrainingWork states() const {
    TrainingWork w = shape();
    add_states(w);
    return w;
  }

 private:
  [[nodiscard]] TrainingWork shape() const {
    TrainingWork w;
    w.micro_batches = as_double(job_.grad_accum);
    w.stages = as_double(job_.pp);
    w.chunks = as_double(job_.vpp);
    w.fullest = std::ceil(as_double(a_.layers) / w.stages) / std::max(1.0, as_double(a_.layers));
    w.bandwidth = ceilings_.bandwidth(*in_.accelerator).base();
    w.devices = as_double(job_.devices());
    w.tokens = as_double(job_.micro_batch) * as_double(job_.sequence) * w.micro_batches * as_double(job_.dp);
    w.peak = ceilings_.peak(*in_.accelerator, Arithmetic::bf16).or_else({}).base();
    return w;
  }

  void add_layers(TrainingWork& w) {
    scheme_ = computing_scheme();
    recompute_ = recompute_of(in_.memory);
    add_operators(w);
    add_layer_collectives(w);
    if (!job_.activation_offload) return;
    const KeptActivations kept = kept_activations(in_.memory, recompute_);
    const Bytes each = recompute_ == Recompute::full ? kept.checkpoint : kept.total();
    w.swapped_bytes = 2 * (each * tokens_ * as_double(a_.layers)).base();
  }

  void set_host_rate(TrainingWork& w) const {
    const Link* host = in_.memory.catalog && !in_.accelerator->host_link.empty()
                           ? in_.memory.catalog->find_link(in_.accelerator->host_link)
                           : nullptr;
    w.host_rate = host ? host->rate.or_else({}).base() * host->point_to_point_efficiency.or_else(1) : 0;
  }

  // Products run in the format of the precision, whatever the weights are stored in.
  [[nodiscard]] Scheme computing_scheme() const {
    if (job_.quantizes_weights()) {
      Scheme stored = in_.memory.model->scheme;
      stored.weight_only = false;  // expanded by a kernel of its own, see `expanded`
      stored.arithmetic = Arithmetic::bf16;
      return stored;
    }
    const bool eight_bit = job_.precision == TrainingPrecision::fp8;
    const bool four_bit = job_.precision == TrainingPrecision::fp4;
    const bool full = job_.precision == TrainingPrecision::fp32;
    Scheme scheme = *parse_scheme(full ? "tf32" : four_bit ? "nvfp4" : eight_bit ? "fp8" : "bf16").value;
    return resolve_scheme(std::move(scheme), a_, in_.memory.model->tensors);
  }

  [[nodiscard]] PassOperator operator_of(const Operator& op) const {
    PassOperator p;
    p.id = op.id;
    p.count = op.count;
    p.flops = op.flops.base();
    p.bytes = op.bytes.base();
    p.kernels = op.kernels;
    p.ceiling = ceilings_.compute(*in_.accelerator, op.arithmetic).base();
    p.attention = op.kind == OperatorKind::attention;
    return p;
  }

  // Between products the tensor-parallel ranks divide the sequence, or each does all of it.
  void divide_sequence(PassOperator& p, const Operator& op) const {
    const bool between = is_norm(op.id) || op.id == "embedding" || op.id == "positions";
    if (between && job_.sequence_parallel) p.bytes /= as_double(job_.tp);
  }

  // A norm in separate 32-bit operations: a copy in 32 bit, squares, mean, product, a copy back and the weight's product move some 36
  // bytes an element, and the addition before it 6, where one kernel moves 8 (docs/PHYSICS.md, "Training time").
  void unfuse(PassOperator& p) const {
    constexpr double kMovedUnfused = 42.0 / 8;
    constexpr double kKernelsUnfused = 6;
    if (in_.memory.framework->norms_in_fp32 && is_norm(p.id)) {
      p.bytes *= kMovedUnfused;
      p.kernels *= kKernelsUnfused;
    }
    if (!in_.memory.framework->fused_activation && p.id.ends_with("activation")) {
      p.bytes *= 5.0 / 3;  // activation function, then the product with the gate
      p.kernels *= 2;
    }
  }

  // Bytes an attention score moves where scores are stored: written and read in 16 bit by the products, the softmax and, with its
  // mask, the dropout.
  [[nodiscard]] PassOperator scores(const Operator& core, double each) const {
    PassOperator p;
    p.id = "attention.scores";
    p.count = core.count;
    const double square = as_double(job_.sequence) * length_;
    p.bytes = sequences_ * std::max(1.0, as_double(a_.heads) / as_double(job_.tp)) * square * each;
    p.kernels = job_.dropout ? 3 : 2;
    p.ceiling = ceilings_.compute(*in_.accelerator, Arithmetic::bf16).base();
    return p;
  }

  void add_operators(TrainingWork& w) {
    StepShape shape;
    shape.phase = Phase::prefill;
    shape.sequences = sequences_;
    shape.new_tokens = length_;
    shape.context_tokens =
        (as_double(job_.sequence) - length_) / 2;  // what a rank's share sees of the others', on average
    shape.logit_rows = tokens_;
    const KvFormat& kv = **parse_kv_format("bf16").value;
    for (const Operator& op : operators_of(a_, scheme_, kv, shape, {job_.tp, 1})) {
      if (op.id == "attention.cache_write") continue;
      add(w, op);
    }
    add_loss(w);
    add_expanded(w);
    add_adapters(w);
  }

  void add(TrainingWork& w, const Operator& op) {
    PassOperator forward = operator_of(op);
    divide_sequence(forward, op);
    unfuse(forward);
    const bool core = op.id == "attention.core" || op.id == "attention.core_windowed";
    if (op.id == "experts") {
      forward.bytes = expert_bytes(forward);
      forward.kernels = expert_kernels();
    }
    PassOperator backward = forward;
    backward.kernels *= 2;
    backward.bytes *= 2;
    // Gradients of inputs and of weights; frozen weights have none. Attention computes its scores again: five products for two.
    const bool frozen = job_.trains_adapters() && op.kind == OperatorKind::gemm;
    backward.flops *= frozen ? 1 : core && job_.flash_attention ? 2.5 : 2;
    if (frozen) {
      backward.kernels /= 2;
      backward.bytes /= 2;
    }
    if (is_at_an_end(op.id)) {
      auto& end = is_at_the_last_end(op.id) ? w.last_end : w.first_end;
      end.push_back(forward);
      end.push_back(backward);
      return;
    }
    const bool again = recompute_ == Recompute::full || (recompute_ == Recompute::selective && core);
    if (core && !job_.flash_attention) {
      forward.flops *= 2;  // the whole square, half of it masked
      backward.flops *= 2;
      const double kept = 8 + (job_.dropout ? 5 : 0);
      push(w.forward, scores(op, kept));
      push(w.backward, scores(op, 14 + (job_.dropout ? 5 : 0)));
      if (again) push(w.recomputed, scores(op, kept));
    }
    push(w.forward, forward);
    push(w.backward, backward);
    if (again) push(w.recomputed, forward);
  }

  static void push(PassWork& pass, const PassOperator& op) { pass.operators.push_back(op); }

  // A rank reads its own experts, whose tokens come from all ranks of `ep`.
  [[nodiscard]] double expert_bytes(const PassOperator& forward) const {
    double weights = 0;
    for (const TensorGroup& tensor : in_.memory.model->tensors) {
      if (tensor.role != TensorRole::expert || tensor.columns <= 1) continue;
      weights += as_double(tensor.elements()) * 2 / as_double(job_.tp);
    }
    const double read = weights / std::max(1.0, forward.count);
    return std::max(forward.bytes - read * (1 - 1 / as_double(job_.ep)), forward.bytes / as_double(job_.ep));
  }

  // Two products for each expert of the rank, whose tokens differ in number; and the sorting of tokens, there and back.
  [[nodiscard]] double expert_kernels() const {
    for (const MlpGroup& group : mlps_of(a_)) {
      if (group.mlp.has_experts()) return 3 + 2 * std::ceil(as_double(group.mlp.experts) / as_double(job_.ep));
    }
    return 1;
  }

  void add_loss(TrainingWork& w) const {
    // Bytes a logit moves beside the head's product: plain: a copy in fp32, softmax and its gradient in fp32, the gradient in 16 bit;
    // chunked: the same while it is in parts; fused: in registers, the gradient alone in 16 bit.
    const CrossEntropy loss = cross_entropy_of(in_.memory);
    PassOperator p;
    p.id = "loss";
    p.bytes = tokens_ * as_double(a_.vocab) / as_double(job_.tp) * (loss == CrossEntropy::fused ? 4 : 24);
    p.kernels = loss == CrossEntropy::fused ? 1 : 5;
    w.last_end.push_back(p);
  }

  // Quantized weights are written out in 16 bit before each product and read by it.
  void add_expanded(TrainingWork& w) const {
    if (!job_.quantizes_weights()) return;
    PassOperator p;
    p.id = "dequantize";
    for (const TensorGroup& tensor : in_.memory.model->tensors) {
      if (!tensor.is_linear() || !storage_of(tensor, scheme_).is_quantized()) continue;
      p.bytes += 4 * as_double(tensor.elements()) / as_double(job_.tp);
      p.kernels += as_double(tensor.count);
    }
    push(w.forward, p);
    push(w.backward, p);
    if (recompute_ == Recompute::full) push(w.recomputed, p);
  }

  // Two thin products beside each adapted one, and the sum; three times as much backwards with the gradients of both factors.
  void add_adapters(TrainingWork& w) const {
    if (!job_.trains_adapters()) return;
    const double elements = adapter_parameters(*in_.memory.model, job_) / as_double(job_.tp);
    const double widths =
        elements / std::max(1.0, as_double(job_.lora_rank));  // inputs and outputs of all adapted products
    PassOperator p;
    p.id = "adapters";
    p.flops = 2 * tokens_ * elements;
    p.bytes = tokens_ * widths * 3;  // input read, output read and written, in 16 bit, over both
    p.kernels = 3 * as_double(static_cast<std::int64_t>(job_.lora_targets.size()) * a_.layers);
    p.ceiling = ceilings_.compute(*in_.accelerator, Arithmetic::bf16).base();
    push(w.forward, p);
    if (recompute_ == Recompute::full) push(w.recomputed, p);
    p.flops *= 2;
    p.bytes *= 2;
    p.kernels *= 2;
    push(w.backward, p);
  }

  [[nodiscard]] RankGroup group(std::int64_t ranks, std::int64_t stride) const {
    return group_of(in_.fabric, ranks, stride);
  }
  [[nodiscard]] double collective(Collective kind, const RankGroup& ranks, double size) const {
    return collective_seconds(in_.fabric, kind, ranks, size);
  }

  // An all-reduce after each mixer and each MLP forwards and the same backwards; with the sequence divided, a gather before and a
  // scatter after each, of the same traffic.
  void add_layer_collectives(TrainingWork& w) const {
    const double hidden_states = tokens_ * as_double(a_.hidden) * 2;
    double mixers = 0;
    double mlps = 0;
    double moe = 0;
    double chosen = 0;
    for (const MixerGroup& g : mixers_of(a_)) mixers += as_double(g.layers);
    for (const MlpGroup& g : mlps_of(a_)) {
      mlps += as_double(g.layers);
      if (!g.mlp.has_experts()) continue;
      moe += as_double(g.layers);
      chosen = as_double(g.mlp.experts_per_token);
    }
    const double reduces = mixers + (a_.parallel_blocks ? 0 : mlps);
    const RankGroup tensor = group(job_.tp, 1);
    const double one = job_.sequence_parallel ? collective(Collective::all_gather, tensor, hidden_states) +
                                                    collective(Collective::reduce_scatter, tensor, hidden_states)
                                              : collective(Collective::all_reduce, tensor, hidden_states);
    w.forward.tensor = w.backward.tensor = reduces * one;
    const RankGroup experts = group(job_.ep, job_.expert_tp > 0 ? std::max<std::int64_t>(1, job_.expert_tp) : job_.tp);
    const double sent = chosen * hidden_states / (job_.sequence_parallel ? as_double(job_.tp) : 1);
    const double exchange = collective(Collective::all_to_all, experts, sent);
    w.forward.experts = w.backward.experts = moe * 2 * exchange;
    const RankGroup context = group(job_.cp, job_.tp);
    double gathered = 0;
    for (const MixerGroup& g : mixers_of(a_)) {
      if (g.attention.heads == 0) continue;
      const double kv = kv_elements_per_layer_token(g.attention, job_.tp) * 2 * sequences_ * as_double(job_.sequence);
      gathered += as_double(g.layers) * collective(Collective::all_gather, context, kv);
    }
    w.forward.context = gathered;
    w.backward.context = 2 * gathered;  // gathered again, and their gradients scattered
    if (recompute_ != Recompute::full) return;
    w.recomputed.tensor = w.forward.tensor;
    w.recomputed.experts = w.forward.experts;
    w.recomputed.context = w.forward.context;
  }

  // In as many exchanges as there are layers: each is gathered while the one before it computes.
  [[nodiscard]] double by_layer(Collective kind, const RankGroup& ranks, double size, double layers) const {
    return layers * collective(kind, ranks, size / layers);
  }

  void add_states(TrainingWork& w) const {
    const StageShape stage = stage_shape(in_.memory, 0);
    const HeldStates held = held_states(in_.memory, stage);
    const Widths widths = job_.trains_adapters() ? adapter_widths(in_.memory) : widths_of(in_.memory);
    const ShardDegrees shards = shard_degrees(job_);
    const double layers = std::max(1.0, stage.layers);
    const std::int64_t ranks = job_.dp * job_.cp;
    const std::int64_t sharing = job_.sharding == StateSharding::hsdp ? std::min(ranks, job_.shard_group) : ranks;
    const RankGroup inside = group(sharing, job_.tp);
    const std::int64_t spread = job_.expert_tp > 0 ? std::max<std::int64_t>(1, job_.tp / job_.expert_tp) : 1;
    const RankGroup expert_ranks =
        group(std::max<std::int64_t>(1, ranks * spread / job_.ep), job_.tp / spread * job_.ep);
    const double dense_gradients = (held.dense_trained + held.adapter_trained) * widths.gradient;
    const double expert_gradients = held.expert_trained * widths.gradient;
    const double replicas = as_double(ranks) / as_double(sharing);
    if (shards.weights > 1) {
      const double gather = by_layer(Collective::all_gather, inside, held.dense_weights.base(), layers) +
                            by_layer(Collective::all_gather, expert_ranks, held.expert_weights.base(), layers);
      w.forward.weights = gather;
      // Gathered again for the backward pass, and the gradients scattered.
      w.backward.weights = gather + by_layer(Collective::reduce_scatter, inside, dense_gradients, layers) +
                           by_layer(Collective::reduce_scatter, expert_ranks, expert_gradients, layers);
      if (replicas > 1) {
        w.gradients = collective(Collective::all_reduce, group(ranks / sharing, job_.tp * sharing),
                                 dense_gradients / as_double(sharing));
      }
    } else {
      const bool divided = shards.states > 1;
      const Collective kind = divided ? Collective::reduce_scatter : Collective::all_reduce;
      const RankGroup all = group(ranks, job_.tp);
      w.gradients = collective(kind, all, dense_gradients) + collective(kind, expert_ranks, expert_gradients);
      if (divided && !job_.trains_adapters()) {
        w.regathered = collective(Collective::all_gather, all, held.dense_weights.base()) +
                       collective(Collective::all_gather, expert_ranks, held.expert_weights.base());
      }
    }
    w.gradients_overlap = in_.memory.framework->overlaps_gradients;
    w.layers_overlap = in_.memory.framework->overlaps_layers;
    add_update(w, held, shards, widths);
  }

  // States and master weights are read and written, gradients read, weights written.
  void add_update(TrainingWork& w, const HeldStates& held, const ShardDegrees& shards, const Widths& widths) const {
    const double dense = (held.dense_trained + held.adapter_trained) / shards.states;
    const double experts = held.expert_trained / shards.expert_states;
    const double states = (held.dense_states + held.adapter_states).base() / shards.states +
                          held.expert_states.base() / shards.expert_states;
    const double updated = dense + experts;
    const double moved = 2 * states + updated * (2 * widths.master + widths.gradient + 2 * widths.weight);
    set_host_rate(w);
    const double each_way = updated * (widths.gradient + widths.weight);
    if (job_.offload == TrainingOffload::none) {
      w.update_bytes = moved;
    } else {
      w.offload_bytes = each_way;  // gradients down, weights up; the host's own update is not timed
    }
    if (job_.offload == TrainingOffload::all) {
      const double weights = (held.dense_weights / shards.weights + held.expert_weights / shards.expert_weights).base();
      w.offload_bytes_each = 2 * weights;  // for the forward and for the backward pass
    }
  }

  void count_flops(TrainingWork& w) const {
    const auto sum = [](const std::vector<PassOperator>& operators, double attention) {
      double flops = 0;
      for (const PassOperator& op : operators) flops += op.count * op.flops * (op.attention ? attention : 1);
      return flops;
    };
    const double everywhere = w.micro_batches * as_double(job_.tp * job_.cp * job_.dp);
    // Attention counts the whole square; with scores stored it is computed so.
    const double square = job_.flash_attention ? 2 : 1;
    const double forward = sum(w.forward.operators, square);
    const double ends = sum(w.first_end, 1) + sum(w.last_end, 1);
    const double backward = job_.trains_adapters() ? sum(w.backward.operators, 2 / 2.5 * square) : 2 * forward;
    w.model_flops = everywhere * (forward + backward + ends);
    w.hardware_flops = w.model_flops + everywhere * sum(w.recomputed.operators, square);
  }

  const TrainingTimeInputs& in_;
  const TrainingSpec& job_;
  const Ceilings& ceilings_;
  const Architecture& a_;
  double sequences_ = 1;
  double length_ = 1;  // of a sequence on one rank
  double tokens_ = 1;  // of a micro-batch on one rank
  Recompute recompute_ = Recompute::none;
  Scheme scheme_;
};

}  // namespace

double handover_seconds(const TrainingTimeInputs& in) {
  const TrainingSpec& job = in.memory.job;
  if (job.pp <= 1) return 0;
  const double tokens = as_double(job.micro_batch) * as_double(job.sequence) / as_double(job.cp);
  const double size = tokens * as_double(in.memory.model->architecture.hidden) * 2 / as_double(job.tp);
  return collective_seconds(in.fabric, Collective::point_to_point, group_of(in.fabric, 2, job.tp * job.cp * job.dp),
                            size);
}

TrainingWork training_work(const TrainingTimeInputs& in, const Ceilings& ceilings) {
  return WorkOfStep(in, ceilings).work();
}
TrainingWork layer_work(const TrainingTimeInputs& in, const Ceilings& ceilings) {
  return WorkOfStep(in, ceilings).layers();
}
TrainingWork state_work(const TrainingTimeInputs& in, const Ceilings& ceilings) {
  return WorkOfStep(in, ceilings).states();
}

}  // namespace gpuplan
