#include "../family.hpp"
#include "common.hpp"
#include "layer_list.hpp"
#include "recurrence.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace gpuplan {
namespace {

bool stands_at(const std::vector<std::int64_t>& list, std::int64_t i, bool otherwise) {
  const auto place = static_cast<std::size_t>(i);
  return place < list.size() ? list[place] != 0 : otherwise;
}

/// Which layers attend: a list of numbers in the publisher's format, of words in the library's.
std::vector<std::int64_t> attending_layers(Fields& in) {
  std::vector<std::int64_t> attends = in.amounts("attn_type_list");
  for (const std::string& type : in.texts("layer_types")) attends.push_back(type == "full_attention" ? 1 : 0);
  if (attends.empty()) in.missing("attn_type_list");
  return attends;
}

/// The indexer picks blocks of tokens by the best score in each.
void read_block_indexer(Fields in, Attention& attention) {
  attention.index_heads = in.count({"sparse_num_index_heads"});
  attention.index_dim = in.count({"sparse_index_dim"});
  attention.index_weights = false;
  attention.selected_tokens =
      std::min<std::int64_t>(in.count({"sparse_topk_blocks"}) * in.count({"sparse_block_size"}), Fields::kMost);
}

}  // namespace

/// MiniMax-01: lightning attention in seven of eight layers, experts in all.
void read_minimax(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a, 8);
  read_experts(in, a, {"num_local_experts"}, {"num_experts_per_tok"}, {"intermediate_size"});
  const Node* shared = in.find({"shared_intermediate_size"});
  if (whole_number_of(shared).value_or(0) > 0) in.unreadable("shared experts (shared_intermediate_size)");
  const auto size = [](std::int64_t n) { return static_cast<double>(n); };
  const Recurrence recurrent = lightning_attention({size(a.hidden), size(a.heads), size(a.head_dim)});
  const std::vector<std::int64_t> attends = attending_layers(in);
  if (!lists_each_layer(in, "attn_type_list", attends.size(), a)) return;
  const Attention attention = a;
  LayerList layers;
  for (std::int64_t i = 0; i < listed_layers(a); ++i)
    stands_at(attends, i, false) ? layers.mixer(attention) : layers.mixer(recurrent);
  layers.mlp(a, a.layers);
  layers.into(a);
}

/// MiniMax-M3: norms on each head, sparse attention and experts after the first layers.
void read_minimax_m3(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a);
  if (in.flag({"use_qk_norm"}, true)) {
    a.qk_norm = in.text({"qk_norm_type"}) == "per_head" ? QkNorm::per_head : QkNorm::full;
  }
  a.output_gate = in.flag({"attention_output_gate"}, false);
  Mlp plain;
  plain.intermediate = in.count({"dense_intermediate_size"});
  read_experts(in, a, {"num_local_experts"}, {"num_experts_per_tok"}, {"intermediate_size"});
  a.router_bias = in.flag({"use_routing_bias"}, true);
  a.shared_experts = in.amount_or({"n_shared_experts"}, 0);
  if (a.shared_experts > 0) a.shared_expert_intermediate = in.count({"shared_intermediate_size"});
  const Attention full = a;
  Attention sparse = a;
  std::vector<std::int64_t> picks;
  const Node* indexer = in.find({"sparse_attention_config"});
  if (indexer) {
    Fields sparsity = in.inside(*indexer);
    read_block_indexer(sparsity, sparse);
    picks = sparsity.amounts("sparse_attention_freq");
  }
  const std::vector<std::int64_t> routed = in.amounts("moe_layer_freq");
  const Mlp experts = a;
  LayerList layers;
  for (std::int64_t i = 0; i < listed_layers(a); ++i) {
    layers.mixer(indexer && stands_at(picks, i, true) ? sparse : full);
    layers.mlp(stands_at(routed, i, true) ? experts : plain);
  }
  layers.into(a);
}

}  // namespace gpuplan
