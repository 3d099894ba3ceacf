#include <gpuplan/memory/training.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "explanations.hpp"
#include "published_models.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace gpuplan::testing {
namespace {

const TrainingFramework& framework(std::string_view name) {
  return required(built_in().find_training_framework(name), name);
}

TrainingMemoryInputs training(const ServedModel& model, const TrainingSpec& job, std::string_view on = "pytorch",
                              std::string_view accelerator = "H100-SXM5-80GB") {
  TrainingMemoryInputs in;
  in.model = &model;
  in.framework = &framework(on);
  in.visible = built_in().visible_memory(gpu(accelerator));
  in.job = job;
  return in;
}

const StageMemory& phase_of(const TrainingMemory& memory, TrainingPhase phase, std::int64_t stage = 0) {
  for (const StageMemory& one : memory.phases) {
    if (one.phase == phase && one.stage == stage) return one;
  }
  throw std::runtime_error("no such phase");
}

double bytes_of(const TrainingMemory& memory, TrainingPhase phase, std::string_view id, std::int64_t stage = 0) {
  return phase_of(memory, phase, stage).terms.of(id) / bytes(1);
}

Bytes activations_of(const StageMemory& stage) {
  return stage.terms.of("activations_attention") + stage.terms.of("activations_mlp") +
         stage.terms.of("activations_experts") + stage.terms.of("activations_recurrent") +
         stage.terms.of("checkpoints");
}

TrainingSpec megatron_job(std::int64_t tp, std::int64_t pp, std::int64_t vpp, std::int64_t micro_batch) {
  TrainingSpec job;
  job.method = TrainingMethod::pretrain;
  job.tp = tp;
  job.pp = pp;
  job.vpp = vpp;
  job.micro_batch = micro_batch;
  job.grad_accum = 512;
  job.sequence = 2048;
  job.flash_attention = false;
  job.dropout = true;
  job.sequence_parallel = true;
  job.recompute = Recompute::selective;
  return job;
}

TrainingSpec lora(std::int64_t rank, std::string_view targets) {
  TrainingSpec job;
  job.method = TrainingMethod::lora;
  job.lora_rank = rank;
  job.lora_targets = parse_lora_targets(targets).value.value();
  return job;
}

}  // namespace

TEST_CASE("training memory: AdamW in mixed precision takes 16 bytes a parameter", "[training]") {
  const ServedModel model = served("llama-3.1-8b", "bf16");
  const double p = 8030261248;
  const TrainingMemory memory = training_memory(training(model, {}), nullptr);
  CHECK(bytes_of(memory, TrainingPhase::update, "weights") == Approx(2 * p));
  CHECK(bytes_of(memory, TrainingPhase::update, "gradients") == Approx(2 * p));
  CHECK(bytes_of(memory, TrainingPhase::update, "master_weights") == Approx(4 * p));
  CHECK(bytes_of(memory, TrainingPhase::update, "optimizer") == Approx(8 * p));
  CHECK(bytes_of(memory, TrainingPhase::load, "optimizer") == Approx(0).margin(0));
  CHECK(bytes_of(memory, TrainingPhase::first_step, "optimizer") == Approx(0).margin(0));
}

TEST_CASE("training memory: each precision has its own widths", "[training]") {
  const ServedModel model = served("llama-3.1-8b", "bf16");
  const double p = 8030261248;
  const auto states = [&](TrainingPrecision precision) {
    TrainingSpec job;
    job.precision = precision;
    const TrainingMemory memory = training_memory(training(model, job), nullptr);
    double sum = 0;
    for (const char* id : {"weights", "gradients", "master_weights", "optimizer"})
      sum += bytes_of(memory, TrainingPhase::update, id);
    return sum / p;
  };
  CHECK(states(TrainingPrecision::fp32) == Approx(16));  // 4 + 4 + 4 + 4
  CHECK(states(TrainingPrecision::bf16) == Approx(8));   // 2 + 2 + 2 + 2
  CHECK(states(TrainingPrecision::fp16_mixed) == Approx(16));
}

