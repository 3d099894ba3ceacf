#include <gpuplan/model/architecture.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace gpuplan {
namespace {

constexpr double kMostParameters = 1e15;  // a thousand times the largest model; products stay far inside 64 bits

/// What one number of an architecture may be.
struct Range {
  std::string_view field;  // as in data/models.yaml
  std::int64_t Architecture::*member;
  std::int64_t least;
  std::int64_t most;
};

constexpr Range kRanges[] = {
    {"layers", &Architecture::layers, 1, 10000},
    {"hidden_size", &Architecture::hidden, 1, 1000000},
    {"heads", &Architecture::heads, 1, 100000},
    {"kv_heads", &Architecture::kv_heads, 1, 100000},
    {"head_dim", &Architecture::head_dim, 0, 100000},
    {"intermediate_size", &Architecture::intermediate, 0, 10000000},
    {"vocab_size", &Architecture::vocab, 1, 100000000},
    {"max_position", &Architecture::max_position, 0, 10000000000},
    {"position_offset", &Architecture::position_offset, 0, 1000000},
    {"norms_per_layer", &Architecture::norms_per_layer, 0, 16},
    {"sliding_window", &Architecture::window, 0, 10000000000},
    {"windowed_layers", &Architecture::windowed_layers, 0, 10000},
    {"experts", &Architecture::experts, 0, 1000000},
    {"experts_per_token", &Architecture::experts_per_token, 0, 1000000},
    {"shared_experts", &Architecture::shared_experts, 0, 10000},
    {"expert_intermediate_size", &Architecture::expert_intermediate, 0, 10000000},
    {"shared_expert_intermediate_size", &Architecture::shared_expert_intermediate, 0, 10000000},
    {"dense_layers", &Architecture::dense_layers, 0, 10000},
    {"kv_lora_rank", &Architecture::kv_lora_rank, 0, 1000000},
    {"q_lora_rank", &Architecture::q_lora_rank, 0, 1000000},
    {"qk_nope_head_dim", &Architecture::qk_nope_head_dim, 0, 100000},
    {"qk_rope_head_dim", &Architecture::qk_rope_head_dim, 0, 100000},
    {"v_head_dim", &Architecture::v_head_dim, 0, 100000},
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

void check_ranges(const Architecture& a, Complaints& out) {
  for (const Range& r : kRanges) {
    const std::int64_t value = a.*r.member;
    out.require(value >= r.least && value <= r.most, "has " + std::string(r.field) + " " + number(value),
                "a whole number from " + number(r.least) + " to " + number(r.most));
  }
}

void check_attention(const Architecture& a, Complaints& out) {
  out.require(a.heads % a.kv_heads == 0,
              "has " + number(a.heads) + " heads, which " + number(a.kv_heads) + " kv_heads do not divide",
              "heads that are a multiple of kv_heads");
  out.require(a.qk_dim() >= 1 && a.value_dim() >= 1, "has heads without a width",
              "head_dim, or qk_nope_head_dim, qk_rope_head_dim and v_head_dim with kv_lora_rank");
  out.require(a.q_lora_rank == 0 || a.has_latent_attention(), "has q_lora_rank without kv_lora_rank",
              "both, or neither");
  out.require(!a.learned_positions || a.max_position >= 1, "has learned_positions and no max_position", "max_position");
  out.require(a.windowed_layers <= a.layers, "has more windowed_layers than layers", "at most " + number(a.layers));
  out.require(a.windowed_layers == 0 || a.window >= 1, "has windowed_layers and no sliding_window", "sliding_window");
}

void check_mlp(const Architecture& a, Complaints& out) {
  out.require(a.dense_layers <= a.layers, "has more dense_layers than layers", "at most " + number(a.layers));
  out.require(a.plain_layers() <= 0 || a.intermediate >= 1, "has plain MLPs without a width", "intermediate_size");
  if (!a.has_experts()) return;
  out.require(a.experts_per_token >= 1 && a.experts_per_token <= a.experts,
              "has experts_per_token " + number(a.experts_per_token), "from 1 to " + number(a.experts));
  out.require(a.expert_intermediate >= 1, "has experts without a width", "expert_intermediate_size");
  out.require(a.shared_experts == 0 || a.shared_expert_intermediate >= 1, "has shared_experts without a width",
              "shared_expert_intermediate_size");
}

/// About as many parameters as there are, in floating point, so that nothing can overflow before it is refused.
double rough_parameters(const Architecture& a) {
  const auto d = [](std::int64_t n) { return static_cast<double>(n); };
  const double attention = d(a.hidden) * d(a.heads + 2 * a.kv_heads) * d(a.qk_dim() + a.value_dim()) +
                           d(a.heads) * d(a.qk_dim() + a.value_dim()) * d(a.kv_lora_rank + a.q_lora_rank);
  const double mlp = 3 * d(a.hidden) * d(a.intermediate);
  const double experts =
      3 * d(a.hidden) * (d(a.experts) * d(a.expert_intermediate + 1) + d(a.shared_expert_intermediate));
  const double tables = d(a.hidden) * (2 * d(a.vocab) + (a.learned_positions ? d(a.max_position) : 0.0));
  return d(a.layers) * (attention + mlp + experts) + tables;
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

std::vector<Problem> check_architecture(const Architecture& architecture) {
  Complaints out(architecture);
  check_ranges(architecture, out);
  if (!out.empty()) return out.take();  // what follows divides and multiplies
  check_attention(architecture, out);
  check_mlp(architecture, out);
  out.require(rough_parameters(architecture) <= kMostParameters, "has more parameters than can be counted",
              "at most 10^15 parameters");
  return out.take();
}

}  // namespace gpuplan
