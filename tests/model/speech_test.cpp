#include <gpuplan/model/config.hpp>

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/units.hpp>
#include <gpuplan/model/network.hpp>

#include "catch.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuplan {
namespace {

ModelConfig read_text(std::string_view text) {
  return read_model_config(parse_json(text, "config.json", kMaxDocumentNodes, NonFinite::accepted), "config.json");
}

bool is_refused(const std::string& text) {
  try {
    return read_text(text).network.parts.empty();
  } catch (const InputError&) {
    return true;
  }
}

std::int64_t of_part(const Network& network, std::string_view name) {
  const NetworkPart* part = find_part(network, name);
  return part ? parameters(part->tensors) : 0;
}

constexpr std::string_view kStyle = R"({"istftnet": {"upsample_kernel_sizes": [20, 12], "upsample_rates": [10, 6],
    "gen_istft_hop_size": 5, "gen_istft_n_fft": 20, "resblock_dilation_sizes": [[1, 3, 5], [1, 3, 5], [1, 3, 5]],
    "resblock_kernel_sizes": [3, 7, 11], "upsample_initial_channel": 512}, "dim_in": 64, "hidden_dim": 512,
  "max_dur": 50, "n_layer": 3, "n_mels": 80, "n_token": 178, "style_dim": 128, "text_encoder_kernel_size": 5,
  "plbert": {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 2048, "max_position_embeddings": 512,
    "num_hidden_layers": 12}})";

constexpr std::string_view kTokens = R"({"model": "xtts", "model_args": {"gpt_max_audio_tokens": 605,
    "gpt_max_text_tokens": 402, "gpt_layers": 30, "gpt_n_model_channels": 1024, "gpt_n_heads": 16,
    "gpt_number_text_tokens": 6681, "gpt_num_audio_tokens": 1026, "gpt_use_perceiver_resampler": true,
    "decoder_input_dim": 1024, "d_vector_dim": 512, "cond_d_vector_in_each_upsampling_layer": true}})";

}  // namespace

// The parts' sums were computed from the module code alone; 36.3 million are published for both.
TEST_CASE("speech: a network with a flow and a vocoder", "[speech]") {
  const Network network = read_text(R"({"model_type": "vits", "vocab_size": 178, "sampling_rate": 22050})").network;
  CHECK(parameters(network) == 36311472);
  CHECK(of_part(network, "text_encoder") == 6326784);
  CHECK(of_part(network, "duration_predictor") == 1317168);
  CHECK(of_part(network, "flow") == 7102080);
  CHECK(of_part(network, "decoder") == 14327424);
  CHECK(of_part(network, "posterior_encoder") == 7238016);
  // nothing goes through what only training needs
  CHECK(flops_of(*find_part(network, "posterior_encoder"), 0) / flop(1) == Approx(0));
  CHECK(parameters(read_text(R"({"model_type": "vits", "architectures": ["VitsModel"]})").network) == 36284592);
}

TEST_CASE("speech: a vocoder runs once per frame and its last layer once per sample", "[speech]") {
  const Network network = read_text(R"({"model_type": "vits", "sampling_rate": 22050})").network;
  const NetworkPart* decoder = find_part(network, "decoder");
  REQUIRE(decoder);
  CHECK(decoder->item == "second of audio");
  CHECK(decoder->tensors.front().uses == Approx(22050.0 / 256));
  CHECK(decoder->tensors.back().name == "last");
  CHECK(decoder->tensors.back().uses == Approx(22050));
}

// The published count, 81763410, and the parts' that its checkpoint holds.
TEST_CASE("speech: a network with styles, from the configuration that names its components", "[speech]") {
  const Network network = read_text(kStyle).network;
  CHECK(parameters(network) == 81763410);
  CHECK(of_part(network, "phoneme_encoder") == 6292480 + 393728);
  CHECK(of_part(network, "text_encoder") == 5606400);
  CHECK(of_part(network, "duration_predictor") + of_part(network, "prosody_predictor") == 16194612);
  CHECK(of_part(network, "decoder") == 53276190);
}

