// Prints how far the memory of training jobs is from measurements.
//
//   training_accuracy MEASURED.csv… [--rows] [--terms] [--check]
//
// The files have the columns of data/measured/README.md. --rows prints every row, else only those that miss the bars; --terms the terms
// of their fullest phase too. --check fails when a bar is missed.

#include <gpuplan/base/error.hpp>
#include <gpuplan/validation/training.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace gpuplan;

constexpr double kMostMedian = 0.08;
constexpr double kMostP90 = 0.20;
constexpr double kLeastRight = 0.97;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError(Problem{"input.missing_file", "cannot read '" + path + "'", {}, {}, {}, {}});
  return {std::istreambuf_iterator<char>(in), {}};
}

bool is_fits(const TrainingPrediction& p) { return p.row.metric == "fits"; }

std::string group_of(const TrainingPrediction& p) {
  return (is_fits(p) ? "fits" : p.row.memory_kind.empty() ? "unstated" : p.row.memory_kind) + std::string(" / ");
}

void print_terms(const TrainingPrediction& p) {
  std::printf("     ");
  for (const auto& term : p.memory.peak().terms.terms())
    std::printf(" %s %.2f", std::string(term.id).c_str(), term.value / gibibytes(1));
  std::printf("\n");
}

void print_row(const TrainingPrediction& p, bool terms) {
  const double unit = is_fits(p) ? 1 : 1073741824.0;
  const double ratio = p.row.value > 0 ? p.value / p.row.value : 0;
  std::printf("  %-28s %-9s %-8s %9.2f %9.2f %7.1f %%  %s stage %ld\n", p.row.id.c_str(), p.row.memory_kind.c_str(),
              p.row.task.c_str(), p.row.value / unit, p.value / unit, 100 * (ratio - 1), p.how.c_str(),
              p.predicted ? static_cast<long>(p.memory.peak().stage) : -1L);
  if (terms && p.predicted) print_terms(p);
}

bool print_group(const std::string& name, const std::vector<TrainingPrediction>& rows, bool fits) {
  const TrainingSummary s = summarize_training(rows);
  const bool holds = fits ? 1 - s.mean >= kLeastRight : s.median <= kMostMedian && s.p90 <= kMostP90;
  if (fits) {
    std::printf("%-36s %5ld %11ld   right %6.1f %%  %s\n", name.c_str(), static_cast<long>(s.rows),
                static_cast<long>(s.unpredicted), 100 * (1 - s.mean), holds ? "" : "misses");
  } else {
    std::printf("%-36s %5ld %11ld %8.1f %% %8.1f %%  bias %.3f  %s\n", name.c_str(), static_cast<long>(s.rows),
                static_cast<long>(s.unpredicted), 100 * s.median, 100 * s.p90, s.bias, holds ? "" : "misses");
  }
  return holds;
}

struct Choice {
  bool rows = false;
  bool terms = false;
  bool check = false;
};

int run(const std::vector<std::string>& paths, const Choice& choice) {
  const Catalog catalog = load_catalog({});
  std::vector<TrainingPrediction> bytes_rows;
  std::vector<TrainingPrediction> fits_rows;
  std::map<std::string, std::vector<TrainingPrediction>> groups;
  for (const std::string& path : paths) {
    const auto rows = read_training_rows(text_of(path), path);
    for (TrainingPrediction& p : predict_training_memory(catalog, rows)) {
      groups[group_of(p) + p.row.source].push_back(p);
      (is_fits(p) ? fits_rows : bytes_rows).push_back(std::move(p));
    }
  }
  std::printf("Training peak per device (bars: median %.0f %%, 90th percentile %.0f %%; fits right %.0f %%)\n",
              100 * kMostMedian, 100 * kMostP90, 100 * kLeastRight);
  std::printf("%-36s %5s %11s %10s %10s\n", "memory_kind / source", "rows", "unpredicted", "median", "p90");
  for (const auto& [name, rows] : groups) (void)print_group(name, rows, is_fits(rows.front()));
  const bool bytes_hold = print_group("all", bytes_rows, false);
  const bool fits_hold = print_group("all fits", fits_rows, true);
  std::printf("%s\n", choice.rows ? "rows:" : "rows that stand against the bars:");
  for (const auto& list : {bytes_rows, fits_rows}) {
    for (const TrainingPrediction& p : list) {
      if (choice.rows || !p.predicted || p.abs_error() > kMostP90) print_row(p, choice.terms);
    }
  }
  return choice.check && !(bytes_hold && fits_hold) ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths;
  Choice choice;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--rows") {
      choice.rows = true;
    } else if (argument == "--terms") {
      choice.terms = true;
    } else if (argument == "--check") {
      choice.check = true;
    } else {
      paths.emplace_back(argument);
    }
  }
  if (paths.empty()) {
    std::fprintf(stderr, "usage: training_accuracy MEASURED.csv… [--rows] [--terms] [--check]\n");
    return 2;
  }
  try {
    return run(paths, choice);
  } catch (const InputError& error) {
    for (const Problem& p : error.problems()) std::fprintf(stderr, "%s [%s]\n", p.message.c_str(), p.id.c_str());
    return 2;
  }
}
