#include "plain.hpp"

#include "json_tree.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace gpuplan {
namespace {

using Json = nlohmann::ordered_json;

void add_row(PlainTable& table, const std::vector<std::string>& texts) {
  auto& row = table.rows.emplace_back();
  for (const std::string& text : texts) row.push_back({text, false});
}

PlainTable plain(const ListDocument& list) {
  PlainTable table;
  table.title = list.what;
  table.columns = list.columns;
  for (std::size_t c = 0; c < list.columns.size(); ++c) {
    table.is_number.push_back(std::any_of(list.rows.begin(), list.rows.end(), [&](const auto& row) {
      return std::holds_alternative<double>(row[c].value);
    }));
  }
  for (const auto& cells : list.rows) {
    auto& row = table.rows.emplace_back();
    for (const Cell& cell : cells) row.push_back({cell_text(cell), false});
  }
  if (!list.note.empty()) table.notes.push_back(list.note);
  return table;
}

PlainTable plain(const CompareDocument& d) {
  PlainTable table;
  table.title = "compared in " + d.currency + (d.vat == "included" ? " with VAT" : " without VAT");
  table.columns = {"figure"};
  table.is_number = {false};
  for (const auto& column : d.columns) {
    table.columns.push_back(column.name);
    table.is_number.push_back(true);
  }
  const auto head = [&](const std::string& name, auto get) {
    std::vector<std::string> texts = {name};
    for (const auto& column : d.columns) texts.push_back(get(column));
    add_row(table, texts);
  };
  head("offer", [](const auto& c) { return c.offer.empty() ? c.why_not : c.offer; });
  head("accelerator",
       [](const auto& c) { return c.count > 0 ? std::to_string(c.count) + " x " + c.accelerator : c.accelerator; });
  head("class", [](const auto& c) { return c.kind; });
  head("contract", [](const auto& c) { return c.contract; });
  for (const auto& figure : d.rows) {
    auto& row = table.rows.emplace_back();
    row.push_back({figure_text(figure.id), false});
    for (const auto& value : figure.values) row.push_back({compared_text(value), value.best});
  }
  table.notes = d.notes;
  return table;
}

PlainTable plain(const RecordDocument& record) {
  PlainTable table;
  table.title = record.what + " " + record.name;
  table.columns = {"field", "value", "known as", "source"};
  table.is_number = {false, false, false, false};
  for (const auto& field : record.fields) add_row(table, {field.name, field.value, field.mark, field.source});
  return table;
}

PlainTable plain(const EstimateDocument& d) {
  PlainTable table;
  table.title = d.model.name + ": options in " + d.currency + (d.vat == "included" ? " with VAT" : " without VAT");
  table.columns = {"rank",    "provider", "offer", "contract", "GPUs",      "accelerator", "an hour",
                   "a month", "TTFT",     "TPOT",  "tokens/s", "1M tokens", "price day"};
  for (const std::string& column : table.columns) {
    table.is_number.push_back(column != "provider" && column != "offer" && column != "contract" &&
                              column != "accelerator" && column != "price day");
  }
  for (const OptionDocument& o : d.options) {
    add_row(table, {std::to_string(o.rank), o.provider_title, o.offer, o.contract, std::to_string(o.count),
                    o.accelerator, format_significant(o.cost.per_hour, 4), format_significant(o.cost.per_month, 4),
                    format_seconds(seconds(o.time.ttft_s.value)), format_seconds(seconds(o.time.tpot_s.value)),
                    format_significant(o.time.output_tokens_per_s.value, 3),
                    format_significant(o.cost.per_1m_output_tokens, 3), o.price_observed_on});
  }
  for (const NoticeDocument& warning : d.warnings) table.notes.push_back(warning.message);
  return table;
}

// What has no table of its own: the list of its JSON, flat values only.
PlainTable plain_from_json(const Document& document) {
  PlainTable table;
  const Json tree = json_of(document);
  const Json* items = nullptr;
  for (const char* list : {"hardware", "groups", "terms"}) {
    if (tree.contains(list)) items = &tree[list];
  }
  if (!items && tree.contains("error")) items = &tree["error"]["problems"];
  table.title = tree.contains("command") ? tree["command"].get<std::string>() : "error";
  if (!items) return table;
  std::map<std::string, std::size_t> index;
  for (const auto& item : *items) {
    for (const auto& [key, value] : item.items()) {
      if (value.is_structured() || !index.emplace(key, table.columns.size()).second) continue;
      table.columns.push_back(key);
      table.is_number.push_back(value.is_number());
    }
  }
  for (const auto& item : *items) {
    std::vector<std::string> texts(table.columns.size());
    for (const auto& [key, value] : item.items()) {
      const auto at = index.find(key);
      if (at == index.end() || value.is_null()) continue;
      texts[at->second] = value.is_string()         ? value.get<std::string>()
                          : value.is_number_float() ? format_significant(value.get<double>(), 6)
                                                    : value.dump();
    }
    add_row(table, texts);
  }
  return table;
}

}  // namespace

