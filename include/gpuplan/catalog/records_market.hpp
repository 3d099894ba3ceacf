#pragma once
/// Typed facts about what can be rented or bought: providers and their offers, storage, software, owned machines, energy, failures, currencies. As
/// those of records.hpp, which includes them.

#include <gpuplan/base/units.hpp>
#include <gpuplan/catalog/record.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace gpuplan {

enum class Contract : std::uint8_t {
  on_demand,
  spot,
  reserved,
  dedicated,
  cluster,
  managed,
  serverless,
  token_api,
  cpu_vps,
  owned
};
enum class PriceScope : std::uint8_t { gpu, instance };
enum class PriceUnit : std::uint8_t { second, hour, month };
enum class Vat : std::uint8_t { unknown, included, excluded };
enum class Confidence : std::uint8_t { unknown, published, aggregator, second_hand };
enum class Availability : std::uint8_t { unknown, available, limited, on_request, sold_out, withdrawn };
/// What a machine that is switched off but kept goes on costing.
enum class OffState : std::uint8_t { unknown, nothing, storage, all };
enum class StorageKind : std::uint8_t { unknown, local, block, file, object };
enum class StorageScope : std::uint8_t { device, node, client, aggregate };
std::string_view to_string(Contract value);
std::string_view to_string(PriceScope value);
std::string_view to_string(PriceUnit value);
std::string_view to_string(Vat value);
std::string_view to_string(Confidence value);
std::string_view to_string(Availability value);
std::string_view to_string(OffState value);
std::string_view to_string(StorageKind value);
std::string_view to_string(StorageScope value);

