#include <gpuplan/memory/inference.hpp>

#include "inference_rates.hpp"
#include "residency.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

// The words of a fact's source, for explanations.
template <class T>
Text source_of(const InferenceMemoryInputs& in, const Fact<T>& fact) {
  return in.catalog && fact.known() ? in.catalog->source(fact.source).text : Text{};
}

// The layers' peak: those of a step's tokens, or the logits of all prompt tokens where an engine computes them.
Bytes activations(const InferenceMemoryInputs& in, const InferenceRates& r, double sequences, Explain* why) {
  const double step = step_tokens(r, sequences, in.request);
  const Bytes total = layers_peak(r, sequences, in.request);
  if (why) {
    const double prompts = prompts_at_once(r, sequences, in.request);
    const double input = as_double(in.request.input);
    why->term("memory.activations", total,
              "max(step_tokens * token + prompts * input * input * pair, step_tokens * prompt_logits) + stage_inputs + "
              "context * stage_position",
              {{"step_tokens", step},
               {"token", r.token, source_of(in, in.engine->activation_copies)},
               {"prompts", prompts},
               {"input", input},
               {"pair", r.pair, source_of(in, in.engine->score_bytes)},
               {"prompt_logits", r.prompt_logits, source_of(in, in.engine->prompt_logit_bytes)},
               {"stage_inputs", r.stage_inputs},
               {"context", as_double(in.request.context)},
               {"stage_position", r.stage_position}});
  }
  return total;
}

Bytes sampler(const InferenceMemoryInputs& in, const InferenceRates& r, double sequences, Bytes layers, Explain* why) {
  const double rows = r.rows > 0 ? r.rows : sequences;
  const Bytes total = std::max(sampling_peak(r, sequences, in.request) - layers, Bytes{});
  if (why) {
    why->term("memory.sampler", total, "max(rows * row + step_tokens * hidden - activations, 0)",
              {{"rows", rows},
               {"row", r.row, source_of(in, in.engine->sampler_bytes_per_logit)},
               {"step_tokens", step_tokens(r, sequences, in.request)},
               {"hidden", r.hidden},
               {"activations", layers}});
  }
  return total;
}

Bytes workspace(const InferenceMemoryInputs& in, Explain* why) {
  const Bytes total = workspace_of(in);
  const Bytes libraries = in.engine->workspace.or_else({});
  if (why)
    why->term("memory.workspace", total, "libraries + rotations",
              {{"libraries", libraries, source_of(in, in.engine->workspace)}, {"rotations", total - libraries}});
  return total;
}

Bytes fixed_term(const InferenceMemoryInputs& in, std::string_view id, std::string_view name, const Fact<Bytes>& fact,
                 Explain* why) {
  const Bytes value = fact.or_else({});
  if (why) why->term(id, value, name, {{name, value, source_of(in, fact)}});
  return value;
}

Bytes allocator(const InferenceMemoryInputs& in, const InferenceRates& r, Bytes allocated, Explain* why) {
  const Bytes total = r.slack * allocated;
  if (why)
    why->term("memory.allocator", total, "slack * allocated",
              {{"slack", r.slack, source_of(in, in.engine->allocator_slack)}, {"allocated", allocated}});
  return total;
}

// What the engine leaves alone of the device, beside what lies outside its share anyway.
Bytes reserve(const InferenceMemoryInputs& in, const InferenceRates& r, Bytes others, Explain* why) {
  const Bytes of = r.fraction_of_free ? std::max(r.visible - others, Bytes{}) : r.visible;
  const bool shared = r.beside > Bytes{};  // with models that live in what the engine leaves
  const Bytes total = std::max(of * (1 - r.fraction) - r.beside, Bytes{});
  if (why) {
    std::vector<ExplainInput> inputs = {{"of", of, source_of(in, in.visible)},
                                        {"fraction", r.fraction, source_of(in, in.engine->memory_fraction)}};
    if (shared) inputs.push_back({"beside", r.beside});
    why->term("memory.reserve", total, shared ? "max(of * (1 - fraction) - beside, 0)" : "of * (1 - fraction)",
              std::move(inputs));
  }
  return total;
}

// Overheads that no formula gives exactly: their spread is the engine's, measured (data/engines.yaml).
void add_estimated(Breakdown<Bytes>& terms, const Engine& engine, std::string_view id, Bytes value) {
  terms.add(id, value, value * engine.overhead_low.or_else(1), value * engine.overhead_high.or_else(1));
}

// Other models, adapters, what the host holds where there is one memory.
void add_company(const InferenceMemoryInputs& in, const InferenceRates& r, double sequences, Breakdown<Bytes>& terms,
                 Explain* why) {
  if (r.adapters > Bytes{}) terms.add("adapters", adapters_on_device(in, why));
  if (r.draft_weights > Bytes{}) {
    terms.add("draft_weights", r.draft_weights);
    const Bytes cache =
        kv_cache_bytes(cache_of(r, r.draft_cache, r.draft_window, sequences, in.request.context), nullptr);
    terms.add("draft_kv_cache", cache);
    if (why) {
      why->term("memory.draft_weights", r.draft_weights, "draft_weights", {{"draft_weights", r.draft_weights}});
      why->term("memory.draft_kv_cache", cache, "draft_kv_cache", {{"draft_kv_cache", cache}});
    }
  }
  if (r.beside > Bytes{}) {
    add_estimated(terms, *in.engine, "beside", r.beside);
    if (why) why->term("memory.beside", r.beside, "beside", {{"beside", r.beside}});
  }
  if (const Bytes host = host_on_device(r, sequences, in.request.context); host > Bytes{}) {
    terms.add("host", host);
    if (why) {
      why->term("memory.host", host, "host_weights * host_share + host_kv_cache",
                {{"host_weights", r.host_weights},
                 {"host_share", r.host_share},
                 {"host_kv_cache", host - r.host_weights * r.host_share}});
    }
  }
}