TEST_CASE("training memory: each ZeRO stage divides one thing more", "[training]") {
  const ServedModel model = served("llama-3.1-8b", "bf16");
  const double p = 8030261248;
  const auto of = [&](StateSharding sharding, std::string_view id) {
    TrainingSpec job;
    job.dp = 8;
    job.sharding = sharding;
    return bytes_of(training_memory(training(model, job), nullptr), TrainingPhase::update, id) / p;
  };
  struct Row {
    StateSharding sharding;
    double weights, gradients, states;
  };
  for (const Row& row : {Row{StateSharding::none, 2, 2, 8}, Row{StateSharding::zero1, 2, 2, 1},
                         Row{StateSharding::zero2, 2, 0.25, 1}, Row{StateSharding::zero3, 0.25, 0.25, 1},
                         Row{StateSharding::fsdp, 0.25, 0.25, 1}, Row{StateSharding::fsdp_grad, 2, 0.25, 1}}) {
    CAPTURE(to_string(row.sharding));
    CHECK(of(row.sharding, "weights") == Approx(row.weights));
    CHECK(of(row.sharding, "gradients") == Approx(row.gradients));
    CHECK(of(row.sharding, "optimizer") == Approx(row.states));
    CHECK(of(row.sharding, "master_weights") == Approx(row.states / 2));
  }
}

TEST_CASE("training memory: HSDP divides inside its group", "[training]") {
  const ServedModel model = served("llama-3.1-8b", "bf16");
  TrainingSpec job;
  job.dp = 64;
  job.sharding = StateSharding::hsdp;
  job.shard_group = 8;
  const TrainingMemory memory = training_memory(training(model, job), nullptr);
  CHECK(bytes_of(memory, TrainingPhase::update, "weights") == Approx(2 * 8030261248.0 / 8));
}

TEST_CASE("training memory: optimizers keep what their papers say", "[training]") {
  const ServedModel model = served("llama-3.1-8b", "bf16");
  const double p = 8030261248;
  const auto per_parameter = [&](Optimizer optimizer) {
    TrainingSpec job;
    job.optimizer = optimizer;
    return bytes_of(training_memory(training(model, job), nullptr), TrainingPhase::update, "optimizer") / p;
  };
  CHECK(per_parameter(Optimizer::adamw) == Approx(8));
  CHECK(per_parameter(Optimizer::adamw_8bit) == Approx(2).epsilon(0.016));  // and a scale of 4 bytes for 256 states
  CHECK(per_parameter(Optimizer::lion) == Approx(4));
  CHECK(per_parameter(Optimizer::sgd) == Approx(0).margin(0));
  CHECK(per_parameter(Optimizer::sgd_momentum) == Approx(4));
  CHECK(per_parameter(Optimizer::adafactor) < 0.01);
  // Muon: 4 bytes on the layers' matrices, 8 on embedding and head, 2 * 128256 * 4096 parameters, and on norms, 65 * 4096.
  const double others = 2 * 128256 * 4096.0 + 65 * 4096.0;
  CHECK(per_parameter(Optimizer::muon) == Approx((4 * (p - others) + 8 * others) / p));
  // Paged: the states of the largest tensor, 128256 x 4096 parameters.
  CHECK(per_parameter(Optimizer::adamw_paged) == Approx(8 * 128256 * 4096.0 / p));
}

TEST_CASE("training memory: a layer keeps sbh(34 + 5as/h) bytes", "[training]") {
  // Korthikanti et al. 2022, equation 1; with tensor parallelism equation 2: sbh(10 + 24/t + 5as/(ht)); with sequence parallelism
  // equation 4: all over t; with recomputed scores table 2: 34/t.
  const ServedModel model = gpt(48, 6144, 64);
  const double h = 6144;
  const double scores = 5 * 64 * 2048.0 / h;
  const auto per_token = [&](std::int64_t tp, bool sequence_parallel) {
    TrainingSpec job = megatron_job(tp, 1, 1, 4);
    job.sequence_parallel = sequence_parallel;
    return activation_bytes_per_token(training(model, job, "megatron-lm")) / bytes(1);
  };
  CHECK(per_token(1, false) == Approx(h * (34 + scores)));
  CHECK(per_token(8, false) == Approx(h * (10 + 24.0 / 8 + scores / 8)));
  CHECK(per_token(8, true) == Approx(h * (34 + scores) / 8));
}

