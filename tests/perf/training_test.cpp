#include <gpuplan/perf/training.hpp>
#include <gpuplan/perf/training_search.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "explanations.hpp"
#include "published_models.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace gpuplan::testing {
namespace {

const TrainingFramework& framework(std::string_view name) {
  return required(built_in().find_training_framework(name), name);
}

TrainingTimeInputs inputs(const ServedModel& model, const TrainingSpec& job, std::string_view on = "megatron-lm",
                          std::string_view accelerator = "A100-SXM4-80GB", std::int64_t a_host = 8) {
  TrainingTimeInputs in;
  in.memory.model = &model;
  in.memory.framework = &framework(on);
  in.memory.visible = built_in().visible_memory(gpu(accelerator));
  in.memory.job = job;
  in.memory.catalog = &built_in();
  in.accelerator = &gpu(accelerator);
  in.fabric = fabric_of(built_in(), *in.accelerator, {}, gigabits_per_second(1600), a_host);
  return in;
}

TrainingSpec megatron(std::int64_t pp, std::int64_t vpp, std::int64_t micro_batch, std::int64_t micro_batches) {
  TrainingSpec job;
  job.method = TrainingMethod::pretrain;
  job.tp = 8;
  job.pp = pp;
  job.vpp = vpp;
  job.micro_batch = micro_batch;
  job.grad_accum = micro_batches;
  job.sequence = 2048;
  job.flash_attention = false;
  job.dropout = true;
  return job;
}

double step_of(const TrainingTimeInputs& in) {
  return training_time(in, Ceilings(built_in()), nullptr).step.value / seconds(1);
}

}  // namespace

TEST_CASE("training time: the four runs of Korthikanti et al. 2022 are met within 3.5 % on average and 8 % each",
          "[perf]") {
  // Seconds a step with selective recomputation and sequence parallelism (table 5), and with full recomputation and neither (table 4).
  struct Run {
    ServedModel model;
    TrainingSpec job;
    double selective, full;
  };
  const Run runs[] = {{gpt(48, 6144, 64), megatron(1, 1, 4, 1), 1.10, 1.42},
                      {gpt(96, 12288, 96), megatron(8, 3, 1, 64), 13.75, 18.13},
                      {gpt(105, 20480, 128), megatron(35, 3, 1, 280), 37.83, 49.05},
                      {gpt(128, 25600, 160), megatron(64, 1, 1, 512), 71.49, 94.42}};
  std::array<double, 2> sum{};
  for (const Run& run : runs) {
    for (const bool full : {false, true}) {
      TrainingSpec job = run.job;
      job.recompute = full ? Recompute::full : Recompute::selective;
      job.sequence_parallel = !full;
      const double measured = full ? run.full : run.selective;
      const double error = std::abs(step_of(inputs(run.model, job)) / measured - 1);
      CAPTURE(run.model.architecture.hidden, full);
      CHECK(error <= 0.08);
      sum[full ? 1 : 0] += error / 4;
    }
  }
  CHECK(sum[0] <= 0.035);
  CHECK(sum[1] <= 0.035);
}

TEST_CASE("training time: terms add up to the step, and every recorded formula gives its value", "[perf]") {
  const ServedModel model = served("llama-3.1-8b", "bf16");
  TrainingSpec job;
  job.method = TrainingMethod::pretrain;
  job.sharding = StateSharding::zero1;
  job.tp = 2;
  job.pp = 2;
  job.dp = 4;
  job.grad_accum = 8;
  job.offload = TrainingOffload::optimizer;
  job.recompute = Recompute::full;
  Explain why;
  const TrainingTimeInputs in = inputs(model, job, "megatron-core", "H100-SXM5-80GB");
  const Ceilings ceilings(built_in());
  const TrainingTime time = training_time(in, ceilings, &why);
  check_formulas(why);
  const double direct = step_seconds(training_work(in, ceilings), constants_of(*in.memory.framework));
  CHECK(time.step.value / seconds(1) == Approx(direct));
  CHECK(time.step.low <= time.step.value);
  CHECK(time.step.value <= time.step.high);
}

