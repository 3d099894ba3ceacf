// Fits the constants of links in data/links.yaml to data/measured/collectives.csv and writes them in place.
//
//   fit_collectives LINKS.yaml MEASURED.csv [--check] [--rows] [--leave-out]
//
// The file's other lines stay as they are; fitting again gives the same bytes. --check writes nothing and fails when the file
// would change or a bar is missed. --rows prints each row. --leave-out also fits without each system and reports how the others
// predict it.

#include "fitted_file.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/reader.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/validation/collectives.hpp>
#include <gpuplan/validation/errors.hpp>

#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace gpuplan;

struct Error {
  std::string system;
  bool across = false;
  double value = 0;
};

Error error_of(const Catalog& catalog, const CollectiveRow& row, bool print) {
  const CollectivePrediction p = predict_collective(catalog, row);
  const double error = p.value ? std::fabs(*p.value / row.value - 1) : 1;
  if (print) {
    std::printf("%-28s %-15s %4ld x %2ld %14.0f B  measured %.4g predicted %.4g  %5.1f %%  %s\n", row.id.c_str(),
                std::string(to_string(row.kind)).c_str(), static_cast<long>(row.group.inside),
                static_cast<long>(row.group.hosts), row.size / bytes(1), row.value, p.value.value_or(0), 100 * error,
                p.how.c_str());
  }
  return {row.source, row.group.hosts > 1, error};
}

struct Quantiles {
  double median = 0;
  double p90 = 0;
};
Quantiles print_errors(const std::string& title, const std::vector<Error>& errors) {
  std::map<std::string, double> count;
  for (const Error& e : errors) count[e.system] += 1;
  std::vector<Weighted> values;
  for (const Error& e : errors) values.push_back({e.value, 1 / count.at(e.system)});
  const Quantiles q{weighted_quantile(values, 0.5), weighted_quantile(values, 0.9)};
  std::printf("%-40s %5zu rows %2zu systems  median %5.1f %%  p90 %6.1f %%\n", title.c_str(), errors.size(),
              count.size(), 100 * q.median, 100 * q.p90);
  return q;
}

Quantiles print_part(const std::string& title, const std::vector<Error>& errors, bool across, bool by_system) {
  std::vector<Error> part;
  std::map<std::string, std::vector<Error>> systems;
  for (const Error& e : errors) {
    if (e.across != across) continue;
    part.push_back(e);
    systems[e.system].push_back(e);
  }
  const Quantiles q = print_errors(title, part);
  if (by_system) {
    for (const auto& [system, members] : systems) print_errors("  " + system, members);
  }
  return q;
}

int run(const std::vector<std::string>& words) {
  std::set<std::string> flags;
  std::vector<std::string> paths;
  for (const std::string& word : words) (word.substr(0, 2) == "--" ? (void)flags.insert(word) : paths.push_back(word));
  if (paths.size() != 2) {
    std::fprintf(stderr, "usage: fit_collectives LINKS.yaml MEASURED.csv [--check] [--rows] [--leave-out]\n");
    return 2;
  }
  const Catalog catalog = with_speeds(load_catalog({}), {});  // what is there must not decide what comes
  const auto rows = read_collective_rows(read_csv(read_text_file(paths[1]), paths[1]), paths[1]);
  const auto fitted = fit_collectives(catalog, rows);
  const Catalog now = with_speeds(catalog, fitted);
  std::vector<Error> errors;
  for (const CollectiveRow& row : rows) {
    if (row.scored) errors.push_back(error_of(now, row, flags.count("--rows") > 0));
  }
  const Quantiles inside = print_part("inside a host", errors, false, true);
  const Quantiles across = print_part("across hosts", errors, true, true);
  if (flags.count("--leave-out")) {
    std::set<std::string> systems;
    for (const CollectiveRow& row : rows) systems.insert(row.source);
    std::vector<Error> left;
    for (const std::string& system : systems) {
      std::vector<CollectiveRow> others;
      for (const CollectiveRow& row : rows) {
        if (row.source != system) others.push_back(row);
      }
      const Catalog without = with_speeds(catalog, fit_collectives(catalog, others));
      for (const CollectiveRow& row : rows) {
        if (row.scored && row.source == system) left.push_back(error_of(without, row, false));
      }
    }
    print_part("inside a host, its system left out", left, false, true);
    print_part("across hosts, its system left out", left, true, true);
  }
  const bool missed = inside.median > 0.10 || inside.p90 > 0.30 || across.median > 0.20 || across.p90 > 0.50;
  if (missed) std::printf("a bar is missed: inside 10 and 30 %%, across 20 and 50 %%\n");
  const bool check = flags.count("--check") > 0;
  const int ended =
      finish_file(paths[0], with_speeds(read_text_file(paths[0]), fitted), check, "tools/fit_collectives");
  return check && missed ? 1 : ended;
}

}  // namespace

int main(int argc, char** argv) { return gpuplan::guarded(argc, argv, run); }
