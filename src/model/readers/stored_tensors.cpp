#include <gpuplan/model/stored_tensors.hpp>

namespace gpuplan {

std::int64_t StoredTensors::total_size() const {
  std::int64_t total = 0;
  for (const StoredTensor& t : tensors) total += t.size;  // each lies inside a file, and so does the sum
  return total;
}

}  // namespace gpuplan
