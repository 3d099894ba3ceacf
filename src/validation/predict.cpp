#include <gpuplan/validation/predict.hpp>

#include <gpuplan/memory/inference.hpp>
#include <gpuplan/model/config.hpp>
#include <gpuplan/model/stored_scheme.hpp>

#include <algorithm>
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

std::string_view scheme_name(const MeasuredRow& row) {
  return variant_of(row, "quant_kernel") == "fp8_block" ? std::string_view("fp8-block") : std::string_view(row.weights);
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

// The record of the release that was measured (`name-0.7.3`, then `name-0.7`), else of the engine.
const Engine* engine_of(const Catalog& catalog, const MeasuredRow& row) {
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
      return is_decode(row.metric) || row.input.has_value();
    case MeasuredMode::static_batch:
      return row.batch && row.input && row.output;
    case MeasuredMode::concurrency:
      return row.concurrency && row.input && row.output;
    case MeasuredMode::offline:
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

// A closed loop starts all its clients at once, and requests of equal length that started in one step end in one step: each prompt
// meets another one, and in the first of the rounds it waits for half of all. Tools send ten requests a client unless told.
double companions_of(const MeasuredRow& row, const ServingWork& work) {
  constexpr double kRounds = 10;
  if (row.mode != MeasuredMode::concurrency || work.in_step)
    return 0;  // prompts that are finished first are counted already
  const double others = work.running - 1;
  const double rounds = row.requests ? std::max(1.0, as_double(*row.requests) / *row.concurrency) : kRounds;
  return std::min(others, 1.0) + others / 2 / rounds;
}

// All prompts at once, then all sequences step by step.
double static_batch_seconds(const ServingWork& work, const PhaseSeconds& phases, const EngineConstants& constants) {
  const double prefill = work.running * phases.prompts / (work.batched * work.stages);
  return constants.request + prefill + (work.output - 1) * phases.decode;
}

// How many requests are in flight on a replica that lets `most` run at once.
void set_load(const MeasuredRow& row, double most, double replicas, ServingCandidate& candidate) {
  switch (row.mode) {
    case MeasuredMode::static_batch:
      candidate.concurrency = as_double(*row.batch) / replicas;
      break;
    case MeasuredMode::concurrency:
      candidate.concurrency = *row.concurrency / replicas;
      candidate.most_running = most;
      break;
    case MeasuredMode::offline:
      candidate.concurrency = row.requests ? std::min(most, as_double(*row.requests) / replicas) : most;
      break;
    case MeasuredMode::open_loop:
      candidate.concurrency = most;
      break;
    default:
      break;
  }
}

// Requests that arrive by themselves do not fall in step.
ServingWork arriving(ServingWork work) {
  work.in_step = false;
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
    result.work = arriving(serving_work(job, candidate, ceilings));
    (requests_per_second(result.work, constants) < rate ? low : high) = candidate.concurrency;
  }
}

}  // namespace

double Prediction::abs_error() const { return std::abs(predicted / measured - 1); }
double Prediction::time_ratio() const { return is_rate(metric) ? predicted / measured : measured / predicted; }

const ServedModel* RowReader::model_of(const MeasuredRow& row, std::string& reason) {
  const ModelPreset* preset = catalog_.find_model(row.model);
  const auto scheme = parse_scheme(scheme_name(row));
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

std::variant<RowWork, Skipped> RowReader::work_of(const MeasuredRow& row, const EngineConstants* constants) {
  std::string reason;
  const Engine* engine = engine_of(catalog_, row);
  const Accelerator* accelerator = catalog_.find_accelerator(row.accelerator);
  const ServedModel* model = model_of(row, reason);
  if (!engine)
    reason = "engine.unknown";
  else if (!accelerator)
    reason = "accelerator.unknown";
  else if (row.metric == Metric::other)
    reason = "metric.not_modelled";
  else if (!says_load(row))
    reason = "load.unknown";
  else if (!accelerator->memory_bandwidth.known())
    reason = "bandwidth.unknown";
  if (!reason.empty()) return Skipped{row.id, reason};

  const Layout layout = layout_of(row);
  const ServingJob job{model, engine, shape_of(row)};
  ServingCandidate candidate{accelerator, fabric_of(catalog_, *accelerator, {}, {}, layout.devices_per_replica()),
                             layout, 1, 0};
  if (layout.tp > 1 && candidate.fabric.inside.rate <= BytesPerSecond{}) return Skipped{row.id, "fabric.unknown"};

  RowWork result;
  result.row = &row;
  result.engine = engine;
  result.replicas = as_double(layout.dp);
  Engine limits = *engine;
  if (row.memory_fraction) limits.memory_fraction.value = std::min(*row.memory_fraction, 1.0);
  const double fitting =
      as_double(max_concurrency({model, &limits, catalog_.visible_memory(*accelerator), layout, job.request}));
  set_load(row, std::max(1.0, fitting), result.replicas, candidate);
  result.work = serving_work(job, candidate, ceilings_);
  if (row.mode != MeasuredMode::concurrency) result.work = arriving(std::move(result.work));
  if (row.mode == MeasuredMode::open_loop)
    settle_open_loop(job, candidate, ceilings_, constants ? *constants : constants_of(*engine), result);
  result.companions = companions_of(row, result.work);
  // Under an arrival rate there is always someone else now and then.
  result.regime = regime_of(row.metric, row.mode == MeasuredMode::single ? 1 : std::max(result.work.in_flight, 1.5));
  return result;
}

double predicted_value(const RowWork& work, const EngineConstants& constants) {
  const MeasuredRow& row = *work.row;
  const PhaseSeconds phases = phase_seconds(work.work, constants);
  const JoinedSeconds joined = join_phases(work.work, phases, constants, nullptr);
  const double output = work.work.output;
  const double e2e =
      row.mode == MeasuredMode::static_batch ? static_batch_seconds(work.work, phases, constants) : joined.e2e(output);
  const double rate = work.replicas * work.work.in_flight * output / e2e;
  switch (row.metric) {
    case Metric::ttft_s:
      return joined.ttft + work.backlog + work.companions * phases.prompts / (work.work.batched * work.work.stages);
    case Metric::tpot_s:
    case Metric::itl_s:
      return joined.tpot;
    case Metric::e2e_s:
      return e2e + work.backlog;
    case Metric::prefill_tokens_per_s:
      return std::max(work.work.input, 1.0) / joined.prefill;
    case Metric::decode_tokens_per_s:
      return 1 / joined.tpot;
    case Metric::output_tokens_per_s:
      return rate;
    case Metric::output_tokens_per_s_per_device:
      return rate / as_double(row.count);
    case Metric::total_tokens_per_s:
      return rate * (work.work.input + output) / output;
    case Metric::other:
      break;
  }
  return 0;
}

Prediction predict(const RowWork& work, const EngineConstants& constants) {
  const MeasuredRow& row = *work.row;
  return {row.id, work.regime, row.source, row.metric, row.value, predicted_value(work, constants)};
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
