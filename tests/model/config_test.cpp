#include <gpuplan/model/config.hpp>

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/units.hpp>
#include <gpuplan/model/kv_cache.hpp>
#include <gpuplan/model/operators.hpp>
#include <gpuplan/model/scheme.hpp>
#include <gpuplan/model/tensors.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

std::string fixture(const std::string& name) {
  return std::string(GPUPLAN_SOURCE_DIR) + "/tests/data/configs/" + name + ".json";
}

ModelConfig read_text(std::string_view text) {
  return read_model_config(parse_json(text, "config.json", kMaxDocumentNodes, NonFinite::accepted), "config.json");
}

/// A small Llama with more keys, or the same again in other words: `"hidden_size": NaN`.
std::string llama(const std::string& more = "", const std::string& without = "") {
  const std::pair<std::string, std::string> keys[] = {
      {"model_type", R"("llama")"},     {"architectures", R"(["LlamaForCausalLM"])"},
      {"num_hidden_layers", "2"},       {"hidden_size", "64"},
      {"num_attention_heads", "8"},     {"num_key_value_heads", "2"},
      {"intermediate_size", "128"},     {"vocab_size", "100"},
      {"tie_word_embeddings", "false"},
  };
  std::string text = "{\n";
  for (const auto& [key, value] : keys) {
    if (key != without) text += "\"" + key + "\": " + value + ",\n";
  }
  return text + (more.empty() ? "\"last\": 0" : more) + "\n}";
}

std::vector<Problem> problems_of(const std::function<void()>& what) {
  try {
    what();
  } catch (const InputError& error) {
    return error.problems();
  }
  return {};
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

bool warns(const ModelConfig& config, std::string_view id) {
  for (const Problem& p : config.warnings) {
    if (p.id == id) return true;
  }
  return false;
}

double kv(const Architecture& a) { return kv_bytes_per_token(a, bytes(2)) / bytes(1); }

}  // namespace

TEST_CASE("config: a decoder with its type, class and storage", "[model]") {
  const ModelConfig config = read_text(llama(R"("torch_dtype": "bfloat16")"));
  REQUIRE(config.network.decoder);
  CHECK(config.model_type == "llama");
  CHECK(config.architecture_class == "LlamaForCausalLM");
  CHECK(config.network.decoder->family == "llama");
  CHECK(config.torch_dtype == "bfloat16");
  CHECK(config.weights_scheme == "bf16");
  CHECK(config.network.decoder->native_format == "bf16");
  CHECK(config.quantization.empty());
  CHECK(config.not_modelled.empty());
  // 2 tables of 100 x 64; a layer: q and output 64 x 64, k and v 16 x 64, 3 x 64 x 128, two norms; a norm
  CHECK(parameters(config.network) == 2 * 6400 + 2 * (2 * 4096 + 2 * 1024 + 24576 + 128) + 64);
}

TEST_CASE("config: the text part of a wrapper is read, the rest is named", "[model]") {
  struct Row {
    const char* file;
    const char* text_part;
    std::int64_t parameters;  // of the text model alone
    double kv_per_token;
    const char* not_modelled;
  };
  const auto row = GENERATE(values<Row>({
      {"wrapper_text_config", "text_config", 1720574976, 28 * 2 * 8 * 128 * 2, ""},
      {"wrapper_llm_config", "llm_config", 7615616512, 28 * 2 * 4 * 128 * 2, "lacks num_attention_heads"},
      {"wrapper_language_config", "language_config", 15706484224, 27 * 576 * 2, "vision tower"},
      {"wrapper_left_out", "text_config", 3880263168, 34 * 2 * 4 * 256 * 2, ""},
  }));
  CAPTURE(row.file);
  const ModelConfig config = read_model_config_file(fixture(row.file));
  REQUIRE(config.network.decoder);
  CHECK(config.text_part == row.text_part);
  CHECK(parameters(find_part(config.network, kLanguageModel)->tensors) == row.parameters);
  CHECK(kv(*config.network.decoder) == row.kv_per_token);
  const bool whole = std::string_view(row.not_modelled).empty();
  REQUIRE(config.not_modelled.size() == (whole ? 0 : 1));
  CHECK(config.network.parts.size() == (whole ? 3 : 1));
  if (!whole) CHECK(has(config.not_modelled[0], row.not_modelled));
}

