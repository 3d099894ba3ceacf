#pragma once
/// Whether a price stands far below its class, as `prices lint` finds it in lists: more often a slip of whoever copied it than a bargain.

#include <gpuplan/catalog/catalog.hpp>

#include <optional>
#include <string>

namespace gpuplan {

/// In words, when a device of the offer costs less than a quarter of the median of all rankable offers of its accelerator and contract,
/// of which there are five at least. Prices a device and hour in US dollars, without VAT.
std::optional<std::string> far_below_class(const Catalog& catalog, const Provider& provider, const Offer& offer);

}  // namespace gpuplan
