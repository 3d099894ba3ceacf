#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/reader.hpp>

#include "documents.hpp"

namespace gpuplan {
namespace {

using namespace testing::base;

// Files

TEST_CASE("file: text is read as it is, without a byte order mark", "[base]") {
  const testing::Folder folder;
  CHECK(read_text_file(folder.write("a", "x\r\ny")) == "x\r\ny");
  CHECK(read_text_file(folder.write("b",
                                    "\xEF\xBB\xBF"
                                    "x")) == "x");
}

TEST_CASE("file: what cannot be read is told apart", "[base]") {
  const testing::Folder folder;
  const auto id = [](const std::string& path) { return problem_of([&] { read_text_file(path); }).id; };
  CHECK(id(folder.path("absent")) == "input.not_found");
  CHECK(id(folder.write("file", "x") + "/below") == "input.not_found");
  CHECK(id("") == "input.not_found");
  CHECK(id(folder.path(".")) == "input.unreadable");
  CHECK(id(folder.write("empty", "")) == "input.empty");
  CHECK(id(folder.write("mark", "\xEF\xBB\xBF")) == "input.empty");
  CHECK(id(folder.write("nul", std::string("a\0b", 3))) == "input.binary");
  CHECK(id(folder.write("latin", "caf\xE9\n")) == "input.encoding");
  CHECK(id(folder.write("utf16", std::string("\xFF\xFE"
                                             "a\0",
                                             4))) == "input.encoding");
  CHECK(id("/dev/zero") == "input.binary");
  const Problem absent = problem_of([&] { read_text_file(folder.path("absent")); });
  CHECK(absent.place->origin == folder.path("absent"));
  CHECK(absent.place->line == 0);
}

TEST_CASE("file: without permission it is unreadable", "[base]") {
  if (::geteuid() == 0) return;  // root reads everything
  const testing::Folder folder;
  const std::string path = folder.write("secret", "x");
  ::chmod(path.c_str(), 0);
  CHECK(problem_of([&] { read_text_file(path); }).id == "input.unreadable");
}

TEST_CASE("file: what is too large is refused by its size, before it is read", "[base]") {
  const testing::Folder folder;
  const std::string path = folder.write("huge", "a");
  std::filesystem::resize_file(path, std::uintmax_t{1} << 30);
  CHECK(seconds_for([&] {
          const Problem p = problem_of([&] { read_text_file(path); });
          CHECK(p.id == "input.too_large");
          CHECK(p.message == "the file is larger than 64 MiB");
        }) < 0.2);
  CHECK(problem_of([&] { read_text_file(folder.write("b", "12345"), 4); }).id == "input.too_large");
  CHECK(read_text_file(folder.write("c", "1234"), 4) == "1234");
}

TEST_CASE("file: a pipe is read to its end, or to the limit", "[base]") {
  const testing::Folder folder;
  const std::string path = folder.path("pipe");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  std::thread writer([&] { std::ofstream(path) << "a: 1\n"; });
  CHECK(read_document(path).find("a")->scalar == "1");
  writer.join();
  std::thread second([&] { std::ofstream(path) << repeat("a", 1000); });
  CHECK(problem_of([&] { read_text_file(path, 100); }).id == "input.too_large");
  second.join();
}

TEST_CASE("file: standard input is called <stdin>", "[base]") {
  const testing::Folder folder;
  const std::string path = folder.write("in", "[1, 2");
  const int saved = ::dup(STDIN_FILENO);
  REQUIRE(std::freopen(path.c_str(), "r", stdin) != nullptr);
  const Problem p = problem_of([] { read_document("-"); });
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  CHECK(p.place->origin == "<stdin>");
  CHECK(p.message.starts_with("bad JSON: "));
}

TEST_CASE("file: JSON is told from YAML by content and name", "[base]") {
  const testing::Folder folder;
  CHECK(read_document(folder.write("a", " \n{\"a\": 1}")).find("a")->scalar == "1");
  CHECK(problem_of([&] { read_document(folder.write("b", "{a: 1}")); }).message.starts_with("bad JSON: "));
  CHECK(read_document(folder.write("c.yaml", "{a: 1}")).find("a")->scalar == "1");
  CHECK(read_document(folder.write("d.yml", "[a]")).items.size() == 1);
  CHECK(read_document(folder.write("e.json", "a: 1")).find("a")->scalar == "1");
}

// The cursor

/// Runs `read` over a document and gives the problems.
std::vector<Problem> read(const std::string& text, const std::function<void(Reader&)>& read_it) {
  const Node root = parse_yaml(text, "job.yaml");
  Reader in(root, "job.yaml");
  read_it(in);
  return problems_of([&] { in.finish(); });
}

TEST_CASE("reader: values, defaults and lists", "[base]") {
  const auto problems = read("model: llama\nbatch: 8\ntp: [1, 2, 4]\npp: 2\nempty:\n", [](Reader& in) {
    CHECK(in.required("model", parse_text) == "llama");
    CHECK(in.optional("batch", parse_count) == 8);
    CHECK(in.optional("context", parse_count).value_or(4096) == 4096);
    CHECK_FALSE(in.optional("empty", parse_count).has_value());
    CHECK(in.list("tp", parse_count) == std::vector<std::int64_t>{1, 2, 4});
    CHECK(in.list("pp", parse_count) == std::vector<std::int64_t>{2});
    CHECK(in.list("dp", parse_count).empty());
    CHECK(in.has("tp"));
    CHECK_FALSE(in.has("dp"));
    CHECK(at(in.place_of("batch")) == "2:8");
    CHECK(at(in.place_of("dp")) == "1:1");
    in.done();
  });
  CHECK(problems.empty());
}

TEST_CASE("reader: an unknown key names the nearest known one", "[base]") {
  const auto problems = read("contxt: 1\n", [](Reader& in) {
    in.optional("model", parse_text);
    in.optional("context", parse_count);
    in.done();
  });
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == "input.unknown_key");
  CHECK(problems[0].message == "unknown key 'contxt'");
  CHECK(problems[0].nearest == "context");
  CHECK(problems[0].expected == "model, context");
  CHECK(problems[0].excerpt == "contxt: 1");
  CHECK(at(problems[0]) == "job.yaml:1:1");
}

TEST_CASE("reader: a merge key is unknown", "[base]") {
  const auto problems = read("a: &x {b: 1}\n<<: *x\n", [](Reader& in) {
    in.ignore("a");
    in.done();
  });
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].message == "unknown key '<<'");
}

