#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/reader.hpp>

#include "documents.hpp"

namespace gpuplan {
namespace {

using namespace testing::base;

// YAML into a tree

TEST_CASE("yaml: a document becomes a tree with places", "[base]") {
  const Node root =
      parse_yaml("# job\nmodel: llama\ngpus:\n  - H100\n  - {name: 'A100', count: 2}\nempty:\n", "job.yaml");
  REQUIRE(root.kind == Node::Kind::mapping);
  CHECK(root.keys == std::vector<std::string>{"model", "gpus", "empty"});
  CHECK(at(root.place) == "2:1");
  CHECK(root.place.origin == "job.yaml");
  const Node* model = root.find("model");
  REQUIRE(model != nullptr);
  CHECK(model->scalar == "llama");
  CHECK_FALSE(model->quoted);
  CHECK(at(model->place) == "2:8");
  CHECK(at(root.key_places[1]) == "3:1");
  const Node* gpus = root.find("gpus");
  REQUIRE(gpus != nullptr);
  REQUIRE(gpus->kind == Node::Kind::sequence);
  REQUIRE(gpus->items.size() == 2);
  CHECK(at(gpus->items[0].place) == "4:5");
  const Node* name = gpus->items[1].find("name");
  REQUIRE(name != nullptr);
  CHECK(name->quoted);
  CHECK(name->scalar == "A100");
  CHECK(at(name->place) == "5:12");
  CHECK(root.find("empty")->kind == Node::Kind::null);
  CHECK(root.find("absent") == nullptr);
  CHECK(model->find("x") == nullptr);
}

TEST_CASE("yaml: null is ~, null and nothing, but not in quotes", "[base]") {
  const Node root = parse_yaml("a: ~\nb: null\nc:\nd: 'null'\ne: \"~\"\nf: ''\n", "x");
  for (const char* key : {"a", "b", "c"}) CHECK(root.find(key)->kind == Node::Kind::null);
  for (const char* key : {"d", "e", "f"}) {
    CHECK(root.find(key)->kind == Node::Kind::scalar);
    CHECK(root.find(key)->quoted);
  }
}

TEST_CASE("yaml: scalars keep their text", "[base]") {
  const Node root =
      parse_yaml("a: 010\nb: 1e3\nc: yes\nd: 0x10\ne: 1.50\nf: !!str 7\ng: |\n  one\n  two\nh: \"a\\u00e9\\n\"\n", "x");
  CHECK(root.find("a")->scalar == "010");
  CHECK(root.find("b")->scalar == "1e3");
  CHECK(root.find("c")->scalar == "yes");
  CHECK(root.find("d")->scalar == "0x10");
  CHECK(root.find("e")->scalar == "1.50");
  CHECK(root.find("f")->quoted);
  CHECK(root.find("g")->scalar == "one\ntwo\n");
  CHECK(root.find("h")->scalar == "aé\n");
}

TEST_CASE("yaml: line ends of Windows and a byte order mark are accepted", "[base]") {
  const Node root = parse_yaml(
      "\xEF\xBB\xBF"
      "a: 1\r\nb:\r\n  - x\r\n  - y z\r\n",
      "x");
  CHECK(root.find("a")->scalar == "1");
  CHECK(at(root.find("a")->place) == "1:4");
  CHECK(root.find("b")->items[1].scalar == "y z");
  CHECK(at(root.find("b")->items[1].place) == "4:5");
  CHECK(parse_yaml("a: 1\rb: 2\r", "x").find("b")->scalar == "2");
}

TEST_CASE("yaml: columns count characters, not bytes", "[base]") {
  const Node root = parse_yaml("{é: 模型, b: x}\n", "x");
  CHECK(at(root.find("é")->place) == "1:5");
  CHECK(at(root.find("b")->place) == "1:12");
}

TEST_CASE("yaml: an empty document is null", "[base]") {
  CHECK(parse_yaml("", "x").kind == Node::Kind::null);
  CHECK(parse_yaml("# only a comment\n", "x").kind == Node::Kind::null);
  CHECK(parse_yaml("---\n...\n", "x").kind == Node::Kind::null);
}

TEST_CASE("yaml: a syntax error has its place and its line", "[base]") {
  const Problem p = yaml_problem("a: 1\nb: [1, 2\nc: 3\n");
  CHECK(p.id == "input.syntax");
  CHECK(p.place->line >= 2);
  CHECK_FALSE(p.excerpt.empty());
  CHECK(has(p.message, "bad YAML: "));
}

TEST_CASE("yaml: what has no end is named, whether or not a line follows", "[base]") {
  for (const char* text : {"a: \"x\n", "a: 'x\n", "a: &b \"x\\\"\n", "{a: \"x}\n", "- 'it''s\n", "a: !!str \"x\n"}) {
    CAPTURE(text);
    CHECK(yaml_problem(text).message == "bad YAML: the string has no end");
  }
  CHECK(yaml_problem("{a: 1\n").message == "bad YAML: end of map flow not found");
  CHECK(yaml_problem("[1, 2").message == "bad YAML: end of sequence flow not found");
  CHECK(yaml_problem("{a: 1}: x\n").message == "bad YAML: a key that is not a word");
  CHECK(parse_yaml("a: 'it''s'\nb: \"\\\"\"\nc: ''\n", "x").find("b")->scalar == "\"");
}

TEST_CASE("yaml: tabs before a key are named", "[base]") {
  CHECK(yaml_problem("a:\n\tb: 1\n").expected == "spaces, not tabs, at the beginning of a line");
}

TEST_CASE("yaml: what it refuses as syntax", "[base]") {
  const auto text =
      GENERATE(as<std::string>(), "a: b: c\n", "\ta: 1\n", "a: \"x\n", "a: *nothing\n", "[1, 2]: x\n", "{a: 1}: x\n",
               ": x\n", "? [a]\n: b\n", "a: !color red\n", "a: !!int 3\n", "a: &x [*x]\n", "a: &x b\n*x : c\n",
               "&k a: b\n", "a: 1\n]\n", "a: \"\\ud800\"\n", "}", "%YAML 3.0\n---\na: 1\n", "a: 1\n b: 2\n");
  CHECK(yaml_problem(text).id == "input.syntax");
}

TEST_CASE("yaml: a merge key is a key like others", "[base]") {
  CHECK(parse_yaml("a: &x {b: 1}\nc:\n  <<: *x\n", "x").find("c")->keys == std::vector<std::string>{"<<"});
}

TEST_CASE("yaml: duplicate keys are all reported", "[base]") {
  const auto problems = problems_of([] { parse_yaml("a: 1\nb: 2\na: 3\nc: {d: 1, 'd': 2}\n", "job.yaml"); });
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].id == "input.duplicate_key");
  CHECK(problems[0].message == "duplicate key 'a'");
  CHECK(at(problems[0]) == "job.yaml:3:1");
  CHECK(problems[0].excerpt == "a: 3");
  CHECK(has(problems[0].expected, "line 1"));
  CHECK(at(problems[1]) == "job.yaml:4:11");
}

