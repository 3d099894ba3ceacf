#include <gpuplan/job/training.hpp>

#include "catch.hpp"

#include <string>

namespace gpuplan {

TEST_CASE("training job: every word is read back as it is written", "[job][training]") {
  for (const char* word : {"pretrain", "full", "lora", "qlora", "dora", "qdora"})
    CHECK(to_string(parse_training_method(word).value.value()) == word);
  for (const char* word : {"adamw", "adamw-8bit", "adamw-paged", "adamw-8bit-paged", "adafactor", "lion", "lion-8bit",
                           "sgd", "sgd-momentum", "muon"})
    CHECK(to_string(parse_optimizer(word).value.value()) == word);
  for (const char* word : {"fp32", "bf16-mixed", "fp16-mixed", "bf16", "fp8"})
    CHECK(to_string(parse_training_precision(word).value.value()) == word);
  for (const char* word : {"0", "1", "2", "3", "fsdp", "fsdp-grad", "hsdp"})
    CHECK(to_string(parse_state_sharding(word).value.value()) == word);
  for (const char* word : {"none", "selective", "full"}) CHECK(to_string(parse_recompute(word).value.value()) == word);
  for (const char* word : {"plain", "chunked", "fused"})
    CHECK(to_string(parse_cross_entropy(word).value.value()) == word);
  for (const char* word : {"none", "optimizer", "all"})
    CHECK(to_string(parse_training_offload(word).value.value()) == word);
}

TEST_CASE("training job: an unknown word is refused with the nearest", "[job][training]") {
  const auto wrong = parse_optimizer("adamv");
  CHECK_FALSE(wrong.value);
  CHECK(wrong.id == "input.unknown_name");
  CHECK(wrong.nearest == "adamw");
  CHECK(parse_recompute("selectiv").nearest == "selective");
  CHECK_FALSE(parse_state_sharding("4").value);
}

TEST_CASE("training job: LoRA targets are names or groups of them", "[job][training]") {
  CHECK(to_string(parse_lora_targets("q,v").value.value()) == "q,v");
  CHECK(to_string(parse_lora_targets("attention").value.value()) == "q,k,v,o");
  CHECK(to_string(parse_lora_targets("all").value.value()) == "q,k,v,o,gate,up,down,experts");
  CHECK(to_string(parse_lora_targets("q_proj,v_proj,q").value.value()) == "q,v");
  CHECK_FALSE(parse_lora_targets("").value);
  CHECK_FALSE(parse_lora_targets("w").value);
}

TEST_CASE("training job: what contradicts itself is named", "[job][training]") {
  CHECK(check_training({}).empty());
  TrainingSpec job;
  job.ep = 8;
  REQUIRE(check_training(job).size() == 1);
  CHECK(check_training(job).front().id == "input.contradiction");
  job = {};
  job.vpp = 2;
  CHECK(check_training(job).size() == 1);
  job = {};
  job.sequence_parallel = true;
  CHECK(check_training(job).size() == 1);
  job = {};
  job.tp = 0;
  REQUIRE(check_training(job).size() == 1);
  CHECK(check_training(job).front().id == "input.out_of_range");
}

}  // namespace gpuplan
