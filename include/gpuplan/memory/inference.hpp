#pragma once
/// Memory of serving on one device, term by term, and how many sequences fit.
///
///     const InferenceMemory m = inference_memory(inputs, 8, nullptr);
///     m.terms.total() <= m.capacity
///
/// Terms: `weights`, `kv_cache`, `activations`, `sampler`, `workspace`, `graphs`, `context`, `communication`, `allocator`, `reserve`,
/// and where there are such `adapters`, `draft_weights`, `draft_kv_cache`, `beside`, and `host` where the device has no memory of its own.
/// What works from host memory (`Residency`) stands in `host`: `weights`, `kv_cache`, and `files`, the rest of the weights while they
/// are loaded, which the operating system may drop once they are on the device.
/// The layers of a step and what samples from it are not there at once: `sampler` is by how much its peak exceeds that of the
/// layers. An engine that profiles itself at start has both peaks at its limits, whatever runs.
/// Source: docs/PHYSICS.md, "Inference memory".

#include <gpuplan/base/breakdown.hpp>
#include <gpuplan/base/explain.hpp>
#include <gpuplan/deploy/deployment.hpp>
#include <gpuplan/model/kv_cache.hpp>

#include <cstdint>

namespace gpuplan {

struct InferenceMemoryInputs {
  const ServedModel* model = nullptr;
  const Engine* engine = nullptr;
  Fact<Bytes> visible;  ///< memory of one device that a program can use
  Layout layout;
  RequestShape request;
  const Catalog* catalog = nullptr;          ///< only for naming the sources of facts in explanations
  const Accelerator* accelerator = nullptr;  ///< for an engine's rules of large devices; null: those of the others hold
  /// The engine was started with its own default limits, as a measured run says nothing else; else it is started for as many
  /// sequences as are to run and steps no longer than a sequence (`--max-num-seqs`, `--max-num-batched-tokens` of a plan).
  bool default_limits = false;
};

enum class FitVerdict : std::uint8_t { fits, tight, does_not_fit };
std::string_view to_string(FitVerdict verdict);

struct InferenceMemory {
  Breakdown<Bytes> terms;  ///< on the fullest device
  Bytes capacity;          ///< what a program can use of it
  FitVerdict verdict = FitVerdict::does_not_fit;
  Breakdown<Bytes> host;  ///< memory of the host for all devices of a replica
  [[nodiscard]] Bytes headroom() const { return capacity - terms.total(); }
};

/// The footprint with `sequences` running on the replica.
InferenceMemory inference_memory(const InferenceMemoryInputs& in, std::int64_t sequences, Explain* why);

/// The most sequences of `request.context` positions that fit at once, up to the engine's own limit; 0 when none does.
std::int64_t max_concurrency(const InferenceMemoryInputs& in);

/// The longest context that one sequence can have; 0 when none fits.
std::int64_t longest_context(InferenceMemoryInputs in);

/// What a device has for the cache: an engine that preallocates takes all of it.
struct KvPool {
  Bytes size;         ///< on one device
  double tokens = 0;  ///< positions of all sequences that it holds, in whole pages
};
KvPool kv_pool(const InferenceMemoryInputs& in);

/// What a footprint is computed from, once for a model, an engine, a layout and a kind of device. Everything is on the fullest
/// device. `inference_need` over it allocates nothing: a million take a fraction of a second.
struct InferenceRates {
  Bytes weights;
  KvCacheInputs cache;      ///< but for sequences and lengths
  double page = 1;          ///< tokens
  double window = 0;        ///< tokens that a layer with a window keeps; 0: as many as the others
  double step_tokens = 0;   ///< of the largest step; 0: the prompts of all sequences at once
  double whole_prompt = 0;  ///< prompts of up to so many tokens are one step
  Bytes token;              ///< activations of one token of a step in the widest layer
  Bytes pair;               ///< stored scores of one pair of positions
  Bytes prompt_logits;      ///< of one prompt token, where all have them
  Bytes row;                ///< sampling of one row
  Bytes hidden;             ///< what each token of a step holds while rows are sampled
  double rows = 0;          ///< rows that sampling is profiled with; 0: as many as run
  Bytes stage_inputs;       ///< copies of a micro-batch's inputs for the stages of a pipeline
  Bytes stage_position;     ///< and what each position of the context adds to them
  Bytes fixed;              ///< workspace, graphs, context, communication
  Bytes adapters;
  Bytes draft_weights;
  KvCacheInputs draft_cache;  ///< of the draft model, but for sequences and lengths
  double draft_window = 0;
  Bytes beside;              ///< other models
  Bytes host_weights;        ///< of the replica in host memory
  KvCacheInputs host_cache;  ///< of a device, what stands in host memory; no layers where nothing does
  double host_share =
      0;  ///< of what is in host memory that counts on a device: 1/devices where there is one memory for both
  double slack = 0;
  double fraction = 1;
  bool fraction_of_free = false;
  Bytes visible;
};
InferenceRates inference_rates(const InferenceMemoryInputs& in);

/// Bytes that one device needs, what the engine leaves alone included.
Bytes inference_need(const InferenceRates& rates, double sequences, const RequestShape& request);

}  // namespace gpuplan
