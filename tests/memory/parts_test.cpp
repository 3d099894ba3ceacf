#include <gpuplan/memory/parts.hpp>
#include <gpuplan/model/config.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "explanations.hpp"

#include <cmath>
#include <string>

namespace gpuplan::testing {
namespace {

StoredNetwork stored(std::string_view model, std::string_view format) {
  StoredNetwork out;
  out.network = read_model_preset(preset(model)).network;
  out.scheme = *parse_scheme(format).value;
  return out;
}

const Runtime& runtime(std::string_view name) { return required(built_in().find_runtime(name), name); }

PartsMemory memory_of(const StoredNetwork& model, const PartsJob& job = {}, std::string_view on = "diffusers",
                      Explain* why = nullptr) {
  return parts_memory({&model, &runtime(on), built_in().visible_memory(gpu("H200-SXM-141GB")), job, &built_in()}, why);
}

const PartFootprint& part_of(const PartsMemory& memory, std::string_view name) {
  for (const PartFootprint& part : memory.parts) {
    if (part.name == name) return part;
  }
  throw std::runtime_error("no part " + std::string(name));
}

PartsJob sized(std::int64_t side, std::int64_t batch = 1) {
  PartsJob job;
  job.width = job.height = side;
  job.batch = batch;
  return job;
}

// What the diffusers record says; the arithmetic is what is tested.
double map_copies() { return *runtime("diffusers").map_copies; }
double score_copies() { return *runtime("diffusers").score_copies; }

}  // namespace

TEST_CASE("parts memory: an item's words tell its size", "[memory][parts]") {
  const auto size = [](const char* words) {
    NetworkPart part;
    part.item = words;
    return item_size(part);
  };
  CHECK(size("step at 1024 x 768").width == Approx(1024));
  CHECK(size("step at 1024 x 768").height == Approx(768));
  CHECK(size("step at 1024 x 768").frames == Approx(1));
  CHECK(size("video of 832 x 480 x 81 frames").frames == Approx(81));
  CHECK(size("224 x 224").width == Approx(224));
  CHECK_FALSE(size("token").is_known());
  CHECK_FALSE(size("30 s of audio").is_known());
  CHECK_FALSE(size(" x ").is_known());
  CHECK_FALSE(size("image of 5 x ").is_known());
  CHECK_FALSE(size("").is_known());
}

TEST_CASE("parts memory: an autoencoder peaks where it doubles its widest map", "[memory][parts]") {
  // The decoder of Stable Diffusion 1.5 upsamples 256 channels to 512 x 512 and convolves them: input (and residual) and output of
  // 256 * 512 * 512 elements; in 16 bit both are copied to the kernels' layout, in fp32 they are not.
  const double map = 256.0 * 512 * 512;
  const auto half = memory_of(stored("stable-diffusion-v1-5", "fp16"));
  CHECK(half.parts[half.fullest].name == "vae.decoder");
  CHECK(half.terms.of("activations") / bytes(1) == Approx(2 * (map_copies() * 3 * map + 2 * map)));
  const auto full = memory_of(stored("stable-diffusion-v1-5", "fp32"));
  CHECK(full.terms.of("activations") / bytes(1) == Approx(4 * map_copies() * 3 * map));
  CHECK(part_of(half, "vae.decoder").largest_map == Approx(map));
}

TEST_CASE("parts memory: maps grow with pixels and with the batch", "[memory][parts]") {
  const StoredNetwork model = stored("stable-diffusion-v1-5", "fp16");
  const Bytes one = memory_of(model, sized(512)).terms.of("activations");
  CHECK(memory_of(model, sized(768)).terms.of("activations") / one == Approx(2.25));
  CHECK(memory_of(model, sized(512, 4)).terms.of("activations") / one == Approx(4));
  CHECK(memory_of(model, sized(768)).terms.of("weights") / memory_of(model).terms.of("weights") == Approx(1));
}

TEST_CASE("parts memory: stored scores are 8 heads of 4096 x 4096, twice with guidance", "[memory][parts]") {
  PartsJob job;
  job.flash_attention = false;
  const StoredNetwork model = stored("stable-diffusion-v1-5", "fp16");
  const PartFootprint unet = part_of(memory_of(model, job), "unet");
  CHECK(unet.peak.operation == "attention");
  CHECK(unet.peak.items == Approx(2));
  CHECK(unet.peak.scores == Approx(8.0 * 4096 * 4096));
  // Residual, its norm, queries, result, keys and values: six maps of 320 channels.
  CHECK(unet.activations / bytes(1) ==
        Approx(2 * 2 * (map_copies() * 6 * 320 * 4096 + score_copies() * 8 * 4096 * 4096)));
  job.guidance = false;
  CHECK(part_of(memory_of(model, job), "unet").peak.items == Approx(1));
  job.flash_attention = true;
  CHECK(part_of(memory_of(model, job), "unet").peak.scores == Approx(0));
  // Twice the side is four times the queries and keys.
  PartsJob larger = sized(1024);
  larger.flash_attention = false;
  CHECK(part_of(memory_of(model, larger), "unet").peak.scores == Approx(16 * 8.0 * 4096 * 4096));
}

TEST_CASE("parts memory: text positions stay when the picture grows", "[memory][parts]") {
  // 4096 positions of a picture of 1024 x 1024 and 512 of text; a quarter of the pixels, 1024 and 512. Guidance is distilled in.
  PartsJob job = sized(1024);
  job.flash_attention = false;
  const StoredNetwork model = stored("flux.1-dev", "bf16");
  const auto scores = [&] { return part_of(memory_of(model, job), "transformer").peak.scores; };
  CHECK(scores() == Approx(24.0 * 4608 * 4608));
  CHECK(part_of(memory_of(model, job), "transformer").peak.items == Approx(1));
  job.width = job.height = 512;
  CHECK(scores() == Approx(24.0 * 1536 * 1536));
}

TEST_CASE("parts memory: offload leaves one component, or one tensor, on the device", "[memory][parts]") {
  const StoredNetwork model = stored("flux.1-dev", "bf16");
  PartsJob job;
  const PartsMemory whole = memory_of(model, job);
  job.offload = Offload::model;
  const PartsMemory components = memory_of(model, job);
  job.offload = Offload::sequential;
  const PartsMemory modules = memory_of(model, job);
  // 11.90 B parameters of the transformer alone.
  CHECK(components.terms.of("weights") / gigabytes(1) == Approx(23.8).epsilon(0.002));
  CHECK(components.terms.of("weights") / part_of(components, "transformer").weights == Approx(1));
  CHECK(components.parts[components.fullest].name == "transformer");
  CHECK(whole.terms.of("weights") > components.terms.of("weights"));
  CHECK(modules.terms.of("weights") < components.terms.of("weights") * 0.1);
  Bytes sum;
  for (const PartFootprint& part : whole.parts) sum += part.weights;
  CHECK(sum / whole.terms.of("weights") == Approx(1).epsilon(1e-12));
}

TEST_CASE("parts memory: a sliced autoencoder works on one image, a tiled one on 512 x 512", "[memory][parts]") {
  const StoredNetwork model = stored("sdxl", "fp16");
  PartsJob job = sized(1024, 8);
  const auto decoder = [&] { return part_of(memory_of(model, job), "vae.decoder").activations; };
  const Bytes whole = decoder();
  job.vae = VaeMode::sliced;
  CHECK(whole / decoder() == Approx(8));
  job.vae = VaeMode::tiled;
  CHECK(whole / decoder() == Approx(32));
}

TEST_CASE("parts memory: an encoder's activations are those of its MLP, for each token of each text",
          "[memory][parts]") {
  // Width 768, MLP 3072, 16 bit: up: 2 * 768 + 3072; down: 2 * 3072 + 768 elements a token, which is more; the head over 30,522
  // words is more still: 2 * 768 + 30522.
  PartsJob job;
  job.batch = 32;
  job.length = 512;
  const PartsMemory bert = memory_of(stored("bert-base-uncased", "fp16"), job, "transformers");
  const double maps = *runtime("transformers").map_copies;
  const PartPeak& peak = bert.parts[bert.fullest].peak;
  CAPTURE(peak.operation);
  const double token = peak.operation.find("mlp") != std::string::npos ? 2 * 3072 + 768 : 2 * 768 + 30522;
  CHECK(bert.terms.of("activations") / bytes(1) == Approx(2 * maps * token * 32 * 512));
  job.length = 128;
  CHECK(bert.terms.of("activations") /
            memory_of(stored("bert-base-uncased", "fp16"), job, "transformers").terms.of("activations") ==
        Approx(4));
}

TEST_CASE("parts memory: headers overrule the tensor list", "[memory][parts]") {
  StoredNetwork model = stored("sdxl", "fp16");
  model.stored = gigabytes(7);
  CHECK(memory_of(model).terms.of("weights") / gigabytes(1) == Approx(7));
}

TEST_CASE("parts memory: every network without a decoder gives finite terms that add up, and formulas that hold",
          "[memory][parts]") {
  for (const ModelPreset& record : built_in().models()) {
    CAPTURE(record.name);
    const Network network = read_model_preset(record).network;
    if (network.decoder || network.parts.empty()) continue;
    const StoredNetwork model = stored(record.name, "bf16");
    for (const Offload offload : {Offload::none, Offload::model, Offload::sequential}) {
      for (const Runtime& on : built_in().runtimes()) {
        PartsJob job;
        job.batch = 3;
        job.offload = offload;
        Explain why;
        const PartsMemory shown = memory_of(model, job, on.name, &why);
        const PartsMemory searched = memory_of(model, job, on.name);
        check_formulas(why);
        CHECK_FALSE(shown.terms.total() < searched.terms.total());
        CHECK_FALSE(searched.terms.total() < shown.terms.total());
        Bytes sum;
        for (const auto& term : shown.terms.terms()) {
          CHECK(std::isfinite(term.value.base()));
          CHECK((term.low <= term.value && term.value <= term.high));
          sum += term.value;
        }
        CHECK(sum / shown.terms.total() == Approx(1).epsilon(1e-12));
        CHECK(shown.terms.of("weights") > Bytes{});
        // With offload a table that is only looked up may be the fullest.
        if (offload == Offload::none) CHECK(shown.terms.of("activations") > Bytes{});
      }
    }
  }
}

TEST_CASE("parts memory: diffusion presets tell the size of their pictures", "[memory][parts]") {
  for (const ModelPreset& record : built_in().models()) {
    for (const NetworkPart& part : read_model_preset(record).network.parts) {
      if (!is_denoiser(part) || part.item.find("audio") != std::string::npos) continue;
      CAPTURE(record.name, part.item);
      CHECK(item_size(part).is_known());
      CHECK(part.text >= 0);
    }
  }
}

}  // namespace gpuplan::testing
