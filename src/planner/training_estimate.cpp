#include <gpuplan/planner/training_estimate.hpp>

#include "jobs.hpp"
#include "offers.hpp"
#include "training_checks.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/memory/training_terms.hpp>
#include <gpuplan/perf/training_search.hpp>
#include <gpuplan/planner/job_limits.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

constexpr double kTokensPerParameter = 20;          // Hoffmann et al. 2022, arXiv:2203.15556
constexpr double kUsualFineTuning = 10e6;           // tokens: some ten thousand conversations
constexpr double kUsualBatchTokens = 4194304;       // a step of pretraining, as Llama 3 began with (arXiv:2407.21783)
constexpr std::int64_t kUsualFineTuningBatch = 64;  // sequences
constexpr std::int64_t kMostDevices = 1 << 16;

std::int64_t usual_batch(const TrainingEstimateRequest& request) {
  const TrainingSpec& job = request.training.training;
  if (request.load.is_said("grad-accum") && request.load.is_said("micro-batch") && request.training.count)
    return job.micro_batch * job.grad_accum *
           std::max<std::int64_t>(1, *request.training.count / (job.tp * job.pp * job.cp));
  if (job.method != TrainingMethod::pretrain) return kUsualFineTuningBatch;
  const double sequences = kUsualBatchTokens / as_double(std::max<std::int64_t>(1, job.sequence));
  std::int64_t batch = 1;
  while (as_double(batch) * 2 <= sequences) batch *= 2;
  return batch;
}

// Seconds to write a checkpoint, at what a shared file system gives one client: the median of those whose figures are known.
BytesPerSecond checkpoint_rate(const Catalog& catalog) {
  std::vector<double> rates;
  for (const StorageClass& storage : catalog.storage_classes()) {
    if (storage.kind != StorageKind::file) continue;
    const double clients = as_double(std::max<std::int64_t>(1, storage.clients.or_else(1)));
    const bool shared = storage.scope == StorageScope::aggregate && storage.clients.known();
    if (storage.scope != StorageScope::client && storage.scope != StorageScope::node && !shared) continue;
    const BytesPerSecond rate = storage.write.known() ? *storage.write : storage.read.or_else({});
    if (rate > BytesPerSecond{}) rates.push_back(rate.base() / (shared ? clients : 1));
  }
  if (rates.empty()) return {};
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  return BytesPerSecond::from_base(*middle);
}

double failure_rate(const Catalog& catalog) {
  double most = 0;
  for (const FailureStudy& study : catalog.failure_studies()) {
    if (study.devices.known() && study.span.known() && study.interruptions.known())
      most = std::max(most, failures_per_device_hour(study));
  }
  return most;
}

// Weights, master weights and optimizer states, once.
Bytes checkpoint_of(const TrainingTimeInputs& in) {
  TrainingMemoryInputs whole = in.memory;
  whole.job.tp = whole.job.pp = whole.job.cp = whole.job.dp = whole.job.ep = 1;
  whole.job.vpp = 1;
  whole.job.sharding = StateSharding::none;
  const HeldStates held = held_states(whole, stage_shape(whole, 0));
  const Widths widths = whole.job.trains_adapters() ? adapter_widths(whole) : widths_of(whole);
  const double trained = held.dense_trained + held.expert_trained;
  return bytes(trained * (widths.weight + widths.master)) + held.dense_states + held.expert_states +
         bytes(held.adapter_trained * widths.weight) + held.adapter_states;
}

TrainingTimeInputs inputs_of(const Catalog& catalog, const TrainingEstimate& estimate, const Accelerator& accelerator,
                             const Fabric& fabric, const TrainingSpec& job) {
  TrainingTimeInputs in;
  in.memory.model = &estimate.model;
  in.memory.framework = estimate.framework;
  in.memory.visible = catalog.visible_memory(accelerator);
  in.memory.job = job;
  in.memory.catalog = &catalog;
  in.accelerator = &accelerator;
  in.fabric = fabric;
  return in;
}

JobCostInputs bill_of(const EstimateRequest& offers, const TrainingOption& option) {
  JobCostInputs in = job_on(use_of(offers, option), option.total.value, option.total.high);
  in.stored = option.checkpoint;
  return in;
}

