// What each operation of a layer keeps for its backward pass, tensor by tensor.
//
// With 16-bit elements and a fused norm, a plain layer of width h, MLP width 4h and dropout keeps s·b·h·(34 + 5·a·s/h) bytes, as
// Korthikanti et al. count it (arXiv:2205.05198, section 4.1); the sums below are that count for any layer.

#include <gpuplan/memory/training_terms.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

// What decides whether an operation must keep something.
struct Keeping {
  double element = 2;        // bytes of an activation
  double product_input = 2;  // of the input of a matrix product, as it is kept
  double norm_input = 2;     // of what a norm keeps of its input
  double copies = 0;         // of an adapter's own input, with the mask of its dropout
  bool weights_train = true;
  bool quantized_keep = false;
  bool adapters = false;
  double tensor = 1;    // ranks that divide a product's inside
  double sequence = 1;  // ranks that divide what lies between products
};

bool has_target(const TrainingSpec& job, std::initializer_list<LoraTarget> targets) {
  return std::any_of(targets.begin(), targets.end(), [&](LoraTarget target) {
    return std::find(job.lora_targets.begin(), job.lora_targets.end(), target) != job.lora_targets.end();
  });
}

Keeping keeping_of(const TrainingMemoryInputs& in) {
  const TrainingSpec& job = in.job;
  Keeping k;
  k.element = job.precision == TrainingPrecision::fp32 ? 4 : 2;
  k.product_input = job.precision == TrainingPrecision::fp8   ? 1
                    : job.precision == TrainingPrecision::fp4 ? 0.5
                                                              : k.element;
  k.weights_train = !job.trains_adapters();
  k.adapters = job.trains_adapters();
  k.quantized_keep = job.quantizes_weights() && in.framework->quantized_keep_inputs;
  // A norm in separate 32-bit operations keeps its input in 32 bit, and the normalised values where its weight trains.
  k.norm_input = in.framework->norms_in_fp32 ? 4 + (k.weights_train ? k.element : 0) : k.element;
  k.copies = in.framework->adapter_dropout ? k.element + 1 : 0;
  k.tensor = as_double(job.tp);
  k.sequence = job.sequence_parallel ? as_double(job.tp) : 1;
  return k;
}

// The input of products: kept where a weight, or an adapter on it, trains. `own` products have adapters with their own copies.
double product_input(const Keeping& k, const TrainingSpec& job, double width,
                     std::initializer_list<LoraTarget> targets) {
  const bool adapted = k.adapters && has_target(job, targets);
  if (!k.weights_train && !adapted && !k.quantized_keep) return 0;
  double kept = width * k.product_input;
  if (adapted && k.copies > 0) {
    double own = 0;
    for (const LoraTarget target : targets) own += has_target(job, {target}) ? 1 : 0;
    kept = width * (k.quantized_keep ? k.product_input : 0) + own * width * k.copies;
  }
  return kept;
}

/// A product and the width of its output.
struct Output {
  LoraTarget target;
  double width;
};

// DoRA scales the output of each adapted product by a magnitude that trains, and keeps it for that.
double scaled_outputs(const Keeping& k, const TrainingSpec& job, std::initializer_list<Output> outputs) {
  if (job.method != TrainingMethod::dora && job.method != TrainingMethod::qdora) return 0;
  double width = 0;
  for (const Output& output : outputs) width += has_target(job, {output.target}) ? output.width : 0;
  return width * k.element;
}

double dropout_mask(const TrainingSpec& job, double width) { return job.dropout ? width : 0; }

// Scores of one token with all that it sees, without a kernel that recomputes them: the softmax, and with dropout its mask and result.
double scores(const TrainingMemoryInputs& in, const Attention& t, Recompute recompute) {
  if (in.job.flash_attention || recompute != Recompute::none) return 0;
  const double element = in.job.precision == TrainingPrecision::fp32 ? 4 : 2;
  const double seen = as_double(t.window > 0 ? std::min(t.window, in.job.sequence) : in.job.sequence);
  return as_double(t.heads) * seen * (element + (in.job.dropout ? element + 1 : 0));
}

