#include "speech.hpp"

#include <algorithm>

namespace gpuplan {
namespace {

constexpr std::int64_t kMostKernel = 10000;
constexpr std::int64_t kMostChannels = 1000000;
constexpr std::size_t kMostStages = 16;

bool within(const std::vector<std::int64_t>& sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [](std::int64_t n) { return n >= 1 && n <= kMostKernel; });
}

std::int64_t items_of(const Node* list, std::size_t index, std::int64_t otherwise) {
  if (!list || list->kind != Node::Kind::sequence || index >= list->items.size()) return otherwise;
  const Node& item = list->items[index];
  return item.kind == Node::Kind::sequence ? static_cast<std::int64_t>(item.items.size()) : otherwise;
}

}  // namespace

void add_time_conv(PartBuilder& part, std::string_view name, std::int64_t outputs, std::int64_t inputs, TimeConv o) {
  part.conv(name, outputs, inputs, o.kernel, {.bias = o.bias, .uses = o.uses});
  if (o.weight_norm) part.vector(std::string(name) + "_length", TensorRole::norm, outputs);
}

void add_transposed_conv(PartBuilder& part, std::string_view name, std::int64_t outputs, std::int64_t inputs,
                         TimeConv o) {
  part.conv(name, outputs, inputs, o.kernel, {.bias = o.bias, .uses = o.uses});
  if (o.weight_norm) part.vector(std::string(name) + "_length", TensorRole::norm, inputs);  // stored inputs first
}

double Vocoder::samples_per_frame() const {
  double product = 1;
  for (const std::int64_t rate : rates) product *= static_cast<double>(rate);
  return product;
}

void add_vocoder(PartBuilder& part, const Vocoder& v, double frames) {
  add_time_conv(part, "first", v.channels, v.inputs, {.kernel = 7, .weight_norm = false, .uses = frames});
  if (v.condition > 0) add_time_conv(part, "condition", v.channels, v.condition, {.weight_norm = false, .uses = 1});
  std::int64_t channels = v.channels;
  for (std::size_t i = 0; i < v.rates.size(); ++i) {
    const std::string stage = "stage" + std::to_string(i + 1);
    const std::int64_t narrower = std::max<std::int64_t>(1, channels / 2);
    add_transposed_conv(part, stage + ".upsample", narrower, channels,
                        {.kernel = v.kernels[i], .weight_norm = v.weight_norm, .uses = frames});
    channels = narrower;
    frames *= static_cast<double>(v.rates[i]);
    if (v.condition_each)
      add_time_conv(part, stage + ".condition", channels, v.condition, {.weight_norm = false, .uses = 1});
    for (const VocoderBlock& block : v.blocks) {
      part.layers(
          2 * block.pairs,
          [&](PartBuilder& layer) {
            add_time_conv(layer, "conv", channels, channels,
                          {.kernel = block.kernel, .weight_norm = v.weight_norm, .uses = frames});
          },
          stage + ".block" + std::to_string(block.kernel));
    }
  }
  add_time_conv(part, "last", 1, channels, {.kernel = 7, .bias = false, .weight_norm = false, .uses = frames});
}

bool read_vocoder(Fields& in, Vocoder& v) {
  v.channels = in.count_or({"upsample_initial_channel"}, v.channels);
  if (in.has({"upsample_rates"})) v.rates = in.amounts("upsample_rates");
  if (in.has({"upsample_kernel_sizes"})) v.kernels = in.amounts("upsample_kernel_sizes");
  std::vector<std::int64_t> kernels{3, 7, 11};
  if (in.has({"resblock_kernel_sizes"})) kernels = in.amounts("resblock_kernel_sizes");
  const bool good = v.rates.size() == v.kernels.size() && v.rates.size() <= kMostStages &&
                    kernels.size() <= kMostStages && v.channels <= kMostChannels && within(v.rates) &&
                    within(v.kernels) && within(kernels);
  if (!good) {
    in.wrong("upsample_rates", "the sizes of the vocoder do not fit",
             "as many 'upsample_kernel_sizes' as 'upsample_rates', at most " + std::to_string(kMostStages));
    return false;
  }
  v.blocks.clear();
  const Node* dilations = in.find({"resblock_dilation_sizes"});
  for (std::size_t i = 0; i < kernels.size(); ++i) v.blocks.push_back({kernels[i], items_of(dilations, i, 3)});
  return true;
}

void add_recurrent_pair(PartBuilder& part, std::string_view name, std::int64_t outputs, std::int64_t inputs) {
  constexpr std::int64_t directions = 2;
  constexpr std::int64_t gates = 4;
  const std::int64_t width = std::max<std::int64_t>(1, outputs / directions);
  const std::string full(name);
  const LinearOptions both{.count = directions, .role = TensorRole::recurrence};
  part.linear(full + ".input", gates * width, inputs, both);
  part.linear(full + ".state", gates * width, width, both);
}

}  // namespace gpuplan
