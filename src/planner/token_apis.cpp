#include <gpuplan/planner/token_apis.hpp>

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>

namespace gpuplan {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// `14b`, `a22b`, `1.8b`: a number of parameters.
bool names_a_size(std::string_view word) {
  if (word.size() < 2 || (word.back() != 'b' && word.back() != 'B')) return false;
  return is_digit(word[word.size() - 2]);
}

// Without the owner before a '/'; a '_' between digits stands for the point that some services do not take in names.
std::string plain_name(std::string_view name) {
  if (const auto slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
  std::string plain(name);
  for (std::size_t i = 1; i + 1 < plain.size(); ++i) {
    if (plain[i] == '_' && is_digit(plain[i - 1]) && is_digit(plain[i + 1])) plain[i] = '.';
  }
  return plain;
}

struct Priced {
  const Provider* provider = nullptr;  // null: the list's own
  TokenPrice price;
  std::string name, title, model;
  std::string observed_on, source;
  bool imported = false;
};

std::vector<Priced> listed_prices(const Catalog& catalog, std::span<const ListedTokenPrice> imported) {
  std::vector<Priced> all;
  for (const Provider& provider : catalog.providers()) {
    for (const TokenPrice& price : provider.token_apis) {
      const Source& source = catalog.source(price.source);
      all.push_back({&provider, price, std::string(provider.name), std::string(provider.title),
                     std::string(price.model), std::string(source.observed_on), std::string(source.text), false});
    }
  }
  const auto fact = [](const std::optional<double>& value) {
    return value ? Fact<double>{*value, Mark::published, 0} : Fact<double>{};
  };
  for (const ListedTokenPrice& listed : imported) {
    const CurrencyRate* rate = catalog.find_currency(listed.currency);
    if (!rate) continue;
    Priced priced;
    priced.provider = catalog.find_provider(listed.provider);
    priced.price.input_per_1m = fact(listed.input_per_1m);
    priced.price.output_per_1m = fact(listed.output_per_1m);
    priced.price.currency = rate->currency;
    priced.price.vat = listed.vat;
    priced.name = priced.provider ? std::string(priced.provider->name) : listed.provider;
    priced.title = priced.provider ? std::string(priced.provider->title) : listed.provider;
    priced.model = listed.model;
    priced.observed_on = listed.observed_on;
    priced.source = listed.source;
    priced.imported = true;
    all.push_back(std::move(priced));
  }
  return all;
}

// The option that wins at the smallest volume, if any does.
void add_break_even(const TokenComparison& work, TokenAlternative& api) {
  api.break_even.service_per_request = api.per_request;
  for (const RentedWork& rented : work.rented) {
    const VolumeBreakEven found = break_even_volume({api.per_request, rented.cost, rented.requests});
    if (!found.requests) continue;
    if (api.break_even.requests && *found.requests >= *api.break_even.requests) continue;
    api.break_even = found;
    api.rented = rented.name;
  }
}

}  // namespace

const ModelPreset* preset_of_service(const Catalog& catalog, std::string_view name, bool& same_name) {
  std::string rest = plain_name(name);
  same_name = true;
  while (!rest.empty()) {
    if (const ModelPreset* preset = catalog.find_model(rest)) return preset;
    const auto dash = rest.rfind('-');
    if (dash == std::string::npos || names_a_size(std::string_view(rest).substr(dash + 1))) return nullptr;
    rest.resize(dash);
    same_name = false;
  }
  return nullptr;
}

std::vector<TokenAlternative> token_alternatives(const Catalog& catalog, std::string_view model,
                                                 const TokenComparison& work,
                                                 std::span<const ListedTokenPrice> imported) {
  std::vector<TokenAlternative> found;
  const ModelPreset* wanted = catalog.find_model(model);
  if (!wanted || work.requests <= 0) return found;
  const Provider nobody;  // of whose VAT nothing is known
  for (const Priced& priced : listed_prices(catalog, imported)) {
    TokenAlternative api;
    if (preset_of_service(catalog, priced.model, api.same_name) != wanted) continue;
    const Provider& provider = priced.provider ? *priced.provider : nobody;
    const auto money = [&](const TokenLoad& load) {
      return token_price(catalog, provider, priced.price, load, work.currency, work.vat);
    };
    const auto per_request = money(work.request);
    if (!per_request || *per_request <= 0) continue;
    api.provider = priced.name;
    api.title = priced.title;
    api.model = priced.model;
    api.input_per_1m = money({1e6, 0, 0, work.request.batch});
    api.output_per_1m = money({0, 0, 1e6, work.request.batch});
    if (priced.price.cached_input_per_1m.known()) api.cached_input_per_1m = money({1e6, 1, 0, false});
    api.per_request = *per_request;
    api.cost = *per_request * work.requests;
    api.observed_on = priced.observed_on;
    api.source = priced.source;
    api.imported = priced.imported;
    add_break_even(work, api);
    found.push_back(std::move(api));
  }
  std::sort(found.begin(), found.end(), [](const TokenAlternative& a, const TokenAlternative& b) {
    return std::tie(a.cost, a.provider, a.model, a.imported) < std::tie(b.cost, b.provider, b.model, b.imported);
  });
  return found;
}

}  // namespace gpuplan
