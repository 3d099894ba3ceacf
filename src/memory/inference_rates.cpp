#include "inference_rates.hpp"
#include "residency.hpp"

#include <gpuplan/base/parse.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

// Layers are dealt to the stages as evenly as they go; the fullest device has the rounded-up share.
double stage_share(std::int64_t layers, std::int64_t stages) {
  const std::int64_t most = (layers + stages - 1) / stages;
  return as_double(most) / as_double(layers);
}

// The width of a layer's largest intermediates a token, on one rank: those of a gated MLP are gate, up and their product.
double widest_layer(const Architecture& a, std::int64_t tp) {
  const double ranks = as_double(tp);
  double widest = 0;
  for (const MlpGroup& group : mlps_of(a)) {
    const double branches = group.mlp.gated_mlp ? 3 : 2;
    widest = std::max(widest, branches * as_double(group.mlp.intermediate) / ranks);
    const double expert = branches * as_double(group.mlp.expert_intermediate) / ranks + as_double(a.hidden);
    if (group.mlp.has_experts()) widest = std::max(widest, as_double(group.mlp.experts_per_token) * expert);
  }
  for (const MixerGroup& group : mixers_of(a)) {
    const Attention& t = group.attention;
    const double heads = std::ceil(as_double(t.heads) / ranks);
    const double keys = t.has_latent_attention() ? heads : std::ceil(as_double(t.kv_heads) / ranks);
    widest =
        std::max(widest, heads * as_double(t.qk_dim() + t.value_dim()) + keys * as_double(t.qk_dim() + t.value_dim()));
  }
  return widest;
}

bool is_large(const InferenceMemoryInputs& in) {
  const Engine& engine = *in.engine;
  if (!in.accelerator || !engine.large_memory.known() || in.visible.or_else({}) < *engine.large_memory) return false;
  const auto have = parse_number(in.accelerator->compute_capability).value;
  const auto need = parse_number(engine.large_capability).value;
  return !have || !need || *have >= *need;
}

// Pages of hybrid networks are alike: those of attention grow until a recurrent state fits one.
double page_tokens(const InferenceMemoryInputs& in) {
  const Architecture& a = in.model->architecture;
  const double page = as_double(in.engine->kv_block_tokens.or_else(1));
  if (!in.engine->preallocates) return page;
  Bytes state;
  double elements = 0;
  for (const MixerGroup& group : mixers_of(a)) {
    if (group.recurrence) state = std::max(state, group.recurrence->state / as_double(in.layout.tp));
    elements = std::max(elements, kv_elements_per_layer_token(group.attention, in.layout.tp));
  }
  if (state <= Bytes{} || elements <= 0) return page;
  return std::max(1.0, std::ceil(state / (elements * in.model->kv->element * page))) * page;
}

void set_cache(const InferenceMemoryInputs& in, InferenceRates& r) {
  const Architecture& a = in.model->architecture;
  const Engine& engine = *in.engine;
  const KvLayers layers = kv_layers(a, in.layout.tp);
  const double share = stage_share(a.layers, in.layout.pp);
  r.page = page_tokens(in);
  if (layers.windowed_layers > 0 && engine.windowed_kv) {
    // A micro-batch is written before what it pushes out of the window is dropped.
    const double batch = as_double(engine.graph_tokens.or_else(0));
    r.window = std::ceil((layers.window + batch) / r.page) * r.page;
  }
  r.cache.full_layers = layers.full_layers * share;
  r.cache.windowed_layers = layers.windowed_layers * share;
  r.cache.elements = layers.elements;
  r.cache.windowed_elements = layers.windowed_elements;
  r.cache.state = state_bytes(a) * share / as_double(in.layout.tp);
  r.cache.element = in.model->kv->element;
  r.cache.copies = engine.kv_copies.or_else(1);
}

