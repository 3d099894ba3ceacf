#include <gpuplan/report/render.hpp>

#include "catch.hpp"
#include "report/documents.hpp"

#include <gpuplan/base/text.hpp>

namespace gpuplan {
namespace {

std::string shown(const Document& document, int width) { return render_table(document, {width, width, false, false}); }

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("terminal: the first line is the answer", "[report]") {
  const std::string text = shown(testing::estimate_document(), 200);
  CHECK(text.substr(0, text.find('\n')).substr(0, 58) == "toy in bf16 runs on 1 x X1 at alpha (on_demand) for 0.100 ");
}

TEST_CASE("terminal: prose keeps to the width", "[report]") {
  const int width = GENERATE(60, 80, 100, 160);
  const std::string text = shown(testing::estimate_document(), width);
  for (const std::string& line : split(text.substr(0, text.find("options by")), '\n')) {
    CAPTURE(width, line);
    CHECK(display_width(line) <= width);
  }
}

TEST_CASE("terminal: a table shows the best of each provider, or as many options as asked", "[report]") {
  EstimateDocument d = testing::estimate_document();
  CHECK(holds(shown(d, 160), "2 of 3 options at 2 providers, the best of each provider"));
  d.best_of_each_provider = false;
  d.shown_rows = 1;
  CHECK(holds(shown(d, 160), "1 of 3 options at 2 providers\n"));
  d.shown_rows = 0;
  CHECK(holds(shown(d, 160), "3 of 3 options at 2 providers\n"));
}

TEST_CASE("terminal: without an option the answer says whether hardware or offers are missing", "[report]") {
  EstimateDocument d = testing::estimate_document();
  d.options.clear();
  d.hardware = {{}};
  d.hardware[0].accelerator = "X1";
  d.hardware[0].rule = "memory";
  CHECK(holds(shown(d, 200), "does not run on any of the hardware asked for"));
  d.hardware[0].memory = testing::memory_part();
  d.hardware[0].alone = LatencyDocument{};
  d.hardware[0].loaded = TimeDocument{};
  CHECK(holds(shown(d, 200), "but no offer matches"));
}

TEST_CASE("terminal: devices that fail for the same reason stand together", "[report]") {
  MemoryReport report;
  for (const char* name : {"A1", "A2", "B1"}) {
    HardwareDocument hardware;
    hardware.accelerator = name;
    hardware.rule = "memory";
    hardware.needed = name[0] == 'A' ? "10 GiB" : "20 GiB";
    report.hardware.push_back(hardware);
  }
  CHECK(holds(shown(report, 100), "  A1, A2\n      memory: 10 GiB"));
}

TEST_CASE("terminal: a record cites each source once, and what is computed says how", "[report]") {
  const RecordDocument record{"gpu",
                              "X1",
                              {{"memory_gib", "80", "published", "a page", "2026-01-02", "built-in"},
                               {"tdp_w", "700", "published", "a page", "2026-01-02", "built-in"},
                               {"price", "1", "published", "my file", "", "--catalog"},
                               {"usable", "79 GiB", "computed", "see the docs", "", ""}}};
  CHECK(shown(record, 80) ==
        "gpu X1\n"
        "\n"
        "field       value   known as   source\n"
        "memory_gib  80      published  [1]\n"
        "tdp_w       700     published  [1]\n"
        "price       1       published  [2]\n"
        "usable      79 GiB  computed   see the docs\n"
        "\n"
        "sources\n"
        "[1] a page, 2026-01-02\n"
        "[2] my file (--catalog)\n");
}

TEST_CASE("terminal: a list of one speaks of one", "[report]") {
  CHECK(holds(shown(ListDocument{"gpus", {"name"}, {{{std::string("X1")}}}, ""}, 80), "\n1 gpu\n"));
  CHECK(shown(ListDocument{"gpus", {"name"}, {}, ""}, 80) == "0 gpus\n");
}

TEST_CASE("terminal: a flood of problems and endless messages are cut short", "[report]") {
  ErrorDocument error;
  for (int i = 0; i < 50; ++i)
    error.problems.push_back({"input.x", std::string(100000, 'x'), std::nullopt, "", "", ""});
  const std::string text = shown(error, 80);
  CHECK(text.size() < 10000);
  CHECK(holds(text, "and 30 more\n"));
}

TEST_CASE("terminal: colour only where the style has it", "[report]") {
  CHECK_FALSE(holds(shown(testing::estimate_document(), 100), "\x1b"));
  CHECK(holds(render_table(testing::estimate_document(), {100, 100, true, false}), "\x1b[1m"));
}

}  // namespace gpuplan
