#include <gpuplan/model/config.hpp>
#include <gpuplan/model/network.hpp>
#include <gpuplan/model/tensors.hpp>

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/units.hpp>

#include "catch.hpp"
#include "support.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {
namespace {

Node json(std::string_view text) { return parse_json(text, "config.json", kMaxDocumentNodes, NonFinite::accepted); }

ModelConfig read_text(std::string_view text) { return read_model_config(json(text), "config.json"); }

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::int64_t count_of(const Network& network, std::string_view part) {
  const NetworkPart* found = find_part(network, part);
  return found ? parameters(found->tensors) : 0;
}

double teraflops(const NetworkPart& part) { return flops_of(part, 0) / flop(1e12); }

/// Projections and convolutions alone, as profilers count that do not see inside attention.
double teraflops_without_attention(NetworkPart part) {
  part.attention.clear();
  return teraflops(part);
}

NetworkPart part_of(std::string_view text, std::string_view name) {
  const Network network = read_text(text).network;
  const NetworkPart* part = find_part(network, name);
  REQUIRE(part);
  return *part;
}

const std::string kUnetSd1 = R"({"_class_name": "UNet2DConditionModel", "attention_head_dim": 8,
  "block_out_channels": [320, 640, 1280, 1280], "cross_attention_dim": 768, "in_channels": 4, "out_channels": 4,
  "down_block_types": ["CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"],
  "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"],
  "layers_per_block": 2, "norm_num_groups": 32, "sample_size": 64})";
const std::string kUnetSd2 = R"({"_class_name": "UNet2DConditionModel", "attention_head_dim": [5, 10, 20, 20],
  "block_out_channels": [320, 640, 1280, 1280], "cross_attention_dim": 1024, "in_channels": 4, "out_channels": 4,
  "down_block_types": ["CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"],
  "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"],
  "layers_per_block": 2, "sample_size": 96, "use_linear_projection": true, "only_cross_attention": false})";
const std::string kUnetSdxl = R"({"_class_name": "UNet2DConditionModel", "attention_head_dim": [5, 10, 20],
  "block_out_channels": [320, 640, 1280], "cross_attention_dim": 2048, "in_channels": 4, "out_channels": 4,
  "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
  "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"], "class_embed_type": null,
  "layers_per_block": 2, "sample_size": 128, "use_linear_projection": true, "encoder_hid_dim": null,
  "transformer_layers_per_block": [1, 2, 10], "addition_embed_type": "text_time", "num_class_embeds": null,
  "mid_block_type": "UNetMidBlock2DCrossAttn", "projection_class_embeddings_input_dim": 2816,
  "time_embedding_type": "positional", "resnet_time_scale_shift": "default"})";
const std::string kUnetRefiner = R"({"_class_name": "UNet2DConditionModel", "attention_head_dim": [6, 12, 24, 24],
  "block_out_channels": [384, 768, 1536, 1536], "cross_attention_dim": 1280, "in_channels": 4, "out_channels": 4,
  "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"],
  "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
  "layers_per_block": 2, "sample_size": 128, "use_linear_projection": true, "transformer_layers_per_block": 4,
  "addition_embed_type": "text_time", "projection_class_embeddings_input_dim": 2560})";
const std::string kUnetCifar = R"({"_class_name": "UNet2DModel", "add_attention": true, "attention_head_dim": null,
  "block_out_channels": [128, 256, 256, 256], "in_channels": 3, "out_channels": 3, "layers_per_block": 2,
  "down_block_types": ["DownBlock2D", "AttnDownBlock2D", "DownBlock2D", "DownBlock2D"],
  "up_block_types": ["UpBlock2D", "UpBlock2D", "AttnUpBlock2D", "UpBlock2D"], "sample_size": 32,
  "time_embedding_type": "positional"})";
const std::string kFluxDev = R"({"_class_name": "FluxTransformer2DModel", "attention_head_dim": 128,
  "guidance_embeds": true, "in_channels": 64, "joint_attention_dim": 4096, "num_attention_heads": 24, "num_layers": 19,
  "num_single_layers": 38, "patch_size": 1, "pooled_projection_dim": 768})";
const std::string kFluxSchnell = R"({"_class_name": "FluxTransformer2DModel", "attention_head_dim": 128,
  "guidance_embeds": false, "in_channels": 64, "joint_attention_dim": 4096, "num_attention_heads": 24,
  "num_layers": 19, "num_single_layers": 38, "patch_size": 1, "pooled_projection_dim": 768})";
