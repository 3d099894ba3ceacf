#include <gpuplan/validation/training_time.hpp>

#include "least_squares.hpp"
#include "three_digits.hpp"
#include "training_job.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/perf/training_search.hpp>
#include <gpuplan/validation/errors.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

// A node's network where the row says nothing: the median of the catalogue's designs with the accelerator and so many of it.
BytesPerSecond usual_network(const Catalog& catalog, const Accelerator& accelerator, std::int64_t count) {
  std::vector<double> rates;
  for (const NodeDesign& node : catalog.nodes()) {
    const BytesPerSecond network =
        node.node_rate.known() ? *node.node_rate : as_double(node.nics.or_else(0)) * node.nic_rate.or_else({});
    if (network <= BytesPerSecond{} || node.count.or_else(0) < count) continue;
    if (std::find(node.accelerators.begin(), node.accelerators.end(), accelerator.name) == node.accelerators.end())
      continue;
    rates.push_back(network.base() * as_double(count) / as_double(*node.count));
  }
  if (rates.empty()) return {};
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  return BytesPerSecond::from_base(*middle);
}

Fabric fabric_for(const Catalog& catalog, const Accelerator& accelerator, const TrainingRow& row) {
  const std::int64_t all = row.count.value_or(1);
  const std::int64_t a_node = row.devices_per_node.value_or(row.nodes ? std::max<std::int64_t>(1, all / *row.nodes)
                                                                      : std::min<std::int64_t>(8, all));
  BytesPerSecond network = gigabits_per_second(row.network_gbit);
  if (row.network_gbit <= 0) network = usual_network(catalog, accelerator, a_node);
  return fabric_of(catalog, accelerator, row.intra_link, network, a_node);
}

// What a row leaves open of its layout is chosen as who ran it would have: the fastest that fits, by the framework's present constants.
bool settle_layout(const TrainingRow& row, TrainingTimeInputs& in, const Ceilings& ceilings) {
  TrainingSpec& job = in.memory.job;
  const bool open_chunks = !row.vpp && in.memory.framework->interleaves && (!row.pp || *row.pp > 1);
  if (row.micro_batch && row.tp && !open_chunks) {
    if (!row.grad_accum && row.global_batch)
      job.grad_accum = std::max<std::int64_t>(1, *row.global_batch / (job.dp * job.micro_batch));
    return true;
  }
  LayoutSpace space;
  space.devices = row.count.value_or(1);
  space.global_batch = row.global_batch.value_or(row.micro_batch.value_or(0) * row.grad_accum.value_or(1) * job.dp);
  if (space.global_batch < 1) return false;
  const auto fix = [](std::vector<std::int64_t>& axis, const std::optional<std::int64_t>& said) {
    if (said) axis = {*said};
  };
  fix(space.tp, row.tp);
  fix(space.pp, row.pp);
  fix(space.cp, row.cp);
  fix(space.ep, row.ep);
  fix(space.micro_batch, row.micro_batch);
  fix(space.vpp, row.vpp);
  if (!in.memory.framework->interleaves) space.vpp = {1};
  if (row.tp) space.cp = {row.cp.value_or(1)};
  if (job.recompute) space.recompute = {*job.recompute};
  space.sharding = {job.sharding};
  space.sequence_parallel = {in.memory.framework->interleaves && job.tp > 1};
  if (!row.tp) space.sequence_parallel = {in.memory.framework->interleaves};
  if (row.tp && *row.tp == 1) space.sequence_parallel = {false};
  space.keep = 1;
  LayoutSearch found = search_layouts(in, space, ceilings);
  if (found.best.empty()) {  // by our account nothing fits, but it ran
    space.check_memory = false;
    found = search_layouts(in, space, ceilings);
  }
  if (found.best.empty()) return false;
  job = found.best.front().job;
  return true;
}

double flops_by_convention(const TrainingRow& row, const TrainingWork& work) {
  return row.flop_convention == "hw_full" || row.metric == "hfu" ? work.hardware_flops : work.model_flops;
}

constexpr std::size_t kConstants = 6;
struct Bound {
  double TrainingConstants::*member;
  double low, high, start;
  std::string_view key;
  double unit;
};
// What physics allows: a share is at most 1, a launch takes half a microsecond at least, the host at most a second a step. `start` is the
// middle of what kernels reach.
constexpr std::array<Bound, kConstants> kBounds = {
    {{&TrainingConstants::compute, 0.1, 1, 0.75, "compute_efficiency", 1},
     {&TrainingConstants::attention, 0.05, 1, 0.5, "attention_efficiency", 1},
     {&TrainingConstants::bandwidth, 0.1, 1, 0.8, "bandwidth_efficiency", 1},
     {&TrainingConstants::launch, 0.5e-6, 50e-6, 5e-6, "launch_us", 1e-6},
     {&TrainingConstants::hidden, 0, 1, 0.3, "exposed_share", 1},
     {&TrainingConstants::step, 0, 1, 0.02, "step_us", 1e-6}}};

