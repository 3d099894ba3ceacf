// What a batch asks of each part: its kernels with FLOPs, bytes and blocks of results.

#include "parts_work.hpp"

#include <gpuplan/memory/parts.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string>

namespace gpuplan {
namespace {

constexpr double kBlock = 64;  // results a side of the blocks that matrix kernels work in where there are few results
constexpr double kSixteenBit = 2;  // bytes
constexpr double kFullWidth = 4;
// Of the last-level cache over memory: 2.4 on V100 (arXiv:1804.06826), 3.2 on A100 (its whitepaper).
constexpr double kCacheSpeed = 3;
// Fewer multiplications of a 3 x 3 kernel in F(2 x 2, 3 x 3) (arXiv:1509.09308).
constexpr double kWinograd = 2.25;
constexpr double kTokensPerSecond = 10. / 3;  // of speech: 150 words a minute, four tokens for three words
constexpr double kUtterance = 10;             // seconds that are spoken where nothing says how many
constexpr std::string_view kToken = "token";

double as_double(std::int64_t n) { return static_cast<double>(n); }

bool generates_text(const NetworkPart& part) {
  return part.item == kToken && part.name.find("decoder") != std::string::npos;
}

// Seconds of sound that one item of a part is about; 0: not sound. A sampler's step over sound tells them alike.
double audio_of(const NetworkPart& part) {
  const std::string_view item = part.item;
  if (item.find("second of") != std::string_view::npos) return 1;
  const std::size_t at = item.find(" s of audio");
  if (at == std::string_view::npos) return 0;
  std::size_t start = at;
  while (start > 0 && item[start - 1] >= '0' && item[start - 1] <= '9') --start;
  double seconds = 0;
  std::from_chars(item.data() + start, item.data() + at, seconds);
  return seconds;
}

bool is_depthwise(const TensorGroup& tensor) {
  return tensor.role == TensorRole::convolution && tensor.kernel > 1 && tensor.columns == tensor.kernel &&
         tensor.rows > 1;
}

// One part with what its operators share.
class Builder {
 public:
  Builder(const PartsTimeInputs& in, const Ceilings& ceilings, const NetworkPart& part, const PartScale& scale)
      : in_(in),
        ceilings_(ceilings),
        part_(part),
        scale_(scale),
        positions_(part, scale_),
        scheme_(part_scheme(in.model->network, part, in.model->scheme, in.model->rules)),
        element_(std::max(kSixteenBit, scheme_.rest.bits / 8)) {
    on_host_ = in.accelerator->form_factor == "cpu";
    constexpr std::string_view kNorm = "_norm";
    for (const TensorGroup& tensor : part.tensors) {
      if (tensor.role == TensorRole::convolution) normed_.insert(tensor.name);
    }
    for (const TensorGroup& tensor : part.tensors) {
      if (tensor.role != TensorRole::norm) continue;
      const bool of_batch =
          tensor.name.ends_with(kNorm) && normed_.contains(tensor.name.substr(0, tensor.name.size() - kNorm.size()));
      has_norms_ = has_norms_ || !of_batch;
    }
    std::erase_if(normed_, [&](const std::string& name) {
      return std::none_of(part.tensors.begin(), part.tensors.end(),
                          [&](const TensorGroup& t) { return t.name == name + std::string(kNorm); });
    });
    stores_scores_ = in.job.flash_attention ? !*in.job.flash_attention : in.runtime->stores_scores;
  }

  void add(const TensorGroup& tensor, std::vector<PartOperator>& out) const {
    const bool is_table = tensor.role == TensorRole::embedding || tensor.role == TensorRole::position;
    if (tensor.role == TensorRole::embedding && tensor.columns > 1) out.push_back(look_up(tensor));
    if (tensor.uses > 0 &&
        (tensor.multiplies() || (is_table && tensor.role == TensorRole::embedding && tensor.columns > 1)))
      out.push_back(product(tensor));
  }

  // @param keys  that each query sees
  // @param gathered  the text's length where scores against a table of positions are spread over it, which no fused kernel does
  void attend(const PartAttention& a, double keys, double gathered, std::vector<PartOperator>& out) const {
    PartOperator op = begin("attention", PartOperatorKind::attention, plain_arithmetic());
    const double queries = scale_.items * positions_.of(a.queries);
    const double width = as_double(a.heads) * as_double(a.head_dim);
    op.count = as_double(a.layers);
    op.flops = op.count * 4 * width * queries * keys;
    op.results = op.count * spilled(queries * width * element_);
    op.bytes = 2 * op.results + op.count * 2 * spilled(scale_.items * keys * width * element_);
    if (stores_scores_ || gathered > 0)
      op.scores = op.count * spilled(as_double(a.heads) * queries * std::max(keys, gathered) * element_);
    op.blocks = queries * as_double(a.heads) / kBlock / multiprocessors();
    out.push_back(std::move(op));
  }

