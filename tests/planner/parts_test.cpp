#include <gpuplan/planner/parts.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "small_market.hpp"

#include <algorithm>
#include <string>

namespace gpuplan::testing {
namespace {

PartsPlan fitted(const EstimateRequest& request) {
  return fit_parts(built_in(), request, resolve_model(built_in(), request.job.model.value, {}));
}

EstimateRequest parts_request(const std::string& model, const std::string& dtype) {
  EstimateRequest request;
  request.job.model = {model, false};
  if (!dtype.empty()) request.job.dtype = {dtype, false};
  return request;
}

const PartsFit& fit_on(const PartsPlan& plan, std::string_view name) {
  for (const PartsFit& fit : plan.hardware) {
    if (fit.accelerator->name == gpu(name).name) return fit;
  }
  throw std::runtime_error("no fit on " + std::string(name));
}

}  // namespace

TEST_CASE("parts plan: the smallest card that holds a network stands first", "[planner][parts]") {
  const PartsPlan plan = fitted(parts_request("sdxl", "fp16"));
  CHECK(plan.type == JobType::generate);
  CHECK(plan.runtime->name == "diffusers");
  REQUIRE_FALSE(plan.hardware.empty());
  const auto first_refused = std::find_if(plan.hardware.begin(), plan.hardware.end(),
                                          [](const PartsFit& fit) { return fit.rejection.has_value(); });
  CHECK(std::is_sorted(plan.hardware.begin(), first_refused,
                       [](const PartsFit& a, const PartsFit& b) { return a.memory.capacity < b.memory.capacity; }));
  for (auto fit = plan.hardware.begin(); fit != first_refused; ++fit)
    CHECK(fit->memory.verdict != FitVerdict::does_not_fit);
  for (auto fit = first_refused; fit != plan.hardware.end(); ++fit) {
    CAPTURE(fit->accelerator->name);
    // The library has no kernels for some processors.
    CHECK((fit->rejection->rule == "memory" || fit->rejection->rule == "engine.vendor"));
  }
}

TEST_CASE("parts plan: a map of 2^31 elements is refused whatever the memory", "[planner][parts]") {
  // Issue 984 of the library: 31 images of 512 x 512 work, 32 do not. 32 * 256 * 512 * 512 = 2^31.
  EstimateRequest request = parts_request("stable-diffusion-v1-5", "fp16");
  request.job.parts.batch = 31;
  CHECK_FALSE(fit_on(fitted(request), "H200-SXM-141GB").rejection.has_value());
  request.job.parts.batch = 32;
  REQUIRE(fit_on(fitted(request), "H200-SXM-141GB").rejection.has_value());
  CHECK(fit_on(fitted(request), "H200-SXM-141GB").rejection->rule == "runtime.map_elements");
  request.job.parts.vae = VaeMode::sliced;
  CHECK_FALSE(fit_on(fitted(request), "H200-SXM-141GB").rejection.has_value());
  // Issue 2306: of 768 x 768 fourteen work and fifteen do not.
  request.job.parts = {};
  request.job.parts.width = request.job.parts.height = 768;
  request.job.parts.batch = 14;
  CHECK_FALSE(fit_on(fitted(request), "H200-SXM-141GB").rejection.has_value());
  request.job.parts.batch = 15;
  CHECK(fit_on(fitted(request), "H200-SXM-141GB").rejection.has_value());
}

TEST_CASE("parts plan: what has no meaning for a network is refused", "[planner][parts]") {
  const auto problem = [](const EstimateRequest& request) {
    const auto problems = problems_of([&] { (void)fitted(request); });
    REQUIRE(problems.size() == 1);
    return problems[0].place->origin;
  };
  EstimateRequest images = parts_request("bert-base-uncased", "");
  images.job.parts.width = images.job.parts.height = 512;
  CHECK(problem(images) == "--images");
  EstimateRequest frames = parts_request("sdxl", "");
  frames.job.parts.frames = 16;
  CHECK(problem(frames) == "--frames");
  EstimateRequest serve = parts_request("sdxl", "");
  serve.job.type = {JobType::serve, false};
  CHECK(problem(serve) == "--job");
  EstimateRequest engine = parts_request("sdxl", "");
  engine.job.engine = {"vllm", false};
  CHECK(problem(engine) == "--engine");
}

TEST_CASE("parts plan: decoders are not run by their parts, everything else that has parts is", "[planner][parts]") {
  CHECK_FALSE(runs_by_parts(resolve_model(built_in(), "llama-3.1-8b", {})));
  for (const char* name : {"sdxl", "bert-base-uncased", "resnet50", "flux.1-dev", "wan2.1-t2v-14b"}) {
    CAPTURE(name);
    CHECK(runs_by_parts(resolve_model(built_in(), name, {})));
  }
}

}  // namespace gpuplan::testing
