#include "url.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/net/hub.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::size_t kMaxToken = 4096;

bool is_true(const std::string& value) {
  constexpr std::array words = {"1", "on", "yes", "true"};
  return std::find(words.begin(), words.end(), to_lower(trim(value))) != words.end();
}

/// As a shell would read a path that begins with `~`.
std::string expanded(const std::string& path, const std::string& home) {
  const bool of_home = path == "~" || path.starts_with("~/");
  return of_home && !home.empty() ? home + path.substr(1) : path;
}

/// `base/name`, or empty without a base.
std::string below(const std::string& base, const std::string& name) { return base.empty() ? base : base + "/" + name; }

/// The one line of a token file, or empty.
std::string token_in(const std::string& path) {
  if (path.empty()) return {};
  try {
    return std::string(trim(read_text_file(path, kMaxToken)));
  } catch (const InputError&) {
    return {};  // nobody logged in
  }
}

std::string endpoint_from(const std::string& typed) {
  std::string endpoint(trim(typed));
  if (endpoint.empty()) return kPublicHub;
  while (endpoint.ends_with('/')) endpoint.pop_back();
  if (endpoint.find_first_of("?#") == std::string::npos && parse_address(endpoint)) return endpoint;
  Problem problem;
  problem.id = "input.bad_value";
  problem.message = "is no address of a Hub";  // not quoted: it may hold a password
  problem.place = Place{"HF_ENDPOINT", 0, 0};
  problem.expected = "https://host, or unset";
  throw InputError(std::move(problem));
}

}  // namespace

HubSettings hub_settings_from(const Variables& variable) {
  const std::string home = variable("HOME");
  const auto path = [&](const std::string& name) { return expanded(variable(name), home); };
  const auto or_else = [](const std::string& first, const std::string& second) {
    return first.empty() ? second : first;
  };
  const std::string caches = or_else(path("XDG_CACHE_HOME"), below(home, ".cache"));
  const std::string hub_home = or_else(path("HF_HOME"), below(caches, "huggingface"));

  HubSettings settings;
  settings.endpoint = endpoint_from(variable("HF_ENDPOINT"));
  settings.hub_cache = or_else(path("HF_HUB_CACHE"), below(hub_home, "hub"));
  settings.answers = below(caches, "gpuplan/hub");
  settings.offline = is_true(variable("HF_HUB_OFFLINE"));
  settings.token = trim(variable("HF_TOKEN"));
  if (settings.token.empty() && !is_true(variable("HF_HUB_DISABLE_IMPLICIT_TOKEN"))) {
    settings.token = token_in(or_else(path("HF_TOKEN_PATH"), below(hub_home, "token")));
  }
  settings.http.certificates = or_else(path("CURL_CA_BUNDLE"), path("SSL_CERT_FILE"));
  return settings;
}

}  // namespace gpuplan
