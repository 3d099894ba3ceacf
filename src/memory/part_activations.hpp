#pragma once
// The fullest operation of one part at the size that a job asks for.

#include <gpuplan/memory/parts.hpp>

namespace gpuplan {

// What the sizes of a job mean for one part.
struct PartScale {
  double pixels = 1;  // times as many as at the part's own size
  double frames = 1;
  double length = 1;  // tokens of each text
  double items = 1;
};
PartScale scale_of(const StoredNetwork& model, const NetworkPart& part, const PartsJob& job);

// Fills `peak`, `activations` and `largest_map`. @param element  bytes of one activation
void add_activations(PartFootprint& into, const NetworkPart& part, const PartScale& scale, const Runtime& runtime,
                     bool stores_scores, Bytes element);

}  // namespace gpuplan
