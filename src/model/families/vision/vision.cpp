#include "vision.hpp"

#include <charconv>
#include <string_view>

namespace gpuplan {
namespace {

constexpr std::int64_t kMostChannels = 1000000;

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('_'), name.size());
    words.emplace_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return words;
}

std::int64_t positive(std::int64_t n) { return std::max<std::int64_t>(1, n); }

void read_size(Fields in, ImageInput& out) {
  const Node* size = in.find({"input_size"});
  if (!size) return;
  if (size->kind != Node::Kind::sequence) {
    const std::int64_t side = in.count_or({"input_size"}, 1);
    out.size = {side, side};
    return;
  }
  const std::vector<std::int64_t> sizes = in.amounts("input_size");
  constexpr std::size_t channels_height_width = 3;
  if (sizes.size() != channels_height_width || sizes[0] > kMostChannels) {
    in.wrong("input_size", "'input_size' is not three sizes", "channels, height and width");
    return;
  }
  out.channels = positive(sizes[0]);
  out.size = {positive(sizes[1]), positive(sizes[2])};
}

/// Arguments that say the shape which the name means; others change it.
void note_changes(Fields& in, const std::string& name) {
  constexpr std::string_view shape =
      "block layers patch_size embed_dim depth num_heads window_size depths dims channel_multiplier depth_multiplier "
      "stem_size arch_def growth_rate block_config cfg convolutions pool_after dense";
  const Node* arguments = in.find({"model_args"});
  if (!arguments || arguments->kind != Node::Kind::mapping) return;
  for (const std::string& key : arguments->keys) {
    if (!has_word(shape, key)) in.not_modelled("a change to '" + name + "' (model_args." + key + ")");
  }
}

}  // namespace

std::string ImageInput::item() const {
  return "image of " + std::to_string(size.width) + " x " + std::to_string(size.height);
}

std::string ImageInput::title() const {
  return name + (classes > 0 ? ", " + std::to_string(classes) + " classes" : ", no classifier");
}

ImageInput read_image_input(Fields& in, std::int64_t native_side) {
  ImageInput out;
  const std::string name = in.text({"architecture"});
  out.name = name.substr(0, name.find('.'));
  out.words = words_of(out.name);
  out.size = {native_side, native_side};
  const Node* pretrained = in.find({"pretrained_cfg"});
  if (pretrained && pretrained->kind == Node::Kind::mapping) read_size(in.inside(*pretrained), out);
  read_size(in, out);
  out.channels = bounded_count(in, "in_chans", out.channels, kMostChannels);
  out.classes = in.amount_or({"num_classes"}, out.classes);
  note_changes(in, out.name);
  return out;
}

void unknown_variant(Fields& in, const std::string& name) { in.unreadable("image network '" + name + "'"); }

Grid read_image_size(Fields& in, std::int64_t otherwise) {
  const Node* size = in.find({"image_size"});
  if (!size || size->kind != Node::Kind::sequence) {
    const std::int64_t side = in.count_or({"image_size"}, otherwise);
    return {side, side};
  }
  const std::vector<std::int64_t> sides = in.amounts("image_size");
  if (sides.size() == 2) return {positive(sides[0]), positive(sides[1])};
  in.wrong("image_size", "'image_size' is not two sides", "a side, or height and width");
  return {otherwise, otherwise};
}

double fraction_or(Fields& in, std::string_view key, double otherwise) {
  const Node* found = in.find({key});
  if (!found) return otherwise;
  constexpr double most = 16;
  double value = 0;
  if (found->kind == Node::Kind::scalar && !found->quoted) {
    const char* const end = found->scalar.data() + found->scalar.size();
    const auto [at, error] = std::from_chars(found->scalar.data(), end, value);
    if (error == std::errc() && at == end && value > 0 && value <= most) return value;
  }
  in.wrong(key, "'" + std::string(key) + "' cannot be", "a number above 0, at most 16");
  return otherwise;
}

std::int64_t number_at_end(std::string_view word) {
  const std::size_t letters = word.find_last_not_of("0123456789") + 1;
  std::int64_t value = 0;
  const auto [at, error] = std::from_chars(word.data() + letters, word.data() + word.size(), value);
  return error == std::errc() && value <= Fields::kMost ? value : 0;
}

}  // namespace gpuplan
