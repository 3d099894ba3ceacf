#include "estimate_text.hpp"
#include "table.hpp"

#include <gpuplan/base/text.hpp>

namespace gpuplan {
namespace {

// `12.3 images/s`, of sound how many times as fast as it is spoken.
std::string rate_text(const RunDocument& run, const std::string& item) {
  if (run.audio_speed) return format_significant(run.audio_speed->value, 3) + " s of sound a second";
  std::string text = format_significant(run.items_per_s.value, 3) + " " + item + "s/s";
  if (run.tokens_per_s)
    text += " (" + format_significant(run.tokens_per_s->value, 3) + (run.generates ? " output" : "") + " tokens/s)";
  return text;
}

std::string range_text(const Spread& spread) {
  return format_significant(spread.low, 3) + " to " + format_significant(spread.high, 3);
}

// What the unit of work costs: an hour of sound, a million tokens, a thousand pictures.
std::string unit_cost_text(const RunDocument& run, const EstimateDocument& d) {
  if (run.per_audio_hour) return money_text(*run.per_audio_hour, d.currency) + " per hour of sound";
  std::string text = money_text(run.per_1000_items.value_or(0), d.currency) + " per 1,000 " + d.item + "s";
  if (run.per_1m_tokens)
    text += ", " + money_text(*run.per_1m_tokens, d.currency) +
            (run.generates ? " per 1M output tokens" : " per 1M tokens");
  return text;
}

}  // namespace

std::string run_answer(const EstimateDocument& d) {
  const OptionDocument& best = d.options.front();
  const RunDocument& run = *best.run;
  const std::string where = d.model.name + " in " + d.model.weights_format + " runs on " + std::to_string(best.count) +
                            " x " + best.accelerator + " at " + best.provider_title + " (" + best.contract + ")";
  if (run.total_s) {
    return where + ": the job takes " + format_seconds(seconds(run.total_s->value)) + " and costs " +
           money_text(run.total_cost.value_or(0), d.currency) + ", at " + rate_text(run, d.item);
  }
  return where + " for " + money_text(best.cost.per_hour, d.currency) + " an hour, " +
         money_text(best.cost.per_month, d.currency) + " a month: " + rate_text(run, d.item) + ", " +
         unit_cost_text(run, d);
}

std::string run_plan_line(const OptionDocument& best) {
  if (best.run->generates) {
    return plural(best.replicas, "replica") + " x " + plural(best.gpus_per_replica, "GPU") + " (TP" +
           format_whole(best.layout.tp) + (best.layout.pp > 1 ? " PP" + format_whole(best.layout.pp) : "") + ", " +
           best.layout.engine + "), each with " + plural(static_cast<std::int64_t>(best.run->batch), "request") +
           " in flight of at most " + format_whole(best.memory.max_concurrency.value_or(0));
  }
  return plural(best.count, "GPU") + ", each with the whole network (" + best.layout.engine + ") and a batch of " +
         format_whole(best.run->batch);
}

std::string run_time_line(const OptionDocument& best, const EstimateDocument& d) {
  const RunDocument& run = *best.run;
  const std::string one = run.generates ? "a request" : "a batch of " + format_whole(run.batch);
  std::string line = one + " takes " + spread_text(run.latency_s) + "; " + rate_text(run, d.item) + " in all (" +
                     range_text(run.audio_speed ? *run.audio_speed : run.items_per_s) + ")";
  if (run.total_s) line += "; the job " + spread_text(*run.total_s);
  return line + " (80 % intervals)";
}

std::string run_cost_line(const OptionDocument& best, const EstimateDocument& d) {
  const RunDocument& run = *best.run;
  std::string line;
  for (const CostTerm& term : best.cost.terms)
    line += (line.empty() ? "" : " + ") + term.id + " " + money_text(term.amount, d.currency);
  line += " = " + money_text(run.total_cost.value_or(best.cost.per_month), d.currency) +
          (run.total_cost ? " for the job" : " a month") + vat_words(best, d) + "; " + unit_cost_text(run, d) +
          "; price of " + (best.price_observed_on.empty() ? "an unknown day" : best.price_observed_on) + ", " +
          best.price_confidence;
  return line;
}

std::string run_options_table(const EstimateDocument& d, const std::vector<const OptionDocument*>& shown,
                              const TextStyle& style) {
  std::vector<std::vector<std::string>> rows;
  const bool ends = !shown.empty() && shown.front()->run->total_s;
  const bool sounds = !shown.empty() && shown.front()->run->audio_speed;
  const bool reads = !shown.empty() && shown.front()->run->per_1m_tokens;
  for (const OptionDocument* o : shown) {
    const RunDocument& run = *o->run;
    const double unit = sounds  ? run.per_audio_hour.value_or(0)
                        : reads ? run.per_1m_tokens.value_or(0)
                                : run.per_1000_items.value_or(0);
    const Spread& rate = sounds ? *run.audio_speed : run.items_per_s;
    rows.push_back({std::to_string(o->rank), o->provider_title, o->contract,
                    std::to_string(o->count) + " x " + o->accelerator, format_whole(run.batch),
                    format_seconds(seconds(run.latency_s.value)), format_significant(rate.value, 3),
                    ends ? format_seconds(seconds(run.total_s->value)) : std::string(),
                    ends ? format_significant(run.total_cost.value_or(0), 3) : std::string(),
                    format_significant(o->cost.per_hour, 3), format_significant(o->cost.per_month, 3),
                    format_significant(unit, 3), o->memory.verdict, d.vat == "included" ? vat_cell(*o) : std::string(),
                    o->region, o->price_observed_on.empty() ? "unknown" : o->price_observed_on, o->price_confidence});
  }
  return layout_table({{"#", true},
                       {"provider"},
                       {"contract"},
                       {"hardware"},
                       {"batch", true, 3},
                       {"latency", true, 1},
                       {sounds ? "x speech" : d.item + "s/s", true},
                       {"job", true},
                       {d.currency, true},
                       {d.currency + "/h", true},
                       {d.currency + "/month", true, 2},
                       {d.currency + (sounds  ? "/audio h"
                                      : reads ? "/1M tok"
                                              : "/1000"),
                        true},
                       {"memory", false, 7},
                       {"VAT", true, 2},
                       {"region", false, 9},
                       {"price of"},
                       {"by", false, 8}},
                      rows, style, "  ");
}

}  // namespace gpuplan
