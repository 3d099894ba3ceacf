#pragma once
/// The headers of GGUF files, versions 1 to 3, little endian: metadata and the list of tensors. Weights are not read, and
/// of the metadata only scalars and short lists are kept: a vocabulary is passed over, its length remembered.
///
///     const GgufFile file = read_gguf_header("model-00001-of-00003.gguf");   // reads the other parts too
///     file.metadata.text("general.architecture");                           // llama
///     file.stored.total_size();
///
/// Refused with the file and the offset or key: big endian and older formats, a header over 64 MiB, counts and lengths past
/// the end of the file, nesting over 4, duplicate keys and tensors, unknown types, no or more than 4 dimensions, zero and
/// overflowing dimensions, rows without whole blocks, offsets that are misaligned, overlap or lead past the end, parts that
/// are missing or belong to another file, and a Git LFS pointer (`input.lfs_pointer`).
/// Source: github.com/ggml-org/ggml docs/gguf.md.

#include <gpuplan/base/file_set.hpp>
#include <gpuplan/model/stored_tensors.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gpuplan {

class GgufMetadata {
 public:
  using Value = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>, std::vector<double>,
                             std::vector<std::string>>;

  /// Each is nullopt when the key is absent, of another kind or was too long to keep.
  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view key) const;
  [[nodiscard]] std::optional<double> number(std::string_view key) const;  ///< also of a whole number
  [[nodiscard]] std::optional<bool> boolean(std::string_view key) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
  /// Also of one whole number: a list of one.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> wholes(std::string_view key) const;
  /// Elements of a list, kept or not: of `tokenizer.ggml.tokens` the vocabulary.
  [[nodiscard]] std::optional<std::int64_t> length(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const { return values_.contains(key) || lengths_.contains(key); }
  [[nodiscard]] std::size_t size() const { return keys_; }

  void set(const std::string& key, Value value);
  void set_length(const std::string& key, std::int64_t length);  ///< of a list; it may be kept besides
  /// False when the key was there before.
  [[nodiscard]] bool add_key(const std::string& key);

 private:
  template <class T>
  [[nodiscard]] const T* find(std::string_view key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : std::get_if<T>(&found->second);
  }
  std::map<std::string, Value, std::less<>> values_;
  std::map<std::string, std::int64_t, std::less<>> lengths_;  ///< also of what was not kept: -1 for long texts
  std::size_t keys_ = 0;
};

struct GgufFile {
  int version = 3;
  GgufMetadata metadata;  ///< of the first part
  StoredTensors stored;   ///< of all parts
  std::int64_t parts = 1;
  std::int64_t file_size = 0;  ///< all parts, with metadata and padding
};

/// Any part of a split file (`split.count`) brings in the others, which are called `…-00001-of-00003.gguf` and lie beside it.
GgufFile read_gguf_header(const std::string& path);
GgufFile read_gguf_header(FileSet& files, std::string_view name);

}  // namespace gpuplan
