#include <gpuplan/perf/workload.hpp>

#include <gpuplan/base/error.hpp>
#include <gpuplan/perf/cpu_slice.hpp>
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

// Tokens of a prompt that are not in the cache yet; the last one is computed always.
double cached_tokens(const ServingJob& job) {
  return std::clamp(job.prefix_hit, 0.0, 1.0) * std::max(as_double(job.request.input) - 1, 0.0);
}
double fresh_tokens(const ServingJob& job) { return std::max(as_double(job.request.input) - cached_tokens(job), 1.0); }

// Engines bound what a step computes: by the graph that they reserve, else by the tokens of a step.
double chunks_of(const ServingJob& job) {
  const Engine& engine = *job.engine;
  const Fact<std::int64_t>& most = engine.graph_tokens.known() ? engine.graph_tokens : engine.max_batched_tokens;
  return most.known() && *most > 0 ? std::max(1.0, fresh_tokens(job) / as_double(*most)) : 1;
}

/// @param chunks  that each prompt is cut into; the mean chunk sees half of the others before it
StepShape prefill_shape(const ServingJob& job, double prompts, double chunks) {
  StepShape step;
  step.phase = Phase::prefill;
  step.sequences = prompts;
  step.new_tokens = fresh_tokens(job) / chunks;
  step.context_tokens = cached_tokens(job) + (fresh_tokens(job) - step.new_tokens) / 2;
  step.logit_rows = prompts;
  return step;
}

StepShape decode_shape(const ServingJob& job, double sequences) {
  StepShape step;
  step.phase = Phase::decode;
  step.sequences = sequences;
  step.new_tokens = 1 + std::max(job.speculation.tokens, 0.0);
  step.context_tokens = mean_context(job.request);
  step.logit_rows = sequences * step.new_tokens;
  return step;
}

double running_of(const ServingCandidate& candidate) {
  const double asked = std::max(candidate.concurrency, 1.0);
  return candidate.most_running > 0 ? std::clamp(candidate.most_running, 1.0, asked) : asked;
}

// Libraries without kernels for a format multiply in 16 bit what another kernel has written there. Each weight takes part in two
// operations a row.
double expanded_bytes(const Operator& op, const Engine& engine) {
  if (!op.weight_only || !engine.expanded_rows.known() || op.rows < as_double(*engine.expanded_rows) || op.rows <= 0)
    return 0;
  const double weights = op.flops.base() / (2 * op.rows);
  return weights * (2 + 2);
}

// Kernels for single rows read the weights again for each, and caches share a read among a few.
double read_again(const Operator& op, const Engine& engine) {
  if (!op.weight_only || !engine.rows_per_read.known()) return 0;
  return op.weights.base() * std::max(op.rows / as_double(*engine.rows_per_read) - 1, 0.0);
}

// A product is computed in tiles of 128 outputs by up to 128 rows, one after the other on each multiprocessor, each over the whole inner
// width. The last wave of them is half empty on average: half a tile's work of every multiprocessor.
double tail_flops(const Operator& op, double multiprocessors) {
  constexpr double kTile = 128;
  constexpr double kLeastRows = 16;  // of a matrix instruction
  if (op.rows <= 0 || op.columns <= 0 || multiprocessors <= 0) return 0;
  const double inner = op.flops.base() / (2 * op.rows * op.columns * op.groups);
  const double rows = std::clamp(op.rows, kLeastRows, kTile);
  return multiprocessors / 2 * 2 * rows * kTile * inner;
}

// The library call that multiplies expanded weights of that family of formats adds up in 16 bit, twice as fast on consumer cards.
double expanded_ceiling(const Accelerator& device, const Engine& engine, double usual) {
  const bool adds_in_half = std::any_of(engine.formats.begin(), engine.formats.end(),
                                        [](const EngineFormat& f) { return f.format == "gguf"; });
  if (!adds_in_half || !device.fp16_fp16acc.known() || !device.fp16.known()) return usual;
  return usual * std::max(1.0, device.fp16_fp16acc.value / device.fp16.value);
}

