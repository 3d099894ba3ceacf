#include <gpuplan/perf/serving.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace gpuplan {
namespace {

using Eigen::ArrayXd;
using Eigen::ArrayXXd;

constexpr std::array<std::pair<Regime, std::string_view>, 5> kRegimes = {{{Regime::prefill, "prefill"},
                                                                          {Regime::decode, "decode"},
                                                                          {Regime::prefill_loaded, "prefill_loaded"},
                                                                          {Regime::decode_loaded, "decode_loaded"},
                                                                          {Regime::throughput, "throughput"}}};

// Residuals know nothing of the device: the low end stays above what it can do at best (`least`).
Interval<Seconds> interval_of(const Engine& engine, Regime regime, double value, double least) {
  const Seconds time = seconds(value);
  for (const EngineInterval& interval : engine.intervals) {
    if (interval.regime != to_string(regime)) continue;
    const Seconds low = std::max(time * interval.low.or_else(1), seconds(least));
    return {time, std::min(low, time), std::max(time * interval.high.or_else(1), time)};
  }
  return {time, time, time};
}

template <class Q>
Interval<Q> rate_of(double amount, const Interval<Seconds>& time, Q (*make)(double)) {
  return {make(amount / time.value.base()), make(amount / time.high.base()), make(amount / time.low.base())};
}

ServingTime time_of(const ServingJob& job, const ServingWork& work, const PhaseSeconds& phases,
                    const EngineConstants& constants, Explain* why) {
  const Engine& engine = *job.engine;
  const JoinedSeconds joined = join_phases(work, phases, constants, why);
  const JoinedSeconds least = least_seconds(work, constants);
  const bool loaded = work.in_flight > 1;
  const Regime prefill = loaded ? Regime::prefill_loaded : Regime::prefill;
  const Regime decode = loaded ? Regime::decode_loaded : Regime::decode;
  ServingTime t;
  t.ttft = interval_of(engine, prefill, joined.ttft, least.ttft);
  t.tpot = interval_of(engine, decode, joined.tpot, least.tpot);
  t.step = interval_of(engine, decode, joined.step, least.step);
  t.e2e = interval_of(engine, loaded ? Regime::throughput : Regime::decode, joined.e2e(work.output),
                      least.e2e(work.output));
  t.prefill = rate_of(std::max(work.input, 1.0), interval_of(engine, Regime::prefill, joined.prefill, least.prefill),
                      tokens_per_second);
  t.decode = rate_of(1, t.tpot, tokens_per_second);
  t.output = rate_of(work.in_flight * work.output, t.e2e, tokens_per_second);
  return t;
}

// One phase of many candidates: columns are candidates, rows operators. A row that a candidate lacks stays empty.
class StepTable {
 public:
  StepTable(Eigen::Index rows, Eigen::Index columns)
      : flops_(ArrayXXd::Zero(rows, columns)),
        bytes_(ArrayXXd::Zero(rows, columns)),
        compute_(ArrayXXd::Ones(rows, columns)),
        memory_(ArrayXXd::Ones(rows, columns)),
        launch_(ArrayXXd::Zero(rows, columns)),
        count_(ArrayXXd::Zero(rows, columns)),
        links_(ArrayXd::Zero(columns)),
        launching_(ArrayXd::Zero(columns)),
        rest_(ArrayXd::Zero(columns)) {}

  void put(Eigen::Index column, const StepWork& work, const EngineConstants& constants) {
    for (std::size_t i = 0; i < work.operators.size(); ++i) {
      const OperatorWork& w = work.operators[i];
      const auto row = static_cast<Eigen::Index>(i);
      flops_(row, column) = w.op.flops.base() + w.tail;
      bytes_(row, column) = w.op.bytes.base();
      compute_(row, column) = compute_rate(w, constants);
      memory_(row, column) = memory_rate(w, constants);
      launch_(row, column) = w.op.kernels * constants.launch + w.expanded / memory_(row, column);
      count_(row, column) = w.op.count;
    }
    const double each = constants.step + (work.streamed ? constants.stream : 0);
    links_(column) = work.collectives.base();
    launching_(column) = work.launched * constants.host_launch;
    rest_(column) = constants.host + work.sequences * each;
  }
  [[nodiscard]] ArrayXd seconds_of_columns(double overlap) const {
    const ArrayXXd each = operator_seconds<ArrayXXd>(flops_, bytes_, compute_, memory_, launch_, overlap);
    const ArrayXd device = (each * count_).colwise().sum().transpose() + links_;
    return seconds_with_host<ArrayXd>(device, launching_) + rest_;
  }

