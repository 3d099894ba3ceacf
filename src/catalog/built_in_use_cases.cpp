#include <gpuplan/catalog/use_cases.hpp>

#include "embedded.hpp"

namespace gpuplan {

std::vector<UseCase> load_use_cases() {
  constexpr std::string_view kOrigin = "data/use_cases.yaml";
  return read_use_cases(parse_yaml(built_in_use_cases(), kOrigin), kOrigin);
}

}  // namespace gpuplan