TEST_CASE("config: a text part that leaves numbers out gets the format's defaults and says so", "[model]") {
  const ModelConfig config = read_model_config_file(fixture("wrapper_left_out"));
  REQUIRE(config.network.decoder);
  CHECK(config.network.decoder->heads == 8);
  CHECK(config.network.decoder->vocab == 262208);
  CHECK(config.network.decoder->tied_embeddings);
  CHECK(config.network.decoder->windowed_layers == 29);  // 34 less every sixth
  CHECK(config.warnings.size() == 4);                    // vocabulary, heads, KV heads, head_dim
  CHECK(config.weights_scheme == "bf16");
}

TEST_CASE("config: other networks are never taken for a dense decoder", "[model]") {
  struct Row {
    const char* text;
    const char* why;
  };
  const auto row = GENERATE(values<Row>({
      {R"({"model_type": "big_bird", "hidden_size": 384, "num_attention_heads": 12, "num_hidden_layers": 12})",
       "encoder-only"},
      {R"({"architectures": ["LongT5EncoderModel"], "d_model": 512})", "encoder-decoder"},
      {R"({"model_type": "t5gemma"})", "encoder-decoder"},
      {R"({"model_type": "align", "text_config": {"model_type": "align_text_model"}})", "image"},
      {R"({"model_type": "bert", "hidden_size": 384, "num_attention_heads": 12, "num_hidden_layers": 12})",
       "lacks intermediate_size"},
      {R"({"model_type": "mamba"})", "num_hidden_layers"},
      {R"({"model_type": "zamba2"})", "hybrid of attention and state-space"},
      {R"({"model_type": "nemotron_h", "architectures": ["NemotronHForCausalLM"]})", "hybrid_override_pattern"},
      {R"({"model_type": "nemotron-nas", "architectures": ["DeciLMForCausalLM"]})", "num_hidden_layers"},
      {R"({"model_type": "mllama", "text_config": {"model_type": "mllama_text_model"}})", "lacks num_hidden_layers"},
      {R"({"_class_name": "VQModel"})", "diffusion component 'VQModel'"},
      {R"({"model_type": "brand_new", "hidden_size": 64})", "model type 'brand_new'"},
      {R"({"architectures": ["LlamaForSomethingElse"], "hidden_size": 64})", "architecture 'LlamaForSomethingElse'"},
      {R"({"model_type": "new_wrapper", "text_config": {"model_type": "new_text"}})",
       "text model: model type 'new_text'"},
      {R"({"hidden_size": 64, "num_hidden_layers": 2})", "names no model_type"},
      {R"({})", "empty"},
  }));
  CAPTURE(row.text);
  const ModelConfig config = read_text(row.text);
  CHECK_FALSE(config.network.decoder);
  CHECK(parameters(config.network) == 0);
  REQUIRE_FALSE(config.not_modelled.empty());
  CHECK(has(config.not_modelled[0], row.why));
}

TEST_CASE("config: a known class of an unknown type is not that class", "[model]") {
  const ModelConfig config = read_text(llama(R"("model_type": "new3v")", "model_type"));
  CHECK_FALSE(config.network.decoder);
  REQUIRE(config.not_modelled.size() == 1);
  CHECK(config.not_modelled[0] == "model type 'new3v' of class 'LlamaForCausalLM'");
}

TEST_CASE("config: where type and class name two families, the class is read with a warning", "[model]") {
  const ModelConfig config = read_text(llama(R"("model_type": "mistral")", "model_type"));
  REQUIRE(config.network.decoder);
  CHECK(config.network.decoder->family == "llama");
  CHECK(config.network.decoder->windowed_layers == 0);
  CHECK(warns(config, "model.two_types"));
}

