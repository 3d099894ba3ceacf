#include <gpuplan/perf/roofline.hpp>

#include <algorithm>
#include <array>

namespace gpuplan {
namespace {

using Peak = Fact<FlopPerSecond> Accelerator::*;

// Formats in the order of falling back: the wider ones that can do the same work.
std::span<const Peak> fallbacks(Arithmetic arithmetic) {
  static constexpr std::array<Peak, 1> kFp32 = {&Accelerator::fp32};
  static constexpr std::array<Peak, 3> kBf16 = {&Accelerator::bf16, &Accelerator::fp16, &Accelerator::fp32};
  static constexpr std::array<Peak, 3> kFp16 = {&Accelerator::fp16, &Accelerator::bf16, &Accelerator::fp32};
  static constexpr std::array<Peak, 4> kFp8 = {&Accelerator::fp8, &Accelerator::bf16, &Accelerator::fp16, &Accelerator::fp32};
  static constexpr std::array<Peak, 4> kInt8 = {&Accelerator::int8, &Accelerator::fp16, &Accelerator::bf16, &Accelerator::fp32};
  static constexpr std::array<Peak, 5> kFp4 = {&Accelerator::fp4, &Accelerator::fp8, &Accelerator::bf16, &Accelerator::fp16,
                                               &Accelerator::fp32};
  switch (arithmetic) {
    case Arithmetic::fp32: return kFp32;
    case Arithmetic::bf16: return kBf16;
    case Arithmetic::fp16: return kFp16;
    case Arithmetic::fp8: return kFp8;
    case Arithmetic::int8: return kInt8;
    case Arithmetic::fp4: return kFp4;
  }
  return kFp32;
}

double median(std::vector<double>& values, double nothing) {
  if (values.empty()) return nothing;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

const Fact<FlopPerSecond>& half_precision(const Accelerator& accelerator) {
  return accelerator.bf16.known() ? accelerator.bf16 : accelerator.fp16;
}

}  // namespace

Ceilings::Ceilings(const Catalog& catalog) {
  std::vector<std::string_view> vendors;
  for (const Accelerator& gpu : catalog.accelerators()) {
    if (std::find(vendors.begin(), vendors.end(), gpu.vendor) == vendors.end()) vendors.push_back(gpu.vendor);
  }
  const auto ratios = [&](std::string_view vendor, Ratios nothing) {
    std::vector<double> compute;
    std::vector<double> fp8;
    std::vector<double> bandwidth;
    for (const Accelerator& gpu : catalog.accelerators()) {
      if (!vendor.empty() && gpu.vendor != vendor) continue;
      if (gpu.achieved_gemm.known() && half_precision(gpu).known()) {
        compute.push_back(gpu.achieved_gemm.value / half_precision(gpu).value);
      }
      if (gpu.achieved_gemm_fp8.known() && gpu.fp8.known()) fp8.push_back(gpu.achieved_gemm_fp8.value / gpu.fp8.value);
      if (gpu.stream_bandwidth.known()) bandwidth.push_back(gpu.stream_bandwidth.value / gpu.memory_bandwidth.value);
    }
    return Ratios{median(compute, nothing.compute), median(fp8, nothing.fp8), median(bandwidth, nothing.bandwidth)};
  };
  overall_ = ratios({}, {});
  for (const std::string_view vendor : vendors) by_vendor_.emplace_back(vendor, ratios(vendor, overall_));
}

Ceilings::Ratios Ceilings::ratios_of(const Accelerator& accelerator) const {
  for (const auto& [vendor, ratios] : by_vendor_) {
    if (vendor == accelerator.vendor) return ratios;
  }
  return overall_;
}

const Fact<FlopPerSecond>& Ceilings::peak(const Accelerator& accelerator, Arithmetic arithmetic) const {
  const auto list = fallbacks(arithmetic);
  for (const Peak member : list) {
    if ((accelerator.*member).known()) return accelerator.*member;
  }
  return accelerator.*list.back();
}

FlopPerSecond Ceilings::compute(const Accelerator& accelerator, Arithmetic arithmetic) const {
  const Fact<FlopPerSecond>& fact = peak(accelerator, arithmetic);
  if (!fact.known()) return {};
  if (&fact == &accelerator.fp8) {
    return accelerator.achieved_gemm_fp8.known() ? accelerator.achieved_gemm_fp8.value : fact.value * ratios_of(accelerator).fp8;
  }
  // What a card reaches in 16 bit tells how much of its other peaks it can hold: power and clocks limit them alike.
  const double ratio = accelerator.achieved_gemm.known() && half_precision(accelerator).known()
                           ? accelerator.achieved_gemm.value / half_precision(accelerator).value
                           : ratios_of(accelerator).compute;
  return fact.value * ratio;
}

BytesPerSecond Ceilings::bandwidth(const Accelerator& accelerator) const {
  if (accelerator.stream_bandwidth.known()) return accelerator.stream_bandwidth.value;
  return accelerator.memory_bandwidth.or_else({}) * ratios_of(accelerator).bandwidth;
}

bool has_arithmetic(const Accelerator& accelerator, Arithmetic arithmetic) {
  return (accelerator.*fallbacks(arithmetic).front()).known();
}

}  // namespace gpuplan
