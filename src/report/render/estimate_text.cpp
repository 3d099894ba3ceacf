#include "estimate_text.hpp"
#include "table.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace gpuplan {
namespace {

constexpr std::int64_t kShownHardware = 10;

std::string answer(const EstimateDocument& d) {
  if (d.options.empty() && !d.no_option.empty()) return d.no_option;
  if (d.options.empty()) {
    const bool runs = std::any_of(d.hardware.begin(), d.hardware.end(),
                                  [](const HardwareDocument& h) { return h.memory.has_value(); });
    return d.model.name + " in " + d.model.weights_format +
           (runs ? " runs on hardware that is listed below, but no offer matches"
                 : " does not run on any of the hardware asked for");
  }
  const OptionDocument& best = d.options.front();
  if (best.run) return run_answer(d);
  if (best.train) return train_answer(d);
  return d.model.name + " in " + d.model.weights_format + " runs on " + std::to_string(best.count) + " x " +
         best.accelerator + " at " + best.provider_title + " (" + best.contract + ") for " +
         money_text(best.cost.per_hour, d.currency) + " an hour, " + money_text(best.cost.per_month, d.currency) +
         " a month: " + format_significant(best.alone.decode_tokens_per_s, 3) + " tokens/s for one user" +
         (best.at_concurrency > 1 ? ", " + format_significant(best.time.output_tokens_per_s.value, 3) +
                                        " tokens/s in all with " + in_flight_words(best)
                                  : "");
}

std::string plan_line(const OptionDocument& best) {
  if (best.run) return run_plan_line(best);
  if (best.train) return train_plan_line(best);
  return plural(best.replicas, "replica") + " x " + plural(best.gpus_per_replica, "GPU") + " (TP" +
         format_whole(best.layout.tp) + (best.layout.pp > 1 ? " PP" + format_whole(best.layout.pp) : "") + ", " +
         best.layout.engine + "), up to " +
         (best.load && !best.load->is_plain
              ? format_significant(best.concurrency_per_replica, 3) + " requests in flight"
              : plural(static_cast<std::int64_t>(best.concurrency_per_replica), "user")) +
         " a replica, " + format_whole(best.concurrency_total) + " in all";
}

std::string time_line(const OptionDocument& best, const EstimateDocument& d) {
  if (best.run) return run_time_line(best, d);
  if (best.train) return train_time_line(best);
  return "with " + in_flight_words(best) + (best.at_basis == "asked" ? " as asked" : " (all that fit)") + ": TTFT " +
         spread_text(best.time.ttft_s) + ", TPOT " + spread_text(best.time.tpot_s) + ", output " +
         format_significant(best.time.output_tokens_per_s.value, 3) + " tokens/s; alone: TTFT " +
         format_seconds(seconds(best.alone.ttft_s)) + ", TPOT " + format_seconds(seconds(best.alone.tpot_s)) +
         "; prefill " + format_significant(best.time.prefill_tokens_per_s.value, 3) + " tokens/s (80 % intervals)";
}

// A lower precision is never silently beside a higher one.
std::string quality_line(const QualityDocument& q) {
  if (!q.loss)
    return "what " + q.format + " costs in quality is not known; --min-quality keeps to formats that were measured";
  return q.format + " loses " + format_significant(100 * *q.loss, 2) + " % " +
         (q.measure == "perplexity" ? "(perplexity grows by that)" : "of the benchmarks' average") +
         " as measured on " + q.model;
}

// Whether somebody measured this, something near, or nothing like it.
std::string evidence_line(const EvidenceDocument& e) {
  if (e.row.empty()) return "physics alone: neither this model nor this accelerator is among the measured rows";
  const bool measured = e.grade == "measured";
  return (measured ? "measured: " : "nothing measured of exactly this; nearest: ") + e.about + " (" + e.row +
         (e.observed_on.empty() ? "" : ", " + e.observed_on) + "; 'gpuplan support' lists all)";
}

std::string rates_line(const EstimateDocument& d) {
  std::string line;
  for (const RateDocument& rate : d.rates) {
    line += (line.empty() ? "1 USD = " : ", ") + format_significant(rate.per_usd, 4) + " " + rate.currency + " (" +
            (rate.observed_on.empty() ? "day unknown" : rate.observed_on) + ")";
  }
  return line;
}

std::string cost_line(const OptionDocument& best, const EstimateDocument& d) {
  if (best.run) return run_cost_line(best, d);
  if (best.train) return train_cost_line(best, d);
  std::string line;
  for (const CostTerm& term : best.cost.terms)
    line += (line.empty() ? "" : " + ") + term.id + " " + money_text(term.amount, d.currency);
  line += " = " + money_text(best.cost.per_month, d.currency) + " a month" +
          (best.cost.billed_hours ? " of " + format_whole(*best.cost.billed_hours) + " billed hours" : "") +
          vat_words(best, d) + "; " + money_text(best.cost.per_1m_output_tokens, d.currency) +
          " per 1M output tokens at that load; price of " +
          (best.price_observed_on.empty() ? "an unknown day" : best.price_observed_on) + ", " + best.price_confidence;
  return line;
}

// One option a provider, unless all are asked for.
std::vector<const OptionDocument*> shown_options(const EstimateDocument& d) {
  std::set<std::string> providers;
  for (const OptionDocument& option : d.options) providers.insert(option.provider);
  const bool collapse = d.best_of_each_provider && providers.size() > 1;
  std::vector<const OptionDocument*> shown;
  std::set<std::string> seen;
  for (const OptionDocument& option : d.options) {
    if (d.shown_rows > 0 && static_cast<std::int64_t>(shown.size()) >= d.shown_rows) break;
    if (!collapse || seen.insert(option.provider).second) shown.push_back(&option);
  }
  return shown;
}

// Requests in flight are whole unless they come by themselves.
std::string whole_or_significant(double n) {
  return std::floor(n) == n || n >= 1000 ? format_whole(n) : format_significant(n, 3);
}

std::string options_table(const EstimateDocument& d, const std::vector<const OptionDocument*>& shown,
                          const TextStyle& style) {
  if (!shown.empty() && shown.front()->run) return run_options_table(d, shown, style);
  if (!shown.empty() && shown.front()->train) return train_options_table(d, shown, style);
  std::vector<std::vector<std::string>> rows;
  for (const OptionDocument* o : shown) {
    rows.push_back({std::to_string(o->rank), o->provider_title, o->contract,
                    std::to_string(o->count) + " x " + o->accelerator, o->interconnect,
                    whole_or_significant(o->at_concurrency), format_seconds(seconds(o->time.ttft_s.value)),
                    format_seconds(seconds(o->time.tpot_s.value)), format_significant(o->alone.decode_tokens_per_s, 3),
                    format_significant(o->time.output_tokens_per_s.value, 3), format_significant(o->cost.per_hour, 3),
                    format_significant(o->cost.per_month, 3), format_significant(o->cost.per_1m_output_tokens, 3),
                    o->memory.verdict, d.vat == "included" ? vat_cell(*o) : std::string(), o->region,
                    o->price_observed_on.empty() ? "unknown" : o->price_observed_on, o->price_confidence});
  }
  const int latency = d.sort == "cost" ? 5 : 0;  // what the order goes by is always shown
  return layout_table({{"#", true},
                       {"provider"},
                       {"contract"},
                       {"hardware"},
                       {"link", false, 3},
                       {"users", true, 2},
                       {"TTFT", true, latency + 1},
                       {"TPOT", true, latency},
                       {"tok/s 1", true, 4},
                       {"tok/s all", true, 1},
                       {d.currency + "/h", true},
                       {"/month", true},
                       {"/1M out", true},
                       {"memory", false, 7},
                       {"VAT", true, 2},
                       {"region", false, 9},
                       {"price of"},
                       {"by", false, 8}},
                      rows, style, "  ");
}

std::string options_title(const EstimateDocument& d, std::size_t shown) {
  std::set<std::string> providers;
  for (const OptionDocument& option : d.options) providers.insert(option.provider);
  const std::string order =
      d.sort == "pareto" ? "options, the Pareto front of month and request time first" : "options by " + d.sort;
  std::string title = order + ", prices " + (d.vat == "included" ? "with" : "without") +
                      " VAT: " + std::to_string(shown) + " of " +
                      plural(static_cast<std::int64_t>(d.options.size()), "option") + " at " +
                      plural(static_cast<std::int64_t>(providers.size()), "provider");
  if (d.best_of_each_provider && providers.size() > 1) title += ", the best of each provider (--top 0 shows all)";
  return title;
}

// Offers that were dropped, by what they failed: how many of each, or with the reason when nothing else is left to say.
std::string dropped_offers(const EstimateDocument& d, const TextStyle& style) {
  constexpr std::size_t kShownReasons = 5;
  std::map<std::string, std::int64_t> rules;
  std::map<std::string, std::int64_t> reasons;
  for (const RejectedDocument& r : d.rejected) {
    ++rules[r.rule];
    ++reasons[r.rule + ": " + r.needed + ", available: " + r.available + "; would help: " + r.smallest_change];
  }
  if (rules.empty()) return {};
  std::vector<std::string> parts;
  std::string out;
  if (!d.options.empty()) {
    for (const auto& [rule, count] : rules) parts.push_back(std::to_string(count) + " for " + rule);
    const std::string text = plural(static_cast<std::int64_t>(d.rejected.size()), "offer") +
                             " dropped: " + join(parts, ", ") + " (--format json says why, one by one)";
    for (const auto& line : wrap(text, style.width - 2)) out += "  " + line + "\n";
    return out;
  }
  std::vector<std::pair<std::string, std::int64_t>> most(reasons.begin(), reasons.end());
  std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  out = "\n" + bold("offers dropped", style) + "\n";
  for (std::size_t i = 0; i < std::min(most.size(), kShownReasons); ++i) {
    for (const auto& line : wrap(plural(most[i].second, "offer") + ", " + most[i].first, style.width - 2))
      out += "  " + line + "\n";
  }
  if (most.size() > kShownReasons)
    out += "  and for " + std::to_string(most.size() - kShownReasons) + " more reasons (--format json)\n";
  return out;
}

}  // namespace

