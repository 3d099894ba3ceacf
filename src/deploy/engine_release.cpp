#include <gpuplan/deploy/engine_release.hpp>

#include <string>

namespace gpuplan {
namespace {

// Takes the next number of a version off its front; what is no number counts as 0 and ends it.
long next_number(std::string_view& version) {
  constexpr long kMost = 1'000'000'000;
  long number = 0;
  std::size_t at = 0;
  while (at < version.size() && version[at] >= '0' && version[at] <= '9') {
    if (number < kMost) number = 10 * number + (version[at] - '0');
    ++at;
  }
  const bool goes_on = at > 0 && at < version.size() && version[at] == '.';
  version = goes_on ? version.substr(at + 1) : std::string_view{};
  return number;
}

template <class T>
void take(Fact<T>& into, const Fact<T>& from) {
  if (from.known()) into = from;
}

}  // namespace

bool is_older_release(std::string_view version, std::string_view other) {
  if (!version.empty() && (version.front() == 'v' || version.front() == 'V')) version.remove_prefix(1);
  while (!version.empty() || !other.empty()) {
    const long one = next_number(version);
    const long two = next_number(other);
    if (one != two) return one < two;
  }
  return false;
}

Engine engine_of_release(const Engine& engine, std::string_view version) {
  Engine out = engine;
  if (version.empty()) return out;
  for (const EngineRelease& release : engine.releases) {
    if (!is_older_release(version, release.before)) break;
    if (release.unified_pages) out.windowed_kv = false;
    out.whole_prompts = out.whole_prompts || release.whole_prompts;
    take(out.profiled_sequences, release.profiled_sequences);
    take(out.max_batched_tokens, release.max_batched_tokens);
    take(out.context, release.context);
    take(out.communication, release.communication);
    take(out.sampler_bytes_per_logit, release.sampler_bytes_per_logit);
    if (release.profiled_sequences.known()) out.large_profiled_sequences = release.profiled_sequences;
    if (release.max_batched_tokens.known()) out.large_max_batched_tokens = release.max_batched_tokens;
  }
  return out;
}

std::optional<Engine> find_engine_release(const Catalog& catalog, std::string_view name) {
  const auto at = name.find('@');
  const std::string family(name.substr(0, at));
  const std::string_view version = at == std::string_view::npos ? std::string_view{} : name.substr(at + 1);
  if (at != std::string_view::npos && (version.empty() || version.front() < '0' || version.front() > '9'))
    return std::nullopt;
  for (std::string part(version); !part.empty();) {
    if (const Engine* engine = catalog.find_engine(family + "-" + part)) return engine_of_release(*engine, version);
    const auto dot = part.rfind('.');
    part.resize(dot == std::string::npos ? 0 : dot);
  }
  const Engine* engine = catalog.find_engine(family);
  if (!engine) return std::nullopt;
  return engine_of_release(*engine, version);
}

}  // namespace gpuplan
