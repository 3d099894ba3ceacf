#include <gpuplan/net/hub.hpp>

#include "tests/catch.hpp"
#include "tests/support.hpp"

#include <filesystem>
#include <map>
#include <string>

using namespace gpuplan;
using gpuplan::testing::Folder;
using gpuplan::testing::problems_of;

namespace {

HubSettings settings_of(const std::map<std::string, std::string>& variables) {
  return hub_settings_from([&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  });
}

}  // namespace

TEST_CASE("hub settings: without variables there are the public Hub and no folders", "[net]") {
  const HubSettings settings = settings_of({});
  CHECK(settings.endpoint == kPublicHub);
  CHECK(settings.token.empty());
  CHECK(settings.hub_cache.empty());
  CHECK(settings.answers.empty());
  CHECK_FALSE(settings.offline);
}

TEST_CASE("hub settings: folders are those of the Hub's libraries", "[net]") {
  const auto hub_cache = [](const std::map<std::string, std::string>& variables) {
    return settings_of(variables).hub_cache;
  };
  CHECK(hub_cache({{"HOME", "/h"}}) == "/h/.cache/huggingface/hub");
  CHECK(hub_cache({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}}) == "/x/huggingface/hub");
  CHECK(hub_cache({{"HOME", "/h"}, {"HF_HOME", "/f"}}) == "/f/hub");
  CHECK(hub_cache({{"HOME", "/h"}, {"HF_HOME", "~/f"}}) == "/h/f/hub");
  CHECK(hub_cache({{"HOME", "/h"}, {"HF_HOME", "/f"}, {"HF_HUB_CACHE", "/c"}}) == "/c");
  CHECK(settings_of({{"HOME", "/h"}}).answers == "/h/.cache/gpuplan/hub");
  CHECK(settings_of({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}}).answers == "/x/gpuplan/hub");
}

TEST_CASE("hub settings: the token is HF_TOKEN, else the one in the file of the login", "[net]") {
  const Folder folder;
  folder.write("token", "hf_file\n");
  folder.write("other", "  hf_other");
  CHECK(settings_of({{"HF_HOME", folder.path()}}).token == "hf_file");
  CHECK(settings_of({{"HF_HOME", folder.path()}, {"HF_TOKEN", " hf_variable\n"}}).token == "hf_variable");
  CHECK(settings_of({{"HF_HOME", folder.path()}, {"HF_TOKEN_PATH", folder.path("other")}}).token == "hf_other");
  CHECK(settings_of({{"HF_HOME", folder.path()}, {"HF_HUB_DISABLE_IMPLICIT_TOKEN", "1"}}).token.empty());
  CHECK(settings_of({{"HF_HOME", folder.path("none")}}).token.empty());
}

TEST_CASE("hub settings: offline is what the Hub's libraries take for it", "[net]") {
  const auto offline = [](const char* value) { return settings_of({{"HF_HUB_OFFLINE", value}}).offline; };
  CHECK(offline("1"));
  CHECK(offline("True"));
  CHECK(offline("YES"));
  CHECK(offline("on"));
  CHECK_FALSE(offline("0"));
  CHECK_FALSE(offline(""));
  CHECK_FALSE(offline("false"));
}

TEST_CASE("hub settings: an endpoint is an address without a slash at its end", "[net]") {
  CHECK(settings_of({{"HF_ENDPOINT", "http://127.0.0.1:8080/"}}).endpoint == "http://127.0.0.1:8080");
  CHECK(settings_of({{"HF_ENDPOINT", "https://mirror.example/hub//"}}).endpoint == "https://mirror.example/hub");
  const std::string bad =
      GENERATE("mirror.example/x y", "file:///etc", "https://", "https://x/?secret=1", "https://x/#a");
  CAPTURE(bad);
  const auto problems = problems_of([&] { settings_of({{"HF_ENDPOINT", bad}}); });
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == "input.bad_value");
  CHECK(format_problem(problems[0]).find("secret") == std::string::npos);
}

TEST_CASE("hub settings: authorities come from the variables that curl knows", "[net]") {
  CHECK(settings_of({{"SSL_CERT_FILE", "/a"}}).http.certificates == "/a");
  CHECK(settings_of({{"SSL_CERT_FILE", "/a"}, {"CURL_CA_BUNDLE", "/b"}}).http.certificates == "/b");
}

TEST_CASE("hub: names of repositories are told from other words", "[net]") {
  for (const char* name : {"org/name", "a/b", "meta/Model-3.1_8B.v2", "org/name@main", "org/name@refs/pr/1",
                           "org/name@v1.0", "org/name@0123456789abcdef0123456789abcdef01234567", "_o/n_"}) {
    CAPTURE(name);
    CHECK(looks_like_repository(name));
  }
  for (const char* name : {"",
                           "/",
                           "name",
                           "org/",
                           "/name",
                           "org/name/more",
                           "../name",
                           "org/..",
                           "./name",
                           "org/.name",
                           "org/name.",
                           "-org/name",
                           "org/a..b",
                           "org/a--b",
                           "org/name.git",
                           "org/na me",
                           "org/name@",
                           "org/name@..",
                           "org/name@a/../b",
                           "org/name@/etc",
                           "org/name@a@b",
                           "org/name@a?b",
                           "org/\xC3\xBC",
                           "org/name\n",
                           "https://host/org",
                           "~/x",
                           "o%2f/n",
                           "org\\name",
                           "org/name@a\\b"}) {
    CAPTURE(name);
    CHECK_FALSE(looks_like_repository(name));
    const auto problems = problems_of([&] { open_hub_repository({}, name); });
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].id == "input.bad_value");
  }
  CHECK_FALSE(looks_like_repository("org/" + std::string(97, 'x')));
}
