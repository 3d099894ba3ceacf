#pragma once
/// Time of networks that do not generate token by token: diffusion pipelines, encoders, image networks, speech, recommenders.
///
///     PartsTimeInputs in;
///     in.model = &sdxl;  in.runtime = catalog.find_runtime("diffusers");  in.accelerator = gpu;  in.job.batch = 4;
///     parts_time(in, ceilings, nullptr).latency.value;
///
/// A batch goes through the parts one after the other; a denoiser runs once a step. One run of a part is its products,
/// convolutions and attention by the roofline, each result's way through memory for norms, activation functions and residuals, and
/// the device's time for each kernel; a host that feeds kernels more slowly than the device works them off decides instead.
/// Source: docs/PHYSICS.md, "Time of other networks".

#include <gpuplan/base/breakdown.hpp>
#include <gpuplan/base/explain.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/job/parts.hpp>
#include <gpuplan/memory/part_sizes.hpp>
#include <gpuplan/perf/ceilings.hpp>
#include <gpuplan/perf/interval.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

inline constexpr std::int64_t kMostAtOnce = 65536;  ///< items that anybody puts in a batch

/// A sampler's usual number of steps where the job does not say, and of a network that is distilled to few (guidance built in).
inline constexpr double kUsualSteps = 50;
inline constexpr double kUsualDistilledSteps = 28;

struct PartsTimeInputs {
  const StoredNetwork* model = nullptr;
  const Runtime* runtime = nullptr;
  const Accelerator* accelerator = nullptr;
  PartsJob job;
  bool tf32 = false;           ///< products in fp32 take the tensor cores' 32-bit format
  bool channels_last = false;  ///< maps are kept in the layout of convolution kernels
  const Catalog* catalog = nullptr;
};

/// Of a denoiser.
double sampler_steps(const PartsJob& job, const NetworkPart& part);

/// `look_up`: rows of tables; `attention` has scores and weighted sums, its projections are products.
enum class PartOperatorKind : std::uint8_t { product, convolution, depthwise, attention, look_up };
std::string_view to_string(PartOperatorKind value);

/// Equal kernels of one run of a part with what the device could reach.
struct PartOperator {
  std::string id;  ///< a tensor's name, or `attention`
  PartOperatorKind kind = PartOperatorKind::product;
  Arithmetic arithmetic = Arithmetic::bf16;
  double count = 1;      ///< equal ones
  double flops = 0;      ///< of all of them
  double bytes = 0;      ///< of all: weights, inputs and results once
  double results = 0;    ///< bytes of their results
  double scores = 0;     ///< bytes of attention scores, where they are stored
  double blocks = 1;     ///< blocks of 128 x 128 results of one, for each multiprocessor
  double ceiling = 0;    ///< FLOP/s; 0 when nothing is known, then memory alone limits
  double bandwidth = 0;  ///< bytes/s
};

struct PartWork {
  std::string_view name;  ///< in the network
  double runs = 1;        ///< a batch: a sampler's steps, the tokens of a text that is generated
  double fetched = 0;     ///< seconds a batch for weights that come from the host's memory
  double beside = 0;      ///< seconds of communication beside the backward pass, which is two thirds of a training run
  bool on_host = false;   ///< no kernels are launched on a device of their own: a CPU
  std::vector<PartOperator> operators;
};

struct PartsWork {
  std::vector<PartWork> parts;
  double items = 1;           ///< pictures, texts, recordings, samples of a batch
  double tokens = 0;          ///< of text in a batch; 0: no text goes in
  double audio = 0;           ///< seconds of sound of a batch; 0: none
  bool moves_layout = false;  ///< convolutions change the layout of their maps
};

/// The fitted constants of a runtime (data/runtimes.yaml) as plain numbers: shares, passes, seconds.
struct PartsConstants {
  double compute = 0.6;
  double convolution = 0.5;
  double depthwise = 0.2;
  double attention = 0.4;
  double bandwidth = 0.8;
  double map_passes = 3;
  double layout_passes = 1;
  double score_passes = 5;
  double kernels = 3;
  double launch = 3e-6;
  double host_launch = 8e-6;
  double request = 1e-3;
};
PartsConstants constants_of(const Runtime& runtime);

/// The record that holds a runtime's figures of time (`time_as`).
const Runtime& timed_runtime(const Catalog& catalog, const Runtime& runtime);

PartsWork parts_work(const PartsTimeInputs& in, const Ceilings& ceilings);

/// Seconds of a batch.
double parts_seconds(const PartsWork& work, const PartsConstants& constants);

/// The batch beyond which twice as many items at once are hardly worked off faster: a power of two up to `most`.
std::int64_t best_batch(const PartsTimeInputs& in, const Ceilings& ceilings, const PartsConstants& constants,
                        std::int64_t most = kMostAtOnce);

struct PartsTime {
  Breakdown<Seconds> terms;  ///< of a batch, by part in the order they run, then `request`; ids point into the network
  Interval<Seconds> latency;
  double items = 1;  ///< of the batch
  double tokens = 0;
  double audio = 0;
  /// Of one device; with the interval of the latency.
  [[nodiscard]] Interval<double> items_per_s() const;
  [[nodiscard]] std::optional<Interval<double>> tokens_per_s() const;
  [[nodiscard]] std::optional<Interval<double>> audio_speed() const;  ///< seconds of sound a second
};
PartsTime parts_time(const PartsTimeInputs& in, const Ceilings& ceilings, Explain* why);

}  // namespace gpuplan
