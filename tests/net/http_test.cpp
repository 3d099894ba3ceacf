#include "server.hpp"

#include <gpuplan/net/http.hpp>

#include "tests/catch.hpp"
#include "tests/support.hpp"

#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace gpuplan;
using gpuplan::testing::problems_of;
using gpuplan::testing::Server;

namespace {

/// The one problem of a request, whose message and place must hold nothing that is nobody's business.
Problem problem_of(const HttpRequest& request, const HttpSettings& settings = {}) {
  const auto problems = problems_of([&] { HttpClient(settings).get(request); });
  REQUIRE(problems.size() == 1);
  const std::string text = format_problem(problems[0]);
  CHECK(text.find("secret") == std::string::npos);
  REQUIRE(problems[0].place);
  return problems[0];
}

/// A key and a certificate for 127.0.0.1, of this run's own: none is kept with the sources.
std::string certificate_in(const testing::Folder& folder) {
  const std::string pem = folder.path("key.pem");
  const std::string command =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 "
      "-addext subjectAltName=IP:127.0.0.1 -keyout '" +
      pem + "' -out '" + pem + ".crt' 2>/dev/null && cat '" + pem + ".crt' >> '" + pem + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  return pem;
}

HttpRequest range_of(const std::string& url, std::uint64_t first, std::uint64_t count, std::size_t limit = 1 << 20) {
  HttpRequest request;
  request.url = url;
  request.range = ByteRange{first, count};
  request.limit = limit;
  return request;
}

/// What tests/net/server.py calls the pattern.
std::string pattern(std::size_t first, std::size_t count) {
  std::string out;
  for (std::size_t i = first; i < first + count; ++i) out += static_cast<char>((i * 7 + (i >> 8)) & 255);
  return out;
}

/// Settings that do not sleep but remember for how long they should have.
HttpSettings without_sleep(std::vector<double>& slept) {
  HttpSettings settings;
  settings.sleep = [&slept](Seconds time) { slept.push_back(time / seconds(1)); };
  return settings;
}

}  // namespace

TEST_CASE("http: a text comes compressed and is given as it is", "[net]") {
  const Server server;
  const HttpAnswer answer = HttpClient().get({server.url("/do/text")});
  CHECK(answer.status == 200);
  CHECK(answer.body.size() == 700);
  CHECK(answer.header("content-encoding") == "gzip");
  CHECK(answer.header("content-type") == "text/plain");
  CHECK(answer.shown == server.url("/do/text"));
}

TEST_CASE("http: a known ETag gives 304 without a body", "[net]") {
  const Server server;
  HttpClient client;
  HttpRequest request;
  request.url = server.url("/do/text");
  request.known_etag = std::string(client.get(request).header("etag"));
  REQUIRE_FALSE(request.known_etag.empty());
  const HttpAnswer again = client.get(request);
  CHECK(again.status == 304);
  CHECK(again.body.empty());
}

TEST_CASE("http: a range is asked for uncompressed, and the whole size is told", "[net]") {
  const Server server;
  const HttpAnswer answer = HttpClient().get(range_of(server.url("/do/bytes/100000"), 1000, 500));
  CHECK(answer.status == 206);
  CHECK(answer.body == pattern(1000, 500));
  REQUIRE(answer.range);
  CHECK(answer.range->first == 1000);
  CHECK(answer.range->count == 500);
  CHECK(answer.total == 100000);
  CHECK(server.log()[0]["accept-encoding"] == "identity");
  CHECK(server.log()[0]["range"] == "bytes=1000-1499");
}

TEST_CASE("http: a range past the end gives what there is", "[net]") {
  const Server server;
  const HttpAnswer answer = HttpClient().get(range_of(server.url("/do/bytes/1000"), 900, 500));
  CHECK(answer.body == pattern(900, 100));
  CHECK(answer.total == 1000);
}

TEST_CASE("http: a range of an empty file is answered with 416 and the size", "[net]") {
  const Server server;
  const HttpAnswer answer = HttpClient().ask(range_of(server.url("/do/bytes/0"), 0, 500));
  CHECK(answer.status == 416);
  REQUIRE(answer.range);
  CHECK(answer.total == 0);
}

TEST_CASE("http: a server that ignores ranges gives the whole file when that is small enough", "[net]") {
  const Server server;
  const HttpAnswer answer = HttpClient().get(range_of(server.url("/do/whole/5000"), 1000, 500, 5000));
  CHECK(answer.status == 200);
  CHECK(answer.body == pattern(0, 5000));
  REQUIRE(answer.range);
  CHECK(answer.range->first == 0);
  CHECK(answer.total == 5000);
  const Problem problem = problem_of(range_of(server.url("/do/whole/5000"), 1000, 500, 4999));
  CHECK(problem.id == "net.too_large");
  CHECK(problem.expected.find("range") != std::string::npos);
}

