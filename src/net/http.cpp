#include <gpuplan/net/http.hpp>

#include "transfer.hpp"
#include "url.hpp"

#include <gpuplan/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

namespace gpuplan {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Seconds kTellEvery = seconds(1);
constexpr Seconds kFirstWait = seconds(1);  // where a busy server names none; doubled each time

Seconds since(Clock::time_point start) { return seconds(std::chrono::duration<double>(Clock::now() - start).count()); }

bool is_busy(int status) { return status == 429 || status == 502 || status == 503 || status == 504; }

/// Digits only, and in the range of a file's size.
std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool fits = value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || !fits) return std::nullopt;
  return value;
}

struct ContentRange {
  std::optional<ByteRange> range;  ///< none: `bytes */total`
  std::uint64_t total = 0;
};

std::optional<ContentRange> parse_content_range(std::string_view text) {
  if (to_lower(text.substr(0, 6)) != "bytes ") return std::nullopt;
  text = trim(text.substr(6));
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto total = whole_number(text.substr(slash + 1));
  if (!total) return std::nullopt;
  const std::string_view span = text.substr(0, slash);
  if (span == "*") return ContentRange{std::nullopt, *total};
  const std::size_t dash = span.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = whole_number(span.substr(0, dash));
  const auto last = whole_number(span.substr(dash + 1));
  if (!first || !last || *last < *first || *last >= *total) return std::nullopt;
  return ContentRange{ByteRange{*first, *last - *first + 1}, *total};
}

/// What of the file the body holds; refuses bytes that were not asked for.
void check_range(const HttpRequest& request, HttpAnswer& answer) {
  if (answer.status == 304 && request.known_etag.empty()) {
    refuse_net("net.bad_answer", answer.shown, "answers 304 to a question that it was not asked");
  }
  if (answer.status == 200 && request.range) {
    answer.range = ByteRange{0, answer.body.size()};
    answer.total = answer.body.size();
  }
  const bool partial = answer.status == 206;
  if (!partial && (answer.status != 416 || !request.range)) return;
  const std::string_view header = answer.header("content-range");
  const auto got = parse_content_range(header);
  if (!partial) {
    if (!got || got->range) return;
    answer.range = ByteRange{};
    answer.total = got->total;
    return;
  }
  const bool asked_for = request.range && got && got->range && got->range->first == request.range->first &&
                         got->range->count <= request.range->count;
  if (!asked_for) {
    refuse_net("net.bad_answer", answer.shown,
               "answers with the range '" + printable(header) + "', which was not asked for");
  }
  if (answer.body.size() != got->range->count) {
    refuse_net(
        "net.truncated", answer.shown,
        fmt::format("{} bytes arrived of the {} that the server announced", answer.body.size(), got->range->count),
        "a whole answer; try again");
  }
  answer.range = got->range;
  answer.total = got->total;
}

/// `RateLimit: "api";r=0;t=55`: seconds until the next window (an IETF draft that the Hub follows).
std::optional<Seconds> rate_limit_reset(std::string_view header) {
  const std::size_t at = header.find(";t=");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = header.substr(at + 3);
  const auto value = whole_number(digits.substr(0, digits.find_first_not_of("0123456789")));
  if (!value) return std::nullopt;
  return seconds(static_cast<double>(*value));
}

}  // namespace

std::string_view HttpAnswer::header(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const HttpHeader& h) { return h.name == name; });
  return found == headers.end() ? std::string_view() : std::string_view(found->value);
}

class HttpClient::State : public TransferWatch {
 public:
  explicit State(HttpSettings settings) : settings_(std::move(settings)) {}

  HttpAnswer ask(const HttpRequest& request) {
    const auto start = parse_address(request.url);
    if (!start) {
      refuse_net("input.bad_value", printable(request.url.substr(0, request.url.find_first_of("?@#"))),
                 "is no address of a server", "http://… or https://…");
    }
    if (!started_) started_ = Clock::now();
    Seconds waited;
    for (int attempt = 1;; ++attempt) {
      std::optional<Seconds> wait;
      HttpAnswer answer = follow(request, *start, attempt, wait);
      if (!is_busy(answer.status)) return answer;
      const Seconds pause = wait.value_or(kFirstWait * static_cast<double>(1 << std::min(attempt - 1, 10)));
      if (attempt >= settings_.tries || waited + pause > settings_.waiting) refuse_status(answer);
      waited = waited + pause;
      pause_for(pause, answer.shown);
    }
  }

