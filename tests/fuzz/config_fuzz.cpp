// Fuzz target of the reader of a model's config.json.

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/reader.hpp>
#include <gpuplan/model/config.hpp>
#include <gpuplan/model/network.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

void read_config(std::string_view text) {
  const gpuplan::Node root =
      gpuplan::parse_json(text, "config.json", gpuplan::kMaxDocumentNodes, gpuplan::NonFinite::accepted);
  const gpuplan::ModelConfig config = gpuplan::read_model_config(root, "config.json");
  const gpuplan::Network& network = config.network;
  GPUPLAN_ASSERT(!network.parts.empty() || !config.not_modelled.empty(), "a network that is not modelled says why");
  GPUPLAN_ASSERT(!network.decoder || gpuplan::parameters(network) > 0, "a language model has parameters");
  for (const gpuplan::NetworkPart& part : network.parts)
    GPUPLAN_ASSERT(gpuplan::check_part(part).empty(), "no part is impossible");
  for (const gpuplan::Problem& problem : config.warnings) (void)gpuplan::format_problem(problem);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    read_config(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const gpuplan::InputError& error) {
    for (const gpuplan::Problem& problem : error.problems()) (void)gpuplan::format_problem(problem);
  }
  return 0;
}