// Host memory of a replica: what works from there, and the files of the rest while they are loaded.
Breakdown<Bytes> host_memory(const InferenceMemoryInputs& in, const InferenceRates& r, double sequences) {
  Breakdown<Bytes> host;
  const double devices = as_double(in.layout.devices_per_replica());
  host.add("weights", r.host_weights);
  host.add("kv_cache",
           devices * kv_cache_bytes(cache_of(r, r.host_cache, r.window, sequences, in.request.context), nullptr));
  host.add("files", std::max(weights_of(*in.model) - r.host_weights, Bytes{}));
  return host;
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
  const InferenceRates r = inference_rates(in);
  const double n = as_double(sequences);
  InferenceMemory m;
  m.capacity = r.visible;
  const Bytes weights = weights_on_device(in, why);
  const Bytes cache = kv_cache_bytes(cache_of(r, n, in.request.context), why);
  const Bytes draft_cache =
      r.draft_weights > Bytes{}
          ? kv_cache_bytes(cache_of(r, r.draft_cache, r.draft_window, n, in.request.context), nullptr)
          : Bytes{};
  m.terms.add("weights", weights);
  m.terms.add("kv_cache", cache);
  const Bytes layers = activations(in, r, n, why);
  add_estimated(m.terms, engine, "activations", layers);
  const Bytes sampling = sampler(in, r, n, layers, why);
  add_estimated(m.terms, engine, "sampler", sampling);
  add_estimated(m.terms, engine, "workspace", workspace(in, why));
  add_estimated(m.terms, engine, "graphs", fixed_term(in, "memory.graphs", "graphs", engine.graphs, why));
  add_estimated(m.terms, engine, "context", fixed_term(in, "memory.context", "context", engine.context, why));
  add_estimated(m.terms, engine, "communication",
                fixed_term(in, "memory.communication", "communication", communication_of(in), why));
  add_estimated(m.terms, engine, "allocator", allocator(in, r, weights + cache + draft_cache + layers + sampling, why));
  add_company(in, r, n, m.terms, why);
  const Bytes caches = cache + draft_cache;
  m.terms.add("reserve", reserve(in, r, m.terms.total() - caches, why));
  m.host = host_memory(in, r, n);
  if (sequences < 1 || m.terms.total() > m.capacity) {
    m.verdict = FitVerdict::does_not_fit;
  } else {
    m.verdict = m.terms.high() > m.capacity ? FitVerdict::tight : FitVerdict::fits;
  }
  return m;
}

std::int64_t max_concurrency(const InferenceMemoryInputs& in) {
  const InferenceRates rates = inference_rates(in);
  const auto fits = [&](std::int64_t n) { return inference_need(rates, as_double(n), in.request) <= rates.visible; };
  std::int64_t low = 0;  // fits, or is none
  std::int64_t high = in.engine->max_sequences.or_else(1);
  if (high >= 1 && fits(high)) return high;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

std::int64_t longest_context(InferenceMemoryInputs in) {
  const auto fits = [&](std::int64_t context) {
    in.request.context = context;
    in.request.input = std::min(in.request.input, context);
    const InferenceRates rates = inference_rates(in);  // the largest step grows with the context
    return in.engine->max_sequences.or_else(1) >= 1 && inference_need(rates, 1, in.request) <= rates.visible;
  };
  std::int64_t low = 0;
  std::int64_t high = in.model->architecture.max_position > 0 ? in.model->architecture.max_position : 1 << 20;
  if (fits(high)) return high;
  while (high - low > 1) {  // fits(low) holds (or low is 0), fits(high) does not
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

KvPool kv_pool(const InferenceMemoryInputs& in) {
  const InferenceRates r = inference_rates(in);
  KvPool pool;
  pool.size = std::max(r.visible - inference_need(r, 0, in.request), Bytes{});
  const KvCacheInputs one = cache_of(r, 1, static_cast<std::int64_t>(r.page));
  Bytes page = kv_cache_bytes(one, nullptr) - one.copies * one.state;
  if (r.draft_weights > Bytes{}) {  // a token is in both caches
    const KvCacheInputs draft = cache_of(r, r.draft_cache, r.draft_window, 1, static_cast<std::int64_t>(r.page));
    page += kv_cache_bytes(draft, nullptr) - draft.copies * draft.state;
  }
  // Pages of an engine with one table are alike: a page of every layer.
  if (page > Bytes{}) pool.tokens = std::floor(pool.size / page) * r.page;
  return pool;
}

}  // namespace gpuplan
