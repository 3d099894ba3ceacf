// Weights, gradients, optimizer states and adapters of one rank.

#include <gpuplan/memory/training_terms.hpp>

#include <algorithm>
#include <cmath>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

bool is_expert(const TensorGroup& tensor) { return tensor.name.find(".experts.*.") != std::string::npos; }

bool ends_with(const TensorGroup& tensor, std::string_view end) { return std::string_view(tensor.name).ends_with(end); }

// Share of a tensor that one rank holds before data-parallel ranks divide it. Experts are divided among the expert-parallel ranks
// and, inside each, by their own tensor parallelism; routers and norms stand whole on every rank.
double rank_share(const TensorGroup& tensor, const Architecture& a, const TrainingSpec& job) {
  if (!is_expert(tensor)) return shard_share(tensor, a, job.tp);
  const std::int64_t tp = job.expert_tp > 0 ? job.expert_tp : job.tp;
  return shard_share(tensor, a, tp) / as_double(job.ep);
}

// Share of a tensor that stands on a stage.
double stage_share(const TensorGroup& tensor, const Architecture& a, const StageShape& stage) {
  if (tensor.layers > 0) return stage.share;
  const bool embedding = tensor.role == TensorRole::embedding;
  if (embedding && a.tied_embeddings) return stage.first || stage.last ? 1 : 0;
  if (embedding || tensor.role == TensorRole::position || ends_with(tensor, "embedding_norm"))
    return stage.first ? 1 : 0;
  return stage.last ? 1 : 0;
}

// Block scales of 8-bit states: one fp32 for each 256 elements (Dettmers et al., arXiv:2110.02861, and its library's present default).
constexpr double kEightBitState = 1 + 4.0 / 256;

double bytes_per_element(Optimizer optimizer, double width) {
  switch (optimizer) {
    case Optimizer::adamw:
    case Optimizer::adamw_paged:
      return 2 * width;
    case Optimizer::adamw_8bit:
    case Optimizer::adamw_8bit_paged:
      return 2 * kEightBitState;
    case Optimizer::lion:
    case Optimizer::sgd_momentum:
    case Optimizer::muon:
      return width;
    case Optimizer::lion_8bit:
      return kEightBitState;
    case Optimizer::sgd:
    case Optimizer::adafactor:
      return 0;
  }
  return 2 * width;
}

// States of all equal tensors. Adafactor keeps a row and a column of second moments of each matrix (Shazeer and Stern 2018, section
// 3) and no first moment; Muon orthogonalises the momentum of the layers' matrices and leaves the rest to AdamW.
Bytes optimizer_states(const TensorGroup& tensor, Optimizer optimizer, double width) {
  const double elements = as_double(tensor.count) * as_double(tensor.rows) * as_double(tensor.columns);
  if (optimizer == Optimizer::adafactor) {
    const double kept =
        tensor.columns > 1 ? as_double(tensor.rows) + as_double(tensor.columns) : as_double(tensor.rows);
    return bytes(4 * kept * as_double(tensor.count));
  }
  const bool plain = optimizer == Optimizer::muon && !(tensor.layers > 0 && tensor.columns > 1);
  return bytes(elements * bytes_per_element(plain ? Optimizer::adamw : optimizer, width));
}

bool is_paged(Optimizer optimizer) {
  return optimizer == Optimizer::adamw_paged || optimizer == Optimizer::adamw_8bit_paged;
}

bool has(const TrainingSpec& job, LoraTarget target) {
  return std::find(job.lora_targets.begin(), job.lora_targets.end(), target) != job.lora_targets.end();
}

