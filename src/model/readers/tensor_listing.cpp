#include <gpuplan/model/model_files.hpp>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

constexpr std::size_t kMostParts = 8;  // more first words than that are no parts

bool is_number(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// `model.layers.12.mlp.up.weight` as `model.layers.*.mlp.up.weight`.
std::string pattern_of(std::string_view name) {
  std::string pattern;
  while (true) {
    const std::size_t dot = name.find('.');
    const std::string_view word = name.substr(0, dot);
    pattern += is_number(word) ? "*" : word;
    if (dot == std::string_view::npos) return pattern;
    pattern += '.';
    name.remove_prefix(dot + 1);
  }
}

std::string first_word(std::string_view name) { return std::string(name.substr(0, name.find('.'))); }

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// What a tensor seems to be, by its rank and name.
TensorRole role_of(const StoredTensor& tensor) {
  const bool weight = !tensor.name.ends_with("bias");
  if (tensor.shape.size() <= 1) return weight && contains(tensor.name, "norm") ? TensorRole::norm : TensorRole::bias;
  if (tensor.shape.size() > 2) return TensorRole::convolution;
  if (contains(tensor.name, "embed") || contains(tensor.name, "wte")) return TensorRole::embedding;
  return TensorRole::projection;
}

TensorGroup group_of(const StoredTensor& tensor) {
  TensorGroup group;
  group.name = pattern_of(tensor.name);
  group.role = role_of(tensor);
  group.rows = tensor.shape.empty() ? 1 : tensor.shape.front();
  group.columns = group.rows > 0 ? tensor.elements / group.rows : 1;
  return group;
}

}  // namespace

Network network_of_tensors(const StoredTensors& stored) {
  std::set<std::string> words;
  for (const StoredTensor& tensor : stored.tensors) words.insert(first_word(tensor.name));
  const bool by_word = words.size() <= kMostParts;
  std::map<std::string, NetworkPart> parts;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const StoredTensor& tensor : stored.tensors) {
    if (tensor.elements == 0) continue;
    const std::string part_name = by_word ? first_word(tensor.name) : std::string("tensors");
    NetworkPart& part = parts[part_name];
    part.name = part_name;
    part.title = "counted from the tensors that the files hold";
    TensorGroup group = group_of(tensor);
    const std::string key = group.name + "|" + std::to_string(group.rows) + "|" + std::to_string(group.columns);
    const auto [place, is_new] = places.try_emplace({part_name, key}, part.tensors.size());
    if (is_new) {
      part.tensors.push_back(std::move(group));
    } else {
      ++part.tensors[place->second].count;
    }
  }
  Network network;
  for (auto& [name, part] : parts) network.parts.push_back(std::move(part));
  return network;
}

}  // namespace gpuplan
