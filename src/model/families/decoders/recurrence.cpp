#include "recurrence.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace gpuplan {
namespace {

constexpr double kStateWidth = 4;    // bytes: fp32
constexpr double kHistoryWidth = 2;  // bytes: 16 bit

/// As a count; what is too large stays so, and the architecture is refused.
std::int64_t whole(double value) { return static_cast<std::int64_t>(std::clamp(value, 0.0, 2e15)); }

class MixerBuilder {
 public:
  explicit MixerBuilder(std::string_view kind) { mixer_.kind = kind; }

  MixerBuilder& matrix(std::string_view name, Sharding sharding, double outputs, double inputs,
                       std::int64_t count = 1) {
    return add(name, TensorRole::recurrence, sharding, outputs, inputs, count);
  }
  MixerBuilder& column(std::string_view name, double outputs, double inputs, std::int64_t count = 1) {
    return matrix(name, Sharding::column, outputs, inputs, count);
  }
  MixerBuilder& row(std::string_view name, double outputs, double inputs, std::int64_t count = 1) {
    return matrix(name, Sharding::row, outputs, inputs, count);
  }
  MixerBuilder& whole_matrix(std::string_view name, double outputs, double inputs, std::int64_t count = 1) {
    return matrix(name, Sharding::replicated, outputs, inputs, count);
  }
  /// What splits with the heads and is no product with the input: decay, step, skip.
  MixerBuilder& kept(std::string_view name, double rows, double columns = 1, std::int64_t count = 1) {
    return add(name, TensorRole::state, Sharding::column, rows, columns, count);
  }
  MixerBuilder& bias(std::string_view name, Sharding sharding, double width, bool there = true) {
    return there ? add(name, TensorRole::bias, sharding, width, 1, 1) : *this;
  }
  MixerBuilder& norm(std::string_view name, double width, std::int64_t count = 1, bool there = true) {
    return there ? add(name, TensorRole::norm, Sharding::replicated, width, 1, count) : *this;
  }
  /// A kernel over the last positions of each channel; all but the newest are kept.
  MixerBuilder& convolution(std::string_view name, double channels, double kernel, bool biased) {
    kept(name, channels, kernel);
    bias(std::string(name) + "_bias", Sharding::column, channels, biased);
    mixer_.scan_flops += 2 * kernel * channels;
    return history((kernel - 1) * channels);
  }
  MixerBuilder& state(double elements, double flops_per_element) {
    mixer_.state += bytes(kStateWidth * elements);
    mixer_.scan_flops += flops_per_element * elements;
    return *this;
  }
  MixerBuilder& history(double elements) {
    mixer_.state += bytes(kHistoryWidth * elements);
    return *this;
  }
  MixerBuilder& work(double flops) {
    mixer_.scan_flops += flops;
    return *this;
  }
  Recurrence take() { return std::move(mixer_); }

 private:
  MixerBuilder& add(std::string_view name, TensorRole role, Sharding sharding, double rows, double columns,
                    std::int64_t count) {
    if (rows < 1 || columns < 1) return *this;
    mixer_.tensors.push_back(
        {mixer_.kind + "." + std::string(name), role, sharding, count, whole(rows), whole(columns)});
    return *this;
  }

  Recurrence mixer_;
};

/// What RWKV's channel mixing keeps, and the receptance that gates it in versions 4 to 6.
void add_channel_mixing(MixerBuilder& out, double hidden) {
  out.kept("channel.shift", hidden, 1, 2).column("channel.receptance", hidden, hidden).history(hidden);
}

}  // namespace

Recurrence mamba(const MambaShape& s) {
  MixerBuilder out("mamba");
  out.column("in", 2 * s.inner, s.hidden).bias("in_bias", Sharding::column, 2 * s.inner, s.projection_bias);
  out.convolution("convolution", s.inner, s.kernel, s.convolution_bias);
  out.row("step_input_output", s.rank + 2 * s.state, s.inner);
  out.norm("step_norm", s.rank, 1, s.norms).norm("input_output_norm", s.state, 2, s.norms);
  out.column("step", s.inner, s.rank).bias("step_bias", Sharding::column, s.inner);
  out.kept("decay", s.inner, s.state).kept("skip", s.inner).state(s.inner * s.state, 7);
  out.row("out", s.hidden, s.inner).bias("out_bias", Sharding::replicated, s.hidden, s.projection_bias);
  return out.take();
}

Recurrence mamba2(const Mamba2Shape& s) {
  const double inner = s.heads * s.head_dim;
  const double convolved = inner + 2 * s.groups * s.state;
  MixerBuilder out("mamba2");
  out.column("in", inner + convolved + s.heads, s.hidden);
  out.bias("in_bias", Sharding::column, inner + convolved + s.heads, s.projection_bias);
  out.convolution("convolution", convolved, s.kernel, s.convolution_bias);
  out.kept("decay_step_skip", s.heads, 1, 3).state(inner * s.state, 5).norm("norm", inner, 1, s.norm);
  out.row("out", s.hidden, inner).bias("out_bias", Sharding::replicated, s.hidden, s.projection_bias);
  return out.take();
}

Recurrence gated_delta_net(const DeltaNetShape& s) {
  const double keys = s.key_heads * s.key_dim;
  const double values = s.value_heads * s.value_dim;
  MixerBuilder out("gated_delta_net");
  out.column("qkv_gate", 2 * keys + 2 * values, s.hidden).column("rate_decay", 2 * s.value_heads, s.hidden);
  out.convolution("convolution", 2 * keys + values, s.kernel, false);
  out.kept("decay_step", s.value_heads, 1, 2).state(values * s.key_dim, 7).norm("norm", s.value_dim);
  out.row("out", s.hidden, values);
  return out.take();
}