// Equal hardware in equal number is laid out once, whoever offers it.
struct Laid {
  std::optional<LayoutChoice> choice;
  TrainingMemory memory;
  TrainingTime time;
  std::optional<Rejection> rejection;  // of a layout that does not fit: the rule alone, until it is told
  Bytes checkpoint;
};

class Planner {
 public:
  Planner(const Catalog& catalog, const TrainingEstimateRequest& request, TrainingEstimate& estimate)
      : catalog_(catalog), request_(request), estimate_(estimate), ceilings_(catalog), hosts_(catalog) {
    save_rate_ = checkpoint_rate(catalog);
    failures_ = failure_rate(catalog);
    held_once_ = held_once();
  }

  void run() {
    for (const Provider& provider : catalog_.providers()) {
      for (const Offer& offer : provider.offers) {
        if (!offer.rankable || !asked_for(request_.offers, provider, offer)) continue;
        const Accelerator* accelerator = catalog_.find_accelerator(offer.gpu);
        const auto& asked = request_.training.accelerators;
        if (!asked.empty() && std::find(asked.begin(), asked.end(), accelerator) == asked.end()) continue;
        auto rejection = refused_by_rules(catalog_, request_.offers, provider, offer, *accelerator);
        if (!rejection) rejection = plan(provider, offer, *accelerator);
        if (rejection) estimate_.rejected.push_back({&offer, *rejection});
      }
    }
  }

 private:
  using Key = std::tuple<const Accelerator*, std::string, bool, std::int64_t, double, std::int64_t>;

  std::optional<Rejection> plan(const Provider& provider, const Offer& offer, const Accelerator& accelerator) {
    if (offer.contract == Contract::serverless || offer.contract == Contract::token_api)
      return Rejection{"contract", "machines that are one's own while the job runs",
                       std::string(to_string(offer.contract)), "another --contract"};
    if (!catalog_.visible_memory(accelerator).known())
      return Rejection{"memory.unknown", "the memory a program can use", "not in the catalogue",
                       "a --catalog file that states it"};
    if (ceilings_.bandwidth(accelerator) <= BytesPerSecond{} ||
        ceilings_.compute(accelerator, Arithmetic::bf16) <= FlopPerSecond{})
      return Rejection{"compute.unknown", "peak and memory bandwidth", "not in the catalogue",
                       "a --catalog file that states them"};
    const Supply supply = supply_of(offer, hosts_.of(accelerator));
    std::optional<Rejection> rejection;
    std::optional<TrainingOption> cheapest;
    std::optional<TrainingOption> too_small;
    for (const std::int64_t instances : numbers_of(supply, rejection)) {
      TrainingOption option;
      option.provider = &provider;
      option.offer = &offer;
      option.accelerator = &accelerator;
      option.instances = instances;
      option.devices = instances * supply.per_instance;
      option.hosts = (option.devices + supply.per_host - 1) / supply.per_host;
      option.count_is_assumed = supply.per_host > supply.per_instance && option.devices > supply.per_instance;
      std::optional<Rejection> now = fill(option, supply);
      if (now && now->rule == "network" && rejection) break;  // what one host lacks says more
      rejection = std::move(now);
      if (!rejection) {
        // More devices may be cheaper still, for they need not compute again what they can keep, and leave room where fewer just hold
        // the job; once they are dearer, more are dearer yet.
        const bool makes_room =
            cheapest && cheapest->memory.verdict == FitVerdict::tight && option.memory.verdict == FitVerdict::fits;
        const bool dearer = cheapest && option.cost.p50() >= cheapest->cost.p50();
        if (dearer && !makes_room) {
          if (cheapest->memory.verdict == FitVerdict::fits) break;
          continue;
        }
        cheapest = std::move(option);
        continue;
      }
      if (rejection->rule == "memory") too_small = std::move(option);
      if (cheapest) break;
      if (rejection->rule != "memory" && rejection->rule != "deadline") break;  // more of the same would not help
    }
    if (!cheapest && rejection) return told(*rejection, too_small);
    if (!cheapest) return rejection;
    estimate_.options.push_back(std::move(*cheapest));
    return std::nullopt;
  }

