#pragma once
/// The typed facts: one struct a record of `data/*.yaml`, with the units in the types. The YAML name and unit of every field
/// stand in `src/catalog/fields.hpp`, once, for reading, compiling in, overlaying and showing.
///
/// Texts are views into the built-in data or into the Catalog that read them.

#include <gpuplan/base/units.hpp>
#include <gpuplan/catalog/record.hpp>
#include <gpuplan/catalog/records_market.hpp>
#include <gpuplan/catalog/records_use.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace gpuplan {

enum class PeerToPeer : std::uint8_t { unknown, yes, no, bridge };  ///< between cards of one host over PCIe
std::string_view to_string(PeerToPeer value);

/// An accelerator SKU. Peaks are dense. Memory: `memory` is what the device reports with ECC taken off, `memory_label` the
/// number on the box, `visible_memory` what a program sees.
struct Accelerator {
  Text name;
  Texts aliases;
  Text vendor;
  Text architecture;
  Text family;
  Text form_factor;
  Fact<std::int64_t> release_year;
  Fact<Bytes> memory;
  Fact<Bytes> memory_label;
  Fact<Bytes> visible_memory;
  Text memory_type;
  Fact<BytesPerSecond> memory_bandwidth;
  Fact<FlopPerSecond> fp64, fp32, tf32, fp16, fp16_fp16acc, bf16, fp8, int8, int4, fp6, fp4;
  Fact<Bytes> l2_cache;
  Fact<std::int64_t> sm_count;
  Text compute_capability;
  Fact<Watts> tdp;
  Text scale_up_link;  ///< name of a Link, or empty
  Fact<BytesPerSecond> scale_up_bandwidth;
  Fact<std::int64_t> scale_up_domain;
  Text host_link;  ///< name of a Link
  PeerToPeer peer_to_peer = PeerToPeer::unknown;
  Text peer_to_peer_note;
  Text min_cuda_version;
  Fact<BytesPerSecond> stream_bandwidth;
  Text stream_bandwidth_method;
  Fact<BytesPerSecond> core_bandwidth;  ///< of a CPU: what one core reads alone
  Fact<FlopPerSecond> achieved_gemv;    ///< of a CPU: quantized matrix by vector, where matrix instructions do not help
  bool stream_bandwidth_is_lower_bound = false;  ///< not a plain STREAM triad or read: a copy, an application
  Fact<FlopPerSecond> achieved_gemm;
  Fact<FlopPerSecond> achieved_gemm_fp8;
  Text achieved_gemm_source;
  bool memory_is_label = false;
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

enum class LinkCategory : std::uint8_t { scale_up, host, switched, scale_out };
std::string_view to_string(LinkCategory value);

/// How a link joins its devices, which says what share of its rate a few of them have. `tree`: a PCIe switch or root complex.
enum class FabricShape : std::uint8_t { unknown, switched, full_mesh, cube_mesh, bridge, torus, tree };
std::string_view to_string(FabricShape value);

/// What collectives of one algorithm reach over a link: docs/PHYSICS.md, "Communication". Times of a call and of one step, and the
/// share of the link's rate that is achieved, by each of the two ways a message is sent: with a flag in every word, which starts
/// at once, and in bulk, through buffers that must fill.
struct CollectiveSpeed {
  Text algorithm;  ///< ring, exchange, in_switch; between hosts network, in_network
  Fact<Seconds> launch;
  Fact<Seconds> hop;
  Fact<double> efficiency;
  Fact<Seconds> bulk_launch;
  Fact<Seconds> bulk_hop;
  Fact<double> bulk_efficiency;
  Fact<double> pair_efficiency;  ///< in bulk between two devices, where more share what they do not
  Fact<double> copy_efficiency;  ///< of the copy of a rank's own part, over the link's rate; nothing: it is not seen
  Fact<std::int64_t> rows;       ///< that it is fitted to
  Fact<std::int64_t> systems;
  SourceId source = 0;
};

/// A link kind. Rates are per direction and device; efficiencies are achieved bus bandwidth over that rate.
struct Link {
  Text name;
  Text title;
  Texts aliases;
  LinkCategory category = LinkCategory::host;
  Text generation;
  Fact<BytesPerSecond> rate;
  Fact<BytesPerSecond> rate_per_link;
  Fact<std::int64_t> links_per_device;
  Fact<BytesPerSecond> port_rate;
  Fact<double> all_reduce_efficiency;
  Fact<double> in_network_all_reduce_efficiency;
  Fact<double> point_to_point_efficiency;
  Fact<Seconds> all_reduce_latency_2;
  Fact<Seconds> all_reduce_latency_8;
  Fact<bool> in_network_reduction;
  FabricShape shape = FabricShape::unknown;
  std::span<const CollectiveSpeed> collectives;
  Text achieved;
  Text measured_source;
  Text platforms;
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

/// A node design: how many accelerators share a host, over what, and what leaves it.
struct NodeDesign {
  Text name;
  Text title;
  Texts aliases;
  Text provider;
  Texts accelerators;
  Text accelerator_text;
  Fact<std::int64_t> count;
  Text intra_topology;
  FabricShape shape = FabricShape::unknown;  ///< where it is not that of the link
  Fact<BytesPerSecond> intra_rate;
  Text fabric_link;
  Fact<std::int64_t> scale_up_domain;
  Text nic_type;
  Text nic_link;
  Fact<std::int64_t> nics;
  Fact<BytesPerSecond> nic_rate;
  Fact<BytesPerSecond> node_rate;
  Text cpu;
  Fact<std::int64_t> cpu_sockets;
  Fact<Bytes> ram;
  Text nvme;
  PeerToPeer peer_to_peer = PeerToPeer::unknown;
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

enum class NormKind : std::uint8_t { rms, layer };  ///< a layer norm has a bias besides its weight
enum class QkNorm : std::uint8_t {
  none,
  per_head,
  full
};  ///< norms on queries and keys: one head wide, or all heads wide
std::string_view to_string(NormKind value);
std::string_view to_string(QkNorm value);

/// A model preset: the architecture's numbers field by field, or the text of the model's own configuration (`config`), which
/// is read as a file of it would be.
struct ModelPreset {
  Text name;
  Texts aliases;
  Text family;
  Text architecture;  ///< class name in the model's configuration, where known
  Fact<std::int64_t> layers, hidden_size, heads, kv_heads, head_dim, intermediate_size, vocab_size, max_position;
  bool tied_embeddings = false;
  bool gated_mlp = true;
  bool qkv_bias = false, output_bias = false, mlp_bias = false, head_bias = false;
  bool learned_positions = false;      ///< an embedding of max_position rows
  Fact<std::int64_t> position_offset;  ///< extra rows of the learned positions (OPT: 2)
  bool attention_sinks = false;        ///< one learned value a head
  bool parallel_blocks = false;        ///< attention and MLP read one common norm
  NormKind norm = NormKind::rms;
  QkNorm qk_norm = QkNorm::none;
  Fact<std::int64_t> norms_per_layer;  ///< 2 unless said
  Fact<std::int64_t> sliding_window;
  Fact<std::int64_t> windowed_layers;  ///< how many layers slide; with a window and no number, all of them
  Fact<std::int64_t> experts, experts_per_token, shared_experts, expert_intermediate_size,
      shared_expert_intermediate_size;
  Fact<std::int64_t> dense_layers;  ///< layers with a plain MLP, before or between the expert layers
  bool router_bias = false, expert_bias = false, shared_expert_gate = false;
  Fact<std::int64_t> kv_lora_rank, q_lora_rank, qk_nope_head_dim, qk_rope_head_dim, v_head_dim;
  Fact<std::int64_t> parameters;         ///< published or computed from the configuration, exact
  Fact<std::int64_t> active_parameters;  ///< as published
  Text native_format;                    ///< a scheme's name: bf16, fp8, mxfp4
  Text config;  ///< JSON: a config.json, or of a pipeline its components' by name; the fields above are then empty
  Texts config_from_memory;  ///< keys of `config` that no source at hand repeats
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

/// What an engine keeps aside and achieves. Fitted values are `derived` and name their fit.
struct EngineFormat {
  Text format;              ///< a scheme's name
  Text compute_capability;  ///< the least NVIDIA compute capability with kernels for it
  Texts vendors;            ///< vendors with kernels for it
};
/// Quantiles of measured / predicted time, 10 % and 90 %, over rows of one regime.
struct EngineInterval {
  Text regime;  ///< decode, prefill, decode_loaded, prefill_loaded
  Fact<double> low;
  Fact<double> high;
  Fact<std::int64_t> rows;
  Fact<std::int64_t> sources;
};
/// What an engine does otherwise in the releases before one; what is not named is as in the record, or in the next newer entry.
struct EngineRelease {
  Text before;                 ///< `0.7`: holds for releases before it
  bool unified_pages = false;  ///< layers with a window keep the whole context, whatever `windowed_kv` says
  bool whole_prompts = false;  ///< a step takes a whole prompt, up to the context
  Fact<std::int64_t> profiled_sequences;
  Fact<std::int64_t> max_batched_tokens;
  Fact<Bytes> context;
  Fact<Bytes> communication;
  Fact<double> sampler_bytes_per_logit;
};
struct Engine {
  Text name;
  Text title;
  Texts aliases;
  Text version;
  Texts vendors;                       ///< whose devices it runs on; `any` for all
  Text min_compute_capability;         ///< of NVIDIA devices
  Fact<double> memory_fraction;        ///< share of the visible memory it may take
  bool preallocates = false;           ///< takes its whole share at start; the rest of the share becomes KV cache
  Fact<std::int64_t> kv_block_tokens;  ///< tokens a page
  bool windowed_kv = true;             ///< layers with a window keep only the window
  Fact<std::int64_t> max_sequences;
  Fact<std::int64_t> max_batched_tokens;  ///< of one step; bounds chunked prefill
  bool prefill_first = false;             ///< finishes all waiting prompts before it decodes on
  Fact<Bytes> context;                    ///< driver context and loaded kernels, outside any pool
  Fact<Bytes> workspace;                  ///< libraries' workspaces
  Fact<Bytes> graphs;                     ///< captured graphs
  Fact<Bytes> communication;              ///< buffers of collectives, with more than one device
  Fact<double> sampler_bytes_per_logit;   ///< per running sequence and vocabulary entry
  Fact<double> activation_copies;         ///< live hidden-wide buffers per token of the largest step
  Fact<std::int64_t> profiled_sequences;  ///< that sampling is profiled with at start; unknown: as many as run
  Fact<std::int64_t>
      large_profiled_sequences;  ///< the same on devices of `large_capability` with at least `large_memory`
  Fact<std::int64_t> large_max_batched_tokens;
  Fact<Bytes> large_memory;
  Text large_capability;            ///< least NVIDIA compute capability of such devices
  Fact<std::int64_t> graph_tokens;  ///< tokens that the reserved graph of operations is made for (a micro-batch)
  Fact<double> kv_copies;           ///< bytes held for each byte of the cache; over 1 where it grows by concatenation
  Fact<double> score_bytes;  ///< an attention score of a prompt, where scores are stored; unknown: fused attention
  Fact<double>
      prompt_logit_bytes;  ///< a logit of every prompt token, where all are computed; unknown: the last one's only
  Fact<double> allocator_slack;    ///< share of what it allocates that is held beside it
  bool fraction_of_free = false;   ///< `memory_fraction` is of what is free once the rest is there
  bool whole_prompts = false;      ///< a step takes a whole prompt
  bool embedding_on_host = false;  ///< the token table stays in host memory
  Fact<double> overhead_low;       ///< 10 % and 90 % quantiles of measured over computed overheads
  Fact<double> overhead_high;
  Fact<double> compute_efficiency;      ///< share of the dense peak in large matrix products
  Fact<double> dequantized_efficiency;  ///< the same when weights are expanded to 16 bit on the way
  Fact<double> bandwidth_efficiency;    ///< share of the memory bandwidth
  Fact<double> attention_efficiency;    ///< share of the dense peak in attention
  Fact<double> overlap;                 ///< kappa: share of the lesser of compute and memory time that is not hidden
  Fact<Seconds> launch;                 ///< per operator
  Fact<Seconds> host_launch;  ///< of the host, per kernel of a step without a captured graph, while the device works
  Fact<Seconds> step;         ///< host time of a running sequence in a step: scheduler, sampler, text
  Fact<Seconds> request;      ///< per request before its first token
  Fact<Seconds> host;         ///< host time of a step, whatever runs: scheduler, inputs, launch of a graph
  Fact<Seconds> stream;       ///< host time of a token that is sent to a client: text, one message
  Fact<double> meeting;  ///< prompts of equal requests that a prompt meets in a closed loop, where there are so many
  Fact<double> in_step;  ///< share of all others' prompts that come before one's own in a closed loop
  Fact<std::int64_t>
      expanded_rows;  ///< products of so many rows and more write quantized weights to memory in 16 bit first
  Fact<std::int64_t> rows_per_read;  ///< a kernel for single rows reads quantized weights again for every so many
  Text like;                         ///< the engine whose constants are taken where its own rows are few
  std::span<const EngineFormat> formats;
  std::span<const EngineInterval> intervals;
  std::span<const EngineRelease> releases;  ///< newest first
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

/// What a training program keeps beside what the arithmetic needs: buffers, kernels, allocator. docs/PHYSICS.md, "Training memory".
struct TrainingFramework {
  Text name;
  Text title;
  Texts aliases;
  Text version;
  Fact<double> gradient_bytes;   ///< of one gradient in mixed precision; unknown: as wide as the weights that compute
  bool keeps_gradients = false;  ///< gradients live in buffers that stay, else they come and go with each backward pass
  Fact<double> update_bytes;     ///< temporaries of the optimizer's step per parameter that the device updates
  Fact<double> bucket_parameters;  ///< gradients reduced at once, in each bucket
  Fact<std::int64_t> buckets;      ///< buckets alive at once
  Fact<double> live_parameters;    ///< most parameters that stay gathered at once when weights are sharded
  Fact<std::int64_t>
      gathered_layers;  ///< layers gathered at once when weights are sharded: the current one and those fetched ahead
  bool loads_whole = false;        ///< the whole model that a device loaded stays beside its share of the weights
  bool unties_embeddings = false;  ///< output head and embedding are two tensors, whatever the model says
  bool norms_in_fp32 = false;      ///< norms are separate operations in 32 bit, whose intermediates are kept
  bool fused_activation = false;   ///< activation function and gate are one operation that keeps its inputs alone
  bool expands_kv = false;         ///< keys and values are copied to the width of the queries
  bool copies_attention = false;   ///< the attention's output is copied into the layout of the product behind it
  bool fused_qkv = false;  ///< queries, keys and values are parts of one tensor, which stays whole for the values' sake
  bool quantized_keep_inputs =
      false;                     ///< products with quantized weights keep their inputs, though the weights do not train
  bool quantizes_head = false;   ///< the output head is quantized with the layers
  bool adapter_dropout = false;  ///< adapters see inputs with dropout, which each keeps a copy of
  Text lora_targets;             ///< which products its recipes give adapters unless the job says
  Fact<std::int64_t> lora_rank;  ///< of these adapters
  Text cross_entropy;            ///< how the loss is computed unless the job says: plain, chunked, fused
  Text sharding;                 ///< what data-parallel ranks divide unless the job says: 0 to 3, fsdp
  bool gathers_ends_apart = false;   ///< embedding and output head are gathered each when it is used
  bool dropout = false;              ///< on hidden states and attention, unless the job says otherwise
  Text reports;                      ///< what its logs call memory: allocated, reserved, device
  bool reports_first_stage = false;  ///< figures in its logs are of the first pipeline stage
  Text
      recompute;  ///< none, selective, full; `fitting`: none if that fits, else full; `sharded`: full where weights are divided
  Fact<Bytes> context;             ///< driver context and loaded kernels
  Fact<Bytes> communicator;        ///< buffers of one group of devices
  Fact<Bytes> workspace;           ///< libraries' workspaces
  Fact<double> fragmentation;      ///< share of what comes and goes that the allocator holds besides
  Fact<double> fragmentation_low;  ///< 10 % and 90 % quantiles of it
  Fact<double> fragmentation_high;
  bool overlaps_gradients = false;    ///< gradients are exchanged while the backward pass runs on
  bool overlaps_layers = false;       ///< collectives of tensor and expert parallelism run while products do
  bool interleaves = false;           ///< its recipes give a pipeline stage several model chunks
  Fact<double> compute_efficiency;    ///< share of the compute ceiling in matrix products
  Fact<double> attention_efficiency;  ///< the same in attention
  Fact<double> bandwidth_efficiency;  ///< share of the bandwidth ceiling
  Fact<double> exposed_share;  ///< of the lesser of communication and computation that run at once, what is not hidden
  Fact<Seconds> launch;        ///< a kernel: its start and its end
  Fact<Seconds> step;          ///< host time of an optimizer step
  Fact<double> time_low;       ///< 10 % and 90 % quantiles of measured over predicted step times
  Fact<double> time_high;
  Fact<std::int64_t> time_rows;  ///< that these rest on
  Fact<std::int64_t> time_sources;
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

/// A library that runs networks which do not generate token by token: what it holds of the maps between two operations.
/// docs/PHYSICS.md, "Memory of other networks".
struct Runtime {
  Text name;
  Text title;
  Texts aliases;
  Text version;
  Texts vendors;            ///< whose devices it runs on; empty: all
  Fact<double> map_copies;  ///< bytes held for each byte of an operation's maps: its input twice, and its output
  Fact<double>
      layout_copies;  ///< bytes for each byte of a 16-bit convolution's input and output: the layout of its kernels
  Fact<double> score_copies;        ///< bytes held for each byte of attention scores, where they are stored
  bool stores_scores = false;       ///< attention is not fused unless the job says otherwise
  Fact<std::int64_t> map_elements;  ///< the most elements that one map of a convolution may have
  Fact<Bytes> context;              ///< driver context and loaded kernels
  Fact<Bytes> workspace;            ///< libraries' workspaces
  Fact<double> overhead_low;        ///< 10 % and 90 % quantiles of measured over computed activations
  Fact<double> overhead_high;
  Text time_as;                     ///< the runtime whose figures of time stand for this one's; empty: its own
  Text compiled;                    ///< the runtime that is meant where the network is compiled before it runs
  bool compiles_graphs = false;     ///< a product, the batch norm and the activation function behind it are one kernel
  bool tf32_convolutions = false;   ///< convolutions in fp32 take the tensor cores' 32-bit format where a device has it
  Fact<double> compute_efficiency;  ///< share of the compute ceiling in matrix products that fill the device
  Fact<double> convolution_efficiency;  ///< the same in convolutions
  Fact<double> depthwise_efficiency;    ///< share of the fp32 peak in convolutions of each channel by itself
  Fact<double> attention_efficiency;    ///< share of the compute ceiling in attention
  Fact<double> bandwidth_efficiency;    ///< share of the bandwidth ceiling
  Fact<double>
      map_passes;  ///< how often a result crosses memory beside its product: norms, activation functions, residuals
  Fact<double> layout_passes;  ///< how often a convolution's maps cross memory to change their layout
  Fact<double> score_passes;   ///< how often attention scores cross memory, where they are stored
  Fact<double> kernels;        ///< a product with what follows it
  Fact<Seconds> launch;        ///< of the device, per kernel: its start and its end
  Fact<Seconds> host_launch;   ///< of the host, per kernel, while the device works on earlier ones
  Fact<Seconds> request;       ///< per batch: what is not the network
  Fact<double> interval_low;   ///< 10 % and 90 % quantiles of measured over predicted time of sources left out
  Fact<double> interval_high;
  Fact<std::int64_t> interval_rows;  ///< that they rest on
  Fact<std::int64_t> interval_sources;
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

}  // namespace gpuplan
