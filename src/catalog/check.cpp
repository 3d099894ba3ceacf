#include "dataset.hpp"
#include "fields.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace gpuplan {
namespace {

template <class R>
std::vector<Text> names_of(const R& record) {
  std::vector<Text> names = {record.name};
  if constexpr (requires { record.aliases; }) names.insert(names.end(), record.aliases.begin(), record.aliases.end());
  return names;
}
std::vector<Text> names_of(const CurrencyRate& rate) { return {rate.currency}; }
std::vector<Text> names_of(const Offer& offer) { return {offer.id}; }

std::vector<std::string> keys_of(const std::vector<Text>& names) {
  std::vector<std::string> keys;
  for (const Text name : names) keys.push_back(lookup_key(name));
  return keys;
}

// The mapping of `list` whose `name_field` is one of the names.
const Node* entry_of(const Node* list, std::string_view name_field, const std::vector<Text>& names) {
  if (!list) return nullptr;
  const auto keys = keys_of(names);
  for (const Node& entry : list->items) {
    const Node* name = entry.find(name_field);
    if (name && std::find(keys.begin(), keys.end(), lookup_key(name->scalar)) != keys.end()) return &entry;
  }
  return nullptr;
}

template <class R>
std::set<std::string> all_keys(const std::vector<R>& records) {
  std::set<std::string> all;
  for (const R& record : records) {
    for (auto& key : keys_of(names_of(record))) all.insert(std::move(key));
  }
  return all;
}

template <class R>
std::string nearest_of(const std::vector<R>& records, Text name) {
  std::vector<Text> candidates;
  for (const R& record : records) {
    for (const Text candidate : names_of(record)) candidates.push_back(candidate);
  }
  return nearest_name(name, candidates);
}

std::string quoted(Text name) { return "'" + std::string(name) + "'"; }

class Checker {
 public:
  Checker(const Dataset& dataset, const std::vector<FactsDocument>& documents)
      : dataset_(dataset),
        documents_(documents),
        accelerators_(all_keys(dataset.accelerators)),
        links_(all_keys(dataset.links)),
        nodes_(all_keys(dataset.nodes)),
        currencies_(all_keys(dataset.currencies)) {
    for (const FactsDocument& document : documents) readers_.emplace_back(document.root, document.origin);
  }

  void run() {
    unique_names(dataset_.accelerators, "accelerator");
    unique_names(dataset_.links, "link");
    unique_names(dataset_.nodes, "node");
    unique_names(dataset_.models, "model");
    unique_names(dataset_.engines, "engine");
    unique_names(dataset_.training_frameworks, "training framework");
    unique_names(dataset_.runtimes, "runtime");
    unique_names(dataset_.providers, "provider");
    unique_names(dataset_.storage_classes, "storage class");
    unique_names(dataset_.framework_releases, "framework release");
    unique_names(dataset_.cuda_releases, "CUDA release");
    unique_names(dataset_.owned_hardware, "owned machine");
    unique_names(dataset_.energy, "energy record");
    unique_names(dataset_.failure_studies, "failure study");
    unique_names(dataset_.format_qualities, "quality of a format");
    unique_names(dataset_.use_cases, "use case");
    for (const CurrencyRate& rate : dataset_.currencies) check(rate);
    for (const Accelerator& gpu : dataset_.accelerators) check(gpu);
    for (const Link& link : dataset_.links) positive(link, "link", "gb_per_s_per_direction", link.rate);
    for (const NodeDesign& node : dataset_.nodes) check(node);
    for (const ModelPreset& model : dataset_.models) check(model);
    for (const Engine& engine : dataset_.engines) check(engine);
    for (const TrainingFramework& framework : dataset_.training_frameworks) check(framework);
    for (const Runtime& runtime : dataset_.runtimes) check(runtime);
    for (const Provider& provider : dataset_.providers) check(provider);
    for (const StorageClass& storage : dataset_.storage_classes) {
      positive(storage, "storage class", "read_gb_per_s", storage.read);
      positive(storage, "storage class", "write_gb_per_s", storage.write);
    }
    for (const FormatQuality& quality : dataset_.format_qualities) {
      positive(quality, "quality of a format", "parameters_b", quality.parameters_b);
      positive(quality, "quality of a format", "score", quality.score);
      if (quality.measure != "benchmarks" && quality.measure != "perplexity")
        report(quality, "measure",
               "quality of a format " + quoted(quality.name) + " is measured by neither benchmarks nor perplexity");
      positive(quality, "quality of a format", "original", quality.original);
    }
    for (const FailureStudy& study : dataset_.failure_studies) {
      positive(study, "failure study", "devices", study.devices);
      positive(study, "failure study", "span_days", study.span);
    }
    for (const OwnedHardware& owned : dataset_.owned_hardware) check(owned);
    for (const EnergyMix& mix : dataset_.energy) {
      check_currency(mix, "energy record", "currency", mix.currency);
      positive(mix, "energy record", "pue", mix.pue);
    }
    for (const UseCase& use : dataset_.use_cases) check(use);
    std::vector<Problem> problems;
    for (const Reader& reader : readers_)
      problems.insert(problems.end(), reader.problems().begin(), reader.problems().end());
    if (!problems.empty()) throw InputError(std::move(problems));
  }

