#include "binary_files.hpp"
#include "catch.hpp"

#include <gpuplan/model/onnx.hpp>

#include "model/readers/onnx.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

using namespace gpuplan;
using gpuplan::testing::Folder;
using gpuplan::testing::raw;
using gpuplan::testing::refusal;

namespace {

// Writers of the wire format: a tag is the field's number times 8 plus its wire type.

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7F) | 0x80);
  return out + static_cast<char>(value);
}
std::string tag(std::uint64_t field, std::uint64_t wire) { return varint(field * 8 + wire); }
std::string number(std::uint64_t field, std::int64_t value) {
  return tag(field, 0) + varint(static_cast<std::uint64_t>(value));
}
std::string bytes(std::uint64_t field, const std::string& content) {
  return tag(field, 2) + varint(content.size()) + content;
}

constexpr std::int64_t kFloat = 1, kUint8 = 2, kInt32 = 6, kInt64 = 7, kString = 8, kComplex64 = 14, kInt4 = 22;

std::string dims(std::initializer_list<std::int64_t> sizes) {
  std::string out;
  for (const std::int64_t n : sizes) out += number(1, n);
  return out;
}
/// A TensorProto without data.
std::string bare(const std::string& name, std::initializer_list<std::int64_t> sizes, std::int64_t type) {
  return dims(sizes) + number(2, type) + (name.empty() ? "" : bytes(8, name));
}
std::string tensor(const std::string& name, std::initializer_list<std::int64_t> sizes, std::int64_t type,
                   std::size_t raw_bytes) {
  return bare(name, sizes, type) + bytes(9, std::string(raw_bytes, '\0'));
}
std::string entry(const std::string& key, const std::string& value) {
  return bytes(13, bytes(1, key) + bytes(2, value));
}
std::string external(const std::string& name, std::int64_t floats, const std::string& entries) {
  return bare(name, {floats}, kFloat) + entries + number(14, 1);
}
std::string initializer(const std::string& t) { return bytes(5, t); }  // of a graph
std::string attribute(const std::string& content) { return bytes(5, bytes(1, "a") + content); }
std::string node(const std::string& op, const std::string& attributes = "") {
  return bytes(1, bytes(1, "x") + bytes(2, "y") + bytes(4, op) + attributes);
}
std::string value(const std::string& name, std::int64_t type, const std::string& shape) {
  return bytes(1, name) + bytes(2, bytes(1, number(1, type) + bytes(2, shape)));
}
std::string dimension(const std::string& content) { return bytes(1, content); }
std::string model(const std::string& graph, const std::string& more = "") {
  return number(1, 8) + more + bytes(7, graph);
}

OnnxFile read(const std::string& content) {
  MemoryBytes source(content, "m.onnx");
  return read_onnx(source);
}
std::string refused(const std::string& content) {
  return refusal([&] { (void)read(content); });
}
std::string refused_tensor(const std::string& t) { return refused(model(initializer(t))); }
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// `depth` graphs, each in a node of the one around it.
std::string nested(int depth) {
  std::string graph = initializer(tensor("w", {1}, kUint8, 1));
  for (int i = 1; i < depth; ++i) graph = node("If", attribute(bytes(6, graph)));
  return graph;
}

}  // namespace

TEST_CASE("onnx: an initializer has its type, shape and bytes", "[model]") {
  const OnnxFile got = read(model(initializer(tensor("a", {3, 256}, kFloat, 3072)) +
                                  initializer(tensor("s", {}, 11, 8)) + initializer(bare("none", {0, 4}, kFloat))));
  CHECK(got.ir_version == 8);
  CHECK(got.stored.format == "onnx");
  REQUIRE(got.stored.tensors.size() == 3);
  CHECK(got.stored.tensors[0].name == "a");
  CHECK(got.stored.tensors[0].format == "FLOAT");
  CHECK(got.stored.tensors[0].shape == std::vector<std::int64_t>{3, 256});
  CHECK(got.stored.tensors[0].elements == 768);
  CHECK(got.stored.tensors[0].size == 3072);
  CHECK(got.stored.tensors[1].format == "DOUBLE");
  CHECK(got.stored.tensors[1].elements == 1);
  CHECK(got.stored.tensors[2].size == 0);
  CHECK(got.stored.total_size() == 3080);
}

