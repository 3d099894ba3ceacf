// llama-bench: JSON, JSONL, CSV, Markdown. A test is `pp512` (a prompt), `tg128` (generation), with `@ d4096` tokens in the cache before.

#include "benchmark_rows.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <optional>

namespace gpuplan {
namespace {

using Fields = BenchmarkRows::Fields;

struct Test {
  double prompt = 0, generated = 0, depth = 0;
  double rate = 0;  // tokens a second
  std::string model, file;
};

// `qwen35 27B Q8_0`, `llama 7B F16`, `glm4moe 355B.A32B Q4_K - Medium`: the last word that names a type.
std::string type_of(std::string_view model) {
  std::string text(model);
  if (const auto dash = text.find(" - "); dash != std::string::npos) {
    const std::string size = text.substr(dash + 3);
    text = text.substr(0, dash);
    const auto at = text.rfind(' ');
    const std::string base = text.substr(at == std::string::npos ? 0 : at + 1);
    return "gguf:" + base + (size == "Small" ? "_S" : size == "Medium" ? "_M" : size == "Large" ? "_L" : "");
  }
  const auto at = text.rfind(' ');
  const std::string last = text.substr(at == std::string::npos ? 0 : at + 1);
  return "gguf:" + last;
}

void add(const Test& test, int line, BenchmarkRows& rows) {
  if ((test.prompt > 0) == (test.generated > 0)) return;  // nothing, or a prompt and its answer in one figure
  const BenchmarkContext& c = rows.context();
  Fields f;
  f["engine"] = c.engine.empty() ? "llama.cpp" : c.engine;
  f["model"] = c.model;
  if (c.model.empty())
    rows.refuse(line, "llama-bench names files and families, not models ('" + test.model + "')", "--model");
  f["weights"] = c.weights.empty() ? type_of(test.model) : c.weights;
  f["count"] = std::to_string(c.count);
  f["tp"] = std::to_string(c.tp.value_or(1));
  if (!c.tp && c.count > 1) f["pp"] = std::to_string(c.count);
  f["mode"] = "single";
  f["concurrency"] = "1";
  const bool prompt = test.prompt > 0;
  f["input_tokens"] = count_text(std::max(1.0, test.depth + test.prompt));
  f["output_tokens"] = count_text(prompt ? 1 : test.generated);
  if (test.depth > 0) f["cached_tokens"] = count_text(test.depth);
  rows.add_serving(line, f, prompt ? "prefill_tokens_per_s" : "decode_tokens_per_s", "mean", test.rate);
}

double number_or_zero(std::string_view text) { return parse_number(trim(text)).value.value_or(0); }

bool add_object(const Node& object, BenchmarkRows& rows) {
  if (!object.find("avg_ts") || !object.find("n_prompt")) return false;
  const auto text = [&](std::string_view key) {
    const Node* node = object.find(key);
    return node && node->kind == Node::Kind::scalar ? node->scalar : std::string{};
  };
  add({number_or_zero(text("n_prompt")), number_or_zero(text("n_gen")), number_or_zero(text("n_depth")),
       number_or_zero(text("avg_ts")), text("model_type"), text("model_filename")},
      object.place.line, rows);
  return true;
}

bool read_json(std::string_view body, BenchmarkRows& rows) {
  bool any = false;
  if (body.front() == '[') {
    const Node root = parse_json(body, rows.origin(), kMaxDocumentNodes * 10, NonFinite::accepted);
    for (const Node& item : root.items) any = add_object(item, rows) || any;
    return any;
  }
  int number = 0;
  for (std::string_view rest = body; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    ++number;
    if (trim(line).empty()) continue;
    Node object = parse_json(trim(line), rows.origin(), kMaxDocumentNodes, NonFinite::accepted);
    object.place.line = number;
    any = add_object(object, rows) || any;
  }
  return any;
}

bool read_table(std::string_view text, BenchmarkRows& rows) {
  const CsvTable table = read_csv(text, rows.origin());
  const auto rate = table.column("avg_ts");
  if (!rate || !table.column("n_prompt")) return false;
  const auto field = [&](const CsvRecord& r, std::string_view name) {
    return table.column(name) ? r.fields[*table.column(name)] : std::string{};
  };
  for (const CsvRecord& r : table.records) {
    add({number_or_zero(field(r, "n_prompt")), number_or_zero(field(r, "n_gen")), number_or_zero(field(r, "n_depth")),
         number_or_zero(field(r, "avg_ts")), field(r, "model_type"), field(r, "model_filename")},
        r.line, rows);
  }
  return true;
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  line = trim(line);
  if (line.empty() || line.front() != '|') return cells;
  line.remove_prefix(1);
  while (!line.empty()) {
    const auto bar = line.find('|');
    cells.emplace_back(trim(line.substr(0, bar)));
    if (bar == std::string_view::npos) break;
    line.remove_prefix(bar + 1);
  }
  return cells;
}

// `pp 512`, `pp2048 @ d32768`, `tg128`
std::optional<Test> test_of(std::string_view name) {
  Test test;
  const auto at = name.find('@');
  std::string_view what = trim(name.substr(0, at));
  if (at != std::string_view::npos) {
    std::string_view depth = trim(name.substr(at + 1));
    if (!depth.empty() && depth.front() == 'd') test.depth = number_or_zero(depth.substr(1));
  }
  if (what.size() < 3) return std::nullopt;
  const std::string_view kind = what.substr(0, 2);
  const double tokens = number_or_zero(what.substr(2));
  if (!(tokens > 0)) return std::nullopt;
  if (kind == "pp") test.prompt = tokens;
  if (kind == "tg") test.generated = tokens;
  return test;
}

bool read_markdown(std::string_view text, BenchmarkRows& rows) {
  std::vector<std::string> head;
  int number = 0;
  bool any = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++number;
    const auto cells = cells_of(line);
    const auto place = [&](std::string_view name) {
      return static_cast<std::size_t>(std::find(head.begin(), head.end(), name) - head.begin());
    };
    if (std::find(cells.begin(), cells.end(), "t/s") != cells.end()) {
      head = cells;
      continue;
    }
    if (head.empty() || cells.size() <= place("t/s") || place("test") >= cells.size()) continue;
    auto test = test_of(cells[place("test")]);
    if (!test) continue;
    const std::string& rate = cells[place("t/s")];
    test->rate = number_or_zero(rate.substr(0, rate.find("±")));
    if (place("model") < cells.size()) test->model = cells[place("model")];
    add(*test, number, rows);
    any = true;
  }
  return any;
}

}  // namespace

bool read_llama_bench(std::string_view text, BenchmarkRows& rows) {
  const std::string_view body = trim(text);
  if (body.empty()) return false;
  const bool has_rate = body.find("avg_ts") != std::string_view::npos;
  if (has_rate && (body.front() == '[' || body.front() == '{')) return read_json(body, rows);
  if (has_rate) return read_table(text, rows);
  return body.find("t/s") != std::string_view::npos && body.find("| model") != std::string_view::npos &&
         read_markdown(text, rows);
}

}  // namespace gpuplan
