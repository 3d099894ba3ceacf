#include "hub_connection.hpp"

#include "transfer.hpp"
#include "url.hpp"

#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::size_t kMaxComponent = 96;
constexpr std::size_t kMaxRevision = 200;
constexpr std::size_t kMaxFileName = 1024;
constexpr std::size_t kMaxFiles = 100000;
constexpr std::size_t kMaxListing = std::size_t{64} << 20;
constexpr std::size_t kMaxListingNodes = 5'000'000;
constexpr std::uint64_t kWholeFile = std::uint64_t{16} << 20;  // accepted from a server that ignores ranges

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// The Hub's rule for an organisation or a name.
bool is_component(std::string_view text) {
  const auto is_allowed = [](char c) { return is_word(c) || c == '-' || c == '.'; };
  return !text.empty() && text.size() <= kMaxComponent && is_word(text.front()) && is_word(text.back()) &&
         std::all_of(text.begin(), text.end(), is_allowed) && text.find("..") == std::string_view::npos &&
         text.find("--") == std::string_view::npos && !text.ends_with(".git");
}

bool is_revision(std::string_view text) {
  const auto is_allowed = [](char c) { return is_word(c) || c == '-' || c == '.' || c == '/'; };
  return text.size() <= kMaxRevision && std::all_of(text.begin(), text.end(), is_allowed) && is_inner_name(text);
}

/// The answer of `/api/models/…`: `{"sha": "…", "siblings": [{"rfilename": "…"}, …], …}`.
RepositoryListing parse_listing(const std::string& text, const std::string& shown) {
  RepositoryListing listing;
  try {
    const Node root = parse_json(text, shown, kMaxListingNodes, NonFinite::accepted);
    const Node* siblings = root.find("siblings");
    if (siblings != nullptr && siblings->kind == Node::Kind::sequence) {
      if (const Node* sha = root.find("sha"); sha != nullptr && is_commit(sha->scalar)) listing.commit = sha->scalar;
      for (const Node& entry : siblings->items) {
        const Node* file = entry.find("rfilename");
        if (file != nullptr && file->quoted && is_inner_name(file->scalar) && listing.files.size() < kMaxFiles)
          listing.files.push_back(file->scalar);
      }
      std::sort(listing.files.begin(), listing.files.end());
      return listing;
    }
  } catch (const InputError&) {
    // Said below: what a portal or a proxy answers instead is of no interest.
  }
  refuse_net("net.bad_answer", shown, "the answer is no list of a repository's files",
             "a Hub at HF_ENDPOINT, and no page to log in to the network in between");
}

/// As `read_text_file` does.
std::string checked_text(std::string text, const std::string& origin) {
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  if (text.empty()) refuse_net("input.empty", origin, "the file is empty");
  if (text.find('\0') != std::string::npos)
    refuse_net("input.binary", origin, "the file has a NUL byte, so it is not text", "YAML or JSON");
  if (!is_utf8(text)) refuse_net("input.encoding", origin, "the file is not UTF-8", "UTF-8");
  return text;
}

}  // namespace

bool is_commit(std::string_view revision) {
  return revision.size() == 40 && revision.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_inner_name(std::string_view file) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (file.empty() || file.size() > kMaxFileName || !is_utf8(file)) return false;
  if (std::any_of(file.begin(), file.end(), is_control) || file.find('\\') != std::string_view::npos) return false;
  for (std::size_t start = 0; start <= file.size();) {
    const std::size_t end = std::min(file.find('/', start), file.size());
    const std::string_view part = file.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") return false;
    start = end + 1;
  }
  return true;
}

std::optional<RepositoryName> parse_repository(std::string_view text) {
  RepositoryName name;
  const bool said = text.starts_with(kHubPrefix);  // then a name of the time before organisations is one, too
  if (said) text.remove_prefix(kHubPrefix.size());
  const std::size_t at = text.find('@');
  const std::string_view id = text.substr(0, at);
  const std::size_t slash = id.find('/');
  if (slash == std::string_view::npos ? !said || !is_component(id)
                                      : !is_component(id.substr(0, slash)) || !is_component(id.substr(slash + 1)))
    return std::nullopt;
  name.id = id;
  name.revision = at == std::string_view::npos ? "main" : text.substr(at + 1);
  if (!is_revision(name.revision)) return std::nullopt;
  return name;
}

std::string RepositoryName::folder() const {
  std::string folder = "models--" + id;
  if (const std::size_t slash = folder.find('/'); slash != std::string::npos) folder.replace(slash, 1, "--");
  return folder;
}

HubConnection::HubConnection(HubSettings settings, RepositoryName name)
    : settings_(std::move(settings)), name_(std::move(name)), name_at_(name_.revision), cache_(settings_.answers) {
  group_ = name_.folder();
}

std::string HubConnection::shown_file(std::string_view file) const { return name_.shown() + "/" + printable(file); }

std::string HubConnection::key(std::string_view kind, std::string_view file) const {
  // Two endpoints may call different things the same; a user in the address is not written down.
  const auto address = parse_address(settings_.endpoint);
  return (address ? address->shown : std::string()) + " " + name_.id + " " + name_at_ + " " + std::string(kind) + " " +
         percent_encoded(file);
}

std::string HubConnection::file_url(const std::string& file) const {
  return settings_.endpoint + "/" + name_.id + "/resolve/" + percent_encoded(name_at_, true) + "/" +
         percent_encoded(file);
}

RepositoryListing HubConnection::listing() {
  const std::string url =
      settings_.endpoint + "/api/models/" + name_.id + "/revision/" + percent_encoded(name_at_, true);
  const auto address = parse_address(url);
  return parse_listing(kept_or_asked("files", {}, url, kMaxListing), address ? address->shown : name_.shown());
}

