#include <gpuplan/validation/calibrate.hpp>

#include "least_squares.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::size_t kConstants = 13;
using Point = std::array<double, kConstants>;

// What physics allows: a launch takes half a microsecond at least, a sequence costs the host not over 1 ms a step, a request not over
// 100 ms. Shares are of ceilings that were measured, some by slower tools than kernels are: they may pass 1 by a quarter. `start` is
// the middle of what kernels and hosts reach.
struct Bound {
  double EngineConstants::*member;
  double low;
  double high;
  double start;
  std::string_view key;  // in data/engines.yaml
  double unit;           // of the key, in base units
};
constexpr std::array<Bound, kConstants> kBounds = {
    {{&EngineConstants::compute, 0.05, 1.25, 0.7, "compute_efficiency", 1},
     {&EngineConstants::dequantized, 0.05, 1.25, 0.6, "dequantized_efficiency", 1},
     {&EngineConstants::bandwidth, 0.05, 1.25, 0.8, "bandwidth_efficiency", 1},
     {&EngineConstants::attention, 0.05, 1, 0.4, "attention_efficiency", 1},
     {&EngineConstants::overlap, 0, 1, 0.1, "overlap", 1},
     {&EngineConstants::launch, 0.5e-6, 50e-6, 3e-6, "launch_us", 1e-6},
     {&EngineConstants::host_launch, 0.5e-6, 200e-6, 20e-6, "host_launch_us", 1e-6},
     {&EngineConstants::step, 0, 1e-3, 30e-6, "step_us", 1e-6},
     {&EngineConstants::request, 0, 100e-3, 10e-3, "request_us", 1e-6},
     {&EngineConstants::host, 0, 20e-3, 500e-6, "host_us", 1e-6},
     {&EngineConstants::stream, 0, 1e-3, 30e-6, "stream_us", 1e-6},
     {&EngineConstants::meeting, 0, 16, 2, "meeting", 1},
     {&EngineConstants::in_step, 0, 1, 0.2, "in_step", 1}}};

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// The search runs over all numbers; a sharp bound becomes a far end.
double inside(const Bound& bound, double x) { return bound.low + (bound.high - bound.low) * logistic(x); }
double outside(const Bound& bound, double value) {
  const double share = std::clamp((value - bound.low) / (bound.high - bound.low), 1e-4, 1 - 1e-4);
  return std::log(share / (1 - share));
}

EngineConstants constants_at(const Point& point) {
  EngineConstants constants;
  for (std::size_t i = 0; i < kConstants; ++i) constants.*(kBounds[i].member) = inside(kBounds[i], point[i]);
  return constants;
}

// Three digits in the unit of the file, so that what is written is what was judged.
EngineConstants rounded(EngineConstants constants) {
  for (const Bound& bound : kBounds) {
    const double value = constants.*(bound.member) / bound.unit;
    if (constants.*(bound.member) - bound.low < 1e-5 * (bound.high - bound.low)) constants.*(bound.member) = bound.low;
    if (constants.*(bound.member) <= 0) continue;
    const double scale = std::pow(10.0, 2 - std::floor(std::log10(value)));
    constants.*(bound.member) = std::round(value * scale) / scale * bound.unit;
  }
  return constants;
}

// Rows alone leave constants undecided that trade against each other (overlap against bandwidth, attention against request time), and
// the search would run them into their bounds. A pull to the parent's values decides them: that much loss for a step of one on the
// logistic scale. Few rows of an engine move its constants little, many decide them.
constexpr double kPull = 0.01;
// Rows of one source and regime that count as independent evidence; more of them share that weight.
constexpr double kIndependent = 10;

// Releases of an engine differ by up to a factor of two: beside rows that name theirs, one that does not tells little.
constexpr double kWithoutRelease = 0.1;

std::vector<double> row_weights(const std::vector<RowWork>& works) {
  std::map<std::pair<Regime, std::string_view>, double> rows;
  std::set<const Engine*> with_release;
  for (const RowWork& w : works) {
    rows[{w.regime, w.row->source}] += 1;
    if (!w.row->engine_version.empty()) with_release.insert(w.engine);
  }
  std::vector<double> weights;
  for (const RowWork& w : works) {
    const double like = rows[{w.regime, w.row->source}];
    const bool vague = w.row->engine_version.empty() && with_release.count(w.engine) > 0;
    weights.push_back((vague ? kWithoutRelease : 1) * std::min(like, kIndependent) / like);
  }
  return weights;
}

