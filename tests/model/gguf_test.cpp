#include "binary_files.hpp"
#include "catch.hpp"

#include <gpuplan/model/gguf.hpp>

#include "model/readers/gguf.hpp"

#include <filesystem>
#include <string>
#include <vector>

using namespace gpuplan;
using gpuplan::testing::Folder;
using gpuplan::testing::GgufBuilder;
using gpuplan::testing::raw;
using gpuplan::testing::real_file;
using gpuplan::testing::refusal;

namespace {

constexpr std::uint32_t kF32 = 0, kQ4K = 12;
constexpr std::uint32_t kText = 8, kList = 9;

GgufFile read(const std::string& content) {
  MemoryBytes source(content, "m.gguf");
  return read_gguf_part(source);
}
std::string refused(const std::string& content) {
  return refusal([&] { (void)read(content); });
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

GgufBuilder tensor(const std::vector<std::uint64_t>& dimensions, std::uint32_t type = kF32, std::uint64_t offset = 0) {
  GgufBuilder b;
  b.tensor("w", dimensions, type, offset);
  return b;
}

/// `depth` lists around one number.
std::string nested(int depth) {
  std::string value = raw<std::uint32_t>(4) + raw<std::uint64_t>(1) + raw<std::uint32_t>(7);
  for (int i = 1; i < depth; ++i) value = raw(kList) + raw<std::uint64_t>(1) + value;
  return value;
}

}  // namespace

TEST_CASE("gguf: tensors of each version have their type, shape and bytes", "[model]") {
  const std::uint32_t version = GENERATE(1u, 2u, 3u);
  CAPTURE(version);
  GgufBuilder b(version);
  b.string("general.architecture", "llama").tensor("a", {256, 3}, kQ4K, 0).tensor("b", {5}, kF32, 448);
  const GgufFile got = read(b.build(448 + 20));
  CHECK(got.version == static_cast<int>(version));
  CHECK(got.metadata.text("general.architecture") == "llama");
  REQUIRE(got.stored.tensors.size() == 2);
  CHECK(got.stored.format == "gguf");
  CHECK(got.stored.tensors[0].name == "a");
  CHECK(got.stored.tensors[0].format == "Q4_K");
  CHECK(got.stored.tensors[0].shape == std::vector<std::int64_t>{3, 256});
  CHECK(got.stored.tensors[0].elements == 768);
  CHECK(got.stored.tensors[0].size == 432);
  CHECK(got.stored.total_size() == 452);
}

TEST_CASE("gguf: metadata of every type", "[model]") {
  GgufBuilder b;
  b.key("u8", 0, raw<std::uint8_t>(200)).key("i8", 1, raw<std::int8_t>(-3)).key("u16", 2, raw<std::uint16_t>(60000));
  b.key("i16", 3, raw<std::int16_t>(-5)).u32("u32", 4000000000u).key("i32", 5, raw<std::int32_t>(-7));
  b.key("f32", 6, raw(1.5f))
      .key("yes", 7, raw<std::uint8_t>(1))
      .string("text", "δ")
      .key("u64", 10, raw<std::uint64_t>(9));
  b.key("i64", 11, raw<std::int64_t>(-9)).key("f64", 12, raw(2.5));
  b.list("list", 5, 3, raw<std::int32_t>(1) + raw<std::int32_t>(-2) + raw<std::int32_t>(3));
  b.list("texts", kText, 2, b.text("a") + b.text("bc")).list("numbers", 6, 1, raw(0.5f));
  const GgufMetadata m = read(b.build()).metadata;
  CHECK(m.size() == 15);
  CHECK(m.whole("u8") == 200);
  CHECK(m.whole("i8") == -3);
  CHECK(m.whole("u16") == 60000);
  CHECK(m.whole("i16") == -5);
  CHECK(m.whole("u32") == 4000000000);
  CHECK(m.whole("i32") == -7);
  CHECK(m.number("f32").value_or(0) == Approx(1.5));
  CHECK(m.number("u8").value_or(0) == Approx(200));
  CHECK(m.boolean("yes") == true);
  CHECK(m.text("text") == "δ");
  CHECK(m.whole("u64") == 9);
  CHECK(m.whole("i64") == -9);
  CHECK(m.number("f64").value_or(0) == Approx(2.5));
  CHECK(m.wholes("list") == std::vector<std::int64_t>{1, -2, 3});
  CHECK(m.wholes("u8") == std::vector<std::int64_t>{200});
  CHECK(m.length("list") == 3);
  CHECK(m.length("texts") == 2);
  CHECK_FALSE(m.whole("text").has_value());
  CHECK_FALSE(m.whole("absent").has_value());
  CHECK_FALSE(m.has("absent"));
}

TEST_CASE("gguf: a vocabulary, a long text and what is not UTF-8 are not kept", "[model]") {
  GgufBuilder b;
  std::string tokens;
  for (int i = 0; i < 5000; ++i) tokens += b.text("t" + std::to_string(i));
  b.list("tokens", kText, 5000, tokens).list("scores", 6, 5000, std::string(20000, '\0'));
  b.string("latin1", "caf\xe9");
  b.string("template", std::string(100000, 'x')).list("nested", kList, 1, nested(3)).u32("after", 5);
  const GgufMetadata m = read(b.build()).metadata;
  CHECK(m.length("tokens") == 5000);
  CHECK(m.length("scores") == 5000);
  CHECK_FALSE(m.wholes("tokens").has_value());
  CHECK(m.has("template"));
  CHECK_FALSE(m.text("template").has_value());
  CHECK(m.has("latin1"));
  CHECK_FALSE(m.text("latin1").has_value());  // not UTF-8
  CHECK(m.length("nested") == 1);
  CHECK(m.whole("after") == 5);
}

TEST_CASE("gguf: what is no GGUF of ours is said so", "[model]") {
  CHECK(has(refused(""), "input.empty"));
  CHECK(has(refused("GG"), "input.truncated: the magic number"));
  CHECK(has(refused("PK\x03\x04 and so on"), "input.bad_value: begins with 'PK\\x03\\x04'"));
  CHECK(has(refused("lmgg" + raw<std::uint32_t>(1)), "input.unsupported: is a GGML file from before GGUF"));
  CHECK(has(refused(std::string("GGUF\0\0\0\3", 8)), "input.unsupported: is a big-endian GGUF file"));
  CHECK(has(refused("GGUF" + raw<std::uint32_t>(4)), "input.unsupported: is a GGUF file of version 4"));
  CHECK(has(refused("GGUF" + raw<std::uint32_t>(0)), "input.unsupported: is a GGUF file of version 0"));
  CHECK(has(refused("version https://git-lfs.github.com/spec/v1\nsize 5\n"), "input.lfs_pointer"));
}

TEST_CASE("gguf: counts and lengths past the end of the file are refused", "[model]") {
  const std::string start = "GGUF" + raw<std::uint32_t>(3);
  CHECK(has(refused(start + raw<std::uint64_t>(UINT64_MAX) + raw<std::uint64_t>(0)), "tensors"));
  CHECK(has(refused(start + raw<std::uint64_t>(0) + raw<std::uint64_t>(1000) + std::string(64, '\0')), "1000 keys"));
  const std::string one_key = start + raw<std::uint64_t>(0) + raw<std::uint64_t>(1);
  CHECK(has(refused(one_key + raw<std::uint64_t>(UINT64_MAX) + "aaaaaaaaaaaa"), "input.too_large: the key at byte 24"));
  CHECK(has(refused(one_key + raw<std::uint64_t>(4000) + "aaaaaaaaaaaa"), "input.truncated: a key at byte 32"));
  CHECK(has(refused(GgufBuilder().key("k", kText, raw<std::uint64_t>(UINT64_MAX)).build()), "input.truncated"));
  CHECK(has(refused(GgufBuilder().list("k", 10, UINT64_MAX, "").build()), "'k' at byte"));
  CHECK(has(refused(GgufBuilder().list("k", kText, 1u << 20, "").build()), "more than fit into the file"));
  CHECK(has(refused(GgufBuilder().list("k", kList, 1u << 20, "").build()), "more than fit into the file"));
  const std::string whole = tensor({4}).build(16);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    if (refused(whole.substr(0, size)).empty()) {
      CAPTURE(size);
      CHECK_FALSE(refused(whole.substr(0, size)).empty());
    }
  }
}

