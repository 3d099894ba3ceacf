#include "safetensors.hpp"

#include "header_json.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/model/safetensors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace gpuplan {
namespace {

constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::size_t kMaxName = 4096;
constexpr std::size_t kMaxDimensions = 64;
constexpr std::size_t kMaxProblems = 20;

constexpr SafetensorsDtype kDtypes[] = {
    {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
    {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
    {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
    {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64},
};

const SafetensorsDtype* find_dtype(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kDtypes), std::end(kDtypes), [&](const auto& d) { return d.name == name; });
  return found == std::end(kDtypes) ? nullptr : found;
}

/// A tensor's entry as written; what is missing stays empty.
struct Entry {
  std::string name;
  std::optional<std::string> dtype;
  std::optional<std::vector<std::int64_t>> shape;
  std::optional<std::vector<std::int64_t>> offsets;
};

class HeaderVisitor : public JsonVisitor {
 public:
  explicit HeaderVisitor(const std::string& origin) : origin_(origin) {}
  std::vector<Entry> entries;

  void visit(const std::vector<std::string>& keys, const JsonValue& value) override {
    if (keys.empty()) {
      if (value.kind != JsonValue::Kind::object) bad(keys, "is not an object", "one entry a tensor");
      return;
    }
    if (keys[0] == "__metadata__") return;  // texts of whoever wrote the file
    if (keys.size() == 1) {
      if (value.kind != JsonValue::Kind::object) bad(keys, "is not an object", "dtype, shape and data_offsets");
      if (!is_clean_name(keys[0], kMaxName)) bad(keys, "is no name of a tensor", "printable UTF-8");
      entries.push_back({keys[0], {}, {}, {}});
      return;
    }
    member(keys, value);
  }

 private:
  void member(const std::vector<std::string>& keys, const JsonValue& value) {
    Entry& entry = entries.back();
    if (keys[1] == "dtype") {
      if (value.kind != JsonValue::Kind::text) bad(keys, "is not a text", "a dtype such as BF16");
      entry.dtype = std::string(value.text);
    } else if (keys[1] == "shape") {
      numbers(keys, value, entry.shape, kMaxDimensions);
    } else if (keys[1] == "data_offsets") {
      numbers(keys, value, entry.offsets, 2);
    }
  }

  void numbers(const std::vector<std::string>& keys, const JsonValue& value,
               std::optional<std::vector<std::int64_t>>& out, std::size_t limit) {
    if (keys.size() == 2) {
      if (value.kind != JsonValue::Kind::array) bad(keys, "is not a list", "a list of whole numbers");
      out.emplace();
      return;
    }
    if (keys.size() > 3 || value.kind != JsonValue::Kind::whole || value.is_negative) {
      const std::string what = value.kind == JsonValue::Kind::whole    ? std::to_string(value.whole)
                               : value.kind == JsonValue::Kind::number ? std::string(value.text)
                                                                       : "what is no number";
      bad(keys, "holds " + what, "whole numbers from 0");
    }
    if (out->size() == limit) bad(keys, "has more than " + std::to_string(limit) + " numbers", {});
    out->push_back(value.whole);
  }

  [[noreturn]] void bad(const std::vector<std::string>& keys, std::string_view what, std::string expected) const {
    const std::string path = key_path(keys);
    refuse("input.bad_value", origin_, (path.empty() ? "the header" : in_quotes(path)) + " " + std::string(what),
           std::move(expected));
  }

  const std::string& origin_;
};

/// Collects what is wrong with the tensors of a header, up to a screenful.
class Problems {
 public:
  explicit Problems(const std::string& origin) : origin_(origin) {}
  void add(std::string id, const std::string& name, const std::string& what, std::string expected) {
    if (problems_.size() >= kMaxProblems) return;
    problems_.push_back(
        {std::move(id), in_quotes(name) + " " + what, Place{origin_, 0, 0}, std::move(expected), {}, {}});
  }
  void finish() {
    if (!problems_.empty()) throw InputError(std::move(problems_));
  }

 private:
  const std::string& origin_;
  std::vector<Problem> problems_;
};

std::string_view nearest_dtype(std::string_view name, std::string& kept) {
  std::vector<std::string_view> names;
  for (const auto& d : kDtypes) names.push_back(d.name);
  kept = nearest_name(name, names);
  return kept;
}

/// The tensor of an entry; nullopt after a problem.
std::optional<StoredTensor> tensor_of(Entry& entry, Problems& problems) {
  const auto missing = [&](std::string_view key) {
    problems.add("input.missing", entry.name, "has no " + std::string(key), std::string(key));
    return std::nullopt;
  };
  if (!entry.dtype) return missing("dtype");
  if (!entry.shape) return missing("shape");
  if (!entry.offsets || entry.offsets->size() != 2) return missing("data_offsets of two numbers");
  const SafetensorsDtype* dtype = find_dtype(*entry.dtype);
  if (!dtype) {
    std::string near;
    nearest_dtype(*entry.dtype, near);
    problems.add("input.unknown_name", entry.name, "has the unknown dtype " + in_quotes(*entry.dtype),
                 near.empty() ? "a dtype of the format such as BF16, F8_E4M3 or U8" : near);
    return std::nullopt;
  }
  StoredTensor t;
  t.elements = 1;
  bool fits = true;
  for (const std::int64_t n : *entry.shape) fits = fits && multiply(t.elements, n);
  std::int64_t bits = t.elements;
  if (!fits || !multiply(bits, dtype->bits)) {
    problems.add("input.bad_value", entry.name, "has a shape whose product overflows",
                 "a shape of less than 2^63 bits");
    return std::nullopt;
  }
  const std::int64_t begin = (*entry.offsets)[0];
  const std::int64_t end = (*entry.offsets)[1];
  if (end < begin) {
    problems.add("input.bad_value", entry.name, fmt::format("has the offsets {} to {}", begin, end),
                 "an end that is not before the beginning");
    return std::nullopt;
  }
  if (bits % 8 != 0 || end - begin != bits / 8) {
    problems.add(
        "input.bad_value", entry.name,
        fmt::format("takes {} bytes, but {} elements of {} are {} bits", end - begin, t.elements, dtype->name, bits),
        "data_offsets that span shape times dtype");
    return std::nullopt;
  }
  t.name = std::move(entry.name);
  t.format = dtype->name;
  t.shape = std::move(*entry.shape);
  t.size = end - begin;
  return t;
}

/// The data is tiled by the tensors: no overlap, no hole, nothing after the last.
void check_tiling(const std::vector<StoredTensor>& tensors, const std::vector<std::int64_t>& begins,
                  std::int64_t data_size, Problems& problems) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return begins[a] != begins[b] ? begins[a] < begins[b] : tensors[a].size < tensors[b].size;
  });
  std::int64_t at = 0;
  for (const std::size_t i : order) {
    const StoredTensor& t = tensors[i];
    if (t.size > data_size - std::min(begins[i], data_size)) {
      problems.add("input.truncated", t.name,
                   fmt::format("ends at byte {} of the data, which has {}", begins[i] + t.size, data_size),
                   "a complete file");
    } else if (begins[i] != at) {
      problems.add(
          "input.bad_value", t.name,
          fmt::format("begins at {}, {}", begins[i], begins[i] < at ? "inside another tensor" : "after a hole"),
          fmt::format("{}, where the tensor before it ends", at));
    }
    at = std::max(at, begins[i] + t.size);
  }
  if (at < data_size && !tensors.empty()) {
    problems.add("input.bad_value", tensors[order.back()].name,
                 fmt::format("is the last tensor, but {} bytes follow it", data_size - at), "data without holes");
  }
}

