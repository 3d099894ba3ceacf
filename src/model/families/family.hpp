#pragma once
/// The tables of network families: which `model_type` and class names a config.json may give, and the function that turns the
/// rest of it into an Architecture or into parts. A new family is one file with one function, and one row: language
/// models in `decoders/` and `table.cpp`, what stands before a text model in `beside/`, other networks in the folder of their kind,
/// both with rows in `networks.cpp`.

#include "fields.hpp"

#include <gpuplan/model/network.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace gpuplan {

using ReadFamily = void (*)(Fields& in, Architecture& a);

/// Features that mean another network in a family that does not read them.
enum class Feature : std::uint8_t {
  none = 0,
  experts = 1,
  latent = 2,
  recurrent = 4,      ///< layers with a state
  layers_differ = 8,  ///< layers of several shapes
};
constexpr Feature operator|(Feature one, Feature other) {
  return static_cast<Feature>(static_cast<unsigned>(one) | static_cast<unsigned>(other));
}

/// Language models that generate token by token.
struct FamilyRow {
  std::string_view name;     ///< `Architecture::family`
  std::string_view types;    ///< values of `model_type`, a blank between
  std::string_view classes;  ///< class names without what follows the family: `Llama` of `LlamaForCausalLM`
  ReadFamily read;
  bool tied;  ///< what `tie_word_embeddings` is when it is not said
  Feature features = Feature::none;
  bool headless_name_has_head = false;  ///< class `XModel` is the whole language model
};
std::span<const FamilyRow> families();

/// Every other network, and components of pipelines: fills `parts`. A class that is not named in full is looked up without
/// its ending (`Model`, `ForMaskedLM`, …); which head it puts on top is the reader's to say.
using ReadNetwork = void (*)(Fields& in, Network& out);
struct NetworkRow {
  std::string_view name;  ///< `Network::family`
  std::string_view types;
  std::string_view classes;
  ReadNetwork read;
};
std::span<const NetworkRow> network_families();

/// What stands beside the text model of a wrapper (`vision_config`, `audio_config`, …): adds its parts to `out`, whose decoder is
/// read already. Says with `in.not_modelled` what it leaves out.
using ReadBeside = void (*)(Fields& in, const Architecture& text, Network& out);
struct WrapperRow {
  std::string_view types;  ///< `model_type` of the wrapper
  ReadBeside read;
};
std::span<const WrapperRow> wrapper_families();

/// Networks known not to be decoders that we model.
struct OtherRow {
  std::string_view what;  ///< `encoder-decoder transformer`
  std::string_view types;
  std::string_view classes;
};
std::span<const OtherRow> other_networks();

/// Whether `word` is one of the words of `list`.
bool has_word(std::string_view list, std::string_view word);

