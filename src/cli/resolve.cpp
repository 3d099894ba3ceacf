#include "resolve.hpp"

#include <gpuplan/base/text.hpp>

namespace gpuplan::cli {
namespace {

std::vector<const Accelerator*> select_gpus(const Catalog& catalog, const Options& options, std::vector<Problem>& problems,
                                            std::vector<std::string>& notices) {
  std::vector<const Accelerator*> selected;
  for (const std::string& name : options.gpus) {
    const auto members = catalog.select_accelerators(name);
    if (members.empty()) {
      problems.push_back({"input.unknown_name", "unknown accelerator '" + name + "'", Place{"--gpu", 0, 0},
                          "a name, alias or family from the catalogue (see 'gpuplan gpus')", catalog.nearest_accelerator(name), {}});
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

std::vector<const Provider*> select_providers(const Catalog& catalog, const Options& options, std::vector<Problem>& problems) {
  std::vector<const Provider*> selected;
  for (const std::string& name : options.providers) {
    if (const Provider* provider = catalog.find_provider(name)) {
      selected.push_back(provider);
    } else {
      problems.push_back({"input.unknown_name", "unknown provider '" + name + "'", Place{"--provider", 0, 0},
                          "a name from the catalogue (see 'gpuplan providers')", catalog.nearest_provider(name), {}});
    }
  }
  return selected;
}

std::string_view select_currency(const Catalog& catalog, const Options& options, std::vector<Problem>& problems) {
  if (const CurrencyRate* rate = catalog.find_currency(options.currency)) return rate->currency;
  std::vector<std::string> all;
  for (const CurrencyRate& rate : catalog.currencies()) all.emplace_back(rate.currency);
  problems.push_back({"input.unknown_name", "unknown currency '" + options.currency + "'", Place{"--currency", 0, 0}, join(all, ", "),
                      catalog.nearest_currency(options.currency), {}});
  return {};
}

}  // namespace

EstimateRequest resolve_request(const Catalog& catalog, const Options& options, const Environment& environment,
                                std::vector<std::string>& notices) {
  std::vector<Problem> problems;
  EstimateRequest request;
  request.job = options.job;
  request.accelerators = select_gpus(catalog, options, problems, notices);
  request.count = options.count;
  request.providers = select_providers(catalog, options, problems);
  request.contracts = options.contracts;
  request.region = options.region;
  request.country = options.country;
  request.currency = select_currency(catalog, options, problems);
  request.vat = options.vat;
  request.as_of = options.as_of.value_or(environment.today);
  request.sort = options.sort;
  if (!problems.empty()) throw InputError(std::move(problems));
  return request;
}

ListFilter resolve_filter(const Catalog& catalog, const Options& options, std::vector<std::string>& notices) {
  std::vector<Problem> problems;
  ListFilter filter;
  filter.accelerators = select_gpus(catalog, options, problems, notices);
  filter.providers = select_providers(catalog, options, problems);
  filter.contracts = options.contracts;
  filter.region = options.region;
  filter.country = options.country;
  (void)select_currency(catalog, options, problems);
  if (!problems.empty()) throw InputError(std::move(problems));
  return filter;
}

}  // namespace gpuplan::cli
