#pragma once
// What tools/embed_measured writes.

#include <span>
#include <string_view>

namespace gpuplan {

extern const std::span<const std::string_view> kMeasuredGroups;  // texts of lines, one a group, fields parted by tabs

}  // namespace gpuplan
