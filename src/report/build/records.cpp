#include <gpuplan/report/build.hpp>

#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/model/kv_cache.hpp>
#include <gpuplan/model/tensors.hpp>

#include <algorithm>
#include <cmath>
#include <map>

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

constexpr double kShownContext = 4096;  // positions, where a figure depends on them

std::string whole(std::int64_t number) { return std::to_string(number); }
std::string whole(double number) { return format_shortest(number); }

// Tensors of a file by format: what was really stored.
void add_stored(RecordDocument& record, const ModelFiles& files) {
  if (!files.stored) return;
  add_computed(record, "weights_stored_bytes", whole(files.stored->total_size()), files.read_from);
  if (files.parameters > 0) add_computed(record, "parameters_stored", whole(files.parameters), files.read_from);
  for (const StoredFormat& sum : files.stored->by_format()) {
    add_computed(record, "stored " + sum.format, whole(sum.tensors) + " tensors, " + whole(sum.size) + " bytes",
                 files.read_from);
  }
}

// Parameters by what they are for, over all parts.
void add_roles(RecordDocument& record, const Network& network) {
  std::map<TensorRole, std::int64_t> roles;
  for (const NetworkPart& part : network.parts) {
    for (const TensorGroup& tensor : part.tensors) roles[tensor.role] += part.loaded ? tensor.elements() : 0;
  }
  for (const auto& [role, count] : roles) {
    if (count > 0) add_computed(record, "parameters " + std::string(to_string(role)), whole(count), "tensor list");
  }
}

void add_decoder(RecordDocument& record, const Architecture& a) {
  const Bytes element = bytes(2);
  add_computed(record, "kv_bytes_per_token", whole(kv_bytes_per_token(a, element).base()),
               "bf16, before any window is full");
  if (const Bytes state = state_bytes(a); state > Bytes{}) {
    add_computed(record, "state_bytes_per_sequence", whole(state.base()), "recurrent layers");
  }
  add_computed(record, "flops_per_token", whole(flops_of(language_model_part(a), kShownContext).base()),
               "one token after " + whole(kShownContext) + ", a multiply-add as two");
}

std::string shape_of(const TensorGroup& tensor) {
  return whole(tensor.count) + " x " + whole(tensor.rows) + " x " + whole(tensor.columns);
}

std::string format_of(const TensorGroup& tensor, const NetworkPart& part, const Scheme& scheme) {
  if (!part.quantized || tensor.keeps_precision) return "16 bit";
  const double elements = static_cast<double>(tensor.rows) * static_cast<double>(tensor.columns);
  const Bytes one =
      stored_bytes(storage_of(tensor, scheme), static_cast<double>(tensor.rows), static_cast<double>(tensor.columns));
  return format_shortest(std::round(one.base() * 8 / elements * 1000) / 1000) + " bit";
}

// The parts, then their tensors.
void add_parts(RecordDocument& record, const Network& network, const Scheme& scheme) {
  for (const NetworkPart& part : network.parts) {
    const std::string name = "part " + part.name;
    add_computed(record, name, part.title + (part.loaded ? "" : " (loaded only when asked for)"), part.item);
    add_computed(record, name + " parameters", whole(parameters(part.tensors)), "tensor list");
    if (!part.item.empty() && part.item != "token") {
      add_computed(record, name + " flops", whole(flops_of(part, kShownContext).base()), "one " + part.item);
    }
  }
  for (const NetworkPart& part : network.parts) {
    const std::string prefix = network.parts.size() > 1 ? part.name + "." : std::string();
    for (const TensorGroup& tensor : part.tensors) {
      add_computed(record, "tensor " + prefix + tensor.name, shape_of(tensor) + ", " + format_of(tensor, part, scheme),
                   std::string(to_string(tensor.role)));
    }
  }
}

