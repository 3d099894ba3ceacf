#include <gpuplan/validation/memory.hpp>

#include "table_row.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/deploy/engine_release.hpp>
#include <gpuplan/model/config.hpp>
#include <gpuplan/model/stored_scheme.hpp>
#include <gpuplan/perf/interval.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

constexpr std::array<std::string_view, 10> kMetrics = {"kv_bytes",
                                                       "kv_bytes_per_device",
                                                       "kv_tokens",
                                                       "activation_bytes_per_device",
                                                       "compute_buffer_bytes_per_device",
                                                       "non_torch_bytes_per_device",
                                                       "graph_bytes_per_device",
                                                       "peak_bytes_per_device",
                                                       "reserved_bytes_per_device",
                                                       "fits"};
constexpr std::array<std::string_view, 6> kColumns = {"id", "source", "engine", "model", "metric", "value"};

// Benchmarks of one stream that print no prompt use a short one.
constexpr std::int64_t kShortPrompt = 32;

bool lists_format(const Engine& engine, std::string_view kernel) {
  return std::any_of(engine.formats.begin(), engine.formats.end(),
                     [&](const EngineFormat& f) { return lookup_key(f.format) == lookup_key(kernel); });
}

// A format that is named by its width alone is the one that the engine stores so wide.
std::string scheme_name(const MemoryRow& row, const Engine& engine) {
  if (row.weights.empty()) return row.bits ? "bits:" + format_shortest(*row.bits) : "bf16";
  const bool four = row.weights == "int4";
  const bool eight = row.weights == "int8" || row.weights == "int8-wo";
  if (!four && !eight) return row.weights;
  constexpr std::array<std::array<std::string_view, 3>, 3> kByWidth = {{{"gguf", "gguf:Q4_K_M", "gguf:Q8_0"},
                                                                        {"mlx", "mlx-4bit-g64", "mlx-8bit-g64"},
                                                                        {"exl2", "exl2:4.0", "exl2:8.0"}}};
  for (const auto& [kernel, narrow, wide] : kByWidth) {
    if (lists_format(engine, kernel)) return std::string(four ? narrow : wide);
  }
  return row.weights;
}

std::string kv_name(std::string_view text) {
  if (text.empty()) return "bf16";
  constexpr std::string_view kPrefix = "gguf:";
  return to_lower(text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text);
}

Layout layout_of(const MemoryRow& row) {
  Layout layout{row.tp.value_or(1), row.pp.value_or(1), row.dp.value_or(1)};
  const std::int64_t count = row.count.value_or(1);
  if (layout.devices() < count && value_of_key(row.variant, "split") == "layer") layout.pp = count;
  return layout;
}

RequestShape shape_of(const MemoryRow& row) {
  RequestShape shape;
  shape.output = std::max<std::int64_t>(row.output.value_or(1), 1);
  shape.input = row.input.value_or(kShortPrompt);
  shape.context = row.context.value_or(row.input ? shape.input + shape.output : shape.output);
  shape.context = std::max<std::int64_t>(shape.context, 1);
  shape.input = std::clamp<std::int64_t>(shape.input, 1, shape.context);
  return shape;
}

double sequences_of(const MemoryRow& row, const Layout& layout) {
  const double all = row.batch ? as_double(*row.batch) : row.concurrency.value_or(1);
  return std::max(1.0, all / as_double(layout.dp));
}

// Bytes or tokens with the 80 % interval that the overheads in it give; without such all three are the same.
using Value = Interval<double>;

Value value_of(Bytes size) { return {size / bytes(1), size / bytes(1), size / bytes(1)}; }

// Terms as if all erred together, as a plan shows them.
Value sum_of(const Breakdown<Bytes>& terms, std::initializer_list<std::string_view> names) {
  Value sum;
  for (const BreakdownTerm<Bytes>& term : terms.terms()) {
    if (std::find(names.begin(), names.end(), term.id) == names.end()) continue;
    sum.value += term.value / bytes(1);
    sum.low += term.low / bytes(1);
    sum.high += term.high / bytes(1);
  }
  return sum;
}

Value total_of(const Breakdown<Bytes>& terms) {
  return {terms.total() / bytes(1), terms.low() / bytes(1), terms.high() / bytes(1)};
}

Value less(const Value& all, Bytes part) {
  return {all.value - part / bytes(1), all.low - part / bytes(1), all.high - part / bytes(1)};
}

