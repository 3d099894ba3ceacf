#include "quantization.hpp"

#include "quantization_methods.hpp"

#include <gpuplan/model/scheme.hpp>

#include <iterator>
#include <utility>

namespace gpuplan {
namespace {

std::string kv_format_of(const Fields& in) {
  std::string name = in.text({"kv_cache_quant_algo", "kv_cache_scheme"});
  const Node* described = in.find({"kv_cache_scheme"});
  if (name.empty() && described && described->find("num_bits")) {
    const std::string type = string_of(described->find("type")).value_or("");
    name = (type == "float" ? "fp" : "int") + std::to_string(whole_number_of(described->find("num_bits")).value_or(0));
  }
  const auto format = parse_kv_format(name);
  return format.value ? std::string((*format.value)->name) : std::string();
}

Quantization settle(Fields& in, std::string method, FoundFormat found) {
  Quantization out;
  out.kv_format = kv_format_of(in);
  if (auto scheme = parse_scheme(found.scheme).value) {
    out.scheme = std::move(scheme->name);
    out.rules = unquantized_modules(in);  // they win over the groups' own targets
    out.rules.insert(out.rules.end(), std::make_move_iterator(found.rules.begin()),
                     std::make_move_iterator(found.rules.end()));
  } else {
    in.warn("model.unknown_quantization",
            "unknown quantization '" + method + "'" + (found.detail.empty() ? "" : " " + found.detail));
  }
  out.method = std::move(method);
  return out;
}

}  // namespace

Quantization read_quantization_config(Fields in) {
  std::string method = in.text({"quant_method"});
  if (method.empty()) method = implied_method(in);
  if (method.empty()) {
    if (!in.node().items.empty()) in.warn("model.unknown_quantization", "unknown quantization: no quant_method");
    return {};
  }
  const ReadMethod read = find_method(method);
  FoundFormat found;
  if (read) found = read(in);
  return settle(in, std::move(method), std::move(found));
}

Quantization read_quantizer_file(Fields in, std::string_view name) {
  if (const Node* inner = in.find({"quantization"}); inner && inner->kind == Node::Kind::mapping) {
    Fields quantization = in.inside(*inner);
    const std::string algorithm = quantization.text({"quant_algo"});
    if (!algorithm.empty()) return settle(quantization, algorithm, find_method("modelopt")(quantization));
  } else if (in.has({"quant_method"}) || !implied_method(in).empty()) {
    return read_quantization_config(in);
  }
  in.warn("model.unknown_quantization", "'" + std::string(name) + "' says no weight format and is left aside");
  return {};
}

}  // namespace gpuplan
