#include "dataset.hpp"

#include <cstdint>
#include <limits>

namespace gpuplan {

Dataset::Dataset(const CatalogView& base)
    : hash(base.hash),
      accelerators(base.accelerators.begin(), base.accelerators.end()),
      links(base.links.begin(), base.links.end()),
      nodes(base.nodes.begin(), base.nodes.end()),
      models(base.models.begin(), base.models.end()),
      engines(base.engines.begin(), base.engines.end()),
      training_frameworks(base.training_frameworks.begin(), base.training_frameworks.end()),
      runtimes(base.runtimes.begin(), base.runtimes.end()),
      providers(base.providers.begin(), base.providers.end()),
      storage_classes(base.storage_classes.begin(), base.storage_classes.end()),
      framework_releases(base.framework_releases.begin(), base.framework_releases.end()),
      cuda_releases(base.cuda_releases.begin(), base.cuda_releases.end()),
      owned_hardware(base.owned_hardware.begin(), base.owned_hardware.end()),
      energy(base.energy.begin(), base.energy.end()),
      failure_studies(base.failure_studies.begin(), base.failure_studies.end()),
      format_qualities(base.format_qualities.begin(), base.format_qualities.end()),
      use_cases(base.use_cases.begin(), base.use_cases.end()),
      currencies(base.currencies.begin(), base.currencies.end()),
      sources(base.sources.begin(), base.sources.end()) {}

Text Dataset::keep(std::string_view text) {
  if (text.empty()) return {};
  return texts_.emplace_back(text);
}

SourceId Dataset::source(std::string_view text, std::string_view observed_on, Layer layer) {
  auto key = std::tuple(std::string(text), std::string(observed_on), layer);
  const auto found = source_ids_.find(key);
  if (found != source_ids_.end()) return found->second;
  if (sources.size() >= std::numeric_limits<SourceId>::max()) {
    throw InputError(Problem{
        "catalog.too_many_sources", "more than 65,535 different sources", std::nullopt, "fewer sources", {}, {}});
  }
  const auto id = static_cast<SourceId>(sources.size());
  sources.push_back({keep(text), keep(observed_on), layer});
  source_ids_.emplace(std::move(key), id);
  return id;
}

CatalogView Dataset::view() const {
  return {accelerators,
          links,
          nodes,
          models,
          engines,
          training_frameworks,
          runtimes,
          providers,
          storage_classes,
          framework_releases,
          cuda_releases,
          owned_hardware,
          energy,
          failure_studies,
          format_qualities,
          use_cases,
          currencies,
          sources,
          hash};
}

std::string content_hash(std::string_view text, std::string_view seed) {
  std::uint64_t h = 14695981039346656037ULL;
  for (const std::string_view part : {seed, text}) {
    for (const char c : part) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out(16, '0');
  for (int i = 15; i >= 0; --i, h >>= 4) out[static_cast<std::size_t>(i)] = kDigits[h & 15U];
  return out;
}

}  // namespace gpuplan