 private:
  ArrayXXd flops_, bytes_, compute_, memory_, launch_, count_;
  ArrayXd links_, launching_, rest_;
};

Eigen::Index most_operators(const std::vector<ServingWork>& works, StepWork ServingWork::*phase) {
  std::size_t most = 0;
  for (const ServingWork& work : works) most = std::max(most, (work.*phase).operators.size());
  return static_cast<Eigen::Index>(most);
}

ArrayXd phase_of_all(const std::vector<ServingWork>& works, StepWork ServingWork::*phase,
                     const EngineConstants& constants) {
  StepTable table(most_operators(works, phase), static_cast<Eigen::Index>(works.size()));
  for (std::size_t j = 0; j < works.size(); ++j) table.put(static_cast<Eigen::Index>(j), works[j].*phase, constants);
  return table.seconds_of_columns(constants.overlap);
}

struct Constant {
  const Fact<double>* fact;
  std::string_view key;  // in data/engines.yaml
};

// The engine's share of the compute ceiling that `compute_share` applies to an operator.
Constant share_of(const Engine& engine, const Operator& op) {
  if (op.kind == OperatorKind::attention) return {&engine.attention_efficiency, "attention_efficiency"};
  if (op.weight_only) return {&engine.dequantized_efficiency, "dequantized_efficiency"};
  return {&engine.compute_efficiency, "compute_efficiency"};
}

template <class T>
std::string source_of(const Ceilings& ceilings, const Engine& engine, const Fact<T>& fact, std::string_view key) {
  if (!fact.known()) return "not stated: counts for nothing";
  const std::string of = std::string(key) + " of " + std::string(engine.name);
  if (fact.mark == Mark::derived) return "fitted: data/engines.yaml, " + of;
  return of + ": " + std::string(ceilings.source_text(fact.source));
}

// The devices' rates in an operator's formula: datasheet, what of it a plain measurement reaches, what of that the engine reaches.
constexpr std::string_view kOperatorFormula =
    "count * (max((flops + tail) / (peak * peak_reached * efficiency), bytes / (bandwidth * bandwidth_reached * "
    "bandwidth_efficiency))"
    " + overlap * min((flops + tail) / (peak * peak_reached * efficiency), bytes / (bandwidth * bandwidth_reached * "
    "bandwidth_efficiency))"
    " + kernels * launch + expanded / (bandwidth * bandwidth_reached * bandwidth_efficiency))";

std::vector<ExplainInput> operator_inputs(const ServingJob& job, const Accelerator& gpu, const Ceilings& ceilings,
                                          const OperatorWork& w, const EngineConstants& constants) {
  const Engine& engine = *job.engine;
  const bool limited = w.ceiling > 0;
  const Fact<FlopPerSecond>& peak = ceilings.peak(gpu, w.op.arithmetic);
  const Fact<BytesPerSecond>& bandwidth = ceilings.peak_bandwidth(gpu);
  const Constant share = share_of(engine, w.op);
  // CPUs, and products in another way than the format's own, have ceilings beside the datasheet's.
  const double share_of_peak = ceilings.compute_share(gpu, w.op.arithmetic);
  const double share_of_memory = ceilings.bandwidth_share(gpu);
  const bool usual_peak = std::abs(peak.or_else({}).base() * share_of_peak - w.ceiling) <= 1e-9 * w.ceiling;
  const bool usual_memory =
      std::abs(bandwidth.or_else({}).base() * share_of_memory - w.bandwidth) <= 1e-9 * w.bandwidth;
  return {{"count", w.op.count},
          {"flops", w.op.flops},
          {"tail", flop(w.tail)},
          {"bytes", w.op.bytes},
          {"peak",
           !limited     ? FlopPerSecond::from_base(kUnlimitedCompute)
           : usual_peak ? peak.value
                        : FlopPerSecond::from_base(w.ceiling),
           !limited     ? "no peak is known: memory alone limits"
           : usual_peak ? ceilings.source_text(peak.source)
                        : "how such a product is computed here: docs/PHYSICS.md, \"Operators and the roofline\""},
          {"peak_reached", limited && usual_peak ? share_of_peak : 1, ceilings.compute_basis(gpu)},
          {"efficiency", limited ? compute_rate(w, constants) / w.ceiling : 1,
           source_of(ceilings, engine, *share.fact, share.key)},
          {"bandwidth", usual_memory ? bandwidth.or_else({}) : BytesPerSecond::from_base(w.bandwidth),
           usual_memory ? ceilings.source_text(bandwidth.source) : "one core's: docs/PHYSICS.md, \"CPUs\""},
          {"bandwidth_reached", usual_memory ? share_of_memory : 1, ceilings.bandwidth_basis(gpu)},
          {"bandwidth_efficiency", memory_rate(w, constants) / w.bandwidth,
           source_of(ceilings, engine, engine.bandwidth_efficiency, "bandwidth_efficiency")},
          {"overlap", constants.overlap, source_of(ceilings, engine, engine.overlap, "overlap")},
          {"kernels", w.op.kernels},
          {"expanded", bytes(w.expanded)},
          {"launch", seconds(constants.launch), source_of(ceilings, engine, engine.launch, "launch_us")}};
}

void explain_step(const ServingJob& job, const Accelerator& gpu, const Ceilings& ceilings, const StepWork& work,
                  const EngineConstants& constants, std::string_view name, double total, Explain& why) {
  Seconds operators;
  for (const OperatorWork& w : work.operators) {
    const Seconds each = seconds(operator_time(w, constants));
    operators += each;
    why.term("time." + std::string(name) + "." + std::string(w.op.id), each, kOperatorFormula,
             operator_inputs(job, gpu, ceilings, w, constants));
  }
  why.term("time." + std::string(name) + ".total", seconds(total),
           "((operators + collectives)^4 + (kernels * host_launch)^4)^0.25 + host + sequences * (scheduler + stream)",
           {{"operators", operators},
            {"collectives", work.collectives},
            {"kernels", work.launched},
            {"host_launch", seconds(constants.host_launch),
             source_of(ceilings, *job.engine, job.engine->host_launch, "host_launch_us")},
            {"host", seconds(constants.host), source_of(ceilings, *job.engine, job.engine->host, "host_us")},
            {"sequences", work.sequences},
            {"scheduler", seconds(constants.step), source_of(ceilings, *job.engine, job.engine->step, "step_us")},
            {"stream", seconds(work.streamed ? constants.stream : 0),
             source_of(ceilings, *job.engine, job.engine->stream, "stream_us")}});
}

void explain_work(const ServingJob& job, const ServingCandidate& candidate, const ServingWork& work,
                  const PhaseSeconds& phases, const EngineConstants& constants, const Ceilings& ceilings,
                  Explain& why) {
  const Accelerator& gpu = *candidate.accelerator;
  explain_step(job, gpu, ceilings, work.prompt, constants, "prefill", step_seconds(work.prompt, constants), why);
  if (work.chunks > 1) {
    why.term("time.prefill.prompt", seconds(phases.prompt), "chunk * (1 + (chunks - 1) / stages)",
             {{"chunk", seconds(step_seconds(work.prompt, constants))},
              {"chunks", work.chunks},
              {"stages", work.chunk_stages}});
  }
  (void)step_collectives(job, candidate, Phase::prefill, std::max(work.input / work.chunks, 1.0), &why);
  if (work.batched > 1) explain_step(job, gpu, ceilings, work.prompts, constants, "prefill_batch", phases.prompts, why);
  explain_step(job, gpu, ceilings, work.decode, constants, "decode", phases.decode, why);
  if (job.speculation.tokens > 0) {
    why.term("time.draft", work.draft, "guesses * share",
             {{"guesses", job.speculation.tokens}, {"share", work.draft / job.speculation.tokens}});
  }
  (void)step_collectives(job, candidate, Phase::decode, std::max(1.0, work.running / work.stages), &why);
}

}  // namespace

