#include <gpuplan/base/file_set.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuplan {
namespace {

namespace fs = std::filesystem;

constexpr int kFolderDepth = 2;
constexpr std::size_t kMostFiles = 100000;

[[noreturn]] void refuse(std::string id, const std::string& origin, std::string message, std::string expected = {}) {
  Problem problem;
  problem.id = std::move(id);
  problem.message = std::move(message);
  problem.place = Place{origin, 0, 0};
  problem.expected = std::move(expected);
  throw InputError(std::move(problem));
}

[[noreturn]] void refuse_errno(int error, const std::string& origin) {
  if (error == ENOENT || error == ENOTDIR) refuse("input.not_found", origin, "no such file");
  refuse("input.unreadable", origin, "cannot be read: " + std::generic_category().message(error));
}

bool leads_out(std::string_view file) {
  const fs::path path(file);
  return file.empty() || path.is_absolute() || std::find(path.begin(), path.end(), fs::path("..")) != path.end();
}

class LocalFolder : public FileSet {
 public:
  explicit LocalFolder(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] std::string name() const override { return path_; }
  [[nodiscard]] std::string origin(std::string_view file) const override { return (fs::path(path_) / file).string(); }
  [[nodiscard]] bool has(std::string_view file) override {
    std::error_code error;
    return !leads_out(file) && fs::exists(origin(file), error);
  }
  [[nodiscard]] std::vector<std::string> list() override {
    std::vector<std::string> names;
    std::error_code error;
    const auto options = fs::directory_options::skip_permission_denied;
    fs::recursive_directory_iterator entry(path_, options, error);
    const fs::recursive_directory_iterator end;
    for (; !error && entry != end && names.size() < kMostFiles; entry.increment(error)) {
      if (entry.depth() + 1 >= kFolderDepth) entry.disable_recursion_pending();
      std::error_code kind;
      if (!entry->is_directory(kind)) names.push_back(entry->path().lexically_relative(path_).generic_string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  [[nodiscard]] std::string text(std::string_view file, std::size_t limit) override {
    refuse_outside(file);
    return read_text_file(origin(file), limit);
  }
  [[nodiscard]] std::unique_ptr<ByteSource> open(std::string_view file) override {
    refuse_outside(file);
    return std::make_unique<FileBytes>(origin(file));
  }

 private:
  void refuse_outside(std::string_view file) const {
    if (leads_out(file)) refuse("input.bad_value", path_, "'" + std::string(file) + "' leads out of the folder");
  }
  std::string path_;
};

}  // namespace

FileBytes::FileBytes(const std::string& path) : ByteSource(path) {
  if (path.empty() || path.find('\0') != std::string::npos) refuse("input.not_found", path, "no such file");
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd_ < 0) refuse_errno(errno, path);
  struct stat status = {};
  const int error = ::fstat(fd_, &status) != 0 ? errno : 0;
  if (error == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    return;
  }
  ::close(fd_);
  if (error != 0) refuse_errno(error, path);
  refuse("input.unreadable", path, S_ISDIR(status.st_mode) ? "is a folder" : "is not a regular file", "a file");
}

FileBytes::~FileBytes() { ::close(fd_); }

void FileBytes::read(std::uint64_t offset, char* out, std::size_t count) {
  while (count > 0) {
    const ssize_t got = ::pread(fd_, out, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse_errno(errno, origin());
    if (got == 0)
      refuse("input.truncated", origin(), fmt::format("the file became shorter while it was read, at byte {}", offset));
    offset += static_cast<std::uint64_t>(got);
    out += got;
    count -= static_cast<std::size_t>(got);
  }
}

std::unique_ptr<FileSet> open_folder(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) refuse("input.not_found", path, "no such folder");
  if (!fs::is_directory(status)) refuse("input.unreadable", path, "is not a folder", "a folder");
  return std::make_unique<LocalFolder>(path);
}

}  // namespace gpuplan
