#include "catch.hpp"

#include "architectures.hpp"
#include "reference_table.hpp"

#include <gpuplan/model/kv_cache.hpp>
#include <gpuplan/model/scheme.hpp>

#include <algorithm>

using namespace gpuplan;
using gpuplan::testing::architecture;

namespace {

KvCacheInputs inputs(const Architecture& a, Bytes element, double tokens, double sequences, bool ring) {
  KvCacheInputs in;
  const KvLayers layers = kv_layers(a, 1);
  in.full_layers = layers.full_layers;
  in.elements = layers.elements;
  in.windowed_layers = layers.windowed_layers;
  in.windowed_elements = layers.windowed_elements;
  in.element = element;
  in.tokens = tokens;
  in.window_tokens = ring ? std::min(tokens, static_cast<double>(a.window)) : tokens;
  in.sequences = sequences;
  return in;
}

}  // namespace

TEST_CASE("kv cache: bytes of published models and logs", "[model]") {
  for (const auto& row : testing::reference_table("kv_cache.csv")) {
    CAPTURE(row.at("model"), row.at("source"));
    const auto format = parse_kv_format(row.at("kv"));
    REQUIRE(format.value.has_value());
    const Bytes got =
        kv_cache_bytes(inputs(architecture(row.at("model")), (*format.value)->element, testing::number(row, "tokens"),
                              testing::number(row, "sequences"), row.at("windows") == "ring"),
                       nullptr);
    CHECK(got / bytes(1) ==
          Approx(testing::number(row, "value")).epsilon(std::max(1e-12, testing::number(row, "tolerance"))));
  }
}

TEST_CASE("kv cache: a token's bytes are those of one token in all layers", "[model]") {
  CHECK(kv_bytes_per_token(architecture("llama-3.1-70b"), bytes(2)) / bytes(1) == Approx(327680));
  CHECK(kv_bytes_per_token(architecture("deepseek-v3"), bytes(1)) / bytes(1) == Approx(35136));  // 61 * 576
}

TEST_CASE("kv cache: without windows twice the tokens are twice the bytes, with windows less", "[model]") {
  for (const testing::KnownArchitecture& known : testing::kKnownArchitectures) {
    CAPTURE(known.name);
    const Architecture a = architecture(known.name);
    const Bytes one = kv_cache_bytes(inputs(a, bytes(2), 16384, 1, true), nullptr);
    const Bytes two = kv_cache_bytes(inputs(a, bytes(2), 32768, 1, true), nullptr);
    if (a.windowed_layers == 0) {
      CHECK(two / one == Approx(2));
    } else {
      CHECK(two / one < 2);
    }
    CHECK(two >= one);
  }
}

TEST_CASE("kv cache: tensor ranks share KV heads and replicate latents", "[model]") {
  const Architecture llama = architecture("llama-3.1-70b");  // 8 KV heads of 128
  CHECK(kv_elements_per_layer_token(llama, 1) == Approx(2048));
  CHECK(kv_elements_per_layer_token(llama, 8) == Approx(256));
  CHECK(kv_elements_per_layer_token(llama, 16) == Approx(256));
  CHECK(kv_elements_per_layer_token(architecture("deepseek-v3"), 8) == Approx(576));
}

TEST_CASE("kv cache: the explanation gives the same value", "[model]") {
  const KvCacheInputs in = inputs(architecture("gpt-oss-20b"), bytes(2), 8192, 32, true);
  Explain why;
  const Bytes explained = kv_cache_bytes(in, &why);
  const Bytes plain = kv_cache_bytes(in, nullptr);
  CHECK_FALSE(explained < plain);
  CHECK_FALSE(explained > plain);
  REQUIRE(why.terms().size() == 1);
  CHECK(why.terms()[0].id == "memory.kv_cache");
  CHECK(why.terms()[0].value == Approx(plain / bytes(1)));
}
