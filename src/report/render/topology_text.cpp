#include "table.hpp"
#include "text.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

using Time = TopologyDocument::Time;

std::string name_of(const Time& t) {
  return t.kernels == "engine" ? t.collective + ", engine's kernels" : t.collective;
}

std::vector<double> sizes_of(const std::vector<Time>& times) {
  std::vector<double> sizes;
  for (const Time& t : times) {
    if (std::find(sizes.begin(), sizes.end(), t.size_bytes) == sizes.end()) sizes.push_back(t.size_bytes);
  }
  return sizes;
}

std::vector<TableColumn> size_columns(std::string first, const std::vector<double>& sizes) {
  std::vector<TableColumn> columns = {{std::move(first)}};
  for (const double size : sizes) columns.push_back({format_binary_bytes(bytes(size)), true});
  return columns;
}

// A row a collective, a column a size.
template <class Show>
std::string times_table(const std::vector<Time>& times, std::string first, Show show, const TextStyle& style) {
  std::vector<std::vector<std::string>> rows;
  std::string current;
  for (const Time& t : times) {
    if (name_of(t) != current) {
      current = name_of(t);
      rows.push_back({current});
    }
    rows.back().push_back(show(t));
  }
  return layout_table(size_columns(std::move(first), sizes_of(times)), rows, style, "  ");
}

std::string rate(double bytes_per_s) { return format_quantity(bytes_per_s, Unit::bytes_per_second); }

std::string links_table(const TopologyDocument& d, const TextStyle& style) {
  std::vector<TableColumn> columns = {{"link"}, {"each way", true}, {"way"}};
  for (const Time& t : d.links.front().all_reduce) columns.push_back({format_binary_bytes(bytes(t.size_bytes)), true});
  columns.push_back({"bus bandwidth", true});
  columns.push_back({"slower", true});
  std::vector<std::vector<std::string>> rows;
  for (const auto& link : d.links) {
    std::vector<std::string> cells = {link.link, rate(link.bytes_per_s), link.way};
    for (const Time& t : link.all_reduce) cells.push_back(format_seconds(seconds(t.seconds)));
    cells.push_back(rate(link.all_reduce.back().bus_bytes_per_s));
    cells.push_back(format_significant(link.times_slower, 3) + "x");
    rows.push_back(std::move(cells));
  }
  return layout_table(columns, rows, style, "  ");
}

}  // namespace

std::string topology_text(const TopologyDocument& d, const TextStyle& style) {
  std::string head = std::to_string(d.count) + " x " + d.accelerator;
  head += d.hosts > 1 ? ", " + std::to_string(d.hosts) + " hosts of " + std::to_string(d.devices_per_host)
                      : ", one host or domain";
  if (!d.node.empty()) head += ": " + d.node;
  std::string out = labelled("fabric", head, style) + "\n";
  for (const std::string& line : d.picture) out += "  " + line + "\n";
  for (const auto& level : d.levels) {
    if (level.fitted) continue;
    out += labelled("", level.link + " was not measured: its latencies are those usual for such links", style);
  }
  if (!d.times.empty()) {
    out += "\n" + bold("time", style) + "\n" +
           times_table(
               d.times, "collective", [](const Time& t) { return format_seconds(seconds(t.seconds)); }, style);
    out += "\n" + bold("bus bandwidth", style) + "\n" +
           times_table(
               d.times, "collective", [](const Time& t) { return rate(t.bus_bytes_per_s); }, style);
    out += "\n" + bold("algorithm, the cheapest", style) + "\n" +
           times_table(
               d.times, "collective", [](const Time& t) { return t.algorithm; }, style);
  }
  if (!d.links.empty()) {
    out += "\n" +
           bold("all-reduce over " + std::to_string(d.compared_devices) + " devices joined by one kind of link alone",
                style) +
           "\n" + links_table(d, style);
  }
  return out + explanation_text(d.explanation, style);
}

}  // namespace gpuplan