const std::string kSd3Medium = R"({"_class_name": "SD3Transformer2DModel", "attention_head_dim": 64,
  "caption_projection_dim": 1536, "in_channels": 16, "joint_attention_dim": 4096, "num_attention_heads": 24,
  "num_layers": 24, "out_channels": 16, "patch_size": 2, "pooled_projection_dim": 2048, "pos_embed_max_size": 192,
  "sample_size": 128})";
const std::string kSd35Medium = R"({"_class_name": "SD3Transformer2DModel", "attention_head_dim": 64,
  "caption_projection_dim": 1536, "in_channels": 16, "joint_attention_dim": 4096, "num_attention_heads": 24,
  "num_layers": 24, "out_channels": 16, "patch_size": 2, "pooled_projection_dim": 2048, "pos_embed_max_size": 384,
  "sample_size": 128, "qk_norm": "rms_norm", "dual_attention_layers": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]})";
const std::string kSd35Large = R"({"_class_name": "SD3Transformer2DModel", "attention_head_dim": 64,
  "caption_projection_dim": 2432, "in_channels": 16, "joint_attention_dim": 4096, "num_attention_heads": 38,
  "num_layers": 38, "out_channels": 16, "patch_size": 2, "pooled_projection_dim": 2048, "pos_embed_max_size": 192,
  "sample_size": 128, "qk_norm": "rms_norm", "dual_attention_layers": []})";
const std::string kPixArt = R"({"_class_name": "PixArtTransformer2DModel", "activation_fn": "gelu-approximate",
  "attention_bias": true, "attention_head_dim": 72, "caption_channels": 4096, "cross_attention_dim": 1152,
  "in_channels": 4, "norm_type": "ada_norm_single", "num_attention_heads": 16, "num_layers": 28, "out_channels": 8,
  "patch_size": 2, "sample_size": 128, "use_additional_conditions": false})";
const std::string kPixArtAlpha = R"({"_class_name": "Transformer2DModel", "activation_fn": "gelu-approximate",
  "attention_bias": true, "attention_head_dim": 72, "caption_channels": 4096, "cross_attention_dim": 1152,
  "in_channels": 4, "norm_type": "ada_norm_single", "num_attention_heads": 16, "num_layers": 28, "out_channels": 8,
  "patch_size": 2, "sample_size": 128, "norm_elementwise_affine": false})";
const std::string kDiT = R"({"_class_name": "Transformer2DModel", "activation_fn": "gelu-approximate",
  "attention_bias": true, "attention_head_dim": 72, "cross_attention_dim": null, "in_channels": 4,
  "norm_type": "ada_norm_zero", "num_attention_heads": 16, "num_embeds_ada_norm": 1000, "num_layers": 28,
  "out_channels": 8, "patch_size": 2, "sample_size": 32, "norm_elementwise_affine": false})";
const std::string kSana = R"({"_class_name": "SanaTransformer2DModel", "attention_bias": false,
  "attention_head_dim": 32, "caption_channels": 2304, "cross_attention_dim": 2240, "cross_attention_head_dim": 112,
  "in_channels": 32, "mlp_ratio": 2.5, "norm_elementwise_affine": false, "num_attention_heads": 70,
  "num_cross_attention_heads": 20, "num_layers": 20, "out_channels": 32, "patch_size": 1, "sample_size": 32})";
const std::string kQwenImage = R"({"_class_name": "QwenImageTransformer2DModel", "attention_head_dim": 128,
  "guidance_embeds": false, "in_channels": 64, "joint_attention_dim": 3584, "num_attention_heads": 24,
  "num_layers": 60, "out_channels": 16, "patch_size": 2})";
const std::string kCogVideo2b = R"({"_class_name": "CogVideoXTransformer3DModel", "attention_bias": true,
  "attention_head_dim": 64, "in_channels": 16, "max_text_seq_length": 226, "norm_elementwise_affine": true,
  "num_attention_heads": 30, "num_layers": 30, "out_channels": 16, "patch_size": 2, "sample_frames": 49,
  "sample_height": 60, "sample_width": 90, "text_embed_dim": 4096, "time_embed_dim": 512,
  "use_rotary_positional_embeddings": false})";
const std::string kCogVideo5b = R"({"_class_name": "CogVideoXTransformer3DModel", "attention_bias": true,
  "attention_head_dim": 64, "in_channels": 16, "max_text_seq_length": 226, "norm_elementwise_affine": true,
  "num_attention_heads": 48, "num_layers": 42, "out_channels": 16, "patch_size": 2, "sample_frames": 49,
  "sample_height": 60, "sample_width": 90, "text_embed_dim": 4096, "time_embed_dim": 512})";
