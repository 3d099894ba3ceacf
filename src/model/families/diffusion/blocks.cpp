#include "blocks.hpp"

#include <charconv>
#include <cmath>

namespace gpuplan {
namespace {

std::string joined(std::string_view name, std::string_view part) { return std::string(name) + "." + std::string(part); }

std::string up_to(std::int64_t least, std::int64_t most) {
  return "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
}

bool is_list(const Node* node) { return node && node->kind == Node::Kind::sequence; }

}  // namespace

std::vector<std::int64_t> level_widths(Fields& in, std::string_view key, const std::vector<std::int64_t>& otherwise) {
  if (!in.has({key})) {
    if (otherwise.empty()) in.missing(key);
    return otherwise;
  }
  std::vector<std::int64_t> out = in.amounts(key);
  bool good = !out.empty() && out.size() <= kMostLevels;
  for (const std::int64_t value : out) good = good && value >= 1 && value <= kMostWidth;
  if (good) return out;
  in.wrong(key, "'" + std::string(key) + "' is no list of widths",
           "1 to " + std::to_string(kMostLevels) + " numbers, each " + up_to(1, kMostWidth));
  return {};
}

std::vector<std::int64_t> per_level(Fields& in, std::string_view key, std::size_t count, std::int64_t otherwise,
                                    std::int64_t most, std::int64_t least) {
  const Node* node = in.find({key});
  if (!is_list(node)) {
    const std::int64_t value = in.amount_or({key}, otherwise);
    if (value >= least && value <= most) return std::vector<std::int64_t>(count, value);
    in.wrong(key, "'" + std::string(key) + "' is " + std::to_string(value), up_to(least, most));
    return std::vector<std::int64_t>(count, least);
  }
  std::vector<std::int64_t> out = in.amounts(key);
  bool good = out.size() == count;
  for (const std::int64_t value : out) good = good && value >= least && value <= most;
  if (good) return out;
  in.wrong(key, "'" + std::string(key) + "' does not fit " + std::to_string(count) + " levels",
           std::to_string(count) + " numbers, each " + up_to(least, most));
  return std::vector<std::int64_t>(count, least);
}

std::vector<bool> level_flags(Fields& in, std::string_view key, std::size_t count, const std::vector<bool>& otherwise) {
  const Node* node = in.find({key});
  std::vector<bool> out;
  bool good = true;
  if (!node) {
    out = otherwise;
  } else if (is_list(node)) {
    for (const Node& item : node->items) {
      const std::optional<bool> value = boolean_of(&item);
      good = good && value;
      out.push_back(value.value_or(false));
    }
  }
  if (good && out.size() >= count) return out;
  in.wrong(key, "'" + std::string(key) + "' does not fit " + std::to_string(count) + " levels",
           "at least " + std::to_string(count) + " of true or false");
  return std::vector<bool>(count, false);
}

double factor_of(Fields& in, std::string_view key, double otherwise) {
  const Node* node = in.find({key});
  if (!node) return otherwise;
  double value = 0;
  const bool plain = node->kind == Node::Kind::scalar && !node->quoted;
  const char* const end = node->scalar.data() + node->scalar.size();
  constexpr double most = 1024;
  if (plain) {
    const auto [at, error] = std::from_chars(node->scalar.data(), end, value);
    if (error == std::errc() && at == end && value > 0 && value <= most) return value;
  }
  in.wrong(key, "'" + std::string(key) + "' is no factor", "a number above 0, up to 1024");
  return otherwise;
}

std::vector<std::string> level_words(Fields& in, std::string_view key, std::size_t count, std::string_view otherwise) {
  const Node* node = in.find({key});
  if (!is_list(node)) {
    const std::string word = node ? in.text({key}) : std::string(otherwise);
    return std::vector<std::string>(count, word);
  }
  std::vector<std::string> out = in.texts(key);
  if (out.size() == count) return out;
  in.wrong(key, "'" + std::string(key) + "' does not fit " + std::to_string(count) + " levels",
           std::to_string(count) + " names");
  return std::vector<std::string>(count);
}

LatentSize latent_size(Fields& in, std::string_view key, std::int64_t otherwise) {
  if (!is_list(in.find({key}))) {
    const auto side = static_cast<double>(width_of(in, key, otherwise));
    return {side, side};
  }
  const std::vector<std::int64_t> sides = per_level(in, key, 2, otherwise, kMostWidth);
  return {static_cast<double>(sides[1]), static_cast<double>(sides[0])};
}

std::string whole_text(double whole) { return std::to_string(std::llround(whole)); }

std::string pixels_of(const LatentSize& latents, double factor) {
  return whole_text(latents.width * factor) + " x " + whole_text(latents.height * factor);
}

void note_position_table(Fields& in, double values) {
  in.not_modelled("the stored table of positions, " + whole_text(values) +
                  " values that are no parameters (pos_embed)");
}

void add_embedder(PartBuilder& b, std::string_view name, std::int64_t inputs, std::int64_t width, double uses) {
  b.linear(joined(name, "linear_1"), width, inputs, {.uses = uses});
  b.linear(joined(name, "linear_2"), width, width, {.uses = uses});
}

void add_mlp(PartBuilder& b, std::string_view name, std::int64_t width, std::int64_t hidden, double uses) {
  b.linear(joined(name, "up"), hidden, width, {.role = TensorRole::mlp, .sharding = Sharding::column, .uses = uses});
  b.linear(joined(name, "down"), width, hidden, {.role = TensorRole::mlp, .sharding = Sharding::row, .uses = uses});
}

void add_attention(PartBuilder& b, std::string_view name, const AttentionProjections& p) {
  LinearOptions o{.bias = p.bias, .role = TensorRole::attention, .sharding = Sharding::column, .uses = p.queries};
  b.linear(joined(name, "q"), p.inner, p.width, o);
  o.uses = p.keys;
  o.count = 2;
  b.linear(joined(name, "kv"), p.inner, p.sources, o);
  b.linear(joined(name, "out"), p.width, p.inner,
           {.bias = p.output_bias, .role = TensorRole::attention, .sharding = Sharding::row, .uses = p.queries});
}

// A token is 2 x 2 latents of 8 x 8 pixels.
constexpr double kJointSide = 64;
constexpr double kJointTokenPixels = 16;
constexpr double kJointTextTokens = 512;  // the pipelines' `max_sequence_length`

JointStreams joint_streams_of(Fields& in) {
  JointStreams s;
  s.heads = width_of(in, "num_attention_heads", 24);
  s.head_dim = width_of(in, "attention_head_dim", 128);
  s.hidden = 4 * s.width();
  s.image = kJointSide * kJointSide;
  s.text = kJointTextTokens;
  return s;
}

PartBuilder joint_transformer(const JointStreams& s, const std::string& blocks) {
  PartBuilder b("transformer", blocks + " blocks, width " + std::to_string(s.width()),
                "step at " + pixels_of({kJointSide, kJointSide}, kJointTokenPixels), s.image);
  b.part().text = s.text;
  return b;
}

void add_double_block(PartBuilder& b, const JointStreams& s) {
  const std::int64_t w = s.width();
  b.linear("modulation", 6 * w, w, {.count = 2, .uses = 1});
  add_attention(b, "attention", {w, w, w, s.image, s.image});
  add_attention(b, "text_attention", {w, w, w, s.text, s.text});
  b.norm("attention.qk_norm", s.head_dim, 4, false);
  add_mlp(b, "mlp", w, s.hidden, s.image);
  add_mlp(b, "text_mlp", w, s.hidden, s.text);
  b.attend(s.heads, s.head_dim, s.all(), s.all());
}

void add_single_block(PartBuilder& b, const JointStreams& s) {
  const std::int64_t w = s.width();
  b.linear("modulation", 3 * w, w, {.uses = 1});
  b.linear("attention.qkv", w, w,
           {.count = 3, .role = TensorRole::attention, .sharding = Sharding::column, .uses = s.all()});
  b.norm("attention.qk_norm", s.head_dim, 2, false);
  b.linear("mlp.up", s.hidden, w, {.role = TensorRole::mlp, .sharding = Sharding::column, .uses = s.all()});
  b.linear("out", w, w + s.hidden, {.role = TensorRole::mlp, .sharding = Sharding::row, .uses = s.all()});
  b.attend(s.heads, s.head_dim, s.all(), s.all());
}

void add_output_patches(PartBuilder& b, std::int64_t width, std::int64_t outputs, double image) {
  b.linear("output_modulation", 2 * width, width, {.uses = 1});
  b.linear("output", outputs, width, {.uses = image});
}

void add_resnet(PartBuilder& b, std::string_view name, const ResnetShape& r) {
  b.norm(joined(name, "norm_1"), r.inputs);
  b.conv(joined(name, "conv_1"), r.outputs, r.inputs, r.kernel, {.uses = r.positions});
  if (r.time > 0) b.linear(joined(name, "time"), r.time_outputs * r.outputs, r.time, {.uses = 1});
  b.norm(joined(name, "norm_2"), r.outputs);
  b.conv(joined(name, "conv_2"), r.outputs, r.outputs, r.kernel, {.uses = r.positions});
  if (r.inputs != r.outputs) b.conv(joined(name, "shortcut"), r.outputs, r.inputs, 1, {.uses = r.positions});
}

void add_resnets(PartBuilder& b, std::string_view name, std::int64_t count, ResnetShape r) {
  if (count < 1) return;
  add_resnet(b, name, r);
  r.inputs = r.outputs;
  b.layers(
      count - 1, [&](PartBuilder& layer) { add_resnet(layer, "resnet", r); }, name);
}

}  // namespace gpuplan
