#pragma once
// One repository behind a Hub: its addresses, what is kept of its answers, and what its refusals mean.

#include "answer_cache.hpp"

#include <gpuplan/net/hub.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuplan {

struct RepositoryName {
  std::string id;        ///< org/name; of old models name alone
  std::string revision;  ///< `main` unless said

  [[nodiscard]] std::string shown() const { return revision == "main" ? id : id + "@" + revision; }
  /// `models--org--name`, as the Hub's libraries call its folder.
  [[nodiscard]] std::string folder() const;
};

// Nothing for text that is no name of a repository.
std::optional<RepositoryName> parse_repository(std::string_view text);

// 40 hexadecimal digits: what they name never changes.
bool is_commit(std::string_view revision);

// A file's name that stays inside a folder: no '..', no leading '/', printable.
bool is_inner_name(std::string_view file);

struct RepositoryListing {
  std::string commit;              ///< empty: the server does not say
  std::vector<std::string> files;  ///< sorted
};

class HubConnection {
 public:
  HubConnection(HubSettings settings, RepositoryName name);

  [[nodiscard]] const RepositoryName& name() const { return name_; }
  // What is asked about from now on.
  void pin(std::string revision) { name_at_ = std::move(revision); }
  [[nodiscard]] bool pinned() const { return is_commit(name_at_); }

  RepositoryListing listing();
  std::string text(const std::string& file, std::size_t limit);

  // A range of a file, from where its last one came if that still answers. Not kept.
  HttpAnswer range(const std::string& file, ByteRange range, const std::string& known_etag, std::string& address);

  // The beginning of a file, kept from earlier.
  [[nodiscard]] std::optional<KeptAnswer> kept_head(const std::string& file) const;
  void keep_head(const std::string& file, const KeptAnswer& head) const;

  [[nodiscard]] std::string shown_file(std::string_view file) const;
  // Whether `error` is about the network or the server's state, so that an older answer may serve; remembers that the
  // network is gone, and tells it.
  bool may_use_kept(const InputError& error);
  // Throws when the network is not to be used, or was found to be gone.
  void require_network() const;

 private:
  [[nodiscard]] std::string key(std::string_view kind, std::string_view file) const;
  [[nodiscard]] std::string file_url(const std::string& file) const;
  std::string kept_or_asked(std::string_view kind, const std::string& file, const std::string& url, std::size_t limit);
  HttpAnswer ask(const HttpRequest& request, const std::string& file);
  [[noreturn]] void refuse(const HttpAnswer& answer, const std::string& file) const;
  void tell_kept_used();

  HubSettings settings_;
  RepositoryName name_;
  std::string name_at_;  ///< the revision asked about
  std::string group_;
  AnswerCache cache_;
  std::optional<HttpClient> client_;
  std::optional<InputError> gone_;
  bool told_ = false;
};

}  // namespace gpuplan
