#pragma once
/// The structure of ONNX files: what is stored, what goes in and out, which operators there are. The protobuf is walked and
/// payloads are jumped over, so a file of tens of gigabytes costs what its structure costs.
///
///     const OnnxFile file = read_onnx("decoder_model.onnx");
///     file.stored.total_size();              // initializers, those in external files included
///     file.operators.at("MatMul");
///
/// Bytes are as stored: a quantized model's weights are the whole numbers in the file, and its scales and zero points are
/// tensors of their own. Types of less than a byte are packed over the whole tensor.
///
/// Refused with the file and the offset: numbers cut short, lengths past the end of the file or of the message around them,
/// wrong wire types, groups, messages nested over 64 deep, unknown data types, dimensions that are negative or overflow,
/// data of another length or kind than dimensions and type say, an initializer's name twice in a graph, more than 64 MiB
/// that are no payload, external files that lead out of the folder or are too short, a Git LFS pointer
/// (`input.lfs_pointer`), a TensorFlow SavedModel (`input.unsupported`), and what is not ONNX.
/// Source: github.com/onnx/onnx, onnx/onnx.proto3 (field numbers, data types) and docs/ExternalData.md; wire format:
/// protobuf.dev/programming-guides/encoding.

#include <gpuplan/model/stored_tensors.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuplan {

struct OnnxOpset {
  std::string domain;  ///< empty: the standard's own operators
  std::int64_t version = 0;
};

struct OnnxDimension {
  std::optional<std::int64_t> size;  ///< absent: symbolic or unknown
  std::string name;                  ///< of a symbolic one: `batch`; empty when it has none
};

/// What goes into the graph or comes out of it.
struct OnnxValue {
  std::string name;
  std::string type;  ///< FLOAT; of what is no tensor `sequence`, `map`, `optional`, `sparse tensor`, `opaque`; or empty
  std::optional<std::vector<OnnxDimension>> shape;  ///< absent: not even the rank is known
};

/// Tensors that are counted, but not listed.
struct OnnxCount {
  std::int64_t tensors = 0;
  std::int64_t elements = 0;
  std::int64_t size = 0;  ///< bytes
};

/// A tensor whose bytes lie in another file.
struct OnnxExternalTensor {
  std::string name;
  std::string location;  ///< relative to the model's folder
  std::int64_t offset = 0;
  std::int64_t length = 0;  ///< bytes
};

/// A file that tensors lie in.
struct OnnxExternalFile {
  std::int64_t tensors = 0;
  std::int64_t end = 0;                   ///< bytes it must have: where the last tensor ends
  std::optional<std::int64_t> file_size;  ///< absent: it is not there, or nobody looked
};

/// An operator that the model defines itself.
struct OnnxFunction {
  std::string domain;
  std::string name;
  std::map<std::string, std::int64_t> operators;  ///< of its body, once, however often it is called
};

struct OnnxFile {
  std::int64_t ir_version = 0;
  std::string producer_name;
  std::string producer_version;
  std::vector<OnnxOpset> opsets;
  /// Initializers, those of graphs inside nodes (branches, loop bodies) included; sibling graphs may use the same name. A
  /// sparse one has its dense shape and elements, and the bytes of its values and indices. Texts count 0 bytes.
  StoredTensors stored;
  std::int64_t subgraph_initializers = 0;  ///< how many of `stored` lie in graphs inside nodes
  std::int64_t sparse_initializers = 0;    ///< how many of `stored` are sparse
  std::int64_t string_initializers = 0;    ///< how many of `stored` are texts
  OnnxCount constants;                     ///< tensors of `Constant` nodes; not in `stored`
  OnnxCount attributes;                    ///< tensors that other nodes carry; not in `stored`
  OnnxCount training;                      ///< of the graphs that are for training only; not in `stored`
  std::vector<OnnxValue> inputs;           ///< those that no initializer gives
  std::vector<OnnxValue> outputs;
  std::map<std::string, std::int64_t> operators;  ///< nodes by op_type, graphs inside nodes included
  std::vector<OnnxFunction> functions;
  std::vector<OnnxExternalTensor> external;                ///< of any tensor above
  std::map<std::string, OnnxExternalFile> external_files;  ///< by location
  std::int64_t file_size = 0;                              ///< of the model's own file
  std::vector<std::string> notes;                          ///< what the counts leave out, in words
};

/// External files that lie beside the model are looked at for their size; that one is missing is no problem here.
OnnxFile read_onnx(const std::string& path);

}  // namespace gpuplan
