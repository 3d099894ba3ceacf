// Fuzz target of the readers of safetensors. The first byte says what the rest is: the file, its header's JSON (which gets
// the right length in front and room for data behind), or an index.

#include "model/readers/safetensors.hpp"

#include <gpuplan/base/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t kData = 64;

void read_file(std::string_view content) {
  gpuplan::MemoryBytes source(content);
  const gpuplan::StoredTensors got = gpuplan::read_safetensors_header(source);
  for (const gpuplan::StoredTensor& t : got.tensors)
    GPUPLAN_ASSERT(t.size >= 0 && t.elements >= 0, "sizes are not negative");
  GPUPLAN_ASSERT(got.total_size() < static_cast<std::int64_t>(content.size()), "tensors lie inside the file");
}

void read_any(char kind, std::string_view rest) {
  if (kind % 3 == 0) {
    read_file(rest);
  } else if (kind % 3 == 1) {
    const std::uint64_t length = rest.size();
    std::string file(reinterpret_cast<const char*>(&length), sizeof length);
    file += rest;
    file.append(kData, '\0');
    read_file(file);
  } else {
    (void)gpuplan::parse_weight_map(rest, "index", true);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  try {
    read_any(static_cast<char>(input[0] & 0x7F), input.substr(1));
  } catch (const gpuplan::InputError& error) {
    for (const gpuplan::Problem& problem : error.problems()) (void)gpuplan::format_problem(problem);
  }
  return 0;
}