// What one device offers a step.
struct DeviceRates {
  const Accelerator& device;
  double bandwidth = 0;
  double best_bandwidth = 0;
  bool is_cpu = false;

  DeviceRates(const Accelerator& accelerator, const Ceilings& known)
      : device(accelerator),
        bandwidth(known.bandwidth(accelerator).base()),
        best_bandwidth(std::max(bandwidth, known.peak_bandwidth(accelerator).or_else({}).base())),
        is_cpu(gpuplan::is_cpu(accelerator)) {
    // What a tool measured a share of a CPU to read is no datasheet: kernels were seen to read a quarter more at most.
    if (is_cpu && accelerator.name.empty()) best_bandwidth *= 1.25;
  }

  // A CPU multiplies quantized weights as integers, by its vector units unless there are rows enough for its matrix instructions.
  /// @param usual  the ceiling of the operator's arithmetic
  [[nodiscard]] double compute(const Operator& op, double usual) const {
    constexpr double kMatrixRows = 16;
    if (is_cpu && op.weight_only && op.rows < kMatrixRows && device.achieved_gemv.known())
      return device.achieved_gemv.value.base();
    if (is_cpu && op.weight_only && device.achieved_gemm.known()) return device.achieved_gemm.value.base();
    return usual;
  }
  // One core does what lies between the products of a CPU, in single precision: half as many activations a second.
  [[nodiscard]] double memory(const Operator& op) const {
    if (!is_cpu || op.kind != OperatorKind::memory || !device.core_bandwidth.known()) return bandwidth;
    return std::min(bandwidth, device.core_bandwidth.value.base()) / 2;
  }
  // The threads of a CPU meet at the end of each operation; the more there are, the farther the last one is.
  [[nodiscard]] double meetings() const {
    return is_cpu ? 1 + std::log2(as_double(std::max<std::int64_t>(device.sm_count.or_else(1), 1))) : 1;
  }
  // Cores of a CPU share the rows of a product evenly.
  [[nodiscard]] double multiprocessors() const { return is_cpu ? 0 : as_double(device.sm_count.or_else(0)); }
};

StepWork step_work(const ServingJob& job, const ServingCandidate& candidate, const StepShape& shape,
                   const Ceilings& ceilings) {
  StepWork work;
  const auto operators = operators_of(job.model->architecture, job.model->scheme, *job.model->kv, shape,
                                      {candidate.layout.tp, candidate.layout.pp, candidate.attention_replicas});
  const DeviceRates rates(*candidate.accelerator, ceilings);
  work.operators.reserve(operators.size());
  // Most operators of a step compute in the same arithmetic.
  std::optional<Arithmetic> arithmetic;
  double usual = 0;
  double peak = 0;
  for (const Operator& op : operators) {
    if (arithmetic != op.arithmetic) {
      arithmetic = op.arithmetic;
      usual = ceilings.compute(*candidate.accelerator, op.arithmetic).base();
      peak = ceilings.peak(*candidate.accelerator, op.arithmetic).or_else({}).base();
    }
    const double expanded = expanded_bytes(op, *job.engine);
    double ceiling = rates.compute(op, usual);
    if (expanded > 0) ceiling = expanded_ceiling(*candidate.accelerator, *job.engine, ceiling);
    work.operators.push_back({op, ceiling, rates.memory(op), tail_flops(op, rates.multiprocessors()), expanded,
                              std::max(ceiling, peak), rates.best_bandwidth});
    work.operators.back().op.bytes += bytes(read_again(op, *job.engine));
    work.operators.back().op.kernels *= rates.meetings();
  }
  work.collectives = step_collectives(job, candidate, shape.phase, shape.sequences * shape.new_tokens, nullptr);
  work.sequences = shape.sequences;
  // Decode steps come in few sizes, for which graphs are captured; prompts have any length.
  if (shape.phase == Phase::prefill && !rates.is_cpu) {
    for (const Operator& op : operators) work.launched += op.count * op.kernels;
  }
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

// A draft model decodes a token of each sequence for a guess, on the same devices.
double draft_share(const ServingJob& job, const ServingCandidate& candidate, const ServingWork& work,
                   const Ceilings& ceilings) {
  const Speculation& guesses = job.speculation;
  if (guesses.draft_share > 0 || guesses.tokens <= 0 || !job.model->draft) return guesses.draft_share;
  const ServingJob drafting{job.model->draft.get(), job.engine, job.request, 0, {}};
  const double sequences = std::max(1.0, work.running / work.stages);
  const EngineConstants constants = constants_of(*job.engine);
  return step_seconds(step_work(drafting, candidate, decode_shape(drafting, sequences), ceilings), constants) /
         step_seconds(work.decode, constants);
}

}  // namespace

