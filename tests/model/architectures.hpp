#pragma once
/// Architectures as their configurations state them, for tests that must not depend on the catalogue.

#include <gpuplan/model/architecture.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gpuplan::testing {

inline void latent(Architecture& a, std::int64_t rank, std::int64_t q_rank, std::int64_t nope, std::int64_t rope,
                   std::int64_t value) {
  a.kv_lora_rank = rank;
  a.q_lora_rank = q_rank;
  a.qk_nope_head_dim = nope;
  a.qk_rope_head_dim = rope;
  a.v_head_dim = value;
}
inline void experts(Architecture& a, std::int64_t all, std::int64_t chosen, std::int64_t width, std::int64_t shared,
                    std::int64_t dense_layers) {
  a.experts = all;
  a.experts_per_token = chosen;
  a.expert_intermediate = width;
  a.shared_experts = shared;
  a.shared_expert_intermediate = shared * width;
  a.dense_layers = dense_layers;
}
inline void windows(Architecture& a, std::int64_t window, std::int64_t layers) {
  a.window = window;
  a.windowed_layers = layers;
}
inline void all_biases(Architecture& a) {
  a.qkv_bias = true;
  a.output_bias = true;
  a.mlp_bias = true;
}

struct KnownArchitecture {
  const char* name;
  std::int64_t layers, hidden, heads, kv_heads, head_dim, intermediate, vocab;
  void (*more)(Architecture& a);
};

