#include "commands.hpp"

#include <algorithm>
#include <filesystem>

namespace gpuplan::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSystemFolder = "/etc/gpuplan";
constexpr std::string_view kProjectFolder = ".gpuplan";

// Pipes, devices and folders hold no facts. A link to nowhere counts, so that reading it says what is wrong.
bool is_facts_file(const fs::path& path) {
  const std::string extension = path.extension().string();
  if (path.filename().string().front() == '.' || (extension != ".yaml" && extension != ".yml")) return false;
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  return type == fs::file_type::regular || type == fs::file_type::not_found || type == fs::file_type::none;
}

bool is_absent(const fs::path& folder, const std::error_code& error) {
  std::error_code ignored;
  return error == std::errc::no_such_file_or_directory ||
         fs::symlink_status(folder, ignored).type() == fs::file_type::not_found;
}

// A folder that is not there is no layer. One that cannot be listed is said, for its facts are missing from the answer;
// a file in it that cannot be read is an error, said when it is read.
void add_folder(std::vector<CatalogFile>& files, const fs::path& folder, Layer layer,
                std::vector<std::string>& notices) {
  std::error_code error;
  std::vector<std::string> paths;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (is_facts_file(at->path())) paths.push_back(at->path().string());
  }
  if (error && !is_absent(folder, error)) {
    notices.push_back("warning: the facts in '" + folder.string() +
                      "' are left out: it cannot be listed: " + error.message());
  }
  std::sort(paths.begin(), paths.end());
  for (auto& path : paths) files.push_back({std::move(path), layer});
}

}  // namespace

Catalog load_layers(const Options& options, const Environment& environment, std::vector<std::string>& notices) {
  std::vector<CatalogFile> files;
  add_folder(files, kSystemFolder, Layer::system, notices);
  const fs::path config_home = environment.config_home;
  if (config_home.is_absolute()) {  // the XDG specification: a relative one is to be ignored
    add_folder(files, config_home / "gpuplan", Layer::user, notices);
  } else if (!environment.home.empty()) {
    add_folder(files, fs::path(environment.home) / ".config" / "gpuplan", Layer::user, notices);
  }
  add_folder(files, kProjectFolder, Layer::project, notices);
  for (const std::string& path : options.catalogs) files.push_back({path, Layer::flag});
  return load_catalog(files);
}

}  // namespace gpuplan::cli