// How many of a group's matrices carry adapters.
double adapted(const TensorGroup& tensor, const TrainingSpec& job) {
  if (!job.trains_adapters() || tensor.columns <= 1) return 0;
  const double all = as_double(tensor.count);
  if (tensor.role == TensorRole::head) return has(job, LoraTarget::head) ? all : 0;
  if (!tensor.is_linear() || tensor.layers == 0) return 0;
  if (tensor.role == TensorRole::expert) return has(job, LoraTarget::experts) ? all : 0;
  if (ends_with(tensor, ".gate_up")) {
    const bool gated = tensor.count >= 2 * tensor.layers;
    if (!gated) return has(job, LoraTarget::up) ? all : 0;
    return all * ((has(job, LoraTarget::gate) ? 0.5 : 0) + (has(job, LoraTarget::up) ? 0.5 : 0));
  }
  if (ends_with(tensor, ".down")) return has(job, LoraTarget::down) ? all : 0;
  if (ends_with(tensor, ".output")) return has(job, LoraTarget::o) ? all : 0;
  if (ends_with(tensor, ".q") || ends_with(tensor, ".q_a") || ends_with(tensor, ".q_b"))
    return has(job, LoraTarget::q) ? all : 0;
  if (ends_with(tensor, ".k")) return has(job, LoraTarget::k) ? all : 0;
  if (ends_with(tensor, ".v")) return has(job, LoraTarget::v) ? all : 0;
  if (ends_with(tensor, ".kv_a") || ends_with(tensor, ".kv_b"))
    return has(job, LoraTarget::k) || has(job, LoraTarget::v) ? all : 0;
  return has(job, LoraTarget::experts) ? all : 0;  // other products of a layer: only `all` means them
}

// Of the two factors the one on the divided side of the matrix is divided with it. DoRA adds a magnitude an output.
double adapter_elements(const TensorGroup& tensor, const Architecture& a, const TrainingSpec& job, bool sharded) {
  const double count = adapted(tensor, job);
  if (count <= 0) return 0;
  const bool dora = job.method == TrainingMethod::dora || job.method == TrainingMethod::qdora;
  const double rank = as_double(job.lora_rank);
  const double share = sharded ? rank_share(tensor, a, job) : 1;
  const bool by_input = tensor.sharding == Sharding::row;
  const double experts = sharded && is_expert(tensor) ? 1 / as_double(job.ep) : 1;
  const double inputs = as_double(tensor.columns) * (by_input ? share : experts);
  const double outputs = as_double(tensor.rows) * (by_input ? experts : share);
  return count * (rank * (inputs + outputs) + (dora ? outputs : 0));
}

void add_weights(const TrainingMemoryInputs& in, const TensorGroup& tensor, const StageShape& stage, HeldStates& held) {
  const Architecture& a = in.model->architecture;
  const TrainingSpec& job = in.job;
  const Widths widths = widths_of(in);
  const double elements = as_double(tensor.count) * as_double(tensor.rows) * as_double(tensor.columns);
  const double share = rank_share(tensor, a, job) * stage_share(tensor, a, stage);
  if (share <= 0) return;
  Bytes stored = bytes(elements * widths.weight);
  bool quantized = false;
  if (job.quantizes_weights()) {
    const bool head = tensor.role == TensorRole::head && in.framework->quantizes_head;
    const Storage& storage = head ? in.model->scheme.linear : storage_of(tensor, in.model->scheme);
    quantized = storage.is_quantized();
    stored = as_double(tensor.count) * stored_bytes(storage, as_double(tensor.rows), as_double(tensor.columns));
  }
  const bool trains = !job.trains_adapters();
  const Bytes weights = stored * share;
  const double trained = trains ? elements * share : 0;
  const Bytes states = trains ? optimizer_states(tensor, job.optimizer, widths.state) * share : Bytes{};
  const bool expert = is_expert(tensor);
  (expert ? held.expert_weights : held.dense_weights) += weights;
  (expert ? held.expert_trained : held.dense_trained) += trained;
  (expert ? held.expert_states : held.dense_states) += states;
  if (tensor.is_linear() && job.precision == TrainingPrecision::fp8) held.eight_bit += elements * share;
  if (tensor.is_linear() && job.precision == TrainingPrecision::fp4) held.eight_bit += elements * share / 2;
  if (tensor.layers > 0) {
    held.layer_weights += weights / stage.layers;
    held.layer_trained += trained / stage.layers;
  } else {
    held.root_weights += weights;
    held.largest_end = std::max(held.largest_end, weights);
  }
  const double of_one = elements / as_double(tensor.count) * share;
  const double one = tensor.layers > 0 && stage.share > 0 ? of_one / stage.share : of_one;
  held.largest_tensor = std::max(held.largest_tensor, one);
  if (quantized) held.largest_quantized = std::max(held.largest_quantized, one);
}

