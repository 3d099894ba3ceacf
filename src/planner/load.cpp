#include <gpuplan/planner/load.hpp>

#include <array>

namespace gpuplan {
namespace {

constexpr std::array<std::string_view, 5> kBounds = {"memory", "engine", "ttft", "tpot", "e2e"};

}  // namespace

std::string_view to_string(LoadBound value) { return kBounds[static_cast<std::size_t>(value)]; }

}  // namespace gpuplan
