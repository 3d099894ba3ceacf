#include "binary_files.hpp"
#include "catch.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/model/safetensors.hpp>

#include "model/readers/safetensors.hpp"

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

using namespace gpuplan;
using gpuplan::testing::Folder;
using gpuplan::testing::problems_of;
using gpuplan::testing::raw;
using gpuplan::testing::real_file;
using gpuplan::testing::refusal;
using gpuplan::testing::safetensors_file;

namespace {

StoredTensors read(const std::string& content) {
  MemoryBytes source(content, "m.safetensors");
  return read_safetensors_header(source);
}
std::string refused(const std::string& content) {
  return refusal([&] { (void)read(content); });
}
std::string refused(const std::string& header, std::size_t data) { return refused(safetensors_file(header, data)); }
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape, std::uint64_t begin,
                  std::uint64_t end) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + shape + "],\"data_offsets\":[" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}
std::string header_of(const std::vector<std::string>& entries) { return "{" + join(entries, ",") + "}"; }
std::string one(const std::string& dtype, const std::string& shape, std::uint64_t end) {
  return header_of({entry("w", dtype, shape, 0, end)});
}

/// Says it is large and counts what is read of it; beyond its content there are zeros.
class CountingBytes : public ByteSource {
 public:
  CountingBytes(std::string content, std::uint64_t size)
      : ByteSource("large"), content_(std::move(content)), size_(size) {}
  std::uint64_t bytes_read = 0;
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, char* out, std::size_t count) override {
    bytes_read += count;
    std::memset(out, 0, count);
    if (offset < content_.size())
      std::memcpy(out, content_.data() + offset, std::min<std::size_t>(count, content_.size() - offset));
  }

 private:
  std::string content_;
  std::uint64_t size_;
};

}  // namespace

TEST_CASE("safetensors: names, shapes and bytes are read from the header", "[model]") {
  const StoredTensors got =
      read(safetensors_file(header_of({R"("__metadata__":{"format":"pt"})", entry("a", "BF16", "2,3", 0, 12),
                                       entry("b", "F32", "", 12, 16)}) +
                                "   ",
                            16));
  CHECK(got.format == "safetensors");
  REQUIRE(got.tensors.size() == 2);
  CHECK(got.tensors[0].name == "a");
  CHECK(got.tensors[0].format == "BF16");
  CHECK(got.tensors[0].shape == std::vector<std::int64_t>{2, 3});
  CHECK(got.tensors[0].elements == 6);
  CHECK(got.tensors[0].size == 12);
  CHECK(got.tensors[1].shape.empty());
  CHECK(got.tensors[1].elements == 1);
  CHECK(got.total_size() == 16);
}

TEST_CASE("safetensors: every dtype of the format has its width", "[model]") {
  for (const SafetensorsDtype& dtype : safetensors_dtypes()) {
    CAPTURE(dtype.name);
    const auto bytes = static_cast<std::uint64_t>(24 * dtype.bits / 8);
    const StoredTensors got = read(safetensors_file(one(std::string(dtype.name), "4,6", bytes), bytes));
    REQUIRE(got.tensors.size() == 1);
    CHECK(got.tensors[0].size == static_cast<std::int64_t>(bytes));
  }
  CHECK(safetensors_dtypes().size() == 22);
}

TEST_CASE("safetensors: packed elements fill whole bytes", "[model]") {
  CHECK(has(refused(one("F4", "3", 2), 2), "3 elements of F4 are 12 bits"));
  CHECK(has(refused(one("F6_E2M3", "3", 2), 2), "18 bits"));
}

TEST_CASE("safetensors: an empty tensor and an empty file of none are fine", "[model]") {
  CHECK(read(safetensors_file(one("F32", "0,8", 0), 0)).tensors.size() == 1);
  CHECK(read(safetensors_file("{}", 0)).tensors.empty());
}