Recurrence kimi_delta_attention(const KimiDeltaShape& s) {
  const double width = s.heads * s.head_dim;
  MixerBuilder out("kimi_delta_attention");
  out.column("qkv", width, s.hidden, 3).convolution("convolution", 3 * width, s.kernel, false);
  out.whole_matrix("decay_a", s.head_dim, s.hidden).column("decay_b", width, s.head_dim);
  out.kept("decay", s.full_rank_gate ? s.head_dim : s.heads).kept("step", width).column("rate", s.heads, s.hidden);
  if (s.full_rank_gate) {
    out.column("gate", width, s.hidden);
  } else {
    out.whole_matrix("gate_a", s.head_dim, s.hidden).column("gate_b", width, s.head_dim);
  }
  out.state(width * s.head_dim, 7).norm("norm", s.head_dim).row("out", s.hidden, width);
  return out.take();
}

Recurrence lightning_attention(const LightningShape& s) {
  const double width = s.heads * s.head_dim;
  MixerBuilder out("lightning_attention");
  out.column("qkv", 3 * width, s.hidden).column("gate", width, s.hidden).norm("norm", width);
  out.state(width * s.head_dim, 5).row("out", s.hidden, width);
  return out.take();
}

Recurrence short_convolution(const ShortConvolutionShape& s) {
  MixerBuilder out("short_convolution");
  out.column("in", 3 * s.hidden, s.hidden).bias("in_bias", Sharding::column, 3 * s.hidden, s.bias);
  out.convolution("convolution", s.hidden, s.kernel, s.bias).work(2 * s.hidden);
  out.row("out", s.hidden, s.hidden).bias("out_bias", Sharding::replicated, s.hidden, s.bias);
  return out.take();
}

Recurrence rg_lru(const RgLruShape& s) {
  const double block = s.heads > 0 ? s.width / s.heads : 0;
  MixerBuilder out("rg_lru");
  out.column("branches", s.width, s.hidden, 2).kept("branch_bias", s.width, 1, 2);
  out.convolution("convolution", s.width, s.kernel, true);
  out.column("gates", s.width, block, 2).kept("gate_bias", s.width, 1, 2).kept("decay", s.width).state(s.width, 8);
  out.row("out", s.hidden, s.width).bias("out_bias", Sharding::replicated, s.hidden);
  return out.take();
}

Recurrence rwkv4(const RwkvShape& s) {
  MixerBuilder out("rwkv4");
  out.kept("shift", s.hidden, 1, 3).kept("decay_first", s.attention, 1, 2).history(s.hidden);
  out.column("receptance_key_value", s.attention, s.hidden, 3).row("out", s.hidden, s.attention);
  out.state(3 * s.attention, 10.0 / 3);  // numerator, denominator and the largest exponent
  add_channel_mixing(out, s.hidden);
  return out.take();
}

Recurrence rwkv5(const RwkvShape& s) {
  MixerBuilder out("rwkv5");
  out.kept("shift", s.hidden, 1, 4).kept("decay_first", s.attention, 1, 2).history(s.hidden);
  out.column("receptance_key_value_gate", s.attention, s.hidden, 4).row("out", s.hidden, s.attention);
  out.norm("norm", s.hidden, 2).state(s.attention * s.head_dim, 5);
  add_channel_mixing(out, s.hidden);
  return out.take();
}

Recurrence rwkv6(const Rwkv6Shape& s) {
  constexpr std::int64_t mixed = 5;  // receptance, key, value, gate and decay
  MixerBuilder out("rwkv6");
  out.kept("shift", s.hidden, 1, mixed + 1).history(s.hidden);
  out.whole_matrix("shift_a", mixed * s.mix_rank, s.hidden).whole_matrix("shift_b", s.hidden, s.mix_rank, mixed);
  out.kept("decay_first", s.attention, 1, 2).whole_matrix("decay_a", s.decay_rank, s.hidden);
  out.column("decay_b", s.attention, s.decay_rank);
  out.column("receptance_key_value_gate", s.attention, s.hidden, 4).row("out", s.hidden, s.attention);
  out.norm("norm", s.hidden, 2).state(s.attention * s.head_dim, 5);
  add_channel_mixing(out, s.hidden);
  return out.take();
}

Recurrence rwkv7(const Rwkv7Shape& s) {
  MixerBuilder out("rwkv7");
  out.kept("shift", s.hidden, 1, 6).kept("key_scales", s.hidden, 1, 3).history(s.hidden);
  out.column("receptance_key_value", s.hidden, s.hidden, 3).row("out", s.hidden, s.hidden);
  const auto low_rank = [&](std::string_view name, double rank, bool base) {
    if (rank <= 0) return;
    out.whole_matrix(std::string(name) + "_a", rank, s.hidden).column(std::string(name) + "_b", s.hidden, rank);
    if (base) out.kept(std::string(name) + "_base", s.hidden);
  };
  low_rank("decay", s.decay_rank, true);
  low_rank("rate", s.step_rank, true);
  low_rank("value", s.value_rank, true);
  low_rank("gate", s.gate_rank, false);
  out.norm("norm", s.hidden, 2).state(s.hidden * s.head_dim, 9);
  out.kept("channel.shift", s.hidden).history(s.hidden);
  return out.take();
}

Recurrence linear_replacement(std::string_view name, double hidden) {
  return MixerBuilder(name).whole_matrix("linear", hidden, hidden).take();
}

}  // namespace gpuplan
