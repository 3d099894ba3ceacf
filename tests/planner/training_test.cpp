#include <gpuplan/planner/training.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "explanations.hpp"

#include <string>

namespace gpuplan::testing {
namespace {

TrainingRequest request_for(const std::string& model, TrainingMethod method, std::string_view accelerator) {
  TrainingRequest request;
  request.job.model = {model, false};
  request.training.method = method;
  request.training.sequence = 2048;
  request.accelerators = {&gpu(accelerator)};
  return request;
}

}  // namespace

TEST_CASE("training plan: the smallest number fits and one device fewer does not", "[planner][training]") {
  TrainingRequest request = request_for("llama-3.1-8b", TrainingMethod::full, "H100-SXM5-80GB");
  const TrainingPlan plan = fit_training(built_in(), request);
  REQUIRE(plan.hardware.size() == 1);
  const TrainingFit& fit = plan.hardware.front();
  REQUIRE_FALSE(fit.rejection);
  // 8.03 B parameters of 16 bytes are 128 GB: two devices of 79 GiB at the least, divided among them.
  CHECK(fit.job.devices() >= 2);
  CHECK(fit.job.sharding == StateSharding::fsdp);
  CHECK(fit.largest_micro_batch >= 1);
  CHECK(fit.longest_sequence >= 2048);
  request.count = fit.job.devices() - 1;
  CHECK(fit_training(built_in(), request).hardware.front().rejection);
}

TEST_CASE("training plan: QLoRA of 7B fits a card of 24 GB, full fine-tuning does not", "[planner][training]") {
  const auto one_card = [](TrainingMethod method) {
    TrainingRequest request = request_for("llama-2-7b", method, "RTX 4090");
    request.count = 1;
    return fit_training(built_in(), request).hardware.front();
  };
  CHECK_FALSE(one_card(TrainingMethod::qlora).rejection);
  CHECK(one_card(TrainingMethod::full).rejection);
}

TEST_CASE("training plan: a fit is explained term by term", "[planner][training]") {
  const TrainingPlan plan = fit_training(built_in(), request_for("llama-2-7b", TrainingMethod::qlora, "RTX 4090"));
  Explain why;
  const TrainingMemory memory = training_memory(inputs_of(built_in(), plan, plan.hardware.front()), &why);
  check_formulas(why);
  CHECK(memory.peak().terms.total().base() == plan.hardware.front().memory.peak().terms.total().base());
}

TEST_CASE("training plan: what cannot be is refused with what would do", "[planner][training]") {
  TrainingRequest request = request_for("llama-2-7b", TrainingMethod::full, "RTX 4090");
  request.framework = "pytorsh";
  try {
    (void)fit_training(built_in(), request);
    FAIL("an unknown framework was taken");
  } catch (const InputError& error) {
    CHECK(error.problems().front().nearest == "pytorch");
  }
  request = request_for("llama-2-7b", TrainingMethod::full, "RTX 4090");
  request.training.tp = 4;
  request.count = 6;
  CHECK_THROWS_AS(fit_training(built_in(), request), InputError);
  request.count.reset();
  request.training.pp = 33;  // of 32 layers
  CHECK_THROWS_AS(fit_training(built_in(), request), InputError);
}

}  // namespace gpuplan::testing
