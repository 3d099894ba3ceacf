#include "resolve.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/deploy/engine_release.hpp>
#include <gpuplan/report/build.hpp>

#include <algorithm>

namespace gpuplan::cli {
namespace {

std::vector<std::string> known_keys(const Options& options) {
  std::vector<std::string> keys = options.group_by;
  if (keys.empty()) keys = {"metric"};
  const auto all = group_keys();
  std::vector<Problem> problems;
  for (const std::string& key : keys) {
    if (std::find(all.begin(), all.end(), key) != all.end()) continue;
    const std::vector<std::string> words(all.begin(), all.end());
    const std::vector<std::string_view> views(all.begin(), all.end());
    problems.push_back({"input.unknown_name",
                        "cannot group by '" + key + "'",
                        Place{"--group-by", 0, 0},
                        join(words, ", "),
                        nearest_name(key, views),
                        {}});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return keys;
}

// Errors of no row would look like none.
void check_metrics(const Options& options, const Validation& all) {
  std::vector<Problem> problems;
  const std::vector<std::string> known(all.metrics.begin(), all.metrics.end());
  const std::vector<std::string_view> views(known.begin(), known.end());
  for (const std::string& metric : options.metrics) {
    if (all.metrics.count(metric) > 0) continue;
    problems.push_back({"input.unknown_name",
                        "no row has the metric '" + metric + "'",
                        Place{"--metric", 0, 0},
                        join(known, ", "),
                        nearest_name(metric, views),
                        {}});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

[[noreturn]] void refuse(std::string message, std::string where, std::string expected) {
  throw InputError(
      Problem{"input.missing_key", std::move(message), Place{std::move(where), 0, 0}, std::move(expected), {}, {}});
}

StartLogDocument validate_log(const Catalog& catalog, const Options& options, const Environment& environment,
                              std::vector<std::string>& notices) {
  StartLog log = read_start_log(read_text_file(options.log_file));
  if (!options.job.engine.is_default)
    log.engine = options.job.engine.value.substr(0, options.job.engine.value.find('@'));
  if (!options.job.context.is_default) log.context = options.job.context.value;
  std::optional<Engine> engine = find_engine_release(
      catalog, options.job.engine.is_default ? log.engine + (log.version.empty() ? "" : "@" + log.version)
                                             : options.job.engine.value);
  if (!engine && !options.job.engine.is_default) {
    throw InputError(Problem{"input.unknown_name",
                             "unknown engine '" + options.job.engine.value + "'",
                             Place{"--engine", 0, 0},
                             "an engine of the catalogue",
                             catalog.nearest_engine(options.job.engine.value),
                             {}});
  }
  const ListFilter filter = resolve_filter(catalog, options, environment, Prices::unused, notices);
  const Accelerator* accelerator = filter.accelerators.empty() ? nullptr : filter.accelerators.front();
  std::optional<ServedModel> model;
  ModelIdentity identity;
  if (!options.job.model.value.empty()) model = serve_model(catalog, options.job, hub_access(environment), identity);
  const auto predictions =
      compare_log(catalog, log, model ? &*model : nullptr, engine ? &*engine : nullptr, accelerator);
  StartLogDocument document = report_start_log(log, predictions);
  document.origin = options.log_file;
  document.model = identity.name;
  if (accelerator) document.accelerator = accelerator->name;
  if (log.terms.empty()) notices.push_back("no line about memory was recognised in '" + options.log_file + "'");
  return document;
}

}  // namespace

Outcome run_validate(const Options& options, const Environment& environment) {
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices);
  if (!options.log_file.empty()) {
    if (!options.words.empty()) refuse("a log and tables of measurements are two things", "--log", "one of them");
    outcome.document = validate_log(catalog, options, environment, outcome.notices);
    return outcome;
  }
  if (options.words.empty()) refuse("no file with measurements", "FILE", "a table in the measurement format, or --log");
  const std::vector<std::string> keys = known_keys(options);
  Validation all;
  for (const std::string& path : options.words) {
    Validation one = validate_table(catalog, read_csv(read_text_file(path), path), path, options.metrics);
    all.rows += one.rows;
    all.metrics.merge(one.metrics);
    std::move(one.scored.begin(), one.scored.end(), std::back_inserter(all.scored));
  }
  check_metrics(options, all);
  constexpr std::size_t kWorst = 10;
  outcome.document = report_validation(all, keys, options.top ? static_cast<std::size_t>(*options.top) : kWorst);
  return outcome;
}

}  // namespace gpuplan::cli
