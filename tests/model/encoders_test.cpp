// Networks that do not generate token by token: text, image-text and speech encoders, encoder-decoders. Expected counts
// are the published ones, or summed tensor by tensor from the published modules, never by this program.

#include <gpuplan/model/config.hpp>

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/units.hpp>
#include <gpuplan/model/network.hpp>

#include "catch.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {
namespace {

struct Row {
  const char* name;
  std::string config;
  std::int64_t parameters;
};

ModelConfig read_text(std::string_view text) {
  return read_model_config(parse_json(text, "config.json", kMaxDocumentNodes, NonFinite::accepted), "config.json");
}

/// The row's count, and nothing said about it.
void check_row(const Row& row) {
  CAPTURE(row.name);
  const ModelConfig config = read_text(row.config);
  CAPTURE(config.not_modelled);
  CHECK(config.not_modelled.empty());
  CHECK(parameters(config.network) == row.parameters);
  CHECK_FALSE(config.network.decoder);
  for (const NetworkPart& part : config.network.parts) CHECK(flops_of(part, 16) / flop(1) >= 0);
}

std::string number(std::int64_t n) { return std::to_string(n); }

/// Most encoders' names; `more` are further keys.
std::string encoder(const std::string& type, const std::string& class_name, const std::vector<std::int64_t>& sizes,
                    const std::string& more = "") {
  return R"({"model_type": ")" + type + R"(", "architectures": [")" + class_name + R"("], "vocab_size": )" +
         number(sizes.at(0)) + R"(, "hidden_size": )" + number(sizes.at(1)) + R"(, "num_hidden_layers": )" +
         number(sizes.at(2)) + R"(, "num_attention_heads": )" + number(sizes.at(3)) + R"(, "intermediate_size": )" +
         number(sizes.at(4)) + (more.empty() ? "" : ", " + more) + "}";
}

const std::vector<std::int64_t> kBase = {30522, 768, 12, 12, 3072};
const std::vector<std::int64_t> kLarge = {30522, 1024, 24, 16, 4096};
const std::vector<std::int64_t> kMultilingual = {250002, 1024, 24, 16, 4096};

std::string bert(const std::string& ending, const std::vector<std::int64_t>& sizes, const std::string& more = "") {
  return encoder("bert", "Bert" + ending, sizes, more);
}

std::string xlm(const std::string& ending, const std::vector<std::int64_t>& sizes, std::int64_t positions,
                const std::string& more = "") {
  return encoder(
      "xlm-roberta", "XLMRoberta" + ending, sizes,
      R"("type_vocab_size": 1, "max_position_embeddings": )" + number(positions) + (more.empty() ? "" : ", " + more));
}

std::string deberta_v3(const std::vector<std::int64_t>& sizes) {
  return encoder("deberta-v2", "DebertaV2Model", sizes,
                 R"("relative_attention": true, "position_buckets": 256, "max_relative_positions": -1,
      "position_biased_input": false, "norm_rel_ebd": "layer_norm", "share_att_key": true, "pos_att_type": "p2c|c2p",
      "type_vocab_size": 0)");
}

struct T5Sizes {
  std::int64_t vocab, width, head_dim, heads, intermediate, layers;
};
std::string t5(const std::string& type, const std::string& class_name, const T5Sizes& s, const std::string& mlp,
               bool tied) {
  return R"({"model_type": ")" + type + R"(", "architectures": [")" + class_name + R"("], "vocab_size": )" +
         number(s.vocab) + R"(, "d_model": )" + number(s.width) + R"(, "d_kv": )" + number(s.head_dim) +
         R"(, "num_heads": )" + number(s.heads) + R"(, "d_ff": )" + number(s.intermediate) + R"(, "num_layers": )" +
         number(s.layers) + R"(, "feed_forward_proj": ")" + mlp + R"(", "is_encoder_decoder": true,
      "tie_word_embeddings": )" +
         (tied ? "true" : "false") + "}";
}

struct StackSizes {
  std::int64_t vocab, width, layers, decoder_layers, heads, intermediate;
};
std::string stacks(const std::string& type, const std::string& class_name, const StackSizes& s,
                   const std::string& more = "") {
  return R"({"model_type": ")" + type + R"(", "architectures": [")" + class_name + R"("], "vocab_size": )" +
         number(s.vocab) + R"(, "d_model": )" + number(s.width) + R"(, "encoder_layers": )" + number(s.layers) +
         R"(, "decoder_layers": )" + number(s.decoder_layers) + R"(, "encoder_attention_heads": )" + number(s.heads) +
         R"(, "decoder_attention_heads": )" + number(s.heads) + R"(, "encoder_ffn_dim": )" + number(s.intermediate) +
         R"(, "decoder_ffn_dim": )" + number(s.intermediate) + R"(, "is_encoder_decoder": true)" +
         (more.empty() ? "" : ", " + more) + "}";
}

