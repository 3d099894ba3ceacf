#pragma once
/// A market small enough to be enumerated: three cards, one engine, three models, offers as the test says.

#include "catalogues.hpp"

#include <gpuplan/planner/estimate.hpp>

#include <string>
#include <vector>

namespace gpuplan::testing {

/// What the exhaustive search knows of an offer. Prices are in USD, without VAT, host included. There are two providers: the
/// shop's month has 720 hours, the store's 730.
struct SmallOffer {
  std::string id;
  std::string gpu;
  std::int64_t count = 1;
  bool whole_instance = false;  ///< `price` buys the instance, else one GPU of it
  double price = 1;
  bool monthly = false;
  bool at_store = false;
  int network = 0;  ///< Gb/s that leave an instance; 0: not said
};

inline std::string offer_text(const SmallOffer& offer) {
  return "      - {id: " + offer.id + ", gpu: " + offer.gpu + ", count: " + std::to_string(offer.count) +
         ", scope: " + (offer.whole_instance ? "instance" : "gpu") + ", price: " + std::to_string(offer.price) +
         ", currency: USD, unit: " + (offer.monthly ? "month" : "hour") +
         ", contract: on_demand, observed_on: 2026-09-01" +
         (offer.network > 0 ? ", network_gbit_per_s: " + std::to_string(offer.network) : "") + "}\n";
}

inline std::string provider_text(const std::string& name, int hours, const std::vector<SmallOffer>& offers,
                                 bool store) {
  std::string text =
      "  - name: " + name + "\n    country: DE\n    hours_per_month: " + std::to_string(hours) + "\n    offers:\n";
  for (const SmallOffer& offer : offers) {
    if (offer.at_store == store) text += offer_text(offer);
  }
  return text;
}

inline Catalog small_market(const std::vector<SmallOffer>& offers) {
  std::string text = R"(replace: true
rates: [{currency: USD, per_usd: 1}, {currency: EUR, per_usd: 0.8}]
links:
  - {name: wire, category: host, gb_per_s_per_direction: 31.5, all_reduce_efficiency: 0.6, point_to_point_efficiency: 0.8, all_reduce_latency_us_2: 8, all_reduce_latency_us_8: 25}
  - {name: fibre, category: scale_out, gb_per_s_per_direction: 12.5, all_reduce_efficiency: 0.8, point_to_point_efficiency: 0.9, all_reduce_latency_us_2: 15, all_reduce_latency_us_8: 40}
  - {name: mesh, category: scale_up, gb_per_s_per_direction: 450, all_reduce_efficiency: 0.8, point_to_point_efficiency: 0.9, all_reduce_latency_us_2: 6, all_reduce_latency_us_8: 15}
accelerators:
  - {name: small, vendor: NVIDIA, family: small, form_factor: consumer, cuda_visible_gib: 23.5, memory_gib: 24, memory_bandwidth_gb_per_s: 1000, bf16_tflops: 150, compute_capability: "8.9", host_link: wire, peer_to_peer: "no"}
  - {name: middle, vendor: NVIDIA, family: middle, form_factor: pcie, cuda_visible_gib: 44.5, memory_gib: 45, memory_bandwidth_gb_per_s: 860, bf16_tflops: 360, compute_capability: "8.9", host_link: wire, peer_to_peer: "yes"}
  - {name: big, vendor: NVIDIA, family: big, form_factor: sxm, cuda_visible_gib: 79.2, memory_gib: 79.6, memory_bandwidth_gb_per_s: 3350, bf16_tflops: 989, compute_capability: "9.0", host_link: wire, scale_up_link: mesh, scale_up_domain: 8, scale_up_gb_per_s_per_direction: 450}
engines:
  - name: vllm
    vendors: [NVIDIA]
    min_compute_capability: "7.0"
    memory_fraction: 0.9
    kv_block_tokens: 16
    max_sequences: 6
    max_batched_tokens: 2048
    context_gib: 0.35
    communication_gib: 0.5
    sampler_bytes_per_logit: 38
    activation_copies: 2
    bandwidth_efficiency: 0.8
    compute_efficiency: 0.7
    launch_us: 3
    step_us: 500
    request_us: 5000
    formats: [{format: bf16, vendors: [NVIDIA]}, {format: int4-awq-g128, vendors: [NVIDIA]}]
models:
  - {name: eight, family: eight, layers: 32, hidden_size: 4096, heads: 32, kv_heads: 8, head_dim: 128, intermediate_size: 14336, vocab_size: 128256, max_position: 131072, native_format: bf16}
  - {name: seventy, family: seventy, layers: 80, hidden_size: 8192, heads: 64, kv_heads: 8, head_dim: 128, intermediate_size: 28672, vocab_size: 128256, max_position: 131072, native_format: bf16}
  - {name: huge, family: huge, layers: 126, hidden_size: 16384, heads: 128, kv_heads: 8, head_dim: 128, intermediate_size: 53248, vocab_size: 128256, max_position: 131072, native_format: bf16}
providers:
)";
  text += provider_text("shop", 720, offers, false) + provider_text("store", 730, offers, true);
  return with_overlay(text);
}

inline const std::vector<SmallOffer>& usual_offers() {
  static const std::vector<SmallOffer> offers = {
      {"small-1", "small", 1, false, 0.4, false},   {"small-box", "small", 4, true, 1.5, false, true},
      {"middle-1", "middle", 1, false, 0.9, false}, {"middle-month", "middle", 1, false, 500, true, true},
      {"middle-2", "middle", 2, true, 1.7, false},  {"big-1", "big", 1, false, 2.5, false},
      {"big-box", "big", 8, true, 18, false},       {"big-8-each", "big", 8, false, 2.1, false, true}};
  return offers;
}

inline EstimateRequest request_of(const std::string& model, const std::string& dtype = "bf16",
                                  std::int64_t concurrency = 1, std::int64_t context = 4096) {
  EstimateRequest request;
  request.job.model = {model, false};
  request.job.dtype = {dtype, false};
  request.job.concurrency = {concurrency, false};
  request.job.context = {context, false};
  request.as_of = {2026, 11, 30};
  return request;
}

}  // namespace gpuplan::testing
