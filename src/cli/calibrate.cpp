#include "output.hpp"
#include "resolve.hpp"

#include <gpuplan/planner/topology.hpp>
#include <gpuplan/report/build.hpp>
#include <gpuplan/validation/benchmark_files.hpp>
#include <gpuplan/validation/user_layer.hpp>

#include <algorithm>
#include <filesystem>

namespace gpuplan::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kUsualHost = 8;  // devices

[[noreturn]] void refuse(std::string id, std::string message, std::string where, std::string expected) {
  throw InputError(
      Problem{std::move(id), std::move(message), Place{std::move(where), 0, 0}, std::move(expected), {}, {}});
}

// Where the user's own layers are read from.
std::string layer_path(const Options& options, const Environment& environment) {
  if (!options.layer.empty()) return options.layer;
  const fs::path config_home = environment.config_home;
  if (config_home.is_absolute()) return (config_home / "gpuplan" / "calibration.yaml").string();
  if (environment.home.empty()) refuse("input.missing_key", "there is no home folder to write to", "--layer", "a file");
  return (fs::path(environment.home) / ".config" / "gpuplan" / "calibration.yaml").string();
}

// What the files do not say of themselves.
BenchmarkContext context_of(const Catalog& catalog, const Options& options, const Environment& environment,
                            std::vector<std::string>& notices) {
  BenchmarkContext context;
  context.count = options.count.value_or(1);
  context.model = options.job.model.value;
  if (!options.job.dtype.is_default) context.weights = options.job.dtype.value;
  if (!options.job.engine.is_default) context.engine = options.job.engine.value;
  TopologyRequest request;
  if (!options.node.empty()) {
    request.node = catalog.find_node(options.node);
    if (!request.node)
      refuse("input.unknown_name", "unknown node design '" + options.node + "'", "--node",
             "a node design of the catalogue");
    if (!request.node->accelerators.empty())
      request.accelerator = catalog.find_accelerator(request.node->accelerators.front());
  }
  const auto chosen = resolve_filter(catalog, options, environment, Prices::unused, notices).accelerators;
  if (!chosen.empty()) request.accelerator = chosen.front();
  if (!request.accelerator) return context;
  context.accelerator = request.accelerator->name;
  const NodeDesign* node = request.node ? request.node : node_design(catalog, *request.accelerator, kUsualHost);
  const Fabric fabric = node ? fabric_of_node(catalog, *node, std::max<std::int64_t>(2, node->count.or_else(1)))
                             : fabric_of(catalog, *request.accelerator, {}, {}, 2);
  context.link = fabric.inside.link;
  context.network_link = fabric.between.link;
  context.devices_per_host = std::max<std::int64_t>(1, node ? node->count.or_else(1) : fabric.domain);
  context.network_gbit = static_cast<double>(fabric.domain) * (fabric.between.rate / gigabits_per_second(1));
  return context;
}

struct Rows {
  std::vector<MeasuredRow> serving;
  std::vector<CollectiveRow> collectives;
};

// A table may hold both; rows that are marked not to be scored are not fitted to either.
void add_rows(const CsvTable& table, const std::string& origin, Rows& rows) {
  const auto metric = table.column("metric");
  const auto score = table.column("score");
  CsvTable serving{table.columns, {}};
  CsvTable collectives{table.columns, {}};
  for (const CsvRecord& record : table.records) {
    if (!metric || (score && record.fields[*score] == "no")) continue;
    const std::string& word = record.fields[*metric];
    (word == "collective_s" || word == "bus_bytes_per_s" ? collectives : serving).records.push_back(record);
  }
  if (!serving.records.empty()) {
    auto read = read_measured(serving, origin);
    std::move(read.begin(), read.end(), std::back_inserter(rows.serving));
  }
  if (!collectives.records.empty()) {
    auto read = read_collective_rows(collectives, origin);
    std::move(read.begin(), read.end(), std::back_inserter(rows.collectives));
  }
}

// The folder of the user's own layers is made; one that was typed is there, or it is a slip.
void write_layer(const std::string& text, const std::string& path, bool is_typed) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code ignored;  // what cannot be made cannot be written to either, which is said then
  if (is_typed && !folder.empty() && !fs::is_directory(folder, ignored))
    refuse("input.missing_file", "there is no folder '" + folder.string() + "'", "--layer", "a folder that is there");
  if (!is_typed && !folder.empty()) fs::create_directories(folder, ignored);
  write_result(text, path);
}

}  // namespace

Outcome run_calibrate(const Options& options, const Environment& environment) {
  Outcome outcome;
  if (options.words.empty())
    refuse("input.missing_key", "no file with measurements", "FILE", "what a benchmark printed, or a table");
  const Catalog catalog = load_layers(options, environment, outcome.notices);
  const BenchmarkContext context = context_of(catalog, options, environment, outcome.notices);
  Rows rows;
  for (const std::string& path : options.words) {
    const BenchmarkTable read = read_benchmark(read_text_file(path), path, context);
    add_rows(read.table, path, rows);
    if (read.without_value > 0)
      outcome.notices.push_back("'" + path + "': " + std::to_string(read.without_value) +
                                (read.without_value == 1 ? " result is" : " results are") +
                                " not above zero and left out");
  }
  const UserCalibration mine = calibrate_own(catalog, rows.serving, rows.collectives);
  const bool nothing = mine.engines.empty() && mine.links.empty();
  const bool as_good =
      std::any_of(mine.left.begin(), mine.left.end(), [](const auto& left) { return left.reason == kNoBetter; });
  if (nothing && !as_good) {
    std::string why;
    for (const auto& left : mine.left) why += (why.empty() ? "" : ", ") + left.reason;
    refuse("input.nothing_to_fit", "nothing to fit: " + (why.empty() ? "there are no rows" : why),
           options.words.front(), "--gpu, --model and --dtype with names of the catalogue");
  }
  if (nothing) {
    outcome.document = list_calibration(mine, "");
    return outcome;
  }
  const std::string path = layer_path(options, environment);
  std::error_code ignored;
  for (const std::string& input : options.words) {
    if (fs::equivalent(input, path, ignored))
      refuse("input.contradiction", "'" + path + "' holds the measurements that are read", "--layer", "another file");
  }
  write_layer(user_layer_yaml(mine, to_string(environment.today)), path, !options.layer.empty());
  outcome.document = list_calibration(mine, path);
  return outcome;
}

}  // namespace gpuplan::cli
