#include "parts.hpp"

#include <gpuplan/perf/ceilings.hpp>
#include <gpuplan/planner/roofline.hpp>

#include <algorithm>
#include <map>
#include <vector>

namespace gpuplan {
namespace {

std::string_view kind_name(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::gemm:
      return "gemm";
    case OperatorKind::attention:
      return "attention";
    case OperatorKind::memory:
      return "memory";
  }
  return "memory";
}

// What the roofline allows at the operator's intensity, over what it takes: of the peak, or of the memory's rate.
RooflineDocument::Operator describe(const PlottedOperator& p, Seconds whole, double bandwidth) {
  RooflineDocument::Operator d;
  d.id = p.id;
  d.bound = to_string(p.bound);
  d.seconds = p.time.base();
  d.share = p.time / whole;
  if (p.bound == Bound::link || p.bound == Bound::host) return d;
  d.kind = kind_name(p.op.kind);
  d.arithmetic = to_string(p.op.arithmetic);
  d.count = p.op.count;
  d.flop = p.op.count * p.op.flops.base();
  d.bytes = p.op.count * p.op.bytes.base();
  if (d.flop > 0 && d.bytes > 0) d.intensity = d.flop / d.bytes;
  if (d.flop > 0) d.flop_per_s = d.flop / d.seconds;
  const double compute = p.ceiling > 0 ? d.flop / p.ceiling : 0;
  const double memory = bandwidth > 0 ? d.bytes / bandwidth : 0;
  const double least = std::max(compute, memory);
  if (least > 0) d.of_ceiling = least / d.seconds;
  return d;
}

RooflineDocument::Phase describe(const PlottedPhase& phase, double bandwidth) {
  RooflineDocument::Phase d;
  d.id = to_string(phase.phase);
  d.sequences = phase.sequences;
  d.tokens = phase.tokens;
  d.seconds = phase.time.base();
  d.tokens_per_s = phase.tokens / phase.time.base();
  std::map<std::string, double> bounds;
  for (const PlottedOperator& p : phase.operators) {
    d.operators.push_back(describe(p, phase.time, bandwidth));
    d.flop += d.operators.back().flop;
    d.bytes += d.operators.back().bytes;
    bounds[d.operators.back().bound] += d.operators.back().seconds;
  }
  std::stable_sort(d.operators.begin(), d.operators.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  double most = 0;
  for (const auto& [bound, time] : bounds) {
    if (time <= most) continue;
    most = time;
    d.bound = bound;
  }
  return d;
}

}  // namespace

RooflineDocument report_roofline(const Catalog& catalog, const RooflinePlan& plan, bool explain) {
  RooflineDocument d;
  d.model = describe_model(plan.job, plan.estimate);
  d.job = describe_job(plan.job, plan.estimate);
  const HardwareFit& fit = plan.estimate.hardware.front();
  const Accelerator& gpu = *fit.accelerator;
  d.accelerator = gpu.name;
  d.engine = plan.estimate.engine->title;
  if (fit.rejection) {
    d.rejected = fit.rejection->rule + ": " + fit.rejection->needed + ", available: " + fit.rejection->available +
                 "; would help: " + fit.rejection->smallest_change;
    return d;
  }
  d.count = fit.layout.devices();
  const Ceilings ceilings(catalog);
  d.bandwidth_reached = ceilings.bandwidth(gpu).base();
  d.bandwidth_datasheet = ceilings.peak_bandwidth(gpu).or_else({}).base();
  std::vector<Arithmetic> used;
  for (const PlottedPhase& phase : plan.phases) {
    d.phases.push_back(describe(phase, d.bandwidth_reached));
    for (const PlottedOperator& p : phase.operators) {
      if (p.bound == Bound::link || p.bound == Bound::host || p.op.flops <= Flop{}) continue;
      if (std::find(used.begin(), used.end(), p.op.arithmetic) == used.end()) used.push_back(p.op.arithmetic);
    }
  }
  for (const Arithmetic arithmetic : used) {
    RooflineDocument::Ceiling c;
    c.id = to_string(arithmetic);
    c.reached = ceilings.compute(gpu, arithmetic).base();
    c.datasheet = ceilings.peak(gpu, arithmetic).or_else({}).base();
    if (c.reached <= 0) continue;
    c.ridge = d.bandwidth_reached > 0 ? c.reached / d.bandwidth_reached : 0;
    d.ceilings.push_back(std::move(c));
  }
  if (explain) d.explanation = plan.explanation;
  return d;
}

}  // namespace gpuplan
