#include "resolve.hpp"

#include "output.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/catalog/software.hpp>
#include <gpuplan/planner/use_case.hpp>

#include <algorithm>
#include <charconv>
#include <set>

namespace gpuplan::cli {
namespace {

// Names may hold commas themselves: a text that is one name as a whole is not a list.
std::vector<std::string> gpu_names(const Catalog& catalog, const Options& options) {
  std::vector<std::string> names;
  for (const std::string& text : options.gpus) {
    if (!catalog.select_accelerators(text).empty()) {
      names.push_back(text);
      continue;
    }
    for (auto& part : split(text, ',')) names.push_back(std::move(part));
  }
  return names;
}

std::vector<const Accelerator*> select_gpus(const Catalog& catalog, const Options& options,
                                            std::vector<Problem>& problems, std::vector<std::string>& notices) {
  std::vector<const Accelerator*> selected;
  for (const std::string& name : gpu_names(catalog, options)) {
    const auto members = catalog.select_accelerators(name);
    if (members.empty()) {
      problems.push_back({"input.unknown_name",
                          "unknown accelerator '" + name + "'",
                          Place{"--gpu", 0, 0},
                          "a name, alias or family from the catalogue (see 'gpuplan gpus')",
                          catalog.nearest_accelerator(name),
                          {}});
    }
    if (members.size() > 1) {
      std::vector<std::string> names;
      for (const Accelerator* member : members) names.emplace_back(member->name);
      notices.push_back("'" + name + "' selects " + join(names, ", "));
    }
    selected.insert(selected.end(), members.begin(), members.end());
  }
  return selected;
}

std::vector<const Provider*> select_providers(const Catalog& catalog, const Options& options,
                                              std::vector<Problem>& problems) {
  std::vector<const Provider*> selected;
  for (const std::string& name : options.providers) {
    if (const Provider* provider = catalog.find_provider(name)) {
      selected.push_back(provider);
    } else {
      problems.push_back({"input.unknown_name",
                          "unknown provider '" + name + "'",
                          Place{"--provider", 0, 0},
                          "a name from the catalogue (see 'gpuplan providers')",
                          catalog.nearest_provider(name),
                          {}});
    }
  }
  return selected;
}

// A country that nothing is in is a slip of the finger rather than a wish.
void check_country(const Catalog& catalog, const Options& options, std::vector<Problem>& problems) {
  if (options.country.empty()) return;
  std::set<std::string> known;
  for (const Provider& provider : catalog.providers()) {
    known.emplace(provider.country);
    for (const Offer& offer : provider.offers) known.emplace(offer.country);
  }
  known.erase("");
  const bool found = std::any_of(known.begin(), known.end(),
                                 [&](const std::string& code) { return to_lower(code) == to_lower(options.country); });
  if (found) return;
  const std::vector<std::string> all(known.begin(), known.end());
  problems.push_back({"input.unknown_name",
                      "no provider or offer in country '" + options.country + "'",
                      Place{"--country", 0, 0},
                      join(all, ", "),
                      {},
                      {}});
}

// A provider that was asked for and has nothing of the asked kind would otherwise just not be there.
void tell_kinds(const Options& options, const std::vector<const Provider*>& providers,
                std::vector<std::string>& notices) {
  for (const Provider* provider : providers) {
    std::set<std::string> kinds;
    bool any = options.contracts.empty();
    for (const Offer& offer : provider->offers) {
      if (!offer.rankable) continue;
      kinds.emplace(to_string(offer.contract));
      any = any ||
            std::find(options.contracts.begin(), options.contracts.end(), offer.contract) != options.contracts.end();
    }
    const std::vector<std::string> all(kinds.begin(), kinds.end());
    if (kinds.empty()) {
      notices.push_back(std::string(provider->title) + " has no offer with a usable price");
    } else if (!any) {
      notices.push_back(std::string(provider->title) + " offers only: " + join(all, ", "));
    }
  }
}

std::string_view select_currency(const Catalog& catalog, const Options& options, Prices prices,
                                 std::vector<Problem>& problems) {
  if (const CurrencyRate* rate = catalog.find_currency(options.currency)) return rate->currency;
  if (prices == Prices::unused) return {};
  std::vector<std::string> all;
  for (const CurrencyRate& rate : catalog.currencies()) all.emplace_back(rate.currency);
  problems.push_back({"input.unknown_name",
                      "unknown currency '" + options.currency + "'",
                      Place{"--currency", 0, 0},
                      join(all, ", "),
                      catalog.nearest_currency(options.currency),
                      {}});
  return {};
}

OfferRules rules_of(const Catalog& catalog, const Options& options, const Environment& environment,
                    std::vector<Problem>& problems) {
  OfferRules rules;
  rules.as_of = options.as_of.value_or(environment.today);
  if (options.max_age) rules.max_age_days = static_cast<std::int64_t>(std::min(1e9, *options.max_age / days(1)));
  if (options.software.empty()) return rules;
  try {
    rules.software = &require_framework_release(catalog, options.software, "--framework");
  } catch (const InputError& error) {
    problems.insert(problems.end(), error.problems().begin(), error.problems().end());
  }
  return rules;
}

// Over the last one on a terminal; a log gets a line each.
void tell_progress(const HttpProgress& progress) {
  std::string line = "gpuplan: " + progress.what;
  if (progress.waiting) {
    line += ": the server asks to wait " + format_seconds(*progress.waiting);
  } else if (progress.total > 0) {
    line += ": " + format_bytes(bytes(static_cast<double>(progress.received))) + " of " +
            format_bytes(bytes(static_cast<double>(progress.total)));
  } else {
    line += ": waiting for an answer";
  }
  write_error(line + "\n");
}

}  // namespace

HubAccess hub_access(const Environment& environment) {
  return [variable = environment.variable] {
    HubSettings settings = hub_settings_from(variable ? variable : [](const std::string&) { return std::string(); });
    settings.notice = [](const std::string& notice) { write_error("gpuplan: " + notice + "\n"); };
    settings.http.progress = tell_progress;
    return settings;
  };
}

EstimateRequest resolve_request(const Catalog& catalog, const Options& options, const Environment& environment,
                                Prices prices, std::vector<std::string>& notices) {
  std::vector<Problem> problems;
  EstimateRequest request;
  request.job = options.job;
  request.hub = hub_access(environment);
  if (options.solve == LoadQuestion::users && !request.job.load.users) request.job.load.users = 1;  // how many is asked
  apply_use_case(catalog, request.job);
  if (JobSpec& job = request.job; job.context.is_default) {
    const std::int64_t used = job.input.value + job.output.value;
    // Requests of a batch are alike: none grows beyond what is known of them.
    job.context.value = job.type.value == JobType::batch ? used : std::max(job.context.value, used);
  }
  request.accelerators = select_gpus(catalog, options, problems, notices);
  request.count = options.count;
  request.providers = select_providers(catalog, options, problems);
  tell_kinds(options, request.providers, notices);
  check_country(catalog, options, problems);
  request.contracts = options.contracts;
  request.region = options.region;
  request.country = options.country;
  request.currency = select_currency(catalog, options, prices, problems);
  request.vat = options.vat;
  const OfferRules rules = rules_of(catalog, options, environment, problems);
  request.as_of = rules.as_of;
  request.max_age_days = rules.max_age_days;
  request.software = rules.software;
  request.min_quality = options.min_quality;
  request.sort = options.sort;
  if (options.duty && !options.duty->is_always()) request.duty = options.duty;
  if (!problems.empty()) throw InputError(std::move(problems));
  return request;
}

OwnedTerms owned_terms(const Catalog& catalog, const Options& options) {
  const OwnedOptions& owned = options.owned;
  OwnedTerms terms;
  terms.country = owned.country;
  for (char& c : terms.country) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  if (const CurrencyRate* rate = catalog.find_currency(options.currency)) terms.currency = rate->currency;
  terms.power_price = owned.power_price;
  terms.pue = owned.pue;
  terms.staff_per_year = owned.staff;
  terms.lifetime_years = owned.years;
  terms.capital_percent = owned.capital.value_or(0);
  return terms;
}

TrainingRequest resolve_training(const Catalog& catalog, const Options& options, const Environment& environment,
                                 TrainingMethod method, std::vector<std::string>& notices) {
  std::vector<Problem> problems;
  TrainingRequest request;
  request.job = options.job;
  request.training = options.training;
  request.training.method = method;
  const auto said = [&](std::string_view flag) {
    return std::find(options.said_of_training.begin(), options.said_of_training.end(), flag) !=
           options.said_of_training.end();
  };
  request.sharding_is_default = !said("zero");
  request.lora_rank_is_default = !said("lora-rank");
  request.lora_targets_are_default = !said("lora-targets");
  request.sequence_is_default = !said("seq");
  request.dtype_is_default = options.job.dtype.is_default;
  request.framework = options.framework.value;
  request.hub = hub_access(environment);
  request.accelerators = select_gpus(catalog, options, problems, notices);
  request.count = options.count;
  if (!problems.empty()) throw InputError(std::move(problems));
  return request;
}

namespace {

Problem bad(std::string flag, std::string message, std::string expected, std::string nearest = {}) {
  return {"input.bad_value",   std::move(message), Place{std::move(flag), 0, 0},
          std::move(expected), std::move(nearest), {}};
}

// Two digits, with a leading zero.
std::optional<double> clock_number(std::string_view text, int most) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size() || text.size() != 2 || number < 0 || number > most)
    return std::nullopt;
  return number;
}

