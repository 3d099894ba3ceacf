#pragma once
/// What an inference engine prints about memory when it starts, and what gpuplan says in its place.
///
///     const StartLog log = read_start_log(text);
///     compare_log(catalog, log, {model, engine, accelerator})
///
/// Lines are recognised by their words, one table for all engines; a log of a release with other words gives the lines it still
/// shares. Several ranks that report the same are one term, whose figure is the fullest rank's; what one rank reports several
/// times for parts of it (two pools, the buffers of one device) is summed. Figures that engines call GB are GiB.

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/deploy/deployment.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

enum class LogUnit : std::uint8_t { bytes, tokens, ratio };

struct LogTerm {
  std::string id;  ///< `weights`, `kv_pool`, `kv_tokens`, `activations`, `non_torch`, `graphs`, `kv_cache.CUDA0`, …
  LogUnit unit = LogUnit::bytes;
  double value = 0;  ///< of the fullest rank
  std::int64_t ranks = 1;
  std::int64_t line = 0;  ///< the first that says it, from 1
};

struct StartLog {
  std::string engine;   ///< empty: no line of any was recognised
  std::string version;  ///< empty: not said
  std::optional<std::int64_t> tp, pp, context_parallel, context, sequences, batched_tokens, micro_batch;
  std::optional<double> utilization;
  std::optional<bool> flash_attention;
  std::vector<LogTerm> terms;                                    ///< in the order of their first lines
  [[nodiscard]] const LogTerm* term(std::string_view id) const;  ///< null: not printed
};
StartLog read_start_log(std::string_view text);

struct LogPrediction {
  std::optional<double> value;
  std::string how;  ///< with what, or why there is none
};
/// One a term, in their order.
/// @param model        null: only what follows from other lines of the log is predicted
/// @param accelerator  null: the memory that the log says
std::vector<LogPrediction> compare_log(const Catalog& catalog, const StartLog& log, const ServedModel* model,
                                       const Engine* engine, const Accelerator* accelerator);

}  // namespace gpuplan