TEST_CASE("training time: a pipeline's bubble is (p - 1) / (v m) of its passes", "[perf]") {
  const ServedModel model = gpt(48, 6144, 64);
  for (const std::int64_t vpp : {1, 2, 3}) {
    TrainingSpec job = megatron(8, vpp, 1, 32);
    job.recompute = Recompute::full;
    const Ceilings ceilings(built_in());
    const TrainingTime time = training_time(inputs(model, job), ceilings, nullptr);
    double passes = 0;
    for (const std::string_view id : {"forward", "backward", "recompute", "tensor_parallel", "handover"})
      passes += time.terms.of(id) / seconds(1);
    CHECK(time.terms.of("bubble") / seconds(1) == Approx(passes / 32 * 7 / static_cast<double>(vpp)));
  }
}

TEST_CASE("training time: FLOPs of a step are six a parameter and token, and those of attention", "[perf]") {
  // Llama 3.1 8B: products of 32 layers (2 h² + 2 h·1024 + 3 h·14336, h = 4096) and the head (h·128256);
  // attention 4 s h a token and layer over the whole square, three passes.
  const double h = 4096;
  const double products = 32 * (2 * h * h + 2 * h * 1024 + 3 * h * 14336) + h * 128256;
  const double attention = 32 * 4 * 4096 * h;
  const ServedModel model = served("llama-3.1-8b", "bf16");
  TrainingSpec job;
  job.method = TrainingMethod::pretrain;
  job.micro_batch = 2;
  const TrainingTime time = training_time(inputs(model, job), Ceilings(built_in()), nullptr);
  CHECK(time.flops_per_step == Approx(8192 * 3 * (2 * products + attention)).epsilon(0.001));
}

TEST_CASE("training time: adapters take less than full fine-tuning, quantized weights more than adapters", "[perf]") {
  const ServedModel model = served("llama-3.1-8b", "bf16");
  const ServedModel quantized = served("llama-3.1-8b", "nf4");
  TrainingSpec job;
  job.recompute = Recompute::none;
  const double full = step_of(inputs(model, job, "pytorch"));
  job.method = TrainingMethod::lora;
  const double lora = step_of(inputs(model, job, "pytorch"));
  job.method = TrainingMethod::qlora;
  const double qlora = step_of(inputs(quantized, job, "pytorch"));
  CHECK(lora < full);
  CHECK(lora > 0.5 * full);  // two of three products remain
  CHECK(qlora > lora);
}

TEST_CASE("training time: twice the micro-batches take twice the passes", "[perf]") {
  const ServedModel model = served("llama-3.1-8b", "bf16");
  TrainingSpec job;
  job.recompute = Recompute::none;
  job.dp = 8;
  const Ceilings ceilings(built_in());
  const TrainingTime once = training_time(inputs(model, job, "pytorch"), ceilings, nullptr);
  job.grad_accum = 2;
  const TrainingTime twice = training_time(inputs(model, job, "pytorch"), ceilings, nullptr);
  CHECK(twice.terms.of("forward").base() == Approx(2 * once.terms.of("forward").base()));
  CHECK(twice.terms.of("update").base() == Approx(once.terms.of("update").base()));
}

TEST_CASE("training time: whatever the layout, an estimate is finite and above zero", "[perf]") {
  Dice dice(20261130);
  const std::vector<ServedModel> models = {served("llama-3.1-8b", "bf16"), served("qwen3-30b-a3b", "bf16"),
                                           served("deepseek-v3", "bf16"), served("gpt2", "bf16")};
  const std::array<std::string_view, 4> cards = {"H100-SXM5-80GB", "RTX4090-24GB", "MI300X-192GB", "A100-PCIe-40GB"};
  const Ceilings ceilings(built_in());
  for (int i = 0; i < 300; ++i) {
    const ServedModel& model = models[static_cast<std::size_t>(dice.whole(0, 3))];
    TrainingSpec job;
    job.method = dice.heads() ? TrainingMethod::pretrain : TrainingMethod::lora;
    job.tp = std::int64_t{1} << dice.whole(0, 3);
    job.pp = dice.whole(1, 8);
    job.dp = dice.whole(1, 64);
    job.cp = dice.whole(1, 2);
    job.micro_batch = dice.whole(1, 1 << 12);
    job.grad_accum = dice.whole(1, 1 << 20);
    job.sequence = dice.whole(1, 1 << 20);
    job.recompute = dice.heads() ? Recompute::full : Recompute::none;
    job.sharding = dice.heads() ? StateSharding::fsdp : StateSharding::zero1;
    job.flash_attention = dice.heads();
    const auto card = cards[static_cast<std::size_t>(dice.whole(0, 3))];
    const TrainingTime time = training_time(inputs(model, job, "pytorch", card, dice.whole(1, 8)), ceilings, nullptr);
    CAPTURE(i, card, model.architecture.name);
    for (const double value :
         {time.step.low / seconds(1), time.step.value / seconds(1), time.step.high / seconds(1), time.mfu}) {
      CHECK(std::isfinite(value));
      CHECK(value > 0);
    }
  }
}

