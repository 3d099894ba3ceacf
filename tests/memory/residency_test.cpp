// What of a model is in host memory, and what stands on its devices beside it.

#include <gpuplan/memory/inference.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "explanations.hpp"

#include <memory>
#include <vector>

namespace gpuplan::testing {
namespace {

InferenceMemoryInputs inputs(const ServedModel& model, std::string_view on, std::string_view accelerator,
                             std::int64_t tp = 1) {
  InferenceMemoryInputs in;
  in.model = &model;
  in.engine = &engine(on);
  in.accelerator = &gpu(accelerator);
  in.visible = built_in().visible_memory(*in.accelerator);
  in.layout.tp = tp;
  in.request = {4096, 1024, 256};
  return in;
}

double device(const InferenceMemory& memory, std::string_view term) { return memory.terms.of(term) / bytes(1); }
double host(const InferenceMemory& memory, std::string_view term) { return memory.host.of(term) / bytes(1); }

std::shared_ptr<const ServedModel> shared(std::string_view name, const char* dtype) {
  return std::make_shared<const ServedModel>(served(name, dtype));
}

// Of Llama-2-7B in 16 bit: 4 * 4096^2 + 3 * 4096 * 11008 + 2 * 4096 parameters a layer, two tables of 32000 * 4096, a last norm.
constexpr double kLayer = 404766720;
constexpr double kTable = 262144000;
constexpr double kNorm = 8192;
constexpr double kCache = 2147483648;  // 4096 tokens of 2 * 32 * 4096 * 2 bytes

}  // namespace

TEST_CASE("residency: layers that are not on the device are in host memory with their cache", "[memory]") {
  ServedModel model = served("llama-2-7b", "bf16");
  const auto at = [&](std::int64_t layers) {
    model.residency.device_layers = layers;
    return inference_memory(inputs(model, "llama.cpp", "RTX4090"), 1, nullptr);
  };
  const InferenceMemory half = at(16);
  CHECK(device(half, "weights") == Approx(16 * kLayer));
  CHECK(host(half, "weights") == Approx(16 * kLayer + 2 * kTable + kNorm));
  CHECK(device(half, "kv_cache") == Approx(kCache / 2));
  CHECK(host(half, "kv_cache") == Approx(kCache / 2));
  CHECK(host(half, "files") == Approx(16 * kLayer));

  const InferenceMemory without_head = at(32);  // the head is a layer of its own
  CHECK(device(without_head, "weights") == Approx(32 * kLayer));
  const InferenceMemory all = at(33);
  CHECK(device(all, "weights") == Approx(32 * kLayer + kTable + kNorm));
  CHECK(host(all, "weights") == Approx(kTable));  // the token table stays there whatever is said
  CHECK(host(all, "kv_cache") == 0);
  const InferenceMemory none = at(0);
  CHECK(device(none, "weights") == Approx(0).margin(1));
  CHECK(device(none, "kv_cache") == 0);
  CHECK(host(none, "kv_cache") == Approx(kCache));
}

TEST_CASE("residency: the cache alone can be in host memory", "[memory]") {
  ServedModel model = served("llama-2-7b", "bf16");
  model.residency.kv_on_host = true;
  const InferenceMemory memory = inference_memory(inputs(model, "llama.cpp", "RTX4090"), 1, nullptr);
  CHECK(device(memory, "kv_cache") == 0);
  CHECK(host(memory, "kv_cache") == Approx(kCache));
  CHECK(device(memory, "weights") == Approx(32 * kLayer + kTable + kNorm));
}

// Qwen3-30B-A3B: 48 layers of 128 experts of 3 * 2048 * 768; 30,532,122,624 parameters, a table of 151936 * 2048.
TEST_CASE("residency: experts of the first layers are in host memory", "[memory]") {
  ServedModel model = served("qwen3-30b-a3b", "bf16");
  model.residency.host_expert_layers = 36;
  const InferenceMemory memory = inference_memory(inputs(model, "llama.cpp", "RTX4090"), 1, nullptr);
  const double experts = 36 * 128.0 * 3 * 2048 * 768 * 2;
  const double table = 151936.0 * 2048 * 2;
  CHECK(host(memory, "weights") == Approx(experts + table));
  CHECK(device(memory, "weights") == Approx(30532122624.0 * 2 - experts - table));
  CHECK(host(memory, "kv_cache") == 0);
}

TEST_CASE("residency: layers without experts in front of the others count", "[memory]") {
  ServedModel model = served("deepseek-v3", "bf16");  // three plain layers, then 58 with experts
  const InferenceMemoryInputs in = inputs(model, "llama.cpp", "H200-SXM-141GB");
  const double all = device(inference_memory(in, 1, nullptr), "weights");
  model.residency.host_expert_layers = 3;
  CHECK(device(inference_memory(in, 1, nullptr), "weights") == Approx(all));
  model.residency.host_expert_layers = 4;
  const double layer = 256 * 3.0 * 7168 * 2048 * 2;
  CHECK(device(inference_memory(in, 1, nullptr), "weights") == Approx(all - layer));
  model.residency.device_layers = 40;  // the last 40; experts of the first four are not on the device anyway
  const double both = device(inference_memory(in, 1, nullptr), "weights");
  model.residency.host_expert_layers = 0;
  CHECK(device(inference_memory(in, 1, nullptr), "weights") == Approx(both));
}

// A of rank x inputs, B of outputs x rank. Llama-2-7B with rank 16 in all products has 39,976,960 parameters an adapter, as the
// library that made them known prints; 4 of them in 16 bit.
TEST_CASE("residency: adapters take their matrices in every layer", "[memory]") {
  ServedModel model = served("llama-2-7b", "bf16");
  model.residency.adapters = 4;
  CHECK(device(inference_memory(inputs(model, "vllm", "A100-80GB"), 1, nullptr), "adapters") ==
        Approx(4 * 39976960.0 * 2));
  // Over two ranks, in each layer: three of 4096 + 2048, the output's 4096 + 2048, two of 4096 + 5504, one of 4096 + 5504.
  CHECK(device(inference_memory(inputs(model, "vllm", "A100-80GB", 2), 1, nullptr), "adapters") ==
        Approx(4 * 16 * 32.0 * (4 * 6144 + 3 * 9600) * 2));
}

// Llama-3.2-1B: 1,235,814,400 parameters, 2 * 16 * 8 * 64 elements of cache a token.
TEST_CASE("residency: a draft model adds its weights and its cache", "[memory]") {
  ServedModel model = served("llama-3.1-70b", "int4");
  const InferenceMemoryInputs in = inputs(model, "vllm", "H100-SXM5-80GB");
  const KvPool alone = kv_pool(in);
  model.draft = shared("llama-3.2-1b", "bf16");
  const InferenceMemory memory = inference_memory(in, 2, nullptr);
  CHECK(device(memory, "draft_weights") == Approx(2 * 1235814400.0));
  CHECK(device(memory, "draft_kv_cache") == Approx(2 * 4096.0 * 2 * 16 * 8 * 64 * 2));
  const KvPool pool = kv_pool(in);
  CHECK(pool.size / bytes(1) == Approx(alone.size / bytes(1) - 2 * 1235814400.0));
  // a token is in both: 327,680 + 32,768 bytes
  CHECK(pool.tokens == Approx(pool.size / bytes(327680 + 32768)).epsilon(1e-3));
}

TEST_CASE("residency: a neighbour lives in what the engine leaves, as far as that goes", "[memory]") {
  ServedModel model = served("llama-3.1-8b", "bf16");
  const InferenceMemoryInputs in = inputs(model, "vllm", "H100-SXM5-80GB");
  const InferenceMemory before = inference_memory(in, 1, nullptr);
  model.neighbours.push_back(shared("qwen3-0.6b", "bf16"));
  const InferenceMemory small = inference_memory(in, 1, nullptr);
  CHECK(device(small, "beside") > 596049920.0 * 2);                // its weights
  CHECK(small.terms.total() / before.terms.total() == Approx(1));  // a tenth of the card is left to others
  model.neighbours.push_back(shared("llama-3.1-8b", "bf16"));
  const InferenceMemory large = inference_memory(in, 1, nullptr);
  CHECK(device(large, "reserve") == 0);
  CHECK(large.terms.total() > before.terms.total());
}

TEST_CASE("residency: where there is one memory nothing is saved by leaving layers to the host", "[memory]") {
  ServedModel model = served("llama-2-7b", "bf16");
  const InferenceMemoryInputs in = inputs(model, "llama.cpp", "GB10");
  const InferenceMemory all = inference_memory(in, 1, nullptr);
  CHECK(device(all, "host") == Approx(kTable));
  model.residency.device_layers = 16;
  const InferenceMemory half = inference_memory(in, 1, nullptr);
  CHECK(device(half, "host") == Approx(16 * kLayer + 2 * kTable + kNorm + kCache / 2));
  CHECK(half.terms.total() / all.terms.total() == Approx(1));
}

TEST_CASE("residency: the fast path, the terms and the formulas agree", "[memory]") {
  ServedModel model = served("qwen3-30b-a3b", "bf16");
  model.residency.device_layers = 20;
  model.residency.host_expert_layers = 40;
  model.residency.adapters = 3;
  model.draft = shared("qwen3-0.6b", "bf16");
  model.neighbours.push_back(shared("llama-3.2-1b", "bf16"));
  for (const char* on : {"llama.cpp", "transformers", "vllm", "tensorrt-llm"}) {
    for (const char* accelerator : {"RTX4090", "GB10", "H200-SXM-141GB"}) {
      for (const std::int64_t tp : {1, 4}) {
        CAPTURE(on, accelerator, tp);
        const InferenceMemoryInputs in = inputs(model, on, accelerator, tp);
        Explain why;
        const InferenceMemory memory = inference_memory(in, 2, &why);
        check_formulas(why);
        CHECK(inference_need(inference_rates(in), 2, in.request) / memory.terms.total() == Approx(1));
      }
    }
  }
}

}  // namespace gpuplan::testing