// Queries, keys and values as the attention kernel gets them, and its output. With latent attention also the latents.
double attention_core(const TrainingMemoryInputs& in, const Attention& t, const Keeping& k) {
  const double heads = as_double(t.heads);
  const bool expanded = in.framework->expands_kv || t.has_latent_attention();
  const double kv_heads = expanded ? heads : std::max(as_double(t.kv_heads), k.tensor);  // at least one a rank
  double elements = heads * as_double(t.qk_dim()) + kv_heads * as_double(t.qk_dim() + t.value_dim()) +
                    heads * as_double(t.value_dim());
  if (t.output_gate) elements += 2 * heads * as_double(t.value_dim());
  if (in.framework->fused_qkv) elements += (heads + as_double(t.kv_heads)) * as_double(t.qk_dim());
  double kept = elements * k.element;
  // A norm on queries and keys keeps what it normalises.
  if (t.qk_norm != QkNorm::none) kept += (heads + as_double(t.kv_heads)) * as_double(t.head_dim) * k.norm_input;
  if (in.job.flash_attention) kept += 4 * heads;  // log-sum-exp of each row
  return kept / k.tensor;
}

double latents(const Attention& t, const Keeping& k) {
  if (!t.has_latent_attention()) return 0;
  // The latents are whole on every rank: the products' outputs, and their norms' results as inputs of the next products.
  const double width = as_double(t.q_lora_rank + t.kv_lora_rank);
  return width * (k.norm_input + (k.weights_train ? k.product_input : 0)) + as_double(t.qk_rope_head_dim) * k.element;
}

double attention_bytes(const TrainingMemoryInputs& in, const Attention& t, Recompute recompute) {
  const Keeping k = keeping_of(in);
  const TrainingSpec& job = in.job;
  const double h = as_double(in.model->architecture.hidden);
  double between = h * k.norm_input;
  between += product_input(k, job, h, {LoraTarget::q, LoraTarget::k, LoraTarget::v});
  between += dropout_mask(job, h);
  double inside = 0;
  // The kernel keeps its output; the product behind it reads the same tensor unless it was copied.
  const double output = as_double(t.heads) * as_double(t.value_dim());
  const double of_output = product_input(k, job, output, {LoraTarget::o});
  inside += in.framework->copies_attention ? of_output : std::max(0.0, of_output - output * k.element);
  inside += scaled_outputs(k, job,
                           {{LoraTarget::q, as_double(t.heads * t.qk_dim())},
                            {LoraTarget::k, as_double(t.kv_heads * t.qk_dim())},
                            {LoraTarget::v, as_double(t.kv_heads * t.value_dim())}});
  between += scaled_outputs(k, job, {{LoraTarget::o, h}});
  return between / k.sequence + latents(t, k) + attention_core(in, t, k) +
         (inside + scores(in, t, recompute)) / k.tensor;
}

// Inside an MLP of width f: with a gate both branches, the activated gate and the product, else the input and the result of the
// activation function. The last only where the product behind trains; a fused kernel recomputes the activated gate.
double mlp_inside(const TrainingMemoryInputs& in, const Keeping& k, bool gated, double f, LoraTarget down) {
  const double branches = gated ? (in.framework->fused_activation ? 2 : 3) : 1;
  return f * branches * k.element + product_input(k, in.job, f, {down});
}

double mlp_bytes(const TrainingMemoryInputs& in, const Mlp& m) {
  const Keeping k = keeping_of(in);
  const double h = as_double(in.model->architecture.hidden);
  if (m.intermediate <= 0) return 0;
  const double between =
      h * k.norm_input + product_input(k, in.job, h, {LoraTarget::gate, LoraTarget::up}) + dropout_mask(in.job, h);
  const double f = as_double(m.intermediate);
  const double scaled = scaled_outputs(k, in.job, {{LoraTarget::gate, m.gated_mlp ? f : 0}, {LoraTarget::up, f}});
  const double scaled_down = scaled_outputs(k, in.job, {{LoraTarget::down, h}});
  return (between + scaled_down) / k.sequence +
         (mlp_inside(in, k, m.gated_mlp, f, LoraTarget::down) + scaled) / k.tensor;
}

// A token's copies for the experts it is routed to, their insides and outputs; the shared experts as one MLP. With expert
// parallelism a rank works on as many copies as it sends away, if the router balances.
double expert_bytes(const TrainingMemoryInputs& in, const Mlp& m) {
  const Keeping k = keeping_of(in);
  const TrainingSpec& job = in.job;
  const double h = as_double(in.model->architecture.hidden);
  const double width = m.latent_width > 0 ? as_double(m.latent_width) : h;
  const double copies = as_double(m.experts_per_token);
  const double expert_tensor = as_double(job.expert_tp > 0 ? job.expert_tp : job.tp);
  const double between = h * k.norm_input + product_input(k, job, h, {LoraTarget::gate, LoraTarget::up}) +
                         4 * 2 * as_double(m.experts) +
                         dropout_mask(job, h);  // router scores and their softmax in fp32
  const double routed = copies * width * (product_input(k, job, 1, {LoraTarget::experts}) + k.element) +
                        copies * mlp_inside(in, k, m.gated_mlp, as_double(m.expert_intermediate), LoraTarget::experts);
  const double shared = m.shared_expert_intermediate > 0
                            ? mlp_inside(in, k, m.gated_mlp, as_double(m.shared_expert_intermediate), LoraTarget::down)
                            : 0;
  return between / k.sequence + routed / expert_tensor + shared / k.tensor;
}

