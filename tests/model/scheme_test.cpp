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
  return stored_bytes(parsed.value->expert, 8192, 8192) / bytes(1) * 8 / (8192.0 * 8192);
}

}  // namespace

// Experts are stored as linears are, and in MXFP4 they alone are.
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
      {"tf32", 32},
      {"fp8-channel", 8 + 16.0 / 8192},
      {"mxfp8", 8.25},
      {"int4-awq-g32", 4 + 20.0 / 32},
      {"int4-awq-channel", 4 + 20.0 / 8192},
      {"int4-gptq-g64", 4 + 20.0 / 64 + 32.0 / 8192},
      {"int3-gptq-g128", 3 + 19.0 / 128 + 32.0 / 8192},
      {"gptq-8bit-channel", 8 + 24.0 / 8192 + 32.0 / 8192},
      {"int4-g32", 4.5},  // compressed-tensors: a bf16 scale, no zero-point
      {"int8-g128", 8.125},
      {"int4-autoround-g128", 4 + 20.0 / 128},
      {"w4a8", 4.125},
      {"fp4-bnb", 4 + 8.0 / 64 + 32.0 / (64 * 256)},
      {"hqq-4bit-g64", 4.5},
      {"mlx-4bit-g64", 4.5},
      {"quip-2bit", 2 + 32.0 / 8192},
      {"exl2:4.25", 4.25},
      {"exl3:2.5", 2.5},
      {"gguf:Q4_K_M", 4.5},  // most tensors; what is in the file, resolve_scheme says
      {"Q6_K", 6.5625},
      {"bits:3.914", 3.914},
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
      {"W4A16 G32", "int4-g32"},
      {"GPTQ-3bit-g64", "int3-gptq-g64"},
      {"int4-gptq-g-1", "int4-gptq-channel"},
      {"gptq-4bit-actorder-g32", "int4-gptq-g32"},
      {"bnb_8bit", "llm-int8"},
      {"LLM.int8()", "llm-int8"},
      {"llm.int8", "llm-int8"},
      {"fp4-dq", "fp4-bnb"},
      {"EXL2:4.250_h8", "exl2:4.25-h8"},
      {"exl2:6.0bpw", "exl2:6"},
      {"exl3:3.5-h6", "exl3:3.5"},
      {"gguf", "gguf:Q4_K_M"},
      {"q4-k-m", "gguf:Q4_K_M"},
      {"gguf:q4_k", "gguf:Q4_K_M"},
      {"IQ4_KT", "gguf:IQ4_KT"},
      {"aqlm", "aqlm-1x16-g8"},
      {"BITS:4.50", "bits:4.5"},
  }));
  CAPTURE(row.typed);
  const auto parsed = parse_scheme(row.typed);
  REQUIRE(parsed.value.has_value());
  CHECK(parsed.value->name == row.name);
  CHECK(parse_scheme(parsed.value->name).value->name == row.name);
}

TEST_CASE("scheme: an unknown name lists what exists and the nearest", "[model]") {
  const auto parsed = parse_scheme("int4-aqw-g128");
  CHECK_FALSE(parsed.value.has_value());
  CHECK(parsed.id == "input.unknown_name");
  CHECK(parsed.message == "unknown weight format 'int4-aqw-g128'");
  CHECK(parsed.nearest == "int4-awq-g128");
  for (const SchemeFamily& s : schemes()) CHECK(parsed.expected.find(s.name) != std::string::npos);
  CHECK_FALSE(parse_scheme("").value.has_value());
}

TEST_CASE("scheme: parameters that cannot be are no names", "[model]") {
  for (const char* name :
       {"int9-awq-g128", "int4-awq-g0", "int4-awq-g99999999", "int4-awq", "gptq-4bit", "exl2:0", "exl2:9", "exl2:4-h",
        "exl2:nan", "bits:", "bits:1e9", "gguf:Q4_K_Z", "gguf:I32", "aqlm-99x16-g8", "mlx-4bit-channel"}) {
    CAPTURE(name);
    CHECK_FALSE(parse_scheme(name).value.has_value());
  }
}

TEST_CASE("scheme: what is stored in which format", "[model]") {
  const Scheme mxfp4 = *parse_scheme("mxfp4").value;
  CHECK(mxfp4.expert.bits == Approx(4));
  CHECK(mxfp4.linear.bits == Approx(16));
  const Scheme exl2 = *parse_scheme("exl2:4.25-h8").value;
  CHECK(exl2.head.bits == Approx(8));
  CHECK(exl2.embedding.bits == Approx(16));
  const Scheme gguf = *parse_scheme("gguf:Q4_K_M").value;
  CHECK(gguf.head.bits == Approx(6.5625));  // Q6_K
  CHECK(gguf.rest.bits == Approx(32));      // norms stay in F32
  CHECK(gguf.weight_only);
  CHECK(gguf.kernel == "gguf");
  const Scheme half = *parse_scheme("gguf:F16").value;
  CHECK(half.kernel == "fp16");
  CHECK(half.arithmetic == Arithmetic::fp16);
  CHECK(parse_scheme("mlx").value->embedding.bits == Approx(4));
}

TEST_CASE("scheme: a name belongs to one row", "[model]") {
  std::set<std::string> keys;
  for (const SchemeFamily& s : schemes()) {
    CAPTURE(s.name);
    CHECK(keys.insert(lookup_key(s.name)).second);
    for (const std::string_view alias : s.aliases) CHECK(keys.insert(lookup_key(alias)).second);
    CHECK_FALSE(s.title.empty());
    const auto scheme = parse_scheme(s.name).value;
    REQUIRE(scheme.has_value());
    CHECK(to_string(scheme->arithmetic) != "?");
    CHECK(parse_scheme(scheme->kernel).value.has_value());
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
      {"q4_1", 20.0 / 32},
      {"q5_0", 22.0 / 32},
      {"q5_1", 24.0 / 32},
      {"iq4_nl", 18.0 / 32},
      {"f16", 2},
      {"f32", 4},
      {"q8_0/q4_0", (34.0 + 18.0) / 64},  // keys and values of the same width
      {"F16/q8", (64.0 + 34.0) / 64},
      {"iq4_nl/fp32", (18.0 + 128.0) / 64},
      {"fp16/bf16", 2},
  }));
  CAPTURE(row.typed);
  const auto parsed = parse_kv_format(row.typed);
  REQUIRE(parsed.value.has_value());
  CHECK((*parsed.value)->element / bytes(1) == Approx(row.width));
  CHECK(parse_kv_format("fp9").nearest == "fp8");
}

TEST_CASE("scheme: a pair of KV formats is named as it is read, and both must be known", "[model]") {
  CHECK((*parse_kv_format("Q8/f16").value)->name == "q8_0/bf16");
  CHECK((*parse_kv_format("f16/bf16").value)->name == "bf16");
  for (const char* typed : {"q8_0/", "/q8_0", "q8_0/q9_0", "q8_0/q4_0/q4_0", "/"}) {
    CAPTURE(typed);
    CHECK_FALSE(parse_kv_format(typed).value.has_value());
  }
}