TEST_CASE("training memory: full recomputation keeps a layer's input", "[training]") {
  const ServedModel model = gpt(48, 6144, 64);
  TrainingSpec job = megatron_job(8, 1, 1, 4);
  job.sequence_parallel = false;
  job.recompute = Recompute::full;
  const TrainingMemory memory = training_memory(training(model, job, "megatron-lm"), nullptr);
  // 2sbh a layer: 48 * 2 * 2048 * 4 * 6144
  CHECK(bytes_of(memory, TrainingPhase::steady, "checkpoints") == Approx(48 * 2 * 2048 * 4 * 6144.0));
}

TEST_CASE("training memory: the models of Korthikanti et al. take what the paper prints", "[training]") {
  // arXiv:2205.05198, table 3 with figure 1: parameters and optimizer states at 18 bytes a parameter (weights 2, gradients 4, master 4,
  // Adam 8), activations of the first stage with sequence parallelism and selective recomputation, in GiB. A stage between the ends
  // is compared where there is one: the figures leave the embedding out.
  struct Row {
    const char* name;
    std::int64_t layers, hidden, heads, tp, pp, vpp, micro_batch;
    double states, activations;
  };
  for (const Row& row :
       {Row{"22B", 48, 6144, 64, 8, 1, 1, 4, 45.56, 9.56}, Row{"175B", 96, 12288, 96, 8, 8, 3, 1, 45.56, 12.35},
        Row{"530B", 105, 20480, 128, 8, 35, 3, 1, 31.64, 23.08},
        Row{"1T", 128, 25600, 160, 8, 64, 1, 1, 32.96, 26.56}}) {
    CAPTURE(row.name);
    const ServedModel model = gpt(row.layers, row.hidden, row.heads);
    const TrainingMemory memory = training_memory(
        training(model, megatron_job(row.tp, row.pp, row.vpp, row.micro_batch), "megatron-lm", "A100-SXM4-80GB"),
        nullptr);
    const std::int64_t inner = row.pp > 1 ? 1 : 0;
    const StageMemory& update = phase_of(memory, TrainingPhase::update, inner);
    const Bytes states = update.terms.of("weights") + update.terms.of("gradients") + update.terms.of("master_weights") +
                         update.terms.of("optimizer");
    CHECK(states / gibibytes(1) == Approx(row.states).epsilon(0.03));
    CHECK(activations_of(phase_of(memory, TrainingPhase::steady, 0)) / gibibytes(1) ==
          Approx(row.activations).epsilon(0.03));
  }
}

TEST_CASE("training memory: LoRA trains rank times inputs plus outputs", "[training]") {
  const ServedModel model = served("llama-2-7b", "bf16");
  // 32 layers, two projections of 4096 x 4096: 2 * 8 * 8192 * 32
  CHECK(adapter_parameters(model, lora(8, "q,v")) == Approx(4194304));
  // 64 * (4 * 8192 + 3 * (4096 + 11008)) * 32
  CHECK(adapter_parameters(model, lora(64, "all")) == Approx(159907840));
  TrainingSpec dora = lora(8, "q,v");
  dora.method = TrainingMethod::dora;
  CHECK(adapter_parameters(model, dora) == Approx(4194304 + 2 * 4096 * 32));
  // Grouped keys and values are narrower: Llama 3.1 8B, v is 1024 x 4096: 8 * (8192 + 5120) * 32
  CHECK(adapter_parameters(served("llama-3.1-8b", "bf16"), lora(8, "q,v")) == Approx(8 * (8192 + 5120) * 32));
}

TEST_CASE("training memory: adapters take their full cost and the frozen weights their format's", "[training]") {
  const ServedModel model = served("llama-2-7b", "nf4");
  TrainingSpec job = lora(64, "all");
  job.method = TrainingMethod::qlora;
  const TrainingMemory memory = training_memory(training(model, job), nullptr);
  // fp32 weights, gradients and two states: 16 bytes
  CHECK(bytes_of(memory, TrainingPhase::update, "adapters") == Approx(16 * 159907840.0));
  CHECK(bytes_of(memory, TrainingPhase::update, "weights") ==
        Approx(weights_bytes(model.tensors, model.scheme) / bytes(1)));
  CHECK(bytes_of(memory, TrainingPhase::update, "gradients") == Approx(0).margin(0));
}

