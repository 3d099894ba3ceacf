#pragma once
/// What gpuplan says about the measured time of networks that do not generate token by token: data/measured/parts_time.csv.
///
///     PartsRowReader reader(catalog, ceilings);
///     const auto work = reader.work_of(row);
///     predicted_value(std::get<PartsRowWork>(work), constants_of(*runtime));
///
/// Metrics `batch_latency_s`, `images_per_s`, `samples_per_s`, `requests_per_s`, `documents_per_s`, `total_tokens_per_s`,
/// `audio_speed` and `step_s`. A row without a batch takes the one beyond which throughput hardly grows. Of `variant` count:
/// `compile`, `backend` (the runtime), `memory_format`, `tf32`, `packed` (sequences of half the length on average, without padding), `items`
/// (what one sample of a benchmark holds), `kept` (layers whose names begin so are in 16 bit), and what memory reads; of
/// training `optimizer`, `nodes`, `inter` (Gb/s a node).

#include <gpuplan/perf/parts.hpp>
#include <gpuplan/perf/parts_training.hpp>
#include <gpuplan/validation/csv.hpp>
#include <gpuplan/validation/parts.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gpuplan {

struct PartsTimeRow : PartsRow {
  std::string version;  ///< of the engine
  std::string mode;     ///< `single`: one item at a time; `training`: forward, backward and update
  std::optional<std::int64_t> count, steps;
};

/// Throws InputError when a column is missing or a number is none.
std::vector<PartsTimeRow> read_parts_time_rows(const CsvTable& table, std::string_view origin);

bool is_parts_time_metric(std::string_view metric);

/// A row with the work it asks for: what is left is the runtime's constants.
struct PartsRowWork {
  const PartsTimeRow* row = nullptr;
  const Runtime* runtime = nullptr;  ///< whose figures of time hold
  PartsWork work;
  double devices = 1;
  double items = 1;  ///< of the network in one of the row's
};

/// Turns rows into work. Keeps the networks that rows share; rows, catalogue and ceilings must outlive it.
class PartsRowReader {
 public:
  PartsRowReader(const Catalog& catalog, const Ceilings& ceilings) : catalog_(catalog), ceilings_(ceilings) {}

  /// @return the work, or why there is none: `model.unknown`, `engine.unknown`, …
  std::variant<PartsRowWork, std::string> work_of(const PartsTimeRow& row);

 private:
  const StoredNetwork* model_of(const PartsTimeRow& row, std::string& reason);
  [[nodiscard]] PartsTrainingInputs training_of(const PartsTimeRow& row, const PartsTimeInputs& forward) const;
  [[nodiscard]] const Runtime* runtime_of(const PartsTimeRow& row) const;

  const Catalog& catalog_;
  const Ceilings& ceilings_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<StoredNetwork>> models_;
};

/// The row's metric under these constants, in the metric's unit.
double predicted_value(const PartsRowWork& work, const PartsConstants& constants);

/// Measured over predicted time: above 1 when it took longer than predicted.
double time_ratio(const PartsRowWork& work, double predicted);

}  // namespace gpuplan
