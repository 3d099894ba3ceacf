#include "json_parts.hpp"

#include <gpuplan/report/render.hpp>

namespace gpuplan {
namespace {

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
