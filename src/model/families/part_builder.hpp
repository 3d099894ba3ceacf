#pragma once
/// Writes down a part's tensors layer by layer, as its module lists them.
///
///     PartBuilder part("text_encoder", "CLIP text encoder: 12 layers, width 768", "token");
///     part.table("embedding", vocab, hidden);
///     part.layers(12, [&](PartBuilder& layer) {
///       layer.norm("norm", hidden, 2);
///       layer.linear("attention.qkv", hidden, hidden, {.count = 3, .role = TensorRole::attention});
///     });
///     out.parts.push_back(part.take());

#include <gpuplan/model/network.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace gpuplan {

struct LinearOptions {
  std::int64_t count = 1;  ///< equal ones side by side
  bool bias = true;
  TensorRole role = TensorRole::projection;
  Sharding sharding = Sharding::replicated;
  double uses = -1;  ///< how often an item goes through it; negative: the part's positions
};
struct ConvOptions {
  std::int64_t count = 1;
  bool bias = true;
  std::int64_t groups = 1;
  double uses = -1;  ///< output positions; negative: the part's positions
};

class PartBuilder {
 public:
  /// @param positions  how often an item goes through a matrix unless it says otherwise: 1 of a token, the patches of an image
  PartBuilder(std::string name, std::string title, std::string item, double positions = 1) : positions_(positions) {
    part_.name = std::move(name);
    part_.title = std::move(title);
    part_.item = std::move(item);
  }

  /// What `body` adds stands in each of `count` layers, as `layers.*.…` (`prefix` in place of `layers`).
  template <class Body>
  void layers(std::int64_t count, Body&& body, std::string_view prefix = "layers") {
    if (count <= 0) return;
    const std::string outer_prefix = prefix_;
    const std::int64_t outer = repeat_;
    prefix_ += std::string(prefix) + ".*.";
    repeat_ = bounded(repeat_, count);
    in_layers_ += 1;
    body(*this);
    in_layers_ -= 1;
    repeat_ = outer;
    prefix_ = outer_prefix;
  }

  void linear(std::string_view name, std::int64_t outputs, std::int64_t inputs, LinearOptions o = {}) {
    const double uses = o.uses < 0 ? positions_ : o.uses;
    add({std::string(name), o.role, o.sharding, o.count, outputs, inputs, 0, uses});
    if (o.bias) add({std::string(name) + "_bias", TensorRole::bias, o.sharding, o.count, outputs, 1, 0, 0});
  }
  /// A kernel of `outputs` x (`inputs` / groups) x `kernel` positions (9 of a 3 x 3).
  void conv(std::string_view name, std::int64_t outputs, std::int64_t inputs, std::int64_t kernel, ConvOptions o = {}) {
    const double uses = o.uses < 0 ? positions_ : o.uses;
    add({std::string(name), TensorRole::convolution, Sharding::replicated, o.count, outputs,
         bounded(inputs / o.groups, kernel), 0, uses, false, kernel});
    if (o.bias) add({std::string(name) + "_bias", TensorRole::bias, Sharding::replicated, o.count, outputs, 1, 0, 0});
  }
  /// A norm's weight and, unless it has none, its bias.
  void norm(std::string_view name, std::int64_t width, std::int64_t count = 1, bool bias = true) {
    vector(name, TensorRole::norm, width, bias ? 2 * count : count);
  }
  void vector(std::string_view name, TensorRole role, std::int64_t width, std::int64_t count = 1) {
    add({std::string(name), role, Sharding::replicated, count, width, 1, 0, 0});
  }
  /// Rows that are looked up, not multiplied.
  void table(std::string_view name, std::int64_t rows, std::int64_t width, TensorRole role = TensorRole::embedding) {
    add({std::string(name), role, Sharding::vocabulary, 1, rows, width, 0, 0});
  }
  void add(TensorGroup group) {
    if (group.count <= 0 || group.rows <= 0 || group.columns <= 0) return;
    group.name = prefix_ + group.name;
    group.count = bounded(group.count, repeat_);
    group.layers = in_layers_ > 0 ? repeat_ : 0;
    for (TensorGroup& known : part_.tensors) {  // the same tensor of another kind of layer
      if (known.name != group.name || known.rows != group.rows || known.columns != group.columns ||
          known.uses < group.uses || group.uses < known.uses)
        continue;
      known.count += group.count;
      known.layers += group.layers;
      return;
    }
    part_.tensors.push_back(std::move(group));
  }
  /// Scores and weighted sums of the layers that stand here.
  void attend(std::int64_t heads, std::int64_t head_dim, double queries, double keys) {
    part_.attention.push_back({repeat_, heads, head_dim, queries, keys, 0});
  }
  /// The same of text, where each token sees at most `window` others; 0: all.
  void attend_text(std::int64_t heads, std::int64_t head_dim, double window) {
    part_.attention.push_back({repeat_, heads, head_dim, 1, 0, window});
  }

  [[nodiscard]] double positions() const { return positions_; }
  [[nodiscard]] NetworkPart& part() { return part_; }
  [[nodiscard]] NetworkPart take() { return std::move(part_); }

 private:
  /// The product, cut where `check_part` refuses the part anyway.
  static std::int64_t bounded(std::int64_t one, std::int64_t other) {
    constexpr std::int64_t most = 1'000'000'000'000'000;
    std::int64_t product = 0;
    return __builtin_mul_overflow(one, other, &product) || product > most ? most : product;
  }

  NetworkPart part_;
  double positions_;
  std::string prefix_;
  std::int64_t repeat_ = 1;
  int in_layers_ = 0;
};

}  // namespace gpuplan