Point point_of(const Eigen::VectorXd& x) {
  Point point{};
  for (std::size_t i = 0; i < kConstants; ++i) point[i] = x(static_cast<Eigen::Index>(i));
  return point;
}

Eigen::VectorXd residuals_at(const std::vector<RowWork>& works, const Eigen::VectorXd& x) {
  const EngineConstants constants = constants_at(point_of(x));
  Eigen::VectorXd residuals(static_cast<Eigen::Index>(works.size()));
  for (std::size_t i = 0; i < works.size(); ++i)
    residuals(static_cast<Eigen::Index>(i)) = std::log(predicted_value(works[i], constants) / works[i].row->value);
  return residuals;
}

bool is_enough(std::span<const Prediction> predictions) {
  std::set<std::string_view> sources;
  for (const Prediction& p : predictions) sources.insert(p.source);
  return sources.size() >= 2 && static_cast<std::int64_t>(predictions.size()) >= kLeastRows;
}

constexpr std::array<Regime, 5> kRegimes = {Regime::prefill, Regime::decode, Regime::prefill_loaded,
                                            Regime::decode_loaded, Regime::throughput};

// CPUs have one source: intervals rest on devices that are left out, and are so much wider on the logarithmic scale for the next source.
constexpr double kOneSource = 1.25;

/// @param own  how rows of this engine are predicted by the other sources
/// @param all  the same of all engines
std::vector<CalibratedInterval> intervals_of(std::span<const Prediction> own, std::span<const Prediction> all,
                                             bool on_cpu) {
  std::vector<CalibratedInterval> intervals;
  for (const Regime regime : kRegimes) {
    CalibratedInterval interval;
    interval.regime = regime;
    const auto of_own = gpuplan::of_regime(own, regime);
    interval.pooled = on_cpu ? of_own.empty() : !is_enough(of_own);
    const auto rows = gpuplan::of_regime(interval.pooled ? all : own, regime);
    if (rows.empty()) continue;
    interval.factors = residual_interval(rows);
    if (on_cpu) {
      interval.factors.low = std::pow(interval.factors.low, kOneSource);
      interval.factors.high = std::pow(interval.factors.high, kOneSource);
    }
    // The estimate itself lies in its interval, however the left-out rows lean.
    interval.factors.low = std::min(interval.factors.low, 1.0);
    interval.factors.high = std::max(interval.factors.high, 1.0);
    const ErrorSummary used = summarize(rows);
    interval.rows = used.rows;
    interval.sources = used.sources;
    intervals.push_back(interval);
  }
  return intervals;
}

// A core that waits for memory does not multiply, its caches are warm, and no driver stands between.
EngineConstants usual_on_cpu() {
  EngineConstants constants = usual_constants();
  constants.compute = constants.dequantized = constants.bandwidth = 1;
  constants.overlap = 0.9;
  constants.launch = 5e-6;
  constants.host = 100e-6;
  constants.request = 1e-3;
  return constants;
}

// The constants of each engine, in the catalogue's order: its own rows move it away from the engine it is like, and that one from all.
class EngineFits {
 public:
  EngineFits(const Catalog& catalog, RowReader& reader, const std::vector<RowWork>& works, const EngineConstants& start)
      : catalog_(catalog), reader_(reader), works_(works), fitted_(catalog.engines().size()) {
    // CPUs run kernels of their own.
    std::vector<RowWork> all;
    std::copy_if(works.begin(), works.end(), std::back_inserter(all), [](const RowWork& w) { return !w.on_cpu; });
    pooled_ = fit_constants(reader, all, start);
    for (std::size_t i = 0; i < fitted_.size(); ++i) fit(i);
  }
  [[nodiscard]] const EngineConstants& pooled() const { return pooled_; }
  [[nodiscard]] const EngineConstants& of(const Engine& engine) const {
    return *fitted_[static_cast<std::size_t>(&engine - catalog_.engines().data())];
  }

