#include "estimate_text.hpp"
#include "table.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

std::string layout_words(const OptionDocument& o) {
  const TrainRunDocument& t = *o.train;
  std::string words;
  const std::pair<const char*, double> degrees[] = {
      {"TP", o.layout.tp}, {"PP", o.layout.pp}, {"CP", o.layout.cp}, {"EP", o.layout.ep}, {"DP", o.layout.dp}};
  for (const auto& [name, degree] : degrees) {
    if (degree > 1) words += (words.empty() ? "" : " ") + std::string(name) + format_whole(degree);
  }
  if (words.empty()) return "one device";
  if (t.vpp > 1) words += " x" + format_whole(t.vpp) + " chunks";
  if (t.zero > 0) words += (t.sharding.size() == 1 ? " ZeRO-" : " ") + t.sharding;
  return words;
}

// The larger parts of a step, in percent.
std::string shares_of(const TrainRunDocument& t) {
  constexpr double kWorthSaying = 0.02;
  std::vector<TrainRunDocument::StepTerm> terms = t.step_terms;
  std::stable_sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  std::string out;
  for (const auto& term : terms) {
    const double share = term.seconds / t.step_s.value;
    if (share < kWorthSaying) continue;
    std::string id = term.id;
    std::replace(id.begin(), id.end(), '_', ' ');
    out += (out.empty() ? "" : ", ") + id + " " + format_whole(std::max(1.0, 100 * share)) + " %";
  }
  return out;
}

std::string tokens_text(double tokens) {
  const std::pair<double, const char*> scales[] = {{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [scale, letter] : scales) {
    if (tokens >= scale) return format_significant(tokens / scale, 3) + letter;
  }
  return format_whole(tokens);
}

}  // namespace

std::string train_answer(const EstimateDocument& d) {
  const OptionDocument& best = d.options.front();
  const TrainRunDocument& t = *best.train;
  return d.model.name + " trains on " + tokens_text(t.tokens) + " tokens in " +
         format_seconds(seconds(t.total_s.value)) + " on " + std::to_string(best.count) + " x " + best.accelerator +
         " at " + best.provider_title + " (" + best.contract + ") for " + money_text(t.cost_total, d.currency) + ": " +
         format_significant(t.tokens_per_s.value, 3) + " tokens/s" +
         (t.mfu ? ", " + format_whole(100 * *t.mfu) + " % MFU" : "");
}

std::string train_plan_line(const OptionDocument& best) {
  const TrainRunDocument& t = *best.train;
  return layout_words(best) + ", " + plural(best.nodes, "host") +
         (best.interconnect.empty() ? "" : " over " + best.interconnect) + " (" + best.layout.engine +
         "); micro-batches of " + format_whole(t.micro_batch) + ", " + format_whole(t.grad_accum) +
         " a step; recompute " + t.recompute + "; " + format_whole(t.global_batch) + " sequences a step";
}

std::string train_time_line(const OptionDocument& best) {
  const TrainRunDocument& t = *best.train;
  std::string line = "step " + spread_text(t.step_s) + ", " + format_whole(t.steps) +
                     " steps: " + spread_text(t.total_s) + " in all (80 % intervals); of a step " + shares_of(t);
  if (t.interruptions && *t.interruptions > 0) {
    line += "; " + format_significant(*t.interruptions, 2) + " interruptions expected";
    if (t.checkpoint_interval_s)
      line += ", a checkpoint of " + format_bytes(bytes(t.checkpoint_bytes)) + " every " +
              format_seconds(seconds(*t.checkpoint_interval_s)) + " (" + format_seconds(seconds(t.save_s)) + " each)";
  }
  if (!t.spot_verdict.empty()) line += "; spot " + t.spot_verdict;
  return line;
}

std::string train_cost_line(const OptionDocument& best, const EstimateDocument& d) {
  const TrainRunDocument& t = *best.train;
  std::string line;
  for (const CostTerm& term : best.cost.terms)
    line += (line.empty() ? "" : " + ") + term.id + " " + money_text(term.amount, d.currency);
  return line + " = " + money_text(t.cost_total, d.currency) + " for the job, " + money_text(t.cost_p90, d.currency) +
         " in nine of ten cases at most" + vat_words(best, d) + "; " + money_text(t.per_1m_tokens, d.currency) +
         " per 1M tokens; price of " + (best.price_observed_on.empty() ? "an unknown day" : best.price_observed_on) +
         ", " + best.price_confidence;
}

std::string train_options_table(const EstimateDocument& d, const std::vector<const OptionDocument*>& shown,
                                const TextStyle& style) {
  std::vector<std::vector<std::string>> rows;
  for (const OptionDocument* o : shown) {
    const TrainRunDocument& t = *o->train;
    rows.push_back(
        {std::to_string(o->rank), o->provider_title, o->contract, std::to_string(o->count) + " x " + o->accelerator,
         layout_words(*o), format_seconds(seconds(t.total_s.value)), format_seconds(seconds(t.step_s.value)),
         format_significant(t.tokens_per_s.value, 3), t.mfu ? format_whole(100 * *t.mfu) + " %" : "unknown",
         format_significant(t.cost_total, 3), format_significant(t.cost_p90, 3),
         format_significant(o->cost.per_hour, 3), o->memory.verdict, d.vat == "included" ? vat_cell(*o) : std::string(),
         o->region, o->price_observed_on.empty() ? "unknown" : o->price_observed_on, o->price_confidence});
  }
  return layout_table({{"#", true},
                       {"provider"},
                       {"contract"},
                       {"hardware"},
                       {"layout", false, 4},
                       {"time", true},
                       {"step", true, 3},
                       {"tok/s", true, 2},
                       {"MFU", true, 1},
                       {d.currency, true},
                       {"P90", true, 5},
                       {"/h", true, 6},
                       {"memory", false, 7},
                       {"VAT", true, 2},
                       {"region", false, 9},
                       {"price of"},
                       {"by", false, 8}},
                      rows, style, "  ");
}

}  // namespace gpuplan