TEST_CASE("onnx: seven elements of each data type take the bytes of the format's table", "[model]") {
  struct Row {
    std::int64_t id;
    const char* name;
    std::int64_t size;  // 7 elements; those under a byte are packed: 4 bits in 4 bytes, 2 bits in 2
  };
  const auto row = GENERATE(values<Row>({
      {1, "FLOAT", 28},
      {2, "UINT8", 7},
      {3, "INT8", 7},
      {4, "UINT16", 14},
      {5, "INT16", 14},
      {6, "INT32", 28},
      {7, "INT64", 56},
      {9, "BOOL", 7},
      {10, "FLOAT16", 14},
      {11, "DOUBLE", 56},
      {12, "UINT32", 28},
      {13, "UINT64", 56},
      {14, "COMPLEX64", 56},
      {15, "COMPLEX128", 112},
      {16, "BFLOAT16", 14},
      {17, "FLOAT8E4M3FN", 7},
      {18, "FLOAT8E4M3FNUZ", 7},
      {19, "FLOAT8E5M2", 7},
      {20, "FLOAT8E5M2FNUZ", 7},
      {21, "UINT4", 4},
      {22, "INT4", 4},
      {23, "FLOAT4E2M1", 4},
      {24, "FLOAT8E8M0", 7},
      {25, "UINT2", 2},
      {26, "INT2", 2},
  }));
  CAPTURE(row.name);
  const auto size = static_cast<std::size_t>(row.size);
  const OnnxFile got = read(model(initializer(tensor("w", {7}, row.id, size))));
  CHECK(got.stored.tensors.at(0).format == row.name);
  CHECK(got.stored.tensors.at(0).size == row.size);
  CHECK(has(refused_tensor(tensor("w", {7}, row.id, size + 1)), "bytes of raw_data, but 7 elements of"));
  CHECK(has(refused_tensor(tensor("w", {7}, row.id, size - 1)), "bytes of raw_data, but 7 elements of"));
}

TEST_CASE("onnx: data in the field of its type, packed or not", "[model]") {
  CHECK(read(model(initializer(bare("w", {2}, kFloat) + bytes(4, std::string(8, 'x'))))).stored.total_size() == 8);
  const std::string two = tag(4, 5) + raw(1.0f) + tag(4, 5) + raw(2.0f);
  CHECK(read(model(initializer(bare("w", {2}, kFloat) + two))).stored.total_size() == 8);
  CHECK(read(model(initializer(bare("w", {1}, kComplex64) + two))).stored.total_size() == 8);
  CHECK(read(model(initializer(bare("w", {3}, kInt64) + bytes(7, varint(1) + varint(300) + varint(1)))))
            .stored.total_size() == 24);
  CHECK(read(model(initializer(bare("w", {2}, kInt32) + number(5, -1) + number(5, 1)))).stored.total_size() == 8);
  CHECK(read(model(initializer(bare("w", {4}, kInt4) + bytes(5, varint(18) + varint(52))))).stored.total_size() == 2);
  CHECK(
      read(model(initializer(bytes(1, varint(2) + varint(3)) + number(2, kUint8) + bytes(8, "w") + bytes(9, "123456"))))
          .stored.tensors.at(0)
          .shape == std::vector<std::int64_t>{2, 3});
  CHECK(has(refused_tensor(bare("w", {2}, kFloat) + bytes(4, std::string(7, 'x'))), "7 bytes of float_data"));
  CHECK(has(refused_tensor(bare("w", {3}, kFloat) + two), "2 entries of float_data"));
  CHECK(has(refused_tensor(bare("w", {4}, kInt64) + bytes(7, "abc")), "3 bytes of int64_data"));
  CHECK(has(refused_tensor(bare("w", {1}, kInt64) + bytes(7, std::string(11, 'x'))), "11 bytes of int64_data"));
  CHECK(has(refused_tensor(bare("w", {1}, kInt64) + two), "is INT64, but has float_data"));
  CHECK(has(refused_tensor(tensor("w", {2}, kFloat, 8) + two), "has float_data and raw_data"));
  CHECK(has(refused_tensor(tensor("w", {2}, kFloat, 8) + bytes(9, "")), "input.duplicate_key"));
  CHECK(has(refused_tensor(bare("w", {2}, kFloat)), "has no data, but 2 elements of FLOAT are 8 bytes"));
  CHECK(has(refused_tensor(bare("w", {2}, kInt32) + tag(5, 5) + raw(1)), "int32_data (field 5) at byte"));
}

