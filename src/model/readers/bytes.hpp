#pragma once
/// Small things that the readers of headers share: bytes in memory, a cursor, refusals.

#include <gpuplan/base/file_set.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuplan {

class MemoryBytes : public ByteSource {
 public:
  explicit MemoryBytes(std::string_view content, std::string origin = "<memory>")
      : ByteSource(std::move(origin)), content_(content) {}
  [[nodiscard]] std::uint64_t size() const override { return content_.size(); }
  void read(std::uint64_t offset, char* out, std::size_t count) override;

 private:
  std::string_view content_;
};

[[noreturn]] void refuse(const std::string& id, const std::string& origin, std::string message,
                         std::string expected = {});

/// A name from a file in quotes: printable whatever it holds, and not longer than a line.
std::string in_quotes(std::string_view name);
/// A name that a tensor or a key can have: not empty, UTF-8, no control characters, at most `limit` bytes.
bool is_clean_name(std::string_view name, std::size_t limit);

/// Git LFS leaves a text of three lines in place of a file that was not fetched (`input.lfs_pointer`).
void refuse_lfs_pointer(ByteSource& source);

/// Little-endian numbers one after the other, through a buffer. Never reads past the file or past `limit`.
class ByteCursor {
 public:
  /// @param limit  where a header has no business any more
  ByteCursor(ByteSource& source, std::uint64_t limit);

  template <class Number>
  Number number(std::string_view what) {
    Number value{};
    copy(reinterpret_cast<char*>(&value), sizeof value, what);  // the hosts we build for are little endian
    return value;
  }
  std::string text(std::uint64_t length, std::string_view what);
  void skip(std::uint64_t count, std::string_view what);

  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] std::uint64_t remaining() const { return source_.size() - position_; }
  [[nodiscard]] const std::string& origin() const { return source_.origin(); }

 private:
  void copy(char* out, std::size_t count, std::string_view what);
  void need(std::uint64_t count, std::string_view what) const;

  ByteSource& source_;
  std::uint64_t limit_;
  std::uint64_t position_ = 0;
  std::uint64_t buffer_start_ = 0;
  std::vector<char> buffer_;
};

/// False when the product does not fit.
[[nodiscard]] inline bool multiply(std::int64_t& value, std::int64_t factor) {
  return !__builtin_mul_overflow(value, factor, &value);
}

}  // namespace gpuplan
