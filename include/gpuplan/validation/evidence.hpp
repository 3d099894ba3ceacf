#pragma once
/// What measurements stand behind an estimate: of this model on this hardware, of something near, or none.
///
///     const EvidenceIndex index(catalog, {EvidenceJob::serve, preset, "vllm", "int4-awq-g128"});
///     index.of(accelerator).grade;   // measured: rows of this model on this accelerator with this program

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/catalog/measured_groups.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

/// `near`: the same model or the same hardware was measured; `physics`: neither was.
enum class EvidenceGrade : std::uint8_t { measured, near, physics };
std::string_view to_string(EvidenceGrade value);

/// Which files count.
enum class EvidenceJob : std::uint8_t { serve, parts, train };

struct EvidenceQuery {
  EvidenceJob job = EvidenceJob::serve;
  const ModelPreset* model = nullptr;  ///< null: not from the catalogue, then no rows are of it
  std::string_view program;            ///< engine, runtime or framework; empty: any
  std::string_view format;             ///< of weights or training: the nearest of equal groups has it
};

struct Evidence {
  EvidenceGrade grade = EvidenceGrade::physics;
  std::optional<MeasuredGroup> group;  ///< the nearest; empty of `physics`
};

class EvidenceIndex {
 public:
  EvidenceIndex(const Catalog& catalog, const EvidenceQuery& query);
  [[nodiscard]] Evidence of(const Accelerator& accelerator) const;
  /// All groups of the model, of the accelerators (empty: of all) or both, the nearest first.
  [[nodiscard]] std::vector<Evidence> all(const std::vector<const Accelerator*>& accelerators) const;

 private:
  struct Known {
    MeasuredGroup group;
    const Accelerator* accelerator = nullptr;
    bool same_model = false;
    bool same_program = false;
    bool same_format = false;
  };
  [[nodiscard]] static int nearness(const Known& known, bool same_accelerator);
  [[nodiscard]] static EvidenceGrade grade(const Known& known, bool same_accelerator);

  std::vector<Known> known_;
};

}  // namespace gpuplan
