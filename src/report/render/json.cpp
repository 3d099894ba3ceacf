#include "json_tree.hpp"

#include <gpuplan/report/render.hpp>

#include <cmath>

namespace gpuplan {
namespace {

using Json = nlohmann::ordered_json;

// Unknown is null, and a number that is none never reaches a writer.
Json number(double value) {
  GPUPLAN_ASSERT(std::isfinite(value), "a report holds finite numbers only");
  if (value == std::floor(value) && std::fabs(value) < 9e15) return static_cast<std::int64_t>(value);
  return value;
}
Json known(const Known& value) { return value ? number(*value) : Json(nullptr); }
Json text(const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); }

Json catalog_json(const CatalogStamp& c) {
  return {{"version", c.version},
          {"hash", c.hash},
          {"prices_observed", {{"oldest", text(c.oldest_price)}, {"newest", text(c.newest_price)}}}};
}

Json model_json(const ModelDocument& m) {
  Json parts = Json::array();
  for (const auto& part : m.parts) {
    parts.push_back({{"role", part.role},
                     {"parameters", number(part.parameters)},
                     {"bytes", number(part.bytes)},
                     {"bits_per_weight", number(part.bits_per_weight)}});
  }
  return {{"name", m.name},
          {"requested", m.requested},
          {"source", text(m.source)},
          {"parameters", number(m.parameters)},
          {"active_parameters", number(m.active_parameters)},
          {"weights_bytes", number(m.weights_bytes)},
          {"weights_format", m.weights_format},
          {"kv_bytes_per_token", known(m.kv_bytes_per_token)},
          {"parts", std::move(parts)},
          {"not_modelled", m.not_modelled}};
}

Json job_json(const std::vector<JobValue>& job) {
  Json out = Json::object();
  Json defaults = Json::array();
  for (const JobValue& value : job) {
    if (const auto* word = std::get_if<std::string>(&value.value)) {
      out[value.name] = *word;
    } else {
      out[value.name] = number(std::get<double>(value.value));
    }
    if (value.is_default) defaults.push_back(value.name);
  }
  out["defaults"] = std::move(defaults);
  return out;
}

Json filters_json(const FilterDocument& f) {
  const auto list = [](const std::vector<std::string>& words) { return words.empty() ? Json(nullptr) : Json(words); };
  return {{"gpu", list(f.gpus)},           {"count", known(f.count)},  {"provider", list(f.providers)},
          {"contract", list(f.contracts)}, {"region", text(f.region)}, {"country", text(f.country)}};
}

Json layout_json(const LayoutDocument& l) {
  return {{"tp", number(l.tp)},     {"pp", number(l.pp)},   {"dp", number(l.dp)},
          {"ep", number(l.ep)},     {"cp", number(l.cp)},   {"zero", nullptr},
          {"micro_batch", nullptr}, {"recompute", nullptr}, {"engine", l.engine}};
}

Json terms_json(const std::vector<MemoryTerm>& all) {
  Json terms = Json::array();
  for (const MemoryTerm& term : all) {
    terms.push_back(
        {{"id", term.id}, {"bytes", number(term.bytes)}, {"low", number(term.low)}, {"high", number(term.high)}});
  }
  return terms;
}

Json host_json(const std::vector<MemoryTerm>& terms) {
  double total = 0;
  for (const MemoryTerm& term : terms) total += term.bytes;
  return {{"peak_bytes", number(total)}, {"terms", terms_json(terms)}};
}

Json memory_json(const MemoryDocumentPart& m) {
  return {{"per_device_bytes", number(m.per_device_bytes)}, {"capacity_bytes", number(m.capacity_bytes)},
          {"headroom_bytes", number(m.headroom_bytes)},     {"verdict", m.verdict},
          {"max_concurrency", known(m.max_concurrency)},    {"terms", terms_json(m.terms)}};
}

// Keys of serving that have no meaning for a network which is run by its parts.
Json unknown_json(std::initializer_list<const char*> names) {
  Json out = Json::object();
  for (const char* name : names) out[name] = nullptr;
  return out;
}

Json latency_json(const LatencyDocument& l) {
  return {{"ttft_s", number(l.ttft_s)},
          {"tpot_s", number(l.tpot_s)},
          {"decode_tokens_per_s", number(l.decode_tokens_per_s)}};
}

void add_spread(Json& out, const std::string& name, const Spread& spread) {
  out[name] = number(spread.value);
  out[name + "_low"] = number(spread.low);
  out[name + "_high"] = number(spread.high);
}

Json time_json(const TimeDocument& t) {
  Json out = Json::object();
  add_spread(out, "ttft_s", t.ttft_s);
  add_spread(out, "tpot_s", t.tpot_s);
  add_spread(out, "prefill_tokens_per_s", t.prefill_tokens_per_s);
  add_spread(out, "decode_tokens_per_s", t.decode_tokens_per_s);
  add_spread(out, "output_tokens_per_s", t.output_tokens_per_s);
  add_spread(out, "step_s", t.step_s);
  for (const char* name : {"total_s", "total_s_low", "total_s_high"})
    out[name] = nullptr;  // a serving job does not end
  return out;
}

void add_known(Json& out, const std::string& name, const std::optional<Spread>& spread) {
  if (spread) return add_spread(out, name, *spread);
  for (const char* end : {"", "_low", "_high"}) out[name + end] = nullptr;
}

Json run_time_json(const RunDocument& r, const std::string& item) {
  Json out = Json::object();
  for (const char* name :
       {"ttft_s", "tpot_s", "prefill_tokens_per_s", "decode_tokens_per_s", "output_tokens_per_s", "step_s"})
    add_known(out, name, std::nullopt);
  add_known(out, "total_s", r.total_s);
  add_spread(out, "latency_s", r.latency_s);
  add_spread(out, "items_per_s", r.items_per_s);
  add_spread(out, item + "s_per_s", r.items_per_s);
  add_known(out, "tokens_per_s", r.tokens_per_s);
  add_known(out, "audio_speed", r.audio_speed);
  return out;
}

Json run_cost_json(const CostDocument& c, const RunDocument& r) {
  Json terms = Json::array();
  for (const CostTerm& term : c.terms) terms.push_back({{"id", term.id}, {"amount", number(term.amount)}});
  return {{"period", r.total_cost ? "job" : "month"},
          {"per_hour", number(c.per_hour)},
          {"per_month", number(c.per_month)},
          {"total", number(r.total_cost.value_or(c.per_month))},
          {"per_1m_output_tokens", nullptr},
          {"per_1000_items", known(r.per_1000_items)},
          {"per_1m_tokens", known(r.per_1m_tokens)},
          {"per_audio_hour", known(r.per_audio_hour)},
          {"terms", std::move(terms)}};
}

Json cost_json(const CostDocument& c) {
  Json terms = Json::array();
  for (const CostTerm& term : c.terms) terms.push_back({{"id", term.id}, {"amount", number(term.amount)}});
  return {{"period", "month"},
          {"per_hour", number(c.per_hour)},
          {"per_month", number(c.per_month)},
          {"total", number(c.per_month)},
          {"per_1m_output_tokens", number(c.per_1m_output_tokens)},
          {"terms", std::move(terms)}};
}

Json train_time_json(const TrainRunDocument& t) {
  Json out = Json::object();
  for (const char* name : {"ttft_s", "tpot_s", "prefill_tokens_per_s", "decode_tokens_per_s", "output_tokens_per_s"})
    add_known(out, name, std::nullopt);
  add_spread(out, "step_s", t.step_s);
  add_spread(out, "work_s", t.work_s);
  add_spread(out, "total_s", t.total_s);
  add_spread(out, "tokens_per_s", t.tokens_per_s);
  out["steps"] = number(t.steps);
  out["mfu"] = known(t.mfu);
  out["hfu"] = known(t.hfu);
  Json terms = Json::array();
  for (const auto& term : t.step_terms) terms.push_back({{"id", term.id}, {"seconds", number(term.seconds)}});
  out["step_terms"] = std::move(terms);
  return out;
}

Json train_cost_json(const CostDocument& c, const TrainRunDocument& t) {
  Json terms = Json::array();
  for (const CostTerm& term : c.terms) terms.push_back({{"id", term.id}, {"amount", number(term.amount)}});
  return {{"period", "job"},
          {"per_hour", number(c.per_hour)},
          {"per_month", number(c.per_month)},
          {"total", number(t.cost_total)},
          {"total_p90", number(t.cost_p90)},
          {"per_1m_output_tokens", nullptr},
          {"per_1m_tokens", number(t.per_1m_tokens)},
          {"terms", std::move(terms)}};
}

// What a training job has in the place of what serving says.
void put_training(Json& out, const OptionDocument& o) {
  const TrainRunDocument& t = *o.train;
  out["concurrency"] = unknown_json({"per_replica", "total"});
  out["utilization"] = nullptr;
  out["at"] = {
      {"concurrency", nullptr}, {"request_rate", nullptr}, {"basis", "step"}, {"global_batch", number(t.global_batch)}};
  out["alone"] = unknown_json({"ttft_s", "tpot_s", "decode_tokens_per_s"});
  Json& layout = out["layout"];
  layout["vpp"] = number(t.vpp);
  layout["zero"] = number(t.zero);
  layout["sharding"] = t.sharding;
  layout["sequence_parallel"] = t.sequence_parallel;
  layout["micro_batch"] = number(t.micro_batch);
  layout["grad_accum"] = number(t.grad_accum);
  layout["recompute"] = t.recompute;
  out["time"] = train_time_json(t);
  out["cost"] = train_cost_json(o.cost, t);
  out["checkpoint"] = {{"bytes", number(t.checkpoint_bytes)},
                       {"save_s", number(t.save_s)},
                       {"interval_s", known(t.checkpoint_interval_s)},
                       {"interruptions", known(t.interruptions)},
                       {"goodput", known(t.goodput)},
                       {"spot", text(t.spot_verdict)}};
}

Json option_json(const OptionDocument& o, const std::string& item) {
  Json out = {
      {"rank", o.rank},
      {"provider", o.provider},
      {"offer", o.offer},
      {"contract", o.contract},
      {"term_months", known(o.term_months)},
      {"accelerator", o.accelerator},
      {"count", o.count},
      {"nodes", o.nodes},
      {"interconnect", text(o.interconnect)},
      {"region", text(o.region)},
      {"country", text(o.country)},
      {"provider_country", text(o.provider_country)},
      {"replicas", o.replicas},
      {"gpus_per_replica", o.gpus_per_replica},
      {"concurrency", {{"per_replica", number(o.concurrency_per_replica)}, {"total", number(o.concurrency_total)}}},
      {"utilization", number(o.utilization)},
      {"evidence", {{"grade", "physics"}, {"nearest_row", nullptr}, {"observed_on", nullptr}}},
      {"layout", layout_json(o.layout)},
      {"quality", {{"format", o.quality_format}, {"loss_percent", nullptr}, {"source", nullptr}}},
      {"memory", memory_json(o.memory)},
      {"at", {{"concurrency", number(o.at_concurrency)}, {"request_rate", nullptr}, {"basis", o.at_basis}}},
      {"alone", latency_json(o.alone)},
      {"time", time_json(o.time)},
      {"cost", cost_json(o.cost)},
      {"slo", {{"verdict", nullptr}, {"limit", nullptr}, {"margin", nullptr}}},
      {"price",
       {{"observed_on", text(o.price_observed_on)},
        {"age_days", known(o.price_age_days)},
        {"confidence", o.price_confidence},
        {"source", text(o.price_source)},
        {"vat", o.vat},
        {"vat_percent", known(o.vat_percent)},
        {"count_basis", o.count_basis}}},
      {"pareto", o.pareto},
      {"dominated_by", o.dominated_by > 0 ? Json(o.dominated_by) : Json(nullptr)}};
  if (o.train) put_training(out, o);
  if (!o.run) return out;
  out["concurrency"] = unknown_json({"per_replica", "total"});
  out["utilization"] = nullptr;
  out["at"] = {
      {"concurrency", nullptr}, {"request_rate", nullptr}, {"basis", "batch"}, {"batch", number(o.run->batch)}};
  out["alone"] = unknown_json({"ttft_s", "tpot_s", "decode_tokens_per_s"});
  out["time"] = run_time_json(*o.run, item);
  out["cost"] = run_cost_json(o.cost, *o.run);
  return out;
}

Json hardware_json(const std::vector<HardwareDocument>& hardware, const std::string& item = {}) {
  Json out = Json::array();
  for (const HardwareDocument& h : hardware) {
    Json rejection = nullptr;
    if (!h.rule.empty()) {
      rejection = {
          {"rule", h.rule}, {"needed", h.needed}, {"available", h.available}, {"smallest_change", h.smallest_change}};
    }
    out.push_back({{"accelerator", h.accelerator},
                   {"runs", h.memory.has_value()},
                   {"count", h.memory ? Json(h.count) : Json(nullptr)},
                   {"layout", h.memory ? layout_json(h.layout) : Json(nullptr)},
                   {"memory", h.memory ? memory_json(*h.memory) : Json(nullptr)},
                   {"alone", h.alone ? latency_json(*h.alone) : Json(nullptr)},
                   {"loaded", h.loaded ? time_json(*h.loaded) : Json(nullptr)},
                   {"rejection", std::move(rejection)}});
    if (h.run) out.back()["run"] = run_time_json(*h.run, item);
    if (h.limits) {
      out.back()["limits"] = {{"kv_pool_bytes", number(h.limits->kv_pool_bytes)},
                              {"kv_pool_tokens", number(h.limits->kv_pool_tokens)},
                              {"longest_context", number(h.limits->longest_context)},
                              {"engine_flags", h.limits->engine_flags}};
      out.back()["host"] = host_json(h.limits->host);
    }
  }
  return out;
}

Json fit_json(const FitDocument& f) {
  return {{"question", f.question},
          {"accelerator", text(f.accelerator)},
          {"count", f.accelerator.empty() ? Json(nullptr) : Json(f.count)},
          {"value", f.accelerator.empty() ? Json(nullptr) : number(f.value)},
          {"dtype", text(f.dtype)},
          {"bound", f.bound},
          {"needed", text(f.needed)},
          {"available", text(f.available)}};
}

Json explanation_json(const std::vector<ExplainedTerm>& terms) {
  Json out = Json::array();
  for (const ExplainedTerm& term : terms) {
    Json inputs = Json::array();
    for (const ExplainInput& input : term.inputs) {
      inputs.push_back({{"name", input.name}, {"value", number(input.value)}, {"source", text(input.source)}});
    }
    out.push_back(
        {{"id", term.id}, {"value", number(term.value)}, {"formula", term.formula}, {"inputs", std::move(inputs)}});
  }
  return out;
}

Json to_json(const EstimateDocument& d) {
  Json options = Json::array();
  for (const OptionDocument& option : d.options) options.push_back(option_json(option, d.item));
  Json rejected = Json::array();
  for (const RejectedDocument& r : d.rejected) {
    rejected.push_back({{"provider", r.provider},
                        {"offer", r.offer},
                        {"rule", r.rule},
                        {"needed", r.needed},
                        {"available", r.available},
                        {"smallest_change", r.smallest_change}});
  }
  Json warnings = Json::array();
  for (const NoticeDocument& w : d.warnings) warnings.push_back({{"id", w.id}, {"message", w.message}});
  Json changes = Json::array();
  for (const ChangeDocument& c : d.changes) changes.push_back({{"id", c.id}, {"message", c.message}});
  Json rates = Json::array();
  for (const RateDocument& r : d.rates) {
    rates.push_back({{"currency", r.currency},
                     {"per_usd", number(r.per_usd)},
                     {"observed_on", text(r.observed_on)},
                     {"source", text(r.source)}});
  }
  Json out = {{"schema_version", kSchemaVersion},
              {"command", d.command},
              {"catalog", catalog_json(d.catalog)},
              {"currency", d.currency},
              {"vat", d.vat},
              {"rates", std::move(rates)},
              {"model", model_json(d.model)},
              {"job", job_json(d.job)},
              {"filters", filters_json(d.filters)},
              {"as_of", d.as_of},
              {"interval_level", kIntervalLevel},
              {"sort", d.sort},
              {"options", std::move(options)},
              {"rejected", std::move(rejected)},
              {"hardware", hardware_json(d.hardware, d.item)},
              {"changes", std::move(changes)},
              {"warnings", std::move(warnings)}};
  if (!d.explanation.empty()) out["explanation"] = explanation_json(d.explanation);
  return out;
}

Json to_json(const MemoryReport& d) {
  Json out = {{"schema_version", kSchemaVersion}, {"command", "memory"},    {"catalog", catalog_json(d.catalog)},
              {"model", model_json(d.model)},     {"job", job_json(d.job)}, {"hardware", hardware_json(d.hardware)}};
  if (d.fit) out["fit"] = fit_json(*d.fit);
  if (!d.explanation.empty()) out["explanation"] = explanation_json(d.explanation);
  return out;
}

Json training_memory_json(const TrainingHardwareDocument& h) {
  Json phases = Json::array();
  for (const auto& phase : h.phases)
    phases.push_back({{"stage", phase.stage}, {"phase", phase.phase}, {"bytes", number(phase.bytes)}});
  Json out = memory_json(h.memory);
  out.erase("max_concurrency");
  out["peak_phase"] = h.peak_phase;
  out["peak_stage"] = h.peak_stage;
  out["phases"] = std::move(phases);
  out["largest_micro_batch"] = number(h.largest_micro_batch);
  out["longest_sequence"] = number(h.longest_sequence);
  return out;
}

Json training_hardware_json(const TrainingHardwareDocument& h) {
  Json rejection = nullptr;
  if (!h.rule.empty()) {
    rejection = {
        {"rule", h.rule}, {"needed", h.needed}, {"available", h.available}, {"smallest_change", h.smallest_change}};
  }
  Json changes = Json::array();
  for (const auto& c : h.changes) {
    changes.push_back({{"id", c.id},
                       {"message", c.message},
                       {"cost", c.cost},
                       {"peak_bytes", number(c.bytes)},
                       {"verdict", c.verdict}});
  }
  return {{"accelerator", h.accelerator},
          {"runs", h.rule.empty()},
          {"count", h.count},
          {"layout",
           {{"tp", number(h.tp)},
            {"pp", number(h.pp)},
            {"vpp", number(h.vpp)},
            {"dp", number(h.dp)},
            {"ep", number(h.ep)},
            {"cp", number(h.cp)},
            {"zero", number(h.zero)},
            {"sharding", h.sharding},
            {"micro_batch", number(h.micro_batch)},
            {"recompute", h.recompute},
            {"engine", h.framework}}},
          {"memory", training_memory_json(h)},
          {"changes", std::move(changes)},
          {"rejection", std::move(rejection)}};
}

Json to_json(const TrainingReport& d) {
  Json hardware = Json::array();
  for (const TrainingHardwareDocument& h : d.hardware) hardware.push_back(training_hardware_json(h));
  Json out = {{"schema_version", kSchemaVersion},
              {"command", "memory"},
              {"catalog", catalog_json(d.catalog)},
              {"model", model_json(d.model)},
              {"job", job_json(d.job)},
              {"trained_parameters", number(d.trained_parameters)},
              {"hardware", std::move(hardware)}};
  if (!d.explanation.empty()) out["explanation"] = explanation_json(d.explanation);
  return out;
}

Json cell_json(const Cell& cell) {
  if (const auto* word = std::get_if<std::string>(&cell.value)) return *word;
  if (const auto* truth = std::get_if<bool>(&cell.value)) return *truth;
  if (const auto* value = std::get_if<double>(&cell.value)) return number(*value);
  return nullptr;
}

Json to_json(const ListDocument& d) {
  Json items = Json::array();
  for (const auto& row : d.rows) {
    Json item = Json::object();
    for (std::size_t c = 0; c < d.columns.size(); ++c) item[d.columns[c]] = cell_json(row[c]);
    items.push_back(std::move(item));
  }
  return {{"schema_version", kSchemaVersion}, {"command", d.what}, {"items", std::move(items)}};
}

Json group_json(const ValidateDocument::Group& g) {
  Json by = Json::object();
  for (const auto& [key, value] : g.by) by[key] = value;
  return {{"id", g.id},
          {"by", std::move(by)},
          {"rows", g.rows},
          {"sources", g.sources},
          {"predicted", g.predicted},
          {"median_abs_error", number(g.median_abs_error)},
          {"mean_abs_error", number(g.mean_abs_error)},
          {"p90_abs_error", number(g.p90_abs_error)},
          {"worst_abs_error", number(g.worst_abs_error)},
          {"bias", number(g.bias)},
          {"coverage_80", known(g.coverage_80)}};
}

Json row_json(const ValidateDocument::Row& r) {
  return {{"id", r.id},
          {"source", text(r.source)},
          {"metric", r.metric},
          {"measured", number(r.measured)},
          {"predicted", known(r.predicted)},
          {"abs_error", number(r.abs_error)},
          {"how", text(r.how)}};
}

Json to_json(const ValidateDocument& d) {
  const auto list = [](const auto& items, auto make) {
    Json out = Json::array();
    for (const auto& item : items) out.push_back(make(item));
    return out;
  };
  return {{"schema_version", kSchemaVersion},
          {"command", "validate"},
          {"rows", d.rows},
          {"scored", d.scored},
          {"predicted", d.predicted},
          {"coverage", number(d.coverage)},
          {"skipped", list(d.skipped,
                           [](const auto& s) {
                             return Json{{"reason", s.reason}, {"rows", s.rows}};
                           })},
          {"groups", list(d.groups, group_json)},
          {"all", group_json(d.all)},
          {"worst", list(d.worst, row_json)},
          {"unpredicted", list(d.unpredicted, row_json)}};
}

Json to_json(const StartLogDocument& d) {
  Json settings = Json::object();
  for (const JobValue& value : d.settings) {
    if (const auto* amount = std::get_if<double>(&value.value)) {
      settings[value.name] = number(*amount);
    } else {
      settings[value.name] = std::get<std::string>(value.value);
    }
  }
  Json terms = Json::array();
  for (const StartLogDocument::Term& t : d.terms) {
    terms.push_back({{"id", t.id},
                     {"unit", t.unit == Unit::bytes    ? "bytes"
                              : t.unit == Unit::tokens ? "tokens"
                                                       : "ratio"},
                     {"printed", number(t.printed)},
                     {"predicted", known(t.predicted)},
                     {"residual", t.predicted ? number(*t.predicted - t.printed) : Json(nullptr)},
                     {"ranks", t.ranks},
                     {"line", t.line},
                     {"how", text(t.how)}});
  }
  return {{"schema_version", kSchemaVersion},
          {"command", "validate"},
          {"log", d.origin},
          {"engine", text(d.engine)},
          {"engine_version", text(d.version)},
          {"model", text(d.model)},
          {"accelerator", text(d.accelerator)},
          {"settings", std::move(settings)},
          {"terms", std::move(terms)}};
}

Json to_json(const CompareDocument& d) {
  Json columns = Json::array();
  for (const auto& c : d.columns) {
    columns.push_back({{"name", c.name},
                       {"provider", text(c.provider)},
                       {"offer", text(c.offer)},
                       {"accelerator", text(c.accelerator)},
                       {"class", text(c.kind)},
                       {"contract", text(c.contract)},
                       {"count", c.count},
                       {"why_not", text(c.why_not)}});
  }
  Json items = Json::array();
  for (const auto& row : d.rows) {
    Json values = Json::array();
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const auto& value = row.values[i];
      values.push_back({{"id", d.columns[i].name},
                        {"value", cell_json(value.cell)},
                        {"best", value.best},
                        {"difference_percent", known(value.difference_percent)}});
    }
    items.push_back(
        {{"figure", row.id},
         {"better", row.better == Better::neither ? Json(nullptr) : Json(row.better == Better::low ? "low" : "high")},
         {"values", std::move(values)}});
  }
  return {{"schema_version", kSchemaVersion}, {"command", "compare"},      {"currency", d.currency}, {"vat", d.vat},
          {"columns", std::move(columns)},    {"items", std::move(items)}, {"notes", d.notes}};
}