void set_steps(const InferenceMemoryInputs& in, InferenceRates& r) {
  const Architecture& a = in.model->architecture;
  const Engine& engine = *in.engine;
  const bool large = is_large(in);
  const double ranks = as_double(in.layout.tp);
  const bool graph = engine.graph_tokens.known();
  const Bytes element = bytes(graph ? 4 : 2);  // graphs of operations compute in fp32
  if (graph) {
    r.step_tokens = as_double(*engine.graph_tokens);
    r.rows = r.step_tokens;
  } else if (engine.preallocates) {
    const Fact<std::int64_t>& most =
        large && engine.large_max_batched_tokens.known() ? engine.large_max_batched_tokens : engine.max_batched_tokens;
    r.step_tokens = as_double(most.or_else(in.request.input));
    // A plan starts the engine with steps no longer than its longest sequence (`--max-num-batched-tokens`).
    if (!in.default_limits)
      r.step_tokens = std::min(r.step_tokens, as_double(std::max(in.request.input, in.request.context)));
    const Fact<std::int64_t>& rows =
        large && engine.large_profiled_sequences.known() ? engine.large_profiled_sequences : engine.profiled_sequences;
    r.rows = in.default_limits ? as_double(rows.or_else(engine.max_sequences.or_else(1))) : 0;  // 0: as many as run
    r.hidden = 2 * as_double(a.hidden) * element;  // the last hidden states and the residual wait for sampling
    constexpr double kLongestWholePrompt = 32768;
    if (engine.whole_prompts) r.whole_prompt = kLongestWholePrompt;
  }
  r.token = (engine.activation_copies.or_else(0) * as_double(a.hidden) + widest_layer(a, in.layout.tp)) * element;
  r.pair = bytes(engine.score_bytes.or_else(0)) * std::ceil(as_double(a.heads) / ranks);
  r.prompt_logits = bytes(engine.prompt_logit_bytes.or_else(0)) * as_double(a.vocab);
  const double residuals = graph ? 2 * as_double(a.hidden) : 0;
  r.row = bytes(engine.sampler_bytes_per_logit.or_else(0)) * as_double(a.vocab) + residuals * element;
  if (graph && in.layout.pp > 1) {
    constexpr double kMoreCopies = 3;  // four micro-batches are in the pipeline
    r.stage_inputs = kMoreCopies * r.step_tokens * as_double(a.hidden) * element;
    r.stage_position = kMoreCopies * r.step_tokens * bytes(2);  // the mask
  }
}

// Layers and head dealt out so that each device holds about the same: one with the head takes fewer layers.
Bytes split_by_memory(const InferenceMemoryInputs& in, const WeightsByPlace& place, Bytes on_host, Explain* why) {
  const double layers = as_double(in.model->architecture.layers);
  const Bytes layer = place.layers / layers;
  const Bytes head = place.ends + place.head + place.embedding;
  const double heads = layer > Bytes{} ? std::ceil(head / layer) : 0;  // layers that the head stands for
  const double most = std::ceil((layers + heads) / as_double(in.layout.pp));
  const double files = in.model->stored ? *in.model->stored / counted_weights(*in.model) : 1;
  const Bytes total =
      std::max(std::max(most * layer, std::max(most - heads, 0.0) * layer + head) * files - on_host, Bytes{});
  if (why) {
    why->term(
        "memory.weights", total, "max(max(most * layer, max(most - heads, 0) * layer + head) * files - on_host, 0)",
        {{"most", most}, {"layer", layer}, {"heads", heads}, {"head", head}, {"files", files}, {"on_host", on_host}});
  }
  return total;
}

}  // namespace

Bytes weights_on_device(const InferenceMemoryInputs& in, Explain* why) {
  const ServedModel& model = *in.model;
  WeightsByPlace place = weights_by_place(in, in.layout.tp);
  // What works from host memory is missed by all devices alike.
  const bool uses_host = model.residency.uses_host();
  const Bytes on_host =
      uses_host ? host_weights(in).off_device() / as_double(in.layout.devices_per_replica()) : Bytes{};
  const bool tied = model.architecture.tied_embeddings;
  // A tied table is on the device as the output head all the same.
  if (in.engine->embedding_on_host && !tied) place.embedding = {};
  const double share = stage_share(model.architecture.layers, in.layout.pp);
  if (in.engine->graph_tokens.known() && in.layout.pp > 1) return split_by_memory(in, place, on_host, why);
  const Bytes ends = place.ends + (in.layout.pp == 1 ? place.embedding + place.head
                                                     : std::max(place.embedding, tied ? place.embedding : place.head));
  // Files that hold more or less than the tensor list says hold it where the list has its bytes, for want of better.
  const double files = model.stored ? *model.stored / counted_weights(model) : 1;
  const Bytes total = std::max((place.layers * share + ends) * files - on_host, Bytes{});
  if (why) {
    std::vector<ExplainInput> inputs = {
        {"layers", place.layers}, {"stage_share", share}, {"ends", ends}, {"files", files}};
    if (uses_host) inputs.push_back({"on_host", on_host});
    why->term(
        "memory.weights", total,
        uses_host ? "max((layers * stage_share + ends) * files - on_host, 0)" : "(layers * stage_share + ends) * files",
        std::move(inputs));
  }
  return total;
}