 private:
  const EngineConstants& fit(std::size_t i) {
    if (fitted_[i]) return *fitted_[i];
    fitted_[i] = pooled_;  // an end to engines that are like each other
    const Engine& engine = catalog_.engines()[i];
    const Engine* like = engine.like.empty() ? nullptr : catalog_.find_engine(engine.like);
    const EngineConstants parent = like ? fit(static_cast<std::size_t>(like - catalog_.engines().data())) : pooled_;
    std::vector<RowWork> own;
    std::copy_if(works_.begin(), works_.end(), std::back_inserter(own),
                 [&](const RowWork& w) { return w.engine == &engine; });
    const bool on_cpu = !own.empty() && own.front().on_cpu;
    fitted_[i] = own.empty() ? parent : fit_constants(reader_, own, on_cpu ? usual_on_cpu() : parent);
    return *fitted_[i];
  }

  const Catalog& catalog_;
  RowReader& reader_;
  const std::vector<RowWork>& works_;
  EngineConstants pooled_;
  std::vector<std::optional<EngineConstants>> fitted_;
};

// As validation will do it: the requests in flight by the constants that are written.
Prediction predict_by(RowReader& reader, const RowWork& work, const EngineConstants& constants) {
  return predict(std::get<RowWork>(reader.work_of(*work.row, &constants)), constants);
}

}  // namespace

EngineConstants usual_constants() {
  EngineConstants constants;
  for (const Bound& bound : kBounds) constants.*(bound.member) = bound.start;
  return constants;
}

EngineConstants fit_constants(RowReader& reader, std::vector<RowWork>& works, const EngineConstants& usual) {
  constexpr int kRounds = 3;
  Eigen::VectorXd start(static_cast<Eigen::Index>(kConstants));
  for (std::size_t i = 0; i < kConstants; ++i)
    start(static_cast<Eigen::Index>(i)) = outside(kBounds[i], usual.*(kBounds[i].member));
  const std::vector<double> of_rows = row_weights(works);
  const Eigen::VectorXd weights =
      Eigen::Map<const Eigen::VectorXd>(of_rows.data(), static_cast<Eigen::Index>(of_rows.size()));
  Eigen::VectorXd x = start;
  for (int round = 0; round < kRounds; ++round) {
    const EngineConstants now = constants_at(point_of(x));
    bool settled = true;
    for (RowWork& w : works) {
      if (w.row->mode != MeasuredMode::open_loop) continue;
      w = std::get<RowWork>(reader.work_of(*w.row, &now));
      settled = false;
    }
    x = robust_least_squares([&](const Eigen::VectorXd& at) { return residuals_at(works, at); }, weights, start, kPull);
    if (settled) break;
  }
  return rounded(constants_at(point_of(x)));
}

std::vector<Prediction> predict_left_out(const Catalog& catalog, RowReader& reader, const std::vector<RowWork>& works,
                                         const EngineConstants& start, const GroupOf& group_of) {
  std::set<std::string> groups;
  for (const RowWork& w : works) groups.insert(group_of(*w.row));
  std::vector<Prediction> predictions;
  for (const std::string& group : groups) {
    std::vector<RowWork> others;
    for (const RowWork& w : works) {
      if (group_of(*w.row) != group) others.push_back(w);
    }
    if (others.empty()) continue;
    const EngineFits fits(catalog, reader, others, start);
    for (const RowWork& w : works) {
      if (group_of(*w.row) == group) predictions.push_back(predict_by(reader, w, fits.of(*w.engine)));
    }
  }
  return predictions;
}

std::vector<RowWork> works_of(RowReader& reader, std::span<const MeasuredRow> rows, std::vector<Skipped>& skipped) {
  std::vector<RowWork> works;
  for (const MeasuredRow& row : rows) {
    const EngineConstants start = usual_constants();
    auto work = reader.work_of(row, &start);
    if (auto* none = std::get_if<Skipped>(&work)) {
      skipped.push_back(std::move(*none));
    } else {
      works.push_back(std::move(std::get<RowWork>(work)));
    }
  }
  return works;
}

