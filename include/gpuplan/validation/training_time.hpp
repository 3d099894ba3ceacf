#pragma once
/// How far the times of training jobs are from published measurements, and the constants of frameworks fitted to them:
/// data/measured/training_time.csv and files of that format.
///
/// Constants are fitted by least squares on the logarithm of measured over predicted step time, with Huber's weights so that no row
/// rules, each source weighing the same, and a weak pull: of the fit over all frameworks to usual values, of a framework's own to that
/// fit. The same rows give the same digits.

#include <gpuplan/perf/training.hpp>
#include <gpuplan/validation/training.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gpuplan {

/// `step_s`, `wall_s`, `tokens_per_s`, `tokens_per_s_per_device`, `samples_per_s`, `flops_per_device`, `mfu`.
bool is_training_time_metric(std::string_view metric);

/// The rows of those metrics that are not marked `score=no`. Throws InputError when a column is missing or a number is none.
std::vector<TrainingRow> read_training_time_rows(const CsvTable& table, std::string_view origin);

/// A row with its work computed, ready for any constants.
struct TrainingRowWork {
  TrainingRow row;
  const TrainingFramework* framework = nullptr;  ///< the catalogue's
  TrainingSpec job;
  TrainingWork work;
  double flops = 0;  ///< a step, of all devices, by the row's convention
};
/// Or why it cannot be predicted: `model.unknown`, `accelerator.unknown`, `layout.unknown`, …
std::variant<TrainingRowWork, std::string> training_row_work(const Catalog& catalog, const Ceilings& ceilings,
                                                             const TrainingRow& row);

/// The row's metric at those constants.
double predicted_value(const TrainingRowWork& work, const TrainingConstants& constants);
/// Measured over predicted time: over 1 where it took longer.
double time_ratio(const TrainingRowWork& work, const TrainingConstants& constants);

struct CalibratedFramework {
  std::string name;
  TrainingConstants constants;
  bool pooled = false;  ///< too few rows of its own: the constants are those fitted to all
  std::int64_t rows = 0;
  std::int64_t sources = 0;
  double low = 1;  ///< 10 % and 90 % quantiles of measured over predicted times of sources left out
  double high = 1;
};
struct TrainingCalibration {
  TrainingConstants pooled;
  std::vector<CalibratedFramework> frameworks;  ///< in the catalogue's order
  std::size_t rows = 0;                         ///< that the intervals rest on
  std::size_t sources = 0;
};
TrainingCalibration calibrate_training(const Catalog& catalog, std::span<const TrainingRowWork> works);

/// What is left out together: all rows of a source, of an accelerator, of a model.
enum class LeftOut : std::uint8_t { source, accelerator, model };
struct LeftOutRatio {
  const TrainingRowWork* work = nullptr;
  double ratio = 1;  ///< measured over predicted time, by the constants of the other rows
};
std::vector<LeftOutRatio> left_out_ratios(const Catalog& catalog, std::span<const TrainingRowWork> works, LeftOut by);

const TrainingConstants& constants_for(const TrainingCalibration& calibration, const TrainingFramework& framework);

/// The text of data/training.yaml with the fitted lines replaced, all else as it was.
std::string with_calibration(std::string_view training_yaml, const TrainingCalibration& calibration);

}  // namespace gpuplan
