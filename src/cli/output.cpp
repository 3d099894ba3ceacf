#include "output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuplan::cli {
namespace {

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

bool is_special(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

// Devices and pipes cannot be replaced: they are written to.
void write_special(std::string_view text, const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) fail(kOutputFile, "cannot open '" + path + "'");
  const bool written = write_all(descriptor, text);
  if (!written || ::close(descriptor) != 0) fail(kOutputFile, "cannot write '" + path + "'");
}

void write_file(std::string_view text, const std::string& path) {
  std::string pattern = path + ".XXXXXX";
  std::vector<char> name(pattern.begin(), pattern.end());
  name.push_back('\0');
  const int descriptor = ::mkstemp(name.data());
  if (descriptor < 0) fail(kOutputFile, "cannot write '" + path + "'");
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const bool written = write_all(descriptor, text) && ::fchmod(descriptor, 0666 & ~mask) == 0 && ::fsync(descriptor) == 0;
  const int error = errno;
  const bool closed = ::close(descriptor) == 0;
  if (!written || !closed || std::rename(name.data(), path.c_str()) != 0) {
    if (!written) errno = error;
    const int kept = errno;
    ::unlink(name.data());
    errno = kept;
    fail(kOutputFile, "cannot write '" + path + "'");
  }
}

}  // namespace

void write_result(std::string_view text, const std::string& path) {
  if (path.empty() || path == "-") {
    if (!write_all(STDOUT_FILENO, text)) fail(kStandardOutput, "cannot write standard output");
  } else if (is_special(path)) {
    write_special(text, path);
  } else {
    write_file(text, path);
  }
}

void write_error(std::string_view text) { (void)write_all(STDERR_FILENO, text); }

}  // namespace gpuplan::cli
