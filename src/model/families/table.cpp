#include "family.hpp"

#include <algorithm>

namespace gpuplan {
namespace {

constexpr Feature kNone = Feature::none;
constexpr Feature kExperts = Feature::experts;
constexpr Feature kBoth = Feature::experts | Feature::latent;

// What `tie_word_embeddings` is when a config does not say: the class's own default, else the library's, which is true.
constexpr FamilyRow kFamilies[] = {
    {"llama", "llama Yi aquila tinyllama exaone granite smollm3",
     "Llama LLaMA LlaMA LLaMa Yi Aquila TinyLlama Exaone Granite SmolLM3", read_llama, false},
    {"llama4", "llama4_text", "Llama4", read_llama4, false, kExperts},
    {"seed_oss", "seed_oss", "SeedOss", read_seed_oss, false},
    {"ernie4_5", "ernie4_5", "Ernie4_5", read_ernie, true},
    {"mistral", "mistral", "Mistral", read_mistral, false},
    {"mixtral", "mixtral", "Mixtral", read_mixtral, false, kExperts},
    {"qwen", "qwen", "QWen QWenLMHead", read_qwen, false},
    {"qwen2", "qwen2 qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text", "Qwen2 Qwen2VL Qwen2_5_VL", read_qwen2, false},
    {"qwen2_moe", "qwen2_moe", "Qwen2Moe", read_qwen2_moe, false, kExperts},
    {"qwen3", "qwen3 qwen3_vl_text", "Qwen3", read_qwen3, false},
    {"qwen3_moe", "qwen3_moe qwen3_vl_moe_text", "Qwen3Moe", read_qwen3_moe, false, kExperts},
    {"gemma", "gemma", "Gemma", read_gemma, true},
    {"gemma2", "gemma2", "Gemma2", read_gemma2, true},
    {"gemma3", "gemma3_text", "Gemma3 Gemma3Text", read_gemma3, true},
    {"phi", "phi", "Phi", read_phi, false},
    {"phi3", "phi3", "Phi3", read_phi3, false},
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
    {"deepseek_v3", "deepseek_v3 deepseek_v32 kimi_k2 glm_moe_dsa", "DeepseekV3 DeepseekV32 KimiK2 GlmMoeDsa",
     read_deepseek_v3, false, kBoth},
    {"chatglm", "chatglm", "ChatGLM", read_chatglm, false, kNone, true},
    {"glm", "glm", "Glm", read_glm, false},
    {"glm4", "glm4", "Glm4", read_glm4, false},
    {"glm4_moe", "glm4_moe", "Glm4Moe", read_glm4_moe, false, kExperts},
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
};

constexpr OtherRow kOthers[] = {
    {"encoder-only transformer",
     "bert roberta xlm-roberta xlm-roberta-xl camembert distilbert albert electra deberta deberta-v2 mpnet nomic_bert "
     "modernbert ernie longformer big_bird funnel layoutlm layoutlmv3 esm new",
     "Bert Roberta XLMRoberta Camembert DistilBert Albert Electra Deberta DebertaV2 MPNet NomicBert ModernBert Ernie "
     "Longformer BigBird Funnel LayoutLM Esm New"},
    {"encoder-decoder transformer",
     "t5 mt5 umt5 longt5 switch_transformers bart mbart pegasus marian m2m_100 nllb-moe blenderbot led fsmt prophetnet "
     "whisper speech_to_text seamless_m4t encoder-decoder vision-encoder-decoder florence2 t5gemma",
     "T5 MT5 UMT5 LongT5 SwitchTransformers Bart MBart Pegasus Marian M2M100 NllbMoe Blenderbot LED FSMT ProphetNet "
     "Whisper Speech2Text SeamlessM4T EncoderDecoder VisionEncoderDecoder Florence2 T5Gemma"},
    {"image or image-text encoder",
     "clip clip_text_model clip_vision_model chinese_clip siglip siglip_text_model siglip_vision_model vit deit beit "
     "swin "
     "swinv2 dinov2 convnext resnet sam detr yolos blip align",
     "CLIP CLIPText CLIPVision ChineseCLIP Siglip ViT DeiT Beit Swin Swinv2 Dinov2 ConvNext ResNet Sam Detr Yolos Blip "
     "Align"},
    {"speech network", "wav2vec2 wav2vec2-bert hubert wavlm data2vec-audio encodec vits speecht5 bark musicgen",
     "Wav2Vec2 Wav2Vec2Bert Hubert WavLM Data2VecAudio Encodec Vits SpeechT5 Bark Musicgen"},
    {"state-space or recurrent network", "mamba mamba2 falcon_mamba rwkv rwkv5 rwkv6 rwkv7 xlstm retnet",
     "Mamba Mamba2 MambaLMHead FalconMamba Rwkv Rwkv5 Rwkv6 RWKV7 xLSTM RetNet"},
    {"hybrid of attention and state-space layers",
     "nemotron_h jamba bamba zamba zamba2 falcon_h1 granitemoehybrid plamo2 recurrent_gemma",
     "NemotronH Jamba Bamba Zamba Zamba2 FalconH1 GraniteMoeHybrid Plamo2 RecurrentGemma"},
    {"hybrid of full and linear attention",
     "qwen3_next qwen3_5 qwen3_5_text qwen3_5_moe qwen3_5_moe_text minimax minimax_text_01 MiniMaxText01 kimi_linear "
     "lfm2 "
     "lfm2_moe",
     "Qwen3Next Qwen3_5 Qwen3_5Moe MiniMax MiniMaxText01 KimiLinear Lfm2 Lfm2Moe"},
    {"decoder whose layers differ", "nemotron-nas deci openelm gemma3n gemma3n_text", "DeciLM OpenELM Gemma3n"},
    {"decoder with cross-attention to images", "mllama mllama_text_model", "Mllama"},
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
