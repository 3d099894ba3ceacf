#include <gpuplan/base/error.hpp>
#include <gpuplan/model/ggml_types.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

using K = GgufTensorKind;

constexpr std::int64_t kAlignment = 32;          // general.alignment when not stated
constexpr std::int64_t kMetadataPerToken = 48;   // token, type, score or merge: 21 to 61 bytes in real vocabularies
constexpr std::int64_t kMetadataPerTensor = 80;  // its entry in the header
constexpr std::array kFusedFamilies = {"phi", "gpt-neox", "gpt-2", "falcon", "mpt", "starcoder", "qwen", "dbrx"};

bool fuses_qkv(const Architecture& a) {
  return std::find(kFusedFamilies.begin(), kFusedFamilies.end(), std::string_view(a.family)) != kFusedFamilies.end();
}

constexpr std::pair<std::string_view, GgufTensorKind> kKinds[] = {
    {"embedding", K::token_embedding},
    {"head", K::output},
    {"attention.q", K::attention_q},
    {"attention.k", K::attention_k},
    {"attention.v", K::attention_v},
    {"attention.output", K::attention_output},
    {"attention.q_a", K::latent_q},
    {"attention.q_b", K::latent_q},
    {"attention.kv_a", K::latent_kv},
    {"gate_up", K::ffn_up},
    {"down", K::ffn_down},
};

/// What a group is in a GGUF file, by the last part of its name; unquantized for all that stays F32.
GgufTensorKind kind_of(const TensorGroup& group, const Architecture& a) {
  const bool quantized = group.is_linear() || group.role == TensorRole::embedding || group.role == TensorRole::head;
  if (!quantized || group.columns == 1) return K::unquantized;
  const std::string_view name = group.name;
  for (const auto& [part, kind] : kKinds) {
    const bool ends = name == part || (name.ends_with(part) && name[name.size() - part.size() - 1] == '.');
    if (!ends) continue;
    const bool fused = kind == K::attention_q || kind == K::attention_k || kind == K::attention_v;
    return fused && fuses_qkv(a) ? K::attention_qkv : kind;
  }
  return K::ffn_up;  // a linear that the rules do not know takes the base type, as this kind mostly does
}

/// Tensors of one shape in a layer (or outside the layers).
struct Piece {
  GgufTensorKind kind;
  std::int64_t rows;  ///< of all its tensors
  std::int64_t columns;
};

std::vector<Piece> pieces_of(const TensorGroup& g, const Architecture& a) {
  const std::int64_t per_layer = g.count / std::max<std::int64_t>(1, g.layers);
  if (g.name.ends_with("attention.kv_b")) {  // stored as its key and value halves, the key half transposed
    return {{K::latent_kv, a.heads * a.kv_lora_rank * per_layer, a.qk_nope_head_dim},
            {K::latent_v, a.heads * a.v_head_dim * per_layer, a.kv_lora_rank}};
  }
  const GgufTensorKind kind = kind_of(g, a);
  if (g.columns == 1) return {{kind, per_layer, g.rows}};
  return {{kind, per_layer * g.rows, g.columns}};
}

double padded(double size) {
  const auto alignment = static_cast<double>(kAlignment);
  return std::ceil(size / alignment) * alignment;
}

/// Sum over the layers of a group, whose tensors have the types that `type_of` gives them.
template <class TypeOf>
Bytes group_bytes(const TensorGroup& g, const Architecture& a, TypeOf&& type_of) {
  // The rules repeat every few layers; nobody has more than these.
  constexpr std::int64_t kMostLayers = 4096;
  const bool expert = g.role == TensorRole::expert;
  const bool shared = g.role == TensorRole::shared_expert;
  // Plain MLPs stand first, as far as an architecture tells.
  const std::int64_t first = expert || shared ? a.dense_layers : 0;
  const std::int64_t step = a.shared_experts > 0 && (expert || shared) ? 2 : 1;
  const std::int64_t layers = std::max<std::int64_t>(1, g.layers);
  const std::int64_t counted = std::min(layers, kMostLayers);
  const std::vector<Piece> pieces = pieces_of(g, a);
  double total = 0;
  for (std::int64_t i = 0; i < counted; ++i) {
    for (const Piece& piece : pieces) {
      MixTensor tensor;
      tensor.kind = piece.kind;
      tensor.layer = first + i;
      tensor.order = first + i * step + (shared ? 1 : 0);
      tensor.columns = piece.columns;
      tensor.expert = expert;
      tensor.shared_expert = shared;
      total += padded(static_cast<double>(piece.rows) * static_cast<double>(row_size(type_of(tensor), piece.columns)));
    }
  }
  return bytes(total * static_cast<double>(layers) / static_cast<double>(counted));
}

}  // namespace

MixModel mix_model(const Architecture& a) {
  MixModel model;
  model.layers = a.layers;
  model.experts = a.experts;
  model.heads_per_kv_head = a.kv_heads > 0 && !a.has_latent_attention() ? a.heads / a.kv_heads : 1;
  model.tied_embeddings = a.tied_embeddings;
  model.falcon = a.family == "falcon";
  return model;
}

Bytes gguf_group_bytes(const Architecture& a, const TensorGroup& group, GgmlFileType file_type) {
  const MixModel model = mix_model(a);
  return group_bytes(group, a, [&](const MixTensor& tensor) { return mix_type(file_type, tensor, model); });
}

Bytes gguf_group_bytes(const Architecture& a, const TensorGroup& group, GgmlType type) {
  return group_bytes(group, a, [&](const MixTensor& tensor) {
    if (tensor.kind == K::unquantized) return GgmlType::f32;
    return tensor.columns % traits_of(type).block == 0 ? type : GgmlType::f16;
  });
}

Bytes gguf_metadata_bytes(const Architecture& a, std::span<const TensorGroup> tensors) {
  double total = static_cast<double>(a.vocab * kMetadataPerToken);
  for (const TensorGroup& g : tensors) {
    total += static_cast<double>(std::max<std::int64_t>(1, g.layers) * kMetadataPerTensor);
  }
  return bytes(total);
}

Bytes gguf_file_bytes(const Architecture& a, std::span<const TensorGroup> tensors, GgmlFileType file_type) {
  Bytes total = gguf_metadata_bytes(a, tensors);
  for (const TensorGroup& g : tensors) total += gguf_group_bytes(a, g, file_type);
  return total;
}

Bytes gguf_file_bytes(std::span<const TensorGroup> tensors, double bits_per_weight) {
  return bytes(static_cast<double>(parameters(tensors)) * bits_per_weight / 8);
}

}  // namespace gpuplan
