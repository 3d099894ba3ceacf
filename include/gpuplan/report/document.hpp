#pragma once
/// The typed report: what every format renders, and nothing else knows. Base units (bytes, seconds, tokens a second), money in
/// `currency`, unknown as an empty optional or empty text.
///
/// The names and their meaning are a contract (schema/estimate.schema.json); more may be added, none moves.

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/explain.hpp>
#include <gpuplan/report/document/alternatives.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gpuplan {

inline constexpr const char* kSchemaVersion = "1.0";
inline constexpr double kIntervalLevel = 0.8;

using Known = std::optional<double>;  ///< empty: unknown

struct Spread {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct CatalogStamp {
  std::string version;
  std::string hash;
  std::string oldest_price;  ///< of the options; empty when no price has a day
  std::string newest_price;
};

struct ModelDocument {
  std::string name;
  std::string requested;
  std::string source;
  double parameters = 0;
  double active_parameters = 0;
  double weights_bytes = 0;
  std::string weights_format;
  Known kv_bytes_per_token;  ///< empty: no cache
  struct Part {
    std::string role;
    double parameters = 0;
    double bytes = 0;
    double bits_per_weight = 0;
  };
  std::vector<Part> parts;                ///< weights by role; they add up
  std::vector<std::string> not_modelled;  ///< parts of the network that the figures leave out
};

/// A resolved value of the job with its default.
struct JobValue {
  std::string name;
  std::variant<std::string, double> value;
  bool is_default = true;
};

struct MemoryTerm {
  std::string id;
  double bytes = 0;
  double low = 0;
  double high = 0;
};
struct MemoryDocumentPart {
  double per_device_bytes = 0;
  double capacity_bytes = 0;
  double headroom_bytes = 0;
  std::string verdict;
  Known max_concurrency;  ///< a replica; empty where requests have no number
  std::vector<MemoryTerm> terms;
};

struct LayoutDocument {
  double tp = 1, pp = 1, dp = 1, ep = 1, cp = 1;
  std::string engine;
};

struct LatencyDocument {
  double ttft_s = 0, tpot_s = 0, decode_tokens_per_s = 0;
};
struct TimeDocument {
  Spread ttft_s, tpot_s, prefill_tokens_per_s, decode_tokens_per_s, output_tokens_per_s, step_s;
};

/// Of a training job.
struct TrainRunDocument {
  double vpp = 1, micro_batch = 1, grad_accum = 1, zero = 0;
  bool sequence_parallel = false;
  std::string recompute, sharding;
  Spread tokens_per_s, step_s, work_s, total_s;  ///< of all devices; total is work with interruptions and checkpoints
  Known mfu, hfu;
  double tokens = 0, steps = 0, global_batch = 0;  ///< sequences a step
  struct StepTerm {
    std::string id;
    double seconds = 0;
  };
  std::vector<StepTerm> step_terms;  ///< they add up to the step
  double checkpoint_bytes = 0, save_s = 0;
  Known checkpoint_interval_s, interruptions, goodput;
  std::string spot_verdict;  ///< empty: no spot, or its rate is unknown
  double cost_total = 0, cost_p90 = 0;
  double per_1m_tokens = 0;
};

/// Of a network that does not generate token by token, and of a batch job of one that does.
struct RunDocument {
  bool generates = false;  ///< token by token: then an item is a request, and `time` of the option is not empty
  double batch = 1;        ///< items at once on a device; of requests, in flight on a replica
  Spread latency_s;        ///< of a batch
  Spread items_per_s;      ///< of all devices, as the rest
  std::optional<Spread> tokens_per_s;
  std::optional<Spread> audio_speed;                    ///< seconds of sound a second
  std::optional<Spread> total_s;                        ///< of a job that ends
  Known total_cost;                                     ///< of such a job
  Known per_1000_items, per_1m_tokens, per_audio_hour;  ///< money; of an option
};

struct CostTerm {
  std::string id;
  double amount = 0;
};
struct CostDocument {
  Known billed_hours;  ///< a month, of what is not always on
  double per_hour = 0, per_month = 0, per_1m_output_tokens = 0;
  std::vector<CostTerm> terms;  ///< of the month, of a job that ends of the job; they add up to it
};

/// What measurements stand behind an option.
struct EvidenceDocument {
  std::string grade = "physics";  ///< measured, near, physics
  std::string row;                ///< the nearest: `inference.csv accelmark-0015`
  std::string about;              ///< what it is of: `llama-3.1-8b in bf16 on H100 SXM5 80GB with vllm 0.7.3, 12 rows`
  std::string observed_on;
  std::string source;
};

/// What the format of the weights costs.
struct QualityDocument {
  std::string format;
  Known loss;           ///< share of the original's quality; empty: nobody measured it
  std::string measure;  ///< benchmarks, perplexity; empty: it costs nothing by definition
  std::string model;    ///< that was measured
  std::string source;
};

/// How much of the load a replica carries, and how much it could. Means; a request in flight runs or waits for its turn.
struct LoadDocument {
  struct Replica {
    double running = 0, in_flight = 0, requests_per_second = 0;
    Known active_users, users;  ///< empty: the load is not of users
    double wait_s = 0;
  };
  std::int64_t replicas_needed = 1, spare_replicas = 0;
  Replica at;                      ///< of each replica that works
  Replica limit;                   ///< the most that it carries within the targets
  std::string bound;               ///< of the limit: memory, engine, ttft, tpot, e2e
  double requests_per_second = 0;  ///< of all
  Known users, active_users;
  bool is_plain = true;  ///< requests in flight without targets or a spare replica: nothing more is to be said
};
/// The target that an option is nearest to missing.
struct SloDocument {
  std::string target;   ///< ttft, tpot, e2e
  std::string verdict;  ///< holds; tight: not at the high end of the interval
  double limit_s = 0, value_s = 0;
  double margin = 0;  ///< share of the limit that is left
};

struct OptionDocument {
  std::int64_t rank = 0;
  std::string provider, provider_title, offer, contract;
  Known term_months;
  std::string accelerator;
  std::int64_t count = 0, nodes = 1;
  std::string interconnect;  ///< empty for one device
  std::string region, country, provider_country;
  std::int64_t replicas = 1, gpus_per_replica = 1;
  double concurrency_per_replica = 0, concurrency_total = 0;
  double utilization = 0;            ///< share of the concurrency that fits
  EvidenceDocument evidence;
  std::optional<LoadDocument> load;  ///< of serving
  std::optional<SloDocument> slo;    ///< empty: no targets
  LayoutDocument layout;
  QualityDocument quality;
  MemoryDocumentPart memory;
  double at_concurrency = 1;              ///< in the whole deployment
  std::string at_basis;                   ///< `asked` or `all_that_fit`
  std::optional<TrainRunDocument> train;  ///< then there is no concurrency, and `alone` and `time` are empty
  LatencyDocument alone;
  TimeDocument time;
  std::optional<RunDocument> run;  ///< then there is no concurrency, and `alone` and `time` are empty
  CostDocument cost;
  std::string price_observed_on;
  Known price_age_days;
  std::string price_confidence, price_source, vat;
  Known vat_percent;  ///< of the provider; empty: unknown
  std::string
      count_basis;  ///< `listed`, or `assumed`: the price is of one device, that several share a host is assumed
  bool pareto = false;
  std::int64_t dominated_by = 0;
};

struct HardwareDocument {
  std::string accelerator;
  std::int64_t count = 0;
  LayoutDocument layout;
  std::optional<MemoryDocumentPart> memory;  ///< empty when rejected
  struct Limits {
    double kv_pool_bytes = 0;    ///< on one device
    double kv_pool_tokens = 0;   ///< positions of all sequences of a replica
    double longest_context = 0;  ///< of one sequence alone
    std::vector<std::string> engine_flags;
    std::vector<MemoryTerm> host;  ///< memory of a replica's host
  };
  std::optional<Limits> limits;  ///< of the footprint alone
  std::optional<LatencyDocument> alone;
  std::optional<TimeDocument> loaded;                    ///< with every sequence that fits
  std::optional<RunDocument> run;                        ///< of a network that does not generate token by token
  std::string rule, needed, available, smallest_change;  ///< when rejected
};

struct RejectedDocument {
  std::string provider, offer, rule, needed, available, smallest_change;
};
struct NoticeDocument {
  std::string id, message;
};
/// What would change the answer.
struct ChangeDocument {
  std::string id;
  std::string message;
};

/// An exchange rate that prices were converted with.
struct RateDocument {
  std::string currency;
  double per_usd = 0;
  std::string observed_on, source;
};

/// What the user narrowed the search to; empty: not narrowed.
struct FilterDocument {
  std::vector<std::string> gpus, providers, contracts;
  Known count;
  std::string region, country;
};

/// The answer to a question asked the other way round (`--fit`, `--solve`).
struct FitDocument {
  std::string question;
  std::string accelerator;  ///< empty: nothing fits
  std::int64_t count = 0;
  double value = 0;   ///< tokens, requests, devices, users, requests a second
  std::string dtype;  ///< that it holds for
  std::string bound;  ///< memory, model, engine, format, ttft, tpot, e2e
  std::string needed, available;
};

struct EstimateDocument {
  std::string command = "estimate";
  CatalogStamp catalog;
  std::string currency;
  std::string vat;  ///< how prices are compared: excluded or included
  std::vector<RateDocument> rates;
  ModelDocument model;
  std::vector<JobValue> job;
  std::string
      item;  ///< what is worked on one by one: image, video, document, recording, sample; of a batch job request
  FilterDocument filters;
  std::string as_of;
  std::string sort;
  std::optional<FitDocument> solve;
  std::vector<HardwareDocument> hardware;
  std::vector<OptionDocument> options;
  AlternativesDocument alternatives;
  std::vector<RejectedDocument> rejected;
  std::string no_option;  ///< why there is none, where the job can say it
  std::vector<NoticeDocument> warnings;
  std::vector<ChangeDocument> changes;
  std::vector<ExplainedTerm> explanation;  ///< of the first option; empty unless asked for
  std::int64_t shown_rows = 10;            ///< of a table; 0: all
  bool best_of_each_provider = true;       ///< a table shows one option a provider
};

/// The footprint alone.
struct MemoryReport {
  CatalogStamp catalog;
  ModelDocument model;
  std::vector<JobValue> job;
  std::vector<HardwareDocument> hardware;
  std::optional<FitDocument> fit;
  std::vector<ExplainedTerm> explanation;
  std::int64_t shown_rows = 0;
};

/// The footprint of a training job.
struct TrainingHardwareDocument {
  std::string accelerator;
  std::int64_t count = 0;
  double tp = 1, pp = 1, vpp = 1, dp = 1, ep = 1, cp = 1;
  double zero = 0;       ///< stage
  std::string sharding;  ///< 0 to 3, fsdp, fsdp-grad, hsdp
  double micro_batch = 1;
  std::string recompute;
  std::string framework;
  MemoryDocumentPart memory;  ///< of the fullest stage in its fullest phase
  std::string peak_phase;
  std::int64_t peak_stage = 0;
  struct Phase {
    std::int64_t stage = 0;
    std::string phase;
    double bytes = 0;
  };
  std::vector<Phase> phases;
  double largest_micro_batch = 0, longest_sequence = 0;
  std::string rule, needed, available, smallest_change;  ///< when it does not run
  struct Change {
    std::string id, message, cost, verdict;
    double bytes = 0;
  };
  std::vector<Change> changes;  ///< that make it fit on the number asked for, or on the fewest
};
struct TrainingReport {
  CatalogStamp catalog;
  ModelDocument model;
  std::vector<JobValue> job;
  double trained_parameters = 0;
  std::vector<TrainingHardwareDocument> hardware;
  std::vector<ExplainedTerm> explanation;
  std::int64_t shown_rows = 0;
};

/// How far predictions are from measured rows.
struct ValidateDocument {
  struct Skipped {
    std::string reason;
    std::int64_t rows = 0;
  };
  struct Group {
    std::string id;  ///< the values of `by`, joined by '/'
    std::vector<std::pair<std::string, std::string>> by;
    std::int64_t rows = 0, sources = 0, predicted = 0;
    double median_abs_error = 0, mean_abs_error = 0, p90_abs_error = 0, worst_abs_error = 0;
    double bias = 1;
    Known coverage_80;  ///< share of the rows whose measured value lies in the printed 80 % interval
  };
  struct Row {
    std::string id, source, metric, how;
    double measured = 0;
    Known predicted;
    double abs_error = 0;
  };
  std::int64_t rows = 0, scored = 0, predicted = 0;
  double coverage = 0;  ///< share of the scored rows that are predicted
  std::vector<Skipped> skipped;
  std::vector<Group> groups;
  Group all;
  std::vector<Row> worst;
  std::vector<Row> unpredicted;  ///< `how` says why
};

/// What an engine printed at start-up, beside what is predicted for it.
struct StartLogDocument {
  struct Term {
    std::string id;
    Unit unit = Unit::bytes;
    double printed = 0;  ///< on the fullest rank
    std::int64_t ranks = 1;
    std::int64_t line = 0;
    Known predicted;
    std::string how;  ///< what was predicted with, or why not
  };
  std::string origin, engine, version, model, accelerator;
  std::vector<JobValue> settings;  ///< those that the log says
  std::vector<Term> terms;
};

/// What joins the accelerators, and how long collectives over all of them take.
struct TopologyDocument {
  struct Level {
    std::string role;  ///< inside, between
    std::string link, title, shape, source;
    double bytes_per_s = 0;        ///< of a device, each way
    std::int64_t devices = 0;      ///< that it joins: of a host or domain; hosts
    bool via_host_memory = false;  ///< no peer-to-peer
    bool reduces = false;          ///< the switches add up
    bool fitted = false;           ///< its constants are fitted to measurements of this kind of link
    Known nics, nic_bytes_per_s, host_bytes_per_s;
  };
  struct Time {
    std::string collective, kernels, algorithm;
    double size_bytes = 0, seconds = 0, bus_bytes_per_s = 0;
  };
  struct Link {  ///< one kind of link between the same few devices
    std::string link, title, way;
    double bytes_per_s = 0;
    std::vector<Time> all_reduce;
    double times_slower = 1;  ///< of the largest message, than over the first link
  };
  std::string accelerator, node;
  std::int64_t count = 0, devices_per_host = 0, hosts = 0;
  double oversubscription = 1;
  std::vector<std::string> picture;
  std::vector<Level> levels;
  std::vector<Time> times;
  std::int64_t compared_devices = 0;
  std::vector<Link> links;
  std::vector<ExplainedTerm> explanation;
};

/// Each operator of a step against what the device can do.
struct RooflineDocument {
  struct Ceiling {
    std::string id;                     ///< bf16, fp8, …
    double datasheet = 0, reached = 0;  ///< FLOP/s
    double ridge = 0;                   ///< FLOP a byte from where on compute limits, of what is reached
  };
  struct Operator {
    std::string id, kind, arithmetic, bound;  ///< bound: compute, memory, launch, link, host
    double count = 1;
    double flop = 0, bytes = 0;  ///< of all of them, on one device
    double seconds = 0, share = 0;
    Known intensity, flop_per_s, of_ceiling;  ///< unknown of what computes nothing
  };
  struct Phase {
    std::string id;  ///< prefill, decode
    double sequences = 0, tokens = 0, seconds = 0, flop = 0, bytes = 0;
    double tokens_per_s = 0;
    std::string bound;  ///< of most of its time
    std::vector<Operator> operators;
  };
  ModelDocument model;
  std::vector<JobValue> job;
  std::string accelerator, engine;
  std::string rejected;  ///< why it does not run there; then the rest is empty
  std::int64_t count = 1;
  double bandwidth_datasheet = 0, bandwidth_reached = 0;
  std::vector<Ceiling> ceilings;
  std::vector<Phase> phases;
  std::vector<ExplainedTerm> explanation;
};

/// A list of records: columns and cells.
struct Cell {
  std::variant<std::monostate, bool, double, std::string> value;
  Unit unit = Unit::none;
};
struct ListDocument {
  std::string what;  ///< gpus, models, offers, providers
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  std::string note;  ///< below a table
};

/// Chosen offers side by side: one row a figure, one value an offer.
enum class Better : std::uint8_t { neither, low, high };
struct CompareDocument {
  struct Column {
    std::string name;  ///< as asked
    std::string provider, offer, accelerator, contract;
    std::string kind;  ///< class that it is compared within
    std::int64_t count = 0;
    std::string why_not;  ///< there is no offer
  };
  struct Value {
    Cell cell;  ///< empty: unknown
    bool best = false;
    Known difference_percent;  ///< from the best one
  };
  struct Row {
    std::string id;
    Better better = Better::neither;
    std::vector<Value> values;  ///< one a column
  };
  std::string currency;
  std::string vat;  ///< how prices are compared: excluded or included
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::vector<std::string> notes;
};

/// One record with where each value is from.
struct RecordDocument {
  struct Field {
    std::string name;
    std::string value;
    std::string mark;
    std::string source;
    std::string observed_on;
    std::string layer;
  };
  std::string what;
  std::string name;
  std::vector<Field> fields;
};

struct ErrorDocument {
  int status = 2;
  std::vector<Problem> problems;
};

using Document =
    std::variant<EstimateDocument, MemoryReport, TrainingReport, ValidateDocument, StartLogDocument, TopologyDocument,
                 RooflineDocument, ListDocument, CompareDocument, RecordDocument, ErrorDocument>;

}  // namespace gpuplan
