#include <gpuplan/planner/limits.hpp>

#include "hardware.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/deploy/engine_release.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::array<std::pair<FitQuestion, std::string_view>, 4> kQuestions = {
    {{FitQuestion::max_context, "max-context"},
     {FitQuestion::max_concurrency, "max-concurrency"},
     {FitQuestion::best_dtype, "best-dtype"},
     {FitQuestion::fewest_gpus, "fewest-gpus"}}};

// The words of the engines' own command lines.
struct EngineWords {
  std::string_view engine, context, fraction, sequences, steps, tensor_parallel, layers, host_experts, host_kv, draft,
      keys, values;  // how the cache is stored; without `values` one word for both
};
constexpr EngineWords kWords[] = {
    {"vllm", "--max-model-len", "--gpu-memory-utilization", "--max-num-seqs", "--max-num-batched-tokens",
     "--tensor-parallel-size", "", "", "", "", "--kv-cache-dtype", ""},
    {"sglang", "--context-length", "--mem-fraction-static", "--max-running-requests", "--chunked-prefill-size", "--tp",
     "", "", "", "", "", ""},
    {"tensorrt-llm", "--max_seq_len", "--kv_cache_free_gpu_memory_fraction", "--max_batch_size", "--max_num_tokens",
     "--tp_size", "", "", "", "", "", ""},
    {"llama.cpp", "-c", "", "-np", "", "", "-ngl", "--n-cpu-moe", "-nkvo", "-md", "-ctk", "-ctv"},
    {"ik_llama.cpp", "-c", "", "-np", "", "", "-ngl", "--n-cpu-moe", "-nkvo", "-md", "-ctk", "-ctv"}};

// Of a cache in another format than the engine's own, 16 bit.
std::vector<std::string> cache_flags(const EngineWords& words, std::string_view kv) {
  const std::size_t slash = kv.find('/');
  const std::string_view keys = kv.substr(0, slash);
  const std::string_view values = slash == std::string_view::npos ? keys : kv.substr(slash + 1);
  std::vector<std::string> flags;
  const auto add = [&](std::string_view flag, std::string_view format) {
    if (!flag.empty() && format != "bf16") flags.push_back(std::string(flag) + " " + std::string(format));
  };
  add(words.keys, keys);
  add(words.values, values);
  return flags;
}

std::int64_t longest_for(InferenceMemoryInputs in, std::int64_t sequences) {
  const std::int64_t most = in.model->architecture.max_position > 0 ? in.model->architecture.max_position : 1 << 20;
  const std::int64_t input = in.request.input;
  return largest_that_fits(most, [&](std::int64_t context) {
    in.request.context = context;
    in.request.input = std::min(input, context);
    const InferenceRates rates = inference_rates(in);  // the largest step grows with the context
    return inference_need(rates, static_cast<double>(sequences), in.request) <= rates.visible;
  });
}

void tell_need(const InferenceMemoryInputs& in, std::int64_t sequences, FitAnswer& answer) {
  const InferenceRates rates = inference_rates(in);
  answer.needed = format_binary_bytes(inference_need(rates, static_cast<double>(sequences), in.request));
  answer.available = format_binary_bytes(rates.visible);
}

FitAnswer longest_context_of(const HardwareTable& table, const HardwareFit& fit, FitAnswer answer) {
  InferenceMemoryInputs in = table.memory_inputs(*fit.accelerator, fit.layout);
  answer.value = longest_for(in, fit.demand);
  const std::int64_t positions = in.model->architecture.max_position;
  answer.bound = positions > 0 && answer.value >= positions ? "model" : "memory";
  if (answer.bound == "memory") {
    in.request.context = answer.value + 1;
    tell_need(in, fit.demand, answer);
  }
  return answer;
}

FitAnswer concurrency_of(const HardwareTable& table, const HardwareFit& fit, FitAnswer answer) {
  const InferenceMemoryInputs in = table.memory_inputs(*fit.accelerator, fit.layout);
  answer.value = fit.max_concurrency * fit.layout.dp;
  answer.bound = fit.max_concurrency >= in.engine->max_sequences.or_else(1) ? "engine" : "memory";
  if (answer.bound == "memory") tell_need(in, fit.max_concurrency + 1, answer);
  return answer;
}

bool is_better(const FitAnswer& one, const FitAnswer& other) {
  if (!other.accelerator) return true;
  if (one.question == FitQuestion::fewest_gpus || one.question == FitQuestion::best_dtype)
    return one.value < other.value;
  return one.value > other.value;
}