  [[nodiscard]] double keys_of(const PartAttention& a) const { return positions_.keys_of(a); }

 private:
  [[nodiscard]] double multiprocessors() const {
    return on_host_ ? 1 : std::max(1.0, as_double(in_.accelerator->sm_count.or_else(1)));
  }

  // What maps cost in bytes of memory: those that half of the last-level cache holds cross it faster.
  [[nodiscard]] double spilled(double map) const {
    const double cached = std::min(map, in_.accelerator->l2_cache.or_else({}) / bytes(1) / 2);
    return map - cached + cached / kCacheSpeed;
  }

  [[nodiscard]] PartOperator begin(std::string id, PartOperatorKind kind, Arithmetic arithmetic) const {
    PartOperator op;
    op.id = std::move(id);
    op.kind = kind;
    op.arithmetic = arithmetic;
    op.ceiling = ceilings_.compute(*in_.accelerator, arithmetic).base();
    op.bandwidth = ceilings_.bandwidth(*in_.accelerator).base();
    return op;
  }

  // Of what no scheme quantizes.
  [[nodiscard]] Arithmetic plain_arithmetic() const {
    if (element_ > kSixteenBit) return in_.tf32 ? Arithmetic::tf32 : Arithmetic::fp32;
    return Arithmetic::bf16;
  }
  // Schemes that quantize activations too multiply in their own arithmetic. Libraries convolve in int8, not in fp8 and fp4.
  [[nodiscard]] Arithmetic arithmetic_of(const TensorGroup& tensor, PartOperatorKind kind) const {
    const bool narrow = !scheme_.weight_only && scheme_.linear.is_quantized();
    if (kind == PartOperatorKind::depthwise) return Arithmetic::fp32;
    const bool convolves = kind == PartOperatorKind::convolution;
    if (narrow && (tensor.is_linear() || (convolves && scheme_.arithmetic == Arithmetic::int8)))
      return scheme_.arithmetic;
    const bool tf32 = kind == PartOperatorKind::convolution && in_.runtime->tf32_convolutions &&
                      plain_arithmetic() == Arithmetic::fp32 && has_arithmetic(*in_.accelerator, Arithmetic::tf32);
    return tf32 ? Arithmetic::tf32 : plain_arithmetic();
  }

  // Maps between products that are quantized stay so.
  static double width_of(Arithmetic arithmetic) {
    return arithmetic == Arithmetic::fp8 || arithmetic == Arithmetic::int8 || arithmetic == Arithmetic::fp4
               ? 1
               : kFullWidth;
  }

  [[nodiscard]] PartOperator look_up(const TensorGroup& tensor) const {
    const bool is_text = part_.item == kToken;
    const double read = scale_.items * (is_text ? scale_.length : tensor.look_ups);
    const double made = scale_.items * (is_text ? scale_.length : 1);
    PartOperator op = begin(tensor.name, PartOperatorKind::look_up, Arithmetic::fp32);
    op.count = as_double(tensor.count);
    op.results = op.count * made * as_double(tensor.columns) * element_;
    op.bytes = op.results +
               op.count * read * (stored_bytes(storage_of(tensor, scheme_), 1, as_double(tensor.columns)) / bytes(1));
    return op;
  }

  [[nodiscard]] PartOperator product(const TensorGroup& tensor) const {
    const PartOperatorKind kind = is_depthwise(tensor)                     ? PartOperatorKind::depthwise
                                  : tensor.role == TensorRole::convolution ? PartOperatorKind::convolution
                                                                           : PartOperatorKind::product;
    PartOperator op = begin(tensor.name, kind, arithmetic_of(tensor, kind));
    const double n = scale_.items * positions_.of(tensor.uses);
    const double outputs = as_double(tensor.rows);
    const double inputs = kind == PartOperatorKind::depthwise
                              ? outputs
                              : as_double(tensor.columns) / as_double(std::max<std::int64_t>(1, tensor.kernel));
    op.count = as_double(tensor.count);
    const bool by_winograd =
        kind == PartOperatorKind::convolution && tensor.kernel == 9 && !on_host_ && op.arithmetic == Arithmetic::fp32;
    op.flops = op.count * 2 * n * outputs * as_double(tensor.columns) / (by_winograd ? kWinograd : 1);
    const double element = std::min(element_, width_of(op.arithmetic));
    const double read = op.count * spilled(n * inputs * element);
    const double written = op.count * spilled(n * outputs * element);
    op.bytes = read + written +
               op.count * (stored_bytes(storage_of(tensor, scheme_), outputs, as_double(tensor.columns)) / bytes(1));
    // Norms and activations stand before a convolution or behind it; of the products of a transformer most share an input.
    op.results = kind == PartOperatorKind::product ? written : (read + written) / 2;
    // A compiler of graphs makes biases, activation functions and batch norms part of the product before them.
    if (in_.runtime->compiles_graphs && (normed_.contains(tensor.name) || !has_norms_)) op.results = 0;
    op.blocks = n * outputs / (kBlock * kBlock) / multiprocessors();
    return op;
  }

