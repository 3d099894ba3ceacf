#pragma once
/// Constants fitted to the user's own measurements, as a layer over the catalogue.
///
///     UserCalibration mine = calibrate_own(catalog, rows, collectives);
///     user_layer_yaml(mine, "2026-11-30")      // for $XDG_CONFIG_HOME/gpuplan/
///
/// An engine's constants start at those of the catalogue and are drawn to them weakly, so that few rows move them little and only as far as
/// they show. A link's are fitted anew from the rows of its kind.

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/perf/workload.hpp>
#include <gpuplan/validation/collectives.hpp>
#include <gpuplan/validation/measured.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

/// Why rows are left: the catalogue predicts them as well as any constants fitted to them.
inline constexpr std::string_view kNoBetter = "fit.no_better";

struct OwnEngine {
  std::string name;
  EngineConstants before, after;
  std::int64_t rows = 0;
  double error_before = 0, error_after = 0;  ///< median of |predicted / measured − 1|
};
struct OwnLink {
  std::string name;
  std::vector<FittedSpeed> speeds;
  std::int64_t rows = 0;
  double error_before = 0, error_after = 0;
};
struct UserCalibration {
  std::vector<OwnEngine> engines;
  std::vector<OwnLink> links;
  struct Left {
    std::string reason;
    std::int64_t rows = 0;
  };
  std::vector<Left> left;  ///< rows that nothing was fitted to, and why; `fit.no_better`: the catalogue predicts them as well
};

UserCalibration calibrate_own(const Catalog& catalog, std::span<const MeasuredRow> rows,
                              std::span<const CollectiveRow> collectives);

/// @param day  of the fit, as the facts' `observed_on`
std::string user_layer_yaml(const UserCalibration& calibration, std::string_view day);

}  // namespace gpuplan