const std::string kHunyuanVideo = R"({"_class_name": "HunyuanVideoTransformer3DModel", "attention_head_dim": 128,
  "guidance_embeds": true, "in_channels": 16, "mlp_ratio": 4.0, "num_attention_heads": 24, "num_layers": 20,
  "num_refiner_layers": 2, "num_single_layers": 40, "out_channels": 16, "patch_size": 2, "patch_size_t": 1,
  "pooled_projection_dim": 768, "qk_norm": "rms_norm", "text_embed_dim": 4096})";
const std::string kLtx = R"({"_class_name": "LTXVideoTransformer3DModel", "attention_bias": true,
  "attention_head_dim": 64, "attention_out_bias": true, "caption_channels": 4096, "cross_attention_dim": 2048,
  "in_channels": 128, "norm_elementwise_affine": false, "num_attention_heads": 32, "num_layers": 28,
  "out_channels": 128, "patch_size": 1, "patch_size_t": 1, "qk_norm": "rms_norm_across_heads"})";
const std::string kWanSmall = R"({"_class_name": "WanTransformer3DModel", "added_kv_proj_dim": null,
  "attention_head_dim": 128, "cross_attn_norm": true, "ffn_dim": 8960, "freq_dim": 256, "image_dim": null,
  "in_channels": 16, "num_attention_heads": 12, "num_layers": 30, "out_channels": 16, "patch_size": [1, 2, 2],
  "text_dim": 4096})";
const std::string kWanLarge = R"({"_class_name": "WanTransformer3DModel", "added_kv_proj_dim": null,
  "attention_head_dim": 128, "cross_attn_norm": true, "ffn_dim": 13824, "freq_dim": 256, "image_dim": null,
  "in_channels": 16, "num_attention_heads": 40, "num_layers": 40, "out_channels": 16, "patch_size": [1, 2, 2],
  "text_dim": 4096})";
const std::string kVae = R"({"_class_name": "AutoencoderKL", "block_out_channels": [128, 256, 512, 512],
  "down_block_types": ["DownEncoderBlock2D", "DownEncoderBlock2D", "DownEncoderBlock2D", "DownEncoderBlock2D"],
  "up_block_types": ["UpDecoderBlock2D", "UpDecoderBlock2D", "UpDecoderBlock2D", "UpDecoderBlock2D"],
  "in_channels": 3, "out_channels": 3, "latent_channels": 4, "layers_per_block": 2, "sample_size": 512})";
const std::string kVae16 = R"({"_class_name": "AutoencoderKL", "block_out_channels": [128, 256, 512, 512],
  "in_channels": 3, "out_channels": 3, "latent_channels": 16, "layers_per_block": 2, "sample_size": 1024,
  "use_quant_conv": false, "use_post_quant_conv": false, "mid_block_add_attention": true})";
const std::string kVaeTiny = R"({"_class_name": "AutoencoderTiny", "in_channels": 3, "out_channels": 3,
  "latent_channels": 4, "encoder_block_out_channels": [64, 64, 64, 64], "decoder_block_out_channels": [64, 64, 64, 64],
  "num_encoder_blocks": [1, 3, 3, 3], "num_decoder_blocks": [3, 3, 3, 1]})";
const std::string kVaeDc = R"({"_class_name": "AutoencoderDC", "in_channels": 3, "latent_channels": 32,
  "attention_head_dim": 32, "downsample_block_type": "Conv", "upsample_block_type": "interpolate",
  "encoder_block_types": ["ResBlock", "ResBlock", "ResBlock", "EfficientViTBlock", "EfficientViTBlock", "EfficientViTBlock"],
  "decoder_block_types": ["ResBlock", "ResBlock", "ResBlock", "EfficientViTBlock", "EfficientViTBlock", "EfficientViTBlock"],
  "encoder_block_out_channels": [128, 256, 512, 512, 1024, 1024], "encoder_layers_per_block": [2, 2, 2, 3, 3, 3],
  "decoder_block_out_channels": [128, 256, 512, 512, 1024, 1024], "decoder_layers_per_block": [3, 3, 3, 3, 3, 3],
  "encoder_qkv_multiscales": [[], [], [], [5], [5], [5]], "decoder_qkv_multiscales": [[], [], [], [5], [5], [5]]})";
const std::string kVaeWan = R"({"_class_name": "AutoencoderKLWan", "base_dim": 96, "z_dim": 16,
  "dim_mult": [1, 2, 4, 4], "num_res_blocks": 2, "attn_scales": [], "temperal_downsample": [false, true, true]})";
