#include <gpuplan/catalog/measured_groups.hpp>

#include "measured_data.hpp"

#include <algorithm>
#include <charconv>

namespace gpuplan {
namespace {

// The text up to a mark; it and the mark are taken off.
std::string_view take(std::string_view& text, char mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

MeasuredGroup group_of(std::string_view line) {
  MeasuredGroup group;
  for (std::string_view* field :
       {&group.file, &group.model, &group.accelerator, &group.engine, &group.release, &group.format})
    *field = take(line, '\t');
  const std::string_view rows = take(line, '\t');
  std::from_chars(rows.data(), rows.data() + rows.size(), group.rows);
  for (std::string_view* field : {&group.first_row, &group.metrics, &group.observed_on, &group.source})
    *field = take(line, '\t');
  return group;
}

}  // namespace

std::vector<MeasuredGroup> measured_groups() {
  std::vector<MeasuredGroup> groups;
  for (std::string_view rest : kMeasuredGroups) {
    while (!rest.empty()) groups.push_back(group_of(take(rest, '\n')));
  }
  return groups;
}

}  // namespace gpuplan
