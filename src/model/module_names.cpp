#include "module_names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace gpuplan {
namespace {

struct NameRow {
  std::string_view ending;    // of our group's name
  std::string_view matrices;  // names of one matrix, a blank between; '|' before the next matrix
};
// Names in transformers' and the publishers' own modules.
constexpr NameRow kNames[] = {
    {"attention.q_a", "self_attn.q_a_proj self_attn.fused_qkv_a_proj_with_mqa"},
    {"attention.q_b", "self_attn.q_b_proj"},
    {"attention.kv_a", "self_attn.kv_a_proj_with_mqa self_attn.fused_qkv_a_proj_with_mqa"},
    {"attention.kv_b", "self_attn.kv_b_proj"},
    {"attention.q",
     "self_attn.q_proj self_attn.qkv_proj self_attn.query_key_value self_attn.W_pack attention.q_proj attention.wq "
     "attention.wqkv "
     "attention.query_key_value mixer.q_proj attn.q_proj attn.qkv_proj attn.c_attn self_attention.query_key_value"},
    {"attention.k",
     "self_attn.k_proj self_attn.qkv_proj self_attn.query_key_value self_attn.W_pack attention.k_proj attention.wk "
     "attention.wqkv "
     "attention.query_key_value mixer.k_proj attn.k_proj attn.qkv_proj attn.c_attn self_attention.query_key_value"},
    {"attention.v",
     "self_attn.v_proj self_attn.qkv_proj self_attn.query_key_value self_attn.W_pack attention.v_proj attention.wv "
     "attention.wqkv "
     "attention.query_key_value mixer.v_proj attn.v_proj attn.qkv_proj attn.c_attn self_attention.query_key_value"},
    {"attention.output",
     "self_attn.o_proj self_attn.dense self_attn.out_proj attention.o_proj attention.wo attention.dense mixer.o_proj "
     "attn.out_proj attn.o_proj attn.c_proj self_attention.dense"},
    {"indexer.q", "self_attn.indexer.wq_b"},
    {"indexer.k", "self_attn.indexer.wk"},
    {"shared_experts.gate_up",
     "mlp.shared_experts.gate_proj mlp.shared_expert.gate_proj mlp.shared_experts.gate_up_proj "
     "mlp.shared_mlp.gate_proj "
     "feed_forward.shared_expert.gate_proj block_sparse_moe.shared_experts.gate_proj|mlp.shared_experts.up_proj "
     "mlp.shared_expert.up_proj mlp.shared_experts.gate_up_proj mlp.shared_mlp.up_proj "
     "feed_forward.shared_expert.up_proj "
     "block_sparse_moe.shared_experts.up_proj mixer.shared_experts.up_proj"},
    {"shared_experts.down",
     "mlp.shared_experts.down_proj mlp.shared_expert.down_proj mlp.shared_mlp.down_proj "
     "feed_forward.shared_expert.down_proj "
     "block_sparse_moe.shared_experts.down_proj mixer.shared_experts.down_proj"},
    {"experts.*.gate_up",
     "mlp.experts.0.gate_proj mlp.experts.gate_up_proj block_sparse_moe.experts.0.w1 "
     "block_sparse_moe.experts.0.gate_proj "
     "feed_forward.experts.gate_up_proj feed_forward.experts.0.gate_proj|mlp.experts.0.up_proj "
     "mlp.experts.gate_up_proj "
     "block_sparse_moe.experts.0.w3 block_sparse_moe.experts.0.up_proj feed_forward.experts.gate_up_proj "
     "feed_forward.experts.0.up_proj mixer.experts.0.up_proj"},
    {"experts.*.down",
     "mlp.experts.0.down_proj mlp.experts.down_proj block_sparse_moe.experts.0.w2 block_sparse_moe.experts.0.down_proj "
     "feed_forward.experts.down_proj feed_forward.experts.0.down_proj mixer.experts.0.down_proj"},
    {"experts.latent_down", "mixer.fc1_latent_proj"},
    {"experts.latent_up", "mixer.fc2_latent_proj"},
    {"mlp.gate_up",
     "mlp.gate_proj mlp.gate_up_proj feed_forward.gate_proj feed_forward.w1 mlp.w1|mlp.up_proj mlp.gate_up_proj "
     "feed_forward.up_proj feed_forward.w3 mlp.w2 mlp.fc1 mlp.c_fc mlp.dense_h_to_4h mixer.up_proj"},
    {"mlp.down",
     "mlp.down_proj feed_forward.down_proj feed_forward.w2 mlp.c_proj mlp.fc2 mlp.dense_4h_to_h mixer.down_proj"},
    {"embedding", "embed_tokens word_embeddings wte tok_embeddings"},
    {"head", "lm_head output embed_out"},
};
// Layers with a state: what goes in, and what comes out.
constexpr std::string_view kRecurrentOut =
    "linear_attn.out_proj mixer.out_proj mamba.out_proj linear_attn.o_proj self_attn.o_proj";
constexpr std::string_view kRecurrentIn =
    "linear_attn.in_proj_qkvz linear_attn.in_proj_qkv linear_attn.in_proj linear_attn.in_proj_z mixer.in_proj "
    "mamba.in_proj "
    "self_attn.q_proj";

ModuleAliases words(std::string_view list) {
  ModuleAliases all;
  while (!list.empty()) {
    const auto blank = list.find(' ');
    all.push_back(list.substr(0, blank));
    list.remove_prefix(blank == std::string_view::npos ? list.size() : blank + 1);
  }
  return all;
}

/// What people put in front of the layers: the rest is `layers.3.…`. Nothing when a pattern has no layers.
std::optional<std::string_view> from_layers(std::string_view pattern) {
  for (const std::string_view word : {"layers.", "h.", "blocks."}) {
    for (auto at = pattern.find(word); at != std::string_view::npos; at = pattern.find(word, at + 1)) {
      if (at == 0 || pattern[at - 1] == '.' || pattern[at - 1] == '*') return pattern.substr(at + word.size());
    }
  }
  return std::nullopt;
}

bool has_any(std::string_view text, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

constexpr std::array<std::string_view, 8> kForeign = {"mtp",   "visual", "vision", "audio",
                                                      "image", "vit",    "talker", "draft"};

/// The layer that `3.self_attn` names; nothing for `*.self_attn` and `1*`.
std::optional<std::int64_t> layer_of(std::string_view after_layers) {
  std::int64_t layer = 0;
  const auto [end, error] = std::from_chars(after_layers.data(), after_layers.data() + after_layers.size(), layer);
  if (error != std::errc{} || layer < 0) return std::nullopt;
  const std::size_t used = static_cast<std::size_t>(end - after_layers.data());
  if (used < after_layers.size() && after_layers[used] != '.') return std::nullopt;
  return layer;
}

}  // namespace

std::vector<ModuleAliases> modules_of(const TensorGroup& group) {
  const std::string_view name = group.name;
  for (const NameRow& row : kNames) {
    if (name != row.ending && !(name.ends_with(row.ending) && name[name.size() - row.ending.size() - 1] == '.'))
      continue;
    std::string_view rest = row.matrices;
    std::vector<ModuleAliases> all;
    while (!rest.empty()) {
      const auto bar = rest.find('|');
      all.push_back(words(rest.substr(0, bar)));
      rest.remove_prefix(bar == std::string_view::npos ? rest.size() : bar + 1);
    }
    // Without a gate only the other matrix is there.
    const bool gated = group.layers <= 0 || group.count / group.layers % 2 == 0;
    if (all.size() == 2 && !gated) all.erase(all.begin());
    return all;
  }
  if (group.role == TensorRole::recurrence) {
    return {words(name.find("out") != std::string_view::npos ? kRecurrentOut : kRecurrentIn)};
  }
  constexpr std::string_view layers = "layers.*.";
  return {{name.starts_with(layers) ? name.substr(layers.size()) : name}};
}

ModuleRuleSet::ModuleRuleSet(std::span<const ModuleRule> rules) : rules_(rules) {
  for (std::size_t i = 0; i < rules.size(); ++i) add(i, rules[i].pattern);
}

void ModuleRuleSet::add(std::size_t index, std::string_view pattern) {
  Compiled rule;
  rule.index = index;
  if (pattern.starts_with("re:")) {
    rule.regex = ModuleRegex::compile(pattern.substr(3));
    if (rule.regex) general_.push_back(std::move(rule));
    return;
  }
  if (pattern.ends_with(".weight")) pattern.remove_suffix(7);
  rule.glob = pattern.find_first_of("*?") != std::string_view::npos;
  const auto after = from_layers(pattern);
  const std::string_view before = after ? pattern.substr(0, pattern.size() - after->size()) : pattern;
  if (has_any(before, kForeign)) return;  // of another part
  if (!after) {
    for (const std::string_view prefix : {"model.", "language_model.", "model."}) {
      if (pattern.starts_with(prefix)) pattern.remove_prefix(prefix.size());
    }
    rule.pattern = pattern;
    general_.push_back(std::move(rule));
    return;
  }
  rule.pattern = "model.layers." + std::string(*after);
  const auto layer = layer_of(*after);
  (layer ? by_layer_[*layer] : general_).push_back(std::move(rule));
}

bool ModuleRuleSet::fits(const Compiled& rule, const std::string& name) {
  if (!budget_.spend()) return false;
  if (rule.regex) {
    if (rule.regex->matches(name, budget_)) return true;
    constexpr std::string_view prefix = "model.";
    if (!name.starts_with(prefix)) return false;
    const std::string rest = name.substr(prefix.size());
    return rule.regex->matches("model.language_model." + rest, budget_) ||
           rule.regex->matches("language_model.model." + rest, budget_);
  }
  if (!rule.glob) return has_module_path(name, rule.pattern);
  return glob_matches(rule.pattern, name, budget_) || glob_matches(rule.pattern + ".*", name, budget_) ||
         (rule.pattern.front() != '*' && glob_matches("*." + rule.pattern, name, budget_));
}

const ModuleRule* ModuleRuleSet::find(const ModuleAliases& aliases, std::int64_t layer) {
  std::size_t first = rules_.size();
  const auto named = by_layer_.find(layer);
  for (const std::string_view alias : aliases) {
    const std::string name =
        layer < 0 ? std::string(alias) : "model.layers." + std::to_string(layer) + "." + std::string(alias);
    const auto look = [&](const std::vector<Compiled>& list) {
      for (const Compiled& rule : list) {
        if (rule.index >= first) return;  // they stand in order
        if (fits(rule, name)) first = rule.index;
      }
    };
    if (named != by_layer_.end()) look(named->second);
    look(general_);
  }
  return first < rules_.size() ? &rules_[first] : nullptr;
}

bool ModuleRuleSet::names_part(std::span<const std::string_view> words) const {
  return std::any_of(rules_.begin(), rules_.end(),
                     [&](const ModuleRule& rule) { return has_any(rule.pattern, words); });
}

}  // namespace gpuplan
