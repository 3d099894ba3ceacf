#include "../family.hpp"
#include "common.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace gpuplan {
namespace {

/// `attention_layers` lists every layer; `attention_types` is [[pattern, repeats], …].
std::int64_t local_layers(Fields& in) {
  const std::vector<std::string> listed = in.texts("attention_layers");
  if (!listed.empty()) return std::count(listed.begin(), listed.end(), "local");
  const Node* types = in.find({"attention_types"});
  std::int64_t local = 0;
  if (!types || types->kind != Node::Kind::sequence) return local;
  for (const Node& part : types->items) {
    if (part.items.size() != 2) continue;
    std::int64_t in_pattern = 0;
    for (const Node& layer : part.items[0].items) in_pattern += layer.scalar == "local" ? 1 : 0;
    local += in_pattern * std::clamp<std::int64_t>(whole_number_of(&part.items[1]).value_or(0), 0, 10000);
  }
  return local;
}

}  // namespace

/// GPT-Neo: no biases on queries, keys and values; local layers see `window_size` tokens.
void read_gpt_neo(Fields& in, Architecture& a) {
  read_shape(in, a);
  a.heads = in.count({"num_heads", "num_attention_heads"});
  a.kv_heads = a.heads;
  a.head_dim = divided_head_dim(in, a);
  set_gpt_style(a);
  a.qkv_bias = false;
  a.learned_positions = true;
  a.max_position = in.assumed({"max_position_embeddings"}, 2048);  // GPTNeoConfig
  a.intermediate = in.count_or({"intermediate_size"}, 4 * a.hidden);
  read_windows(in, a, in.amount_or({"window_size"}, 256), local_layers(in));
}

}  // namespace gpuplan
