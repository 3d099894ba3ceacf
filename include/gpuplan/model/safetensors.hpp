#pragma once
/// The headers of safetensors files: a length of eight bytes, then JSON with the name, dtype, shape and offsets of each
/// tensor. Weights are never read, so a model of hundreds of gigabytes costs what its headers cost.
///
///     read_safetensors_header("model.safetensors").total_size()
///     read_safetensors_index("model.safetensors.index.json").stored.tensors
///
/// Refused with the file and the key: a header over 100 MB or past the end of the file, what is not JSON, duplicate names,
/// unknown dtypes, dimensions that are negative, fractional or overflow, offsets that are out of order, overlap, leave holes
/// or lead past the end, sizes other than shape times dtype, and a Git LFS pointer instead of the file
/// (`input.lfs_pointer`). Source: the format's own description, github.com/huggingface/safetensors README, "Format".

#include <gpuplan/base/file_set.hpp>
#include <gpuplan/model/stored_tensors.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gpuplan {

struct SafetensorsDtype {
  std::string_view name;  ///< `F8_E4M3`
  std::int64_t bits = 0;  ///< an element; 4 and 6 are packed
};
/// Every dtype of the format.
std::span<const SafetensorsDtype> safetensors_dtypes();

StoredTensors read_safetensors_header(const std::string& path);
StoredTensors read_safetensors_header(ByteSource& source);

/// Whether tensors are listed one by one or only counted by format, which for a hundred thousand of them takes half of the time.
enum class TensorListing { listed, counted };

/// A model in several files.
struct ShardedTensors {
  StoredTensors stored;                     ///< what the index names, shard by shard
  std::int64_t shards = 0;                  ///< files
  std::optional<std::int64_t> stated_size;  ///< the index's `total_size`
  /// The index tells the truth. Some in the wild do not: they count tied tensors twice, or were kept when the weights were
  /// quantized. The headers are right.
  [[nodiscard]] bool agrees() const { return !stated_size || *stated_size == stored.total_size(); }
};

/// `model.safetensors.index.json`: reads the header of every shard it names, which lie beside it. Besides the above
/// refuses shard names that lead out of the folder, shards that are missing and tensors that are not in their shard.
ShardedTensors read_safetensors_index(const std::string& path);
ShardedTensors read_safetensors_index(FileSet& files, std::string_view index,
                                      TensorListing listing = TensorListing::listed);

/// The `total_size` of `pytorch_model.bin.index.json`. The shards are pickles and are not opened.
std::int64_t read_pytorch_index_size(const std::string& path);
std::int64_t read_pytorch_index_size(FileSet& files, std::string_view index);

}  // namespace gpuplan
