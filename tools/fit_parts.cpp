// Fits the constants and the interval of runtimes in data/runtimes.yaml to the rows of a table, data/measured/parts_time.csv or
// parts_training.csv, and writes them in place.
//
//   fit_parts RUNTIMES.yaml MEASURED.csv [--check] [--rows]
//
// The file's other lines, and runtimes without a row, stay as they are; fitting again gives the same bytes. --check writes nothing and fails when the file would
// change. --rows prints each row. What is printed beside the fit's errors are those of rows that it did not see: each source, each
// accelerator, each model left out in turn.

#include "fitted_file.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/reader.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/validation/parts_fit.hpp>

#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace gpuplan;

struct Group {
  std::vector<Weighted> errors;
  std::vector<Weighted> ratios;
};

// |predicted / measured - 1| of the metric, whose quotient of times is `ratio`.
double error_of(const PartsRowWork& w, double ratio) {
  return std::fabs((time_ratio(w, w.row->value * 2) > 1 ? ratio : 1 / ratio) - 1);
}

void print(const std::string& name, const Group& group) {
  std::printf("%-52s %4zu rows  median %5.1f %%  p90 %6.1f %%  time measured/predicted %.2f\n", name.c_str(),
              group.errors.size(), 100 * weighted_quantile(group.errors, 0.5),
              100 * weighted_quantile(group.errors, 0.9), weighted_quantile(group.ratios, 0.5));
}

void print_groups(const char* title, const std::vector<PartsRowWork>& works, const std::vector<double>& ratios) {
  std::map<std::string, double> rows;
  for (const PartsRowWork& w : works) rows[w.row->source] += 1;
  std::map<std::string, Group> groups;
  Group all;
  for (std::size_t i = 0; i < works.size(); ++i) {
    const PartsTimeRow& row = *works[i].row;
    const Weighted error{error_of(works[i], ratios[i]), 1 / rows[row.source]};
    const Weighted ratio{ratios[i], 1 / rows[row.source]};
    for (const std::string& key :
         {"source " + row.source, "runtime " + std::string(works[i].runtime->name),
          "of each source " + row.source + " " + row.accelerator, "of each model " + row.model}) {
      groups[key].errors.push_back(error);
      groups[key].ratios.push_back(ratio);
    }
    all.errors.push_back(error);
    all.ratios.push_back(ratio);
  }
  std::printf("--- %s\n", title);
  print("all, each source alike", all);
  for (const auto& [name, group] : groups) print("  " + name, group);
}

void print_constants(const PartsFitResult& fit) {
  const auto line = [](const std::string& name, const PartsConstants& c) {
    std::printf(
        "%-22s product %.3g convolution %.3g depthwise %.3g attention %.3g bandwidth %.3g passes %.3g layout %.3g "
        "scores %.3g kernels %.3g launch %.3g us host %.3g us request %.3g us\n",
        name.c_str(), c.compute, c.convolution, c.depthwise, c.attention, c.bandwidth, c.map_passes, c.layout_passes,
        c.score_passes, c.kernels, c.launch * 1e6, c.host_launch * 1e6, c.request * 1e6);
  };
  line("all", fit.pooled);
  for (const FittedRuntime& r : fit.runtimes)
    line(r.name + (r.pooled ? " (all)" : "") + " " + std::to_string(r.rows), r.constants);
}

int run(const std::vector<std::string>& arguments) {
  std::vector<std::string> paths;
  std::set<std::string> flags;
  for (const std::string& a : arguments) (a.starts_with("--") ? (void)flags.insert(a) : paths.push_back(a));
  if (paths.size() != 2) {
    std::fputs("usage: fit_parts RUNTIMES.yaml MEASURED.csv [--check] [--rows]\n", stderr);
    return 2;
  }
  const Catalog catalog = load_catalog({{paths[0], Layer::project}});
  const Ceilings ceilings(catalog);
  PartsRowReader reader(catalog, ceilings);
  const auto rows = read_parts_time_rows(read_csv(read_text_file(paths[1]), paths[1]), paths[1]);
  std::vector<PartsRowWork> works;
  std::map<std::string, int> reasons;
  std::set<std::string> sources;
  for (const PartsTimeRow& row : rows) {
    auto work = reader.work_of(row);
    if (const auto* reason = std::get_if<std::string>(&work)) {
      ++reasons[*reason + " " + row.model + " " + row.engine];
      continue;
    }
    works.push_back(std::get<PartsRowWork>(std::move(work)));
    sources.insert(row.source);
  }
  const PartsFitResult fit = fit_parts_constants(catalog, works);
  print_constants(fit);
  std::vector<double> own;
  for (const PartsRowWork& w : works) own.push_back(time_ratio(w, predicted_value(w, constants_for(fit, *w.runtime))));
  print_groups("fitted", works, own);
  if (flags.contains("--rows")) {
    for (std::size_t i = 0; i < works.size(); ++i)
      std::printf("row,%s,%s,%s,%s,%s,%ld,%ld,%s,%g,%.3f\n", works[i].row->id.c_str(), works[i].runtime->name.data(),
                  works[i].row->model.c_str(), works[i].row->accelerator.c_str(), works[i].row->weights.c_str(),
                  static_cast<long>(works[i].row->batch.value_or(0)),
                  static_cast<long>(works[i].row->image_pixels.value_or(0)), works[i].row->variant.c_str(),
                  works[i].row->value, own[i]);
  }
  for (const auto& [reason, count] : reasons) std::printf("skipped %d rows: %s\n", count, reason.c_str());
  if (flags.contains("--fast")) return 0;
  const auto by_source =
      left_out_ratios(catalog, works, [](const PartsTimeRow& r) -> const std::string& { return r.source; });
  print_groups("each source left out", works, by_source);
  print_groups(
      "each accelerator left out", works,
      left_out_ratios(catalog, works, [](const PartsTimeRow& r) -> const std::string& { return r.accelerator; }));
  print_groups("each model left out", works,
               left_out_ratios(catalog, works, [](const PartsTimeRow& r) -> const std::string& { return r.model; }));
  const ResidualInterval interval = parts_interval(works, by_source);
  return finish_file(paths[0], with_parts_fit(read_text_file(paths[0]), fit, interval, works.size(), sources.size()),
                     flags.contains("--check"), "tools/fit_parts");
}

}  // namespace

int main(int argc, char** argv) { return gpuplan::guarded(argc, argv, run); }