TEST_CASE("config: features of other networks in a known type are not read over", "[model]") {
  struct Row {
    const char* more;
    const char* why;
  };
  const auto row = GENERATE(values<Row>({
      {R"("num_local_experts": 8)", "experts"},
      {R"("n_routed_experts": 64)", "experts"},
      {R"("kv_lora_rank": 512)", "latent attention"},
      {R"("block_configs": [{"attention": {"no_op": true}}, {}])", "each layer"},
      {R"("layer_types": ["full_attention", "linear_attention"])", "linear_attention"},
      {R"("mamba_d_state": 128)", "state-space"},
      {R"("add_cross_attention": true)", "cross-attention"},
      {R"("is_encoder_decoder": true)", "encoder"},
  }));
  CAPTURE(row.more);
  const ModelConfig config = read_text(llama(row.more));
  CHECK_FALSE(config.network.decoder);
  REQUIRE_FALSE(config.not_modelled.empty());
  CHECK(has(config.not_modelled[0], row.why));
}

TEST_CASE("config: a hybrid inside a wrapper is read", "[model]") {
  const ModelConfig config = read_model_config_file(fixture("wrapper_hybrid"));
  REQUIRE(config.network.decoder);
  CHECK(config.text_part == "text_config");
  CHECK(attention_layers(*config.network.decoder) == 1);
  CHECK(state_bytes(*config.network.decoder) > bytes(0));
  CHECK_FALSE(read_model_config_file(fixture("encoder_decoder")).network.decoder);
}

TEST_CASE("config: null is the format's own default", "[model]") {
  const ModelConfig config = read_model_config_file(fixture("null_numbers"));
  REQUIRE(config.network.decoder);
  CHECK(config.network.decoder->kv_heads == 32);
  CHECK(config.network.decoder->head_dim == 128);
  CHECK(parameters(config.network) == 6738415616);
  CHECK(config.warnings.empty());
}

TEST_CASE("config: a key that is absent is assumed with a warning, or makes the network not modelled", "[model]") {
  const ModelConfig config = read_text(llama("", "num_key_value_heads"));
  REQUIRE(config.network.decoder);
  CHECK(config.network.decoder->kv_heads == 8);
  CHECK(warns(config, "model.assumed"));
  const ModelConfig without = read_text(llama("", "hidden_size"));
  CHECK_FALSE(without.network.decoder);
  REQUIRE(without.not_modelled.size() == 1);
  CHECK(has(without.not_modelled[0], "hidden_size"));
  const ModelConfig cut_down = read_text(llama("", "model_type"));
  CHECK(cut_down.network.decoder);
  CHECK(warns(cut_down, "model.partial_config"));
  // Multi-query or not cannot be told from what is left of a Falcon.
  CHECK_FALSE(
      read_text(
          R"({"architectures": ["RWForCausalLM"], "hidden_size": 64, "n_head": 4, "n_layer": 2, "vocab_size": 9})")
          .network.decoder);
}

TEST_CASE("config: a stated head_dim wins over hidden / heads", "[model]") {
  CHECK(read_text(llama()).network.decoder->head_dim == 8);
  CHECK(read_text(llama(R"("head_dim": 32)")).network.decoder->head_dim == 32);
  const auto problems = problems_of([] { read_text(llama(R"("num_attention_heads": 6)", "num_attention_heads")); });
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == "input.bad_value");
  CHECK(
      read_text(llama("\"num_attention_heads\": 6, \"head_dim\": 16", "num_attention_heads")).network.decoder->heads ==
      6);
}

