#pragma once
/// Documents by hand for the tests of renderings: values are round, so that what is printed can be told by looking.

#include <gpuplan/report/document.hpp>

#include <string>
#include <vector>

namespace gpuplan::testing {

inline MemoryDocumentPart memory_part() {
  MemoryDocumentPart memory;
  memory.per_device_bytes = 50e9;
  memory.capacity_bytes = 80e9;
  memory.headroom_bytes = 30e9;
  memory.verdict = "fits";
  memory.max_concurrency = 8;
  memory.terms = {{"weights", 40e9, 40e9, 40e9}, {"kv_cache", 10e9, 9e9, 12e9}};
  return memory;
}

inline OptionDocument option(std::int64_t rank, const std::string& provider, double per_month) {
  OptionDocument o;
  o.rank = rank;
  o.provider = provider;
  o.provider_title = provider;
  o.offer = provider + "/x1";
  o.contract = "on_demand";
  o.accelerator = "X1";
  o.count = 1;
  o.interconnect = "-";
  o.layout.engine = "vllm";
  o.quality.format = "int4";
  o.memory = memory_part();
  o.at_basis = "all_that_fit";
  o.time.tpot_s = {0.02, 0.01, 0.04};
  o.cost.per_month = per_month;
  o.cost.per_hour = per_month / 730;
  o.cost.per_1m_output_tokens = 1.5;
  o.cost.terms = {{"compute", per_month}};
  o.price_confidence = "published";
  o.vat = "excluded";
  return o;
}

inline EstimateDocument estimate_document() {
  EstimateDocument d;
  d.catalog = {"1", "abc", "", ""};
  d.currency = "USD";
  d.vat = "excluded";
  d.model.name = "toy";
  d.model.requested = "toy";
  d.model.parameters = 1e9;
  d.model.active_parameters = 1e9;
  d.model.weights_bytes = 2e9;
  d.model.weights_format = "bf16";
  d.model.kv_bytes_per_token = 1024;
  d.model.parts = {{"mlp", 1e9, 2e9, 16}};
  d.job = {{"type", std::string("serve"), true}, {"context", 4096.0, false}};
  d.as_of = "2026-11-30";
  d.sort = "cost";
  d.options = {option(1, "alpha", 73), option(2, "alpha", 146), option(3, "beta", 219)};
  return d;
}

}  // namespace gpuplan::testing
