#include "catalogues.hpp"
#include "catch.hpp"
#include "csv_table.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/model/ggml_types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

using namespace gpuplan;

namespace {

GgmlType type_of(GgmlFileType file_type, GgufTensorKind kind, std::int64_t layer, const MixModel& model,
                 std::int64_t columns = 4096) {
  MixTensor tensor;
  tensor.kind = kind;
  tensor.layer = layer;
  tensor.order = layer;
  tensor.columns = columns;
  return mix_type(file_type, tensor, model);
}

/// A model of 32 layers with four heads a KV head.
MixModel small_model() {
  MixModel model;
  model.layers = 32;
  model.heads_per_kv_head = 4;
  return model;
}

/// The value below which a share of the values lies.
double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  return values[std::max<std::size_t>(1, static_cast<std::size_t>(rank)) - 1];
}

double relative_error(Bytes got, double want) { return std::fabs(got / bytes(want) - 1); }

}  // namespace

TEST_CASE("ggml types: ids and names are unique and found again", "[model]") {
  std::set<std::string> names;
  for (const GgmlTypeTraits& row : ggml_types()) {
    CAPTURE(row.name);
    CHECK(names.insert(lookup_key(row.name)).second);
    CHECK(find_ggml_type(static_cast<std::uint64_t>(row.type)) == &row);
    CHECK(parse_ggml_type(to_lower(row.name)).value == row.type);
    CHECK(row.block >= 1);
    CHECK(row.block_bytes >= 1);
  }
  CHECK(find_ggml_type(4) == nullptr);  // Q4_2, removed
  CHECK(find_ggml_type(100000) == nullptr);
  const auto bad = parse_ggml_type("Q4_KK");
  CHECK_FALSE(bad.value.has_value());
  CHECK(bad.id == "input.unknown_name");
  CHECK(bad.nearest == "Q4_K");
}

TEST_CASE("ggml types: bits per weight are the published ones", "[model]") {
  struct Row {
    GgmlType type;
    double bits;
  };
  // The comments at the block structs of ggml-common.h, and pull requests of ik_llama.cpp for its own.
  const auto row = GENERATE(values<Row>({
      {GgmlType::q4_0, 4.5},       {GgmlType::q4_1, 5.0},      {GgmlType::q5_0, 5.5},     {GgmlType::q5_1, 6.0},
      {GgmlType::q8_0, 8.5},       {GgmlType::q2_k, 2.625},    {GgmlType::q3_k, 3.4375},  {GgmlType::q4_k, 4.5},
      {GgmlType::q5_k, 5.5},       {GgmlType::q6_k, 6.5625},   {GgmlType::iq1_s, 1.5625}, {GgmlType::iq1_m, 1.75},
      {GgmlType::iq2_xxs, 2.0625}, {GgmlType::iq2_xs, 2.3125}, {GgmlType::iq2_s, 2.5625}, {GgmlType::iq3_xxs, 3.0625},
      {GgmlType::iq3_s, 3.4375},   {GgmlType::iq4_nl, 4.5},    {GgmlType::iq4_xs, 4.25},  {GgmlType::tq1_0, 1.6875},
      {GgmlType::tq2_0, 2.0625},   {GgmlType::mxfp4, 4.25},    {GgmlType::nvfp4, 4.5},    {GgmlType::iq2_k, 2.375},
      {GgmlType::iq3_k, 3.4375},   {GgmlType::iq4_k, 4.5},     {GgmlType::iq5_k, 5.5},    {GgmlType::iq6_k, 6.625},
      {GgmlType::iq4_ks, 4.25},    {GgmlType::iq2_ks, 2.1875}, {GgmlType::iq4_kss, 4.0},  {GgmlType::iq5_ks, 5.25},
      {GgmlType::iq3_ks, 3.1875},  {GgmlType::iq2_kl, 2.6875}, {GgmlType::iq1_s_r4, 1.5}, {GgmlType::iq1_m_r4, 1.75},
  }));
  CAPTURE(to_string(row.type));
  CHECK(traits_of(row.type).bits_per_weight() == Approx(row.bits).epsilon(1e-12));
}

TEST_CASE("ggml types: a row is whole blocks and its own scale", "[model]") {
  CHECK(row_size(GgmlType::f32, 5) == 20);
  CHECK(row_size(GgmlType::q4_k, 4096) == 2304);         // 16 * 144
  CHECK(row_size(GgmlType::q8_0, 33) == 68);             // two blocks
  CHECK(row_size(GgmlType::iq4_ks, 512) == 4 + 272);     // a float a row, 2 * 136
  CHECK(row_size(GgmlType::iq1_s_r4, 4096) == 2 + 768);  // a half a row, 128 * 6
}

TEST_CASE("ggml types: file types are unique and found again", "[model]") {
  std::set<std::string> names;
  for (const GgmlFileTypeTraits& row : ggml_file_types()) {
    CAPTURE(row.name);
    CHECK(names.insert(lookup_key(row.name)).second);
    CHECK(find_ggml_file_type(static_cast<std::uint64_t>(row.type)) == &row);
    CHECK(parse_ggml_file_type(row.name).value == row.type);
    CHECK(to_string(row.type) == row.name);
  }
  CHECK(parse_ggml_file_type("q4-k").value == GgmlFileType::q4_k_m);
  CHECK(parse_ggml_file_type("Q4_K_X").nearest == "Q4_K_S");
}

