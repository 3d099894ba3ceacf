#include "nested_defaults.hpp"

#include <string>
#include <string_view>

namespace gpuplan {
namespace {

/// Source: the configuration classes of transformers, `configuration_<model_type>.py`.
struct DefaultsRow {
  std::string_view type;
  std::string_view config;
};
constexpr DefaultsRow kDefaults[] = {
    {"llama",
     R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
         "num_attention_heads": 32})"},
    {"mistral",
     R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 8})"},
    {"qwen2",
     R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 32})"},
};

}  // namespace

Node with_class_defaults(Fields& in) {
  const Node& text = in.node();
  Node completed = text;
  const std::string type = string_of(text.find("model_type")).value_or("");
  for (const DefaultsRow& row : kDefaults) {
    if (row.type != type) continue;
    const Node defaults = parse_json(row.config, row.type);
    for (std::size_t i = 0; i < defaults.items.size(); ++i) {
      if (text.find(defaults.keys[i])) continue;
      in.warn("model.assumed", "'" + defaults.keys[i] + "' is not in the text model's config: " +
                                   defaults.items[i].scalar + ", its class's default, is taken");
      completed.keys.push_back(defaults.keys[i]);
      completed.items.push_back(defaults.items[i]);
      completed.items.back().place = text.place;
      completed.key_places.push_back(text.place);
    }
  }
  return completed;
}

}  // namespace gpuplan