std::string_view to_string(Regime value) {
  for (const auto& [regime, name] : kRegimes) {
    if (regime == value) return name;
  }
  return "?";
}

std::vector<ServingTime> serving_times(const ServingJob& job, std::span<const ServingCandidate> candidates,
                                       const Ceilings& ceilings) {
  std::vector<ServingTime> times;
  if (candidates.empty()) return times;
  const EngineConstants constants = constants_of(*job.engine);
  std::vector<ServingWork> works;
  works.reserve(candidates.size());
  for (const ServingCandidate& candidate : candidates) works.push_back(serving_work(job, candidate, ceilings));
  const ArrayXd prompt = phase_of_all(works, &ServingWork::prompt, constants);
  const ArrayXd prompts = phase_of_all(works, &ServingWork::prompts, constants);
  const ArrayXd decode = phase_of_all(works, &ServingWork::decode, constants);
  times.reserve(candidates.size());
  for (std::size_t j = 0; j < works.size(); ++j) {
    const auto column = static_cast<Eigen::Index>(j);
    const double one = prompt_seconds(works[j], prompt(column));
    const PhaseSeconds phases{one, works[j].batched > 1 ? prompts(column) : one, decode(column)};
    times.push_back(time_of(job, works[j], phases, constants, nullptr));
  }
  return times;
}

ServingTime serving_time(const ServingJob& job, const ServingCandidate& candidate, const Ceilings& ceilings,
                         Explain* why) {
  const EngineConstants constants = constants_of(*job.engine);
  const ServingWork work = serving_work(job, candidate, ceilings);
  const PhaseSeconds phases = phase_seconds(work, constants);
  if (why) explain_work(job, candidate, work, phases, constants, ceilings, *why);
  return time_of(job, work, phases, constants, why);
}

Breakdown<Seconds> step_breakdown(const ServingJob& job, const ServingCandidate& candidate, Phase phase,
                                  const Ceilings& ceilings) {
  const EngineConstants constants = constants_of(*job.engine);
  const ServingWork work = serving_work(job, candidate, ceilings);
  const StepWork& step = phase == Phase::prefill ? work.prompt : work.decode;
  // A prompt in several chunks takes each of its terms as often.
  const double times = phase == Phase::prefill ? prompt_seconds(work, 1) : 1;
  Breakdown<Seconds> terms;
  for (const OperatorWork& w : step.operators) terms.add(w.op.id, seconds(times * operator_time(w, constants)));
  terms.add("collectives", times * step.collectives);
  const double device = device_seconds(step, constants);
  terms.add("host_launches",
            seconds(times * (seconds_with_host(device, step.launched * constants.host_launch) - device)));
  const double each = constants.step + (step.streamed ? constants.stream : 0);
  terms.add("scheduler", seconds(times * (constants.host + step.sequences * each)));
  return terms;
}

}  // namespace gpuplan
