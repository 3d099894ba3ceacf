#include "answer_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuplan {
namespace {

// A file: this line, the key, the ETag, the total, the body's size and checksum, an empty line, the body.
constexpr std::string_view kHead = "gpuplan answer 1\n";
constexpr std::size_t kMaxFile = std::size_t{192} << 20;
constexpr std::uint64_t kHashStart = 14695981039346656037U;

/// FNV-1a; against accidents, not against somebody who can write into the owner's folders anyway.
std::uint64_t hash(std::string_view text, std::uint64_t value = kHashStart) {
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return value;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  /// Whether what was written has arrived, as far as the system says.
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

std::optional<std::string> read_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW));
  struct stat status = {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (status.st_size < 0 || static_cast<std::uint64_t>(status.st_size) > kMaxFile) return std::nullopt;
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    have += static_cast<std::size_t>(got);
  }
  return text;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

/// The folder and those above it; what is missing becomes the owner's alone.
bool make_folders(const std::string& folder) {
  for (std::size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    const std::string part = folder.substr(0, end);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return false;
    if (end == std::string::npos) return true;
  }
}

/// The next line of `text`, taken off it.
std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

std::optional<std::uint64_t> take_number(std::string_view& text, int base) {
  const auto line = take_line(text);
  std::uint64_t value = 0;
  if (!line) return std::nullopt;
  const auto [end, error] = std::from_chars(line->data(), line->data() + line->size(), value, base);
  if (error != std::errc() || end != line->data() + line->size()) return std::nullopt;
  return value;
}

bool is_line(std::string_view text) {
  return text.find_first_of(std::string_view("\n\0", 2)) == std::string_view::npos;
}

bool is_group(std::string_view group) {
  constexpr std::string_view others = "-_.";
  return !group.empty() && group.size() <= 200 && group[0] != '.' &&
         std::all_of(group.begin(), group.end(), [&](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  others.find(c) != std::string_view::npos;
         });
}

}  // namespace

std::string AnswerCache::path(std::string_view group, std::string_view key) const {
  return fmt::format("{}/{}/{:016x}{:016x}", folder_, group, hash(key), hash(key, ~kHashStart));
}

std::optional<KeptAnswer> AnswerCache::find(std::string_view group, std::string_view key) const {
  if (folder_.empty() || !is_group(group)) return std::nullopt;
  const auto text = read_file(path(group, key));
  if (!text || !text->starts_with(kHead)) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(kHead.size());
  const auto kept_key = take_line(rest);
  const auto etag = take_line(rest);
  const auto total = take_number(rest, 10);
  const auto size = take_number(rest, 10);
  const auto checksum = take_number(rest, 16);
  const auto end = take_line(rest);
  if (!kept_key || *kept_key != key || !etag || !total || !size || !checksum || !end || !end->empty())
    return std::nullopt;
  if (rest.size() != *size || *size > *total || hash(rest) != *checksum) return std::nullopt;
  return KeptAnswer{std::string(*etag), *total, std::string(rest)};
}

bool AnswerCache::store(std::string_view group, std::string_view key, const KeptAnswer& answer) const {
  if (folder_.empty() || !is_group(group) || !is_line(key) || !is_line(answer.etag)) return false;
  if (answer.body.size() > kMaxFile / 2 || answer.body.size() > answer.total) return false;
  const std::string target = path(group, key);
  if (!make_folders(target.substr(0, target.rfind('/')))) return false;
  std::string temporary = target + ".XXXXXX";
  Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));  // readable by its owner only
  if (file.get() < 0) return false;
  const std::string head = fmt::format("{}{}\n{}\n{}\n{}\n{:x}\n\n", kHead, key, answer.etag, answer.total,
                                       answer.body.size(), hash(answer.body));
  const bool written = write_all(file.get(), head) && write_all(file.get(), answer.body);
  if (file.close() && written && ::rename(temporary.c_str(), target.c_str()) == 0) return true;
  ::unlink(temporary.c_str());
  return false;
}

}  // namespace gpuplan
