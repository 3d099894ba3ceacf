#include <gpuplan/perf/training.hpp>

#include "training_step.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/perf/roofline.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

double seconds_of(const PassOperator& op, double bandwidth, const TrainingConstants& c) {
  const double rate = op.ceiling > 0 ? op.ceiling * (op.attention ? c.attention : c.compute) : kUnlimitedCompute;
  // Kernels of training are long: what of memory time and compute time overlaps does, as far as one operator goes.
  return op.count *
         operator_seconds<double>(op.flops, op.bytes, rate, bandwidth * c.bandwidth, op.kernels * c.launch, 0);
}

double seconds_of(const std::vector<PassOperator>& operators, double bandwidth, const TrainingConstants& c) {
  double sum = 0;
  for (const PassOperator& op : operators) sum += seconds_of(op, bandwidth, c);
  return sum;
}

PassSeconds pass_seconds(const PassWork& pass, double bandwidth, const TrainingConstants& c) {
  PassSeconds p;
  for (const PassOperator& op : pass.operators) {
    const double taken = seconds_of(op, bandwidth, c);
    p.compute += taken;
    p.attention += op.attention ? taken : 0;
  }
  p.tensor = pass.tensor;
  p.experts = pass.experts;
  p.context = pass.context;
  return p;
}

StepSeconds seconds_of_step(const TrainingWork& work, const TrainingConstants& c) {
  return join_step(layer_seconds(work, c), state_seconds(work, c), shape_of(work), c);
}

class Recorder {
 public:
  Recorder(Breakdown<Seconds>& terms, Explain* why) : terms_(terms), why_(why) {}
  void add(std::string_view id, double value, std::string_view formula, std::vector<ExplainInput> inputs) {
    if (value <= 0) return;
    terms_.add(id, seconds(value));
    if (why_) why_->term("time." + std::string(id), seconds(value), formula, std::move(inputs));
  }

 private:
  Breakdown<Seconds>& terms_;
  Explain* why_;
};

void add_passes(const TrainingWork& work, const StepSeconds& s, Recorder& out) {
  const ExplainInput m("micro_batches", work.micro_batches);
  const std::pair<std::string_view, const StagePass*> passes[] = {
      {"forward", &s.forward}, {"backward", &s.backward}, {"recompute", &s.recomputed}};
  for (const auto& [id, pass] : passes) {
    out.add(id, work.micro_batches * pass->compute, "micro_batches * operators",
            {m, {"operators", seconds(pass->compute)}});
  }
  const std::pair<std::string_view, double StagePass::*> collectives[] = {{"tensor_parallel", &StagePass::tensor},
                                                                          {"expert_parallel", &StagePass::experts},
                                                                          {"context_parallel", &StagePass::context},
                                                                          {"sharded_weights", &StagePass::weights}};
  for (const auto& [id, member] : collectives) {
    out.add(id, work.micro_batches * (s.forward.*member + s.backward.*member + s.recomputed.*member),
            "micro_batches * (forward + backward + recomputed)",
            {m,
             {"forward", seconds(s.forward.*member)},
             {"backward", seconds(s.backward.*member)},
             {"recomputed", seconds(s.recomputed.*member)}});
  }
  out.add("ends", work.micro_batches * s.ends, "micro_batches * ends", {m, {"ends", seconds(s.ends)}});
  out.add("handover", work.micro_batches * s.handover, "micro_batches * 2 * chunks * transfer",
          {m, {"chunks", work.chunks}, {"transfer", seconds(work.handover)}});
  out.add("bubble", s.bubble, "(stages - 1) / chunks * (stage + handover)",
          {{"stages", work.stages},
           {"chunks", work.chunks},
           {"stage", seconds(s.stage)},
           {"handover", seconds(s.handover)}});
}

}  // namespace

LayerSeconds layer_seconds(const TrainingWork& work, const TrainingConstants& c) {
  LayerSeconds layers;
  layers.forward = pass_seconds(work.forward, work.bandwidth, c);
  layers.backward = pass_seconds(work.backward, work.bandwidth, c);
  layers.recomputed = pass_seconds(work.recomputed, work.bandwidth, c);
  layers.first_end = seconds_of(work.first_end, work.bandwidth, c);
  layers.last_end = seconds_of(work.last_end, work.bandwidth, c);
  layers.swapped = work.host_rate > 0 ? work.swapped_bytes / work.host_rate : 0;
  return layers;
}