std::string whisper(const StackSizes& s, std::int64_t mel_bins = 80) {
  return stacks("whisper", "WhisperForConditionalGeneration", s,
                R"("max_source_positions": 1500, "max_target_positions": 448, "num_mel_bins": )" + number(mel_bins));
}

/// Sizes of one tower, as a mapping.
std::string tower(const std::vector<std::int64_t>& sizes, const std::string& more = "") {
  return R"({"hidden_size": )" + number(sizes.at(0)) + R"(, "num_hidden_layers": )" + number(sizes.at(1)) +
         R"(, "num_attention_heads": )" + number(sizes.at(2)) + R"(, "intermediate_size": )" + number(sizes.at(3)) +
         (more.empty() ? "" : ", " + more) + "}";
}

std::string image(std::int64_t size, std::int64_t patch) {
  return R"("image_size": )" + number(size) + R"(, "patch_size": )" + number(patch);
}

std::string pair(const std::string& type, const std::string& class_name, const std::string& text,
                 const std::string& vision, const std::string& more = "\"projection_dim\": 512") {
  return R"({"model_type": ")" + type + R"(", "architectures": [")" + class_name + R"("], "text_config": )" + text +
         R"(, "vision_config": )" + vision + ", " + more + "}";
}

const std::vector<std::int64_t> kClipTextL = {768, 12, 12, 3072};
const std::vector<std::int64_t> kVisionB = {768, 12, 12, 3072};
const std::vector<std::int64_t> kVisionL = {1024, 24, 16, 4096};
const std::vector<std::int64_t> kSo400m = {1152, 27, 16, 4304};

std::string clip_text(const std::string& class_name, const std::vector<std::int64_t>& sizes, std::int64_t projection) {
  return R"({"model_type": "clip_text_model", "architectures": [")" + class_name + R"("], )" +
         tower(sizes, R"("vocab_size": 49408, "max_position_embeddings": 77, "projection_dim": )" + number(projection))
             .substr(1);
}

std::string speech(const std::string& type, const std::string& class_name, const std::vector<std::int64_t>& sizes,
                   const std::string& more = "\"feat_extract_norm\": \"group\"") {
  return R"({"model_type": ")" + type + R"(", "architectures": [")" + class_name + R"("], "vocab_size": 32,
      "conv_dim": [512, 512, 512, 512, 512, 512, 512], "conv_kernel": [10, 3, 3, 3, 3, 2, 2],
      "conv_stride": [5, 2, 2, 2, 2, 2, 2], "num_conv_pos_embeddings": 128, "num_conv_pos_embedding_groups": 16,
      "mask_time_prob": 0.05, )" +
         more + ", " + tower(sizes).substr(1);
}

}  // namespace

