#pragma once
// The data files as they were at build time. `catalog_data.cpp` is written by tools/embed_catalog.

#include <gpuplan/catalog/catalog.hpp>

namespace gpuplan {

const CatalogView& built_in_catalog();

}  // namespace gpuplan