std::string spread_text(const Spread& spread) {
  return format_seconds(seconds(spread.value)) + " (" + format_seconds(seconds(spread.low)) + " to " +
         format_seconds(seconds(spread.high)) + ")";
}

std::string plural(std::int64_t n, std::string_view word) {
  return std::to_string(n) + " " + std::string(word) + (n == 1 ? "" : "s");
}

std::string money_text(double amount, const std::string& currency) {
  return format_significant(amount, 3) + " " + currency;
}

std::string vat_words(const OptionDocument& option, const EstimateDocument& d) {
  if (d.vat == "excluded")
    return option.vat == "included" && !option.vat_percent ? ", VAT as in the price (rate unknown)" : " without VAT";
  return option.vat_percent || option.vat == "included" ? ", VAT included" : " without VAT (rate unknown)";
}

std::string vat_cell(const OptionDocument& option) {
  return option.vat_percent ? format_shortest(*option.vat_percent) + " %" : "unknown";
}

std::string estimate_text(const EstimateDocument& d, const TextStyle& style) {
  std::string out;
  for (const auto& line : wrap(answer(d), style.width)) out += bold(line, style) + "\n";
  out += "\n";
  if (d.solve) out += labelled("answer", solve_line(*d.solve), style);
  if (!d.options.empty()) out += labelled("plan", plan_line(d.options.front()), style);
  out += labelled("model", model_line(d.model), style);
  out += labelled("job", job_line(d.job), style);
  if (!d.options.empty()) {
    const OptionDocument& best = d.options.front();
    out += labelled("memory", memory_line(best.memory), style);
    if (best.load && !best.load->is_plain) out += labelled("load", load_line(best), style);
    if (best.slo) out += labelled("targets", slo_line(*best.slo), style);
    out += labelled("time", time_line(best, d), style);
    out += labelled("cost", cost_line(best, d), style);
    if (!best.quality.format.empty() && !best.train && !best.run &&
        (!best.quality.measure.empty() || !best.quality.loss))
      out += labelled("quality", quality_line(best.quality), style);
    out += labelled("evidence", evidence_line(best.evidence), style);
    if (!d.rates.empty()) out += labelled("rates", rates_line(d), style);
    const auto shown = shown_options(d);
    out += "\n" + bold(options_title(d, shown.size()), style) + "\n" + options_table(d, shown, style);
    out += dropped_offers(d, style);
    out += alternatives_text(d, style);
  }
  const auto runnable = std::count_if(d.hardware.begin(), d.hardware.end(),
                                      [](const HardwareDocument& h) { return h.memory.has_value(); });
  if (runnable > 0) {
    out += "\n" +
           bold("smallest number of each accelerator: " +
                    std::to_string(std::min<std::int64_t>(kShownHardware, runnable)) + " of " +
                    std::to_string(runnable) + " that run it ('gpuplan memory' shows all)",
                style) +
           "\n";
    out += hardware_table(d.hardware, kShownHardware, style);
  } else if (!d.hardware.empty()) {
    out += "\n" + rejected_hardware(d.hardware, style);
  }
  if (d.options.empty()) out += dropped_offers(d, style);
  if (!d.changes.empty()) {
    out += "\n" + bold("what would change the answer", style) + "\n";
    for (const ChangeDocument& change : d.changes) {
      for (const auto& line : wrap(change.message, style.width - 2)) out += "  " + line + "\n";
    }
  }
  out += explanation_text(d.explanation, style);
  return out;
}