TEST_CASE("safetensors: what a header cannot be is refused", "[model]") {
  CHECK(has(refused(""), "input.empty"));
  CHECK(has(refused("abc"), "input.truncated: the header's length"));
  CHECK(has(refused(raw<std::uint64_t>(100'000'001) + "{}"), "input.too_large: the header is 100000001 bytes long"));
  CHECK(has(refused(raw<std::uint64_t>(UINT64_MAX) + "{}"), "input.too_large"));
  CHECK(has(refused(raw<std::uint64_t>(50) + "{}"), "input.truncated: the header at byte 8 needs 50 bytes"));
  CHECK(has(refused("[]", 0), "input.syntax"));
  CHECK(has(refused("{", 0), "input.syntax"));
  CHECK(has(refused("{} {}", 0), "input.syntax"));
  CHECK(has(refused("{\"\xff\":{}}", 0), "input.syntax"));
  CHECK(has(refused("{" + std::string(200, '['), 0), "input.syntax"));
  CHECK(has(refused("{\"a\":{\"x\":" + std::string(50, '['), 0), "input.too_deep"));
}

TEST_CASE("safetensors: what a tensor cannot be is refused with its name", "[model]") {
  CHECK(has(refused(R"({"w":3})", 0), "'w' is not an object"));
  CHECK(has(refused(R"({"":{}})", 0), "is no name of a tensor"));
  CHECK(has(refused("{\"a\\u0007b\":{}}", 0), "'a\\x07b' is no name of a tensor"));
  CHECK(has(refused(R"({"w":{}})", 0), "input.missing: 'w' has no dtype"));
  CHECK(has(refused(R"({"w":{"dtype":"F32","data_offsets":[0,4]}})", 4), "'w' has no shape"));
  CHECK(has(refused(R"({"w":{"dtype":"F32","shape":[1]}})", 4), "'w' has no data_offsets"));
  CHECK(has(refused(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4]}})", 4), "'w' has no data_offsets of two"));
  CHECK(has(refused(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4,4]}})", 4), "more than 2 numbers"));
  CHECK(has(refused(R"({"w":{"dtype":4,"shape":[1],"data_offsets":[0,4]}})", 4), "'w: dtype' is not a text"));
  CHECK(has(refused(R"({"w":{"dtype":"F32","shape":4,"data_offsets":[0,4]}})", 4), "'w: shape' is not a list"));
  CHECK(has(refused(one("F33", "1", 4), 4), "input.unknown_name: 'w' has the unknown dtype 'F33'"));
  CHECK(problems_of([] { (void)read(safetensors_file(one("F33", "1", 4), 4)); })[0].expected == "F32");
  CHECK(has(refused(R"({"w":{},"w":{}})", 0), "input.duplicate_key: key 'w' is there twice"));
  CHECK(has(refused(R"({"w":{"dtype":"F32","dtype":"F32"}})", 0), "key 'w: dtype' is there twice"));
}

TEST_CASE("safetensors: dimensions are whole, not negative and do not overflow", "[model]") {
  CHECK(has(refused(one("F32", "-1", 4), 4), "'w: shape' holds -1"));
  CHECK(has(refused(one("F32", "1.5", 4), 4), "'w: shape' holds 1.5"));
  CHECK(has(refused(one("F32", "NaN", 4), 4), "input.syntax"));
  CHECK(has(refused(one("F32", "1e400", 4), 4), "input.syntax"));
  CHECK(has(refused(one("F32", "null", 4), 4), "'w: shape' holds what is no number"));
  CHECK(has(refused(one("F32", "[1]", 4), 4), "'w: shape' holds what is no number"));
  CHECK(has(refused(one("F32", "18446744073709551615", 4), 4), "is too large"));
  CHECK(has(refused(one("F32", "4294967296,4294967296", 4), 4), "overflows"));
  CHECK(has(refused(one("C64", "288230376151711744", 4), 4), "overflows"));  // 2^58 elements of 2^6 bits
}

TEST_CASE("safetensors: tensors tile the data", "[model]") {
  const std::string first = entry("a", "U8", "4", 0, 4);
  CHECK(read(safetensors_file(header_of({entry("b", "U8", "4", 4, 8), first}), 8)).tensors.size() == 2);
  CHECK(has(refused(header_of({first, entry("b", "U8", "4", 2, 6)}), 6), "'b' begins at 2, inside another tensor"));
  CHECK(has(refused(header_of({first, entry("b", "U8", "4", 8, 12)}), 12), "'b' begins at 8, after a hole"));
  CHECK(has(refused(header_of({first}), 8), "'a' is the last tensor, but 4 bytes follow it"));
  CHECK(has(refused(header_of({first}), 3), "input.truncated: 'a' ends at byte 4 of the data, which has 3"));
  CHECK(has(refused(header_of({entry("a", "U8", "0", 4, 0)}), 4), "'a' has the offsets 4 to 0"));
  CHECK(
      has(refused(header_of({entry("a", "U8", "4", 0, 5)}), 5), "'a' takes 5 bytes, but 4 elements of U8 are 32 bits"));
}