const std::string kVaeQwen = R"({"_class_name": "AutoencoderKLQwenImage", "base_dim": 96, "z_dim": 16,
  "dim_mult": [1, 2, 4, 4], "num_res_blocks": 2, "attn_scales": [], "temperal_downsample": [false, true, true]})";
const std::string kVaeHunyuan = R"({"_class_name": "AutoencoderKLHunyuanVideo", "in_channels": 3, "out_channels": 3,
  "block_out_channels": [128, 256, 512, 512], "latent_channels": 16, "layers_per_block": 2,
  "mid_block_add_attention": true, "spatial_compression_ratio": 8, "temporal_compression_ratio": 4})";
const std::string kVaeCogVideo = R"({"_class_name": "AutoencoderKLCogVideoX", "in_channels": 3, "out_channels": 3,
  "block_out_channels": [128, 256, 256, 512], "latent_channels": 16, "layers_per_block": 3, "sample_height": 480,
  "sample_width": 720, "temporal_compression_ratio": 4})";
const std::string kVaeLtx = R"({"_class_name": "AutoencoderKLLTXVideo", "block_out_channels": [128, 256, 512, 512],
  "in_channels": 3, "out_channels": 3, "latent_channels": 128, "layers_per_block": [4, 3, 3, 3, 4], "patch_size": 4,
  "patch_size_t": 1, "spatio_temporal_scaling": [true, true, true, false]})";

const std::vector<std::string>& all_components() {
  static const std::vector<std::string> all = {
      kUnetSd1,    kUnetSd2,      kUnetSdxl, kUnetRefiner, kUnetCifar,   kFluxDev, kFluxSchnell, kSd3Medium,
      kSd35Medium, kSd35Large,    kPixArt,   kPixArtAlpha, kDiT,         kSana,    kQwenImage,   kCogVideo2b,
      kCogVideo5b, kHunyuanVideo, kLtx,      kWanSmall,    kWanLarge,    kVae,     kVae16,       kVaeTiny,
      kVaeDc,      kVaeWan,       kVaeQwen,  kVaeHunyuan,  kVaeCogVideo, kVaeLtx};
  return all;
}

}  // namespace

// Counts of parameters. Sources: A, a checkpoint's header or a profile, published; B, the sum over the module's own list of
// tensors, which models.csv, the bytes of a published file or both confirm.
TEST_CASE("diffusion: components have as many parameters as their modules", "[diffusion]") {
  struct Row {
    const char* what;
    const std::string* config;
    std::int64_t parameters;
  };
  const Row rows[] = {
      {"SD 1.5 UNet, A: 859520964", &kUnetSd1, 859520964},
      {"SD 2.1 UNet, A: 865910724", &kUnetSd2, 865910724},
      {"SDXL base UNet, A: 2567463684", &kUnetSdxl, 2567463684},
      {"SDXL refiner UNet, A: 2259526660", &kUnetRefiner, 2259526660},
      {"DDPM of CIFAR-10, A: 35746307", &kUnetCifar, 35746307},
      // 199680 + 12585984 image and text in, 3 embedders of 10229760, 10229760 and 11802624, 19 x 339831296 + 38 x 141591808
      // blocks, 18880512 + 196672 out. A: the header of FLUX.1-dev says the same; without guidance 10229760 less.
      {"FLUX.1-dev", &kFluxDev, 11901408320},
      {"FLUX.1-schnell", &kFluxSchnell, 11891178560},
      {"SD3 medium, B", &kSd3Medium, 2028328000},
      // A: a header of this shape has 2469663936 values, of which pos_embed, a buffer, has 384 x 384 x 1536 = 226492416.
      {"SD3.5 medium, A", &kSd35Medium, 2469663936 - 226492416},
      {"SD3.5 large, B", &kSd35Large, 8056627520},
      {"PixArt without sizes as conditions, A: 610856096", &kPixArt, 610856096},
      // Two embedders more, 256 to 384 to 384: 2 x (256 x 384 + 384 + 384 x 384 + 384) = 493056.
      {"PixArt-alpha at 1024, B", &kPixArtAlpha, 610856096 + 493056},
      // 28 blocks of 1624320 (embedder) + 1153152 (classes) + 7969536 (modulation) + 5313024 (attention) + 10622592 (MLP),
      // 19584 in, 2656512 + 36896 out.
      {"DiT-XL/2, B", &kDiT, 28 * (std::int64_t{1624320} + 1153152 + 7969536 + 5313024 + 10622592) + 2712992},
      {"Sana 1600M, B", &kSana, 1604462752},
      {"Qwen-Image, A: 20430401088", &kQwenImage, 20430401088},
      {"CogVideoX 2b, B", &kCogVideo2b, 1693783872},
      {"CogVideoX 5b, B", &kCogVideo5b, 5570283072},
      {"HunyuanVideo, B", &kHunyuanVideo, 12821012544},
      {"LTX-Video 0.9, A: 1923385472", &kLtx, 1923385472},
      {"Wan 2.1 1.3B, A: 1418996800", &kWanSmall, 1418996800},
      {"Wan 2.1 14B, A: an index of 57153966336 bytes, 4 a value", &kWanLarge, 14288491584},
      {"SD VAE, A: 83653863", &kVae, 83653863},
      {"VAE of 16 channels, A: 83819683", &kVae16, 83819683},
      // 1792 + 10 x 110784 + 3 x 36864 + 2308 and 2368 + 10 x 110784 + 3 x 36864 + 1731.
      {"tiny VAE, B", &kVaeTiny, 1222532 + 1222531},
      {"DC-AE f32c32, A: 312250275", &kVaeDc, 312250275},
      {"Wan VAE, A: 126892531", &kVaeWan, 126892531},
      {"Qwen-Image VAE, A: 126892531", &kVaeQwen, 126892531},
      {"HunyuanVideo VAE, B", &kVaeHunyuan, 246478803},
      // B: the published file of 2-byte values has 431221142 bytes, 53328 of them header.
      {"CogVideoX VAE, B", &kVaeCogVideo, 215583907},
      // B: the published file of 4-byte values has 1676798532 bytes: these, 256 values of latent statistics, and a header.
      {"LTX-Video VAE, B", &kVaeLtx, 419193649},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const ModelConfig config = read_text(*row.config);
    CAPTURE(config.not_modelled);
    CHECK(parameters(config.network) == row.parameters);
    CHECK_FALSE(config.network.decoder);
  }
}

