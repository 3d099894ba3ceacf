#include "bytes.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace gpuplan {
namespace {

static_assert(std::endian::native == std::endian::little, "ByteCursor copies numbers as they are");

constexpr std::size_t kBuffer = std::size_t{64} << 10;
constexpr std::size_t kMaxQuoted = 120;
constexpr std::string_view kLfsPointer = "version https://git-lfs.github.com/spec/v1";

/// How many bytes at the front are printable ASCII, by eights.
std::size_t printable_front(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  std::size_t at = 0;
  for (std::uint64_t word = 0; text.size() - at >= sizeof word; at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    const std::uint64_t deletes = word ^ (kOnes * 0x7f);
    if ((((word - kOnes * 0x20) | (deletes - kOnes) | word) & kHighBits) != 0) break;
  }
  return at;
}

}  // namespace

void refuse(const std::string& id, const std::string& origin, std::string message, std::string expected) {
  Problem problem;
  problem.id = id;
  problem.message = std::move(message);
  problem.place = Place{origin, 0, 0};
  problem.expected = std::move(expected);
  throw InputError(std::move(problem));
}

std::string in_quotes(std::string_view name) {
  std::string out = "'";
  const bool readable = is_utf8(name);
  for (const char c : name.substr(0, kMaxQuoted)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && (!readable || name.size() > kMaxQuoted))) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + (name.size() > kMaxQuoted ? "…'" : "'");
}

bool is_clean_name(std::string_view name, std::size_t limit) {
  if (name.empty() || name.size() > limit) return false;
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  const std::string_view rest = name.substr(printable_front(name));
  return rest.empty() || (std::none_of(rest.begin(), rest.end(), is_control) && is_utf8(rest));
}

void MemoryBytes::read(std::uint64_t offset, char* out, std::size_t count) {
  GPUPLAN_ASSERT(offset <= content_.size() && count <= content_.size() - offset, "reads stay inside the bytes");
  if (count > 0) std::memcpy(out, content_.data() + offset, count);
}

void refuse_lfs_pointer(ByteSource& source) {
  std::string start(std::min<std::uint64_t>(source.size(), 256), '\0');
  source.read(0, start.data(), start.size());
  if (!start.starts_with(kLfsPointer)) return;
  std::string message = "is a Git LFS pointer, not the file";
  if (const std::size_t at = start.find("\nsize "); at != std::string::npos) {
    const std::size_t end = start.find_first_not_of("0123456789", at + 6);
    const std::string size = start.substr(at + 6, end == std::string::npos ? end : end - at - 6);
    if (!size.empty()) message += " of " + size + " bytes";
  }
  refuse("input.lfs_pointer", source.origin(), message, "the file itself: run 'git lfs pull' in its folder");
}

ByteCursor::ByteCursor(ByteSource& source, std::uint64_t limit) : source_(source), limit_(limit) {}

void ByteCursor::need(std::uint64_t count, std::string_view what) const {
  if (count > remaining()) {
    refuse("input.truncated", origin(),
           fmt::format("{} at byte {} needs {} bytes, past the end of the file of {} bytes", what, position_, count,
                       source_.size()),
           "a complete file");
  }
  if (position_ > limit_ || count > limit_ - position_) {
    refuse("input.too_large", origin(),
           fmt::format("{} at byte {} makes the header larger than {} MiB", what, position_, limit_ >> 20));
  }
}

void ByteCursor::copy(char* out, std::size_t count, std::string_view what) {
  need(count, what);
  while (count > 0) {
    const bool buffered = position_ >= buffer_start_ && position_ - buffer_start_ < buffer_.size();
    if (!buffered) {
      buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kBuffer, remaining())));
      buffer_start_ = position_;
      source_.read(position_, buffer_.data(), buffer_.size());
    }
    const auto from = static_cast<std::size_t>(position_ - buffer_start_);
    const std::size_t part = std::min(count, buffer_.size() - from);
    std::memcpy(out, buffer_.data() + from, part);
    position_ += part;
    out += part;
    count -= part;
  }
}

std::string ByteCursor::text(std::uint64_t length, std::string_view what) {
  need(length, what);
  std::string out(static_cast<std::size_t>(length), '\0');
  copy(out.data(), out.size(), what);
  return out;
}

void ByteCursor::skip(std::uint64_t count, std::string_view what) {
  need(count, what);
  position_ += count;
}

}  // namespace gpuplan
