#include <gpuplan/planner/limits.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan::testing {
namespace {

std::vector<std::string> flags_of(std::string_view engine_name, std::string_view kv) {
  ServedModel model = served("llama-3.1-8b", "bf16");
  model.kv = parse_kv_format(kv).value.value();
  InferenceMemoryInputs in;
  in.model = &model;
  in.engine = &engine(engine_name);
  in.visible = built_in().visible_memory(gpu("H100-SXM5-80GB"));
  in.request.context = 4096;
  in.request.input = 1024;
  return serving_limits(in, 1).flags;
}

bool contains(const std::vector<std::string>& flags, std::string_view flag) {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

bool has_cache_flag(const std::vector<std::string>& flags) {
  return std::any_of(flags.begin(), flags.end(), [](const std::string& flag) {
    return flag.starts_with("-ct") || flag.starts_with("--kv-cache-dtype");
  });
}

}  // namespace

TEST_CASE("limits: an engine is started with the format of its cache where that is not 16 bit", "[planner]") {
  const auto apart = flags_of("llama.cpp", "q8_0/q4_0");
  CHECK(contains(apart, "-ctk q8_0"));
  CHECK(contains(apart, "-ctv q4_0"));
  const auto keys = flags_of("llama.cpp", "q8_0/f16");
  CHECK(contains(keys, "-ctk q8_0"));
  CHECK_FALSE(std::any_of(keys.begin(), keys.end(), [](const std::string& f) { return f.starts_with("-ctv"); }));
  CHECK(contains(flags_of("vllm", "fp8"), "--kv-cache-dtype fp8"));
  for (const char* name : {"llama.cpp", "vllm", "sglang"}) CHECK_FALSE(has_cache_flag(flags_of(name, "bf16")));
}

}  // namespace gpuplan::testing
