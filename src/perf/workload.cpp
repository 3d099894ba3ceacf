#include <gpuplan/perf/workload.hpp>

#include <gpuplan/base/error.hpp>
#include <gpuplan/topology/collectives.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

// The mean length of a sequence while it decodes.
double mean_context(const RequestShape& request) { return as_double(request.input) + as_double(request.output) / 2; }

StepShape prefill_shape(const ServingJob& job, double prompts) {
  StepShape step;
  step.phase = Phase::prefill;
  step.sequences = prompts;
  step.new_tokens = std::max(as_double(job.request.input), 1.0);
  step.logit_rows = prompts;
  return step;
}

StepShape decode_shape(const ServingJob& job, double sequences) {
  StepShape step;
  step.phase = Phase::decode;
  step.sequences = sequences;
  step.new_tokens = 1;
  step.context_tokens = mean_context(job.request);
  step.logit_rows = sequences;
  return step;
}

double running_of(const ServingCandidate& candidate) {
  const double asked = std::max(candidate.concurrency, 1.0);
  return candidate.most_running > 0 ? std::clamp(candidate.most_running, 1.0, asked) : asked;
}

StepWork step_work(const ServingJob& job, const ServingCandidate& candidate, const StepShape& shape,
                   const Ceilings& ceilings) {
  StepWork work;
  const auto operators = operators_of(job.model->architecture, job.model->scheme, *job.model->kv, shape,
                                      {candidate.layout.tp, candidate.layout.pp});
  const double bandwidth = ceilings.bandwidth(*candidate.accelerator).base();
  work.operators.reserve(operators.size());
  const double best_bandwidth = std::max(bandwidth, ceilings.peak_bandwidth(*candidate.accelerator).or_else({}).base());
  // Most operators of a step compute in the same arithmetic.
  std::optional<Arithmetic> arithmetic;
  double ceiling = 0;
  double best_ceiling = 0;
  for (const Operator& op : operators) {
    if (arithmetic != op.arithmetic) {
      arithmetic = op.arithmetic;
      ceiling = ceilings.compute(*candidate.accelerator, op.arithmetic).base();
      best_ceiling = std::max(ceiling, ceilings.peak(*candidate.accelerator, op.arithmetic).or_else({}).base());
    }
    work.operators.push_back({op, ceiling, bandwidth, best_ceiling, best_bandwidth});
  }
  work.collectives = step_collectives(job, candidate, shape.phase, shape.sequences * shape.new_tokens, nullptr);
  work.sequences = shape.sequences;
  return work;
}

// Kernels that read every peer's buffer at once need one exchange where a ring needs 2(n-1): the latency of the smallest group,
// and (n-1) S over the link. Engines use them for the small messages of decode; they need peer-to-peer access.
Seconds one_shot_time(const FabricLevel& level, std::int64_t devices, Bytes size) {
  const double peers = as_double(devices - 1);
  return level.latency_2 + peers * (size / (level.rate * level.point_to_point_efficiency));
}

Seconds reduce_time(const FabricLevel& level, std::int64_t devices, Bytes size, Phase phase, Explain* why) {
  if (devices <= 1) return {};
  GPUPLAN_ASSERT(level.rate > BytesPerSecond{}, "a link of known rate joins the devices of a tensor-parallel group");
  const Seconds ring = all_reduce_time(level, devices, size, why);
  if (level.crosses_host) return ring;
  const Seconds one_shot = one_shot_time(level, devices, size);
  if (why) {
    why->term("time." + std::string(to_string(phase)) + ".all_reduce", std::min(ring, one_shot),
              "min(ring, latency + (devices - 1) * size / (rate * efficiency))",
              {{"ring", ring},
               {"latency", level.latency_2},
               {"devices", as_double(devices)},
               {"size", size},
               {"rate", level.rate},
               {"efficiency", level.point_to_point_efficiency}});
  }
  return std::min(ring, one_shot);
}

}  // namespace

