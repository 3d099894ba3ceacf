#include <gpuplan/catalog/catalog.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace gpuplan::testing {
namespace {

std::set<std::string> names(const std::vector<const Accelerator*>& selected) {
  std::set<std::string> out;
  for (const Accelerator* one : selected) out.emplace(one->name);
  return out;
}

}  // namespace

TEST_CASE("catalogue: it knows the 167 accelerators of the facts, and six cloud CPUs", "[catalog]") {
  CHECK(built_in().accelerators().size() == 173);
}

TEST_CASE("catalogue: names ignore case, spaces, '-' and '_'", "[catalog]") {
  for (const char* written : {"H100-SXM5-80GB", "h100 sxm5 80gb", "H100_SXM5_80GB", "h100sxm580gb", "H100-80GB"}) {
    CAPTURE(written);
    const Accelerator* found = built_in().find_accelerator(written);
    REQUIRE(found != nullptr);
    CHECK(found->name == "H100-SXM5-80GB");
  }
  CHECK(built_in().find_accelerator("H100-SXM5-81GB") == nullptr);
  CHECK(built_in().find_accelerator("") == nullptr);
}

TEST_CASE("catalogue: every name and alias belongs to its record", "[catalog]") {
  for (const Accelerator& one : built_in().accelerators()) {
    CAPTURE(one.name);
    CHECK(built_in().find_accelerator(one.name) == &one);
    for (const Text alias : one.aliases) CHECK(built_in().find_accelerator(alias) == &one);
  }
  for (const ModelPreset& one : built_in().models()) {
    CAPTURE(one.name);
    CHECK(built_in().find_model(one.name) == &one);
    for (const Text alias : one.aliases) CHECK(built_in().find_model(alias) == &one);
  }
  for (const Engine& one : built_in().engines()) CHECK(built_in().find_engine(one.name) == &one);
  for (const Link& one : built_in().links()) CHECK(built_in().find_link(one.name) == &one);
  for (const NodeDesign& one : built_in().nodes()) CHECK(built_in().find_node(one.name) == &one);
}

TEST_CASE("catalogue: a family's name selects all its members", "[catalog]") {
  // facts/README.md: H100 is SXM5, PCIe and NVL; A100 is four cards.
  CHECK(names(built_in().select_accelerators("H100")) ==
        std::set<std::string>{"H100-SXM5-80GB", "H100-PCIe-80GB", "H100-NVL-94GB"});
  CHECK(names(built_in().select_accelerators("a100")) ==
        std::set<std::string>{"A100-SXM4-40GB", "A100-SXM4-80GB", "A100-PCIe-40GB", "A100-PCIe-80GB"});
}

TEST_CASE("catalogue: a name selects its one record, nonsense none", "[catalog]") {
  CHECK(names(built_in().select_accelerators("L40S")) == std::set<std::string>{"L40S"});
  CHECK(names(built_in().select_accelerators("A100-80GB")) == std::set<std::string>{"A100-SXM4-80GB"});
  CHECK(built_in().select_accelerators("H101").empty());
}

TEST_CASE("catalogue: a misspelt name is met with the nearest known one", "[catalog]") {
  CHECK(built_in().find_accelerator(built_in().nearest_accelerator("H100-SXM5-80BG")) == &gpu("H100-SXM5-80GB"));
  CHECK(built_in().nearest_accelerator("L40SS") == "L40S");
  CHECK(built_in().nearest_accelerator("completely-else").empty());
  CHECK(built_in().nearest_engine("vlm") == "vllm");
  CHECK(built_in().nearest_provider("selektel") == "selectel");
  CHECK(built_in().nearest_currency("RUBB") == "RUB");
  CHECK(built_in().nearest_model("llama-3.1-8bb") == "llama-3.1-8b");
}

TEST_CASE("catalogue: a family with one member is a name of that member", "[catalog]") {
  for (const Accelerator& one : built_in().accelerators()) {
    const auto members = std::count_if(built_in().accelerators().begin(), built_in().accelerators().end(),
                                       [&](const Accelerator& other) { return other.family == one.family; });
    const auto selected = built_in().select_accelerators(one.family);
    CAPTURE(one.name, one.family);
    CHECK(static_cast<std::ptrdiff_t>(selected.size()) == members);
  }
}