// The values of a configuration by their path: `transformer.num_layers`.
void add_config(RecordDocument& record, const Node& node, const std::string& path, const ModelPreset& preset,
                const Source& source) {
  if (node.kind == Node::Kind::mapping) {
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      add_config(record, node.items[i], path.empty() ? node.keys[i] : path + "." + node.keys[i], preset, source);
    }
    return;
  }
  std::vector<std::string> values;
  for (const Node& item : node.items) values.push_back(item.scalar);
  const bool remembered = std::find(preset.config_from_memory.begin(), preset.config_from_memory.end(), path) !=
                          preset.config_from_memory.end();
  record.fields.push_back({"config " + path, node.items.empty() ? node.scalar : "[" + join(values, ", ") + "]",
                           std::string(to_string(remembered ? Mark::from_memory : Mark::published)),
                           std::string(source.text), std::string(source.observed_on),
                           std::string(to_string(source.layer))});
}

// A preset that is a configuration has no other fields worth showing than what it is called and how many parameters it has.
RecordDocument record_of_preset(const Catalog& catalog, const ModelPreset& preset) {
  std::vector<ShownField> fields = fields_of(preset);
  if (preset.config.empty()) return record_of(catalog, "model", preset.name, fields);
  constexpr std::string_view kept[] = {"name",          "aliases", "family", "parameters", "active_parameters",
                                       "native_format", "notes"};
  std::erase_if(fields, [&](const ShownField& field) {
    return std::find(std::begin(kept), std::end(kept), field.name) == std::end(kept);
  });
  RecordDocument record = record_of(catalog, "model", preset.name, fields);
  add_config(record, parse_json(preset.config, preset.name), {}, preset, catalog.source(preset.source));
  return record;
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

RecordDocument show_model(const Catalog& catalog, const ResolvedModel& model) {
  const ModelConfig& config = model.files.config;
  const Network& network = config.network;
  RecordDocument record =
      model.preset ? record_of_preset(catalog, *model.preset) : RecordDocument{"model", model.identity.name, {}};
  const auto add = [&](std::string name, const std::string& value) {
    if (!value.empty()) {
      record.fields.push_back({std::move(name), value, "published", model.identity.source, {}, {}});
    }
  };
  if (!model.preset) {
    add("model_type", config.model_type);
    add("architecture", config.architecture_class);
    add("text_part", config.text_part);
    add("torch_dtype", config.torch_dtype);
    add("quantization", config.quantization);
    add("kv_format", config.kv_format);
  }
  add_computed(record, "read_from", model.identity.read_from, model.preset ? std::string() : model.identity.source);
  const Scheme scheme = native_scheme(model);
  add_computed(record, "weights_format", scheme.name, model.identity.read_from);
  if (!network.parts.empty()) {
    add_computed(record, "parameters_counted", whole(parameters(network)), "sum over the tensor list");
    add_computed(record, "active_parameters_counted", whole(active_parameters(network)),
                 "experts a token is routed to only");
    add_roles(record, network);
  }
  if (network.decoder) add_decoder(record, *network.decoder);
  add_stored(record, model.files);
  add("not_modelled", join(config.not_modelled, "; "));
  add_parts(record, network, scheme);
  return record;
}

RecordDocument show_provider(const Catalog& catalog, const Provider& provider) {
  std::vector<ShownField> fields;
  for (ShownField& field : fields_of(provider)) {
    if (field.name != "terms" && field.name != "host_parts" && field.name != "offers")
      fields.push_back(std::move(field));  // shown one by one below
  }
  RecordDocument record = record_of(catalog, "provider", provider.name, fields);
  const auto add_part = [&](const std::string& prefix, const std::vector<ShownField>& part) {
    for (auto& field : record_of(catalog, {}, {}, part).fields) {
      field.name = prefix + field.name;
      record.fields.push_back(std::move(field));
    }
  };
  for (const ProviderTerms& terms : provider.terms) add_part("terms.", fields_of(terms));
  for (const HostParts& parts : provider.host_parts) add_part("host_parts.", fields_of(parts));
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
