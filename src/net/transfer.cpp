#include "transfer.hpp"

#include <gpuplan/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <utility>

#ifndef GPUPLAN_VERSION
#define GPUPLAN_VERSION "0"
#endif

namespace gpuplan {
namespace {

constexpr std::size_t kMaxHeaderBytes = std::size_t{256} << 10;
constexpr std::size_t kMaxErrorBody = std::size_t{64} << 10;  // of answers whose body is not what was asked for
constexpr long kSlowBytesPerSecond = 256;

/// What arrives, and why it was refused.
struct Arrival {
  TransferAnswer answer;
  std::size_t limit = 0;
  std::size_t header_bytes = 0;
  bool too_large = false;
  bool enough = false;  ///< more of an error's text than anybody needs
  bool bad_headers = false;
  std::exception_ptr thrown;  ///< by the watch, or for want of memory; must not pass through C
  TransferWatch* watch = nullptr;

  [[nodiscard]] bool wanted() const { return answer.status == 200 || answer.status == 206; }

  bool header(std::string_view line) {
    header_bytes += line.size();
    if (header_bytes > kMaxHeaderBytes) {
      bad_headers = true;
      return false;
    }
    if (line.starts_with("HTTP/")) {  // of each answer: 100 Continue comes before the real one
      answer.headers.clear();
      answer.status = std::atoi(std::string(line.substr(std::min(line.find(' '), line.size()))).c_str());
      return true;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return true;
    answer.headers.push_back({to_lower(trim(line.substr(0, colon))), std::string(trim(line.substr(colon + 1)))});
    return true;
  }

  bool bytes(std::string_view part) {
    const std::size_t most = wanted() ? limit : kMaxErrorBody;
    if (part.size() > most - std::min(most, answer.body.size())) {
      (wanted() ? too_large : enough) = true;
      return false;
    }
    answer.body += part;
    return true;
  }
};

template <class Action>
bool guarded(Arrival& arrival, Action action) noexcept {
  try {
    return action();
  } catch (...) {
    arrival.thrown = std::current_exception();
    return false;
  }
}

std::size_t on_header(char* text, std::size_t /*one*/, std::size_t count, void* arrival) noexcept {
  auto& to = *static_cast<Arrival*>(arrival);
  return guarded(to, [&] { return to.header({text, count}); }) ? count : 0;
}

std::size_t on_bytes(char* text, std::size_t /*one*/, std::size_t count, void* arrival) noexcept {
  auto& to = *static_cast<Arrival*>(arrival);
  return guarded(to, [&] { return to.bytes({text, count}); }) ? count : ~std::size_t{0};
}

int on_progress(void* arrival, curl_off_t total, curl_off_t now, curl_off_t /*up*/, curl_off_t /*up_now*/) noexcept {
  auto& to = *static_cast<Arrival*>(arrival);
  // A body known to be too large is not waited for.
  const bool fine = guarded(to, [&] {
    to.watch->received(now > 0 ? static_cast<std::uint64_t>(now) : 0,
                       total > 0 ? static_cast<std::uint64_t>(total) : 0);
    const bool large = to.wanted() && total > 0 && static_cast<std::uint64_t>(total) > to.limit;
    if (large) to.too_large = true;
    return !large;
  });
  return fine ? 0 : 1;
}

/// A list of header lines that frees itself.
class Lines {
 public:
  explicit Lines(const CurlLibrary& curl) : curl_(curl) {}
  ~Lines() { curl_.slist_free_all(list_); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  void add(const std::string& line) {
    curl_slist* longer = curl_.slist_append(list_, line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    list_ = longer;
  }
  [[nodiscard]] curl_slist* get() const { return list_; }

 private:
  const CurlLibrary& curl_;
  curl_slist* list_ = nullptr;
};

bool is_header_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

void add_headers(Lines& lines, const HttpRequest& request, const Address& address, bool with_token) {
  if (with_token && !request.token.empty()) {
    if (!is_header_value(request.token)) {
      refuse_net("input.bad_value", address.shown, "the access token has characters that no token has",
                 "a token of letters, digits and '_'");
    }
    lines.add("Authorization: Bearer " + request.token);
  }
  const bool plain = std::none_of(request.known_etag.begin(), request.known_etag.end(),
                                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (!request.known_etag.empty() && plain) lines.add("If-None-Match: " + request.known_etag);
  if (request.range) lines.add("Accept-Encoding: identity");  // offsets are those of the file itself
}

/// libcurl's words on what went wrong, the token out of them whatever they are.
std::string reason(const CurlLibrary& curl, CURLcode code, const char* details, const std::string& token) {
  std::string text = details[0] != '\0' ? details : curl.easy_strerror(code);
  if (!token.empty()) {
    for (std::size_t at = text.find(token); at != std::string::npos; at = text.find(token))
      text.replace(at, token.size(), "…");
  }
  text = printable(trim(text));
  const bool is_sentence = text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z';
  if (is_sentence) text[0] = static_cast<char>(text[0] - 'A' + 'a');
  while (text.ends_with('.')) text.pop_back();
  return text;
}

bool is_tls(CURLcode code) {
  constexpr CURLcode codes[] = {CURLE_SSL_CONNECT_ERROR,        CURLE_PEER_FAILED_VERIFICATION,
                                CURLE_SSL_CERTPROBLEM,          CURLE_SSL_CIPHER,
                                CURLE_SSL_CACERT_BADFILE,       CURLE_SSL_CRL_BADFILE,
                                CURLE_SSL_ISSUER_ERROR,         CURLE_SSL_INVALIDCERTSTATUS,
                                CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_ENGINE_NOTFOUND,
                                CURLE_SSL_ENGINE_INITFAILED,    CURLE_SSL_ENGINE_SETFAILED,
                                CURLE_SSL_SHUTDOWN_FAILED,      CURLE_USE_SSL_FAILED};
  return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
}

/// Options of a handle, and whether libcurl knew all of them.
class Options {
 public:
  Options(const CurlLibrary& curl, CURL* handle) : curl_(curl), handle_(handle) {}
  template <class Value>
  void set(CURLoption option, Value value) {
    all_set_ = curl_.easy_setopt(handle_, option, value) == CURLE_OK && all_set_;
  }
  [[nodiscard]] bool all_set() const { return all_set_; }

 private:
  const CurlLibrary& curl_;
  CURL* handle_;
  bool all_set_ = true;
};

/// What is the same for every request: whom to trust, how long to wait, what not to do.
void set_manners(Options& options, const HttpSettings& settings) {
  const auto thousandths = [](Seconds time) { return std::max(1L, std::lround(time / milliseconds(1))); };
  options.set(CURLOPT_PROTOCOLS_STR, "http,https");
  options.set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  options.set(CURLOPT_FOLLOWLOCATION, 0L);
  options.set(CURLOPT_SSL_VERIFYPEER, 1L);
  options.set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!settings.certificates.empty()) options.set(CURLOPT_CAINFO, settings.certificates.c_str());
  options.set(CURLOPT_NOSIGNAL, 1L);
  options.set(CURLOPT_CONNECTTIMEOUT_MS, thousandths(settings.connect));
  options.set(CURLOPT_TIMEOUT_MS, thousandths(settings.total));
  options.set(CURLOPT_LOW_SPEED_LIMIT, kSlowBytesPerSecond);
  options.set(CURLOPT_LOW_SPEED_TIME, std::max(1L, std::lround(std::ceil(settings.stall / seconds(1)))));
  options.set(CURLOPT_USERAGENT, "gpuplan/" GPUPLAN_VERSION);
  options.set(CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));  // ours are not for a proxy
  options.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
}

[[noreturn]] void refuse_failure(CURLcode code, const std::string& why, const Address& address, bool answered) {
  const std::string host = printable(address.host);
  if (is_tls(code)) {
    refuse_net(
        "net.tls", address.shown, "the connection to '" + host + "' is not trusted: " + why,
        "a certificate that this machine trusts; behind a proxy that inspects, name its authority in CURL_CA_BUNDLE");
  }
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      refuse_net("net.timeout", address.shown, "'" + host + "' does not answer in time: " + why,
                 "a network that reaches it");
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      if (!answered) break;
      refuse_net("net.truncated", address.shown, "the answer of '" + host + "' ended before its end: " + why,
                 "a whole answer; try again");
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_WRITE_ERROR:
      refuse_net("net.bad_answer", address.shown, "'" + host + "' answers what is no HTTP: " + why);
    case CURLE_URL_MALFORMAT:
      refuse_net("input.bad_value", address.shown, "is no address of a server", "http://… or https://…");
    default:
      break;
  }
  refuse_net("net.unreachable", address.shown, "'" + host + "' cannot be reached: " + why,
             "a network that reaches it, or files on disk");
}

}  // namespace

void refuse_net(std::string id, const std::string& shown, std::string message, std::string expected) {
  Problem problem;
  problem.id = std::move(id);
  problem.message = std::move(message);
  problem.place = Place{shown, 0, 0};
  problem.expected = std::move(expected);
  throw InputError(std::move(problem));
}

Transfer::Transfer() : curl_(curl_library()), handle_(curl_.easy_init()) {
  if (handle_ == nullptr) throw std::bad_alloc();
}

Transfer::~Transfer() { curl_.easy_cleanup(handle_); }

TransferAnswer Transfer::run(const HttpRequest& request, const std::string& url, const Address& address,
                             bool with_token, const HttpSettings& settings, TransferWatch& watch) {
  Arrival arrival;
  arrival.limit = request.limit;
  arrival.watch = &watch;
  Lines lines(curl_);
  add_headers(lines, request, address, with_token);
  char details[CURL_ERROR_SIZE] = "";
  curl_.easy_reset(handle_);
  Options options(curl_, handle_);
  options.set(CURLOPT_ERRORBUFFER, details);
  options.set(CURLOPT_URL, url.c_str());
  options.set(CURLOPT_HTTPHEADER, lines.get());
  options.set(CURLOPT_HEADERFUNCTION, &on_header);
  options.set(CURLOPT_HEADERDATA, static_cast<void*>(&arrival));
  options.set(CURLOPT_WRITEFUNCTION, &on_bytes);
  options.set(CURLOPT_WRITEDATA, static_cast<void*>(&arrival));
  options.set(CURLOPT_NOPROGRESS, 0L);
  options.set(CURLOPT_XFERINFOFUNCTION, &on_progress);
  options.set(CURLOPT_XFERINFODATA, static_cast<void*>(&arrival));
  set_manners(options, settings);
  if (request.range) {
    const std::uint64_t last = request.range->first + request.range->count - 1;
    options.set(CURLOPT_RANGE, fmt::format("{}-{}", request.range->first, last).c_str());  // curl keeps a copy
  } else {
    options.set(CURLOPT_ACCEPT_ENCODING, "gzip");
  }
  if (!options.all_set()) {
    refuse_net("net.no_library", address.shown, "libcurl on this machine cannot be told how to ask",
               "libcurl 7.85 or newer, with TLS");
  }

  const CURLcode code = curl_.easy_perform(handle_);
  if (arrival.thrown) std::rethrow_exception(arrival.thrown);
  if (arrival.too_large) {
    refuse_net("net.too_large", address.shown, fmt::format("the answer is larger than {} bytes", request.limit),
               request.range ? "a server that answers with the range asked for, not with the whole file" : "");
  }
  if (arrival.bad_headers) {
    refuse_net("net.bad_answer", address.shown,
               fmt::format("the answer has over {} bytes of headers", kMaxHeaderBytes));
  }
  if (code != CURLE_OK && !arrival.enough) {
    refuse_failure(code, reason(curl_, code, details, request.token), address, arrival.answer.status != 0);
  }

  TransferAnswer answer = std::move(arrival.answer);
  char* target = nullptr;
  if (curl_.easy_getinfo(handle_, CURLINFO_REDIRECT_URL, &target) == CURLE_OK && target) answer.redirect = target;
  curl_off_t wait = 0;
  const bool asked = std::any_of(answer.headers.begin(), answer.headers.end(),
                                 [](const HttpHeader& header) { return header.name == "retry-after"; });
  if (asked && curl_.easy_getinfo(handle_, CURLINFO_RETRY_AFTER, &wait) == CURLE_OK) {
    answer.retry_after = seconds(static_cast<double>(wait));
  }
  return answer;
}

}  // namespace gpuplan
