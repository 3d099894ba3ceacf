#pragma once
/// From the planner's results and the catalogue to documents.

#include <gpuplan/planner/batch_estimate.hpp>
#include <gpuplan/planner/compare.hpp>
#include <gpuplan/planner/estimate.hpp>
#include <gpuplan/planner/offer_rules.hpp>
#include <gpuplan/planner/owned.hpp>
#include <gpuplan/planner/parts.hpp>
#include <gpuplan/planner/parts_estimate.hpp>
#include <gpuplan/planner/roofline.hpp>
#include <gpuplan/planner/solve.hpp>
#include <gpuplan/planner/token_apis.hpp>
#include <gpuplan/planner/topology.hpp>
#include <gpuplan/planner/training.hpp>
#include <gpuplan/planner/training_estimate.hpp>
#include <gpuplan/prices/store.hpp>
#include <gpuplan/report/document.hpp>
#include <gpuplan/validation/start_log.hpp>
#include <gpuplan/validation/user_layer.hpp>
#include <gpuplan/validation/validate.hpp>

namespace gpuplan {

EstimateDocument report_estimate(const Catalog& catalog, const EstimateRequest& request, const Estimate& estimate,
                                 bool explain);
/// What given hardware carries.
FitDocument describe_answer(const LoadAnswer& answer);
/// Of a training job.
EstimateDocument report_training_estimate(const Catalog& catalog, const TrainingEstimateRequest& request,
                                          const TrainingEstimate& estimate, bool explain);
/// Of a network that does not generate token by token.
EstimateDocument report_estimate(const Catalog& catalog, const EstimateRequest& request, const PartsEstimate& estimate,
                                 bool explain);
/// Of requests that nobody waits for.
EstimateDocument report_estimate(const Catalog& catalog, const EstimateRequest& request, const BatchEstimate& estimate,
                                 bool explain);
/// What stands beside the ranking of an estimate: services that sell the same tokens, machines that are bought.
struct AlternativesRequest {
  std::vector<ListedTokenPrice> imported;
  std::optional<OwnedTerms> owned;  ///< empty: none is asked for
};
void add_alternatives(const Catalog& catalog, const EstimateRequest& request, const Estimate& estimate,
                      const AlternativesRequest& asked, EstimateDocument& d);
void add_alternatives(const Catalog& catalog, const EstimateRequest& request, const BatchEstimate& estimate,
                      const AlternativesRequest& asked, EstimateDocument& d);
MemoryReport report_memory(const Catalog& catalog, const EstimateRequest& request, const Estimate& estimate,
                           bool explain);

/// The footprint of a network that does not generate token by token.
MemoryReport report_parts(const Catalog& catalog, const JobSpec& job, const PartsPlan& plan, bool explain);

TrainingReport report_training(const Catalog& catalog, const TrainingRequest& request, const TrainingPlan& plan,
                               bool explain);

CompareDocument report_compare(const Catalog& catalog, const EstimateRequest& request,
                               const std::vector<ComparedOffer>& offers);
/// The fabric, drawn; collectives over all its devices by size; kinds of links side by side.
TopologyDocument report_topology(const Catalog& catalog, const TopologyRequest& request, const TopologyPlan& plan,
                                 bool explain);

RooflineDocument report_roofline(const Catalog& catalog, const RooflinePlan& plan, bool explain);

/// Whose measurements are asked for; empty: of all.
struct SupportQuery {
  const ModelPreset* model = nullptr;
  std::vector<const Accelerator*> accelerators;
  std::string program;  ///< engine, runtime or framework
  std::string format;
};
/// Groups of measured rows, the nearest first.
ListDocument list_evidence(const Catalog& catalog, const SupportQuery& query);

/// What a list is narrowed by; empty: everything.
struct ListFilter {
  std::vector<const Accelerator*> accelerators;
  std::vector<const Provider*> providers;
  std::vector<Contract> contracts;
  std::string region;
  std::string country;
  OfferRules rules;             ///< of offers
  bool by_price_alone = false;  ///< offers of all classes in one order
  std::string text;             ///< part of a name, alias, vendor, family or architecture
};
ListDocument list_gpus(const Catalog& catalog, const ListFilter& filter);
ListDocument list_models(const Catalog& catalog, const ListFilter& filter);
ListDocument list_providers(const Catalog& catalog, const ListFilter& filter, const Date& as_of);
/// Offers with the price of one GPU and hour in `currency`, class by class, cheapest first; those that cannot be ranked come
/// last, with why. What the rules refuse is left out and told below.
ListDocument list_offers(const Catalog& catalog, const ListFilter& filter, std::string_view currency, VatHandling vat);

/// Imported prices: what an import did, what the store holds.
ListDocument list_price_formats();
ListDocument list_import(const ImportSummary& summary, const Snapshot& snapshot, const std::string& store);
ListDocument list_snapshots(const std::vector<Snapshot>& snapshots);
/// The price of one GPU and hour in `currency`, without VAT, at the catalogue's dated rates, beside what the list says.
ListDocument list_stored_offers(const Catalog& catalog, const std::vector<StoredOffer>& offers,
                                std::string_view currency);
ListDocument list_history(const Catalog& catalog, const std::vector<PriceSeries>& series, std::string_view currency);
ListDocument list_differences(const std::vector<PriceDifference>& differences);
ListDocument list_findings(const std::vector<LintFinding>& findings);
/// The columns of our own CSV.
ListDocument export_stored_offers(const std::vector<StoredOffer>& offers);
/// ▁▂▃▄▅▆▇█ over the range of the values; one level when they are all the same.
std::string sparkline(const std::vector<double>& values);

RecordDocument show_gpu(const Catalog& catalog, const Accelerator& record);
/// A model's facts, what they add up to, its parts and their tensors, and where each was read.
RecordDocument show_model(const Catalog& catalog, const ResolvedModel& model);
RecordDocument show_provider(const Catalog& catalog, const Provider& record);
RecordDocument show_offer(const Catalog& catalog, const Offer& record);

/// The constants that a fit to the user's rows changed, and where they were written.
ListDocument list_calibration(const UserCalibration& calibration, const std::string& layer);

/// Errors by group and the rows that are farthest off.
/// @param keys  what rows are grouped by; @param worst  how many of the rows that are farthest off are listed
ValidateDocument report_validation(const Validation& validation, std::span<const std::string> keys, std::size_t worst);
StartLogDocument report_start_log(const StartLog& log, std::span<const LogPrediction> predictions);

}  // namespace gpuplan
