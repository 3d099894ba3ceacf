#include <gpuplan/model/architecture.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace gpuplan {
namespace {

constexpr double kMostParameters = 1e15;  // a thousand times the largest model; products stay far inside 64 bits

/// What one number of an architecture may be.
template <class Part>
struct Range {
  std::string_view field;  // as in data/models.yaml
  std::int64_t Part::*member;
  std::int64_t least;
  std::int64_t most;
};

constexpr Range<Architecture> kRanges[] = {
    {"layers", &Architecture::layers, 1, 10000},
    {"hidden_size", &Architecture::hidden, 1, 1000000},
    {"embedding_width", &Architecture::embedding_width, 0, 1000000},
    {"vocab_size", &Architecture::vocab, 1, 100000000},
    {"max_position", &Architecture::max_position, 0, 10000000000},
    {"position_offset", &Architecture::position_offset, 0, 1000000},
    {"norms_per_layer", &Architecture::norms_per_layer, 0, 16},
    {"windowed_layers", &Architecture::windowed_layers, 0, 10000},
    {"dense_layers", &Architecture::dense_layers, 0, 10000},
};

constexpr Range<Attention> kAttentionRanges[] = {
    {"heads", &Attention::heads, 1, 100000},
    {"kv_heads", &Attention::kv_heads, 1, 100000},
    {"head_dim", &Attention::head_dim, 0, 100000},
    {"sliding_window", &Attention::window, 0, 10000000000},
    {"kv_lora_rank", &Attention::kv_lora_rank, 0, 1000000},
    {"q_lora_rank", &Attention::q_lora_rank, 0, 1000000},
    {"qk_nope_head_dim", &Attention::qk_nope_head_dim, 0, 100000},
    {"qk_rope_head_dim", &Attention::qk_rope_head_dim, 0, 100000},
    {"v_head_dim", &Attention::v_head_dim, 0, 100000},
    {"index_heads", &Attention::index_heads, 0, 100000},
    {"index_dim", &Attention::index_dim, 0, 100000},
    {"selected_tokens", &Attention::selected_tokens, 0, 1000000000},
};

constexpr Range<Mlp> kMlpRanges[] = {
    {"intermediate_size", &Mlp::intermediate, 0, 10000000},
    {"experts", &Mlp::experts, 0, 1000000},
    {"experts_per_token", &Mlp::experts_per_token, 0, 1000000},
    {"shared_experts", &Mlp::shared_experts, 0, 10000},
    {"expert_intermediate_size", &Mlp::expert_intermediate, 0, 10000000},
    {"shared_expert_intermediate_size", &Mlp::shared_expert_intermediate, 0, 10000000},
    {"latent_width", &Mlp::latent_width, 0, 1000000},
};

class Complaints {
 public:
  explicit Complaints(const Architecture& a) : a_(a) {}

  void require(bool holds, std::string message, std::string expected) {
    if (holds) return;
    Problem p;
    p.id = "model.bad_architecture";
    p.message = (a_.name.empty() ? std::string("the model") : "model '" + a_.name + "'") + " " + std::move(message);
    p.expected = std::move(expected);
    problems_.push_back(std::move(p));
  }
  [[nodiscard]] bool empty() const { return problems_.empty(); }
  std::vector<Problem> take() { return std::move(problems_); }

