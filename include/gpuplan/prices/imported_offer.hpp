#pragma once
/// A row of somebody else's price list, in our words: what every importer makes and the store keeps.
///
/// A price is what the list says, in its currency, unit and scope; nothing is converted on the way in, so that what was
/// imported can be compared with where it came from. Unknown is unknown: a list that says 0.00 for "not sold" has no price.

#include <gpuplan/catalog/records.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace gpuplan {

struct ImportedOffer {
  std::string provider;               ///< name in the catalogue where it has one, else the list's word in lower case
  std::string gpu;                    ///< name in the catalogue where it resolves, else as the list says; empty: none
  std::optional<std::int64_t> count;  ///< whole GPUs sold together; empty: a part of one, or not said
  std::optional<double> share;        ///< of one GPU, below 1, where a part of one is sold
  PriceScope scope = PriceScope::instance;
  bool includes_host = true;  ///< false: vCPU and RAM are billed apart
  bool marketplace = false;
  Contract contract = Contract::on_demand;
  std::string term;
  std::optional<double> term_months;
  std::optional<double> price;  ///< for the instance or one GPU (`scope`), per `unit`
  std::string currency = "USD";
  PriceUnit unit = PriceUnit::hour;
  Vat vat = Vat::unknown;
  std::string region, country, interconnect;
  std::optional<double> network_gbit_per_s, vcpus, ram_gb, storage_gb;
  std::optional<double> gpu_memory_gb;  ///< of one GPU, as the list says after its units were mended
  std::string product;                  ///< instance type, or the list's own name of the thing
  std::string tier;                     ///< tells apart what is otherwise the same: zone, machine, edition
  std::string model;                    ///< of a token price; the prices are in `currency`, per million tokens
  std::optional<double> input_per_1m, output_per_1m;
  std::string interruption;               ///< of spot: the band that the list gives, as text; lists give no time window
  std::optional<double> savings_percent;  ///< of spot against on demand; negative: dearer
  Confidence confidence = Confidence::aggregator;
  bool rankable = true;  ///< may compete; false says `why_not`
  std::string why_not;
  std::string observed_on;  ///< YYYY-MM-DD; empty: the list does not say
  std::string source;       ///< address or file
  std::string notes;
};

/// What the row is of, without what it costs and how that is stated: rows of two imports with one key are the same thing.
std::string identity_of(const ImportedOffer& offer);

/// Price of one GPU and hour in the row's currency as stated (VAT and all); empty without price, whole GPUs or host.
std::optional<double> stated_gpu_hour(const ImportedOffer& offer);

}  // namespace gpuplan
