#include <gpuplan/model/ggml_types.hpp>
#include <gpuplan/model/model_files.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

constexpr std::int64_t kMostLayers = 10000;
constexpr std::int64_t kMostSize = 1000000000;  // so that products of two stay inside 64 bits

/// Every `period`-th layer attends to everything, the others slide. Source: llama.cpp src/llama-model.cpp,
/// `set_swa_pattern`.
struct WindowRow {
  std::string_view architecture;
  std::int64_t period;
};
constexpr WindowRow kWindows[] = {
    {"gemma2", 2},  {"gemma3", 6}, {"gemma3n", 5}, {"gpt-oss", 2},
    {"cohere2", 4}, {"llama4", 4}, {"exaone4", 4}, {"olmo2", 4},
};

/// Tensors of the layers by the rest of their names (`attn_q.weight`), with the layers that have them.
struct LayerTensor {
  std::vector<std::int64_t> shape;  // innermost last, as StoredTensor has it
  std::set<std::int64_t> layers;
};

class GgufNetworkReader {
 public:
  explicit GgufNetworkReader(const GgufFile& file) : file_(file) {
    architecture_ = file.metadata.text("general.architecture").value_or("");
    for (const StoredTensor& tensor : file.stored.tensors) sort_in(tensor);
  }

  ModelConfig read() {
    ModelConfig config;
    config.model_type = architecture_;
    config.weights_scheme = format();
    Architecture a;
    a.name = file_.metadata.text("general.name").value_or("");
    a.family = architecture_;
    a.native_format = config.weights_scheme;
    std::string why = read_sizes(a);
    if (why.empty()) {
      read_top(a);
      read_mlp(a);
      read_mixers(a);
      read_windows(a);
      for (const Problem& problem : check_architecture(a)) why += (why.empty() ? "" : "; ") + problem.message;
    }
    if (why.empty()) {
      config.network = network_of(std::move(a));
      return config;
    }
    config.network = network_of_tensors(file_.stored);
    config.network.family = architecture_;
    config.not_modelled.push_back("GGUF architecture '" + architecture_ + "': " + why + "; counted from its tensors");
    return config;
  }

