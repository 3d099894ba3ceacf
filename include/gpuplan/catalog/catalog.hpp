#pragma once
/// The catalogue: every fact gpuplan knows, read-only after loading.
///
/// The built-in data is compiled into the program; files of the user are layered on top and may override one field of one
/// record, or add records; a file that says `replace: true` starts from nothing instead.
/// Order, later wins: built-in < the store of imported prices < system < user < project < `--catalog FILE`.
///
///     const Catalog catalog = load_catalog({{"my.yaml", Layer::flag}});
///     const auto* gpu = catalog.find_accelerator("h100 sxm5 80gb");

#include <gpuplan/base/reader.hpp>
#include <gpuplan/catalog/records.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuplan {

/// All records, as views into data that lives elsewhere.
struct CatalogView {
  std::span<const Accelerator> accelerators;
  std::span<const Link> links;
  std::span<const NodeDesign> nodes;
  std::span<const ModelPreset> models;
  std::span<const Engine> engines;
  std::span<const TrainingFramework> training_frameworks;
  std::span<const Runtime> runtimes;
  std::span<const Provider> providers;
  std::span<const StorageClass> storage_classes;
  std::span<const FrameworkRelease> framework_releases;
  std::span<const CudaRelease> cuda_releases;
  std::span<const OwnedHardware> owned_hardware;
  std::span<const EnergyMix> energy;
  std::span<const FailureStudy> failure_studies;
  std::span<const FormatQuality> format_qualities;
  std::span<const UseCase> use_cases;
  std::span<const CurrencyRate> currencies;
  std::span<const Source> sources;
  std::string_view hash;  ///< of the data files, hexadecimal
};

/// Text of a contract kind (`on_demand`) to its value.
Parsed<Contract> parse_contract(std::string_view text);

struct CatalogFile {
  std::string path;
  Layer layer = Layer::flag;
  std::string text;  ///< what it holds, for what is no file; empty: it is read
};

/// An offer that no file of facts holds: the store of imported prices brings them. Its provider is made when it is not known.
/// The accelerator and the currency of a rankable one are names of the built-in catalogue.
struct AddedOffer {
  std::string id, provider, gpu;
  std::optional<std::int64_t> count;
  PriceScope scope = PriceScope::instance;
  bool includes_host = true;
  bool marketplace = false;
  Contract contract = Contract::on_demand;
  std::string term;
  std::optional<double> term_months, price;
  std::string currency;
  PriceUnit unit = PriceUnit::hour;
  Vat vat = Vat::unknown;
  std::string region, country, interconnect;
  std::optional<BytesPerSecond> network;
  std::optional<double> vcpus;
  std::optional<Bytes> ram, storage;
  std::string product;
  std::optional<double> setup_fee, interruptions_per_month;
  Confidence confidence = Confidence::aggregator;
  bool rankable = true;
  std::string why_not, notes, source, observed_on;
};

class Catalog {
 public:
  [[nodiscard]] std::span<const Accelerator> accelerators() const { return view_.accelerators; }
  [[nodiscard]] std::span<const Link> links() const { return view_.links; }
  [[nodiscard]] std::span<const NodeDesign> nodes() const { return view_.nodes; }
  [[nodiscard]] std::span<const ModelPreset> models() const { return view_.models; }
  [[nodiscard]] std::span<const Engine> engines() const { return view_.engines; }
  [[nodiscard]] std::span<const TrainingFramework> training_frameworks() const { return view_.training_frameworks; }
  [[nodiscard]] std::span<const Runtime> runtimes() const { return view_.runtimes; }
  [[nodiscard]] std::span<const Provider> providers() const { return view_.providers; }
  [[nodiscard]] std::span<const StorageClass> storage_classes() const { return view_.storage_classes; }
  [[nodiscard]] std::span<const FrameworkRelease> framework_releases() const { return view_.framework_releases; }
  [[nodiscard]] std::span<const CudaRelease> cuda_releases() const { return view_.cuda_releases; }
  [[nodiscard]] std::span<const OwnedHardware> owned_hardware() const { return view_.owned_hardware; }
  [[nodiscard]] std::span<const EnergyMix> energy() const { return view_.energy; }
  [[nodiscard]] std::span<const FailureStudy> failure_studies() const { return view_.failure_studies; }
  [[nodiscard]] std::span<const FormatQuality> format_qualities() const { return view_.format_qualities; }
  [[nodiscard]] std::span<const UseCase> use_cases() const { return view_.use_cases; }
  [[nodiscard]] std::span<const CurrencyRate> currencies() const { return view_.currencies; }
  [[nodiscard]] std::span<const Source> sources() const { return view_.sources; }
  [[nodiscard]] const Source& source(SourceId id) const;
  [[nodiscard]] std::string_view hash() const { return view_.hash; }