TEST_CASE("catalogue: visible memory is what a program sees, where that is known", "[catalog]") {
  // facts/accelerators.csv, cuda_visible_gib of the RTX 4090: 23.65 (Torch total in MLPerf logs).
  CHECK(built_in().visible_memory(gpu("RTX 4090")).value / gibibytes(1) == Approx(23.65));
  CHECK(built_in().visible_memory(gpu("RTX 4090")).mark == Mark::measured);
}

TEST_CASE("catalogue: the driver's share is a median of the records that state both memories", "[catalog]") {
  const Accelerator& h100 = gpu("H100-SXM5-80GB");
  REQUIRE_FALSE(h100.visible_memory.known());
  const Fact<Bytes> visible = built_in().visible_memory(h100);
  const Bytes share = *h100.memory - *visible;
  CHECK(visible.mark == Mark::derived);
  std::int64_t stated = 0;
  std::int64_t at_most = 0;
  std::int64_t at_least = 0;
  const Bytes rounding = mebibytes(0.001);
  for (const Accelerator& one : built_in().accelerators()) {
    if (!one.memory.known() || !one.visible_memory.known()) continue;
    ++stated;
    at_most += *one.memory - *one.visible_memory <= share + rounding;
    at_least += *one.memory - *one.visible_memory >= share - rounding;
  }
  REQUIRE(stated >= 4);
  CHECK(2 * at_most >= stated);
  CHECK(2 * at_least >= stated);
  // An "80 GB" H100 shows 79.2 GiB to CUDA (docs/PHYSICS.md).
  CHECK(*visible / gibibytes(1) == Approx(79.2).margin(0.1));
}

TEST_CASE("catalogue: no program sees more than the device holds, nor nothing", "[catalog]") {
  for (const Accelerator& one : built_in().accelerators()) {
    const Fact<Bytes> visible = built_in().visible_memory(one);
    if (!visible.known()) continue;
    CAPTURE(one.name);
    CHECK(*visible > Bytes{});
    if (one.memory.known()) CHECK(*visible <= *one.memory);
  }
}

TEST_CASE("catalogue: an unknown fact is never zero in disguise", "[catalog]") {
  for (const Provider& one : built_in().providers()) {
    for (const Offer& offer : one.offers) {
      CAPTURE(offer.id);
      if (offer.price.known()) CHECK(*offer.price > 0);
      CHECK((offer.price.known() || !offer.rankable || one.price_on_request));
    }
  }
  const Fact<double> unknown;
  CHECK_FALSE(unknown.known());
  CHECK_THROWS_AS(*unknown, InternalError);
  CHECK(unknown.or_else(7) == Approx(7));
}

TEST_CASE("catalogue: every rankable offer names an accelerator, a count and a currency", "[catalog]") {
  std::int64_t rankable = 0;
  for (const Provider& one : built_in().providers()) {
    for (const Offer& offer : one.offers) {
      CAPTURE(offer.id);
      CHECK(offer.provider == one.name);
      if (!offer.rankable) {
        CHECK_FALSE(offer.why_not.empty());
        continue;
      }
      ++rankable;
      CHECK(built_in().find_accelerator(offer.gpu) != nullptr);
      CHECK(offer.count.or_else(0) >= 1);
      CHECK(built_in().find_currency(offer.currency) != nullptr);
      if (!offer.includes_host) CHECK(one.host_parts.size() == 1);
    }
  }
  CHECK(rankable > 500);
}

