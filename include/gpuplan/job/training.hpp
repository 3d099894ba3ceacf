#pragma once
/// What a training job asks for: method, optimizer, precision, how states and work are divided, and what is recomputed.
///
///     TrainingSpec job;
///     job.method = TrainingMethod::qlora;
///     job.lora_rank = 64;
///
/// Every word has one text form, the same on flags, in files and in reports; `parse_…` refuses others with the nearest.

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/reader.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

/// What is trained. `qlora` and `qdora` keep the frozen weights quantized.
enum class TrainingMethod : std::uint8_t { pretrain, full, lora, qlora, dora, qdora };
/// `paged`: states live in host memory and are paged in while a tensor is updated. `sgd` has no momentum.
enum class Optimizer : std::uint8_t {
  adamw,
  adamw_8bit,
  adamw_paged,
  adamw_8bit_paged,
  adafactor,
  lion,
  lion_8bit,
  sgd,
  sgd_momentum,
  muon
};
/// `*_mixed`: 16-bit weights that compute, fp32 master weights and states. `bf16`: all in 16 bit. `fp8`, `fp4`: as bf16_mixed
/// with matrix products in 8 or 4 bit.
enum class TrainingPrecision : std::uint8_t { fp32, bf16_mixed, fp16_mixed, bf16, fp8, fp4 };
/// What the data-parallel ranks divide among themselves: optimizer states (1), gradients too (2), weights too (3, fsdp).
/// `hsdp` divides as fsdp inside groups of `shard_group` devices.
enum class StateSharding : std::uint8_t { none, zero1, zero2, zero3, fsdp, fsdp_grad, hsdp };
/// `selective`: the attention scores alone; `full`: every layer, from its input.
enum class Recompute : std::uint8_t { none, selective, full };
/// `plain`: all logits with a copy in fp32; `chunked`: the loss goes over parts of them; `fused`: logits are never stored.
enum class CrossEntropy : std::uint8_t { plain, chunked, fused };
/// What lives in host memory or on NVMe: the optimizer's states; these and the weights.
enum class TrainingOffload : std::uint8_t { none, optimizer, all };
/// Which products of a layer carry adapters.
enum class LoraTarget : std::uint8_t { q, k, v, o, gate, up, down, experts, head };

std::string_view to_string(TrainingMethod value);
std::string_view to_string(Optimizer value);
std::string_view to_string(TrainingPrecision value);
std::string_view to_string(StateSharding value);
std::string_view to_string(Recompute value);
std::string_view to_string(CrossEntropy value);
std::string_view to_string(TrainingOffload value);
std::string to_string(const std::vector<LoraTarget>& targets);  ///< `q,v`
Parsed<TrainingMethod> parse_training_method(std::string_view text);
Parsed<Optimizer> parse_optimizer(std::string_view text);
Parsed<TrainingPrecision> parse_training_precision(std::string_view text);
Parsed<StateSharding> parse_state_sharding(std::string_view text);
Parsed<Recompute> parse_recompute(std::string_view text);
Parsed<CrossEntropy> parse_cross_entropy(std::string_view text);
Parsed<TrainingOffload> parse_training_offload(std::string_view text);
/// A list with commas; `attention` is q,k,v,o, `mlp` is gate,up,down, `all` both and the experts.
Parsed<std::vector<LoraTarget>> parse_lora_targets(std::string_view text);

/// All matrix products of the layers.
std::vector<LoraTarget> all_linear_targets();

struct TrainingSpec {
  TrainingMethod method = TrainingMethod::full;
  Optimizer optimizer = Optimizer::adamw;
  bool optimizer_in_backward =
      false;  ///< each tensor is updated as soon as its gradient is there; no gradients are kept
  TrainingPrecision precision = TrainingPrecision::bf16_mixed;
  std::int64_t lora_rank = 16;
  std::vector<LoraTarget> lora_targets = all_linear_targets();
  std::string weights;        ///< format of quantized frozen weights; empty: nf4

  StateSharding sharding = StateSharding::none;
  std::int64_t shard_group = 8;  ///< of hsdp
  std::int64_t dp = 1;           ///< data-parallel ranks; experts are divided among them
  std::int64_t tp = 1;
  std::int64_t pp = 1;
  std::int64_t vpp = 1;            ///< model chunks a stage of the interleaved schedule has; 1: 1F1B
  std::int64_t cp = 1;             ///< ranks that a sequence is divided over
  std::int64_t ep = 1;             ///< ranks that the experts are divided over; divides dp · cp
  std::int64_t expert_tp = 0;      ///< tensor parallelism of the experts; 0: as `tp`
  bool sequence_parallel = false;  ///< tensor-parallel ranks divide what lies between their products, too

  std::optional<Recompute> recompute;  ///< empty: as the framework does
  bool activation_offload = false;     ///< what is kept goes to the host until it is needed
  bool flash_attention = true;
  bool dropout = false;                       ///< on hidden states and attention, as GPT had it
  std::optional<CrossEntropy> cross_entropy;  ///< empty: as the framework does
  TrainingOffload offload = TrainingOffload::none;

  std::int64_t sequence = 4096;
  std::int64_t micro_batch = 1;
  std::int64_t grad_accum = 1;  ///< micro-batches a step and replica

  [[nodiscard]] std::int64_t devices() const { return tp * pp * cp * dp; }
  [[nodiscard]] bool trains_adapters() const {
    return method != TrainingMethod::pretrain && method != TrainingMethod::full;
  }
  [[nodiscard]] bool quantizes_weights() const {
    return method == TrainingMethod::qlora || method == TrainingMethod::qdora;
  }
};

/// What contradicts itself: degrees below 1, experts over more ranks than there are, interleaving without a pipeline, …
std::vector<Problem> check_training(const TrainingSpec& job);

}  // namespace gpuplan
