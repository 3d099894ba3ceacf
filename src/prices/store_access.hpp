#pragma once
// What the parts of the store share of its tables.

#include <gpuplan/prices/store.hpp>

#include "database.hpp"

namespace gpuplan {

class StoreAccess {
 public:
  // Columns of an offer `o` and its snapshot `s`, as `select` reads them.
  static std::string columns();
  static std::string where(const StoreQuery& query);  // of an offer `o`
  static std::vector<StoredOffer> select(PriceStore& store, const std::string& sql);
  static Database& database(PriceStore& store);
};

}  // namespace gpuplan
