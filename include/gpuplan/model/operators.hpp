#pragma once
/// The operators of one step of a network on one device of a tensor-parallel group: FLOPs, bytes moved and kind.
///
/// Operators of equal shape over the layers are one row with a `count`. FLOPs count a multiply-add as two. Bytes are what
/// the device's memory must move: weights once a step, activations in and out, keys and values of every sequence.

#include <gpuplan/base/units.hpp>
#include <gpuplan/model/architecture.hpp>
#include <gpuplan/model/scheme.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace gpuplan {

enum class Phase : std::uint8_t { prefill, decode };
std::string_view to_string(Phase value);

enum class OperatorKind : std::uint8_t {
  gemm,
  attention,
  memory
};  ///< memory: norms, rotary, activation functions, look-ups

struct Operator {
  std::string_view id;  ///< `attention.qkv`, `mlp.gate_up`, `experts`, `head`: a literal
  OperatorKind kind = OperatorKind::gemm;
  Arithmetic arithmetic = Arithmetic::bf16;
  bool weight_only = false;  ///< weights are expanded to 16 bit on the way
  double count = 1;          ///< equal operators a step
  Flop flops;                ///< of one
  Bytes bytes;               ///< of one: weights + activations + cache
  Bytes weights;             ///< of a matrix product: those of its bytes that are weights
  double kernels = 1;        ///< launches of one
  double rows = 0;           ///< of a matrix product: its rows, 0 for other operators
  double columns = 0;        ///< of a matrix product: outputs a row
  double groups = 1;         ///< products of that shape that run side by side: experts
};

/// What a step works on.
struct StepShape {
  Phase phase = Phase::decode;
  double sequences = 1;       ///< running sequences
  double new_tokens = 1;      ///< tokens a sequence puts in (1 in decode, the prompt or its chunk in prefill)
  double context_tokens = 0;  ///< tokens already cached of each sequence, on average
  double logit_rows = 0;      ///< rows the head computes: one a sequence
};

struct StepLayout {
  std::int64_t tensor_parallel = 1;
  std::int64_t pipeline_parallel = 1;  ///< counts give the whole model; a stage runs 1/pp of the layers
  std::int64_t attention_replicas =
      1;  ///< of the group: each holds all heads of tp/replicas ranks and 1/replicas of the sequences
};

/// Distinct experts that a step of `tokens` touches when each picks `k` of `experts` alike: E·(1 − (1 − k/E)^T).
double touched_experts(double experts, double k, double tokens);

/// All operators of one step through the whole model, sharded over the tensor-parallel ranks.
/// Collectives are not operators: see topology/collectives.hpp.
std::vector<Operator> operators_of(const Architecture& architecture, const Scheme& scheme, const KvFormat& kv,
                                   const StepShape& step, const StepLayout& layout);

}  // namespace gpuplan