TEST_CASE("reader: all problems of a document are told at once", "[base]") {
  const auto problems = read("batch: 0x10\ncontext: 010\nname: [a]\nempty:\nother: 1\n", [](Reader& in) {
    CHECK(in.required("model", parse_text).empty());
    CHECK_FALSE(in.optional("batch", parse_count).has_value());
    CHECK(in.required("context", parse_count) == 0);
    CHECK(in.required("name", parse_text).empty());
    CHECK(in.required("empty", parse_text).empty());
    in.done();
  });
  REQUIRE(problems.size() == 6);
  CHECK(problems[0].id == "input.missing_key");
  CHECK(problems[0].message == "missing key 'model'");
  CHECK(at(problems[0]) == "job.yaml:1:1");
  CHECK(problems[1].id == "input.bad_value");
  CHECK(problems[1].message == "bad number '0x10'");
  CHECK(at(problems[1]) == "job.yaml:1:8");
  CHECK(problems[1].excerpt == "batch: 0x10");
  CHECK(problems[2].message == "bad number '010'");
  CHECK(problems[3].id == "input.bad_type");
  CHECK(problems[3].message == "'name' is a list");
  CHECK(problems[4].id == "input.missing_value");
  CHECK(problems[4].message == "'empty' has no value");
  CHECK(problems[5].id == "input.unknown_key");
}

TEST_CASE("reader: a quoted number is a number to who asks for one", "[base]") {
  CHECK(read("a: '12'\n", [](Reader& in) { CHECK(in.required("a", parse_count) == 12); }).empty());
  CHECK(read("a: '010'\n", [](Reader& in) { in.required("a", parse_count); }).size() == 1);
  CHECK(read("a: ''\n", [](Reader& in) { in.optional("a", parse_text); }).size() == 1);
}