TEST_CASE("safetensors: all that is wrong with tensors is said at once", "[model]") {
  const auto problems = problems_of([] {
    (void)read(safetensors_file(header_of({entry("a", "X8", "4", 0, 4), entry("b", "U8", "4", 4, 5)}), 8));
  });
  CHECK(problems.size() == 2);
}

TEST_CASE("safetensors: a Git LFS pointer is called one", "[model]") {
  const Folder folder;
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1b\nsize 4976698672\n";
  const std::string path = folder.write("model.safetensors", pointer);
  const std::string message = refusal([&] { (void)read_safetensors_header(path); });
  CHECK(has(message, "input.lfs_pointer"));
  CHECK(has(message, "of 4976698672 bytes"));
  const std::string index = folder.write("model.safetensors.index.json", pointer);
  CHECK(has(refusal([&] { (void)read_safetensors_index(index); }), "input.lfs_pointer"));
  CHECK(has(refusal([&] { (void)read_pytorch_index_size(index); }), "input.lfs_pointer"));
}

TEST_CASE("safetensors: a file that is not there or is a folder is said so", "[model]") {
  const Folder folder;
  const std::string path = folder.write("x", "");
  CHECK(has(refusal([&] { (void)read_safetensors_header(path + "y"); }), "input.not_found"));
  CHECK(has(refusal([&] { (void)read_safetensors_header(path); }), "input.empty"));
  const std::string parent = path.substr(0, path.rfind('/'));
  CHECK(has(refusal([&] { (void)read_safetensors_header(parent); }), "input.unreadable: is a folder"));
}

TEST_CASE("safetensors index: the tensors of all shards, as the index names them", "[model]") {
  const Folder folder;
  (void)folder.write("m-1.safetensors",
                     safetensors_file(header_of({entry("a", "F32", "2", 0, 8), entry("x", "U8", "1", 8, 9)}), 9));
  (void)folder.write("m-2.safetensors", safetensors_file(one("F16", "5", 10), 10));
  const std::string index =
      folder.write("model.safetensors.index.json",
                   R"({"metadata":{"total_size":18.0},"weight_map":{"w":"m-2.safetensors","a":"m-1.safetensors"}})");
  const ShardedTensors got = read_safetensors_index(index);
  REQUIRE(got.stored.tensors.size() == 2);
  CHECK(got.stored.tensors[0].name == "w");
  CHECK(got.stored.tensors[1].name == "a");
  CHECK(got.stored.total_size() == 18);
  CHECK(got.shards == 2);
  CHECK(got.stated_size == 18);
  CHECK(got.agrees());
}

TEST_CASE("safetensors index: names are compared across shards, whatever their order", "[model]") {
  const Folder folder;
  const auto write = [&](const std::string& name, const std::vector<std::string>& names) {
    std::vector<std::string> entries;
    for (std::size_t i = 0; i < names.size(); ++i) entries.push_back(entry(names[i], "U8", "1", i, i + 1));
    (void)folder.write(name, safetensors_file(header_of(entries), names.size()));
  };
  const auto index = [&](const std::string& map) { return folder.write("i.json", "{\"weight_map\":{" + map + "}}"); };
  write("1.safetensors", {"c", "a", "b"});
  write("2.safetensors", {"a", "d", "d"});
  const std::string mixed = index(R"("a":"1.safetensors","b":"1.safetensors","c":"1.safetensors")");
  const StoredTensors got = read_safetensors_index(mixed).stored;
  REQUIRE(got.tensors.size() == 3);
  CHECK(got.tensors[0].name == "a");
  CHECK(got.tensors[2].name == "c");
  const std::string twice = index(R"("a":"1.safetensors","b":"1.safetensors","a":"2.safetensors")");
  CHECK(has(refusal([&] { (void)read_safetensors_index(twice); }), "key 'weight_map: a' is there twice"));
  const std::string inside = index(R"("a":"2.safetensors","d":"2.safetensors")");
  CHECK(has(refusal([&] { (void)read_safetensors_index(inside); }), "input.duplicate_key: key 'd' is there twice"));
}

