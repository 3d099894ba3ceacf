#pragma once
/// Parts of the reader of safetensors that tests and fuzz targets reach without a file.

#include "bytes.hpp"

#include <gpuplan/model/safetensors.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuplan {

/// A tensor of a header, in views of it.
struct HeaderTensor {
  std::string_view name;
  const SafetensorsDtype* dtype = nullptr;
  std::span<const std::int64_t> shape;
  std::int64_t elements = 0;
  std::int64_t begin = 0;  ///< in the file's data
  std::int64_t size = 0;
};
StoredTensor stored_tensor(const HeaderTensor& tensor);

/// Reads header after header with the memory of the first, as a model of hundreds of shards asks for.
class HeaderReader {
 public:
  HeaderReader();
  HeaderReader(const HeaderReader&) = delete;
  HeaderReader& operator=(const HeaderReader&) = delete;
  ~HeaderReader();
  /// The tensors in their order in the header; they stay until the next call.
  /// @param names_once  false: the caller sees to it that no name is there twice, see `refuse_same_names`
  std::span<const HeaderTensor> read(ByteSource& source, bool names_once = true);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

void refuse_same_names(std::span<const HeaderTensor> tensors, const std::string& origin);

struct WeightMap {
  struct Shard {
    std::string file;
    std::vector<std::string_view> tensors;  ///< names: views of the text
  };
  std::optional<std::int64_t> total_size;
  std::vector<Shard> shards;          ///< in order of appearance, each once
  std::deque<std::string> unescaped;  ///< names that the text has with escapes
};
/// @param text         stays as long as the result
/// @param with_shards  false: `total_size` only, whatever the shards are called
WeightMap parse_weight_map(std::string_view text, const std::string& origin, bool with_shards);

}  // namespace gpuplan
