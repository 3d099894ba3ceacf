#include <gpuplan/validation/evidence.hpp>

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::array<std::pair<EvidenceGrade, std::string_view>, 3> kGrades = {
    {{EvidenceGrade::measured, "measured"}, {EvidenceGrade::near, "near"}, {EvidenceGrade::physics, "physics"}}};

bool counts_for(EvidenceJob job, std::string_view file) {
  switch (job) {
    case EvidenceJob::serve:
      return file == "inference.csv" || file == "cpu_slices.csv" || file == "memory.csv";
    case EvidenceJob::parts:
      return file == "parts_time.csv" || file == "images.csv";
    case EvidenceJob::train:
      return file == "training_time.csv" || file == "training.csv" || file == "parts_training.csv";
  }
  return false;
}

// Releases and kernels of an engine are records of their own: `name-0.7`.
bool is_program(std::string_view program, std::string_view measured) {
  if (program.empty()) return true;
  const std::string asked = lookup_key(program);
  const std::string had = lookup_key(measured);
  return asked == had || asked.rfind(had, 0) == 0;
}

}  // namespace

std::string_view to_string(EvidenceGrade value) {
  for (const auto& [grade, name] : kGrades) {
    if (grade == value) return name;
  }
  return "?";
}

EvidenceIndex::EvidenceIndex(const Catalog& catalog, const EvidenceQuery& query) {
  for (const MeasuredGroup& group : measured_groups()) {
    if (!counts_for(query.job, group.file)) continue;
    Known known;
    known.group = group;
    known.accelerator = catalog.find_accelerator(group.accelerator);
    known.same_model = query.model && catalog.find_model(group.model) == query.model;
    known.same_program = is_program(query.program, group.engine);
    known.same_format = !query.format.empty() && lookup_key(query.format) == lookup_key(group.format);
    known_.push_back(known);
  }
}

// Model and hardware count more than the program, and the program more than the format.
int EvidenceIndex::nearness(const Known& known, bool same_accelerator) {
  return (known.same_model ? 4 : 0) + (same_accelerator ? 5 : 0) + (known.same_program ? 2 : 0) +
         (known.same_format ? 1 : 0);
}

EvidenceGrade EvidenceIndex::grade(const Known& known, bool same_accelerator) {
  if (known.same_model && same_accelerator && known.same_program) return EvidenceGrade::measured;
  return known.same_model || same_accelerator ? EvidenceGrade::near : EvidenceGrade::physics;
}

Evidence EvidenceIndex::of(const Accelerator& accelerator) const {
  const Known* best = nullptr;
  const auto rank = [&](const Known& k) { return std::pair(nearness(k, k.accelerator == &accelerator), k.group.rows); };
  for (const Known& known : known_) {
    if (grade(known, known.accelerator == &accelerator) == EvidenceGrade::physics) continue;
    if (!best || rank(known) > rank(*best)) best = &known;
  }
  if (!best) return {};
  return {grade(*best, best->accelerator == &accelerator), best->group};
}

std::vector<Evidence> EvidenceIndex::all(const std::vector<const Accelerator*>& accelerators) const {
  const auto is_asked = [&](const Known& k) {
    return std::find(accelerators.begin(), accelerators.end(), k.accelerator) != accelerators.end();
  };
  std::vector<const Known*> chosen;
  for (const Known& known : known_) {
    if (grade(known, is_asked(known)) != EvidenceGrade::physics) chosen.push_back(&known);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [&](const Known* a, const Known* b) {
    return std::pair(nearness(*a, is_asked(*a)), a->group.rows) > std::pair(nearness(*b, is_asked(*b)), b->group.rows);
  });
  std::vector<Evidence> evidence;
  for (const Known* known : chosen) evidence.push_back({grade(*known, is_asked(*known)), known->group});
  return evidence;
}

}  // namespace gpuplan
