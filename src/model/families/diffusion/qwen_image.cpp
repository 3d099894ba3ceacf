/// QwenImageTransformer2DModel: blocks with weights of their own for image and text throughout. Source: the class of this name in
/// the `diffusers` library.

#include "../family.hpp"
#include "blocks.hpp"

namespace gpuplan {

void read_qwen_image_transformer(Fields& in, Network& out) {
  const JointStreams s = joint_streams_of(in);
  const std::int64_t w = s.width();
  const std::int64_t layers = layer_count(in, "num_layers", 60);
  const std::int64_t text = width_of(in, "joint_attention_dim", 3584);
  const std::int64_t patch = bounded_count(in, "patch_size", 2, 64);

  PartBuilder b = joint_transformer(s, std::to_string(layers));
  add_embedder(b, "time", kTimeFrequencies, w);
  if (in.flag({"use_additional_t_cond"}, false)) b.table("added_condition", 2, w);
  b.norm("text_norm", text, 1, false);
  b.linear("input", w, width_of(in, "in_channels", 64));
  b.linear("text_input", w, text, {.uses = s.text});
  b.layers(
      layers, [&](PartBuilder& block) { add_double_block(block, s); }, "blocks");
  add_output_patches(b, w, patch * patch * width_of(in, "out_channels", 16), s.image);
  out.parts.push_back(b.take());
}

}  // namespace gpuplan