// The search runs over all numbers; a sharp bound becomes a far end.
double inside(const Bound& bound, double x) { return bound.low + (bound.high - bound.low) / (1 + std::exp(-x)); }
double outside(const Bound& bound, double value) {
  const double share = std::clamp((value - bound.low) / (bound.high - bound.low), 1e-4, 1 - 1e-4);
  return std::log(share / (1 - share));
}

TrainingConstants constants_at(const Eigen::VectorXd& x) {
  TrainingConstants c;
  for (std::size_t i = 0; i < kConstants; ++i)
    c.*(kBounds[i].member) = inside(kBounds[i], x(static_cast<Eigen::Index>(i)));
  return c;
}

// As they are written, so that what is written is what was judged.
TrainingConstants rounded(TrainingConstants c) {
  for (const Bound& bound : kBounds) c.*(bound.member) = three_digits(c.*(bound.member) / bound.unit) * bound.unit;
  return c;
}

Eigen::VectorXd equal_sources(std::span<const TrainingRowWork> works) {
  std::map<std::string_view, double> rows;
  for (const TrainingRowWork& w : works) rows[w.row.source] += 1;
  Eigen::VectorXd weights(static_cast<Eigen::Index>(works.size()));
  for (std::size_t i = 0; i < works.size(); ++i)
    weights(static_cast<Eigen::Index>(i)) = 1 / (rows[works[i].row.source] * static_cast<double>(rows.size()));
  return weights;
}

TrainingConstants fit(std::span<const TrainingRowWork> works, const TrainingConstants& usual) {
  constexpr double kPull = 0.001;  // weak beside a loss of some 0.01; decides what rows leave open
  Eigen::VectorXd start(static_cast<Eigen::Index>(kConstants));
  for (std::size_t i = 0; i < kConstants; ++i)
    start(static_cast<Eigen::Index>(i)) = outside(kBounds[i], usual.*(kBounds[i].member));
  const auto residuals = [&](const Eigen::VectorXd& x) {
    const TrainingConstants c = constants_at(x);
    Eigen::VectorXd r(static_cast<Eigen::Index>(works.size()));
    for (std::size_t i = 0; i < works.size(); ++i) r(static_cast<Eigen::Index>(i)) = std::log(time_ratio(works[i], c));
    return r;
  };
  return rounded(constants_at(robust_least_squares(residuals, equal_sources(works), start, kPull)));
}

constexpr std::size_t kLeastRows = 8;

}  // namespace

std::variant<TrainingRowWork, std::string> training_row_work(const Catalog& catalog, const Ceilings& ceilings,
                                                             const TrainingRow& row) {
  TrainingRowWork out;
  out.row = row;
  out.framework = known_framework(catalog, row);
  if (!out.framework) return "framework.unknown";
  const Accelerator* accelerator = catalog.find_accelerator(row.accelerator);
  if (!accelerator) return "accelerator.unknown";
  const auto architecture = architecture_for(catalog, row);
  if (!architecture) return "model.unknown";
  out.job = job_of(row, *out.framework);
  const TrainingFramework framework = framework_of(*out.framework, row);
  const ServedModel model = model_of(*architecture, row);
  TrainingTimeInputs in;
  in.memory.model = &model;
  in.memory.framework = &framework;
  in.memory.visible = catalog.visible_memory(*accelerator);
  in.memory.job = out.job;
  in.memory.catalog = &catalog;
  in.accelerator = accelerator;
  in.fabric = fabric_for(catalog, *accelerator, row);
  if (!settle_layout(row, in, ceilings)) return "layout.unknown";
  out.job = in.memory.job;
  if (!check_training(out.job).empty()) return "shape.unknown";
  out.work = training_work(in, ceilings);
  out.flops = flops_by_convention(row, out.work);
  return out;
}

double predicted_value(const TrainingRowWork& work, const TrainingConstants& constants) {
  const double step = step_seconds(work.work, constants);
  const std::string& metric = work.row.metric;
  const double samples = work.work.tokens / as_double(work.job.sequence);
  if (metric == "step_s") return step;
  if (metric == "wall_s") return work.row.samples_to_target / samples * step;
  if (metric == "tokens_per_s") return work.work.tokens / step;
  if (metric == "tokens_per_s_per_device") return work.work.tokens / step / work.work.devices;
  if (metric == "samples_per_s") return samples / step;
  if (metric == "mfu") return work.flops / step / work.work.devices / work.work.peak;
  return work.flops / step / work.work.devices;
}

double time_ratio(const TrainingRowWork& work, const TrainingConstants& constants) {
  const double quotient = work.row.value / predicted_value(work, constants);
  return work.row.metric == "step_s" || work.row.metric == "wall_s" ? quotient : 1 / quotient;
}

