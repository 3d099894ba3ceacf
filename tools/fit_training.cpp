// Fits the constants and intervals of data/training.yaml to data/measured/training_time.csv and writes them in place.
//
//   fit_training TRAINING.yaml MEASURED.csv [--check] [--rows]
//
// The file's other lines stay as they are; fitting again gives the same bytes. --check writes nothing and fails when the file would change. --rows
// prints each row with the shares of its terms. Printed are the errors of the fit and those without each source, accelerator and model.

#include "fitted_file.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/reader.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/validation/csv.hpp>
#include <gpuplan/validation/errors.hpp>
#include <gpuplan/validation/training_time.hpp>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace gpuplan;

void print_errors(const std::string& name, const std::vector<LeftOutRatio>& ratios) {
  std::map<std::string_view, double> rows_of;
  for (const LeftOutRatio& r : ratios) rows_of[r.work->row.source] += 1;
  std::vector<Weighted> errors;
  std::vector<Weighted> biases;
  for (const LeftOutRatio& r : ratios) {
    const double weight = 1 / rows_of[r.work->row.source];
    const bool is_time = r.work->row.metric == "step_s" || r.work->row.metric == "wall_s";
    errors.push_back({std::abs((is_time ? 1 / r.ratio : r.ratio) - 1), weight});
    biases.push_back({r.ratio, weight});
  }
  std::printf("%-34s %4zu rows %2zu sources  median %5.1f %%  p90 %5.1f %%  measured/predicted time %.2f\n",
              name.c_str(), ratios.size(), rows_of.size(), 100 * weighted_quantile(errors, 0.5),
              100 * weighted_quantile(errors, 0.9), weighted_quantile(biases, 0.5));
}

bool is_fine_tuning(const TrainingRowWork& work) { return work.row.task != "pretrain"; }

void print_groups(const std::string& name, const std::vector<LeftOutRatio>& ratios, bool by_source) {
  std::vector<LeftOutRatio> pretraining;
  std::vector<LeftOutRatio> fine_tuning;
  std::map<std::string, std::vector<LeftOutRatio>> sources;
  for (const LeftOutRatio& r : ratios) {
    (is_fine_tuning(*r.work) ? fine_tuning : pretraining).push_back(r);
    sources[r.work->row.source].push_back(r);
  }
  print_errors("pretraining, " + name, pretraining);
  print_errors("fine-tuning, " + name, fine_tuning);
  if (!by_source) return;
  for (const auto& [source, rows] : sources) print_errors("  " + source, rows);
}

void print_constants(const std::string& name, const TrainingConstants& c) {
  std::printf("%-20s compute %.3g attention %.3g bandwidth %.3g launch %.3g us exposed %.3g step %.3g ms\n",
              name.c_str(), c.compute, c.attention, c.bandwidth, c.launch * 1e6, c.hidden, c.step * 1e3);
}

void print_row(const TrainingRowWork& w, const TrainingConstants& constants) {
  std::printf("row,%s,%s,%s,%s,%g,%g,%.3f,tp%ld pp%ld vpp%ld dp%ld cp%ld ep%ld mb%ld x%ld,", w.row.id.c_str(),
              w.row.model.c_str(), w.row.accelerator.c_str(), w.row.metric.c_str(), w.row.value,
              predicted_value(w, constants), time_ratio(w, constants), static_cast<long>(w.job.tp),
              static_cast<long>(w.job.pp), static_cast<long>(w.job.vpp), static_cast<long>(w.job.dp),
              static_cast<long>(w.job.cp), static_cast<long>(w.job.ep), static_cast<long>(w.job.micro_batch),
              static_cast<long>(w.job.grad_accum));
  const Breakdown<Seconds> terms = step_terms(w.work, constants);
  for (const auto& term : terms.terms())
    std::printf(" %s=%.3f", std::string(term.id).c_str(), term.value / terms.total());
  std::printf("\n");
}

int run(const std::vector<std::string>& arguments) {
  std::vector<std::string> paths;
  bool check = false;
  bool each_row = false;
  for (const std::string& argument : arguments) {
    if (argument == "--check")
      check = true;
    else if (argument == "--rows")
      each_row = true;
    else
      paths.push_back(argument);
  }
  if (paths.size() != 2) {
    std::fputs("usage: fit_training TRAINING.yaml MEASURED.csv [--check] [--rows]\n", stderr);
    return 2;
  }
  const Catalog catalog = load_catalog({{paths[0], Layer::project}});
  const Ceilings ceilings(catalog);
  std::vector<TrainingRowWork> works;
  std::map<std::string, int> skipped;
  for (const TrainingRow& row : read_training_time_rows(read_csv(read_text_file(paths[1]), paths[1]), paths[1])) {
    auto work = training_row_work(catalog, ceilings, row);
    if (const auto* why = std::get_if<std::string>(&work)) {
      ++skipped[row.source + ": " + *why];
    } else {
      works.push_back(std::move(std::get<TrainingRowWork>(work)));
    }
  }
  for (const auto& [why, rows] : skipped) std::printf("skipped %d rows of %s\n", rows, why.c_str());
  const TrainingCalibration calibration = calibrate_training(catalog, works);
  print_constants("all", calibration.pooled);
  for (const CalibratedFramework& f : calibration.frameworks) {
    if (!f.pooled) print_constants(f.name, f.constants);
  }
  std::vector<LeftOutRatio> ratios;
  for (const TrainingRowWork& w : works) {
    const TrainingConstants& constants = constants_for(calibration, *w.framework);
    ratios.push_back({&w, time_ratio(w, constants)});
    if (each_row) print_row(w, constants);
  }
  print_groups("fit", ratios, true);
  print_groups("source left out", left_out_ratios(catalog, works, LeftOut::source), true);
  print_groups("accelerator left out", left_out_ratios(catalog, works, LeftOut::accelerator), false);
  print_groups("model left out", left_out_ratios(catalog, works, LeftOut::model), false);
  if (!calibration.frameworks.empty())
    std::printf("interval %.3g to %.3g\n", calibration.frameworks.front().low, calibration.frameworks.front().high);

  return finish_file(paths[0], with_calibration(read_text_file(paths[0]), calibration), check, "tools/fit_training");
}

}  // namespace

int main(int argc, char** argv) { return gpuplan::guarded(argc, argv, run); }