Calibration calibrate(const Catalog& catalog, std::span<const MeasuredRow> rows) {
  const Ceilings ceilings(catalog);
  RowReader reader(catalog, ceilings);
  Calibration calibration;
  const std::vector<RowWork> all = works_of(reader, rows, calibration.skipped);
  if (all.empty()) return calibration;
  const EngineFits fits(catalog, reader, all, usual_constants());
  calibration.pooled = fits.pooled();
  std::map<std::string_view, const RowWork*> work_of;
  for (const RowWork& w : all) {
    calibration.predictions.push_back(predict_by(reader, w, fits.of(*w.engine)));
    work_of[w.row->id] = &w;
  }
  calibration.left_out = predict_left_out(catalog, reader, all, fits.pooled(), [&](const MeasuredRow& row) {
    return work_of.at(row.id)->on_cpu ? "cpu " + row.accelerator : row.source;
  });
  std::vector<Prediction> on_gpus;
  std::copy_if(calibration.left_out.begin(), calibration.left_out.end(), std::back_inserter(on_gpus),
               [&](const Prediction& p) { return !work_of.at(p.id)->on_cpu; });
  for (const Engine& engine : catalog.engines()) {
    CalibratedEngine fitted;
    fitted.name = engine.name;
    fitted.constants = fits.of(engine);
    std::set<std::string_view> sources;
    std::vector<Prediction> own;
    bool on_cpu = false;
    for (const Prediction& p : calibration.left_out) {
      if (work_of.at(p.id)->engine != &engine) continue;
      on_cpu = work_of.at(p.id)->on_cpu;
      own.push_back(p);
      sources.insert(p.source);
    }
    fitted.rows = static_cast<std::int64_t>(own.size());
    fitted.sources = static_cast<std::int64_t>(sources.size());
    fitted.pooled = own.empty();
    fitted.intervals = intervals_of(own, on_gpus, on_cpu);
    calibration.engines.push_back(std::move(fitted));
  }
  return calibration;
}

namespace {

std::string three_digits(double value) {
  if (value <= 0) return "0";
  const double scale = std::pow(10.0, 2 - std::floor(std::log10(value)));
  return format_shortest(std::round(value * scale) / scale);
}

std::string fitted_line(const Bound& bound, const EngineConstants& constants) {
  return "    " + std::string(bound.key) + ": " + three_digits(constants.*(bound.member) / bound.unit);
}

std::string interval_line(const CalibratedInterval& interval) {
  return "      - {regime: " + std::string(to_string(interval.regime)) +
         ", low: " + three_digits(interval.factors.low) + ", high: " + three_digits(interval.factors.high) +
         ", rows: " + std::to_string(interval.rows) + ", sources: " + std::to_string(interval.sources) + "}";
}

bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

const CalibratedEngine* engine_named(const Calibration& calibration, std::string_view name) {
  for (const CalibratedEngine& engine : calibration.engines) {
    if (engine.name == name) return &engine;
  }
  return nullptr;
}

}  // namespace

std::string with_calibration(std::string_view engines_yaml, const Calibration& calibration) {
  constexpr std::string_view kName = "  - name: ";
  constexpr std::string_view kIntervals = "    intervals:";
  constexpr std::string_view kInterval = "      - {regime: ";
  std::string result;
  const CalibratedEngine* engine = nullptr;
  while (!engines_yaml.empty()) {
    const std::string_view line = engines_yaml.substr(0, engines_yaml.find('\n'));
    engines_yaml.remove_prefix(std::min(engines_yaml.size(), line.size() + 1));
    if (starts_with(line, kName)) engine = engine_named(calibration, trim(line.substr(kName.size())));
    std::string written(line);
    if (engine && starts_with(line, kInterval)) continue;
    if (engine) {
      for (const Bound& bound : kBounds) {
        if (starts_with(trim(line), std::string(bound.key) + ":")) written = fitted_line(bound, engine->constants);
      }
      if (starts_with(line, kIntervals)) {
        for (const CalibratedInterval& interval : engine->intervals) written += "\n" + interval_line(interval);
      }
    }
    result += written + "\n";
  }
  return result;
}

}  // namespace gpuplan
