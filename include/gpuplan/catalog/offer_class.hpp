#pragma once
/// What is compared with what: boards on a fabric, cards in slots, consumer cards; machines of a data centre, machines of anybody.
///
/// Prices of one accelerator differ by class more than by provider, and a card in a slot is no substitute for a board on a
/// fabric. Offers are ranked and compared within a class unless it is asked otherwise.

#include <gpuplan/catalog/catalog.hpp>

#include <optional>
#include <string>
#include <vector>

namespace gpuplan {

enum class BoardClass : std::uint8_t { fabric, slot, consumer, integrated, cpu };
inline constexpr BoardClass kBoardClasses[] = {BoardClass::fabric, BoardClass::slot, BoardClass::consumer,
                                               BoardClass::integrated, BoardClass::cpu};  ///< as lists go
std::string_view to_string(BoardClass value);

struct OfferClass {
  BoardClass board = BoardClass::slot;
  bool marketplace = false;  ///< hosted by third parties
  friend bool operator==(const OfferClass&, const OfferClass&) = default;
};
std::string to_string(const OfferClass& value);  ///< `fabric`, `consumer, marketplace`

BoardClass board_class(const Accelerator& accelerator);
/// Of an offer whose accelerator is known.
OfferClass offer_class(const Accelerator& accelerator, const Provider& provider, const Offer& offer);

/// A price so many times its class' median, either way, is told: more often a slip of whoever copied it than a bargain. The factor is a choice.
inline constexpr double kPriceBand = 4;
/// The middle one; empty: fewer than five make no class.
std::optional<double> class_median(std::vector<double> prices);

}  // namespace gpuplan