TEST_CASE("encoders: BERT and its heirs have their published parameters", "[encoders]") {
  const std::string one_label = R"("id2label": {"0": "LABEL_0"})";
  const auto row = GENERATE_COPY(values<Row>({
      {"BERT base", bert("Model", kBase), 109482240},
      {"BERT large", bert("Model", kLarge), 335141888},
      {"no class named", R"({"model_type": "bert", "vocab_size": 30522, "hidden_size": 384, "num_hidden_layers": 6,
          "num_attention_heads": 12, "intermediate_size": 1536})",
       22713216},
      {"12 layers of 384", bert("Model", {30522, 384, 12, 12, 1536}), 33360000},
      // without pooler 108891648; transform 590592 and norm 1536, a bias of 30522
      {"masked", bert("ForMaskedLM", kBase), 109514298},
      {"pretraining", bert("ForPreTraining", kBase), 110106428},             // both heads and the pooler
      {"two classes", bert("ForSequenceClassification", kBase), 109483778},  // 109482240 + 2 * 769
      {"nine tags",
       bert("ForTokenClassification", kBase,
            R"("id2label": {"0": "", "1": "", "2": "", "3": "", "4": "", "5": "", "6": "", "7": "", "8": ""})"),
       108898569},
      {"RoBERTa base",
       encoder("roberta", "RobertaModel", {50265, 768, 12, 12, 3072},
               R"("max_position_embeddings": 514, "type_vocab_size": 1)"),
       124645632},
      {"RoBERTa large",
       encoder("roberta", "RobertaModel", {50265, 1024, 24, 16, 4096},
               R"("max_position_embeddings": 514, "type_vocab_size": 1)"),
       355359744},
      {"RoBERTa base, masked",
       encoder("roberta", "RobertaForMaskedLM", {50265, 768, 12, 12, 3072},
               R"("max_position_embeddings": 514, "type_vocab_size": 1)"),
       124697433},
      {"XLM-R base", xlm("Model", {250002, 768, 12, 12, 3072}, 514), 278043648},
      {"XLM-R large", xlm("Model", kMultilingual, 514), 559890432},
      {"8192 positions", xlm("Model", kMultilingual, 8194), 567754752},
      {"reranker, 8192 positions", xlm("ForSequenceClassification", kMultilingual, 8194, one_label), 567755777},
      {"reranker, large", xlm("ForSequenceClassification", kMultilingual, 514, one_label), 559891457},
      {"reranker, base", xlm("ForSequenceClassification", {250002, 768, 12, 12, 3072}, 514, one_label), 278044417},
      {"MPNet base", encoder("mpnet", "MPNetModel", {30527, 768, 12, 12, 3072}, R"("max_position_embeddings": 514)"),
       109486464},
      // RoBERTa base 124645632, 3584 more positions of 768, three more projections in each of 12 layers
      {"Longformer base",
       encoder("longformer", "LongformerModel", {50265, 768, 12, 12, 3072},
               R"("max_position_embeddings": 4098, "type_vocab_size": 1,
          "attention_window": [512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512])"),
       148659456},
      {"ELECTRA base", encoder("electra", "ElectraModel", kBase, R"("embedding_size": 768)"), 108891648},
      {"ELECTRA small",
       encoder("electra", "ElectraForPreTraining", {30522, 256, 12, 4, 1024}, R"("embedding_size": 128)"), 13549057},
      {"ALBERT base", encoder("albert", "AlbertModel", {30000, 768, 12, 12, 3072}, R"("embedding_size": 128)"),
       11683584},
      {"ALBERT base, masked",
       encoder("albert", "AlbertForMaskedLM", {30000, 768, 12, 12, 3072}, R"("embedding_size": 128)"), 11221680},
  }));
  check_row(row);
}

TEST_CASE("encoders: encoders with their own names for sizes have their published parameters", "[encoders]") {
  const auto row = GENERATE(values<Row>({
      {"DistilBERT", R"({"model_type": "distilbert", "architectures": ["DistilBertModel"], "dim": 768, "n_layers": 6,
          "n_heads": 12, "hidden_dim": 3072, "vocab_size": 30522, "max_position_embeddings": 512})",
       66362880},
      {"DistilBERT, masked",
       R"({"model_type": "distilbert", "architectures": ["DistilBertForMaskedLM"], "dim": 768, "n_layers": 6,
          "n_heads": 12, "hidden_dim": 3072, "vocab_size": 30522, "max_position_embeddings": 512})",
       66985530},
      {"DistilBERT, two classes",
       R"({"model_type": "distilbert", "architectures": ["DistilBertForSequenceClassification"], "dim": 768,
          "n_layers": 6, "n_heads": 12, "hidden_dim": 3072, "vocab_size": 30522, "max_position_embeddings": 512})",
       66955010},
      {"nomic v1.5", R"({"model_type": "nomic_bert", "architectures": ["NomicBertModel"], "n_embd": 768, "n_layer": 12,
          "n_head": 12, "n_inner": 3072, "vocab_size": 30528, "activation_function": "swiglu", "qkv_proj_bias": false,
          "mlp_fc1_bias": false, "mlp_fc2_bias": false, "type_vocab_size": 2, "pad_vocab_size_multiple": 64,
          "auto_map": {"AutoModel": "modeling.NomicBertModel"}})",
       136731648},
      // tables 192036864 + 768 + 1536; 6 * (2365440 + 4722432) dense,
      // 6 * (2365440 + 6144 + 8 * 4718592 + 768) with experts
      {"nomic v2, experts",
       R"({"model_type": "nomic_bert", "architectures": ["NomicBertModel"], "n_embd": 768, "n_layer": 12,
          "n_head": 12, "n_inner": 3072, "vocab_size": 250048, "activation_function": "gelu", "type_vocab_size": 1,
          "num_experts": 8, "moe_top_k": 2, "moe_every_n_layers": 2})",
       475292928},
      {"gte base", encoder("new", "NewModel", {30528, 768, 12, 12, 3072}, R"("type_vocab_size": 0,
          "position_embedding_type": "rope", "auto_map": {"AutoModel": "modeling.NewModel"})"),
       136776192},
      {"gte multilingual", encoder("new", "NewModel", {250048, 768, 12, 12, 3072}, R"("type_vocab_size": 1,
          "position_embedding_type": "rope")"),
       305368320},
      {"gte multilingual reranker",
       encoder("new", "NewForSequenceClassification", {250048, 768, 12, 12, 3072}, R"("type_vocab_size": 1,
          "position_embedding_type": "rope", "id2label": {"0": "LABEL_0"})"),
       305959681},
      {"ModernBERT base", encoder("modernbert", "ModernBertModel", {50368, 768, 22, 12, 1152}), 149014272},
      {"ModernBERT base, masked", encoder("modernbert", "ModernBertForMaskedLM", {50368, 768, 22, 12, 1152}),
       149655232},
      {"ModernBERT large", encoder("modernbert", "ModernBertModel", {50368, 1024, 28, 16, 2624}), 394781696},
  }));
  check_row(row);
}

