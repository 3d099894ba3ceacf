#include "table.hpp"
#include "text.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

std::string layout_words(const TrainingHardwareDocument& h) {
  std::string words;
  const std::pair<const char*, double> degrees[] = {
      {"TP", h.tp}, {"PP", h.pp}, {"CP", h.cp}, {"EP", h.ep}, {"DP", h.dp}};
  for (const auto& [name, degree] : degrees) {
    if (degree > 1) words += (words.empty() ? "" : " ") + std::string(name) + format_whole(degree);
  }
  if (words.empty()) return "one device";
  if (h.sharding == "0") return words;
  const bool is_stage = h.sharding.size() == 1;
  return words + (is_stage ? " ZeRO-" : " ") + h.sharding;
}

std::string peak_words(const TrainingHardwareDocument& h) {
  return h.peak_phase + (h.pp > 1 ? " on stage " + std::to_string(h.peak_stage) : "");
}

std::string training_table(const TrainingReport& d, const TextStyle& style) {
  std::vector<std::vector<std::string>> rows;
  for (const TrainingHardwareDocument& h : d.hardware) {
    if (!h.rule.empty() || (d.shown_rows > 0 && static_cast<std::int64_t>(rows.size()) >= d.shown_rows)) continue;
    rows.push_back({std::to_string(h.count), h.accelerator, layout_words(h), h.recompute, h.memory.verdict,
                    format_binary_bytes(bytes(h.memory.per_device_bytes)),
                    format_binary_bytes(bytes(h.memory.capacity_bytes)),
                    format_binary_bytes(bytes(h.memory.headroom_bytes)), peak_words(h),
                    format_whole(h.largest_micro_batch), format_whole(h.longest_sequence)});
  }
  if (rows.empty()) return {};
  return "\n" + layout_table({{"GPUs", true},
                              {"accelerator"},
                              {"layout"},
                              {"recompute", false, 2},
                              {"verdict"},
                              {"peak", true},
                              {"usable", true},
                              {"to spare", true, 3},
                              {"fullest in", false, 1},
                              {"micro-batch", true, 4},
                              {"sequence", true, 5}},
                             rows, style, "  ");
}

std::string phases_line(const TrainingHardwareDocument& h) {
  std::string line;
  for (const auto& phase : h.phases) {
    if (phase.stage != h.peak_stage) continue;
    line += (line.empty() ? "" : ", ") + phase.phase + " " + format_binary_bytes(bytes(phase.bytes));
  }
  return line + "; the peak is " + peak_words(h);
}

std::string changes_text(const TrainingHardwareDocument& h, const TextStyle& style) {
  if (h.changes.empty()) return {};
  std::string out = "\n" + bold("what makes it fit on fewer, the cheapest first", style) + "\n";
  for (const auto& change : h.changes) {
    const std::string text =
        change.message + " (" + change.cost + "): " + format_binary_bytes(bytes(change.bytes)) + ", " + change.verdict;
    for (const auto& line : wrap(text, style.width - 2)) out += "  " + line + "\n";
  }
  return out;
}

std::string rejected_text(const TrainingReport& d, const TextStyle& style) {
  std::string out;
  for (const TrainingHardwareDocument& h : d.hardware) {
    if (h.rule.empty()) continue;
    if (out.empty()) out = "\n" + bold("does not run on", style) + "\n";
    const std::string text =
        h.accelerator + ": needs " + h.needed + ", available: " + h.available + "; would help: " + h.smallest_change;
    for (const auto& line : wrap(text, style.width - 2)) out += "  " + line + "\n";
  }
  return out;
}

}  // namespace

std::string training_text(const TrainingReport& d, const TextStyle& style) {
  std::string out = labelled("model", model_line(d.model), style) + labelled("job", job_line(d.job), style);
  out += labelled("trains", format_whole(d.trained_parameters) + " parameters", style);
  if (d.hardware.size() == 1) {
    out += labelled("memory", memory_line(d.hardware.front().memory), style);
    out += labelled("phases", phases_line(d.hardware.front()), style);
  }
  out += training_table(d, style);
  if (d.hardware.size() == 1) out += changes_text(d.hardware.front(), style);
  return out + rejected_text(d, style) + explanation_text(d.explanation, style);
}

}  // namespace gpuplan
