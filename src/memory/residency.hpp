#pragma once
// Which part of a model stands where, and what else is on its devices.

#include <gpuplan/memory/inference.hpp>

#include <algorithm>

namespace gpuplan {

// Bytes of weights over all ranks, by the place they have in the network.
struct WeightsByPlace {
  Bytes layers, ends, embedding, head;
  Bytes experts;  // of the layers: those of the routed experts
};
// @param ranks  whose share is summed: 1 for everything
WeightsByPlace weights_by_place(const InferenceMemoryInputs& in, std::int64_t ranks);

// What of a replica's weights is in host memory, all devices together.
struct HostWeights {
  Bytes layers;   // whole layers
  Bytes experts;  // of layers that are on the devices otherwise
  Bytes head;     // the output head, with a tied table's second place
  Bytes table;    // the token table, which engines may keep there whatever else is on the device
  bool is_tied = false;
  [[nodiscard]] Bytes off_device() const { return layers + experts + head; }  // of what is on a device otherwise
  [[nodiscard]] Bytes total() const { return layers + experts + (is_tied ? std::max(head, table) : head + table); }
};
HostWeights host_weights(const InferenceMemoryInputs& in);

// Whether device and host share one memory.
bool has_one_memory(const InferenceMemoryInputs& in);

Bytes adapters_on_device(const InferenceMemoryInputs& in, Explain* why);
// The draft model, the models beside, host memory: into the rates of the model itself.
void set_company(const InferenceMemoryInputs& in, InferenceRates& r);
// Adapters, draft model and models beside on one device.
Bytes company(const InferenceRates& r);
// What the host holds, where a device has no memory of its own.
Bytes host_on_device(const InferenceRates& r, double sequences, std::int64_t context);

}  // namespace gpuplan