Json time_json(const TopologyDocument::Time& t) {
  return {{"collective", t.collective},
          {"kernels", t.kernels},
          {"size_bytes", number(t.size_bytes)},
          {"seconds", number(t.seconds)},
          {"bus_bytes_per_s", number(t.bus_bytes_per_s)},
          {"algorithm", t.algorithm}};
}

Json to_json(const TopologyDocument& d) {
  Json levels = Json::array();
  for (const auto& l : d.levels) {
    levels.push_back({{"id", l.role},
                      {"link", l.link},
                      {"title", text(l.title)},
                      {"shape", l.shape},
                      {"bytes_per_s_each_way", number(l.bytes_per_s)},
                      {"joins", l.devices},
                      {"via_host_memory", l.via_host_memory},
                      {"reduces", l.reduces},
                      {"fitted", l.fitted},
                      {"nics", known(l.nics)},
                      {"nic_bytes_per_s", known(l.nic_bytes_per_s)},
                      {"host_bytes_per_s", known(l.host_bytes_per_s)},
                      {"source", text(l.source)}});
  }
  Json times = Json::array();
  for (const auto& t : d.times) times.push_back(time_json(t));
  Json links = Json::array();
  for (const auto& l : d.links) {
    Json all_reduce = Json::array();
    for (const auto& t : l.all_reduce) all_reduce.push_back(time_json(t));
    links.push_back({{"id", l.link},
                     {"title", text(l.title)},
                     {"way", l.way},
                     {"bytes_per_s_each_way", number(l.bytes_per_s)},
                     {"times_slower", number(l.times_slower)},
                     {"all_reduce", std::move(all_reduce)}});
  }
  Json out = {{"schema_version", kSchemaVersion},
              {"command", "topology"},
              {"accelerator", d.accelerator},
              {"node", text(d.node)},
              {"count", d.count},
              {"hosts", d.hosts},
              {"devices_per_host", d.devices_per_host},
              {"oversubscription", number(d.oversubscription)},
              {"picture", d.picture},
              {"levels", std::move(levels)},
              {"times", std::move(times)},
              {"compared_devices", d.compared_devices},
              {"links", std::move(links)}};
  if (!d.explanation.empty()) out["explanation"] = explanation_json(d.explanation);
  return out;
}

