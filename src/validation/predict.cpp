#include <gpuplan/validation/predict.hpp>

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/memory/inference.hpp>
#include <gpuplan/model/config.hpp>
#include <gpuplan/model/stored_scheme.hpp>
#include <gpuplan/perf/cpu_slice.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

// Benchmarks of one stream that print no lengths use a short prompt and a few hundred tokens of output; the lengths move the
// decode rate by the little that the cache adds to the weights.
constexpr std::int64_t kShortPrompt = 128;
constexpr std::int64_t kShortOutput = 256;

// llama-bench times prompts without output; a token at least is sampled.
RequestShape shape_of(const MeasuredRow& row) {
  RequestShape shape;
  shape.input = row.input.value_or(kShortPrompt);
  shape.output = std::max<std::int64_t>(row.output.value_or(kShortOutput), 1);
  shape.context = shape.input + shape.output;
  return shape;
}

// Experts spread over replicas of the attention ("attention data parallel") work as one group of all those devices: each holds
// its share of the experts, and the rest is split by sequences where tensor parallelism splits it by heads.
Layout layout_of(const MeasuredRow& row) {
  if (variant_of(row, "split") == "layer") return {1, row.tp * row.pp, row.dp};
  if (row.dp > 1 && row.ep > row.tp) return {row.tp * row.dp, row.pp, 1};
  return {row.tp, row.pp, row.dp};
}

bool lists_format(const Engine& engine, std::string_view kernel) {
  return std::any_of(engine.formats.begin(), engine.formats.end(),
                     [&](const EngineFormat& f) { return lookup_key(f.format) == lookup_key(kernel); });
}

// A format that is named by its width alone is the one that the engine stores so wide; where the source states the bits of a weight and
// the engine's own format quantizes all matrices alike, it is that average.
std::string scheme_name(const MeasuredRow& row, const Engine& engine) {
  if (variant_of(row, "quant_kernel") == "fp8_block") return "fp8-block";
  constexpr std::array<std::array<std::string_view, 3>, 3> kByWidth = {{{"gguf", "gguf:Q4_K_M", "gguf:Q8_0"},
                                                                        {"mlx", "mlx-4bit-g64", "mlx-8bit-g64"},
                                                                        {"exl2", "exl2:4.0", "exl2:8.0"}}};
  if (row.bits && (row.weights.empty() || lists_format(engine, "mlx"))) return "bits:" + format_shortest(*row.bits);
  const bool four = row.weights == "int4";
  if (!four && row.weights != "int8-wo") return row.weights.empty() ? "bf16" : row.weights;
  for (const auto& [kernel, narrow, wide] : kByWidth) {
    if (lists_format(engine, kernel)) return std::string(four ? narrow : wide);
  }
  return row.weights;
}

bool is_decode(Metric metric) {
  return metric == Metric::tpot_s || metric == Metric::itl_s || metric == Metric::decode_tokens_per_s;
}
bool is_prefill(Metric metric) { return metric == Metric::ttft_s || metric == Metric::prefill_tokens_per_s; }

Regime regime_of(Metric metric, double in_flight) {
  const bool loaded = in_flight > 1;
  if (is_prefill(metric)) return loaded ? Regime::prefill_loaded : Regime::prefill;
  if (is_decode(metric)) return loaded ? Regime::decode_loaded : Regime::decode;
  return loaded ? Regime::throughput : Regime::decode;
}

// The record of the engine on CPUs (`name-cpu`), with a kernel of its own (`name-KERNEL`), of the release that was measured (`name-0.7.3`, then `name-0.7`), else of the engine.
const Engine* engine_of(const Catalog& catalog, const MeasuredRow& row, const Accelerator* accelerator) {
  if (accelerator && is_cpu(*accelerator)) {
    if (const Engine* engine = catalog.find_engine(row.engine + "-cpu")) return engine;
  }
  if (const auto kernel = variant_of(row, "kernel"); !kernel.empty()) {
    if (const Engine* engine = catalog.find_engine(row.engine + "-" + std::string(kernel))) return engine;
  }
  std::string version = row.engine_version;
  while (!version.empty()) {
    if (const Engine* engine = catalog.find_engine(row.engine + "-" + version)) return engine;
    const auto dot = version.rfind('.');
    version.resize(dot == std::string::npos ? 0 : dot);
  }
  return catalog.find_engine(row.engine);
}