EngineConstants ideal_constants(const EngineConstants& constants) {
  EngineConstants ideal;
  ideal.meeting = constants.meeting;
  ideal.in_step = constants.in_step;
  return ideal;
}

double Speculation::tokens_per_step() const {
  const double a = std::clamp(acceptance, 0.0, 1.0);
  const double guesses = std::max(tokens, 0.0);
  // Near 1 the quotient loses its digits; its limit is that all guesses are right.
  return a > 1 - 1e-9 ? guesses + 1 : (1 - std::pow(a, guesses + 1)) / (1 - a);
}

EngineConstants constants_of(const Engine& engine) {
  return {engine.compute_efficiency.or_else(1), engine.dequantized_efficiency.or_else(1),
          engine.attention_efficiency.or_else(1), engine.bandwidth_efficiency.or_else(1), engine.overlap.or_else(0),
          engine.launch.or_else({}).base(), engine.host_launch.or_else({}).base(), engine.step.or_else({}).base(),
          engine.request.or_else({}).base(), engine.host.or_else({}).base(), engine.stream.or_else({}).base(),
          engine.meeting.or_else(0),
          // Prompts that are finished first keep all requests of a closed loop in step.
          engine.in_step.or_else(engine.prefill_first ? 1 : 0)};
}

// An all-reduce after each mixer and after each MLP, of the step's hidden states in 16 bit. Ranks that hold whole attention for their own
// sequences reduce nothing after it; the tokens of a layer of experts go to the ranks of their experts and come back instead.
Seconds step_collectives(const ServingJob& job, const ServingCandidate& candidate, Phase phase, double tokens,
                         Explain* why) {
  const Architecture& a = job.model->architecture;
  const Bytes hidden_states = tokens * as_double(a.hidden) * bytes(2);
  const double replicas = as_double(std::max<std::int64_t>(candidate.attention_replicas, 1));
  double reduces = 0;
  double exchanges = 0;
  double chosen = 0;
  if (replicas <= 1) {
    for (const MixerGroup& group : mixers_of(a)) reduces += as_double(group.layers);
  }
  if (!a.parallel_blocks || replicas > 1) {
    for (const MlpGroup& group : mlps_of(a)) {
      const bool routed = replicas > 1 && group.mlp.has_experts();
      (routed ? exchanges : reduces) += (routed ? 2 : 1) * as_double(group.layers);
      if (routed) chosen = std::max(chosen, as_double(group.mlp.experts_per_token));
    }
  }
  const Seconds each = reduce_time(candidate.fabric.inside, candidate.layout.tp, hidden_states, phase, why);
  // A token goes once to each rank that has some of its experts.
  const double copies = std::min(chosen, as_double(candidate.layout.tp - 1));
  const Seconds exchange =
      exchanges > 0 ? point_to_point_time(candidate.fabric.inside, hidden_states * (copies / replicas)) : Seconds{};
  const FabricLevel& hop =
      candidate.fabric.between.rate > BytesPerSecond{} ? candidate.fabric.between : candidate.fabric.inside;
  const double hops = as_double(candidate.layout.pp - 1);
  const Seconds handover = hops > 0 ? point_to_point_time(hop, hidden_states) : Seconds{};
  const Seconds total = reduces * each + exchanges * exchange + hops * handover;
  if (why) {
    why->term("time." + std::string(to_string(phase)) + ".collectives", total,
              "reduces * all_reduce + exchanges * exchange + hops * handover",
              {{"reduces", reduces},
               {"all_reduce", each},
               {"exchanges", exchanges},
               {"exchange", exchange},
               {"hops", hops},
               {"handover", handover}});
  }
  return total;
}

