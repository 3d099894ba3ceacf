#include "commands.hpp"
#include "resolve.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/catalog/offer_class.hpp>
#include <gpuplan/prices/store.hpp>

#include <algorithm>
#include <filesystem>

namespace gpuplan::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSystemFolder = "/etc/gpuplan";
constexpr std::string_view kProjectFolder = ".gpuplan";

// Pipes, devices and folders hold no facts. A link to nowhere counts, so that reading it says what is wrong.
bool is_facts_file(const fs::path& path) {
  const std::string extension = path.extension().string();
  if (path.filename().string().front() == '.' || (extension != ".yaml" && extension != ".yml")) return false;
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  return type == fs::file_type::regular || type == fs::file_type::not_found || type == fs::file_type::none;
}

bool is_absent(const fs::path& folder, const std::error_code& error) {
  std::error_code ignored;
  return error == std::errc::no_such_file_or_directory ||
         fs::symlink_status(folder, ignored).type() == fs::file_type::not_found;
}

// A folder that is not there is no layer. One that cannot be listed is said, for its facts are missing from the answer;
// a file in it that cannot be read is an error, said when it is read.
void add_folder(std::vector<CatalogFile>& files, const fs::path& folder, Layer layer,
                std::vector<std::string>& notices) {
  std::error_code error;
  std::vector<std::string> paths;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (is_facts_file(at->path())) paths.push_back(at->path().string());
  }
  if (error && !is_absent(folder, error)) {
    notices.push_back("warning: the facts in '" + folder.string() +
                      "' are left out: it cannot be listed: " + error.message());
  }
  std::sort(paths.begin(), paths.end());
  for (auto& path : paths) files.push_back({std::move(path), layer, {}});
}

// Names that the built-in facts know narrow the query; with others the whole is read, and they are looked up later.
void narrow_to_names(const Options& options, StoreQuery& query) {
  if (options.gpus.empty() && options.providers.empty()) return;
  const Catalog facts = load_catalog({});
  bool all_known = true;
  for (const std::string& text : options.gpus) {
    auto members = facts.select_accelerators(text);
    const bool is_list = members.empty();
    for (const std::string& name : is_list ? split(text, ',') : std::vector<std::string>{text}) {
      members = facts.select_accelerators(name);
      all_known = all_known && !members.empty();
      for (const Accelerator* gpu : members) query.gpus.emplace_back(gpu->name);
    }
  }
  if (!all_known) query.gpus.clear();
  for (const std::string& name : options.providers) {
    const Provider* provider = facts.find_provider(name);
    query.providers.push_back(provider ? std::string(provider->name) : to_lower(name));
  }
}

// --rate as a layer of facts. The day is that of the rate, else today.
std::string facts_of_rates(const Options& options, const Environment& environment) {
  std::string facts = "rates:\n";
  for (const GivenRate& rate : options.rates) {
    facts += "  - {currency: " + rate.currency + ", per_usd: " + format_shortest(rate.per_usd) +
             ", observed_on: " + to_string(rate.day.value_or(environment.today)) + ", source: \"--rate\"}\n";
  }
  return facts;
}

std::string yaml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// Machines that are bought as the last layer of facts, so that they stand beside whatever the others hold.
std::string facts_of_owned(const std::vector<AddedOffer>& offers) {
  std::string facts = "providers:\n  - name: " + offers.front().provider + "\n    title: Owned\n    offers:\n";
  for (const AddedOffer& offer : offers) {
    facts += "      - {id: " + yaml_text(offer.id) + ", gpu: " + yaml_text(offer.gpu) +
             ", count: " + std::to_string(*offer.count) +
             ", scope: instance, contract: owned, price: " + format_shortest(*offer.price) +
             ", currency: " + offer.currency + ", unit: hour, vat: excluded, country: " + yaml_text(offer.country) +
             ", product: " + yaml_text(offer.product) + ", confidence: " + std::string(to_string(offer.confidence)) +
             ", source: " + yaml_text(offer.source);
    if (!offer.observed_on.empty()) facts += ", observed_on: " + offer.observed_on;
    if (offer.network) facts += ", network_gbit_per_s: " + format_shortest(*offer.network / gigabits_per_second(1));
    facts += "}\n";
  }
  return facts;
}

// The accelerators of a class, of those that are asked for.
std::vector<std::string> names_of_class(const Catalog& facts, BoardClass board, const std::vector<std::string>& asked) {
  std::vector<std::string> names;
  for (const Accelerator& gpu : facts.accelerators()) {
    const bool is_asked = asked.empty() || std::find(asked.begin(), asked.end(), gpu.name) != asked.end();
    if (is_asked && board_class(gpu) == board) names.emplace_back(gpu.name);
  }
  return names;
}

