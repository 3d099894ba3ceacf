#pragma once
/// What a service that is on for some hours of the week costs a month, by what each contract goes on billing while it is off.
///
///     apply_duty(catalog, request, weights, options);   // before they are ranked
///
/// - what is paid by the month or for a term (dedicated, reserved, owned) cannot be stopped: all hours are billed;
/// - of a machine by the hour each time that it is on is billed in whole quanta, and at least the shortest run;
/// - while it is off it costs nothing, its disk (the weights, at the provider's price of storage), or as much as when it is on, as the
///   provider's terms say; unknown terms are taken as those of a machine that is deleted: nothing.

#include <gpuplan/job/duty.hpp>
#include <gpuplan/planner/estimate.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace gpuplan {

/// What goes on while the service is off.
enum class OffBilling : std::uint8_t { nothing, unknown, storage, storage_unpriced, all };
std::string_view to_string(OffBilling value);

struct DutyCost {
  double billed_hours = 0;  ///< a month
  OffBilling off = OffBilling::nothing;
  double storage_per_month = 0;  ///< of the weights while the service is off, in the request's currency
};
DutyCost duty_cost(const Catalog& catalog, const EstimateRequest& request, const Duty& duty, const Provider& provider,
                   const Offer& offer, Bytes weights);

/// Months of all options by the request's duty, without which nothing changes. Each option's `hours_per_month` becomes the hours that are
/// billed.
void apply_duty(const Catalog& catalog, const EstimateRequest& request, Bytes weights, std::vector<Option>& options);

/// What is not known of the first option's off state.
void warn_of_duty(const Catalog& catalog, const EstimateRequest& request, const Estimate& estimate,
                  std::vector<Warning>& warnings);

}  // namespace gpuplan
