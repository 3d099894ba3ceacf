#pragma once
// What documents say of a load: what was asked, and what an option carries of it.

#include <gpuplan/planner/estimate.hpp>
#include <gpuplan/report/document.hpp>

#include <vector>

namespace gpuplan {

void describe_load(const JobSpec& job, const Option& option, OptionDocument& d);
void describe_load_asked(const ServingLoad& load, std::vector<JobValue>& values);

}  // namespace gpuplan
