#pragma once
/// What a format of weights costs in quality, by what people measured.
///
///     quality_of(catalog, "int4-gptq-g128", 8.0e9)->loss   // 0.025: as on an 8B model
///
/// 16 bit and wider cost nothing, and so does the format that a model was published in.

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/deploy/deployment.hpp>

#include <optional>
#include <string_view>

namespace gpuplan {

struct Quality {
  double loss = 0;                        ///< share of the original's, 0 to 1; of perplexity what it grows by
  const FormatQuality* record = nullptr;  ///< null: the format costs nothing by definition
};

/// As measured on the model of the nearest size; empty: nobody measured that format.
std::optional<Quality> quality_of(const Catalog& catalog, std::string_view format, double parameters);
std::optional<Quality> quality_of(const Catalog& catalog, const ServedModel& model);

/// Rule `quality`: the weights keep less than `least` of the original's quality, or nobody knows how much.
std::optional<Rejection> below_quality(const Catalog& catalog, const ServedModel& model, double least);

}  // namespace gpuplan