Json operator_json(const RooflineDocument::Phase& phase, const RooflineDocument::Operator& o) {
  return {{"phase", phase.id},
          {"id", o.id},
          {"kind", text(o.kind)},
          {"arithmetic", text(o.arithmetic)},
          {"count", number(o.count)},
          {"flop", number(o.flop)},
          {"bytes", number(o.bytes)},
          {"intensity", known(o.intensity)},
          {"seconds", number(o.seconds)},
          {"share", number(o.share)},
          {"bound", o.bound},
          {"flop_per_s", known(o.flop_per_s)},
          {"of_ceiling", known(o.of_ceiling)}};
}

Json to_json(const RooflineDocument& d) {
  Json ceilings = Json::array();
  for (const auto& c : d.ceilings) {
    ceilings.push_back({{"id", c.id},
                        {"datasheet_flop_per_s", number(c.datasheet)},
                        {"reached_flop_per_s", number(c.reached)},
                        {"ridge_flop_per_byte", number(c.ridge)}});
  }
  Json phases = Json::array();
  Json operators = Json::array();
  for (const auto& p : d.phases) {
    phases.push_back({{"id", p.id},
                      {"sequences", number(p.sequences)},
                      {"tokens", number(p.tokens)},
                      {"seconds", number(p.seconds)},
                      {"tokens_per_s", number(p.tokens_per_s)},
                      {"flop", number(p.flop)},
                      {"bytes", number(p.bytes)},
                      {"bound", p.bound}});
    for (const auto& o : p.operators) operators.push_back(operator_json(p, o));
  }
  Json out = {{"schema_version", kSchemaVersion},
              {"command", "roofline"},
              {"model", model_json(d.model)},
              {"job", job_json(d.job)},
              {"accelerator", d.accelerator},
              {"count", d.count},
              {"engine", d.engine},
              {"rejected", text(d.rejected)},
              {"bandwidth",
               {{"datasheet_bytes_per_s", number(d.bandwidth_datasheet)},
                {"reached_bytes_per_s", number(d.bandwidth_reached)}}},
              {"ceilings", std::move(ceilings)},
              {"phases", std::move(phases)},
              {"operators", std::move(operators)}};
  if (!d.explanation.empty()) out["explanation"] = explanation_json(d.explanation);
  return out;
}

