#include "onnx.hpp"

#include <fmt/format.h>

namespace gpuplan {
namespace {

OnnxDimension read_dimension(WireReader& in) {
  OnnxDimension out;
  WireField f;
  while (in.next(f)) {
    if (f.number == 1) {
      const std::int64_t size = in.whole(f, "a dimension");
      if (size >= 0) out.size = size;  // some write -1 for what they do not know
    } else if (f.number == 2) {
      out.name = in.text(f, "a dimension's name", kMaxOnnxName);
    } else {
      in.skip(f);
    }
  }
  return out;
}

void read_shape(WireReader& in, OnnxValue& out) {
  out.shape.emplace();
  WireField f;
  while (in.next(f)) {
    if (f.number != 1) {
      in.skip(f);
      continue;
    }
    if (out.shape->size() == kMaxOnnxDimensions) {
      refuse("input.too_large", in.origin(),
             fmt::format("the shape of {} at byte {} has more than {} dimensions", in_quotes(out.name), f.at,
                         kMaxOnnxDimensions));
    }
    in.message(f, "a dimension", [&] { out.shape->push_back(read_dimension(in)); });
  }
}

/// Of a tensor, sparse or not: element type and shape.
void read_tensor_type(WireReader& in, OnnxValue& out, bool is_sparse) {
  WireField f;
  while (in.next(f)) {
    if (f.number == 1) {
      const std::int64_t id = in.whole(f, "the data type of a value");
      const OnnxDataType* type = find_onnx_data_type(id);
      if (!type && id != 0) {
        refuse("input.unknown_name", in.origin(),
               fmt::format("the value {} at byte {} has the unknown data type {}", in_quotes(out.name), f.at, id),
               "a data type of the format, 1 to 26");
      }
      if (!is_sparse) out.type = type ? std::string(type->name) : std::string();
    } else if (f.number == 2) {
      in.message(f, "the shape of a value", [&] { read_shape(in, out); });
    } else {
      in.skip(f);
    }
  }
}

void read_type(WireReader& in, OnnxValue& out) {
  WireField f;
  while (in.next(f)) {
    switch (f.number) {
      case 1:
        in.message(f, "the type of a tensor", [&] { read_tensor_type(in, out, false); });
        break;
      case 8:
        out.type = "sparse tensor";
        in.message(f, "the type of a sparse tensor", [&] { read_tensor_type(in, out, true); });
        break;
      case 4:
        out.type = "sequence";
        in.skip(f);
        break;
      case 5:
        out.type = "map";
        in.skip(f);
        break;
      case 7:
        out.type = "opaque";
        in.skip(f);
        break;
      case 9:
        out.type = "optional";
        in.skip(f);
        break;
      default:
        in.skip(f);
    }
  }
}

}  // namespace

OnnxValue read_onnx_value(WireReader& in) {
  OnnxValue out;
  WireField f;
  while (in.next(f)) {
    if (f.number == 1) {
      out.name = in.text(f, "the name of a value", kMaxOnnxName);
    } else if (f.number == 2) {
      in.message(f, "the type of a value", [&] { read_type(in, out); });
    } else {
      in.skip(f);
    }
  }
  return out;
}

}  // namespace gpuplan
