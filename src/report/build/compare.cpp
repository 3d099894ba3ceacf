#include <gpuplan/report/build.hpp>

#include <gpuplan/base/text.hpp>
#include <gpuplan/catalog/offer_class.hpp>
#include <gpuplan/catalog/software.hpp>
#include <gpuplan/cost/job_cost.hpp>
#include <gpuplan/planner/price_band.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

namespace gpuplan {
namespace {

struct Context {
  const Catalog& catalog;
  const EstimateRequest& request;
  const std::vector<ComparedOffer>& offers;
  CompareDocument& document;
  std::vector<std::string>& unknown_of_all;
};

using Value = std::function<Cell(const ComparedOffer&)>;

Cell text(std::string_view value) { return value.empty() ? Cell{} : Cell{std::string(value), Unit::none}; }
Cell number(double value, Unit unit = Unit::none) { return {value, unit}; }
template <class T>
Cell fact(const Fact<T>& value, Unit unit = Unit::none) {
  if (!value.known()) return {};
  if constexpr (std::is_arithmetic_v<T>) {
    return {static_cast<double>(value.value), unit};
  } else {
    return {value.value.base(), unit};
  }
}
Cell truth(const Fact<bool>& value) { return value.known() ? Cell{value.value, Unit::none} : Cell{}; }

void add(const Context& c, std::string id, Better better, const Value& value) {
  CompareDocument::Row row{std::move(id), better, {}};
  bool any = false;
  for (const ComparedOffer& one : c.offers) {
    row.values.push_back({one.offer ? value(one) : Cell{}, false, std::nullopt});
    any = any || !std::holds_alternative<std::monostate>(row.values.back().cell.value);
  }
  if (!any) {
    c.unknown_of_all.push_back(row.id);
    return;
  }
  std::optional<double> best;
  std::optional<double> worst;
  for (const auto& entry : row.values) {
    const double* amount = std::get_if<double>(&entry.cell.value);
    if (better == Better::neither || !amount) continue;
    const bool is_low = better == Better::low;
    if (!best || (is_low ? *amount < *best : *amount > *best)) best = *amount;
    if (!worst || (is_low ? *amount > *worst : *amount < *worst)) worst = *amount;
  }
  const bool differ = best && worst && std::abs(*worst - *best) > 0;
  for (auto& entry : row.values) {
    const double* amount = std::get_if<double>(&entry.cell.value);
    if (!best || !amount) continue;
    entry.best = differ && (better == Better::low ? *amount <= *best : *amount >= *best);
    if (std::abs(*best) > 0) entry.difference_percent = (*amount / *best - 1) * 100;
  }
  c.document.rows.push_back(std::move(row));
}

double devices(const ComparedOffer& one) { return static_cast<double>(one.devices); }
double month(const ComparedOffer& one) { return one.hourly.total() * hours_per_month(*one.provider); }
const ProviderTerms* terms(const ComparedOffer& one) {
  return one.provider->terms.empty() ? nullptr : &one.provider->terms.front();
}
const Fact<FlopPerSecond>& half_precision(const Accelerator& gpu) { return gpu.bf16.known() ? gpu.bf16 : gpu.fp16; }

template <class Get>
Value from_terms(Get get) {
  return [get](const ComparedOffer& one) { return terms(one) ? get(*terms(one)) : Cell{}; };
}

void add_prices(const Context& c) {
  add(c, "price.per_gpu_hour", Better::low,
      [](const ComparedOffer& o) { return number(o.hourly.total() / devices(o), Unit::money); });
  add(c, "price.per_hour", Better::low, [](const ComparedOffer& o) { return number(o.hourly.total(), Unit::money); });
  add(c, "price.per_month", Better::low, [](const ComparedOffer& o) { return number(month(o), Unit::money); });
  add(c, "price.per_tflops_month", Better::low, [](const ComparedOffer& o) {
    const auto& peak = half_precision(*o.accelerator);
    return peak.known() ? number(month(o) / devices(o) / (*peak / teraflop_per_second(1)), Unit::money) : Cell{};
  });
  add(c, "price.per_gb_per_s_month", Better::low, [](const ComparedOffer& o) {
    const auto& rate = o.accelerator->memory_bandwidth;
    return rate.known() ? number(month(o) / devices(o) / (*rate / gigabytes_per_second(1)), Unit::money) : Cell{};
  });
  add(c, "price.per_gib_month", Better::low, [&](const ComparedOffer& o) {
    const auto memory = c.catalog.visible_memory(*o.accelerator);
    return memory.known() ? number(month(o) / devices(o) / (*memory / gibibytes(1)), Unit::money) : Cell{};
  });
}

void add_hardware(const Context& c) {
  add(c, "hardware.memory", Better::high, [&](const ComparedOffer& o) {
    const auto memory = c.catalog.visible_memory(*o.accelerator);
    return memory.known() ? number(memory.value.base() * devices(o), Unit::bytes) : Cell{};
  });
  add(c, "hardware.memory_bandwidth", Better::high,
      [](const ComparedOffer& o) { return fact(o.accelerator->memory_bandwidth, Unit::bytes_per_second); });
  add(c, "hardware.bf16", Better::high,
      [](const ComparedOffer& o) { return fact(half_precision(*o.accelerator), Unit::flop_per_second); });
  add(c, "hardware.interconnect", Better::neither, [](const ComparedOffer& o) {
    if (!o.offer->interconnect.empty()) return text(o.offer->interconnect);
    return o.accelerator->scale_up_link.empty() ? text(o.accelerator->host_link) : text(o.accelerator->scale_up_link);
  });
  add(c, "hardware.network", Better::high, [&](const ComparedOffer& o) {
    if (o.offer->network.known()) return fact(o.offer->network, Unit::bytes_per_second);
    const NodeDesign* node = o.offer->node.empty() ? nullptr : c.catalog.find_node(o.offer->node);
    return node ? fact(node->node_rate, Unit::bytes_per_second) : Cell{};
  });
  add(c, "hardware.vcpus", Better::high, [](const ComparedOffer& o) { return fact(o.offer->vcpus); });
  add(c, "hardware.ram", Better::high, [](const ComparedOffer& o) { return fact(o.offer->ram, Unit::bytes); });
  add(c, "hardware.disk", Better::high, [](const ComparedOffer& o) { return fact(o.offer->storage, Unit::bytes); });
}

void add_contract(const Context& c) {
  add(c, "contract.billed_in", Better::neither, [](const ComparedOffer& o) {
    const BilledTime billed = billed_time(*o.provider, *o.offer, seconds(1));
    return billed.quantum_is_assumed ? Cell{} : number(billed.quantum.base(), Unit::seconds);
  });
  add(c, "contract.shortest_term", Better::low,
      [](const ComparedOffer& o) { return fact(o.offer->minimum_term, Unit::seconds); });
  add(c, "contract.fewest_gpus", Better::low, [](const ComparedOffer& o) { return fact(o.offer->minimum_count); });
  add(c, "contract.setup_fee", Better::low, [&](const ComparedOffer& o) {
    if (!o.offer->setup_fee.known()) return Cell{};
    return number(convert(c.catalog, {*o.offer->setup_fee, o.offer->currency}, c.request.currency).amount, Unit::money);
  });
  add(c, "contract.vat_in_list_price", Better::neither,
      [](const ComparedOffer& o) { return o.offer->vat == Vat::unknown ? Cell{} : text(to_string(o.offer->vat)); });
  add(c, "contract.vat_percent", Better::neither, [](const ComparedOffer& o) { return fact(o.provider->vat_percent); });
  add(c, "contract.when_off", Better::neither, from_terms([](const ProviderTerms& t) {
        return t.off_state == OffState::unknown ? Cell{} : text(to_string(t.off_state));
      }));
  add(c, "contract.sla_percent", Better::high, from_terms([](const ProviderTerms& t) { return fact(t.sla_percent); }));
  add(c, "contract.data_residency", Better::neither,
      from_terms([](const ProviderTerms& t) { return text(t.data_residency); }));
  add(c, "spot.interruptions_per_month", Better::low, [](const ComparedOffer& o) {
    if (o.offer->contract != Contract::spot) return Cell{};
    if (o.offer->interruptions_per_month.known()) return fact(o.offer->interruptions_per_month);
    return terms(o) ? fact(terms(o)->interruptions_per_month) : Cell{};
  });
}

void add_software(const Context& c) {
  add(c, "software.own_image", Better::neither, from_terms([](const ProviderTerms& t) { return truth(t.own_image); }));
  add(c, "software.stack", Better::neither, from_terms([](const ProviderTerms& t) { return text(t.stack); }));
  add(c, "software.compute_capability", Better::neither,
      [](const ComparedOffer& o) { return text(o.accelerator->compute_capability); });
  add(c, "software.needs_cuda", Better::neither,
      [](const ComparedOffer& o) { return text(o.accelerator->min_cuda_version); });
  add(c, "software.cuda", Better::neither, [](const ComparedOffer& o) { return text(o.offer->cuda_version); });
  add(c, "software.driver", Better::neither, [](const ComparedOffer& o) { return text(o.offer->driver_version); });
  if (!c.request.software) return;
  add(c, "software.fit", Better::neither, [&](const ComparedOffer& o) {
    const FrameworkFit fit = framework_fit(c.catalog, *c.request.software, *o.accelerator, *o.provider, *o.offer);
    if (fit.answer == FrameworkFit::Answer::unknown) return Cell{};
    return text(fit.answer == FrameworkFit::Answer::yes ? "with CUDA " + fit.cuda : "no: " + fit.why);
  });
}

// The cheapest of a unit; archive tiers, which have no kind, do not count.
Cell cheapest_storage(const Context& c, const ComparedOffer& o, std::string_view unit) {
  Cell best;
  for (const StoragePrice& price : o.provider->storage) {
    const bool in_use = unit != "gb_month" || price.kind != StorageKind::unknown;
    if (price.unit != unit || !in_use || !price.price.known() || price.currency.empty()) continue;
    const double vat = price.vat == Vat::included ? o.provider->vat_percent.or_else(0) / 100 : 0;
    const double net = convert(c.catalog, {*price.price / (1 + vat), price.currency}, c.request.currency).amount *
                       (1 + added_vat_share(c.request.vat, *o.provider));
    const double* known = std::get_if<double>(&best.value);
    if (!known || net < *known) best = number(net, Unit::money);
  }
  return best;
}

void add_storage(const Context& c) {
  add(c, "storage.block", Better::neither, from_terms([](const ProviderTerms& t) { return truth(t.block_storage); }));
  add(c, "storage.file", Better::neither, from_terms([](const ProviderTerms& t) { return truth(t.file_storage); }));
  add(c, "storage.object", Better::neither, from_terms([](const ProviderTerms& t) { return truth(t.object_storage); }));
  add(c, "storage.checkpoints", Better::neither,
      from_terms([](const ProviderTerms& t) { return text(t.checkpoint_storage); }));
  add(c, "storage.per_gb_month", Better::low,
      [&](const ComparedOffer& o) { return cheapest_storage(c, o, "gb_month"); });
  add(c, "storage.egress_per_gb", Better::low,
      [&](const ComparedOffer& o) { return cheapest_storage(c, o, "gb_egress"); });
}

void add_plan(const Context& c) {
  if (c.request.job.model.value.empty()) return;
  const auto planned = [](auto get) {
    return [get](const ComparedOffer& o) { return o.option ? get(*o.option) : Cell{}; };
  };
  add(c, "plan.verdict", Better::neither, [](const ComparedOffer& o) {
    if (o.option) return text(to_string(o.option->memory.verdict));
    return o.rejection ? text(o.rejection->rule + ": " + o.rejection->needed + ", available " + o.rejection->available)
                       : Cell{};
  });
  add(c, "plan.layout", Better::neither, planned([](const Option& o) {
        std::string layout = "TP" + std::to_string(o.layout.tp);
        if (o.layout.pp > 1) layout += " PP" + std::to_string(o.layout.pp);
        if (o.layout.dp > 1) layout += " x " + std::to_string(o.layout.dp);
        return text(layout);
      }));
  add(c, "plan.headroom", Better::high, planned([](const Option& o) {
        return number((o.memory.capacity - o.memory.terms.total()).base(), Unit::bytes);
      }));
  add(c, "plan.users", Better::high,
      planned([](const Option& o) { return number(static_cast<double>(o.max_concurrency * o.layout.dp)); }));
  add(c, "plan.ttft", Better::low,
      planned([](const Option& o) { return number(o.at.ttft.value.base(), Unit::seconds); }));
  add(c, "plan.tpot", Better::low,
      planned([](const Option& o) { return number(o.at.tpot.value.base(), Unit::seconds); }));
  add(c, "plan.output_tokens_per_s", Better::high,
      planned([](const Option& o) { return number(o.output_tokens_per_s(), Unit::tokens_per_second); }));
  add(c, "plan.per_1m_output_tokens", Better::low,
      planned([](const Option& o) { return number(o.per_1m_output_tokens, Unit::money); }));
}

void add_provenance(const Context& c) {
  add(c, "price.age_days", Better::low, [&](const ComparedOffer& o) {
    const auto age = price_age_days(c.catalog, *o.offer, c.request.as_of);
    return age ? number(static_cast<double>(*age)) : Cell{};
  });
  add(c, "price.confidence", Better::neither, [](const ComparedOffer& o) {
    return o.offer->confidence == Confidence::unknown ? Cell{} : text(to_string(o.offer->confidence));
  });
  add(c, "price.source", Better::neither,
      [&](const ComparedOffer& o) { return text(c.catalog.source(o.offer->price.source).text); });
}

void add_notes(const Context& c) {
  std::vector<std::string> classes;
  std::vector<std::string> contracts;
  const auto note_once = [](std::vector<std::string>& list, std::string word) {
    if (std::find(list.begin(), list.end(), word) == list.end()) list.push_back(std::move(word));
  };
  for (const ComparedOffer& one : c.offers) {
    if (!one.offer) {
      c.document.notes.push_back(one.name + ": " + one.why_not);
      continue;
    }
    note_once(classes, to_string(offer_class(*one.accelerator, *one.provider, *one.offer)));
    note_once(contracts, std::string(to_string(one.offer->contract)));
    if (c.request.vat.adds && !c.request.vat.percent && !one.provider->vat_percent.known())
      c.document.notes.push_back(one.name + ": the rate of VAT is not known, its price is without");
    if (const auto finding = far_below_class(c.catalog, *one.provider, *one.offer))
      c.document.notes.push_back(one.name + ": the price is doubtful: " + *finding);
    if (!one.offer->rankable)
      c.document.notes.push_back(one.name + ": the offer does not compete: " + std::string(one.offer->why_not));
  }
  if (classes.size() > 1) c.document.notes.push_back("of different classes: " + join(classes, "; "));
  if (contracts.size() > 1) c.document.notes.push_back("of different contracts: " + join(contracts, ", "));
}

}  // namespace

CompareDocument report_compare(const Catalog& catalog, const EstimateRequest& request,
                               const std::vector<ComparedOffer>& offers) {
  CompareDocument document;
  document.currency = request.currency;
  document.vat = request.vat.adds ? "included" : "excluded";
  for (const ComparedOffer& one : offers) {
    CompareDocument::Column column;
    column.name = one.name;
    if (one.provider) column.provider = one.provider->name;
    if (one.accelerator) column.accelerator = one.accelerator->name;
    if (one.offer) {
      column.offer = one.offer->id;
      column.contract = to_string(one.offer->contract);
      column.count = one.devices;
      column.kind = to_string(offer_class(*one.accelerator, *one.provider, *one.offer));
    }
    column.why_not = one.why_not;
    document.columns.push_back(std::move(column));
  }
  std::vector<std::string> unknown_of_all;
  const Context c{catalog, request, offers, document, unknown_of_all};
  add_plan(c);
  add_prices(c);
  add_hardware(c);
  add_contract(c);
  add_software(c);
  add_storage(c);
  add_provenance(c);
  add_notes(c);
  std::erase_if(unknown_of_all,
                [](const std::string& id) { return id.starts_with("spot.") || id.starts_with("plan."); });
  if (!unknown_of_all.empty()) document.notes.push_back("unknown of all: " + join(unknown_of_all, ", "));
  return document;
}

}  // namespace gpuplan
