#pragma once
/// Layers written down one by one, for networks whose layers differ; equal ones become a group.
///
///     LayerList layers;
///     for (…) is_attention ? layers.mixer(attention) : layers.mixer(mamba(shape));
///     layers.mlp(mlp, a.layers);
///     layers.into(a);

#include "../fields.hpp"

#include <gpuplan/model/architecture.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuplan {

/// How many layers are worth listing: `check_architecture` refuses more.
inline std::int64_t listed_layers(const Architecture& a) { return std::min<std::int64_t>(a.layers, 10001); }

/// Whether a list has an entry for each layer; a problem when it has not.
inline bool lists_each_layer(Fields& in, std::string_view key, std::size_t entries, const Architecture& a) {
  if (!in.sound()) return false;
  if (entries == static_cast<std::size_t>(listed_layers(a))) return true;
  const std::string name(key);
  in.wrong(key,
           "'" + name + "' has " + std::to_string(entries) + " entries for " + std::to_string(a.layers) + " layers",
           "one entry a layer");
  return false;
}

class LayerList {
 public:
  void mixer(const Attention& attention, std::int64_t layers = 1) { add({layers, attention, std::nullopt}); }
  void mixer(const Recurrence& recurrence, std::int64_t layers = 1) { add({layers, {}, recurrence}); }
  void mixer(const Attention& attention, const Recurrence& recurrence, std::int64_t layers = 1) {
    add({layers, attention, recurrence});
  }
  void mlp(const Mlp& mlp, std::int64_t layers = 1) {
    if (layers <= 0) return;
    for (MlpGroup& group : mlps_) {
      if (!(group.mlp == mlp)) continue;
      group.layers += layers;
      return;
    }
    mlps_.push_back({layers, mlp});
  }

  /// Lists the groups in `a`, and makes the attention and the MLP of most layers its own.
  void into(Architecture& a) {
    const auto more = [](const auto& one, const auto& other) { return one.layers < other.layers; };
    std::vector<MixerGroup> attentions;
    std::copy_if(mixers_.begin(), mixers_.end(), std::back_inserter(attentions),
                 [](const MixerGroup& group) { return group.attention.heads > 0; });
    static_cast<Attention&>(a) = {};
    if (!attentions.empty()) {
      static_cast<Attention&>(a) = std::max_element(attentions.begin(), attentions.end(), more)->attention;
    }
    a.window = 0;
    a.windowed_layers = 0;
    for (const MixerGroup& group : attentions) {
      if (group.attention.window == 0) continue;
      a.window = group.attention.window;
      a.windowed_layers = std::min(a.windowed_layers + group.layers, a.layers);
    }
    static_cast<Mlp&>(a) = {};
    std::int64_t with_experts = 0;
    for (const MlpGroup& group : mlps_) with_experts += group.mlp.has_experts() ? group.layers : 0;
    if (!mlps_.empty()) {  // experts say more of a network than the MLPs beside them
      static_cast<Mlp&>(a) =
          std::max_element(mlps_.begin(), mlps_.end(), [&](const MlpGroup& one, const MlpGroup& other) {
            return one.mlp.has_experts() == other.mlp.has_experts() ? more(one, other) : other.mlp.has_experts();
          })->mlp;
      if (a.has_experts()) a.dense_layers = std::max<std::int64_t>(a.layers - with_experts, 0);
    }
    for (const MlpGroup& group : mlps_) {
      if (a.intermediate == 0 && !group.mlp.has_experts()) a.intermediate = group.mlp.intermediate;
    }
    a.mixers = std::move(mixers_);
    a.mlps = std::move(mlps_);
  }

 private:
  static bool same(const std::optional<Recurrence>& one, const std::optional<Recurrence>& other) {
    if (!one || !other) return one.has_value() == other.has_value();
    const auto equal = [](const TensorGroup& x, const TensorGroup& y) {
      return x.name == y.name && x.count == y.count && x.rows == y.rows && x.columns == y.columns;
    };
    return one->kind == other->kind &&
           std::equal(one->tensors.begin(), one->tensors.end(), other->tensors.begin(), other->tensors.end(), equal);
  }
  void add(MixerGroup added) {
    if (added.layers <= 0) return;
    for (MixerGroup& group : mixers_) {
      if (!(group.attention == added.attention) || !same(group.recurrence, added.recurrence)) continue;
      group.layers += added.layers;
      return;
    }
    mixers_.push_back(std::move(added));
  }

  std::vector<MixerGroup> mixers_;
  std::vector<MlpGroup> mlps_;
};

}  // namespace gpuplan
