#include <gpuplan/validation/parts_fit.hpp>

#include <gpuplan/base/text.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace gpuplan {
namespace {

// What physics allows: a share is at most 1 (the ceilings are what like cards reach, so that a little above it can be), a map crosses
// memory not over sixteen times for what follows a product, a kernel takes half a microsecond at least.
struct Bound {
  double PartsConstants::*member;
  double low;
  double high;
  std::string_view key;  // in data/runtimes.yaml
  double unit;           // of the key, in base units
};
constexpr std::size_t kConstants = 12;
constexpr std::array<Bound, kConstants> kBounds = {
    {{&PartsConstants::compute, 0.03, 1.1, "compute_efficiency", 1},
     {&PartsConstants::convolution, 0.03, 1.1, "convolution_efficiency", 1},
     {&PartsConstants::depthwise, 0.01, 1.1, "depthwise_efficiency", 1},
     {&PartsConstants::attention, 0.02, 1.1, "attention_efficiency", 1},
     {&PartsConstants::bandwidth, 0.6, 1.05, "bandwidth_efficiency", 1},
     {&PartsConstants::map_passes, 0.05, 16, "map_passes", 1},
     {&PartsConstants::layout_passes, 0.02, 6, "layout_passes", 1},
     {&PartsConstants::score_passes, 0.5, 60, "score_passes", 1},
     {&PartsConstants::kernels, 0.3, 12, "kernels", 1},
     {&PartsConstants::launch, 0.3e-6, 30e-6, "launch_us", 1e-6},
     {&PartsConstants::host_launch, 0.1e-6, 60e-6, "host_launch_us", 1e-6},
     {&PartsConstants::request, 5e-6, 0.2, "request_us", 1e-6}}};

// Weak beside the loss of some 0.05: it decides what the rows leave open.
constexpr double kPull = 0.003;
constexpr double kLinearFrom = 0.3;  // of the Huber loss

using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1>;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic>;

// The search runs over all numbers, in the logarithm between the bounds.
double inside(const Bound& b, double x) { return b.low * std::exp(std::log(b.high / b.low) / (1 + std::exp(-x))); }
double outside(const Bound& b, double value) {
  const double share = std::clamp(std::log(value / b.low) / std::log(b.high / b.low), 1e-3, 1 - 1e-3);
  return std::log(share / (1 - share));
}

PartsConstants constants_at(const Vector& x) {
  PartsConstants c;
  for (std::size_t i = 0; i < kConstants; ++i)
    c.*(kBounds[i].member) = inside(kBounds[i], x[static_cast<Eigen::Index>(i)]);
  return c;
}
Vector point_of(const PartsConstants& c) {
  Vector x(kConstants);
  for (std::size_t i = 0; i < kConstants; ++i)
    x[static_cast<Eigen::Index>(i)] = outside(kBounds[i], c.*(kBounds[i].member));
  return x;
}

double three_digits(double value) {
  const double scale = std::pow(10.0, 2 - std::floor(std::log10(value)));
  return std::round(value * scale) / scale;
}
// As they are written, so that what is judged is what the file says.
PartsConstants rounded(PartsConstants c) {
  for (const Bound& b : kBounds) c.*(b.member) = three_digits(c.*(b.member) / b.unit) * b.unit;
  return c;
}

using Works = std::vector<const PartsRowWork*>;

Vector residuals(const Works& works, const PartsConstants& c) {
  Vector r(static_cast<Eigen::Index>(works.size()));
  for (std::size_t i = 0; i < works.size(); ++i)
    r[static_cast<Eigen::Index>(i)] = std::log(predicted_value(*works[i], c) / works[i]->row->value);
  return r;
}

// Each source weighs the same over all runtimes; the weights of the rows at hand add up to 1.
using SourceRows = std::map<std::string_view, double>;
Vector source_shares(const Works& works, const SourceRows& rows) {
  Vector weights(static_cast<Eigen::Index>(works.size()));
  for (std::size_t i = 0; i < works.size(); ++i)
    weights[static_cast<Eigen::Index>(i)] = 1 / rows.at(works[i]->row->source);
  return weights / weights.sum();
}

double huber(double r) {
  const double size = std::abs(r);
  return size <= kLinearFrom ? size * size / 2 : kLinearFrom * (size - kLinearFrom / 2);
}

double loss_of(const Vector& r, const Vector& weights, const Vector& x, const Vector& prior) {
  double sum = kPull / 2 * (x - prior).squaredNorm();
  for (Eigen::Index i = 0; i < r.size(); ++i) sum += weights[i] * huber(r[i]);
  return sum;
}

Matrix slopes(const Works& works, const Vector& x, const Vector& r) {
  constexpr double kStep = 1e-4;
  Matrix slope(r.size(), x.size());
  for (Eigen::Index j = 0; j < x.size(); ++j) {
    Vector moved = x;
    moved[j] += kStep;
    slope.col(j) = (residuals(works, constants_at(moved)) - r) / kStep;
  }
  return slope;
}

// Levenberg and Marquardt, with the weights of the Huber loss renewed each round.
PartsConstants fit_from(const Works& works, const SourceRows& rows, const PartsConstants& usual,
                        const PartsConstants& start, double& loss) {
  constexpr int kRounds = 80;
  const Vector prior = point_of(usual);
  const Vector weights = source_shares(works, rows);
  Vector x = point_of(start);
  Vector r = residuals(works, constants_at(x));
  loss = loss_of(r, weights, x, prior);
  double damping = 1e-2;
  for (int round = 0; round < kRounds && damping < 1e8; ++round) {
    const Matrix slope = slopes(works, x, r);
    Vector w = weights;
    for (Eigen::Index i = 0; i < w.size(); ++i) w[i] *= std::min(1.0, kLinearFrom / std::max(std::abs(r[i]), 1e-12));
    Matrix normal = slope.transpose() * w.asDiagonal() * slope;
    normal.diagonal().array() += kPull;
    const Vector gradient = slope.transpose() * w.asDiagonal() * r + kPull * (x - prior);
    bool better = false;
    while (!better && damping < 1e8) {
      Matrix damped = normal;
      damped.diagonal() *= 1 + damping;
      const Vector candidate = x - damped.ldlt().solve(gradient);
      const Vector moved = residuals(works, constants_at(candidate));
      const double at = loss_of(moved, weights, candidate, prior);
      better = at < loss;
      damping = better ? damping / 4 : damping * 4;
      if (!better) continue;
      x = candidate;
      r = moved;
      loss = at;
    }
  }
  return rounded(constants_at(x));
}

// Small networks have two valleys, one where kernels are slow and one where the host is: the search starts at several places.
PartsConstants fit(const Works& works, const SourceRows& rows, const PartsConstants& usual) {
  constexpr double kSlowHost = 4;
  std::vector<PartsConstants> starts = {usual, usual, PartsConstants{}, PartsConstants{}};
  starts[1].host_launch *= kSlowHost;
  starts[3].host_launch *= kSlowHost;
  PartsConstants best = usual;
  double least = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    double loss = 0;
    const PartsConstants fitted = fit_from(works, rows, usual, starts[i], loss);
    if (i > 0 && loss >= least) continue;
    best = fitted;
    least = loss;
  }
  return best;
}

