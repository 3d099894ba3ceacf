#include <gpuplan/validation/start_log.hpp>

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>

namespace gpuplan {
namespace {

// What several reports of one rank mean: the same again, or parts of a whole.
enum class Again : std::uint8_t { same, part };

// A line that holds `words` says a figure behind `before` (or behind the words when that is empty).
struct LogPattern {
  std::string_view engine;
  std::string_view words;
  std::string_view before;
  std::string_view id;
  LogUnit unit = LogUnit::bytes;
  Again again = Again::same;
  double scale = 1;  // of a figure without a unit
};

constexpr double kPageTokens = 16;

constexpr LogPattern kPatterns[] = {
    {"vllm", "model weights take", "", "weights"},
    {"vllm", "Loading model weights took", "", "weights"},
    {"vllm", "Model loading took", "", "weights"},
    {"vllm", "non_torch_memory", "", "non_torch"},
    {"vllm", "PyTorch activation peak memory", "", "activations"},
    {"vllm", "peak_torch_memory", "", "torch_peak"},
    {"vllm", "total_gpu_memory", "", "device_memory"},
    {"vllm", "available_kv_cache_memory", "", "kv_pool"},
    {"vllm", "reserved for KV Cache is", "", "kv_pool"},
    {"vllm", "kv_cache_size=", "", "kv_pool"},
    {"vllm", "Available KV cache memory", "", "kv_pool"},
    {"vllm", "Available KV cache / card", "", "kv_pool"},
    {"vllm", "GPU KV cache size", "", "kv_tokens", LogUnit::tokens},
    {"vllm", "# GPU blocks", "", "kv_tokens", LogUnit::tokens, Again::same, kPageTokens},
    {"vllm", "# CUDA blocks", "", "kv_tokens", LogUnit::tokens, Again::same, kPageTokens},
    {"vllm", "# cuda blocks", "", "kv_tokens", LogUnit::tokens, Again::same, kPageTokens},
    {"vllm", "tokens per request", "tokens per request", "concurrency", LogUnit::ratio},
    {"vllm", "Graph capturing finished", "took", "graphs"},
    {"vllm", "CUDA graph pool memory", "", "graphs"},
    {"sglang", "Load weight end", "mem usage=", "weights"},
    {"sglang", "Load weight begin", "avail mem=", "free_before_weights"},
    {"sglang", "Init torch distributed ends", "mem usage=", "communication"},
    {"sglang", "KV Cache is allocated", "#tokens:", "kv_tokens", LogUnit::tokens},
    {"sglang", "KV Cache is allocated", "K size:", "kv_pool", LogUnit::bytes, Again::part},
    {"sglang", "KV Cache is allocated", "V size:", "kv_pool", LogUnit::bytes, Again::part},
    {"sglang", "KV Cache is allocated", "KV size:", "kv_pool", LogUnit::bytes, Again::part},
    {"sglang", "Mamba Cache is allocated", "size:", "state_pool", LogUnit::bytes, Again::part},
    {"sglang", "Memory pool end", "avail mem=", "free_after_pool"},
    {"sglang", "Capture cuda graph end", "mem usage=", "graphs"},
    {"tensorrt-llm", "tokens in paged KV cache", "Using", "kv_tokens", LogUnit::tokens},
    {"tensorrt-llm", "for max tokens in paged KV cache", "Allocated", "kv_pool"},
    {"tensorrt-llm", "for max tokens in paged KV cache", "KV cache (", "kv_tokens", LogUnit::tokens},
    {"tensorrt-llm", "Total Weights Memory", "", "weights"},
    {"tensorrt-llm", "Total Activation Memory", "", "activations"},
    {"tensorrt-llm", "Total Scratch Memory", "", "workspace"},
    {"llama.cpp", "KV self size", "", "kv_cache"},
    {"llama.cpp", "model size", "=", "file"},
    {"llama.cpp", "file size", "=", "file"},
    {"llama.cpp", "memory.weights.total", "", "weights"},
    {"llama.cpp", "memory.required.kv", "", "kv_cache"},
    {"llama.cpp", "memory.graph.full", "", "compute"},
};

// The buffers of one device: `CUDA0 KV buffer size = 82.00 MiB`.
constexpr std::pair<std::string_view, std::string_view> kBuffers[] = {
    {" KV buffer size", "kv_cache."}, {" compute buffer size", "compute."}, {" output buffer size", "output."},
    {" RS buffer size", "state."},    {" model buffer size", "weights."},   {" buffer size", "weights."}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Which rank a line is from: `TP7` (SGLang), `Worker_TP0`, `pid=34322`; empty when it does not say.
std::string rank_of(std::string_view line) {
  for (const std::string_view mark : {std::string_view("TP"), std::string_view("pid="), std::string_view("rank ")}) {
    for (std::size_t at = line.find(mark); at != std::string_view::npos; at = line.find(mark, at + 1)) {
      std::size_t end = at + mark.size();
      while (end < line.size() && is_digit(line[end])) ++end;
      if (end > at + mark.size()) return std::string(line.substr(at, end - at));
    }
  }
  return {};
}

struct Figure {
  double value = 0;
  bool has_unit = false;
};

// The next number, with thousands separated by commas, and its unit. GB of a start-up log are GiB.
std::optional<Figure> figure_in(std::string_view text) {
  const auto start = text.find_first_of("0123456789");
  constexpr std::size_t kFar = 12;  // words between belong to something else
  if (start == std::string_view::npos || start > kFar) return std::nullopt;
  std::string digits;
  std::size_t at = start;
  for (; at < text.size(); ++at) {
    const bool comma = text[at] == ',' && at + 3 < text.size() && is_digit(text[at + 1]) && is_digit(text[at + 3]);
    if (is_digit(text[at]) || (text[at] == '.' && at + 1 < text.size() && is_digit(text[at + 1]))) {
      digits += text[at];
    } else if (!comma) {
      break;
    }
  }
  const auto number = parse_number(digits).value;
  if (!number) return std::nullopt;
  std::string_view rest = text.substr(at);
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"GiB", 1073741824.0}, {"GB", 1073741824.0}, {"MiB", 1048576.0}, {"MB", 1048576.0}, {"KiB", 1024.0}};
  for (const auto& [unit, factor] : kUnits) {
    if (rest.starts_with(unit)) return Figure{*number * factor, true};
  }
  return Figure{*number, false};
}

std::optional<Figure> figure_behind(std::string_view line, std::string_view words) {
  const auto at = line.find(words);
  return at == std::string_view::npos ? std::nullopt : figure_in(line.substr(at + words.size()));
}

// Puts the reports of ranks together.
class TermCollector {
 public:
  void add(std::string_view engine, std::string id, LogUnit unit, Again again, const std::string& rank, double value,
           std::int64_t line) {
    if (engine_.empty()) engine_ = engine;
    auto [entry, fresh] = terms_.try_emplace(id, Reports{});
    Reports& reports = entry->second;
    if (fresh) {
      reports.unit = unit;
      reports.line = line;
      order_.push_back(std::move(id));
    }
    const auto [own, first] = reports.of_rank.try_emplace(rank, value);
    ++reports.times;
    if (first) return;
    if (again == Again::part) {
      own->second += value;
    } else {
      own->second = std::max(own->second, value);
    }
  }
  /// Another start of the engine in the same text: what it prints replaces what the one before did.
  void restart() {
    terms_.clear();
    order_.clear();
  }
  void finish(StartLog& log) {
    log.engine = engine_;
    for (const std::string& id : order_) {
      const Reports& reports = terms_.at(id);
      LogTerm term{id, reports.unit, 0, static_cast<std::int64_t>(reports.of_rank.size()), reports.line};
      // What is free is least where most is taken.
      const bool free = id.starts_with("free_");
      bool first = true;
      for (const auto& [rank, value] : reports.of_rank) {
        term.value = first ? value : free ? std::min(term.value, value) : std::max(term.value, value);
        first = false;
      }
      log.terms.push_back(std::move(term));
    }
  }

