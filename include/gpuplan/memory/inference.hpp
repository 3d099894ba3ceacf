#pragma once
/// Memory of serving on one device, term by term, and how many sequences fit.
///
///     const InferenceMemory m = inference_memory(inputs, 8, nullptr);
///     m.terms.total() <= m.capacity
///
/// Terms: `weights`, `kv_cache`, `activations`, `sampler`, `workspace`, `graphs`, `context`, `communication`, `reserve`. Everything that
/// grows does so linearly with the number of running sequences, so the largest number that fits has a closed form.
/// Source: docs/PHYSICS.md, "Inference memory".

#include <gpuplan/base/breakdown.hpp>
#include <gpuplan/base/explain.hpp>
#include <gpuplan/deploy/deployment.hpp>

#include <cstdint>

namespace gpuplan {

struct InferenceMemoryInputs {
  const ServedModel* model = nullptr;
  const Engine* engine = nullptr;
  Fact<Bytes> visible;  ///< memory of one device that a program can use
  Layout layout;
  RequestShape request;
  const Catalog* catalog = nullptr;  ///< only for naming the sources of facts in explanations
};

enum class FitVerdict : std::uint8_t { fits, tight, does_not_fit };
std::string_view to_string(FitVerdict verdict);

struct InferenceMemory {
  Breakdown<Bytes> terms;  ///< on the fullest device
  Bytes capacity;          ///< what a program can use of it
  FitVerdict verdict = FitVerdict::does_not_fit;
  [[nodiscard]] Bytes headroom() const { return capacity - terms.total(); }
};

/// The footprint with `sequences` running on the replica.
InferenceMemory inference_memory(const InferenceMemoryInputs& in, std::int64_t sequences, Explain* why);

/// The most sequences of `request.context` positions that fit at once, up to the engine's own limit; 0 when none does.
std::int64_t max_concurrency(const InferenceMemoryInputs& in);

}  // namespace gpuplan