TEST_CASE("http: an answer over the limit is refused, also when only unpacking makes it so", "[net]") {
  const Server server;
  const std::string path = GENERATE("/do/bytes/100001", "/do/bomb", "/do/content-length?value=100001");
  CAPTURE(path);
  HttpRequest request;
  request.url = server.url(path);
  request.limit = 100000;
  const Problem problem = problem_of(request);
  CHECK(problem.id == "net.too_large");
  CHECK(problem.message == "the answer is larger than 100000 bytes");
}

TEST_CASE("http: ranges that were not asked for are refused", "[net]") {
  const Server server;
  const std::string value = GENERATE(
      as<std::string>(), "bytes%200-8/100", "bytes%200-10/100", "bytes%201-10/100", "bytes%200-9/9", "bytes%20-9/100",
      "bytes%209-0/100", "bytes%200-9/*", "bytes%20*/100", "bytes%200-9/18446744073709551616",
      "bytes%200-9/9223372036854775808", "bytes%20%2B0-9/100", "bytes%200-9/-1", "items%200-9/100", "bytes", "");
  CAPTURE(value);
  const Problem problem = problem_of(range_of(server.url("/do/content-range?value=" + value), 0, 10));
  // The first one is a right header over a longer body.
  CHECK(problem.id == (value == "bytes%200-8/100" ? "net.truncated" : "net.bad_answer"));
}

TEST_CASE("http: 206 without its header, or without a question for it, is refused", "[net]") {
  const Server server;
  CHECK(problem_of(range_of(server.url("/do/content-range"), 0, 10)).id == "net.bad_answer");
  CHECK(problem_of({server.url("/do/content-range?value=bytes%200-9/10")}).id == "net.bad_answer");
  CHECK(problem_of({server.url("/do/status/304")}).id == "net.bad_answer");
}

TEST_CASE("http: an announced length that is no number does no harm", "[net]") {
  const Server server;
  for (const char* value : {"-5", "abc", "99999999999999999999999"}) {
    CAPTURE(value);
    std::size_t received = 0;
    const auto problems = problems_of([&] {
      received = HttpClient().get({server.url(std::string("/do/content-length?value=") + value)}).body.size();
    });
    CHECK(received <= 10);
    if (!problems.empty()) CHECK(problems[0].id == "net.bad_answer");
  }
}

TEST_CASE("http: what is no HTTP is said to be none", "[net]") {
  const Server server;
  const std::string path = GENERATE("/do/no-http", "/do/not-gzip", "/do/many-headers");
  CAPTURE(path);
  CHECK(problem_of({server.url(path)}).id == "net.bad_answer");
}

TEST_CASE("http: an answer that ends too early is asked for once more, then refused", "[net]") {
  const Server server;
  const std::string path = GENERATE("/do/truncated", "/do/truncated-chunks");
  CAPTURE(path);
  CHECK(problem_of({server.url(path)}).id == "net.truncated");
  CHECK(server.log().size() == 2);
  CHECK(HttpClient().get({server.url("/do/truncated?times=1")}).body == "at last");
}

TEST_CASE("http: a range shorter than its header says is truncated", "[net]") {
  const Server server;
  CHECK(problem_of(range_of(server.url("/do/short-range"), 0, 100)).id == "net.truncated");
}

TEST_CASE("http: redirections are followed", "[net]") {
  const Server server;
  const int status = GENERATE(301, 302, 303, 307, 308);
  CAPTURE(status);
  const std::string to = GENERATE("/do/text", "../do/text", "text");
  const HttpAnswer answer =
      HttpClient().get({server.url("/do/redirect?status=" + std::to_string(status) + "&to=" + to)});
  CHECK(answer.body.size() == 700);
  CHECK(answer.address == server.url("/do/text"));
}

TEST_CASE("http: the token stays with the scheme, host and port that were asked", "[net]") {
  const Server server;
  HttpRequest request;
  request.token = "hf_secret";
  request.url = server.url("/do/redirect?to=/do/echo");
  CHECK(HttpClient().get(request).body.find("Bearer hf_secret") != std::string::npos);

  request.url = server.url("/do/redirect?to=" + server.cdn_url("/do/echo"));
  CHECK(HttpClient().get(request).body.find("authorization") == std::string::npos);

  std::string other_name = server.url("/do/echo");
  other_name.replace(other_name.find("127.0.0.1"), 9, "localhost");
  request.url = server.url("/do/redirect?to=" + other_name);
  CHECK(HttpClient().get(request).body.find("authorization") == std::string::npos);

  // There and back again: the first host may have it.
  request.url = server.url("/do/redirect?to=" + server.cdn_url("/do/redirect?to=" + server.url("/do/echo")));
  CHECK(HttpClient().get(request).body.find("Bearer hf_secret") != std::string::npos);
}

