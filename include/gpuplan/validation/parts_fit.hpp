#pragma once
/// Fits the constants of runtimes to measured rows (data/measured/parts_time.csv), and the interval to what remains of sources left out.
///
/// Minimised is a Huber loss on the logarithm of measured over predicted time, each source weighing the same, plus a weak pull: of the
/// fit over all runtimes to usual values, of a runtime's to that fit. Levenberg and Marquardt with Eigen's decomposition, so that the
/// same rows give the same digits. Constants stay within what physics allows (`kBounds` in the source). A runtime with fewer than
/// `kLeastPartsRows` rows takes the fit over all.

#include <gpuplan/validation/errors.hpp>
#include <gpuplan/validation/parts_time.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

inline constexpr std::size_t kLeastPartsRows = 12;

struct FittedRuntime {
  std::string name;
  PartsConstants constants;
  std::int64_t rows = 0;
  std::int64_t sources = 0;
  bool pooled = false;
};

struct PartsFitResult {
  PartsConstants pooled;
  std::vector<FittedRuntime> runtimes;  ///< in the catalogue's order
};

/// @param works  of any runtimes
PartsFitResult fit_parts_constants(const Catalog& catalog, std::span<const PartsRowWork> works);

const PartsConstants& constants_for(const PartsFitResult& fit, const Runtime& runtime);

/// Measured over predicted time of each row, where the fit did not see the rows of the same key.
/// @param key  of a row: its source, accelerator or model
std::vector<double> left_out_ratios(const Catalog& catalog, std::span<const PartsRowWork> works,
                                    const std::string& (*key)(const PartsTimeRow&));

/// The 80 % interval of such ratios.
ResidualInterval parts_interval(std::span<const PartsRowWork> works, std::span<const double> ratios);

/// The text of data/runtimes.yaml with the fitted lines of runtimes that have rows replaced, all else as it was.
std::string with_parts_fit(std::string_view runtimes_yaml, const PartsFitResult& fit, const ResidualInterval& interval,
                           std::size_t rows, std::size_t sources);

}  // namespace gpuplan
