#include <gpuplan/report/build.hpp>

#include <gpuplan/base/text.hpp>
#include <gpuplan/model/kv_cache.hpp>
#include <gpuplan/model/tensors.hpp>

namespace gpuplan {
namespace {

RecordDocument record_of(const Catalog& catalog, std::string what, Text name, const std::vector<ShownField>& fields) {
  RecordDocument record{std::move(what), std::string(name), {}};
  for (const ShownField& field : fields) {
    const Source& source = catalog.source(field.source);
    record.fields.push_back({std::string(field.name), field.value, std::string(to_string(field.mark)),
                             std::string(source.text), std::string(source.observed_on),
                             std::string(to_string(source.layer))});
  }
  return record;
}

void add_computed(RecordDocument& record, std::string name, std::string value, std::string formula) {
  record.fields.push_back({std::move(name), std::move(value), "computed", std::move(formula), {}, {}});
}

// What the tensor list of an architecture adds up to, and the list.
void add_counts(RecordDocument& record, const Architecture& architecture) {
  const auto tensors = tensors_of(architecture);
  add_computed(record, "parameters_counted", std::to_string(parameters(tensors)), "sum over the tensor list");
  add_computed(record, "active_parameters_counted", std::to_string(active_parameters(architecture)),
               "experts a token is routed to only");
  add_computed(record, "kv_bytes_per_token", format_shortest(kv_bytes_per_token(architecture, bytes(2)).base()),
               "bf16, before any window is full");
  for (const TensorGroup& tensor : tensors) {
    add_computed(
        record, "tensor " + tensor.name,
        std::to_string(tensor.count) + " x " + std::to_string(tensor.rows) + " x " + std::to_string(tensor.columns),
        std::string(to_string(tensor.role)));
  }
}

}  // namespace

RecordDocument show_gpu(const Catalog& catalog, const Accelerator& gpu) {
  RecordDocument record = record_of(catalog, "gpu", gpu.name, fields_of(gpu));
  if (const Fact<Bytes> visible = catalog.visible_memory(gpu); visible.known()) {
    add_computed(record, "usable_memory", format_binary_bytes(visible.value),
                 "what a program can use; see docs/PHYSICS.md, Visible memory");
  }
  return record;
}

RecordDocument show_model(const Catalog& catalog, const ModelPreset& preset) {
  RecordDocument record = record_of(catalog, "model", preset.name, fields_of(preset));
  add_counts(record, architecture_of(preset));
  return record;
}

RecordDocument show_model(const ModelConfig& config, std::string_view path) {
  RecordDocument record{
      "model", config.network.decoder && !config.network.decoder->name.empty() ? config.network.decoder->name : std::string(path), {}};
  const auto add = [&](std::string name, const std::string& value) {
    if (!value.empty()) record.fields.push_back({std::move(name), value, "published", std::string(path), {}, {}});
  };
  add("model_type", config.model_type);
  add("architecture", config.architecture_class);
  add("text_part", config.text_part);
  add("torch_dtype", config.torch_dtype);
  add("quantization", config.quantization);
  add("weights_scheme", config.weights_scheme);
  add("kv_format", config.kv_format);
  add("not_modelled", join(config.not_modelled, "; "));
  if (config.network.decoder) add_counts(record, *config.network.decoder);
  return record;
}

RecordDocument show_provider(const Catalog& catalog, const Provider& provider) {
  std::vector<ShownField> fields;
  for (ShownField& field : fields_of(provider)) {
    if (field.name != "host_parts" && field.name != "offers")
      fields.push_back(std::move(field));  // shown one by one below
  }
  RecordDocument record = record_of(catalog, "provider", provider.name, fields);
  for (const HostParts& parts : provider.host_parts) {
    for (auto& field : record_of(catalog, {}, {}, fields_of(parts)).fields) {
      field.name = "host_parts." + field.name;
      record.fields.push_back(std::move(field));
    }
  }
  for (const Offer& offer : provider.offers) {
    const Source& source = catalog.source(offer.price.source);
    std::string price = "price unknown";
    if (offer.price.known()) {
      price = format_shortest(*offer.price) + " " + std::string(offer.currency) + " per " +
              std::string(to_string(offer.unit)) + (offer.scope == PriceScope::gpu ? " and GPU" : " for the instance") +
              ", VAT " + std::string(to_string(offer.vat));
    }
    if (!offer.rankable) price += "; not ranked: " + std::string(offer.why_not);
    record.fields.push_back({"offer " + std::string(offer.id), std::move(price),
                             std::string(to_string(offer.confidence)), std::string(source.text),
                             std::string(source.observed_on), std::string(to_string(source.layer))});
  }
  return record;
}

RecordDocument show_offer(const Catalog& catalog, const Offer& offer) {
  return record_of(catalog, "offer", offer.id, fields_of(offer));
}

}  // namespace gpuplan