TEST_CASE("onnx: texts count nothing, which is noted", "[model]") {
  const OnnxFile got = read(model(initializer(bare("words", {2}, kString) + bytes(6, "one") + bytes(6, ""))));
  CHECK(got.stored.total_size() == 0);
  CHECK(got.stored.tensors.at(0).elements == 2);
  CHECK(got.string_initializers == 1);
  CHECK(got.notes == std::vector<std::string>{"1 initializers are texts and count 0 bytes"});
  CHECK(has(refused_tensor(tensor("words", {2}, kString, 2)), "is STRING, but has raw_data"));
  CHECK(has(refused_tensor(bare("words", {2}, kString) + bytes(6, "one")), "1 entries of string_data"));
}

TEST_CASE("onnx: initializers inside nodes and constants", "[model]") {
  const std::string then_branch = initializer(tensor("t", {4}, kFloat, 16)) + node("Add");
  const std::string else_branch = initializer(tensor("t", {2}, kFloat, 8));
  const std::string graph = initializer(tensor("w", {1}, kFloat, 4)) +
                            node("If", attribute(bytes(6, then_branch)) + attribute(bytes(6, else_branch))) +
                            node("Constant", attribute(bytes(5, tensor("", {3}, kInt64, 24)))) +
                            node("ConstantOfShape", attribute(bytes(5, tensor("", {1}, kFloat, 4)))) + node("Add") +
                            node("MatMul", attribute(bytes(8, varint(1) + varint(2)) + bytes(4, "text")));
  const OnnxFile got = read(model(graph));
  REQUIRE(got.stored.tensors.size() == 3);  // sibling branches may share names
  CHECK(got.stored.total_size() == 28);
  CHECK(got.subgraph_initializers == 2);
  CHECK(got.constants.tensors == 1);
  CHECK(got.constants.elements == 3);
  CHECK(got.constants.size == 24);
  CHECK(got.attributes.size == 4);
  CHECK(got.operators == std::map<std::string, std::int64_t>{
                             {"Add", 2}, {"Constant", 1}, {"ConstantOfShape", 1}, {"If", 1}, {"MatMul", 1}});
}

TEST_CASE("onnx: a sparse initializer has its dense shape and the bytes of values and indices", "[model]") {
  const std::string values = tensor("s", {3}, kFloat, 12);
  const std::string dense = number(3, 100) + number(3, 100);
  const auto sparse = [&](const std::string& indices) {
    return model(bytes(15, bytes(1, values) + bytes(2, indices) + dense));
  };
  const OnnxFile got = read(sparse(tensor("", {3, 2}, kInt64, 48)));
  CHECK(got.sparse_initializers == 1);
  CHECK(got.stored.tensors.at(0).name == "s");
  CHECK(got.stored.tensors.at(0).shape == std::vector<std::int64_t>{100, 100});
  CHECK(got.stored.tensors.at(0).elements == 10000);
  CHECK(got.stored.tensors.at(0).size == 60);
  CHECK(got.notes.size() == 1);
  CHECK(read(sparse(tensor("", {3}, kInt64, 24))).stored.total_size() == 36);
  CHECK(has(refused(sparse(tensor("", {2}, kInt64, 16))), "has indices that do not match its values"));
  CHECK(has(refused(sparse(tensor("", {3}, kInt32, 12))), "has indices that do not match its values"));
  CHECK(has(refused(model(bytes(15, bytes(1, values) + dense))), "lacks values or indices"));
  CHECK(has(refused(model(bytes(15, bytes(1, values) + bytes(2, tensor("", {3}, kInt64, 24)) + number(3, 2)))),
            "has values of another shape"));
}

