#pragma once
// Pieces of documents that several reports share.

#include <gpuplan/planner/quality.hpp>
#include <gpuplan/report/build.hpp>
#include <gpuplan/validation/evidence.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

CatalogStamp stamp_of(const Catalog& catalog);
ModelDocument describe_model(const JobSpec& job, const Estimate& estimate);
std::vector<JobValue> describe_job(const JobSpec& job, const Estimate& estimate);
MemoryDocumentPart describe_memory(const InferenceMemory& memory, std::int64_t max_concurrency);
LatencyDocument describe_latency(const ServingTime& time);
/// @param replicas  multiplies the output of one replica
TimeDocument describe_time(const ServingTime& time, double replicas);
LayoutDocument describe_layout(const Layout& layout, const Engine& engine);
std::vector<HardwareDocument> describe_hardware(const Estimate& estimate);

/// Of a network that does not generate token by token.
ModelDocument describe_network(const JobSpec& job, const PartsPlan& plan);
std::vector<JobValue> describe_parts_job(const JobSpec& job, const PartsPlan& plan);
MemoryDocumentPart describe_parts_memory(const PartsMemory& memory);
HardwareDocument describe_fit(const PartsPlan& plan, const PartsFit& fit);
RunDocument describe_run(const PartsTime& time, double devices);

/// Of a training job.
MemoryDocumentPart describe_training_memory(const TrainingMemory& memory);
/// 0 to 3.
double zero_stage(StateSharding sharding);

/// What an offer says of itself: provider, price, place.
void describe_offer(const Catalog& catalog, const Provider& provider, const Offer& offer,
                    std::optional<std::int64_t> price_age_days, OptionDocument& d);
/// `no option keeps the deadline of …`.
std::string kept_by_none(const JobLimits& limits, std::string_view currency);
/// What every option says of its offer and of its place in the ranking.
template <class Planned>
OptionDocument describe_planned(const Catalog& catalog, const Planned& option, std::int64_t rank) {
  OptionDocument d;
  d.rank = rank;
  describe_offer(catalog, *option.provider, *option.offer, option.price_age_days, d);
  d.accelerator = option.accelerator->name;
  d.count = option.devices;
  d.nodes = option.hosts;
  d.count_basis = option.count_is_assumed ? "assumed" : "listed";
  d.pareto = option.on_pareto_front;
  d.dominated_by = option.dominated_by;
  return d;
}
/// The replicas of a served model, their memory, and what they cost by the hour.
void describe_replicas(const Option& option, const Engine& engine, OptionDocument& d);
template <class Q>
Spread spread_of(const Interval<Q>& interval, double factor = 1) {
  return {interval.value.base() * factor, interval.low.base() * factor, interval.high.base() * factor};
}
/// The terms that `record` is told, where they are asked for.
template <class Record>
std::vector<ExplainedTerm> explained(bool is_asked, Record record) {
  Explain why;
  if (is_asked) record(why);
  return why.terms();
}
FilterDocument filters_of(const EstimateRequest& request);
/// What every estimate says beside its job and options, which are there already: catalogue, money, filters, what was left out, warnings.
void describe_market(const Catalog& catalog, const EstimateRequest& request, std::set<std::string_view> currencies,
                     const std::vector<RejectedOffer>& rejected, const std::vector<Warning>& warnings,
                     EstimateDocument& d);
template <class Planned>
std::set<std::string_view> currencies_of(const std::vector<Planned>& options) {
  std::set<std::string_view> used;
  for (const Planned& option : options) used.insert(option.offer->currency);
  return used;
}

/// What the format of the weights costs, by the nearest measurement.
QualityDocument describe_quality(const Catalog& catalog, const ServedModel& model);
/// @param program  engine, runtime or framework
EvidenceIndex evidence_of(const Catalog& catalog, EvidenceJob job, const ModelIdentity& model, std::string_view program,
                          std::string_view format);
EvidenceDocument describe_evidence(const Evidence& evidence);
/// Says of each option what measurements stand behind it; many are of one accelerator.
template <class Planned>
void attach_evidence(const EvidenceIndex& index, const std::vector<Planned>& options,
                     std::vector<OptionDocument>& documents) {
  std::map<const Accelerator*, EvidenceDocument> known;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto [entry, is_new] = known.try_emplace(options[i].accelerator);
    if (is_new) entry->second = describe_evidence(index.of(*options[i].accelerator));
    documents[i].evidence = entry->second;
  }
}

/// The same and the quality of a served model.
template <class Planned>
void attach_evidence(const Catalog& catalog, const Estimate& fit, const std::vector<Planned>& options,
                     std::vector<OptionDocument>& documents) {
  const QualityDocument quality = describe_quality(catalog, fit.model);
  for (OptionDocument& option : documents) option.quality = quality;
  attach_evidence(evidence_of(catalog, EvidenceJob::serve, fit.identity, fit.engine->name, fit.model.scheme.name),
                  options, documents);
}

/// `8 x a card at a provider, on_demand`.
template <class Planned>
std::string name_option(const Planned& option) {
  return std::to_string(option.devices) + " x " + std::string(option.accelerator->name) + " at " +
         std::string(option.provider->title) + ", " + std::string(to_string(option.offer->contract));
}

}  // namespace gpuplan
