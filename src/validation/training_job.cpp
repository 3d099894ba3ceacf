// Measured training rows as jobs: what the columns say, and what frameworks do where they say nothing.

#include "training_job.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/model/config.hpp>
#include <gpuplan/model/stored_scheme.hpp>

#include <algorithm>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::int64_t kUsualHead = 128;

std::int64_t number_of(const Node& node, std::string_view key, std::int64_t otherwise = 0) {
  const Node* value = node.find(key);
  return value ? parse_count_or_zero(value->scalar).value.value_or(otherwise) : otherwise;
}

bool is_true(const Node& node, std::string_view key, bool otherwise) {
  const Node* value = node.find(key);
  return value ? parse_bool(value->scalar).value.value_or(otherwise) : otherwise;
}

// The `arch` column: a decoder in a few numbers. Without a gate it is of the GPT family: layer norms and biases.
std::optional<Architecture> architecture_from(const TrainingRow& row) {
  const Node node = parse_json(row.arch, row.id);
  Architecture a;
  a.name = row.model;
  a.layers = number_of(node, "layers");
  a.hidden = number_of(node, "hidden");
  a.intermediate = number_of(node, "ffn");
  a.vocab = number_of(node, "vocab");
  if (a.layers == 0 || a.hidden == 0 || a.vocab == 0) return std::nullopt;
  a.head_dim = number_of(node, "head_dim", kUsualHead);
  a.heads = number_of(node, "heads", std::max<std::int64_t>(1, a.hidden / std::max<std::int64_t>(1, a.head_dim)));
  a.kv_heads = number_of(node, "kv_heads", a.heads);
  a.gated_mlp = is_true(node, "gated", a.intermediate != 4 * a.hidden);  // a gate comes with a narrower MLP
  a.tied_embeddings = is_true(node, "tied", false);
  if (!a.gated_mlp) {
    a.norm = NormKind::layer;
    a.qkv_bias = a.output_bias = a.mlp_bias = true;
  }
  if (!check_architecture(a).empty()) return std::nullopt;
  return a;
}

// Fine-tuning recipes call `bf16` what holds everything in 16 bit, pretraining programs what has fp32 master weights.
TrainingPrecision precision_of(const TrainingRow& row) {
  const std::string& text = row.precision;
  if (text == "fp32" || text == "tf32") return TrainingPrecision::fp32;
  if (text.find("fp8") != std::string::npos) return TrainingPrecision::fp8;
  if (text.find("fp4") != std::string::npos) return TrainingPrecision::fp4;
  if (variant_of(row, "master_weights") == "none") return TrainingPrecision::bf16;
  if (text == "bf16" && row.task != "pretrain") return TrainingPrecision::bf16;
  if (text.ends_with("/bf16")) return TrainingPrecision::bf16;
  return text == "bf16" ? TrainingPrecision::bf16_mixed : TrainingPrecision::fp16_mixed;
}

void read_optimizer(const TrainingRow& row, TrainingSpec& job) {
  std::string name = row.optimizer;
  constexpr std::string_view kInBackward = "-in-backward";
  if (name.ends_with(kInBackward)) {
    job.optimizer_in_backward = true;
    name.resize(name.size() - kInBackward.size());
  }
  if (const auto parsed = parse_optimizer(name); parsed.value) job.optimizer = *parsed.value;
  if (variant_of(row, "optimizer_bits") == "8") job.optimizer = Optimizer::adamw_8bit;
}

void read_recompute(const TrainingRow& row, TrainingSpec& job) {
  std::string name = row.recompute;
  constexpr std::string_view kOffload = "+offload";
  if (name.ends_with(kOffload)) {
    job.activation_offload = true;
    name.resize(name.size() - kOffload.size());
  }
  if (const auto parsed = parse_recompute(name); parsed.value) job.recompute = *parsed.value;
}

// README of the measurements: nf4 has one level of scales, nf4-dq two.
std::string weights_of(const TrainingRow& row) {
  const std::string stored = row.precision.substr(0, row.precision.find('/'));
  if (stored == "nf4" && row.precision != stored) return "nf4-sq";
  return "nf4";
}

}  // namespace

