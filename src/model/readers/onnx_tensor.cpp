#include "onnx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace gpuplan {
namespace {

/// Where the elements of a tensor can stand; the fields of TensorProto.
enum class Field : std::uint32_t {
  float_data = 4,
  int32_data = 5,
  string_data = 6,
  int64_data = 7,
  raw_data = 9,
  double_data = 10,
  uint64_data = 11
};

struct DataField {
  Field field;
  std::string_view name;
  Wire single;  ///< wire type of one entry that is not packed
};
constexpr DataField kDataFields[] = {
    {Field::float_data, "float_data", Wire::fixed32},  {Field::int32_data, "int32_data", Wire::varint},
    {Field::string_data, "string_data", Wire::length}, {Field::int64_data, "int64_data", Wire::varint},
    {Field::raw_data, "raw_data", Wire::length},       {Field::double_data, "double_data", Wire::fixed64},
    {Field::uint64_data, "uint64_data", Wire::varint},
};
constexpr std::size_t kDataFieldCount = std::size(kDataFields);

struct TypeRow {
  OnnxDataType type;
  Field field;               ///< that its elements stand in, unless they are raw
  std::int64_t entries = 1;  ///< of that field for an element; types under a byte have one for each byte
};
constexpr TypeRow kTypes[] = {
    {{"FLOAT", 1, 32}, Field::float_data},
    {{"UINT8", 2, 8}, Field::int32_data},
    {{"INT8", 3, 8}, Field::int32_data},
    {{"UINT16", 4, 16}, Field::int32_data},
    {{"INT16", 5, 16}, Field::int32_data},
    {{"INT32", 6, 32}, Field::int32_data},
    {{"INT64", 7, 64}, Field::int64_data},
    {{"STRING", 8, 0}, Field::string_data},
    {{"BOOL", 9, 8}, Field::int32_data},
    {{"FLOAT16", 10, 16}, Field::int32_data},
    {{"DOUBLE", 11, 64}, Field::double_data},
    {{"UINT32", 12, 32}, Field::uint64_data},
    {{"UINT64", 13, 64}, Field::uint64_data},
    {{"COMPLEX64", 14, 64}, Field::float_data, 2},
    {{"COMPLEX128", 15, 128}, Field::double_data, 2},
    {{"BFLOAT16", 16, 16}, Field::int32_data},
    {{"FLOAT8E4M3FN", 17, 8}, Field::int32_data},
    {{"FLOAT8E4M3FNUZ", 18, 8}, Field::int32_data},
    {{"FLOAT8E5M2", 19, 8}, Field::int32_data},
    {{"FLOAT8E5M2FNUZ", 20, 8}, Field::int32_data},
    {{"UINT4", 21, 4}, Field::int32_data},
    {{"INT4", 22, 4}, Field::int32_data},
    {{"FLOAT4E2M1", 23, 4}, Field::int32_data},
    {{"FLOAT8E8M0", 24, 8}, Field::int32_data},
    {{"UINT2", 25, 2}, Field::int32_data},
    {{"INT2", 26, 2}, Field::int32_data},
};

const TypeRow* find_row(std::int64_t id) {
  const auto* found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& r) { return r.type.id == id; });
  return found == std::end(kTypes) ? nullptr : found;
}

/// What a tensor holds of one data field.
struct Held {
  bool is_there = false;
  std::uint64_t packed = 0;  ///< bytes
  std::uint64_t single = 0;  ///< entries that are not packed
};

class TensorReader {
 public:
  TensorReader(WireReader& in, std::uint64_t at) : in_(in), at_(at) {}

  OnnxTensor read() {
    out_.at = at_;
    WireField f;
    while (in_.next(f)) read_field(f);
    finish();
    return std::move(out_);
  }

 private:
  void read_field(const WireField& f) {
    switch (f.number) {
      case 1:
        in_.wholes(f, "the dimensions of a tensor", kMaxOnnxDimensions, out_.tensor.shape);
        return;
      case 2:
        type_ = in_.whole(f, "the data type of a tensor");
        return;
      case 3:
        refuse("input.unsupported", in_.origin(), fmt::format("the tensor at byte {} is one segment of a tensor", f.at),
               "whole tensors");
      case 8:
        out_.tensor.name = in_.text(f, "the name of a tensor", kMaxOnnxName);
        return;
      case 13:
        in_.message(f, "the place of external data", [&] { read_entry(); });
        return;
      case 14:
        location_kind_ = in_.whole(f, "the data location of a tensor");
        return;
      default:
        break;
    }
    for (std::size_t i = 0; i < kDataFieldCount; ++i) {
      if (f.number == static_cast<std::uint32_t>(kDataFields[i].field)) {
        read_data(f, kDataFields[i], held_[i]);
        return;
      }
    }
    in_.skip(f);
  }

