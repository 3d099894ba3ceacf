// How long a million footprints of inference take on one core: `footprints` prints seconds a million, by hand and from bench/run.

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/memory/inference.hpp>
#include <gpuplan/model/config.hpp>

#include <chrono>
#include <cstdio>

int main() {
  using namespace gpuplan;
  const Catalog catalog = load_catalog({});
  const ModelPreset* preset = catalog.find_model("llama-3.1-70b");
  const Engine* engine = catalog.find_engine("vllm");
  const Accelerator* accelerator = catalog.find_accelerator("H100-SXM5-80GB");
  if (!preset || !engine || !accelerator) return 1;
  ServedModel model;
  model.network = read_model_preset(*preset).network;
  model.architecture = *model.network.decoder;
  model.kv = *parse_kv_format("bf16").value;
  model.tensors = tensors_of(model.architecture);
  model.scheme = resolve_scheme(*parse_scheme("bf16").value, model.architecture, model.tensors);
  InferenceMemoryInputs in;
  in.model = &model;
  in.engine = engine;
  in.visible = catalog.visible_memory(*accelerator);
  in.layout.tp = 4;
  in.accelerator = accelerator;
  constexpr int kMillion = 1'000'000;
  const auto start = std::chrono::steady_clock::now();
  const InferenceRates rates = inference_rates(in);
  double sum = 0;
  for (int i = 0; i < kMillion; ++i) {
    const RequestShape request{1024 + i % 4096, 512, 256};
    sum += inference_need(rates, i % 256, request) / gibibytes(1);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("a million footprints: %.3f s (%.1f GiB on average)\n", seconds.count(), sum / kMillion);
  return 0;
}
