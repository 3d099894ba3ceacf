#include <gpuplan/net/hub.hpp>

#include "hub_connection.hpp"
#include "hub_file.hpp"
#include "transfer.hpp"
#include "url.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace gpuplan {
namespace {

namespace fs = std::filesystem;

/// The snapshot that the Hub's libraries left: `models--org--name/snapshots/<commit>`, by `refs/<revision>`.
struct Snapshot {
  std::string commit;
  std::string folder;
  std::string absent;  ///< the folder of marks for files that the Hub does not have at this commit
};

std::optional<Snapshot> find_snapshot(const std::string& hub_cache, const RepositoryName& name) {
  if (hub_cache.empty()) return std::nullopt;
  const fs::path base = fs::path(hub_cache) / name.folder();
  Snapshot found;
  found.commit = name.revision;
  try {
    if (!is_commit(name.revision)) found.commit = trim(read_text_file((base / "refs" / name.revision).string(), 256));
  } catch (const InputError&) {
    return std::nullopt;
  }
  std::error_code error;
  found.folder = (base / "snapshots" / found.commit).string();
  found.absent = (base / ".no_exist" / found.commit).string();
  if (!is_commit(found.commit) || !fs::is_directory(found.folder, error)) return std::nullopt;
  return found;
}

class HubRepository : public FileSet {
 public:
  HubRepository(const HubSettings& settings, const RepositoryName& name)
      : connection_(std::make_shared<HubConnection>(settings, name)),
        snapshot_(find_snapshot(settings.hub_cache, name)) {
    if (!snapshot_) return;
    local_ = open_folder(snapshot_->folder);
    connection_->pin(snapshot_->commit);
  }

  [[nodiscard]] std::string name() const override { return connection_->name().shown(); }

  [[nodiscard]] std::string origin(std::string_view file) const override {
    return is_local(file) ? local_->origin(file) : connection_->shown_file(file);
  }

  [[nodiscard]] bool has(std::string_view file) override {
    if (!is_inner_name(file)) return false;
    if (is_local(file)) return true;
    std::error_code error;
    if (snapshot_ && fs::exists(fs::path(snapshot_->absent) / file, error)) return false;
    const auto& files = listing().files;
    return std::binary_search(files.begin(), files.end(), file, std::less<>());
  }

  [[nodiscard]] std::vector<std::string> list() override {
    std::vector<std::string> files = listing().files;
    if (local_) {
      const std::vector<std::string> here = local_->list();
      files.insert(files.end(), here.begin(), here.end());
      std::sort(files.begin(), files.end());
      files.erase(std::unique(files.begin(), files.end()), files.end());
    }
    return files;
  }

  [[nodiscard]] std::string text(std::string_view file, std::size_t limit) override {
    if (is_local(file)) return local_->text(file, limit);
    require(file);
    return connection_->text(std::string(file), limit);
  }

  [[nodiscard]] std::unique_ptr<ByteSource> open(std::string_view file) override {
    if (is_local(file)) return local_->open(file);
    require(file);
    return open_hub_file(connection_, std::string(file));
  }

 private:
  [[nodiscard]] bool is_local(std::string_view file) const {
    return local_ && is_inner_name(file) && local_->has(file);
  }

  /// What the Hub lists. A snapshot on disk makes do without: its own files are then all there are.
  const RepositoryListing& listing() {
    if (listing_) return *listing_;
    try {
      RepositoryListing got = connection_->listing();
      if (!got.commit.empty()) connection_->pin(got.commit);  // whatever is asked from now on is of this commit
      listing_ = std::move(got);
    } catch (const InputError& error) {
      if (!local_) throw;
      not_listed_ = error;
      listing_.emplace();
    }
    return *listing_;
  }

  void require(std::string_view file) {
    if (!is_inner_name(file)) {
      refuse_net("input.bad_value", name(), "'" + printable(file) + "' leads out of the repository");
    }
    if (has(file)) return;
    if (not_listed_) throw *not_listed_;
    refuse_net("input.not_found", origin(file), "no such file");
  }

  std::shared_ptr<HubConnection> connection_;
  std::optional<Snapshot> snapshot_;
  std::unique_ptr<FileSet> local_;
  std::optional<RepositoryListing> listing_;
  std::optional<InputError> not_listed_;
};

}  // namespace

bool looks_like_repository(std::string_view text) { return parse_repository(text).has_value(); }

std::unique_ptr<FileSet> open_hub_repository(const HubSettings& settings, std::string_view repository) {
  const auto name = parse_repository(repository);
  if (!name) {
    refuse_net("input.bad_value", printable(repository), "is no name of a repository",
               "org/name, org/name@revision, or hub:name for a name without an organisation");
  }
  return std::make_unique<HubRepository>(settings, *name);
}

}  // namespace gpuplan