TEST_CASE("training memory: layers of experts are priced apart from dense ones", "[training]") {
  // Reported wrong (w07): every layer priced as dense. DeepSeek-V2-Lite: 27 layers, one dense of width 10944, 26 with 64 experts of 1408,
  // 6 a token, and 2 shared (2816). With fused norms and gate, a token keeps of an expert layer, h = 2048:
  //   norm 2h, input 2h, router scores and softmax 8 * 64; 6 copies in and out 6 * 4h; inside 6 * 1408 * 3 * 2; shared 2816 * 3 * 2
  const ServedModel model = served("deepseek-v2-lite", "bf16");
  TrainingSpec job;
  job.method = TrainingMethod::pretrain;
  job.recompute = Recompute::none;
  job.sequence = 4096;
  const TrainingMemory memory = training_memory(training(model, job, "megatron-lm"), nullptr);
  const double h = 2048;
  const double expert_layer = 4 * h + 8 * 64 + 6 * 4 * h + 6 * 1408 * 6.0 + 2816 * 6.0;
  CHECK(bytes_of(memory, TrainingPhase::steady, "activations_experts") == Approx(26 * 4096 * expert_layer));
  CHECK(bytes_of(memory, TrainingPhase::steady, "activations_mlp") == Approx(4096 * (4 * h + 10944 * 6.0)));
}

TEST_CASE("training memory: experts are divided by expert parallelism, routers and norms are not", "[training]") {
  // Reported wrong (w08): all parameters divided by TP. Mixtral 8x7B: 32 layers, 8 experts of 3 * 4096 * 14336.
  const ServedModel model = served("mixtral-8x7b", "bf16");
  const double experts = 32 * 8 * 3 * 4096.0 * 14336;
  const double whole = 32 * (8 * 4096.0 + 2 * 4096) + 4096;  // routers, norms, the last norm
  const double all = static_cast<double>(parameters(model.tensors));
  TrainingSpec job;
  job.method = TrainingMethod::pretrain;
  job.tp = 2;
  job.dp = 8;
  job.ep = 8;
  job.expert_tp = 1;
  const TrainingMemory memory = training_memory(training(model, job, "megatron-lm"), nullptr);
  const double held = experts / 8 + whole + (all - experts - whole) / 2;
  CHECK(bytes_of(memory, TrainingPhase::update, "weights") == Approx(2 * held));
}

TEST_CASE("training memory: ZeRO-3 with everything offloaded still needs live parameters, buffers and activations",
          "[training]") {
  // Reported wrong (w46, DeepSpeed#4527): a 6.8B model was said to need 0.49 GB; 14.7 to 21.3 GB were seen.
  const ServedModel model = served("llama-2-7b", "bf16");
  TrainingSpec job;
  job.dp = 8;
  job.sharding = StateSharding::zero3;
  job.offload = TrainingOffload::all;
  job.sequence = 2048;
  job.micro_batch = 8;
  job.recompute = Recompute::full;
  const TrainingMemory memory = training_memory(training(model, job, "deepspeed"), nullptr);
  CHECK(memory.peak().terms.total() >= gigabytes(14.7));
  CHECK(memory.peak().terms.total() <= gigabytes(21.3));
  CHECK(memory.peak().terms.of("gathered") >= gigabytes(2));  // 10^9 live parameters
}

TEST_CASE("training memory: a gated MLP has three matrices", "[training]") {
  // Reported wrong (w48): two. 80 layers, hidden 8192, vocabulary 152064, width 29568: 72 to 73 B.
  Architecture a;
  a.layers = 80;
  a.hidden = 8192;
  a.heads = 64;
  a.kv_heads = 8;
  a.head_dim = 128;
  a.intermediate = 29568;
  a.vocab = 152064;
  const double p = static_cast<double>(parameters(tensors_of(a)));
  CHECK(p > 72e9);
  CHECK(p < 73e9);
}

TEST_CASE("training memory: the first stages of a pipeline keep the most micro-batches", "[training]") {
  const ServedModel model = gpt(48, 6144, 64);
  TrainingSpec job = megatron_job(1, 4, 1, 1);
  job.sequence_parallel = false;
  const TrainingMemory memory = training_memory(training(model, job, "megatron-lm"), nullptr);
  const double one = 12 * 2048 * 6144 * 34.0;  // 12 layers a stage
  for (std::int64_t stage = 0; stage < 4; ++stage) {
    CAPTURE(stage);
    CHECK(activations_of(phase_of(memory, TrainingPhase::steady, stage)) / bytes(1) ==
          Approx(one * static_cast<double>(4 - stage)));
  }
  job.grad_accum = 2;  // no more than there are
  const TrainingMemory few = training_memory(training(model, job, "megatron-lm"), nullptr);
  CHECK(activations_of(phase_of(few, TrainingPhase::steady, 0)) / bytes(1) == Approx(2 * one));
}