// Seconds from the start of a day to a day, or to a time of it.
std::optional<Seconds> until(std::string_view text, const Date& from) {
  const auto at = text.find('T');
  const auto day = parse_date(text.substr(0, at));
  if (!day.value || text.substr(0, at).size() < 10) return std::nullopt;
  double hours_of_day = 0;
  if (at != std::string_view::npos) {
    const std::string_view time = text.substr(at + 1);
    if (time.size() != 5 || time[2] != ':') return std::nullopt;
    const auto hour = clock_number(time.substr(0, 2), 23);
    const auto minute = clock_number(time.substr(3), 59);
    if (!hour || !minute) return std::nullopt;
    hours_of_day = *hour + *minute / 60;
  }
  return hours(24 * static_cast<double>(days_between(from, *day.value)) + hours_of_day);
}

void resolve_deadline(const Options& options, const Date& from, JobLimits& limits, std::vector<Problem>& problems) {
  limits.deadline = options.deadline;
  if (options.by.empty()) return;
  const auto left = until(options.by, from);
  if (!left) {
    problems.push_back(bad("--by", "'" + options.by + "' is no day", "2026-12-24 or 2026-12-24T09:00"));
  } else if (*left <= Seconds{}) {
    problems.push_back(bad("--by", "'" + options.by + "' is not after " + to_string(from), "a later day"));
  } else if (!limits.deadline || *left < *limits.deadline) {
    limits.deadline = left;
  }
}

