#include <gpuplan/model/config.hpp>

#include "family.hpp"
#include "nested_defaults.hpp"
#include "pipeline.hpp"
#include "prediction.hpp"
#include "quantization.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/model/scheme.hpp>
#include <gpuplan/model/tensors.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

/// What follows the family in the name of a class, and what it puts on top of the layers.
enum class Top : std::uint8_t { language_head, none, other_head };
struct SuffixRow {
  std::string_view suffix;
  Top top;
};
constexpr SuffixRow kSuffixes[] = {
    {"ForCausalLM", Top::language_head},
    {"ForConditionalGeneration", Top::language_head},
    {"LMHeadModel", Top::language_head},
    {"WithLMHeadModel", Top::language_head},
    {"DoubleHeadsModel", Top::other_head},
    {"ForSequenceClassification", Top::other_head},
    {"ForTokenClassification", Top::other_head},
    {"ForImageClassification", Top::other_head},
    {"ForQuestionAnswering", Top::other_head},
    {"ForMaskedLM", Top::language_head},
    {"EncoderModel", Top::none},
    {"TextModel", Top::none},
    {"Model", Top::none},
};

constexpr std::string_view kTextKeys[] = {"text_config", "llm_config", "language_config"};

/// Keys that only other networks have: a family that does not read them must not be taken for one.
struct ForeignKey {
  std::string_view key;
  std::string_view what;
  Feature read_by;  // families with this feature know the key
};
constexpr ForeignKey kForeignKeys[] = {
    {"num_experts", "experts", Feature::experts},
    {"num_local_experts", "experts", Feature::experts},
    {"n_routed_experts", "experts", Feature::experts},
    {"moe_num_experts", "experts", Feature::experts},
    {"kv_lora_rank", "latent attention", Feature::latent},
    {"block_configs", "a shape of its own for each layer", Feature::layers_differ},
    {"ssm_cfg", "state-space layers", Feature::recurrent},
    {"ssm_state_size", "state-space layers", Feature::recurrent},
    {"mamba_d_state", "state-space layers", Feature::recurrent},
    {"hybrid_override_pattern", "state-space layers", Feature::recurrent},
    {"linear_attn_config", "linear attention", Feature::recurrent},
    {"linear_num_key_heads", "linear attention", Feature::recurrent},
    {"full_attention_interval", "linear attention", Feature::recurrent},
    {"cross_attention_layers", "cross-attention", Feature::layers_differ},
    {"num_kv_shared_layers", "layers that share keys and values", Feature::layers_differ},
};
constexpr ForeignKey kForeignFlags[] = {
    {"is_encoder_decoder", "an encoder", Feature::none},
    {"add_cross_attention", "cross-attention", Feature::none},
};

bool reads(const FamilyRow& family, Feature feature) {
  const auto bits = static_cast<unsigned>(feature);
  return bits != 0 && (static_cast<unsigned>(family.features) & bits) == bits;
}

/// Whether a value says that there is such a thing: not null, false, 0, 1 or empty.
bool says_something(const Node& node) {
  if (node.kind == Node::Kind::null) return false;
  if (node.kind != Node::Kind::scalar) return !node.items.empty();
  if (node.quoted) return !node.scalar.empty();
  return node.scalar != "false" && node.scalar != "0" && node.scalar != "1" && node.scalar != "-1";
}

/// What a network calls itself.
struct Identity {
  std::string type;
  std::string class_name;
  const FamilyRow* family = nullptr;           // to be read as
  const FamilyRow* family_of_class = nullptr;  // whatever the type says
  const NetworkRow* network = nullptr;         // to be read as parts
  const OtherRow* other = nullptr;
  Top top = Top::language_head;
  bool disagree = false;  // the type names another family than the class
};

template <class Row>
const Row* row_with(std::span<const Row> rows, std::string_view Row::*words, std::string_view word) {
  for (const Row& row : rows) {
    if (!word.empty() && has_word(row.*words, word)) return &row;
  }
  return nullptr;
}