TEST_CASE("config: keys and values of different width", "[model]") {
  const ModelConfig config = read_model_config_file(fixture("value_width"));
  REQUIRE(config.network.decoder);
  const Architecture& a = *config.network.decoder;
  CHECK(a.qk_dim() == 192);
  CHECK(a.value_dim() == 128);
  CHECK(kv(a) == 2 * 4 * (192 + 128) * 2);
  // a layer: q 8 x 192, k 4 x 192, v 4 x 128 and output 8 x 128, all times 1024, with biases; MLP; two norms
  const std::int64_t attention = 1024 * (8 * 192 + 4 * 192 + 4 * 128 + 8 * 128) + (8 * 192 + 4 * 192 + 4 * 128 + 1024);
  CHECK(parameters(config.network) == 2 * 1000 * 1024 + 2 * (attention + 3 * 1024 * 2048 + 2 * 1024) + 1024);
  const StepShape step{.phase = Phase::decode, .sequences = 1, .new_tokens = 1, .context_tokens = 10, .logit_rows = 1};
  for (const Operator& op : operators_of(a, *parse_scheme("bf16").value, **parse_kv_format("bf16").value, step, {})) {
    if (op.id == "attention.qkv") CHECK(op.flops / flop(1) == 2.0 * 1024 * (8 * 192 + 4 * (192 + 128)));
    if (op.id == "attention.core") CHECK(op.flops / flop(1) == 2.0 * 8 * (192 + 128) * 11);
  }
}

TEST_CASE("config: a norm on the embeddings and norms without weights", "[model]") {
  Architecture a = *read_text(llama()).network.decoder;
  const std::int64_t plain = parameters(tensors_of(a));
  a.embedding_norm = true;
  CHECK(parameters(tensors_of(a)) == plain + 64);
  a.norm_weights = false;
  CHECK(parameters(tensors_of(a)) == plain - 5 * 64);
}

TEST_CASE("config: a class without a language head has none", "[model]") {
  const ModelConfig base = read_text(llama(R"("architectures": ["LlamaModel"])", "architectures"));
  REQUIRE(base.network.decoder);
  CHECK(parameters(base.network) == parameters(read_text(llama()).network) - 6400);
  CHECK(warns(base, "model.no_head"));
  const ModelConfig reward =
      read_text(llama(R"("architectures": ["LlamaForSequenceClassification"])", "architectures"));
  REQUIRE(reward.network.decoder);
  CHECK(parameters(reward.network) == parameters(base.network));
  CHECK(has(reward.not_modelled.at(0), "head of class"));
}

TEST_CASE("config: windows as the formats say them", "[model]") {
  struct Row {
    const char* type;
    const char* more;
    std::int64_t window;
    std::int64_t layers;
  };
  const auto row = GENERATE(values<Row>({
      {"mistral", R"("sliding_window": 32)", 32, 8},
      {"mistral", R"("sliding_window": null)", 0, 0},
      {"mistral", R"("x": 0)", 4096, 8},
      {"qwen2", R"("use_sliding_window": false, "sliding_window": 32, "max_window_layers": 2)", 0, 0},
      {"qwen2", R"("use_sliding_window": true, "sliding_window": 32, "max_window_layers": 2)", 32, 6},
      {"gemma2", R"("sliding_window": 32)", 32, 4},
      {"cohere2", R"("sliding_window": 32)", 32, 6},
      {"olmo3", R"("sliding_window": 32, "layer_types": ["sliding_attention", "full_attention", "full_attention",
         "full_attention", "full_attention", "full_attention", "full_attention", "sliding_attention"])",
       32, 2},
  }));
  CAPTURE(row.type, row.more);
  const std::string text = std::string(R"({"model_type": ")") + row.type +
                           R"(", "num_hidden_layers": 8, "hidden_size": 64, "num_attention_heads": 8,
                              "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100, )" +
                           row.more + "}";
  const ModelConfig config = read_text(text);
  REQUIRE(config.network.decoder);
  CHECK(config.network.decoder->window == row.window);
  CHECK(config.network.decoder->windowed_layers == row.layers);
}

TEST_CASE("config: numbers that cannot be are refused at their key", "[model]") {
  for (const char* value :
       {"NaN", "Infinity", "-Infinity", "-4096", "0", "1e300", "true", "64.5", "\"64\"", "[64]", "{}"}) {
    CAPTURE(value);
    const std::string text = llama(std::string("\"hidden_size\": ") + value, "hidden_size");
    const auto problems = problems_of([&] { read_text(text); });
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].id == "input.bad_value");
    CHECK(has(problems[0].message, "hidden_size"));
    CHECK(has(problems[0].expected, "whole number"));
    REQUIRE(problems[0].place);
    CHECK(problems[0].place->line == 10);
    CHECK(problems[0].place->column == 16);
    CHECK(has(problems[0].excerpt, value));
  }
  CHECK(read_text(llama(R"("hidden_size": 64.0)", "hidden_size")).network.decoder->hidden == 64);
}

