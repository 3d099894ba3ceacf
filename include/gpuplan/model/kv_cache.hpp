#pragma once
/// Bytes of key/value cache.
///
/// Per layer and token kv_heads · (key width + value width) elements, which is 2 · kv_heads · head_dim where both are the same;
/// with latent attention one latent of rank r plus the rotary part, not per head, and replicated over tensor-parallel
/// ranks. A layer with a sliding window stops growing at its window. Recurrent layers keep a state of fixed size a sequence.
/// Source: docs/PHYSICS.md, "KV cache".

#include <gpuplan/base/explain.hpp>
#include <gpuplan/base/units.hpp>
#include <gpuplan/model/architecture.hpp>

#include <cstdint>

namespace gpuplan {

/// Elements that one layer caches for one token on one of `tensor_parallel` ranks (1: the whole layer).
double kv_elements_per_layer_token(const Attention& attention, std::int64_t tensor_parallel);

/// Cache of one more token in all layers while no window is full: the figure model cards quote.
Bytes kv_bytes_per_token(const Architecture& architecture, Bytes element);

/// The layers that cache, by whether they have a window; of layers that differ the means, so that sums are exact.
struct KvLayers {
  double full_layers = 0;
  double elements = 0;  ///< a full layer and token on this rank
  double windowed_layers = 0;
  double windowed_elements = 0;
  double window = 0;  ///< tokens
};
KvLayers kv_layers(const Architecture& architecture, std::int64_t tensor_parallel);

struct KvCacheInputs {
  double full_layers = 0;      ///< layers on this pipeline stage that attend to everything
  double windowed_layers = 0;  ///< layers on this stage with a window
  double elements = 0;         ///< a full layer and token on this rank
  double windowed_elements = 0;
  Bytes element;             ///< stored width
  double tokens = 0;         ///< of one sequence, rounded up to the engine's pages
  double window_tokens = 0;  ///< what a windowed layer keeps of one sequence
  Bytes state;               ///< of recurrent layers on this rank and stage, a sequence
  double sequences = 0;
  double copies = 1;  ///< bytes held for each byte: over 1 where the cache grows by concatenation
};

Bytes kv_cache_bytes(const KvCacheInputs& in, Explain* why);

}  // namespace gpuplan
