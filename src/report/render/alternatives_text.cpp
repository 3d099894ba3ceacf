#include "estimate_text.hpp"
#include "table.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

constexpr std::size_t kShownApis = 8;

// 1.2B, 34M: volumes are of no use to the last token.
std::string volume(double tokens) {
  const std::pair<double, const char*> scales[] = {{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [scale, letter] : scales) {
    if (tokens >= scale) return format_significant(tokens / scale, 3) + letter;
  }
  return format_significant(tokens, 3);
}

std::string price(const std::optional<double>& amount) { return amount ? format_significant(*amount, 3) : "unknown"; }

std::string token_apis(const EstimateDocument& d, const TextStyle& style) {
  const AlternativesDocument& a = d.alternatives;
  const bool month = a.period == "month";
  std::vector<std::vector<std::string>> rows;
  for (const TokenApiDocument& api : a.token_apis) {
    if (rows.size() == kShownApis) break;
    rows.push_back({api.provider_title, api.model, price(api.input_per_1m),
                    a.cached_share > 0 ? price(api.cached_input_per_1m) : std::string(), price(api.output_per_1m),
                    format_significant(api.cost, 3),
                    api.break_even_output_tokens ? volume(*api.break_even_output_tokens) : "never",
                    api.observed_on.empty() ? "unknown" : api.observed_on});
  }
  const double least = a.token_apis.front().cost;
  std::string title =
      "the same tokens from services: " + volume(a.requests) + " requests with " + volume(a.output_tokens) +
      " output tokens" + (month ? " a month" : "") + ", " + money_text(a.rented_cost, d.currency) +
      " by the first option: " + (least < a.rented_cost ? "a service is cheaper" : "renting is cheaper");
  std::string out;
  for (const auto& line : wrap(title, style.width)) out += bold(line, style) + "\n";
  out += layout_table({{"provider"},
                       {"model there", false, 1},
                       {"/1M in", true, 2},
                       {"cached", true, 3},
                       {"/1M out", true, 2},
                       {d.currency + (month ? "/month" : ""), true},
                       {"rent from", true},
                       {"price of", false, 4}},
                      rows, style, "  ");
  const std::string note =
      std::string("rent from: output tokens") + (month ? " a month" : "") +
      " above which an option of the ranking is cheaper than the service; below it the service is" +
      (a.token_apis.size() > rows.size()
           ? ". " + std::to_string(a.token_apis.size() - rows.size()) + " more services (--format json)"
           : "");
  for (const auto& line : wrap(note, style.width - 2)) out += "  " + line + "\n";
  return out;
}

std::string owned_machines(const EstimateDocument& d, const TextStyle& style) {
  std::vector<std::vector<std::string>> rows;
  for (const OwnedDocument& o : d.alternatives.owned) {
    const bool rented = o.rented_per_hour.has_value();
    rows.push_back({o.title, format_whole(o.count) + " x " + o.accelerator, format_significant(o.capex, 3),
                    format_significant(o.fixed_per_month, 3), format_significant(o.energy_per_hour, 3),
                    rented ? format_significant(*o.rented_per_hour, 3) + " at " + o.rented_provider : "unknown",
                    !rented              ? "unknown"
                    : o.break_even_hours ? format_whole(*o.break_even_hours) + " h" + (o.wins ? "" : ": never")
                                         : "never"});
  }
  return bold("machines that are bought, and hours of work a month from which they are cheaper than rented ones",
              style) +
         "\n" +
         layout_table({{"machine"},
                       {"hardware", false, 1},
                       {d.currency, true},
                       {"/month", true},
                       {"energy/h", true, 2},
                       {"rented/h", false},
                       {"own from", true}},
                      rows, style, "  ");
}

}  // namespace

std::string alternatives_text(const EstimateDocument& d, const TextStyle& style) {
  std::string out;
  if (!d.alternatives.token_apis.empty()) out += "\n" + token_apis(d, style);
  if (!d.alternatives.owned.empty()) out += "\n" + owned_machines(d, style);
  return out;
}

}  // namespace gpuplan
