#pragma once
/// The tables of network families: which `model_type` and class names a config.json may give, and the function that turns the
/// rest of it into an Architecture or into parts. A new family is one file with one function, and one row.

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
// Diffusion.
// Vision, recommenders, speech synthesis.
// What stands beside a text model.
// Language models.
void read_baichuan(Fields& in, Architecture& a);
void read_bloom(Fields& in, Architecture& a);
void read_chatglm(Fields& in, Architecture& a);
void read_cohere(Fields& in, Architecture& a);
void read_cohere2(Fields& in, Architecture& a);
void read_dbrx(Fields& in, Architecture& a);
void read_deepseek(Fields& in, Architecture& a);
void read_deepseek_v2(Fields& in, Architecture& a);
void read_deepseek_v3(Fields& in, Architecture& a);
void read_ernie(Fields& in, Architecture& a);
void read_falcon(Fields& in, Architecture& a);
void read_gemma(Fields& in, Architecture& a);
void read_gemma2(Fields& in, Architecture& a);
void read_gemma3(Fields& in, Architecture& a);
void read_glm(Fields& in, Architecture& a);
void read_glm4(Fields& in, Architecture& a);
void read_glm4_moe(Fields& in, Architecture& a);
void read_gpt2(Fields& in, Architecture& a);
void read_gpt_bigcode(Fields& in, Architecture& a);
void read_gpt_neo(Fields& in, Architecture& a);
void read_gpt_neox(Fields& in, Architecture& a);
void read_gpt_oss(Fields& in, Architecture& a);
void read_gptj(Fields& in, Architecture& a);
void read_granite_moe(Fields& in, Architecture& a);
void read_grok(Fields& in, Architecture& a);
void read_internlm(Fields& in, Architecture& a);
void read_internlm2(Fields& in, Architecture& a);
void read_llama(Fields& in, Architecture& a);
void read_llama4(Fields& in, Architecture& a);
void read_minimax_m2(Fields& in, Architecture& a);
void read_mistral(Fields& in, Architecture& a);
void read_mixtral(Fields& in, Architecture& a);
void read_mpt(Fields& in, Architecture& a);
void read_nemotron(Fields& in, Architecture& a);
void read_olmo(Fields& in, Architecture& a);
void read_olmo2(Fields& in, Architecture& a);
void read_olmo3(Fields& in, Architecture& a);
void read_olmoe(Fields& in, Architecture& a);
void read_opt(Fields& in, Architecture& a);
void read_phi(Fields& in, Architecture& a);
void read_phi3(Fields& in, Architecture& a);
void read_phimoe(Fields& in, Architecture& a);
void read_qwen(Fields& in, Architecture& a);
void read_qwen2(Fields& in, Architecture& a);
void read_qwen2_moe(Fields& in, Architecture& a);
void read_qwen3(Fields& in, Architecture& a);
void read_qwen3_moe(Fields& in, Architecture& a);
void read_seed_oss(Fields& in, Architecture& a);
void read_stablelm(Fields& in, Architecture& a);
void read_starcoder2(Fields& in, Architecture& a);

}  // namespace gpuplan
