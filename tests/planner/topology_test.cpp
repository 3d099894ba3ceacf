#include <gpuplan/planner/roofline.hpp>
#include <gpuplan/planner/topology.hpp>
#include <gpuplan/report/build.hpp>
#include <gpuplan/report/render.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

#include <cmath>
#include <optional>
#include <string>

namespace gpuplan::testing {
namespace {

TopologyPlan plan(std::string_view name, std::int64_t count) {
  TopologyRequest request;
  request.accelerator = &gpu(name);
  request.count = count;
  return plan_topology(built_in(), request);
}

RooflinePlan roofline(std::string model, std::string dtype, std::string_view name, std::int64_t concurrency = 1,
                      std::optional<std::int64_t> count = {}) {
  EstimateRequest request;
  request.job.model = {std::move(model), false};
  if (!dtype.empty()) request.job.dtype = {std::move(dtype), false};
  request.job.concurrency = {concurrency, false};
  request.accelerators = {&gpu(name)};
  request.count = count;
  return plan_roofline(built_in(), request, true);
}

}  // namespace

TEST_CASE("topology: devices go evenly over hosts of the usual design", "[planner]") {
  CHECK(plan("H100-SXM5-80GB", 16).group.inside == 8);
  CHECK(plan("H100-SXM5-80GB", 16).group.hosts == 2);
  CHECK(plan("H100-SXM5-80GB", 12).group.inside == 6);
  CHECK(plan("GB200-186GB", 144).group.inside == 72);
  CHECK(plan("GB200-186GB", 144).group.hosts == 2);
  CHECK(plan("TPU-v5e", 256).group.hosts == 1);
  CHECK(plan("H100-SXM5-80GB", 0).count == 8);
}

TEST_CASE("topology: what cannot be is refused with the flag", "[planner]") {
  const auto place = [](std::string_view name, std::int64_t count) {
    try {
      (void)plan(name, count);
    } catch (const InputError& error) {
      return error.problems().front().place->origin;
    }
    return std::string("planned");
  };
  CHECK(place("H100-SXM5-80GB", 13) == "--count");
  CHECK(place("H100-SXM5-80GB", std::int64_t{1} << 40) == "--count");
  CHECK(place("GeForce-RTX-4090", 16) == "--count");  // its design states no network
  CHECK(place("Cerebras-WSE-3", 2) == "--count");
  CHECK(place("Cerebras-WSE-3", 1) == "planned");
}

TEST_CASE("topology: a card whose driver refuses peer-to-peer goes through the host, unless a design is asked for",
          "[planner]") {
  CHECK(plan("GeForce-RTX-4090", 4).fabric.inside.crosses_host);
  TopologyRequest request;
  request.accelerator = &gpu("GeForce-RTX-4090");
  request.node = built_in().find_node("tinybox-green");  // with a patched driver
  request.count = 4;
  CHECK_FALSE(plan_topology(built_in(), request).fabric.inside.crosses_host);
}

TEST_CASE("topology: every accelerator's usual host gives finite reports", "[planner]") {
  for (const Accelerator& one : built_in().accelerators()) {
    CAPTURE(one.name);
    TopologyRequest request;
    request.accelerator = &one;
    try {
      const TopologyDocument d = report_topology(built_in(), request, plan_topology(built_in(), request), true);
      for (const auto& t : d.times)
        CHECK((std::isfinite(t.seconds) && t.seconds > 0 && std::isfinite(t.bus_bytes_per_s)));
      CHECK_FALSE(render_json(d).empty());
    } catch (const InputError& error) {
      CHECK(error.problems().front().place->origin == "--count");
    }
  }
}

TEST_CASE("roofline: operators add up to the step, and each bound says what it is", "[planner]") {
  const RooflinePlan p = roofline("llama-70b", "int4", "H100-SXM5-80GB");
  REQUIRE(p.phases.size() == 2);
  for (const PlottedPhase& phase : p.phases) {
    double sum = 0;
    for (const PlottedOperator& o : phase.operators) sum += o.time.base();
    CHECK(sum == Approx(phase.time.base()));
  }
  const auto bound = [&](std::size_t phase, std::string_view id) {
    for (const PlottedOperator& o : p.phases[phase].operators) {
      if (o.id == id) return to_string(o.bound);
    }
    return std::string_view("absent");
  };
  // A prompt of 1,024 tokens uses each weight 1,024 times, one of decode once: 268 FLOP a byte is the ridge.
  CHECK(bound(0, "mlp.gate_up") == "compute");
  CHECK(bound(1, "mlp.gate_up") == "memory");
  CHECK(bound(1, "norm") == "launch");
  CHECK(bound(1, "scheduler") == "host");
}

TEST_CASE("roofline: tensor parallelism shows its link", "[planner]") {
  const RooflinePlan p = roofline("llama-70b", "bf16", "H100-SXM5-80GB");
  bool link = false;
  for (const PlottedOperator& o : p.phases[1].operators) link = link || o.bound == Bound::link;
  CHECK(p.estimate.hardware.front().layout.tp > 1);
  CHECK(link);
}

TEST_CASE("roofline: the plot names every phase and holds no number that is none", "[planner]") {
  const RooflinePlan p = roofline("llama-8b", "", "A100-SXM4-80GB", 8);
  const std::string svg = render_svg(report_roofline(built_in(), p, false));
  CHECK(svg.find("<svg xmlns=") == 0);
  CHECK(svg.find("prefers-color-scheme: dark") != std::string::npos);
  CHECK(svg.find("prefill") != std::string::npos);
  CHECK(svg.find("decode") != std::string::npos);
  for (const char* wrong : {"nan", "inf\"", "-inf"}) CHECK(svg.find(wrong) == std::string::npos);
}

TEST_CASE("roofline: a job that does not run says why and has no plot", "[planner]") {
  const RooflineDocument d = report_roofline(built_in(), roofline("llama-3.1-405b", "bf16", "L4", 1, 1), false);
  CHECK_FALSE(d.rejected.empty());
  CHECK(d.phases.empty());
  CHECK_THROWS_AS(render_svg(d), InputError);
}

}  // namespace gpuplan::testing
