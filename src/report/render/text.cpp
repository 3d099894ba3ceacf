#include "text.hpp"

#include "table.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <cmath>

namespace gpuplan {
namespace {

constexpr int kLabelWidth = 9;

std::string value_text(const JobValue& value) {
  const std::string text = std::holds_alternative<std::string>(value.value) ? std::get<std::string>(value.value)
                                                                            : format_whole(std::get<double>(value.value));
  return value.name + " " + text + (value.is_default ? "*" : "");
}

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

bool is_number(const ListDocument& list, std::size_t column) {
  return std::any_of(list.rows.begin(), list.rows.end(), [&](const auto& row) { return std::holds_alternative<double>(row[column].value); });
}

std::string list_text(const ListDocument& list, const TextStyle& style) {
  std::vector<TableColumn> columns;
  for (std::size_t c = 0; c < list.columns.size(); ++c) columns.push_back({list.columns[c], is_number(list, c)});
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : list.rows) {
    auto& cells = rows.emplace_back();
    for (const Cell& cell : row) cells.push_back(cell_text(cell));
  }
  std::string out = layout_table(columns, rows);
  out += "\n" + format_whole(static_cast<double>(list.rows.size())) + " " + list.what + "\n";
  for (const auto& line : wrap(list.note, style.width)) out += line + "\n";
  return out;
}

std::string record_text(const RecordDocument& record) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& field : record.fields) {
    std::string origin = field.source;
    if (!field.observed_on.empty()) origin += (origin.empty() ? "" : ", ") + field.observed_on;
    if (!field.layer.empty() && field.layer != "built-in") origin += " (" + field.layer + ")";
    rows.push_back({field.name, field.value, field.mark, origin});
  }
  return record.what + " " + record.name + "\n\n" + layout_table({{"field"}, {"value"}, {"known as"}, {"source and date"}}, rows);
}

std::string error_text(const ErrorDocument& error) {
  std::string out;
  for (const Problem& problem : error.problems) out += format_problem(problem) + "\n";
  return out;
}

}  // namespace

std::string bold(std::string_view text, const TextStyle& style) {
  return style.color ? "\x1b[1m" + std::string(text) + "\x1b[0m" : std::string(text);
}

std::string labelled(std::string_view label, std::string_view text, const TextStyle& style) {
  std::string out;
  bool first = true;
  for (const auto& line : wrap(text, std::max(20, style.width - kLabelWidth))) {
    std::string head(first ? label : std::string_view{});
    head.resize(kLabelWidth, ' ');
    out += head + line + "\n";
    first = false;
  }
  return out;
}

std::string model_line(const ModelDocument& model) {
  std::string line = model.name;
  if (lookup_key(model.name) != lookup_key(model.requested)) line += " (asked for as '" + model.requested + "')";
  line += ": " + format_whole(model.parameters) + " parameters";
  if (model.active_parameters < model.parameters) line += ", " + format_count(model.active_parameters) + " active";
  line += "; weights in " + model.weights_format + " " + format_bytes(bytes(model.weights_bytes)) + " (";
  bool first = true;
  for (const auto& part : model.parts) {
    if (part.bytes < 0.001 * model.weights_bytes) continue;
    line += (first ? "" : ", ") + part.role + " " + format_bytes(bytes(part.bytes)) + " at " + format_shortest(std::round(part.bits_per_weight * 100) / 100) + " bit";
    first = false;
  }
  return line + "); KV cache " + format_binary_bytes(bytes(model.kv_bytes_per_token)) + " a token";
}

std::string job_line(const std::vector<JobValue>& job) {
  std::string line;
  for (const JobValue& value : job) line += (line.empty() ? "" : ", ") + value_text(value);
  return line + "  (* default)";
}

std::string memory_line(const MemoryDocumentPart& memory) {
  std::string line;
  for (const MemoryTerm& term : memory.terms) {
    if (term.bytes > 0) line += (line.empty() ? "" : " + ") + term.id + " " + format_binary_bytes(bytes(term.bytes));
  }
  return line + " = " + format_binary_bytes(bytes(memory.per_device_bytes)) + " of " + format_binary_bytes(bytes(memory.capacity_bytes)) +
         " a device; " + format_binary_bytes(bytes(memory.headroom_bytes)) + " to spare (" + memory.verdict + ")";
}

std::string explanation_text(const std::vector<ExplainedTerm>& terms, const TextStyle& style) {
  if (terms.empty()) return {};
  std::string out = "\n" + bold("how each term came about", style) + "\n";
  for (const ExplainedTerm& term : terms) {
    out += "  " + term.id + " = " + format_quantity(term.value, term.unit) + "\n";
    out += "    = " + term.formula + "\n";
    for (const ExplainInput& input : term.inputs) {
      out += "      " + input.name + " = " + format_quantity(input.value, input.unit);
      if (!input.source.empty()) out += "  [" + input.source + "]";
      out += "\n";
    }
  }
  return out;
}

std::string hardware_table(const std::vector<HardwareDocument>& hardware, std::int64_t limit) {
  std::vector<std::vector<std::string>> rows;
  for (const HardwareDocument& h : hardware) {
    if (!h.memory || (limit > 0 && static_cast<std::int64_t>(rows.size()) >= limit)) continue;
    std::string layout = "TP" + format_whole(h.layout.tp);
    if (h.layout.pp > 1) layout += " PP" + format_whole(h.layout.pp);
    rows.push_back({std::to_string(h.count), h.accelerator, layout, h.memory->verdict,
                    format_binary_bytes(bytes(h.memory->per_device_bytes)), format_binary_bytes(bytes(h.memory->capacity_bytes)),
                    format_binary_bytes(bytes(h.memory->headroom_bytes)), format_whole(h.memory->max_concurrency),
                    format_seconds(seconds(h.alone->ttft_s)), format_seconds(seconds(h.alone->tpot_s)),
                    format_significant(h.alone->decode_tokens_per_s, 3), format_significant(h.loaded->output_tokens_per_s.value, 3)});
  }
  return layout_table({{"GPUs", true}, {"accelerator"}, {"layout"}, {"verdict"}, {"need", true}, {"usable", true}, {"to spare", true},
                       {"requests", true}, {"TTFT", true}, {"TPOT", true}, {"tok/s alone", true}, {"tok/s full", true}},
                      rows, "  ");
}

std::string rejected_table(const std::vector<HardwareDocument>& hardware, std::int64_t limit) {
  std::vector<std::vector<std::string>> rows;
  for (const HardwareDocument& h : hardware) {
    if (h.memory || (limit > 0 && static_cast<std::int64_t>(rows.size()) >= limit)) continue;
    rows.push_back({h.accelerator, h.rule, h.needed, h.available, h.smallest_change});
  }
  if (rows.empty()) return {};
  return layout_table({{"does not run on"}, {"rule"}, {"needed"}, {"available"}, {"smallest change"}}, rows, "  ");
}

std::string render_table(const Document& document, const TextStyle& style) {
  if (const auto* estimate = std::get_if<EstimateDocument>(&document)) return estimate_text(*estimate, style);
  if (const auto* memory = std::get_if<MemoryReport>(&document)) return memory_text(*memory, style);
  if (const auto* list = std::get_if<ListDocument>(&document)) return list_text(*list, style);
  if (const auto* record = std::get_if<RecordDocument>(&document)) return record_text(*record);
  return error_text(std::get<ErrorDocument>(document));
}

}  // namespace gpuplan