TEST_CASE("onnx: producer, operator sets, inputs, outputs and functions", "[model]") {
  const std::string shape =
      dimension(bytes(2, "batch")) + dimension(number(1, 128)) + dimension("") + dimension(number(1, -1));
  const std::string graph = bytes(11, value("ids", kInt64, shape)) +
                            bytes(11, value("w", kFloat, dimension(number(1, 2)))) + bytes(11, bytes(1, "untyped")) +
                            initializer(tensor("w", {2}, kFloat, 8)) + bytes(12, value("logits", 10, "")) +
                            bytes(12, bytes(1, "list") + bytes(2, bytes(4, bytes(1, ""))));
  const std::string function = bytes(25, bytes(1, "Gelu") + bytes(10, "local") + bytes(7, bytes(4, "Erf")) +
                                             bytes(7, bytes(4, "Mul")) + bytes(7, bytes(4, "Mul")));
  const OnnxFile got = read(model(graph, bytes(2, "exporter") + bytes(3, "2.5.1") + bytes(8, number(2, 17)) +
                                             bytes(8, bytes(1, "local") + number(2, 1)) + function));
  CHECK(got.producer_name == "exporter");
  CHECK(got.producer_version == "2.5.1");
  REQUIRE(got.opsets.size() == 2);
  CHECK(got.opsets[0].domain.empty());
  CHECK(got.opsets[0].version == 17);
  CHECK(got.opsets[1].domain == "local");
  REQUIRE(got.inputs.size() == 2);  // 'w' is an initializer
  CHECK(got.inputs[0].name == "ids");
  CHECK(got.inputs[0].type == "INT64");
  REQUIRE(got.inputs[0].shape.has_value());
  REQUIRE(got.inputs[0].shape->size() == 4);
  CHECK(got.inputs[0].shape->at(0).name == "batch");
  CHECK_FALSE(got.inputs[0].shape->at(0).size.has_value());
  CHECK(got.inputs[0].shape->at(1).size == 128);
  CHECK_FALSE(got.inputs[0].shape->at(2).size.has_value());
  CHECK_FALSE(got.inputs[0].shape->at(3).size.has_value());
  CHECK_FALSE(got.inputs[1].shape.has_value());
  REQUIRE(got.outputs.size() == 2);
  CHECK(got.outputs[0].type == "FLOAT16");
  CHECK(got.outputs[0].shape->empty());  // a scalar
  CHECK(got.outputs[1].type == "sequence");
  REQUIRE(got.functions.size() == 1);
  CHECK(got.functions[0].name == "Gelu");
  CHECK(got.functions[0].domain == "local");
  CHECK(got.functions[0].operators == std::map<std::string, std::int64_t>{{"Erf", 1}, {"Mul", 2}});
  CHECK(got.operators.empty());
}

TEST_CASE("onnx: tensors of graphs for training are counted apart", "[model]") {
  const std::string training = bytes(20, bytes(2, initializer(tensor("m", {4}, kFloat, 16)) + node("Adam")));
  const OnnxFile got = read(model(initializer(tensor("w", {4}, kFloat, 16)), training));
  CHECK(got.stored.total_size() == 16);
  CHECK(got.training.size == 16);
  CHECK(got.operators.empty());
}

TEST_CASE("onnx: external data is listed and its files are looked at when they are there", "[model]") {
  const Folder folder;
  const std::string a =
      external("a", 4, entry("location", "w/m.data") + entry("offset", "4096") + entry("length", "16"));
  const std::string b = external("b", 2, entry("location", "w/m.data"));
  const std::string path = folder.write("m.onnx", model(initializer(a) + initializer(b)));
  const OnnxFile alone = read_onnx(path);
  REQUIRE(alone.external.size() == 2);
  CHECK(alone.external[0].name == "a");
  CHECK(alone.external[0].location == "w/m.data");
  CHECK(alone.external[0].offset == 4096);
  CHECK(alone.external[1].length == 8);
  CHECK(alone.stored.total_size() == 24);
  REQUIRE(alone.external_files.count("w/m.data") == 1);
  CHECK(alone.external_files.at("w/m.data").tensors == 2);
  CHECK(alone.external_files.at("w/m.data").end == 4112);
  CHECK_FALSE(alone.external_files.at("w/m.data").file_size.has_value());

  std::filesystem::create_directory(folder.path("w"));
  folder.write("w/m.data", std::string(4112, 'x'));
  CHECK(read_onnx(path).external_files.at("w/m.data").file_size == 4112);
  folder.write("w/m.data", std::string(4111, 'x'));
  CHECK(has(refusal([&] { (void)read_onnx(path); }),
            "input.truncated: has 4111 bytes, but the tensors in it end at byte 4112"));
  folder.write("w/m.data", "version https://git-lfs.github.com/spec/v1\nsize 4112\n");
  CHECK(has(refusal([&] { (void)read_onnx(path); }), "input.lfs_pointer"));
}