std::size_t sources_of(const Works& works) {
  std::set<std::string_view> sources;
  for (const PartsRowWork* w : works) sources.insert(w->row->source);
  return sources.size();
}

std::string written(double value) { return format_shortest(three_digits(value)); }

}  // namespace

const PartsConstants& constants_for(const PartsFitResult& fit, const Runtime& runtime) {
  for (const FittedRuntime& fitted : fit.runtimes) {
    if (fitted.name == runtime.name) return fitted.constants;
  }
  return fit.pooled;
}

PartsFitResult fit_parts_constants(const Catalog& catalog, std::span<const PartsRowWork> works) {
  PartsFitResult result;
  Works all;
  SourceRows rows;
  for (const PartsRowWork& w : works) {
    all.push_back(&w);
    rows[w.row->source] += 1;
  }
  result.pooled = fit(all, rows, {});
  for (const Runtime& runtime : catalog.runtimes()) {
    if (!runtime.time_as.empty()) continue;
    Works own;
    for (const PartsRowWork& w : works) {
      if (w.runtime->name == runtime.name) own.push_back(&w);
    }
    FittedRuntime fitted;
    fitted.name = runtime.name;
    fitted.rows = static_cast<std::int64_t>(own.size());
    fitted.sources = static_cast<std::int64_t>(sources_of(own));
    fitted.pooled = own.size() < kLeastPartsRows;
    fitted.constants = fitted.pooled ? result.pooled : fit(own, rows, result.pooled);
    result.runtimes.push_back(std::move(fitted));
  }
  return result;
}