StateSeconds state_seconds(const TrainingWork& work, const TrainingConstants& c) {
  return {work.forward.weights,
          work.backward.weights,
          work.gradients,
          work.regathered,
          work.update_bytes / (work.bandwidth * c.bandwidth),
          work.host_rate > 0 ? work.offload_bytes / work.host_rate : 0,
          work.host_rate > 0 ? work.offload_bytes_each / work.host_rate : 0};
}

StepShapeOf shape_of(const TrainingWork& work) {
  return {work.micro_batches,     work.stages,        work.chunks, work.fullest, work.handover,
          work.gradients_overlap, work.layers_overlap};
}

TrainingConstants constants_of(const TrainingFramework& framework) {
  return {framework.compute_efficiency.or_else(1),   framework.attention_efficiency.or_else(1),
          framework.bandwidth_efficiency.or_else(1), framework.launch.or_else({}).base(),
          framework.exposed_share.or_else(0),        framework.step.or_else({}).base()};
}

Breakdown<Seconds> step_terms(const TrainingWork& work, const TrainingConstants& constants, Explain* why) {
  Breakdown<Seconds> terms;
  Recorder out(terms, why);
  const StepSeconds s = seconds_of_step(work, constants);
  add_passes(work, s, out);
  const ExplainInput share("share", constants.hidden);
  out.add("gradients", s.gradients,
          work.gradients_overlap ? "max(0, exchange - backward) + share * min(exchange, backward)" : "exchange",
          {{"exchange", seconds(work.gradients)}, {"backward", seconds(s.backward.compute)}, share});
  out.add("regathered", s.regathered,
          work.gradients_overlap ? "max(0, gather - forward) + share * min(gather, forward)" : "gather",
          {{"gather", seconds(work.regathered)}, {"forward", seconds(s.forward.compute)}, share});
  out.add(
      "update", s.update, "moved / rate",
      {{"moved", bytes(work.update_bytes)}, {"rate", BytesPerSecond::from_base(work.bandwidth * constants.bandwidth)}});
  out.add("offload", s.offload, "(once + micro_batches * each) / rate",
          {{"once", bytes(work.offload_bytes)},
           {"micro_batches", work.micro_batches},
           {"each", bytes(work.offload_bytes_each)},
           {"rate", BytesPerSecond::from_base(work.host_rate)}});
  const double passes = s.forward.compute + s.backward.compute + s.recomputed.compute;
  out.add("swapped", work.micro_batches * s.swapped,
          "micro_batches * (max(0, traffic - passes) + share * min(traffic, passes))",
          {{"micro_batches", work.micro_batches},
           {"traffic", seconds(work.host_rate > 0 ? work.fullest * work.swapped_bytes / work.host_rate : 0)},
           {"passes", seconds(passes)},
           share});
  out.add("host", s.host, "step", {{"step", seconds(constants.step)}});
  return terms;
}

double step_seconds(const TrainingWork& work, const TrainingConstants& constants) {
  return seconds_of_step(work, constants).total(work.micro_batches);
}

TrainingTime training_time(const TrainingTimeInputs& in, const Ceilings& ceilings, Explain* why) {
  const TrainingWork work = training_work(in, ceilings);
  const TrainingFramework& framework = *in.memory.framework;
  TrainingTime t;
  t.terms = step_terms(work, constants_of(framework), why);
  const Seconds step = t.terms.total();
  t.step = {step, step * framework.time_low.or_else(1), step * framework.time_high.or_else(1)};
  // No step is faster than the datasheet's peak allows.
  const TrainingPrecision precision = in.memory.job.precision;
  const bool narrow = precision == TrainingPrecision::fp8 || precision == TrainingPrecision::fp4;  // another peak
  if (work.peak > 0 && !narrow) {
    const Seconds least = seconds(0.5 * work.model_flops / (work.peak * work.devices));
    t.step.low = std::min(t.step.value, std::max(t.step.low, least));
  }
  const Tokens tokens = gpuplan::tokens(work.tokens);
  t.tokens_per_s = {tokens / t.step.value, tokens / t.step.high, tokens / t.step.low};
  t.tokens_per_step = work.tokens;
  t.flops_per_step = work.model_flops;
  const double reached = work.peak * work.devices * (t.step.value / seconds(1));
  if (reached > 0) {
    t.mfu = work.model_flops / reached;
    t.hfu = work.hardware_flops / reached;
  }
  return t;
}

}  // namespace gpuplan