// What a program that holds its parts only counts, and what the device shows.
Value peak_of(const MemoryRow& row, const InferenceMemoryInputs& in, double sequences) {
  const InferenceMemory m = inference_memory(in, static_cast<std::int64_t>(sequences), nullptr);
  if (in.engine->preallocates) {
    if (row.memory_kind == "allocated" && row.mode == "load")
      return sum_of(m.terms, {"weights", "activations", "sampler"});
    return value_of(m.capacity - m.terms.of("reserve"));
  }
  if (row.memory_kind == "allocated") return sum_of(m.terms, {"weights", "activations", "sampler", "kv_cache"});
  return less(total_of(m.terms), m.terms.of("reserve"));
}

double fits_of(const MemoryRow& row, const InferenceMemoryInputs& in, double sequences) {
  if (in.engine->preallocates && row.mode == "load") return kv_pool(in).tokens >= as_double(in.request.context) ? 1 : 0;
  const InferenceMemory m = inference_memory(in, static_cast<std::int64_t>(sequences), nullptr);
  return m.terms.total() <= m.capacity ? 1 : 0;
}

// The pool is what the overheads leave: where they are more, it is smaller by as much.
Value pool_of(const InferenceMemoryInputs& in, bool in_tokens) {
  const KvPool pool = kv_pool(in);
  const Breakdown<Bytes> terms = inference_memory(in, 0, nullptr).terms;
  const double size = pool.size / bytes(1);
  const Value overheads = total_of(terms);
  const double unit = in_tokens && size > 0 ? pool.tokens / size : 1;
  return {in_tokens ? pool.tokens : size, unit * std::max(size - (overheads.high - overheads.value), 0.0),
          unit * (size + (overheads.value - overheads.low))};
}

Value predicted_value(const MemoryRow& row, InferenceMemoryInputs in) {
  const double n = sequences_of(row, in.layout);
  if (row.metric == "kv_bytes") in.layout = {};
  if (row.metric == "peak_bytes_per_device" || row.metric == "reserved_bytes_per_device") return peak_of(row, in, n);
  if (row.metric == "kv_tokens") return pool_of(in, true);
  if (row.metric == "kv_bytes_per_device" && in.engine->preallocates && row.mode == "load") return pool_of(in, false);
  const Breakdown<Bytes> terms = inference_memory(in, static_cast<std::int64_t>(n), nullptr).terms;
  if (row.metric.starts_with("kv_bytes")) return sum_of(terms, {"kv_cache"});
  if (row.metric == "activation_bytes_per_device") return sum_of(terms, {"activations", "sampler", "workspace"});
  if (row.metric == "compute_buffer_bytes_per_device") return sum_of(terms, {"activations", "sampler"});
  if (row.metric == "non_torch_bytes_per_device") return sum_of(terms, {"context", "communication"});
  if (row.metric == "graph_bytes_per_device") return sum_of(terms, {"graphs"});
  return {};
}

// A verdict has no interval; nor has what is exact.
MemoryPrediction prediction_of(const MemoryRow& row, const InferenceMemoryInputs& in, std::string how) {
  if (row.metric == "fits") return {fits_of(row, in, sequences_of(row, in.layout)), std::move(how), {}, {}};
  const Value v = predicted_value(row, in);
  if (v.high <= v.low) return {v.value, std::move(how), {}, {}};
  return {v.value, std::move(how), v.low, v.high};
}

// The cache alone needs no device.
bool needs_device(const MemoryRow& row) { return row.metric != "kv_bytes"; }

}  // namespace

bool is_memory_metric(std::string_view metric) {
  return std::find(kMetrics.begin(), kMetrics.end(), metric) != kMetrics.end();
}

