/// FluxTransformer2DModel: blocks with weights of their own for image and text, then blocks with the same for both. Source: the
/// class of this name in the `diffusers` library.

#include "../family.hpp"
#include "blocks.hpp"

namespace gpuplan {

void read_flux_transformer(Fields& in, Network& out) {
  const JointStreams s = joint_streams_of(in);
  const std::int64_t w = s.width();
  const std::int64_t doubles = layer_count(in, "num_layers", 19);
  const std::int64_t singles = layer_count(in, "num_single_layers", 38);
  const std::int64_t channels = width_of(in, "in_channels", 64);
  const std::int64_t patch = bounded_count(in, "patch_size", 1, 64);

  PartBuilder b = joint_transformer(s, std::to_string(doubles) + " + " + std::to_string(singles));
  b.linear("input", w, channels);
  b.linear("text_input", w, width_of(in, "joint_attention_dim", 4096), {.uses = s.text});
  add_embedder(b, "time", kTimeFrequencies, w);
  if (in.flag({"guidance_embeds"}, false)) add_embedder(b, "guidance", kTimeFrequencies, w);
  add_embedder(b, "pooled_text", width_of(in, "pooled_projection_dim", 768), w);
  b.layers(
      doubles, [&](PartBuilder& block) { add_double_block(block, s); }, "double_blocks");
  b.layers(
      singles, [&](PartBuilder& block) { add_single_block(block, s); }, "single_blocks");
  add_output_patches(b, w, patch * patch * width_of(in, "out_channels", channels), s.image);
  out.parts.push_back(b.take());
}

}  // namespace gpuplan
