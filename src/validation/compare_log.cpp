#include <gpuplan/validation/start_log.hpp>

#include <gpuplan/memory/inference.hpp>

#include <algorithm>
#include <cmath>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

// What the other lines of the log leave for the cache: total · utilization − weights − activation peak − non-torch.
std::optional<double> pool_of_lines(const StartLog& log) {
  const LogTerm* total = log.term("device_memory");
  const LogTerm* weights = log.term("weights");
  const LogTerm* other = log.term("non_torch");
  const LogTerm* activations = log.term("activations");
  const LogTerm* peak = log.term("torch_peak");  // weights and activations together
  if (!total || !log.utilization || !other || (!peak && !(weights && activations))) return std::nullopt;
  const double used = peak ? peak->value : weights->value + activations->value;
  return total->value * *log.utilization - used - other->value;
}

struct Setup {
  Engine engine;
  InferenceMemoryInputs in;
};

void set_up(const StartLog& log, Setup& setup) {
  Engine& engine = setup.engine;
  setup.in.engine = &engine;
  setup.in.default_limits = true;
  setup.in.layout = {log.tp.value_or(1), log.pp.value_or(1), 1};
  setup.in.request.context = log.context.value_or(4096);
  setup.in.request.input = std::min<std::int64_t>(1024, setup.in.request.context);
  if (const LogTerm* total = log.term("device_memory")) setup.in.visible = {bytes(total->value), Mark::measured, 0};
  const auto set = [](Fact<std::int64_t>& fact, const std::optional<std::int64_t>& said) {
    if (said) fact = {*said, Mark::measured, 0};
  };
  set(engine.profiled_sequences, log.sequences);
  set(engine.large_profiled_sequences, log.sequences);
  set(engine.max_sequences, log.sequences);
  set(engine.max_batched_tokens, log.batched_tokens);
  set(engine.large_max_batched_tokens, log.batched_tokens);
  if (log.batched_tokens) engine.whole_prompts = false;
  set(engine.graph_tokens, log.micro_batch);
  if (log.utilization) engine.memory_fraction = {*log.utilization, Mark::measured, 0};
}

// Figures of several devices: a term `kv_cache.CUDA0` is a part, and only all together are predicted.
bool is_of_one_device(std::string_view id) { return id.find('.') != std::string_view::npos; }

std::optional<double> predicted_term(const LogTerm& term, const StartLog& log, const InferenceMemoryInputs& in) {
  const InferenceMemory m = inference_memory(in, 1, nullptr);
  const auto of = [&](std::initializer_list<std::string_view> ids) {
    Bytes sum;
    for (const std::string_view id : ids) sum += m.terms.of(id);
    return sum / bytes(1);
  };
  const std::string_view id = term.id;
  if (id == "weights") return of({"weights"});
  if (id == "file") return weights_of(*in.model) / bytes(1);
  if (id == "activations") return of({"activations", "sampler", "workspace"});
  if (id == "torch_peak") return of({"weights", "activations", "sampler", "workspace"});
  if (id == "non_torch") return of({"context", "communication"});
  if (id == "communication") return of({"communication"});
  if (id == "graphs") return of({"graphs"});
  if (id == "kv_cache") return of({"kv_cache"});
  if (id == "device_memory") return m.capacity / bytes(1);
  const KvPool pool = kv_pool(in);
  if (id == "kv_pool") return pool.size / bytes(1);
  // Each rank of context parallelism holds other positions: as many bytes, more tokens.
  if (id == "kv_tokens") return pool.tokens * as_double(log.context_parallel.value_or(1));
  if (id == "concurrency")
    return pool.tokens * as_double(log.context_parallel.value_or(1)) / as_double(in.request.context);
  return std::nullopt;
}

// The one device's part of a log of one device is the whole.
std::string whole_of(const StartLog& log, std::string_view id) {
  const auto dot = id.find('.');
  const std::string_view kind = id.substr(0, dot);
  const std::string_view device = id.substr(dot + 1);
  if (device.find("CPU") != std::string_view::npos || device.find("Host") != std::string_view::npos) return {};
  if (kind == "weights" && log.term("weights.CPU")) return {};  // layers or experts stay on the host
  for (const LogTerm& other : log.terms) {
    const bool same_kind = std::string_view(other.id).substr(0, dot + 1) == id.substr(0, dot + 1);
    if (same_kind && other.id != id && other.id.find("CPU") == std::string::npos &&
        other.id.find("Host") == std::string::npos)
      return {};
  }
  if (kind == "compute") return "compute";
  return std::string(kind);
}

}  // namespace

std::vector<LogPrediction> compare_log(const Catalog& catalog, const StartLog& log, const ServedModel* model,
                                       const Engine* engine, const Accelerator* accelerator) {
  std::vector<LogPrediction> out;
  Setup setup;
  if (engine) setup.engine = *engine;
  set_up(log, setup);
  setup.in.model = model;
  setup.in.catalog = &catalog;
  setup.in.accelerator = accelerator;
  if (accelerator && !log.term("device_memory")) setup.in.visible = catalog.visible_memory(*accelerator);
  const bool knows_device = setup.in.visible.known();
  for (const LogTerm& term : log.terms) {
    LogPrediction& p = out.emplace_back();
    LogTerm asked = term;
    if (is_of_one_device(asked.id)) asked.id = whole_of(log, term.id);
    if (model && engine && !asked.id.empty()) {
      const bool pool = asked.id == "kv_pool" || asked.id == "kv_tokens" || asked.id == "concurrency";
      if (pool && !knows_device) {
        p.how = "accelerator.unknown";
      } else if (asked.id == "compute") {
        const InferenceMemory m = inference_memory(setup.in, 1, nullptr);
        p.value = (m.terms.of("activations") + m.terms.of("sampler")) / bytes(1);
      } else {
        p.value = predicted_term(asked, log, setup.in);
      }
      if (p.value) p.how = model->scheme.name + " in " + std::string(engine->name);
    }
    if (!p.value && term.id == "kv_pool") {
      p.value = pool_of_lines(log);
      if (p.value) p.how = "the log's other lines";
    }
    if (!p.value && p.how.empty()) p.how = model ? "not modelled" : "model.unknown";
  }
  return out;
}

}  // namespace gpuplan