ServingWork serving_work(const ServingJob& job, const ServingCandidate& candidate, const Ceilings& ceilings) {
  ServingWork work;
  work.input = as_double(job.request.input);
  work.output = std::max(as_double(job.request.output), 1.0);
  work.in_flight = std::max(candidate.concurrency, 1.0);
  work.running = running_of(candidate);
  work.stages = candidate.stages_in_turn ? 1 : as_double(candidate.layout.pp);
  work.closed_loop = !candidate.arrivals;
  // Engines that set no bound take all prompts at once.
  const double room = job.engine->max_batched_tokens.known()
                          ? std::floor(as_double(*job.engine->max_batched_tokens) / fresh_tokens(job))
                          : work.running;
  work.batched = std::max(1.0, std::min(work.running, room));
  work.chunks = chunks_of(job);
  work.chunk_stages = as_double(candidate.layout.pp);
  work.yield = job.speculation.tokens_per_step();
  work.prompt = step_work(job, candidate, prefill_shape(job, 1, work.chunks), ceilings);
  if (work.batched > 1) work.prompts = step_work(job, candidate, prefill_shape(job, work.batched, 1), ceilings);
  // The stages of a pipeline work on as many micro-batches at once.
  work.decode = step_work(job, candidate, decode_shape(job, std::max(1.0, work.running / work.stages)), ceilings);
  work.decode.streamed = true;
  work.draft = std::max(job.speculation.tokens * draft_share(job, candidate, work, ceilings), 0.0);
  return work;
}

double compute_share(const EngineConstants& constants, const Operator& op) {
  if (op.kind == OperatorKind::attention) return constants.attention;
  return op.weight_only ? constants.dequantized : constants.compute;
}

double compute_rate(const OperatorWork& w, const EngineConstants& constants) {
  return w.ceiling > 0 ? std::min(w.ceiling * compute_share(constants, w.op), w.best_ceiling) : kUnlimitedCompute;
}

double memory_rate(const OperatorWork& w, const EngineConstants& constants) {
  return std::min(w.bandwidth * constants.bandwidth, w.best_bandwidth);
}

double operator_time(const OperatorWork& w, const EngineConstants& constants) {
  const double memory = memory_rate(w, constants);
  return w.op.count *
         operator_seconds<double>(w.op.flops.base() + w.tail, w.op.bytes.base(), compute_rate(w, constants), memory,
                                  w.op.kernels * constants.launch + w.expanded / memory, constants.overlap);
}

double device_seconds(const StepWork& work, const EngineConstants& constants) {
  double device = work.collectives.base();
  for (const OperatorWork& w : work.operators) device += operator_time(w, constants);
  return device;
}

double step_seconds(const StepWork& work, const EngineConstants& constants) {
  const double each = constants.step + (work.streamed ? constants.stream : 0);
  return seconds_with_host(device_seconds(work, constants), work.launched * constants.host_launch) + constants.host +
         work.sequences * each;
}

// Stages of a pipeline work on as many chunks of a prompt at once.
double prompt_seconds(const ServingWork& work, double chunk) {
  return chunk * (1 + (work.chunks - 1) / work.chunk_stages);
}

PhaseSeconds phase_seconds(const ServingWork& work, const EngineConstants& constants) {
  PhaseSeconds phases;
  phases.prompt = prompt_seconds(work, step_seconds(work.prompt, constants));
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
  phases.prompt = prompt_seconds(work, floor_of(work.prompt));
  phases.prompts = work.batched > 1 ? floor_of(work.prompts) : phases.prompt;
  phases.decode = floor_of(work.decode);
  return phases;
}

