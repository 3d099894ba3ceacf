#pragma once
/// What of a served model does not stay on the devices, and what stands on them beside it.
///
///     Residency where;
///     where.device_layers = 20;       // the last 20 layers; the others work from host memory
///     where.beside = {"qwen3-0.6b"};  // another model on the same device
///
/// Source: docs/PHYSICS.md, "Inference memory".

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuplan {

struct Residency {
  /// Layers on the devices, the last ones; one more than there are is everything, the output head included. Empty: everything.
  std::optional<std::int64_t> device_layers;
  std::int64_t host_expert_layers = 0;  ///< so many layers, from the first one, keep their experts in host memory
  bool kv_on_host = false;
  std::int64_t adapters = 0;        ///< that are loaded at once
  std::int64_t adapter_rank = 16;   ///< the largest of them: room is made for it in every layer
  std::string draft;                ///< the model that proposes tokens; empty: none
  std::vector<std::string> beside;  ///< other models on the same devices

  /// Whether some of the model is in host memory.
  [[nodiscard]] bool uses_host() const { return device_layers || host_expert_layers > 0 || kv_on_host; }
  [[nodiscard]] bool is_plain() const { return !uses_host() && adapters == 0 && draft.empty() && beside.empty(); }
};

}  // namespace gpuplan
