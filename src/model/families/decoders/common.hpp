#pragma once
/// What families share.

#include "../fields.hpp"

#include <gpuplan/model/architecture.hpp>

#include <cstdint>
#include <optional>

namespace gpuplan {

/// Layers, hidden size, vocabulary and positions, in all spellings.
void read_shape(Fields& in, Architecture& a);

/// Heads; KV heads, which are `kv_otherwise` (0: as many as heads) when the config does not say; head_dim, which is
/// hidden / heads unless said; the values' width where it differs.
void read_heads(Fields& in, Architecture& a, std::int64_t kv_otherwise = 0);

/// Heads of a format without KV heads and head_dim.
void read_plain_heads(Fields& in, Architecture& a);

/// Hidden / heads; a problem when that is no whole number.
std::int64_t divided_head_dim(Fields& in, const Architecture& a);

/// `read_shape`, `read_heads` and `intermediate_size`.
void read_gated_decoder(Fields& in, Architecture& a, std::int64_t kv_otherwise = 0);

/// Layer norms with biases, plain MLP, biases everywhere but on the head: GPT and its heirs.
void set_gpt_style(Architecture& a, bool biases = true);

/// The window of `layers` layers; `layer_types` decides when the config has it.
void read_windows(Fields& in, Architecture& a, std::optional<std::int64_t> window, std::int64_t layers);

/// Experts, experts a token and their width.
void read_experts(Fields& in, Architecture& a, Keys experts, Keys per_token, Keys width);

}  // namespace gpuplan