TEST_CASE("onnx: external data that cannot be is refused", "[model]") {
  const auto place = [](const std::string& location) {
    return refused_tensor(external("a", 4, entry("location", location)));
  };
  CHECK(place("..data").empty());
  CHECK(has(place("../m.data"), "input.bad_path: the tensor 'a' at byte"));
  CHECK(has(place("a/../../m.data"), "input.bad_path"));
  CHECK(has(place("a/.."), "input.bad_path"));
  CHECK(has(place("/etc/passwd"), "input.bad_path"));
  CHECK(has(place("..\\m.data"), "input.bad_path"));
  CHECK(has(place(std::string("m\0", 2)), "input.bad_value"));
  CHECK(has(refused_tensor(external("a", 4, "")), "input.missing: the tensor 'a' at byte"));
  const std::string at = entry("location", "m.data");
  CHECK(has(refused_tensor(external("a", 4, at + entry("offset", "-1"))), "has the offset '-1'"));
  CHECK(has(refused_tensor(external("a", 4, at + entry("offset", "1x"))), "has the offset '1x'"));
  CHECK(has(refused_tensor(external("a", 4, at + entry("offset", "9223372036854775807"))), "is at offset"));
  CHECK(has(refused_tensor(external("a", 4, at + entry("length", "15"))), "has 15 bytes in 'm.data', but 4 elements"));
  CHECK(has(refused_tensor(external("a", 4, at) + bytes(9, std::string(16, 'x'))), "is external, but has raw_data"));
  CHECK(has(refused_tensor(bare("a", {1}, kFloat) + number(14, 2)), "has the data location 2"));
  CHECK(has(refused_tensor(bare("a", {1}, kString) + at + number(14, 1)), "holds texts in an external file"));
}

TEST_CASE("onnx: sizes that overflow are refused, alone and together", "[model]") {
  const std::string at = entry("location", "m.data");
  CHECK(has(refused_tensor(tensor("w", {-1}, kFloat, 4)), "has a dimension of -1"));
  CHECK(has(refused_tensor(tensor("w", {INT64_MAX, 2}, kUint8, 4)), "dimensions whose product overflows"));
  CHECK(has(refused_tensor(external("w", INT64_MAX / 16, at)), "dimensions whose product overflows"));
  const std::int64_t half = std::int64_t{1} << 57;  // FLOAT: 2^59 bytes
  std::string graph;
  for (int i = 0; i < 16; ++i) graph += initializer(external("w" + std::to_string(i), half, at));
  CHECK(has(refused(model(graph)), "the sizes of the tensors up to byte"));  // 16 * 2^59 = 2^63
}

TEST_CASE("onnx: names, types and counts that cannot be are refused", "[model]") {
  const std::string w = initializer(tensor("w", {1}, kUint8, 1));
  CHECK(has(refused(model(w + w)), "input.duplicate_key: the initializer 'w' at byte"));
  CHECK(has(refused_tensor(tensor("", {1}, kUint8, 1)), "input.missing: the initializer at byte"));
  CHECK(has(refused_tensor(tensor("a\nb", {1}, kUint8, 1)), "input.bad_value: the name of a tensor at byte"));
  CHECK(has(refused_tensor(tensor(std::string(5000, 'w'), {1}, kUint8, 1)), "input.too_large: the name of a tensor"));
  CHECK(has(refused_tensor(tensor("w", {1}, 27, 1)),
            "input.unknown_name: the tensor 'w' at byte 4 has the unknown data"));
  CHECK(has(refused_tensor(tensor("w", {1}, 0, 1)), "input.unknown_name"));
  CHECK(has(refused_tensor(tensor("w", {1}, kUint8, 1) + bytes(3, "")), "input.unsupported"));
  CHECK(has(refused_tensor(bytes(1, std::string(65, '\1')) + number(2, kUint8)), "more than 64"));
  CHECK(has(refused(model(bytes(11, value("x", 99, "")))), "has the unknown data type 99"));
  CHECK(has(refused(model(node(""))), "input.missing: the node at byte"));
  CHECK(has(refused(model(w) + bytes(7, "")), "input.duplicate_key: the model's graph"));
}