  const PartsTimeInputs& in_;
  const Ceilings& ceilings_;
  const NetworkPart& part_;
  PartScale scale_;
  PartPositions positions_;
  Scheme scheme_;
  double element_;
  std::set<std::string> normed_;  // convolutions with a batch norm behind them
  bool has_norms_ = false;        // others than those
  bool stores_scores_ = false;
  bool on_host_ = false;
};

// A sampler starts from noise: what turns pictures into latents stands idle.
bool is_run(const Network& network, const NetworkPart& part) {
  const bool generates = std::any_of(network.parts.begin(), network.parts.end(), is_denoiser);
  return part.loaded && !(generates && part.name == "vae.encoder");
}

bool guides(const Network& network, const PartsJob& job) {
  return std::any_of(network.parts.begin(), network.parts.end(), [&](const NetworkPart& part) {
    return is_denoiser(part) && job.guidance.value_or(doubles_batch(part));
  });
}

}  // namespace

double sampler_steps(const PartsJob& job, const NetworkPart& part) {
  if (job.steps > 0) return as_double(job.steps);
  return doubles_batch(part) ? kUsualSteps : kUsualDistilledSteps;
}

double fetch_seconds(const PartsTimeInputs& in, Bytes size) {
  const Accelerator& device = *in.accelerator;
  const Link* link = in.catalog && !device.host_link.empty() ? in.catalog->find_link(device.host_link) : nullptr;
  if (!link || !link->rate.known()) return 0;
  return size / (*link->rate * link->point_to_point_efficiency.or_else(1)) / seconds(1);
}

PartWork part_work(const PartsTimeInputs& in, const Ceilings& ceilings, const NetworkPart& part, double audio) {
  const StoredNetwork& model = *in.model;
  PartsJob job = in.job;
  job.vae = VaeMode::whole;  // image by image the same work is done
  PartScale scale = scale_of(model, part, job);
  PartWork work;
  work.name = part.name.empty() ? std::string_view("network") : std::string_view(part.name);
  work.on_host = in.accelerator->form_factor == "cpu";
  double keys_before = 0;
  if (is_denoiser(part)) work.runs = sampler_steps(job, part);
  if (part.item == kToken && !is_denoiser(part) && guides(model.network, job)) scale.items *= 2;
  if (generates_text(part)) {
    work.runs = audio > 0 && job.length <= 0 ? std::max(1.0, std::round(audio * kTokensPerSecond)) : scale.length;
    keys_before = work.runs / 2;
    scale.length = 1;
  }
  if (const double own = audio_of(part); own > 0) scale.items *= own > 1 ? std::ceil(audio / own) : audio;
  const Builder builder(in, ceilings, part, scale);
  for (const TensorGroup& tensor : part.tensors) builder.add(tensor, work.operators);
  const bool against_positions =
      part.item == kToken && keys_before <= 0 &&
      std::any_of(part.attention.begin(), part.attention.end(), [](const PartAttention& a) { return a.keys > 0; });
  for (const PartAttention& a : part.attention) {
    const double keys = keys_before > 0 && a.keys <= 0 ? keys_before : builder.keys_of(a);
    builder.attend(a, keys, against_positions ? scale.length : 0, work.operators);
  }
  return work;
}

PartsWork parts_work(const PartsTimeInputs& in, const Ceilings& ceilings) {
  const Network& network = in.model->network;
  PartsWork work;
  work.items = as_double(in.job.batch);
  work.moves_layout = !in.channels_last && !in.runtime->compiles_graphs;  // a compiler of graphs chooses layouts once
  double own_audio = 0;
  bool shows = false;
  bool reads = false;
  for (const NetworkPart& part : network.parts) {
    if (!is_run(network, part)) continue;
    own_audio = std::max(own_audio, audio_of(part));
    shows = shows || item_size(part).is_known();
    reads = reads || (part.item == kToken && !generates_text(part));
  }
  const double audio = own_audio <= 0 ? 0 : in.job.audio > 0 ? in.job.audio : own_audio > 1 ? own_audio : kUtterance;
  work.audio = audio * work.items;
  if (reads && !shows) work.tokens = work.items * text_length(network, in.job, kUsualLength);
  for (const NetworkPart& part : network.parts) {
    if (!is_run(network, part)) continue;
    PartWork one = part_work(in, ceilings, part, audio);
    if (one.operators.empty()) continue;
    if (in.job.offload != Offload::none) {
      const Scheme scheme = part_scheme(network, part, in.model->scheme, in.model->rules);
      const double times = in.job.offload == Offload::sequential ? one.runs : 1;
      one.fetched = times * fetch_seconds(in, weights_bytes(part.tensors, scheme));
    }
    work.parts.push_back(std::move(one));
  }
  return work;
}

}  // namespace gpuplan
