#include "net/answer_cache.hpp"

#include "tests/catch.hpp"
#include "tests/support.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/resource.h>
#include <sys/stat.h>

using namespace gpuplan;
using gpuplan::testing::Folder;

namespace {

namespace fs = std::filesystem;

std::string only_file(const std::string& folder) {
  std::string found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    CHECK(found.empty());
    found = entry.path().string();
  }
  return found;
}

int mode_of(const std::string& path) {
  struct stat status = {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return static_cast<int>(status.st_mode & 0777);
}

}  // namespace

TEST_CASE("answer cache: an answer comes back whole, under its own key only", "[net]") {
  const Folder folder;
  const AnswerCache cache(folder.path("a/b"));
  const std::string body("bytes\0\n\xff with anything in them", 31);
  CHECK_FALSE(cache.find("models--org--name", "key"));
  REQUIRE(cache.store("models--org--name", "key", {"\"etag\"", 1000, body}));
  const auto found = cache.find("models--org--name", "key");
  REQUIRE(found);
  CHECK(found->etag == "\"etag\"");
  CHECK(found->total == 1000);
  CHECK(found->body == body);
  CHECK_FALSE(cache.find("models--org--name", "another key"));
  CHECK_FALSE(cache.find("models--org--other", "key"));
  REQUIRE(cache.store("models--org--name", "key", {"", 0, ""}));
  CHECK(cache.find("models--org--name", "key")->body.empty());
}

TEST_CASE("answer cache: files and folders are their owner's alone, and nothing is left beside them", "[net]") {
  const Folder folder;
  REQUIRE(AnswerCache(folder.path("kept/hub")).store("group", "key", {"", 4, "body"}));
  CHECK(mode_of(only_file(folder.path())) == 0600);
  CHECK(mode_of(folder.path("kept")) == 0700);
  CHECK(mode_of(folder.path("kept/hub/group")) == 0700);
}

TEST_CASE("answer cache: no key or group leads out of the folder", "[net]") {
  const Folder folder;
  const AnswerCache cache(folder.path("kept"));
  const std::string group = GENERATE("", "..", ".hidden", "a/b", "../x", "a\nb");
  CAPTURE(group);
  CHECK_FALSE(cache.store(group, "key", {"", 4, "body"}));
  CHECK_FALSE(cache.find(group, "key"));
  CHECK(cache.store("group", "../../key", {"", 4, "body"}));
  CHECK(cache.find("group", "../../key"));
  CHECK(fs::path(only_file(folder.path())).parent_path() == folder.path("kept/group"));
}

TEST_CASE("answer cache: what breaks the file's form is not kept", "[net]") {
  const Folder folder;
  const AnswerCache cache(folder.path());
  CHECK_FALSE(cache.store("group", "two\nlines", {"", 4, "body"}));
  CHECK_FALSE(cache.store("group", "key", {"two\nlines", 4, "body"}));
  CHECK_FALSE(cache.store("group", "key", {"", 3, "body"}));
}

TEST_CASE("answer cache: a damaged file counts as none and is replaced", "[net]") {
  const Folder folder;
  const AnswerCache cache(folder.path());
  REQUIRE(cache.store("group", "key", {"etag", 4, "body"}));
  const std::string file = only_file(folder.path());
  std::ifstream in(file, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t i = 0; i < good.size(); ++i) {
    CAPTURE(i);
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    std::ofstream(file, std::ios::binary) << damaged;
    // Neither the ETag nor the total is under the checksum: the one is asked for again, the other bounds the body.
    const auto found = cache.find("group", "key");
    if (found) CHECK(found->body == "body");
    std::ofstream(file, std::ios::binary) << good.substr(0, i);
    CHECK_FALSE(cache.find("group", "key"));
  }
  REQUIRE(cache.store("group", "key", {"etag", 4, "body"}));
  CHECK(cache.find("group", "key"));
}

TEST_CASE("answer cache: a folder that cannot be written is no cache, and no error", "[net]") {
  const Folder folder;
  folder.write("file", "");
  const AnswerCache below_a_file(folder.path("file/kept"));
  CHECK_FALSE(below_a_file.store("group", "key", {"", 4, "body"}));
  CHECK_FALSE(below_a_file.find("group", "key"));
  const AnswerCache none("");
  CHECK_FALSE(none.store("group", "key", {"", 4, "body"}));
  CHECK_FALSE(none.find("group", "key"));
  CHECK_FALSE(AnswerCache("/dev/full/x").store("group", "key", {"", 4, "body"}));
}

TEST_CASE("answer cache: a full disk is no error and leaves nothing half-written", "[net]") {
  const Folder folder;
  const AnswerCache cache(folder.path());
  REQUIRE(cache.store("group", "key", {"", 4, "body"}));
  std::signal(SIGXFSZ, SIG_IGN);  // as the program does
  rlimit before = {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small = {100, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const bool kept = cache.store("group", "key", {"", 1000, std::string(1000, 'x')});
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK_FALSE(kept);
  CHECK_FALSE(only_file(folder.path()).empty());  // the earlier answer, and no other file
  CHECK(cache.find("group", "key")->body == "body");
}
