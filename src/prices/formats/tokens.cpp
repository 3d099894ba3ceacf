// Tables of token prices: money a token in one, money a million tokens in the other. `sample_spec` explains the first table's
// fields and is no model. Models that are billed by picture, second or character have no token price.

#include "formats.hpp"

namespace gpuplan {
namespace {

void keep(ImportRun& run, const std::string& provider, const std::string& model, std::optional<double> input,
          std::optional<double> output) {
  if (!input && !output) return run.drop("prices.no_tokens", "not billed by tokens");
  if (input.value_or(0) < 0 || output.value_or(0) < 0)
    return run.drop("prices.variable", "a negative price, which stands for one that varies");
  if (input.value_or(0) <= 0 && output.value_or(0) <= 0)
    return run.drop("prices.no_price", "a price of 0, which is free or not known");
  ImportedOffer offer;
  offer.contract = Contract::token_api;
  offer.provider = run.provider_named(provider);
  offer.model = model;
  offer.input_per_1m = input;
  offer.output_per_1m = output;
  run.keep(std::move(offer));
}

std::optional<double> per_million(std::optional<double> per_token) {
  if (per_token) *per_token *= 1e6;
  return per_token;
}

}  // namespace

void read_litellm(ImportRun& run) {
  bool any = false;
  stream_json(run.text(), {{"*"}}, [&](const JsonItem& item) {
    const std::string& name = item.path.back();
    run.row(name);
    const std::string provider = list_text(item.value, "litellm_provider");
    if (name == "sample_spec") return run.drop("prices.sample", "the table's explanation of its fields");
    if (provider.empty()) return run.drop("prices.bad_row", "an entry without litellm_provider");
    any = true;
    const std::string mode = list_text(item.value, "mode");
    if (mode != "chat" && mode != "completion" && mode != "responses" && mode != "embedding" && !mode.empty())
      return run.drop("prices.no_tokens", "of mode " + mode);
    keep(run, provider, name, per_million(list_number(item.value, "input_cost_per_token")),
         per_million(list_number(item.value, "output_cost_per_token")));
  });
  if (!any) refuse_format(run.text(), "no models in the document", R"({"model": {"litellm_provider": …}})");
}

void read_models_dev(ImportRun& run) {
  bool any = false;
  stream_json(run.text(), {{"*", "models", "*"}}, [&](const JsonItem& item) {
    any = true;
    run.row(item.path[0] + "/" + item.path[2]);
    const auto cost = item.value.find("cost");
    if (!item.value.is_object() || cost == item.value.end()) return run.drop("prices.no_tokens", "without a cost");
    keep(run, item.path[0], item.path[2], list_number(*cost, "input"), list_number(*cost, "output"));
  });
  if (!any) refuse_format(run.text(), "no models in the document", R"({"provider": {"models": {...}}})");
}

}  // namespace gpuplan