 private:
  void sort_in(const StoredTensor& tensor) {
    constexpr std::string_view block = "blk.";
    const std::string_view name = tensor.name;
    if (!name.starts_with(block)) {
      tops_.emplace(tensor.name, tensor.shape);
      return;
    }
    std::int64_t layer = 0;
    const char* const end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + block.size(), end, layer);
    if (error != std::errc() || rest == end || *rest != '.') return;
    LayerTensor& known = layers_[std::string(rest + 1, end)];
    if (known.layers.empty()) known.shape = tensor.shape;
    known.layers.insert(layer);
  }

  [[nodiscard]] std::optional<std::int64_t> size(const std::string& key) const {
    const auto value = file_.metadata.whole(architecture_ + "." + key);
    return value && *value >= 0 && *value <= kMostSize ? value : std::nullopt;
  }
  [[nodiscard]] std::int64_t size_or(const std::string& key, std::int64_t otherwise) const {
    return size(key).value_or(otherwise);
  }
  /// A number a layer, or one for all.
  [[nodiscard]] std::vector<std::int64_t> sizes(const std::string& key, std::int64_t layers) const {
    std::vector<std::int64_t> values =
        file_.metadata.wholes(architecture_ + "." + key).value_or(std::vector<std::int64_t>{});
    for (std::int64_t& value : values) value = std::clamp<std::int64_t>(value, 0, kMostSize);
    if (values.size() == 1) values.assign(static_cast<std::size_t>(layers), values.front());
    return static_cast<std::int64_t>(values.size()) == layers ? values : std::vector<std::int64_t>{};
  }
  [[nodiscard]] const LayerTensor* layer_tensor(const std::string& rest) const {
    const auto found = layers_.find(rest);
    return found == layers_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool has_layer(const std::string& rest) const { return layers_.contains(rest); }
  [[nodiscard]] std::int64_t layers_with(std::initializer_list<const char*> rests) const {
    std::set<std::int64_t> all;
    for (const char* rest : rests) {
      if (const LayerTensor* tensor = layer_tensor(rest)) all.insert(tensor->layers.begin(), tensor->layers.end());
    }
    return static_cast<std::int64_t>(all.size());
  }
  /// Outputs and inputs of a matrix of the layers; 0 when it is not there.
  [[nodiscard]] std::int64_t rows(const std::string& rest) const {
    const LayerTensor* tensor = layer_tensor(rest);
    return tensor && tensor->shape.size() >= 2 ? tensor->shape[tensor->shape.size() - 2] : 0;
  }

  [[nodiscard]] std::string format() const {
    const auto type = file_.metadata.whole("general.file_type");
    const GgmlFileTypeTraits* traits =
        type && *type >= 0 ? find_ggml_file_type(static_cast<std::uint64_t>(*type)) : nullptr;
    return traits ? "gguf:" + std::string(traits->name) : std::string();
  }

  std::string read_sizes(Architecture& a) {
    if (architecture_.empty()) return "the metadata has no general.architecture";
    for (const auto& [key, member] :
         {std::pair{"block_count", &Architecture::layers}, std::pair{"embedding_length", &Architecture::hidden}}) {
      const auto value = size(key);
      if (!value || *value < 1) return "the metadata has no " + architecture_ + "." + key;
      a.*member = *value;
    }
    if (a.layers > kMostLayers) return "more than " + std::to_string(kMostLayers) + " layers";
    const auto embedding = tops_.find("token_embd.weight");
    a.vocab = size_or("vocab_size", file_.metadata.length("tokenizer.ggml.tokens").value_or(0));
    if (embedding != tops_.end() && embedding->second.size() == 2) a.vocab = embedding->second.front();
    if (a.vocab < 1) return "neither a vocabulary nor token_embd.weight";
    if (layers_.empty()) return "no layers (blk.*): a vocabulary alone, or another kind of network";
    // Layers for speculation stand behind the others and are counted with them.
    a.layers -= std::min(size_or("nextn_predict_layers", 0), a.layers - 1);
    a.max_position = size_or("context_length", 0);
    return {};
  }

  void read_top(Architecture& a) {
    a.tied_embeddings = !tops_.contains("output.weight");
    a.head_bias = tops_.contains("output.bias");
    a.embedding_norm = tops_.contains("token_embd_norm.weight");
    a.final_norm = tops_.contains("output_norm.weight");
    a.learned_positions = tops_.contains("position_embd.weight");
    if (a.learned_positions) {
      const auto& shape = tops_.at("position_embd.weight");
      if (shape.size() == 2) a.max_position = shape.front();
    }
    a.norm = has_layer("attn_norm.bias") || tops_.contains("output_norm.bias") ? NormKind::layer : NormKind::rms;
    a.norms_per_layer = 0;
    for (const char* norm : {"attn_norm", "attn_norm_2", "ffn_norm", "post_attention_norm", "post_ffw_norm",
                             "attn_post_norm", "ffn_post_norm", "attn_output_norm", "layer_output_norm"}) {
      if (has_layer(std::string(norm) + ".weight")) ++a.norms_per_layer;
    }
    a.norm_weights = a.norms_per_layer > 0;
    if (!a.norm_weights) a.norms_per_layer = 2;
    a.parallel_blocks = a.norms_per_layer == 1 && has_layer("attn_norm.weight") && layers_with({"ffn_up.weight"}) > 0;
  }

  void read_mlp(Architecture& a) {
    const std::vector<std::int64_t> widths = sizes("feed_forward_length", a.layers);
    a.intermediate = widths.empty() ? rows("ffn_up.weight") : widths.back();
    if (rows("ffn_down.weight") > 0 && layer_tensor("ffn_down.weight")->shape.back() > 0) {
      a.intermediate = layer_tensor("ffn_down.weight")->shape.back();
    }
    const bool fused = rows("ffn_up.weight") == 2 * a.intermediate && a.intermediate > 0;
    a.gated_mlp = fused || has_layer("ffn_gate.weight") || has_layer("ffn_gate_exps.weight") ||
                  has_layer("ffn_gate_up_exps.weight");
    a.mlp_bias = has_layer("ffn_down.bias");
    a.experts = size_or("expert_count", 0);
    if (!a.has_experts()) return;
    a.experts_per_token = size_or("expert_used_count", 1);
    a.expert_intermediate = size_or("expert_feed_forward_length", a.intermediate);
    if (const LayerTensor* down = layer_tensor("ffn_down_exps.weight"); down && !down->shape.empty()) {
      a.expert_intermediate = down->shape.back();
    }
    a.shared_experts = size_or("expert_shared_count", has_layer("ffn_down_shexp.weight") ? 1 : 0);
    if (const LayerTensor* down = layer_tensor("ffn_down_shexp.weight"); down && !down->shape.empty()) {
      a.shared_expert_intermediate = down->shape.back();
    }
    a.shared_expert_gate = has_layer("ffn_gate_inp_shexp.weight");
    a.router_bias = has_layer("exp_probs_b.bias") || has_layer("ffn_gate_inp.bias");
    a.expert_bias = has_layer("ffn_down_exps.bias");
    a.dense_layers = std::min(a.layers, layers_with({"ffn_down.weight", "ffn_up.weight"}));
  }

  Attention attention(const Architecture& a, std::int64_t heads, std::int64_t kv_heads) const {
    Attention t;
    t.heads = std::max<std::int64_t>(heads, 1);
    t.kv_heads = std::max<std::int64_t>(kv_heads, 1);
    t.head_dim = size_or("attention.key_length", a.hidden / t.heads);
    const std::int64_t value = size_or("attention.value_length", t.head_dim);
    if (value != t.head_dim) t.v_head_dim = value;
    t.qkv_bias = has_layer("attn_q.bias") || has_layer("attn_qkv.bias");
    t.output_bias = has_layer("attn_output.bias");
    t.attention_sinks = has_layer("attn_sinks.weight") || has_layer("attn_sinks");
    t.output_gate = has_layer("attn_q.weight") && rows("attn_q.weight") == 2 * t.heads * t.head_dim;
    if (const LayerTensor* norm = layer_tensor("attn_q_norm.weight"); norm && !norm->shape.empty()) {
      t.qk_norm = norm->shape.back() == t.head_dim ? QkNorm::per_head : QkNorm::full;
    }
    t.kv_lora_rank = has_layer("attn_kv_a_mqa.weight") ? size_or("attention.kv_lora_rank", 0) : 0;
    if (t.kv_lora_rank == 0) return t;
    t.kv_heads = t.heads;
    t.q_lora_rank = has_layer("attn_q_a.weight") ? size_or("attention.q_lora_rank", 0) : 0;
    t.qk_rope_head_dim = size_or("rope.dimension_count", 0);
    const std::int64_t key = size_or("attention.key_length_mla", t.head_dim);
    t.qk_nope_head_dim = std::max<std::int64_t>(key - t.qk_rope_head_dim, 0);
    t.v_head_dim = size_or("attention.value_length_mla", value);
    return t;
  }

  /// Layers with other numbers of heads, and layers without attention.
  void read_mixers(Architecture& a) {
    std::vector<std::int64_t> heads = sizes("attention.head_count", a.layers);
    std::vector<std::int64_t> kv_heads = sizes("attention.head_count_kv", a.layers);
    if (heads.empty()) heads.assign(static_cast<std::size_t>(a.layers), 0);
    if (kv_heads.empty()) kv_heads = heads;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> kinds;
    std::int64_t recurrent = 0;
    for (std::int64_t layer = 0; layer < a.layers; ++layer) {
      const bool attends = has_attention(layer);
      if (attends) ++kinds[{heads[static_cast<std::size_t>(layer)], kv_heads[static_cast<std::size_t>(layer)]}];
      if (has_recurrence(layer)) ++recurrent;
    }
    std::int64_t most = 0;
    std::int64_t attending = 0;
    for (const auto& [kind, layers] : kinds) {
      attending += layers;
      if (layers <= most) continue;
      most = layers;
      static_cast<Attention&>(a) = attention(a, kind.first, kind.second);
    }
    if (recurrent == 0 && kinds.size() == 1 && attending == a.layers) return;
    for (const auto& [kind, layers] : kinds) a.mixers.push_back({layers, attention(a, kind.first, kind.second), {}});
    if (recurrent > 0) a.mixers.push_back({recurrent, {}, recurrence()});
    read_mlp_layers(a);
  }

  /// In networks whose layers differ some have no MLP.
  void read_mlp_layers(Architecture& a) {
    const std::int64_t plain = layers_with({"ffn_up.weight"});
    const std::int64_t expert = layers_with({"ffn_up_exps.weight", "ffn_gate_up_exps.weight"});
    if (plain + expert == a.layers && !a.has_experts()) return;
    Mlp mlp = a;
    if (expert > 0) a.mlps.push_back({std::min(expert, a.layers), mlp});
    mlp.experts = 0;
    mlp.shared_expert_intermediate = 0;
    if (plain > 0) a.mlps.push_back({std::min(plain, a.layers), mlp});
  }

  [[nodiscard]] bool has_any(std::int64_t layer, std::string_view prefix) const {
    return std::any_of(layers_.begin(), layers_.end(), [&](const auto& entry) {
      return entry.first.starts_with(prefix) && entry.second.layers.contains(layer);
    });
  }
  [[nodiscard]] bool has_attention(std::int64_t layer) const {
    for (const char* rest : {"attn_q.", "attn_qkv.", "attn_q_a.", "attn_kv_a_mqa.", "attn_k."}) {
      if (has_any(layer, rest) && !has_any(layer, "ssm_")) return true;
    }
    return false;
  }
  [[nodiscard]] static bool is_recurrent(std::string_view rest) {
    return rest.starts_with("ssm_") || rest.starts_with("time_mix_") || rest.starts_with("shortconv.");
  }
  [[nodiscard]] bool has_recurrence(std::int64_t layer) const {
    return has_any(layer, "ssm_") || has_any(layer, "time_mix_") || has_any(layer, "shortconv.");
  }

  /// The tensors as they stand; the state as llama.cpp keeps it, in 32 bit (src/llama-hparams.cpp, n_embd_r and n_embd_s).
  [[nodiscard]] Recurrence recurrence() const {
    Recurrence r;
    r.kind = architecture_;
    for (const auto& [rest, tensor] : layers_) {
      const bool beside = rest.starts_with("attn_gate.") || rest.starts_with("attn_qkv.");
      if (!is_recurrent(rest) && !(beside && has_recurrence(*tensor.layers.begin()))) continue;
      TensorGroup group;
      group.name = rest;
      group.rows = tensor.shape.size() >= 2 ? tensor.shape[tensor.shape.size() - 2] : tensor.shape.back();
      group.columns = tensor.shape.size() >= 2 ? tensor.shape.back() : 1;
      const bool small =
          rest.starts_with("ssm_conv1d") || rest.starts_with("ssm_a") || rest.starts_with("shortconv.conv");
      group.role = small || group.columns == 1 ? TensorRole::state : TensorRole::recurrence;
      group.sharding = Sharding::column;
      r.tensors.push_back(std::move(group));
    }
    const double inner = static_cast<double>(size_or("ssm.inner_size", 0));
    const double state = static_cast<double>(size_or("ssm.state_size", 0));
    const double groups = static_cast<double>(size_or("ssm.group_count", 0));
    const double kernel = static_cast<double>(size_or("ssm.conv_kernel", size_or("shortconv.l_cache", 1)));
    const double convolved = inner + 2 * groups * state;
    r.state = bytes(4 * (inner * state + std::max(kernel - 1, 0.0) * convolved));
    r.scan_flops = 6 * inner * state;  // decay, outer product and read-out of each state element, multiply and add
    return r;
  }

  void read_windows(Architecture& a) {
    const std::int64_t window = size_or("attention.sliding_window", 0);
    if (window == 0 || !a.mixers.empty()) return;
    const std::string key = architecture_ + ".attention.sliding_window_pattern";
    std::int64_t period = -1;
    if (const auto stated = file_.metadata.whole(key)) period = *stated;
    for (const WindowRow& row : kWindows) {
      if (period < 0 && row.architecture == architecture_) period = row.period;
    }
    if (period < 0) return;  // the window is said, but not which layers slide: none is counted as sliding
    a.window = window;
    a.windowed_layers = period > 0 ? a.layers - a.layers / period : a.layers;  // 0: all slide
  }

  const GgufFile& file_;
  std::string architecture_;
  std::map<std::string, LayerTensor> layers_;
  std::map<std::string, std::vector<std::int64_t>> tops_;
};

}  // namespace

ModelConfig read_gguf_network(const GgufFile& file) { return GgufNetworkReader(file).read(); }

}  // namespace gpuplan