/// The family of a class: `Llama` + `ForCausalLM`. The longest suffix that leaves a known name wins.
void identify_class(Identity& id) {
  const std::string_view name = id.class_name;
  id.network = row_with(network_families(), &NetworkRow::classes, name);
  if (id.network) return;
  id.family = row_with(families(), &FamilyRow::classes, name);  // a name without an ending is the whole model
  if (id.family) return;
  for (const SuffixRow& row : kSuffixes) {
    if (!name.ends_with(row.suffix)) continue;
    const std::string_view stem = name.substr(0, name.size() - row.suffix.size());
    id.family = row_with(families(), &FamilyRow::classes, stem);
    id.other = row_with(other_networks(), &OtherRow::classes, stem);
    id.network = row_with(network_families(), &NetworkRow::classes, stem);
    if (!id.family && !id.other && !id.network) continue;
    id.top = row.top;
    if (id.family && id.family->headless_name_has_head && row.top == Top::none) id.top = Top::language_head;
    return;
  }
}

/// The row of a name that another library than the Hub's gives (`resnet50`, `vit_base_patch16_224`): by its first word,
/// with its number or without.
const NetworkRow* network_named(std::string_view name) {
  const std::string_view word = name.substr(0, name.find_first_of("._"));
  const NetworkRow* row = row_with(network_families(), &NetworkRow::types, word);
  const std::string_view stem = word.substr(0, word.find_last_not_of("0123456789") + 1);
  return row ? row : row_with(network_families(), &NetworkRow::types, stem);
}

/// Libraries beside the Hub's call a network by its `architecture` or its `model`, which may hold the `name`; one names
/// its components.
void identify_by_name(Identity& id, const Fields& in) {
  if (!id.type.empty() || !id.class_name.empty()) return;
  const Node* model = in.find({"model"});
  std::string name = in.text({"architecture"});
  if (name.empty() && model) name = string_of(model).value_or(string_of(model->find("name")).value_or(""));
  if (name.empty() && in.has({"istftnet"}) && in.has({"plbert"})) name = "styletts2";
  id.network = network_named(name);
  if (id.network) id.type = std::move(name);
}

/// The one format that names itself by a key of its own.
bool is_state_spaces(const Fields& in, const Identity& id) {
  return id.type.empty() && id.class_name.empty() && in.states("ssm_cfg");
}

Identity identify(const Fields& in) {
  Identity id;
  id.type = in.text({"model_type"});
  const std::vector<std::string> classes = in.texts("architectures");
  id.class_name = classes.empty() ? in.text({"_class_name"}) : classes.front();
  identify_class(id);
  identify_by_name(id, in);
  id.family_of_class = id.family;
  const FamilyRow* const family_of_type = row_with(families(), &FamilyRow::types, id.type);
  const OtherRow* const other_of_type = row_with(other_networks(), &OtherRow::types, id.type);
  if (other_of_type) id.other = other_of_type;
  if (const NetworkRow* network_of_type = row_with(network_families(), &NetworkRow::types, id.type)) {
    if (!family_of_type || id.network) id.network = network_of_type;
  }
  if (id.network) id.other = nullptr;
  if (id.class_name.empty()) id.family = family_of_type;
  if (is_state_spaces(in, id)) id.family = row_with(families(), &FamilyRow::types, "mamba_ssm");
  if (!id.type.empty() && !family_of_type) id.family = nullptr;  // a class borrowed by a network of another type
  if (id.other || id.network) id.family = nullptr;
  id.disagree = id.family_of_class && family_of_type && id.family_of_class != family_of_type;
  return id;
}

std::string named(const Identity& id) { return "'" + (id.class_name.empty() ? id.type : id.class_name) + "'"; }

/// A file of a checkpoint that is taken for its config; empty: none that is known.
std::string other_file(const Fields& in) {
  if (in.has({"weight_map"})) {
    const Node* metadata = in.node().find("metadata");
    const Node* size = metadata ? metadata->find("total_size") : nullptr;
    const bool says_size = size && parse_count(size->scalar).value;
    return "an index of files with weights" + (says_size ? ", " + size->scalar + " bytes in all" : std::string()) +
           ": the folder with them is the model";
  }
  if (in.has({"quantization", "quant_method", "bits"}))
    return "a quantizer's settings, which stand beside a config.json";
  return {};
}

