// How fast layouts of a training job are searched on one core: GPT-3 175B on 1,024 devices at a batch of 1,536 sequences. By hand and from bench/run.

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/model/stored_scheme.hpp>
#include <gpuplan/perf/training_search.hpp>

#include <chrono>
#include <cstdio>

namespace {

using namespace gpuplan;

ServedModel gpt3() {
  Architecture a;
  a.layers = 96;
  a.hidden = 12288;
  a.heads = a.kv_heads = 96;
  a.head_dim = 128;
  a.intermediate = 4 * a.hidden;
  a.vocab = 51200;
  a.gated_mlp = false;
  a.tied_embeddings = true;
  a.norm = NormKind::layer;
  a.qkv_bias = a.output_bias = a.mlp_bias = true;
  a.learned_positions = true;
  a.max_position = 2048;
  ServedModel model;
  model.architecture = a;
  model.tensors = tensors_of(a);
  model.scheme = resolve_scheme(*parse_scheme("bf16").value, a, model.tensors);
  return model;
}

// Every axis as wide as the model and the number of devices allow.
LayoutSpace whole_space() {
  LayoutSpace space;
  space.devices = 1024;
  space.global_batch = 1536;
  for (std::int64_t n = 1; n <= 1536; ++n) {
    if (1536 % n == 0) space.micro_batch.push_back(n);
  }
  for (std::int64_t n = 1; n <= 96; ++n) {
    if (96 % n == 0) space.vpp.push_back(n);
  }
  space.tp = {1, 2, 4, 8, 16, 32};
  space.recompute = {Recompute::none, Recompute::selective, Recompute::full};
  space.sharding = {StateSharding::none,  StateSharding::zero1, StateSharding::zero2,
                    StateSharding::zero3, StateSharding::fsdp,  StateSharding::hsdp};
  space.offload = {TrainingOffload::none, TrainingOffload::optimizer, TrainingOffload::all};
  space.activation_offload = {false, true};
  return space;
}

}  // namespace

int main() {
  const Catalog catalog = load_catalog({});
  const TrainingFramework* framework = catalog.find_training_framework("megatron-lm");
  const Accelerator* accelerator = catalog.find_accelerator("A100-SXM4-80GB");
  if (!framework || !accelerator) return 1;
  const ServedModel model = gpt3();
  TrainingTimeInputs in;
  in.memory.model = &model;
  in.memory.framework = framework;
  in.memory.visible = catalog.visible_memory(*accelerator);
  in.memory.job.method = TrainingMethod::pretrain;
  in.memory.job.sequence = 2048;
  in.memory.job.flash_attention = false;
  in.memory.catalog = &catalog;
  in.accelerator = accelerator;
  in.fabric = fabric_of(catalog, *accelerator, {}, gigabits_per_second(1600), 8);
  const Ceilings ceilings(catalog);
  const auto start = std::chrono::steady_clock::now();
  const LayoutSearch found = search_layouts(in, whole_space(), ceilings);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (found.best.empty()) return 1;
  const LayoutChoice& best = found.best.front();
  std::printf(
      "%lld layouts of 175B on 1,024 devices: %.2f s, %.1f million a second, memory of %lld; best TP%lld PP%lld "
      "DP%lld, %.2f s a step\n",
      static_cast<long long>(found.evaluated), seconds.count(),
      static_cast<double>(found.evaluated) / seconds.count() / 1e6, static_cast<long long>(found.checked),
      static_cast<long long>(best.job.tp), static_cast<long long>(best.job.pp), static_cast<long long>(best.job.dp),
      best.step_seconds);
  return 0;
}
