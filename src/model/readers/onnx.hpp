#pragma once
/// Parts of the reader of ONNX that tests and fuzz targets reach without a file.

#include "protobuf.hpp"

#include <gpuplan/model/onnx.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

inline constexpr std::size_t kMaxOnnxName = 4096;
inline constexpr std::size_t kMaxOnnxDimensions = 64;

struct OnnxDataType {
  std::string_view name;  ///< as the format calls it: `FLOAT8E4M3FN`
  std::int64_t id = 0;
  std::int64_t bits = 0;  ///< an element; 0: texts
};
/// Null for what the format does not have.
const OnnxDataType* find_onnx_data_type(std::int64_t id);

/// A tensor as it stands in a file, its data passed over.
struct OnnxTensor {
  StoredTensor tensor;
  bool is_text = false;
  bool is_external = false;
  OnnxExternalTensor external;  ///< when it is
  std::uint64_t at = 0;
};

/// Reads the fields of a TensorProto. @param at  where it begins, for messages
OnnxTensor read_onnx_tensor(WireReader& in, std::uint64_t at);
/// Of a SparseTensorProto: its name, dense shape and the bytes of values and indices.
struct OnnxSparseTensor {
  OnnxTensor values;
  OnnxTensor indices;
  StoredTensor tensor;
};
OnnxSparseTensor read_onnx_sparse_tensor(WireReader& in, std::uint64_t at);

/// Reads the fields of a ValueInfoProto.
OnnxValue read_onnx_value(WireReader& in);

/// Does not look for external files.
OnnxFile read_onnx(ByteSource& source);

}  // namespace gpuplan