// Whether a row says how many requests run at once.
bool says_load(const MeasuredRow& row) {
  switch (row.mode) {
    case MeasuredMode::single:
      return !is_prefill(row.metric) || row.input.has_value();
    case MeasuredMode::static_batch:
      return row.batch && (row.output || is_prefill(row.metric));
    case MeasuredMode::concurrency:
    case MeasuredMode::disaggregated:
      return row.concurrency && row.input && row.output;
    case MeasuredMode::offline:
    case MeasuredMode::server:
      return row.input && row.output;
    case MeasuredMode::open_loop:
      return row.request_rate && row.input && row.output;
    default:
      return false;
  }
}

double requests_per_second(const ServingWork& work, const EngineConstants& constants) {
  const JoinedSeconds joined = join_phases(work, phase_seconds(work, constants), constants, nullptr);
  return work.in_flight / joined.e2e(work.output);
}

// All prompts at once, then all sequences step by step.
double batch_prompt_seconds(const ServingWork& work, const PhaseSeconds& phases, const EngineConstants& constants) {
  return constants.request + work.running * phases.prompts / (work.batched * work.stages);
}
double static_batch_seconds(const ServingWork& work, const PhaseSeconds& phases, const EngineConstants& constants) {
  return batch_prompt_seconds(work, phases, constants) + (work.output - 1) * phases.decode;
}

// A run with arrivals ends: where they outrun the service, some seven tenths of its requests are in flight on average. Runs that do not
// say how many requests they sent had some two hundred.
double in_flight_of_run(const MeasuredRow& row, double replicas) {
  constexpr double kRequests = 200;
  constexpr double kMeanShare = 0.7;
  return std::max(1.0, kMeanShare * (row.requests ? as_double(*row.requests) : kRequests) / replicas);
}

// How many requests are in flight on a replica that lets `most` run at once.
void set_load(const MeasuredRow& row, double most, double replicas, ServingCandidate& candidate) {
  switch (row.mode) {
    case MeasuredMode::static_batch:
      candidate.concurrency = as_double(*row.batch) / replicas;
      break;
    case MeasuredMode::concurrency:
    case MeasuredMode::disaggregated:
      candidate.concurrency = *row.concurrency / replicas;
      candidate.most_running = most;
      break;
    case MeasuredMode::offline:
    case MeasuredMode::server:
      candidate.concurrency = row.requests ? std::min(most, as_double(*row.requests) / replicas) : most;
      break;
    case MeasuredMode::open_loop:
      candidate.concurrency = std::min(most, in_flight_of_run(row, replicas));
      break;
    default:
      break;
  }
}

// Requests that arrive by themselves, or all at once, do not fall in step; whoever waits for all of them needs no token at once.
ServingWork by_mode(ServingWork work, MeasuredMode mode) {
  work.closed_loop = mode == MeasuredMode::concurrency;
  work.decode.streamed = mode == MeasuredMode::concurrency || mode == MeasuredMode::open_loop ||
                         mode == MeasuredMode::disaggregated || mode == MeasuredMode::server;
  return work;
}

// Arrivals at a rate keep rate times latency requests in flight (Little's law). `result` holds the work at the most that run.
void settle_open_loop(const ServingJob& job, ServingCandidate candidate, const Ceilings& ceilings,
                      const EngineConstants& constants, RowWork& result) {
  const MeasuredRow& row = *result.row;
  const double rate = *row.request_rate / result.replicas;
  const double capacity = requests_per_second(result.work, constants);
  if (capacity <= rate) {
    // Arrivals outrun the service: the request in the middle waits for half of the difference.
    if (row.requests) result.backlog = as_double(*row.requests) / result.replicas / 2 * (1 / capacity - 1 / rate);
    return;
  }
  double low = 1;
  double high = candidate.concurrency;
  while (high / low > 1.002) {
    candidate.concurrency = std::sqrt(low * high);
    result.work = by_mode(serving_work(job, candidate, ceilings), row.mode);
    (requests_per_second(result.work, constants) < rate ? low : high) = candidate.concurrency;
  }
}

}  // namespace

