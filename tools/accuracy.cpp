// Prints how far predictions are from measurements that need no fitting: the bytes of weights.
//
//   accuracy MEASURED.csv… [--rows] [--check]
//
// The files have the columns of data/measured/README.md; rows of other metrics and those marked `score=no` are passed over.
// --rows prints every row, else only those that miss the bars. --check fails when a bar is missed.

#include <gpuplan/base/error.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/validation/weights.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace gpuplan;

constexpr double kMostMedian = 0.005;
constexpr double kMostP95 = 0.03;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError(Problem{"input.missing_file", "cannot read '" + path + "'", {}, {}, {}, {}});
  return {std::istreambuf_iterator<char>(in), {}};
}

void print_row(const WeightsPrediction& p) {
  const std::string error = p.is_predicted() ? std::to_string(100 * p.abs_error()).substr(0, 6) + " %" : "-";
  std::printf("  %-24s %-34s %-16s %-16s %15.0f %15.0f %9s\n", p.row.id.c_str(), p.row.model.c_str(),
              p.row.format.c_str(), p.how.c_str(), p.row.value, p.predicted, error.c_str());
}

bool print_group(const std::string& name, const std::vector<WeightsPrediction>& rows) {
  const WeightsSummary s = summarize_weights(rows);
  const bool holds = s.median <= kMostMedian && s.p95 <= kMostP95 && s.unpredicted == 0;
  std::printf("%-26s %5ld %11ld %8.3f %% %8.3f %% %8.3f %%  %s\n", name.c_str(), static_cast<long>(s.rows),
              static_cast<long>(s.unpredicted), 100 * s.median, 100 * s.p95, 100 * s.most, holds ? "" : "misses");
  return holds;
}

int run(const std::vector<std::string>& paths, bool all_rows, bool check) {
  const Catalog catalog = load_catalog({});
  std::vector<WeightsPrediction> predictions;
  std::map<std::string, std::vector<WeightsPrediction>> by_source;
  for (const std::string& path : paths) {
    for (const WeightsRow& row : read_weights_rows(text_of(path), path)) {
      predictions.push_back(predict_weights(catalog, row));
      by_source[row.source].push_back(predictions.back());
    }
  }
  std::printf(
      "Bytes of weights against published sizes (bars: median %.1f %%, 95th percentile %.0f %%, all predicted)\n",
      100 * kMostMedian, 100 * kMostP95);
  std::printf("%-26s %5s %11s %10s %10s %10s\n", "source", "rows", "unpredicted", "median", "p95", "most");
  for (const auto& [source, rows] : by_source) (void)print_group(source, rows);
  const bool holds = print_group("all", predictions);
  std::printf("%s\n", all_rows ? "rows:" : "rows off by more than the bar of the 95th percentile, or not predicted:");
  for (const WeightsPrediction& p : predictions) {
    if (all_rows || !p.is_predicted() || p.abs_error() > kMostP95) print_row(p);
  }
  return check && !holds ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths;
  bool all_rows = false;
  bool check = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--rows") {
      all_rows = true;
    } else if (argument == "--check") {
      check = true;
    } else {
      paths.emplace_back(argument);
    }
  }
  if (paths.empty()) {
    std::fprintf(stderr, "usage: accuracy MEASURED.csv… [--rows] [--check]\n");
    return 2;
  }
  try {
    return run(paths, all_rows, check);
  } catch (const InputError& error) {
    for (const Problem& p : error.problems()) std::fprintf(stderr, "%s [%s]\n", p.message.c_str(), p.id.c_str());
    return 2;
  }
}
