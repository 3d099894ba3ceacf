#pragma once
/// What a job that ends costs on an offer: the bill of `instances` for a duration, term by term.
///
///     const auto bill = job_cost(catalog, {.provider = &p, .offer = &o, .instances = 4, .duration = hours(36.2)}, nullptr);
///     bill->p50();            // what it costs if it takes as long as expected
///     bill->terms.of("idle")  // of that, what is billed beyond the use: the rest of the hour, of the month, of the term
///
/// Terms: `compute`, `host_cpu`, `host_ram`, `host_disk` for the seconds that are used; `idle` for what the billing quantum,
/// the shortest term and the least quantity bill beyond them; `upfront` paid at the start of each term; `storage` at rest;
/// `egress`; `setup`; `tax` with VAT. They add up, in every currency. Nothing is rounded up but durations; `rounded` gives
/// amounts in whole cents that still add up.
///
/// What is billed: whole months where the price is for a month, whole terms where a term was reserved, else whole quanta of
/// the offer's or provider's granularity, at least the shortest time that they bill. Where neither says its granularity, the unit of
/// the price is taken, and `granularity_is_assumed` says so. docs/PHYSICS.md, "Money".

#include <gpuplan/base/breakdown.hpp>
#include <gpuplan/base/explain.hpp>
#include <gpuplan/base/units.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/cost/offer_cost.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gpuplan {

struct JobCostInputs {
  const Provider* provider = nullptr;
  const Offer* offer = nullptr;
  std::int64_t instances = 1;  ///< of the smallest quantity sold together
  Seconds duration;            ///< that the instances work, as expected (P50)
  Seconds duration_high;       ///< the same at P90; less than `duration`: as long
  std::string_view currency = "USD";
  VatHandling vat = VatHandling::exclude;
  Bytes stored;                                  ///< at rest while the job runs: weights, checkpoints, data
  Seconds stored_for;                            ///< zero: as long as the instances are billed
  StorageKind stored_in = StorageKind::unknown;  ///< unknown: whatever is cheapest
  Bytes egress;                                  ///< that leave the provider's network, once
};

/// The job that an offer is used for so long; less than `duration` as `duration_high`: as long.
JobCostInputs job_on(const CostInputs& offer, Seconds duration, Seconds duration_high = {});

struct JobCost {
  Breakdown<double> terms;  ///< value at the expected duration, high at P90
  Seconds billed;           ///< of one instance
  Seconds billed_high;
  std::int64_t instances = 1;  ///< that are billed: no fewer than the provider rents out
  bool granularity_is_assumed = false;
  bool storage_is_unpriced = false;  ///< bytes are kept, but the provider's price for that is unknown: not in the terms
  bool egress_is_unpriced = false;
  bool tax_is_unknown = false;  ///< asked for with VAT, and the provider's rate is not known: not in the terms

  [[nodiscard]] double p50() const { return terms.total(); }
  [[nodiscard]] double p90() const { return terms.high(); }
};

/// Null when the offer has no price. Durations and bytes are finite and not negative.
std::optional<JobCost> job_cost(const Catalog& catalog, const JobCostInputs& in, Explain* why);

/// What is billed of one instance that works so long.
struct BilledTime {
  Seconds time;
  Seconds quantum;  ///< it is a multiple of
  Seconds least;    ///< it is at least
  bool quantum_is_assumed = false;
};
BilledTime billed_time(const Provider& provider, const Offer& offer, Seconds duration);

/// Amounts in whole cents whose sum is the rounded total: each term ends where the rounded running sum does.
Breakdown<double> rounded(const Breakdown<double>& terms);

}  // namespace gpuplan