TEST_CASE("encoders: DeBERTa has its published parameters in all three versions", "[encoders]") {
  const auto row = GENERATE(values<Row>({
      {"base", encoder("deberta", "DebertaModel", {50265, 768, 12, 12, 3072}, R"("relative_attention": true,
          "max_relative_positions": -1, "position_biased_input": false, "pos_att_type": "c2p|p2c",
          "type_vocab_size": 0)"),
       138601728},
      // a convolution of 3 over 1536 wide layers, its bias and norm: 7077888 + 1536 + 3072
      {"v2 xlarge", encoder("deberta-v2", "DebertaV2Model", {128100, 1536, 24, 24, 6144}, R"("relative_attention": true,
          "position_buckets": 256, "position_biased_input": false, "norm_rel_ebd": "layer_norm", "share_att_key": true,
          "pos_att_type": ["c2p", "p2c"], "conv_kernel_size": 3, "type_vocab_size": 0)"),
       884593152},
      {"v3 xsmall", deberta_v3({128100, 384, 12, 6, 1536}), 70682112},
      {"v3 small", deberta_v3({128100, 768, 6, 12, 3072}), 141304320},
      {"v3 base", deberta_v3({128100, 768, 12, 12, 3072}), 183831552},
      {"v3 large", deberta_v3({128100, 1024, 24, 16, 4096}), 434012160},
  }));
  check_row(row);
}

TEST_CASE("encoders: T5 and its heirs have their published parameters", "[encoders]") {
  const std::string whole = "T5ForConditionalGeneration";
  const T5Sizes xxl{32128, 4096, 64, 64, 10240, 24};
  const auto row = GENERATE_COPY(values<Row>({
      {"small", t5("t5", whole, {32128, 512, 64, 8, 2048, 6}, "relu", true), 60506624},
      {"base", t5("t5", whole, {32128, 768, 64, 12, 3072, 12}, "relu", true), 222903552},
      {"large", t5("t5", whole, {32128, 1024, 64, 16, 4096, 24}, "relu", true), 737668096},
      {"3b", t5("t5", whole, {32128, 1024, 128, 32, 16384, 24}, "relu", true), 2851598336},
      {"11b", t5("t5", whole, {32128, 1024, 128, 128, 65536, 24}, "relu", true), 11307321344},
      {"flan base", t5("t5", whole, {32128, 768, 64, 12, 2048, 12}, "gated-gelu", false), 247577856},
      {"flan large", t5("t5", whole, {32128, 1024, 64, 16, 2816, 24}, "gated-gelu", false), 783150080},
      {"flan xl", t5("t5", whole, {32128, 2048, 64, 32, 5120, 24}, "gated-gelu", false), 2849757184},
      {"flan xxl", t5("t5", whole, xxl, "gated-gelu", false), 11135332352},
      {"ul2", t5("t5", whole, {32128, 4096, 256, 16, 16384, 32}, "gated-silu", false), 19591209984},
      {"xxl encoder", t5("t5", "T5EncoderModel", xxl, "gated-gelu", false), 4762310656},
      {"mT5 small", t5("mt5", "MT5ForConditionalGeneration", {250112, 512, 64, 6, 1024, 8}, "gated-gelu", false),
       300176768},
      // 256384 * 4096 + 24 * (4 * 4096 * 4096 + 3 * 4096 * 10240 + 2 * 4096 + 32 * 64) + 4096
      {"UMT5 xxl encoder", t5("umt5", "UMT5EncoderModel", {256384, 4096, 64, 64, 10240, 24}, "gated-gelu", false),
       5680910336},
      {"UMT5 small", t5("umt5", "UMT5ForConditionalGeneration", {256384, 512, 64, 6, 1024, 8}, "gated-gelu", false),
       306601984},
  }));
  check_row(row);
}

