#pragma once
// How the terms of an inference footprint follow from its rates; used by the breakdown and by the fast path alike.

#include <gpuplan/memory/inference.hpp>

namespace gpuplan {

Bytes weights_on_device(const InferenceMemoryInputs& in, Explain* why);
Fact<Bytes> communication_of(const InferenceMemoryInputs& in);  // none with one device

KvCacheInputs cache_of(const InferenceRates& r, double sequences, std::int64_t context);
// The same of another cache with the pages of the engine.
KvCacheInputs cache_of(const InferenceRates& r, KvCacheInputs cache, double window, double sequences,
                       std::int64_t context);
double prompts_at_once(const InferenceRates& r, double sequences, const RequestShape& request);
double step_tokens(const InferenceRates& r, double sequences, const RequestShape& request);
Bytes workspace_of(const InferenceMemoryInputs& in);
Bytes sampling_peak(const InferenceRates& r, double sequences, const RequestShape& request);
Bytes layers_peak(const InferenceRates& r, double sequences, const RequestShape& request);

}  // namespace gpuplan