TEST_CASE("yaml: the same key in two mappings is no duplicate", "[base]") {
  CHECK(parse_yaml("- {a: 1}\n- {a: 2}\n", "x").items.size() == 2);
}

TEST_CASE("yaml: a second document is refused", "[base]") {
  const Problem p = yaml_problem("a: 1\n---\nb: 2\n");
  CHECK(p.id == "input.syntax");
  CHECK(p.message == "bad YAML: a second document");
  CHECK(at(p) == "job.yaml:2:1");
  CHECK(parse_yaml("---\na: 1\n...\n", "x").find("a")->scalar == "1");
}

TEST_CASE("yaml: aliases are copies", "[base]") {
  const Node root = parse_yaml("a: &x {b: [1, 2]}\nc: *x\nd: &y 5\ne: *y\n", "x");
  CHECK(root.find("c")->find("b")->items[1].scalar == "2");
  CHECK(root.find("e")->scalar == "5");
}

TEST_CASE("yaml: aliases that expand to a billion are refused at once", "[base]") {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + repeat(", " + before, 9) + "]\n";
  }
  CHECK(seconds_for([&] { CHECK(yaml_problem(text).id == "input.too_large"); }) < 1);
}

TEST_CASE("yaml: aliases that nest deeper and deeper are refused", "[base]") {
  std::string text = "a0: &a0 [x]\n";
  for (int i = 1; i < 200; ++i)
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  CHECK(yaml_problem(text).id == "input.too_deep");
}

TEST_CASE("yaml: the number of values is limited", "[base]") {
  CHECK(parse_yaml("[" + repeat("a, ", 10) + "]", "x", 11).items.size() == 10);
  CHECK(problem_of([] { parse_yaml("[" + repeat("a, ", 10) + "]", "x", 10); }).id == "input.too_large");
  CHECK(yaml_problem(repeat("- a\n", 100000)).id == "input.too_large");
}