std::string HubConnection::text(const std::string& file, std::size_t limit) {
  return checked_text(kept_or_asked("text", file, file_url(file), limit), shown_file(file));
}

std::string HubConnection::kept_or_asked(std::string_view kind, const std::string& file, const std::string& url,
                                         std::size_t limit) {
  auto kept = cache_.find(group_, key(kind, file));
  if (kept && kept->body.size() > limit) kept.reset();
  if (kept && pinned()) return std::move(kept->body);
  try {
    HttpRequest request;
    request.url = url;
    request.limit = limit;
    if (kept) request.known_etag = kept->etag;
    HttpAnswer answer = ask(request, file);
    if (answer.status == 304) return std::move(kept->body);
    cache_.store(group_, key(kind, file), {std::string(answer.header("etag")), answer.body.size(), answer.body});
    return std::move(answer.body);
  } catch (const InputError& error) {
    if (!may_use_kept(error) || !kept) throw;
  }
  tell_kept_used();
  return std::move(kept->body);
}

std::optional<KeptAnswer> HubConnection::kept_head(const std::string& file) const {
  return cache_.find(group_, key("head", file));
}

void HubConnection::keep_head(const std::string& file, const KeptAnswer& head) const {
  cache_.store(group_, key("head", file), head);
}

HttpAnswer HubConnection::range(const std::string& file, ByteRange range, const std::string& known_etag,
                                std::string& address) {
  HttpRequest request;
  request.range = range;
  request.known_etag = known_etag;
  request.limit = static_cast<std::size_t>(std::max(range.count, kWholeFile));
  if (!address.empty()) {
    request.url = address;
    require_network();
    if (!client_) client_.emplace(settings_.http);
    HttpAnswer answer = client_->ask(request);
    if (answer.status == 200 || answer.status == 206) return answer;
    address.clear();  // a signature is good for some minutes
  }
  request.url = file_url(file);
  HttpAnswer answer = ask(request, file);
  const auto from = parse_address(answer.address);
  const auto hub = parse_address(settings_.endpoint);
  if (from && hub && !from->same_origin(*hub)) address = answer.address;
  return answer;
}

void HubConnection::require_network() const {
  if (gone_) throw *gone_;
  if (!settings_.offline) return;
  refuse_net("net.offline", name_.shown(), "is not on this machine, and the network is switched off",
             "a network: HF_HUB_OFFLINE unset; or a copy in the cache of the Hub's libraries");
}

HttpAnswer HubConnection::ask(const HttpRequest& request, const std::string& file) {
  require_network();
  if (!client_) client_.emplace(settings_.http);
  HttpRequest with_token = request;
  with_token.token = settings_.token;
  HttpAnswer answer = client_->ask(with_token);
  const bool whole_range = answer.status == 416 && answer.range;
  if (answer.status != 200 && answer.status != 206 && answer.status != 304 && !whole_range) refuse(answer, file);
  return answer;
}

void HubConnection::refuse(const HttpAnswer& answer, const std::string& file) const {
  const std::string repository = "'" + name_.id + "'";
  const auto hub = parse_address(settings_.endpoint);
  const auto from = parse_address(answer.address);
  if (!hub || !from || !from->same_origin(*hub)) refuse_status(answer);  // not the Hub's word
  const std::string page = hub->shown + (hub->shown.ends_with('/') ? "" : "/") + name_.id;
  const std::string_view code = answer.header("x-error-code");
  const std::string token = settings_.token.empty() ? "HF_TOKEN set to a token" : "a valid token in HF_TOKEN";
  if (code == "GatedRepo" || answer.status == 403) {
    refuse_net("net.forbidden", answer.shown, "access to " + repository + " is restricted by its owners",
               "its licence accepted at " + page + ", and " + token + " of that account");
  }
  if (code == "RevisionNotFound") {
    refuse_net("net.not_found", answer.shown, repository + " has no revision '" + name_.revision + "'",
               "a branch, a tag or a commit");
  }
  if (answer.status == 401 || code == "RepoNotFound") {
    // The Hub answers a token that it does not know with 401 whatever is asked.
    const bool token_asked = !settings_.token.empty() && answer.status == 401;
    refuse_net("net.unauthorized", answer.shown,
               "the repository " + repository + " does not exist or is private" +
                   (token_asked ? ", or the token is not valid" : ""),
               "a name as in the address of its page; for a private one, " + token + " that may read it");
  }
  if (answer.status == 404 && file.empty()) {
    refuse_net("net.not_found", answer.shown,
               "there is no repository " + repository + " with the revision '" + name_.revision + "'",
               "a name as in the address of its page");
  }
  if (answer.status == 404) {
    refuse_net("net.not_found", answer.shown, repository + " has no file '" + printable(file) + "'");
  }
  refuse_status(answer);
}

bool HubConnection::may_use_kept(const InputError& error) {
  constexpr std::array passing = {"net.offline",      "net.unreachable",  "net.timeout",   "net.truncated",
                                  "net.rate_limited", "net.server_error", "net.no_library"};
  const std::string& id = error.problems().front().id;
  if (std::find(passing.begin(), passing.end(), id) == passing.end()) return false;
  if (!gone_ && (id == "net.unreachable" || id == "net.timeout")) gone_ = error;  // one wait is enough
  return true;
}

void HubConnection::tell_kept_used() {
  if (told_ || !settings_.notice) return;
  told_ = true;
  const std::string why = settings_.offline ? "the network is switched off" : "the Hub does not answer";
  settings_.notice(why + ": what was kept of '" + name_.shown() + "' is used");
}

}  // namespace gpuplan
