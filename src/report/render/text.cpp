#include "text.hpp"

#include "plain.hpp"
#include "table.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <cmath>

namespace gpuplan {
namespace {

constexpr int kLabelWidth = 9;

// A fraction as it was typed, one that was computed with four digits.
std::string format_number(double n) {
  if (std::floor(n) == n) return format_whole(n);
  constexpr std::size_t kTyped = 6;  // characters; more nobody types
  std::string shortest = format_shortest(n);
  return shortest.size() <= kTyped ? shortest : format_significant(n, 4);
}

std::string value_text(const JobValue& value) {
  const std::string text = std::holds_alternative<std::string>(value.value)
                               ? std::get<std::string>(value.value)
                               : format_number(std::get<double>(value.value));
  return value.name + " " + text + (value.is_default ? "*" : "");
}

bool is_number(const ListDocument& list, std::size_t column) {
  return std::any_of(list.rows.begin(), list.rows.end(),
                     [&](const auto& row) { return std::holds_alternative<double>(row[column].value); });
}

// What a terminal shows of a list first; columns that are not named come last, in their order.
struct ListOrder {
  std::string_view what;
  std::vector<std::string_view> columns;
};
const std::vector<ListOrder>& list_orders() {
  static const std::vector<ListOrder> orders = {
      {"gpus", {"name", "memory", "memory_bandwidth", "bf16", "fp8", "tdp", "year", "scale_up_link"}},
      {"models", {"name", "parameters", "kv_bytes_per_token", "max_context", "native_format", "active_parameters"}},
      {"offers",
       {"per_gpu_hour", "currency", "accelerator", "provider", "class", "contract", "count", "rankable", "country",
        "cuda", "observed_on", "age_days", "id", "region", "per_month", "vat", "why_not"}},
      {"providers", {"name", "title", "country", "offers", "price", "age_days", "token_models", "rankable"}},
      {"why", {"offer", "rule", "smallest_change", "needed", "available", "provider"}},
      {"prices import", {"message", "rows", "what", "example", "reason"}},
      {"prices list",
       {"per_gpu_hour", "currency", "accelerator", "provider", "contract", "count", "listed", "region", "observed_on",
        "product", "model", "source", "rankable", "why_not"}},
      {"prices history", {"per_gpu_hour", "day", "accelerator", "provider", "trend", "contract", "change_percent"}},
      {"prices diff", {"change", "percent", "after", "before", "offer", "why"}},
      {"prices snapshots", {"id", "source", "imported_at", "offers", "competing", "read", "dropped", "origin"}},
  };
  return orders;
}

// How readily a column of a list gives way; the first in order never does.
int spare_of(const ListDocument& list, std::size_t column) {
  for (const ListOrder& order : list_orders()) {
    if (order.what != list.what) continue;
    const auto found = std::find(order.columns.begin(), order.columns.end(), list.columns[column]);
    if (found != order.columns.end()) return static_cast<int>(found - order.columns.begin());
    return static_cast<int>(order.columns.size() + column);
  }
  return static_cast<int>(column);
}

// `1 offer`, `2 offers`; a list that is not of things counts lines.
std::string counted(std::size_t rows, const std::string& what) {
  const std::string things = what.ends_with('s') ? what : "lines";
  return rows == 1 ? things.substr(0, things.size() - 1) : things;
}

std::string list_text(const ListDocument& list, const TextStyle& style) {
  std::vector<TableColumn> columns;
  for (std::size_t c = 0; c < list.columns.size(); ++c)
    columns.push_back({list.columns[c], is_number(list, c), spare_of(list, c)});
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : list.rows) {
    auto& cells = rows.emplace_back();
    for (const Cell& cell : row) cells.push_back(cell_text(cell));
  }
  std::string out = layout_table(columns, rows, style);
  if (!rows.empty()) out += "\n";
  out += format_whole(static_cast<double>(rows.size())) + " " + counted(rows.size(), list.what) + "\n";
  if (!list.note.empty()) {
    for (const auto& line : wrap(list.note, style.width)) out += line + "\n";
  }
  return out;
}

// The sources of a record in the order in which its fields cite them.
class Citations {
 public:
  std::string cite(const RecordDocument::Field& field) {
    if (field.source.empty() || field.layer.empty()) return field.source;  // what is computed says how
    std::string text = field.source;
    if (!field.observed_on.empty()) text += ", " + field.observed_on;
    if (!field.layer.empty() && field.layer != "built-in") text += " (" + field.layer + ")";
    auto at = std::find(sources_.begin(), sources_.end(), text);
    if (at == sources_.end()) at = sources_.insert(sources_.end(), std::move(text));
    return "[" + std::to_string(at - sources_.begin() + 1) + "]";
  }
  [[nodiscard]] const std::vector<std::string>& sources() const { return sources_; }

