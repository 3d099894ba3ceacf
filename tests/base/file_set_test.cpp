#include "catch.hpp"
#include "support.hpp"

#include <gpuplan/base/file_set.hpp>

#include <filesystem>

using namespace gpuplan;
using gpuplan::testing::Folder;
using gpuplan::testing::problems_of;

TEST_CASE("file set: a folder's files by name, two levels deep", "[base]") {
  const Folder folder;
  folder.write("b.txt", "two");
  std::filesystem::create_directories(folder.path("sub/deep"));
  folder.write("sub/a.txt", "one");
  folder.write("sub/deep/c.txt", "three");
  const auto files = open_folder(folder.path());
  CHECK(files->list() == std::vector<std::string>{"b.txt", "sub/a.txt"});
  CHECK(files->has("sub/a.txt"));
  CHECK_FALSE(files->has("c.txt"));
  CHECK(files->text("b.txt") == "two");
  const auto bytes = files->open("sub/a.txt");
  REQUIRE(bytes->size() == 3);
  char out[2] = {};
  bytes->read(1, out, 2);
  CHECK(std::string(out, 2) == "ne");
}

TEST_CASE("file set: names do not lead out", "[base]") {
  const Folder folder;
  const auto files = open_folder(folder.path());
  for (const char* name : {"../x", "/etc/passwd", "a/../../x", ""}) {
    CAPTURE(name);
    CHECK_FALSE(files->has(name));
    CHECK_FALSE(problems_of([&] { (void)files->text(name); }).empty());
    CHECK_FALSE(problems_of([&] { (void)files->open(name); }).empty());
  }
}

TEST_CASE("file set: what is no folder is said", "[base]") {
  const Folder folder;
  const std::string file = folder.write("f", "x");
  CHECK(problems_of([&] { (void)open_folder(folder.path("none")); }).front().id == "input.not_found");
  CHECK(problems_of([&] { (void)open_folder(file); }).front().id == "input.unreadable");
}
