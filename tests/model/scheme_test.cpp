#include "catch.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/model/scheme.hpp>

#include <set>
#include <string>

using namespace gpuplan;

namespace {

double bits_per_weight(std::string_view name) {
  const auto parsed = parse_scheme(name);
  REQUIRE(parsed.value.has_value());
  return stored_bytes((*parsed.value)->linear, 8192, 8192) / bytes(1) * 8 / (8192.0 * 8192);
}

}  // namespace

TEST_CASE("scheme: bits a weight, with what groups add", "[model]") {
  struct Row {
    const char* scheme;
    double bits;
  };
  const auto row = GENERATE(values<Row>({
      {"fp32", 32},
      {"bf16", 16},
      {"fp16", 16},
      {"fp8", 8},
      {"fp8-block", 8 + 32.0 / (128 * 128)},
      {"int8", 8 + 32.0 / 8192},
      {"int4-awq-g128", 4 + 20.0 / 128},                 // PHYSICS: about 4.16
      {"int4-gptq-g128", 4 + 20.0 / 128 + 32.0 / 8192},  // and a group index an input
      {"nf4", 4 + 8.0 / 64 + 32.0 / (64 * 256)},         // arXiv:2305.14314: 0.127 bits of constants
      {"nf4-sq", 4.5},
      {"mxfp4", 4.25},
      {"nvfp4", 4.5},
  }));
  CAPTURE(row.scheme);
  CHECK(bits_per_weight(row.scheme) == Approx(row.bits).epsilon(1e-6));
}

TEST_CASE("scheme: names and aliases ignore case, spaces, '-' and '_'", "[model]") {
  struct Row {
    const char* typed;
    const char* name;
  };
  const auto row = GENERATE(values<Row>({
      {"INT4", "int4-awq-g128"},
      {"w4a16", "int4-awq-g128"},
      {"Int4 AWQ_g128", "int4-awq-g128"},
      {"gptq", "int4-gptq-g128"},
      {"16bit", "bf16"},
      {"half", "fp16"},
      {"qlora", "nf4"},
      {"W8A8", "int8"},
      {"NVFP4", "nvfp4"},
  }));
  CAPTURE(row.typed);
  const auto parsed = parse_scheme(row.typed);
  REQUIRE(parsed.value.has_value());
  CHECK((*parsed.value)->name == row.name);
}

TEST_CASE("scheme: an unknown name lists what exists and the nearest", "[model]") {
  const auto parsed = parse_scheme("int4-aqw-g128");
  CHECK_FALSE(parsed.value.has_value());
  CHECK(parsed.id == "input.unknown_name");
  CHECK(parsed.message == "unknown weight format 'int4-aqw-g128'");
  CHECK(parsed.nearest == "int4-awq-g128");
  for (const Scheme& s : schemes()) CHECK(parsed.expected.find(s.name) != std::string::npos);
  CHECK_FALSE(parse_scheme("").value.has_value());
}

TEST_CASE("scheme: a name belongs to one row", "[model]") {
  std::set<std::string> keys;
  for (const Scheme& s : schemes()) {
    CAPTURE(s.name);
    CHECK(keys.insert(lookup_key(s.name)).second);
    for (const std::string_view alias : s.aliases) CHECK(keys.insert(lookup_key(alias)).second);
    CHECK_FALSE(s.title.empty());
    CHECK(to_string(s.arithmetic) != "?");
  }
  keys.clear();
  for (const KvFormat& f : kv_formats()) {
    CAPTURE(f.name);
    CHECK(keys.insert(lookup_key(f.name)).second);
    for (const std::string_view alias : f.aliases) CHECK(keys.insert(lookup_key(alias)).second);
  }
}

TEST_CASE("scheme: KV formats have the width of their element", "[model]") {
  struct Row {
    const char* typed;
    double width;
  };
  const auto row = GENERATE(values<Row>({
      {"fp32", 4},
      {"auto16", 2},
      {"fp16", 2},
      {"e5m2", 1},
      {"int8", 1},
      {"q8_0", 34.0 / 32},  // blocks of 32 bytes and a 16-bit scale
      {"q4_0", 18.0 / 32},
  }));
  CAPTURE(row.typed);
  const auto parsed = parse_kv_format(row.typed);
  REQUIRE(parsed.value.has_value());
  CHECK((*parsed.value)->element / bytes(1) == Approx(row.width));
  CHECK(parse_kv_format("fp9").nearest == "fp8");
}