 private:
  std::vector<std::string> sources_;
};

// A long value goes on below itself.
std::string record_text(const RecordDocument& record, const TextStyle& style) {
  constexpr int kOtherColumns = 20;  // mark and citation
  constexpr int kSourceIndent = 4;
  int name_width = 0;
  for (const auto& field : record.fields) name_width = std::max(name_width, display_width(field.name));
  Citations citations;
  std::vector<std::vector<std::string>> rows;
  for (const auto& field : record.fields) {
    bool first = true;
    for (const auto& line : wrap(field.value, std::max(30, style.width - name_width - kOtherColumns))) {
      rows.push_back(first ? std::vector<std::string>{field.name, line, field.mark, citations.cite(field)}
                           : std::vector<std::string>{"", line, "", ""});
      first = false;
    }
  }
  std::string out = bold(record.what + " " + record.name, style) + "\n\n";
  out += layout_table({{"field"}, {"value"}, {"known as"}, {"source"}}, rows, {style.width, 0, style.color, false});
  if (!citations.sources().empty()) out += "\n" + bold("sources", style) + "\n";
  for (std::size_t i = 0; i < citations.sources().size(); ++i) {
    std::string head = "[" + std::to_string(i + 1) + "]";
    for (const auto& line : wrap(citations.sources()[i], std::max(30, style.width - kSourceIndent))) {
      head.resize(kSourceIndent, ' ');
      out += head + line + "\n";
      head.clear();
    }
  }
  return out;
}

constexpr std::size_t kShownProblems = 20;
constexpr std::size_t kShownMessage = 400;  // bytes

// A message quotes what was typed, which may be anything.
std::string shortened(std::string text) {
  if (text.size() <= kShownMessage) return text;
  std::size_t end = kShownMessage;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a code point
  return text.substr(0, end) + "…";
}

std::string error_text(const ErrorDocument& error) {
  std::string out;
  for (std::size_t i = 0; i < std::min(error.problems.size(), kShownProblems); ++i) {
    Problem problem = error.problems[i];
    problem.message = shortened(std::move(problem.message));
    out += format_problem(problem) + "\n";
  }
  if (error.problems.size() > kShownProblems)
    out += "and " + std::to_string(error.problems.size() - kShownProblems) + " more\n";
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
    line += (first ? "" : ", ") + part.role + " " + format_bytes(bytes(part.bytes)) + " at " +
            format_shortest(std::round(part.bits_per_weight * 100) / 100) + " bit";
    first = false;
  }
  line += ")";
  if (!model.kv_bytes_per_token) return line;
  return line + "; KV cache " + format_binary_bytes(bytes(*model.kv_bytes_per_token)) + " a token";
}

std::string job_line(const std::vector<JobValue>& job) {
  std::string line;
  for (const JobValue& value : job) line += (line.empty() ? "" : ", ") + value_text(value);
  const bool any_default = std::any_of(job.begin(), job.end(), [](const JobValue& value) { return value.is_default; });
  return any_default ? line + " (* default)" : line;
}