// Outputs of all products of the mixer and its input; the state at the edges of chunks of 256 tokens.
double recurrent_bytes(const TrainingMemoryInputs& in, const Recurrence& r) {
  constexpr double kChunk = 256;
  const Keeping k = keeping_of(in);
  const double h = as_double(in.model->architecture.hidden);
  double outputs = 0;
  for (const TensorGroup& tensor : r.tensors) {
    if (tensor.multiplies()) outputs += as_double(tensor.count) * as_double(tensor.rows);
  }
  const double state = r.state / bytes(1);
  return (h * k.norm_input + product_input(k, in.job, h, {LoraTarget::q, LoraTarget::experts})) / k.sequence +
         (outputs * k.element + state / kChunk) / k.tensor;
}

double mixer_bytes(const TrainingMemoryInputs& in, const MixerGroup& group, Recompute recompute) {
  double kept = group.attention.heads > 0 ? attention_bytes(in, group.attention, recompute) : 0;
  if (group.recurrence) kept += recurrent_bytes(in, *group.recurrence);
  return kept;
}

double mlp_or_expert_bytes(const TrainingMemoryInputs& in, const Mlp& m) {
  return m.has_experts() ? expert_bytes(in, m) : mlp_bytes(in, m);
}

// When an MLP runs backwards, the gradient of its product and of both branches are alive; in attention those of queries, keys, values
// and the output.
double backward_bytes(const TrainingMemoryInputs& in) {
  const Architecture& a = in.model->architecture;
  const Keeping k = keeping_of(in);
  double widest = 0;
  for (const MlpGroup& group : mlps_of(a)) {
    const Mlp& m = group.mlp;
    const double parts = m.gated_mlp ? 3 : 2;
    const double experts =
        as_double(m.experts_per_token) * as_double(m.expert_intermediate) + as_double(m.shared_expert_intermediate);
    widest = std::max(widest, parts * (m.has_experts() ? experts : as_double(m.intermediate)));
  }
  for (const MixerGroup& group : mixers_of(a)) {
    const Attention& t = group.attention;
    widest = std::max(widest, as_double(t.heads) * as_double(t.qk_dim() + t.value_dim()) +
                                  as_double(t.kv_heads) * as_double(t.qk_dim() + t.value_dim()));
  }
  return k.element * (widest / k.tensor + as_double(a.hidden));
}

}  // namespace

KeptActivations kept_activations(const TrainingMemoryInputs& in, Recompute recompute) {
  const Architecture& a = in.model->architecture;
  const Keeping k = keeping_of(in);
  KeptActivations kept;
  const double layers = std::max(1.0, as_double(a.layers));
  double heaviest_mixer = 0;
  double heaviest_mlp = 0;
  for (const MixerGroup& group : mixers_of(a)) {
    const double share = as_double(group.layers) / layers;
    if (group.attention.heads > 0) kept.attention += bytes(share * attention_bytes(in, group.attention, recompute));
    if (group.recurrence) kept.recurrent += bytes(share * recurrent_bytes(in, *group.recurrence));
    // While one layer is computed again all of it is there, scores included.
    heaviest_mixer =
        std::max(heaviest_mixer, mixer_bytes(in, group, recompute == Recompute::full ? Recompute::none : recompute));
  }
  for (const MlpGroup& group : mlps_of(a)) {
    const double kept_bytes = mlp_or_expert_bytes(in, group.mlp);
    (group.mlp.has_experts() ? kept.experts : kept.mlp) += bytes(as_double(group.layers) / layers * kept_bytes);
    heaviest_mlp = std::max(heaviest_mlp, kept_bytes);
  }
  kept.heaviest = bytes(heaviest_mixer + heaviest_mlp);
  for (const MixerGroup& group : mixers_of(a)) {
    if (recompute != Recompute::selective || group.attention.heads == 0) continue;
    kept.scores = std::max(kept.scores, bytes(scores(in, group.attention, Recompute::none) / k.tensor));
  }
  kept.checkpoint = bytes(as_double(a.hidden) * k.element / k.sequence);
  kept.backward = bytes(backward_bytes(in));
  return kept;
}

Bytes activation_bytes_per_token(const TrainingMemoryInputs& in) {
  return kept_activations(in, Recompute::none).total();
}

}  // namespace gpuplan