double Prediction::abs_error() const { return std::abs(predicted / measured - 1); }
double Prediction::time_ratio() const { return is_rate(metric) ? predicted / measured : measured / predicted; }

const ServedModel* RowReader::model_of(const MeasuredRow& row, const Engine& engine, std::string& reason) {
  const ModelPreset* preset = catalog_.find_model(row.model);
  const std::string format = scheme_name(row, engine);
  auto scheme = parse_scheme(format);
  if (!scheme.value && row.bits) scheme = parse_scheme("bits:" + format_shortest(*row.bits));
  const auto kv = parse_kv_format(row.kv.empty() ? std::string_view("bf16") : std::string_view(row.kv));
  if (!preset)
    reason = "model.unknown";
  else if (!read_model_preset(*preset).network.decoder)
    reason = "model.not_modelled";
  else if (!scheme.value)
    reason = "format.unknown";
  else if (!kv.value)
    reason = "kv_format.unknown";
  if (!reason.empty()) return nullptr;
  auto& entry = models_[{std::string(preset->name), scheme.value->name, (*kv.value)->name}];
  if (!entry) {
    entry = std::make_unique<ServedModel>();
    entry->network = read_model_preset(*preset).network;
    entry->architecture = *entry->network.decoder;
    entry->kv = *kv.value;
    entry->tensors = tensors_of(entry->architecture);
    entry->scheme = resolve_scheme(*scheme.value, entry->architecture, entry->tensors);
  }
  return entry.get();
}

// A share of a CPU, with what it was measured to read.
const Accelerator* RowReader::slice_for(const MeasuredRow& row, const Accelerator& cpu) {
  const auto number = [&](std::string_view key) { return parse_positive(variant_of(row, key)).value; };
  const auto vcpus = number("vcpu");
  if (!vcpus) return &cpu;
  auto& entry = slices_[row.accelerator + ";" + row.variant];
  if (!entry) {
    CpuSlice slice{&cpu, *vcpus, number("threads_per_core").value_or(2), number("threads"), std::nullopt, std::nullopt};
    if (const auto read = number("read_gbs")) slice.bandwidth = gigabytes_per_second(*read);
    entry = std::make_unique<Accelerator>(slice_of(slice));
  }
  return entry.get();
}

std::variant<RowWork, Skipped> RowReader::work_of(const MeasuredRow& row, const EngineConstants* constants) {
  std::string reason;
  const Accelerator* accelerator = catalog_.find_accelerator(row.accelerator);
  const Engine* engine = engine_of(catalog_, row, accelerator);
  if (accelerator && is_cpu(*accelerator)) accelerator = slice_for(row, *accelerator);
  if (!engine) return Skipped{row.id, "engine.unknown"};
  const ServedModel* model = model_of(row, *engine, reason);
  if (!accelerator)
    reason = "accelerator.unknown";
  else if (row.metric == Metric::other)
    reason = "metric.not_modelled";
  else if (!says_load(row))
    reason = "load.unknown";
  else if (!accelerator->memory_bandwidth.known())
    reason = "bandwidth.unknown";
  if (!reason.empty()) return Skipped{row.id, reason};

  const Layout layout = layout_of(row);
  ServingJob job{model, engine, shape_of(row)};
  if (row.cached > 0 && job.request.input > 0) job.prefix_hit = as_double(row.cached) / as_double(job.request.input);
  ServingCandidate candidate{accelerator, fabric_of(catalog_, *accelerator, {}, {}, layout.devices_per_replica()),
                             layout, 1, 0};
  if (layout.tp > 1 && candidate.fabric.inside.rate <= BytesPerSecond{}) return Skipped{row.id, "fabric.unknown"};

  candidate.stages_in_turn = variant_of(row, "split") == "layer";
  RowWork result;
  result.row = &row;
  result.engine = engine;
  result.on_cpu = is_cpu(*accelerator);
  result.replicas = as_double(layout.dp);
  Engine limits = *engine;
  if (row.memory_fraction) limits.memory_fraction.value = std::min(*row.memory_fraction, 1.0);
  const double fitting =
      row.mode == MeasuredMode::single
          ? 1
          : as_double(max_concurrency({model, &limits, catalog_.visible_memory(*accelerator), layout, job.request}));
  set_load(row, std::max(1.0, fitting), result.replicas, candidate);
  result.work = serving_work(job, candidate, ceilings_);
  result.work = by_mode(std::move(result.work), row.mode);
  if (row.mode == MeasuredMode::open_loop)
    settle_open_loop(job, candidate, ceilings_, constants ? *constants : constants_of(*engine), result);
  // Under an arrival rate there is always someone else now and then.
  result.regime = regime_of(row.metric, row.mode == MeasuredMode::single ? 1 : std::max(result.work.in_flight, 1.5));
  return result;
}