std::string memory_line(const MemoryDocumentPart& memory) {
  std::string line;
  for (const MemoryTerm& term : memory.terms) {
    if (term.bytes > 0) line += (line.empty() ? "" : " + ") + term.id + " " + format_binary_bytes(bytes(term.bytes));
  }
  return line + " = " + format_binary_bytes(bytes(memory.per_device_bytes)) + " of " +
         format_binary_bytes(bytes(memory.capacity_bytes)) + " a device; " +
         format_binary_bytes(bytes(memory.headroom_bytes)) + " to spare (" + memory.verdict + ")";
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

std::string hardware_table(const std::vector<HardwareDocument>& hardware, std::int64_t limit, const TextStyle& style) {
  std::vector<std::vector<std::string>> rows;
  for (const HardwareDocument& h : hardware) {
    if (!h.memory || (limit > 0 && static_cast<std::int64_t>(rows.size()) >= limit)) continue;
    std::string layout = "TP" + format_whole(h.layout.tp);
    if (h.layout.pp > 1) layout += " PP" + format_whole(h.layout.pp);
    if (h.layout.dp > 1) layout += " x " + format_whole(h.layout.dp);
    const auto told = [](bool known, auto text) { return known ? text() : std::string(); };
    rows.push_back(
        {std::to_string(h.count), h.accelerator, layout, h.memory->verdict,
         format_binary_bytes(bytes(h.memory->per_device_bytes)), format_binary_bytes(bytes(h.memory->capacity_bytes)),
         format_binary_bytes(bytes(h.memory->headroom_bytes)),
         told(h.memory->max_concurrency.has_value(),
              [&] { return format_whole(*h.memory->max_concurrency * h.layout.dp); }),
         told(h.alone.has_value(), [&] { return format_seconds(seconds(h.alone->ttft_s)); }),
         told(h.alone.has_value(), [&] { return format_seconds(seconds(h.alone->tpot_s)); }),
         told(h.alone.has_value(), [&] { return format_significant(h.alone->decode_tokens_per_s, 3); }),
         told(h.loaded.has_value(), [&] { return format_significant(h.loaded->output_tokens_per_s.value, 3); }),
         told(h.run.has_value(), [&] { return format_whole(h.run->batch); }),
         told(h.run.has_value(), [&] { return format_seconds(seconds(h.run->latency_s.value)); }),
         told(h.run.has_value(), [&] { return format_significant(h.run->items_per_s.value, 3); })});
  }
  return layout_table({{"GPUs", true},
                       {"accelerator"},
                       {"layout"},
                       {"verdict"},
                       {"need", true},
                       {"usable", true},
                       {"to spare", true, 4},
                       {"users", true},
                       {"TTFT", true, 2},
                       {"TPOT", true, 3},
                       {"tok/s 1", true},
                       {"tok/s all", true, 1},
                       {"batch", true},
                       {"latency", true},
                       {"items/s", true}},
                      rows, style, "  ");
}

std::string rejected_hardware(const std::vector<HardwareDocument>& hardware, const TextStyle& style) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const HardwareDocument& h : hardware) {
    if (h.memory) continue;
    std::string reason =
        h.rule + ": " + h.needed + ", available: " + h.available + "; would help: " + h.smallest_change;
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == reason; });
    if (group == groups.end()) group = groups.insert(groups.end(), {std::move(reason), {}});
    group->second.push_back(h.accelerator);
  }
  if (groups.empty()) return {};
  std::string out = bold("does not run on", style) + "\n";
  for (const auto& [reason, names] : groups) {
    for (const auto& line : wrap(join(names, ", "), style.width - 2)) out += "  " + line + "\n";
    for (const auto& line : wrap(reason, style.width - 6)) out += "      " + line + "\n";
  }
  return out;
}

std::string render_table(const Document& document, const TextStyle& style) {
  if (const auto* estimate = std::get_if<EstimateDocument>(&document)) return estimate_text(*estimate, style);
  if (const auto* memory = std::get_if<MemoryReport>(&document)) return memory_text(*memory, style);
  if (const auto* training = std::get_if<TrainingReport>(&document)) return training_text(*training, style);
  if (const auto* rows = std::get_if<ValidateDocument>(&document)) return validate_text(*rows, style);
  if (const auto* log = std::get_if<StartLogDocument>(&document)) return start_log_text(*log, style);
  if (const auto* topology = std::get_if<TopologyDocument>(&document)) return topology_text(*topology, style);
  if (const auto* roofline = std::get_if<RooflineDocument>(&document)) return roofline_text(*roofline, style);
  if (const auto* list = std::get_if<ListDocument>(&document)) return list_text(*list, style);
  if (const auto* compared = std::get_if<CompareDocument>(&document)) return compare_text(*compared, style);
  if (const auto* record = std::get_if<RecordDocument>(&document)) return record_text(*record, style);
  return error_text(std::get<ErrorDocument>(document));
}

}  // namespace gpuplan
