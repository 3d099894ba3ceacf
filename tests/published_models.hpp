#pragma once
/// Networks of papers that tests of several modules check against.

#include "catalogues.hpp"

#include <cstdint>

namespace gpuplan::testing {

/// The GPT of Korthikanti et al. 2022, table 3: MLP four times as wide, vocabulary of 51200.
inline ServedModel gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  Architecture a;
  a.layers = layers;
  a.hidden = hidden;
  a.heads = a.kv_heads = heads;
  a.head_dim = hidden / heads;
  a.intermediate = 4 * hidden;
  a.vocab = 51200;
  a.gated_mlp = false;
  a.tied_embeddings = true;
  a.norm = NormKind::layer;
  a.qkv_bias = a.output_bias = a.mlp_bias = true;
  a.learned_positions = true;
  a.max_position = 2048;
  return served(a, "bf16");
}

}  // namespace gpuplan::testing
