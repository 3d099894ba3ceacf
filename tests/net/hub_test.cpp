#include "server.hpp"

#include <gpuplan/net/hub.hpp>

#include "tests/catch.hpp"
#include "tests/support.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <sys/stat.h>

using namespace gpuplan;
using gpuplan::testing::Folder;
using gpuplan::testing::problems_of;
using gpuplan::testing::Server;

namespace {

namespace fs = std::filesystem;

constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";  // of tests/net/server.py
constexpr const char* kOther = "fedcba9876543210fedcba9876543210fedcba98";

std::string pattern(std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += static_cast<char>((i * 7 + (i >> 8)) & 255);
  return out;
}

/// Two repositories' files, and folders for caches.
struct World {
  Folder folder;
  std::vector<std::string> notices;
  std::vector<double> slept;

  World() {
    write("served/org/name/config.json", R"({"model_type": "x"})");
    write("served/org/name/sub/more.json", "{}");
    write("served/org/name/empty.safetensors", "");
    write("served/org/name/model.safetensors", pattern(3'000'000));
  }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(folder.path(name)).parent_path());
    folder.write(name, text);
  }
  [[nodiscard]] std::vector<std::string> arguments(bool cdn = false) const {
    std::vector<std::string> words = {"--folder", folder.path("served")};
    if (cdn) words.emplace_back("--cdn");
    return words;
  }
  HubSettings settings(const Server& server) {
    HubSettings settings;
    settings.endpoint = server.url();
    settings.token = "hf_secret";
    settings.hub_cache = folder.path("hf/hub");
    settings.answers = folder.path("answers");
    settings.notice = [this](const std::string& text) { notices.push_back(text); };
    settings.http.sleep = [this](Seconds time) { slept.push_back(time / seconds(1)); };
    return settings;
  }
  /// As the Hub's libraries leave a file: a link in the snapshot to a blob.
  void cache_locally(const std::string& commit, const std::string& file, const std::string& text) const {
    const std::string base = "hf/hub/models--org--name/";
    write(base + "blobs/blob-of-" + file, text);
    const fs::path link = folder.path(base + "snapshots/" + commit + "/" + file);
    fs::create_directories(link.parent_path());
    fs::create_symlink("../../blobs/blob-of-" + file, link);
    write(base + "refs/main", commit);
  }
};

Problem problem_of(const std::function<void()>& what) {
  const auto problems = problems_of(what);
  REQUIRE(problems.size() == 1);
  CHECK(format_problem(problems[0]).find("secret") == std::string::npos);
  return problems[0];
}

std::string read_some(ByteSource& source, std::uint64_t offset, std::size_t count) {
  std::string out(count, '\0');
  source.read(offset, out.data(), count);
  return out;
}

}  // namespace

TEST_CASE("hub: a repository's files are listed and its texts read", "[net]") {
  World world;
  const Server server(world.arguments());
  const auto files = open_hub_repository(world.settings(server), "org/name");
  CHECK(files->name() == "org/name");
  CHECK(files->origin("config.json") == "org/name/config.json");
  CHECK(files->list() ==
        std::vector<std::string>{"config.json", "empty.safetensors", "model.safetensors", "sub/more.json"});
  CHECK(files->has("sub/more.json"));
  CHECK_FALSE(files->has("other.json"));
  CHECK(files->text("config.json") == R"({"model_type": "x"})");
  CHECK(files->text("sub/more.json") == "{}");
  // One question for the list, one a text; all with the token, the texts by the commit.
  const auto log = server.log();
  REQUIRE(log.size() == 3);
  CHECK(log[0]["path"] == "/api/models/org/name/revision/main");
  CHECK(log[1]["path"] == std::string("/org/name/resolve/") + kCommit + "/config.json");
  for (const auto& entry : log) CHECK(entry["authorization"] == "Bearer hf_secret");
}

TEST_CASE("hub: nothing is asked before something is wanted", "[net]") {
  World world;
  const Server server(world.arguments());
  open_hub_repository(world.settings(server), "org/name");
  CHECK(server.log().empty());
}

TEST_CASE("hub: the header of a large file costs one request", "[net]") {
  World world;
  const Server server(world.arguments());
  const auto files = open_hub_repository(world.settings(server), "org/name");
  (void)files->list();
  server.clear_log();
  const auto source = files->open("model.safetensors");
  CHECK(source->size() == 3'000'000);
  CHECK(source->origin() == "org/name/model.safetensors");
  const std::string all = pattern(3'000'000);
  CHECK(read_some(*source, 0, 8) == all.substr(0, 8));
  CHECK(read_some(*source, 8, 500'000) == all.substr(8, 500'000));
  CHECK(server.log().size() == 1);
}