  // As many as asked for, else more and more until it fits and is in time.
  std::vector<std::int64_t> numbers_of(const Supply& supply, std::optional<Rejection>& rejection) const {
    if (request_.training.count) {
      const std::int64_t count = *request_.training.count;
      if (count % supply.per_instance == 0) return {count / supply.per_instance};
      rejection = Rejection{"count", "a multiple of " + format_whole(as_double(supply.per_instance)),
                            std::to_string(count), "another --count"};
      return {};
    }
    std::vector<std::int64_t> numbers;  // 1, 2, 3, 4, 6, 8, 12, …
    for (std::int64_t n = 1; n * supply.per_instance <= kMostDevices; n *= 2) {
      numbers.push_back(n);
      if (n > 1 && n + n / 2 <= kMostDevices / supply.per_instance) numbers.push_back(n + n / 2);
    }
    return numbers;
  }

  std::optional<Rejection> fill(TrainingOption& option, const Supply& supply) {
    const Offer& offer = *option.offer;
    const std::int64_t inside = std::min(option.devices, supply.per_host);
    const NodeDesign* node = offer.network.known() ? nullptr : usual_node(offer, *option.accelerator);
    const BytesPerSecond network = offer.network.or_else({});
    if (option.hosts > 1 && !joins_hosts(offer, *option.accelerator, supply, node))
      return Rejection{"network", "a network between " + std::to_string(option.hosts) + " hosts", "not stated",
                       "fewer devices, or an offer that states its network"};
    option.network_is_assumed = option.hosts > 1 && node;
    option.fabric = fabric_of(catalog_, *option.accelerator, offer.interconnect, network, inside);
    if (node) {
      const auto whole = std::max<std::int64_t>(2, *node->count);
      option.fabric.between = fabric_of_node(catalog_, *node, whole).between;
    }
    const Laid& laid = lay_out(option);
    if (laid.rejection) return laid.rejection;
    option.job = laid.choice->job;
    option.memory = laid.memory;
    option.time = laid.time;
    option.checkpoint = laid.checkpoint;
    settle_time(option);
    if (!settle_cost(option)) return Rejection{"price", "a price", "unknown", "ask the provider"};
    return within_limits(option);
  }

  // Parts of a server are not wired to each other as whole servers are: without a stated network only those, and clusters, make a job.
  bool joins_hosts(const Offer& offer, const Accelerator& accelerator, const Supply& supply,
                   const NodeDesign* node) const {
    if (offer.network.known()) return *offer.network > BytesPerSecond{};
    if (!node) return false;
    if (offer.contract == Contract::cluster) return true;
    return supply.per_host >= hosts_.of(accelerator);
  }

  [[nodiscard]] Bytes held_once() const {
    TrainingTimeInputs in;
    in.memory.model = &estimate_.model;
    in.memory.framework = estimate_.framework;
    in.memory.job = request_.training.training;
    in.memory.catalog = &catalog_;
    const bool states = in.memory.job.offload == TrainingOffload::none && !in.memory.job.trains_adapters();
    return states ? checkpoint_of(in) : Bytes{};
  }

  // What joins hosts where the offer does not say: the provider's own node design with the accelerator, else its maker's, else the slowest.
  const NodeDesign* usual_node(const Offer& offer, const Accelerator& accelerator) const {
    const NodeDesign* best = nullptr;
    const auto key = [&](const NodeDesign& node) {
      const bool own = lookup_key(node.provider) == lookup_key(offer.provider);
      const bool maker = lookup_key(node.provider) == lookup_key(accelerator.vendor);
      return std::tuple(own ? 0 : maker ? 1 : 2, (*node.node_rate).base() / as_double(*node.count));
    };
    for (const NodeDesign& node : catalog_.nodes()) {
      const bool holds =
          std::find(node.accelerators.begin(), node.accelerators.end(), accelerator.name) != node.accelerators.end();
      if (!holds || !node.node_rate.known() || *node.node_rate <= BytesPerSecond{} || !node.count.known()) continue;
      if (!best || key(node) < key(*best)) best = &node;
    }
    return best;
  }

  // A batch that nobody asked for is made one that the devices divide.
  [[nodiscard]] std::int64_t batch_for(std::int64_t devices) const {
    const std::int64_t batch = estimate_.global_batch;
    const bool asked = request_.load.global_batch > 0 || request_.load.is_said("grad-accum");
    if (asked || devices > batch || batch % devices == 0) return batch;
    return (batch + devices - 1) / devices * devices;
  }