TEST_CASE("diffusion: an autoencoder is an encoder and a decoder", "[diffusion]") {
  const Network vae = read_text(kVae).network;
  REQUIRE(vae.parts.size() == 2);
  CHECK(vae.parts[0].name == "encoder");
  CHECK(vae.parts[1].name == "decoder");
  CHECK(vae.parts[1].item == "image of 512 x 512");
  // A: decoders alone, published: 49490179 + 20 of the convolution before it, and Wan's 73295603.
  CHECK(count_of(vae, "decoder") == 49490179 + 20);
  CHECK(count_of(read_text(kVaeWan).network, "decoder") == 73295603);
}

TEST_CASE("diffusion: an inpainting UNet has nine channels in", "[diffusion]") {
  std::string config = kUnetSd1;
  config.replace(config.find("\"in_channels\": 4"), 16, "\"in_channels\": 9");
  CHECK(parameters(read_text(config).network) == 859520964 + 5 * 9 * 320);
  config = kUnetSdxl;
  config.replace(config.find("\"in_channels\": 4"), 16, "\"in_channels\": 9");
  CHECK(parameters(read_text(config).network) == 2567478084);  // A
}

TEST_CASE("diffusion: a video transformer that starts from an image has keys and values of it", "[diffusion]") {
  std::string config = kWanLarge;
  const auto set = [&](const std::string& from, const std::string& to) {
    config.replace(config.find(from), from.size(), to);
  };
  set("\"added_kv_proj_dim\": null", "\"added_kv_proj_dim\": 5120");
  set("\"image_dim\": null", "\"image_dim\": 1280");
  set("\"in_channels\": 16", "\"in_channels\": 36");
  const std::int64_t w = 5120;
  const std::int64_t image = 1280;
  const std::int64_t block = 2 * (w * w + w) + w;  // two projections, and a norm of the keys
  const std::int64_t input = 2 * image + image * image + image + w * image + w + 2 * w;
  CHECK(parameters(read_text(config).network) == 14288491584 + 20 * 4 * w + 40 * block + input);
}

TEST_CASE("diffusion: items are steps and images at the sizes that models were made for", "[diffusion]") {
  CHECK(part_of(kUnetSd1, "unet").item == "step at 512 x 512");
  CHECK(part_of(kUnetSdxl, "unet").item == "step at 1024 x 1024");
  CHECK(part_of(kUnetCifar, "unet").item == "step at 32 x 32");
  CHECK(part_of(kFluxDev, "transformer").item == "step at 1024 x 1024");
  CHECK(part_of(kSana, "transformer").item == "step at 1024 x 1024");
  CHECK(part_of(kCogVideo5b, "transformer").item == "step at 720 x 480 x 49 frames");
  CHECK(part_of(kWanSmall, "transformer").item == "step at 832 x 480 x 81 frames");
  CHECK(part_of(kVaeHunyuan, "decoder").item == "video of 1280 x 720 x 129 frames");
}

