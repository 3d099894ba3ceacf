#include "flat_record.hpp"

#include "catalogues.hpp"
#include "catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace gpuplan::testing {
namespace {

const Problem* with_message(const std::vector<Problem>& problems, const std::string& part) {
  const auto found = std::find_if(problems.begin(), problems.end(),
                                  [&](const Problem& p) { return p.message.find(part) != std::string::npos; });
  return found == problems.end() ? nullptr : &*found;
}

std::vector<Problem> problems_of_overlay(const std::string& text) {
  return problems_of([&] { (void)with_overlay(text); });
}

std::vector<std::string> flat(const Catalog& catalog, const Accelerator& record) {
  return flat_record(record, catalog.sources());
}

constexpr const char* kSlowH100 =
    "accelerators:\n"
    "  - name: h100 sxm5 80gb\n"
    "    tdp_w: 350\n"
    "    source: my rack\n"
    "    observed_on: 2026-10-01\n";

}  // namespace

TEST_CASE("overlay: one field of one record is replaced, with its layer, source and day", "[catalog]") {
  const Catalog mine = with_overlay(kSlowH100, Layer::project);
  const Fact<Watts>& tdp = gpu(mine, "H100-SXM5-80GB").tdp;
  CHECK(*tdp / watts(1) == Approx(350));
  CHECK(mine.source(tdp.source).text == "my rack");
  CHECK(mine.source(tdp.source).observed_on == "2026-10-01");
  CHECK(mine.source(tdp.source).layer == Layer::project);
}

TEST_CASE("overlay: the other fields of the record stay as they were", "[catalog]") {
  const Catalog mine = with_overlay(kSlowH100);
  const Accelerator& changed = gpu(mine, "H100-SXM5-80GB");
  auto different = differences(flat(mine, changed), flat(mine, gpu("H100-SXM5-80GB")));
  std::erase_if(different,
                [](const std::string& line) { return line.substr(0, 5) == "tdp_w" || line.substr(0, 6) == "source"; });
  CAPTURE(different);
  CHECK(different.empty());
  CHECK(changed.name == "H100-SXM5-80GB");
  CHECK(mine.accelerators().size() == built_in().accelerators().size());
}

TEST_CASE("overlay: all other records stay as they were", "[catalog]") {
  const Catalog mine = with_overlay(kSlowH100);
  std::vector<std::string> different;
  for (std::size_t i = 0; i < built_in().accelerators().size(); ++i) {
    if (built_in().accelerators()[i].name == "H100-SXM5-80GB") continue;
    for (auto& line : differences(flat(mine, mine.accelerators()[i]), flat(built_in(), built_in().accelerators()[i])))
      different.push_back(line);
  }
  CHECK(different.empty());
  CHECK(mine.providers().size() == built_in().providers().size());
  CHECK(mine.hash() != built_in().hash());
}

TEST_CASE("overlay: a new record is added", "[catalog]") {
  const Catalog mine = with_overlay(
      "accelerators:\n"
      "  - {name: Card-9000, aliases: [C9], vendor: NVIDIA, memory_gib: 96, memory_bandwidth_gb_per_s: 2000, "
      "host_link: pcie5-x16}\n");
  CHECK(mine.accelerators().size() == built_in().accelerators().size() + 1);
  CHECK(gpu(mine, "c9").name == "Card-9000");
  CHECK(*gpu(mine, "c9").memory / gibibytes(1) == Approx(96));
  CHECK_FALSE(gpu(mine, "c9").bf16.known());
}

TEST_CASE("overlay: facts without a source are said to be from the file", "[catalog]") {
  const Folder folder;
  const std::string path = folder.write("mine.yaml", "accelerators:\n  - {name: L40S, tdp_w: 300}\n");
  const Catalog mine = load_catalog({{path, Layer::user}});
  CHECK(mine.source(gpu(mine, "L40S").tdp.source).text == path);
  CHECK(mine.source(gpu(mine, "L40S").tdp.source).layer == Layer::user);
  CHECK(mine.source(gpu(mine, "L40S").memory.source).layer == Layer::built_in);
}

TEST_CASE("overlay: parts of a record have the record's source unless they name their own", "[catalog]") {
  const Catalog mine = with_overlay(
      "providers:\n"
      "  - name: mine\n"
      "    source: my contract\n"
      "    observed_on: 2026-11\n"
      "    offers:\n"
      "      - {id: mine/a, gpu: L40S, count: 1, price: 1, currency: USD}\n"
      "      - {id: mine/b, gpu: L40S, count: 1, price: 2, currency: USD, source: a letter}\n");
  const Provider& added = required(mine.find_provider("mine"), "mine");
  CHECK(mine.source(offer(added, "mine/a").price.source).text == "my contract");
  CHECK(mine.source(offer(added, "mine/a").source).observed_on == "2026-11");
  CHECK(mine.source(offer(added, "mine/b").price.source).text == "a letter");
}

