#include <gpuplan/report/build.hpp>

#include <gpuplan/base/text.hpp>
#include <gpuplan/catalog/offer_class.hpp>
#include <gpuplan/catalog/software.hpp>
#include <gpuplan/cost/offer_cost.hpp>
#include <gpuplan/model/kv_cache.hpp>
#include <gpuplan/model/tensors.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace gpuplan {
namespace {

Cell cell(Text text) { return text.empty() ? Cell{} : Cell{std::string(text), Unit::none}; }
Cell cell(double number, Unit unit = Unit::none) { return {number, unit}; }
template <class T>
Cell cell(const Fact<T>& fact, Unit unit) {
  if (!fact.known()) return {};
  if constexpr (std::is_arithmetic_v<T>) {
    return {static_cast<double>(fact.value), unit};
  } else {
    return {fact.value.base(), unit};
  }
}

template <class V>
bool among(const std::vector<V>& list, const V& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

bool mentions(std::string_view needle, std::initializer_list<Text> texts, Texts aliases) {
  if (needle.empty()) return true;
  const std::string key = lookup_key(needle);
  const auto holds = [&](Text text) { return lookup_key(text).find(key) != std::string::npos; };
  return std::any_of(texts.begin(), texts.end(), holds) || std::any_of(aliases.begin(), aliases.end(), holds);
}

Cell age_cell(const Catalog& catalog, const ListFilter& filter, const Offer& offer) {
  const auto age = filter.rules.as_of.year > 0 ? price_age_days(catalog, offer, filter.rules.as_of) : std::nullopt;
  return age ? cell(static_cast<double>(*age)) : Cell{};
}

// The CUDA whose package of the asked release runs there.
Cell cuda_cell(const Catalog& catalog, const ListFilter& filter, const Provider& provider, const Offer& offer,
               const Accelerator& gpu) {
  if (!filter.rules.software) return {};
  const FrameworkFit fit = framework_fit(catalog, *filter.rules.software, gpu, provider, offer);
  return fit.cuda.empty() ? Cell{} : cell(Text(fit.cuda));
}

bool in_place(const ListFilter& filter, const Offer& offer) {
  if (!filter.country.empty() && to_lower(offer.country) != to_lower(filter.country)) return false;
  return filter.region.empty() || to_lower(offer.region).find(to_lower(filter.region)) != std::string::npos;
}

}  // namespace

ListDocument list_gpus(const Catalog& catalog, const ListFilter& filter) {
  ListDocument list{
      "gpus",
      {"name", "vendor", "year", "memory", "memory_bandwidth", "bf16", "fp8", "int8", "tdp", "scale_up_link"},
      {},
      {}};
  for (const Accelerator& gpu : catalog.accelerators()) {
    if (!among(filter.accelerators, &gpu) ||
        !mentions(filter.text, {gpu.name, gpu.vendor, gpu.family, gpu.architecture}, gpu.aliases))
      continue;
    list.rows.push_back(
        {cell(gpu.name), cell(gpu.vendor), cell(gpu.release_year, Unit::none),
         cell(catalog.visible_memory(gpu), Unit::bytes), cell(gpu.memory_bandwidth, Unit::bytes_per_second),
         cell(gpu.bf16.known() ? gpu.bf16 : gpu.fp16, Unit::flop_per_second), cell(gpu.fp8, Unit::flop_per_second),
         cell(gpu.int8, Unit::flop_per_second), cell(gpu.tdp, Unit::watts), cell(gpu.scale_up_link)});
  }
  list.note =
      "memory is what a program can use; bf16 is the dense peak, fp16 where there is no bf16; 'gpuplan gpus show NAME' "
      "has every fact with its source";
  return list;
}

ListDocument list_models(const Catalog& catalog, const ListFilter& filter) {
  ListDocument list{"models",
                    {"name", "family", "parameters", "active_parameters", "layers", "kv_bytes_per_token", "max_context",
                     "native_format"},
                    {},
                    {}};
  for (const ModelPreset& preset : catalog.models()) {
    if (!mentions(filter.text, {preset.name, preset.family, preset.architecture}, preset.aliases)) continue;
    const Network network = read_model_preset(preset).network;
    const Architecture* decoder = network.decoder ? &*network.decoder : nullptr;
    const auto whole = [](std::int64_t number) { return cell(static_cast<double>(number)); };
    list.rows.push_back(
        {cell(preset.name), cell(preset.family), whole(parameters(network)), whole(active_parameters(network)),
         decoder ? whole(decoder->layers) : Cell{},
         decoder ? cell(kv_bytes_per_token(*decoder, bytes(2)).base(), Unit::bytes) : Cell{},
         decoder && decoder->max_position > 0 ? whole(decoder->max_position) : Cell{},
         cell(decoder && !decoder->native_format.empty() ? Text(decoder->native_format) : Text("bf16"))});
  }
  list.note = "kv_bytes_per_token in bf16, before any window is full";
  return list;
}

ListDocument list_providers(const Catalog& catalog, const ListFilter& filter, const Date& as_of) {
  ListDocument list{
      "providers",
      {"name", "title", "country", "offers", "rankable", "token_models", "newest_price", "age_days", "price"},
      {},
      {}};
  for (const Provider& provider : catalog.providers()) {
    if (!among(filter.providers, &provider) ||
        !mentions(filter.text, {provider.name, provider.title}, provider.aliases))
      continue;
    if (!filter.country.empty() && to_lower(provider.country) != to_lower(filter.country)) continue;
    double rankable = 0;
    Text newest;
    for (const Offer& offer : provider.offers) {
      rankable += offer.rankable ? 1 : 0;
      newest = std::max(newest, catalog.source(offer.price.source).observed_on);
    }
    const auto day = parse_date(newest);
    const bool priced = !provider.offers.empty() || !provider.token_apis.empty() || !provider.cpu_servers.empty();
    list.rows.push_back({cell(provider.name), cell(provider.title), cell(provider.country),
                         cell(static_cast<double>(provider.offers.size())), cell(rankable),
                         cell(static_cast<double>(provider.token_apis.size())), cell(newest),
                         day.value ? cell(static_cast<double>(days_between(*day.value, as_of))) : Cell{},
                         cell(priced && !provider.price_on_request ? Text("listed") : Text("price on request"))});
  }
  return list;
}

ListDocument list_offers(const Catalog& catalog, const ListFilter& filter, std::string_view currency, VatHandling vat) {
  ListDocument list{"offers",
                    {"id", "provider", "accelerator", "class", "count", "contract", "per_gpu_hour", "currency",
                     "per_month", "interconnect", "region", "country", "vat", "observed_on", "age_days", "confidence",
                     "cuda", "rankable", "why_not"},
                    {},
                    {}};
  struct Row {
    bool rankable;
    OfferClass kind;
    double price;
    Text id;
    std::vector<Cell> cells;
  };
  std::vector<Row> rows;
  std::map<std::string, int> left_out;  // by rule and what stands against it
  for (const Provider& provider : catalog.providers()) {
    if (!among(filter.providers, &provider)) continue;
    for (const Offer& offer : provider.offers) {
      const Accelerator* gpu = catalog.find_accelerator(offer.gpu);
      if (!filter.accelerators.empty() && (!gpu || !among(filter.accelerators, gpu))) continue;
      if (!among(filter.contracts, offer.contract) || !in_place(filter, offer)) continue;
      if (!mentions(filter.text, {offer.id, offer.gpu, provider.name, provider.title}, provider.aliases)) continue;
      if (gpu) {
        if (const auto refused = refused_by_rules(catalog, filter.rules, provider, offer, *gpu)) {
          ++left_out[refused->rule == "software" ? refused->available : refused->rule];
          continue;
        }
      }
      const auto hourly = hourly_cost(catalog, {&provider, &offer, 1, currency, vat}, nullptr);
      const OfferClass kind = gpu ? offer_class(*gpu, provider, offer) : OfferClass{};
      const double per_gpu = hourly ? hourly->total() / static_cast<double>(*offer.count) : 0;
      rows.push_back(
          {offer.rankable,
           kind,
           hourly ? per_gpu : 1e300,
           offer.id,
           {cell(offer.id), cell(provider.title), cell(gpu ? gpu->name : offer.gpu),
            gpu ? cell(Text(to_string(kind))) : Cell{}, cell(offer.count, Unit::none), cell(to_string(offer.contract)),
            hourly ? cell(per_gpu, Unit::money) : Cell{}, cell(Text(currency)),
            hourly ? cell(hourly->total() * hours_per_month(provider), Unit::money) : Cell{}, cell(offer.interconnect),
            cell(offer.region), cell(offer.country), cell(to_string(offer.vat)),
            cell(catalog.source(offer.price.source).observed_on), age_cell(catalog, filter, offer),
            cell(to_string(offer.confidence)), gpu ? cuda_cell(catalog, filter, provider, offer, *gpu) : Cell{},
            Cell{offer.rankable, Unit::none}, cell(offer.why_not)}});
    }
  }
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    const auto key = [&](const Row& r) {
      const bool by_class = !filter.by_price_alone && r.rankable;
      return std::tuple(!r.rankable, by_class ? r.kind.board : BoardClass{}, by_class && r.kind.marketplace, r.price,
                        r.id);
    };
    return key(a) < key(b);
  });
  for (Row& row : rows) list.rows.push_back(std::move(row.cells));
  // The column says of the list price what these prices, which are made equal, no longer show.
  const std::string of_lists = " (column vat: of the list price), host parts included";
  list.note = (vat.adds ? "prices with VAT" : "prices without VAT") + of_lists;
  if (vat.percent) list.note = "prices with " + format_shortest(*vat.percent) + " % VAT" + of_lists;
  list.note += filter.by_price_alone ? "; of all classes" : "; compared within a class";
  for (const auto& [rule, count] : left_out) list.note += "; " + std::to_string(count) + " left out: " + rule;
  return list;
}

}  // namespace gpuplan