TEST_CASE("ggml mixes: the M of four bits spends six where errors cost most", "[model]") {
  const MixModel m = small_model();
  using K = GgufTensorKind;
  CHECK(type_of(GgmlFileType::q4_k_m, K::output, 0, m) == GgmlType::q6_k);
  CHECK(type_of(GgmlFileType::q4_k_m, K::token_embedding, 0, m) == GgmlType::q4_k);
  CHECK(type_of(GgmlFileType::q4_k_m, K::ffn_up, 0, m) == GgmlType::q4_k);
  std::int64_t raised = 0;
  for (std::int64_t layer = 0; layer < 32; ++layer) {
    const GgmlType down = type_of(GgmlFileType::q4_k_m, K::ffn_down, layer, m);
    CHECK(down == type_of(GgmlFileType::q4_k_m, K::attention_v, layer, m));
    raised += down == GgmlType::q6_k ? 1 : 0;
  }
  CHECK(raised == 16);  // 4 first, 4 last, and 6, 9, …, 27
  CHECK(type_of(GgmlFileType::q4_k_s, K::ffn_down, 3, m) == GgmlType::q5_k);
  CHECK(type_of(GgmlFileType::q4_k_s, K::ffn_down, 4, m) == GgmlType::q4_k);
  CHECK(type_of(GgmlFileType::q4_k_m, K::unquantized, 0, m) == GgmlType::f32);
}

TEST_CASE("ggml mixes: eight experts keep keys and values at eight bits", "[model]") {
  MixModel m = small_model();
  m.experts = 8;
  CHECK(type_of(GgmlFileType::q4_k_m, GgufTensorKind::attention_v, 1, m) == GgmlType::q8_0);
  CHECK(type_of(GgmlFileType::q4_k_m, GgufTensorKind::attention_k, 1, m) == GgmlType::q8_0);
  CHECK(type_of(GgmlFileType::q4_k_m, GgufTensorKind::attention_output, 1, m) == GgmlType::q5_k);
}

TEST_CASE("ggml mixes: tied embeddings are stored as an output", "[model]") {
  MixModel m = small_model();
  m.tied_embeddings = true;
  CHECK(type_of(GgmlFileType::q4_0, GgufTensorKind::token_embedding, 0, m) == GgmlType::q6_k);
  CHECK(type_of(GgmlFileType::q8_0, GgufTensorKind::token_embedding, 0, m) == GgmlType::q8_0);
  CHECK(type_of(GgmlFileType::iq2_xs, GgufTensorKind::token_embedding, 0, m) == GgmlType::q5_k);
}

TEST_CASE("ggml mixes: a row without whole blocks takes a type of smaller ones", "[model]") {
  const MixModel m = small_model();
  using K = GgufTensorKind;
  CHECK(type_of(GgmlFileType::q4_k_s, K::ffn_up, 9, m, 128) == GgmlType::q5_0);
  CHECK(type_of(GgmlFileType::q6_k, K::ffn_up, 9, m, 128) == GgmlType::q8_0);
  CHECK(type_of(GgmlFileType::iq3_s, K::ffn_up, 9, m, 96) == GgmlType::iq4_nl);
  CHECK(type_of(GgmlFileType::q4_k_s, K::ffn_up, 9, m, 100) == GgmlType::f16);
  CHECK(type_of(GgmlFileType::q4_k_s, K::output, 0, m, 896) == GgmlType::q8_0);
}

TEST_CASE("ggml mixes: every file type sizes every kind of preset", "[model]") {
  for (const char* name : {"llama-3.2-1b", "mixtral-8x7b", "deepseek-v2-lite", "falcon-7b", "gpt-oss-20b", "phi-4"}) {
    const Architecture a = architecture_of(testing::preset(name));
    const auto tensors = tensors_of(a);
    const Bytes f32 = gguf_file_bytes(a, tensors, GgmlFileType::f32);
    for (const GgmlFileTypeTraits& row : ggml_file_types()) {
      CAPTURE(name, row.name);
      const Bytes size = gguf_file_bytes(a, tensors, row.type);
      CHECK(size > f32 / 32);
      CHECK(size <= f32);
    }
  }
}

TEST_CASE("ggml mixes: sizes of published files", "[model]") {
  std::vector<double> by_rules, all;
  for (const auto& row : testing::facts_table("measured/inference.csv")) {
    if (row.at("metric") != "file_bytes" || row.at("score") != "yes") continue;
    const Architecture a = architecture_of(testing::preset(row.at("model")));
    const auto tensors = tensors_of(a);
    const auto file_type = parse_ggml_file_type(row.at("weights").substr(std::string("gguf:").size())).value;
    REQUIRE(file_type.has_value());
    const double measured = std::stod(row.at("value"));
    const Bytes ruled = gguf_file_bytes(a, tensors, *file_type);
    if (row.at("weights_bits").empty()) {
      // Only the rules speak here. One row is labelled Q5_0 and has the size of a Q5_K_M.
      by_rules.push_back(relative_error(ruled, measured));
      all.push_back(by_rules.back());
      continue;
    }
    // A file whose average is not the one its type gives is a mix of somebody's own, and its average is what is known.
    const double bits = std::stod(row.at("weights_bits"));
    const double ruled_bits = ruled / bytes(1) * 8 / static_cast<double>(parameters(tensors));
    const bool own = std::fabs(ruled_bits / bits - 1) > 0.02;
    all.push_back(relative_error(own ? gguf_file_bytes(tensors, bits) : ruled, measured));
  }
  if (all.empty()) return;  // the facts are not shipped
  CHECK(all.size() >= 67);
  CHECK(quantile(all, 0.5) <= 0.0005);
  CHECK(quantile(all, 0.95) <= 0.01);
  CHECK(quantile(by_rules, 0.5) <= 0.0002);
  CHECK(quantile(by_rules, 0.95) <= 0.002);
}