TEST_CASE("overlay: a file marks what it derives and what it only remembers", "[catalog]") {
  const Catalog mine = with_overlay(
      "accelerators:\n"
      "  - {name: L40S, tdp_w: 300, sm_count: 140, l2_cache_mb: 90, derived: [sm_count], from_memory: [tdp_w]}\n"
      "  - {name: A10, tdp_w: 140, from_memory: all}\n");
  CHECK(gpu(mine, "L40S").tdp.mark == Mark::from_memory);
  CHECK(gpu(mine, "L40S").sm_count.mark == Mark::derived);
  CHECK(gpu(mine, "L40S").l2_cache.mark == Mark::published);
  CHECK(gpu(mine, "A10").tdp.mark == Mark::from_memory);
}

TEST_CASE("overlay: a later file wins over an earlier one", "[catalog]") {
  const Folder folder;
  const Catalog mine =
      load_catalog({{folder.write("a.yaml", "accelerators:\n  - {name: L40S, tdp_w: 300, sm_count: 1}\n"), Layer::user},
                    {folder.write("b.yaml", "accelerators:\n  - {name: L40S, tdp_w: 310}\n"), Layer::flag}});
  CHECK(*gpu(mine, "L40S").tdp / watts(1) == Approx(310));
  CHECK(*gpu(mine, "L40S").sm_count == 1);
}

TEST_CASE("overlay: a record is met by an alias too and keeps its name", "[catalog]") {
  const Catalog mine = with_overlay("accelerators:\n  - {name: RTX 4090, tdp_w: 400}\n");
  CHECK(gpu(mine, "4090").name == "GeForce-RTX-4090");
  CHECK(*gpu(mine, "4090").tdp / watts(1) == Approx(400));
}

TEST_CASE("overlay: a currency rate is replaced", "[catalog]") {
  const Catalog mine = with_overlay("rates:\n  - {currency: RUB, per_usd: 100, observed_on: 2026-11-30}\n");
  CHECK(*mine.find_currency("RUB")->per_usd == Approx(100));
  CHECK(mine.currencies().size() == built_in().currencies().size());
}

TEST_CASE("overlay: a file that says replace starts from nothing", "[catalog]") {
  const Catalog mine =
      with_overlay("replace: true\nlinks:\n  - {name: wire, category: host, gb_per_s_per_direction: 1}\n");
  CHECK(mine.links().size() == 1);
  CHECK(mine.accelerators().empty());
  CHECK(mine.providers().empty());
  CHECK(mine.currencies().empty());
}

TEST_CASE("overlay: replace that is not true leaves the built-in facts", "[catalog]") {
  const Catalog mine = with_overlay("replace: false\n");
  CHECK(mine.accelerators().size() == built_in().accelerators().size());
}

TEST_CASE("overlay: all values that cannot be read are named at once, each with its place", "[catalog]") {
  const auto problems = problems_of_overlay(
      "accelerators:\n"                                                             // 1
      "  - name: L40S\n"                                                            // 2
      "    tdp_watts: 300\n"                                                        // 3
      "    peer_to_peer: brige\n"                                                   // 4
      "    memory_gib: -3\n"                                                        // 5
      "providers:\n"                                                                // 6
      "  - name: mine\n"                                                            // 7
      "    offers:\n"                                                               // 8
      "      - {id: mine/l40s, gpu: L40S, count: 1, price: -1, currency: USD}\n");  // 9
  REQUIRE(problems.size() == 4);
  const Problem* key = with_message(problems, "tdp_watts");
  REQUIRE(key != nullptr);
  CHECK(key->id == "input.unknown_key");
  CHECK(at(*key) == "my.yaml:3:5");
  const Problem* word = with_message(problems, "brige");
  REQUIRE(word != nullptr);
  CHECK(word->nearest == "bridge");
  CHECK(at(*word) == "my.yaml:4:19");
  const Problem* memory = with_message(problems, "-3");
  REQUIRE(memory != nullptr);
  CHECK(at(*memory) == "my.yaml:5:17");
  const Problem* price = with_message(problems, "-1");
  REQUIRE(price != nullptr);
  // "      - {id: mine/l40s, gpu: L40S, count: 1, price: -1": the value stands in column 53.
  CHECK(at(*price) == "my.yaml:9:53");
  for (const Problem& problem : problems) CHECK_FALSE(problem.excerpt.empty());
}

TEST_CASE("overlay: all references that lead nowhere are named at once, each with its place", "[catalog]") {
  const auto problems = problems_of_overlay(
      "accelerators:\n"                                                        // 1
      "  - name: L40S\n"                                                       // 2
      "    host_link: pcie9-x16\n"                                             // 3
      "providers:\n"                                                           // 4
      "  - name: mine\n"                                                       // 5
      "    offers:\n"                                                          // 6
      "      - {id: mine/a, gpu: L40SS, count: 1, price: 1, currency: USD}\n"  // 7
      "      - id: mine/b\n"                                                   // 8
      "        gpu: L40S\n"                                                    // 9
      "        count: 1\n"                                                     // 10
      "        price: 0\n"                                                     // 11
      "        currency: XYZ\n");                                              // 12
  REQUIRE(problems.size() == 4);
  const Problem* link = with_message(problems, "pcie9-x16");
  REQUIRE(link != nullptr);
  CHECK(link->id == "catalog.inconsistent");
  CHECK(at(*link) == "my.yaml:3:16");
  const Problem* card = with_message(problems, "L40SS");
  REQUIRE(card != nullptr);
  CHECK(at(*card) == "my.yaml:7:27");
  CHECK(card->nearest == "L40S");
  const Problem* price = with_message(problems, "price of 0");
  REQUIRE(price != nullptr);
  CHECK(at(*price) == "my.yaml:11:16");
  const Problem* currency = with_message(problems, "currency");
  REQUIRE(currency != nullptr);
  CHECK(at(*currency) == "my.yaml:12:19");
}