void resolve_budget(const Catalog& catalog, const Options& options, std::string_view currency, JobLimits& limits,
                    std::vector<Problem>& problems) {
  if (options.budget.empty()) return;
  const std::string_view text = trim(options.budget);
  const auto space = text.find_last_of(' ');
  const std::string_view amount = trim(text.substr(0, space));
  const std::string_view code = space == std::string_view::npos ? currency : trim(text.substr(space + 1));
  const auto parsed = parse_positive(amount);
  const CurrencyRate* rate = catalog.find_currency(code);
  if (!parsed.value) {
    problems.push_back(bad("--budget", "'" + options.budget + "' is no amount of money", "3000 or 3000 USD"));
  } else if (!rate) {
    problems.push_back(bad("--budget", "unknown currency '" + std::string(code) + "'", "a currency of the catalogue",
                           catalog.nearest_currency(code)));
  } else {
    limits.budget = convert(catalog, {*parsed.value, rate->currency}, currency).amount;
  }
}

}  // namespace

JobLimits resolve_limits(const Catalog& catalog, const Options& options, const EstimateRequest& request) {
  JobLimits limits;
  std::vector<Problem> problems;
  resolve_deadline(options, request.as_of, limits, problems);
  resolve_budget(catalog, options, request.currency, limits, problems);
  if (!problems.empty()) throw InputError(std::move(problems));
  return limits;
}

TrainingEstimateRequest resolve_training_estimate(const Catalog& catalog, const Options& options,
                                                  const Environment& environment, TrainingMethod method,
                                                  std::vector<std::string>& notices) {
  TrainingEstimateRequest request;
  request.offers = resolve_request(catalog, options, environment, Prices::used, notices);
  std::vector<std::string> told_already;
  request.training = resolve_training(catalog, options, environment, method, told_already);
  TrainingLoad& load = request.load;
  load.tokens = options.job.parts.tokens;
  load.global_batch = options.global_batch.value_or(0);
  load.said = options.said_of_training;
  const JobLimits limits = resolve_limits(catalog, options, request.offers);
  load.deadline = limits.deadline;
  load.budget = limits.budget;
  return request;
}

ListFilter resolve_filter(const Catalog& catalog, const Options& options, const Environment& environment, Prices prices,
                          std::vector<std::string>& notices) {
  std::vector<Problem> problems;
  ListFilter filter;
  filter.accelerators = select_gpus(catalog, options, problems, notices);
  filter.providers = select_providers(catalog, options, problems);
  filter.contracts = options.contracts;
  filter.region = options.region;
  filter.country = options.country;
  filter.rules = rules_of(catalog, options, environment, problems);
  filter.by_price_alone = options.sort == SortBy::price;
  check_country(catalog, options, problems);
  (void)select_currency(catalog, options, prices, problems);
  if (!problems.empty()) throw InputError(std::move(problems));
  return filter;
}

}  // namespace gpuplan::cli
