#include <gpuplan/catalog/catalog.hpp>

#include "dataset.hpp"
#include "embedded.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

template <class R>
bool answers_to(const R& record, const std::string& key) {
  if (lookup_key(record.name) == key) return true;
  if constexpr (requires { record.aliases; })
    return std::any_of(record.aliases.begin(), record.aliases.end(),
                       [&](Text alias) { return lookup_key(alias) == key; });
  return false;
}

template <class R>
const R* find(std::span<const R> records, std::string_view name) {
  const std::string key = lookup_key(name);
  const auto found = std::find_if(records.begin(), records.end(), [&](const R& r) { return answers_to(r, key); });
  return found == records.end() ? nullptr : &*found;
}

template <class R>
void add_names(std::span<const R> records, std::unordered_map<std::string, const R*>& index) {
  for (const R& record : records) {
    index.emplace(lookup_key(record.name), &record);
    for (const Text alias : record.aliases) index.emplace(lookup_key(alias), &record);
  }
}

template <class R>
const R* look_up(const std::unordered_map<std::string, const R*>& index, std::string_view name) {
  const auto found = index.find(lookup_key(name));
  return found == index.end() ? nullptr : found->second;
}

// `replace: true` at the top of a file: what came before it, the built-in facts included, is forgotten.
bool replaces_all(const Node& root) {
  const Node* flag = root.find("replace");
  return flag && parse_bool(flag->scalar).value.value_or(false);
}

template <class R>
std::string nearest(std::span<const R> records, std::string_view name) {
  std::vector<std::string_view> candidates;
  for (const R& record : records) {
    candidates.push_back(record.name);
    candidates.insert(candidates.end(), record.aliases.begin(), record.aliases.end());
  }
  return nearest_name(name, candidates);
}

}  // namespace

const Source& Catalog::source(SourceId id) const {
  GPUPLAN_ASSERT(id < view_.sources.size(), "a source id comes from this catalogue");
  return view_.sources[id];
}

void Catalog::index() {
  add_names(view_.accelerators, accelerator_index_);
  add_names(view_.links, link_index_);
  add_names(view_.models, model_index_);
  std::unordered_map<std::string_view, std::vector<Bytes>> shares;
  for (const Accelerator& gpu : view_.accelerators) {
    if (gpu.memory.known() && gpu.visible_memory.known())
      shares[gpu.vendor].push_back(gpu.memory.value - gpu.visible_memory.value);
  }
  for (auto& [vendor, differences] : shares) {
    std::sort(differences.begin(), differences.end());
    driver_share_[vendor] = differences[differences.size() / 2];
  }
}

Fact<Bytes> Catalog::visible_memory(const Accelerator& gpu) const {
  if (gpu.visible_memory.known()) return gpu.visible_memory;
  if (!gpu.memory.known()) return gpu.memory_label;
  const auto share = driver_share_.find(gpu.vendor);
  if (share == driver_share_.end() || share->second >= gpu.memory.value) return gpu.memory;
  return {gpu.memory.value - share->second, Mark::derived, gpu.memory.source};
}

const Accelerator* Catalog::find_accelerator(std::string_view name) const { return look_up(accelerator_index_, name); }
const Link* Catalog::find_link(std::string_view name) const { return look_up(link_index_, name); }
const NodeDesign* Catalog::find_node(std::string_view name) const { return find(view_.nodes, name); }
const ModelPreset* Catalog::find_model(std::string_view name) const { return look_up(model_index_, name); }
const Engine* Catalog::find_engine(std::string_view name) const { return find(view_.engines, name); }
const TrainingFramework* Catalog::find_training_framework(std::string_view name) const {
  return find(view_.training_frameworks, name);
}
const Runtime* Catalog::find_runtime(std::string_view name) const { return find(view_.runtimes, name); }
const Provider* Catalog::find_provider(std::string_view name) const {
  if (const Provider* provider = find(view_.providers, name)) return provider;
  const std::string key = lookup_key(name);
  const auto found = std::find_if(view_.providers.begin(), view_.providers.end(),
                                  [&](const Provider& p) { return lookup_key(p.title) == key; });
  return found == view_.providers.end() ? nullptr : &*found;
}
const UseCase* Catalog::find_use_case(std::string_view name) const { return find(view_.use_cases, name); }
const CurrencyRate* Catalog::find_currency(std::string_view code) const {
  const std::string key = to_lower(code);
  const auto found = std::find_if(view_.currencies.begin(), view_.currencies.end(),
                                  [&](const CurrencyRate& r) { return to_lower(r.currency) == key; });
  return found == view_.currencies.end() ? nullptr : &*found;
}