/// One thing that can be rented. `price` is for one GPU or for the whole instance (`scope`), per `unit`.
struct Offer {
  Text id;
  Text provider;                           ///< name of its Provider
  Text gpu;                                ///< resolves to an Accelerator when the offer is rankable
  Fact<std::int64_t> count;                ///< GPUs sold together
  Text count_source;                       ///< why the count is what it is, when the source does not say
  Fact<std::int64_t> devices_per_machine;  ///< the most that one machine has; unknown: as many as hosts hold
  PriceScope scope = PriceScope::gpu;
  bool includes_host = true;  ///< false: vCPU and RAM are billed apart (the provider's host parts)
  bool marketplace = false;   ///< hosted by third parties, though the provider is not a marketplace as a whole
  Contract contract = Contract::on_demand;
  Text term;
  Fact<double> term_months;
  Fact<double> price;  ///< in `currency`; unknown is unknown
  Text currency;
  PriceUnit unit = PriceUnit::hour;
  Vat vat = Vat::unknown;
  Text region;
  Text country;
  Text interconnect;
  Fact<BytesPerSecond> network;
  Fact<double> vcpus;  ///< of the instance; of the host part for one GPU when the host is billed apart
  Fact<Bytes> ram;     ///< likewise
  Fact<Bytes> storage;
  Text product;
  Text node;                   ///< name of the NodeDesign it is, where the source says
  Fact<double> setup_fee;      ///< once, in `currency`, for what `scope` says
  Fact<double> upfront;        ///< paid at the start of the term beside `price`, in `currency`, for what `scope` says
  Fact<Seconds> minimum_term;  ///< shortest time that is billed; unknown: a month where the contract is by terms
  Fact<std::int64_t> minimum_count;      ///< fewest GPUs that are rented out together
  Fact<Seconds> billing_granularity;     ///< where it differs from the provider's
  Fact<double> interruptions_per_month;  ///< of one spot instance that runs all month
  Fact<Seconds> maximum_run;             ///< after which it is stopped
  Availability availability = Availability::unknown;
  Text cuda_version;  ///< preinstalled
  Text driver_version;
  Confidence confidence = Confidence::unknown;
  bool rankable = true;
  Text why_not;
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

/// Rates of what a provider bills beside the accelerator, and how much of it a GPU server takes.
struct HostParts {
  Text currency;
  Vat vat = Vat::unknown;
  Fact<double> vcpu_per_hour, ram_gib_per_hour, disk_gb_month;
  Fact<double> vcpu_per_hour_spot, ram_gib_per_hour_spot;
  Fact<double> vcpus_per_gpu, ram_gib_per_gpu, disk_gb_per_instance;
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

struct TokenPrice {
  Text model;
  Fact<double> input_per_1m;
  Fact<double> output_per_1m;
  Fact<double> cached_input_per_1m;
  Fact<double> batch_input_per_1m;  ///< answered within a day
  Fact<double> batch_output_per_1m;
  Fact<double> per_image;
  Fact<double> per_audio_minute;
  Text currency;
  Vat vat = Vat::unknown;
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};
struct StoragePrice {
  Text product;
  Fact<double> price;
  Text currency;
  Text unit;  ///< gb_month or gb_egress
  StorageKind kind = StorageKind::unknown;
  Fact<Bytes> free;  ///< a month that is not billed
  Vat vat = Vat::unknown;
  Text region;
  FieldMarks marks;
  SourceId source = 0;
};
struct CpuServer {
  Text product;
  Fact<double> vcpus;
  Fact<Bytes> ram;
  Text cpu;
  Fact<BytesPerSecond> memory_bandwidth;  ///< measured on the machine
  Fact<double> price;
  Text currency;
  PriceUnit unit = PriceUnit::month;
  Vat vat = Vat::unknown;
  Text region;
  Text country;
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

/// What a provider's contracts say beside prices. Unknown is unknown: a term that nobody wrote down is not "no".
struct ProviderTerms {
  Texts regions;             ///< where its machines stand
  Fact<double> sla_percent;  ///< availability promised for one machine
  Text sla_note;
  Text data_residency;   ///< laws and certificates that it names
  Fact<bool> own_image;  ///< runs a container image of the customer
  Text own_image_note;
  Text stack;           ///< preinstalled software
  Texts cuda_versions;  ///< preinstalled
  Fact<bool> block_storage, file_storage, object_storage;
  Text checkpoint_storage;  ///< what outlives a machine, in words
  OffState off_state = OffState::unknown;
  Fact<Seconds> minimum_billed;          ///< of one run
  Fact<double> surcharge_percent;        ///< of a managed platform, over the machine underneath
  Text runs_on;                          ///< provider of the machine underneath
  Fact<double> interruptions_per_month;  ///< of a spot instance, where the offer does not say
  Fact<Seconds> interruption_notice;
  Fact<Seconds> maximum_run;  ///< of a spot instance, where the offer does not say
  Text refresh;               ///< how newer prices are fetched
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

struct Provider {
  Text name;
  Text title;
  Texts aliases;
  Text country;
  bool marketplace = false;
  bool price_on_request = false;
  Fact<double> hours_per_month;
  Fact<Seconds> billing_granularity;
  Fact<double> vat_percent;
  std::span<const ProviderTerms> terms;   ///< none or one
  std::span<const HostParts> host_parts;  ///< none or one
  std::span<const Offer> offers;
  std::span<const TokenPrice> token_apis;
  std::span<const StoragePrice> storage;
  std::span<const CpuServer> cpu_servers;
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

/// A kind of storage and what it reaches. Rates are what one of `scope` reads and writes.
struct StorageClass {
  Text name;
  Text title;
  Texts aliases;
  StorageKind kind = StorageKind::unknown;
  StorageScope scope = StorageScope::device;
  Fact<BytesPerSecond> read;
  Fact<BytesPerSecond> write;
  Fact<Seconds> latency;
  Fact<double> iops;           ///< small reads a second
  Fact<std::int64_t> clients;  ///< that a figure of `aggregate` was reached with
  Text system;                 ///< that was measured
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

/// A release of a framework: which CUDA its packages are made for, and whose kernels they hold.
struct FrameworkPackage {
  Text cuda;  ///< version of the toolkit
  bool experimental = false;
  Texts compute_capabilities;  ///< with compiled kernels; one of the same generation runs on newer minor versions
  bool ptx = false;            ///< newer generations are compiled when the program starts
  FieldMarks marks;
  SourceId source = 0;
};
struct FrameworkRelease {
  Text name;  ///< `pytorch-2.6`
  Text framework;
  Text version;
  Text python;
  Texts rocm;
  std::span<const FrameworkPackage> packages;
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

/// A release of the CUDA toolkit.
struct CudaRelease {
  Text name;                    ///< `12.6`
  Text min_driver;              ///< Linux driver that the toolkit brings
  Text min_driver_compatible;   ///< oldest driver that runs it by minor-version compatibility
  Text min_compute_capability;  ///< oldest it compiles for
  Text max_compute_capability;  ///< newest it compiles for
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

/// A machine that is bought.
struct OwnedHardware {
  Text name;
  Text title;
  Texts aliases;
  Text gpu;  ///< name of an Accelerator
  Fact<std::int64_t> count;
  Text node;           ///< name of a NodeDesign
  Fact<double> capex;  ///< of the machine, in `currency`, without VAT
  Text currency;
  Fact<double> lifetime_years;    ///< over which it is written off
  Fact<double> residual_percent;  ///< of the price that it sells for at the end
  Fact<Watts> power;              ///< of the whole machine at work
  Fact<double> upkeep_percent;    ///< of the price a year: spare parts, support
  Fact<double> staff_per_year;    ///< in `currency`
  Fact<double> rack_per_month;    ///< colocation without power, in `currency`
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

/// Electricity in a country.
struct EnergyMix {
  Text name;  ///< two letters; `world` for where nothing is known
  Text title;
  Fact<double> price_per_kwh;  ///< for industry, in `currency`, without VAT
  Text currency;
  Fact<double> grams_co2_per_kwh;
  Fact<double> pue;  ///< energy of the building over that of its machines
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

/// How often a large job was interrupted.
struct FailureStudy {
  Text name;
  Text title;
  Text gpu;                    ///< name of an Accelerator
  Fact<std::int64_t> devices;  ///< that the job ran on
  Fact<Seconds> span;          ///< how long
  Fact<std::int64_t> interruptions;
  Fact<std::int64_t> unexpected;  ///< of these
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

/// What a format of weights costs in quality, as somebody measured it on one model.
struct FormatQuality {
  Text name;
  Text format;                ///< of the weights
  Text model;                 ///< that was measured
  Fact<double> parameters_b;  ///< its size, in 10^9
  Text measure;               ///< `benchmarks`: the average of accuracies, more is better; `perplexity`: less is better
  Fact<double> score;         ///< of the weights in that format
  Fact<double> original;      ///< of the weights as they were trained
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

/// Units of a currency for one US dollar on a day.
struct CurrencyRate {
  Text currency;
  Fact<double> per_usd;
  FieldMarks marks;
  SourceId source = 0;
};

}  // namespace gpuplan