std::vector<double> left_out_ratios(const Catalog& catalog, std::span<const PartsRowWork> works,
                                    const std::string& (*key)(const PartsTimeRow&)) {
  std::set<std::string> keys;
  for (const PartsRowWork& w : works) keys.insert(key(*w.row));
  std::vector<double> ratios(works.size(), 1);
  for (const std::string& left_out : keys) {
    std::vector<PartsRowWork> others;
    for (const PartsRowWork& w : works) {
      if (key(*w.row) != left_out) others.push_back(w);
    }
    const PartsFitResult fitted = fit_parts_constants(catalog, others);
    for (std::size_t i = 0; i < works.size(); ++i) {
      if (key(*works[i].row) != left_out) continue;
      ratios[i] = time_ratio(works[i], predicted_value(works[i], constants_for(fitted, *works[i].runtime)));
    }
  }
  return ratios;
}

ResidualInterval parts_interval(std::span<const PartsRowWork> works, std::span<const double> ratios) {
  std::map<std::string_view, double> rows;
  for (const PartsRowWork& w : works) rows[w.row->source] += 1;
  std::vector<Weighted> values;
  for (std::size_t i = 0; i < works.size(); ++i) values.push_back({ratios[i], 1 / rows[works[i].row->source]});
  return {std::min(1.0, weighted_quantile(values, 0.1)), std::max(1.0, weighted_quantile(values, 0.9))};
}

std::string with_parts_fit(std::string_view yaml, const PartsFitResult& fit, const ResidualInterval& interval,
                           std::size_t rows, std::size_t sources) {
  constexpr std::string_view kName = "  - name: ";
  const std::pair<std::string_view, std::string> common[] = {{"interval_low", written(interval.low)},
                                                             {"interval_high", written(interval.high)},
                                                             {"interval_rows", std::to_string(rows)},
                                                             {"interval_sources", std::to_string(sources)}};
  std::string result;
  const PartsConstants* constants = nullptr;
  while (!yaml.empty()) {
    const std::string_view line = yaml.substr(0, yaml.find('\n'));
    yaml.remove_prefix(std::min(yaml.size(), line.size() + 1));
    if (line.starts_with(kName)) {
      constants = nullptr;
      for (const FittedRuntime& fitted : fit.runtimes) {
        if (fitted.rows > 0 && fitted.name == trim(line.substr(kName.size()))) constants = &fitted.constants;
      }
    }
    std::string text(line);
    const auto replace = [&](std::string_view key, const std::string& value) {
      if (line.starts_with("    " + std::string(key) + ":")) text = "    " + std::string(key) + ": " + value;
    };
    for (const Bound& b : kBounds) {
      if (constants) replace(b.key, written(constants->*(b.member) / b.unit));
    }
    for (const auto& [key, value] : common) {
      if (constants) replace(key, value);
    }
    result += text + "\n";
  }
  return result;
}

}  // namespace gpuplan