 private:
  struct Reports {
    LogUnit unit = LogUnit::bytes;
    std::int64_t line = 0;
    std::int64_t times = 0;
    std::map<std::string, double> of_rank;
  };
  std::string engine_;
  std::map<std::string, Reports> terms_;
  std::vector<std::string> order_;
};

void read_buffers(std::string_view line, std::int64_t number, TermCollector& terms) {
  for (const auto& [words, prefix] : kBuffers) {
    const auto at = line.find(words);
    if (at == std::string_view::npos) continue;
    const auto colon = line.substr(0, at).rfind(':');
    std::string_view device = line.substr(colon == std::string_view::npos ? 0 : colon + 1, at - (colon + 1));
    while (!device.empty() && device.front() == ' ') device.remove_prefix(1);
    const auto figure = figure_behind(line, words);
    if (!figure || device.empty() || device.find(' ') != std::string_view::npos) return;
    terms.add("llama.cpp", std::string(prefix) + std::string(device), LogUnit::bytes, Again::part, "", figure->value,
              number);
    return;
  }
}

void read_terms(std::string_view line, std::int64_t number, TermCollector& terms) {
  const std::string rank = rank_of(line);
  for (const LogPattern& pattern : kPatterns) {
    const auto at = line.find(pattern.words);
    if (at == std::string_view::npos) continue;
    auto figure = pattern.before.empty() ? figure_in(line.substr(at + pattern.words.size()))
                                         : figure_behind(line, pattern.before);
    if (!figure) continue;
    // Bytes without a unit are bytes where the figure is large, as engine builders print them.
    constexpr double kBytes = 1e6;
    if (pattern.unit == LogUnit::bytes && !figure->has_unit && figure->value < kBytes) continue;
    terms.add(pattern.engine, std::string(pattern.id), pattern.unit, pattern.again, rank, figure->value * pattern.scale,
              number);
  }
  read_buffers(line, number, terms);
}

void read_settings(std::string_view line, StartLog& log) {
  const std::pair<std::string_view, std::optional<std::int64_t> StartLog::*> counts[] = {
      {"decode_context_parallel_size=", &StartLog::context_parallel},
      {"tensor_parallel_size=", &StartLog::tp},
      {"pipeline_parallel_size=", &StartLog::pp},
      {"max_model_len=", &StartLog::context},
      {"max_seq_len=", &StartLog::context},
      {"max_num_seqs=", &StartLog::sequences},
      {"max_num_batched_tokens=", &StartLog::batched_tokens},
      {"Maximum concurrency for ", &StartLog::context},
      {"n_ctx      =", &StartLog::context},
      {"n_ctx         =", &StartLog::context},
      {"n_ubatch   =", &StartLog::micro_batch},
      {"n_ubatch      =", &StartLog::micro_batch}};
  for (const auto& [words, member] : counts) {
    if (const auto figure = figure_behind(line, words); figure && figure->value >= 1 && figure->value < 1e9)
      log.*member = static_cast<std::int64_t>(figure->value);
  }
  for (const std::string_view words : {"gpu_memory_utilization", "mem_fraction_static="}) {
    if (const auto figure = figure_behind(line, words); figure && figure->value > 0 && figure->value <= 1)
      log.utilization = figure->value;
  }
  if (const auto flag = figure_behind(line, "flash_attn"); flag && flag->value <= 1)
    log.flash_attention = flag->value > 0;
  for (const std::string_view words :
       {"LLM engine (v", "(vllm v", "vLLM API server version ", "TensorRT-LLM version: "}) {
    const auto at = line.find(words);
    if (at == std::string_view::npos || !log.version.empty()) continue;
    for (const char c : line.substr(at + words.size())) {
      if (!is_digit(c) && c != '.') break;
      log.version += c;
    }
  }
}

}  // namespace

const LogTerm* StartLog::term(std::string_view id) const {
  const auto found = std::find_if(terms.begin(), terms.end(), [&](const LogTerm& t) { return t.id == id; });
  return found == terms.end() ? nullptr : &*found;
}

StartLog read_start_log(std::string_view text) {
  StartLog log;
  TermCollector terms;
  std::int64_t number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++number;
    if (line.find("print_meta: arch ") != std::string_view::npos) terms.restart();
    read_settings(line, log);
    read_terms(line, number, terms);
  }
  terms.finish(log);
  return log;
}

}  // namespace gpuplan