FitAnswer answer_of(const Catalog& catalog, const EstimateRequest& request, FitQuestion question) {
  const Estimate estimate = fit_job(catalog, request);
  const Ceilings ceilings(catalog);
  const HardwareTable table(catalog, request, estimate.model, *estimate.engine, ceilings);
  FitAnswer best;
  best.question = question;
  best.dtype = estimate.model.scheme.name;
  for (const HardwareFit& fit : estimate.hardware) {
    if (fit.rejection) continue;
    FitAnswer answer;
    answer.question = question;
    answer.accelerator = fit.accelerator;
    answer.layout = fit.layout;
    answer.dtype = estimate.model.scheme.name;
    answer.value = fit.layout.devices();
    answer.bound = "memory";
    if (question == FitQuestion::max_context) answer = longest_context_of(table, fit, answer);
    if (question == FitQuestion::max_concurrency) answer = concurrency_of(table, fit, answer);
    if (is_better(answer, best)) best = answer;
  }
  return best;
}

// The engine's formats from wide to narrow, as a plain name for each.
std::vector<std::string> formats_by_width(const Engine& engine) {
  std::vector<std::pair<double, std::string>> widths;
  for (const EngineFormat& format : engine.formats) {
    if (format.format == "gguf") {
      for (const char* mix : {"gguf:Q8_0", "gguf:Q6_K", "gguf:Q5_K_M", "gguf:Q4_K_M", "gguf:Q3_K_M", "gguf:Q2_K"})
        widths.emplace_back(8.5 - static_cast<double>(widths.size()) / 100, mix);
      continue;
    }
    const auto scheme = parse_scheme(format.format).value;
    if (scheme && scheme->linear.bits <= 16) widths.emplace_back(scheme->linear.bits, std::string(format.format));
  }
  std::stable_sort(widths.begin(), widths.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> names;
  for (auto& [width, name] : widths) names.push_back(std::move(name));
  return names;
}

FitAnswer best_dtype(const Catalog& catalog, const EstimateRequest& request) {
  FitAnswer last;
  last.question = FitQuestion::best_dtype;
  const auto engine = find_engine_release(catalog, request.job.engine.value);
  if (!engine) return answer_of(catalog, request, FitQuestion::best_dtype);  // which says that it is unknown
  std::string wider;
  for (const std::string& name : formats_by_width(*engine)) {
    EstimateRequest asked = request;
    asked.job.dtype = {name, false};
    if (!asked.count) asked.count = 1;
    FitAnswer answer = answer_of(catalog, asked, FitQuestion::best_dtype);
    if (answer.accelerator) {
      answer.bound = wider.empty() ? "format" : "memory";
      return answer;
    }
    wider = name;
  }
  last.bound = "memory";
  return last;
}

}  // namespace

ServingLimits serving_limits(const InferenceMemoryInputs& in, std::int64_t concurrency) {
  ServingLimits limits;
  limits.pool = kv_pool(in);
  limits.longest_context = longest_for(in, 1);
  for (const EngineWords& words : kWords) {
    if (in.engine->name.substr(0, words.engine.size()) != words.engine) continue;
    const auto add = [&](std::string_view flag, const std::string& value) {
      if (!flag.empty()) limits.flags.push_back(std::string(flag) + " " + value);
    };
    // A server of several slots divides its context among them.
    const std::int64_t slots = words.layers.empty() ? 1 : concurrency;
    add(words.context, std::to_string(in.request.context * slots));
    add(words.fraction, format_shortest(in.engine->memory_fraction.or_else(1)));
    if (concurrency > 1 || words.layers.empty()) add(words.sequences, std::to_string(concurrency));
    if (in.engine->max_batched_tokens.known()) {
      const std::int64_t sequence = std::max(in.request.input, in.request.context);
      add(words.steps, std::to_string(std::min(*in.engine->max_batched_tokens, sequence)));
    }
    if (in.layout.tp > 1) add(words.tensor_parallel, std::to_string(in.layout.tp));
    const Residency& where = in.model->residency;
    add(words.layers, std::to_string(where.device_layers.value_or(in.model->architecture.layers + 1)));
    if (where.host_expert_layers > 0) add(words.host_experts, std::to_string(where.host_expert_layers));
    if (where.kv_on_host && !words.host_kv.empty()) limits.flags.emplace_back(words.host_kv);
    if (in.model->draft) add(words.draft, where.draft);
    for (std::string& flag : cache_flags(words, in.model->kv->name)) limits.flags.push_back(std::move(flag));
    break;
  }
  return limits;
}

std::string_view to_string(FitQuestion value) {
  for (const auto& [question, name] : kQuestions) {
    if (question == value) return name;
  }
  return "?";
}

Parsed<FitQuestion> parse_fit_question(std::string_view text) {
  std::vector<std::string> all;
  std::vector<std::string_view> views;
  for (const auto& [question, name] : kQuestions) {
    if (name == text) return Parsed<FitQuestion>::ok(question);
    all.emplace_back(name);
    views.push_back(name);
  }
  return Parsed<FitQuestion>::fail("unknown question '" + std::string(text) + "'", join(all, ", "),
                                   nearest_name(text, views), "input.unknown_name");
}

FitAnswer answer_fit(const Catalog& catalog, const EstimateRequest& request, FitQuestion question) {
  return question == FitQuestion::best_dtype ? best_dtype(catalog, request) : answer_of(catalog, request, question);
}

}  // namespace gpuplan
