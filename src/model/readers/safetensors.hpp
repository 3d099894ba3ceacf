#pragma once
/// Parts of the reader of safetensors that tests and fuzz targets reach without a file.

#include "bytes.hpp"

#include <gpuplan/model/safetensors.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuplan {

struct WeightMap {
  std::optional<std::int64_t> total_size;
  std::vector<std::string> shards;                           ///< in order of appearance, each once
  std::vector<std::pair<std::string, std::size_t>> tensors;  ///< name and the number of its shard
};
/// @param with_shards  false: `total_size` only, whatever the shards are called
WeightMap parse_weight_map(std::string_view text, const std::string& origin, bool with_shards);

}  // namespace gpuplan