TEST_CASE("encoders: BART, its heirs and Whisper have their published parameters", "[encoders]") {
  const std::string learned = R"("max_position_embeddings": 1024)";
  const auto row = GENERATE_COPY(values<Row>({
      {"BART base", stacks("bart", "BartModel", {50265, 768, 6, 6, 12, 3072}, learned), 139420416},
      {"BART large", stacks("bart", "BartForConditionalGeneration", {50265, 1024, 12, 12, 16, 4096}, learned),
       406291456},
      // 406291456 + 1024 * 1025 + 3 * 1025
      {"three classes",
       stacks("bart", "BartForSequenceClassification", {50265, 1024, 12, 12, 16, 4096},
              learned + R"(, "id2label": {"0": "", "1": "", "2": ""})"),
       407344131},
      {"mBART-50", stacks("mbart", "MBartForConditionalGeneration", {250054, 1024, 12, 12, 16, 4096}, learned),
       610879488},
      // with both tables of sines, 512 * 1024 each, which are weights
      {"Pegasus large",
       stacks("pegasus", "PegasusForConditionalGeneration", {96103, 1024, 16, 16, 16, 4096},
              R"("max_position_embeddings": 512)"),
       569748480},
      {"Marian", stacks("marian", "MarianMTModel", {58101, 512, 6, 6, 8, 2048}, R"("max_position_embeddings": 512)"),
       74410496},
      {"M2M-100 418M", stacks("m2m_100", "M2M100ForConditionalGeneration", {128112, 1024, 12, 12, 16, 4096}, learned),
       483905536},
      {"NLLB 600M", stacks("m2m_100", "M2M100ForConditionalGeneration", {256206, 1024, 12, 12, 16, 4096}, learned),
       615073792},
      {"Blenderbot 400M",
       stacks("blenderbot", "BlenderbotForConditionalGeneration", {8008, 1280, 2, 12, 32, 5120},
              R"("max_position_embeddings": 128)"),
       364802560},
      {"Blenderbot small",
       stacks("blenderbot-small", "BlenderbotSmallForConditionalGeneration", {54944, 512, 8, 8, 16, 2048},
              R"("max_position_embeddings": 512)"),
       87508992},
      {"Whisper tiny", whisper({51865, 384, 4, 4, 6, 1536}), 37760640},
      {"Whisper base", whisper({51865, 512, 6, 6, 8, 2048}), 72593920},
      {"Whisper small", whisper({51865, 768, 12, 12, 12, 3072}), 241734912},
      {"Whisper medium", whisper({51865, 1024, 24, 24, 16, 4096}), 763857920},
      {"Whisper large v2", whisper({51865, 1280, 32, 32, 20, 5120}), 1543304960},
      {"Whisper large v3", whisper({51866, 1280, 32, 32, 20, 5120}, 128), 1543490560},
      {"Whisper large v3 turbo", whisper({51866, 1280, 32, 4, 20, 5120}, 128), 808878080},
      {"two decoder layers", whisper({51866, 1280, 32, 2, 20, 5120}, 128), 756405760},
  }));
  check_row(row);
}