TEST_CASE("gguf: what metadata cannot be is refused", "[model]") {
  CHECK(has(refused(GgufBuilder().u32("k", 1).u32("k", 1).build()), "input.duplicate_key: the key 'k'"));
  CHECK(has(refused(GgufBuilder().key("k", 13, "").build(64)), "has the unknown type 13"));
  CHECK(has(refused(GgufBuilder().u32("", 1).build()), "is no key"));
  CHECK(has(refused(GgufBuilder().u32("a\nb", 1).build()), "'a\\x0ab' at byte 24 is no key"));
  CHECK(has(refused(GgufBuilder().u32("\xff", 1).build()), "is no key"));
  CHECK(has(refused(GgufBuilder().key("k", 10, raw<std::uint64_t>(UINT64_MAX)).build()), "'k' at byte"));
  CHECK(refused(GgufBuilder().key("k", kList, nested(4)).build()).empty());
  CHECK(has(refused(GgufBuilder().key("k", kList, nested(5)).build()), "input.too_deep"));
}

TEST_CASE("gguf: what a tensor cannot be is refused with its name", "[model]") {
  CHECK(has(refused(tensor({}).build(64)), "the tensor 'w' at byte 24 has 0 dimensions"));
  CHECK(has(refused(tensor({1, 1, 1, 1, 1}).build(64)), "has 5 dimensions"));
  CHECK(has(refused(tensor({4, 0}).build(64)), "has a dimension of 0"));
  CHECK(has(refused(tensor({UINT64_MAX}).build(64)), "has a dimension of 18446744073709551615"));
  CHECK(has(refused(tensor({1ull << 40, 1ull << 40}).build(64)), "has a dimension of"));
  CHECK(has(refused(tensor({1ull << 62}).build(64)), "has a size that overflows"));
  CHECK(has(refused(tensor({4}, 4).build(64)), "input.unknown_name: the tensor 'w' at byte 24 has the unknown type 4"));
  CHECK(has(refused(tensor({300}, kQ4K).build(512)), "has rows of 300 elements in Q4_K"));
  CHECK(has(refused(tensor({4}, kF32, 4).build(64)), "is at offset 4"));
  CHECK(has(refused(tensor({4}, kF32, 1ull << 63).build(64)), "is at offset 9223372036854775808"));
  CHECK(has(refused(tensor({100}).build(64)), "input.truncated: the tensor 'w' of 400 bytes at offset 0"));
  CHECK(has(refused(tensor({4}, kF32, 64).build(64)), "input.truncated"));
  CHECK(has(refused(tensor({4}).tensor("w", {4}, kF32, 32).build(64)), "input.duplicate_key: the tensor 'w'"));
  CHECK(has(refused(tensor({16}).tensor("v", {4}, kF32, 32).build(64)), "the tensor 'v' at offset 32 overlaps 'w'"));
  CHECK(has(refused(GgufBuilder().tensor("", {4}, kF32, 0).build(64)), "is no name of a tensor"));
}