  void received(std::uint64_t now, std::uint64_t total) override { tell({what_, now, total, std::nullopt}); }

 private:
  /// Each hop asked by itself: the token goes no further than the first origin, and never to http after https.
  HttpAnswer follow(const HttpRequest& request, const Address& start, int attempt, std::optional<Seconds>& wait) {
    std::string url = request.url;
    Address address = start;
    for (int hop = 0;; ++hop) {
      TransferAnswer got = transfer(request, url, address, address.same_origin(start), attempt);
      if (got.redirect.empty() || got.status == 304) {
        HttpAnswer answer;
        answer.status = got.status;
        answer.body = std::move(got.body);
        answer.headers = std::move(got.headers);
        answer.address = std::move(url);
        answer.shown = address.shown;
        wait = got.retry_after ? got.retry_after : rate_limit_reset(answer.header("ratelimit"));
        check_range(request, answer);
        return answer;
      }
      if (hop >= settings_.redirects) {
        refuse_net(
            "net.too_many_redirects", start.shown,
            fmt::format("is redirected more than {} times, at last by '{}'", settings_.redirects, address.shown));
      }
      const auto next = parse_address(got.redirect);
      if (!next) refuse_net("net.bad_answer", address.shown, "redirects to what is no http or https address");
      if (address.scheme == "https" && next->scheme == "http") {
        refuse_net("net.tls", address.shown, "redirects to '" + next->shown + "', which is not encrypted", "https");
      }
      url = std::move(got.redirect);
      address = *next;
    }
  }

  /// A connection that breaks off within an answer gets a second chance at once.
  TransferAnswer transfer(const HttpRequest& request, const std::string& url, const Address& address, bool with_token,
                          int attempt) {
    what_ = address.shown;
    try {
      return transfer_.run(request, url, address, with_token, settings_, *this);
    } catch (const InputError& error) {
      if (attempt >= settings_.tries || error.problems().front().id != "net.truncated") throw;
    }
    return transfer_.run(request, url, address, with_token, settings_, *this);
  }

  void pause_for(Seconds time, const std::string& shown) {
    if (settings_.progress && time >= settings_.progress_after) settings_.progress({shown, 0, 0, time});
    if (settings_.sleep) {
      settings_.sleep(time);
    } else {
      std::this_thread::sleep_for(std::chrono::duration<double>(time / seconds(1)));
    }
  }

  void tell(const HttpProgress& progress) {
    if (!settings_.progress || !started_ || since(*started_) < settings_.progress_after) return;
    if (told_ && since(*told_) < kTellEvery) return;
    told_ = Clock::now();
    settings_.progress(progress);
  }

  HttpSettings settings_;
  Transfer transfer_;
  std::string what_;
  std::optional<Clock::time_point> started_;
  std::optional<Clock::time_point> told_;
};

HttpClient::HttpClient(HttpSettings settings) : state_(std::make_unique<State>(std::move(settings))) {}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

HttpAnswer HttpClient::ask(const HttpRequest& request) { return state_->ask(request); }

HttpAnswer HttpClient::get(const HttpRequest& request) {
  HttpAnswer answer = ask(request);
  if (answer.status != 200 && answer.status != 206 && answer.status != 304) refuse_status(answer);
  return answer;
}

void refuse_status(const HttpAnswer& answer) {
  const std::string says = fmt::format("the server answers {}", answer.status);
  switch (answer.status) {
    case 401:
      refuse_net("net.unauthorized", answer.shown, says + ": it wants to know who asks", "an access token");
    case 403:
      refuse_net("net.forbidden", answer.shown, says + ": access is refused", "a token with access");
    case 404:
    case 410:
      refuse_net("net.not_found", answer.shown, says + ": there is nothing of that name");
    case 429:
      refuse_net("net.rate_limited", answer.shown, says + ": too many requests",
                 "a pause; or a token, which may ask more");
    default:
      break;
  }
  if (answer.status >= 500) {
    refuse_net("net.server_error", answer.shown, says + ": it has a fault of its own",
               "a server that works; try later");
  }
  refuse_net("net.bad_answer", answer.shown, says + ", which is no answer to this");
}

}  // namespace gpuplan
