#pragma once
// The data files as they were at build time. `catalog_data.cpp` is written by tools/embed_catalog.

#include <gpuplan/catalog/catalog.hpp>

namespace gpuplan {

const CatalogView& built_in_catalog();
// The text of data/use_cases.yaml: few records, read when they are asked for.
std::string_view built_in_use_cases();

}  // namespace gpuplan