TEST_CASE("http: the address after redirections is told without its signature", "[net]") {
  const Server server;
  const HttpAnswer answer = HttpClient().get({server.url("/do/redirect?to=/do/echo%3Fsignature=secret")});
  CHECK(answer.address == server.url("/do/echo?signature=secret"));
  CHECK(answer.shown == server.url("/do/echo"));
}

TEST_CASE("http: redirections end after five", "[net]") {
  const Server server;
  CHECK(problem_of({server.url("/do/loop")}).id == "net.too_many_redirects");
  CHECK(server.log().size() == 1 + 5);
  HttpSettings settings;
  settings.redirects = 0;
  CHECK(problem_of({server.url("/do/redirect?to=/do/text")}, settings).id == "net.too_many_redirects");
}

TEST_CASE("http: redirections to other protocols are refused", "[net]") {
  const Server server;
  const std::string to = GENERATE("file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/", "javascript:x");
  CAPTURE(to);
  CHECK(problem_of({server.url("/do/redirect?to=" + to)}).id == "net.bad_answer");
}

TEST_CASE("http: only http and https addresses are asked", "[net]") {
  const std::string url =
      GENERATE("file:///etc/passwd", "ftp://127.0.0.1/", "", "http://", "http://a b/", "//x", "x/y");
  CAPTURE(url);
  CHECK(problem_of({url}).id == "input.bad_value");
}

TEST_CASE("http: an answer's status says what is wrong", "[net]") {
  const Server server;
  const auto [status, id] = GENERATE(table<int, std::string>({
      {401, "net.unauthorized"},
      {403, "net.forbidden"},
      {404, "net.not_found"},
      {410, "net.not_found"},
      {418, "net.bad_answer"},
      {500, "net.server_error"},
  }));
  CAPTURE(status);
  HttpRequest request;
  request.url = server.url("/do/status/" + std::to_string(status) + "?key=secret");
  request.token = "hf_secret";
  const Problem problem = problem_of(request);
  CHECK(problem.id == id);
  CHECK(problem.message.find(std::to_string(status)) != std::string::npos);
  CHECK(problem.place->origin == server.url("/do/status/" + std::to_string(status)));
  CHECK(server.log().size() == 1);
}

TEST_CASE("http: a large text with an error is not read to its end", "[net]") {
  const Server server;
  CHECK(problem_of({server.url("/do/large-error")}).id == "net.not_found");
}

TEST_CASE("http: a busy server is asked again after the time that it names", "[net]") {
  const Server server;
  std::vector<double> slept;
  HttpClient client(without_sleep(slept));
  CHECK(client.get({server.url("/do/status/429?retry_after=7&times=2")}).body == "at last");
  CHECK(slept == std::vector<double>{7, 7});
  slept.clear();
  CHECK(client.get({server.url("/do/status/503?times=2")}).body == "at last");
  CHECK(slept == std::vector<double>{1, 2});  // where it names none
  slept.clear();
  CHECK(client.get({server.url("/do/status/429?times=1&rate_limit=%22api%22;r=0;t=11")}).body == "at last");
  CHECK(slept == std::vector<double>{11});
  slept.clear();
  CHECK(client.get({server.url("/do/status/429?times=1&retry_date=20")}).body == "at last");
  REQUIRE(slept.size() == 1);
  CHECK(slept[0] >= 15);
  CHECK(slept[0] <= 20);
}

TEST_CASE("http: a busy server is asked three times at most", "[net]") {
  const Server server;
  std::vector<double> slept;
  const auto [status, id] = GENERATE(
      table<int, std::string>({{429, "net.rate_limited"}, {503, "net.server_error"}, {502, "net.server_error"}}));
  CAPTURE(status);
  const std::string url = server.url("/do/status/" + std::to_string(status) + "?retry_after=0");
  CHECK(problem_of({url}, without_sleep(slept)).id == id);
  CHECK(server.log().size() == 3);
  CHECK(slept.size() == 2);
}

TEST_CASE("http: a server that asks for more than a minute is not waited for", "[net]") {
  const Server server;
  std::vector<double> slept;
  const auto retry_after = GENERATE(values<std::pair<const char*, std::size_t>>({{"61", 0}, {"31", 1}, {"604800", 0}}));
  CAPTURE(retry_after.first);
  const std::string url = server.url(std::string("/do/status/429?retry_after=") + retry_after.first);
  CHECK(problem_of({url}, without_sleep(slept)).id == "net.rate_limited");
  CHECK(slept.size() == retry_after.second);
}

