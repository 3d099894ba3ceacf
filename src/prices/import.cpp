#include <gpuplan/prices/import.hpp>

#include "import_run.hpp"

#include <gpuplan/base/text.hpp>

namespace gpuplan {

const PriceFormat* find_price_format(std::string_view name) {
  for (const PriceFormat& format : price_formats()) {
    if (lookup_key(format.name) == lookup_key(name)) return &format;
  }
  return nullptr;
}

ImportSummary import_prices(const PriceFormat& format, PriceText& text, const ImportContext& context,
                            const std::function<void(ImportedOffer&&)>& sink) {
  ImportRun run(text, context, sink);
  format.read(run);
  return run.finish();
}

}  // namespace gpuplan
