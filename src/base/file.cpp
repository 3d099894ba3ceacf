#include "source.hpp"
#include "utf8.hpp"

#include <gpuplan/base/reader.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuplan {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kMaxLine = 4096;  // bytes of a line that are kept for an excerpt

[[noreturn]] void refuse(std::string id, std::string message, std::string_view origin, std::string expected = {}) {
  Problem problem;
  problem.id = std::move(id);
  problem.message = std::move(message);
  problem.place = Place{std::string(origin), 0, 0};
  problem.expected = std::move(expected);
  throw InputError(std::move(problem));
}

std::string size_in_words(std::size_t size) {
  const std::size_t mebibyte = std::size_t{1} << 20;
  return size >= mebibyte ? fmt::format("{} MiB", size / mebibyte) : fmt::format("{} bytes", size);
}

[[noreturn]] void refuse_size(std::size_t limit, std::string_view origin) {
  refuse("input.too_large", "the file is larger than " + size_in_words(limit), origin);
}

[[noreturn]] void refuse_errno(int error, std::string_view origin) {
  if (error == ENOENT || error == ENOTDIR) refuse("input.not_found", "no such file", origin);
  refuse("input.unreadable", "cannot be read: " + std::generic_category().message(error), origin);
}

/// A file descriptor that closes itself, except standard input.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path, std::string_view origin) {
    if (path == "-") return;
    if (path.empty() || path.find('\0') != std::string::npos) refuse("input.not_found", "no such file", origin);
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd_ < 0) refuse_errno(errno, origin);
  }
  ~Descriptor() {
    if (fd_ != STDIN_FILENO) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_ = STDIN_FILENO;
};

/// Refuses folders and what is known to be too large before a byte is read; gives the size if there is one.
std::size_t expected_size(int fd, std::size_t limit, std::string_view origin) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) refuse_errno(errno, origin);
  if (S_ISDIR(status.st_mode)) refuse("input.unreadable", "is a folder", origin, "a file");
  if (!S_ISREG(status.st_mode) || status.st_size <= 0) return 0;
  const auto size = static_cast<std::uintmax_t>(status.st_size);
  if (size > limit) refuse_size(limit, origin);
  return static_cast<std::size_t>(size);
}

bool is_utf16(std::string_view text) { return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"); }

[[noreturn]] void refuse_binary(std::string_view origin) {
  refuse("input.binary", "the file has a NUL byte, so it is not text", origin, "YAML or JSON");
}
[[noreturn]] void refuse_utf16(std::string_view origin) {
  refuse("input.encoding", "the file is UTF-16", origin, "UTF-8");
}

std::string read_all(int fd, std::size_t size, std::size_t limit, std::string_view origin) {
  std::string text;
  text.reserve(size);
  std::vector<char> chunk(std::size_t{64} << 10);
  for (;;) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0) {
      if (errno == EINTR) continue;
      refuse_errno(errno, origin);
    }
    if (got == 0) return text;
    const std::string_view part(chunk.data(), static_cast<std::size_t>(got));
    text += part;
    if (is_utf16(text)) refuse_utf16(origin);
    if (part.find('\0') != std::string_view::npos) refuse_binary(origin);
    if (text.size() > limit) refuse_size(limit, origin);
  }
}

}  // namespace

std::string origin_name(std::string_view path) { return path == "-" ? "<stdin>" : std::string(path); }

std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

void check_text(std::string_view text, std::string_view origin) {
  if (is_utf16(text)) refuse_utf16(origin);
  if (text.find('\0') != std::string_view::npos) refuse_binary(origin);
  std::size_t offset = 0;
  while (offset < text.size()) {
    if (const std::size_t front = ascii_front(text.substr(offset)); front > 0) {
      offset += front;
      continue;
    }
    const std::size_t length = decode_utf8(text.substr(offset)).length;
    if (length == 0) {
      Problem problem;
      problem.id = "input.encoding";
      problem.message = fmt::format("byte 0x{:02x} is not UTF-8", static_cast<unsigned char>(text[offset]));
      problem.place = PlaceFinder(text, origin).at(offset);
      problem.expected = "UTF-8";
      problem.excerpt = source_line(text, problem.place->line);
      throw InputError(std::move(problem));
    }
    offset += length;
  }
}

std::string source_line(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  std::string_view found = text.substr(0, kMaxLine);
  found = found.substr(0, found.find('\n'));
  if (found.size() == kMaxLine) {  // do not end inside a code point
    while (!found.empty() && is_utf8_continuation(found.back())) found.remove_suffix(1);
    if (!found.empty()) found.remove_suffix(1);
  }
  if (found.ends_with('\r')) found.remove_suffix(1);
  return std::string(found);
}

Place PlaceFinder::at(std::size_t offset) {
  offset = std::min(offset, text_.size());
  if (offset < offset_) {
    offset_ = 0;
    line_ = 1;
    column_ = 1;
  }
  for (; offset_ < offset; ++offset_) {
    if (text_[offset_] == '\n') {
      ++line_;
      column_ = 1;
    } else if (!is_utf8_continuation(text_[offset_])) {
      ++column_;
    }
  }
  return {origin_, line_, column_};
}

std::string read_text_file(const std::string& path, std::size_t limit) {
  const std::string origin = origin_name(path);
  std::string text;
  {
    const Descriptor file(path, origin);
    const std::size_t size = expected_size(file.get(), limit, origin);
    text = read_all(file.get(), size, limit, origin);
  }
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  if (text.empty()) refuse("input.empty", "the file is empty", origin);
  check_text(text, origin);
  return text;
}

Node read_document(const std::string& path) {
  const std::string text = read_text_file(path);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool looks_like_json = first != std::string::npos && (text[first] == '{' || text[first] == '[');
  const bool named_yaml = path.ends_with(".yaml") || path.ends_with(".yml");
  return looks_like_json && !named_yaml ? parse_json(text, origin_name(path)) : parse_yaml(text, origin_name(path));
}

}  // namespace gpuplan
