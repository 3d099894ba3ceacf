#pragma once
// The fields of every record: YAML name, unit and member, in the order of the struct. Reading, layering, compiling in and
// showing all walk these tables, so a new field is one line here and one member in records.hpp.

#include "field_units.hpp"
#include "fields_market.hpp"
#include "fields_use.hpp"

namespace gpuplan {

template <class V, RecordOf<Accelerator> R>
void visit_fields(V& v, R& r) {
  v.name("name", r.name);
  v.texts("aliases", r.aliases);
  v.text("vendor", r.vendor);
  v.text("architecture", r.architecture);
  v.text("family", r.family);
  v.text("form_factor", r.form_factor);
  v.template fact<AsCount>("release_year", r.release_year);
  v.template fact<AsGib>("memory_gib", r.memory);
  v.template fact<AsGb>("memory_label_gb", r.memory_label);
  v.template fact<AsGib>("cuda_visible_gib", r.visible_memory, Mark::measured);
  v.text("memory_type", r.memory_type);
  v.template fact<AsGbPerS>("memory_bandwidth_gb_per_s", r.memory_bandwidth);
  v.template fact<AsTflops>("fp64_tflops", r.fp64);
  v.template fact<AsTflops>("fp32_tflops", r.fp32);
  v.template fact<AsTflops>("tf32_tflops", r.tf32);
  v.template fact<AsTflops>("fp16_tflops", r.fp16);
  v.template fact<AsTflops>("fp16_fp16acc_tflops", r.fp16_fp16acc);
  v.template fact<AsTflops>("bf16_tflops", r.bf16);
  v.template fact<AsTflops>("fp8_tflops", r.fp8);
  v.template fact<AsTflops>("int8_tops", r.int8);
  v.template fact<AsTflops>("int4_tops", r.int4);
  v.template fact<AsTflops>("fp6_tflops", r.fp6);
  v.template fact<AsTflops>("fp4_tflops", r.fp4);
  v.template fact<AsMb>("l2_cache_mb", r.l2_cache);
  v.template fact<AsCount>("sm_count", r.sm_count);
  v.text("compute_capability", r.compute_capability);
  v.template fact<AsWatts>("tdp_w", r.tdp);
  v.text("scale_up_link", r.scale_up_link);
  v.template fact<AsGbPerS>("scale_up_gb_per_s_per_direction", r.scale_up_bandwidth);
  v.template fact<AsCount>("scale_up_domain", r.scale_up_domain);
  v.text("host_link", r.host_link);
  v.choice("peer_to_peer", r.peer_to_peer);
  v.text("peer_to_peer_note", r.peer_to_peer_note);
  v.text("min_cuda_version", r.min_cuda_version);
  v.template fact<AsGbPerS>("stream_bandwidth_gb_per_s", r.stream_bandwidth, Mark::measured);
  v.text("stream_bandwidth_method", r.stream_bandwidth_method);
  v.template fact<AsGbPerS>("core_bandwidth_gb_per_s", r.core_bandwidth, Mark::measured);
  v.template fact<AsTflops>("achieved_gemv_tflops", r.achieved_gemv, Mark::measured);
  v.flag("stream_bandwidth_is_lower_bound", r.stream_bandwidth_is_lower_bound);
  v.template fact<AsTflops>("achieved_gemm_tflops", r.achieved_gemm, Mark::measured);
  v.template fact<AsTflops>("achieved_gemm_fp8_tflops", r.achieved_gemm_fp8, Mark::measured);
  v.text("achieved_gemm_source", r.achieved_gemm_source);
  v.flag("memory_is_label", r.memory_is_label);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}

template <class V, RecordOf<CollectiveSpeed> R>
void visit_fields(V& v, R& r) {
  v.name("algorithm", r.algorithm);
  v.template fact<AsMicroseconds>("launch_us", r.launch, Mark::derived);
  v.template fact<AsMicroseconds>("hop_us", r.hop, Mark::derived);
  v.template fact<AsNumber>("efficiency", r.efficiency, Mark::derived);
  v.template fact<AsMicroseconds>("bulk_launch_us", r.bulk_launch, Mark::derived);
  v.template fact<AsMicroseconds>("bulk_hop_us", r.bulk_hop, Mark::derived);
  v.template fact<AsNumber>("bulk_efficiency", r.bulk_efficiency, Mark::derived);
  v.template fact<AsNumber>("pair_efficiency", r.pair_efficiency, Mark::derived);
  v.template fact<AsNumber>("copy_efficiency", r.copy_efficiency, Mark::derived);
  v.template fact<AsCount>("rows", r.rows);
  v.template fact<AsCount>("systems", r.systems);
  v.source(r.source);
}

template <class V, RecordOf<Link> R>
void visit_fields(V& v, R& r) {
  v.name("name", r.name);
  v.text("title", r.title);
  v.texts("aliases", r.aliases);
  v.choice("category", r.category);
  v.text("generation", r.generation);
  v.template fact<AsGbPerS>("gb_per_s_per_direction", r.rate);
  v.template fact<AsGbPerS>("gb_per_s_per_direction_per_link", r.rate_per_link);
  v.template fact<AsCount>("links_per_device", r.links_per_device);
  v.template fact<AsGbitPerS>("port_gbit_per_s", r.port_rate);
  v.template fact<AsNumber>("all_reduce_efficiency", r.all_reduce_efficiency, Mark::measured);
  v.template fact<AsNumber>("nvls_all_reduce_efficiency", r.in_network_all_reduce_efficiency, Mark::measured);
  v.template fact<AsNumber>("point_to_point_efficiency", r.point_to_point_efficiency, Mark::measured);
  v.template fact<AsMicroseconds>("all_reduce_latency_us_2", r.all_reduce_latency_2, Mark::measured);
  v.template fact<AsMicroseconds>("all_reduce_latency_us_8", r.all_reduce_latency_8, Mark::measured);
  v.truth("in_network_reduction", r.in_network_reduction);
  v.choice("shape", r.shape);
  v.nested("collectives", r.collectives);
  v.text("achieved", r.achieved);
  v.text("measured_source", r.measured_source);
  v.text("platforms", r.platforms);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}

template <class V, RecordOf<NodeDesign> R>
void visit_fields(V& v, R& r) {
  v.name("name", r.name);
  v.text("title", r.title);
  v.texts("aliases", r.aliases);
  v.text("provider", r.provider);
  v.texts("accelerators", r.accelerators);
  v.text("gpu_text", r.accelerator_text);
  v.template fact<AsCount>("count", r.count);
  v.text("intra_topology", r.intra_topology);
  v.choice("shape", r.shape);
  v.template fact<AsGbPerS>("gb_per_s_per_direction_per_gpu", r.intra_rate);
  v.text("fabric_link", r.fabric_link);
  v.template fact<AsCount>("scale_up_domain", r.scale_up_domain);
  v.text("nic_type", r.nic_type);
  v.text("nic_link", r.nic_link);
  v.template fact<AsCount>("nics", r.nics);
  v.template fact<AsGbitPerS>("nic_gbit_per_s_each", r.nic_rate);
  v.template fact<AsGbitPerS>("node_gbit_per_s", r.node_rate);
  v.text("cpu", r.cpu);
  v.template fact<AsCount>("cpu_sockets", r.cpu_sockets);
  v.template fact<AsGb>("ram_gb", r.ram);
  v.text("nvme", r.nvme);
  v.choice("peer_to_peer", r.peer_to_peer);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}

template <class V, RecordOf<ModelPreset> R>
void visit_fields(V& v, R& r) {
  v.name("name", r.name);
  v.texts("aliases", r.aliases);
  v.text("family", r.family);
  v.text("architecture", r.architecture);
  v.template fact<AsCount>("layers", r.layers);
  v.template fact<AsCount>("hidden_size", r.hidden_size);
  v.template fact<AsCount>("heads", r.heads);
  v.template fact<AsCount>("kv_heads", r.kv_heads);
  v.template fact<AsCount>("head_dim", r.head_dim);
  v.template fact<AsCount>("intermediate_size", r.intermediate_size);
  v.template fact<AsCount>("vocab_size", r.vocab_size);
  v.template fact<AsCount>("max_position", r.max_position);
  v.flag("tied_embeddings", r.tied_embeddings);
  v.flag("gated_mlp", r.gated_mlp);
  v.flag("qkv_bias", r.qkv_bias);
  v.flag("output_bias", r.output_bias);
  v.flag("mlp_bias", r.mlp_bias);
  v.flag("head_bias", r.head_bias);
  v.flag("learned_positions", r.learned_positions);
  v.template fact<AsCount>("position_offset", r.position_offset);
  v.flag("attention_sinks", r.attention_sinks);
  v.flag("parallel_blocks", r.parallel_blocks);
  v.choice("norm", r.norm);
  v.choice("qk_norm", r.qk_norm);
  v.template fact<AsCount>("norms_per_layer", r.norms_per_layer);
  v.template fact<AsCount>("sliding_window", r.sliding_window);
  v.template fact<AsCount>("windowed_layers", r.windowed_layers);
  v.template fact<AsCount>("experts", r.experts);
  v.template fact<AsCount>("experts_per_token", r.experts_per_token);
  v.template fact<AsCount>("shared_experts", r.shared_experts);
  v.template fact<AsCount>("expert_intermediate_size", r.expert_intermediate_size);
  v.template fact<AsCount>("shared_expert_intermediate_size", r.shared_expert_intermediate_size);
  v.template fact<AsCount>("dense_layers", r.dense_layers);
  v.flag("router_bias", r.router_bias);
  v.flag("expert_bias", r.expert_bias);
  v.flag("shared_expert_gate", r.shared_expert_gate);
  v.template fact<AsCount>("kv_lora_rank", r.kv_lora_rank);
  v.template fact<AsCount>("q_lora_rank", r.q_lora_rank);
  v.template fact<AsCount>("qk_nope_head_dim", r.qk_nope_head_dim);
  v.template fact<AsCount>("qk_rope_head_dim", r.qk_rope_head_dim);
  v.template fact<AsCount>("v_head_dim", r.v_head_dim);
  v.template fact<AsCount>("parameters", r.parameters);
  v.template fact<AsCount>("active_parameters", r.active_parameters);
  v.text("native_format", r.native_format);
  v.text("config", r.config);
  v.texts("config_from_memory", r.config_from_memory);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}

template <class V, RecordOf<EngineFormat> R>
void visit_fields(V& v, R& r) {
  v.name("format", r.format);
  v.text("compute_capability", r.compute_capability);
  v.texts("vendors", r.vendors);
}
template <class V, RecordOf<EngineInterval> R>
void visit_fields(V& v, R& r) {
  v.name("regime", r.regime);
  v.template fact<AsNumber>("low", r.low, Mark::derived);
  v.template fact<AsNumber>("high", r.high, Mark::derived);
  v.template fact<AsCount>("rows", r.rows);
  v.template fact<AsCount>("sources", r.sources);
}

template <class V, RecordOf<EngineRelease> R>
void visit_fields(V& v, R& r) {
  v.name("before", r.before);
  v.flag("unified_pages", r.unified_pages);
  v.flag("whole_prompts", r.whole_prompts);
  v.template fact<AsCount>("profiled_sequences", r.profiled_sequences);
  v.template fact<AsCount>("max_batched_tokens", r.max_batched_tokens);
  v.template fact<AsGib>("context_gib", r.context);
  v.template fact<AsGib>("communication_gib", r.communication);
  v.template fact<AsNumber>("sampler_bytes_per_logit", r.sampler_bytes_per_logit);
}

template <class V, RecordOf<Engine> R>
void visit_fields(V& v, R& r) {
  v.name("name", r.name);
  v.text("title", r.title);
  v.texts("aliases", r.aliases);
  v.text("version", r.version);
  v.texts("vendors", r.vendors);
  v.text("min_compute_capability", r.min_compute_capability);
  v.template fact<AsNumber>("memory_fraction", r.memory_fraction);
  v.flag("preallocates", r.preallocates);
  v.template fact<AsCount>("kv_block_tokens", r.kv_block_tokens);
  v.flag("windowed_kv", r.windowed_kv);
  v.template fact<AsCount>("max_sequences", r.max_sequences);
  v.template fact<AsCount>("max_batched_tokens", r.max_batched_tokens);
  v.flag("prefill_first", r.prefill_first);
  v.template fact<AsGib>("context_gib", r.context);
  v.template fact<AsGib>("workspace_gib", r.workspace);
  v.template fact<AsGib>("graphs_gib", r.graphs);
  v.template fact<AsGib>("communication_gib", r.communication);
  v.template fact<AsNumber>("sampler_bytes_per_logit", r.sampler_bytes_per_logit);
  v.template fact<AsNumber>("activation_copies", r.activation_copies);
  v.template fact<AsCount>("profiled_sequences", r.profiled_sequences);
  v.template fact<AsCount>("large_profiled_sequences", r.large_profiled_sequences);
  v.template fact<AsCount>("large_max_batched_tokens", r.large_max_batched_tokens);
  v.template fact<AsGib>("large_memory_gib", r.large_memory);
  v.text("large_capability", r.large_capability);
  v.template fact<AsCount>("graph_tokens", r.graph_tokens);
  v.template fact<AsNumber>("kv_copies", r.kv_copies);
  v.template fact<AsNumber>("score_bytes", r.score_bytes);
  v.template fact<AsNumber>("prompt_logit_bytes", r.prompt_logit_bytes);
  v.template fact<AsNumber>("allocator_slack", r.allocator_slack, Mark::derived);
  v.flag("fraction_of_free", r.fraction_of_free);
  v.flag("whole_prompts", r.whole_prompts);
  v.flag("embedding_on_host", r.embedding_on_host);
  v.template fact<AsNumber>("overhead_low", r.overhead_low, Mark::derived);
  v.template fact<AsNumber>("overhead_high", r.overhead_high, Mark::derived);
  v.template fact<AsNumber>("compute_efficiency", r.compute_efficiency, Mark::derived);
  v.template fact<AsNumber>("dequantized_efficiency", r.dequantized_efficiency, Mark::derived);
  v.template fact<AsNumber>("bandwidth_efficiency", r.bandwidth_efficiency, Mark::derived);
  v.template fact<AsNumber>("attention_efficiency", r.attention_efficiency, Mark::derived);
  v.template fact<AsNumber>("overlap", r.overlap, Mark::derived);
  v.template fact<AsMicroseconds>("launch_us", r.launch, Mark::derived);
  v.template fact<AsMicroseconds>("host_launch_us", r.host_launch, Mark::derived);
  v.template fact<AsMicroseconds>("step_us", r.step, Mark::derived);
  v.template fact<AsMicroseconds>("request_us", r.request, Mark::derived);
  v.template fact<AsMicroseconds>("host_us", r.host, Mark::derived);
  v.template fact<AsMicroseconds>("stream_us", r.stream, Mark::derived);
  v.template fact<AsNumber>("meeting", r.meeting, Mark::derived);
  v.template fact<AsNumber>("in_step", r.in_step, Mark::derived);
  v.template fact<AsCount>("expanded_rows", r.expanded_rows);
  v.template fact<AsCount>("rows_per_read", r.rows_per_read, Mark::derived);
  v.text("like", r.like);
  v.nested("formats", r.formats);
  v.nested("intervals", r.intervals);
  v.nested("releases", r.releases);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}

template <class V, RecordOf<TrainingFramework> R>
void visit_fields(V& v, R& r) {
  v.name("name", r.name);
  v.text("title", r.title);
  v.texts("aliases", r.aliases);
  v.text("version", r.version);
  v.template fact<AsNumber>("gradient_bytes", r.gradient_bytes);
  v.flag("keeps_gradients", r.keeps_gradients);
  v.template fact<AsNumber>("update_bytes", r.update_bytes);
  v.template fact<AsNumber>("bucket_parameters", r.bucket_parameters);
  v.template fact<AsCount>("buckets", r.buckets);
  v.template fact<AsNumber>("live_parameters", r.live_parameters);
  v.template fact<AsCount>("gathered_layers", r.gathered_layers);
  v.flag("loads_whole", r.loads_whole);
  v.flag("unties_embeddings", r.unties_embeddings);
  v.flag("norms_in_fp32", r.norms_in_fp32);
  v.flag("fused_activation", r.fused_activation);
  v.flag("expands_kv", r.expands_kv);
  v.flag("copies_attention", r.copies_attention);
  v.flag("fused_qkv", r.fused_qkv);
  v.flag("quantized_keep_inputs", r.quantized_keep_inputs);
  v.flag("quantizes_head", r.quantizes_head);
  v.flag("adapter_dropout", r.adapter_dropout);
  v.text("lora_targets", r.lora_targets);
  v.template fact<AsCount>("lora_rank", r.lora_rank);
  v.text("cross_entropy", r.cross_entropy);
  v.text("sharding", r.sharding);
  v.flag("gathers_ends_apart", r.gathers_ends_apart);
  v.flag("dropout", r.dropout);
  v.text("reports", r.reports);
  v.flag("reports_first_stage", r.reports_first_stage);
  v.text("recompute", r.recompute);
  v.template fact<AsGib>("context_gib", r.context);
  v.template fact<AsGib>("communicator_gib", r.communicator);
  v.template fact<AsGib>("workspace_gib", r.workspace);
  v.template fact<AsNumber>("fragmentation", r.fragmentation, Mark::derived);
  v.template fact<AsNumber>("fragmentation_low", r.fragmentation_low, Mark::derived);
  v.template fact<AsNumber>("fragmentation_high", r.fragmentation_high, Mark::derived);
  v.flag("overlaps_gradients", r.overlaps_gradients);
  v.flag("overlaps_layers", r.overlaps_layers);
  v.flag("interleaves", r.interleaves);
  v.template fact<AsNumber>("compute_efficiency", r.compute_efficiency, Mark::derived);
  v.template fact<AsNumber>("attention_efficiency", r.attention_efficiency, Mark::derived);
  v.template fact<AsNumber>("bandwidth_efficiency", r.bandwidth_efficiency, Mark::derived);
  v.template fact<AsNumber>("exposed_share", r.exposed_share, Mark::derived);
  v.template fact<AsMicroseconds>("launch_us", r.launch, Mark::derived);
  v.template fact<AsMicroseconds>("step_us", r.step, Mark::derived);
  v.template fact<AsNumber>("time_low", r.time_low, Mark::derived);
  v.template fact<AsNumber>("time_high", r.time_high, Mark::derived);
  v.template fact<AsCount>("time_rows", r.time_rows, Mark::derived);
  v.template fact<AsCount>("time_sources", r.time_sources, Mark::derived);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}

template <class V, RecordOf<Runtime> R>
void visit_fields(V& v, R& r) {
  v.name("name", r.name);
  v.text("title", r.title);
  v.texts("aliases", r.aliases);
  v.text("version", r.version);
  v.texts("vendors", r.vendors);
  v.template fact<AsNumber>("map_copies", r.map_copies, Mark::derived);
  v.template fact<AsNumber>("layout_copies", r.layout_copies);
  v.template fact<AsNumber>("score_copies", r.score_copies, Mark::derived);
  v.flag("stores_scores", r.stores_scores);
  v.template fact<AsCount>("map_elements", r.map_elements);
  v.template fact<AsGib>("context_gib", r.context);
  v.template fact<AsGib>("workspace_gib", r.workspace);
  v.template fact<AsNumber>("overhead_low", r.overhead_low, Mark::derived);
  v.template fact<AsNumber>("overhead_high", r.overhead_high, Mark::derived);
  v.text("time_as", r.time_as);
  v.text("compiled", r.compiled);
  v.flag("compiles_graphs", r.compiles_graphs);
  v.flag("tf32_convolutions", r.tf32_convolutions);
  v.template fact<AsNumber>("compute_efficiency", r.compute_efficiency, Mark::derived);
  v.template fact<AsNumber>("convolution_efficiency", r.convolution_efficiency, Mark::derived);
  v.template fact<AsNumber>("depthwise_efficiency", r.depthwise_efficiency, Mark::derived);
  v.template fact<AsNumber>("attention_efficiency", r.attention_efficiency, Mark::derived);
  v.template fact<AsNumber>("bandwidth_efficiency", r.bandwidth_efficiency, Mark::derived);
  v.template fact<AsNumber>("map_passes", r.map_passes, Mark::derived);
  v.template fact<AsNumber>("layout_passes", r.layout_passes, Mark::derived);
  v.template fact<AsNumber>("score_passes", r.score_passes, Mark::derived);
  v.template fact<AsNumber>("kernels", r.kernels, Mark::derived);
  v.template fact<AsMicroseconds>("launch_us", r.launch, Mark::derived);
  v.template fact<AsMicroseconds>("host_launch_us", r.host_launch, Mark::derived);
  v.template fact<AsMicroseconds>("request_us", r.request, Mark::derived);
  v.template fact<AsNumber>("interval_low", r.interval_low, Mark::derived);
  v.template fact<AsNumber>("interval_high", r.interval_high, Mark::derived);
  v.template fact<AsCount>("interval_rows", r.interval_rows, Mark::derived);
  v.template fact<AsCount>("interval_sources", r.interval_sources, Mark::derived);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}

// The key of the list in YAML, and what one record is called in messages.
template <class R>
inline constexpr std::string_view list_key = "";
template <>
inline constexpr std::string_view list_key<Accelerator> = "accelerators";
template <>
inline constexpr std::string_view list_key<Link> = "links";
template <>
inline constexpr std::string_view list_key<NodeDesign> = "nodes";
template <>
inline constexpr std::string_view list_key<ModelPreset> = "models";
template <>
inline constexpr std::string_view list_key<Engine> = "engines";
template <>
inline constexpr std::string_view list_key<TrainingFramework> = "training_frameworks";
template <>
inline constexpr std::string_view list_key<Runtime> = "runtimes";
template <>
inline constexpr std::string_view list_key<Provider> = "providers";
template <>
inline constexpr std::string_view list_key<StorageClass> = "storage_classes";
template <>
inline constexpr std::string_view list_key<FrameworkRelease> = "framework_releases";
template <>
inline constexpr std::string_view list_key<CudaRelease> = "cuda_releases";
template <>
inline constexpr std::string_view list_key<OwnedHardware> = "owned_hardware";
template <>
inline constexpr std::string_view list_key<EnergyMix> = "energy";
template <>
inline constexpr std::string_view list_key<FailureStudy> = "failure_studies";
template <>
inline constexpr std::string_view list_key<FormatQuality> = "format_qualities";
template <>
inline constexpr std::string_view list_key<UseCase> = "use_cases";
template <>
inline constexpr std::string_view list_key<CurrencyRate> = "rates";

}  // namespace gpuplan
