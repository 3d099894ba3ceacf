#include <gpuplan/planner/quality.hpp>

#include <gpuplan/base/text.hpp>
#include <gpuplan/model/tensors.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace gpuplan {
namespace {

double loss_of(const FormatQuality& q) {
  const double kept = *q.score / *q.original;
  return std::max(q.measure == "perplexity" ? kept - 1 : 1 - kept, 0.0);
}

std::string percent(double share) { return format_significant(100 * share, 3) + " %"; }

}  // namespace

std::optional<Quality> quality_of(const Catalog& catalog, std::string_view format, double parameters) {
  std::optional<Quality> nearest;
  double distance = 0;
  for (const FormatQuality& q : catalog.format_qualities()) {
    if (lookup_key(q.format) != lookup_key(format)) continue;
    const double away = std::abs(std::log(std::max(parameters, 1.0) / (*q.parameters_b * 1e9)));
    if (nearest && away >= distance) continue;
    nearest = Quality{loss_of(q), &q};
    distance = away;
  }
  return nearest;
}

std::optional<Quality> quality_of(const Catalog& catalog, const ServedModel& model) {
  if (model.is_native || !model.scheme.linear.is_quantized()) return Quality{};
  return quality_of(catalog, model.scheme.name, static_cast<double>(parameters(model.tensors)));
}

std::optional<Rejection> below_quality(const Catalog& catalog, const ServedModel& model, double least) {
  const auto quality = quality_of(catalog, model);
  if (quality && 1 - quality->loss >= least) return std::nullopt;
  const std::string& format = model.scheme.name;
  return Rejection{
      "quality", percent(least) + " of the original's quality",
      quality ? percent(1 - quality->loss) + " in " + format + ", as measured on " + std::string(quality->record->model)
              : "not known of " + format,
      "--dtype with more bits, or a lower --min-quality"};
}

}  // namespace gpuplan
