#pragma once
// What was typed, before it is known what it means: one value a flag, each with whether the user said it.

#include <gpuplan/base/error.hpp>
#include <gpuplan/cost/offer_cost.hpp>
#include <gpuplan/job/duty.hpp>
#include <gpuplan/job/job.hpp>
#include <gpuplan/job/training.hpp>
#include <gpuplan/planner/estimate.hpp>
#include <gpuplan/planner/limits.hpp>
#include <gpuplan/planner/solve.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuplan::cli {

enum class Format : std::uint8_t { table, json, csv, markdown, html, svg };

struct GivenRate {
  std::string currency;
  double per_usd = 0;
  std::optional<Date> day;
};

/// Of machines that are bought.
struct OwnedOptions {
  std::string country;  ///< where they stand; empty: none take part
  std::optional<double> power_price, pue, staff, years, capital;
};

struct Options {
  JobSpec job;
  std::optional<TrainingMethod> train;
  TrainingSpec training;
  Setting<std::string> framework{"pytorch", true};
  std::string offer;  ///< its id
  OwnedOptions owned;
  std::optional<Duty> duty;
  std::optional<std::int64_t> global_batch;
  std::optional<Seconds> deadline;
  std::string by;                              ///< a day, or a day and a time
  std::string budget;                          ///< an amount, with or without its currency
  std::vector<std::string> said_of_training;   ///< names of the flags, --train aside
  std::vector<std::string> said_of_parts;      ///< names of flags about networks that do not generate token by token
  std::vector<std::string> said_of_load;       ///< names of flags about the load of a served language model
  std::vector<std::string> said_of_residency;  ///< names of flags about host memory and what is beside a language model
  std::vector<std::string> gpus;
  std::optional<std::int64_t> count;
  std::string node;   ///< a node design
  std::string layer;  ///< file of facts that is written; empty: the user's own
  double oversubscription = 1;
  std::vector<std::string> providers;
  std::vector<Contract> contracts;
  std::string region;
  std::string country;
  std::string currency = "USD";
  VatHandling vat;
  std::vector<GivenRate> rates;
  std::optional<Seconds> max_age;
  std::optional<double> min_quality;
  std::string software;  ///< pytorch==2.6; empty: none is asked for
  std::optional<Date> as_of;
  SortBy sort = SortBy::cost;
  bool sort_is_default = true;
  std::optional<std::int64_t> top;
  Format format = Format::table;
  bool explain = false;
  std::vector<std::string> assertions;
  std::string log_file;
  std::optional<FitQuestion> fit;
  std::optional<LoadQuestion> solve;
  std::vector<std::string> group_by;
  std::vector<std::string> metrics;
  std::string job_file;
  std::map<std::string, Place, std::less<>> places;  ///< of what the job file says, by flag
  std::string output_file;
  std::vector<std::string> catalogs;
  std::string store;  ///< of imported prices; empty: the user's own
  bool no_store = false;
  std::string import_as;             ///< what the imported list is called in the store
  std::optional<std::int64_t> keep;  ///< snapshots of each source
  bool help = false;
  bool man = false;
  std::vector<std::string> words;  ///< positional: `show NAME`, or a text to look for
};

}  // namespace gpuplan::cli