  void read_data(const WireField& f, const DataField& field, Held& held) {
    const bool was_there = held.is_there;
    held.is_there = true;
    if (field.field == Field::string_data) {
      (void)in_.payload(f, field.name);
      ++held.single;
    } else if (field.field == Field::raw_data) {
      if (was_there) bad("input.duplicate_key", "has raw_data twice", "raw_data once");
      held.packed = in_.payload(f, field.name);
    } else if (f.wire == Wire::length) {
      held.packed += in_.payload(f, field.name);
    } else {
      in_.expect(f, field.single, field.name);
      in_.skip(f);
      ++held.single;
    }
  }

  /// A key and a value of external_data.
  void read_entry() {
    std::string key;
    std::string value;
    WireField f;
    while (in_.next(f)) {
      if (f.number == 1) {
        key = in_.text(f, "a key of external_data", kMaxOnnxName);
      } else if (f.number == 2) {
        value = in_.text(f, "a value of external_data", kMaxOnnxName);
      } else {
        in_.skip(f);
      }
    }
    if (key == "location") location_ = std::move(value);
    if (key == "offset") offset_ = std::move(value);
    if (key == "length") length_ = std::move(value);
  }

  void finish() {
    const TypeRow* row = find_row(type_);
    if (!row) {
      bad("input.unknown_name", fmt::format("has the unknown data type {}", type_),
          "a data type of the format, 1 to 26");
    }
    StoredTensor& t = out_.tensor;
    t.format = row->type.name;
    t.elements = 1;
    std::int64_t bits = std::max<std::int64_t>(row->type.bits, 8);  // also for texts, so that their count stays sane
    bool fits = true;
    for (const std::int64_t n : t.shape) {
      if (n < 0) bad("input.bad_value", fmt::format("has a dimension of {}", n), "from 0");
      fits = fits && multiply(t.elements, n) && multiply(bits, n);
    }
    if (!fits) bad("input.bad_value", "has dimensions whose product overflows", "less than 2^63 bits");
    out_.is_text = row->type.bits == 0;
    t.size = (t.elements * row->type.bits + 7) / 8;
    if (location_kind_ != 0 && location_kind_ != 1) {
      bad("input.bad_value", fmt::format("has the data location {}", location_kind_), "0 (here) or 1 (external)");
    }
    out_.is_external = location_kind_ == 1;
    check_fields(*row);
    if (out_.is_external) {
      finish_external();
    } else {
      check_length(*row);
    }
  }

  /// Data stands in one field, and in one that the type can have.
  void check_fields(const TypeRow& row) const {
    const DataField* first = nullptr;
    for (std::size_t i = 0; i < kDataFieldCount; ++i) {
      if (!held_[i].is_there) continue;
      const DataField& field = kDataFields[i];
      if (out_.is_external) bad("input.bad_value", fmt::format("is external, but has {}", field.name), "one of both");
      if (first) bad("input.bad_value", fmt::format("has {} and {}", first->name, field.name), "one of both");
      first = &field;
      const bool may_be_raw = field.field == Field::raw_data && !out_.is_text;
      if (field.field != row.field && !may_be_raw) {
        bad("input.bad_value", fmt::format("is {}, but has {}", row.type.name, field.name),
            out_.is_text ? "string_data" : "raw_data, or the field of its type");
      }
    }
  }

  void check_length(const TypeRow& row) const {
    const auto size = static_cast<std::uint64_t>(out_.tensor.size);
    const auto entries =
        row.type.bits > 0 && row.type.bits < 8 ? size : static_cast<std::uint64_t>(out_.tensor.elements * row.entries);
    bool has_data = false;
    for (std::size_t i = 0; i < kDataFieldCount; ++i) {
      const Held& held = held_[i];
      if (!held.is_there) continue;
      has_data = true;
      if (kDataFields[i].field == Field::raw_data) {
        if (held.packed != size) wrong_length(fmt::format("{} bytes of raw_data", held.packed));
      } else if (!may_hold(kDataFields[i].single, held, entries)) {
        wrong_length(held.packed > 0 ? fmt::format("{} bytes of {}", held.packed, kDataFields[i].name)
                                     : fmt::format("{} entries of {}", held.single, kDataFields[i].name));
      }
    }
    if (!has_data && entries > 0) wrong_length("no data");
  }

  static bool may_hold(Wire single, const Held& held, std::uint64_t entries) {
    if (single == Wire::varint) {  // not counted, because that would mean reading them: 1 to 10 bytes each
      return held.single + (held.packed + 9) / 10 <= entries && entries <= held.single + held.packed;
    }
    const std::uint64_t width = single == Wire::fixed32 ? 4 : single == Wire::fixed64 ? 8 : 1;
    return held.packed % width == 0 && held.single + held.packed / width == entries;
  }

  [[noreturn]] void wrong_length(const std::string& held) const {
    const StoredTensor& t = out_.tensor;
    bad("input.bad_value",
        fmt::format("has {}, but {} elements of {} are {} bytes", held, t.elements, t.format, t.size),
        "data of the length that dimensions and data type say");
  }