  LayoutSpace space_for(const TrainingOption& option) const {
    const TrainingSpec& asked = request_.training.training;
    const auto fixed = [&](std::string_view flag, std::int64_t value) {
      return request_.load.is_said(flag) ? std::vector<std::int64_t>{value} : std::vector<std::int64_t>{};
    };
    LayoutSpace space;
    space.devices = option.devices;
    space.global_batch = batch_for(option.devices);
    space.tp = fixed("tp", asked.tp);
    space.pp = fixed("pp", asked.pp);
    space.vpp = fixed("vpp", asked.vpp);
    space.cp = fixed("cp", asked.cp);
    space.ep = fixed("ep", asked.ep);
    space.micro_batch = fixed("micro-batch", asked.micro_batch);
    // Programs without a pipeline of chunks fine-tune whole models, or shards of them, on each device.
    const bool whole_models = asked.method != TrainingMethod::pretrain && !estimate_.framework->interleaves;
    if (whole_models) {
      for (auto* axis : {&space.tp, &space.pp, &space.cp}) {
        if (axis->empty()) *axis = {1};
      }
    }
    if (!estimate_.framework->interleaves && space.vpp.empty()) space.vpp = {1};
    if (asked.recompute) space.recompute = {*asked.recompute};
    if (!request_.training.sharding_is_default) space.sharding = {asked.sharding};
    if (request_.load.is_said("sequence-parallel")) space.sequence_parallel = {asked.sequence_parallel};
    space.keep = 1;
    space.leaves_room = true;
    return space;
  }

  static Key key_of(const TrainingOption& option) {
    return {option.accelerator,
            std::string(option.fabric.inside.link),
            option.fabric.inside.crosses_host,
            option.fabric.domain,
            option.hosts > 1 ? option.fabric.between.rate.base() : 0,
            option.devices};
  }

  const Laid& lay_out(const TrainingOption& option) {
    const auto [entry, fresh] = laid_.try_emplace(key_of(option));
    if (fresh) search(option, entry->second);
    return entry->second;
  }

  // Whatever the layout, the devices hold each weight, master weight and state once: fewer of them need no search.
  [[nodiscard]] bool are_too_few(const TrainingOption& option) const {
    return as_double(option.devices) * catalog_.visible_memory(*option.accelerator).or_else({}) < held_once_;
  }

  [[nodiscard]] TrainingTimeInputs inputs_for(const TrainingOption& option) const {
    TrainingTimeInputs in =
        inputs_of(catalog_, estimate_, *option.accelerator, option.fabric, request_.training.training);
    const bool lacks = !has_arithmetic(*option.accelerator, Arithmetic::bf16);
    TrainingPrecision& precision = in.memory.job.precision;
    if (lacks && (precision == TrainingPrecision::bf16_mixed || precision == TrainingPrecision::bf16))
      precision = TrainingPrecision::fp16_mixed;
    return in;
  }

  // Why the last number of devices that was tried does not do, which takes longer to find out than that it does not.
  [[nodiscard]] Rejection told(const Rejection& rejection, const std::optional<TrainingOption>& tried) {
    if (rejection.rule != "memory" || !rejection.needed.empty() || !tried) return rejection;
    const auto [entry, fresh] = told_.try_emplace(key_of(*tried));
    if (fresh) entry->second = why_none(inputs_for(*tried), *tried);
    return entry->second;
  }

  void search(const TrainingOption& option, Laid& laid) const {
    TrainingTimeInputs in = inputs_for(option);
    const TrainingPrecision asked = request_.training.training.precision;
    if (in.memory.job.precision != asked && request_.load.is_said("precision")) {
      laid.rejection = Rejection{"precision", "arithmetic in bf16", "fp16 and fp32", "--precision fp16-mixed or fp32"};
      return;
    }
    if (are_too_few(option)) {
      laid.rejection = Rejection{"memory", {}, {}, {}};
      return;
    }
    LayoutSearch found = search_layouts(in, space_for(option), ceilings_);
    if (found.best.empty()) {
      const bool none = found.evaluated + found.too_large == 0;
      laid.rejection = none ? no_division(option) : Rejection{"memory", {}, {}, {}};
      return;
    }
    laid.choice = found.best.front();
    in.memory.job = laid.choice->job;
    laid.memory = training_memory(in.memory, nullptr);
    laid.time = training_time(in, ceilings_, nullptr);
    laid.checkpoint = checkpoint_of(in);
  }