 private:
  // A problem with a record, at the value of `field` in the last document that says it, else at the record's own place.
  template <class R>
  void report(const R& record, std::string_view field, std::string message, std::string nearest = {}) {
    report_at([&](const Node& root) { return entry_of(root.find(list_key<R>), name_key<R>(), names_of(record)); },
              field, std::move(message), std::move(nearest));
  }
  void report(const Provider& provider, const Offer& offer, std::string_view field, std::string message,
              std::string nearest = {}) {
    const auto find = [&](const Node& root) -> const Node* {
      const Node* owner = entry_of(root.find(list_key<Provider>), "name", names_of(provider));
      return owner ? entry_of(owner->find("offers"), "id", names_of(offer)) : nullptr;
    };
    report_at(find, field, std::move(message), std::move(nearest));
  }
  template <class Find>
  void report_at(Find find, std::string_view field, std::string message, std::string nearest) {
    GPUPLAN_ASSERT(!documents_.empty(), "facts come from documents");
    std::size_t document = documents_.size() - 1;
    Place place{documents_.back().origin, 0, 0};
    for (std::size_t i = documents_.size(); i-- > 0;) {
      const Node* entry = find(documents_[i].root);
      const Node* value = entry ? entry->find(field) : nullptr;
      if (!entry || (place.line > 0 && !value)) continue;
      place = value ? value->place : entry->place;
      document = i;
      if (value) break;
    }
    readers_[document].problem({"catalog.inconsistent", std::move(message), place, {}, std::move(nearest), {}});
  }
  template <class R>
  static constexpr std::string_view name_key() {
    return std::same_as<R, CurrencyRate> ? "currency" : "name";
  }

