// Fuzz target of the reader of ONNX.

#include "model/readers/onnx.hpp"

#include <gpuplan/base/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    gpuplan::MemoryBytes source(std::string_view(reinterpret_cast<const char*>(data), size));
    const gpuplan::OnnxFile file = gpuplan::read_onnx(source);
    for (const gpuplan::StoredTensor& t : file.stored.tensors)
      GPUPLAN_ASSERT(t.size >= 0 && t.elements >= 0 && !t.name.empty(), "tensors have a name and are not negative");
    GPUPLAN_ASSERT(file.stored.total_size() >= 0, "the sum does not overflow");
    GPUPLAN_ASSERT(!file.external.empty() || file.stored.total_size() <= static_cast<std::int64_t>(10 * size),
                   "what is not external lies in the file");
    for (const auto& [location, external] : file.external_files)
      GPUPLAN_ASSERT(external.tensors > 0 && external.end >= 0 && !location.empty(), "external files are used");
  } catch (const gpuplan::InputError& error) {
    for (const gpuplan::Problem& problem : error.problems()) (void)gpuplan::format_problem(problem);
  }
  return 0;
}
