#pragma once
/// A network in its formats, served by an engine on a kind of device: what memory and time are computed for.

#include <gpuplan/base/error.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/deploy/layout.hpp>
#include <gpuplan/job/residency.hpp>
#include <gpuplan/model/architecture.hpp>
#include <gpuplan/model/network.hpp>
#include <gpuplan/model/scheme.hpp>
#include <gpuplan/model/tensors.hpp>
#include <gpuplan/topology/fabric.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpuplan {

/// The network and the formats it is stored in, with its tensor list at hand.
struct ServedModel {
  Network network;
  Architecture architecture;  ///< of the language model
  Scheme scheme;              ///< resolved for the tensors
  bool is_native = true;      ///< the weights are in the format that the model was published in
  const KvFormat* kv = nullptr;
  std::vector<TensorGroup> tensors;  ///< of the language model
  std::vector<TensorGroup> beside;   ///< of the other parts that are loaded with it: towers, projectors
  std::optional<Bytes>
      stored;  ///< what the model's own files hold, by their headers; empty: counted from the tensor list
  Residency residency;
  std::shared_ptr<const ServedModel> draft;                    ///< of `residency.draft`; null: none
  std::vector<std::shared_ptr<const ServedModel>> neighbours;  ///< of `residency.beside`
};

/// Bytes of all weights: by the files' headers where there are any, else by the tensor list and the scheme.
Bytes weights_of(const ServedModel& model);
/// The same by the tensor list, whatever the files hold.
Bytes counted_weights(const ServedModel& model);

/// What every request looks like.
struct RequestShape {
  std::int64_t context = 4096;  ///< positions a sequence may come to hold
  std::int64_t input = 1024;
  std::int64_t output = 256;
};

/// A result: why something is not possible, with the numbers.
struct Rejection {
  std::string rule;  ///< stable: `memory`, `engine.vendor`, `engine.format`, …
  std::string needed;
  std::string available;
  std::string smallest_change;
};

/// Whether an engine can run a scheme on a device: vendor, compute capability, kernels.
std::optional<Rejection> check_engine(const Engine& engine, const Accelerator& accelerator, const Scheme& scheme);

/// Tensor-parallel degrees that a network allows: divisors of its heads, up to `limit`, powers of two.
std::vector<std::int64_t> tensor_parallel_degrees(const Architecture& architecture, std::int64_t limit);

}  // namespace gpuplan