TEST_CASE("gguf: alignment is what the file says", "[model]") {
  GgufBuilder b;
  b.u32("general.alignment", 64).tensor("a", {4}, kF32, 0).tensor("b", {4}, kF32, 64);
  CHECK(read(b.build(80, 64)).stored.total_size() == 32);
  GgufBuilder c;
  c.u32("general.alignment", 64).tensor("a", {4}, kF32, 32);
  CHECK(has(refused(c.build(128, 64)), "is at offset 32"));
  for (const std::uint32_t bad : {0u, 48u, 1u << 21}) {
    CHECK(has(refused(GgufBuilder().u32("general.alignment", bad).build()), "'general.alignment' is"));
  }
  CHECK(has(refused(GgufBuilder().string("general.alignment", "x").build()), "'general.alignment' is"));
}

namespace {

std::string part(std::uint16_t number, std::uint16_t count, const std::string& name, std::uint32_t stated = 3) {
  GgufBuilder b;
  b.u16("split.no", number).u16("split.count", count).key("split.tensors.count", 5, raw(stated));
  if (number == 0) b.string("general.architecture", "llama");
  b.tensor(name, {256, 4}, kQ4K, 0);
  return b.build(576);
}

}  // namespace

TEST_CASE("gguf: any part of a split file brings in the others", "[model]") {
  const Folder folder;
  const std::string first = folder.write("m-00001-of-00003.gguf", part(0, 3, "a"));
  (void)folder.write("m-00002-of-00003.gguf", part(1, 3, "b"));
  const std::string last = folder.write("m-00003-of-00003.gguf", part(2, 3, "c"));
  for (const std::string& path : {first, last}) {
    const GgufFile got = read_gguf_header(path);
    CHECK(got.parts == 3);
    CHECK(got.stored.total_size() == 3 * 576);
    CHECK(got.metadata.text("general.architecture") == "llama");
    CHECK(got.file_size > 3 * 576);
  }
}

