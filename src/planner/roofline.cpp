#include <gpuplan/planner/roofline.hpp>

#include <gpuplan/perf/serving.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::array<std::pair<Bound, std::string_view>, 5> kBounds = {{{Bound::compute, "compute"},
                                                                        {Bound::memory, "memory"},
                                                                        {Bound::launch, "launch"},
                                                                        {Bound::link, "link"},
                                                                        {Bound::host, "host"}}};

Bound bound_of(const OperatorWork& work, const EngineConstants& constants) {
  const double rate = work.ceiling * compute_share(constants, work.op);
  const double compute = rate > 0 ? work.op.flops.base() / rate : 0;
  const double memory = work.bandwidth > 0 ? work.op.bytes.base() / (work.bandwidth * constants.bandwidth) : 0;
  if (work.op.kernels * constants.launch > std::max(compute, memory)) return Bound::launch;
  return compute > memory ? Bound::compute : Bound::memory;
}

PlottedPhase plot(const ServingJob& job, const ServingCandidate& candidate, Phase phase, const Ceilings& ceilings) {
  const EngineConstants constants = constants_of(*job.engine);
  const ServingWork work = serving_work(job, candidate, ceilings);
  const StepWork& step = phase == Phase::prefill ? work.prompt : work.decode;
  const Breakdown<Seconds> times = step_breakdown(job, candidate, phase, ceilings);
  PlottedPhase out;
  out.phase = phase;
  out.sequences = step.sequences;
  out.tokens = phase == Phase::prefill ? work.input : step.sequences;
  out.time = times.total();
  std::size_t i = 0;
  for (const auto& term : times.terms()) {
    PlottedOperator p;
    p.id = term.id;
    p.time = term.value;
    if (i < step.operators.size()) {
      p.op = step.operators[i].op;
      p.ceiling = step.operators[i].ceiling;
      p.bound = bound_of(step.operators[i], constants);
    } else {
      p.bound = term.id == "collectives" ? Bound::link : Bound::host;
    }
    ++i;
    if (p.time > Seconds{}) out.operators.push_back(p);
  }
  return out;
}

}  // namespace

std::string_view to_string(Bound value) {
  for (const auto& [bound, name] : kBounds) {
    if (bound == value) return name;
  }
  return kBounds.front().second;
}

RooflinePlan plan_roofline(const Catalog& catalog, const EstimateRequest& request, bool explain) {
  RooflinePlan plan;
  plan.estimate = fit_job(catalog, request);
  plan.job = request.job;
  const HardwareFit& fit = plan.estimate.hardware.front();
  if (fit.rejection) return plan;
  Fabric fabric = fabric_of(catalog, *fit.accelerator, {}, {}, fit.layout.tp);
  fabric.between = fabric.inside;
  plan.concurrency = static_cast<double>(std::max<std::int64_t>(1, fit.demand));
  const Ceilings ceilings(catalog);
  ServingJob job;
  job.model = &plan.estimate.model;
  job.engine = plan.estimate.engine;
  job.request = plan.estimate.request;
  ServingCandidate candidate;
  candidate.accelerator = fit.accelerator;
  candidate.fabric = fabric;
  candidate.layout = fit.layout;
  candidate.concurrency = plan.concurrency;
  for (const Phase phase : {Phase::prefill, Phase::decode})
    plan.phases.push_back(plot(job, candidate, phase, ceilings));
  if (explain) {
    Explain why;
    (void)serving_time(job, candidate, ceilings, &why);
    plan.explanation = why.terms();
  }
  return plan;
}

}  // namespace gpuplan
