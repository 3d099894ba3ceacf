#include <gpuplan/model/stored_tensors.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

void add(std::vector<StoredFormat>& formats, const StoredFormat& more) {
  const auto at = std::lower_bound(formats.begin(), formats.end(), more.format,
                                   [](const StoredFormat& f, const std::string& name) { return f.format < name; });
  if (at == formats.end() || at->format != more.format) {
    formats.insert(at, more);
    return;
  }
  at->tensors += more.tensors;
  at->elements += more.elements;
  at->size += more.size;
}

}  // namespace

std::int64_t StoredTensors::total_size() const {
  std::int64_t total = 0;
  for (const StoredTensor& t : tensors) total += t.size;  // each lies inside a file, and so does the sum
  for (const StoredFormat& f : counted) total += f.size;
  return total;
}

std::vector<StoredFormat> StoredTensors::by_format() const {
  std::vector<StoredFormat> formats;
  for (const StoredFormat& f : counted) add(formats, f);
  for (const StoredTensor& t : tensors) add(formats, {t.format, 1, t.elements, t.size});
  return formats;
}

}  // namespace gpuplan