TEST_CASE("gguf: parts that are missing or do not belong together are refused", "[model]") {
  const Folder folder;
  const std::string first = folder.write("m-00001-of-00003.gguf", part(0, 3, "a"));
  const auto refused_now = [&] { return refusal([&] { (void)read_gguf_header(first); }); };
  CHECK(has(refused_now(), "input.missing_shard: part 2 of 3 is not there"));
  (void)folder.write("m-00002-of-00003.gguf", part(1, 3, "a"));
  CHECK(has(refused_now(), "input.duplicate_key: the tensor 'a' is in an earlier part too"));
  (void)folder.write("m-00002-of-00003.gguf", part(0, 3, "b"));
  CHECK(has(refused_now(), "input.bad_value: says it is part 1 of 3"));
  (void)folder.write("m-00002-of-00003.gguf", part(1, 3, "b"));
  (void)folder.write("m-00003-of-00003.gguf", part(2, 4, "c"));
  CHECK(has(refused_now(), "input.bad_value: says it is part 3 of 4"));
  (void)folder.write("m-00003-of-00003.gguf", part(2, 3, "c"));
  (void)folder.write("m-00001-of-00003.gguf", part(0, 3, "a", 7));
  CHECK(has(refused_now(), "'split.tensors.count' is 7, but the parts hold 3"));
  const std::string misnamed = folder.write("part.gguf", part(0, 3, "a"));
  CHECK(has(refusal([&] { (void)read_gguf_header(misnamed); }), "input.bad_path"));
}

TEST_CASE("gguf: a sparse file of 400 GB", "[model]") {
  const Folder folder;
  GgufBuilder b;
  const std::uint64_t rows = 2'000'000'000;
  b.tensor("w", {256, rows}, kQ4K, 0);
  const std::string path = folder.write("large.gguf", b.build(32));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 32 + rows * 144);
  CHECK(read_gguf_header(path).stored.total_size() == 288'000'000'000);
}

TEST_CASE("gguf: a vocabulary that runs through a sparse file ends at the limit of a header", "[model][slow]") {
  const Folder folder;
  GgufBuilder b;
  b.list("tokens", kText, 1ull << 34, "");
  const std::string path = folder.write("hole.gguf", b.build());
  std::filesystem::resize_file(path, std::uint64_t{400'000'000'000});
  CHECK(has(refusal([&] { (void)read_gguf_header(path); }), "input.too_large: tokens at byte"));
}

TEST_CASE("gguf: files from the wild", "[model]") {
  if (!std::filesystem::exists(real_file("gguf"))) return;  // not shipped
  struct Row {
    const char* name;
    const char* architecture;
    std::int64_t tokens;
  };
  const auto row = GENERATE(values<Row>({
      {"bert-bge", "bert", 30522},
      {"deepseek-coder", "llama", 32256},
      {"llama-spm", "llama", 32000},
      {"phi-3", "phi3", 32064},
  }));
  CAPTURE(row.name);
  const GgufFile got = read_gguf_header(real_file("gguf/ggml-vocab-" + std::string(row.name) + ".gguf"));
  CHECK(got.version == 3);
  CHECK(got.stored.tensors.empty());
  CHECK(got.metadata.text("general.architecture") == row.architecture);
  CHECK(got.metadata.length("tokenizer.ggml.tokens") == row.tokens);
  CHECK(got.metadata.whole(std::string(row.architecture) + ".block_count").value_or(0) > 0);
}
