#include <gpuplan/catalog/software.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

namespace gpuplan::testing {
namespace {

const FrameworkRelease& release(std::string_view text) {
  return require_framework_release(built_in(), text, "--framework");
}
FrameworkFit fit(std::string_view framework, std::string_view accelerator) {
  return framework_fit(built_in(), release(framework), gpu(accelerator));
}
using Answer = FrameworkFit::Answer;

}  // namespace

// PyTorch 2.6 is built with CUDA 11.8, 12.4 and 12.6, which compile for up to 9.0; 12.8, the first for 10.0, comes with 2.7.
TEST_CASE("software: a release runs on what its CUDA compiles for", "[catalog]") {
  CHECK(fit("pytorch==2.6", "H100-SXM5-80GB").answer == Answer::yes);
  CHECK(fit("pytorch==2.6", "H100-SXM5-80GB").cuda == "12.6");
  CHECK(fit("pytorch==2.6", "B200-SXM-180GB").answer == Answer::no);
  CHECK(fit("pytorch==2.6", "B200-SXM-180GB").why.find("10.0") != std::string::npos);
  CHECK(fit("pytorch==2.7", "B200-SXM-180GB").cuda == "12.8");
  CHECK(fit("pytorch==2.6", "GeForce-RTX-5090").answer == Answer::no);
}

// CUDA 13 leaves out what is older than 7.5; 2.14 still has packages for 12.6 with kernels for 7.0.
TEST_CASE("software: old devices take the package that still has kernels for them", "[catalog]") {
  CHECK(fit("pytorch==2.14", "V100-SXM2-32GB").cuda == "12.6");
  CHECK(fit("pytorch==2.14", "T4").cuda == "13.2");
  CHECK(fit("pytorch==2.14", "Tesla-K80").answer == Answer::no);
}

TEST_CASE("software: kernels run on later minor versions of their major one, and not on others", "[catalog]") {
  CHECK(fit("pytorch==2.8", "L40S").answer == Answer::yes);            // 8.6 on 8.9
  CHECK(fit("pytorch==2.8", "B300-SXM-288GB").answer == Answer::yes);  // 10.0 on 10.3
  CHECK(fit("pytorch==1.12", "H100-SXM5-80GB").answer == Answer::no);  // CUDA 11.6 compiles for up to 8.7
}

TEST_CASE("software: nothing is claimed of devices without a compute capability", "[catalog]") {
  CHECK(fit("pytorch==2.6", "TPU-v5e").answer == Answer::unknown);
}

TEST_CASE("software: a provider that serves its own models runs nobody's framework", "[catalog]") {
  const Provider& fireworks = provider("fireworks-ai");
  const Offer& offered = fireworks.offers.front();
  const FrameworkFit answer = framework_fit(built_in(), release("pytorch==2.14"),
                                            *built_in().find_accelerator(offered.gpu), fireworks, offered);
  CHECK(answer.answer == Answer::no);
}

TEST_CASE("software: an old driver rules out a release", "[catalog]") {
  const Provider& somebody = provider("vast.ai");
  Offer offered = somebody.offers.front();
  offered.driver_version = "470.82.01";  // 12.x needs 525.60.13, 11.x 450.80.02
  const Accelerator& card = gpu("A100-SXM4-80GB");
  CHECK(framework_fit(built_in(), release("pytorch==2.6"), card, somebody, offered).cuda == "11.8");
  CHECK(framework_fit(built_in(), release("pytorch==2.9"), card, somebody, offered).answer == Answer::no);
}

TEST_CASE("software: a patch version is its release, and an unknown one is told with those that are known",
          "[catalog]") {
  CHECK(&release("PyTorch==2.6.0") == &release("pytorch==2.6"));
  CHECK_THROWS_AS(release("pytorch==2.66"), InputError);
  CHECK_THROWS_AS(release("pytorch"), InputError);
  CHECK_THROWS_AS(release("==2.6"), InputError);
}

TEST_CASE("software: versions are ordered by their parts", "[catalog]") {
  CHECK(version_less("12.9", "12.10"));
  CHECK_FALSE(version_less("12.10", "12.9"));
  CHECK_FALSE(version_less("12.0", "12"));
  CHECK(version_less("525.60.13", "580.65.06"));
}

}  // namespace gpuplan::testing
