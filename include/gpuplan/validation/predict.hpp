#pragma once
/// What gpuplan says about a measured row: the same job, device and layout, timed by `perf`.
///
/// Modes: `single` is one request at a time; `static_batch` a batch that is prefilled and decoded together; `concurrency` and
/// `open_loop` continuous batching at that many requests, or at the number that the arrival rate keeps in flight; `offline` as
/// many as memory and engine let run. Rows of one model share its tensor list.

#include <gpuplan/perf/serving.hpp>
#include <gpuplan/perf/workload.hpp>
#include <gpuplan/validation/measured.hpp>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace gpuplan {

struct Prediction {
  std::string id;
  Regime regime = Regime::decode;
  std::string source;
  Metric metric = Metric::tpot_s;
  double measured = 0;  ///< in the metric's unit
  double predicted = 0;
  /// |predicted / measured − 1|
  [[nodiscard]] double abs_error() const;
  /// Measured over predicted time: above 1 when it took longer than predicted.
  [[nodiscard]] double time_ratio() const;
};

struct Skipped {
  std::string id;
  std::string reason;  ///< stable: `model.unknown`, `load.unknown`, …
};

/// A row with the work it asks for: what is left is the engine's constants.
struct RowWork {
  const MeasuredRow* row = nullptr;
  const Engine* engine = nullptr;
  ServingWork work;
  Regime regime = Regime::decode;
  double replicas = 1;
  bool on_cpu = false;
  double backlog = 0;  ///< s that half of the requests of an overloaded run wait on top
};

/// Turns rows into work. Keeps what rows share; rows, catalogue and ceilings must outlive it.
class RowReader {
 public:
  RowReader(const Catalog& catalog, const Ceilings& ceilings) : catalog_(catalog), ceilings_(ceilings) {}

  /// @param constants  decide how many requests an arrival rate keeps in flight
  /// @return the work, or why there is none
  std::variant<RowWork, Skipped> work_of(const MeasuredRow& row, const EngineConstants* constants = nullptr);

 private:
  const ServedModel* model_of(const MeasuredRow& row, const Engine& engine, std::string& reason);

  const Accelerator* slice_for(const MeasuredRow& row, const Accelerator& cpu);

  const Catalog& catalog_;
  const Ceilings& ceilings_;
  std::map<std::string, std::unique_ptr<Accelerator>> slices_;
  std::map<std::tuple<std::string, std::string, std::string_view>, std::unique_ptr<ServedModel>> models_;
};

/// The row's metric under these constants, in the metric's unit.
double predicted_value(const RowWork& work, const EngineConstants& constants);
Prediction predict(const RowWork& work, const EngineConstants& constants);
/// By the engine's own constants, with the 80 % interval of its regime, in the metric's unit.
Interval<double> predicted_interval(const RowWork& work);

struct ValidationResult {
  std::vector<Prediction> predictions;
  std::vector<Skipped> skipped;
};
/// Every row by its engine's own constants.
ValidationResult validate_rows(const Catalog& catalog, std::span<const MeasuredRow> rows);

}  // namespace gpuplan
