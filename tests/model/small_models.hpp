#pragma once
/// Models of a few thousand parameters as their files: a configuration, safetensors, GGUF.

#include "binary_files.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gpuplan::testing {

inline constexpr const char* kTinyConfig =
    R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000,
        "max_position_embeddings": 8192, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})";

/// 2 layers of 64·64 + 2·32·64 + 64·64 attention, 3·64·128 MLP, 2·64 norms; 2·1000·64 embeddings, 64 final norm.
inline constexpr std::int64_t kTinyParameters = 2 * (12288 + 24576 + 128) + 128000 + 64;

/// Tensors of two bytes an element, one after the other.
inline std::string half_precision(const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& tensors) {
  std::string header = "{";
  std::uint64_t at = 0;
  for (const auto& [name, shape] : tensors) {
    std::uint64_t elements = 1;
    std::string dimensions;
    for (const std::int64_t d : shape) {
      elements *= static_cast<std::uint64_t>(d);
      dimensions += (dimensions.empty() ? "" : ",") + std::to_string(d);
    }
    header += (at > 0 ? "," : "") + ("\"" + name + "\":{\"dtype\":\"BF16\",\"shape\":[" + dimensions) +
              "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(at + 2 * elements) + "]}";
    at += 2 * elements;
  }
  return safetensors_file(header + "}", at);
}

/// A decoder of two layers as llama.cpp writes it: width 256, 4 heads over 2, MLP 512, 300 tokens.
inline GgufBuilder tiny_gguf() {
  constexpr std::uint32_t f16 = 1;
  GgufBuilder b;
  b.string("general.architecture", "llama").string("general.name", "Tiny").u32("llama.block_count", 2);
  b.u32("llama.embedding_length", 256).u32("llama.attention.head_count", 4).u32("llama.attention.head_count_kv", 2);
  b.u32("llama.feed_forward_length", 512).u32("llama.context_length", 4096).u32("general.file_type", 1);
  std::uint64_t at = 0;
  const auto add = [&](const std::string& name, const std::vector<std::uint64_t>& dimensions) {
    b.tensor(name, dimensions, f16, at);
    std::uint64_t size = 2;
    for (const std::uint64_t d : dimensions) size *= d;
    at += (size + 31) / 32 * 32;
  };
  add("token_embd.weight", {256, 300});
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    add(layer + "attn_norm.weight", {256});
    add(layer + "attn_q.weight", {256, 256});
    add(layer + "attn_k.weight", {256, 128});
    add(layer + "attn_v.weight", {256, 128});
    add(layer + "attn_output.weight", {256, 256});
    add(layer + "ffn_norm.weight", {256});
    add(layer + "ffn_gate.weight", {256, 512});
    add(layer + "ffn_up.weight", {256, 512});
    add(layer + "ffn_down.weight", {512, 256});
  }
  add("output_norm.weight", {256});
  return b;
}
inline constexpr std::int64_t kTinyGguf =
    300 * 256 + 2 * (2 * 256 + 2 * 256 * 256 + 2 * 256 * 128 + 3 * 256 * 512) + 256;

}  // namespace gpuplan::testing