TEST_CASE("encoders: image-text encoders have their published parameters", "[encoders]") {
  const std::string projection768 = R"("projection_dim": 768)";
  const std::string l14 = tower(kVisionL, image(224, 14));
  const auto row = GENERATE_COPY(values<Row>({
      {"CLIP B/32, all defaults", pair("clip", "CLIPModel", "{}", "{}"), 151277313},
      {"CLIP L/14", pair("clip", "CLIPModel", tower(kClipTextL), l14, projection768), 427616513},
      {"CLIP L/14 at 336", pair("clip", "CLIPModel", tower(kClipTextL), tower(kVisionL, image(336, 14)), projection768),
       427944193},
      {"CLIP L text", clip_text("CLIPTextModel", kClipTextL, 768), 123060480},
      {"CLIP L text, projected", clip_text("CLIPTextModelWithProjection", kClipTextL, 768), 123650304},  // + 768 * 768
      {"bigG text, projected", clip_text("CLIPTextModelWithProjection", {1280, 32, 20, 5120}, 1280), 694659840},
      {"H text, 23 layers", clip_text("CLIPTextModel", {1024, 23, 16, 4096}, 512), 340387840},
      {"CLIP L vision", R"({"model_type": "clip_vision_model", "architectures": ["CLIPVisionModel"], )" + l14.substr(1),
       303179776},
      {"CLIP H vision, projected",
       R"({"model_type": "clip_vision_model", "architectures": ["CLIPVisionModelWithProjection"],
          "projection_dim": 1024, )" +
           tower({1280, 32, 16, 5120}, image(224, 14)).substr(1),
       632076800},
      // tower, projection of 1024 x 768, 20 concepts of 768 and their weights
      {"safety checker", pair("clip", "StableDiffusionSafetyChecker", tower(kClipTextL), l14, projection768),
       303179776 + 786432 + 15360 + 20},
      {"Chinese CLIP B/16",
       pair("chinese_clip", "ChineseCLIPModel", tower(kVisionB, R"("vocab_size": 21128)"),
            tower(kVisionB, image(224, 16))),
       188262913},
      {"SigLIP B/16, all defaults",
       pair("siglip", "SiglipModel", R"({"model_type": "siglip_text_model"})",
            R"({"model_type": "siglip_vision_model"})"),
       203155970},
      {"SigLIP so400m", pair("siglip", "SiglipModel", tower(kSo400m), tower(kSo400m, image(384, 14))), 877960498},
      // patches 678528, positions 839808, 27 * 15239504, a norm of 2304, the head 15238352
      {"SigLIP so400m vision", R"({"model_type": "siglip_vision_model", )" + tower(kSo400m, image(384, 14)).substr(1),
       428225600},
      {"SigLIP 2, any resolution",
       pair("siglip2", "Siglip2Model", R"({"vocab_size": 256000})", R"({"model_type": "siglip2_vision_model"})"),
       375234050},
      // the output matrix is stored apart from the table
      {"BLIP captions", pair("blip", "BlipForConditionalGeneration", R"({"num_attention_heads": 12})", "{}"),
       247414076},
  }));
  check_row(row);
}

TEST_CASE("encoders: speech encoders have their published parameters", "[encoders]") {
  const std::string everywhere = R"("feat_extract_norm": "layer", "conv_bias": true, "do_stable_layer_norm": true)";
  const auto row = GENERATE_COPY(values<Row>({
      {"base", speech("wav2vec2", "Wav2Vec2Model", kVisionB), 94371712},
      {"base, pretraining", speech("wav2vec2", "Wav2Vec2ForPreTraining", kVisionB), 95044608},
      {"large, 32 letters", speech("wav2vec2", "Wav2Vec2ForCTC", kVisionL), 315461792},
      // norms after six more convolutions, 1024 each, and seven biases of 512
      {"XLSR", speech("wav2vec2", "Wav2Vec2ForCTC", kVisionL, everywhere), 315461792 + 6 * 1024 + 7 * 512},
      {"MMS 1B, adapters",
       speech("wav2vec2", "Wav2Vec2Model", {1280, 48, 16, 5120}, everywhere + R"(, "adapter_attn_dim": 16)"),
       964845850 - 154 * 1281},
      {"HuBERT base", speech("hubert", "HubertModel", kVisionB), 94371712},
      // a gate of 8 x 64 + 8 and 12 scales a layer, 320 distances for 12 heads
      {"WavLM base", speech("wavlm", "WavLMModel", kVisionB), 94371712 + 12 * 532 + 3840},
  }));
  check_row(row);
}

TEST_CASE("encoders: FLOPs of one token are its products and its attention", "[encoders]") {
  const ModelConfig config = read_text(bert("Model", kBase));
  REQUIRE(config.network.parts.size() == 1);
  // 12 layers of 4 * 768^2 + 2 * 768 * 3072 products, two FLOPs each; scores and sums over 128 tokens, four a product.
  // The pooler runs once a text.
  const double products = 2.0 * 12 * (4 * 768 * 768 + 2 * 768 * 3072);
  const double attention = 4.0 * 12 * 768 * 128;
  CHECK(flops_of(config.network.parts[0], 128) / flop(1) == Approx(products + attention));
  // Masked: the transform and the table as head.
  const ModelConfig masked = read_text(bert("ForMaskedLM", kBase));
  CHECK(flops_of(masked.network.parts[0], 128) / flop(1) ==
        Approx(products + attention + 2.0 * (768 * 768 + 30522 * 768)));
}

