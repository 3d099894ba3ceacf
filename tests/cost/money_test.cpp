#include <gpuplan/cost/money.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

#include <stdexcept>

namespace gpuplan::testing {

TEST_CASE("money: amounts of one currency add and scale", "[cost]") {
  const Money sum = Money{1.5, "RUB"} + Money{2.5, "RUB"};
  CHECK(sum.amount == Approx(4));
  CHECK(sum.currency == "RUB");
  CHECK((3.0 * sum).amount == Approx(12));
}

TEST_CASE("money: adding two currencies throws", "[cost]") {
  CHECK_THROWS_AS((Money{1, "RUB"} + Money{1, "USD"}), std::logic_error);
}

TEST_CASE("money: it is converted through the dollar at the catalogue's rates", "[cost]") {
  const Catalog catalog = with_overlay(
      "replace: true\n"
      "rates: [{currency: USD, per_usd: 1}, {currency: EUR, per_usd: 0.8}, {currency: RUB, per_usd: 80}]\n");
  CHECK(convert(catalog, {160, "RUB"}, "USD").amount == Approx(2));    // 160 / 80
  CHECK(convert(catalog, {2, "USD"}, "RUB").amount == Approx(160));    // 2 * 80
  CHECK(convert(catalog, {160, "RUB"}, "EUR").amount == Approx(1.6));  // 2 USD * 0.8
  CHECK(convert(catalog, {160, "RUB"}, "RUB").amount == Approx(160));
  CHECK(convert(catalog, {160, "RUB"}, "EUR").currency == "EUR");
}

TEST_CASE("money: there and back again is the same amount for every pair of currencies", "[cost]") {
  for (const CurrencyRate& from : built_in().currencies()) {
    for (const CurrencyRate& to : built_in().currencies()) {
      CAPTURE(from.currency, to.currency);
      const Money there = convert(built_in(), {123.45, from.currency}, to.currency);
      CHECK(there.amount > 0);
      CHECK(convert(built_in(), there, from.currency).amount == Approx(123.45));
    }
  }
}

}  // namespace gpuplan::testing