namespace {

std::string limits_line(const HardwareDocument::Limits& limits) {
  std::string line = format_binary_bytes(bytes(limits.kv_pool_bytes)) + " a device for " +
                     format_whole(limits.kv_pool_tokens) + " tokens; one sequence alone may have " +
                     format_whole(limits.longest_context);
  if (!limits.engine_flags.empty()) line += "; start with " + join(limits.engine_flags, " ");
  return line;
}

// What works from host memory, and what is mapped on top of it while the weights are loaded.
std::string host_line(const std::vector<MemoryTerm>& terms) {
  std::vector<std::string> parts;
  for (const MemoryTerm& term : terms) {
    if (term.bytes > 0)
      parts.push_back(format_binary_bytes(bytes(term.bytes)) + " " +
                      (term.id == "files" ? "of files while loading" : term.id));
  }
  return join(parts, ", ");
}

std::string fit_line(const FitDocument& fit) {
  if (fit.accelerator.empty()) return fit.question + ": nothing fits";
  std::string line = fit.question + ": ";
  if (fit.question == "best-dtype") line += fit.dtype;
  if (fit.question == "max-context") line += format_whole(fit.value) + " tokens";
  if (fit.question == "max-concurrency") line += format_whole(fit.value) + " requests at once";
  if (fit.question == "fewest-gpus") line += format_whole(fit.value);
  line += " on " + std::to_string(fit.count) + " x " + fit.accelerator + " in " + fit.dtype + ", bound by " + fit.bound;
  if (!fit.needed.empty()) line += ": one more needs " + fit.needed + " of " + fit.available + " a device";
  return line;
}

}  // namespace

std::string memory_text(const MemoryReport& d, const TextStyle& style) {
  std::string out = labelled("model", model_line(d.model), style) + labelled("job", job_line(d.job), style);
  if (!d.model.not_modelled.empty()) out += labelled("left out", join(d.model.not_modelled, "; "), style);
  if (d.hardware.size() == 1 && d.hardware.front().memory)
    out += labelled("memory", memory_line(*d.hardware.front().memory), style);
  if (d.hardware.size() == 1 && d.hardware.front().limits)
    out += labelled("cache", limits_line(*d.hardware.front().limits), style);
  if (d.hardware.size() == 1 && d.hardware.front().limits)
    out += labelled("host", host_line(d.hardware.front().limits->host), style);
  if (d.fit) out += labelled("answer", fit_line(*d.fit), style);
  const auto runnable = std::count_if(d.hardware.begin(), d.hardware.end(),
                                      [](const HardwareDocument& h) { return h.memory.has_value(); });
  if (runnable > 0) out += "\n" + hardware_table(d.hardware, d.shown_rows, style);
  const std::string rejected = rejected_hardware(d.hardware, style);
  if (!rejected.empty()) out += "\n" + rejected;
  return out + explanation_text(d.explanation, style);
}

}  // namespace gpuplan
