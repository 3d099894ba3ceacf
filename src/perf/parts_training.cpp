#include <gpuplan/perf/parts_training.hpp>

#include "parts_work.hpp"

#include <gpuplan/memory/parts.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

constexpr double kPasses = 3;  // forward, and backward to the inputs and to the weights

bool trains(const Network& network, const NetworkPart& part) {
  const bool generates = std::any_of(network.parts.begin(), network.parts.end(), is_denoiser);
  return part.loaded && (!generates || is_denoiser(part));
}

bool runs(const Network& network, const NetworkPart& part) {
  return trains(network, part) || (part.loaded && !is_autoencoder(part));
}

void add_backward(PartWork& work) {
  for (PartOperator& op : work.operators) {
    op.count *= kPasses;
    op.flops *= kPasses;
    op.bytes *= kPasses;
    op.results *= kPasses;
    op.scores *= kPasses;
  }
}

}  // namespace

double optimizer_bytes(std::string_view optimizer) {
  constexpr double kFull = 4;
  constexpr double kHalf = 2;
  const bool two_states = optimizer.find("adam") != std::string_view::npos || optimizer == "lamb";
  const double states = two_states ? 2 : 1;
  return kFull * (2 + states) + kFull * (1 + states) + kHalf;
}

PartsWork parts_training_work(const PartsTrainingInputs& in, const Ceilings& ceilings) {
  const StoredNetwork& model = *in.forward.model;
  PartsTimeInputs forward = in.forward;
  forward.job.steps = 1;
  forward.job.guidance = false;
  PartsWork work;
  work.items = static_cast<double>(forward.job.batch);
  work.moves_layout = !forward.channels_last && !forward.runtime->compiles_graphs;
  double trained = 0;
  for (const NetworkPart& part : model.network.parts) {
    if (!runs(model.network, part)) continue;
    PartWork one = part_work(forward, ceilings, part, 0);
    if (one.operators.empty()) continue;
    if (trains(model.network, part)) {
      add_backward(one);
      const double own = static_cast<double>(parameters(part.tensors));
      const double width = std::min(4.0, std::max(2.0, model.scheme.rest.bits / 8));
      one.beside = collective_time(in.fabric, Collective::all_reduce, in.group, bytes(own * width)).time / seconds(1);
      trained += own;
    }
    work.parts.push_back(std::move(one));
  }
  const double bandwidth = ceilings.bandwidth(*forward.accelerator) / gigabytes_per_second(1) * 1e9;
  if (!work.parts.empty() && bandwidth > 0)
    work.parts.back().fetched += trained * optimizer_bytes(in.optimizer) / bandwidth;
  return work;
}

}  // namespace gpuplan