// The BK-SDM paper (arXiv 2305.15798) gives 339 GMACs for SD 1.4's UNet, the SDXL paper's readers 2.99 TMACs; both profilers do
// not see inside attention. A talk on inference (TensorRT, SD 1.5 at 512) counts 1.67952 TFLOP for two latents, with
// attention, and 2.53933 for the VAE's decoder; it also counts norms and activations. The DiT paper (arXiv 2212.09748)
// gives 118.64 GMACs for DiT-XL/2 at 256.
TEST_CASE("diffusion: a step costs what papers and profilers count", "[diffusion]") {
  const NetworkPart sd1 = part_of(kUnetSd1, "unet");
  CHECK(teraflops_without_attention(sd1) == Approx(2 * 0.339).epsilon(0.005));
  CHECK(teraflops(sd1) == Approx(1.67952 / 2).epsilon(0.05));
  CHECK(teraflops_without_attention(part_of(kUnetSdxl, "unet")) == Approx(2 * 2.99).epsilon(0.005));
  CHECK(teraflops(part_of(kVae, "decoder")) == Approx(2.53933).epsilon(0.015));
  CHECK(teraflops(part_of(kDiT, "transformer")) == Approx(2 * 0.11864).epsilon(0.001));
}

TEST_CASE("diffusion: image and text attend to each other in joint transformers", "[diffusion]") {
  // 57 blocks of 12 w^2 weights a token and scores and sums over all tokens: w = 3072, 4096 of the image and 512 of the text.
  // What comes before and after the blocks is less than a part in a thousand.
  const double w = 3072;
  const double n = 4096 + 512;
  const double blocks = 57 * (24 * w * w * n + 4 * w * n * n);
  CHECK(teraflops(part_of(kFluxDev, "transformer")) == Approx(blocks / 1e12).epsilon(0.001));
  // Wan: 21 x 30 x 52 tokens; self-attention and MLP of (4 w + 2 f) w weights, 2 w^2 more for cross-attention's ends, text apart.
  const double v = 1536;
  const double f = 8960;
  const double t = 21 * 30 * 52;
  const double video = 30 * (2 * t * (6 * v * v + 2 * v * f) + 4 * v * t * (t + 512) + 2 * 512 * 2 * v * v);
  CHECK(teraflops(part_of(kWanSmall, "transformer")) == Approx(video / 1e12).epsilon(0.001));
}

TEST_CASE("diffusion: linear attention grows with the image, not with its square", "[diffusion]") {
  std::string large = kSana;
  large.replace(large.find("\"sample_size\": 32"), 17, "\"sample_size\": 64");
  const double one = teraflops(part_of(kSana, "transformer"));
  const double four = teraflops(part_of(large, "transformer"));
  CHECK(four < 4 * one);
  CHECK(four > 3.8 * one);  // the text stays
  // Full attention: four times the tokens, 16 times the scores.
  std::string wide = kUnetSd1;
  wide.replace(wide.find("\"sample_size\": 64"), 17, "\"sample_size\": 128");
  CHECK(teraflops(part_of(wide, "unet")) > 5 * teraflops(part_of(kUnetSd1, "unet")));
}

TEST_CASE("diffusion: stored tables that are no parameters are named", "[diffusion]") {
  const ModelConfig config = read_text(kSd35Medium);
  REQUIRE(config.not_modelled.size() == 1);
  CHECK(has(config.not_modelled[0], "226492416"));
  CHECK(read_text(kFluxDev).not_modelled.empty());
}

