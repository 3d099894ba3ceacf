#include "resolve.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/report/build.hpp>

namespace gpuplan::cli {
namespace {

// `show NAME` and `show "NAME WITH BLANKS"`: everything after the word.
std::string shown_name(const Options& options) {
  const std::vector<std::string> rest(options.words.begin() + 1, options.words.end());
  const std::string name = join(rest, " ");
  if (!name.empty()) return name;
  throw InputError(Problem{"input.missing", "no name after 'show'", std::nullopt, "show NAME", {}, {}});
}

bool asks_to_show(const Options& options) { return !options.words.empty() && options.words.front() == "show"; }

[[noreturn]] void unknown(std::string_view what, const std::string& name, std::string nearest) {
  throw InputError(Problem{"input.unknown_name",
                           "unknown " + std::string(what) + " '" + name + "'",
                           std::nullopt,
                           "a name or alias from the catalogue",
                           std::move(nearest),
                           {}});
}

ListFilter filter_of(const Catalog& catalog, const Options& options, const Environment& environment, Outcome& outcome,
                     Prices prices = Prices::unused) {
  ListFilter filter = resolve_filter(catalog, options, environment, prices, outcome.notices);
  filter.text = join(options.words, " ");
  return filter;
}

// A list of offers has a price to be sorted by, and a framework's release to be ruled by.
void refuse_meaningless(const Options& options) {
  std::vector<Problem> problems;
  if (!options.sort_is_default && options.sort != SortBy::price && options.sort != SortBy::cost) {
    problems.push_back({"input.contradiction",
                        "a list of offers is not sorted by " + std::string(to_string(options.sort)),
                        Place{"--sort", 0, 0},
                        "price",
                        {},
                        {}});
  }
  if (!options.framework.is_default) {
    problems.push_back({"input.bad_value",
                        "no release in '" + options.framework.value + "'",
                        Place{"--framework", 0, 0},
                        "NAME==VERSION, such as pytorch==2.6",
                        {},
                        {}});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

}  // namespace

Outcome run_gpus(const Options& options, const Environment& environment) {
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices);
  if (asks_to_show(options)) {
    const std::string name = shown_name(options);
    const auto members = catalog.select_accelerators(name);
    if (members.empty()) unknown("accelerator", name, catalog.nearest_accelerator(name));
    if (members.size() > 1) {
      std::vector<std::string> names;
      for (const Accelerator* member : members) names.emplace_back(member->name);
      throw InputError(Problem{
          "input.ambiguous_name", "'" + name + "' is a family", std::nullopt, "one of " + join(names, ", "), {}, {}});
    }
    outcome.document = show_gpu(catalog, *members.front());
  } else {
    outcome.document = list_gpus(catalog, filter_of(catalog, options, environment, outcome));
  }
  return outcome;
}

Outcome run_models(const Options& options, const Environment& environment) {
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices);
  if (asks_to_show(options)) {
    const std::string name = shown_name(options);
    const ResolvedModel model = resolve_model(catalog, name, hub_access(environment));
    for (const Warning& warning : model.identity.warnings) outcome.notices.push_back(warning.message);
    outcome.document = show_model(catalog, model);
  } else {
    outcome.document = list_models(catalog, filter_of(catalog, options, environment, outcome));
  }
  return outcome;
}

Outcome run_offers(const Options& options, const Environment& environment) {
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices, Imported::all);
  if (asks_to_show(options)) {
    const std::string name = shown_name(options);
    std::vector<std::string_view> ids;
    for (const Provider& provider : catalog.providers()) {
      for (const Offer& offer : provider.offers) {
        ids.push_back(offer.id);
        if (lookup_key(offer.id) != lookup_key(name)) continue;
        outcome.document = show_offer(catalog, offer);
        return outcome;
      }
    }
    unknown("offer", name, nearest_name(name, ids));
  }
  refuse_meaningless(options);
  const ListFilter filter = filter_of(catalog, options, environment, outcome, Prices::used);
  ListDocument list = list_offers(catalog, filter, catalog.find_currency(options.currency)->currency, options.vat);
  const auto rows = static_cast<std::size_t>(options.top.value_or(0));
  if (rows > 0 && list.rows.size() > rows) list.rows.resize(rows);
  outcome.document = std::move(list);
  return outcome;
}

Outcome run_support(const Options& options, const Environment& environment) {
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices);
  const ListFilter filter = resolve_filter(catalog, options, environment, Prices::unused, outcome.notices);
  SupportQuery query;
  query.accelerators = filter.accelerators;
  if (!options.job.model.value.empty()) {
    query.model = catalog.find_model(options.job.model.value);
    if (!query.model) unknown("model", options.job.model.value, catalog.nearest_model(options.job.model.value));
  }
  if (!query.model && query.accelerators.empty()) {
    throw InputError(Problem{
        "input.missing", "no model and no accelerator", std::nullopt, "--model NAME, --gpu NAME, or both", {}, {}});
  }
  if (!options.job.engine.is_default) query.program = options.job.engine.value;
  query.format = options.job.dtype.value;
  ListDocument list = list_evidence(catalog, query);
  const auto rows = static_cast<std::size_t>(options.top.value_or(0));
  if (rows > 0 && list.rows.size() > rows) list.rows.resize(rows);
  outcome.document = std::move(list);
  return outcome;
}

Outcome run_providers(const Options& options, const Environment& environment) {
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices);
  if (asks_to_show(options)) {
    const std::string name = shown_name(options);
    const Provider* provider = catalog.find_provider(name);
    if (!provider) unknown("provider", name, catalog.nearest_provider(name));
    outcome.document = show_provider(catalog, *provider);
  } else {
    outcome.document = list_providers(catalog, filter_of(catalog, options, environment, outcome),
                                      options.as_of.value_or(environment.today));
  }
  return outcome;
}

}  // namespace gpuplan::cli
