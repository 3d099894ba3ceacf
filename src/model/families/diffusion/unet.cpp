/// UNets of latent diffusion (UNet2DConditionModel) and of plain diffusion on pixels (UNet2DModel). Source: the classes of these
/// names in the `diffusers` library, and the blocks they name.

#include "../family.hpp"
#include "blocks.hpp"

#include <algorithm>

namespace gpuplan {
namespace {

constexpr double kTextTokens = 77;  // the context of the text encoders these networks were trained with
constexpr double kVaeFactor = 8;    // pixels a latent stands for, along each side
constexpr std::int64_t kTimeFactor = 4;

enum class Mixing : std::uint8_t { none, attention, cross_attention };

struct Level {
  std::int64_t channels = 1;
  std::int64_t layers = 1;
  std::int64_t heads = 1;
  std::int64_t transformers = 1;
  double positions = 1;
  Mixing down = Mixing::none;
  Mixing up = Mixing::none;
};

struct Unet {
  std::vector<Level> levels;
  std::int64_t time = 1;  // width of the time step's embedding
  std::int64_t time_outputs = 1;
  std::int64_t context = 1;  // width of the text
  std::int64_t input_kernel = 9;
  std::int64_t output_kernel = 9;
  bool linear_projection = false;
  Mixing middle = Mixing::none;
  bool has_middle = true;
};

struct BlockRow {
  std::string_view name;
  Mixing mixing;
};
constexpr BlockRow kBlocks[] = {
    {"DownBlock2D", Mixing::none},
    {"UpBlock2D", Mixing::none},
    {"AttnDownBlock2D", Mixing::attention},
    {"AttnUpBlock2D", Mixing::attention},
    {"CrossAttnDownBlock2D", Mixing::cross_attention},
    {"CrossAttnUpBlock2D", Mixing::cross_attention},
};

Mixing mixing_of(Fields& in, const std::string& block) {
  const auto* const found =
      std::find_if(std::begin(kBlocks), std::end(kBlocks), [&](const BlockRow& row) { return row.name == block; });
  if (found != std::end(kBlocks)) return found->mixing;
  in.unreadable("a UNet with blocks of type '" + block + "'");
  return Mixing::none;
}

/// Whether the config has a member that means other tensors than ours; says so.
bool refuse_variants(Fields& in) {
  constexpr std::string_view keys[] = {"encoder_hid_dim_type",
                                       "encoder_hid_dim",
                                       "time_cond_proj_dim",
                                       "cross_attention_norm",
                                       "mid_block_only_cross_attention",
                                       "reverse_transformer_layers_per_block",
                                       "num_attention_heads",
                                       "time_embedding_act_fn",
                                       "timestep_post_act",
                                       "time_embedding_dim",
                                       "attn_norm_num_groups"};
  bool refused = false;
  const auto refuse = [&](std::string_view key) {
    in.unreadable("a UNet with '" + std::string(key) + "'");
    refused = true;
  };
  for (const std::string_view key : keys) {
    const Node* value = in.find({key});
    if (value && !(value->kind == Node::Kind::scalar && !value->quoted && value->scalar == "false")) refuse(key);
  }
  for (const std::string_view key : {"dual_cross_attention", "only_cross_attention"}) {
    const Node* value = in.find({key});
    if (!value) continue;
    if (value->kind == Node::Kind::scalar && !boolean_of(value).value_or(true)) continue;
    bool any = value->kind != Node::Kind::sequence;
    for (const Node& item : value->items) any = any || boolean_of(&item).value_or(true);
    if (any) refuse(key);
  }
  const std::string embedding = in.text({"time_embedding_type"});
  if (!embedding.empty() && embedding != "positional") refuse("time_embedding_type");
  const std::string attention = in.text({"attention_type"});
  if (!attention.empty() && attention != "default") refuse("attention_type");
  return refused;
}

/// Levels with what mixes their positions; no levels when the config is wrong.
std::vector<Level> read_levels(Fields& in, const LatentSize& latents) {
  const std::vector<std::int64_t> channels = level_widths(in, "block_out_channels");
  const std::size_t n = channels.size();
  if (n == 0) return {};
  std::vector<Level> out(n);
  const std::vector<std::string> down = level_words(in, "down_block_types", n, "");
  const std::vector<std::string> up = level_words(in, "up_block_types", n, "");
  const std::vector<std::int64_t> layers = per_level(in, "layers_per_block", n, 2, kMostLayers);
  double shrink = 1;
  for (std::size_t i = 0; i < n; ++i) {
    out[i].channels = channels[i];
    out[i].layers = layers[i];
    out[i].positions = latents.area() / shrink;
    out[i].down = mixing_of(in, down[i]);
    out[i].up = mixing_of(in, up[n - 1 - i]);
    shrink *= 4;
  }
  return out;
}

/// Self-attention over a level's positions, as pixel UNets and VAEs have it.
void attend_once(PartBuilder& b, std::string_view name, const Level& level) {
  const std::int64_t c = level.channels;
  b.norm(std::string(name) + ".norm", c);
  add_attention(b, name, {c, c, c, level.positions, level.positions});
  b.attend(level.heads, std::max<std::int64_t>(c / level.heads, 1), level.positions, level.positions);
}

/// A stack of transformer blocks over a level's positions, which also look at the text.
void attend_text(PartBuilder& b, std::string_view name, const Unet& net, const Level& level) {
  const std::int64_t c = level.channels;
  const double p = level.positions;
  const std::int64_t head_dim = std::max<std::int64_t>(c / level.heads, 1);
  const std::string prefix(name);
  b.norm(prefix + ".norm", c);
  for (const std::string_view side : {".in", ".out"}) {
    if (net.linear_projection) {
      b.linear(prefix + std::string(side), c, c, {.uses = p});
    } else {
      b.conv(prefix + std::string(side), c, c, 1, {.uses = p});
    }
  }
  b.layers(
      level.transformers,
      [&](PartBuilder& block) {
        block.norm("norm", c, 3);
        add_attention(block, "attention", {c, c, c, p, p, false});
        add_attention(block, "cross_attention", {c, c, net.context, p, kTextTokens, false});
        // A gated MLP: the gate and what it opens are one matrix.
        block.linear("mlp.up", 8 * c, c, {.role = TensorRole::mlp, .sharding = Sharding::column, .uses = p});
        block.linear("mlp.down", c, 4 * c, {.role = TensorRole::mlp, .sharding = Sharding::row, .uses = p});
        block.attend(level.heads, head_dim, p, p);
        block.attend(level.heads, head_dim, p, kTextTokens);
      },
      prefix);
}

void mix(PartBuilder& b, std::string_view name, Mixing mixing, const Unet& net, const Level& level) {
  if (mixing == Mixing::attention) attend_once(b, name, level);
  if (mixing == Mixing::cross_attention) attend_text(b, name, net, level);
}

ResnetShape resnet_of(const Unet& net, const Level& level, std::int64_t inputs) {
  return {.inputs = inputs,
          .outputs = level.channels,
          .positions = level.positions,
          .time = net.time,
          .time_outputs = net.time_outputs};
}

void add_down(PartBuilder& b, const Unet& net) {
  std::int64_t inputs = net.levels.front().channels;
  for (std::size_t i = 0; i < net.levels.size(); ++i) {
    const Level& level = net.levels[i];
    const std::string name = "down_" + std::to_string(i);
    add_resnets(b, name + ".resnets", level.layers, resnet_of(net, level, inputs));
    b.layers(
        level.layers, [&](PartBuilder& a) { mix(a, "mixer", level.down, net, level); }, name + ".attentions");
    inputs = level.channels;
    if (i + 1 < net.levels.size()) {
      b.conv(name + ".downsample", inputs, inputs, 9, {.uses = net.levels[i + 1].positions});
    }
  }
}

void add_middle(PartBuilder& b, const Unet& net) {
  if (!net.has_middle) return;
  const Level& level = net.levels.back();
  b.layers(
      2, [&](PartBuilder& r) { add_resnet(r, "resnet", resnet_of(net, level, level.channels)); }, "middle");
  mix(b, "middle.attention", net.middle, net, level);
}

/// Each resnet also gets what the way down left at its level: the same width but for the last, which gets the level before's.
void add_up(PartBuilder& b, const Unet& net) {
  std::int64_t before = net.levels.back().channels;
  for (std::size_t i = net.levels.size(); i-- > 0;) {
    const Level& level = net.levels[i];
    const std::string name = "up_" + std::to_string(net.levels.size() - 1 - i);
    const std::int64_t c = level.channels;
    const std::int64_t outer = net.levels[i > 0 ? i - 1 : 0].channels;
    add_resnet(b, name + ".first", resnet_of(net, level, before + c));
    b.layers(
        level.layers - 1, [&](PartBuilder& r) { add_resnet(r, "resnet", resnet_of(net, level, c + c)); },
        name + ".resnets");
    add_resnet(b, name + ".last", resnet_of(net, level, c + outer));
    b.layers(
        level.layers + 1, [&](PartBuilder& a) { mix(a, "mixer", level.up, net, level); }, name + ".attentions");
    before = c;
    if (i > 0) b.conv(name + ".upsample", c, c, 9, {.uses = net.levels[i - 1].positions});
  }
}

void add_ends(PartBuilder& b, Fields& in, const Unet& net) {
  const Level& first = net.levels.front();
  b.conv("input", first.channels, width_of(in, "in_channels", 4), net.input_kernel, {.uses = first.positions});
  b.norm("output_norm", first.channels);
  b.conv("output", width_of(in, "out_channels", 4), first.channels, net.output_kernel, {.uses = first.positions});
  b.linear("time.linear_1", net.time, first.channels, {.uses = 1});
  b.linear("time.linear_2", net.time, net.time, {.uses = 1});
}

/// What else is added to the time step's embedding: sizes and pooled text, or a class.
void add_conditions(PartBuilder& b, Fields& in, const Unet& net) {
  const std::string added = in.text({"addition_embed_type"});
  if (added == "text_time") {
    add_embedder(b, "added_conditions", width_of(in, "projection_class_embeddings_input_dim"), net.time);
  } else if (!added.empty()) {
    in.unreadable("a UNet with conditions of type '" + added + "'");
  }
  const std::string classes = in.text({"class_embed_type"});
  if (classes == "projection") {
    add_embedder(b, "class", width_of(in, "projection_class_embeddings_input_dim"), net.time);
  } else if (classes == "timestep") {
    add_embedder(b, "class", net.levels.front().channels, net.time);
  } else if (!classes.empty()) {
    in.unreadable("a UNet with classes of type '" + classes + "'");
  } else if (in.has({"num_class_embeds"})) {
    b.table("class", in.count({"num_class_embeds"}), net.time);
  }
}

std::int64_t kernel_of(Fields& in, std::string_view key) {
  const std::int64_t side = bounded_count(in, key, 3, 63);
  return side * side;
}

std::string title_of(const Unet& net) {
  std::string out = "UNet: channels";
  for (const Level& level : net.levels) out += " " + std::to_string(level.channels);
  return out;
}

void read_common(Fields& in, Unet& net) {
  net.time = kTimeFactor * net.levels.front().channels;
  net.time_outputs = in.text({"resnet_time_scale_shift"}) == "scale_shift" ? 2 : 1;
}

void finish(Fields& in, Network& out, const Unet& net, std::string item) {
  PartBuilder part("unet", title_of(net), std::move(item));
  part.part().text = kTextTokens;
  add_ends(part, in, net);
  add_conditions(part, in, net);
  add_down(part, net);
  add_middle(part, net);
  add_up(part, net);
  out.parts.push_back(part.take());
}

}  // namespace

void read_conditional_unet(Fields& in, Network& out) {
  if (refuse_variants(in)) return;
  Unet net;
  const LatentSize latents = latent_size(in, "sample_size", 64);
  net.levels = read_levels(in, latents);
  if (net.levels.empty()) return;
  const std::size_t n = net.levels.size();
  // What this class calls the width of a head is the number of heads.
  const std::vector<std::int64_t> heads = per_level(in, "attention_head_dim", n, 8, kMostWidth);
  const std::vector<std::int64_t> transformers = per_level(in, "transformer_layers_per_block", n, 1, kMostLayers);
  for (std::size_t i = 0; i < n; ++i) {
    net.levels[i].heads = heads[i];
    net.levels[i].transformers = transformers[i];
  }
  read_common(in, net);
  net.context = width_of(in, "cross_attention_dim", 1280);
  net.linear_projection = in.flag({"use_linear_projection"}, false);
  net.input_kernel = kernel_of(in, "conv_in_kernel");
  net.output_kernel = kernel_of(in, "conv_out_kernel");
  const std::string middle = in.text({"mid_block_type"});
  net.has_middle = !in.states("mid_block_type") || !middle.empty();
  net.middle = Mixing::cross_attention;
  if (net.has_middle && !middle.empty() && middle != "UNetMidBlock2DCrossAttn") {
    in.unreadable("a UNet with a middle block of type '" + middle + "'");
  }
  finish(in, out, net, "step at " + pixels_of(latents, kVaeFactor));
}

/// Attention has heads of `attention_head_dim`; without it, one.
void read_pixel_unet(Fields& in, Network& out) {
  for (const std::string_view key : {"down_block_types", "up_block_types"}) {
    if (!in.has({key})) in.missing(key);
  }
  for (const std::string_view key : {"num_train_timesteps", "attn_norm_num_groups", "downsample_type"}) {
    const std::string text = in.text({key});
    if (in.has({key}) && text != "conv") in.unreadable("a UNet with '" + std::string(key) + "'");
  }
  const std::string embedding = in.text({"time_embedding_type"});
  if (!embedding.empty() && embedding != "positional") in.unreadable("a UNet with '" + embedding + "' time steps");
  Unet net;
  const LatentSize image = latent_size(in, "sample_size", 64);
  net.levels = read_levels(in, image);
  if (net.levels.empty()) return;
  const std::int64_t head_dim = width_of(in, "attention_head_dim", 8);
  const bool one_head = in.states("attention_head_dim") && !in.has({"attention_head_dim"});
  for (Level& level : net.levels) {
    level.heads = one_head ? 1 : std::max<std::int64_t>(level.channels / head_dim, 1);
  }
  read_common(in, net);
  net.middle = in.flag({"add_attention"}, true) ? Mixing::attention : Mixing::none;
  finish(in, out, net, "step at " + pixels_of(image, 1));
}

}  // namespace gpuplan