/// Why there is no decoder, in one line.
std::string unknown_network(const Identity& id, const Fields& in) {
  if (id.other) return std::string(id.other->what) + " " + named(id);
  if (in.has({"_class_name"}) && id.type.empty()) return "diffusion component " + named(id);
  if (id.class_name.empty() && id.type.empty()) {
    if (const std::string name = in.text({"architecture"}); !name.empty()) return "architecture '" + name + "'";
    if (std::string other = other_file(in); !other.empty()) return other;
    return in.node().items.empty() ? "the config is empty" : "the config names no model_type and no architectures";
  }
  if (id.class_name.empty()) return "model type '" + id.type + "'";
  const bool class_is_known = id.family_of_class != nullptr && !id.type.empty();
  return class_is_known ? "model type '" + id.type + "' of class '" + id.class_name + "'"
                        : "architecture '" + id.class_name + "'";
}

/// Whether the config has something that the family does not read; says so.
bool refuse_foreign(const FamilyRow& family, Fields& in) {
  const auto refuse = [&](std::string_view key, std::string_view what) {
    in.unreadable(std::string(what) + " in a network of type '" + std::string(family.name) + "' (" + std::string(key) +
                  ")");
  };
  bool refused = false;
  const auto check = [&](const ForeignKey& row, bool there) {
    if (!there || reads(family, row.read_by)) return;
    refuse(row.key, row.what);
    refused = true;
  };
  for (const ForeignKey& row : kForeignKeys) {
    const Node* value = in.find({row.key});
    check(row, value && says_something(*value));
  }
  for (const ForeignKey& row : kForeignFlags) check(row, boolean_of(in.find({row.key})).value_or(false));
  for (const std::string& type : in.texts("layer_types")) {
    if (type == "full_attention" || type == "sliding_attention" || type == "chunked_attention") continue;
    if (type == "attention" || reads(family, Feature::recurrent) || reads(family, Feature::layers_differ)) continue;
    refuse("layer_types", "layers of type '" + type + "'");
    return true;
  }
  return refused;
}

/// Layers for speculation come on top of those counted: a part that is not loaded, where their form is published.
void add_prediction_layers(Fields& in, Network& network) {
  for (const std::string_view key : {"num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers"}) {
    const std::int64_t layers = whole_number_of(in.find({key})).value_or(0);
    if (layers <= 0) continue;
    if (std::optional<NetworkPart> part = prediction_part(*network.decoder, layers)) {
      network.parts.push_back(std::move(*part));
    } else {
      in.not_modelled("multi-token prediction, " + std::to_string(layers) + " layer(s) (" + std::string(key) + ")");
    }
    return;
  }
}

/// Parts beside the text model: mappings named `vision_config`, `audio_config`, …
void note_other_parts(const Fields& outer, const Identity& id, std::string_view text_key, Fields& in) {
  struct PartRow {
    std::string_view key;
    std::string_view what;
  };
  constexpr PartRow parts[] = {
      {"vision_config", "vision tower and projector"},
      {"vision_tower_config", "vision tower and projector"},
      {"visual", "vision tower and projector"},
      {"vit_config", "vision tower and projector"},
      {"vision_tower", "vision tower and projector"},
      {"mm_vision_tower", "vision tower and projector"},
      {"audio_config", "audio encoder"},
      {"talker_config", "speech decoder"},
      {"token2wav_config", "speech decoder"},
  };
  bool any = false;
  for (const PartRow& part : parts) {
    const Node* value = outer.find({part.key});
    if (!value || !says_something(*value)) continue;
    in.not_modelled(std::string(part.what) + " (" + std::string(part.key) + ")");
    any = true;
  }
  if (!any && !text_key.empty()) in.not_modelled("the parts of " + named(id) + " beside its text model");
}

