#include "safetensors.hpp"

#include "header_json.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/model/safetensors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

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
  std::string_view name;
  std::optional<std::string_view> dtype;
  std::optional<std::size_t> dimensions;
  std::optional<std::size_t> ends;  ///< how many offsets there are
  std::array<std::int64_t, kMaxDimensions> shape;
  std::array<std::int64_t, 2> offsets;
};

/// Collects what is wrong with the tensors of a header, up to a screenful.
class Problems {
 public:
  explicit Problems(const std::string& origin) : origin_(origin) {}
  void add(std::string id, std::string_view name, const std::string& what, std::string expected) {
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

/// The tensor of an entry but for its shape; nullopt after a problem.
std::optional<HeaderTensor> tensor_of(const Entry& entry, const SafetensorsDtype* dtype, Problems& problems) {
  const auto missing = [&](std::string_view key) {
    problems.add("input.missing", entry.name, "has no " + std::string(key), std::string(key));
    return std::nullopt;
  };
  if (!entry.dtype) return missing("dtype");
  if (!entry.dimensions) return missing("shape");
  if (entry.ends != 2) return missing("data_offsets of two numbers");
  if (!dtype) {
    std::string near;
    nearest_dtype(*entry.dtype, near);
    problems.add("input.unknown_name", entry.name, "has the unknown dtype " + in_quotes(*entry.dtype),
                 near.empty() ? "a dtype of the format such as BF16, F8_E4M3 or U8" : near);
    return std::nullopt;
  }
  HeaderTensor t;
  t.name = entry.name;
  t.dtype = dtype;
  t.elements = 1;
  bool fits = true;
  for (std::size_t i = 0; i < *entry.dimensions; ++i) fits = fits && multiply(t.elements, entry.shape[i]);
  std::int64_t bits = t.elements;
  if (!fits || !multiply(bits, dtype->bits)) {
    problems.add("input.bad_value", entry.name, "has a shape whose product overflows",
                 "a shape of less than 2^63 bits");
    return std::nullopt;
  }
  t.begin = entry.offsets[0];
  t.size = entry.offsets[1] - t.begin;
  if (t.size < 0) {
    problems.add("input.bad_value", entry.name, fmt::format("has the offsets {} to {}", t.begin, entry.offsets[1]),
                 "an end that is not before the beginning");
    return std::nullopt;
  }
  if (bits % 8 != 0 || t.size != bits / 8) {
    problems.add(
        "input.bad_value", entry.name,
        fmt::format("takes {} bytes, but {} elements of {} are {} bits", t.size, t.elements, dtype->name, bits),
        "data_offsets that span shape times dtype");
    return std::nullopt;
  }
  return t;
}

/// The data is tiled by the tensors: no overlap, no hole, nothing after the last.
void check_tiling(std::span<const HeaderTensor> tensors, std::int64_t data_size, Problems& problems) {
  std::vector<const HeaderTensor*> order;
  order.reserve(tensors.size());
  for (const HeaderTensor& t : tensors) order.push_back(&t);
  const auto before = [](const HeaderTensor* a, const HeaderTensor* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->size < b->size;
  };
  if (!std::is_sorted(order.begin(), order.end(), before)) std::sort(order.begin(), order.end(), before);
  std::int64_t at = 0;
  for (const HeaderTensor* t : order) {
    if (t->size > data_size - std::min(t->begin, data_size)) {
      problems.add("input.truncated", t->name,
                   fmt::format("ends at byte {} of the data, which has {}", t->begin + t->size, data_size),
                   "a complete file");
    } else if (t->begin != at) {
      problems.add("input.bad_value", t->name,
                   fmt::format("begins at {}, {}", t->begin, t->begin < at ? "inside another tensor" : "after a hole"),
                   fmt::format("{}, where the tensor before it ends", at));
    }
    at = std::max(at, t->begin + t->size);
  }
  if (at < data_size && !tensors.empty()) {
    problems.add("input.bad_value", order.back()->name,
                 fmt::format("is the last tensor, but {} bytes follow it", data_size - at), "data without holes");
  }
}

/// The header's JSON, a view of the buffer.
std::string_view read_header_text(ByteSource& source, std::string& buffer) {
  constexpr std::size_t kLength = sizeof(std::uint64_t);
  constexpr std::size_t kFirstRead = std::size_t{64} << 10;
  if (source.size() == 0) refuse("input.empty", source.origin(), "the file is empty");
  const auto fill = [&](std::size_t from, std::size_t end) {
    if (buffer.size() < end) buffer.resize(end);
    if (end > from) source.read(from, buffer.data() + from, end - from);
  };
  const auto first = static_cast<std::size_t>(std::min<std::uint64_t>(source.size(), kFirstRead));
  fill(0, first);
  MemoryBytes start(std::string_view(buffer.data(), first), source.origin());
  refuse_lfs_pointer(start);
  ByteCursor cursor(start, kLength);
  const auto length = cursor.number<std::uint64_t>("the header's length");
  if (length > kMaxHeader) {
    refuse("input.too_large", source.origin(), fmt::format("the header is {} bytes long", length),
           "at most 100 MB; is this a safetensors file?");
  }
  if (length > source.size() - kLength) {
    refuse("input.truncated", source.origin(),
           fmt::format("the header at byte {} needs {} bytes, past the end of the file of {} bytes", kLength, length,
                       source.size()),
           "a complete file");
  }
  fill(first, kLength + static_cast<std::size_t>(length));
  return std::string_view(buffer).substr(kLength, static_cast<std::size_t>(length));
}

}  // namespace

StoredTensor stored_tensor(const HeaderTensor& tensor) {
  StoredTensor t;
  t.name = tensor.name;
  t.format = tensor.dtype->name;
  t.shape.assign(tensor.shape.begin(), tensor.shape.end());
  t.elements = tensor.elements;
  t.size = tensor.size;
  return t;
}

/// Takes the entries of a header one by one.
struct HeaderReader::State {
  std::span<const HeaderTensor> read(ByteSource& source, bool names_once) {
    const std::string_view text = read_header_text(source, buffer_);
    origin_ = &source.origin();
    if (!text.starts_with('{')) {
      refuse("input.syntax", *origin_, "the header does not begin with '{'", "a safetensors file");
    }
    Problems problems(*origin_);
    problems_ = &problems;
    tensors_.clear();
    dimensions_.clear();
    json_.start(text, *origin_);
    entries(names_once);
    problems.finish();
    std::size_t at = 0;  // of the dimensions, which have their place only now
    for (HeaderTensor& tensor : tensors_) {
      tensor.shape = std::span<const std::int64_t>(dimensions_).subspan(at, tensor.shape.size());
      at += tensor.shape.size();
    }
    check_tiling(tensors_, static_cast<std::int64_t>(source.size() - sizeof(std::uint64_t) - text.size()), problems);
    problems.finish();
    return tensors_;
  }

