#include <gpuplan/validation/weights.hpp>

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/model/config.hpp>
#include <gpuplan/model/ggml_types.hpp>
#include <gpuplan/model/stored_scheme.hpp>
#include <gpuplan/validation/errors.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::array<std::string_view, 3> kMetrics = {"file_bytes", "weights_bytes", "weights_bytes_per_device"};
constexpr std::array<std::string_view, 6> kColumns = {"id", "source", "model", "weights", "metric", "value"};
constexpr double kSameMix = 0.02;  // rounding of the stated average, metadata, and releases of the quantizer

/// Fields of one record by their columns.
class Record {
 public:
  Record(const CsvTable& table, const CsvRecord& record) : table_(table), record_(record) {}
  [[nodiscard]] std::string text(std::string_view column) const {
    const auto at = table_.column(column);
    return at ? record_.fields[*at] : std::string{};
  }
  template <class Parse>
  [[nodiscard]] auto number(std::string_view column, Parse parse) const -> decltype(parse(std::string_view{}).value) {
    const std::string field = text(column);
    if (field.empty()) return std::nullopt;
    return parse(field).value;
  }

 private:
  const CsvTable& table_;
  const CsvRecord& record_;
};

Problem problem(std::string id, std::string message, std::string_view origin, int line, std::string expected) {
  return {std::move(id), std::move(message), Place{std::string(origin), line, 0}, std::move(expected), {}, {}};
}

/// What one rank holds; layers are dealt to the stages.
Bytes held_by_device(const WeightsRow& row, const Architecture& a, std::span<const TensorGroup> tensors,
                     const Scheme& scheme) {
  Bytes total;
  for (const TensorGroup& tensor : tensors) {
    const Bytes whole =
        static_cast<double>(tensor.count) *
        stored_bytes(storage_of(tensor, scheme), static_cast<double>(tensor.rows), static_cast<double>(tensor.columns));
    total += whole * shard_share(tensor, a, row.tp);
  }
  return total / static_cast<double>(row.pp);
}

}  // namespace

double WeightsPrediction::abs_error() const { return std::fabs(predicted / row.value - 1); }

std::vector<WeightsRow> read_weights_rows(std::string_view text, std::string_view origin) {
  return read_weights_rows(read_csv(text, origin), origin);
}

std::vector<WeightsRow> read_weights_rows(const CsvTable& table, std::string_view origin) {
  std::vector<Problem> problems;
  for (const std::string_view column : kColumns) {
    if (table.column(column)) continue;
    problems.push_back(problem("input.missing_key", "no column '" + std::string(column) + "'", origin, 1,
                               "the columns of data/measured/README.md"));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  std::vector<WeightsRow> rows;
  for (const CsvRecord& record : table.records) {
    const Record in(table, record);
    WeightsRow row;
    row.metric = in.text("metric");
    if (std::find(kMetrics.begin(), kMetrics.end(), row.metric) == kMetrics.end() || in.text("score") == "no") continue;
    row.id = in.text("id");
    row.source = in.text("source");
    row.model = in.text("model");
    row.format = in.text("weights");
    row.bits = in.number("weights_bits", parse_positive);
    row.tp = in.number("tp", parse_count).value_or(1);
    row.pp = in.number("pp", parse_count).value_or(1);
    const auto value = in.number("value", parse_positive);
    if (!value) {
      problems.push_back(problem("input.bad_value", "value: '" + in.text("value") + "' is no positive number", origin,
                                 record.line, "bytes"));
    }
    row.value = value.value_or(0);
    rows.push_back(std::move(row));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return rows;
}

WeightsPrediction predict_weights(const Catalog& catalog, const WeightsRow& row) {
  WeightsPrediction out{row, 0, {}};
  const auto without = [&](std::string_view why) {
    out.how = why;
    return out;
  };
  const ModelPreset* preset = catalog.find_model(row.model);
  if (!preset) return without("model.unknown");
  const Network network = read_model_preset(*preset).network;
  if (!network.decoder) return without("model.not_modelled");
  const auto parsed = parse_scheme(row.format).value;
  if (!parsed) return without("format.unknown");
  const Architecture& a = *network.decoder;
  const std::vector<TensorGroup> tensors = tensors_of(a);
  Scheme scheme = resolve_scheme(*parsed, a, tensors);
  const bool gguf = scheme.name.starts_with("gguf:");
  const auto size = [&] {
    if (row.metric == "weights_bytes_per_device") return held_by_device(row, a, tensors, scheme);
    const Bytes held = weights_bytes(tensors, scheme);
    return gguf && row.metric == "file_bytes" ? held + gguf_metadata_bytes(a, tensors) : held;
  };
  Bytes predicted = size();
  constexpr double kMostBits = 32;
  if (row.bits && *row.bits >= 1 && *row.bits <= kMostBits && gguf) {
    const double ruled = 8 * (predicted / bytes(1)) / static_cast<double>(parameters(tensors));
    if (std::fabs(ruled / *row.bits - 1) > kSameMix) {
      scheme = *parse_scheme("bits:" + format_shortest(*row.bits)).value;
      predicted = weights_bytes(tensors, scheme);
    }
  }
  out.how = scheme.name;
  out.predicted = predicted / bytes(1);
  return out;
}

WeightsSummary summarize_weights(std::span<const WeightsPrediction> predictions) {
  WeightsSummary s;
  s.rows = static_cast<std::int64_t>(predictions.size());
  std::vector<Weighted> errors;
  for (const WeightsPrediction& p : predictions) {
    if (p.is_predicted()) {
      errors.push_back({p.abs_error(), 1});
      s.most = std::max(s.most, p.abs_error());
    } else {
      ++s.unpredicted;
    }
  }
  s.median = weighted_quantile(errors, 0.5);
  s.p95 = weighted_quantile(errors, 0.95);
  return s;
}

}  // namespace gpuplan