  [[nodiscard]] Rejection no_division(const TrainingOption& option) const {
    return {"layout",
            "a division of " + std::to_string(batch_for(option.devices)) + " sequences a step over the devices",
            std::to_string(option.devices), "another --global-batch or --count"};
  }

  // The layout that holds least, against the device, and the cheapest change that makes it fit.
  Rejection why_none(TrainingTimeInputs in, const TrainingOption& option) const {
    const LayoutSpace space = filled(space_for(option), in);
    std::optional<TrainingMemory> least;
    TrainingSpec leanest;
    for (const std::int64_t tp : space.tp) {
      for (const std::int64_t pp : space.pp) {
        if (option.devices % (tp * pp) != 0 || space.global_batch % (option.devices / (tp * pp)) != 0) continue;
        TrainingSpec job = in.memory.job;
        job.tp = tp;
        job.pp = pp;
        job.dp = option.devices / (tp * pp);
        job.micro_batch = space.micro_batch.front();
        job.recompute = space.recompute.back();
        job.sharding = job.dp > 1 ? space.sharding.back() : StateSharding::none;
        in.memory.job = job;
        TrainingMemory memory = training_memory(in.memory, nullptr);
        if (least && memory.headroom() <= least->headroom()) continue;
        least = std::move(memory);
        leanest = job;
      }
    }
    if (!least) return no_division(option);
    in.memory.job = leanest;
    const auto changes = changes_that_fit(in.memory);
    return {"memory",
            format_binary_bytes(least->peak().terms.total()) + " on each of " + std::to_string(option.devices),
            format_binary_bytes(least->capacity),
            changes.empty() ? "more devices, or a smaller --seq" : changes.front().message};
  }

  void settle_time(TrainingOption& option) {
    const double steps = std::max(1.0, std::ceil(estimate_.tokens / option.time.tokens_per_step));
    const auto times = [&](const Interval<Seconds>& step) {
      return Interval<Seconds>{steps * step.value, steps * step.low, steps * step.high};
    };
    option.work = times(option.time.step);
    option.total = option.work;
    const double writers = as_double(option.hosts);
    option.save = save_rate_ > BytesPerSecond{} ? option.checkpoint / (save_rate_ * writers) : Seconds{};
    const double longest = option.work.high / option.work.value;
    const double shortest = option.work.low / option.work.value;
    if (option.offer->contract == Contract::spot) {
      interrupt(option);
    } else if (failures_ > 0) {
      option.goodput = goodput_of(option);
      if (option.goodput->finishes) option.total.value = std::max(option.work.value, option.goodput->time);
    }
    option.total.low = std::min(option.total.value, shortest * option.total.value);
    option.total.high = longest * option.total.value;
  }

  // The quantiles of a job with failures take longer than all else of a plan: equal jobs on equal hardware share them.
  const Goodput& goodput_of(const TrainingOption& option) {
    const auto [entry, fresh] =
        goodputs_.try_emplace({option.devices, option.work.value.base(), option.save.base()}, Goodput{});
    if (fresh) {
      entry->second = plan_goodput({option.devices,
                                    failures_,
                                    option.work.value,
                                    option.save,
                                    kRestart + option.save,
                                    option.time.step.value,
                                    {}},
                                   nullptr);
    }
    return entry->second;
  }

  void interrupt(TrainingOption& option) const {
    const Provider& provider = *option.provider;
    const double a_month = interruptions_per_month(provider, *option.offer);
    if (a_month <= 0) {
      option.interruptions_unknown = true;
      return;
    }
    SpotInputs in;
    in.work = option.work.value;
    in.save = option.save;
    in.restore = kRestart + option.save;
    in.mtbf = hours(hours_per_month(provider)) / a_month;
    in.instances = option.hosts;
    in.step = option.time.step.value;
    option.spot = plan_spot(in, nullptr);
    if (option.spot->verdict != SpotVerdict::never_finishes)
      option.total.value = std::max(option.work.value, option.spot->elapsed);
  }

  bool settle_cost(TrainingOption& option) const {
    const JobCostInputs in = bill_of(request_.offers, option);
    const auto cost = job_cost(catalog_, in, nullptr);
    const auto hourly = hourly_cost(catalog_, use_of(request_.offers, option), nullptr);
    if (!cost || !hourly) return false;
    option.cost = *cost;
    option.per_hour = hourly->total();
    option.price_age_days = age_in_days(catalog_, *option.offer, request_.offers.as_of);
    return true;
  }

