#include <gpuplan/perf/ceilings.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

namespace gpuplan {
namespace {

using Peak = Fact<FlopPerSecond> Accelerator::*;

// Formats in the order of falling back: the wider ones that can do the same work.
std::span<const Peak> fallbacks(Arithmetic arithmetic) {
  static constexpr std::array<Peak, 1> kFp32 = {&Accelerator::fp32};
  static constexpr std::array<Peak, 2> kTf32 = {&Accelerator::tf32, &Accelerator::fp32};
  static constexpr std::array<Peak, 3> kBf16 = {&Accelerator::bf16, &Accelerator::fp16, &Accelerator::fp32};
  static constexpr std::array<Peak, 3> kFp16 = {&Accelerator::fp16, &Accelerator::bf16, &Accelerator::fp32};
  static constexpr std::array<Peak, 4> kFp8 = {&Accelerator::fp8, &Accelerator::bf16, &Accelerator::fp16,
                                               &Accelerator::fp32};
  static constexpr std::array<Peak, 4> kInt8 = {&Accelerator::int8, &Accelerator::fp16, &Accelerator::bf16,
                                                &Accelerator::fp32};
  static constexpr std::array<Peak, 5> kFp4 = {&Accelerator::fp4, &Accelerator::fp8, &Accelerator::bf16,
                                               &Accelerator::fp16, &Accelerator::fp32};
  switch (arithmetic) {
    case Arithmetic::fp32:
      return kFp32;
    case Arithmetic::tf32:
      return kTf32;
    case Arithmetic::bf16:
      return kBf16;
    case Arithmetic::fp16:
      return kFp16;
    case Arithmetic::fp8:
      return kFp8;
    case Arithmetic::int8:
      return kInt8;
    case Arithmetic::fp4:
      return kFp4;
  }
  return kFp32;
}

const Fact<FlopPerSecond>& half_precision(const Accelerator& accelerator) {
  return accelerator.bf16.known() ? accelerator.bf16 : accelerator.fp16;
}

enum class MemoryKind : std::uint8_t { unknown, hbm, gddr, lpddr, ddr, sram };

MemoryKind memory_kind(const Accelerator& accelerator) {
  // The order matters: "LPDDR5" and "GDDR6" hold "DDR". MRDIMM is DDR5 behind a multiplexer.
  constexpr std::array<std::pair<std::string_view, MemoryKind>, 6> kKinds = {{{"HBM", MemoryKind::hbm},
                                                                              {"GDDR", MemoryKind::gddr},
                                                                              {"LPDDR", MemoryKind::lpddr},
                                                                              {"DDR", MemoryKind::ddr},
                                                                              {"MRDIMM", MemoryKind::ddr},
                                                                              {"SRAM", MemoryKind::sram}}};
  for (const auto& [text, kind] : kKinds) {
    if (accelerator.memory_type.find(text) != std::string_view::npos) return kind;
  }
  return MemoryKind::unknown;
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// A card with what was measured of it.
struct Measured {
  const Accelerator* card = nullptr;
  MemoryKind kind = MemoryKind::unknown;
  std::size_t vendor = 0;  // the same number for the same text
  std::size_t architecture = 0;
  double datasheet = 0;                     // bytes/s
  std::optional<double> plain;              // bytes/s
  std::optional<double> least;              // bytes/s: a lower bound
  std::optional<double> compute;            // achieved over peak in 16 bit
  std::optional<double> fp8;                // the like in FP8
  std::optional<double> log_peak_per_watt;  // of the 16-bit peak

  [[nodiscard]] bool is_sister(const Measured& other) const {
    return kind == other.kind && vendor == other.vendor && architecture == other.architecture;
  }
};

std::size_t number_of(std::string_view text, std::vector<std::string_view>& known) {
  const auto found = std::find(known.begin(), known.end(), text);
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  known.push_back(text);
  return known.size() - 1;
}

Measured measured(const Accelerator& card) {
  Measured m;
  m.card = &card;
  m.kind = memory_kind(card);
  m.datasheet = card.memory_bandwidth.or_else({}).base();
  if (card.stream_bandwidth.known())
    (card.stream_bandwidth_is_lower_bound ? m.least : m.plain) = card.stream_bandwidth.value.base();
  const Fact<FlopPerSecond>& half = half_precision(card);
  // What CPUs were measured at is how they multiply quantized weights, not their peak's arithmetic.
  if (!half.known() || card.form_factor == "cpu") return m;
  if (card.achieved_gemm.known()) m.compute = card.achieved_gemm.value / half.value;
  if (card.achieved_gemm_fp8.known() && card.fp8.known()) m.fp8 = card.achieved_gemm_fp8.value / card.fp8.value;
  if (card.tdp.known()) m.log_peak_per_watt = std::log(half.value.base() / card.tdp.value.base());
  return m;
}

struct Share {
  double value = 1;
  std::string_view basis = "nothing measured: the datasheet as it is";
};

// Median over the cards that `like` admits of what `of` knows.
template <class Like, class Of>
std::optional<double> median_of(const std::vector<Measured>& cards, Like like, Of of) {
  std::vector<double> values;
  for (const Measured& m : cards) {
    if (!like(m)) continue;
    if (const std::optional<double> value = of(m)) values.push_back(*value);
  }
  return median(std::move(values));
}

Share technology_share(const std::vector<Measured>& cards, const Measured& card) {
  const auto same_kind = [&](const Measured& m) { return m.kind == card.kind && card.kind != MemoryKind::unknown; };
  const auto like = [&](const Measured& m) { return same_kind(m) && m.vendor == card.vendor; };
  const auto every = [](const Measured&) { return true; };
  const auto plain = [](const Measured& m) {
    return m.plain && m.datasheet > 0 ? std::optional(*m.plain / m.datasheet) : std::nullopt;
  };
  const auto least = [](const Measured& m) {
    return m.least && m.datasheet > 0 ? std::optional(*m.least / m.datasheet) : std::nullopt;
  };
  Share share;
  if (const auto found = median_of(cards, like, plain))
    share = {*found, "median of STREAM over datasheet, the vendor's memory of this kind"};
  else if (const auto kind = median_of(cards, same_kind, plain))
    share = {*kind, "median of STREAM over datasheet, memory of this kind"};
  else if (const auto all = median_of(cards, every, plain))
    share = {*all, "median of STREAM over datasheet, all memory"};
  const auto lifted = median_of(cards, like, least);
  if (lifted && *lifted > share.value)
    share = {*lifted, "median of lower bounds over datasheet, the vendor's memory of this kind"};
  return share;
}

Share bandwidth_share_of(const std::vector<Measured>& cards, const Measured& card) {
  if (card.datasheet <= 0) return {};
  if (card.plain) return {*card.plain / card.datasheet, card.card->stream_bandwidth_method};
  Share share = technology_share(cards, card);
  double least = 0;                                          // lower bounds of sisters of no more datasheet bandwidth
  double at_least = 0;                                       // plain figures of them
  double at_most = std::numeric_limits<double>::infinity();  // plain figures of sisters of no less
  for (const Measured& m : cards) {
    if (!m.is_sister(card) || m.datasheet <= 0) continue;
    if (m.datasheet <= card.datasheet) {
      least = std::max(least, m.least.value_or(0));
      at_least = std::max(at_least, m.plain.value_or(0));
    }
    if (m.datasheet >= card.datasheet) at_most = std::min(at_most, m.plain.value_or(at_most));
  }
  const double median_figure = share.value * card.datasheet;
  const double figure = std::max(std::min(std::max(median_figure, least), at_most), at_least);
  if (figure > median_figure) share = {figure / card.datasheet, "not below what a sister card was measured at"};
  if (figure < median_figure) share = {figure / card.datasheet, "not above what a sister card was measured at"};
  return share;
}

// Median over the nearest measured cards of the architecture by peak per watt; then over the vendor's, then over all.
template <class Of>
Share power_share(const std::vector<Measured>& cards, const Measured& card, Of of) {
  constexpr std::size_t kNearest = 3;
  const auto like_vendor = [&](const Measured& m) { return m.vendor == card.vendor; };
  std::vector<std::pair<double, double>> near;  // distance, value
  for (const Measured& m : cards) {
    const std::optional<double> value = of(m);
    if (!value || !like_vendor(m) || m.architecture != card.architecture) continue;
    const bool comparable = m.log_peak_per_watt && card.log_peak_per_watt;
    near.emplace_back(comparable ? std::abs(*m.log_peak_per_watt - *card.log_peak_per_watt) : 0, *value);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (card.log_peak_per_watt && near.size() > kNearest) near.resize(kNearest);
  std::vector<double> values;
  for (const auto& [distance, value] : near) values.push_back(value);
  if (const auto found = median(std::move(values)))
    return {*found, "median of achieved over peak, the architecture's cards nearest in peak per watt"};
  if (const auto found = median_of(cards, like_vendor, of))
    return {*found, "median of achieved over peak, the vendor's cards"};
  if (const auto found = median_of(
          cards, [](const Measured&) { return true; }, of))
    return {*found, "median of achieved over peak, all cards"};
  return {};
}

}  // namespace

Ceilings::Ceilings(const Catalog& catalog) : catalog_(catalog) {
  std::vector<Measured> cards;
  std::vector<std::string_view> vendors;
  std::vector<std::string_view> architectures;
  for (const Accelerator& card : catalog.accelerators()) {
    cards.push_back(measured(card));
    cards.back().vendor = number_of(card.vendor, vendors);
    cards.back().architecture = number_of(card.architecture, architectures);
  }
  for (const Measured& card : cards) {
    const Share bandwidth = bandwidth_share_of(cards, card);
    const Share compute = power_share(cards, card, [](const Measured& m) { return m.compute; });
    const Share fp8 = power_share(cards, card, [](const Measured& m) {
      return m.compute && m.fp8 ? std::optional(*m.fp8 / *m.compute) : std::nullopt;
    });
    by_name_.push_back(
        {card.card->name, compute.value, compute.value * fp8.value, bandwidth.value, compute.basis, bandwidth.basis});
  }
  std::sort(by_name_.begin(), by_name_.end(), [](const Shares& a, const Shares& b) { return a.name < b.name; });
}

const Ceilings::Shares& Ceilings::shares_of(const Accelerator& accelerator) const {
  const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), accelerator.name,
                                      [](const Shares& s, std::string_view name) { return s.name < name; });
  return found != by_name_.end() && found->name == accelerator.name ? *found : none_;
}

const Fact<FlopPerSecond>& Ceilings::peak(const Accelerator& accelerator, Arithmetic arithmetic) const {
  const auto list = fallbacks(arithmetic);
  for (const Peak member : list) {
    if ((accelerator.*member).known()) return accelerator.*member;
  }
  return accelerator.*list.back();
}

const Fact<BytesPerSecond>& Ceilings::peak_bandwidth(const Accelerator& accelerator) const {
  return accelerator.memory_bandwidth.known() ? accelerator.memory_bandwidth : accelerator.stream_bandwidth;
}

double Ceilings::compute_share(const Accelerator& accelerator, Arithmetic arithmetic) const {
  const Shares& shares = shares_of(accelerator);
  return &peak(accelerator, arithmetic) == &accelerator.fp8 ? shares.fp8 : shares.compute;
}

double Ceilings::bandwidth_share(const Accelerator& accelerator) const { return shares_of(accelerator).bandwidth; }

FlopPerSecond Ceilings::compute(const Accelerator& accelerator, Arithmetic arithmetic) const {
  return peak(accelerator, arithmetic).or_else({}) * compute_share(accelerator, arithmetic);
}

BytesPerSecond Ceilings::bandwidth(const Accelerator& accelerator) const {
  return peak_bandwidth(accelerator).or_else({}) * bandwidth_share(accelerator);
}

std::string_view Ceilings::source_text(SourceId source) const { return catalog_.source(source).text; }
std::string_view Ceilings::compute_basis(const Accelerator& accelerator) const {
  return shares_of(accelerator).compute_basis;
}
std::string_view Ceilings::bandwidth_basis(const Accelerator& accelerator) const {
  return shares_of(accelerator).bandwidth_basis;
}

bool has_arithmetic(const Accelerator& accelerator, Arithmetic arithmetic) {
  return (accelerator.*fallbacks(arithmetic).front()).known();
}

}  // namespace gpuplan