// Networks that do not generate token by token: text, image-text and speech encoders, encoder-decoders.
void read_albert(Fields& in, Network& out);
void read_bart(Fields& in, Network& out);
void read_bert(Fields& in, Network& out);
void read_blenderbot(Fields& in, Network& out);
void read_blenderbot_small(Fields& in, Network& out);
void read_blip(Fields& in, Network& out);
void read_chinese_clip(Fields& in, Network& out);
void read_clip(Fields& in, Network& out);
void read_clip_text(Fields& in, Network& out);
void read_clip_vision(Fields& in, Network& out);
void read_deberta(Fields& in, Network& out);
void read_deberta_v2(Fields& in, Network& out);
void read_deepseek_v4(Fields& in, Network& out);
void read_distilbert(Fields& in, Network& out);
void read_electra(Fields& in, Network& out);
void read_ernie_encoder(Fields& in, Network& out);
void read_gte(Fields& in, Network& out);
void read_hubert(Fields& in, Network& out);
void read_longformer(Fields& in, Network& out);
void read_m2m_100(Fields& in, Network& out);
void read_marian(Fields& in, Network& out);
void read_mbart(Fields& in, Network& out);
void read_modernbert(Fields& in, Network& out);
void read_mpnet(Fields& in, Network& out);
void read_mt5(Fields& in, Network& out);
void read_nomic_bert(Fields& in, Network& out);
void read_pegasus(Fields& in, Network& out);
void read_roberta(Fields& in, Network& out);
void read_siglip(Fields& in, Network& out);
void read_siglip_text(Fields& in, Network& out);
void read_siglip_vision(Fields& in, Network& out);
void read_t5(Fields& in, Network& out);
void read_umt5(Fields& in, Network& out);
void read_wav2vec2(Fields& in, Network& out);
void read_wavlm(Fields& in, Network& out);
void read_whisper(Fields& in, Network& out);
// Diffusion.
void read_autoencoder_dc(Fields& in, Network& out);
void read_autoencoder_kl(Fields& in, Network& out);
void read_autoencoder_tiny(Fields& in, Network& out);
void read_class_transformer(Fields& in, Network& out);
void read_cogvideox_autoencoder(Fields& in, Network& out);
void read_cogvideox_transformer(Fields& in, Network& out);
void read_conditional_unet(Fields& in, Network& out);
void read_flux_transformer(Fields& in, Network& out);
void read_hunyuan_video_autoencoder(Fields& in, Network& out);
void read_hunyuan_video_transformer(Fields& in, Network& out);
void read_ltx_autoencoder(Fields& in, Network& out);
void read_ltx_transformer(Fields& in, Network& out);
void read_pixart_transformer(Fields& in, Network& out);
void read_pixel_unet(Fields& in, Network& out);
void read_qwen_image_autoencoder(Fields& in, Network& out);
void read_qwen_image_transformer(Fields& in, Network& out);
void read_sana_transformer(Fields& in, Network& out);
void read_sd3_transformer(Fields& in, Network& out);
void read_transformer_2d(Fields& in, Network& out);
void read_wan_autoencoder(Fields& in, Network& out);
void read_wan_transformer(Fields& in, Network& out);
// Vision, recommenders, speech synthesis.
void read_alexnet(Fields& in, Network& out);
void read_convnext(Fields& in, Network& out);
void read_deit(Fields& in, Network& out);
void read_densenet(Fields& in, Network& out);
void read_dinov2(Fields& in, Network& out);
void read_dlrm(Fields& in, Network& out);
void read_efficientnet(Fields& in, Network& out);
void read_f5_tts(Fields& in, Network& out);
void read_mobilenet_v2(Fields& in, Network& out);
void read_mobilenet_v3(Fields& in, Network& out);
void read_resnet(Fields& in, Network& out);
void read_styletts2(Fields& in, Network& out);
void read_swin(Fields& in, Network& out);
void read_vgg(Fields& in, Network& out);
void read_vit(Fields& in, Network& out);
void read_vits(Fields& in, Network& out);
void read_xtts(Fields& in, Network& out);
void read_yolov5(Fields& in, Network& out);
// What stands beside a text model.
void beside_aya_vision(Fields& in, const Architecture& text, Network& out);
void beside_gemma3(Fields& in, const Architecture& text, Network& out);
void beside_gemma4(Fields& in, const Architecture& text, Network& out);
void beside_glm4v(Fields& in, const Architecture& text, Network& out);
void beside_idefics2(Fields& in, const Architecture& text, Network& out);
void beside_idefics3(Fields& in, const Architecture& text, Network& out);
void beside_internvl(Fields& in, const Architecture& text, Network& out);
void beside_internvl_chat(Fields& in, const Architecture& text, Network& out);
void beside_kimi_vl(Fields& in, const Architecture& text, Network& out);
void beside_lfm2_vl(Fields& in, const Architecture& text, Network& out);
void beside_llama4(Fields& in, const Architecture& text, Network& out);
void beside_llava(Fields& in, const Architecture& text, Network& out);
void beside_llava_flat(Fields& in, const Architecture& text, Network& out);
void beside_llava_next(Fields& in, const Architecture& text, Network& out);
void beside_llava_onevision(Fields& in, const Architecture& text, Network& out);
void beside_minicpmv(Fields& in, const Architecture& text, Network& out);
void beside_minimax_m3(Fields& in, const Architecture& text, Network& out);
void beside_mistral3(Fields& in, const Architecture& text, Network& out);
void beside_mllama(Fields& in, const Architecture& text, Network& out);
void beside_paligemma(Fields& in, const Architecture& text, Network& out);
void beside_phi3_v(Fields& in, const Architecture& text, Network& out);
void beside_qwen2_5_vl(Fields& in, const Architecture& text, Network& out);
void beside_qwen2_audio(Fields& in, const Architecture& text, Network& out);
void beside_qwen2_vl(Fields& in, const Architecture& text, Network& out);
void beside_qwen3_vl(Fields& in, const Architecture& text, Network& out);
void beside_vipllava(Fields& in, const Architecture& text, Network& out);
void beside_voxtral(Fields& in, const Architecture& text, Network& out);
// Language models.
void read_baichuan(Fields& in, Architecture& a);
void read_bailing_moe(Fields& in, Architecture& a);
void read_bamba(Fields& in, Architecture& a);
void read_bloom(Fields& in, Architecture& a);
void read_chatglm(Fields& in, Architecture& a);
void read_cohere(Fields& in, Architecture& a);
void read_cohere2(Fields& in, Architecture& a);
void read_dbrx(Fields& in, Architecture& a);
void read_deepseek(Fields& in, Architecture& a);
void read_deepseek_v2(Fields& in, Architecture& a);
void read_deepseek_v3(Fields& in, Architecture& a);
void read_dots1(Fields& in, Architecture& a);
void read_ernie(Fields& in, Architecture& a);
void read_ernie_moe(Fields& in, Architecture& a);
void read_exaone4(Fields& in, Architecture& a);
void read_falcon(Fields& in, Architecture& a);
void read_falcon_h1(Fields& in, Architecture& a);
void read_gemma(Fields& in, Architecture& a);
void read_gemma2(Fields& in, Architecture& a);
void read_gemma3(Fields& in, Architecture& a);
void read_gemma3n(Fields& in, Architecture& a);
void read_gemma4(Fields& in, Architecture& a);
void read_glm(Fields& in, Architecture& a);
void read_glm4(Fields& in, Architecture& a);
void read_glm4_moe(Fields& in, Architecture& a);
void read_glm_moe_dsa(Fields& in, Architecture& a);
void read_gpt2(Fields& in, Architecture& a);
void read_gpt_bigcode(Fields& in, Architecture& a);
void read_gpt_neo(Fields& in, Architecture& a);
void read_gpt_neox(Fields& in, Architecture& a);
void read_gpt_oss(Fields& in, Architecture& a);
void read_gptj(Fields& in, Architecture& a);
void read_granite_hybrid(Fields& in, Architecture& a);
void read_granite_moe(Fields& in, Architecture& a);
void read_grok(Fields& in, Architecture& a);
void read_hunyuan(Fields& in, Architecture& a);
void read_hunyuan_moe(Fields& in, Architecture& a);
void read_internlm(Fields& in, Architecture& a);
void read_internlm2(Fields& in, Architecture& a);
void read_jamba(Fields& in, Architecture& a);
void read_kimi_linear(Fields& in, Architecture& a);
void read_lfm2(Fields& in, Architecture& a);
void read_lfm2_moe(Fields& in, Architecture& a);
void read_llama(Fields& in, Architecture& a);
void read_llama4(Fields& in, Architecture& a);
void read_mamba(Fields& in, Architecture& a);
void read_mamba2(Fields& in, Architecture& a);
void read_mimo(Fields& in, Architecture& a);
void read_mimo_v2(Fields& in, Architecture& a);
void read_minimax(Fields& in, Architecture& a);
void read_minicpmv(Fields& in, Architecture& a);
void read_minimax_m2(Fields& in, Architecture& a);
void read_minimax_m3(Fields& in, Architecture& a);
void read_mistral(Fields& in, Architecture& a);
void read_mixtral(Fields& in, Architecture& a);
void read_mllama(Fields& in, Architecture& a);
void read_mpt(Fields& in, Architecture& a);
void read_nemotron(Fields& in, Architecture& a);
void read_nemotron_h(Fields& in, Architecture& a);
void read_nemotron_nas(Fields& in, Architecture& a);
void read_olmo(Fields& in, Architecture& a);
void read_olmo2(Fields& in, Architecture& a);
void read_olmo3(Fields& in, Architecture& a);
void read_olmoe(Fields& in, Architecture& a);
void read_openelm(Fields& in, Architecture& a);
void read_opt(Fields& in, Architecture& a);
void read_phi(Fields& in, Architecture& a);
void read_phi3(Fields& in, Architecture& a);
void read_phimoe(Fields& in, Architecture& a);
void read_qwen(Fields& in, Architecture& a);
void read_qwen2(Fields& in, Architecture& a);
void read_qwen2_moe(Fields& in, Architecture& a);
void read_qwen3(Fields& in, Architecture& a);
void read_qwen3_5(Fields& in, Architecture& a);
void read_qwen3_moe(Fields& in, Architecture& a);
void read_qwen3_next(Fields& in, Architecture& a);
void read_recurrent_gemma(Fields& in, Architecture& a);
void read_rwkv4(Fields& in, Architecture& a);
void read_rwkv5(Fields& in, Architecture& a);
void read_rwkv6(Fields& in, Architecture& a);
void read_rwkv7(Fields& in, Architecture& a);
void read_seed_oss(Fields& in, Architecture& a);
void read_stablelm(Fields& in, Architecture& a);
void read_starcoder2(Fields& in, Architecture& a);
void read_state_spaces(Fields& in, Architecture& a);
void read_step3p5(Fields& in, Architecture& a);

}  // namespace gpuplan
