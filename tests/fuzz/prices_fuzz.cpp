// Fuzz target of the readers of price lists. The first byte says which format, the second how large the pieces are that the
// list comes in; names are looked up in the small catalogue of the golden runs.

#include "catalog/embedded.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/prices/import.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace gpuplan {

// Nothing is built in here, so that the facts need not be compiled for this.
const CatalogView& built_in_catalog() {
  static const CatalogView none;
  return none;
}

}  // namespace gpuplan

namespace {

class Pieces : public gpuplan::PriceText {
 public:
  Pieces(std::string_view text, std::size_t piece) : PriceText("list"), text_(text), piece_(piece) {}
  std::size_t read(char* out, std::size_t size) override {
    const std::size_t count = std::min({size, piece_, text_.size()});
    std::memcpy(out, text_.data(), count);
    text_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view text_;
  std::size_t piece_;
};

const gpuplan::Catalog& names() {
  static const gpuplan::Catalog catalog = gpuplan::load_catalog({{GPUPLAN_FUZZ_CATALOG, gpuplan::Layer::flag, {}}});
  return catalog;
}

void check(const gpuplan::ImportedOffer& offer) {
  for (const auto& amount : {offer.price, offer.input_per_1m, offer.output_per_1m, offer.vcpus, offer.ram_gb,
                             offer.storage_gb, offer.gpu_memory_gb, offer.term_months, offer.network_gbit_per_s}) {
    GPUPLAN_ASSERT(!amount || (std::isfinite(*amount) && *amount >= 0), "amounts are finite and not negative");
  }
  GPUPLAN_ASSERT(!offer.count || *offer.count >= 1, "what is sold has at least one device");
  GPUPLAN_ASSERT(offer.rankable || !offer.why_not.empty(), "what does not compete says why");
  const auto hour = gpuplan::stated_gpu_hour(offer);
  GPUPLAN_ASSERT(!hour || std::isfinite(*hour), "the price of an hour is finite");
  (void)gpuplan::identity_of(offer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto formats = gpuplan::price_formats();
  const gpuplan::PriceFormat& format = formats[data[0] % formats.size()];
  const std::size_t piece = data[1] == 0 ? size : data[1];
  Pieces text(std::string_view(reinterpret_cast<const char*>(data) + 2, size - 2), piece);
  gpuplan::ImportContext context;
  context.catalog = &names();
  context.provider = "northwind";
  std::int64_t kept = 0;
  try {
    const gpuplan::ImportSummary summary =
        gpuplan::import_prices(format, text, context, [&kept](gpuplan::ImportedOffer&& offer) {
          check(offer);
          ++kept;
        });
    GPUPLAN_ASSERT(summary.kept == kept && summary.rankable <= kept, "the summary counts the offers");
  } catch (const gpuplan::InputError& error) {
    for (const gpuplan::Problem& problem : error.problems()) (void)gpuplan::format_problem(problem);
  }
  return 0;
}