namespace {

TrainingCalibration fit_all(const Catalog& catalog, std::span<const TrainingRowWork> works) {
  TrainingCalibration calibration;
  TrainingConstants usual;
  for (const Bound& bound : kBounds) usual.*(bound.member) = bound.start;
  calibration.pooled = works.empty() ? usual : fit(works, usual);
  for (const TrainingFramework& framework : catalog.training_frameworks()) {
    CalibratedFramework fitted;
    fitted.name = framework.name;
    std::vector<TrainingRowWork> own;
    std::copy_if(works.begin(), works.end(), std::back_inserter(own),
                 [&](const TrainingRowWork& w) { return w.framework == &framework; });
    std::set<std::string_view> sources;
    for (const TrainingRowWork& w : own) sources.insert(w.row.source);
    fitted.rows = static_cast<std::int64_t>(own.size());
    fitted.sources = static_cast<std::int64_t>(sources.size());
    fitted.pooled = own.size() < kLeastRows;
    fitted.constants = fitted.pooled ? calibration.pooled : fit(own, calibration.pooled);
    calibration.frameworks.push_back(std::move(fitted));
  }
  return calibration;
}

const std::string& left_out_key(const TrainingRowWork& work, LeftOut by) {
  if (by == LeftOut::source) return work.row.source;
  return by == LeftOut::accelerator ? work.row.accelerator : work.row.model;
}

}  // namespace

std::vector<LeftOutRatio> left_out_ratios(const Catalog& catalog, std::span<const TrainingRowWork> works, LeftOut by) {
  std::set<std::string_view> keys;
  for (const TrainingRowWork& w : works) keys.insert(left_out_key(w, by));
  std::vector<LeftOutRatio> ratios;
  for (const std::string_view key : keys) {
    std::vector<TrainingRowWork> others;
    std::copy_if(works.begin(), works.end(), std::back_inserter(others),
                 [&](const TrainingRowWork& w) { return left_out_key(w, by) != key; });
    const TrainingCalibration fitted = fit_all(catalog, others);
    for (const TrainingRowWork& w : works) {
      if (left_out_key(w, by) == key) ratios.push_back({&w, time_ratio(w, constants_for(fitted, *w.framework))});
    }
  }
  return ratios;
}

TrainingCalibration calibrate_training(const Catalog& catalog, std::span<const TrainingRowWork> works) {
  TrainingCalibration calibration = fit_all(catalog, works);
  std::map<std::string_view, double> rows_of;
  for (const TrainingRowWork& w : works) rows_of[w.row.source] += 1;
  std::vector<Weighted> ratios;
  for (const LeftOutRatio& left : left_out_ratios(catalog, works, LeftOut::source))
    ratios.push_back({left.ratio, 1 / rows_of[left.work->row.source]});
  for (CalibratedFramework& fitted : calibration.frameworks) {
    fitted.low = ratios.empty() ? 1 : std::min(1.0, weighted_quantile(ratios, 0.1));
    fitted.high = ratios.empty() ? 1 : std::max(1.0, weighted_quantile(ratios, 0.9));
  }
  calibration.rows = works.size();
  calibration.sources = rows_of.size();
  return calibration;
}

const TrainingConstants& constants_for(const TrainingCalibration& calibration, const TrainingFramework& framework) {
  for (const CalibratedFramework& fitted : calibration.frameworks) {
    if (fitted.name == framework.name) return fitted.constants;
  }
  return calibration.pooled;
}

namespace {

std::string fitted_line(std::string_view key, double value) {
  return "    " + std::string(key) + ": " + format_shortest(three_digits(value));
}

// The line with the value that was fitted for its key; as it was when none is.
std::string written_line(std::string_view line, const CalibratedFramework& fitted, std::size_t rows,
                         std::size_t sources) {
  const auto is = [&](std::string_view key) { return trim(line).substr(0, key.size() + 1) == std::string(key) + ":"; };
  for (const Bound& bound : kBounds) {
    if (is(bound.key)) return fitted_line(bound.key, fitted.constants.*(bound.member) / bound.unit);
  }
  if (is("time_low")) return fitted_line("time_low", fitted.low);
  if (is("time_high")) return fitted_line("time_high", fitted.high);
  if (is("time_rows")) return "    time_rows: " + std::to_string(rows);
  if (is("time_sources")) return "    time_sources: " + std::to_string(sources);
  return std::string(line);
}

}  // namespace

std::string with_calibration(std::string_view training_yaml, const TrainingCalibration& calibration) {
  constexpr std::string_view kName = "  - name: ";
  std::string result;
  const CalibratedFramework* framework = nullptr;
  while (!training_yaml.empty()) {
    const std::string_view line = training_yaml.substr(0, training_yaml.find('\n'));
    training_yaml.remove_prefix(std::min(training_yaml.size(), line.size() + 1));
    if (line.substr(0, kName.size()) == kName) {
      framework = nullptr;
      for (const CalibratedFramework& fitted : calibration.frameworks) {
        if (fitted.name == trim(line.substr(kName.size()))) framework = &fitted;
      }
    }
    result +=
        (framework ? written_line(line, *framework, calibration.rows, calibration.sources) : std::string(line)) + "\n";
  }
  return result;
}

}  // namespace gpuplan