  void finish_external() {
    if (out_.is_text) bad("input.bad_value", "holds texts in an external file", "texts inside the model");
    if (location_.empty()) bad("input.missing", "is external, but has no location", "external_data with a location");
    if (!stays_inside(location_)) {
      bad("input.bad_path", "lies in " + in_quotes(location_) + ", out of the model's folder",
          "a path inside the model's folder");
    }
    out_.external.location = location_;
    out_.external.offset = offset_.empty() ? 0 : number(offset_, "offset");
    out_.external.length = length_.empty() ? out_.tensor.size : number(length_, "length");
    if (out_.external.length != out_.tensor.size) {
      wrong_length(fmt::format("{} bytes in {}", out_.external.length, in_quotes(location_)));
    }
    if (out_.external.offset > INT64_MAX - out_.external.length) {
      bad("input.bad_value", fmt::format("is at offset {}", out_.external.offset), "an offset inside a file");
    }
    out_.external.name = out_.tensor.name;
  }

  static bool stays_inside(std::string_view path) {
    if (path.starts_with('/') || path.find('\\') != std::string_view::npos) return false;
    while (true) {
      const std::size_t slash = path.find('/');
      if (path.substr(0, slash) == "..") return false;
      if (slash == std::string_view::npos) return true;
      path.remove_prefix(slash + 1);
    }
  }

  std::int64_t number(const std::string& text, std::string_view what) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0) {
      bad("input.bad_value", fmt::format("has the {} {}", what, in_quotes(text)), "a whole number of bytes from 0");
    }
    return value;
  }

  [[noreturn]] void bad(const std::string& id, const std::string& how, const std::string& expected) const {
    const std::string& name = out_.tensor.name;
    refuse(id, in_.origin(),
           fmt::format("the tensor {}at byte {} {}", name.empty() ? "" : in_quotes(name) + " ", at_, how), expected);
  }

  WireReader& in_;
  std::uint64_t at_;
  OnnxTensor out_;
  std::int64_t type_ = 0;
  std::int64_t location_kind_ = 0;
  std::string location_;
  std::string offset_;
  std::string length_;
  std::array<Held, kDataFieldCount> held_;
};

[[noreturn]] void bad_sparse(const WireReader& in, std::uint64_t at, const std::string& how,
                             const std::string& expected) {
  refuse("input.bad_value", in.origin(), fmt::format("the sparse tensor at byte {} {}", at, how), expected);
}

void check_sparse(const WireReader& in, std::uint64_t at, const OnnxSparseTensor& s) {
  const std::vector<std::int64_t>& values = s.values.tensor.shape;
  const std::vector<std::int64_t>& indices = s.indices.tensor.shape;
  const auto rank = static_cast<std::int64_t>(s.tensor.shape.size());
  if (values.size() != 1 || values[0] > s.tensor.elements) {
    bad_sparse(in, at, "has values of another shape",
               "one dimension, at most as many as the dense tensor has elements");
  }
  const bool fits = (indices.size() == 1 || (indices.size() == 2 && indices[1] == rank)) && indices[0] == values[0];
  if (s.indices.tensor.format != "INT64" || !fits) {
    bad_sparse(in, at, "has indices that do not match its values",
               "INT64, as many as values, linear or one a dimension");
  }
}

}  // namespace

const OnnxDataType* find_onnx_data_type(std::int64_t id) {
  const TypeRow* row = find_row(id);
  return row ? &row->type : nullptr;
}

OnnxTensor read_onnx_tensor(WireReader& in, std::uint64_t at) { return TensorReader(in, at).read(); }

OnnxSparseTensor read_onnx_sparse_tensor(WireReader& in, std::uint64_t at) {
  OnnxSparseTensor s;
  bool has_values = false;
  bool has_indices = false;
  WireField f;
  while (in.next(f)) {
    if (f.number == 1 || f.number == 2) {
      bool& has = f.number == 1 ? has_values : has_indices;
      if (has) bad_sparse(in, at, "has values or indices twice", "each once");
      has = true;
      OnnxTensor& part = f.number == 1 ? s.values : s.indices;
      in.message(f, "a part of a sparse tensor", [&] { part = read_onnx_tensor(in, f.at); });
    } else if (f.number == 3) {
      in.wholes(f, "the dimensions of a sparse tensor", kMaxOnnxDimensions, s.tensor.shape);
    } else {
      in.skip(f);
    }
  }
  if (!has_values || !has_indices) bad_sparse(in, at, "lacks values or indices", "both");
  s.tensor.name = s.values.tensor.name;
  s.tensor.format = s.values.tensor.format;
  s.tensor.elements = 1;
  for (const std::int64_t n : s.tensor.shape) {
    if (n < 0 || !multiply(s.tensor.elements, n)) {
      bad_sparse(in, at, fmt::format("has a dimension of {}", n), "from 0, and a product below 2^63");
    }
  }
  check_sparse(in, at, s);
  if (__builtin_add_overflow(s.values.tensor.size, s.indices.tensor.size, &s.tensor.size)) {
    bad_sparse(in, at, "has a size that overflows", "less than 2^63 bytes");
  }
  return s;
}

}  // namespace gpuplan
