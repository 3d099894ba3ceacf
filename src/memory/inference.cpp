#include <gpuplan/memory/inference.hpp>

#include <gpuplan/model/kv_cache.hpp>

#include <algorithm>
#include <cmath>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

// Layers are dealt to the stages as evenly as they go; the fullest device has the rounded-up share.
double stage_share(std::int64_t layers, std::int64_t stages) {
  const std::int64_t most = (layers + stages - 1) / stages;
  return as_double(most) / as_double(layers);
}

// The words of a fact's source, for explanations.
template <class T>
Text source_of(const InferenceMemoryInputs& in, const Fact<T>& fact) {
  return in.catalog && fact.known() ? in.catalog->source(fact.source).text : Text{};
}

Bytes weights_on_device(const InferenceMemoryInputs& in, Explain* why) {
  const ServedModel& model = *in.model;
  Bytes layers;
  Bytes ends;  // embedding and head stand on the first and the last stage: the fuller of them counts
  Bytes embedding;
  Bytes head;
  for (const TensorGroup& tensor : model.tensors) {
    const Bytes whole = as_double(tensor.count) * stored_bytes(storage_of(tensor, model.scheme),
                                                               as_double(tensor.rows), as_double(tensor.columns));
    const Bytes held = whole * shard_share(tensor, model.architecture, in.layout.tp);
    if (tensor.layers > 0) {
      layers += held;
    } else if (tensor.role == TensorRole::head) {
      head += held;
    } else if (tensor.role == TensorRole::embedding || tensor.role == TensorRole::position) {
      embedding += held;
    } else {
      ends += held;
    }
  }
  // What images or sound go through stands before the first layer.
  for (const TensorGroup& tensor : model.beside) {
    embedding += as_double(tensor.count) *
                 stored_bytes(storage_of(tensor, model.scheme), as_double(tensor.rows), as_double(tensor.columns)) *
                 shard_share(tensor, model.architecture, in.layout.tp);
  }
  const double share = stage_share(model.architecture.layers, in.layout.pp);
  if (in.layout.pp == 1) {
    ends += embedding + head;
  } else {
    ends += std::max(embedding, model.architecture.tied_embeddings ? embedding : head);
  }
  // Files that hold more or less than the tensor list says hold it where the list has its bytes, for want of better.
  const double files = model.stored ? *model.stored / counted_weights(model) : 1;
  const Bytes total = (layers * share + ends) * files;
  if (why) {
    why->term("memory.weights", total, "(layers * stage_share + ends) * files",
              {{"layers", layers}, {"stage_share", share}, {"ends", ends}, {"files", files}});
  }
  return total;
}

Bytes kv_cache_of_sequences(const InferenceMemoryInputs& in, double sequences, Explain* why) {
  const Architecture& a = in.model->architecture;
  const double page = as_double(in.engine->kv_block_tokens.or_else(1));
  const double tokens = std::ceil(as_double(in.request.context) / page) * page;
  const KvLayers layers = kv_layers(a, in.layout.tp);
  const bool windows = layers.windowed_layers > 0 && in.engine->windowed_kv;
  const double window = windows ? std::min(tokens, std::ceil(layers.window / page) * page) : tokens;
  const double share = stage_share(a.layers, in.layout.pp);
  KvCacheInputs kv;
  kv.full_layers = layers.full_layers * share;
  kv.windowed_layers = layers.windowed_layers * share;
  kv.elements = layers.elements;
  kv.windowed_elements = layers.windowed_elements;
  kv.state = state_bytes(a) * share / as_double(in.layout.tp);
  kv.element = in.model->kv->element;
  kv.tokens = tokens;
  kv.window_tokens = window;
  kv.sequences = sequences;
  return kv_cache_bytes(kv, why);
}

// Hidden-wide buffers of the largest step: the residual, the normed input and the widest intermediate live at once.
Bytes activations(const InferenceMemoryInputs& in, Explain* why) {
  const Architecture& a = in.model->architecture;
  const double step_tokens = as_double(std::min(in.engine->max_batched_tokens.or_else(in.request.input),
                                                std::max(in.request.input, in.request.context)));
  const double copies = in.engine->activation_copies.or_else(0);
  const double widest =
      as_double(std::max({a.intermediate, a.experts_per_token * a.expert_intermediate, a.heads * a.qk_dim()})) /
      as_double(in.layout.tp);
  const Bytes element = bytes(2);
  const Bytes total = step_tokens * (copies * as_double(a.hidden) + 2 * widest) * element;
  if (why) {
    why->term("memory.activations", total, "step_tokens * (copies * hidden + 2 * widest) * element",
              {{"step_tokens", step_tokens},
               {"copies", copies, source_of(in, in.engine->activation_copies)},
               {"hidden", as_double(a.hidden)},
               {"widest", widest},
               {"element", element}});
  }
  return total;
}

