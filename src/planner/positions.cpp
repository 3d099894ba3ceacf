#include <gpuplan/planner/positions.hpp>

#include <gpuplan/base/text.hpp>

#include <string>

namespace gpuplan {

std::optional<Warning> beyond_positions(const Architecture& architecture, std::int64_t tokens, std::string_view flag) {
  const std::int64_t most = architecture.max_position;
  if (most <= 0 || tokens <= most) return std::nullopt;
  const auto words = [](std::int64_t n) { return format_whole(static_cast<double>(n)); };
  if (architecture.learned_positions) {
    throw InputError(
        Problem{"input.out_of_range",
                "a sequence of " + words(tokens) + " tokens, and the model has learned " + words(most) + " positions",
                Place{std::string(flag), 0, 0},
                "at most " + words(most),
                {},
                {}});
  }
  return Warning{"model.positions", "sequences of " + words(tokens) + " tokens are longer than the " + words(most) +
                                        " positions of the model: engines refuse them unless positions are scaled"};
}

}  // namespace gpuplan
