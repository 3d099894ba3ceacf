// The catalogue against the tables it was made from, where a checkout has them beside it, and against the arithmetic of the
// networks' own configurations.

#include <gpuplan/base/text.hpp>
#include <gpuplan/model/tensors.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "csv_table.hpp"
#include "model/reference_table.hpp"

#include <cstdlib>
#include <set>
#include <span>
#include <string>

namespace gpuplan::testing {
namespace {

// What facts/README.md says resolves to nothing: parts of a card, undisclosed cards, cards that accelerators.csv lacks.
const std::set<std::string>& unresolved() {
  static const std::set<std::string> names = {"L4-vGPU-1Q",
                                              "L4-vGPU-4Q",
                                              "L4-vGPU-8Q",
                                              "YANDEX-GEN2-80GB",
                                              "YANDEX-PLATFORM-V4-141GB",
                                              "YANDEX-T4I-24GB",
                                              "GTX1050-TI",
                                              "GTX1060",
                                              "GTX1070",
                                              "GTX1080",
                                              "GTX1080-TI",
                                              "GTX1650",
                                              "GTX1660",
                                              "QUADRO-RTX4000",
                                              "QUADRO-RTX5000",
                                              "RADEON-AI-PRO-R9700",
                                              "RTX-PRO-2000",
                                              "RTX2060",
                                              "RTX2070",
                                              "RTX2080",
                                              "RTX3050",
                                              "RTX3070",
                                              "RTX3070-TI",
                                              "RTX4070"};
  return names;
}

struct Total {
  int stated = 0;
  double sum = 0;
};

// The accelerators that the collected table has: cloud CPUs of the table of CPU shapes came later.
std::vector<Accelerator> collected_accelerators() {
  std::vector<Accelerator> collected;
  for (const Accelerator& gpu : built_in().accelerators()) {
    if (built_in().source(gpu.source).text.find("sc-inspector-data (bw_mem read)") == Text::npos) collected.push_back(gpu);
  }
  return collected;
}

// How many records state a field, and what they add up to.
template <class R>
Total total_of(std::span<const R> records, const std::string& field) {
  Total total;
  for (const R& record : records) {
    for (const ShownField& shown : fields_of(record)) {
      if (shown.name != field) continue;
      ++total.stated;
      total.sum += std::stod(shown.value);
    }
  }
  return total;
}

}  // namespace

// The counts and sums were computed from the collected tables, not from data/*.yaml: a figure that is lost, doubled, put in a
// wrong column or scaled moves them.
TEST_CASE("facts: fields add up to what was collected", "[catalog]") {
  const std::vector<Accelerator> collected = collected_accelerators();
  for (const auto& row : reference_table("catalogue_sums.csv")) {
    const Total total = row.at("records") == "nodes" ? total_of(built_in().nodes(), row.at("field"))
                                                     : total_of(std::span<const Accelerator>(collected), row.at("field"));
    CAPTURE(row.at("records"), row.at("field"));
    CHECK(total.stated == std::stoi(row.at("stated")));
    CHECK(total.sum == Approx(std::stod(row.at("sum"))).epsilon(1e-9));
  }
}

TEST_CASE("facts: every accelerator of the table resolves to one record by name and aliases", "[catalog]") {
  std::set<const Accelerator*> seen;
  const auto rows = facts_table("accelerators.csv");
  for (const CsvRow& row : rows) {
    CAPTURE(row.at("name"));
    const Accelerator* named = built_in().find_accelerator(row.at("name"));
    REQUIRE(named != nullptr);
    CHECK(seen.insert(named).second);
    for (const std::string& alias : split(row.at("aliases"), ';')) {
      CAPTURE(alias);
      CHECK(built_in().find_accelerator(alias) == named);
    }
  }
  if (!rows.empty()) CHECK(seen.size() == collected_accelerators().size());
}

TEST_CASE("facts: every card of the price table resolves, but those that its notes except", "[catalog]") {
  std::set<std::string> names;
  for (const CsvRow& row : facts_table("prices.csv")) names.insert(row.at("gpu"));
  names.erase("");
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(built_in().select_accelerators(name).empty() == unresolved().contains(name));
  }
}

TEST_CASE("facts: bandwidth, power and processors are those of the table", "[catalog]") {
  for (const CsvRow& row : facts_table("accelerators.csv")) {
    CAPTURE(row.at("name"));
    const Accelerator& one = gpu(row.at("name"));
    if (const std::string& text = row.at("memory_bandwidth_gbs"); !text.empty()) {
      CHECK(*one.memory_bandwidth / gigabytes_per_second(1) == Approx(std::strtod(text.c_str(), nullptr)));
    }
    if (const std::string& text = row.at("sm_count"); !text.empty()) {
      CHECK(one.sm_count.or_else(-1) == std::strtoll(text.c_str(), nullptr, 10));
    }
    if (const std::string& text = row.at("cuda_visible_gib"); !text.empty()) {
      CHECK(*built_in().visible_memory(one) / gibibytes(1) == Approx(std::strtod(text.c_str(), nullptr)));
    }
  }
}

TEST_CASE("presets: the tensor list has exactly the parameters that the preset states", "[catalog][model]") {
  for (const ModelPreset& one : built_in().models()) {
    if (!one.config.empty()) continue;  // tests/model/presets_test.cpp
    CAPTURE(one.name);
    const Architecture architecture = architecture_of(one);
    CHECK(check_architecture(architecture).empty());
    REQUIRE(one.parameters.known());
    CHECK(parameters(tensors_of(architecture)) == *one.parameters);
  }
}

TEST_CASE("presets: the parameters that a token passes through are those that the preset states", "[catalog][model]") {
  for (const ModelPreset& one : built_in().models()) {
    if (!one.config.empty()) continue;
    CAPTURE(one.name);
    const std::int64_t active = active_parameters(architecture_of(one));
    if (one.active_parameters.known()) CHECK(active == *one.active_parameters);
    CHECK(active <= *one.parameters);
    if (!one.experts.known()) CHECK(active == *one.parameters);
  }
}

TEST_CASE("presets: every native format is a scheme", "[catalog][model]") {
  for (const ModelPreset& one : built_in().models()) {
    CAPTURE(one.name, one.native_format);
    if (!one.native_format.empty()) CHECK(parse_scheme(one.native_format).value.has_value());
  }
}

TEST_CASE("engines: every format is a scheme, and intervals run from low to high", "[catalog]") {
  for (const Engine& one : built_in().engines()) {
    for (const EngineFormat& format : one.formats) {
      CAPTURE(one.name, format.format);
      CHECK(parse_scheme(format.format).value.has_value());
    }
    for (const EngineInterval& interval : one.intervals) {
      CAPTURE(one.name, interval.regime);
      CHECK(interval.low.or_else(1) > 0);
      CHECK(interval.low.or_else(1) <= interval.high.or_else(1));
    }
  }
}

}  // namespace gpuplan::testing