TEST_CASE("safetensors: of many names in any order each is there once", "[model]") {
  // 2,000 names that neither ascend nor are few, with a table that grows on the way; then the first one again.
  std::vector<std::string> entries;
  for (std::uint64_t i = 0; i < 2000; ++i)
    entries.push_back(entry("w" + std::to_string(i * 7919 % 2000), "U8", "1", i, i + 1));
  CHECK(read(safetensors_file(header_of(entries), 2000)).tensors.size() == 2000);
  entries.push_back(entry("w0", "U8", "1", 2000, 2001));
  CHECK(has(refused(header_of(entries), 2001), "key 'w0' is there twice"));
  entries.back() = entry("w2000", "U8", "1", 2000, 2001);
  CHECK(read(safetensors_file(header_of(entries), 2001)).tensors.size() == 2001);
}

TEST_CASE("safetensors index: counted are as many bytes as listed", "[model]") {
  const Folder folder;
  (void)folder.write("1.safetensors",
                     safetensors_file(header_of({entry("a", "F32", "2", 0, 8), entry("b", "BF16", "3", 8, 14),
                                                 entry("c", "F32", "1", 14, 18)}),
                                      18));
  const std::string index =
      folder.write("i.json", R"({"weight_map":{"a":"1.safetensors","b":"1.safetensors","c":"1.safetensors"}})");
  const auto files = open_folder(index.substr(0, index.rfind('/')));
  const StoredTensors counted = read_safetensors_index(*files, "i.json", TensorListing::counted).stored;
  CHECK(counted.tensors.empty());
  CHECK(counted.total_size() == 18);
  for (const StoredTensors& stored : {counted, read_safetensors_index(*files, "i.json").stored}) {
    const std::vector<StoredFormat> formats = stored.by_format();
    REQUIRE(formats.size() == 2);
    CHECK(formats[0].format == "BF16");
    CHECK(formats[0].elements == 3);
    CHECK(formats[1].tensors == 2);
    CHECK(formats[1].elements == 3);
    CHECK(formats[1].size == 12);
  }
}

TEST_CASE("safetensors index: a total_size that is not true is seen", "[model]") {
  const Folder folder;
  (void)folder.write("m.safetensors", safetensors_file(one("F16", "5", 10), 10));
  const auto read_with = [&](const std::string& metadata) {
    return read_safetensors_index(folder.write("i.json", "{" + metadata + R"("weight_map":{"w":"m.safetensors"}})"));
  };
  CHECK_FALSE(read_with(R"("metadata":{"total_size":20},)").agrees());
  CHECK(read_with("").agrees());
  CHECK(read_with(R"("metadata":{"total_size":null},)").agrees());
  CHECK(has(refusal([&] { (void)read_with(R"("metadata":{"total_size":-1},)"); }), "input.bad_value: 'total_size'"));
  CHECK(has(refusal([&] { (void)read_with(R"("metadata":{"total_size":1e300},)"); }), "input.bad_value: 'total_size'"));
}

TEST_CASE("safetensors index: shards stay inside the folder and hold what is said", "[model]") {
  const Folder folder;
  (void)folder.write("m.safetensors", safetensors_file(one("F16", "5", 10), 10));
  const auto refused_map = [&](const std::string& map) {
    const std::string index = folder.write("i.json", "{\"weight_map\":" + map + "}");
    return refusal([&] { (void)read_safetensors_index(index); });
  };
  for (const char* name : {"../m.safetensors", "/m.safetensors", "a/../m.safetensors", "./m.safetensors", "a//b", "",
                           "a\\\\b", "a\\u0000"}) {
    CAPTURE(name);
    CHECK(has(refused_map("{\"w\":\"" + std::string(name) + "\"}"), "input.bad_path: 'w'"));
  }
  CHECK(has(refused_map(R"({"w":"n.safetensors"})"), "input.missing_shard: the shard 'n.safetensors'"));
  CHECK(has(refused_map(R"({"v":"m.safetensors"})"), "input.missing: 'v' is not in its shard"));
  CHECK(has(refused_map(R"({"w":"m.safetensors","w":"m.safetensors"})"), "input.duplicate_key"));
  CHECK(has(refused_map(R"({"w":["m.safetensors"]})"), "input.bad_value"));
  CHECK(has(refused_map("3"), "'weight_map' is not an object"));
  const std::string bare = folder.write("j.json", "{}");
  CHECK(has(refusal([&] { (void)read_safetensors_index(bare); }), "input.missing: the index has no 'weight_map'"));
}

