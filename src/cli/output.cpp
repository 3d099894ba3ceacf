#include "output.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuplan::cli {
namespace {

using FileStatus = struct stat;

constexpr int kMostLinks = 40;  // as Linux has it

[[noreturn]] void fail(std::string_view id, const std::string& what) {
  throw OutputError(id, what + ": " + std::generic_category().message(errno));
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// While this lives, signals wait: the temporary file is renamed or removed before one ends the program.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeld() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

mode_t mode_of_new_files() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// A file beside the one that is to be written; it removes itself unless it came to be that one. Failures leave errno.
class Temporary {
 public:
  explicit Temporary(const std::string& path)
      : name_(path.substr(0, path.rfind('/') + 1) + ".gpuplan.XXXXXX"),
        descriptor_(::mkostemp(name_.data(), O_CLOEXEC)) {}
  ~Temporary() {
    close();
    if (there_) ::unlink(name_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  [[nodiscard]] bool made() const { return descriptor_ >= 0; }

  // Takes over mode, owner and group. Not when the old file has other names: they are to see the result too.
  bool take_after(const std::optional<FileStatus>& old) {
    if (!old) return ::fchmod(descriptor_, mode_of_new_files()) == 0;
    FileStatus own{};
    if (old->st_nlink > 1 || ::fstat(descriptor_, &own) != 0) return false;
    if ((own.st_uid != old->st_uid || own.st_gid != old->st_gid) &&
        ::fchown(descriptor_, old->st_uid, old->st_gid) != 0)
      return false;
    return ::fchmod(descriptor_, old->st_mode & 0777) == 0;
  }

  bool write(std::string_view text) { return write_all(descriptor_, text) && ::fsync(descriptor_) == 0 && close(); }

  bool become(const std::string& path) {
    there_ = std::rename(name_.c_str(), path.c_str()) != 0;
    return !there_;
  }

 private:
  bool close() {
    if (descriptor_ < 0) return true;
    return ::close(std::exchange(descriptor_, -1)) == 0;
  }

  std::string name_;
  int descriptor_;
  bool there_ = descriptor_ >= 0;
};

void write_in_place(std::string_view text, const std::string& path, bool is_regular) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) fail(kOutputFile, "cannot open '" + path + "'");
  const bool written =
      write_all(descriptor, text) && (!is_regular || ::ftruncate(descriptor, static_cast<off_t>(text.size())) == 0);
  const int error = errno;
  const bool closed = ::close(descriptor) == 0;
  if (!written) errno = error;
  if (!written || !closed) fail(kOutputFile, "cannot write '" + path + "'");
}

// Through a temporary file; in place where none can take the old one's place: a folder that may not be written to, a file
// that is another's, has several names or is a mount point.
void write_file(std::string_view text, const std::string& path, const std::optional<FileStatus>& old) {
  const SignalsHeld held;
  {
    Temporary temporary(path);
    const bool ready = temporary.made() && temporary.take_after(old);
    if (!ready && !old) fail(kOutputFile, "cannot write '" + path + "'");
    if (ready) {
      if (!temporary.write(text)) fail(kOutputFile, "cannot write '" + path + "'");
      if (temporary.become(path)) return;
      if (!old) fail(kOutputFile, "cannot write '" + path + "'");
    }
  }
  write_in_place(text, path, true);
}

// Where the links lead, even if nothing is there yet.
std::string target_of(const std::string& path) {
  std::filesystem::path at = path;
  std::error_code error;
  for (int links = 0; links < kMostLinks; ++links) {
    const std::filesystem::path next = std::filesystem::read_symlink(at, error);
    if (error) break;
    at = at.parent_path() / next;
  }
  return at.string();
}

}  // namespace

void write_result(std::string_view text, const std::string& path) {
  if (path.empty() || path == "-" || path == "/dev/stdout") {
    if (!write_all(STDOUT_FILENO, text)) fail(kStandardOutput, "cannot write standard output");
    return;
  }
  FileStatus status{};
  const bool is_there = ::stat(path.c_str(), &status) == 0;
  if (!is_there && errno != ENOENT) fail(kOutputFile, "cannot write '" + path + "'");
  if (is_there && !S_ISREG(status.st_mode)) return write_in_place(text, path, false);  // a device or pipe
  if (is_there) {
    if (::access(path.c_str(), W_OK) != 0) fail(kOutputFile, "cannot write '" + path + "'");
    if ((status.st_mode & 0222) == 0) {  // root may, but hardly means to
      errno = EACCES;
      fail(kOutputFile, "cannot write '" + path + "'");
    }
  }
  write_file(text, target_of(path), is_there ? std::optional(status) : std::nullopt);
}

void write_error(std::string_view text) { (void)write_all(STDERR_FILENO, text); }

void hold_standard_streams() {
  constexpr std::array<int, 3> kUnusable = {O_WRONLY, O_RDONLY,
                                            O_RDONLY};  // reading the first and writing the others fails
  for (int stream = 0; stream < 3; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    if (::open("/dev/null", kUnusable[static_cast<std::size_t>(stream)]) < 0) std::abort();
  }
}

}  // namespace gpuplan::cli
