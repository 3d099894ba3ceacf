// What of a job fits, and what would make it fit.

#include <gpuplan/memory/training_terms.hpp>

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <cmath>

namespace gpuplan {
namespace {

TrainingMemory memory_with(const TrainingMemoryInputs& in, const TrainingSpec& job) {
  TrainingMemoryInputs changed = in;
  changed.job = job;
  return training_memory(changed, nullptr);
}

bool fits(const TrainingMemoryInputs& in, const TrainingSpec& job) {
  TrainingMemoryInputs changed = in;
  changed.job = job;
  return training_verdict(changed) != FitVerdict::does_not_fit;
}

/// One thing that can be changed, if the job does not have it already.
struct Step {
  std::string_view id;
  std::string_view cost;
  bool (*apply)(const TrainingMemoryInputs& in, TrainingSpec& job, std::string& message);
};

bool set_chunked(const TrainingMemoryInputs& in, TrainingSpec& job, std::string& message) {
  if (cross_entropy_of(in) != CrossEntropy::plain) return false;
  job.cross_entropy = CrossEntropy::chunked;
  message = "compute the loss in chunks";
  return true;
}
bool set_flash(const TrainingMemoryInputs&, TrainingSpec& job, std::string& message) {
  if (job.flash_attention) return false;
  job.flash_attention = true;
  message = "use flash attention";
  return true;
}
bool set_sharding(const TrainingMemoryInputs&, TrainingSpec& job, std::string& message) {
  if (job.dp * job.cp == 1) return false;
  switch (job.sharding) {
    case StateSharding::none:
      job.sharding = StateSharding::zero1;
      message = "divide the optimizer's states among the data-parallel ranks (ZeRO-1)";
      return true;
    case StateSharding::zero1:
      job.sharding = StateSharding::zero2;
      message = "divide gradients too (ZeRO-2)";
      return true;
    case StateSharding::zero2:
    case StateSharding::fsdp_grad:
      job.sharding = StateSharding::zero3;
      message = "divide weights too (ZeRO-3)";
      return true;
    default:
      return false;
  }
}
bool set_full_sharding(const TrainingMemoryInputs&, TrainingSpec& job, std::string& message) {
  const bool has = job.sharding == StateSharding::zero3 || job.sharding == StateSharding::fsdp;
  if (job.dp * job.cp == 1 || has) return false;
  job.sharding = StateSharding::fsdp;
  message = "divide weights, gradients and states among the data-parallel ranks (ZeRO-3 or FSDP)";
  return true;
}
bool set_small_optimizer(const TrainingMemoryInputs&, TrainingSpec& job, std::string& message) {
  if (job.optimizer == Optimizer::adamw) {
    job.optimizer = Optimizer::adamw_8bit;
  } else if (job.optimizer == Optimizer::lion) {
    job.optimizer = Optimizer::lion_8bit;
  } else {
    return false;
  }
  message = "keep the optimizer's states in 8 bit (" + std::string(to_string(job.optimizer)) + ")";
  return true;
}
bool set_selective(const TrainingMemoryInputs& in, TrainingSpec& job, std::string& message) {
  if (job.flash_attention || recompute_of(in) != Recompute::none) return false;
  job.recompute = Recompute::selective;
  message = "recompute the attention scores";
  return true;
}
bool set_recompute(const TrainingMemoryInputs& in, TrainingSpec& job, std::string& message) {
  if (recompute_of(in) == Recompute::full) return false;
  job.recompute = Recompute::full;
  message = "recompute every layer in the backward pass";
  return true;
}
bool set_smaller_batch(const TrainingMemoryInputs& in, TrainingSpec& job, std::string& message) {
  if (job.micro_batch == 1) return false;
  TrainingMemoryInputs changed = in;
  changed.job = job;
  const std::int64_t most = largest_micro_batch(changed);
  if (most < 1 || most >= job.micro_batch) return false;
  const std::int64_t parts = (job.micro_batch + most - 1) / most;
  job.grad_accum *= parts;
  job.micro_batch = most;
  message = "a micro-batch of " + std::to_string(most) + ", accumulated " + std::to_string(job.grad_accum) + " times";
  return true;
}
bool set_offload(const TrainingMemoryInputs&, TrainingSpec& job, std::string& message) {
  if (job.offload != TrainingOffload::none) return false;
  job.offload = TrainingOffload::optimizer;
  message = "keep the optimizer's states in host memory";
  return true;
}
bool add_device(const TrainingMemoryInputs&, TrainingSpec& job, std::string& message) {
  job.dp += 1;
  if (job.sharding == StateSharding::none) job.sharding = StateSharding::fsdp;
  message = "one more device a replica group: " + std::to_string(job.devices()) + " in all, states divided among them";
  return true;
}

// By what they cost: nothing, traffic, accuracy, a third more time, more time, hardware.
constexpr Step kSteps[] = {
    {"cross_entropy", "next to nothing", set_chunked},
    {"flash_attention", "nothing: it is faster", set_flash},
    {"zero", "the same traffic between devices", set_sharding},
    {"recompute_selective", "about 3 % of the time", set_selective},
    {"optimizer", "nothing measurable in most jobs", set_small_optimizer},
    {"micro_batch", "smaller products, the same step", set_smaller_batch},
    {"sharding", "half as much traffic again", set_full_sharding},
    {"recompute", "a forward pass more, about a third of the time", set_recompute},
    {"offload", "traffic to the host in every step", set_offload},
    {"device", "one more device", add_device},
};

std::vector<TrainingChange> apply_all(const TrainingMemoryInputs& in, std::size_t from, const TrainingChange* before) {
  std::vector<TrainingChange> changes;
  for (std::size_t i = from; i < std::size(kSteps); ++i) {
    TrainingMemoryInputs now = in;
    if (before) now.job = before->job;
    TrainingChange change;
    change.job = now.job;
    if (!kSteps[i].apply(now, change.job, change.message)) continue;
    change.id = kSteps[i].id;
    change.cost = kSteps[i].cost;
    if (before) {
      change.id = before->id + "+" + change.id;
      change.message = before->message + "; " + change.message;
      change.cost = before->cost + "; " + change.cost;
    }
    const TrainingMemory memory = memory_with(in, change.job);
    change.peak = memory.peak().terms.total();
    change.verdict = memory.verdict;
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace

// Total(b) = fixed + b · slope for each phase of each stage at each moment of a pass: the largest b that all of them allow.
std::int64_t largest_micro_batch(const TrainingMemoryInputs& in) {
  TrainingMemoryInputs at = in;
  at.job.recompute = recompute_of(in);
  at.job.micro_batch = 0;
  const std::vector<Bytes> fixed = moment_totals(at);
  at.job.micro_batch = 1;
  const std::vector<Bytes> with_one = moment_totals(at);
  const Bytes capacity = in.visible.or_else({});
  constexpr double kMost = 1e9;
  double most = kMost;
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    if (fixed[i] > capacity) return 0;
    const Bytes slope = with_one[i] - fixed[i];
    if (slope > Bytes{}) most = std::min(most, std::floor((capacity - fixed[i]) / slope));
  }
  return static_cast<std::int64_t>(most);
}

std::int64_t longest_sequence(const TrainingMemoryInputs& in, std::int64_t limit) {
  TrainingSpec job = in.job;
  job.recompute = recompute_of(in);
  const auto holds = [&](std::int64_t tokens) {
    job.sequence = tokens;
    return fits(in, job);
  };
  if (limit < 1 || !holds(1)) return 0;
  if (holds(limit)) return limit;
  std::int64_t low = 1;
  std::int64_t high = limit;
  while (high - low > 1) {  // low fits, high does not
    const std::int64_t middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

std::vector<TrainingChange> changes_that_fit(const TrainingMemoryInputs& asked) {
  TrainingMemoryInputs in = asked;
  in.job.recompute = recompute_of(asked);
  const auto is_enough = [](const TrainingChange& c) { return c.verdict != FitVerdict::does_not_fit; };
  std::vector<TrainingChange> singles = apply_all(in, 0, nullptr);
  std::vector<TrainingChange> fitting;
  std::copy_if(singles.begin(), singles.end(), std::back_inserter(fitting), is_enough);
  if (!fitting.empty()) return fitting;
  // Chains in the order of cost, two long, then three.
  std::vector<TrainingChange> chains = std::move(singles);
  for (int length = 2; length <= 3; ++length) {
    std::vector<TrainingChange> longer;
    for (const TrainingChange& chain : chains) {
      for (TrainingChange& next : apply_all(in, 0, &chain)) {
        if (is_enough(next)) return {std::move(next)};
        longer.push_back(std::move(next));
      }
    }
    chains = std::move(longer);
  }
  return {};
}

}  // namespace gpuplan