  std::optional<Rejection> within_limits(const TrainingOption& option) {
    if (option.spot && option.spot->verdict == SpotVerdict::never_finishes)
      return Rejection{"interruptions", "more than a checkpoint's work between two interruptions",
                       format_seconds(option.spot->job_mtbf), "another contract, or fewer hosts"};
    const TrainingLoad& load = request_.load;
    auto beyond =
        beyond_limits({load.deadline, load.budget}, option.total.value, option.cost.p50(), request_.offers.currency);
    missed_ = missed_ || beyond.has_value();
    return beyond;
  }

 public:
  [[nodiscard]] bool missed() const { return missed_; }

 private:
  const Catalog& catalog_;
  const TrainingEstimateRequest& request_;
  TrainingEstimate& estimate_;
  Ceilings ceilings_;
  HostSizes hosts_;
  BytesPerSecond save_rate_;
  double failures_ = 0;
  bool missed_ = false;
  Bytes held_once_;
  std::map<Key, Laid> laid_;
  std::map<Key, Rejection> told_;
  std::map<std::tuple<std::int64_t, double, double>, Goodput> goodputs_;  // by devices, work and save
};

void warn(const TrainingLoad& load, std::int64_t sequence, TrainingEstimate& estimate) {
  estimate.warnings.insert(estimate.warnings.end(), estimate.identity.warnings.begin(),
                           estimate.identity.warnings.end());
  if (auto warning = beyond_tokens(load, estimate.global_batch, sequence)) estimate.warnings.push_back(*warning);
  if (estimate.options.empty()) return;
  const TrainingOption& best = estimate.options.front();
  warn_of_job(best, load.deadline, estimate.warnings);
  if (best.network_is_assumed) {
    estimate.warnings.push_back(
        {"network.assumed",
         "the network between the first option's hosts is not stated: that of the node design of its "
         "accelerator is assumed"});
  }
  warn_of_verdict(best.memory.verdict, estimate.warnings);
  if (best.job.offload != TrainingOffload::none)
    estimate.warnings.push_back({"time.offload", "the time of the optimizer's step on the host is not modelled"});
  warn_of_price(*best.offer, best.price_age_days, estimate.warnings);
}

}  // namespace

bool TrainingLoad::is_said(std::string_view flag) const {
  return std::find(said.begin(), said.end(), flag) != said.end();
}

TrainingEstimate estimate_training(const Catalog& catalog, const TrainingEstimateRequest& request) {
  TrainingEstimate estimate;
  TrainingEstimateRequest settled = request;
  estimate.framework = prepare_training(catalog, settled.training, estimate.model, estimate.identity);
  check_training_job(settled.training, estimate.model, request.load.said);
  const double parameters_all = static_cast<double>(parameters(estimate.model.tensors));
  const TrainingSpec& job = settled.training.training;
  estimate.trained_parameters = job.trains_adapters() ? adapter_parameters(estimate.model, job) : parameters_all;
  estimate.tokens = request.load.tokens;
  if (estimate.tokens <= 0)
    estimate.tokens = job.method == TrainingMethod::pretrain ? kTokensPerParameter * parameters_all : kUsualFineTuning;
  estimate.global_batch = request.load.global_batch > 0 ? request.load.global_batch : usual_batch(settled);
  check_batch(settled.training, request.load, estimate.global_batch);
  Planner planner(catalog, settled, estimate);
  planner.run();
  rank_by(
      estimate.options, request.offers.sort, [](const TrainingOption& o) { return o.cost.p50(); },
      [](const TrainingOption& o) { return o.total.value.base(); });
  estimate.limits_failed = estimate.options.empty() && planner.missed();
  warn(request.load, job.sequence, estimate);
  return estimate;
}

void explain_training_option(const Catalog& catalog, const TrainingEstimateRequest& request,
                             const TrainingEstimate& estimate, const TrainingOption& option, Explain& why) {
  const TrainingTimeInputs in = inputs_of(catalog, estimate, *option.accelerator, option.fabric, option.job);
  (void)training_memory(in.memory, &why);
  (void)training_time(in, Ceilings(catalog), &why);
  (void)job_cost(catalog, bill_of(request.offers, option), &why);
}

}  // namespace gpuplan
