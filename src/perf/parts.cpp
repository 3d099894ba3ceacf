#include <gpuplan/perf/parts.hpp>

#include <gpuplan/perf/roofline.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::array<std::pair<PartOperatorKind, std::string_view>, 5> kKinds = {
    {{PartOperatorKind::product, "product"},
     {PartOperatorKind::convolution, "convolution"},
     {PartOperatorKind::depthwise, "depthwise"},
     {PartOperatorKind::attention, "attention"},
     {PartOperatorKind::look_up, "look_up"}}};

double share_of(const PartsConstants& c, PartOperatorKind kind) {
  switch (kind) {
    case PartOperatorKind::product:
      return c.compute;
    case PartOperatorKind::convolution:
      return c.convolution;
    case PartOperatorKind::depthwise:
      return c.depthwise;
    case PartOperatorKind::attention:
      return c.attention;
    case PartOperatorKind::look_up:
      return 1;
  }
  return 1;
}

// Of the last wave of blocks half is idle on average.
double filled(double blocks) { return blocks / (blocks + 0.5); }

// Seconds of one run of a part: the roofline of its kernels, what their results do to memory besides, starts and ends of kernels.
struct RunSeconds {
  double kernels = 0;
  double maps = 0;
  double starts = 0;
  double host = 0;
  [[nodiscard]] double longer() const { return std::max(kernels + maps + starts, host); }
  [[nodiscard]] double ratio() const { return std::min(kernels + maps + starts, host) / longer(); }
  [[nodiscard]] double total() const { return seconds_with_host(kernels + maps + starts, host); }
};

RunSeconds run_seconds(const PartsWork& work, const PartWork& part, const PartsConstants& c) {
  RunSeconds run;
  double launched = 0;
  for (const PartOperator& op : part.operators) {
    const double rate = op.ceiling > 0 ? op.ceiling * share_of(c, op.kind) * filled(op.blocks) : kUnlimitedCompute;
    const double bandwidth = op.bandwidth > 0 ? op.bandwidth * c.bandwidth : kUnlimitedCompute;
    run.kernels += std::max(op.flops / rate, op.bytes / bandwidth);
    const bool convolves = op.kind == PartOperatorKind::convolution || op.kind == PartOperatorKind::depthwise;
    const double moved = op.results * c.map_passes + op.scores * c.score_passes +
                         (convolves && work.moves_layout ? op.bytes * c.layout_passes : 0);
    run.maps += moved / bandwidth;
    launched += op.count * c.kernels;
  }
  run.starts = part.on_host ? 0 : launched * c.launch;
  run.host = part.on_host ? 0 : launched * c.host_launch;
  return run;
}

}  // namespace

std::string_view to_string(PartOperatorKind value) {
  for (const auto& [kind, name] : kKinds) {
    if (kind == value) return name;
  }
  return "product";
}

const Runtime& timed_runtime(const Catalog& catalog, const Runtime& runtime) {
  const Runtime* other = runtime.time_as.empty() ? nullptr : catalog.find_runtime(runtime.time_as);
  return other ? *other : runtime;
}

PartsConstants constants_of(const Runtime& r) {
  PartsConstants c;
  c.compute = r.compute_efficiency.or_else(c.compute);
  c.convolution = r.convolution_efficiency.or_else(c.convolution);
  c.depthwise = r.depthwise_efficiency.or_else(c.depthwise);
  c.attention = r.attention_efficiency.or_else(c.attention);
  c.bandwidth = r.bandwidth_efficiency.or_else(c.bandwidth);
  c.map_passes = r.map_passes.or_else(c.map_passes);
  c.layout_passes = r.layout_passes.or_else(c.layout_passes);
  c.score_passes = r.score_passes.or_else(c.score_passes);
  c.kernels = r.kernels.or_else(c.kernels);
  c.launch = r.launch.or_else(seconds(c.launch)) / seconds(1);
  c.host_launch = r.host_launch.or_else(seconds(c.host_launch)) / seconds(1);
  c.request = r.request.or_else(seconds(c.request)) / seconds(1);
  return c;
}

double parts_seconds(const PartsWork& work, const PartsConstants& constants) {
  double total = constants.request;
  for (const PartWork& part : work.parts) {
    const double run = part.runs * run_seconds(work, part, constants).total();
    total += run / 3 + std::max(run * 2 / 3, part.beside) + part.fetched;
  }
  return total;
}

std::int64_t best_batch(const PartsTimeInputs& in, const Ceilings& ceilings, const PartsConstants& constants,
                        std::int64_t most) {
  constexpr double kHardly = 0.02;  // of the throughput
  PartsTimeInputs at = in;
  at.job.batch = 1;
  double best = parts_seconds(parts_work(at, ceilings), constants);  // an item
  while (at.job.batch <= most / 2) {
    const std::int64_t twice = 2 * at.job.batch;
    at.job.batch = twice;
    const double seconds = parts_seconds(parts_work(at, ceilings), constants) / static_cast<double>(twice);
    if (seconds > best * (1 - kHardly)) return twice / 2;
    best = seconds;
  }
  return at.job.batch;
}

Interval<double> PartsTime::items_per_s() const {
  return {items / latency.value.base(), items / latency.high.base(), items / latency.low.base()};
}
std::optional<Interval<double>> PartsTime::tokens_per_s() const {
  if (tokens <= 0) return std::nullopt;
  return Interval<double>{tokens / latency.value.base(), tokens / latency.high.base(), tokens / latency.low.base()};
}
std::optional<Interval<double>> PartsTime::audio_speed() const {
  if (audio <= 0) return std::nullopt;
  return Interval<double>{audio / latency.value.base(), audio / latency.high.base(), audio / latency.low.base()};
}

PartsTime parts_time(const PartsTimeInputs& in, const Ceilings& ceilings, Explain* why) {
  const Runtime& runtime = in.catalog ? timed_runtime(*in.catalog, *in.runtime) : *in.runtime;
  const PartsConstants constants = constants_of(runtime);
  const PartsWork work = parts_work(in, ceilings);
  PartsTime t;
  t.items = work.items;
  t.tokens = work.tokens;
  t.audio = work.audio;
  for (const PartWork& part : work.parts) {
    const RunSeconds run = run_seconds(work, part, constants);
    const Seconds total = seconds(part.runs * run.total() + part.fetched);
    if (why) {
      why->term("time." + std::string(part.name), total,
                "runs * max(kernels + maps + starts, host) * sqrt(sqrt(1 + ratio * ratio * ratio * ratio)) + fetched",
                {{"runs", part.runs},
                 {"kernels", seconds(run.kernels)},
                 {"maps", seconds(run.maps)},
                 {"starts", seconds(run.starts)},
                 {"host", seconds(run.host)},
                 {"ratio", run.ratio()},
                 {"fetched", seconds(part.fetched)}});
    }
    t.terms.add(part.name, total);
  }
  const Seconds request = seconds(constants.request);
  if (why) {
    const Text source =
        in.catalog && runtime.request.known() ? in.catalog->source(runtime.request.source).text : Text{};
    why->term("time.request", request, "request", {{"request", request, source}});
  }
  t.terms.add("request", request);
  const Seconds total = t.terms.total();
  t.latency = {total, total * runtime.interval_low.or_else(1), total * runtime.interval_high.or_else(1)};
  return t;
}

}  // namespace gpuplan