void note_top(const Identity& id, Fields& in, Architecture& a) {
  if (id.top == Top::language_head || a.tied_embeddings) {
    if (id.top == Top::other_head) in.not_modelled("the head of class '" + id.class_name + "'");
    return;
  }
  a.tied_embeddings = true;  // no output head of its own
  if (id.top == Top::other_head) {
    in.not_modelled("the head of class '" + id.class_name + "'");
  } else {
    in.warn("model.no_head", "class '" + id.class_name + "' has no output head: none is counted", "architectures");
  }
}

/// The wrapper's word on tied embeddings wins over the text part's.
bool ties_embeddings(Fields& outer, Fields& in, bool otherwise) {
  return outer.flag({"tie_word_embeddings"}, in.flag({"tie_word_embeddings"}, otherwise));
}

class ConfigReader {
 public:
  ConfigReader(const Node& root, std::string_view origin)
      : root_(root), origin_(origin), problems_(root, origin), outer_(root, problems_, notes_) {
    problems_.finish();  // not a mapping
  }

  ModelConfig read() {
    const Identity outer = identify(outer_);
    out_.model_type = outer.type;
    out_.architecture_class = outer.class_name;
    read_storage();
    if (is_pipeline(outer)) {
      read_components(outer);
      problems_.finish();
      return std::move(out_);
    }
    const Node* text = outer.other || outer.network ? nullptr : text_part();
    if (text) {
      read_wrapped(outer, *text);
    } else if (outer.network) {
      read_network(*outer.network, outer_);
    } else if (outer.family) {
      Fields in = outer_;
      if (outer.type.empty() && !is_state_spaces(in, outer))
        in.warn("model.partial_config", "the config names no model_type: it may be cut down");
      read_decoder(outer, in);
    } else {
      notes_.unreadable.push_back(unknown_network(outer, outer_));
    }
    problems_.finish();
    out_.not_modelled = std::move(notes_.unreadable);
    for (std::string& part : notes_.not_modelled) out_.not_modelled.push_back(std::move(part));
    out_.warnings = std::move(notes_.warnings);
    return std::move(out_);
  }

 private:
  /// A pipeline written in one piece: its components' configurations stand under their names.
  [[nodiscard]] static bool is_pipeline(const Identity& id) {
    return id.type.empty() && id.class_name.ends_with("Pipeline");
  }

  void read_components(const Identity& id) {
    out_.network.family = id.class_name;
    for (std::size_t i = 0; i < root_.items.size(); ++i) {
      const Node& component = root_.items[i];
      if (component.kind != Node::Kind::mapping) continue;
      add_component(out_, root_.keys[i], ConfigReader(component, origin_).read());
    }
    if (out_.network.parts.empty() && out_.not_modelled.empty()) {
      out_.not_modelled.push_back("pipeline " + named(id) + " without components");
    }
  }

  const Node* text_part() {
    for (const std::string_view key : kTextKeys) {
      const Node* part = root_.find(key);
      if (!part || part->kind != Node::Kind::mapping || part->items.empty()) continue;
      out_.text_part = key;
      return part;
    }
    return nullptr;
  }

  void read_wrapped(const Identity& outer, const Node& text) {
    Fields written = outer_.inside(text);
    const Node completed = with_class_defaults(written);
    Fields in = outer_.inside(completed);
    Identity id = identify(in);
    if (id.type.empty() && id.class_name.empty() && outer.family) id = outer;
    if (!id.family) {
      notes_.unreadable.push_back(unknown_network(outer.class_name.empty() && outer.type.empty() ? id : outer, outer_));
      if (id.other || !id.type.empty()) {
        notes_.unreadable.back() += ", text model: " + unknown_network(id, in);
      }
      out_.text_part.clear();
      return;
    }
    id.top = Top::language_head;  // the wrapper's class puts the head on
    read_decoder(id, in);
    if (out_.network.decoder) read_other_parts(outer, in);
  }

  /// What stands beside the text model, which is read.
  void read_other_parts(const Identity& id, Fields& in) {
    if (const WrapperRow* wrapper = row_with(wrapper_families(), &WrapperRow::types, id.type)) {
      read_beside(*wrapper);
    } else {
      note_other_parts(outer_, id, out_.text_part, in);
    }
  }

