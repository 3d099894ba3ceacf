#pragma once
/// What a device reaches of its datasheet before any engine: docs/PHYSICS.md, "Operators and the roofline".
///
/// Every card's ceiling is its datasheet's figure times a share that like cards reach, so that no card gains or loses by the tool it
/// happened to be measured with.
///
/// Bandwidth. The share is the median of measured over datasheet of the same kind of memory (HBM, GDDR, LPDDR, DDR, SRAM) and vendor;
/// without a measurement there, of the same kind of memory; without any, of all. A card's own figure stands only when it is a plain
/// STREAM triad or read. Other figures (`stream_bandwidth_is_lower_bound`) only lift: a card is not below its own, a vendor's memory
/// not below the median of them. Between sisters (vendor, architecture and kind of memory) the order of the datasheets holds: a card
/// without a plain figure of its own is not below what any sister of no more datasheet bandwidth was measured at, and not above
/// what a sister of no less was; two of equal datasheets are equal. Only two plain figures can say otherwise.
///
/// Compute. The share is the median of achieved_gemm over the dense 16-bit peak of the (up to) three measured cards of the vendor's
/// architecture whose peak per watt is nearest, since power is what keeps products below the peak; then of the vendor, then of all. It may
/// exceed 1: boards boost above the clock that datasheets reckon with. FP8 takes the share times the median of the like
/// quotients of both shares; other formats the share itself.

#include <gpuplan/base/units.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/model/operators.hpp>

#include <string_view>
#include <vector>

namespace gpuplan {

class Ceilings {
 public:
  /// The catalogue must outlive it.
  explicit Ceilings(const Catalog& catalog);

  /// Dense matrix products in that arithmetic; a format the device lacks falls back to the next wider one that it has.
  /// 0 when nothing is known.
  [[nodiscard]] FlopPerSecond compute(const Accelerator& accelerator, Arithmetic arithmetic) const;
  [[nodiscard]] BytesPerSecond bandwidth(const Accelerator& accelerator) const;

  /// The datasheet's figures that the ceilings rest on.
  [[nodiscard]] const Fact<FlopPerSecond>& peak(const Accelerator& accelerator, Arithmetic arithmetic) const;
  [[nodiscard]] const Fact<BytesPerSecond>& peak_bandwidth(const Accelerator& accelerator) const;

  /// Ceiling over datasheet.
  [[nodiscard]] double compute_share(const Accelerator& accelerator, Arithmetic arithmetic) const;
  [[nodiscard]] double bandwidth_share(const Accelerator& accelerator) const;

  /// For explanations: the text of a fact's source, and what the shares rest on.
  [[nodiscard]] std::string_view source_text(SourceId source) const;
  [[nodiscard]] std::string_view compute_basis(const Accelerator& accelerator) const;
  [[nodiscard]] std::string_view bandwidth_basis(const Accelerator& accelerator) const;

 private:
  struct Shares {
    std::string_view name;  // of the accelerator
    double compute = 1;     // in 16 bit
    double fp8 = 1;
    double bandwidth = 1;
    std::string_view compute_basis;
    std::string_view bandwidth_basis;
  };
  [[nodiscard]] const Shares& shares_of(const Accelerator& accelerator) const;

  const Catalog& catalog_;
  std::vector<Shares> by_name_;  // sorted
  Shares none_;
};

/// Whether the device multiplies in that arithmetic itself; false: it falls back to a wider one.
bool has_arithmetic(const Accelerator& accelerator, Arithmetic arithmetic);

}  // namespace gpuplan
