// Estimates, memory and training as JSON.

#include "json_parts.hpp"

#include <gpuplan/report/render.hpp>

namespace gpuplan {
namespace {

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

Json run_time_json(const RunDocument& r, const std::string& item, const TimeDocument& generation = {}) {
  Json out = time_json(generation);
  if (!r.generates) {
    for (const char* name :
         {"ttft_s", "tpot_s", "prefill_tokens_per_s", "decode_tokens_per_s", "output_tokens_per_s", "step_s"})
      add_known(out, name, std::nullopt);
  }
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
          {"per_1m_output_tokens", r.generates ? number(c.per_1m_output_tokens) : Json(nullptr)},
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
          {"billed_hours", known(c.billed_hours)},
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

Json replica_load_json(const LoadDocument::Replica& r) {
  return {{"running", number(r.running)},
          {"in_flight", number(r.in_flight)},
          {"requests_per_second", r.requests_per_second > 0 ? number(r.requests_per_second) : Json(nullptr)},
          {"active_users", known(r.active_users)},
          {"users", known(r.users)},
          {"wait_s", number(r.wait_s)}};
}

Json load_json(const LoadDocument& l) {
  Json limit = replica_load_json(l.limit);
  limit["bound"] = l.bound;
  return {{"requests_per_second", number(l.requests_per_second)},
          {"users", known(l.users)},
          {"active_users", known(l.active_users)},
          {"replicas_needed", l.replicas_needed},
          {"spare_replicas", l.spare_replicas},
          {"per_replica", replica_load_json(l.at)},
          {"limit_per_replica", std::move(limit)}};
}

Json slo_json(const std::optional<SloDocument>& slo) {
  if (!slo) return {{"verdict", nullptr}, {"limit", nullptr}, {"margin", nullptr}};
  return {{"verdict", slo->verdict},
          {"target", slo->target},
          {"limit", number(slo->limit_s)},
          {"value", number(slo->value_s)},
          {"margin", number(slo->margin)}};
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
      {"evidence",
       {{"grade", o.evidence.grade},
        {"nearest_row", text(o.evidence.row)},
        {"about", text(o.evidence.about)},
        {"observed_on", text(o.evidence.observed_on)},
        {"source", text(o.evidence.source)}}},
      {"layout", layout_json(o.layout)},
      {"quality",
       {{"format", o.quality.format},
        {"loss_percent", o.quality.loss ? number(100 * *o.quality.loss) : Json(nullptr)},
        {"measure", text(o.quality.measure)},
        {"measured_on", text(o.quality.model)},
        {"source", text(o.quality.source)}}},
      {"memory", memory_json(o.memory)},
      {"at",
       {{"concurrency", number(o.at_concurrency)},
        {"request_rate", o.load ? number(o.load->requests_per_second) : Json(nullptr)},
        {"basis", o.at_basis}}},
      {"load", o.load ? load_json(*o.load) : Json(nullptr)},
      {"alone", latency_json(o.alone)},
      {"time", time_json(o.time)},
      {"cost", cost_json(o.cost)},
      {"slo", slo_json(o.slo)},
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
  if (!o.run->generates) out["alone"] = unknown_json({"ttft_s", "tpot_s", "decode_tokens_per_s"});
  out["time"] = run_time_json(*o.run, item, o.time);
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

}  // namespace

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
              {"alternatives", alternatives_json(d.alternatives)},
              {"rejected", std::move(rejected)},
              {"hardware", hardware_json(d.hardware, d.item)},
              {"changes", std::move(changes)},
              {"warnings", std::move(warnings)}};
  if (d.solve) out["solve"] = fit_json(*d.solve);
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

}  // namespace gpuplan
