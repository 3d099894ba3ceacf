#include <gpuplan/catalog/offer_class.hpp>

#include <algorithm>
#include <utility>

namespace gpuplan {
namespace {

// The form factors of data/gpus.yaml. A board that two bridges join is a card in a slot; a rack of them on a switch is a fabric.
constexpr std::pair<std::string_view, BoardClass> kForms[] = {
    {"sxm", BoardClass::fabric},          {"oam", BoardClass::fabric},
    {"tpu", BoardClass::fabric},          {"custom", BoardClass::fabric},
    {"wafer", BoardClass::fabric},        {"pcie", BoardClass::slot},
    {"consumer", BoardClass::consumer},   {"integrated", BoardClass::integrated},
    {"embedded", BoardClass::integrated}, {"cpu", BoardClass::cpu},
};
constexpr std::int64_t kBridged = 4;  // the most cards that bridges join

}  // namespace

std::string_view to_string(BoardClass value) {
  switch (value) {
    case BoardClass::fabric:
      return "fabric";
    case BoardClass::slot:
      return "slot";
    case BoardClass::consumer:
      return "consumer";
    case BoardClass::integrated:
      return "integrated";
    case BoardClass::cpu:
      return "cpu";
  }
  return {};
}

std::string to_string(const OfferClass& value) {
  return std::string(to_string(value.board)) + (value.marketplace ? ", marketplace" : "");
}

BoardClass board_class(const Accelerator& accelerator) {
  for (const auto& [form, board] : kForms) {
    if (form == accelerator.form_factor) return board;
  }
  return accelerator.scale_up_domain.or_else(1) > kBridged ? BoardClass::fabric : BoardClass::slot;
}

OfferClass offer_class(const Accelerator& accelerator, const Provider& provider, const Offer& offer) {
  return {board_class(accelerator), provider.marketplace || offer.marketplace};
}

std::optional<double> class_median(std::vector<double> prices) {
  constexpr std::size_t kLeast = 5;
  if (prices.size() < kLeast) return std::nullopt;
  const auto middle = prices.begin() + static_cast<std::ptrdiff_t>(prices.size() / 2);
  std::nth_element(prices.begin(), middle, prices.end());
  return *middle;
}

}  // namespace gpuplan
