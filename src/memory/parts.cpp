#include <gpuplan/memory/parts.hpp>

#include "part_activations.hpp"

#include <algorithm>
#include <set>

namespace gpuplan {
namespace {

constexpr double kSixteenBit = 2;  // bytes

template <class T>
Text source_of(const PartsMemoryInputs& in, const Fact<T>& fact) {
  return in.catalog && fact.known() ? in.catalog->source(fact.source).text : Text{};
}

// What a part computes in: formats wider than 16 bit in their own, all others in 16 bit.
Bytes element_of(const Scheme& scheme) { return bytes(std::max(kSixteenBit, scheme.rest.bits / 8)); }

Bytes largest_tensor_of(const NetworkPart& part, const Scheme& scheme) {
  Bytes largest;
  for (const TensorGroup& tensor : part.tensors) {
    largest = std::max(largest, stored_bytes(storage_of(tensor, scheme), static_cast<double>(tensor.rows),
                                             static_cast<double>(tensor.columns)));
  }
  return largest;
}

// A sampler starts from noise: what turns pictures into latents stands idle.
bool is_run(const Network& network, const NetworkPart& part) {
  const bool generates = std::any_of(network.parts.begin(), network.parts.end(), is_denoiser);
  return !generates || part.name != "vae.encoder";
}

std::vector<PartFootprint> footprints_of(const PartsMemoryInputs& in) {
  const StoredNetwork& model = *in.model;
  const bool stores_scores = in.job.flash_attention ? !*in.job.flash_attention : in.runtime->stores_scores;
  std::vector<PartFootprint> parts;
  Bytes counted;
  for (const NetworkPart& part : model.network.parts) {
    if (!part.loaded) continue;
    const Scheme scheme = part_scheme(model.network, part, model.scheme, model.rules);
    PartFootprint& footprint = parts.emplace_back();
    footprint.name = part.name;
    footprint.title = part.title;
    footprint.weights = weights_bytes(part.tensors, scheme);
    footprint.largest_tensor = largest_tensor_of(part, scheme);
    counted += footprint.weights;
    if (is_run(model.network, part)) {
      add_activations(footprint, part, scale_of(model, part, in.job), *in.runtime, stores_scores, element_of(scheme));
    }
  }
  // Headers know better than the tensor list.
  if (model.stored && counted > Bytes{}) {
    for (PartFootprint& part : parts) part.weights = part.weights * (*model.stored / counted);
  }
  return parts;
}

Bytes resident_of(const PartFootprint& part, Offload offload) {
  if (offload == Offload::model) return part.weights;
  return offload == Offload::sequential ? std::min(part.weights, part.largest_tensor) : Bytes{};
}

std::size_t fullest_of(const std::vector<PartFootprint>& parts, Offload offload) {
  std::size_t fullest = 0;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto need = [&](std::size_t n) { return parts[n].activations + resident_of(parts[n], offload); };
    if (need(i) > need(fullest)) fullest = i;
  }
  return fullest;
}

// A name that the formula's grammar takes, once.
std::string formula_name(const std::string& part, std::set<std::string>& taken) {
  std::string name;
  for (const char c : part) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += plain ? c : '_';
  }
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) name.insert(0, "part_");
  while (!taken.insert(name).second) name += "_2";
  return name;
}

Bytes weights(const PartsMemoryInputs& in, const PartsMemory& m, Explain* why) {
  if (m.parts.empty()) return {};
  const PartFootprint& fullest = m.parts[m.fullest];
  if (in.job.offload != Offload::none) {
    const Bytes resident = resident_of(fullest, in.job.offload);
    if (why) why->term("memory.weights", resident, "resident", {{"resident", resident, fullest.name}});
    return resident;
  }
  Bytes total;
  std::string formula;
  std::vector<ExplainInput> inputs;
  std::set<std::string> taken;
  for (const PartFootprint& part : m.parts) {
    total += part.weights;
    if (!why) continue;
    const std::string name = formula_name(part.name, taken);
    formula += (formula.empty() ? "" : " + ") + name;
    inputs.emplace_back(name, part.weights);
  }
  if (why) why->term("memory.weights", total, formula, std::move(inputs));
  return total;
}

Bytes activations(const PartsMemoryInputs& in, const PartsMemory& m, Explain* why) {
  if (m.parts.empty()) return {};
  const PartFootprint& part = m.parts[m.fullest];
  if (why) {
    const Runtime& runtime = *in.runtime;
    why->term("memory.activations", part.activations,
              "items * (map_copies * maps + layout_copies * layouts + score_copies * scores) * element",
              {{"items", part.peak.items, part.name + ": " + part.peak.operation},
               {"map_copies", runtime.map_copies.or_else(1), source_of(in, runtime.map_copies)},
               {"maps", part.peak.maps},
               {"layout_copies", runtime.layout_copies.or_else(0), source_of(in, runtime.layout_copies)},
               {"layouts", part.peak.layouts},
               {"score_copies", runtime.score_copies.or_else(1), source_of(in, runtime.score_copies)},
               {"scores", part.peak.scores},
               {"element", part.peak.element}});
  }
  return part.activations;
}

Bytes fixed(const PartsMemoryInputs& in, std::string_view id, std::string_view name, const Fact<Bytes>& fact,
            Explain* why) {
  const Bytes value = fact.or_else({});
  if (why) why->term(id, value, name, {{name, value, source_of(in, fact)}});
  return value;
}

}  // namespace

bool is_denoiser(const NetworkPart& part) { return part.item.starts_with("step"); }

bool doubles_batch(const NetworkPart& part) {
  return is_denoiser(part) && std::none_of(part.tensors.begin(), part.tensors.end(), [](const TensorGroup& tensor) {
           return tensor.name.starts_with("guidance");
         });
}

double text_length(const Network& network, const PartsJob& job, double otherwise) {
  if (job.length > 0) return static_cast<double>(job.length);
  for (const NetworkPart& part : network.parts) {
    if (is_denoiser(part) && part.text > 0) return part.text;
  }
  return otherwise;
}

PartsMemory parts_memory(const PartsMemoryInputs& in, Explain* why) {
  const Runtime& runtime = *in.runtime;
  PartsMemory m;
  m.capacity = in.visible.or_else({});
  m.parts = footprints_of(in);
  m.fullest = fullest_of(m.parts, in.job.offload);
  const double low = runtime.overhead_low.or_else(1);
  const double high = runtime.overhead_high.or_else(1);
  m.terms.add("weights", weights(in, m, why));
  const Bytes live = activations(in, m, why);
  m.terms.add("activations", live, live * low, live * high);
  m.terms.add("workspace", fixed(in, "memory.workspace", "workspace", runtime.workspace, why));
  m.terms.add("context", fixed(in, "memory.context", "context", runtime.context, why));
  if (m.terms.total() > m.capacity) {
    m.verdict = FitVerdict::does_not_fit;
  } else {
    m.verdict = m.terms.high() > m.capacity ? FitVerdict::tight : FitVerdict::fits;
  }
  return m;
}

}  // namespace gpuplan