inline const KnownArchitecture kKnownArchitectures[] = {
    {"llama-2-7b", 32, 4096, 32, 32, 128, 11008, 32000, nullptr},
    {"llama-2-13b", 40, 5120, 40, 40, 128, 13824, 32000, nullptr},
    {"llama-2-70b", 80, 8192, 64, 8, 128, 28672, 32000, nullptr},
    {"llama-3.1-8b", 32, 4096, 32, 8, 128, 14336, 128256, nullptr},
    {"llama-3.1-70b", 80, 8192, 64, 8, 128, 28672, 128256, nullptr},
    {"llama-3.1-405b", 126, 16384, 128, 8, 128, 53248, 128256, nullptr},
    {"llama-3.2-1b", 16, 2048, 32, 8, 64, 8192, 128256, [](Architecture& a) { a.tied_embeddings = true; }},
    {"llama-3.2-3b", 28, 3072, 24, 8, 128, 8192, 128256, [](Architecture& a) { a.tied_embeddings = true; }},
    {"llama-4-scout", 48, 5120, 40, 8, 128, 0, 202048,
     [](Architecture& a) {
       experts(a, 16, 1, 8192, 1, 0);
       windows(a, 8192, 36);
     }},
    {"llama-4-maverick", 48, 5120, 40, 8, 128, 16384, 202048,
     [](Architecture& a) {
       experts(a, 128, 1, 8192, 1, 24);
       windows(a, 8192, 36);
     }},
    {"tinyllama-1.1b", 22, 2048, 32, 4, 64, 5632, 32000, nullptr},
    {"mistral-7b", 32, 4096, 32, 8, 128, 14336, 32000, [](Architecture& a) { windows(a, 4096, 32); }},
    {"mixtral-8x7b", 32, 4096, 32, 8, 128, 0, 32000, [](Architecture& a) { experts(a, 8, 2, 14336, 0, 0); }},
    {"mixtral-8x22b", 56, 6144, 48, 8, 128, 0, 32000, [](Architecture& a) { experts(a, 8, 2, 16384, 0, 0); }},
    {"qwen2.5-0.5b", 24, 896, 14, 2, 64, 4864, 151936,
     [](Architecture& a) {
       a.tied_embeddings = true;
       a.qkv_bias = true;
     }},
    {"qwen2.5-7b", 28, 3584, 28, 4, 128, 18944, 152064, [](Architecture& a) { a.qkv_bias = true; }},
    {"qwen2.5-72b", 80, 8192, 64, 8, 128, 29568, 152064, [](Architecture& a) { a.qkv_bias = true; }},
    {"qwen3-0.6b", 28, 1024, 16, 8, 128, 3072, 151936,
     [](Architecture& a) {
       a.tied_embeddings = true;
       a.qk_norm = QkNorm::per_head;
     }},
    {"qwen3-32b", 64, 5120, 64, 8, 128, 25600, 151936, [](Architecture& a) { a.qk_norm = QkNorm::per_head; }},
    {"qwen3-30b-a3b", 48, 2048, 32, 4, 128, 0, 151936,
     [](Architecture& a) {
       experts(a, 128, 8, 768, 0, 0);
       a.qk_norm = QkNorm::per_head;
     }},
    {"qwen3-235b-a22b", 94, 4096, 64, 4, 128, 0, 151936,
     [](Architecture& a) {
       experts(a, 128, 8, 1536, 0, 0);
       a.qk_norm = QkNorm::per_head;
     }},
    {"deepseek-v2-lite", 27, 2048, 16, 16, 0, 10944, 102400,
     [](Architecture& a) {
       latent(a, 512, 0, 128, 64, 128);
       experts(a, 64, 6, 1408, 2, 1);
     }},
    {"deepseek-v3", 61, 7168, 128, 128, 0, 18432, 129280,
     [](Architecture& a) {
       latent(a, 512, 1536, 128, 64, 128);
       experts(a, 256, 8, 2048, 1, 3);
       a.router_bias = true;
     }},
    {"kimi-k2", 61, 7168, 64, 64, 0, 18432, 163840,
     [](Architecture& a) {
       latent(a, 512, 1536, 128, 64, 128);
       experts(a, 384, 8, 2048, 1, 1);
       a.router_bias = true;
     }},
    {"glm-4.5", 92, 5120, 96, 8, 128, 12288, 151552,
     [](Architecture& a) {
       experts(a, 160, 8, 1536, 1, 3);
       a.qkv_bias = true;
       a.qk_norm = QkNorm::per_head;
       a.router_bias = true;
     }},
    {"gpt-oss-20b", 24, 2880, 64, 8, 64, 0, 201088,
     [](Architecture& a) {
       experts(a, 32, 4, 2880, 0, 0);
       windows(a, 128, 12);
       a.qkv_bias = true;
       a.output_bias = true;
       a.attention_sinks = true;
       a.router_bias = true;
       a.expert_bias = true;
     }},
    {"gpt-oss-120b", 36, 2880, 64, 8, 64, 0, 201088,
     [](Architecture& a) {
       experts(a, 128, 4, 2880, 0, 0);
       windows(a, 128, 18);
       a.qkv_bias = true;
       a.output_bias = true;
       a.attention_sinks = true;
       a.router_bias = true;
       a.expert_bias = true;
     }},
    {"gemma-2-9b", 42, 3584, 16, 8, 256, 14336, 256000,
     [](Architecture& a) {
       windows(a, 4096, 21);
       a.tied_embeddings = true;
       a.norms_per_layer = 4;
     }},
    {"gemma-3-27b", 62, 5376, 32, 16, 128, 21504, 262144,
     [](Architecture& a) {
       windows(a, 1024, 52);
       a.tied_embeddings = true;
       a.qk_norm = QkNorm::per_head;
       a.norms_per_layer = 4;
     }},
    {"olmo-2-7b", 32, 4096, 32, 32, 128, 11008, 100352, [](Architecture& a) { a.qk_norm = QkNorm::full; }},
    {"command-r-plus", 64, 12288, 96, 8, 128, 33792, 256000,
     [](Architecture& a) {
       a.tied_embeddings = true;
       a.parallel_blocks = true;
       a.qk_norm = QkNorm::full;
       a.norms_per_layer = 1;
     }},
    {"falcon-180b", 80, 14848, 232, 8, 64, 59392, 65024,
     [](Architecture& a) {
       a.gated_mlp = false;
       a.parallel_blocks = true;
       a.norm = NormKind::layer;
     }},
    {"gpt2", 12, 768, 12, 12, 64, 3072, 50257,
     [](Architecture& a) {
       all_biases(a);
       a.tied_embeddings = true;
       a.gated_mlp = false;
       a.learned_positions = true;
       a.norm = NormKind::layer;
       a.max_position = 1024;
     }},
    {"gpt-j-6b", 28, 4096, 16, 16, 256, 16384, 50400,
     [](Architecture& a) {
       a.gated_mlp = false;
       a.mlp_bias = true;
       a.head_bias = true;
       a.parallel_blocks = true;
       a.norm = NormKind::layer;
       a.norms_per_layer = 1;
     }},
    {"opt-6.7b", 32, 4096, 32, 32, 128, 16384, 50272,
     [](Architecture& a) {
       all_biases(a);
       a.tied_embeddings = true;
       a.gated_mlp = false;
       a.learned_positions = true;
       a.position_offset = 2;
       a.norm = NormKind::layer;
       a.max_position = 2048;
     }},
    {"pythia-6.9b", 32, 4096, 32, 32, 128, 16384, 50432,
     [](Architecture& a) {
       all_biases(a);
       a.gated_mlp = false;
       a.parallel_blocks = true;
       a.norm = NormKind::layer;
     }},
    {"stablelm-3b", 32, 2560, 32, 32, 80, 6912, 50304, [](Architecture& a) { a.norm = NormKind::layer; }},
    {"starcoder2-15b", 40, 6144, 48, 4, 128, 24576, 49152,
     [](Architecture& a) {
       windows(a, 4096, 40);
       all_biases(a);
       a.gated_mlp = false;
       a.norm = NormKind::layer;
     }},
    {"mpt-7b", 32, 4096, 32, 32, 128, 16384, 50432,
     [](Architecture& a) {
       a.tied_embeddings = true;
       a.gated_mlp = false;
     }},
    {"phi-2", 32, 2560, 32, 32, 80, 10240, 51200,
     [](Architecture& a) {
       all_biases(a);
       a.gated_mlp = false;
       a.head_bias = true;
       a.parallel_blocks = true;
       a.norm = NormKind::layer;
       a.norms_per_layer = 1;
     }},
};

inline Architecture architecture(std::string_view name) {
  for (const KnownArchitecture& known : kKnownArchitectures) {
    if (known.name != name) continue;
    Architecture a;
    a.name = known.name;
    a.layers = known.layers;
    a.hidden = known.hidden;
    a.heads = known.heads;
    a.kv_heads = known.kv_heads;
    a.head_dim = known.head_dim;
    a.intermediate = known.intermediate;
    a.vocab = known.vocab;
    if (known.more) known.more(a);
    return a;
  }
  throw std::runtime_error("no such architecture in the tests: " + std::string(name));
}

}  // namespace gpuplan::testing
