#include <gpuplan/cost/money.hpp>

#include <stdexcept>
#include <string>

namespace gpuplan {

Money operator+(Money a, Money b) {
  if (a.currency != b.currency) {
    throw std::logic_error("adding " + std::string(a.currency) + " and " + std::string(b.currency));
  }
  return {a.amount + b.amount, a.currency};
}

Money operator*(double factor, Money m) { return {factor * m.amount, m.currency}; }

Money convert(const Catalog& catalog, Money money, std::string_view currency) {
  if (money.currency == currency) return money;
  const CurrencyRate* from = catalog.find_currency(money.currency);
  const CurrencyRate* to = catalog.find_currency(currency);
  GPUPLAN_ASSERT(from && to, "currencies are checked when they are read");
  return {money.amount * (*to->per_usd / *from->per_usd), to->currency};
}

}  // namespace gpuplan
