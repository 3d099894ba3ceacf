#pragma once
/// How people use a served model: what `--use-case` stands for (`data/use_cases.yaml`).
///
///     const std::vector<UseCase> all = load_use_cases();
///     find_use_case(all, "chat")->think;
///
/// Read when it is asked for; flags replace single values.

#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/units.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

struct UseCase {
  std::string name;
  std::string title;
  std::vector<std::string> aliases;
  std::optional<double> active_share;  ///< of all users, who are at it in the busiest minutes
  std::optional<Seconds> think;        ///< from the end of an answer to the next request of the same user
  std::optional<std::int64_t> input;   ///< tokens
  std::optional<std::int64_t> output;  ///< tokens
  std::optional<double> prefix_hit;    ///< share of the input that lies in the cache from earlier requests
  std::optional<Seconds> ttft;         ///< targets: means
  std::optional<Seconds> tpot;
  std::optional<Seconds> e2e;
  std::vector<std::string> assumed;  ///< fields that no source measures, by their names in the file; `all`
  std::string notes;
  std::string source;
  std::string observed_on;  ///< empty: unknown
};

/// The records of a document. Throws InputError with every problem: unknown keys, shares above 1, lengths of 0, a name that stands twice.
std::vector<UseCase> read_use_cases(const Node& document, std::string_view origin);
/// The built-in ones.
std::vector<UseCase> load_use_cases();
/// By name or alias; null when unknown.
const UseCase* find_use_case(std::span<const UseCase> use_cases, std::string_view name);

}  // namespace gpuplan
