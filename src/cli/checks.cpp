#include "checks.hpp"

#include <gpuplan/base/error.hpp>

#include <algorithm>
#include <utility>

namespace gpuplan::cli {
namespace {

[[noreturn]] void contradict(std::string message, const std::string& flag, std::string expected) {
  throw InputError(Problem{"input.contradiction", std::move(message), Place{flag, 0, 0}, std::move(expected), {}, {}});
}

bool has(const std::vector<std::string>& said, std::string_view flag) {
  return std::find(said.begin(), said.end(), flag) != said.end();
}

// The first flag that was said and means nothing; empty: there is none.
std::string first_said(const std::vector<std::string>& said, const FlagNames& but) {
  const auto refused = std::find_if(said.begin(), said.end(), [&](const std::string& flag) {
    return std::find(but.begin(), but.end(), flag) == but.end();
  });
  return refused == said.end() ? std::string() : "--" + *refused;
}

}  // namespace

void refuse_training_flags(const Options& options, const FlagNames& but) {
  const std::string flag = first_said(options.said_of_training, but);
  if (!flag.empty()) contradict(flag + " is about training jobs", flag, "--train with a method beside it");
}

void refuse_parts_flags(const Options& options, const FlagNames& but) {
  const std::string flag = first_said(options.said_of_parts, but);
  if (flag.empty()) return;
  contradict(flag + " is about networks that do not generate token by token", flag,
             "a diffusion pipeline, an encoder or an image network as --model");
}

void refuse_residency_flags(const Options& options, const FlagNames& but) {
  std::string flag = first_said(options.said_of_residency, but);
  if (flag.empty()) flag = first_said(options.said_of_load, but);
  if (flag.empty()) return;
  contradict(flag + " is about serving a language model", flag,
             "a language model that generates as --model, and no --train");
}

void refuse_serving_flags(const Options& options, TrainingMethod method) {
  const JobSpec& job = options.job;
  const std::pair<std::string_view, bool> said[] = {
      {"concurrency", !job.concurrency.is_default}, {"input", !job.input.is_default},
      {"output", !job.output.is_default},           {"context", !job.context.is_default},
      {"kv-dtype", !job.kv_dtype.is_default},       {"engine", !job.engine.is_default}};
  for (const auto& [name, is_said] : said) {
    const std::string flag = "--" + std::string(name);
    if (!is_said) continue;
    const bool length = name == "context" || name == "input" || name == "output";
    contradict(flag + " is about serving, and this is a training job", flag,
               length               ? "--seq, the length of the training sequences"
               : name == "engine"   ? "--framework"
               : name == "kv-dtype" ? "--precision"
                                    : "--micro-batch or --global-batch");
  }
  const bool quantized = method == TrainingMethod::qlora || method == TrainingMethod::qdora;
  if (!job.dtype.is_default && !quantized)
    contradict("--dtype is about weights that are not trained", "--dtype", "--precision, or --train qlora");
  if (has(options.said_of_training, "grad-accum") && options.global_batch)
    contradict("--global-batch and --grad-accum say one thing twice", "--grad-accum", "one of them");
  const bool comes_to_a_batch = has(options.said_of_training, "micro-batch") && options.count;
  if (has(options.said_of_training, "grad-accum") && !comes_to_a_batch)
    contradict("how many sequences a step has does not follow from --grad-accum alone", "--grad-accum",
               "--micro-batch and --count beside it, or --global-batch in its place");
}

void refuse_training_offload(const Options& options) {
  if (options.training.offload == TrainingOffload::none) return;
  contradict("--offload optimizer and all are about training jobs", "--offload", "none, model, sequential");
}

}  // namespace gpuplan::cli