 private:
  const Architecture& a_;
  std::vector<Problem> problems_;
};

std::string number(std::int64_t n) { return std::to_string(n); }

template <class Part, std::size_t N>
void check_ranges(const Part& part, const Range<Part> (&ranges)[N], Complaints& out) {
  for (const Range<Part>& r : ranges) {
    const std::int64_t value = part.*r.member;
    out.require(value >= r.least && value <= r.most, "has " + std::string(r.field) + " " + number(value),
                "a whole number from " + number(r.least) + " to " + number(r.most));
  }
}

void check_attention(const Attention& t, Complaints& out) {
  out.require(t.heads % t.kv_heads == 0,
              "has " + number(t.heads) + " heads, which " + number(t.kv_heads) + " kv_heads do not divide",
              "heads that are a multiple of kv_heads");
  out.require(t.qk_dim() >= 1 && t.value_dim() >= 1, "has heads without a width",
              "head_dim, or qk_nope_head_dim, qk_rope_head_dim and v_head_dim with kv_lora_rank");
  out.require(t.q_lora_rank == 0 || t.has_latent_attention(), "has q_lora_rank without kv_lora_rank",
              "both, or neither");
}

void check_mlp(const Mlp& m, Complaints& out) {
  out.require(m.has_experts() || m.intermediate >= 1, "has plain MLPs without a width", "intermediate_size");
  if (!m.has_experts()) return;
  out.require(m.experts_per_token >= 1 && m.experts_per_token <= m.experts,
              "has experts_per_token " + number(m.experts_per_token), "from 1 to " + number(m.experts));
  out.require(m.expert_intermediate >= 1, "has experts without a width", "expert_intermediate_size");
  out.require(m.shared_experts == 0 || m.shared_expert_intermediate >= 1, "has shared_experts without a width",
              "shared_expert_intermediate_size");
}

/// Ranges first: what follows divides and multiplies.
void check_layers(const Architecture& a, Complaints& out) {
  if (a.mixers.empty()) check_ranges<Attention>(a, kAttentionRanges, out);
  if (a.mlps.empty()) check_ranges<Mlp>(a, kMlpRanges, out);
  const auto check_layers_of = [&](std::int64_t layers, std::string_view what) {
    out.require(layers >= 1 && layers <= a.layers, "has " + number(layers) + " " + std::string(what) + " of one kind",
                "from 1 to " + number(a.layers));
  };
  for (const MixerGroup& group : a.mixers) {
    if (group.attention.heads > 0) check_ranges<Attention>(group.attention, kAttentionRanges, out);
    check_layers_of(group.layers, "mixers");
  }
  for (const MlpGroup& group : a.mlps) {
    check_ranges<Mlp>(group.mlp, kMlpRanges, out);
    check_layers_of(group.layers, "MLPs");
  }
  if (!out.empty()) return;
  for (const MixerGroup& group : mixers_of(a)) {
    if (group.attention.heads > 0) check_attention(group.attention, out);
  }
  for (const MlpGroup& group : mlps_of(a)) check_mlp(group.mlp, out);
}

/// About as many parameters as there are, in floating point, so that nothing can overflow before it is refused.
double rough_parameters(const Architecture& a) {
  const auto d = [](std::int64_t n) { return static_cast<double>(n); };
  double total = d(a.hidden) * (2 * d(a.vocab) + (a.learned_positions ? d(a.max_position) : 0.0));
  for (const MixerGroup& group : mixers_of(a)) {
    const Attention& t = group.attention;
    const double width = d(t.qk_dim() + t.value_dim());
    double one = d(a.hidden) * d(2 * t.heads + 2 * t.kv_heads) * width +
                 d(t.heads) * width * d(t.kv_lora_rank + t.q_lora_rank) +
                 d(t.index_heads) * d(t.index_dim) * d(a.hidden);
    if (group.recurrence) {
      for (const TensorGroup& tensor : group.recurrence->tensors)
        one += d(tensor.count) * d(tensor.rows) * d(tensor.columns);
    }
    total += d(group.layers) * one;
  }
  for (const MlpGroup& group : mlps_of(a)) {
    const Mlp& m = group.mlp;
    const double experts = d(m.experts) * d(m.expert_intermediate + 1) + d(m.shared_expert_intermediate);
    total += d(group.layers) * 3 * d(a.hidden) * (d(m.intermediate) + experts);
  }
  for (const TensorGroup& tensor : a.others) total += d(tensor.count) * d(tensor.rows) * d(tensor.columns);
  return total;
}

/// The product, or -1 (which is refused) where it could not be meant.
std::int64_t width_product(std::int64_t count, std::int64_t width) {
  constexpr std::int64_t most = 1000000000;
  return count < 0 || width < 0 || count > most || width > most ? -1 : count * width;
}

void read_attention(const ModelPreset& preset, Architecture& a) {
  a.heads = preset.heads.or_else(0);
  a.kv_heads = preset.kv_heads.or_else(a.heads);
  a.head_dim = preset.head_dim.or_else(a.heads > 0 ? a.hidden / a.heads : 0);
  a.qkv_bias = preset.qkv_bias;
  a.output_bias = preset.output_bias;
  a.attention_sinks = preset.attention_sinks;
  a.qk_norm = preset.qk_norm;
  a.window = preset.sliding_window.or_else(0);
  a.windowed_layers = preset.windowed_layers.or_else(a.window > 0 ? a.layers : 0);
  a.kv_lora_rank = preset.kv_lora_rank.or_else(0);
  a.q_lora_rank = preset.q_lora_rank.or_else(0);
  a.qk_nope_head_dim = preset.qk_nope_head_dim.or_else(0);
  a.qk_rope_head_dim = preset.qk_rope_head_dim.or_else(0);
  a.v_head_dim = preset.v_head_dim.or_else(0);
}

void read_mlp(const ModelPreset& preset, Architecture& a) {
  a.gated_mlp = preset.gated_mlp;
  a.mlp_bias = preset.mlp_bias;
  a.intermediate = preset.intermediate_size.or_else(0);
  a.experts = preset.experts.or_else(0);
  if (!a.has_experts()) return;
  a.experts_per_token = preset.experts_per_token.or_else(0);
  a.shared_experts = preset.shared_experts.or_else(0);
  a.expert_intermediate = preset.expert_intermediate_size.or_else(a.intermediate);
  a.shared_expert_intermediate =
      preset.shared_expert_intermediate_size.or_else(width_product(a.shared_experts, a.expert_intermediate));
  a.dense_layers = preset.dense_layers.or_else(0);
  a.router_bias = preset.router_bias;
  a.expert_bias = preset.expert_bias;
  a.shared_expert_gate = preset.shared_expert_gate;
}

}  // namespace

