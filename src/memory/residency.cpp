#include "residency.hpp"

#include "inference_rates.hpp"

#include <algorithm>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

double files_over_list(const ServedModel& model) { return model.stored ? *model.stored / counted_weights(model) : 1; }

bool is_quantizable_product(const TensorGroup& tensor) {
  return tensor.layers > 0 && (tensor.role == TensorRole::attention || tensor.role == TensorRole::mlp ||
                               tensor.role == TensorRole::shared_expert);
}

// The layers that have experts; they stand behind the plain ones.
std::int64_t expert_layers(const ServedModel& model) {
  std::int64_t layers = 0;
  for (const TensorGroup& tensor : model.tensors) {
    if (tensor.role == TensorRole::expert) layers = std::max(layers, tensor.layers);
  }
  return layers;
}

// One sequence of the request's context, with an engine of its own that takes no more than it needs.
Bytes alone(const InferenceMemoryInputs& in, const ServedModel& model) {
  InferenceMemoryInputs other = in;
  other.model = &model;
  const std::int64_t most = model.architecture.max_position;
  if (most > 0) other.request.context = std::min(other.request.context, most);
  other.request.input = std::min(other.request.input, other.request.context);
  InferenceRates rates = inference_rates(other);
  rates.fraction = 1;
  return inference_need(rates, 1, other.request);
}

}  // namespace

WeightsByPlace weights_by_place(const InferenceMemoryInputs& in, std::int64_t ranks) {
  const ServedModel& model = *in.model;
  WeightsByPlace place;
  const auto held = [&](const TensorGroup& tensor) {
    return as_double(tensor.count) *
           stored_bytes(storage_of(tensor, model.scheme), as_double(tensor.rows), as_double(tensor.columns)) *
           shard_share(tensor, model.architecture, ranks);
  };
  for (const TensorGroup& tensor : model.tensors) {
    if (tensor.layers > 0) {
      place.layers += held(tensor);
      if (tensor.role == TensorRole::expert) place.experts += held(tensor);
    } else if (tensor.role == TensorRole::head) {
      place.head += held(tensor);
    } else if (tensor.role == TensorRole::embedding || tensor.role == TensorRole::position) {
      place.embedding += held(tensor);
    } else {
      place.ends += held(tensor);
    }
  }
  // What images or sound go through stands before the first layer.
  for (const TensorGroup& tensor : model.beside) place.embedding += held(tensor);
  return place;
}

HostWeights host_weights(const InferenceMemoryInputs& in) {
  const ServedModel& model = *in.model;
  const Residency& where = model.residency;
  const WeightsByPlace place = weights_by_place(in, 1);
  const double files = files_over_list(model);
  const std::int64_t layers = model.architecture.layers;
  const std::int64_t on_device = std::min(where.device_layers.value_or(layers + 1), layers);
  HostWeights host;
  host.layers = place.layers * (as_double(layers - on_device) / as_double(layers)) * files;
  if (const std::int64_t with_experts = expert_layers(model); with_experts > 0) {
    const std::int64_t first = std::max(layers - with_experts, layers - on_device);  // that is on a device
    const std::int64_t kept = std::clamp<std::int64_t>(where.host_expert_layers - first, 0, layers - first);
    host.experts = place.experts * (as_double(kept) / as_double(with_experts)) * files;
  }
  // The head works where the last layer's output goes; a tied table is there for it, too.
  const bool head_on_host = where.device_layers && *where.device_layers <= layers;
  host.is_tied = model.architecture.tied_embeddings;
  if (in.engine->embedding_on_host) host.table = place.embedding * files;
  if (head_on_host) host.head = (place.head + place.ends + (host.is_tied ? place.embedding : Bytes{})) * files;
  return host;
}

bool has_one_memory(const InferenceMemoryInputs& in) {
  return in.accelerator && in.accelerator->memory_type.find("unified") != std::string_view::npos;
}

Bytes adapters_on_device(const InferenceMemoryInputs& in, Explain* why) {
  const Residency& where = in.model->residency;
  // A of rank x inputs and B of outputs x rank, in 16 bit: of a product that is split by its outputs each rank has the whole of A,
  // of one that is split by its inputs the whole of B.
  double sides = 0;
  const double ranks = as_double(in.layout.tp);
  for (const TensorGroup& tensor : in.model->tensors) {
    if (!is_quantizable_product(tensor) || !tensor.is_linear()) continue;
    const bool by_inputs = tensor.sharding == Sharding::row;
    const double whole = as_double(by_inputs ? tensor.rows : tensor.columns);
    const double split = as_double(by_inputs ? tensor.columns : tensor.rows);
    sides += as_double(tensor.count) * (whole + split / ranks);
  }
  const double share = 1.0 / as_double(in.layout.pp);
  const Bytes total = as_double(where.adapters) * as_double(where.adapter_rank) * sides * share * bytes(2);
  if (why) {
    why->term("memory.adapters", total, "adapters * rank * sides * stage_share * 2",
              {{"adapters", as_double(where.adapters)},
               {"rank", as_double(where.adapter_rank)},
               {"sides", sides},
               {"stage_share", share}});
  }
  return total;
}

void set_company(const InferenceMemoryInputs& in, InferenceRates& r) {
  const ServedModel& model = *in.model;
  const Residency& where = model.residency;
  if (where.adapters > 0) r.adapters = adapters_on_device(in, nullptr);
  if (model.draft) {
    InferenceMemoryInputs draft = in;
    draft.model = model.draft.get();
    const InferenceRates rates = inference_rates(draft);
    r.draft_weights = rates.weights;
    r.draft_cache = rates.cache;
    r.draft_window = rates.window;
  }
  for (const auto& other : model.neighbours) r.beside += alone(in, *other);
  r.host_weights = host_weights(in).total();
  const double layers = as_double(model.architecture.layers);
  const double away = layers - std::min(as_double(where.device_layers.value_or(model.architecture.layers)), layers);
  const double on_host = where.kv_on_host ? 1 : away / layers;
  const auto scale = [](KvCacheInputs& cache, double share) {
    cache.full_layers *= share;
    cache.windowed_layers *= share;
    cache.state *= share;
  };
  r.host_cache = r.cache;
  scale(r.host_cache, on_host);
  if (on_host > 0) scale(r.cache, 1 - on_host);
  r.host_share = has_one_memory(in) ? 1.0 / as_double(in.layout.devices_per_replica()) : 0;
}

Bytes company(const InferenceRates& r) { return r.adapters + r.draft_weights + r.beside; }

Bytes host_on_device(const InferenceRates& r, double sequences, std::int64_t context) {
  if (r.host_share <= 0) return {};
  return r.host_weights * r.host_share +
         kv_cache_bytes(cache_of(r, r.host_cache, r.window, sequences, context), nullptr);
}

}  // namespace gpuplan
