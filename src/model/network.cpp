#include <gpuplan/model/network.hpp>

#include <algorithm>
#include <utility>

namespace gpuplan {
namespace {

constexpr double kMostParameters = 1e15;  // as of an architecture

double as_double(std::int64_t n) { return static_cast<double>(n); }

// The whole number at the start of `text`, which loses it; 0 when there is none.
double take_whole(std::string_view& text) {
  double value = 0;
  std::size_t digits = 0;
  while (digits < text.size() && digits < 9 && text[digits] >= '0' && text[digits] <= '9')
    value = 10 * value + (text[digits++] - '0');
  text.remove_prefix(digits);
  return value;
}

}  // namespace

ItemSize item_size(const NetworkPart& part) {
  constexpr std::string_view kBy = " x ";
  const std::size_t by = part.item.find(kBy);
  if (by == std::string::npos) return {};
  const std::size_t start = part.item.find_last_of(' ', by - (by > 0 ? 1 : 0));
  std::string_view rest = std::string_view(part.item).substr(start == std::string::npos ? 0 : start + 1);
  ItemSize size;
  const auto after_by = [&] {
    if (rest.substr(0, kBy.size()) != kBy) return 0.0;
    rest.remove_prefix(kBy.size());
    return take_whole(rest);
  };
  size.width = take_whole(rest);
  size.height = after_by();
  const double frames = after_by();
  if (frames > 0) size.frames = frames;
  return size.is_known() ? size : ItemSize{};
}

NetworkPart language_model_part(const Architecture& decoder) {
  NetworkPart part;
  part.name = kLanguageModel;
  part.title = std::to_string(decoder.layers) + " layers, width " + std::to_string(decoder.hidden);
  part.item = "token";
  part.tensors = tensors_of(decoder);
  for (TensorGroup& tensor : part.tensors) {
    // Look-ups multiply nothing; of the experts a token meets the chosen ones.
    if (tensor.role == TensorRole::embedding || tensor.role == TensorRole::position) tensor.uses = 0;
    if (tensor.role != TensorRole::expert) continue;
    for (const MlpGroup& group : mlps_of(decoder)) {
      if (group.mlp.has_experts()) tensor.uses = as_double(group.mlp.experts_per_token) / as_double(group.mlp.experts);
    }
  }
  if (decoder.tied_embeddings) {  // the table is the head too
    for (TensorGroup& tensor : part.tensors) {
      if (tensor.name == "embedding") tensor.uses = 1;
    }
  }
  for (const MixerGroup& group : mixers_of(decoder)) {
    const Attention& t = group.attention;
    if (t.heads == 0) continue;
    PartAttention attention;
    attention.layers = group.layers;
    attention.heads = t.heads;
    attention.head_dim = (t.qk_dim() + t.value_dim()) / 2;
    attention.window = as_double(std::max(t.window, t.selected_tokens));
    part.attention.push_back(attention);
  }
  return part;
}

Network network_of(Architecture decoder) {
  Network network;
  network.name = decoder.name;
  network.family = decoder.family;
  network.parts.push_back(language_model_part(decoder));
  network.decoder = std::move(decoder);
  return network;
}

const NetworkPart* find_part(const Network& network, std::string_view name) {
  const auto found =
      std::find_if(network.parts.begin(), network.parts.end(), [&](const NetworkPart& p) { return p.name == name; });
  return found == network.parts.end() ? nullptr : &*found;
}

std::int64_t parameters(const Network& network) {
  std::int64_t total = 0;
  for (const NetworkPart& part : network.parts) total += part.loaded ? parameters(part.tensors) : 0;
  return total;
}

std::int64_t active_parameters(const Network& network) {
  std::int64_t total = parameters(network);
  if (network.decoder) total += active_parameters(*network.decoder) - parameters(tensors_of(*network.decoder));
  return total;
}

Flop flops_of(const NetworkPart& part, double length) {
  double total = 0;
  for (const TensorGroup& tensor : part.tensors) {
    const bool table = tensor.role == TensorRole::embedding;
    if (table ? tensor.columns > 1 : tensor.multiplies()) total += 2 * as_double(tensor.elements()) * tensor.uses;
  }
  for (const PartAttention& a : part.attention) {
    const double text = a.window > 0 ? std::min(a.window, length) : length;
    const double keys = a.keys > 0 ? a.keys : text;
    total += 4 * as_double(a.layers * a.heads * a.head_dim) * a.queries * keys;
  }
  return flop(total);
}

std::vector<Problem> check_part(const NetworkPart& part) {
  double total = 0;
  const TensorGroup* bad = nullptr;
  for (const TensorGroup& t : part.tensors) {
    if (t.count < 1 || t.rows < 1 || t.columns < 1) bad = &t;
    total += as_double(t.count) * as_double(t.rows) * as_double(t.columns);
  }
  std::vector<Problem> problems;
  const auto complain = [&](std::string message, std::string expected) {
    Problem p;
    p.id = "model.bad_architecture";
    p.message = "part '" + part.name + "' " + std::move(message);
    p.expected = std::move(expected);
    problems.push_back(std::move(p));
  };
  if (bad) {
    complain("has a tensor '" + bad->name + "' of " + std::to_string(bad->count) + " x " + std::to_string(bad->rows) +
                 " x " + std::to_string(bad->columns),
             "sizes of at least 1");
  }
  if (total > kMostParameters) complain("has more parameters than can be counted", "at most 10^15 parameters");
  return problems;
}

}  // namespace gpuplan