// Beside what its libraries take, an engine with a pool keeps a table of the rotations of all positions.
Bytes workspace_of(const InferenceMemoryInputs& in) {
  const Architecture& a = in.model->architecture;
  const double turned = as_double(a.has_latent_attention() ? a.qk_rope_head_dim : a.head_dim);
  const bool rotates = in.engine->preallocates && !a.learned_positions && a.heads > 0;
  const Bytes table = rotates ? as_double(a.max_position) * turned * bytes(2) : Bytes{};
  return in.engine->workspace.or_else({}) + table;
}

Fact<Bytes> communication_of(const InferenceMemoryInputs& in) {
  return in.layout.devices_per_replica() > 1 ? in.engine->communication : Fact<Bytes>{};
}

KvCacheInputs cache_of(const InferenceRates& r, double sequences, std::int64_t context) {
  return cache_of(r, r.cache, r.window, sequences, context);
}

KvCacheInputs cache_of(const InferenceRates& r, KvCacheInputs cache, double window, double sequences,
                       std::int64_t context) {
  cache.tokens = std::ceil(as_double(context) / r.page) * r.page;
  cache.window_tokens = window > 0 ? std::min(cache.tokens, window) : cache.tokens;
  cache.sequences = sequences;
  return cache;
}

double prompts_at_once(const InferenceRates& r, double sequences, const RequestShape&) {
  return r.step_tokens > 0 ? 1 : sequences;
}

double step_tokens(const InferenceRates& r, double sequences, const RequestShape& request) {
  if (r.step_tokens <= 0) return sequences * as_double(request.input);
  if (as_double(request.context) <= r.whole_prompt) {
    constexpr double kLeastStep = 2048;  // a profiling run is no shorter
    return std::max(as_double(request.context), kLeastStep);
  }
  return r.step_tokens;
}

Bytes layers_peak(const InferenceRates& r, double sequences, const RequestShape& request) {
  const double step = step_tokens(r, sequences, request);
  const double input = as_double(request.input);
  const Bytes scores = prompts_at_once(r, sequences, request) * input * input * r.pair;
  return std::max(step * r.token + scores, step * r.prompt_logits) + r.stage_inputs +
         as_double(request.context) * r.stage_position;
}

Bytes sampling_peak(const InferenceRates& r, double sequences, const RequestShape& request) {
  return (r.rows > 0 ? r.rows : sequences) * r.row + step_tokens(r, sequences, request) * r.hidden;
}

InferenceRates inference_rates(const InferenceMemoryInputs& in) {
  const Engine& engine = *in.engine;
  InferenceRates r;
  r.weights = weights_on_device(in, nullptr);
  set_cache(in, r);
  set_steps(in, r);
  r.fixed =
      workspace_of(in) + engine.graphs.or_else({}) + engine.context.or_else({}) + communication_of(in).or_else({});
  r.slack = engine.allocator_slack.or_else(0);
  r.fraction = engine.memory_fraction.or_else(1);
  r.fraction_of_free = engine.fraction_of_free;
  r.visible = in.visible.or_else({});
  set_company(in, r);
  return r;
}

Bytes inference_need(const InferenceRates& r, double sequences, const RequestShape& request) {
  Bytes cache = kv_cache_bytes(cache_of(r, sequences, request.context), nullptr);
  if (r.draft_weights > Bytes{})
    cache += kv_cache_bytes(cache_of(r, r.draft_cache, r.draft_window, sequences, request.context), nullptr);
  const Bytes step = std::max(layers_peak(r, sequences, request), sampling_peak(r, sequences, request));
  const Bytes others = r.weights + step + r.fixed + r.slack * (r.weights + cache + step) + company(r) +
                       host_on_device(r, sequences, request.context);
  const Bytes of = r.fraction_of_free ? std::max(r.visible - others, Bytes{}) : r.visible;
  return others + cache + std::max(of * (1 - r.fraction) - r.beside, Bytes{});
}

}  // namespace gpuplan