TEST_CASE("http: a server that does not answer in time is given up", "[net]") {
  const Server server;
  const std::string path = GENERATE("/do/silent", "/do/stall");
  CAPTURE(path);
  HttpSettings settings;
  settings.total = milliseconds(150);
  const Problem problem = problem_of({server.url(path)}, settings);
  CHECK(problem.id == "net.timeout");
  CHECK(problem.message.find("127.0.0.1") != std::string::npos);
}

TEST_CASE("http: a server that stalls within an answer is given up", "[net][slow]") {
  const Server server;
  HttpSettings settings;
  settings.stall = seconds(1);
  CHECK(problem_of({server.url("/do/stall")}, settings).id == "net.timeout");
}

TEST_CASE("http: a refused connection, a host that is not there and an empty answer are unreachable", "[net]") {
  Server server;
  CHECK(problem_of({server.url("/do/nothing")}).id == "net.unreachable");
  const std::string url = server.url("/path?key=secret");
  server.stop();
  const Problem problem = problem_of({url});
  CHECK(problem.id == "net.unreachable");
  CHECK(problem.message.find("127.0.0.1") != std::string::npos);
  CHECK(problem.place->origin == url.substr(0, url.find('?')));
  CHECK(problem_of({"http://user:secret@127.0.0.1:1/x"}).id == "net.unreachable");
}

TEST_CASE("http: the proxy of the environment is asked", "[net]") {
  const Server server;
  ::setenv("http_proxy", server.url().c_str(), 1);
  const HttpAnswer answer = HttpClient().get({"http://host.invalid/do/echo"});
  ::unsetenv("http_proxy");
  CHECK(answer.status == 200);
  CHECK(server.log()[0]["path"] == "http://host.invalid/do/echo");
}

TEST_CASE("http: a token that would add headers is refused and not printed", "[net]") {
  const Server server;
  HttpRequest request;
  request.url = server.url("/do/echo");
  request.token = "hf_secret\r\nX-Injected: 1";
  CHECK(problem_of(request).id == "input.bad_value");
  CHECK(server.log().empty());
}

TEST_CASE("http: a slow operation tells how far it is, a fast one does not", "[net]") {
  const Server server;
  std::vector<HttpProgress> told;
  HttpSettings settings;
  settings.progress = [&](const HttpProgress& progress) { told.push_back(progress); };
  HttpClient(settings).get({server.url("/do/text")});
  CHECK(told.empty());
  settings.progress_after = milliseconds(50);
  HttpClient(settings).get({server.url("/do/slow?key=secret")});
  REQUIRE_FALSE(told.empty());
  CHECK(told[0].what == server.url("/do/slow"));
  CHECK(told[0].total == 60000);
  CHECK(told[0].received < 60000);
}

TEST_CASE("http: what a watcher throws comes out", "[net]") {
  const Server server;
  HttpSettings settings;
  settings.progress_after = seconds(0);
  settings.progress = [](const HttpProgress& /*progress*/) { throw std::runtime_error("stop"); };
  CHECK_THROWS_AS(HttpClient(settings).get({server.url("/do/slow")}), std::runtime_error);
}

TEST_CASE("http: a certificate is verified", "[net]") {
  const testing::Folder folder;
  const std::string pem = certificate_in(folder);
  const Server server({"--tls", pem});
  const auto https = [&](const std::string& path) { return "https" + server.url(path).substr(4); };
  const Problem problem = problem_of({https("/do/text")});
  CHECK(problem.id == "net.tls");
  HttpSettings settings;
  settings.certificates = pem;
  CHECK(HttpClient(settings).get({https("/do/text")}).body.size() == 700);
  settings.certificates = "/nonexistent.pem";
  CHECK(problem_of({https("/do/text")}, settings).id == "net.tls");

  // The certificate is for the address, not for the name.
  settings.certificates = pem;
  std::string other_name = https("/do/text");
  other_name.replace(other_name.find("127.0.0.1"), 9, "localhost");
  CHECK(problem_of({other_name}, settings).id == "net.tls");
}

TEST_CASE("http: https is not left for http", "[net]") {
  const testing::Folder folder;
  const std::string pem = certificate_in(folder);
  const Server server({"--tls", pem});
  HttpSettings settings;
  settings.certificates = pem;
  HttpRequest request;
  request.url = "https" + server.url("/do/redirect?to=").substr(4) + server.cdn_url("/do/echo");
  request.token = "hf_secret";
  CHECK(problem_of(request, settings).id == "net.tls");
}
