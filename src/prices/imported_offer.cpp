#include <gpuplan/prices/imported_offer.hpp>

#include <gpuplan/base/text.hpp>
#include <gpuplan/prices/import.hpp>

#include <string_view>

namespace gpuplan {

std::string identity_of(const ImportedOffer& offer) {
  std::string key;
  const auto add = [&](std::string_view part) {
    if (!key.empty()) key += '/';
    for (const char c : part) key += c == '/' ? '|' : c;
  };
  add(offer.provider);
  if (!offer.model.empty()) {
    add(to_string(offer.contract));
    add(offer.model);
    add(offer.region);
    add(offer.tier);
    return key;
  }
  add((offer.gpu.empty() ? std::string("none") : to_lower(offer.gpu)) + "-x" +
      (offer.count   ? std::to_string(*offer.count)
       : offer.share ? format_shortest(*offer.share)
                     : std::string("unknown")));
  add(to_string(offer.contract));
  add(offer.region.empty() ? std::string_view("any") : std::string_view(offer.region));
  add(offer.product.empty() ? std::string_view("-") : std::string_view(offer.product));
  add(offer.term.empty() ? std::string_view("-") : std::string_view(offer.term));
  add(offer.tier.empty() ? std::string_view("-") : std::string_view(offer.tier));
  while (key.ends_with("/-")) key.resize(key.size() - 2);
  return key;
}

std::optional<double> stated_gpu_hour(const ImportedOffer& offer) {
  if (!offer.price || !offer.count || *offer.count < 1 || !offer.includes_host) return std::nullopt;
  double hour = *offer.price;
  if (offer.scope == PriceScope::instance) hour /= static_cast<double>(*offer.count);
  if (offer.unit == PriceUnit::second) hour *= 3600;
  if (offer.unit == PriceUnit::month) hour /= 730;
  return hour;
}

}  // namespace gpuplan