  template <class R>
  void unique_names(const std::vector<R>& records, std::string_view what) {
    std::map<std::string, std::string> owners;
    for (const R& record : records) {
      const auto keys = keys_of(names_of(record));
      for (const auto& key : std::set<std::string>(keys.begin(), keys.end())) {
        const auto [entry, fresh] = owners.emplace(key, record.name);
        if (!fresh) {
          report(record, {},
                 std::string(what) + " name '" + key + "' belongs to '" + entry->second + "' and '" +
                     std::string(record.name) + "'");
        }
      }
    }
  }
  // Times and money divide by it: a stated zero is a mistake, an unknown is not.
  template <class R, class T>
  void positive(const R& record, std::string_view what, std::string_view field, const Fact<T>& fact) {
    if (!fact.known() || fact.value > T{}) return;
    report(record, field, std::string(what) + " " + quoted(record.name) + " has " + std::string(field) + " 0");
  }
  void check(const CurrencyRate& rate) {
    if (!rate.per_usd.known() || rate.per_usd.value <= 0)
      report(rate, "per_usd", "currency " + quoted(rate.currency) + " has no rate");
  }
  template <class R>
  void check_link(const R& record, std::string_view what, std::string_view field, Text link) {
    if (link.empty() || links_.contains(lookup_key(link))) return;
    report(record, field, std::string(what) + " " + quoted(record.name) + " names the unknown link " + quoted(link),
           nearest_of(dataset_.links, link));
  }
  void check(const Accelerator& gpu) {
    check_link(gpu, "accelerator", "scale_up_link", gpu.scale_up_link);
    check_link(gpu, "accelerator", "host_link", gpu.host_link);
    if (!gpu.memory_bandwidth.known()) report(gpu, {}, "accelerator " + quoted(gpu.name) + " has no memory bandwidth");
    positive(gpu, "accelerator", "memory_bandwidth_gb_per_s", gpu.memory_bandwidth);
    positive(gpu, "accelerator", "stream_bandwidth_gb_per_s", gpu.stream_bandwidth);
    positive(gpu, "accelerator", "core_bandwidth_gb_per_s", gpu.core_bandwidth);
    positive(gpu, "accelerator", "achieved_gemm_tflops", gpu.achieved_gemm);
    positive(gpu, "accelerator", "achieved_gemv_tflops", gpu.achieved_gemv);
    positive(gpu, "accelerator", "scale_up_gb_per_s_per_direction", gpu.scale_up_bandwidth);
  }
  void check(const Engine& engine) {
    positive(engine, "engine", "memory_fraction", engine.memory_fraction);
    positive(engine, "engine", "kv_block_tokens", engine.kv_block_tokens);
    positive(engine, "engine", "max_sequences", engine.max_sequences);
    positive(engine, "engine", "max_batched_tokens", engine.max_batched_tokens);
    positive(engine, "engine", "compute_efficiency", engine.compute_efficiency);
    positive(engine, "engine", "dequantized_efficiency", engine.dequantized_efficiency);
    positive(engine, "engine", "attention_efficiency", engine.attention_efficiency);
    positive(engine, "engine", "bandwidth_efficiency", engine.bandwidth_efficiency);
    positive(engine, "engine", "expanded_rows", engine.expanded_rows);
    const auto is_like = [&](const Engine& other) { return lookup_key(other.name) == lookup_key(engine.like); };
    if (!engine.like.empty() && std::none_of(dataset_.engines.begin(), dataset_.engines.end(), is_like)) {
      report(engine, "like", "engine " + quoted(engine.name) + " is like the unknown engine " + quoted(engine.like),
             nearest_of(dataset_.engines, engine.like));
    }
    if (engine.memory_fraction.or_else(1) > 1) {
      report(engine, "memory_fraction", "engine " + quoted(engine.name) + " takes more than the memory there is");
    }
    if (engine.overhead_low.or_else(1) > 1 || engine.overhead_high.or_else(1) < 1) {
      report(engine, "overhead_low",
             "engine " + quoted(engine.name) + " has overheads whose range leaves out their own estimate");
    }
    for (const EngineInterval& interval : engine.intervals) {
      const double low = interval.low.or_else(1);
      if (low > 0 && low <= 1 && interval.high.or_else(1) >= 1) continue;
      report(engine, "intervals",
             "engine " + quoted(engine.name) + " has no interval around the estimate for " + quoted(interval.regime));
    }
  }
  void check(const TrainingFramework& framework) {
    const double share = framework.fragmentation.or_else(0);
    if (framework.fragmentation_low.or_else(share) > share || framework.fragmentation_high.or_else(share) < share) {
      report(framework, "fragmentation_low",
             "training framework " + quoted(framework.name) + " has a fragmentation outside its own range");
    }
    positive(framework, "training framework", "compute_efficiency", framework.compute_efficiency);
    positive(framework, "training framework", "attention_efficiency", framework.attention_efficiency);
    positive(framework, "training framework", "bandwidth_efficiency", framework.bandwidth_efficiency);
    if (framework.time_low.or_else(1) > 1 || framework.time_low.or_else(1) <= 0 || framework.time_high.or_else(1) < 1) {
      report(framework, "time_low",
             "training framework " + quoted(framework.name) + " has no interval around its estimated time");
    }
  }
  void check(const Runtime& runtime) {
    positive(runtime, "runtime", "map_copies", runtime.map_copies);
    positive(runtime, "runtime", "compute_efficiency", runtime.compute_efficiency);
    positive(runtime, "runtime", "convolution_efficiency", runtime.convolution_efficiency);
    positive(runtime, "runtime", "depthwise_efficiency", runtime.depthwise_efficiency);
    positive(runtime, "runtime", "attention_efficiency", runtime.attention_efficiency);
    positive(runtime, "runtime", "bandwidth_efficiency", runtime.bandwidth_efficiency);
    positive(runtime, "runtime", "kernels", runtime.kernels);
    positive(runtime, "runtime", "interval_low", runtime.interval_low);
    if (runtime.interval_low.or_else(1) > 1 || runtime.interval_high.or_else(1) < 1) {
      report(runtime, "interval_low",
             "runtime " + quoted(runtime.name) + " has an interval of time that leaves out its own estimate");
    }
    const std::pair<std::string_view, Text> others[] = {{"time_as", runtime.time_as}, {"compiled", runtime.compiled}};
    for (const auto& [field, other] : others) {
      const bool known = std::any_of(dataset_.runtimes.begin(), dataset_.runtimes.end(),
                                     [&name = other](const Runtime& r) { return r.name == name; });
      if (!other.empty() && !known)
        report(runtime, field, "runtime " + quoted(runtime.name) + " refers to " + quoted(other) + ", which is none");
    }
    if (runtime.overhead_low.or_else(1) > 1 || runtime.overhead_high.or_else(1) < 1) {
      report(runtime, "overhead_low",
             "runtime " + quoted(runtime.name) + " has overheads whose range leaves out their own estimate");
    }
  }
  // Parameters must stay countable in 64 bits.
  void check(const ModelPreset& model) {
    const auto size = [](const Fact<std::int64_t>& fact) { return static_cast<double>(fact.or_else(1)); };
    const double width = size(model.hidden_size) + size(model.heads) * (size(model.head_dim) + size(model.v_head_dim)) +
                         size(model.qk_nope_head_dim) + size(model.qk_rope_head_dim) + size(model.kv_lora_rank) +
                         size(model.q_lora_rank);
    const double deep = size(model.intermediate_size) + size(model.expert_intermediate_size) +
                        size(model.shared_expert_intermediate_size);
    const double bound =
        size(model.layers) * (size(model.experts) + size(model.shared_experts)) * width * (width + deep) +
        width * (size(model.vocab_size) + size(model.max_position) + size(model.position_offset));
    if (bound > 1e18) report(model, "layers", "model " + quoted(model.name) + " is too large to be counted");
  }
  void check(const NodeDesign& node) {
    for (const Text name : node.accelerators) {
      if (accelerators_.contains(lookup_key(name))) continue;
      report(node, "accelerators", "node " + quoted(node.name) + " names the unknown accelerator " + quoted(name),
             nearest_of(dataset_.accelerators, name));
    }
    check_link(node, "node", "fabric_link", node.fabric_link);
    check_link(node, "node", "nic_link", node.nic_link);
    positive(node, "node", "count", node.count);
  }
  template <class R>
  void check_currency(const R& record, std::string_view what, std::string_view field, Text currency) {
    if (currency.empty() || currencies_.contains(lookup_key(currency))) return;
    report(record, field,
           std::string(what) + " " + quoted(record.name) + " has the unknown currency " + quoted(currency),
           nearest_of(dataset_.currencies, currency));
  }
  void check(const OwnedHardware& owned) {
    if (!accelerators_.contains(lookup_key(owned.gpu))) {
      report(owned, "gpu",
             "owned machine " + quoted(owned.name) + " names the unknown accelerator " + quoted(owned.gpu),
             nearest_of(dataset_.accelerators, owned.gpu));
    }
    check_currency(owned, "owned machine", "currency", owned.currency);
    positive(owned, "owned machine", "count", owned.count);
    positive(owned, "owned machine", "capex", owned.capex);
    positive(owned, "owned machine", "lifetime_years", owned.lifetime_years);
    if (owned.residual_percent.or_else(0) > 100) {
      report(owned, "residual_percent", "owned machine " + quoted(owned.name) + " sells for more than it cost");
    }
  }
  void check(const UseCase& use) {
    positive(use, "use case", "input", use.input);
    positive(use, "use case", "output", use.output);
    positive(use, "use case", "active_share", use.active_share);
    const auto is_share = [&](std::string_view field, const Fact<double>& share) {
      if (share.or_else(0) > 1)
        report(use, field, "use case " + quoted(use.name) + " has more than all as " + std::string(field));
    };
    is_share("active_share", use.active_share);
    is_share("prefix_hit", use.prefix_hit);
  }
  void check(const Provider& provider) {
    positive(provider, "provider", "hours_per_month", provider.hours_per_month);
    for (const HostParts& parts : provider.host_parts) {
      if (currencies_.contains(lookup_key(parts.currency))) continue;
      report(provider, "host_parts",
             "the host of provider " + quoted(provider.name) + " has the unknown currency " + quoted(parts.currency),
             nearest_of(dataset_.currencies, parts.currency));
    }
    for (const Offer& offer : provider.offers) {
      const std::string subject = "offer " + quoted(offer.id);
      if (!offer_ids_.insert(std::string(offer.id)).second)
        report(provider, offer, "id", "offer id " + quoted(offer.id) + " stands twice");
      if (offer.price.known() && offer.price.value <= 0)
        report(provider, offer, "price", subject + " has a price of 0");
      if (!offer.node.empty() && !nodes_.contains(lookup_key(offer.node))) {
        report(provider, offer, "node", subject + " names the unknown node design " + quoted(offer.node),
               nearest_of(dataset_.nodes, offer.node));
      }
      if (!offer.rankable) continue;
      if (!accelerators_.contains(lookup_key(offer.gpu))) {
        report(provider, offer, "gpu", subject + " names the unknown accelerator " + quoted(offer.gpu),
               nearest_of(dataset_.accelerators, offer.gpu));
      }
      if (!offer.count.known() || offer.count.value < 1) report(provider, offer, "count", subject + " has no count");
      if (!currencies_.contains(lookup_key(offer.currency))) {
        report(provider, offer, "currency", subject + " has the unknown currency " + quoted(offer.currency),
               nearest_of(dataset_.currencies, offer.currency));
      }
    }
  }

  const Dataset& dataset_;
  const std::vector<FactsDocument>& documents_;
  std::vector<Reader> readers_;
  std::set<std::string> accelerators_;
  std::set<std::string> links_;
  std::set<std::string> nodes_;
  std::set<std::string> currencies_;
  std::set<std::string> offer_ids_;
};

}  // namespace

void check_facts(const Dataset& dataset, const std::vector<FactsDocument>& documents) {
  Checker(dataset, documents).run();
}

}  // namespace gpuplan
