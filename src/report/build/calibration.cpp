#include <gpuplan/report/build.hpp>

#include <gpuplan/base/text.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

Cell text(std::string value) { return {std::move(value), Unit::none}; }
Cell number(double value) { return {value, Unit::none}; }
Cell percent(double share) { return {format_significant(100 * share, 3) + " %", Unit::none}; }

struct Constant {
  std::string_view name;
  double EngineConstants::*member;
  double unit;
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

void add_speed(const OwnLink& own, const FittedSpeed& fitted, ListDocument& d) {
  const LevelSpeed& s = fitted.speed;
  const auto add = [&](bool seen, std::string_view name, double value) {
    if (!seen) return;
    d.rows.push_back({text(own.name),
                      text(fitted.algorithm + "." + std::string(name)),
                      {},
                      number(value),
                      number(static_cast<double>(own.rows)),
                      percent(own.error_before),
                      percent(own.error_after)});
  };
  add(fitted.words, "launch_us", s.launch / microseconds(1));
  add(fitted.words, "hop_us", s.hop / microseconds(1));
  add(fitted.words && s.efficiency > 0, "efficiency", s.efficiency);
  add(fitted.bulk, "bulk_launch_us", s.bulk_launch / microseconds(1));
  add(fitted.bulk, "bulk_hop_us", s.bulk_hop / microseconds(1));
  add(fitted.bulk && s.bulk_efficiency > 0, "bulk_efficiency", s.bulk_efficiency);
}

}  // namespace

ListDocument list_calibration(const UserCalibration& calibration, const std::string& layer) {
  ListDocument d;
  d.what = "constants";
  d.columns = {"of", "constant", "before", "after", "rows", "error_before", "error_after"};
  for (const OwnEngine& own : calibration.engines) {
    for (const Constant& constant : kConstants) {
      d.rows.push_back({text(own.name), text(std::string(constant.name)),
                        number(own.before.*constant.member / constant.unit),
                        number(own.after.*constant.member / constant.unit), number(static_cast<double>(own.rows)),
                        percent(own.error_before), percent(own.error_after)});
    }
  }
  for (const OwnLink& own : calibration.links) {
    for (const FittedSpeed& speed : own.speeds) add_speed(own, speed, d);
  }
  d.note = layer.empty() ? "nothing was written: the catalogue predicts these rows as well as constants fitted to them"
                         : "written to " + layer;
  for (const auto& left : calibration.left)
    d.note += "; " + std::to_string(left.rows) + (left.rows == 1 ? " row" : " rows") + " not used: " + left.reason;
  return d;
}

}  // namespace gpuplan