TEST_CASE("config: no heads, no layers and negative ones are refused at their key", "[model]") {
  for (const char* key : {"num_attention_heads", "num_key_value_heads", "num_hidden_layers", "vocab_size"}) {
    for (const char* value : {"0", "-1", "-32", "NaN", "1e-9"}) {
      CAPTURE(key, value);
      const auto problems =
          problems_of([&] { read_text(llama("\"" + std::string(key) + "\": " + std::string(value), key)); });
      REQUIRE(problems.size() == 1);
      CHECK(problems[0].id == "input.bad_value");
      CHECK(has(problems[0].message, key));
      CHECK(problems[0].place.has_value());
    }
  }
}

TEST_CASE("config: a key that stands twice is refused, not read as the last", "[model]") {
  const auto problems = problems_of([] { read_text(llama(R"("hidden_size": 128)")); });
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == "input.duplicate_key");
  CHECK(has(problems[0].message, "hidden_size"));
}

TEST_CASE("config: lists in lists without end are refused", "[model]") {
  for (const int depth : {200, 100000}) {
    const auto levels = static_cast<std::size_t>(depth);
    const std::string deep = "\"x\": " + std::string(levels, '[') + std::string(levels, ']');
    const auto problems = problems_of([&] { read_text(llama(deep)); });
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].id == "input.too_deep");
  }
  CHECK(read_text(llama(R"("x": )" + std::string(100, '[') + std::string(100, ']'))).network.decoder);
}

TEST_CASE("config: each layer with a shape of its own", "[model]") {
  // Heads of 8: one layer with 8 heads and 2 KV heads and an MLP of 2 * 2 * 64 / 3 = 85, rounded up to 256; one without
  // attention, whose MLP is a matrix; one with attention alone, on 8 KV heads.
  const ModelConfig config = read_text(R"({"model_type": "nemotron-nas", "architectures": ["DeciLMForCausalLM"],
      "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 8, "vocab_size": 100,
      "num_key_value_heads": null, "tie_word_embeddings": false, "block_configs": [
        {"attention": {"n_heads_in_group": 4}, "ffn": {"ffn_mult": 2.0}},
        {"attention": {"no_op": true, "n_heads_in_group": null}, "ffn": {"replace_with_linear": true, "ffn_mult": null}},
        {"attention": {"n_heads_in_group": 1}, "ffn": {"no_op": true, "ffn_mult": null}}]})");
  REQUIRE(config.network.decoder);
  const std::int64_t first = 2 * 64 * 64 + 2 * 16 * 64 + 3 * 64 * 256 + 2 * 64;
  const std::int64_t second = 64 * 64 + 64;
  const std::int64_t third = 4 * 64 * 64 + 64;
  CHECK(parameters(config.network) == 2 * 6400 + first + second + third + 64);
  CHECK(kv(*config.network.decoder) == 2 * 2 * 8 * 2 + 2 * 8 * 8 * 2);
  const auto problems = problems_of([] {
    read_text(R"({"model_type": "nemotron-nas", "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 8,
                  "vocab_size": 100, "block_configs": [{"attention": {}, "ffn": {"ffn_mult": 1}}]})");
  });
  REQUIRE(problems.size() == 1);
  CHECK(has(problems[0].message, "block_configs"));
}

TEST_CASE("config: contradicting and oversized numbers are refused too", "[model]") {
  for (const char* more : {R"("num_key_value_heads": 3)", R"("num_key_value_heads": 1000000000)"}) {
    CAPTURE(more);
    const auto problems = problems_of([&] { read_text(llama(more, "num_key_value_heads")); });
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].id == "model.bad_architecture");
    CHECK(problems[0].place->line == 1);
  }
  const auto problems =
      problems_of([] { read_text(llama(R"("num_hidden_layers": 1000000000)", "num_hidden_layers")); });
  CHECK(problems.size() == 1);
}