// The first rows of a list of offers, in its order: by price, or class by class.
std::vector<AddedOffer> cheapest_offers(PriceStore& store, StoreQuery query, const Options& options) {
  query.rankable_only = true;
  query.limit = *options.top;
  if (options.sort == SortBy::price) return offers_for_catalog(store, query);
  const Catalog facts = load_catalog({});
  const std::vector<std::string> asked = query.gpus;
  for (const Provider& provider : facts.providers()) {
    if (provider.marketplace) query.marketplaces.emplace_back(provider.name);
  }
  std::vector<AddedOffer> offers;
  for (const BoardClass board : kBoardClasses) {
    query.gpus = names_of_class(facts, board, asked);
    if (query.gpus.empty()) continue;
    for (const bool marketplace : {false, true}) {
      query.marketplace = marketplace;
      query.limit = *options.top - static_cast<std::int64_t>(offers.size());
      for (AddedOffer& offer : offers_for_catalog(store, query)) offers.push_back(std::move(offer));
      if (static_cast<std::int64_t>(offers.size()) >= *options.top) return offers;
    }
  }
  return offers;
}

// Imported prices that the command may use: what it is narrowed to narrows them, and of offers alike but for the region or
// machine the cheapest stands for all, unless a region is asked for.
std::vector<AddedOffer> imported_offers(const Options& options, const Environment& environment, bool all,
                                        std::vector<std::string>& notices) {
  const std::string path = store_path(options, environment);
  std::error_code error;
  if (options.no_store || path.empty() || (options.store.empty() && !fs::exists(path, error))) return {};
  StoreQuery query;
  query.contracts = options.contracts;
  query.region = options.region;
  query.country = options.country;
  query.rankable_only = !all;
  query.cheapest_of_alike = !all;
  narrow_to_names(options, query);
  try {
    PriceStore store(path, PriceStore::Use::read);
    const bool by_list_price =
        !options.vat.adds && !options.max_age && options.software.empty() && options.words.empty();
    if (all && options.top.value_or(0) > 0 && by_list_price) {
      auto offers = cheapest_offers(store, query, options);
      if (offers.size() >= static_cast<std::size_t>(*options.top)) return offers;
    }
    return offers_for_catalog(store, query);
  } catch (const InputError& problem) {
    if (!options.store.empty()) throw;
    // The built-in facts answer without it.
    notices.push_back("warning: imported prices are left out: " + path + ": " + problem.problems().front().message);
    return {};
  }
}

}  // namespace

std::string store_path(const Options& options, const Environment& environment) {
  if (!options.store.empty()) return options.store;
  const fs::path data_home = environment.variable ? environment.variable("XDG_DATA_HOME") : std::string();
  if (data_home.is_absolute()) return (data_home / "gpuplan" / "prices.db").string();
  if (environment.home.empty()) return {};
  return (fs::path(environment.home) / ".local" / "share" / "gpuplan" / "prices.db").string();
}

Catalog load_layers(const Options& options, const Environment& environment, std::vector<std::string>& notices,
                    Imported imported) {
  std::vector<CatalogFile> files;
  add_folder(files, kSystemFolder, Layer::system, notices);
  const fs::path config_home = environment.config_home;
  if (config_home.is_absolute()) {  // the XDG specification: a relative one is to be ignored
    add_folder(files, config_home / "gpuplan", Layer::user, notices);
  } else if (!environment.home.empty()) {
    add_folder(files, fs::path(environment.home) / ".config" / "gpuplan", Layer::user, notices);
  }
  add_folder(files, kProjectFolder, Layer::project, notices);
  for (const std::string& path : options.catalogs) files.push_back({path, Layer::flag, {}});
  if (!options.rates.empty()) files.push_back({"--rate", Layer::flag, facts_of_rates(options, environment)});
  std::vector<AddedOffer> added;
  if (imported != Imported::none) added = imported_offers(options, environment, imported == Imported::all, notices);
  if (!options.owned.country.empty() && imported != Imported::none) {
    const Catalog facts = load_catalog(files);  // machines that are bought may be the user's own
    const auto offers = owned_offers(facts, owned_terms(facts, options));
    if (!offers.empty()) files.push_back({"--owned", Layer::flag, facts_of_owned(offers)});
  }
  return load_catalog(files, added);
}

std::vector<ListedTokenPrice> imported_token_prices(const Options& options, const Environment& environment) {
  std::vector<ListedTokenPrice> prices;
  const std::string path = store_path(options, environment);
  std::error_code error;
  if (options.no_store || path.empty() || (options.store.empty() && !fs::exists(path, error))) return prices;
  StoreQuery query;
  query.contracts = {Contract::token_api};
  try {
    PriceStore store(path, PriceStore::Use::read);
    for (const StoredOffer& stored : store.offers(query)) {
      const ImportedOffer& o = stored.offer;
      const std::string day = o.observed_on.empty() ? stored.imported_at.substr(0, 10) : o.observed_on;
      prices.push_back({o.provider, o.model, o.input_per_1m, o.output_per_1m, o.currency, o.vat, day,
                        o.source.empty() ? stored.source : o.source});
    }
  } catch (const InputError&) {
    if (!options.store.empty()) throw;  // else the built-in facts answer without it, as load_layers has told
  }
  return prices;
}

}  // namespace gpuplan::cli
