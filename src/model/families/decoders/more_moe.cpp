#include "../family.hpp"
#include "common.hpp"
#include "layer_list.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {
namespace {

void read_biases(Fields& in, Architecture& a, std::string_view key) {
  a.qkv_bias = in.flag({key}, false);
  a.output_bias = a.qkv_bias;
}

/// `count` shared experts as wide as the routed ones, and plain MLPs in the first layers.
void add_shared(Fields& in, Architecture& a, std::int64_t count, Keys dense) {
  a.shared_experts = count;
  a.shared_expert_intermediate = std::min<std::int64_t>(count, 100000) * a.expert_intermediate;
  a.dense_layers = std::min(in.amount_or(dense, 0), a.layers);
  if (a.dense_layers > 0) a.intermediate = in.count({"intermediate_size"});
}

/// A number, or a list of equal ones for each layer.
std::int64_t number_of_all(Fields& in, std::string_view key, std::int64_t otherwise) {
  const Node* node = in.find({key});
  if (!node || node->kind != Node::Kind::sequence) return in.amount_or({key}, otherwise);
  const std::vector<std::int64_t> numbers = in.amounts(key);
  if (numbers.empty()) return otherwise;
  if (std::count(numbers.begin(), numbers.end(), numbers.front()) != static_cast<std::ptrdiff_t>(numbers.size()))
    in.unreadable("experts that differ from layer to layer (" + std::string(key) + ")");
  return numbers.front();
}

void read_hunyuan_attention(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a);
  read_biases(in, a, "attention_bias");
  if (in.flag({"use_qk_norm"}, true)) a.qk_norm = QkNorm::per_head;
  if (in.flag({"use_cla"}, false)) in.unreadable("layers that share keys and values (use_cla)");
}

}  // namespace

/// dots.llm1: norms on each head, DeepSeek-V3's routing.
void read_dots1(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a);
  read_biases(in, a, "attention_bias");
  a.qk_norm = QkNorm::per_head;
  read_experts(in, a, {"n_routed_experts"}, {"num_experts_per_tok"}, {"moe_intermediate_size"});
  a.router_bias = true;
  add_shared(in, a, in.amount_or({"n_shared_experts"}, 0), {"first_k_dense_replace"});
}

/// ERNIE 4.5 with experts: in every `moe_layer_interval`-th layer from the start index to the end index.
void read_ernie_moe(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a, 4);
  read_biases(in, a, "use_bias");
  a.mlp_bias = a.qkv_bias;
  read_experts(in, a, {"moe_num_experts"}, {"moe_k"}, {"moe_intermediate_size"});
  a.router_bias = true;
  add_shared(in, a, in.amount_or({"moe_num_shared_experts"}, 0), {});
  const std::int64_t first = in.amount_or({"moe_layer_start_index"}, 1);
  const std::int64_t stated = whole_number_of(in.find({"moe_layer_end_index"})).value_or(-1);
  const std::int64_t last = stated < 0 ? a.layers - 1 : stated;
  const std::int64_t step = in.count_or({"moe_layer_interval"}, 1);
  for (std::int64_t i = 0; i < listed_layers(a); ++i)
    a.dense_layers += i >= first && i <= last && (i + 1) % step == 0 ? 0 : 1;
  if (a.dense_layers > 0) a.intermediate = in.count({"intermediate_size"});
}

/// Hunyuan with experts: a shared expert in every layer.
void read_hunyuan_moe(Fields& in, Architecture& a) {
  read_hunyuan_attention(in, a);
  a.experts = std::max<std::int64_t>(number_of_all(in, "num_experts", 1), 1);
  a.experts_per_token = number_of_all(in, "moe_topk", 1);
  const std::int64_t width = number_of_all(in, "moe_intermediate_size", 0);
  a.expert_intermediate = width > 0 ? width : in.count({"intermediate_size"});
  add_shared(in, a, number_of_all(in, "num_shared_expert", 0), {});
}

void read_hunyuan(Fields& in, Architecture& a) {
  read_hunyuan_attention(in, a);
  a.intermediate = in.count({"intermediate_size"});
  a.mlp_bias = in.flag({"mlp_bias"}, false);
}

/// Ling and Ring (Bailing).
void read_bailing_moe(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a);
  a.qkv_bias = in.flag({"use_qkv_bias"}, false);
  a.output_bias = in.flag({"use_bias"}, false);
  if (in.flag({"use_qk_norm"}, false)) a.qk_norm = QkNorm::per_head;
  read_experts(in, a, {"num_experts"}, {"num_experts_per_tok"}, {"moe_intermediate_size"});
  a.router_bias = in.flag({"moe_router_enable_expert_bias"}, false);
  add_shared(in, a, in.amount_or({"num_shared_experts"}, 0), {"first_k_dense_replace"});
}

/// EXAONE 4: norms after attention and MLP and on each head; in the large model three sliding layers to a full one.
void read_exaone4(Fields& in, Architecture& a) {
  read_gated_decoder(in, a);
  a.qk_norm = QkNorm::per_head;
  read_windows(in, a, in.amount({"sliding_window"}), a.layers - a.layers / 4);
}

}  // namespace gpuplan