TEST_CASE("config: NaN and Infinity in keys that do not matter are tolerated", "[model]") {
  const ModelConfig config = read_text(llama(R"("time_step_limit": [0.0, Infinity], "x": NaN)"));
  CHECK(config.network.decoder);
}

TEST_CASE("config: quantizations in the names of our schemes", "[model]") {
  struct Row {
    const char* quantization;
    const char* scheme;
    const char* warning;  // or empty
  };
  const auto row = GENERATE(values<Row>({
      {R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": false})", "int4-gptq-g128", ""},
      {R"({"quant_method": "gptq", "bits": 2, "group_size": 128})", "int2-gptq-g128", ""},
      {R"({"quant_method": "gptq", "bits": 4, "group_size": -1, "desc_act": true})", "int4-gptq-channel", ""},
      {R"({"quant_method": "gptq", "bits": 17, "group_size": 128})", "", "model.unknown_quantization"},
      {R"({"quant_method": "auto-round", "bits": 4, "group_size": 128, "packing_format": "auto_round:auto_gptq"})",
       "int4-autoround-g128", ""},
      {R"({"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4, "group_size": 64}}})",
       "hqq-4bit-g64", ""},
      {R"({"quant_method": "exl2", "bits": 4.25, "head_bits": 8})", "exl2:4.25-h8", ""},
      {R"({"group_size": 64, "bits": 4, "mode": "affine"})", "mlx-4bit-g64", ""},
      {R"({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": true})", "int4-awq-g128", ""},
      {R"({"quant_method": "awq", "w_bit": 4, "q_group_size": 128})", "int4-awq-g128", ""},
      {R"({"quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_quant_type": "nf4",
           "bnb_4bit_use_double_quant": true})",
       "nf4", ""},
      {R"({"load_in_4bit": true, "load_in_8bit": false, "bnb_4bit_quant_type": "nf4"})", "nf4-sq", ""},
      {R"({"load_in_4bit": true, "bnb_4bit_quant_type": "fp4"})", "fp4-bnb-sq", ""},
      {R"({"load_in_4bit": true, "bnb_4bit_quant_type": "int4"})", "", "model.unknown_quantization"},
      {R"({"quant_method": "bitsandbytes", "load_in_8bit": true})", "llm-int8", ""},
      {R"({"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]})", "fp8-block", ""},
      {R"({"quant_method": "fp8", "activation_scheme": "static"})", "fp8", ""},
      {R"({"quant_method": "fp8", "weight_block_size": [1, 32]})", "", "model.unknown_quantization"},
      {R"({"quant_method": "fbgemm_fp8"})", "fp8-channel", ""},
      {R"({"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn"]})", "mxfp4", ""},
      {R"({"quant_method": "modelopt", "quant_algo": "NVFP4"})", "nvfp4", ""},
      {R"({"quant_algo": "FP8", "kv_cache_scheme": "FP8", "ignore": ["lm_head"]})", "fp8", ""},
      {R"({"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head", "model.layers.0.self_attn*"]})",
       "nvfp4", ""},
      {R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"})", "", "model.unknown_quantization"},
      {R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float",
           "strategy": "tensor"}, "input_activations": {"num_bits": 8, "type": "float"}}}})",
       "fp8", ""},
      {R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "int",
           "strategy": "channel"}, "input_activations": {"num_bits": 8, "type": "int"}}}})",
       "int8", ""},
      {R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "int",
           "strategy": "channel"}, "input_activations": null}}})",
       "int8-wo", ""},
      {R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int",
           "strategy": "group", "group_size": 128, "symmetric": false}}}})",
       "int4-awq-g128", ""},
      {R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "float",
           "strategy": "tensor_group", "group_size": 16}}}})",
       "nvfp4", ""},
      {R"({"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": {"num_bits": 8, "type": "float"}},
           "b": {"weights": {"num_bits": 4, "type": "float", "group_size": 16}}}})",
       "", "model.unknown_quantization"},
      {R"({"quant_method": "compressed-tensors", "config_groups": {"a": {"targets": ["re:.*self_attn.*"], "weights":
           {"num_bits": 8, "type": "float", "strategy": "channel"}}, "b": {"targets": ["Linear"], "weights": {"num_bits": 4,
           "type": "int", "strategy": "group", "group_size": 32}}}})",
       "int4-g32", ""},
      {R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {
           "model.layers.0.mlp.down_proj": {"quant_algo": "NVFP4", "group_size": 16},
           "model.layers.0.mlp.up_proj": {"quant_algo": "NVFP4", "group_size": 16},
           "model.layers.0.self_attn.o_proj": {"quant_algo": "FP8"}}})",
       "nvfp4", ""},
      {R"({"quant_method": "compressed-tensors"})", "", "model.unknown_quantization"},
      {R"({"quant_method": "aqlm"})", "", "model.unknown_quantization"},
      {R"({"surprise": 1})", "bf16", "model.unknown_quantization"},
  }));
  CAPTURE(row.quantization);
  const ModelConfig config =
      read_text(llama(R"("torch_dtype": "bfloat16", "quantization_config": )" + std::string(row.quantization)));
  CHECK(config.network.decoder);
  CHECK(config.weights_scheme == row.scheme);
  if (std::string_view(row.warning).empty()) {
    CHECK(config.warnings.empty());
  } else {
    CHECK(warns(config, row.warning));
  }
}

