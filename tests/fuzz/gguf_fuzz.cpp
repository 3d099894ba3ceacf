// Fuzz target of the reader of GGUF: one part, as it would lie on disk.

#include "model/readers/gguf.hpp"

#include <gpuplan/base/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    gpuplan::MemoryBytes source(std::string_view(reinterpret_cast<const char*>(data), size));
    const gpuplan::GgufFile file = gpuplan::read_gguf_part(source);
    for (const gpuplan::StoredTensor& t : file.stored.tensors)
      GPUPLAN_ASSERT(t.size > 0 && t.elements > 0, "tensors are not empty");
    GPUPLAN_ASSERT(file.stored.total_size() <= file.file_size, "tensors lie inside the file");
  } catch (const gpuplan::InputError& error) {
    for (const gpuplan::Problem& problem : error.problems()) (void)gpuplan::format_problem(problem);
  }
  return 0;
}
