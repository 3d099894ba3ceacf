#pragma once
/// Mixers that carry a state: their tensors, what one sequence keeps, and the work of a step beside the matrix products.
///
///     Recurrence r = mamba2({.hidden = 4096, .heads = 128, .head_dim = 64, .groups = 8, .state = 128});
///     r.state          // 128 * 64 * 128 numbers of 4 bytes, and three positions of the convolution in 2 bytes
///
/// Recurrent states are kept in fp32, as the published kernels accumulate them and the engines cache them by default; the
/// last `kernel - 1` inputs of a short convolution and the token before, which shifts need, in 16 bit. The work is that of
/// the recurrent form, a multiply-add as two and an exponential as one; chunked prefill kernels trade it for larger
/// products of the same order. A convolution is 2 * kernel a channel everywhere.
/// Sizes are doubles, for they come from configs: a product that is too large becomes a tensor that no architecture may have.

#include <gpuplan/model/architecture.hpp>

#include <string_view>

namespace gpuplan {

/// Mamba, the selective state space of Gu & Dao 2023 (arXiv:2312.00752, algorithm 2).
/// Scan: per channel and state decay exp(step * A) (2), input (3) and output (2): 7 * inner * state.
struct MambaShape {
  double hidden = 0;
  double inner = 0;  ///< channels, `expand * hidden`
  double state = 16;
  double rank = 0;  ///< of the step sizes
  double kernel = 4;
  bool projection_bias = false;
  bool convolution_bias = true;
  bool norms = false;  ///< on step, input and output, as hybrids have
};
Recurrence mamba(const MambaShape& shape);

/// Mamba-2, one decay a head (Dao & Gu 2024, arXiv:2405.21060, section 6).
/// Scan: decay (1), input (2) and output (2) a state element: 5 * heads * head_dim * state.
struct Mamba2Shape {
  double hidden = 0;
  double heads = 0;
  double head_dim = 64;
  double groups = 1;  ///< of inputs and outputs, which heads share
  double state = 128;
  double kernel = 4;
  bool projection_bias = false;
  bool convolution_bias = true;
  bool norm = true;  ///< gated, before the output
};
Recurrence mamba2(const Mamba2Shape& shape);

/// Gated delta rule (Yang et al. 2024, arXiv:2412.06464, equation 10).
/// Scan: decay (1), what the key reads (2), the correction written (2), what the query reads (2) a state element:
/// 7 * value_heads * key_dim * value_dim.
struct DeltaNetShape {
  double hidden = 0;
  double key_heads = 0;
  double key_dim = 0;
  double value_heads = 0;
  double value_dim = 0;
  double kernel = 4;
};
Recurrence gated_delta_net(const DeltaNetShape& shape);

/// Kimi delta attention: the same rule with a decay for each channel (arXiv:2510.26692, section 3).
/// Scan: 7 * heads * head_dim^2.
struct KimiDeltaShape {
  double hidden = 0;
  double heads = 0;
  double head_dim = 0;
  double kernel = 4;
  bool full_rank_gate =
      false;  ///< else through `head_dim`; then the decay has one base a channel instead of one a head
};
Recurrence kimi_delta_attention(const KimiDeltaShape& shape);

/// Lightning attention, a fixed decay a head (Qin et al. 2024, arXiv:2401.04658): 5 * heads * head_dim^2.
struct LightningShape {
  double hidden = 0;
  double heads = 0;
  double head_dim = 0;
};
Recurrence lightning_attention(const LightningShape& shape);

/// A gated short convolution: two gates around a kernel over the last positions. Scan: 2 a channel beside the convolution.
struct ShortConvolutionShape {
  double hidden = 0;
  double kernel = 3;
  bool bias = false;
};
Recurrence short_convolution(const ShortConvolutionShape& shape);

/// RG-LRU with its two branches (De et al. 2024, arXiv:2402.19427, equations 1 to 4); the gates are block-diagonal.
/// Scan: decay and input gate (5), state (3) a channel: 8 * width.
struct RgLruShape {
  double hidden = 0;
  double width = 0;
  double heads = 0;
  double kernel = 4;
};
Recurrence rg_lru(const RgLruShape& shape);

/// RWKV-4 to 7: time mixing, and of 4 to 6 the receptance of the channel mixing, whose other two matrices are the MLP.
/// Scan: 4 (arXiv:2305.13048, equations 16 to 18): 10 a channel. 5 and 6 (arXiv:2404.05892, section 4): decay (1), key and
/// value (2), what the receptance reads (2): 5 * hidden * head_dim. 7 (arXiv:2503.14456, equation 17): decay (1), removal
/// (4), key and value (2), receptance (2): 9 * hidden * head_dim.
struct RwkvShape {
  double hidden = 0;
  double attention = 0;  ///< width of the time mixing
  double head_dim = 64;
};
Recurrence rwkv4(const RwkvShape& shape);
Recurrence rwkv5(const RwkvShape& shape);

struct Rwkv6Shape : RwkvShape {
  double mix_rank = 32;
  double decay_rank = 64;
};
Recurrence rwkv6(const Rwkv6Shape& shape);

struct Rwkv7Shape : RwkvShape {
  double decay_rank = 0;
  double step_rank = 0;   ///< of the in-context learning rate
  double value_rank = 0;  ///< of the values' residual, which the first layer lacks: 0 there
  double gate_rank = 0;
};
Recurrence rwkv7(const Rwkv7Shape& shape);

/// A plain matrix in the place of a mixer or an MLP, without a state.
Recurrence linear_replacement(std::string_view name, double hidden);

}  // namespace gpuplan