double predicted_value(const RowWork& work, const EngineConstants& constants) {
  const MeasuredRow& row = *work.row;
  const PhaseSeconds phases = phase_seconds(work.work, constants);
  const JoinedSeconds joined = join_phases(work.work, phases, constants, nullptr);
  const double output = work.work.output;
  const bool together = row.mode == MeasuredMode::static_batch;
  // A rate of prompt tokens is over those that were not cached.
  const double prompt_tokens =
      std::max(work.work.input - as_double(row.cached), 1.0) * (together ? work.work.running : 1);
  const double e2e = together ? static_batch_seconds(work.work, phases, constants) : joined.e2e(output);
  const double rate = work.replicas * work.work.in_flight * output / e2e;
  switch (row.metric) {
    case Metric::ttft_s:
      return together ? batch_prompt_seconds(work.work, phases, constants) : joined.ttft + work.backlog;
    case Metric::tpot_s:
    case Metric::itl_s:
      return together ? phases.decode : joined.tpot;
    case Metric::e2e_s:
    case Metric::batch_latency_s:
      return e2e + work.backlog;
    case Metric::prefill_tokens_per_s:
      return prompt_tokens / (together ? batch_prompt_seconds(work.work, phases, constants) : joined.prefill);
    case Metric::decode_tokens_per_s:
      return 1 / (together ? phases.decode : joined.tpot);
    case Metric::output_tokens_per_s:
      return rate;
    case Metric::output_tokens_per_s_per_device:
      return rate / as_double(row.count);
    case Metric::total_tokens_per_s:
      return rate * (work.work.input + output) / output;
    case Metric::requests_per_s:
      return rate / output;
    case Metric::other:
      break;
  }
  return 0;
}

Prediction predict(const RowWork& work, const EngineConstants& constants) {
  const MeasuredRow& row = *work.row;
  return {row.id, work.regime, row.source, row.metric, row.value, predicted_value(work, constants)};
}

Interval<double> predicted_interval(const RowWork& work) {
  const double value = predicted_value(work, constants_of(*work.engine));
  for (const EngineInterval& interval : work.engine->intervals) {
    if (interval.regime != to_string(work.regime)) continue;
    const double low = std::min(interval.low.or_else(1), 1.0);
    const double high = std::max(interval.high.or_else(1), 1.0);
    // Factors are on time.
    return is_rate(work.row->metric) ? Interval<double>{value, value / high, value / low}
                                     : Interval<double>{value, value * low, value * high};
  }
  return {value, value, value};
}

ValidationResult validate_rows(const Catalog& catalog, std::span<const MeasuredRow> rows) {
  const Ceilings ceilings(catalog);
  RowReader reader(catalog, ceilings);
  ValidationResult result;
  for (const MeasuredRow& row : rows) {
    const auto work = reader.work_of(row);
    if (const auto* skipped = std::get_if<Skipped>(&work)) {
      result.skipped.push_back(*skipped);
    } else {
      const auto& known = std::get<RowWork>(work);
      result.predictions.push_back(predict(known, constants_of(*known.engine)));
    }
  }
  return result;
}

}  // namespace gpuplan
