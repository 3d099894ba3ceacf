#pragma once
/// Money carries its currency; adding two currencies is a bug in us and throws std::logic_error: convert first.

#include <gpuplan/catalog/catalog.hpp>

#include <string_view>

namespace gpuplan {

struct Money {
  double amount = 0;
  std::string_view currency;  ///< ISO code, from the catalogue
};
Money operator+(Money a, Money b);
Money operator*(double factor, Money m);

/// Converts with the catalogue's dated rates. Both currencies must be in the catalogue.
Money convert(const Catalog& catalog, Money money, std::string_view currency);

}  // namespace gpuplan