const StorageClass* Catalog::find_storage_class(std::string_view name) const {
  return find(view_.storage_classes, name);
}
const CudaRelease* Catalog::find_cuda_release(std::string_view version) const {
  return find(view_.cuda_releases, version);
}
const OwnedHardware* Catalog::find_owned_hardware(std::string_view name) const {
  return find(view_.owned_hardware, name);
}
const EnergyMix* Catalog::find_energy(std::string_view country) const {
  const EnergyMix* known = country.empty() ? nullptr : find(view_.energy, country);
  return known ? known : find(view_.energy, "world");
}

std::vector<const Accelerator*> Catalog::select_accelerators(std::string_view name) const {
  if (const Accelerator* one = find_accelerator(name)) return {one};
  const std::string key = lookup_key(name);
  if (key.empty()) return {};
  std::vector<const Accelerator*> family;
  std::vector<const Accelerator*> beginning;
  for (const Accelerator& gpu : view_.accelerators) {
    if (lookup_key(gpu.family) == key) family.push_back(&gpu);
    for (std::size_t at = gpu.name.find('-'); at != Text::npos; at = gpu.name.find('-', at + 1)) {
      if (lookup_key(gpu.name.substr(0, at)) == key) beginning.push_back(&gpu);
    }
  }
  return family.empty() ? beginning : family;
}

std::string Catalog::nearest_accelerator(std::string_view name) const {
  std::vector<std::string_view> candidates;
  for (const Accelerator& gpu : view_.accelerators) {
    candidates.push_back(gpu.name);
    candidates.push_back(gpu.family);
    candidates.insert(candidates.end(), gpu.aliases.begin(), gpu.aliases.end());
  }
  return nearest_name(name, candidates);
}
std::string Catalog::nearest_model(std::string_view name) const { return nearest(view_.models, name); }
std::string Catalog::nearest_engine(std::string_view name) const { return nearest(view_.engines, name); }
std::string Catalog::nearest_training_framework(std::string_view name) const {
  return nearest(view_.training_frameworks, name);
}
std::string Catalog::nearest_runtime(std::string_view name) const { return nearest(view_.runtimes, name); }
std::string Catalog::nearest_provider(std::string_view name) const { return nearest(view_.providers, name); }
std::string Catalog::nearest_use_case(std::string_view name) const { return nearest(view_.use_cases, name); }
std::string Catalog::nearest_currency(std::string_view name) const {
  std::vector<std::string_view> candidates;
  for (const CurrencyRate& rate : view_.currencies) candidates.push_back(rate.currency);
  return nearest_name(name, candidates);
}

Catalog catalog_from(CatalogView view, std::shared_ptr<const void> owner) {
  Catalog catalog;
  catalog.view_ = view;
  catalog.owner_ = std::move(owner);
  catalog.index();
  return catalog;
}

Catalog load_catalog(const std::vector<CatalogFile>& files, std::span<const AddedOffer> added) {
  if (files.empty() && added.empty()) return catalog_from(built_in_catalog(), nullptr);
  auto dataset = std::make_shared<Dataset>(built_in_catalog());
  add_offers(*dataset, added);
  std::vector<FactsDocument> documents;
  for (const CatalogFile& file : files) {
    const std::string text = file.text.empty() ? read_text_file(file.path) : file.text;
    const Node& root = documents.emplace_back(FactsDocument{file.path, parse_yaml(text, file.path)}).root;
    if (replaces_all(root)) dataset = std::make_shared<Dataset>();
    read_facts(*dataset, root, file.path, file.layer);
    dataset->hash = content_hash(text, dataset->hash);
  }
  if (!documents.empty()) check_facts(*dataset, documents);
  const CatalogView view = dataset->view();
  return catalog_from(view, dataset);
}

}  // namespace gpuplan