std::string cell_text(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell.value)) return *text;
  if (const auto* truth = std::get_if<bool>(&cell.value)) return *truth ? "yes" : "no";
  if (const auto* number = std::get_if<double>(&cell.value)) {
    if (cell.unit == Unit::money) return format_significant(*number, 4);
    if (cell.unit == Unit::bytes) return format_binary_bytes(bytes(*number));
    if (cell.unit != Unit::none) return format_quantity(*number, cell.unit);
    return *number >= 1e6 ? format_count(*number) : format_shortest(*number);
  }
  return {};
}

std::string compared_text(const CompareDocument::Value& value) {
  if (std::holds_alternative<std::monostate>(value.cell.value)) return "unknown";
  std::string text = cell_text(value.cell);
  const double percent = value.difference_percent.value_or(0);
  if (value.best || std::abs(percent) < 0.05) return text;
  return text + " (" + (percent > 0 ? "+" : "") + format_shortest(std::round(percent * 10) / 10) + " %)";
}

std::string figure_text(const std::string& id) {
  static const std::map<std::string, std::string> kWords = {{"price.per_gpu_hour", "price of a GPU and hour"},
                                                            {"price.per_hour", "price of an hour"},
                                                            {"price.per_month", "price of a month"},
                                                            {"price.per_tflops_month", "month per TFLOP/s in bf16"},
                                                            {"price.per_gb_per_s_month", "month per GB/s of memory"},
                                                            {"price.per_gib_month", "month per GiB of memory"},
                                                            {"hardware.memory", "memory, usable"},
                                                            {"hardware.memory_bandwidth", "memory bandwidth of one"},
                                                            {"hardware.bf16", "bf16 of one, dense"},
                                                            {"contract.vat_percent", "VAT percent"},
                                                            {"contract.vat_in_list_price", "VAT in the list price"},
                                                            {"contract.when_off", "billed when off"},
                                                            {"contract.sla_percent", "SLA percent"},
                                                            {"software.needs_cuda", "needs CUDA from"},
                                                            {"software.cuda", "CUDA installed"},
                                                            {"software.fit", "runs the framework"},
                                                            {"storage.per_gb_month", "storage, GB and month"},
                                                            {"storage.egress_per_gb", "egress, GB"},
                                                            {"plan.per_1m_output_tokens", "1M output tokens"},
                                                            {"plan.output_tokens_per_s", "output tokens/s"}};
  if (const auto known = kWords.find(id); known != kWords.end()) return known->second;
  std::string text = id.substr(id.find('.') + 1);
  std::replace(text.begin(), text.end(), '_', ' ');
  std::replace(text.begin(), text.end(), '.', ' ');
  return text;
}

PlainTable plain_table(const Document& document) {
  if (const auto* list = std::get_if<ListDocument>(&document)) return plain(*list);
  if (const auto* compared = std::get_if<CompareDocument>(&document)) return plain(*compared);
  if (const auto* record = std::get_if<RecordDocument>(&document)) return plain(*record);
  if (const auto* estimate = std::get_if<EstimateDocument>(&document)) return plain(*estimate);
  return plain_from_json(document);
}

}  // namespace gpuplan
