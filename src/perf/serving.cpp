#include <gpuplan/perf/serving.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <array>
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

Interval<Seconds> interval_of(const Engine& engine, Regime regime, double value) {
  const Seconds time = seconds(value);
  for (const EngineInterval& interval : engine.intervals) {
    if (interval.regime == to_string(regime)) return {time, time * interval.low.or_else(1), time * interval.high.or_else(1)};
  }
  return {time, time, time};
}

template <class Q>
Interval<Q> rate_of(double amount, const Interval<Seconds>& time, Q (*make)(double)) {
  return {make(amount / time.value.base()), make(amount / time.high.base()), make(amount / time.low.base())};
}

ServingTime time_of(const ServingJob& job, const ServingWork& work, const PhaseSeconds& phases, const EngineConstants& constants,
                    Explain* why) {
  const Engine& engine = *job.engine;
  const JoinedSeconds joined = join_phases(work, phases, constants, why);
  const bool loaded = work.in_flight > 1;
  const Regime prefill = loaded ? Regime::prefill_loaded : Regime::prefill;
  const Regime decode = loaded ? Regime::decode_loaded : Regime::decode;
  ServingTime t;
  t.ttft = interval_of(engine, prefill, joined.ttft);
  t.tpot = interval_of(engine, decode, joined.tpot);
  t.step = interval_of(engine, decode, joined.step);
  t.e2e = interval_of(engine, loaded ? Regime::throughput : Regime::decode, joined.e2e(work.output));
  t.prefill = rate_of(std::max(work.input, 1.0), interval_of(engine, Regime::prefill, joined.prefill), tokens_per_second);
  t.decode = rate_of(1, t.tpot, tokens_per_second);
  t.output = rate_of(work.in_flight * work.output, t.e2e, tokens_per_second);
  return t;
}

// One phase of many candidates: columns are candidates, rows operators. A row that a candidate lacks stays empty.
class StepTable {
 public:
  StepTable(Eigen::Index rows, Eigen::Index columns)
      : flops_(ArrayXXd::Zero(rows, columns)), bytes_(ArrayXXd::Zero(rows, columns)), compute_(ArrayXXd::Ones(rows, columns)),
        memory_(ArrayXXd::Ones(rows, columns)), launch_(ArrayXXd::Zero(rows, columns)), count_(ArrayXXd::Zero(rows, columns)),
        rest_(ArrayXd::Zero(columns)) {}

  void put(Eigen::Index column, const StepWork& work, const EngineConstants& constants) {
    for (std::size_t i = 0; i < work.operators.size(); ++i) {
      const OperatorWork& w = work.operators[i];
      const auto row = static_cast<Eigen::Index>(i);
      flops_(row, column) = w.op.flops.base();
      bytes_(row, column) = w.op.bytes.base();
      compute_(row, column) = w.ceiling > 0 ? w.ceiling * compute_share(constants, w.op) : kUnlimitedCompute;
      memory_(row, column) = w.bandwidth * constants.bandwidth;
      launch_(row, column) = w.op.kernels * constants.launch;
      count_(row, column) = w.op.count;
    }
    rest_(column) = work.collectives.base() + work.sequences * constants.step;
  }
  [[nodiscard]] ArrayXd seconds_of_columns(double overlap) const {
    const ArrayXXd each = operator_seconds<ArrayXXd>(flops_, bytes_, compute_, memory_, launch_, overlap);
    return (each * count_).colwise().sum().transpose() + rest_;
  }

 private:
  ArrayXXd flops_, bytes_, compute_, memory_, launch_, count_;
  ArrayXd rest_;
};

Eigen::Index most_operators(const std::vector<ServingWork>& works, StepWork ServingWork::* phase) {
  std::size_t most = 0;
  for (const ServingWork& work : works) most = std::max(most, (work.*phase).operators.size());
  return static_cast<Eigen::Index>(most);
}

