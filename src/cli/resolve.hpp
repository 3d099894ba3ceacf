#pragma once
// From what was typed to what it means, against a catalogue.

#include "commands.hpp"

#include <gpuplan/report/build.hpp>

namespace gpuplan::cli {

// Throws InputError with every unknown name. Families that were taken for their members are told in `notices`.
EstimateRequest resolve_request(const Catalog& catalog, const Options& options, const Environment& environment,
                                std::vector<std::string>& notices);
ListFilter resolve_filter(const Catalog& catalog, const Options& options, std::vector<std::string>& notices);

}  // namespace gpuplan::cli
