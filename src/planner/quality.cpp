#include <gpuplan/planner/quality.hpp>

#include <gpuplan/base/text.hpp>
#include <gpuplan/model/tensors.hpp>

#include <array>
#include <cmath>
#include <string>

namespace gpuplan {
namespace {

bool is_wide(std::string_view format) {
  constexpr std::array<std::string_view, 4> kWide = {"bf16", "fp16", "fp32", "tf32"};
  for (const std::string_view wide : kWide) {
    if (lookup_key(format) == lookup_key(wide)) return true;
  }
  return false;
}

double loss_of(const FormatQuality& q) {
  return q.measure == "perplexity" ? *q.score / *q.original - 1 : 1 - *q.score / *q.original;
}

std::string percent(double share) { return format_significant(100 * share, 3) + " %"; }

}  // namespace

std::optional<Quality> quality_of(const Catalog& catalog, std::string_view format, bool is_native, double parameters) {
  if (is_native || is_wide(format)) return Quality{};
  const FormatQuality* nearest = nullptr;
  double distance = 0;
  for (const FormatQuality& q : catalog.format_qualities()) {
    if (lookup_key(q.format) != lookup_key(format)) continue;
    const double away = std::abs(std::log(std::max(parameters, 1.0) / (*q.parameters_b * 1e9)));
    if (nearest && away >= distance) continue;
    nearest = &q;
    distance = away;
  }
  if (!nearest) return std::nullopt;
  return Quality{std::max(loss_of(*nearest), 0.0), nearest};
}

void apply_min_quality(const Catalog& catalog, const EstimateRequest& request, Estimate& estimate) {
  if (!request.min_quality) return;
  const std::string& format = estimate.model.scheme.name;
  const auto quality = quality_of(catalog, format, request.job.dtype.is_default,
                                  static_cast<double>(parameters(estimate.model.tensors)));
  if (quality && 1 - quality->loss >= *request.min_quality) return;
  const Rejection rejection = {
      "quality", percent(*request.min_quality) + " of the original's quality",
      quality ? percent(1 - quality->loss) + " in " + format + ", as measured on " + std::string(quality->record->model)
              : "not known of " + format,
      "--dtype with more bits, or a lower --min-quality"};
  for (const Option& option : estimate.options) estimate.rejected.push_back({option.offer, rejection});
  estimate.options.clear();
  for (HardwareFit& fit : estimate.hardware) {
    if (!fit.rejection) fit.rejection = rejection;
  }
}

}  // namespace gpuplan
