#include "onnx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_set>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::uint64_t kMaxStructure = std::uint64_t{64} << 20;
constexpr std::size_t kMaxTensors = 1'000'000;
constexpr std::size_t kMaxValues = 100'000;
constexpr std::size_t kMaxOperators = 100'000;  // different ones, of the graph and of each function
constexpr std::size_t kMaxFunctions = 10'000;
constexpr std::size_t kMaxOpsets = 1000;
constexpr std::string_view kConstant = "Constant";
constexpr std::string_view kSavedModel = "saved_model.pb";

using Operators = std::map<std::string, std::int64_t>;

/// Which part of the model a graph is.
struct Scope {
  Operators* operators = nullptr;  ///< where its nodes are counted
  bool is_training = false;
  bool is_inner = false;  ///< inside a node
};

class ModelReader {
 public:
  explicit ModelReader(ByteSource& source) : in_(source, kMaxStructure) {
    out_.stored.format = "onnx";
    out_.file_size = static_cast<std::int64_t>(source.size());
  }

  OnnxFile read() {
    WireField f;
    bool is_first = true;
    while (in_.next(f)) {
      if (is_first) check_beginning(f);
      is_first = false;
      read_model_field(f);
    }
    if (!has_graph_) {
      refuse("input.bad_value", in_.origin(), "holds no graph; is this an ONNX model?",
             "a ModelProto; a TensorFlow SavedModel is converted by 'python -m tf2onnx.convert --saved-model FOLDER'");
    }
    if (out_.ir_version < 1) {
      refuse("input.bad_value", in_.origin(), fmt::format("has the IR version {}", out_.ir_version), "from 1");
    }
    write_notes();
    return std::move(out_);
  }

 private:
  /// Zip archives, JSON, texts and pickles do not begin with a field of a ModelProto.
  void check_beginning(const WireField& f) const {
    const bool is_number = f.number == 1 || f.number == 5;
    const bool is_message = (f.number >= 2 && f.number <= 4) || (f.number >= 6 && f.number <= 8) || f.number == 14 ||
                            f.number == 20 || f.number == 25 || f.number == 26;
    if ((is_number && f.wire == Wire::varint) || (is_message && f.wire == Wire::length)) return;
    refuse("input.bad_value", in_.origin(), "does not begin like an ONNX model", "a ModelProto; is this an ONNX file?");
  }

  void read_model_field(const WireField& f) {
    switch (f.number) {
      case 1:
        out_.ir_version = in_.whole(f, "the IR version");
        return;
      case 2:
        out_.producer_name = in_.text(f, "the producer's name", kMaxOnnxName);
        return;
      case 3:
        out_.producer_version = in_.text(f, "the producer's version", kMaxOnnxName);
        return;
      case 7:
        if (std::exchange(has_graph_, true)) duplicate(f, "the model's graph");
        in_.message(f, "the graph", [&] { read_graph({&out_.operators, false, false}); });
        return;
      case 8:
        in_.message(f, "an operator set", [&] { read_opset(); });
        return;
      case 20:
        in_.message(f, "a part for training", [&] { read_training(); });
        return;
      case 25:
        in_.message(f, "a function", [&] { read_function(); });
        return;
      default:
        in_.skip(f);
    }
  }

  void read_opset() {
    OnnxOpset opset;
    WireField f;
    while (in_.next(f)) {
      if (f.number == 1) {
        opset.domain = in_.text(f, "the domain of an operator set", kMaxOnnxName);
      } else if (f.number == 2) {
        opset.version = in_.whole(f, "the version of an operator set");
      } else {
        in_.skip(f);
      }
    }
    limit(out_.opsets.size(), kMaxOpsets, "operator sets");
    out_.opsets.push_back(std::move(opset));
  }

  void read_training() {
    WireField f;
    while (in_.next(f)) {
      if (f.number == 1 || f.number == 2) {
        in_.message(f, "a graph for training", [&] { read_graph({&training_operators_, true, false}); });
      } else {
        in_.skip(f);
      }
    }
  }

  void read_function() {
    OnnxFunction function;
    WireField f;
    while (in_.next(f)) {
      switch (f.number) {
        case 1:
          function.name = in_.text(f, "the name of a function", kMaxOnnxName);
          break;
        case 7:
          in_.message(f, "a node", [&] { read_node({&function.operators, false, true}, f.at); });
          break;
        case 10:
          function.domain = in_.text(f, "the domain of a function", kMaxOnnxName);
          break;
        case 11: {  // attributes with a default, which may be tensors
          OnnxCount count;
          in_.message(f, "an attribute", [&] { read_attribute({&function.operators, false, true}, count, f.at); });
          add(out_.attributes, count, f.at);
          break;
        }
        default:
          in_.skip(f);
      }
    }
    limit(out_.functions.size(), kMaxFunctions, "functions");
    out_.functions.push_back(std::move(function));
  }

