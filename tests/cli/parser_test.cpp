#include "cli/parser.hpp"

#include "catalogues.hpp"
#include "catch.hpp"
#include "cli/resolve.hpp"

namespace gpuplan::cli {
namespace {

Options parsed(std::vector<std::string> arguments) { return parse_arguments(arguments).options; }

std::vector<Problem> refused(const std::vector<std::string>& arguments) {
  return testing::problems_of([&] { (void)parse_arguments(arguments); });
}

const std::string kJob =
    "model: llama-8b\ncontext: 8k\ngpu: [A100, L4]\nkv_dtype: fp8\nexplain: true\nassert:\n  - best.rank == 1\n  - "
    "options.size > 2\n";

}  // namespace

TEST_CASE("command line: values are read with their units, and what is said is told from defaults", "[cli]") {
  const Options options = parsed({"estimate", "--model", "x", "--context", "8k", "--input=2k", "--top", "0"});
  CHECK(options.job.context.value == 8000);
  CHECK_FALSE(options.job.context.is_default);
  CHECK(options.job.input.value == 2000);
  CHECK(options.job.output.is_default);
  CHECK(options.top == 0);
}

TEST_CASE("command line: lists are given by commas or by repeating", "[cli]") {
  CHECK(parsed({"estimate", "--provider", "a, b", "--provider", "c"}).providers ==
        std::vector<std::string>{"a", "b", "c"});
  CHECK(parsed({"estimate", "--contract", "spot,reserved"}).contracts ==
        std::vector<Contract>{Contract::spot, Contract::reserved});
  CHECK(parsed({"estimate", "--assert", "1<2", "--assert", "2<3"}).assertions.size() == 2);
}

TEST_CASE("command line: names of accelerators may hold commas, so the catalogue takes the text apart", "[cli]") {
  const Options options = parsed({"estimate", "--gpu", "A100,L4", "--gpu", "H100"});
  CHECK(options.gpus == std::vector<std::string>{"A100,L4", "H100"});
  Options asked;
  asked.gpus = {"L4,L40S"};
  std::vector<std::string> notices;
  const ListFilter filter = resolve_filter(testing::built_in(), asked, Environment{}, Prices::unused, notices);
  REQUIRE(filter.accelerators.size() == 2);
  CHECK(filter.accelerators[0] == &testing::gpu("L4"));
  CHECK(filter.accelerators[1] == &testing::gpu("L40S"));
}

TEST_CASE("command line: a filter of nothing is refused, for it would be none", "[cli]") {
  const std::string flag = GENERATE("--gpu", "--provider", "--contract");
  const std::string text = GENERATE("", ",", "  ,", " ");
  CAPTURE(flag, text);
  const auto problems = refused({"estimate", flag, text});
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == "input.bad_value");
  CHECK(problems[0].place->origin == flag);
  CHECK(refused({"estimate", flag, text, flag, "x"}).front().place->origin == flag);
}

TEST_CASE("command line: a country is two letters of ASCII", "[cli]") {
  CHECK(parsed({"estimate", "--country", "ru"}).country == "ru");
  const std::string text = GENERATE("ñ", "  ", "R1", "R", "RUS", "");
  CAPTURE(text);
  CHECK(refused({"estimate", "--country", text}).front().id == "input.bad_value");
}

TEST_CASE("command line: a switch takes no value", "[cli]") {
  const std::string value = GENERATE("", "true", "false", "999999999999999999999");
  CAPTURE(value);
  const auto problems = refused({"estimate", "--explain=" + value, "--context", "x"});
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].id == "usage.unexpected_value");
  CHECK(parsed({"estimate", "--region", "--explain=" + value}).region == "--explain=" + value);
}

TEST_CASE("command line: a flag given again counts as given last, but there is one job file", "[cli]") {
  CHECK(parsed({"estimate", "--context", "8k", "--context", "16k"}).job.context.value == 16000);
  const auto problems = refused({"estimate", "-f", "a.yaml", "--file", "b.yaml"});
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == "usage.repeated_flag");
}

TEST_CASE("command line: behind '--' stand words only", "[cli]") {
  CHECK(parsed({"models", "show", "--", "--explain=1", "-f"}).words ==
        std::vector<std::string>{"show", "--explain=1", "-f"});
  CHECK(refused({"estimate", "--", "x"}).front().id == "usage.unexpected_word");
}

TEST_CASE("command line: letters stand for their flags", "[cli]") {
  CHECK(parsed({"gpus", "-o", "x.json"}).output_file == "x.json");
  CHECK(parsed({"estimate", "-h"}).help);
}