TEST_CASE("config: a quantization that only a file beside the config states", "[model]") {
  struct Row {
    const char* name;
    const char* text;
    const char* scheme;
    const char* kv_format;
  };
  const auto row = GENERATE(values<Row>({
      {"hf_quant_config.json", R"({"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}})", "fp8",
       "fp8"},
      {"hf_quant_config.json", R"({"quantization": {"quant_algo": "NVFP4", "group_size": 16}})", "nvfp4", ""},
      {"hf_quant_config.json", R"({"quantization": {"quant_algo": "W4A16_AWQ", "group_size": 128}})", "int4-awq-g128",
       ""},
      {"hf_quant_config.json", R"({"quantization": {"quant_algo": null}})", "bf16", ""},
      {"quantize_config.json", R"({"bits": 4, "group_size": 128, "desc_act": false, "sym": true})", "int4-gptq-g128",
       ""},
      {"quant_config.json", R"({"zero_point": true, "q_group_size": 128, "w_bit": 4, "version": "GEMM"})",
       "int4-awq-g128", ""},
      {"quantize_config.json", R"({"per_channel": true, "reduce_range": true, "per_model_config": {"model": {}}})",
       "bf16", ""},
  }));
  CAPTURE(row.name, row.text);
  const testing::Folder folder;
  const std::string config_path = folder.write("config.json", llama(R"("torch_dtype": "bfloat16")"));
  (void)folder.write(row.name, row.text);
  const std::string folder_path = config_path.substr(0, config_path.rfind('/'));
  for (const std::string& path : {config_path, folder_path}) {
    const ModelConfig config = read_model_config_file(path);
    REQUIRE(config.network.decoder);
    CHECK(config.weights_scheme == row.scheme);
    CHECK(config.network.decoder->native_format == row.scheme);
    CHECK(config.kv_format == row.kv_format);
    CHECK(config.torch_dtype == "bfloat16");
    CHECK(config.quantization.empty() == (std::string_view(row.scheme) == "bf16"));
    CHECK(warns(config, "model.unknown_quantization") == config.quantization.empty());
  }
}

TEST_CASE("config: the config's own quantization wins over a file beside it", "[model]") {
  const testing::Folder folder;
  const std::string path = folder.write("config.json", llama(R"("quantization_config": {"quant_method": "fp8"})"));
  (void)folder.write("quantize_config.json", R"({"bits": 4, "group_size": 128})");
  CHECK(read_model_config_file(path).weights_scheme == "fp8");
}