EngineConstants constants_of(const Engine& engine) {
  return {engine.compute_efficiency.or_else(1),
          engine.dequantized_efficiency.or_else(1),
          engine.attention_efficiency.or_else(1),
          engine.bandwidth_efficiency.or_else(1),
          engine.overlap.or_else(0),
          engine.launch.or_else({}).base(),
          engine.step.or_else({}).base(),
          engine.request.or_else({}).base()};
}

// An all-reduce after each mixer and after each MLP, of the step's hidden states in 16 bit.
Seconds step_collectives(const ServingJob& job, const ServingCandidate& candidate, Phase phase, double tokens,
                         Explain* why) {
  const Architecture& a = job.model->architecture;
  const Bytes hidden_states = tokens * as_double(a.hidden) * bytes(2);
  double reduces = 0;
  for (const MixerGroup& group : mixers_of(a)) reduces += as_double(group.layers);
  if (!a.parallel_blocks) {
    for (const MlpGroup& group : mlps_of(a)) reduces += as_double(group.layers);
  }
  const Seconds each = reduce_time(candidate.fabric.inside, candidate.layout.tp, hidden_states, phase, why);
  const FabricLevel& hop =
      candidate.fabric.between.rate > BytesPerSecond{} ? candidate.fabric.between : candidate.fabric.inside;
  const double hops = as_double(candidate.layout.pp - 1);
  const Seconds handover = hops > 0 ? point_to_point_time(hop, hidden_states) : Seconds{};
  const Seconds total = reduces * each + hops * handover;
  if (why) {
    why->term("time." + std::string(to_string(phase)) + ".collectives", total, "reduces * all_reduce + hops * handover",
              {{"reduces", reduces}, {"all_reduce", each}, {"hops", hops}, {"handover", handover}});
  }
  return total;
}

ServingWork serving_work(const ServingJob& job, const ServingCandidate& candidate, const Ceilings& ceilings) {
  ServingWork work;
  work.input = as_double(job.request.input);
  work.output = std::max(as_double(job.request.output), 1.0);
  work.in_flight = std::max(candidate.concurrency, 1.0);
  work.running = running_of(candidate);
  work.stages = as_double(candidate.layout.pp);
  work.in_step = job.engine->prefill_first;
  const double room = job.engine->max_batched_tokens.known()
                          ? std::floor(as_double(*job.engine->max_batched_tokens) / std::max(work.input, 1.0))
                          : 1;
  work.batched = std::max(1.0, std::min(work.running, room));
  work.prompt = step_work(job, candidate, prefill_shape(job, 1), ceilings);
  if (work.batched > 1) work.prompts = step_work(job, candidate, prefill_shape(job, work.batched), ceilings);
  // The stages of a pipeline work on as many micro-batches at once.
  work.decode = step_work(job, candidate, decode_shape(job, std::max(1.0, work.running / work.stages)), ceilings);
  return work;
}

double compute_share(const EngineConstants& constants, const Operator& op) {
  if (op.kind == OperatorKind::attention) return constants.attention;
  return op.weight_only ? constants.dequantized : constants.compute;
}

double step_seconds(const StepWork& work, const EngineConstants& constants) {
  double operators = 0;
  for (const OperatorWork& w : work.operators) {
    const double rate = w.ceiling > 0 ? w.ceiling * compute_share(constants, w.op) : kUnlimitedCompute;
    operators += w.op.count * operator_seconds<double>(w.op.flops.base(), w.op.bytes.base(), rate,
                                                       w.bandwidth * constants.bandwidth,
                                                       w.op.kernels * constants.launch, constants.overlap);
  }
  return operators + work.collectives.base() + work.sequences * constants.step;
}

PhaseSeconds phase_seconds(const ServingWork& work, const EngineConstants& constants) {
  PhaseSeconds phases;
  phases.prompt = step_seconds(work.prompt, constants);
  phases.prompts = work.batched > 1 ? step_seconds(work.prompts, constants) : phases.prompt;
  phases.decode = step_seconds(work.decode, constants);
  return phases;
}