std::string read_header_text(ByteSource& source) {
  refuse_lfs_pointer(source);
  if (source.size() == 0) refuse("input.empty", source.origin(), "the file is empty");
  ByteCursor cursor(source, kMaxHeader + 8);
  const auto length = cursor.number<std::uint64_t>("the header's length");
  if (length > kMaxHeader) {
    refuse("input.too_large", source.origin(), fmt::format("the header is {} bytes long", length),
           "at most 100 MB; is this a safetensors file?");
  }
  return cursor.text(length, "the header");
}

}  // namespace

std::span<const SafetensorsDtype> safetensors_dtypes() { return kDtypes; }

StoredTensors read_safetensors_header(ByteSource& source) {
  const std::string text = read_header_text(source);
  if (!text.starts_with('{')) {
    refuse("input.syntax", source.origin(), "the header does not begin with '{'", "a safetensors file");
  }
  HeaderVisitor visitor(source.origin());
  walk_json(text, source.origin(), visitor);

  Problems problems(source.origin());
  StoredTensors out;
  out.format = "safetensors";
  out.tensors.reserve(visitor.entries.size());
  std::vector<std::int64_t> begins;
  for (Entry& entry : visitor.entries) {
    const std::int64_t begin = entry.offsets && !entry.offsets->empty() ? entry.offsets->front() : 0;
    if (auto tensor = tensor_of(entry, problems)) {
      out.tensors.push_back(std::move(*tensor));
      begins.push_back(begin);
    }
  }
  problems.finish();
  check_tiling(out.tensors, begins, static_cast<std::int64_t>(source.size() - 8 - text.size()), problems);
  problems.finish();
  return out;
}

StoredTensors read_safetensors_header(const std::string& path) {
  FileBytes source(path);
  return read_safetensors_header(source);
}

}  // namespace gpuplan