TEST_CASE("config: files that hold something else", "[model]") {
  struct Row {
    const char* text;
    const char* id;
  };
  const auto row = GENERATE(values<Row>({
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 727\n", "input.lfs_pointer"},
      {"{\"model_type\": \"llama\"}\n{\"model_type\": \"llama\"}\n", "input.syntax"},
      {"[{\"model_type\": \"llama\"}]", "input.bad_type"},
      {"\"llama\"", "input.bad_type"},
      {"null", "input.empty"},
      {"", "input.empty"},
      {"<!DOCTYPE html>", "input.syntax"},
  }));
  CAPTURE(row.text);
  const testing::Folder folder;
  const std::string path = folder.write("config.json", row.text);
  const auto problems = problems_of([&] { read_model_config_file(path); });
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == row.id);
  REQUIRE(problems[0].place);
  CHECK(problems[0].place->origin == path);
}

TEST_CASE("config: files that stand beside a config are told from one", "[model]") {
  struct Row {
    const char* text;
    const char* said;
  };
  const auto row = GENERATE(values<Row>({
      {R"({"metadata": {"total_size": 1024}, "weight_map": {"a": "m-1.safetensors"}})",
       "an index of files with weights, 1024 bytes in all: the folder with them is the model"},
      {R"({"metadata": {}, "weight_map": {}})", "an index of files with weights: the folder with them is the model"},
      {R"({"quantization": {"quant_algo": "NVFP4"}})", "a quantizer's settings, which stand beside a config.json"},
      {R"({"bits": 4, "group_size": 128, "desc_act": false})",
       "a quantizer's settings, which stand beside a config.json"},
  }));
  const testing::Folder folder;
  const ModelConfig config = read_model_config_file(folder.write("some.json", row.text));
  CHECK(config.network.parts.empty());
  CHECK(config.not_modelled == std::vector<std::string>{row.said});
}

TEST_CASE("config: an LFS pointer beside the config is refused as well, and so is no file", "[model]") {
  const testing::Folder folder;
  const std::string path = folder.write("config.json", llama());
  const std::string pointer =
      folder.write("hf_quant_config.json", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
  const auto problems = problems_of([&] { read_model_config_file(path); });
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == "input.lfs_pointer");
  CHECK(problems[0].place->origin == pointer);
  const testing::Folder empty;
  const std::string file = empty.write("other.txt", "x");
  const auto none = problems_of([&] { read_model_config_file(file.substr(0, file.rfind('/'))); });
  REQUIRE(none.size() == 1);
  CHECK(none[0].id == "input.not_found");
}

TEST_CASE("config: three megabytes of modules that a quantizer left alone", "[model]") {
  std::string modules = "\"lm_head\"";
  for (int i = 0; modules.size() < (std::size_t{3} << 20); ++i) {
    modules += ",\"model.layers." + std::to_string(i) + ".mlp.experts.17.down_proj\"";
  }
  const testing::Folder folder;
  const std::string text = llama(
      R"("torch_dtype": "bfloat16", "quantization_config": {"quant_method": "compressed-tensors", "config_groups": {
         "group_0": {"weights": {"num_bits": 8, "type": "float", "strategy": "tensor"}}}, "ignore": [)" +
      modules + "]}");
  const ModelConfig config = read_model_config_file(folder.write("config.json", text));
  CHECK(parameters(config.network) == parameters(read_text(llama()).network));
  CHECK(config.weights_scheme == "fp8");
  CHECK(config.module_rules.size() > 10000);
}

TEST_CASE("config: three megabytes of a list are read over", "[model]") {
  std::string list = "\"suppress_tokens\": [0";
  while (list.size() < (std::size_t{3} << 20)) list += ",123456";
  const testing::Folder folder;
  const ModelConfig config = read_model_config_file(folder.write("config.json", llama(list + "]")));
  CHECK(parameters(config.network) == parameters(read_text(llama()).network));
}

}  // namespace gpuplan