TEST_CASE("safetensors index: of a PyTorch index only the size", "[model]") {
  const Folder folder;
  const std::string index = folder.write("pytorch_model.bin.index.json",
                                         R"({"metadata":{"total_size":352494542848},"weight_map":{"w":"../x.bin"}})");
  CHECK(read_pytorch_index_size(index) == 352494542848);
  const std::string bare = folder.write("j.json", R"({"weight_map":{}})");
  CHECK(has(refusal([&] { (void)read_pytorch_index_size(bare); }), "input.missing"));
}

TEST_CASE("safetensors: of a large file only the header is read", "[model]") {
  const std::uint64_t size = 400'000'000'000;
  const std::string content = safetensors_file(one("U8", std::to_string(size), size), 0);
  CountingBytes source(content, content.size() + size);
  CHECK(read_safetensors_header(source).total_size() == static_cast<std::int64_t>(size));
  CHECK(source.bytes_read <= 2 * 65536 + 256);
}

TEST_CASE("safetensors index: a sharded model of 400 GB on disk", "[model]") {
  const Folder folder;
  std::string map;
  const std::uint64_t tensor = 500'000'000;
  for (int shard = 0; shard < 80; ++shard) {
    const std::string name = "model-" + std::to_string(shard) + ".safetensors";
    std::vector<std::string> entries;
    for (std::uint64_t i = 0; i < 10; ++i) {
      const std::string weight = "layers." + std::to_string(shard) + ".w" + std::to_string(i);
      entries.push_back(entry(weight, "BF16", "25000,10000", i * tensor, (i + 1) * tensor));
      map += (map.empty() ? "\"" : ",\"") + weight + "\":\"" + name + "\"";
    }
    const std::string path = folder.write(name, safetensors_file(header_of(entries), 0));
    std::filesystem::resize_file(path, std::filesystem::file_size(path) + 10 * tensor);  // sparse
  }
  const std::string index = folder.write("model.safetensors.index.json", "{\"weight_map\":{" + map + "}}");
  const ShardedTensors got = read_safetensors_index(index);
  CHECK(got.stored.tensors.size() == 800);
  CHECK(got.stored.total_size() == 400'000'000'000);
}

TEST_CASE("safetensors: files from the wild", "[model]") {
  if (!std::filesystem::exists(real_file("safetensors"))) return;  // not shipped
  const StoredTensors mnist = read_safetensors_header(real_file("safetensors/mnist-tinygrad.model.safetensors"));
  REQUIRE(mnist.tensors.size() == 2);
  CHECK(mnist.total_size() == 4 * (128 * 784 + 10 * 128));
  CHECK(read_pytorch_index_size(real_file("safetensors/bigscience--bloom.pytorch_model.bin.index.json")) ==
        352494542848);
  const std::string broken =
      real_file("safetensors/bigscience--bloom.index.json");  // two documents, a line of '=' between them
  CHECK(has(refusal([&] { (void)read_safetensors_index(broken); }), "input.syntax: bad JSON at byte"));
  for (const char* name : {"mistralai--Devstral-Small-2507", "mustafaaljadery--llama3v", "tiiuae--falcon-180B-chat"}) {
    CAPTURE(name);
    const std::string path = real_file("safetensors/" + std::string(name) + ".index.json");
    const std::string text = read_text_file(path);
    const WeightMap index = parse_weight_map(text, path, true);
    std::size_t tensors = 0;
    for (const WeightMap::Shard& shard : index.shards) tensors += shard.tensors.size();
    CHECK(tensors > 100);
    CHECK(index.total_size.value_or(0) > 1'000'000'000);
    CHECK(has(refusal([&] { (void)read_safetensors_index(path); }), "input.missing_shard"));  // only indexes are there
  }
}
