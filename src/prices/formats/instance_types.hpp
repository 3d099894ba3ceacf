#pragma once
// Instance types whose name says which accelerators they have, for lists that tell the type and no card (or a family only).
// The names are words of the lists' formats.

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuplan {

struct InstanceType {
  std::string gpu;         // a name or alias in the catalogue; `share` of one where it is below 1
  std::int64_t count = 0;  // 0: a part of one
  double share = 1;
  std::string interconnect;  // as offers say it; empty: not known
};

// The type by the list's name of it, such as `p5.48xlarge` or `Standard_ND96isr_H100_v5`. Null when not known.
const InstanceType* find_instance_type(std::string_view type);

// Types that are priced without their accelerator, and which of them goes with so many of an accelerator.
bool is_host_type(std::string_view type);
std::string host_for(std::string_view accelerator, std::int64_t count);

}  // namespace gpuplan