TEST_CASE("diffusion: components built of other blocks are not modelled, and say why", "[diffusion]") {
  struct Row {
    std::string text;
    const char* why;
  };
  const Row rows[] = {
      {R"({"_class_name": "UNet2DConditionModel"})", "block_out_channels"},
      {R"({"_class_name": "UNet2DConditionModel", "block_out_channels": [64], "down_block_types": ["ResnetDownsampleBlock2D"],
          "up_block_types": ["UpBlock2D"]})",
       "ResnetDownsampleBlock2D"},
      {R"({"_class_name": "UNet2DConditionModel", "block_out_channels": [64], "down_block_types": ["DownBlock2D"],
          "up_block_types": ["UpBlock2D"], "reverse_transformer_layers_per_block": [[4], 1]})",
       "reverse_transformer_layers_per_block"},
      {R"({"_class_name": "UNet2DConditionModel", "block_out_channels": [64], "only_cross_attention": [true]})",
       "only_cross_attention"},
      {R"({"_class_name": "UNet2DConditionModel", "block_out_channels": [64], "down_block_types": ["DownBlock2D"],
          "up_block_types": ["UpBlock2D"], "addition_embed_type": "image"})",
       "image"},
      {R"({"_class_name": "Transformer2DModel", "num_attention_heads": 8})", "norms of type"},
      {R"({"_class_name": "AutoencoderKLLTXVideo", "timestep_conditioning": true})", "conditioned"},
      {R"({"_class_name": "AutoencoderKL", "block_out_channels": [64], "down_block_types": ["AttnDownEncoderBlock2D"]})",
       "AttnDownEncoderBlock2D"},
      {R"({"_class_name": "HunyuanVideoTransformer3DModel", "image_embed_dim": 1152})", "image"},
      {R"({"_class_name": "VQModel"})", "diffusion component 'VQModel'"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const ModelConfig config = read_text(row.text);
    CHECK(config.network.parts.empty());
    REQUIRE_FALSE(config.not_modelled.empty());
    CHECK(has(config.not_modelled[0], row.why));
  }
}

TEST_CASE("diffusion: a pipeline in one document has its components as parts", "[diffusion]") {
  const ModelConfig config =
      read_text(R"({"_class_name": "FluxPipeline", "scheduler": {"_class_name": "FlowMatchEulerDiscreteScheduler"}, )"
                R"("transformer": )" +
                kFluxDev + R"(, "vae": )" + kVae16 + "}");
  CHECK(config.network.family == "FluxPipeline");
  CHECK(count_of(config.network, "transformer") == 11901408320);
  CHECK(count_of(config.network, "vae.encoder") + count_of(config.network, "vae.decoder") == 83819683);
  CHECK(parameters(config.network) == 11901408320 + 83819683);
}

TEST_CASE("diffusion: a folder of a pipeline lists its components apart", "[diffusion]") {
  const testing::Folder folder;
  const auto put = [&](const std::string& component, const std::string& text) {
    std::filesystem::create_directories(folder.path("flux-folder/" + component));
    folder.write("flux-folder/" + component + "/config.json", text);
  };
  put("transformer", kFluxDev);
  put("vae", kVae16);
  put("text_encoder", R"({"architectures": ["CLIPTextModel"], "model_type": "clip_text_model", "hidden_size": 768,
    "intermediate_size": 3072, "num_attention_heads": 12, "num_hidden_layers": 12, "max_position_embeddings": 77,
    "vocab_size": 49408, "projection_dim": 768})");
  put("text_encoder_2", R"({"architectures": ["T5EncoderModel"], "model_type": "t5", "d_model": 4096, "d_kv": 64,
    "d_ff": 10240, "num_layers": 24, "num_decoder_layers": 24, "num_heads": 64, "vocab_size": 32128,
    "relative_attention_num_buckets": 32, "feed_forward_proj": "gated-gelu", "is_encoder_decoder": true,
    "tie_word_embeddings": false})");
  folder.write("flux-folder/model_index.json", R"({"_class_name": "FluxPipeline", "_diffusers_version": "0.30.0",
    "scheduler": ["diffusers", "FlowMatchEulerDiscreteScheduler"], "text_encoder": ["transformers", "CLIPTextModel"],
    "text_encoder_2": ["transformers", "T5EncoderModel"], "tokenizer": ["transformers", "CLIPTokenizer"],
    "transformer": ["diffusers", "FluxTransformer2DModel"], "vae": ["diffusers", "AutoencoderKL"]})");
  const Network flux = read_model_config_file(folder.path("flux-folder")).network;
  CHECK(count_of(flux, "transformer") == 11901408320);
  CHECK(count_of(flux, "vae.encoder") == 34274208);
  CHECK(count_of(flux, "vae.decoder") == 49545475);
  // A: headers of these text encoders.
  CHECK(count_of(flux, "text_encoder") == 123060480);
  CHECK(count_of(flux, "text_encoder_2") == 4762310656);
}