  void read_graph(const Scope& scope) {
    std::unordered_set<std::string> names;
    std::vector<OnnxValue> inputs;
    const bool is_main = !scope.is_inner && !scope.is_training;
    WireField f;
    while (in_.next(f)) {
      switch (f.number) {
        case 1:
          in_.message(f, "a node", [&] { read_node(scope, f.at); });
          break;
        case 5:
          in_.message(f, "an initializer", [&] { read_initializer(scope, names, f.at); });
          break;
        case 11:
        case 12: {
          if (!is_main) {
            in_.skip(f);
            break;
          }
          std::vector<OnnxValue>& values = f.number == 11 ? inputs : out_.outputs;
          limit(values.size(), kMaxValues, "inputs or outputs");
          in_.message(f, f.number == 11 ? "an input" : "an output", [&] { values.push_back(read_onnx_value(in_)); });
          break;
        }
        case 15:
          in_.message(f, "a sparse initializer", [&] { read_sparse_initializer(scope, names, f.at); });
          break;
        default:
          in_.skip(f);
      }
    }
    if (is_main) {  // before version 4 of the IR every initializer is an input, too
      for (OnnxValue& v : inputs) {
        if (!names.contains(v.name)) out_.inputs.push_back(std::move(v));
      }
    }
  }

  void read_initializer(const Scope& scope, std::unordered_set<std::string>& names, std::uint64_t at) {
    OnnxTensor tensor = read_onnx_tensor(in_, at);
    check_name(tensor.tensor.name, names, at);
    keep_external(tensor);
    keep(scope, std::move(tensor.tensor), tensor.is_text, false, at);
  }

  void read_sparse_initializer(const Scope& scope, std::unordered_set<std::string>& names, std::uint64_t at) {
    OnnxSparseTensor sparse = read_onnx_sparse_tensor(in_, at);
    check_name(sparse.tensor.name, names, at);
    keep_external(sparse.values);
    keep_external(sparse.indices);
    keep(scope, std::move(sparse.tensor), sparse.values.is_text, true, at);
  }

  void keep(const Scope& scope, StoredTensor tensor, bool is_text, bool is_sparse, std::uint64_t at) {
    limit(static_cast<std::size_t>(total_.tensors), kMaxTensors, "initializers");
    add(total_, {1, tensor.elements, tensor.size}, at);
    if (scope.is_training) {
      add(out_.training, {1, tensor.elements, tensor.size}, at);
      return;
    }
    out_.subgraph_initializers += scope.is_inner ? 1 : 0;
    out_.sparse_initializers += is_sparse ? 1 : 0;
    out_.string_initializers += is_text ? 1 : 0;
    out_.stored.tensors.push_back(std::move(tensor));
  }

  void keep_external(const OnnxTensor& tensor) {
    if (!tensor.is_external) return;
    limit(out_.external.size(), kMaxTensors, "external tensors");
    const OnnxExternalTensor& e = tensor.external;
    OnnxExternalFile& file = out_.external_files[e.location];
    ++file.tensors;
    file.end = std::max(file.end, e.offset + e.length);
    out_.external.push_back(e);
  }

  void check_name(const std::string& name, std::unordered_set<std::string>& names, std::uint64_t at) const {
    if (name.empty()) {
      refuse("input.missing", in_.origin(), fmt::format("the initializer at byte {} has no name", at), "a name");
    }
    if (!names.insert(name).second) {
      refuse("input.duplicate_key", in_.origin(),
             fmt::format("the initializer {} at byte {} was there before", in_quotes(name), at),
             "each once in a graph");
    }
  }

  void read_node(const Scope& scope, std::uint64_t at) {
    std::string op;
    OnnxCount tensors;
    WireField f;
    while (in_.next(f)) {
      if (f.number == 4) {
        op = in_.text(f, "the operator of a node", kMaxOnnxName);
      } else if (f.number == 5) {
        in_.message(f, "an attribute", [&] { read_attribute(scope, tensors, f.at); });
      } else {
        in_.skip(f);
      }
    }
    if (op.empty()) {
      refuse("input.missing", in_.origin(), fmt::format("the node at byte {} has no operator", at), "an op_type");
    }
    add(scope.is_training ? out_.training : op == kConstant ? out_.constants : out_.attributes, tensors, at);
    if (++(*scope.operators)[op] == 1) limit(operators_++, kMaxOperators, "different operators");
  }

