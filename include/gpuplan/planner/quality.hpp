#pragma once
/// What a format of weights costs in quality, by what people measured.
///
///     quality_of(catalog, "int4-gptq-g128", {}, 8.0e9)->loss   // 0.025: on an 8B model
///
/// 16 bit and wider cost nothing, and so does the format that a model was published in.

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/planner/estimate.hpp>

#include <optional>
#include <string_view>

namespace gpuplan {

struct Quality {
  double loss = 0;                        ///< share of the original's, 0 to 1; of perplexity what it grows by
  const FormatQuality* record = nullptr;  ///< null: the format costs nothing by definition
};

/// @param is_native   the model was published in that format
/// @param parameters  of the model; the measured model of the nearest size stands for it
/// @return empty: nobody measured that format
std::optional<Quality> quality_of(const Catalog& catalog, std::string_view format, bool is_native, double parameters);

/// Leaves no option where the format keeps less than `least` of the original's quality, or nobody knows how much.
void apply_min_quality(const Catalog& catalog, const EstimateRequest& request, Estimate& estimate);

}  // namespace gpuplan