TEST_CASE("diffusion: whole folders as published", "[diffusion]") {
  const std::filesystem::path real =
      std::filesystem::path(GPUPLAN_SOURCE_DIR) / ".." / "shared" / "real" / "configs" / "diffusers";
  if (!std::filesystem::exists(real)) return;
  const Network sd1 = read_model_config_file((real / "stable-diffusion-v1-5").string()).network;
  CHECK(count_of(sd1, "unet") == 859520964);
  CHECK(count_of(sd1, "vae.encoder") + count_of(sd1, "vae.decoder") == 83653863);
  CHECK(count_of(sd1, "text_encoder") == 123060480);
  CHECK(count_of(sd1, "safety_checker") == 303981588);
  const Network sdxl = read_model_config_file((real / "stable-diffusion-xl-base-1.0").string()).network;
  CHECK(parameters(sdxl) == 3468837867);
  // A: the shape of the DDPM paper's LSUN model.
  CHECK(parameters(read_model_config_file((real / "ddpm-butterflies-128").string()).network) == 113673219);
}

TEST_CASE("diffusion: numbers that cannot be are refused", "[diffusion]") {
  struct Row {
    const char* text;
    const char* what;
  };
  const Row rows[] = {
      {R"({"_class_name": "FluxTransformer2DModel", "num_attention_heads": 0})", "num_attention_heads"},
      {R"({"_class_name": "FluxTransformer2DModel", "num_layers": 1000000})", "num_layers"},
      {R"({"_class_name": "FluxTransformer2DModel", "patch_size": 0})", "patch_size"},
      {R"({"_class_name": "SD3Transformer2DModel", "sample_size": 1e300})", "sample_size"},
      {R"({"_class_name": "SD3Transformer2DModel", "caption_projection_dim": 7})", "text is projected"},
      {R"({"_class_name": "SanaTransformer2DModel", "mlp_ratio": NaN})", "mlp_ratio"},
      {R"({"_class_name": "SanaTransformer2DModel", "mlp_ratio": -1})", "mlp_ratio"},
      {R"({"_class_name": "WanTransformer3DModel", "patch_size": [1, 2]})", "patch_size"},
      {R"({"_class_name": "AutoencoderKL", "block_out_channels": []})", "block_out_channels"},
      {R"({"_class_name": "AutoencoderKL", "block_out_channels": [128, 0]})", "block_out_channels"},
      {R"({"_class_name": "AutoencoderDC", "encoder_layers_per_block": [1, 2]})", "encoder_layers_per_block"},
      {R"({"_class_name": "AutoencoderKLWan", "temperal_downsample": [true]})", "temperal_downsample"},
      {R"({"_class_name": "UNet2DConditionModel", "block_out_channels": [320, 640], "down_block_types": ["DownBlock2D"]})",
       "down_block_types"},
      {R"({"_class_name": "UNet2DConditionModel", "block_out_channels": [320, 640], "attention_head_dim": [0, 0]})",
       "attention_head_dim"},
      {R"({"_class_name": "FluxTransformer2DModel", "num_attention_heads": 65536, "attention_head_dim": 65536})",
       "more parameters"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const std::vector<Problem> problems = testing::problems_of([&] { read_text(row.text); });
    REQUIRE_FALSE(problems.empty());
    bool named = false;
    for (const Problem& p : problems) named = named || has(p.message, row.what);
    CHECK(named);
  }
  std::string many = R"({"_class_name": "AutoencoderKL", "block_out_channels": [1)";
  for (int i = 0; i < 50000; ++i) many += ", 1";
  CHECK_FALSE(testing::problems_of([&] { read_text(many + "]}"); }).empty());
}

// Any value under any key is refused or read; nothing crashes, and what is read can be counted.
TEST_CASE("diffusion: hostile values under every key", "[diffusion]") {
  const Node hostile = json(R"({"a": 0, "b": -1, "c": 1, "d": 65536, "e": 1000000000, "f": 1e300, "g": "x", "h": [],
    "i": [0], "j": [[1], {}], "k": {}, "l": true, "m": null, "n": [1000000000, 1000000000, 1000000000, 1000000000],
    "o": 0.5, "p": [1, 1, 1, 1], "q": [true, true, true, true], "r": 1000, "s": ["x", "x", "x", "x"]})");
  int read = 0;
  for (const std::string& text : all_components()) {
    const Node whole = json(text);
    for (std::size_t i = 1; i < whole.items.size(); ++i) {
      for (const Node& value : hostile.items) {
        Node config = whole;
        config.items[i] = value;
        testing::problems_of([&] {
          const ModelConfig got = read_model_config(config, "config.json");
          for (const NetworkPart& part : got.network.parts) {
            if (parameters(part.tensors) <= 0 || !std::isfinite(teraflops(part))) throw std::logic_error(whole.keys[i]);
          }
          ++read;
        });
      }
    }
  }
  CHECK(read > 1000);
}

}  // namespace gpuplan