TEST_CASE("overlay: one name for two records is a problem", "[catalog]") {
  const auto problems = problems_of_overlay(
      "accelerators:\n"
      "  - {name: Card-9000, aliases: [L40S], memory_bandwidth_gb_per_s: 1}\n");
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].message.find("l40s") != std::string::npos);
  CHECK(at(problems[0]) == "my.yaml:2:5");
}

TEST_CASE("overlay: a file does not name one record twice", "[catalog]") {
  const auto problems = problems_of_overlay(
      "accelerators:\n"
      "  - {name: L40S, tdp_w: 300}\n"
      "  - {name: l40s, tdp_w: 310}\n");
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == "input.duplicate_name");
  CHECK(at(problems[0]) == "my.yaml:3:12");
}

TEST_CASE("overlay: one offer id for two offers is a problem", "[catalog]") {
  const auto problems = problems_of_overlay(
      "providers:\n"
      "  - name: mine\n"
      "    offers:\n"
      "      - {id: mine/a, gpu: L40S, count: 1, price: 1, currency: USD}\n"
      "      - {id: mine/a, gpu: L40S, count: 1, price: 2, currency: USD}\n");
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].message.find("mine/a") != std::string::npos);
}

TEST_CASE("overlay: the parts of a host are priced in a currency of the catalogue", "[catalog]") {
  const auto problems = problems_of_overlay(
      "providers:\n"
      "  - name: mine\n"
      "    host_parts: {currency: RUBB, vcpu_per_hour: 1}\n");
  REQUIRE(problems.size() == 1);
  CHECK(at(problems[0]) == "my.yaml:3:17");
  CHECK(problems[0].nearest == "RUB");
}

TEST_CASE("overlay: a node holds devices", "[catalog]") {
  const auto problems = problems_of_overlay("nodes:\n  - {name: mine, accelerators: [L40S], count: 0}\n");
  REQUIRE(problems.size() == 1);
  CHECK(at(problems[0]) == "my.yaml:2:47");
}

TEST_CASE("overlay: a new accelerator needs a memory bandwidth", "[catalog]") {
  const auto problems = problems_of_overlay("accelerators:\n  - {name: Card-9000}\n");
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].message.find("bandwidth") != std::string::npos);
}

TEST_CASE("overlay: what times and money divide by is not zero", "[catalog]") {
  const auto problems = problems_of_overlay(
      "accelerators:\n"                                                                         // 1
      "  - {name: L40S, memory_bandwidth_gb_per_s: 0, stream_bandwidth_gb_per_s: 0}\n"          // 2
      "links:\n"                                                                                // 3
      "  - {name: nvlink4, gb_per_s_per_direction: 0}\n"                                        // 4
      "engines:\n"                                                                              // 5
      "  - {name: vllm, kv_block_tokens: 0, bandwidth_efficiency: 0, compute_efficiency: 0,\n"  // 6
      "     memory_fraction: 1.1, intervals: [{regime: decode, low: 0, high: 1}]}\n"            // 7
      "providers:\n"                                                                            // 8
      "  - {name: selectel, hours_per_month: 0}\n");                                            // 9
  std::vector<std::string> places;
  for (const Problem& problem : problems) places.push_back(at(problem).substr(0, 9));
  std::sort(places.begin(), places.end());
  CHECK(places == std::vector<std::string>{"my.yaml:2", "my.yaml:2", "my.yaml:4", "my.yaml:6", "my.yaml:6", "my.yaml:6",
                                           "my.yaml:7", "my.yaml:7", "my.yaml:9"});
}

TEST_CASE("overlay: a rate of zero is refused", "[catalog]") {
  const auto problems = problems_of_overlay("rates:\n  - {currency: ABC, per_usd: 0}\n");
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].message.find("ABC") != std::string::npos);
}

TEST_CASE("overlay: a list that is not one of the catalogue's is an unknown key", "[catalog]") {
  const auto problems = problems_of_overlay("acelerators: []\n");
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == "input.unknown_key");
  CHECK(problems[0].nearest == "accelerators");
}

TEST_CASE("overlay: a file that is not there is named", "[catalog]") {
  const auto problems = problems_of([] { (void)load_catalog({{"/nowhere/my.yaml", Layer::flag}}); });
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == "input.not_found");
}

}  // namespace gpuplan::testing
