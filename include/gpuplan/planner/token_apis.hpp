#pragma once
/// The same tokens bought by the million: what the services that sell a network's tokens ask for the work of the rented option, and
/// from which volume on renting is cheaper.
///
///     const auto apis = token_alternatives(catalog, "llama-3.1-8b", rented, imported);
///     apis.front().cost;                  // of the same requests
///     apis.front().break_even.requests;   // from so many on renting wins; empty: the service is always cheaper
///
/// A service's name of a network is looked up whole, then without what follows it after a '-' (`-turbo`, `-fp8`, `-0528`), which names an
/// edition of the same network; never without a size (`-14b`), which names another.

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/cost/break_even.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

/// A price of tokens from somebody's list, in no file of facts.
struct ListedTokenPrice {
  std::string provider, model;
  std::optional<double> input_per_1m, output_per_1m;
  std::string currency = "USD";
  Vat vat = Vat::unknown;
  std::string observed_on, source;
};

/// One rented option: what it costs for as long as it is billed at least, and what it does in that time.
struct RentedWork {
  std::string name;     ///< of the offer
  double cost = 0;      ///< of a month; of a job, the least that is billed
  double requests = 0;  ///< done in that time, at the load of the option
};

struct TokenComparison {
  TokenLoad request;               ///< of an average request
  double requests = 0;             ///< that the service is asked the price of: a month of the first option, or the job
  std::vector<RentedWork> rented;  ///< all options
  std::string_view currency = "USD";
  VatHandling vat;
};

struct TokenAlternative {
  std::string provider, title, model;  ///< the model as the service calls it
  bool same_name = true;               ///< false: an edition of the network with another name
  std::optional<double> input_per_1m, output_per_1m, cached_input_per_1m;  ///< in the currency asked for
  double per_request = 0;
  double cost = 0;             ///< of all requests
  VolumeBreakEven break_even;  ///< against the rented option that wins first
  std::string rented;          ///< that option; empty: none ever wins
  std::string observed_on, source;
  bool imported = false;
};

/// Cheapest first. Prices that a part of the request has none of are left out.
std::vector<TokenAlternative> token_alternatives(const Catalog& catalog, std::string_view model,
                                                 const TokenComparison& work,
                                                 std::span<const ListedTokenPrice> imported);

/// The preset that a service's name of a model stands for; null when it is none of the catalogue. `same_name` says whether nothing was cut off.
const ModelPreset* preset_of_service(const Catalog& catalog, std::string_view name, bool& same_name);

}  // namespace gpuplan
