#pragma once
/// Importing a text in a test: all offers and the summary.

#include <gpuplan/prices/import.hpp>

#include "catalogues.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan::testing {

struct Imported {
  std::vector<ImportedOffer> offers;
  ImportSummary summary;

  [[nodiscard]] const ImportedOffer& one(std::string_view product, Contract contract = Contract::on_demand,
                                         std::string_view region = {}) const {
    for (const ImportedOffer& offer : offers) {
      if (offer.product == product && offer.contract == contract && (region.empty() || offer.region == region))
        return offer;
    }
    throw std::runtime_error("no offer of " + std::string(product));
  }
  static std::int64_t rows(const std::vector<ImportReason>& reasons, std::string_view id) {
    std::int64_t sum = 0;
    for (const ImportReason& reason : reasons) sum += reason.id == id ? reason.rows : 0;
    return sum;
  }
  [[nodiscard]] std::int64_t dropped(std::string_view id) const { return rows(summary.dropped, id); }
  [[nodiscard]] std::int64_t mended(std::string_view id) const { return rows(summary.mended, id); }
};

inline Imported imported(std::string_view format, const std::string& text, const std::string& provider = {}) {
  Imported result;
  ImportContext context;
  context.catalog = &built_in();
  context.provider = provider;
  const auto source = price_text(text, "list");
  result.summary = import_prices(*find_price_format(format), *source, context,
                                 [&](ImportedOffer&& offer) { result.offers.push_back(std::move(offer)); });
  return result;
}

}  // namespace gpuplan::testing
