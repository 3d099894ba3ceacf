#include <gpuplan/validation/user_layer.hpp>

#include "three_digits.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/validation/calibrate.hpp>
#include <gpuplan/validation/errors.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace gpuplan {
namespace {

struct Constant {
  std::string_view key;  // in data/engines.yaml
  double EngineConstants::*member;
  double unit;  // of the key, in base units
};
constexpr Constant kConstants[] = {{"compute_efficiency", &EngineConstants::compute, 1},
                                   {"dequantized_efficiency", &EngineConstants::dequantized, 1},
                                   {"attention_efficiency", &EngineConstants::attention, 1},
                                   {"bandwidth_efficiency", &EngineConstants::bandwidth, 1},
                                   {"overlap", &EngineConstants::overlap, 1},
                                   {"launch_us", &EngineConstants::launch, 1e-6},
                                   {"host_launch_us", &EngineConstants::host_launch, 1e-6},
                                   {"step_us", &EngineConstants::step, 1e-6},
                                   {"request_us", &EngineConstants::request, 1e-6},
                                   {"host_us", &EngineConstants::host, 1e-6},
                                   {"stream_us", &EngineConstants::stream, 1e-6},
                                   {"meeting", &EngineConstants::meeting, 1},
                                   {"in_step", &EngineConstants::in_step, 1}};

// How far off rows are: in the middle, which is shown, and on the average of the logarithms, which is what a fit makes smaller.
struct Off {
  double median = 0;
  double logarithm = 0;
  // By both: what is shown to grow has not got better.
  [[nodiscard]] bool is_better_than(const Off& before) const {
    return logarithm < before.logarithm && median <= before.median;
  }
};

Off off_by(const std::vector<double>& ratios) {
  std::vector<Weighted> errors;
  Off off;
  for (const double ratio : ratios) {
    errors.push_back({std::fabs(ratio - 1), 1});
    off.logarithm += std::fabs(std::log(std::max(ratio, 1e-300))) / static_cast<double>(ratios.size());
  }
  off.median = weighted_quantile(std::move(errors), 0.5);
  return off;
}

// As predictions will be made: the requests in flight of an open loop follow from the constants that are judged, too.
Off off_by(RowReader& reader, const std::vector<RowWork>& works, const EngineConstants& constants) {
  std::vector<double> ratios;
  for (const RowWork& work : works) {
    const auto now = reader.work_of(*work.row, &constants);
    ratios.push_back(predicted_value(std::get<RowWork>(now), constants) / work.row->value);
  }
  return off_by(ratios);
}

void fit_engines(const Catalog& catalog, std::span<const MeasuredRow> rows, UserCalibration& out,
                 std::map<std::string, std::int64_t>& left) {
  const Ceilings ceilings(catalog);
  RowReader reader(catalog, ceilings);
  std::map<std::string_view, std::vector<RowWork>> by_engine;
  for (const MeasuredRow& row : rows) {
    auto work = reader.work_of(row);
    if (const auto* skipped = std::get_if<Skipped>(&work)) {
      ++left[skipped->reason];
      continue;
    }
    auto& known = std::get<RowWork>(work);
    by_engine[known.engine->name].push_back(std::move(known));
  }
  for (auto& [name, works] : by_engine) {
    OwnEngine own;
    own.name = name;
    own.before = constants_of(*works.front().engine);
    own.rows = static_cast<std::int64_t>(works.size());
    own.after = fit_constants(reader, works, own.before);
    const Off before = off_by(reader, works, own.before);
    const Off after = off_by(reader, works, own.after);
    own.error_before = before.median;
    own.error_after = after.median;
    if (!after.is_better_than(before)) {
      left[std::string(kNoBetter)] += own.rows;
      continue;
    }
    out.engines.push_back(std::move(own));
  }
}

Off off_by(const Catalog& catalog, const std::vector<const CollectiveRow*>& rows) {
  std::vector<double> ratios;
  for (const CollectiveRow* row : rows)
    ratios.push_back(predict_collective(catalog, *row).value.value_or(0) / row->value);
  return off_by(ratios);
}

void fit_links(const Catalog& catalog, std::span<const CollectiveRow> rows, UserCalibration& out,
               std::map<std::string, std::int64_t>& left) {
  std::vector<CollectiveRow> usable;
  for (const CollectiveRow& row : rows) {
    const CollectivePrediction p = predict_collective(catalog, row);
    if (p.value) {
      usable.push_back(row);
    } else {
      ++left[p.how];
    }
  }
  if (usable.empty()) return;
  const std::vector<FittedSpeed> fitted = fit_collectives(catalog, usable);
  const Catalog after = over_speeds(catalog, fitted);
  std::set<std::string> names;
  for (const FittedSpeed& speed : fitted) names.insert(speed.link);
  for (const std::string& name : names) {
    OwnLink own;
    own.name = name;
    std::vector<const CollectiveRow*> members;
    for (const FittedSpeed& speed : fitted) {
      if (speed.link == name) own.speeds.push_back(speed);
    }
    for (const CollectiveRow& row : usable) {
      const Link* link = catalog.find_link(row.group.hosts > 1 ? row.network_link : row.link);
      if (link && link->name == name) members.push_back(&row);
    }
    own.rows = static_cast<std::int64_t>(members.size());
    if (members.empty()) continue;
    const Off before = off_by(catalog, members);
    const Off now = off_by(after, members);
    own.error_before = before.median;
    own.error_after = now.median;
    if (!now.is_better_than(before)) {
      left[std::string(kNoBetter)] += own.rows;
      continue;
    }
    out.links.push_back(std::move(own));
  }
}

}  // namespace

UserCalibration calibrate_own(const Catalog& catalog, std::span<const MeasuredRow> rows,
                              std::span<const CollectiveRow> collectives) {
  UserCalibration out;
  std::map<std::string, std::int64_t> left;
  fit_engines(catalog, rows, out, left);
  fit_links(catalog, collectives, out, left);
  for (const auto& [reason, count] : left) out.left.push_back({reason, count});
  return out;
}

std::string user_layer_yaml(const UserCalibration& calibration, std::string_view day) {
  std::string out =
      "# Constants fitted to your own measurements by 'gpuplan calibrate'; delete the file to forget them.\n";
  const auto source = [&](std::int64_t rows) {
    return "    source: \"fitted to " + std::to_string(rows) + (rows == 1 ? " row" : " rows") +
           " of your own\"\n    observed_on: " + std::string(day) + "\n";
  };
  if (!calibration.engines.empty()) out += "\nengines:\n";
  for (const OwnEngine& own : calibration.engines) {
    out += "  - name: " + own.name + "\n";
    for (const Constant& constant : kConstants)
      out += "    " + std::string(constant.key) + ": " +
             format_shortest(three_digits(own.after.*constant.member / constant.unit)) + "\n";
    out += source(own.rows);
  }
  if (!calibration.links.empty()) out += "\nlinks:\n";
  for (const OwnLink& own : calibration.links) {
    out += "  - name: " + own.name + "\n    collectives:\n";
    for (const FittedSpeed& speed : own.speeds) out += collective_line(speed);
    out += source(own.rows);
  }
  return out;
}

}  // namespace gpuplan