namespace {

void check_same(const LayoutSearch& fast, const LayoutSearch& slow) {
  REQUIRE(fast.best.size() == slow.best.size());
  for (std::size_t i = 0; i < fast.best.size(); ++i) {
    const TrainingSpec& a = fast.best[i].job;
    const TrainingSpec& b = slow.best[i].job;
    CHECK(fast.best[i].step_seconds == Approx(slow.best[i].step_seconds).epsilon(1e-9));
    CHECK(std::tuple(a.tp, a.pp, a.vpp, a.dp, a.cp, a.ep, a.micro_batch, a.grad_accum) ==
          std::tuple(b.tp, b.pp, b.vpp, b.dp, b.cp, b.ep, b.micro_batch, b.grad_accum));
    CHECK(std::tuple(a.recompute, a.sharding, a.offload, a.sequence_parallel, a.activation_offload) ==
          std::tuple(b.recompute, b.sharding, b.offload, b.sequence_parallel, b.activation_offload));
  }
  CHECK(fast.evaluated + fast.too_large == slow.evaluated);
  CHECK(fast.checked <= slow.evaluated);
}

}  // namespace

TEST_CASE("layout search: finds what brute force finds, dense and with experts", "[perf][slow]") {
  const Ceilings ceilings(built_in());
  const ServedModel dense = served("llama-3.1-8b", "bf16");
  const ServedModel sparse = served("qwen3-30b-a3b", "bf16");
  for (const ServedModel* model : {&dense, &sparse}) {
    TrainingSpec job;
    job.method = TrainingMethod::pretrain;
    LayoutSpace space;
    space.devices = 16;
    space.global_batch = 64;
    space.offload = {TrainingOffload::none, TrainingOffload::all};
    space.activation_offload = {false, true};
    space.micro_batch = {1, 4};
    space.vpp = {1, 2};
    space.pp = {1, 2, 4};
    space.ep = model == &sparse ? std::vector<std::int64_t>{1, 8} : std::vector<std::int64_t>{1};
    space.keep = 3;
    const TrainingTimeInputs in = inputs(*model, job, "megatron-core", "H100-SXM5-80GB");
    check_same(search_layouts(in, space, ceilings), search_by_brute_force(in, space, ceilings));
    space.leaves_room = true;
    space.offload = {TrainingOffload::none};
    check_same(search_layouts(in, space, ceilings), search_by_brute_force(in, space, ceilings));
  }
}

TEST_CASE("layout search: more devices are not slower, and what is best fits", "[perf]") {
  const Ceilings ceilings(built_in());
  const ServedModel model = served("llama-3.1-8b", "bf16");
  double before = 1e30;
  for (const std::int64_t devices : {8, 16, 64, 256}) {
    TrainingSpec job;
    job.method = TrainingMethod::pretrain;
    const TrainingTimeInputs in = inputs(model, job, "megatron-core", "H100-SXM5-80GB");
    LayoutSpace space;
    space.devices = devices;
    space.global_batch = 1024;
    const LayoutSearch found = search_layouts(in, space, ceilings);
    REQUIRE_FALSE(found.best.empty());
    CHECK(found.best.front().step_seconds < before);
    CHECK(found.best.front().job.devices() == devices);
    before = found.best.front().step_seconds;
    TrainingTimeInputs best = in;
    best.memory.job = found.best.front().job;
    CHECK(training_memory(best.memory, nullptr).verdict != FitVerdict::does_not_fit);
  }
}

}  // namespace gpuplan::testing