TEST_CASE("encoders: layers that ALBERT shares are counted once and run twelve times", "[encoders]") {
  const ModelConfig config =
      read_text(encoder("albert", "AlbertModel", {30000, 768, 12, 12, 3072}, R"("embedding_size": 128)"));
  const double products = 2.0 * 12 * (4 * 768 * 768 + 2 * 768 * 3072) + 2.0 * 128 * 768;
  CHECK(flops_of(config.network.parts.at(0), 128) / flop(1) == Approx(products + 4.0 * 12 * 768 * 128));
}

TEST_CASE("encoders: experts are used by the tokens that choose them", "[encoders]") {
  const ModelConfig config = read_text(
      R"({"model_type": "nomic_bert", "architectures": ["NomicBertModel"], "n_embd": 64, "n_layer": 2, "n_head": 4,
          "n_inner": 256, "vocab_size": 100, "activation_function": "gelu", "type_vocab_size": 1, "num_experts": 8,
          "moe_top_k": 2})");
  // two attentions of 4 * 64^2; one dense MLP, and two of eight experts with a router of 8 x 64
  const double products = 2 * 4 * 64 * 64 + 2 * 64 * 256 + 2 * 2 * 64 * 256 + 8 * 64;
  CHECK(flops_of(config.network.parts.at(0), 10) / flop(1) == Approx(2 * products + 4.0 * 2 * 64 * 10));
}

TEST_CASE("encoders: an encoder-decoder has its table, its encoder and its decoder", "[encoders]") {
  const ModelConfig config =
      read_text(t5("t5", "T5ForConditionalGeneration", {32128, 512, 64, 8, 2048, 6}, "relu", true));
  REQUIRE(config.network.parts.size() == 3);
  const NetworkPart* table = find_part(config.network, "embedding");
  const NetworkPart* encoder = find_part(config.network, "encoder");
  const NetworkPart* decoder = find_part(config.network, "decoder");
  REQUIRE((table && encoder && decoder));
  CHECK(parameters(table->tensors) == 32128 * 512);
  // 6 layers of 4 * 512^2 + 2 * 512 * 2048 + 2 * 512, a table of 32 x 8 and a norm
  CHECK(parameters(encoder->tensors) == 6 * (4 * 262144 + 2 * 1048576 + 1024) + 256 + 512);
  CHECK(parameters(decoder->tensors) == 6 * (8 * 262144 + 2 * 1048576 + 1536) + 256 + 512);
  CHECK(decoder->attention.size() == 2);
  // The table is the head: 2 * 32128 * 512 for a token that is written.
  CHECK(flops_of(*table, 1) / flop(1) == Approx(2.0 * 32128 * 512));
}

TEST_CASE("encoders: Whisper's encoder hears 30 s at once", "[encoders]") {
  const ModelConfig config = read_text(whisper({51865, 384, 4, 4, 6, 1536}));
  const NetworkPart* encoder = find_part(config.network, "encoder");
  REQUIRE(encoder);
  CHECK(encoder->item == "30 s of audio");
  // 1500 positions through 4 layers; the first convolution makes 3000 frames of 80 bins
  const double layers = 2.0 * 1500 * 4 * (4 * 384 * 384 + 2 * 384 * 1536);
  const double convolutions = 2.0 * 3000 * 384 * 80 * 3 + 2.0 * 1500 * 384 * 384 * 3;
  CHECK(flops_of(*encoder, 0) / flop(1) == Approx(layers + convolutions + 4.0 * 4 * 384 * 1500 * 1500));
}

TEST_CASE("encoders: a vision tower sees its patches and a class token", "[encoders]") {
  const ModelConfig config = read_text(R"({"model_type": "clip_vision_model", "architectures": ["CLIPVisionModel"], )" +
                                       tower(kVisionL, image(336, 14)).substr(1));
  const NetworkPart& part = config.network.parts.at(0);
  CHECK(part.name == "vision_tower");
  CHECK(part.item == "image of 336 x 336");
  const double layers = 2.0 * 577 * 24 * (4 * 1024 * 1024 + 2 * 1024 * 4096);
  const double patches = 2.0 * 576 * 1024 * 3 * 14 * 14;
  CHECK(flops_of(part, 0) / flop(1) == Approx(layers + patches + 4.0 * 24 * 1024 * 577 * 577));
}

