#pragma once
/// The tensors of a file as its header lists them: names, shapes and bytes exactly as stored. Readers look at headers only,
/// so the cost does not depend on how large the weights are.

#include <gpuplan/base/units.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gpuplan {

struct StoredTensor {
  std::string name;
  std::string format;               ///< as the file calls it: `BF16`, `F8_E4M3`, `Q4_K`
  std::vector<std::int64_t> shape;  ///< outermost first, as the framework prints it
  std::int64_t elements = 0;        ///< product of the shape; of packed formats the packed elements
  std::int64_t size = 0;            ///< bytes in the file
};

/// All tensors of a format together.
struct StoredFormat {
  std::string format;
  std::int64_t tensors = 0;
  std::int64_t elements = 0;
  std::int64_t size = 0;  ///< bytes
};

struct StoredTensors {
  std::string format;                 ///< safetensors, gguf
  std::vector<StoredTensor> tensors;  ///< those that are listed one by one
  std::vector<StoredFormat> counted;  ///< others, where the network is known and only their sums matter
  [[nodiscard]] std::int64_t total_size() const;
  /// Of all, listed or counted, by name of the format.
  [[nodiscard]] std::vector<StoredFormat> by_format() const;
};

}  // namespace gpuplan