Bytes sampler(const InferenceMemoryInputs& in, double sequences, Explain* why) {
  const double vocabulary = as_double(in.model->architecture.vocab);
  const Bytes per_logit = bytes(in.engine->sampler_bytes_per_logit.or_else(0));
  const Bytes total = sequences * vocabulary * per_logit;
  if (why) {
    why->term("memory.sampler", total, "sequences * vocabulary * per_logit",
              {{"sequences", sequences},
               {"vocabulary", vocabulary},
               {"per_logit", per_logit, source_of(in, in.engine->sampler_bytes_per_logit)}});
  }
  return total;
}

Bytes fixed_term(const InferenceMemoryInputs& in, std::string_view id, std::string_view name, const Fact<Bytes>& fact,
                 Explain* why) {
  const Bytes value = fact.or_else({});
  if (why) why->term(id, value, name, {{name, value, source_of(in, fact)}});
  return value;
}

// What the engine leaves alone of the device, beside what lies outside its share anyway.
Bytes reserve(const InferenceMemoryInputs& in, Explain* why) {
  const double fraction = in.engine->memory_fraction.or_else(1);
  const Bytes visible = in.visible.or_else({});
  const Bytes total = visible * (1 - fraction);
  if (why)
    why->term("memory.reserve", total, "visible * (1 - fraction)",
              {{"visible", visible, source_of(in, in.visible)},
               {"fraction", fraction, source_of(in, in.engine->memory_fraction)}});
  return total;
}

// Overheads that no formula gives exactly: their spread is the engine's, measured (data/engines.yaml).
void add_estimated(Breakdown<Bytes>& terms, const Engine& engine, std::string_view id, Bytes value) {
  terms.add(id, value, value * engine.overhead_low.or_else(1), value * engine.overhead_high.or_else(1));
}

}  // namespace

std::string_view to_string(FitVerdict verdict) {
  switch (verdict) {
    case FitVerdict::fits:
      return "fits";
    case FitVerdict::tight:
      return "tight";
    case FitVerdict::does_not_fit:
      return "does_not_fit";
  }
  return "does_not_fit";
}

InferenceMemory inference_memory(const InferenceMemoryInputs& in, std::int64_t sequences, Explain* why) {
  const Engine& engine = *in.engine;
  const double n = as_double(sequences);
  InferenceMemory m;
  m.capacity = in.visible.or_else({});
  m.terms.add("weights", weights_on_device(in, why));
  m.terms.add("kv_cache", kv_cache_of_sequences(in, n, why));
  add_estimated(m.terms, engine, "activations", activations(in, why));
  add_estimated(m.terms, engine, "sampler", sampler(in, n, why));
  add_estimated(m.terms, engine, "workspace", fixed_term(in, "memory.workspace", "workspace", engine.workspace, why));
  add_estimated(m.terms, engine, "graphs", fixed_term(in, "memory.graphs", "graphs", engine.graphs, why));
  add_estimated(m.terms, engine, "context", fixed_term(in, "memory.context", "context", engine.context, why));
  const Fact<Bytes> buffers = in.layout.devices_per_replica() > 1 ? engine.communication : Fact<Bytes>{};
  add_estimated(m.terms, engine, "communication",
                fixed_term(in, "memory.communication", "communication", buffers, why));
  m.terms.add("reserve", reserve(in, why));
  if (sequences < 1 || m.terms.total() > m.capacity) {
    m.verdict = FitVerdict::does_not_fit;
  } else {
    m.verdict = m.terms.high() > m.capacity ? FitVerdict::tight : FitVerdict::fits;
  }
  return m;
}

std::int64_t max_concurrency(const InferenceMemoryInputs& in) {
  const InferenceMemory none = inference_memory(in, 0, nullptr);
  const Bytes left = none.headroom();
  const Bytes each = kv_cache_of_sequences(in, 1, nullptr) + sampler(in, 1, nullptr);
  if (left <= Bytes{}) return 0;
  const double limit = as_double(in.engine->max_sequences.or_else(1));
  const double fitting = each > Bytes{} ? std::floor(left / each) : limit;
  return static_cast<std::int64_t>(std::min(fitting, limit));
}

}  // namespace gpuplan