std::vector<MemoryRow> read_memory_rows(const CsvTable& table, std::string_view origin) {
  std::vector<Problem> problems;
  require_columns(table, kColumns, origin, problems);
  if (!problems.empty()) throw InputError(std::move(problems));
  std::vector<MemoryRow> rows;
  for (const CsvRecord& record : table.records) {
    TableRow in(table, record, origin, problems);
    MemoryRow row;
    const std::pair<std::string_view, std::string MemoryRow::*> texts[] = {
        {"id", &MemoryRow::id},
        {"source", &MemoryRow::source},
        {"engine", &MemoryRow::engine},
        {"engine_version", &MemoryRow::engine_version},
        {"model", &MemoryRow::model},
        {"accelerator", &MemoryRow::accelerator},
        {"weights", &MemoryRow::weights},
        {"kv", &MemoryRow::kv},
        {"mode", &MemoryRow::mode},
        {"variant", &MemoryRow::variant},
        {"memory_kind", &MemoryRow::memory_kind},
        {"metric", &MemoryRow::metric}};
    for (const auto& [column, member] : texts) row.*member = in.text(column);
    const std::pair<std::string_view, std::optional<std::int64_t> MemoryRow::*> counts[] = {
        {"count", &MemoryRow::count}, {"tp", &MemoryRow::tp},       {"pp", &MemoryRow::pp},
        {"dp", &MemoryRow::dp},       {"batch", &MemoryRow::batch}, {"context", &MemoryRow::context}};
    for (const auto& [column, member] : counts) row.*member = in.number(column, parse_count);
    row.input = in.number("input_tokens", parse_count_or_zero);
    row.output = in.number("output_tokens", parse_count_or_zero);
    row.bits = in.number("weights_bits", parse_positive);
    row.concurrency = in.number("concurrency", parse_positive);
    row.memory_fraction = in.number("memory_fraction", parse_positive);
    row.value = in.required("value", parse_non_negative);
    rows.push_back(std::move(row));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return rows;
}

const ServedModel* MemoryPredictor::model_of(const MemoryRow& row, const Engine& engine, std::string& reason) {
  const ModelPreset* preset = catalog_.find_model(row.model);
  const auto kv = parse_kv_format(kv_name(row.kv));
  if (!preset)
    reason = "model.unknown";
  else if (!kv.value)
    reason = "kv_format.unknown";
  if (!reason.empty()) return nullptr;
  const std::string name = scheme_name(row, engine);
  auto& entry = models_[{std::string(preset->name) + "/" + std::string((*kv.value)->name), name}];
  if (entry) return entry.get();
  const Network network = read_model_preset(*preset).network;
  auto scheme = parse_scheme(name);
  // Formats of an engine's own are known by their average.
  if (!scheme.value && row.bits) scheme = parse_scheme("bits:" + format_shortest(*row.bits));
  // The cache alone does not ask how weights are stored.
  if (!scheme.value && !needs_device(row)) scheme = parse_scheme("bf16");
  if (!network.decoder)
    reason = "model.not_modelled";
  else if (!scheme.value)
    reason = "format.unknown";
  if (!reason.empty()) return nullptr;
  entry = std::make_unique<ServedModel>();
  entry->network = network;
  entry->architecture = *network.decoder;
  entry->kv = *kv.value;
  entry->tensors = tensors_of(entry->architecture);
  entry->scheme = resolve_scheme(*scheme.value, entry->architecture, entry->tensors);
  return entry.get();
}

MemoryPrediction MemoryPredictor::predict(const MemoryRow& row) {
  const std::string name = row.engine + (row.engine_version.empty() ? "" : "@" + row.engine_version);
  std::optional<Engine> engine = find_engine_release(catalog_, name);
  if (!engine) engine = find_engine_release(catalog_, row.engine);
  if (!engine) return {std::nullopt, "engine.unknown", {}, {}};
  std::string reason;
  const ServedModel* model = model_of(row, *engine, reason);
  if (!model) return {std::nullopt, reason, {}, {}};
  const Accelerator* accelerator = catalog_.find_accelerator(row.accelerator);
  if (!accelerator && needs_device(row)) return {std::nullopt, "accelerator.unknown", {}, {}};
  if (row.memory_fraction) engine->memory_fraction.value = std::min(*row.memory_fraction, 1.0);
  if (value_of_key(row.variant, "attention").starts_with("flash")) engine->score_bytes = {};
  InferenceMemoryInputs in;
  in.default_limits = true;
  in.model = model;
  in.engine = &*engine;
  in.layout = layout_of(row);
  in.request = shape_of(row);
  in.catalog = &catalog_;
  in.accelerator = accelerator;
  if (accelerator) in.visible = catalog_.visible_memory(*accelerator);
  if (in.layout.pp > model->architecture.layers) return {std::nullopt, "layout.impossible", {}, {}};
  return prediction_of(row, in, model->scheme.name + " in " + std::string(engine->name));
}

}  // namespace gpuplan
