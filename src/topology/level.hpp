#pragma once
// A level of a fabric from a link of the catalogue. What nobody measured of the link is taken from its category.

#include <gpuplan/topology/fabric.hpp>

namespace gpuplan {

// `rate`: of a device; 0: the link's.
FabricLevel level_of(const Catalog& catalog, const Link& link, BytesPerSecond rate);

}  // namespace gpuplan