TEST_CASE("yaml: long flow lists are refused before they are scanned", "[base][slow]") {
  const auto text = GENERATE(as<std::string>(), "[" + repeat("a,", 2000000), "[" + repeat("\"a\" ", 2000000),
                             "[" + repeat("*a ", 2000000), "{" + repeat("? ", 2000000), "[" + repeat(",", 2000000));
  CHECK(seconds_for([&] {
          const std::string id = yaml_problem(text).id;
          CHECK((id == "input.too_large" || id == "input.syntax"));
        }) < 5);
}

TEST_CASE("yaml: depth is limited whatever it is made of", "[base]") {
  CHECK(parse_yaml(repeat("[", 128) + repeat("]", 128), "x").kind == Node::Kind::sequence);
  CHECK(yaml_problem(repeat("[", 129) + repeat("]", 129)).id == "input.too_deep");
  CHECK(yaml_problem(repeat("[", 1000)).id == "input.too_deep");
  CHECK(yaml_problem(repeat("[", 2000000)).id == "input.too_deep");
  CHECK(yaml_problem(repeat("{a: ", 10000)).id == "input.too_deep");
  CHECK(yaml_problem(repeat("- ", 1000000) + "a").id == "input.too_deep");
  CHECK(yaml_problem(repeat("? ", 1000000) + "a").id != "");
  std::string steps;
  for (std::size_t i = 0; i < 300; ++i) steps += std::string(i, ' ') + "a:\n";
  CHECK(yaml_problem(steps).id == "input.too_deep");
}

TEST_CASE("yaml: bad UTF-8, NUL and control characters are refused", "[base]") {
  const Problem encoding = yaml_problem("a: 1\nb: \xff\n");
  CHECK(encoding.id == "input.encoding");
  CHECK(at(encoding) == "job.yaml:2:4");
  CHECK(yaml_problem("a: \xED\xA0\x80\n").id == "input.encoding");
  CHECK(yaml_problem("\xFF\xFE"
                     "a")
            .id == "input.encoding");
  CHECK(yaml_problem(std::string("a: \0b\n", 6)).id == "input.binary");
  CHECK(yaml_problem("a: \"x\\0\"\n").id == "input.binary");
  const Problem control = yaml_problem("a: 1\n\x04\nb: 2\n");  // yaml-cpp would stop here without a word
  CHECK(control.id == "input.syntax");
  CHECK(at(control) == "job.yaml:2:1");
}

// JSON into a tree

TEST_CASE("json: a document becomes a tree with places", "[base]") {
  const Node root =
      parse_json("{\"a\": [1, -2.50e3, true],\n \"b\" : {\"c\\\"]\": null, \"d\": \"é,x\"} }\n", "config.json");
  REQUIRE(root.kind == Node::Kind::mapping);
  CHECK(at(root.place) == "1:1");
  const Node* a = root.find("a");
  REQUIRE(a != nullptr);
  CHECK(at(a->place) == "1:7");
  CHECK(a->items[0].scalar == "1");
  CHECK_FALSE(a->items[0].quoted);
  CHECK(a->items[1].scalar == "-2.50e3");
  CHECK(at(a->items[1].place) == "1:11");
  CHECK(a->items[2].scalar == "true");
  CHECK(at(a->items[2].place) == "1:20");
  const Node* b = root.find("b");
  CHECK(at(root.key_places[1]) == "2:2");
  CHECK(b->find("c\"]")->kind == Node::Kind::null);
  CHECK(b->find("d")->quoted);
  CHECK(b->find("d")->scalar == "é,x");
  CHECK(at(b->find("d")->place) == "2:28");
}

TEST_CASE("json: escapes beyond the first plane are joined", "[base]") {
  CHECK(parse_json(R"(["\ud83d\ude00"])", "x").items[0].scalar == "😀");
  const Problem p = json_problem(R"(["\ud83d"])");
  CHECK(p.id == "input.syntax");
  CHECK(has(p.message, "surrogate"));
}

TEST_CASE("json: numbers keep their digits", "[base]") {
  const Node root = parse_json("[12345678901234567890123, 0.10, 1E5, -0]", "x");
  CHECK(root.items[0].scalar == "12345678901234567890123");
  CHECK(root.items[1].scalar == "0.10");
  CHECK(root.items[2].scalar == "1E5");
  CHECK(root.items[3].scalar == "-0");
  CHECK(parse_json("7", "x").scalar == "7");
}

