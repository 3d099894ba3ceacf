// The roofline as a plot of its own: FLOP a byte across, FLOP/s up, both logarithmic; colours for light and dark ground.

#include "markup.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/report/render.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace gpuplan {
namespace {

constexpr double kWidth = 1000;
constexpr double kHeight = 600;
constexpr double kLeft = 86;
constexpr double kRight = 700;  // the legend stands beyond
constexpr double kTop = 64;
constexpr double kBottom = 540;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

struct Axis {
  double low = 0, high = 1;  // logarithms to base 10
  double from = 0, to = 1;
  [[nodiscard]] double at(double value) const { return from + (std::log10(value) - low) / (high - low) * (to - from); }
};

struct Frame {
  Axis x, y;
};

void widen(Axis& axis, double value) {
  if (!(value > 0)) return;
  axis.low = std::min(axis.low, std::log10(value));
  axis.high = std::max(axis.high, std::log10(value));
}

// Whole decades around all points and the ridge.
Frame frame_of(const RooflineDocument& d) {
  Frame f;
  f.x.low = f.y.low = 99;
  f.x.high = f.y.high = -99;
  double top = 0;
  for (const auto& c : d.ceilings) {
    widen(f.x, c.ridge);
    top = std::max(top, std::max(c.reached, c.datasheet));
  }
  widen(f.y, top);
  for (const auto& phase : d.phases) {
    for (const auto& o : phase.operators) {
      if (!o.intensity || !o.flop_per_s) continue;
      widen(f.x, *o.intensity);
      widen(f.y, *o.flop_per_s);
    }
  }
  for (Axis* axis : {&f.x, &f.y}) {
    if (axis->low > axis->high) axis->low = axis->high = 0;
    axis->low = std::floor(axis->low);
    axis->high = std::max(std::ceil(axis->high + 0.05), axis->low + 1);
  }
  f.x.from = kLeft;
  f.x.to = kRight;
  f.y.from = kBottom;
  f.y.to = kTop;
  return f;
}

std::string line(double x1, double y1, double x2, double y2, std::string_view style) {
  return "<line class=\"" + std::string(style) + "\" x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" +
         number(x2) + "\" y2=\"" + number(y2) + "\"/>\n";
}

std::string text(double x, double y, std::string_view style, std::string_view content,
                 std::string_view anchor = "start") {
  return "<text class=\"" + std::string(style) + "\" x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" +
         std::string(anchor) + "\">" + escaped(content) + "</text>\n";
}

std::string grid(const Frame& f) {
  std::string out;
  for (double e = f.x.low; e <= f.x.high + 0.5; e += 1) {
    const double x = f.x.at(std::pow(10, e));
    out +=
        line(x, kTop, x, kBottom, "grid") + text(x, kBottom + 20, "tick", format_shortest(std::pow(10, e)), "middle");
  }
  for (double e = f.y.low; e <= f.y.high + 0.5; e += 1) {
    const double y = f.y.at(std::pow(10, e));
    out += line(kLeft, y, kRight, y, "grid") +
           text(kLeft - 8, y + 4, "tick", format_quantity(std::pow(10, e), Unit::flop_per_second), "end");
  }
  out +=
      text((kLeft + kRight) / 2, kBottom + 44, "axis", "arithmetic intensity, FLOP a byte of memory traffic", "middle");
  return out;
}

// The slope of the memory up to each flat ceiling. A dashed pair shows the datasheet's.
std::string roofs(const RooflineDocument& d, const Frame& f) {
  std::string out;
  const double left = std::pow(10, f.x.low);
  const double right = std::pow(10, f.x.high);
  const double floor = std::pow(10, f.y.low);
  double top = 0;
  double top_datasheet = 0;
  for (const auto& c : d.ceilings) {
    top = std::max(top, c.reached);
    top_datasheet = std::max(top_datasheet, c.datasheet);
  }
  const auto slope = [&](double bandwidth, double ceiling, std::string_view style) {
    if (!(bandwidth > 0) || !(ceiling > 0)) return;
    const double from = std::max(left, floor / bandwidth);
    const double to = std::min(right, ceiling / bandwidth);
    if (to > from) out += line(f.x.at(from), f.y.at(from * bandwidth), f.x.at(to), f.y.at(to * bandwidth), style);
  };
  const auto flat = [&](double bandwidth, double ceiling, std::string_view style) {
    if (!(ceiling > 0)) return;
    const double from = bandwidth > 0 ? std::clamp(ceiling / bandwidth, left, right) : left;
    out += line(f.x.at(from), f.y.at(ceiling), f.x.at(right), f.y.at(ceiling), style);
  };
  slope(d.bandwidth_datasheet, top_datasheet, "sheet");
  for (const auto& c : d.ceilings) flat(d.bandwidth_datasheet, c.datasheet, "sheet");
  slope(d.bandwidth_reached, top, "roof");
  for (const auto& c : d.ceilings) {
    flat(d.bandwidth_reached, c.reached, "roof");
    out += text(f.x.at(right) - 6, f.y.at(c.reached) + 16, "label",
                c.id + ": " + format_quantity(c.reached, Unit::flop_per_second), "end");
    if (c.ridge > left && c.ridge < right) {
      out += line(f.x.at(c.ridge), f.y.at(c.reached), f.x.at(c.ridge), kBottom, "ridge");
      out += text(f.x.at(c.ridge) + 5, kBottom - 8, "label", "ridge " + format_significant(c.ridge, 3));
    }
  }
  out += text(kLeft + 8, kTop + 18, "label", "memory: " + format_quantity(d.bandwidth_reached, Unit::bytes_per_second));
  return out;
}

struct Spot {
  double x = 0, y = 0;
};

// Beside its mark, or above the numbers that stand there already.
std::string index_of(std::vector<Spot>& taken, Spot at, std::size_t index) {
  constexpr double kWide = 18;
  constexpr double kHigh = 12;
  const auto meets = [&](const Spot& other) {
    return std::fabs(other.x - at.x) < kWide && std::fabs(other.y - at.y) < kHigh;
  };
  while (std::any_of(taken.begin(), taken.end(), meets)) at.y -= kHigh;
  taken.push_back(at);
  return text(at.x, at.y, "index", std::to_string(index));
}

std::string mark(const Frame& f, const RooflineDocument::Operator& o, std::size_t series, std::size_t index,
                 std::vector<Spot>& taken) {
  const double x = f.x.at(*o.intensity);
  const double y = f.y.at(*o.flop_per_s);
  const double r = 4 + 10 * std::sqrt(std::clamp(o.share, 0.0, 1.0));
  const std::string title =
      "<title>" + escaped(o.id + ": " + format_seconds(seconds(o.seconds)) + ", bound by " + o.bound) + "</title>";
  std::string out = "<g class=\"s" + std::to_string(series) + "\">" + title;
  if (series == 0) {
    out += "<circle cx=\"" + number(x) + "\" cy=\"" + number(y) + "\" r=\"" + number(r) + "\"/>";
  } else {
    out += "<rect x=\"" + number(x - r) + "\" y=\"" + number(y - r) + "\" width=\"" + number(2 * r) + "\" height=\"" +
           number(2 * r) + "\"/>";
  }
  return out + "</g>\n" + index_of(taken, {x + r + 3, y + 4}, index);
}

std::string points_and_legend(const RooflineDocument& d, const Frame& f) {
  std::string marks;
  std::vector<Spot> taken;
  std::string legend;
  double y = kTop + 8;
  std::size_t index = 0;
  std::size_t series = 0;
  for (const auto& phase : d.phases) {
    legend += text(kRight + 24, y, "head s" + std::to_string(series),
                   phase.id + ", " + format_seconds(seconds(phase.seconds)) + ", " +
                       format_quantity(phase.tokens_per_s, Unit::tokens_per_second));
    y += 19;
    for (const auto& o : phase.operators) {
      const bool plotted = o.intensity && o.flop_per_s;
      if (plotted) marks += mark(f, o, series, ++index, taken);
      if (y > kBottom + 44) continue;
      legend += text(kRight + 24, y, "item", (plotted ? std::to_string(index) + "  " : "–  ") + o.id);
      legend += text(kWidth - 70, y, "item", format_significant(100 * o.share, 2) + " %", "end");
      legend += text(kWidth - 62, y, "item", o.bound);
      y += 17;
    }
    y += 14;
    ++series;
  }
  return marks + legend;
}

constexpr std::string_view kStyle = R"(<style>
  svg { --ground: #ffffff; --ink: #1f2430; --dim: #667085; --grid: #e4e7ec; --a: #2563eb; --b: #c2410c; }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #12151c; --ink: #e6e9ef; --dim: #98a2b3; --grid: #2a2f3a; --a: #7aa5ff; --b: #ff9a62; }
  }
  text { font: 12px system-ui, "Segoe UI", sans-serif; fill: var(--ink); }
  .ground { fill: var(--ground); }
  .title { font-size: 17px; font-weight: 600; }
  .sub, .tick, .axis, .label { fill: var(--dim); }
  .grid { stroke: var(--grid); stroke-width: 1; }
  .roof { stroke: var(--ink); stroke-width: 2; }
  .sheet { stroke: var(--dim); stroke-width: 1; stroke-dasharray: 5 4; }
  .ridge { stroke: var(--dim); stroke-width: 1; stroke-dasharray: 2 3; }
  .s0 circle { fill: var(--a); fill-opacity: 0.35; stroke: var(--a); }
  .s1 rect { fill: var(--b); fill-opacity: 0.35; stroke: var(--b); }
  .head { font-weight: 600; }
  text.s0 { fill: var(--a); }
  text.s1 { fill: var(--b); }
  .index { font-size: 10px; }
</style>
)";

std::string plot(const RooflineDocument& d) {
  const Frame f = frame_of(d);
  const std::string title =
      d.model.name + " in " + d.model.weights_format + " on " + std::to_string(d.count) + " x " + d.accelerator;
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(kWidth) + " " +
                    number(kHeight) + "\" role=\"img\" aria-label=\"" + escaped("Roofline of " + title) + "\">\n";
  out += kStyle;
  out += "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n";
  out += text(kLeft, 28, "title", title);
  out += text(kLeft, 48, "sub",
              d.engine +
                  "; each operator at what it achieves, its size the share of the step; solid: what such devices "
                  "reach, dashed: datasheet");
  return out + grid(f) + roofs(d, f) + points_and_legend(d, f) + "</svg>\n";
}

}  // namespace

std::string render_svg(const Document& document) {
  if (const auto* roofline = std::get_if<RooflineDocument>(&document); roofline && roofline->rejected.empty())
    return plot(*roofline);
  throw InputError(Problem{"input.contradiction",
                           "there is nothing to plot",
                           Place{"--format", 0, 0},
                           "table, json or csv; svg is for a roofline of a job that runs",
                           {},
                           {}});
}

}  // namespace gpuplan