 private:
  void entries(bool names_once) {
    const auto entry = [&](std::string_view name) {
      if (name == "__metadata__") return json_.skip();  // texts of whoever wrote the file
      if (json_.kind() != JsonKind::object) bad("is not an object", "dtype, shape and data_offsets");
      if (!is_clean_name(name, kMaxName)) bad("is no name of a tensor", "printable UTF-8");
      tensor(name);
    };
    names_once ? json_.object(entry) : json_.members(entry);
    json_.finish();
  }

  void tensor(std::string_view name) {
    entry_.name = name;
    entry_.dtype.reset();
    entry_.dimensions.reset();
    entry_.ends.reset();
    others_.clear();
    json_.members([&](std::string_view key) { member(key); });
    if (entry_.dtype && (!dtype_ || dtype_->name != *entry_.dtype)) dtype_ = find_dtype(*entry_.dtype);
    if (auto tensor = tensor_of(entry_, dtype_, *problems_)) {
      tensor->shape = std::span<const std::int64_t>(entry_.shape).first(*entry_.dimensions);
      dimensions_.insert(dimensions_.end(), tensor->shape.begin(), tensor->shape.end());
      tensors_.push_back(*tensor);
    }
  }

  void member(std::string_view key) {
    if (key == "dtype") {
      if (entry_.dtype) json_.refuse_duplicate();
      if (json_.kind() != JsonKind::text) bad("is not a text", "a dtype such as BF16");
      entry_.dtype = json_.scalar().text;
    } else if (key == "shape") {
      if (entry_.dimensions) json_.refuse_duplicate();
      entry_.dimensions = numbers(entry_.shape);
    } else if (key == "data_offsets") {
      if (entry_.ends) json_.refuse_duplicate();
      entry_.ends = numbers(entry_.offsets);
    } else {
      if (!others_.insert(key)) json_.refuse_duplicate();
      json_.skip();
    }
  }

  template <std::size_t N>
  std::size_t numbers(std::array<std::int64_t, N>& out) {
    if (json_.kind() != JsonKind::array) bad("is not a list", "a list of whole numbers");
    std::size_t count = 0;
    json_.array([&] {
      const JsonKind comes = json_.kind();
      const bool nested = comes == JsonKind::object || comes == JsonKind::array;
      const JsonScalar value = nested ? JsonScalar{} : json_.scalar();
      if (value.kind != JsonKind::whole || value.whole < 0) {
        const bool number = value.kind == JsonKind::whole || value.kind == JsonKind::number;
        bad("holds " + (number ? std::string(value.text) : "what is no number"), "whole numbers from 0");
      }
      if (count == N) bad("has more than " + std::to_string(N) + " numbers", {});
      out[count++] = value.whole;
    });
    return count;
  }

  [[noreturn]] void bad(std::string_view what, std::string expected) const {
    refuse("input.bad_value", *origin_, in_quotes(json_.path()) + " " + std::string(what), std::move(expected));
  }

  std::string buffer_;
  JsonCursor json_;
  JsonKeys others_;  // of the tensor, beside those that are known
  Entry entry_{};
  const SafetensorsDtype* dtype_ = nullptr;  // of the tensor before, as nearly always
  std::vector<HeaderTensor> tensors_;
  std::vector<std::int64_t> dimensions_;  // of all tensors, one behind the other
  const std::string* origin_ = nullptr;
  Problems* problems_ = nullptr;
};

HeaderReader::HeaderReader() : state_(std::make_unique<State>()) {}
HeaderReader::~HeaderReader() = default;
std::span<const HeaderTensor> HeaderReader::read(ByteSource& source, bool names_once) {
  return state_->read(source, names_once);
}

void refuse_same_names(std::span<const HeaderTensor> tensors, const std::string& origin) {
  JsonKeys names;
  for (const HeaderTensor& tensor : tensors) {
    if (!names.insert(tensor.name)) {
      refuse("input.duplicate_key", origin, "key " + in_quotes(tensor.name) + " is there twice", "each key once");
    }
  }
}

std::span<const SafetensorsDtype> safetensors_dtypes() { return kDtypes; }

StoredTensors read_safetensors_header(ByteSource& source) {
  StoredTensors out;
  out.format = "safetensors";
  HeaderReader reader;
  for (const HeaderTensor& tensor : reader.read(source)) out.tensors.push_back(stored_tensor(tensor));
  return out;
}

StoredTensors read_safetensors_header(const std::string& path) {
  FileBytes source(path);
  return read_safetensors_header(source);
}

}  // namespace gpuplan