  /// By name or alias, without regard to case, spaces, '-' and '_'; null when unknown.
  [[nodiscard]] const Accelerator* find_accelerator(std::string_view name) const;
  [[nodiscard]] const Link* find_link(std::string_view name) const;
  [[nodiscard]] const NodeDesign* find_node(std::string_view name) const;
  [[nodiscard]] const ModelPreset* find_model(std::string_view name) const;
  [[nodiscard]] const Engine* find_engine(std::string_view name) const;
  [[nodiscard]] const TrainingFramework* find_training_framework(std::string_view name) const;
  [[nodiscard]] const Runtime* find_runtime(std::string_view name) const;
  [[nodiscard]] const Provider* find_provider(std::string_view name) const;
  [[nodiscard]] const UseCase* find_use_case(std::string_view name) const;
  [[nodiscard]] const CurrencyRate* find_currency(std::string_view code) const;
  [[nodiscard]] const StorageClass* find_storage_class(std::string_view name) const;
  [[nodiscard]] const CudaRelease* find_cuda_release(std::string_view version) const;
  [[nodiscard]] const OwnedHardware* find_owned_hardware(std::string_view name) const;
  /// Of a country by its two letters, else the record `world`; null in a catalogue without either.
  [[nodiscard]] const EnergyMix* find_energy(std::string_view country) const;

  /// The accelerators a name stands for: the one with that name or alias, else all members of the family, else all whose
  /// names begin so up to a '-' (`A100-SXM4`: 40 and 80 GB).
  [[nodiscard]] std::vector<const Accelerator*> select_accelerators(std::string_view name) const;

  /// Memory a program can use: what the runtime shows, else what the device reports less the driver's share, which is the
  /// median difference of the vendor's records that state both (docs/PHYSICS.md, "Visible memory"), else the label.
  [[nodiscard]] Fact<Bytes> visible_memory(const Accelerator& accelerator) const;

  /// The known name nearest to a misspelt one, or empty.
  [[nodiscard]] std::string nearest_accelerator(std::string_view name) const;
  [[nodiscard]] std::string nearest_model(std::string_view name) const;
  [[nodiscard]] std::string nearest_engine(std::string_view name) const;
  [[nodiscard]] std::string nearest_training_framework(std::string_view name) const;
  [[nodiscard]] std::string nearest_runtime(std::string_view name) const;
  [[nodiscard]] std::string nearest_provider(std::string_view name) const;
  [[nodiscard]] std::string nearest_use_case(std::string_view name) const;
  [[nodiscard]] std::string nearest_currency(std::string_view name) const;

 private:
  friend Catalog load_catalog(const std::vector<CatalogFile>& files, std::span<const AddedOffer> added);
  friend Catalog catalog_from(CatalogView view, std::shared_ptr<const void> owner);
  void index();

  CatalogView view_;
  std::shared_ptr<const void> owner_;  ///< of what the user's layers brought
  // Looked up once an offer, a price of tokens or a measured row; the other records once a run.
  std::unordered_map<std::string, const Accelerator*> accelerator_index_;
  std::unordered_map<std::string, const Link*> link_index_;
  std::unordered_map<std::string, const ModelPreset*> model_index_;
  std::unordered_map<std::string_view, Bytes> driver_share_;  ///< by vendor
};

/// The built-in catalogue with the given files on top, in order. Throws InputError with every problem of a file.
/// @param added  offers between the built-in facts and the files
Catalog load_catalog(const std::vector<CatalogFile>& files, std::span<const AddedOffer> added = {});

/// A catalogue over data the caller has (the generator, tests).
Catalog catalog_from(CatalogView view, std::shared_ptr<const void> owner);

/// One field of a record, as `show` prints it.
struct ShownField {
  std::string_view name;
  std::string value;
  Mark mark = Mark::published;
  SourceId source = 0;
};
std::vector<ShownField> fields_of(const Accelerator& record);
std::vector<ShownField> fields_of(const ModelPreset& record);
std::vector<ShownField> fields_of(const Provider& record);
std::vector<ShownField> fields_of(const ProviderTerms& record);
std::vector<ShownField> fields_of(const HostParts& record);
std::vector<ShownField> fields_of(const Offer& record);
std::vector<ShownField> fields_of(const Engine& record);
std::vector<ShownField> fields_of(const TrainingFramework& record);
std::vector<ShownField> fields_of(const Runtime& record);
std::vector<ShownField> fields_of(const Link& record);
std::vector<ShownField> fields_of(const NodeDesign& record);

}  // namespace gpuplan
