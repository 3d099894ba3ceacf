#pragma once
/// Files and answers over HTTP, by libcurl, which is loaded with the first request: a program that asks nothing pays nothing.
///
///     HttpClient client(settings);
///     const HttpAnswer answer = client.get({.url = "https://example.org/config.json"});
///
/// What a server cannot make us do: send a token to another scheme, host or port than the first one asked; go from https to
/// http; speak anything but these two; follow more than `redirects` redirections; keep more than `limit` bytes, compressed or
/// not; wait longer than `HttpSettings` says. Certificates are always verified. Proxies are taken from the environment, as
/// curl does. Messages name host and path only: no token, no query, no user.

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/units.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

/// How far a slow operation has come.
struct HttpProgress {
  std::string what;                ///< address without query
  std::uint64_t received = 0;      ///< bytes of this answer
  std::uint64_t total = 0;         ///< bytes of this answer; 0: not known
  std::optional<Seconds> waiting;  ///< the server asked us to wait this long
};

struct HttpSettings {
  Seconds connect = seconds(10);  ///< until a connection stands
  Seconds stall = seconds(30);    ///< nearly nothing arrives for so long; whole seconds
  Seconds total = seconds(300);   ///< one answer
  int redirects = 5;
  int tries = 3;  ///< of a request whose server is busy (429, 502, 503, 504)
  Seconds waiting =
      seconds(60);  ///< between the tries of a request, together; a server that asks for more is not waited for
  std::string certificates;            ///< a file of trusted authorities; empty: the system's
  std::function<void(Seconds)> sleep;  ///< empty: sleeps
  /// Called about once a second as soon as a client has been busy for `progress_after`; may be empty.
  std::function<void(const HttpProgress&)> progress;
  Seconds progress_after = seconds(1);
};

struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;  ///< at least 1
};

struct HttpRequest {
  std::string url;
  std::string token;  ///< sent as `Authorization: Bearer …`, to the scheme, host and port of `url` only; empty: none
  std::optional<ByteRange> range;
  std::string known_etag;  ///< of the answer that is at hand: 304 when it is still right
  /// Of the body. Also of a server that answers a range with the whole file.
  std::size_t limit = std::size_t{64} << 20;
};

struct HttpHeader {
  std::string name;  ///< lower case
  std::string value;
};

struct HttpAnswer {
  int status = 0;
  std::string body;
  std::vector<HttpHeader> headers;
  std::string address;  ///< where the answer came from, after redirections; may hold a signature: not for messages
  std::string shown;    ///< the same for messages
  std::optional<ByteRange> range;  ///< when one was asked for: what `body` holds of the file (200: all of it)
  std::uint64_t total = 0;         ///< with `range`: bytes of the whole file

  /// The value of a header by its lower-case name, or empty.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

/// Keeps connections open between requests; one thread at a time.
class HttpClient {
 public:
  explicit HttpClient(HttpSettings settings = {});
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  /// The answer, of whatever status a server that is not busy gives.
  /// Throws InputError: `net.unreachable`, `net.timeout`, `net.tls`, `net.truncated`, `net.too_many_redirects`,
  /// `net.too_large`, `net.rate_limited`, `net.server_error`, `net.bad_answer` (no HTTP, or a range that was not asked for),
  /// `net.no_library`, `input.bad_value` (a URL or token that is none).
  HttpAnswer ask(const HttpRequest& request);
  /// As `ask`, with other answers than 200, 206 and 304 refused as `refuse_status` does.
  HttpAnswer get(const HttpRequest& request);

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Throws what a status means: `net.unauthorized` (401), `net.forbidden` (403), `net.not_found` (404, 410),
/// `net.rate_limited` (429), `net.server_error` (5xx), otherwise `net.bad_answer`.
[[noreturn]] void refuse_status(const HttpAnswer& answer);

}  // namespace gpuplan
