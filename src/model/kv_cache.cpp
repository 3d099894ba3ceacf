#include <gpuplan/model/kv_cache.hpp>

#include <gpuplan/base/error.hpp>

#include <cmath>

namespace gpuplan {

double kv_elements_per_layer_token(const Attention& t, std::int64_t tensor_parallel) {
  GPUPLAN_ASSERT(tensor_parallel >= 1, "a tensor-parallel group has at least one rank");
  if (t.heads == 0 || t.shares_cache) return 0;
  const double index = static_cast<double>(t.index_heads > 0 ? t.index_dim : 0);
  if (t.has_latent_attention())
    return static_cast<double>(t.kv_lora_rank + t.qk_rope_head_dim) + index;  // on every rank
  const double heads = std::ceil(static_cast<double>(t.kv_heads) / static_cast<double>(tensor_parallel));
  return heads * static_cast<double>(t.head_dim + t.value_dim()) + index;
}

Bytes kv_bytes_per_token(const Architecture& a, Bytes element) {
  double elements = 0;
  for (const MixerGroup& group : mixers_of(a)) {
    elements += static_cast<double>(group.layers) * kv_elements_per_layer_token(group.attention, 1);
  }
  return elements * element;
}

KvLayers kv_layers(const Architecture& a, std::int64_t tensor_parallel) {
  KvLayers out;
  double full = 0;
  double windowed = 0;
  double windows = 0;
  for (const MixerGroup& group : mixers_of(a)) {
    const double layers = static_cast<double>(group.layers);
    const double elements = layers * kv_elements_per_layer_token(group.attention, tensor_parallel);
    if (elements <= 0) continue;
    const bool slides = group.attention.window > 0;
    (slides ? out.windowed_layers : out.full_layers) += layers;
    (slides ? windowed : full) += elements;
    if (slides) windows += elements * static_cast<double>(group.attention.window);
  }
  if (out.full_layers > 0) out.elements = full / out.full_layers;
  if (out.windowed_layers > 0) {
    out.windowed_elements = windowed / out.windowed_layers;
    out.window = windows / windowed;
  }
  return out;
}

Bytes kv_cache_bytes(const KvCacheInputs& in, Explain* why) {
  const double elements =
      in.full_layers * in.tokens * in.elements + in.windowed_layers * in.window_tokens * in.windowed_elements;
  const Bytes total = in.copies * in.sequences * (elements * in.element + in.state);
  if (why) {
    why->term("memory.kv_cache", total,
              "copies * sequences * ((full_layers * tokens * elements + windowed_layers * window_tokens * "
              "windowed_elements) * element + state)",
              {{"copies", in.copies},
               {"sequences", in.sequences},
               {"full_layers", in.full_layers},
               {"tokens", in.tokens},
               {"elements", in.elements},
               {"windowed_layers", in.windowed_layers},
               {"window_tokens", in.window_tokens},
               {"windowed_elements", in.windowed_elements},
               {"element", in.element},
               {"state", in.state}});
  }
  return total;
}

}  // namespace gpuplan
