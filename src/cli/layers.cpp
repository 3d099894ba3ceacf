#include "commands.hpp"

#include <algorithm>
#include <filesystem>

namespace gpuplan::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSystemFolder = "/etc/gpuplan";
constexpr std::string_view kProjectFolder = ".gpuplan";

// A layer that is not there is none; a file in it that cannot be read is an error, said when it is read.
void add_folder(std::vector<CatalogFile>& files, const fs::path& folder, Layer layer) {
  std::error_code error;
  std::vector<std::string> paths;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string extension = at->path().extension().string();
    if (extension == ".yaml" || extension == ".yml") paths.push_back(at->path().string());
  }
  std::sort(paths.begin(), paths.end());
  for (auto& path : paths) files.push_back({std::move(path), layer});
}

}  // namespace

Catalog load_layers(const Options& options, const Environment& environment) {
  std::vector<CatalogFile> files;
  add_folder(files, kSystemFolder, Layer::system);
  if (!environment.config_home.empty()) {
    add_folder(files, fs::path(environment.config_home) / "gpuplan", Layer::user);
  } else if (!environment.home.empty()) {
    add_folder(files, fs::path(environment.home) / ".config" / "gpuplan", Layer::user);
  }
  add_folder(files, kProjectFolder, Layer::project);
  for (const std::string& path : options.catalogs) files.push_back({path, Layer::flag});
  return load_catalog(files);
}

}  // namespace gpuplan::cli
