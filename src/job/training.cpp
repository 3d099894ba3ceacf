#include <gpuplan/job/training.hpp>

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace gpuplan {
namespace {

/// A word and what else people write for it.
template <class E>
struct Word {
  E value;
  std::string_view name;
  std::string_view others;  // with spaces between them
};

constexpr Word<TrainingMethod> kMethods[] = {{TrainingMethod::pretrain, "pretrain", "pretraining"},
                                             {TrainingMethod::full, "full", "sft"},
                                             {TrainingMethod::lora, "lora", ""},
                                             {TrainingMethod::qlora, "qlora", ""},
                                             {TrainingMethod::dora, "dora", ""},
                                             {TrainingMethod::qdora, "qdora", ""}};
constexpr Word<Optimizer> kOptimizers[] = {
    {Optimizer::adamw, "adamw", "adam fused-adam hybrid-adam"},
    {Optimizer::adamw_8bit, "adamw-8bit", "adam-8bit adam8bit adamw8bit"},
    {Optimizer::adamw_paged, "adamw-paged", "paged-adamw paged-adamw-32bit"},
    {Optimizer::adamw_8bit_paged, "adamw-8bit-paged", "paged-adamw-8bit pagedadamw8bit"},
    {Optimizer::adafactor, "adafactor", ""},
    {Optimizer::lion, "lion", ""},
    {Optimizer::lion_8bit, "lion-8bit", "lion8bit"},
    {Optimizer::sgd, "sgd", ""},
    {Optimizer::sgd_momentum, "sgd-momentum", "momentum"},
    {Optimizer::muon, "muon", ""}};
constexpr Word<TrainingPrecision> kPrecisions[] = {{TrainingPrecision::fp32, "fp32", "float32 tf32 32-true"},
                                                   {TrainingPrecision::bf16_mixed, "bf16-mixed", "mixed"},
                                                   {TrainingPrecision::fp16_mixed, "fp16-mixed", "fp16"},
                                                   {TrainingPrecision::bf16, "bf16", "bf16-true bf16-pure"},
                                                   {TrainingPrecision::fp8, "fp8", ""},
                                                   {TrainingPrecision::fp4, "fp4", ""}};
constexpr Word<StateSharding> kShardings[] = {{StateSharding::none, "0", "none ddp"},
                                              {StateSharding::zero1, "1", "zero-1"},
                                              {StateSharding::zero2, "2", "zero-2"},
                                              {StateSharding::zero3, "3", "zero-3"},
                                              {StateSharding::fsdp, "fsdp", "fsdp1 fsdp2 full-shard"},
                                              {StateSharding::fsdp_grad, "fsdp-grad", "shard-grad-op"},
                                              {StateSharding::hsdp, "hsdp", "hybrid-shard"}};
constexpr Word<Recompute> kRecomputes[] = {
    {Recompute::none, "none", "no"}, {Recompute::selective, "selective", ""}, {Recompute::full, "full", "yes"}};
constexpr Word<CrossEntropy> kCrossEntropies[] = {
    {CrossEntropy::plain, "plain", ""}, {CrossEntropy::chunked, "chunked", ""}, {CrossEntropy::fused, "fused", ""}};
constexpr Word<TrainingOffload> kOffloads[] = {{TrainingOffload::none, "none", "no"},
                                               {TrainingOffload::optimizer, "optimizer", ""},
                                               {TrainingOffload::all, "all", "cpu nvme parameters"}};
constexpr Word<LoraTarget> kTargets[] = {{LoraTarget::q, "q", "q-proj query"},    {LoraTarget::k, "k", "k-proj key"},
                                         {LoraTarget::v, "v", "v-proj value"},    {LoraTarget::o, "o", "o-proj output"},
                                         {LoraTarget::gate, "gate", "gate-proj"}, {LoraTarget::up, "up", "up-proj"},
                                         {LoraTarget::down, "down", "down-proj"}, {LoraTarget::experts, "experts", ""},
                                         {LoraTarget::head, "head", "lm-head"}};
struct TargetGroup {
  std::string_view name;
  std::array<LoraTarget, 8> targets;
  std::size_t count;
};
constexpr TargetGroup kTargetGroups[] = {{"attention", {LoraTarget::q, LoraTarget::k, LoraTarget::v, LoraTarget::o}, 4},
                                         {"mlp", {LoraTarget::gate, LoraTarget::up, LoraTarget::down}, 3},
                                         {"all",
                                          {LoraTarget::q, LoraTarget::k, LoraTarget::v, LoraTarget::o, LoraTarget::gate,
                                           LoraTarget::up, LoraTarget::down, LoraTarget::experts},
                                          8}};

template <class E>
std::string_view name_of(std::span<const Word<E>> words, E value) {
  for (const Word<E>& word : words) {
    if (word.value == value) return word.name;
  }
  return words.front().name;
}

template <class E>
const Word<E>* find_word(std::span<const Word<E>> words, std::string_view text) {
  const std::string key = lookup_key(text);
  for (const Word<E>& word : words) {
    if (lookup_key(word.name) == key) return &word;
    for (const std::string& other : split(word.others, ' ')) {
      if (lookup_key(other) == key) return &word;
    }
  }
  return nullptr;
}

template <class E>
std::vector<std::string_view> names_of(std::span<const Word<E>> words) {
  std::vector<std::string_view> names;
  for (const Word<E>& word : words) names.push_back(word.name);
  return names;
}

template <class Value>
Parsed<Value> refuse(std::string_view what, std::string_view text, const std::vector<std::string_view>& names) {
  const std::vector<std::string> listed(names.begin(), names.end());
  return Parsed<Value>::fail("unknown " + std::string(what) + " '" + std::string(text) + "'", join(listed, ", "),
                             nearest_name(text, names), "input.unknown_name");
}

template <class E>
Parsed<E> parse_word(std::span<const Word<E>> words, std::string_view what, std::string_view text) {
  if (const Word<E>* word = find_word(words, text)) return Parsed<E>::ok(word->value);
  return refuse<E>(what, text, names_of(words));
}

Problem contradiction(std::string message, std::string_view flag, std::string expected) {
  return {"input.contradiction", std::move(message), Place{std::string(flag), 0, 0}, std::move(expected), {}, {}};
}

void add_target(std::vector<LoraTarget>& targets, LoraTarget target) {
  if (std::find(targets.begin(), targets.end(), target) == targets.end()) targets.push_back(target);
}

}  // namespace

std::string_view to_string(TrainingMethod value) { return name_of<TrainingMethod>(kMethods, value); }
std::string_view to_string(Optimizer value) { return name_of<Optimizer>(kOptimizers, value); }
std::string_view to_string(TrainingPrecision value) { return name_of<TrainingPrecision>(kPrecisions, value); }
std::string_view to_string(StateSharding value) { return name_of<StateSharding>(kShardings, value); }
std::string_view to_string(Recompute value) { return name_of<Recompute>(kRecomputes, value); }
std::string_view to_string(CrossEntropy value) { return name_of<CrossEntropy>(kCrossEntropies, value); }
std::string_view to_string(TrainingOffload value) { return name_of<TrainingOffload>(kOffloads, value); }

std::string to_string(const std::vector<LoraTarget>& targets) {
  std::vector<std::string> names;
  for (const LoraTarget target : targets) names.emplace_back(name_of<LoraTarget>(kTargets, target));
  return join(names, ",");
}

Parsed<TrainingMethod> parse_training_method(std::string_view text) {
  return parse_word<TrainingMethod>(kMethods, "training method", text);
}
Parsed<Optimizer> parse_optimizer(std::string_view text) {
  return parse_word<Optimizer>(kOptimizers, "optimizer", text);
}
Parsed<TrainingPrecision> parse_training_precision(std::string_view text) {
  return parse_word<TrainingPrecision>(kPrecisions, "precision", text);
}
Parsed<StateSharding> parse_state_sharding(std::string_view text) {
  return parse_word<StateSharding>(kShardings, "ZeRO stage", text);
}
Parsed<Recompute> parse_recompute(std::string_view text) {
  return parse_word<Recompute>(kRecomputes, "recompute", text);
}
Parsed<CrossEntropy> parse_cross_entropy(std::string_view text) {
  return parse_word<CrossEntropy>(kCrossEntropies, "cross-entropy", text);
}
Parsed<TrainingOffload> parse_training_offload(std::string_view text) {
  return parse_word<TrainingOffload>(kOffloads, "offload", text);
}

Parsed<std::vector<LoraTarget>> parse_lora_targets(std::string_view text) {
  using Result = Parsed<std::vector<LoraTarget>>;
  std::vector<LoraTarget> targets;
  for (const std::string& part : split(text, ',')) {
    const auto group = std::find_if(std::begin(kTargetGroups), std::end(kTargetGroups),
                                    [&](const TargetGroup& g) { return lookup_key(g.name) == lookup_key(part); });
    if (group != std::end(kTargetGroups)) {
      for (std::size_t i = 0; i < group->count; ++i) add_target(targets, group->targets[i]);
    } else if (const Word<LoraTarget>* word = find_word<LoraTarget>(kTargets, part)) {
      add_target(targets, word->value);
    } else {
      auto names = names_of<LoraTarget>(kTargets);
      for (const TargetGroup& g : kTargetGroups) names.push_back(g.name);
      return refuse<std::vector<LoraTarget>>("LoRA target", part, names);
    }
  }
  if (targets.empty()) return Result::fail("no LoRA target", "all, attention, mlp, or names such as q,v", {});
  return Result::ok(std::move(targets));
}

std::vector<LoraTarget> all_linear_targets() {
  const TargetGroup& all = kTargetGroups[2];
  return {all.targets.begin(), all.targets.begin() + static_cast<std::ptrdiff_t>(all.count)};
}

std::vector<Problem> check_training(const TrainingSpec& job) {
  std::vector<Problem> problems;
  const std::pair<std::string_view, std::int64_t> counts[] = {{"--dp", job.dp},
                                                              {"--tp", job.tp},
                                                              {"--pp", job.pp},
                                                              {"--vpp", job.vpp},
                                                              {"--cp", job.cp},
                                                              {"--ep", job.ep},
                                                              {"--seq", job.sequence},
                                                              {"--micro-batch", job.micro_batch},
                                                              {"--grad-accum", job.grad_accum},
                                                              {"--lora-rank", job.lora_rank}};
  constexpr std::int64_t kMost = 1'000'000'000;
  for (const auto& [flag, value] : counts) {
    if (value >= 1 && value <= kMost) continue;
    Problem p;
    p.id = "input.out_of_range";
    p.message = std::string(flag.substr(2)) + " is " + std::to_string(value);
    p.place = Place{std::string(flag), 0, 0};
    p.expected = "1 to " + std::to_string(kMost);
    problems.push_back(std::move(p));
  }
  if (!problems.empty()) return problems;
  // Experts that are not divided by tensor parallelism are spread over its ranks, too.
  const std::int64_t each = job.expert_tp > 0 ? std::max<std::int64_t>(1, job.tp / job.expert_tp) : 1;
  if (job.ep > job.dp * job.cp * each) {
    problems.push_back(contradiction("experts over " + std::to_string(job.ep) + " ranks, but there are " +
                                         std::to_string(job.dp * job.cp * each) + " data- and context-parallel ranks",
                                     "--ep", "a divisor of dp x cp"));
  }
  if (job.vpp > 1 && job.pp == 1) {
    problems.push_back(contradiction("an interleaved schedule needs a pipeline", "--vpp", "1, or --pp of at least 2"));
  }
  if (job.sequence_parallel && job.tp == 1) {
    problems.push_back(contradiction("sequence parallelism divides among tensor-parallel ranks, and there is one",
                                     "--sequence-parallel", "no, or --tp of at least 2"));
  }
  return problems;
}

}  // namespace gpuplan
