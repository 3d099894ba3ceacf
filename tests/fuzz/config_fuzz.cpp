// Fuzz target of the reader of a model's config.json.

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/reader.hpp>
#include <gpuplan/model/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

void read_config(std::string_view text) {
  const gpuplan::Node root =
      gpuplan::parse_json(text, "config.json", gpuplan::kMaxDocumentNodes, gpuplan::NonFinite::accepted);
  const gpuplan::ModelConfig config = gpuplan::read_model_config(root, "config.json");
  GPUPLAN_ASSERT(config.network.decoder || !config.not_modelled.empty(), "a network that is not modelled says why");
  GPUPLAN_ASSERT(config.network.decoder ? parameters(config.network) > 0 : parameters(config.network) == 0,
                 "exactly a network has parameters");
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