  void read_beside(const WrapperRow& wrapper) {
    Network parts;
    wrapper.read(outer_, *out_.network.decoder, parts);
    for (const std::string& key : notes_.missing) {
      notes_.not_modelled.push_back("the parts beside the text model, whose configuration lacks " + key);
    }
    if (!notes_.missing.empty() || !keep_parts(parts)) return;
    for (NetworkPart& part : parts.parts) out_.network.parts.push_back(std::move(part));
  }

  /// Networks that do not generate token by token.
  void read_network(const NetworkRow& row, Fields in) {
    Network network;
    network.family = row.name;
    row.read(in, network);
    for (const std::string& key : notes_.missing) {
      notes_.unreadable.push_back("a network of type '" + std::string(row.name) + "' whose config lacks " + key);
    }
    if (!problems_.problems().empty() || !notes_.unreadable.empty() || !keep_parts(network)) return;
    if (network.decoder && network.decoder->native_format.empty()) network.decoder->native_format = out_.weights_scheme;
    out_.network = std::move(network);
  }

  /// Whether all parts can be.
  bool keep_parts(const Network& network) {
    for (const NetworkPart& part : network.parts) {
      for (Problem& p : check_part(part)) {
        p.place = root_.place;
        problems_.problem(std::move(p));
      }
    }
    return problems_.problems().empty();
  }

  void read_decoder(const Identity& id, Fields& in) {
    if (refuse_foreign(*id.family, in)) return;
    if (id.disagree) {
      in.warn("model.two_types",
              "model_type '" + id.type + "' and class '" + id.class_name + "' disagree: the class is read");
    }
    Architecture a;
    a.family = id.family->name;
    id.family->read(in, a);
    a.tied_embeddings = ties_embeddings(outer_, in, id.family->tied);
    for (const std::string& key : notes_.missing) {
      notes_.unreadable.push_back("a network of type '" + std::string(id.family->name) + "' whose config lacks " + key);
    }
    if (!problems_.problems().empty() || !notes_.unreadable.empty()) return;
    for (Problem& p : check_architecture(a)) {
      p.place = in.node().place;
      problems_.problem(std::move(p));
    }
    if (!problems_.problems().empty()) return;
    note_top(id, in, a);
    a.native_format = out_.weights_scheme;
    out_.network = network_of(std::move(a));
    add_prediction_layers(in, out_.network);
    if (out_.text_part.empty()) read_other_parts(id, in);
  }

  /// The quantization, else the type of the weights.
  void read_storage() {
    const Node* text = nullptr;
    for (const std::string_view key : kTextKeys) text = text ? text : root_.find(key);
    const Fields inner = text ? outer_.inside(*text) : outer_;
    out_.torch_dtype = outer_.text({"torch_dtype", "dtype"});
    if (out_.torch_dtype.empty()) out_.torch_dtype = inner.text({"torch_dtype", "dtype"});
    const Node* described = outer_.find({"quantization_config", "compression_config"});
    if (!described) described = inner.find({"quantization_config"});
    if (described) {
      const Quantization found = read_quantization_config(outer_.inside(*described));
      out_.quantization = found.method;
      out_.weights_scheme = found.scheme;
      out_.module_rules = found.rules;
      out_.kv_format = found.kv_format;
    }
    if (out_.quantization.empty()) out_.weights_scheme = scheme_of_dtype(out_.torch_dtype);
  }

  static std::string scheme_of_dtype(std::string_view dtype) {
    constexpr std::string_view prefix = "torch.";
    if (dtype.starts_with(prefix)) dtype.remove_prefix(prefix.size());
    if (dtype != "float32" && dtype != "float16" && dtype != "bfloat16") return {};
    return std::string(parse_scheme(dtype).value->name);
  }

  const Node& root_;
  std::string origin_;
  Reader problems_;
  FieldNotes notes_;
  Fields outer_;
  ModelConfig out_;
};

}  // namespace

ModelConfig read_model_config(const Node& config, std::string_view origin) {
  return ConfigReader(config, origin).read();
}

}  // namespace gpuplan