  void read_attribute(const Scope& scope, OnnxCount& tensors, std::uint64_t at) {
    WireField f;
    while (in_.next(f)) {
      switch (f.number) {
        case 4:  // a text, which may be a whole compiled engine
        case 9:
          (void)in_.payload(f, "the text of an attribute");
          break;
        case 7:
          pass_list(f, Wire::fixed32);
          break;
        case 8:
          pass_list(f, Wire::varint);
          break;
        case 5:
        case 10:
          in_.message(f, "a tensor", [&] {
            const OnnxTensor t = read_onnx_tensor(in_, f.at);
            keep_external(t);
            add(tensors, {1, t.tensor.elements, t.tensor.size}, at);
          });
          break;
        case 6:
        case 11:
          in_.message(f, "a graph", [&] { read_graph({scope.operators, scope.is_training, true}); });
          break;
        case 22:
        case 23:
          in_.message(f, "a sparse tensor", [&] {
            const OnnxSparseTensor t = read_onnx_sparse_tensor(in_, f.at);
            keep_external(t.values);
            keep_external(t.indices);
            add(tensors, {1, t.tensor.elements, t.tensor.size}, at);
          });
          break;
        default:
          in_.skip(f);
      }
    }
  }

  /// Numbers of an attribute: one, or packed.
  void pass_list(const WireField& f, Wire single) {
    if (f.wire == Wire::length) {
      (void)in_.payload(f, "the numbers of an attribute");
    } else {
      in_.expect(f, single, "the numbers of an attribute");
      in_.skip(f);
    }
  }

  void add(OnnxCount& sum, const OnnxCount& more, std::uint64_t at) const {
    const bool overflows = __builtin_add_overflow(sum.tensors, more.tensors, &sum.tensors) ||
                           __builtin_add_overflow(sum.elements, more.elements, &sum.elements) ||
                           __builtin_add_overflow(sum.size, more.size, &sum.size);
    if (overflows) {
      refuse("input.bad_value", in_.origin(), fmt::format("the sizes of the tensors up to byte {} overflow", at),
             "less than 2^63 bytes in all");
    }
  }

  void limit(std::size_t count, std::size_t most, std::string_view what) const {
    if (count < most) return;
    refuse("input.too_large", in_.origin(),
           fmt::format("up to byte {} there are more than {} {}", in_.position(), most, what));
  }

  [[noreturn]] void duplicate(const WireField& f, std::string_view what) const {
    refuse("input.duplicate_key", in_.origin(), fmt::format("{} at byte {} was there before", what, f.at), "one");
  }

  void write_notes() {
    const auto note = [&](std::int64_t count, std::string_view what) {
      if (count > 0) out_.notes.push_back(fmt::format("{} {}", count, what));
    };
    note(out_.string_initializers, "initializers are texts and count 0 bytes");
    note(out_.sparse_initializers, "initializers are sparse and count the bytes of their values and indices");
    note(out_.training.tensors, "tensors are for training only and are not counted");
  }

  WireReader in_;
  OnnxFile out_;
  OnnxCount total_;
  Operators training_operators_;
  std::size_t operators_ = 0;  ///< different ones of the graph and of each function
  bool has_graph_ = false;
};

[[noreturn]] void refuse_saved_model(const std::string& path, const std::string& folder) {
  refuse("input.unsupported", path, "is a TensorFlow SavedModel",
         fmt::format("an ONNX file: python -m tf2onnx.convert --saved-model {} --output model.onnx", folder));
}

void check_external_files(OnnxFile& file, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (auto& [location, external] : file.external_files) {
    const std::string beside = (folder / location).string();
    std::error_code error;
    if (!std::filesystem::exists(beside, error)) continue;
    FileBytes source(beside);
    refuse_lfs_pointer(source);
    external.file_size = static_cast<std::int64_t>(source.size());
    if (external.end > *external.file_size) {
      refuse("input.truncated", beside,
             fmt::format("has {} bytes, but the tensors in it end at byte {}", *external.file_size, external.end),
             "a complete file, of the same export as " + in_quotes(path));
    }
  }
}

}  // namespace

OnnxFile read_onnx(ByteSource& source) {
  refuse_lfs_pointer(source);
  if (source.size() == 0) refuse("input.empty", source.origin(), "the file is empty");
  return ModelReader(source).read();
}

OnnxFile read_onnx(const std::string& path) {
  const std::filesystem::path place(path);
  std::error_code error;
  if (std::filesystem::is_directory(place, error) && std::filesystem::exists(place / kSavedModel, error)) {
    refuse_saved_model(path, path);
  }
  FileBytes source(path);
  if (place.filename() == kSavedModel) {
    refuse_lfs_pointer(source);
    const std::filesystem::path folder = place.parent_path();
    refuse_saved_model(path, folder.empty() ? "." : folder.string());
  }
  OnnxFile file = read_onnx(source);
  check_external_files(file, path);
  return file;
}

}  // namespace gpuplan
