#pragma once
/// The files of a model wherever they lie: a folder on disk or a repository behind a server, with large files read only where
/// they are needed.
///
///     const auto files = open_folder("DeepSeek-V3");
///     if (files->has("config.json")) parse_json(files->text("config.json"), files->origin("config.json"));
///     files->open("model-00001-of-000163.safetensors")->read(0, header, 8);

#include <gpuplan/base/reader.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuplan {

/// A file, read at any place: on disk, in memory, behind a server that answers range requests.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Fills `out`; the caller stays inside `size()`. Throws InputError when the bytes cannot be had.
  virtual void read(std::uint64_t offset, char* out, std::size_t count) = 0;
  [[nodiscard]] const std::string& origin() const { return origin_; }  ///< for messages: the path or address

 protected:
  explicit ByteSource(std::string origin) : origin_(std::move(origin)) {}

 private:
  std::string origin_;
};

/// A regular file on disk.
class FileBytes : public ByteSource {
 public:
  /// Throws InputError: `input.not_found`, `input.unreadable`.
  explicit FileBytes(const std::string& path);
  ~FileBytes() override;
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, char* out, std::size_t count) override;

 private:
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

/// Files by name; names use '/' for sub-folders and never lead out (`..`, a leading '/').
class FileSet {
 public:
  FileSet() = default;
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;
  virtual ~FileSet() = default;
  /// What the set is called in messages: a path, `org/name`.
  [[nodiscard]] virtual std::string name() const = 0;
  /// A file's own name in messages.
  [[nodiscard]] virtual std::string origin(std::string_view file) const = 0;
  [[nodiscard]] virtual bool has(std::string_view file) = 0;
  /// Names of all files, sorted; of a folder on disk two levels deep.
  [[nodiscard]] virtual std::vector<std::string> list() = 0;
  /// The text of a file. Throws InputError as `read_text_file` does.
  [[nodiscard]] virtual std::string text(std::string_view file, std::size_t limit = kMaxDocumentBytes) = 0;
  /// Throws InputError: `input.not_found`, `input.unreadable`, and those of the network.
  [[nodiscard]] virtual std::unique_ptr<ByteSource> open(std::string_view file) = 0;
};

/// A folder on disk. Throws InputError when it is none.
std::unique_ptr<FileSet> open_folder(const std::string& path);

}  // namespace gpuplan
