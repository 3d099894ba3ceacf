// Presets that stand as their own configuration: data/model_configs.yaml.

#include "catalogues.hpp"
#include "catch.hpp"

#include "reference_table.hpp"

#include <gpuplan/model/config.hpp>

#include <set>

using namespace gpuplan;
using gpuplan::testing::built_in;

TEST_CASE("presets: every configuration is read, and nothing of it is unknown", "[catalog][model]") {
  for (const ModelPreset& preset : built_in().models()) {
    if (preset.config.empty()) continue;
    CAPTURE(preset.name);
    const ModelConfig config = read_model_preset(preset);
    CAPTURE(config.not_modelled);
    CHECK_FALSE(config.network.parts.empty());
    CHECK(parameters(config.network) > 0);
    for (const NetworkPart& part : config.network.parts) CHECK(check_part(part).empty());
  }
}

TEST_CASE("presets: configurations count exactly what is published", "[catalog][model]") {
  std::size_t exact = 0;
  for (const ModelPreset& preset : built_in().models()) {
    if (preset.config.empty() || !preset.parameters.known()) continue;
    CAPTURE(preset.name);
    CHECK(parameters(read_model_preset(preset).network) == *preset.parameters);
    ++exact;
  }
  CHECK(exact >= 60);
}

TEST_CASE("presets: parts count exactly what is published", "[catalog][model]") {
  for (const auto& row : testing::reference_table("part_parameters.csv")) {
    CAPTURE(row.at("model"), row.at("part"));
    const ModelPreset* preset = built_in().find_model(row.at("model"));
    REQUIRE(preset);
    const Network network = read_model_preset(*preset).network;
    std::int64_t total = 0;  // a component of several parts is their sum
    for (const NetworkPart& part : network.parts) {
      if (part.name == row.at("part") || part.name.starts_with(row.at("part") + ".")) total += parameters(part.tensors);
    }
    CHECK(static_cast<double>(total) == testing::number(row, "value"));
  }
}