void add_adapters(const TrainingMemoryInputs& in, const TensorGroup& tensor, const StageShape& stage,
                  HeldStates& held) {
  const double elements = adapter_elements(tensor, in.model->architecture, in.job, true) *
                          stage_share(tensor, in.model->architecture, stage);
  if (elements <= 0) return;
  held.adapter_trained += elements;
  const double width = adapter_widths(in).state;
  if (in.job.optimizer != Optimizer::adafactor) {
    held.adapter_states += bytes(elements * bytes_per_element(in.job.optimizer, width));
    return;
  }
  // A row and a column of each of the two factors.
  const double of_one = 2 * as_double(in.job.lora_rank) + as_double(tensor.rows) + as_double(tensor.columns);
  held.adapter_states +=
      bytes(4 * adapted(tensor, in.job) * of_one) * stage_share(tensor, in.model->architecture, stage);
}

}  // namespace

Widths widths_of(const TrainingMemoryInputs& in) {
  const double gradient = in.framework->gradient_bytes.or_else(2);
  switch (in.job.precision) {
    case TrainingPrecision::fp32:
      return {4, 4, 0, 4};
    case TrainingPrecision::bf16:
      return {2, 2, 0, 2};
    case TrainingPrecision::bf16_mixed:
    case TrainingPrecision::fp16_mixed:
    case TrainingPrecision::fp8:
    case TrainingPrecision::fp4:
      return {2, gradient, 4, 4};
  }
  return {};
}

// Libraries of adapters keep them in fp32 unless everything is in 16 bit: they are their own master weights.
Widths adapter_widths(const TrainingMemoryInputs& in) {
  if (in.job.precision == TrainingPrecision::bf16) return {2, 2, 0, 2};
  return {4, 4, 0, 4};
}

HeldStates held_states(const TrainingMemoryInputs& in, const StageShape& stage) {
  HeldStates held;
  for (const TensorGroup& tensor : in.model->tensors) {
    add_weights(in, tensor, stage, held);
    add_adapters(in, tensor, stage, held);
    // With a pipeline, the two ends of a tied table stand apart anyway.
    if (tensor.role == TensorRole::embedding && in.model->architecture.tied_embeddings &&
        in.framework->unties_embeddings && stage.last) {
      TensorGroup head = tensor;
      head.role = TensorRole::head;
      add_weights(in, head, stage, held);
    }
  }
  if (is_paged(in.job.optimizer)) {
    // Paged in tensor by tensor: what is on the device is the state of one.
    const double width = bytes_per_element(in.job.optimizer, widths_of(in).state);
    const bool adapters = in.job.trains_adapters();
    held.dense_states = adapters ? Bytes{} : bytes(held.largest_tensor * width);
    held.expert_states = Bytes{};
    held.adapter_states = Bytes{};
  }
  // What images or sound go through is frozen.
  for (const TensorGroup& tensor : in.model->beside) {
    if (!stage.first) continue;
    const double elements = as_double(tensor.count) * as_double(tensor.rows) * as_double(tensor.columns);
    held.root_weights += bytes(elements * widths_of(in).weight);
    held.dense_weights += bytes(elements * widths_of(in).weight);
  }
  return held;
}

ShardDegrees shard_degrees(const TrainingSpec& job) {
  ShardDegrees d;
  double ranks = as_double(job.dp) * as_double(job.cp);
  if (job.sharding == StateSharding::hsdp) ranks = std::min(ranks, as_double(job.shard_group));
  const double spread = job.expert_tp > 0 ? std::max(1.0, as_double(job.tp) / as_double(job.expert_tp)) : 1;
  const double expert_ranks = std::max(1.0, ranks * spread / as_double(job.ep));
  const bool whole = job.sharding == StateSharding::zero3 || job.sharding == StateSharding::fsdp ||
                     job.sharding == StateSharding::hsdp;
  const bool gradients = whole || job.sharding == StateSharding::zero2 || job.sharding == StateSharding::fsdp_grad;
  const bool states = gradients || job.sharding == StateSharding::zero1;
  if (states) {
    d.states = ranks;
    d.expert_states = expert_ranks;
  }
  if (gradients) {
    d.gradients = ranks;
    d.expert_gradients = expert_ranks;
  }
  if (whole) {
    d.weights = ranks;
    d.expert_weights = expert_ranks;
  }
  return d;
}

double adapter_parameters(const ServedModel& model, const TrainingSpec& job) {
  double total = 0;
  for (const TensorGroup& tensor : model.tensors) total += adapter_elements(tensor, model.architecture, job, false);
  return total;
}

}  // namespace gpuplan
