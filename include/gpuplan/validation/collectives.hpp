#pragma once
/// Measured collectives (data/measured/collectives.csv), what gpuplan says about each, and the fit of the links' constants.

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/topology/collectives.hpp>
#include <gpuplan/validation/csv.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

struct CollectiveRow {
  std::string id, source;  ///< `source`: the system
  std::string metric;      ///< collective_s or bus_bytes_per_s
  std::string link, network_link;
  std::string algorithm;  ///< that was forced; empty: the library's choice
  Collective kind = Collective::all_reduce;
  RankGroup group;
  std::int64_t domain = 1;  ///< devices that the link joins
  BytesPerSecond network;   ///< of a host; 0 when the group stays inside
  Bytes size;               ///< a row without one is a peak: it is taken at 16 GiB
  double value = 0;
  bool scored = true;
  /// The measured time, also of a row that states a bus bandwidth.
  [[nodiscard]] Seconds time() const;
};

/// Throws InputError when a column is missing or a field is wrong.
std::vector<CollectiveRow> read_collective_rows(const CsvTable& table, std::string_view origin);

struct CollectivePrediction {
  std::optional<double> value;  ///< in the metric's unit
  std::string how;              ///< the algorithm, or why there is no prediction
};
CollectivePrediction predict_collective(const Catalog& catalog, const CollectiveRow& row);

/// The fabric a row was measured on; nullopt when a link is unknown.
std::optional<Fabric> fabric_of_row(const Catalog& catalog, const CollectiveRow& row);

/// Constants of one algorithm over one link.
struct FittedSpeed {
  std::string link, algorithm;
  LevelSpeed speed;   ///< an efficiency of 0: the rows do not show it
  bool words = true;  ///< rows were sent word by word
  bool bulk = true;   ///< … in bulk
  std::int64_t rows = 0;
  std::int64_t systems = 0;
};

/// Least squares on the relative error of each row's time, each system weighing the same, with non-negative constants; which of
/// an algorithm's two ways a row is sent is the cheaper by the constants before, until no row changes. What rows are too few or too alike to
/// show (the latency, where only large messages were measured) is what the catalogue says of the link, else the middle of the other links
/// of the category. To fit from nothing, give `with_speeds(catalog, {})`. Deterministic.
std::vector<FittedSpeed> fit_collectives(const Catalog& catalog, std::span<const CollectiveRow> rows);

/// The catalogue with these constants in place of all that were fitted before; what was put down by hand stays.
Catalog with_speeds(const Catalog& catalog, std::span<const FittedSpeed> speeds);

/// … over all that were there: what a fit does not say stays.
Catalog over_speeds(const Catalog& catalog, std::span<const FittedSpeed> speeds);

/// A line of `collectives:` with its constants.
std::string collective_line(const FittedSpeed& speed);

/// The text of data/links.yaml with the fitted lines of its `collectives:` replaced, all else as it was.
std::string with_speeds(std::string_view links_yaml, std::span<const FittedSpeed> speeds);

}  // namespace gpuplan