Json to_json(const RecordDocument& d) {
  Json fields = Json::array();
  for (const auto& f : d.fields) {
    fields.push_back({{"name", f.name},
                      {"value", f.value},
                      {"mark", f.mark},
                      {"source", text(f.source)},
                      {"observed_on", text(f.observed_on)},
                      {"layer", text(f.layer)}});
  }
  return {{"schema_version", kSchemaVersion},
          {"command", "show"},
          {"kind", d.what},
          {"name", d.name},
          {"fields", std::move(fields)}};
}

Json to_json(const ErrorDocument& d) {
  Json problems = Json::array();
  for (const Problem& p : d.problems) {
    Json place = nullptr;
    if (p.place) {
      place = {{"origin", p.place->origin},
               {"line", p.place->line > 0 ? Json(p.place->line) : Json(nullptr)},
               {"column", p.place->column > 0 ? Json(p.place->column) : Json(nullptr)}};
    }
    problems.push_back({{"id", p.id},
                        {"message", p.message},
                        {"place", std::move(place)},
                        {"expected", text(p.expected)},
                        {"nearest", text(p.nearest)}});
  }
  return {{"schema_version", kSchemaVersion}, {"error", {{"status", d.status}, {"problems", std::move(problems)}}}};
}

}  // namespace

nlohmann::ordered_json json_of(const Document& document) {
  return std::visit([](const auto& d) { return to_json(d); }, document);
}

std::string render_json(const Document& document) {
  // A name the user typed may be bad UTF-8; it is shown with replacement characters rather than not at all.
  return json_of(document).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace gpuplan
