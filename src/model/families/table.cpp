#include "family.hpp"

#include <algorithm>

namespace gpuplan {
namespace {

constexpr Feature kNone = Feature::none;
constexpr Feature kExperts = Feature::experts;
constexpr Feature kBoth = Feature::experts | Feature::latent;
constexpr Feature kState = Feature::recurrent;
constexpr Feature kStateExperts = Feature::recurrent | Feature::experts;
constexpr Feature kDiffer = Feature::layers_differ;
constexpr Feature kDifferExperts = Feature::layers_differ | Feature::experts;

// What `tie_word_embeddings` is when a config does not say: the class's own default, else the library's, which is true.
constexpr FamilyRow kFamilies[] = {
    {"llama", "llama Yi aquila tinyllama exaone granite smollm3 llava llava_llama",
     "Llama LLaMA LlaMA LLaMa Yi Aquila TinyLlama Exaone Granite SmolLM3 LlavaLlama", read_llama, false},
    {"llama4", "llama4_text", "Llama4", read_llama4, false, kExperts},
    {"seed_oss", "seed_oss", "SeedOss", read_seed_oss, false},
    {"ernie4_5", "ernie4_5", "Ernie4_5", read_ernie, true},
    {"mistral", "mistral ministral3 llava_mistral", "Mistral Ministral3 LlavaMistral", read_mistral, false},
    {"mixtral", "mixtral", "Mixtral", read_mixtral, false, kExperts},
    {"qwen", "qwen", "QWen QWenLMHead", read_qwen, false},
    {"qwen2", "qwen2 qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text llava_qwen",
     "Qwen2 Qwen2VL Qwen2_5_VL LlavaQwen", read_qwen2, false},
    {"qwen2_moe", "qwen2_moe", "Qwen2Moe", read_qwen2_moe, false, kExperts},
    {"qwen3", "qwen3 qwen3_vl_text", "Qwen3", read_qwen3, false},
    {"qwen3_moe", "qwen3_moe qwen3_vl_moe_text", "Qwen3Moe", read_qwen3_moe, false, kExperts},
    {"gemma", "gemma", "Gemma", read_gemma, true},
    {"gemma2", "gemma2", "Gemma2", read_gemma2, true},
    {"gemma3", "gemma3_text", "Gemma3 Gemma3Text", read_gemma3, true},
    {"phi", "phi", "Phi", read_phi, false},
    {"phi3", "phi3 phi3_v", "Phi3 Phi3V", read_phi3, false},
    {"phimoe", "phimoe", "PhiMoE PhimoE Phimoe", read_phimoe, false, kExperts},
    {"falcon", "falcon RefinedWeb RefinedWebModel", "Falcon RW", read_falcon, true},
    {"gpt2", "gpt2", "GPT2", read_gpt2, true},  // product-name: a model_type
    {"gpt_bigcode", "gpt_bigcode", "GPTBigCode", read_gpt_bigcode, true},
    {"gpt_neo", "gpt_neo", "GPTNeo", read_gpt_neo, true},
    {"gpt_neox", "gpt_neox", "GPTNeoX", read_gpt_neox, false},
    {"gptj", "gptj", "GPTJ", read_gptj, false},
    {"gpt_oss", "gpt_oss", "GptOss", read_gpt_oss, false, kExperts},
    {"opt", "opt", "OPT", read_opt, true},
    {"bloom", "bloom", "Bloom", read_bloom, true},
    {"mpt", "mpt", "MPT Mpt", read_mpt, true},
    {"deepseek", "deepseek", "Deepseek", read_deepseek, false, kExperts},  // product-name: a model_type
    {"deepseek_v2", "deepseek_v2", "DeepseekV2", read_deepseek_v2, false, kBoth},
    {"deepseek_v3", "deepseek_v3 deepseek_v32 kimi_k2 glm4_moe_lite", "DeepseekV3 DeepseekV32 KimiK2 Glm4MoeLite",
     read_deepseek_v3, false, kBoth},
    {"glm_moe_dsa", "glm_moe_dsa", "GlmMoeDsa", read_glm_moe_dsa, false, kBoth},
    {"chatglm", "chatglm", "ChatGLM", read_chatglm, false, kNone, true},
    {"glm", "glm", "Glm", read_glm, false},
    {"glm4", "glm4 glm4v_text", "Glm4", read_glm4, false},
    {"glm4_moe", "glm4_moe glm4v_moe_text", "Glm4Moe", read_glm4_moe, false, kExperts},
    {"cohere", "cohere", "Cohere", read_cohere, true},
    {"cohere2", "cohere2", "Cohere2", read_cohere2, true},
    {"dbrx", "dbrx", "Dbrx", read_dbrx, false, kExperts},
    {"olmo", "olmo", "Olmo", read_olmo, false},
    {"olmo2", "olmo2", "Olmo2", read_olmo2, false},
    {"olmo3", "olmo3", "Olmo3", read_olmo3, false},
    {"olmoe", "olmoe", "Olmoe", read_olmoe, false, kExperts},
    {"granitemoe", "granitemoe", "GraniteMoe", read_granite_moe, false, kExperts},
    {"grok", "grok-1", "Grok1Model Grok1", read_grok, true, kExperts},  // product-name: a model_type
    {"minimax_m2", "minimax_m2", "MiniMaxM2", read_minimax_m2, false, kExperts},
    {"starcoder2", "starcoder2", "Starcoder2", read_starcoder2, true},
    {"stablelm", "stablelm stablelm_epoch", "StableLm StableLMEpoch", read_stablelm, false},
    {"internlm", "internlm", "InternLM", read_internlm, false},
    {"internlm2", "internlm2", "InternLM2", read_internlm2, false},
    {"baichuan", "baichuan", "Baichuan BaiChuan BaiChuanLM", read_baichuan, false},
    {"nemotron", "nemotron", "Nemotron", read_nemotron, false},
    {"exaone4", "exaone4", "Exaone4", read_exaone4, false},
    {"dots1", "dots1", "Dots1", read_dots1, false, kExperts},
    {"ernie4_5_moe", "ernie4_5_moe", "Ernie4_5_Moe Ernie4_5_MoE", read_ernie_moe, true, kExperts},
    {"hunyuan_v1_moe", "hunyuan_v1_moe hunyuan", "HunYuanMoEV1", read_hunyuan_moe, false, kExperts},
    {"hunyuan_v1_dense", "hunyuan_v1_dense", "HunYuanDenseV1", read_hunyuan, false},
    {"bailing_moe", "bailing_moe bailing_moe_v2", "BailingMoe BailingMoeV2", read_bailing_moe, false, kExperts},
    // layers with a state
    {"mamba_ssm", "mamba_ssm", "", read_state_spaces, true, kState},
    {"mamba", "mamba falcon_mamba", "Mamba FalconMamba", read_mamba, true, kState},
    {"mamba2", "mamba2", "Mamba2", read_mamba2, false, kState},
    {"jamba", "jamba", "Jamba", read_jamba, false, kStateExperts},
    {"nemotron_h", "nemotron_h", "NemotronH", read_nemotron_h, false, kStateExperts},
    {"bamba", "bamba", "Bamba", read_bamba, false, kState},
    {"granitemoehybrid", "granitemoehybrid", "GraniteMoeHybrid", read_granite_hybrid, false, kStateExperts},
    {"falcon_h1", "falcon_h1", "FalconH1", read_falcon_h1, false, kState},
    {"qwen3_next", "qwen3_next qwen3_5_moe_text", "Qwen3Next Qwen3_5Moe", read_qwen3_next, false, kStateExperts},
    {"qwen3_5", "qwen3_5_text", "Qwen3_5", read_qwen3_5, false, kState},
    {"minimax", "minimax minimax_text_01 MiniMaxText01", "MiniMax MiniMaxText01", read_minimax, false, kStateExperts},
    {"kimi_linear", "kimi_linear", "KimiLinear", read_kimi_linear, false, kStateExperts | Feature::latent},
    {"lfm2", "lfm2", "Lfm2", read_lfm2, true, kState},
    {"lfm2_moe", "lfm2_moe", "Lfm2Moe", read_lfm2_moe, true, kStateExperts},
    {"recurrent_gemma", "recurrent_gemma", "RecurrentGemma", read_recurrent_gemma, true, kState},
    {"rwkv", "rwkv", "Rwkv", read_rwkv4, false, kState},
    {"rwkv5", "rwkv5", "Rwkv5", read_rwkv5, false, kState},
    {"rwkv6", "rwkv6", "Rwkv6", read_rwkv6, false, kState},
    {"rwkv7", "rwkv7", "RWKV7", read_rwkv7, false, kState},
    // layers that differ
    {"nemotron-nas", "nemotron-nas deci", "DeciLM", read_nemotron_nas, false, kDiffer},
    {"openelm", "openelm", "OpenELM", read_openelm, true, kDiffer},
    {"gemma3n", "gemma3n_text", "Gemma3n", read_gemma3n, true, kDiffer},
    {"gemma4", "gemma4_text", "Gemma4", read_gemma4, true, kDifferExperts},
    {"minimax_m3", "minimax_m3", "MiniMaxM3 MiniMaxM3Sparse", read_minimax_m3, false, kDifferExperts},
    {"mimo", "mimo", "MiMo", read_mimo, false},
    {"mimo_v2_flash", "mimo_v2_flash", "MiMoV2Flash", read_mimo_v2, false, kDifferExperts},
    {"step3p5", "step3p5", "Step3p5", read_step3p5, false, kDifferExperts},
    {"mllama", "mllama_text_model", "Mllama MllamaText", read_mllama, false, kDiffer},
    {"minicpmv", "minicpmv", "MiniCPMV", read_minicpmv, false},
};

constexpr OtherRow kOthers[] = {
    {"encoder-only transformer", "xlm-roberta-xl big_bird funnel layoutlm layoutlmv3 esm",
     "XLMRobertaXL BigBird Funnel LayoutLM LayoutLMv3 Esm"},
    {"encoder-decoder transformer",
     "longt5 switch_transformers nllb-moe led fsmt prophetnet speech_to_text seamless_m4t encoder-decoder "
     "vision-encoder-decoder florence2 t5gemma",
     "LongT5 SwitchTransformers NllbMoe LED FSMT ProphetNet Speech2Text SeamlessM4T EncoderDecoder "
     "VisionEncoderDecoder Florence2 T5Gemma"},
    {"image or image-text encoder",
     "beit "
     "swinv2 sam detr yolos align",
     "Beit Swinv2 Sam Detr Yolos Align"},
    {"speech network", "wav2vec2-bert data2vec-audio encodec speecht5 bark musicgen",
     "Wav2Vec2Bert Data2VecAudio Encodec SpeechT5 Bark Musicgen"},
    {"state-space or recurrent network", "xlstm retnet", "xLSTM RetNet"},
    {"hybrid of attention and state-space layers", "zamba zamba2 plamo2", "Zamba Zamba2 Plamo2"},
};

}  // namespace

std::span<const FamilyRow> families() { return kFamilies; }
std::span<const OtherRow> other_networks() { return kOthers; }

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

}  // namespace gpuplan
