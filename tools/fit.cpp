// Fits the constants and intervals of data/engines.yaml to data/measured/inference.csv and writes them in place.
//
//   fit ENGINES.yaml MEASURED.csv... [--check] [--leave-out] [--rows]
//
// The file's other lines stay as they are; fitting again gives the same bytes. --check writes nothing and fails when the file
// would change. --rows prints each row. --leave-out also fits without
// each source, accelerator and model, and reports how the others predict them.

#include "fitted_file.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/reader.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/validation/calibrate.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace gpuplan;

void print_group(const std::string& name, const std::vector<Prediction>& rows) {
  const ErrorSummary s = summarize(rows);
  if (s.rows == 0) return;
  std::printf("%-44s %5ld rows %2ld sources  median %5.1f %%  p90 %6.1f %%  mean %5.1f %%  bias %.2f\n", name.c_str(),
              static_cast<long>(s.rows), static_cast<long>(s.sources), 100 * s.median_abs_error, 100 * s.p90_abs_error,
              100 * s.mean_abs_error, s.bias);
}

constexpr Regime kAllRegimes[] = {Regime::prefill, Regime::decode, Regime::prefill_loaded, Regime::decode_loaded,
                                  Regime::throughput};

void print_errors(const std::vector<Prediction>& predictions) {
  for (const Regime regime : kAllRegimes) {
    const auto rows = of_regime(predictions, regime);
    print_group(std::string(to_string(regime)), rows);
    std::map<std::string, std::vector<Prediction>> by_source;
    for (const Prediction& p : rows) by_source[p.source + " " + std::string(to_string(p.metric))].push_back(p);
    for (const auto& [source, members] : by_source) print_group("  " + source, members);
  }
}

void print_regimes(const std::vector<Prediction>& predictions) {
  for (const Regime regime : kAllRegimes) print_group(std::string(to_string(regime)), of_regime(predictions, regime));
}

void print_constants(const CalibratedEngine& e) {
  const EngineConstants& c = e.constants;
  std::printf(
      "%-14s%s compute %.3g dequantized %.3g bandwidth %.3g attention %.3g overlap %.3g launch %.3g us by host %.3g us "
      "step %.4g us "
      "request %.4g us host %.4g us stream %.4g us meeting %.3g in step %.3g\n",
      e.name.c_str(), e.pooled ? " (pooled)" : "", c.compute, c.dequantized, c.bandwidth, c.attention, c.overlap,
      c.launch * 1e6, c.host_launch * 1e6, c.step * 1e6, c.request * 1e6, c.host * 1e6, c.stream * 1e6, c.meeting,
      c.in_step);
}

// Coverage of intervals that rest on the other sources alone.
void print_coverage(const std::vector<Prediction>& left_out) {
  std::set<std::string> sources;
  for (const Prediction& p : left_out) sources.insert(p.source);
  for (const Regime regime : kAllRegimes) {
    const auto rows = of_regime(left_out, regime);
    double covered = 0;
    double counted = 0;
    for (const std::string& source : sources) {
      std::vector<Prediction> own;
      std::vector<Prediction> others;
      for (const Prediction& p : rows) (p.source == source ? own : others).push_back(p);
      if (own.empty() || others.empty()) continue;
      covered += coverage(own, residual_interval(others));
      counted += 1;
    }
    if (counted > 0)
      std::printf("coverage of %s by the other sources' intervals: %.0f %% over %.0f sources\n",
                  std::string(to_string(regime)).c_str(), 100 * covered / counted, counted);
  }
}

void print_left_out(const Catalog& catalog, const std::vector<MeasuredRow>& rows, const Calibration& calibration) {
  std::printf("--- each source predicted by the others\n");
  print_errors(calibration.left_out);
  print_coverage(calibration.left_out);
  const Ceilings ceilings(catalog);
  RowReader reader(catalog, ceilings);
  std::vector<Skipped> skipped;
  const auto works = works_of(reader, rows, skipped);
  std::printf("--- each accelerator predicted by the others\n");
  print_regimes(predict_left_out(catalog, reader, works, calibration.pooled,
                                 [](const MeasuredRow& row) { return row.accelerator; }));
  std::printf("--- each model predicted by the others\n");
  print_regimes(
      predict_left_out(catalog, reader, works, calibration.pooled, [](const MeasuredRow& row) { return row.model; }));
}

int run(const std::vector<std::string>& arguments) {
  std::vector<std::string> paths;
  bool check = false;
  bool leave_out = false;
  bool each_row = false;
  for (const std::string& argument : arguments) {
    if (argument == "--check")
      check = true;
    else if (argument == "--leave-out")
      leave_out = true;
    else if (argument == "--rows")
      each_row = true;
    else
      paths.push_back(argument);
  }
  if (paths.size() < 2) {
    std::fputs("usage: fit ENGINES.yaml MEASURED.csv... [--check] [--leave-out] [--rows]\n", stderr);
    return 2;
  }
  const Catalog catalog = load_catalog({{paths[0], Layer::project}});
  std::vector<MeasuredRow> rows;
  for (std::size_t i = 1; i < paths.size(); ++i) {
    const auto more = read_measured(read_text_file(paths[i]), paths[i]);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  const Calibration calibration = calibrate(catalog, rows);
  for (const CalibratedEngine& engine : calibration.engines) print_constants(engine);
  print_errors(calibration.predictions);
  for (const Prediction& p : calibration.predictions) {
    if (each_row)
      std::printf("row,%s,%s,%g,%g\n", p.id.c_str(), std::string(to_string(p.regime)).c_str(), p.measured, p.predicted);
  }
  std::map<std::string, int> reasons;
  for (const Skipped& skipped : calibration.skipped) ++reasons[skipped.reason];
  for (const auto& [reason, count] : reasons) std::printf("skipped %d rows: %s\n", count, reason.c_str());
  if (leave_out) print_left_out(catalog, rows, calibration);

  return finish_file(paths[0], with_calibration(read_text_file(paths[0]), calibration), check, "tools/fit");
}

}  // namespace

int main(int argc, char** argv) { return gpuplan::guarded(argc, argv, run); }
