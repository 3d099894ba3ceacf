#pragma once
/// From a job for a network that does not generate token by token to ranked options: how fast, at what price, and why the rest
/// does not.
///
///     PartsEstimate e = estimate_parts(catalog, request, model);
///     e.options.front().per_1000_items;
///
/// Every device holds the whole network and works by itself, so that throughput grows with their number. A kind of device is
/// fitted and timed once and joined to every offer of it.

#include <gpuplan/cost/job_cost.hpp>
#include <gpuplan/perf/parts.hpp>
#include <gpuplan/planner/job_limits.hpp>
#include <gpuplan/planner/parts.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gpuplan {

/// What goes in or comes out one by one; `recording` is measured in seconds of sound, too.
enum class ItemKind : std::uint8_t { image, video, document, recording, sample };
std::string_view to_string(ItemKind value);
ItemKind item_kind(const Network& network);

/// One way to run the job on one offer.
struct PartsOption {
  const Provider* provider = nullptr;
  const Offer* offer = nullptr;
  const Accelerator* accelerator = nullptr;
  std::int64_t instances = 1;
  std::int64_t devices = 1;
  std::int64_t hosts = 1;
  bool count_is_assumed = false;  ///< the price is of one device; that several share a host is assumed
  PartsJob job;                   ///< with the batch that is run
  PartsMemory memory;             ///< of one device
  PartsTime time;                 ///< of one device
  Breakdown<double> bill;         ///< money of a month; of a job that ends what is billed for it
  double per_hour = 0;
  double per_month = 0;
  double hours_per_month = kHoursPerMonth;
  double per_1000_items = 0;
  std::optional<double> per_1m_tokens;
  std::optional<double> per_audio_hour;
  std::optional<Interval<Seconds>> total;  ///< of a job that ends
  double total_cost = 0;                   ///< the bill's
  std::optional<std::int64_t> price_age_days;
  bool on_pareto_front = false;
  std::int64_t dominated_by = 0;  ///< rank of an option that is no dearer and no slower; 0: none
};

struct PartsEstimate {
  PartsPlan plan;
  ItemKind item = ItemKind::image;
  std::vector<PartsOption> options;  ///< ranked
  std::vector<RejectedOffer> rejected;
  std::vector<Warning> warnings;
  JobLimits limits;            ///< as asked for
  bool limits_failed = false;  ///< there are options, but none within the deadline or budget
};

/// Throws InputError as `plan_parts`, and when the job counts what the network does not work on.
/// @param limits  of a job that ends: an offer is rented as often as it takes to be in time
PartsEstimate estimate_parts(const Catalog& catalog, const EstimateRequest& request, const ResolvedModel& model,
                             const JobLimits& limits = {});

/// Evaluates an option again with a recorder: the terms of memory, time and money.
void explain_option(const Catalog& catalog, const EstimateRequest& request, const PartsEstimate& estimate,
                    const PartsOption& option, Explain& why);

}  // namespace gpuplan
