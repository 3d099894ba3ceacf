#pragma once
// The work of one part, for inference and for training.

#include <gpuplan/perf/parts.hpp>

namespace gpuplan {

// @param audio  seconds of sound of one item of the job; 0: none
PartWork part_work(const PartsTimeInputs& in, const Ceilings& ceilings, const NetworkPart& part, double audio);

// Over the link between the host's memory and the device; 0 where it is not known.
double fetch_seconds(const PartsTimeInputs& in, Bytes size);

}  // namespace gpuplan
