#pragma once
// The fullest operation of one part at the size that a job asks for.

#include <gpuplan/memory/parts.hpp>

namespace gpuplan {

// Fills `peak`, `activations` and `largest_map`. @param element  bytes of one activation
void add_activations(PartFootprint& into, const NetworkPart& part, const PartScale& scale, const Runtime& runtime,
                     bool stores_scores, Bytes element);

}  // namespace gpuplan
