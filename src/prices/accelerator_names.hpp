#pragma once
// Whose accelerator a row of a list means: its name, memory, count and machine against the catalogue.
//
// A name that nobody knows is never taken for a near one: the row keeps the list's word and says what is nearest.

#include <gpuplan/catalog/catalog.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuplan {

struct GpuClaim {
  std::string name;
  std::optional<double> memory_gib;  // of one GPU, as the list says; its unit may be wrong
  std::int64_t count = 1;
  std::string machine;    // instance type or the like, which may tell the form factor
  bool measured = false;  // the memory was read from the device
  std::string product = {};  // the list's own name of the thing, which may tell the card from others of its family
};

struct GpuNote {
  std::string_view id;
  std::string message;
};

struct GpuMatch {
  const Accelerator* gpu = nullptr;
  std::string why_not;               // when there is none
  std::optional<double> memory_gib;  // of one GPU, mended
  std::vector<GpuNote> mended;
};

class AcceleratorNames {
 public:
  explicit AcceleratorNames(const Catalog& catalog) : catalog_(catalog) {}
  const GpuMatch& match(const GpuClaim& claim);

 private:
  GpuMatch find(const GpuClaim& claim) const;

  const Catalog& catalog_;
  std::unordered_map<std::string, GpuMatch> known_;
};

}  // namespace gpuplan
