#pragma once
// The one table of commands.

#include "options.hpp"

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/net/hub.hpp>
#include <gpuplan/planner/token_apis.hpp>
#include <gpuplan/report/document.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan::cli {

// What a command is given of the world beside its options.
struct Environment {
  Date today;
  std::string home;
  std::string config_home;  ///< $XDG_CONFIG_HOME, empty when unset
  bool color = false;
  int width = 100;      ///< of prose
  int table_width = 0;  ///< of tables; 0: no limit
  Variables variable;   ///< other environment variables
};

// The outcome of a command: a document and the exit status that goes with it.
struct Outcome {
  Document document;
  int status = 0;
  std::vector<std::string> notices;  ///< for standard error
  std::optional<Format> format;      ///< where a table would make no sense and none was asked for
};

struct Command {
  std::string_view name;
  std::string_view summary;
  std::string_view description;
  std::span<const std::string_view> flags;  ///< names from the table of flags
  std::string_view words;                   ///< positional arguments as help shows them
  std::span<const std::string_view> examples;
  Outcome (*run)(const Options&, const Environment&);  ///< null: handled by the program itself (help)
};

std::span<const Command> commands();
const Command* find_command(std::string_view name);

Outcome run_estimate(const Options& options, const Environment& environment);
Outcome run_memory(const Options& options, const Environment& environment);
Outcome run_gpus(const Options& options, const Environment& environment);
Outcome run_models(const Options& options, const Environment& environment);
Outcome run_offers(const Options& options, const Environment& environment);
Outcome run_providers(const Options& options, const Environment& environment);
Outcome run_support(const Options& options, const Environment& environment);
Outcome run_why(const Options& options, const Environment& environment);
Outcome run_compare(const Options& options, const Environment& environment);
Outcome run_prices(const Options& options, const Environment& environment);
Outcome run_calibrate(const Options& options, const Environment& environment);
Outcome run_topology(const Options& options, const Environment& environment);
Outcome run_roofline(const Options& options, const Environment& environment);
Outcome run_validate(const Options& options, const Environment& environment);

// The catalogue with the layers that the environment and --catalog name; folders that cannot be listed are told in `notices`.
enum class Imported : std::uint8_t { none, cheapest, all };  ///< offers of the price store: those that compete, or all
Catalog load_layers(const Options& options, const Environment& environment, std::vector<std::string>& notices,
                    Imported imported = Imported::none);

// Prices of tokens in the store, which are no offers.
std::vector<ListedTokenPrice> imported_token_prices(const Options& options, const Environment& environment);

// The store of imported prices: --store, else the user's own.
std::string store_path(const Options& options, const Environment& environment);

std::string help_text(const Command* command);
std::string man_page();

}  // namespace gpuplan::cli
