#pragma once
/// A value with where it came from. A fact is unknown until something says it, and unknown is never zero.
///
/// Facts are small and constant-initialised, so that the built-in catalogue costs nothing at start-up: the text of a source
/// stands once in the catalogue's table, a fact holds its index.

#include <gpuplan/base/error.hpp>

#include <cstdint>
#include <string_view>

namespace gpuplan {

/// How a value is known, from best to worst. `unknown` means that there is none.
enum class Mark : std::uint8_t { unknown, published, measured, derived, from_memory };
std::string_view to_string(Mark mark);

/// Which layer of the catalogue set a value; later ones win.
enum class Layer : std::uint8_t { built_in, store, system, user, project, flag };
std::string_view to_string(Layer layer);

/// One source of facts: public address or description, the day it was read, the layer it came with.
struct Source {
  std::string_view text;
  std::string_view observed_on;  ///< YYYY-MM-DD or YYYY-MM; empty when the source gives no day
  Layer layer = Layer::built_in;
};

using SourceId = std::uint16_t;  ///< index into Catalog::sources()

template <class T>
struct Fact {
  T value{};
  Mark mark = Mark::unknown;
  SourceId source = 0;

  [[nodiscard]] constexpr bool known() const { return mark != Mark::unknown; }
  [[nodiscard]] constexpr T or_else(T fallback) const { return known() ? value : fallback; }
  /// The value of a fact that the caller has checked.
  [[nodiscard]] constexpr const T& operator*() const {
    GPUPLAN_ASSERT(known(), "a fact is read only when it is known");
    return value;
  }
};

}  // namespace gpuplan