TEST_CASE("reader: each bad entry of a list is a problem of its own", "[base]") {
  const auto problems = read("tp: [1, x, {a: 1}, ~, 4]\nmap: {a: 1}\n", [](Reader& in) {
    CHECK(in.list("tp", parse_count) == std::vector<std::int64_t>{1, 4});
    CHECK(in.list("map", parse_count).empty());
  });
  REQUIRE(problems.size() == 4);
  CHECK(problems[0].id == "input.bad_value");
  CHECK(problems[1].id == "input.bad_type");
  CHECK(problems[2].id == "input.missing_value");
  CHECK(problems[3].message == "'map' is a mapping");
}

TEST_CASE("reader: readers of parts share the problems and keep the line", "[base]") {
  const auto problems =
      read("pools:\n  - gpu: a\n    cuont: 1\n  - gpu: b\n  - 7\nlimits: {cost: x}\nplain: 1\nlist: {a: 1}\n",
           [](Reader& in) {
             std::vector<Reader> pools = in.each("pools");
             REQUIRE(pools.size() == 2);
             const std::vector<Reader> copies = pools;
             for (Reader& pool : pools) {
               pool.required("gpu", parse_text);
               pool.optional("count", parse_count);
               pool.done();
             }
             std::optional<Reader> limits = in.child("limits");
             REQUIRE(limits.has_value());
             limits->optional("cost", parse_positive);
             limits->done();
             CHECK_FALSE(in.child("plain").has_value());
             CHECK(in.each("list").empty());
             CHECK(in.each("absent").empty());
             CHECK_FALSE(in.child("absent").has_value());
             in.done();
             CHECK(copies[1].problems().size() == 5);
           });
  REQUIRE(problems.size() == 5);
  CHECK(problems[0].message == "an entry of 'pools' is a single value");
  CHECK(at(problems[0]) == "job.yaml:5:5");
  CHECK(problems[1].message == "unknown key 'cuont'");
  CHECK(problems[1].nearest == "count");
  CHECK(problems[1].excerpt == "    cuont: 1");
  CHECK(problems[2].message == "bad number 'x'");
  CHECK(at(problems[2]) == "job.yaml:6:16");
  CHECK(problems[3].message == "'plain' is a single value");
  CHECK(problems[4].message == "'list' is a mapping");
}

TEST_CASE("reader: a root that is not a mapping is one problem", "[base]") {
  struct Row {
    const char* text;
    const char* id;
  };
  const auto row =
      GENERATE(values<Row>({{"- a\n", "input.bad_type"}, {"a\n", "input.bad_type"}, {"# nothing\n", "input.empty"}}));
  const auto problems = read(row.text, [](Reader& in) {
    in.required("model", parse_text);
    in.list("tp", parse_count);
    in.done();
  });
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == row.id);
  CHECK(problems[0].place->origin == "job.yaml");
}

TEST_CASE("reader: a problem of the caller gets a place and a line", "[base]") {
  const auto problems = read("a: 1\nb: 2\n", [](Reader& in) {
    Problem p;
    p.id = "job.conflict";
    p.message = "a and b exclude each other";
    in.problem(p);
    p.place = in.place_of("b");
    in.problem(p);
    p.place = Place{"--b", 0, 0};
    in.problem(p);
  });
  REQUIRE(problems.size() == 3);
  CHECK(at(problems[0]) == "job.yaml:1:1");
  CHECK(problems[1].excerpt == "b: 2");
  CHECK(problems[2].excerpt.empty());
}

TEST_CASE("reader: without problems finish does not throw", "[base]") {
  CHECK(read("a: 1\n", [](Reader& in) { in.ignore("a"), in.done(); }).empty());
}

TEST_CASE("reader: a hundred thousand unknown keys take no time", "[base][slow]") {
  std::string text;
  for (int i = 0; i < 99000; ++i) text += "key_" + std::to_string(i) + ": 1\n";
  CHECK(seconds_for([&] {
          CHECK(read(text, [](Reader& in) {
                  in.optional("context", parse_count);
                  in.done();
                }).size() == 99000);
        }) < 5);
}

}  // namespace
}  // namespace gpuplan