std::string variant_of(const TrainingRow& row, std::string_view key) {
  for (const std::string& pair : split(row.variant, ';')) {
    const auto equals = pair.find('=');
    if (equals != std::string::npos && std::string_view(pair).substr(0, equals) == key) return pair.substr(equals + 1);
  }
  return {};
}

std::optional<Architecture> architecture_for(const Catalog& catalog, const TrainingRow& row) {
  if (const ModelPreset* preset = catalog.find_model(row.model)) {
    const Network network = read_model_preset(*preset).network;
    if (network.decoder) return *network.decoder;
  }
  if (row.arch.empty()) return std::nullopt;
  return architecture_from(row);
}

TrainingSpec job_of(const TrainingRow& row, const TrainingFramework& framework) {
  TrainingSpec job;
  job.method = parse_training_method(row.task).value.value_or(TrainingMethod::full);
  job.precision = precision_of(row);
  read_optimizer(row, job);
  read_recompute(row, job);
  const std::string zero = row.zero.empty() ? std::string(framework.sharding) : row.zero;
  if (const auto sharding = parse_state_sharding(zero); sharding.value) job.sharding = *sharding.value;
  job.tp = row.tp.value_or(1);
  job.pp = row.pp.value_or(1);
  job.vpp = row.vpp.value_or(1);
  job.cp = row.cp.value_or(1);
  job.ep = row.ep.value_or(1);
  job.dp = row.dp.value_or(std::max<std::int64_t>(1, row.count.value_or(1) / (job.tp * job.pp * job.cp)));
  // More ranks for experts than data-parallel ones: they take the tensor-parallel ranks as well.
  if (job.ep > job.dp * job.cp) job.expert_tp = 1;
  job.sequence_parallel = row.sequence_parallel;
  job.flash_attention = row.flash_attention != "no";
  job.dropout = framework.dropout;
  job.sequence = row.sequence.value_or(0);
  job.micro_batch = row.micro_batch.value_or(0);
  job.grad_accum = row.grad_accum.value_or(1);
  job.lora_rank = row.lora_rank.value_or(framework.lora_rank.or_else(job.lora_rank));
  const std::string said_targets = variant_of(row, "lora_targets");
  const std::string_view names = said_targets.empty() ? std::string_view(framework.lora_targets) : said_targets;
  if (const auto targets = parse_lora_targets(names); targets.value) job.lora_targets = *targets.value;
  if (variant_of(row, "offload") == "cpu") job.offload = TrainingOffload::all;
  const std::string chunked = variant_of(row, "chunked_ce");
  if (!chunked.empty()) job.cross_entropy = chunked == "yes" ? CrossEntropy::chunked : CrossEntropy::plain;
  return job;
}

// A compiled graph joins norms and activation functions into one kernel each.
TrainingFramework framework_of(const TrainingFramework& framework, const TrainingRow& row) {
  TrainingFramework own = framework;
  if (variant_of(row, "compile") == "yes") {
    own.norms_in_fp32 = false;
    own.fused_activation = true;
  }
  return own;
}

const TrainingFramework* known_framework(const Catalog& catalog, const TrainingRow& row) {
  const TrainingFramework* known = catalog.find_training_framework(row.engine);
  // Who names no program but trains in 8 or 4 bit uses the kernels that Megatron Core is built around.
  const bool narrow = row.precision.find("fp8") != std::string::npos || row.precision.find("fp4") != std::string::npos;
  if (!known && row.engine.empty() && narrow)
    known = catalog.find_training_framework("megatron-core");  // product-name: a record of data/
  return known ? known : catalog.find_training_framework("pytorch");
}

ServedModel model_of(Architecture architecture, const TrainingRow& row) {
  ServedModel model;
  model.architecture = std::move(architecture);
  model.tensors = tensors_of(model.architecture);
  model.scheme = resolve_scheme(*parse_scheme(weights_of(row)).value, model.architecture, model.tensors);
  return model;
}

}  // namespace gpuplan