std::vector<MixerGroup> mixers_of(const Architecture& a) {
  if (!a.mixers.empty()) return a.mixers;
  std::vector<MixerGroup> groups;
  const auto add = [&](std::int64_t layers, std::int64_t window) {
    if (layers <= 0) return;
    groups.push_back({layers, a, std::nullopt});
    groups.back().attention.window = window;
  };
  add(a.layers - a.windowed_layers, 0);
  add(a.windowed_layers, a.window);
  return groups;
}

std::vector<MlpGroup> mlps_of(const Architecture& a) {
  if (!a.mlps.empty()) return a.mlps;
  std::vector<MlpGroup> groups;
  if (!a.mixers.empty() && a.intermediate == 0 && !a.has_experts()) return groups;  // mixers alone
  if (a.plain_layers() > 0) {
    Mlp plain;
    plain.intermediate = a.intermediate;
    plain.gated_mlp = a.gated_mlp;
    plain.mlp_bias = a.mlp_bias;
    groups.push_back({a.plain_layers(), plain});
  }
  if (a.expert_layers() > 0) groups.push_back({a.expert_layers(), a});
  return groups;
}

std::int64_t attention_layers(const Architecture& architecture) {
  std::int64_t layers = 0;
  for (const MixerGroup& group : mixers_of(architecture)) layers += group.attention.heads > 0 ? group.layers : 0;
  return layers;
}

std::int64_t windowed_layers(const Architecture& architecture) {
  std::int64_t layers = 0;
  for (const MixerGroup& group : mixers_of(architecture)) layers += group.attention.window > 0 ? group.layers : 0;
  return layers;
}

Bytes state_bytes(const Architecture& architecture) {
  Bytes total;
  for (const MixerGroup& group : architecture.mixers) {
    if (group.recurrence) total += static_cast<double>(group.layers) * group.recurrence->state;
  }
  return total;
}

Architecture architecture_of(const ModelPreset& preset) {
  Architecture a;
  a.name = preset.name;
  a.family = preset.family;
  a.native_format = preset.native_format;
  a.layers = preset.layers.or_else(0);
  a.hidden = preset.hidden_size.or_else(0);
  a.vocab = preset.vocab_size.or_else(0);
  a.max_position = preset.max_position.or_else(0);
  a.tied_embeddings = preset.tied_embeddings;
  a.head_bias = preset.head_bias;
  a.learned_positions = preset.learned_positions;
  a.position_offset = preset.position_offset.or_else(0);
  a.parallel_blocks = preset.parallel_blocks;
  a.norm = preset.norm;
  a.norms_per_layer = preset.norms_per_layer.or_else(2);
  read_attention(preset, a);
  read_mlp(preset, a);
  return a;
}

std::vector<Problem> check_architecture(const Architecture& a) {
  Complaints out(a);
  check_ranges(a, kRanges, out);
  out.require(a.windowed_layers <= a.layers, "has more windowed_layers than layers", "at most " + number(a.layers));
  out.require(a.dense_layers <= a.layers, "has more dense_layers than layers", "at most " + number(a.layers));
  out.require(a.windowed_layers == 0 || a.window >= 1, "has windowed_layers and no sliding_window", "sliding_window");
  out.require(!a.learned_positions || a.max_position >= 1, "has learned_positions and no max_position", "max_position");
  if (!out.empty()) return out.take();  // what follows divides and multiplies
  check_layers(a, out);
  if (!out.empty()) return out.take();
  out.require(rough_parameters(a) <= kMostParameters, "has more parameters than can be counted",
              "at most 10^15 parameters");
  return out.take();
}

}  // namespace gpuplan
