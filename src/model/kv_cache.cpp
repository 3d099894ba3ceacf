#include <gpuplan/model/kv_cache.hpp>

#include <gpuplan/base/error.hpp>

#include <cmath>

namespace gpuplan {

double kv_elements_per_layer_token(const Architecture& a, std::int64_t tensor_parallel) {
  GPUPLAN_ASSERT(tensor_parallel >= 1, "a tensor-parallel group has at least one rank");
  if (a.has_latent_attention()) return static_cast<double>(a.kv_lora_rank + a.qk_rope_head_dim);  // on every rank
  const double heads = std::ceil(static_cast<double>(a.kv_heads) / static_cast<double>(tensor_parallel));
  return heads * static_cast<double>(a.head_dim + a.value_dim());
}

Bytes kv_bytes_per_token(const Architecture& a, Bytes element) {
  return static_cast<double>(a.layers) * kv_elements_per_layer_token(a, 1) * element;
}

Bytes kv_cache_bytes(const KvCacheInputs& in, Explain* why) {
  const double layer_tokens = in.full_layers * in.tokens + in.windowed_layers * in.window_tokens;
  const Bytes total = in.sequences * layer_tokens * in.elements * in.element;
  if (why) {
    why->term("memory.kv_cache", total,
              "sequences * (full_layers * tokens + windowed_layers * window_tokens) * elements * element",
              {{"sequences", in.sequences},
               {"full_layers", in.full_layers},
               {"tokens", in.tokens},
               {"windowed_layers", in.windowed_layers},
               {"window_tokens", in.window_tokens},
               {"elements", in.elements},
               {"element", in.element}});
  }
  return total;
}

}  // namespace gpuplan