TEST_CASE("json: what it refuses as syntax", "[base]") {
  const auto text = GENERATE(as<std::string>(), "{\"a\": 1,}", "[1 2]", "{a: 1}", "[1] [2]", "{} x", "[01]", "[0x1]",
                             "[+1]", "[.5]", "'a'", "[\"a\nb\"]", "[\"\\x\"]", "{\"a\"}", "[", "{\"a\": ", "\"abc",
                             "[tru]", "// c\n1", "[NaN]", "[Infinity]", "[-Infinity]", "]", "[1]]");
  const Problem p = json_problem(text);
  CHECK(p.id == "input.syntax");
  CHECK(has(p.message, "bad JSON: "));
  CHECK(p.place->line >= 1);
}

TEST_CASE("json: a syntax error has its place and its line", "[base]") {
  const Problem p = json_problem("{\n  \"a\": 1,\n  \"b\" 2\n}\n");
  CHECK(at(p) == "config.json:3:7");
  CHECK(p.excerpt == "  \"b\" 2");
  const Problem nan = json_problem("{\"a\": NaN}");
  CHECK(at(nan) == "config.json:1:7");
  CHECK(nan.message == "bad JSON: 'NaN' is not a number");
}

TEST_CASE("json: NaN and Infinity are words where a reader accepts them", "[base]") {
  const std::string text = R"({"NaN": [NaN, -Infinity], "a": "Infinity \" NaN", "b": {"c": Infinity}, "d": 7})";
  const Node root = parse_json(text, "x", kMaxDocumentNodes, NonFinite::accepted);
  CHECK(root.keys == std::vector<std::string>{"NaN", "a", "b", "d"});
  CHECK(root.items[0].items[0].scalar == "NaN");
  CHECK_FALSE(root.items[0].items[0].quoted);
  CHECK(root.items[0].items[1].scalar == "-Infinity");
  CHECK(root.items[1].scalar == "Infinity \" NaN");
  CHECK(root.items[2].items[0].scalar == "Infinity");
  CHECK(root.items[3].place.column == 78);
  CHECK(*root.source == text);
  CHECK(json_problem(text).id == "input.syntax");
  const Problem p = problem_of([] { parse_json("[NaNN]", "x", kMaxDocumentNodes, NonFinite::accepted); });
  CHECK(p.id == "input.syntax");
}

TEST_CASE("json: a number past all bounds is refused", "[base]") {
  const Problem p = json_problem("[1e999]");
  CHECK(p.id == "input.bad_value");
  CHECK(p.message == "number '1e999' is too large");
  CHECK(at(p) == "config.json:1:2");
}

TEST_CASE("json: duplicate keys, also when written differently", "[base]") {
  const Problem p = json_problem("{\"a\": 1,\n\"\\u0061\": 2}");
  CHECK(p.id == "input.duplicate_key");
  CHECK(at(p) == "config.json:2:1");
}

TEST_CASE("json: nothing at all is refused", "[base]") {
  CHECK(json_problem("").id == "input.empty");
  CHECK(json_problem(" \r\n\t").id == "input.empty");
  CHECK(json_problem("\xEF\xBB\xBF").id == "input.empty");
}

TEST_CASE("json: depth and number of values are limited", "[base]") {
  CHECK(parse_json(repeat("[", 128) + repeat("]", 128), "x").kind == Node::Kind::sequence);
  CHECK(json_problem(repeat("[", 129) + repeat("]", 129)).id == "input.too_deep");
  CHECK(json_problem(repeat("{\"a\":", 1000000)).id == "input.too_deep");
  CHECK(json_problem("[0" + repeat(",0", 100000) + "]").id == "input.too_large");
  CHECK(parse_json("[0" + repeat(",0", 100000) + "]", "x", 200000).items.size() == 100001);
}

TEST_CASE("json: bad UTF-8 and NUL are refused, a byte order mark is not", "[base]") {
  CHECK(json_problem("[\"\xC3(\"]").id == "input.encoding");
  CHECK(json_problem(std::string("[\0]", 3)).id == "input.binary");
  CHECK(json_problem("[\"\\u0000\"]").id == "input.binary");
  CHECK(json_problem("{\"\\u0000\": 1}").id == "input.binary");
  CHECK(parse_json("\xEF\xBB\xBF[1]\r\n", "x").items.size() == 1);
}

}  // namespace
}  // namespace gpuplan
