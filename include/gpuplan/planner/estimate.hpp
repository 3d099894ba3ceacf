#pragma once
/// From a resolved job to ranked options: which hardware and layout carries it, how fast, at what price, and why the rest does not.
///
/// Time and memory depend on the hardware and the layout, not on who rents it out: each signature is evaluated once, all of
/// them in one array expression, and joined to every offer.

#include <gpuplan/base/parse.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/cost/offer_cost.hpp>
#include <gpuplan/deploy/deployment.hpp>
#include <gpuplan/job/duty.hpp>
#include <gpuplan/job/job.hpp>
#include <gpuplan/memory/inference.hpp>
#include <gpuplan/perf/serving.hpp>
#include <gpuplan/planner/load.hpp>
#include <gpuplan/planner/model_resolution.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpuplan {

/// Devices of a host where the catalogue has no node design for them: the usual limit of PCIe hosts.
inline constexpr std::int64_t kDevicesPerHost = 8;

enum class SortBy : std::uint8_t {
  cost,
  time,
  pareto,
  price
};  ///< price: of a list of offers; of options the same as cost
std::string_view to_string(SortBy value);
Parsed<SortBy> parse_sort(std::string_view text);

struct EstimateRequest {
  JobSpec job;
  HubAccess hub;                                 ///< for models that are repositories
  std::shared_ptr<const ResolvedModel> model;    ///< the job's model where it was read already; null: it is read
  std::vector<const Accelerator*> accelerators;  ///< empty: all
  std::optional<std::int64_t> count;             ///< devices in all
  std::vector<const Provider*> providers;        ///< empty: all
  std::vector<Contract> contracts;               ///< empty: all
  std::string region;                            ///< part of the region's name
  std::string country;                           ///< two letters
  std::string_view currency = "USD";
  VatHandling vat;
  Date as_of;
  std::optional<std::int64_t> max_age_days;    ///< of a price; older ones, and those without a day, are left out
  const FrameworkRelease* software = nullptr;  ///< that must run
  std::optional<double> min_quality;  ///< share of the original's quality that the format of the weights keeps at least
  SortBy sort = SortBy::cost;
  std::optional<Duty> duty;  ///< of a service that is not always on
};

/// The smallest number of one accelerator that carries the job.
struct HardwareFit {
  const Accelerator* accelerator = nullptr;
  Layout layout;
  std::int64_t demand = 1;           ///< requests that a replica must carry
  double most_running = 1;           ///< within the targets
  InferenceMemory memory;            ///< with the demand
  std::int64_t max_concurrency = 0;  ///< a replica
  std::optional<ServingTime> alone;
  std::optional<ServingTime> loaded;   ///< with every sequence that fits
  std::optional<Rejection> rejection;  ///< then the rest is empty
};

/// One way to run the job on one offer.
struct Option {
  const Provider* provider = nullptr;
  const Offer* offer = nullptr;
  const Accelerator* accelerator = nullptr;
  Fabric fabric;
  Layout layout;
  std::int64_t instances = 1;
  std::int64_t devices = 1;  ///< rented; may exceed the layout's
  std::int64_t hosts = 1;
  std::int64_t hosts_per_replica = 1;
  bool count_is_assumed = false;     ///< the price is of one device; that several share a host is assumed
  std::int64_t max_concurrency = 0;  ///< a replica, as memory and engine allow
  std::int64_t demand = 1;           ///< requests that a replica must carry, as asked
  double load = 1;                   ///< running requests of a replica in `at`
  CarriedLoad carried;               ///< how much that is, and what bounds it
  InferenceMemory memory;            ///< with the demand; what it leaves free is for more requests
  ServingTime alone;
  ServingTime asked;         ///< with the demand: what options are compared by
  ServingTime at;            ///< at `load`
  Breakdown<double> hourly;  ///< money an hour
  double per_hour = 0;
  double per_month = 0;
  double per_1m_output_tokens = 0;  ///< at that load
  double hours_per_month = kHoursPerMonth;
  std::optional<std::int64_t> price_age_days;
  bool on_pareto_front = false;
  std::int64_t dominated_by = 0;  ///< rank of an option that is no dearer and no slower; 0: none

  /// Replicas that carry the load; spare ones take part, too, and count in no figure.
  [[nodiscard]] std::int64_t working() const { return layout.dp - carried.spare; }
  [[nodiscard]] double output_tokens_per_s() const { return at.output.value.base() * static_cast<double>(working()); }
};

struct RejectedOffer {
  const Offer* offer = nullptr;
  Rejection rejection;
};

struct Estimate {
  ServedModel model;
  ModelIdentity identity;
  std::shared_ptr<const Engine> engine_release;  ///< with the rules of the release that was asked for
  const Engine* engine = nullptr;                ///< that
  RequestShape request;
  std::vector<HardwareFit> hardware;  ///< runnable ones first, fewest devices first
  std::vector<Option> options;        ///< ranked
  std::vector<RejectedOffer> rejected;
  std::vector<Warning> warnings;
  std::optional<std::int64_t> longest_context;  ///< that the first option's devices hold with one sequence
};

/// Throws InputError when the job cannot be: a job type that is not modelled, an unknown scheme, input beyond the context.
Estimate make_estimate(const Catalog& catalog, const EstimateRequest& request);

/// The hardware part alone: no offers, no options.
Estimate fit_job(const Catalog& catalog, const EstimateRequest& request);

/// Evaluates an option again with a recorder: the terms of memory, time and money.
void explain_option(const Catalog& catalog, const EstimateRequest& request, const Estimate& estimate,
                    const Option& option, Explain& why);

}  // namespace gpuplan
