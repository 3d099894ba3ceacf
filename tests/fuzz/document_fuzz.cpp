// Fuzz target of what every file that a person writes goes through: YAML and JSON into one tree. The first byte says which.

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/reader.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

std::size_t nodes_of(const gpuplan::Node& node) {
  GPUPLAN_ASSERT(node.keys.size() == node.key_places.size(), "each key has a place");
  GPUPLAN_ASSERT(node.kind != gpuplan::Node::Kind::mapping || node.keys.size() == node.items.size(),
                 "each key has a value");
  std::size_t nodes = 1;
  for (const gpuplan::Node& item : node.items) nodes += nodes_of(item);
  return nodes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kNodes = 2000;  // so that small inputs reach the limit
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const gpuplan::Node root = data[0] % 2 == 0 ? gpuplan::parse_yaml(text, "job.yaml", kNodes)
                                                : gpuplan::parse_json(text, "job.json", kNodes);
    GPUPLAN_ASSERT(nodes_of(root) <= kNodes + 1, "the limit on nodes holds");
  } catch (const gpuplan::InputError& error) {
    for (const gpuplan::Problem& problem : error.problems()) (void)gpuplan::format_problem(problem);
  }
  return 0;
}