TEST_CASE("speech: a layer that runs many times is stored once", "[speech]") {
  const Network network = read_text(kStyle).network;
  const NetworkPart* part = find_part(network, "phoneme_encoder");
  REQUIRE(part);
  // twelve runs of 4 x 768 x 768 + 2 x 768 x 2048, once 128 x 768 and 768 x 512, and attention to 100 tokens
  const double products = 12 * (4 * 768.0 * 768 + 2 * 768.0 * 2048) + 128 * 768.0 + 768 * 512.0;
  CHECK(flops_of(*part, 100) / flop(1) == Approx(2 * products + 12 * 4 * 768.0 * 100));
}

// 337 million are published for 2545 entries of text; each entry less is 512 fewer: 2289 x 512 = 1171968. The sum was
// computed from the module code alone.
TEST_CASE("speech: a diffusion transformer over a spectrogram", "[speech]") {
  const auto config = [](const std::string& vocab) {
    return R"({"model": {"name": "F5TTS_v1_Base", "backbone": "DiT", "arch": {"dim": 1024, "depth": 22, "heads": 16,
      "ff_mult": 2, "text_dim": 512, "qk_norm": null, "conv_layers": 4}, "mel_spec": {"target_sample_rate": 24000,
      "n_mel_channels": 100, "hop_length": 256, "mel_spec_type": "vocos"}}, "vocab_size": )" +
           vocab + "}";
  };
  const ModelConfig read = read_text(config("2545"));
  CHECK(parameters(read.network) == 337096804);
  CHECK(parameters(read_text(config("256")).network) == 335924836);
  REQUIRE(read.not_modelled.size() == 1);
  CHECK(read.not_modelled.front() == "the vocoder 'vocos', a network of its own");
  CHECK(find_part(read.network, "transformer")->attention.at(0).queries == Approx(937.5));
  // without the name
  CHECK(parameters(read_text(R"({"model_type": "f5_tts", "dim": 1024, "depth": 22, "heads": 16, "ff_mult": 2,
      "text_dim": 512, "conv_layers": 4, "vocab_size": 2545})")
                       .network) == 337096804);
}

// 467 million are published; the sums of the parts were computed from the module code alone.
TEST_CASE("speech: a language model that writes audio tokens keeps a cache", "[speech]") {
  const Network network = read_text(kTokens).network;
  REQUIRE(network.decoder);
  CHECK(parameters(network) == 466874863);
  CHECK(network.decoder->layers == 30);
  CHECK(network.decoder->kv_heads == 16);
  CHECK(of_part(network, "language_model") == 377888768 + 7891968 + 1036288 + 7901723);
  CHECK(of_part(network, "reference_encoder") == 25285632 + 21014184);
  CHECK(of_part(network, "decoder") == 17827808);
  CHECK(of_part(network, "speaker_encoder") == 8028492);
}

TEST_CASE("speech: hostile numbers are refused", "[speech]") {
  for (const char* text : {
           R"({"model_type": "vits", "upsample_rates": [8, 8], "upsample_kernel_sizes": [16]})",
           R"({"model_type": "vits", "upsample_rates": [0], "upsample_kernel_sizes": [16]})",
           R"({"model_type": "vits", "num_attention_heads": 0})",
           R"({"model_type": "vits", "prior_encoder_num_flows": 1000000000})",
           R"({"model_type": "vits", "hidden_size": 1000000000})",
           R"({"istftnet": {}, "plbert": {"hidden_size": 1000000000}})",
           R"({"istftnet": {"upsample_rates": []}, "plbert": {}})",
           R"({"model": "xtts", "model_args": {"gpt_layers": 30}})",
           R"({"model": "xtts", "model_args": {"gpt_use_perceiver_resampler": true}})",
           R"({"model": "xtts", "model_args": {"gpt_use_perceiver_resampler": true, "gpt_number_text_tokens": 10,
               "gpt_n_model_channels": 1000000000}})",
           R"({"model_type": "f5_tts", "dim": 1024})",
           R"({"model_type": "f5_tts", "dim": 1024, "depth": 22, "vocab_size": 10, "heads": 1000000000})",
       }) {
    CAPTURE(text);
    CHECK(is_refused(text));
  }
}

}  // namespace gpuplan