TEST_CASE("training memory: more of anything that divides never takes more", "[training]") {
  for (const char* name : {"llama-3.1-8b", "mixtral-8x7b", "deepseek-v2-lite"}) {
    const ServedModel model = served(name, "bf16");
    const auto peak = [&](const TrainingSpec& job) {
      return training_memory(training(model, job), nullptr).peak().terms.total();
    };
    CAPTURE(name);
    for (const StateSharding sharding : {StateSharding::zero1, StateSharding::zero2, StateSharding::zero3}) {
      TrainingSpec job;
      job.recompute = Recompute::full;
      job.sharding = sharding;
      job.dp = 2;
      Bytes before = peak(job);
      for (job.dp = 4; job.dp <= 64; job.dp *= 2) {
        const Bytes now = peak(job);
        CHECK(now <= before);
        before = now;
      }
    }
    TrainingSpec job;
    job.dp = 8;
    job.recompute = Recompute::none;
    Bytes before = peak(job);
    for (const StateSharding sharding : {StateSharding::zero1, StateSharding::zero2}) {
      job.sharding = sharding;
      CHECK(peak(job) <= before);
      before = peak(job);
    }
    for (const Recompute recompute : {Recompute::selective, Recompute::full}) {
      job.recompute = recompute;
      CHECK(peak(job) <= before);
      before = peak(job);
    }
    job.sequence = 2 * job.sequence;
    CHECK(peak(job) >= before);
  }
}

TEST_CASE("training memory: terms add up, none is negative, and every formula gives its term", "[training]") {
  std::vector<TrainingSpec> jobs(6);
  jobs[1].method = TrainingMethod::qdora;
  jobs[2].sharding = StateSharding::fsdp;
  jobs[2].dp = 8;
  jobs[2].grad_accum = 4;
  jobs[3].tp = 4;
  jobs[3].pp = 2;
  jobs[3].vpp = 2;
  jobs[3].grad_accum = 16;
  jobs[3].sequence_parallel = true;
  jobs[3].flash_attention = false;
  jobs[4].precision = TrainingPrecision::fp8;
  jobs[4].sharding = StateSharding::zero1;
  jobs[4].dp = 4;
  jobs[4].ep = 4;
  jobs[4].activation_offload = true;
  jobs[5].sharding = StateSharding::zero3;
  jobs[5].dp = 4;
  jobs[5].offload = TrainingOffload::all;
  jobs[5].optimizer = Optimizer::adamw_8bit_paged;
  for (const char* name : {"llama-3.1-8b", "deepseek-v2-lite", "gpt2", "gemma-2-9b"}) {
    const ServedModel model = served(name, "nf4");
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      for (const TrainingFramework& on : built_in().training_frameworks()) {
        CAPTURE(name, i, on.name);
        TrainingSpec job = jobs[i];
        job.sequence = 512;
        Explain why;
        const auto in = training(model, job, on.name);
        const TrainingMemory silent = training_memory(in, nullptr);
        const TrainingMemory memory = training_memory(in, &why);
        CHECK(memory.peak().terms.total().base() == silent.peak().terms.total().base());
        check_formulas(why);
        REQUIRE(why.terms().size() == memory.peak().terms.terms().size());
        for (const StageMemory& phase : memory.phases) {
          Bytes sum;
          for (const auto& term : phase.terms.terms()) {
            sum += term.value;
            CHECK(term.value >= Bytes{});
            CHECK(term.low <= term.value);
            CHECK(term.high >= term.value);
          }
          CHECK(sum / phase.terms.total() == Approx(1));
          CHECK(std::isfinite(phase.terms.total() / bytes(1)));
        }
        for (std::size_t k = 0; k < why.terms().size(); ++k)
          CHECK(why.terms()[k].id == "memory." + std::string(memory.peak().terms.terms()[k].id));
      }
    }
  }
}