ArrayXd phase_of_all(const std::vector<ServingWork>& works, StepWork ServingWork::* phase, const EngineConstants& constants) {
  StepTable table(most_operators(works, phase), static_cast<Eigen::Index>(works.size()));
  for (std::size_t j = 0; j < works.size(); ++j) table.put(static_cast<Eigen::Index>(j), works[j].*phase, constants);
  return table.seconds_of_columns(constants.overlap);
}

void explain_step(const StepWork& work, const EngineConstants& constants, std::string_view name, double total, Explain& why) {
  Seconds operators;
  for (const OperatorWork& w : work.operators) {
    const double rate = w.ceiling > 0 ? w.ceiling * compute_share(constants, w.op) : kUnlimitedCompute;
    const double memory = w.bandwidth * constants.bandwidth;
    const double launch = w.op.kernels * constants.launch;
    const Seconds each =
        w.op.count * seconds(operator_seconds<double>(w.op.flops.base(), w.op.bytes.base(), rate, memory, launch, constants.overlap));
    operators += each;
    why.term("time." + std::string(name) + "." + std::string(w.op.id), each,
             "count * (max(flops / compute_rate, bytes / memory_rate) + overlap * min(flops / compute_rate, bytes / memory_rate) + launch)",
             {{"count", w.op.count}, {"flops", w.op.flops}, {"bytes", w.op.bytes}, {"compute_rate", FlopPerSecond::from_base(rate)},
              {"memory_rate", BytesPerSecond::from_base(memory)}, {"overlap", constants.overlap}, {"launch", seconds(launch)}});
  }
  why.term("time." + std::string(name) + ".total", seconds(total),
           "operators + collectives + sequences * scheduler",
           {{"operators", operators}, {"collectives", work.collectives}, {"sequences", work.sequences}, {"scheduler", seconds(constants.step)}});
}

void explain_work(const ServingJob& job, const ServingCandidate& candidate, const ServingWork& work, const PhaseSeconds& phases,
                  const EngineConstants& constants, Explain& why) {
  explain_step(work.prompt, constants, "prefill", phases.prompt, why);
  (void)step_collectives(job, candidate, Phase::prefill, std::max(work.input, 1.0), &why);
  if (work.batched > 1) explain_step(work.prompts, constants, "prefill_batch", phases.prompts, why);
  explain_step(work.decode, constants, "decode", phases.decode, why);
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
    const PhaseSeconds phases{prompt(column), works[j].batched > 1 ? prompts(column) : prompt(column), decode(column)};
    times.push_back(time_of(job, works[j], phases, constants, nullptr));
  }
  return times;
}

ServingTime serving_time(const ServingJob& job, const ServingCandidate& candidate, const Ceilings& ceilings, Explain* why) {
  const EngineConstants constants = constants_of(*job.engine);
  const ServingWork work = serving_work(job, candidate, ceilings);
  const PhaseSeconds phases = phase_seconds(work, constants);
  if (why) explain_work(job, candidate, work, phases, constants, *why);
  return time_of(job, work, phases, constants, why);
}

Breakdown<Seconds> step_breakdown(const ServingJob& job, const ServingCandidate& candidate, Phase phase, const Ceilings& ceilings) {
  const EngineConstants constants = constants_of(*job.engine);
  const ServingWork work = serving_work(job, candidate, ceilings);
  const StepWork& step = phase == Phase::prefill ? work.prompt : work.decode;
  Breakdown<Seconds> terms;
  for (const OperatorWork& w : step.operators) {
    const double rate = w.ceiling > 0 ? w.ceiling * compute_share(constants, w.op) : kUnlimitedCompute;
    terms.add(w.op.id, w.op.count * seconds(operator_seconds<double>(w.op.flops.base(), w.op.bytes.base(), rate,
                                                                     w.bandwidth * constants.bandwidth, w.op.kernels * constants.launch,
                                                                     constants.overlap)));
  }
  terms.add("collectives", step.collectives);
  terms.add("scheduler", seconds(step.sequences * constants.step));
  return terms;
}

}  // namespace gpuplan