JoinedSeconds least_seconds(const ServingWork& work, const EngineConstants& constants) {
  JoinedSeconds least = join_phases(work, floor_seconds(work), ideal_constants(constants), nullptr);
  least.ttft = least.prefill;
  return least;
}

JoinedSeconds join_phases(const ServingWork& work, const PhaseSeconds& phases, const EngineConstants& constants,
                          Explain* why) {
  JoinedSeconds joined;
  // Each of the others brings its prompt once in the time of `output` steps. The stages of a pipeline prefill different prompts.
  const double share = phases.prompts / (work.batched * work.stages);
  const double others = work.running - 1;
  // Equal requests of a closed loop that started together end together, so that their prompts come together: of those of a group, half
  // come before the first token of the one in the middle, half after it. All others' prompts fall into one's own decoding.
  const double before = work.closed_loop ? std::min(constants.meeting + constants.in_step * others / 2, others / 2) : 0;
  joined.step = phases.decode * (1 + work.draft);
  const double each = joined.step / work.yield;
  joined.tpot = each + (others - before) / work.output * share;
  joined.prefill = constants.request + phases.prompt;
  // A new prompt waits for the rest of the running step, which carries its part of the others' prompts.
  const double waiting = std::min(others, 1.0) * joined.tpot / 2;
  // Those of its group that come before it share its step as far as they fit, and add what one more of them adds.
  const double more =
      work.batched > 1 ? std::max(phases.prompts - phases.prompt, 0.0) / ((work.batched - 1) * work.stages) : share;
  // Requests beyond what runs at once wait until their turn comes: Little's law over the whole time of a running request.
  const double running_time = joined.prefill + waiting + before * more + (work.output - 1) * joined.tpot;
  const double queued = (work.in_flight / work.running - 1) * running_time;
  joined.ttft = joined.prefill + waiting + before * more + queued;
  if (why) {
    why->term("time.prefill_share", seconds(share), "prompts / (batched * stages)",
              {{"prompts", seconds(phases.prompts)}, {"batched", work.batched}, {"stages", work.stages}});
    why->term("time.prompts_before", before,
              "closed_loop * min(meeting + in_step * (running - 1) / 2, (running - 1) / 2)",
              {{"closed_loop", work.closed_loop ? 1.0 : 0.0},
               {"meeting", constants.meeting},
               {"in_step", constants.in_step},
               {"running", work.running}});
    why->term("time.tpot", seconds(joined.tpot),
              "step * (1 + draft) / yield + (running - 1 - prompts_before) / output * prefill_share",
              {{"step", seconds(phases.decode)},
               {"draft", work.draft},
               {"yield", work.yield},
               {"running", work.running},
               {"prompts_before", before},
               {"output", work.output},
               {"prefill_share", seconds(share)}});
    why->term("time.waiting", seconds(waiting), "min(running - 1, 1) * tpot / 2",
              {{"running", work.running}, {"tpot", seconds(joined.tpot)}});
    why->term("time.queued", seconds(queued),
              "(in_flight / running - 1) * (request + prompt + waiting + prompts_before * prompt_more + (output - 1) "
              "* tpot)",
              {{"in_flight", work.in_flight},
               {"running", work.running},
               {"request", seconds(constants.request)},
               {"prompt", seconds(phases.prompt)},
               {"waiting", seconds(waiting)},
               {"prompts_before", before},
               {"prompt_more", seconds(more)},
               {"output", work.output},
               {"tpot", seconds(joined.tpot)}});
    why->term("time.ttft", seconds(joined.ttft), "request + prompt + waiting + prompts_before * prompt_more + queued",
              {{"request", seconds(constants.request)},
               {"prompt", seconds(phases.prompt)},
               {"waiting", seconds(waiting)},
               {"prompts_before", before},
               {"prompt_more", seconds(more)},
               {"queued", seconds(queued)}});
  }
  return joined;
}

}  // namespace gpuplan