TEST_CASE("command line: all mistakes are told at once, with the flag", "[cli]") {
  const auto problems = refused({"estimate", "--context", "0x10", "--contract", "spots", "--sort", "speed"});
  REQUIRE(problems.size() == 3);
  CHECK(problems[0].place->origin == "--context");
  CHECK(problems[1].nearest == "spot");
  CHECK(problems[2].place->origin == "--sort");
}

TEST_CASE("command line: an unknown flag has the nearest one, and its value is not complained of", "[cli]") {
  const auto problems = refused({"estimate", "--contxt", "8192"});
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == "usage.unknown_flag");
  CHECK(problems[0].nearest == "--context");
}

TEST_CASE("command line: a flag of another command is unknown to this one", "[cli]") {
  CHECK(refused({"gpus", "--context", "1"}).front().id == "usage.unknown_flag");
}

TEST_CASE("command line: what is missing is named", "[cli]") {
  CHECK(refused({}).front().id == "usage.missing_command");
  CHECK(refused({"estimate", "--model"}).front().message == "'--model' needs a value");
  CHECK(refused({"estimat"}).front().nearest == "estimate");
}

TEST_CASE("job file: keys are flags, '_' may stand for '-', lists for repeating", "[cli]") {
  const testing::Folder folder;
  const Options options = parsed({"estimate", "-f", folder.write("job.yaml", kJob)});
  CHECK(options.job.model.value == "llama-8b");
  CHECK(options.job.context.value == 8000);
  CHECK(options.job.kv_dtype.value == "fp8");
  CHECK(options.gpus == std::vector<std::string>{"A100", "L4"});
  CHECK(options.assertions.size() == 2);
  CHECK(options.explain);
}

TEST_CASE("job file: the command line goes over it, and a list replaces the file's", "[cli]") {
  const testing::Folder folder;
  const std::string job = folder.write("job.yaml", kJob);
  const Options options = parsed({"estimate", "-f", job, "--context", "16k", "--gpu", "H100"});
  CHECK(options.job.context.value == 16000);
  CHECK(options.gpus == std::vector<std::string>{"H100"});
  CHECK(options.job.kv_dtype.value == "fp8");
}

TEST_CASE("job file: JSON will do", "[cli]") {
  const testing::Folder folder;
  CHECK(parsed({"estimate", "-f", folder.write("job.json", R"({"model": "llama-8b", "top": 3})")}).top == 3);
}

TEST_CASE("job file: mistakes have line and column, and the nearest key", "[cli]") {
  const testing::Folder folder;
  const auto problems =
      refused({"estimate", "-f", folder.write("my.yaml", "model: llama-8b\noutput: -1\ncontxt: 8\n")});
  REQUIRE(problems.size() == 2);
  CHECK(testing::at(problems[0]) == "my.yaml:2:9");
  CHECK(testing::at(problems[1]) == "my.yaml:3:1");
  CHECK(problems[1].nearest == "context");
}

TEST_CASE("job file: a flag of one value takes no list, and no list is empty", "[cli]") {
  const testing::Folder folder;
  const std::string text =
      GENERATE("model: [a, b]\n", "model: [a]\n", "explain: [true]\n", "gpu: []\n", "gpu: [~]\n", "gpu: [[L4]]\n",
               "gpu: ','\n", "provider: '  ,'\n", "contract: ''\n", "contract: [spot, '']\n", "country: ñ\n");
  CAPTURE(text);
  const auto problems = refused({"estimate", "-f", folder.write("my.yaml", text)});
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].place->line == 1);
}

TEST_CASE("job file: what concerns the run itself does not stand in it", "[cli]") {
  const testing::Folder folder;
  const std::string key = GENERATE("catalog", "file", "output-file", "help");
  CAPTURE(key);
  CHECK(refused({"estimate", "-f", folder.write("my.yaml", key + ": x\n")}).front().id == "input.unknown_key");
}

TEST_CASE("format: it is known before the arguments are right, for errors are given in it", "[cli]") {
  CHECK(format_asked_for({"estimate", "--format", "json", "--nonsense"}) == Format::json);
  CHECK(format_asked_for({"estimate", "--format=json"}) == Format::json);
  CHECK(format_asked_for({"estimate", "--format", "csv"}) == Format::table);
  CHECK(format_asked_for({"estimate", "--format"}) == Format::table);
}

}  // namespace gpuplan::cli