TEST_CASE("onnx: what breaks the wire format is refused with its offset", "[model]") {
  CHECK(has(refused(number(1, 8) + "\x3a"), "input.truncated: the graph at byte 3 needs 1 bytes"));
  CHECK(has(refused(number(1, 8) + "\x3a\x80"), "input.truncated: the graph at byte 4 needs 1 bytes"));
  CHECK(has(refused(number(1, 8) + "\x3a\x05"), "input.truncated: the graph at byte 4 needs 5 bytes"));
  CHECK(has(refused(number(1, 8) + tag(7, 2) + varint(UINT64_MAX)), "input.truncated: the graph"));
  CHECK(has(refused(model(std::string("\x2a\x05\x08", 3)) + "padding"), "but the message around it ends at byte 7"));
  CHECK(has(refused("\x08" + std::string(10, '\xff') + "\1"), "a number of more than 64 bits"));
  CHECK(has(refused(number(1, 8) + number(7, 1)), "the graph (field 7) at byte 2 has the wire type 0"));
  CHECK(has(refused(number(1, 8) + tag(7, 3) + tag(7, 4)), "the field 7 at byte 2 is a group"));
  CHECK(has(refused(number(1, 8) + tag(7, 6)), "has the wire type 6"));
  CHECK(has(refused(number(1, 8) + tag(0, 0) + "1"), "the field at byte 2 has the number 0"));
  CHECK(has(refused(number(1, 8) + varint(std::uint64_t{1} << 35)), "the field at byte 2 has the number 4294967296"));
  CHECK(read(model("") + number(999, 1) + bytes(1000, "later versions")).ir_version == 8);
}

TEST_CASE("onnx: messages are nested at most 64 deep", "[model]") {
  // The graph is the first; each further one adds a node, an attribute and itself, and the initializer is one more.
  CHECK(read(model(nested(21))).subgraph_initializers == 1);  // 1 + 20 * 3 + 1 = 62
  CHECK(has(refused(model(nested(22))), "input.too_deep"));   // 65
}

TEST_CASE("onnx: what is no ONNX of ours is said so", "[model]") {
  CHECK(has(refused(""), "input.empty"));
  CHECK(has(refused("PK\x03\x04 and so on"), "input.bad_value: does not begin like an ONNX model"));
  CHECK(has(refused("{\"a\": 1}"), "input.bad_value"));
  CHECK(has(refused("GGUF\3"), "input.bad_value: "));
  CHECK(has(refused(number(1, 8) + bytes(2, "x")), "holds no graph"));
  CHECK(has(refused(bytes(7, "")), "has the IR version 0"));
  CHECK(has(refused("version https://git-lfs.github.com/spec/v1\nsize 5\n"), "input.lfs_pointer"));
}

TEST_CASE("onnx: a SavedModel is refused with the way to convert it", "[model]") {
  const Folder folder;
  const std::string path = folder.write("saved_model.pb", number(1, 1) + bytes(2, "graph"));
  for (const std::string& what : {path, folder.path()}) {
    CAPTURE(what);
    const auto problems = testing::problems_of([&] { (void)read_onnx(what); });
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].id == "input.unsupported");
    CHECK(problems[0].expected ==
          "an ONNX file: python -m tf2onnx.convert --saved-model " + folder.path() + " --output model.onnx");
  }
  CHECK(has(refusal([&] { (void)read_onnx(folder.path("none.onnx")); }), "input.not_found"));
}

TEST_CASE("onnx: eight gibibytes of data are passed over", "[model]") {
  constexpr std::uint64_t kData = std::uint64_t{8} << 30;
  const Folder folder;
  const std::string head = bare("w", {std::int64_t{1} << 31}, kFloat) + tag(9, 2) + varint(kData);
  const std::string graph_head = tag(5, 2) + varint(head.size() + kData) + head;
  const std::string tail = node("MatMul");
  const std::string start = number(1, 8) + tag(7, 2) + varint(graph_head.size() + kData + tail.size()) + graph_head;
  const std::string path = folder.write("m.onnx", start);
  std::filesystem::resize_file(path, start.size() + kData);  // a hole, which takes no space
  std::ofstream(path, std::ios::binary | std::ios::app) << tail;
  const OnnxFile got = read_onnx(path);
  CHECK(got.stored.total_size() == static_cast<std::int64_t>(kData));
  CHECK(got.operators.at("MatMul") == 1);
  CHECK(got.file_size == static_cast<std::int64_t>(start.size() + kData + tail.size()));
}

TEST_CASE("onnx: more than 64 MiB of structure is refused", "[model]") {
  const Folder folder;
  constexpr std::uint64_t kText = std::uint64_t{64} << 20;
  const std::string start = number(1, 8) + tag(6, 2) + varint(kText);  // a doc_string
  const std::string path = folder.write("m.onnx", start);
  std::filesystem::resize_file(path, start.size() + kText);
  std::ofstream(path, std::ios::binary | std::ios::app) << bytes(7, "");
  CHECK(has(refusal([&] { (void)read_onnx(path); }), "input.too_large: at byte 7 the structure"));
}
