#pragma once
// The catalogue while it is being put together: records in vectors, their texts in an arena, sources interned.

#include <gpuplan/base/reader.hpp>
#include <gpuplan/catalog/catalog.hpp>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace gpuplan {

class Dataset {
 public:
  Dataset() = default;
  explicit Dataset(const CatalogView& base);
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  Text keep(std::string_view text);
  template <class T>
  std::span<const T> keep_list(std::vector<T> items) {
    auto owned = std::make_shared<const std::vector<T>>(std::move(items));
    lists_.push_back(owned);
    return *owned;
  }
  SourceId source(std::string_view text, std::string_view observed_on, Layer layer);

  [[nodiscard]] CatalogView view() const;
  std::string hash;

  std::vector<Accelerator> accelerators;
  std::vector<Link> links;
  std::vector<NodeDesign> nodes;
  std::vector<ModelPreset> models;
  std::vector<Engine> engines;
  std::vector<TrainingFramework> training_frameworks;
  std::vector<Runtime> runtimes;
  std::vector<Provider> providers;
  std::vector<StorageClass> storage_classes;
  std::vector<FrameworkRelease> framework_releases;
  std::vector<CudaRelease> cuda_releases;
  std::vector<OwnedHardware> owned_hardware;
  std::vector<EnergyMix> energy;
  std::vector<FailureStudy> failure_studies;
  std::vector<FormatQuality> format_qualities;
  std::vector<UseCase> use_cases;
  std::vector<CurrencyRate> currencies;
  std::vector<Source> sources;

 private:
  std::deque<std::string> texts_;
  std::deque<std::shared_ptr<const void>> lists_;
  std::map<std::tuple<std::string, std::string, Layer>, SourceId> source_ids_;
};

// Reads one document of facts into the dataset: new records are added, fields of known ones overridden.
// Throws InputError with every problem.
void read_facts(Dataset& into, const Node& document, std::string_view origin, Layer layer);

// Offers that no file of facts holds, added to their providers.
void add_offers(Dataset& into, std::span<const AddedOffer> added);

// A document that was read into a dataset, kept for the places of its problems.
struct FactsDocument {
  std::string origin;
  Node root;
};

// Cross-references and plausibility: names unique, links and accelerators exist, prices positive. Throws InputError with the
// places of what the documents said, the last of them first.
void check_facts(const Dataset& dataset, const std::vector<FactsDocument>& documents);

// FNV-1a over `text`, continuing from `seed`, as 16 hexadecimal digits.
std::string content_hash(std::string_view text, std::string_view seed = {});

}  // namespace gpuplan
