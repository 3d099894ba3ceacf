#pragma once
// The fields of the records of records_market.hpp; see fields.hpp.

#include "field_units.hpp"

namespace gpuplan {

template <class V, RecordOf<Offer> R>
void visit_fields(V& v, R& r) {
  v.name("id", r.id);
  v.text("provider", r.provider);
  v.text("gpu", r.gpu);
  v.template fact<AsCount>("count", r.count);
  v.text("count_source", r.count_source);
  v.template fact<AsCount>("devices_per_machine", r.devices_per_machine);
  v.choice("scope", r.scope);
  v.flag("includes_host", r.includes_host);
  v.flag("marketplace", r.marketplace);
  v.choice("contract", r.contract);
  v.text("term", r.term);
  v.template fact<AsNumber>("term_months", r.term_months);
  v.template fact<AsNumber>("price", r.price);
  v.text("currency", r.currency);
  v.choice("unit", r.unit);
  v.choice("vat", r.vat);
  v.text("region", r.region);
  v.text("country", r.country);
  v.text("interconnect", r.interconnect);
  v.template fact<AsGbitPerS>("network_gbit_per_s", r.network);
  v.template fact<AsNumber>("vcpus", r.vcpus);
  v.template fact<AsGb>("ram_gb", r.ram);
  v.template fact<AsGb>("storage_gb", r.storage);
  v.text("product", r.product);
  v.text("node", r.node);
  v.template fact<AsNumber>("setup_fee", r.setup_fee);
  v.template fact<AsNumber>("upfront", r.upfront);
  v.template fact<AsDays>("minimum_term_days", r.minimum_term);
  v.template fact<AsCount>("minimum_count", r.minimum_count);
  v.template fact<AsSeconds>("billing_granularity_s", r.billing_granularity);
  v.template fact<AsNumber>("interruptions_per_month", r.interruptions_per_month);
  v.template fact<AsSeconds>("maximum_run_s", r.maximum_run);
  v.choice("availability", r.availability);
  v.text("cuda_version", r.cuda_version);
  v.text("driver_version", r.driver_version);
  v.choice("confidence", r.confidence);
  v.flag("rankable", r.rankable);
  v.text("why_not", r.why_not);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}

template <class V, RecordOf<HostParts> R>
void visit_fields(V& v, R& r) {
  v.text("currency", r.currency);
  v.choice("vat", r.vat);
  v.template fact<AsNumber>("vcpu_per_hour", r.vcpu_per_hour);
  v.template fact<AsNumber>("ram_gib_per_hour", r.ram_gib_per_hour);
  v.template fact<AsNumber>("disk_gb_month", r.disk_gb_month);
  v.template fact<AsNumber>("vcpu_per_hour_spot", r.vcpu_per_hour_spot);
  v.template fact<AsNumber>("ram_gib_per_hour_spot", r.ram_gib_per_hour_spot);
  v.template fact<AsNumber>("vcpus_per_gpu", r.vcpus_per_gpu);
  v.template fact<AsNumber>("ram_gib_per_gpu", r.ram_gib_per_gpu);
  v.template fact<AsNumber>("disk_gb_per_instance", r.disk_gb_per_instance);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}
template <class V, RecordOf<TokenPrice> R>
void visit_fields(V& v, R& r) {
  v.name("model", r.model);
  v.template fact<AsNumber>("input_per_1m", r.input_per_1m);
  v.template fact<AsNumber>("output_per_1m", r.output_per_1m);
  v.template fact<AsNumber>("cached_input_per_1m", r.cached_input_per_1m);
  v.template fact<AsNumber>("batch_input_per_1m", r.batch_input_per_1m);
  v.template fact<AsNumber>("batch_output_per_1m", r.batch_output_per_1m);
  v.template fact<AsNumber>("per_image", r.per_image);
  v.template fact<AsNumber>("per_audio_minute", r.per_audio_minute);
  v.text("currency", r.currency);
  v.choice("vat", r.vat);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}
template <class V, RecordOf<StoragePrice> R>
void visit_fields(V& v, R& r) {
  v.name("product", r.product);
  v.template fact<AsNumber>("price", r.price);
  v.text("currency", r.currency);
  v.text("unit", r.unit);
  v.choice("kind", r.kind);
  v.template fact<AsGb>("free_gb", r.free);
  v.choice("vat", r.vat);
  v.text("region", r.region);
  v.marks(r.marks);
  v.source(r.source);
}
template <class V, RecordOf<CpuServer> R>
void visit_fields(V& v, R& r) {
  v.name("product", r.product);
  v.template fact<AsNumber>("vcpus", r.vcpus);
  v.template fact<AsGb>("ram_gb", r.ram);
  v.text("cpu", r.cpu);
  v.template fact<AsGbPerS>("memory_bandwidth_gb_per_s", r.memory_bandwidth, Mark::measured);
  v.template fact<AsNumber>("price", r.price);
  v.text("currency", r.currency);
  v.choice("unit", r.unit);
  v.choice("vat", r.vat);
  v.text("region", r.region);
  v.text("country", r.country);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}

template <class V, RecordOf<ProviderTerms> R>
void visit_fields(V& v, R& r) {
  v.texts("regions", r.regions);
  v.template fact<AsNumber>("sla_percent", r.sla_percent);
  v.text("sla_note", r.sla_note);
  v.text("data_residency", r.data_residency);
  v.truth("own_image", r.own_image);
  v.text("own_image_note", r.own_image_note);
  v.text("stack", r.stack);
  v.texts("cuda_versions", r.cuda_versions);
  v.truth("block_storage", r.block_storage);
  v.truth("file_storage", r.file_storage);
  v.truth("object_storage", r.object_storage);
  v.text("checkpoint_storage", r.checkpoint_storage);
  v.choice("off_state", r.off_state);
  v.template fact<AsSeconds>("minimum_billed_s", r.minimum_billed);
  v.template fact<AsNumber>("surcharge_percent", r.surcharge_percent);
  v.text("runs_on", r.runs_on);
  v.template fact<AsNumber>("interruptions_per_month", r.interruptions_per_month);
  v.template fact<AsSeconds>("interruption_notice_s", r.interruption_notice);
  v.template fact<AsSeconds>("maximum_run_s", r.maximum_run);
  v.text("refresh", r.refresh);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}

template <class V, RecordOf<Provider> R>
void visit_fields(V& v, R& r) {
  v.name("name", r.name);
  v.text("title", r.title);
  v.texts("aliases", r.aliases);
  v.text("country", r.country);
  v.flag("marketplace", r.marketplace);
  v.flag("price_on_request", r.price_on_request);
  v.template fact<AsNumber>("hours_per_month", r.hours_per_month);
  v.template fact<AsSeconds>("billing_granularity_s", r.billing_granularity);
  v.template fact<AsNumber>("vat_percent", r.vat_percent);
  v.nested("terms", r.terms);
  v.nested("host_parts", r.host_parts);
  v.nested("offers", r.offers);
  v.nested("token_apis", r.token_apis);
  v.nested("storage", r.storage);
  v.nested("cpu_servers", r.cpu_servers);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}

template <class V, RecordOf<StorageClass> R>
void visit_fields(V& v, R& r) {
  v.name("name", r.name);
  v.text("title", r.title);
  v.texts("aliases", r.aliases);
  v.choice("kind", r.kind);
  v.choice("scope", r.scope);
  v.template fact<AsGbPerS>("read_gb_per_s", r.read);
  v.template fact<AsGbPerS>("write_gb_per_s", r.write);
  v.template fact<AsMicroseconds>("latency_us", r.latency);
  v.template fact<AsNumber>("iops", r.iops);
  v.template fact<AsCount>("clients", r.clients);
  v.text("system", r.system);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}

template <class V, RecordOf<FrameworkPackage> R>
void visit_fields(V& v, R& r) {
  v.name("cuda", r.cuda);
  v.flag("experimental", r.experimental);
  v.texts("compute_capabilities", r.compute_capabilities);
  v.flag("ptx", r.ptx);
  v.marks(r.marks);
  v.source(r.source);
}
template <class V, RecordOf<FrameworkRelease> R>
void visit_fields(V& v, R& r) {
  v.name("name", r.name);
  v.text("framework", r.framework);
  v.text("version", r.version);
  v.text("python", r.python);
  v.texts("rocm", r.rocm);
  v.nested("packages", r.packages);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}
template <class V, RecordOf<CudaRelease> R>
void visit_fields(V& v, R& r) {
  v.name("name", r.name);
  v.text("min_driver", r.min_driver);
  v.text("min_driver_compatible", r.min_driver_compatible);
  v.text("min_compute_capability", r.min_compute_capability);
  v.text("max_compute_capability", r.max_compute_capability);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}

template <class V, RecordOf<OwnedHardware> R>
void visit_fields(V& v, R& r) {
  v.name("name", r.name);
  v.text("title", r.title);
  v.texts("aliases", r.aliases);
  v.text("gpu", r.gpu);
  v.template fact<AsCount>("count", r.count);
  v.text("node", r.node);
  v.template fact<AsNumber>("capex", r.capex);
  v.text("currency", r.currency);
  v.template fact<AsNumber>("lifetime_years", r.lifetime_years);
  v.template fact<AsNumber>("residual_percent", r.residual_percent);
  v.template fact<AsWatts>("power_w", r.power);
  v.template fact<AsNumber>("upkeep_percent", r.upkeep_percent);
  v.template fact<AsNumber>("staff_per_year", r.staff_per_year);
  v.template fact<AsNumber>("rack_per_month", r.rack_per_month);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}
template <class V, RecordOf<EnergyMix> R>
void visit_fields(V& v, R& r) {
  v.name("name", r.name);
  v.text("title", r.title);
  v.template fact<AsNumber>("price_per_kwh", r.price_per_kwh);
  v.text("currency", r.currency);
  v.template fact<AsNumber>("grams_co2_per_kwh", r.grams_co2_per_kwh);
  v.template fact<AsNumber>("pue", r.pue);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}

template <class V, RecordOf<FormatQuality> R>
void visit_fields(V& v, R& r) {
  v.name("name", r.name);
  v.text("format", r.format);
  v.text("model", r.model);
  v.template fact<AsNumber>("parameters_b", r.parameters_b);
  v.text("measure", r.measure);
  v.template fact<AsNumber>("score", r.score);
  v.template fact<AsNumber>("original", r.original);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}

template <class V, RecordOf<FailureStudy> R>
void visit_fields(V& v, R& r) {
  v.name("name", r.name);
  v.text("title", r.title);
  v.text("gpu", r.gpu);
  v.template fact<AsCount>("devices", r.devices);
  v.template fact<AsDays>("span_days", r.span);
  v.template fact<AsCount>("interruptions", r.interruptions);
  v.template fact<AsCount>("unexpected", r.unexpected);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}

template <class V, RecordOf<CurrencyRate> R>
void visit_fields(V& v, R& r) {
  v.name("currency", r.currency);
  v.template fact<AsNumber>("per_usd", r.per_usd);
  v.marks(r.marks);
  v.source(r.source);
}

}  // namespace gpuplan