PhaseSeconds floor_seconds(const ServingWork& work) {
  const auto floor_of = [](const StepWork& step) {
    double sum = 0;
    for (const OperatorWork& w : step.operators) {
      const double rate = w.best_ceiling > 0 ? w.best_ceiling : kUnlimitedCompute;
      sum += w.op.count * operator_seconds<double>(w.op.flops.base(), w.op.bytes.base(), rate, w.best_bandwidth, 0, 0);
    }
    return sum;
  };
  PhaseSeconds phases;
  phases.prompt = floor_of(work.prompt);
  phases.prompts = work.batched > 1 ? floor_of(work.prompts) : phases.prompt;
  phases.decode = floor_of(work.decode);
  return phases;
}

JoinedSeconds join_phases(const ServingWork& work, const PhaseSeconds& phases, const EngineConstants& constants,
                          Explain* why) {
  JoinedSeconds joined;
  // Each of the others brings its prompt once in the time of `output` steps. The stages of a pipeline prefill different prompts.
  const double share = phases.prompts / (work.batched * work.stages);
  const double others = work.running - 1;
  // Prompts first: requests that started together prefill one after the other, half of the others' before the first token of the one in
  // the middle, half after it. Else a step takes a prompt along whenever one has come.
  const double before = work.in_step ? others / 2 : 0;
  joined.step = phases.decode;
  joined.tpot = phases.decode + (others - before) / work.output * share;
  joined.prefill = constants.request + phases.prompt;
  // A new prompt waits for the rest of the running step, which carries its part of the others' prompts.
  const double waiting = std::min(others, 1.0) * joined.tpot / 2;
  // Requests beyond what runs at once wait until their turn comes: Little's law over the whole time of a running request.
  const double running_time = joined.prefill + waiting + before * share + (work.output - 1) * joined.tpot;
  const double queued = (work.in_flight / work.running - 1) * running_time;
  joined.ttft = joined.prefill + waiting + before * share + queued;
  if (why) {
    why->term("time.prefill_share", seconds(share), "prompts / (batched * stages)",
              {{"prompts", seconds(phases.prompts)}, {"batched", work.batched}, {"stages", work.stages}});
    why->term("time.prompts_before", before, "in_step * (running - 1) / 2",
              {{"in_step", work.in_step ? 1.0 : 0.0}, {"running", work.running}});
    why->term("time.tpot", seconds(joined.tpot), "step + (running - 1 - prompts_before) / output * prefill_share",
              {{"step", seconds(phases.decode)},
               {"running", work.running},
               {"prompts_before", before},
               {"output", work.output},
               {"prefill_share", seconds(share)}});
    why->term("time.waiting", seconds(waiting), "min(running - 1, 1) * tpot / 2",
              {{"running", work.running}, {"tpot", seconds(joined.tpot)}});
    why->term("time.queued", seconds(queued),
              "(in_flight / running - 1) * (request + prompt + waiting + prompts_before * prefill_share + (output - 1) "
              "* tpot)",
              {{"in_flight", work.in_flight},
               {"running", work.running},
               {"request", seconds(constants.request)},
               {"prompt", seconds(phases.prompt)},
               {"waiting", seconds(waiting)},
               {"prompts_before", before},
               {"prefill_share", seconds(share)},
               {"output", work.output},
               {"tpot", seconds(joined.tpot)}});
    why->term("time.ttft", seconds(joined.ttft), "request + prompt + waiting + prompts_before * prefill_share + queued",
              {{"request", seconds(constants.request)},
               {"prompt", seconds(phases.prompt)},
               {"waiting", seconds(waiting)},
               {"prompts_before", before},
               {"prefill_share", seconds(share)},
               {"queued", seconds(queued)}});
  }
  return joined;
}

}  // namespace gpuplan
