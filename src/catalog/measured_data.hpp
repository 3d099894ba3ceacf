#pragma once
// What tools/embed_measured writes.

#include <string_view>

namespace gpuplan {

extern const std::string_view kMeasuredGroups;  // a line a group, fields parted by tabs

}  // namespace gpuplan
