#include <gpuplan/prices/import.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuplan {
namespace {

constexpr std::uint64_t kRange = std::uint64_t{8} << 20;

[[noreturn]] void refuse(const std::string& id, const std::string& origin, std::string message,
                         std::string expected = {}) {
  throw InputError(Problem{id, std::move(message), Place{origin, 0, 0}, std::move(expected), {}, {}});
}

class TextInMemory : public PriceText {
 public:
  TextInMemory(std::string text, std::string origin) : PriceText(std::move(origin)), text_(std::move(text)) {}
  std::size_t read(char* out, std::size_t size) override {
    const std::size_t count = std::min(size, text_.size() - at_);
    std::memcpy(out, text_.data() + at_, count);
    at_ += count;
    return count;
  }
  [[nodiscard]] std::uint64_t total() const override { return text_.size(); }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

class TextInFile : public PriceText {
 public:
  explicit TextInFile(const std::string& path) : PriceText(path == "-" ? "<stdin>" : path) {
    if (path != "-") descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor_ < 0 && (errno == ENOENT || errno == ENOTDIR)) refuse("input.not_found", origin(), "no such file");
    if (descriptor_ < 0) fail();
    struct stat status = {};
    if (::fstat(descriptor_, &status) != 0) fail();
    if (S_ISDIR(status.st_mode)) refuse("input.unreadable", origin(), "is a folder", "a file");
    if (S_ISREG(status.st_mode)) total_ = static_cast<std::uint64_t>(status.st_size);
  }
  ~TextInFile() override {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
  }
  std::size_t read(char* out, std::size_t size) override {
    for (;;) {
      const ssize_t got = ::read(descriptor_, out, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) fail();
    }
  }
  [[nodiscard]] std::uint64_t total() const override { return total_; }

 private:
  [[noreturn]] void fail() const {
    refuse("input.unreadable", origin(), "cannot be read: " + std::generic_category().message(errno));
  }
  int descriptor_ = STDIN_FILENO;
  std::uint64_t total_ = 0;
};

// A file behind an address, in ranges, so that no more than one of them is in memory. Of a server without ranges the whole
// answer, up to HttpRequest's limit.
class TextBehindAddress : public PriceText {
 public:
  TextBehindAddress(std::string url, const HttpSettings& http)
      : PriceText(url.substr(0, url.find_first_of("?#"))), client_(http), url_(std::move(url)) {}
  std::size_t read(char* out, std::size_t size) override {
    if (at_ >= part_.size() && !fetch()) return 0;
    const std::size_t count = std::min(size, part_.size() - at_);
    std::memcpy(out, part_.data() + at_, count);
    at_ += count;
    return count;
  }
  [[nodiscard]] std::uint64_t total() const override { return total_; }

 private:
  bool fetch() {
    if (asked_ && next_ >= total_) return false;
    HttpRequest request;
    request.url = url_;
    request.range = ByteRange{next_, asked_ ? std::min(kRange, total_ - next_) : kRange};
    HttpAnswer answer = client_.get(request);
    const std::string etag(answer.header("etag"));
    if (asked_ && (etag != etag_ || answer.total != total_)) {
      refuse("net.truncated", origin(), "the list changed while it was fetched", "try again");
    }
    asked_ = true;
    etag_ = etag;
    part_ = std::move(answer.body);
    at_ = 0;
    total_ = answer.total > 0 ? answer.total : part_.size();
    next_ += part_.size();
    return !part_.empty();
  }
  HttpClient client_;
  std::string url_, part_, etag_;
  std::size_t at_ = 0;
  std::uint64_t next_ = 0, total_ = 0;
  bool asked_ = false;
};

// A first piece that was looked at, and what follows it.
class TextAfter : public PriceText {
 public:
  TextAfter(std::string first, std::unique_ptr<PriceText> rest)
      : PriceText(rest->origin()), first_(std::move(first)), rest_(std::move(rest)) {}
  std::size_t read(char* out, std::size_t size) override {
    if (at_ >= first_.size()) return rest_->read(out, size);
    const std::size_t count = std::min(size, first_.size() - at_);
    std::memcpy(out, first_.data() + at_, count);
    at_ += count;
    return count;
  }
  [[nodiscard]] std::uint64_t total() const override { return rest_->total(); }

 private:
  std::string first_;
  std::unique_ptr<PriceText> rest_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<PriceText> open_price_list(const std::string& place, const HttpSettings& http) {
  const bool is_address = place.starts_with("http://") || place.starts_with("https://");
  std::unique_ptr<PriceText> text;
  if (is_address) {
    text = std::make_unique<TextBehindAddress>(place, http);
  } else {
    text = std::make_unique<TextInFile>(place);
  }
  std::string first(4096, '\0');
  first.resize(text->read(first.data(), first.size()));
  if (first.empty()) refuse("input.empty", text->origin(), "the list is empty");
  if (first.starts_with("\x1f\x8b") || first.starts_with("PK") || first.starts_with("\x28\xb5\x2f\xfd")) {
    refuse("input.compressed", text->origin(), "the list is compressed",
           "its text, for example: gzip -dc FILE | gpuplan prices import FORMAT -");
  }
  return std::make_unique<TextAfter>(std::move(first), std::move(text));
}

std::unique_ptr<PriceText> price_text(std::string text, std::string origin) {
  return std::make_unique<TextInMemory>(std::move(text), std::move(origin));
}

}  // namespace gpuplan