TEST_CASE("training memory: the largest micro-batch is what counting one by one finds", "[training]") {
  for (const char* name : {"llama-3.2-1b", "gemma-2-2b"}) {
    const ServedModel model = served(name, "nf4");
    for (const TrainingMethod method : {TrainingMethod::full, TrainingMethod::lora, TrainingMethod::qlora}) {
      for (const char* on : {"pytorch", "torchtune", "megatron-lm"}) {
        TrainingSpec job;
        job.method = method;
        job.sequence = 2048;
        job.recompute = Recompute::full;
        auto in = training(model, job, on, "RTX 4090");
        const std::int64_t found = largest_micro_batch(in);
        std::int64_t counted = 0;
        for (in.job.micro_batch = 1; in.job.micro_batch < 1000; ++in.job.micro_batch) {
          if (training_memory(in, nullptr).verdict == FitVerdict::does_not_fit) break;
          counted = in.job.micro_batch;
        }
        CAPTURE(name, on, to_string(method));
        CHECK(found == counted);
      }
    }
  }
}

TEST_CASE("training memory: the longest sequence fits and the next does not", "[training]") {
  const ServedModel model = served("llama-3.2-1b", "bf16");
  TrainingSpec job;
  job.recompute = Recompute::full;
  auto in = training(model, job, "pytorch", "RTX 4090");
  const std::int64_t longest = longest_sequence(in, 1 << 20);
  REQUIRE(longest > 0);
  in.job.sequence = longest;
  CHECK(training_memory(in, nullptr).verdict != FitVerdict::does_not_fit);
  in.job.sequence = longest + 1;
  CHECK(training_memory(in, nullptr).verdict == FitVerdict::does_not_fit);
}

TEST_CASE("training memory: a refused job is told the cheapest change that makes it fit", "[training]") {
  // Llama 3.1 8B, LoRA without recomputation on a card of 24 GiB: 15 GiB of weights; activations of 4096 tokens do not fit beside.
  const ServedModel model = served("llama-3.1-8b", "bf16");
  TrainingSpec job = lora(16, "all");
  job.precision = TrainingPrecision::bf16;
  job.recompute = Recompute::none;
  const auto in = training(model, job, "torchtune", "RTX 4090");
  REQUIRE(training_memory(in, nullptr).verdict == FitVerdict::does_not_fit);
  const auto changes = changes_that_fit(in);
  REQUIRE_FALSE(changes.empty());
  CHECK(changes.front().id == "recompute");
  for (const TrainingChange& change : changes) {
    auto changed = in;
    changed.job = change.job;
    CAPTURE(change.id);
    CHECK(training_memory(changed, nullptr).verdict != FitVerdict::does_not_fit);
  }
}

TEST_CASE("training memory: an unknown memory fits nothing", "[training]") {
  const ServedModel model = served("gpt2", "bf16");
  auto in = training(model, {});
  in.visible = {};
  CHECK(training_memory(in, nullptr).verdict == FitVerdict::does_not_fit);
  CHECK(largest_micro_batch(in) == 0);
  CHECK(longest_sequence(in, 4096) == 0);
}

TEST_CASE("training memory: the quick verdict is that of all stages and phases", "[memory]") {
  const std::vector<ServedModel> models = {served("llama-3.1-8b", "bf16"), served("qwen3-30b-a3b", "bf16")};
  int of_each[3] = {0, 0, 0};
  for (const ServedModel& model : models) {
    for (const std::string_view on : {"pytorch", "megatron-core", "deepspeed"}) {
      for (const std::int64_t pp : {1, 2, 3, 5, 16}) {
        for (const std::int64_t micro_batch : {1, 4, 16}) {
          for (const Recompute recompute : {Recompute::none, Recompute::full}) {
            for (const StateSharding sharding : {StateSharding::none, StateSharding::zero1, StateSharding::fsdp}) {
              TrainingSpec job;
              job.pp = pp;
              job.dp = 8;
              job.tp = pp == 16 ? 2 : 1;
              job.vpp = pp == 2 ? 2 : 1;
              job.micro_batch = micro_batch;
              job.grad_accum = 32;
              job.recompute = recompute;
              job.sharding = sharding;
              const TrainingMemoryInputs in = training(model, job, on);
              const FitVerdict whole = training_memory(in, nullptr).verdict;
              CAPTURE(on, pp, micro_batch);
              CHECK(training_verdict(in) == whole);
              ++of_each[static_cast<std::size_t>(whole)];
            }
          }
        }
      }
    }
  }
  for (const int times : of_each) CHECK(times > 0);
}

}  // namespace gpuplan::testing
