#include "cli/flags.hpp"

#include "catch.hpp"
#include "cli/commands.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace gpuplan::cli {
namespace {

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("flags: names and letters are unique, each has help and a heading", "[cli]") {
  std::set<std::string_view> names;
  std::set<char> letters;
  for (const Flag& flag : flags()) {
    CAPTURE(flag.name);
    CHECK(names.insert(flag.name).second);
    if (flag.letter) CHECK(letters.insert(flag.letter).second);
    CHECK_FALSE(flag.help.empty());
    CHECK_FALSE(flag.help.ends_with('.'));
    CHECK_FALSE(flag.group.empty());
    CHECK(find_flag(flag.name) == &flag);
  }
}

TEST_CASE("flags: headings do not come twice", "[cli]") {
  std::set<std::string_view> seen;
  std::string_view last;
  for (const Flag& flag : flags()) {
    CAPTURE(flag.name);
    if (flag.group != last) CHECK(seen.insert(flag.group).second);
    last = flag.group;
  }
}

TEST_CASE("flags: each belongs to a command, and commands name only flags there are", "[cli]") {
  std::set<std::string_view> used;
  for (const Command& command : commands()) {
    for (const std::string_view name : command.flags) {
      CAPTURE(command.name, name);
      CHECK(find_flag(name) != nullptr);
      used.insert(name);
    }
  }
  for (const Flag& flag : flags()) {
    CAPTURE(flag.name);
    CHECK(used.contains(flag.name));
  }
}

TEST_CASE("commands: each has a summary, an example and help", "[cli]") {
  for (const Command& command : commands()) {
    CAPTURE(command.name);
    CHECK(find_command(command.name) == &command);
    CHECK_FALSE(command.summary.empty());
    if (command.run) CHECK_FALSE(command.examples.empty());
    for (const std::string_view example : command.examples)
      CHECK(example.substr(0, 8 + command.name.size()) == "gpuplan " + std::string(command.name));
  }
}

TEST_CASE("golden runs: each command has one, and each flag stands in one", "[cli]") {
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(GPUPLAN_SOURCE_DIR "/tests/golden")) {
    if (entry.path().filename() == "cmd") all += " " + contents(entry.path().string()) + " ";
  }
  std::replace(all.begin(), all.end(), '\n', ' ');
  for (const Command& command : commands()) {
    CAPTURE(command.name);
    CHECK(holds(all, "gpuplan " + std::string(command.name) + " "));
  }
  for (const Flag& flag : flags()) {
    CAPTURE(flag.name);
    if (flag.name == "man") continue;  // its output is a file of its own, compared below
    CHECK((holds(all, " --" + std::string(flag.name) + " ") ||
           (flag.letter && holds(all, std::string(" -") + flag.letter + " "))));
  }
}

TEST_CASE("help: it shows every flag of the command, with its default", "[cli]") {
  for (const Command& command : commands()) {
    const std::string help = help_text(&command);
    for (const std::string_view name : command.flags) {
      CAPTURE(command.name, name);
      CHECK(holds(help, "--" + std::string(name)));
      const Flag& flag = *find_flag(name);
      if (!flag.fallback.empty()) CHECK(holds(help, "(default:"));
    }
  }
}

TEST_CASE("help: no line but an example is wider than a hundred columns, and the columns are straight", "[cli]") {
  for (const Command& command : commands()) {
    const std::string help = help_text(&command);
    std::istringstream lines(help.substr(0, help.find("\nexamples\n")));
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(command.name, line);
      CHECK(display_width(line) <= 100);
    }
  }
  CHECK(holds(help_text(find_command("estimate")), "      --gpu NAME[,…]        only"));
  CHECK(holds(help_text(find_command("estimate")), "      --count N             exactly"));
}

TEST_CASE("help: the overview names every command", "[cli]") {
  const std::string help = help_text(nullptr);
  for (const Command& command : commands()) CHECK(holds(help, "\n  " + std::string(command.name) + " "));
}

TEST_CASE("man page: it documents every flag and command and all exit statuses", "[cli]") {
  const std::string man = man_page();
  std::string plain;
  for (std::size_t i = 0; i < man.size(); ++i) {
    if (man[i] != '\\' || man[i + 1] != '-') plain += man[i];
  }
  for (const Flag& flag : flags()) {
    CAPTURE(flag.name);
    CHECK(holds(plain, "--" + std::string(flag.name)));
  }
  for (const Command& command : commands()) CHECK(holds(man, ".SS " + std::string(command.name)));
  for (const char* status : {"0", "1", "2", "3", "4"}) CHECK(holds(man, std::string(".B ") + status + "\n"));
}

TEST_CASE("man page: the file is what the program writes", "[cli]") {
  INFO("gpuplan help --man > man/gpuplan.1");
  CHECK(contents(GPUPLAN_SOURCE_DIR "/man/gpuplan.1") == man_page());
}

TEST_CASE("flags: VAT is left out, the provider's, or a rate for all", "[cli]") {
  Options options;
  const Flag& vat = *find_flag("vat");
  CHECK_FALSE(vat.apply(options, "include"));
  CHECK(options.vat.adds);
  CHECK_FALSE(options.vat.percent.has_value());
  for (const std::string_view text : {"22", "22%"}) {
    CHECK_FALSE(vat.apply(options, text));
    CHECK(options.vat.percent.value() == Approx(22));
  }
  CHECK_FALSE(vat.apply(options, "exclude"));
  CHECK_FALSE(options.vat.adds);
  for (const std::string_view text : {"", "-1", "101", "1e308", "nan", "includ", "%"}) {
    CAPTURE(text);
    CHECK(vat.apply(options, text).has_value());
  }
}

TEST_CASE("flags: a rate is units for one dollar, with its day or without", "[cli]") {
  Options options;
  const Flag& rate = *find_flag("rate");
  CHECK_FALSE(rate.apply(options, "RUB=84.34@2026-09-26"));
  CHECK_FALSE(rate.apply(options, "eur=0.9"));
  REQUIRE(options.rates.size() == 2);
  CHECK(options.rates[0].per_usd == Approx(84.34));
  CHECK(to_string(options.rates[0].day.value()) == "2026-09-26");
  CHECK(options.rates[1].currency == "EUR");
  CHECK_FALSE(options.rates[1].day.has_value());
  for (const std::string_view text : {"", "RUB", "RUB=", "RUB=0", "RUB=-1", "RUB=1e308", "RUB=nan", "RUBL=80", "R B=1",
                                      "RUB=80@", "RUB=80@someday", "USD=1", "=80"}) {
    CAPTURE(text);
    CHECK(rate.apply(options, text).has_value());
  }
}

TEST_CASE("flags: a framework with a release is what must run, without one what trains", "[cli]") {
  Options options;
  const Flag& framework = *find_flag("framework");
  CHECK_FALSE(framework.apply(options, "pytorch==2.6"));
  CHECK(options.software == "pytorch==2.6");
  CHECK(options.framework.is_default);
  CHECK(options.said_of_training.empty());
  CHECK_FALSE(framework.apply(options, "deepspeed"));
  CHECK(options.framework.value == "deepspeed");
}

}  // namespace gpuplan::cli