TEST_CASE("hub: bytes of a large file are right wherever they are read", "[net]") {
  World world;
  const Server server(world.arguments(true));
  const std::string all = pattern(3'000'000);
  const auto source = open_hub_repository(world.settings(server), "org/name")->open("model.safetensors");
  for (const auto& [offset, count] : std::vector<std::pair<std::size_t, std::size_t>>{{2'999'990, 10},
                                                                                      {0, 10},
                                                                                      {524'280, 20},
                                                                                      {600'000, 100'000},
                                                                                      {1'500'000, 1'500'000},
                                                                                      {0, 3'000'000},
                                                                                      {7, 0}}) {
    CAPTURE(offset, count);
    CHECK((read_some(*source, offset, count) == all.substr(offset, count)));
  }
}

TEST_CASE("hub: read-ahead grows, so that a long header costs few requests", "[net]") {
  World world;
  const Server server(world.arguments());
  const auto source = open_hub_repository(world.settings(server), "org/name")->open("model.safetensors");
  server.clear_log();
  for (std::size_t at = 0; at < 3'000'000; at += 60'000) read_some(*source, at, 60'000);
  CHECK(server.log().size() == 2);  // after 512 KiB: 1 MiB, then the rest, which is less than 2 MiB
}

TEST_CASE("hub: later ranges go straight to where the first one came from, without the token", "[net]") {
  World world;
  const Server server(world.arguments(true));
  const auto source = open_hub_repository(world.settings(server), "org/name")->open("model.safetensors");
  read_some(*source, 1'500'000, 10);
  const auto log = server.log();
  REQUIRE(log.size() == 4);  // the list, the Hub's redirection, two ranges
  CHECK(log[1]["cdn"] == false);
  CHECK(log[2]["cdn"] == true);
  CHECK(log[3]["cdn"] == true);
  CHECK(log[1].contains("authorization"));
  CHECK_FALSE(log[2].contains("authorization"));
  CHECK_FALSE(log[3].contains("authorization"));
}

TEST_CASE("hub: an address that has expired is asked for anew", "[net]") {
  World world;
  const Server server(world.arguments(true));
  const auto source = open_hub_repository(world.settings(server), "org/name")->open("model.safetensors");
  server.set("expire=1");
  CHECK((read_some(*source, 1'500'000, 10) == pattern(1'500'010).substr(1'500'000)));
  CHECK(server.log().size() == 6);  // the list, redirection, range; 403, redirection, range
}

TEST_CASE("hub: an empty file has size 0", "[net]") {
  World world;
  const Server server(world.arguments());
  const auto files = open_hub_repository(world.settings(server), "org/name");
  CHECK(files->open("empty.safetensors")->size() == 0);
}

TEST_CASE("hub: a second run asks for the list only, by its ETag", "[net]") {
  World world;
  const Server server(world.arguments());
  for (int run = 0; run < 2; ++run) {
    server.clear_log();
    const auto files = open_hub_repository(world.settings(server), "org/name");
    CHECK(files->text("config.json") == R"({"model_type": "x"})");
    const auto source = files->open("model.safetensors");
    CHECK((read_some(*source, 0, 100) == pattern(100)));
    CHECK(source->size() == 3'000'000);
  }
  const auto log = server.log();
  REQUIRE(log.size() == 1);
  CHECK(log[0].contains("if-none-match"));
}

TEST_CASE("hub: where the list names no commit, every kept answer is asked about", "[net]") {
  World world;
  const Server server(world.arguments());
  server.set("sha=");
  for (int run = 0; run < 2; ++run) {
    server.clear_log();
    const auto files = open_hub_repository(world.settings(server), "org/name");
    CHECK(files->text("config.json") == R"({"model_type": "x"})");
    CHECK((read_some(*files->open("model.safetensors"), 0, 100) == pattern(100)));
  }
  const auto log = server.log();
  REQUIRE(log.size() == 3);
  for (const auto& entry : log) CHECK(entry.contains("if-none-match"));
  world.write("served/org/name/config.json", R"({"model_type": "y"})");
  CHECK(open_hub_repository(world.settings(server), "org/name")->text("config.json") == R"({"model_type": "y"})");
}

TEST_CASE("hub: what was kept serves without a network, and says so once", "[net]") {
  World world;
  Server server(world.arguments());
  HubSettings settings = world.settings(server);
  const auto use = [&] {
    const auto files = open_hub_repository(settings, "org/name");
    CHECK(files->text("config.json") == R"({"model_type": "x"})");
    CHECK((read_some(*files->open("model.safetensors"), 0, 100) == pattern(100)));
    CHECK_FALSE(files->has("other.json"));
  };
  use();
  CHECK(world.notices.empty());
  SECTION("offline") {
    server.clear_log();
    settings.offline = true;
    use();
    CHECK(server.log().empty());
    CHECK(world.notices ==
          std::vector<std::string>{"the network is switched off: what was kept of 'org/name' is used"});
    const auto files = open_hub_repository(settings, "org/name");
    CHECK(problem_of([&] { (void)files->text("sub/more.json"); }).id == "net.offline");
    const auto source = files->open("model.safetensors");
    CHECK(problem_of([&] { read_some(*source, 2'000'000, 10); }).id == "net.offline");
  }
  SECTION("unreachable") {
    server.stop();
    use();
    CHECK(world.notices == std::vector<std::string>{"the Hub does not answer: what was kept of 'org/name' is used"});
    const auto files = open_hub_repository(settings, "org/name");
    CHECK(problem_of([&] { (void)files->text("sub/more.json"); }).id == "net.unreachable");
  }
  SECTION("a server that fails") {
    server.set("hub_status=503&retry_after=1");
    use();
    CHECK(world.notices.size() == 1);
    CHECK(world.slept == std::vector<double>{1, 1});
  }
}

TEST_CASE("hub: offline without anything kept is refused without a question", "[net]") {
  World world;
  const Server server(world.arguments());
  HubSettings settings = world.settings(server);
  settings.offline = true;
  const auto files = open_hub_repository(settings, "org/name");
  const Problem problem = problem_of([&] { (void)files->text("config.json"); });
  CHECK(problem.id == "net.offline");
  CHECK(problem.place->origin == "org/name");
  CHECK(problem_of([&] { (void)files->list(); }).id == "net.offline");
  CHECK(server.log().empty());
}

TEST_CASE("hub: a token, a signature or a password is never kept", "[net]") {
  World world;
  const Server server(world.arguments(true));
  HubSettings settings = world.settings(server);
  settings.endpoint.replace(0, 7, "http://user:secret@");
  const auto files = open_hub_repository(settings, "org/name");
  CHECK(files->text("config.json") == R"({"model_type": "x"})");
  read_some(*files->open("model.safetensors"), 0, 10);
  int kept = 0;
  for (const auto& entry : fs::recursive_directory_iterator(world.folder.path("answers"))) {
    if (!entry.is_regular_file()) continue;
    ++kept;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    CHECK(text.find("secret") == std::string::npos);
  }
  CHECK(kept == 3);
}

TEST_CASE("hub: kept answers that are damaged are asked for again", "[net]") {
  World world;
  const Server server(world.arguments());
  const auto use = [&] {
    const auto files = open_hub_repository(world.settings(server), "org/name");
    CHECK(files->text("config.json") == R"({"model_type": "x"})");
    CHECK((read_some(*files->open("model.safetensors"), 0, 100) == pattern(100)));
  };
  use();
  for (const auto& entry : fs::recursive_directory_iterator(world.folder.path("answers"))) {
    if (entry.is_regular_file()) std::ofstream(entry.path(), std::ios::binary) << "rubbish";
  }
  server.clear_log();
  use();
  CHECK(server.log().size() == 3);
}

TEST_CASE("hub: a folder for answers that cannot be written is no error", "[net]") {
  World world;
  const Server server(world.arguments());
  HubSettings settings = world.settings(server);
  settings.answers = world.folder.write("file", "") + "/answers";
  CHECK(open_hub_repository(settings, "org/name")->text("config.json") == R"({"model_type": "x"})");
}

TEST_CASE("hub: the snapshot of the Hub's libraries comes first and needs no network", "[net]") {
  World world;
  Server server(world.arguments());
  world.cache_locally(kOther, "config.json", R"({"local": true})");
  world.cache_locally(kOther, "model.safetensors", "local bytes");
  HubSettings settings = world.settings(server);
  settings.offline = true;
  const auto files = open_hub_repository(settings, "org/name");
  CHECK(files->text("config.json") == R"({"local": true})");
  CHECK(read_some(*files->open("model.safetensors"), 6, 5) == "bytes");
  CHECK(files->has("config.json"));
  CHECK_FALSE(files->has("other.json"));
  CHECK(files->list() == std::vector<std::string>{"config.json", "model.safetensors"});
  CHECK(files->origin("config.json").find(world.folder.path("hf/hub")) == 0);
  CHECK(files->name() == "org/name");
  CHECK(problem_of([&] { (void)files->text("sub/more.json"); }).id == "net.offline");
  CHECK(server.log().empty());

  // By its commit, too; another commit is not there.
  CHECK(open_hub_repository(settings, std::string("org/name@") + kOther)->has("config.json"));
  const auto elsewhere = open_hub_repository(settings, std::string("org/name@") + kCommit);
  CHECK(problem_of([&] { (void)elsewhere->has("config.json"); }).id == "net.offline");
}

TEST_CASE("hub: what a snapshot lacks is asked of the Hub at the snapshot's commit", "[net]") {
  World world;
  const Server server(world.arguments());
  world.cache_locally(kCommit, "config.json", R"({"local": true})");
  const auto files = open_hub_repository(world.settings(server), "org/name");
  CHECK(files->text("config.json") == R"({"local": true})");
  CHECK(server.log().empty());
  CHECK(files->text("sub/more.json") == "{}");
  CHECK(files->list().size() == 4);
  for (const auto& entry : server.log()) CHECK(entry["path"].get<std::string>().find(kCommit) != std::string::npos);
}

TEST_CASE("hub: files that the Hub's libraries know to be absent are not asked for", "[net]") {
  World world;
  const Server server(world.arguments());
  world.cache_locally(kCommit, "config.json", "{}");
  world.write(std::string("hf/hub/models--org--name/.no_exist/") + kCommit + "/quant_config.json", "");
  CHECK_FALSE(open_hub_repository(world.settings(server), "org/name")->has("quant_config.json"));
  CHECK(server.log().empty());
}

TEST_CASE("hub: a ref that leads out of the cache is not followed", "[net]") {
  World world;
  Server server(world.arguments());
  world.cache_locally(kCommit, "config.json", "{}");
  world.write("hf/hub/models--org--name/refs/main", GENERATE("../../../../served/org/name", "", "/etc", "main\n"));
  HubSettings settings = world.settings(server);
  settings.offline = true;
  const auto files = open_hub_repository(settings, "org/name");
  CHECK(problem_of([&] { (void)files->has("config.json"); }).id == "net.offline");
}

TEST_CASE("hub: names that lead out of a repository are refused", "[net]") {
  World world;
  const Server server(world.arguments());
  world.write("served/org/secret.json", "{}");
  const auto files = open_hub_repository(world.settings(server), "org/name");
  for (const char* name : {"../secret.json", "/etc/passwd", "a/../../x", "", ".", "a//b", "a\\b", "x\n"}) {
    CAPTURE(name);
    CHECK_FALSE(files->has(name));
    CHECK(problems_of([&] { (void)files->text(name); }).at(0).id == "input.bad_value");
    CHECK(problems_of([&] { (void)files->open(name); }).at(0).id == "input.bad_value");
  }
  CHECK(server.log().empty());
  server.set("listing={\"siblings\":[{\"rfilename\":\"../x\"},{\"rfilename\":\"config.json\"},{\"rfilename\":7}]}");
  CHECK(files->list() == std::vector<std::string>{"config.json"});
}

TEST_CASE("hub: a file that is not in the list is not found", "[net]") {
  World world;
  const Server server(world.arguments());
  const auto files = open_hub_repository(world.settings(server), "org/name");
  const Problem problem = problem_of([&] { (void)files->text("other.json"); });
  CHECK(problem.id == "input.not_found");
  CHECK(problem.place->origin == "org/name/other.json");
  CHECK(problem_of([&] { (void)files->open("other.json"); }).id == "input.not_found");
}

TEST_CASE("hub: a repository that is not there may be private, and the message says so", "[net]") {
  World world;
  const Server server(world.arguments());
  HubSettings settings = world.settings(server);
  const auto with_token = open_hub_repository(settings, "org/none");
  CHECK(problem_of([&] { (void)with_token->list(); }).message ==
        "the repository 'org/none' does not exist or is private, or the token is not valid");
  settings.token.clear();
  const auto files = open_hub_repository(settings, "org/none");
  const Problem problem = problem_of([&] { (void)files->has("config.json"); });
  CHECK(problem.id == "net.unauthorized");
  CHECK(problem.message == "the repository 'org/none' does not exist or is private");
  CHECK(problem.expected.find("HF_TOKEN") != std::string::npos);
  CHECK(problem.place->origin == server.url("/api/models/org/none/revision/main"));
}

TEST_CASE("hub: refusals say what to do", "[net]") {
  World world;
  const Server server(world.arguments());
  struct Row {
    const char* fault;
    const char* id;
    const char* says;
  };
  const auto row = GENERATE(values<Row>({
      {"hub_status=403&error_code=GatedRepo", "net.forbidden", "its licence accepted at"},
      {"hub_status=401&error_code=GatedRepo", "net.forbidden", "HF_TOKEN"},
      {"hub_status=403", "net.forbidden", "restricted by its owners"},
      {"hub_status=401", "net.unauthorized", "does not exist or is private"},
      {"hub_status=404&error_code=RevisionNotFound", "net.not_found", "no revision 'main'"},
      {"hub_status=404", "net.not_found", "no repository 'org/name'"},
      {"hub_status=500", "net.server_error", "500"},
      {"hub_status=429&retry_after=3600", "net.rate_limited", "429"},
      {"hub_status=418", "net.bad_answer", "418"},
  }));
  CAPTURE(row.fault);
  server.set(row.fault);
  const auto files = open_hub_repository(world.settings(server), "org/name");
  const Problem problem = problem_of([&] { (void)files->text("config.json"); });
  CHECK(problem.id == row.id);
  CHECK(format_problem(problem).find(row.says) != std::string::npos);
}

TEST_CASE("hub: the licence's page is named", "[net]") {
  World world;
  const Server server(world.arguments());
  server.set("hub_status=403&error_code=GatedRepo");
  const auto files = open_hub_repository(world.settings(server), "org/name");
  CHECK(problem_of([&] { (void)files->list(); }).expected.find(server.url("/org/name")) != std::string::npos);
}

TEST_CASE("hub: a revision that is not there is named", "[net]") {
  World world;
  const Server server(world.arguments());
  const auto files = open_hub_repository(world.settings(server), "org/name@v9");
  CHECK(files->name() == "org/name@v9");
  const Problem problem = problem_of([&] { (void)files->list(); });
  CHECK(problem.id == "net.not_found");
  CHECK(problem.message == "'org/name' has no revision 'v9'");
}

TEST_CASE("hub: a busy Hub is asked again", "[net]") {
  World world;
  const Server server(world.arguments());
  server.set("hub_status=429&retry_after=5&times=2");
  CHECK(open_hub_repository(world.settings(server), "org/name")->has("config.json"));
  CHECK(world.slept == std::vector<double>{5, 5});
}

TEST_CASE("hub: an answer that is no list is said to be none", "[net]") {
  World world;
  const Server server(world.arguments());
  server.set(std::string("listing=") + GENERATE("%3Chtml%3Elog%20in%3C/html%3E", "[]", "{}", "7", "{\"siblings\":{}}",
                                                "{\"siblings\":[", "%22a%22", ""));
  const auto files = open_hub_repository(world.settings(server), "org/name");
  CHECK(problem_of([&] { (void)files->list(); }).id == "net.bad_answer");
}

TEST_CASE("hub: a commit that is none is not taken for one", "[net]") {
  World world;
  const Server server(world.arguments());
  server.set("sha=../../../x");
  const auto files = open_hub_repository(world.settings(server), "org/name");
  CHECK(files->text("config.json") == R"({"model_type": "x"})");
  CHECK(server.log()[1]["path"] == "/org/name/resolve/main/config.json");
}

TEST_CASE("hub: texts are checked as files on disk are", "[net]") {
  World world;
  const Server server(world.arguments());
  world.write("served/org/name/nul.json", std::string("{\0}", 3));
  world.write("served/org/name/latin.json", "\"\xFC\"");
  world.write("served/org/name/empty.json", "");
  world.write("served/org/name/mark.json", "\xEF\xBB\xBF{}");
  const auto files = open_hub_repository(world.settings(server), "org/name");
  CHECK(problem_of([&] { (void)files->text("nul.json"); }).id == "input.binary");
  CHECK(problem_of([&] { (void)files->text("latin.json"); }).id == "input.encoding");
  CHECK(problem_of([&] { (void)files->text("empty.json"); }).id == "input.empty");
  CHECK(files->text("mark.json") == "{}");
  CHECK(problem_of([&] { (void)files->text("config.json", 10); }).id == "net.too_large");
}

TEST_CASE("hub: a file that changes its size while it is read is refused", "[net]") {
  World world;
  const Server server(world.arguments());
  const auto source = open_hub_repository(world.settings(server), "org/name")->open("model.safetensors");
  world.write("served/org/name/model.safetensors", pattern(2'000'000));
  CHECK(problem_of([&] { read_some(*source, 1'500'000, 10); }).id == "net.bad_answer");
  CHECK(problem_of([&] { read_some(*source, 2'500'000, 10); }).id == "net.bad_answer");
}