TEST_CASE("catalogue: the named providers are found by title and by slug", "[catalog]") {
  CHECK(built_in().providers().size() >= 75);
  struct Row {
    const char* title;
    const char* slug;
  };
  for (const Row& row : {Row{"Selectel", "selectel"}, Row{"HOSTKEY", "hostkey"}, Row{"GPUDC", "gpudc"},
                         Row{"Timeweb Cloud", "timeweb-cloud"}, Row{"Cloud4Y", "cloud4y"}, Row{"AWS", "aws"},
                         Row{"Google Cloud", "google-cloud"}, Row{"Azure", "azure"}, Row{"Lambda", "lambda"},
                         Row{"CoreWeave", "coreweave"}, Row{"Vast.ai", "vast.ai"}, Row{"RunPod", "runpod"}}) {
    CAPTURE(row.title);
    REQUIRE(built_in().find_provider(row.title) != nullptr);
    CHECK(built_in().find_provider(row.title) == built_in().find_provider(row.slug));
    CHECK(built_in().find_provider(row.slug)->title == row.title);
  }
}

TEST_CASE("catalogue: every provider is found by its title", "[catalog]") {
  for (const Provider& one : built_in().providers()) {
    CAPTURE(one.title);
    CHECK(built_in().find_provider(one.title) == &one);
  }
}

TEST_CASE("catalogue: a provider that shows prices on request only has no offer to rank", "[catalog]") {
  for (const char* name : {"Timeweb Cloud", "Cloud4Y"}) {
    CAPTURE(name);
    CHECK(provider(name).price_on_request);
    CHECK(std::none_of(provider(name).offers.begin(), provider(name).offers.end(),
                       [](const Offer& o) { return o.rankable; }));
  }
}

TEST_CASE("catalogue: what is only remembered stays marked so", "[catalog]") {
  // memory_sourced_fields and derived_fields of facts/accelerators.csv.
  CHECK(gpu("K80").memory.mark == Mark::from_memory);
  CHECK(gpu("K80").fp32.mark == Mark::derived);
  CHECK(gpu("K80").memory_bandwidth.mark == Mark::published);
  CHECK(gpu("GTX 580").memory.mark == Mark::from_memory);
  CHECK(gpu("RTX 4090").memory.mark == Mark::from_memory);
  CHECK(gpu("RTX 4090").visible_memory.mark == Mark::measured);
  CHECK(gpu("Groq-LPU-v1").tdp.mark == Mark::from_memory);
  CHECK(gpu("Groq-LPU-v1").fp16.mark == Mark::from_memory);
}

TEST_CASE("catalogue: links and node designs refer to records that exist", "[catalog]") {
  for (const Accelerator& one : built_in().accelerators()) {
    CAPTURE(one.name);
    if (!one.scale_up_link.empty()) CHECK(built_in().find_link(one.scale_up_link) != nullptr);
    if (!one.host_link.empty()) CHECK(built_in().find_link(one.host_link) != nullptr);
  }
  for (const NodeDesign& one : built_in().nodes()) {
    CAPTURE(one.name);
    for (const Text name : one.accelerators) CHECK(built_in().find_accelerator(name) != nullptr);
  }
}

TEST_CASE("catalogue: a currency is found in any case", "[catalog]") {
  REQUIRE(built_in().find_currency("usd") != nullptr);
  CHECK(*built_in().find_currency("USD")->per_usd == Approx(1));
  CHECK(built_in().find_currency("XYZ") == nullptr);
}

TEST_CASE("catalogue: a record shows its known fields only", "[catalog]") {
  const auto fields = fields_of(gpu("RTX 4090"));
  const auto field = [&](std::string_view name) {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const ShownField& f) { return f.name == name; });
    return found == fields.end() ? std::string("-") : found->value;
  };
  CHECK(field("name") == "GeForce-RTX-4090");
  CHECK(field("memory_bandwidth_gb_per_s") == "1008");
  CHECK(field("cuda_visible_gib") == "23.65");
  CHECK(field("scale_up_link") == "-");
  CHECK(field("fp4_tflops") == "-");
}

TEST_CASE("catalogue: contracts are read by the words that are shown", "[catalog]") {
  for (int i = 0; i <= static_cast<int>(Contract::owned); ++i) {
    const auto contract = static_cast<Contract>(i);
    CHECK(parse_contract(to_string(contract)).value == contract);
  }
  CHECK(parse_contract("spott").nearest == "spot");
  CHECK_FALSE(parse_contract("spott").value.has_value());
}

}  // namespace gpuplan::testing