TEST_CASE("encoders: a speech encoder's convolutions shorten 30 s to 1499 positions", "[encoders]") {
  const ModelConfig config = read_text(speech("wav2vec2", "Wav2Vec2Model", kVisionB));
  // 480000 samples: (480000 - 10) / 5 + 1 = 95999, then 47999, 23999, 11999, 5999, 2999, 1499
  for (const TensorGroup& tensor : config.network.parts.at(0).tensors) {
    if (tensor.name == "convolution0") CHECK(tensor.uses == Approx(95999));
    if (tensor.name == "convolution6") CHECK(tensor.uses == Approx(1499));
    if (tensor.name == "feature_projection") CHECK(tensor.uses == Approx(1499));
  }
}

TEST_CASE("encoders: a text encoder of a pipeline carries its component's name", "[encoders]") {
  const ModelConfig config = read_text(
      R"({"_class_name": "SomePipeline", "text_encoder": )" + clip_text("CLIPTextModel", kClipTextL, 768) +
      R"(, "text_encoder_2": )" + t5("t5", "T5EncoderModel", {32128, 64, 16, 4, 128, 2}, "gated-gelu", false) + "}");
  REQUIRE(config.network.parts.size() == 2);
  CHECK(config.network.parts[0].name == "text_encoder");
  CHECK(config.network.parts[1].name == "text_encoder_2");
}

TEST_CASE("encoders: what cannot be read says why", "[encoders]") {
  struct Bad {
    const char* config;
    const char* why;
  };
  const auto row = GENERATE(values<Bad>({
      {R"({"model_type": "bert", "hidden_size": 384, "num_attention_heads": 12, "num_hidden_layers": 12})",
       "lacks intermediate_size"},
      {R"({"architectures": ["T5EncoderModel"], "d_model": 512})", "lacks num_layers"},
      {R"({"model_type": "whisper"})", "lacks d_model"},
      {R"({"model_type": "bart", "architectures": ["BartForCausalLM"], "d_model": 64})", "lacks encoder_layers"},
      {R"({"model_type": "blip", "architectures": ["BlipForQuestionAnswering"]})", "class 'BlipForQuestionAnswering'"},
  }));
  CAPTURE(row.config);
  const ModelConfig config = read_text(row.config);
  CHECK(config.network.parts.empty());
  std::string all;
  for (const std::string& why : config.not_modelled) all += why + "; ";
  CAPTURE(all);
  CHECK(all.find(row.why) != std::string::npos);
}

TEST_CASE("encoders: a class of another name keeps the layers and says what is left out", "[encoders]") {
  const ModelConfig config = read_text(encoder("bert", "ColumnsOfBert", kBase));
  CHECK(parameters(config.network) == 109482240);
  REQUIRE(config.not_modelled.size() == 1);
  CHECK(config.not_modelled[0] == "the head of class 'ColumnsOfBert'");
  const ModelConfig own_code =
      read_text(encoder("bert", "OtherBertModel", kBase, R"("auto_map": {"AutoModel": "x.y"})"));
  CHECK(own_code.network.parts.empty());
  CHECK(own_code.not_modelled.size() == 1);
}

TEST_CASE("encoders: numbers that cannot be are refused", "[encoders]") {
  const std::string bad =
      GENERATE(bert("Model", {30522, 768, 12, 7, 3072}), bert("Model", {30522, 0, 12, 12, 3072}),
               bert("Model", {1000000000, 1000000000, 1000000000, 1, 1000000000}),
               encoder("albert", "AlbertModel", {1, 1, 1, 1, 1},
                       R"("num_hidden_groups": 1000000000, "inner_group_num": 1000000000)"),
               t5("t5", "T5EncoderModel", {1, 1000000000, 1000000000, 1000000000, 1, 1000000000}, "relu", true),
               pair("clip", "CLIPModel", "{}", R"({"image_size": 16, "patch_size": 32})"),
               pair("clip", "CLIPModel", "{}",
                    R"({"image_size": 1000000000, "patch_size": 1000000000, "num_channels": 1000000000})"),
               pair("siglip", "SiglipModel", "{}", R"({"patch_size": 0})"),
               speech("wav2vec2", "Wav2Vec2Model", kVisionB, R"("conv_stride": [0, 1])"),
               speech("wav2vec2", "Wav2Vec2Model", {1000000000, 1, 1, 1}, R"("num_conv_pos_embeddings": 1000000000)"));
  CAPTURE(bad);
  CHECK_THROWS_AS(read_text(bad), InputError);
}

}  // namespace gpuplan
