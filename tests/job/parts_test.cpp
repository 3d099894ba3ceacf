#include <gpuplan/job/parts.hpp>

#include "catch.hpp"

#include <string>

namespace gpuplan::testing {

TEST_CASE("parts job: a size is two sides or one", "[job]") {
  CHECK(parse_pixel_size("1024x768").value->width == 1024);
  CHECK(parse_pixel_size("1024x768").value->height == 768);
  CHECK(parse_pixel_size("512").value->height == 512);
  for (const char* bad :
       {"", "x", "0x5", "5x", "-1x5", "65537x1", "1024x768x3", "a x b", "1e30x1", "99999999999999999999x1"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_pixel_size(bad).value.has_value());
  }
}

TEST_CASE("parts job: every word is read back", "[job]") {
  for (const Offload value : {Offload::none, Offload::model, Offload::sequential})
    CHECK(parse_offload(to_string(value)).value == value);
  for (const VaeMode value : {VaeMode::whole, VaeMode::sliced, VaeMode::tiled})
    CHECK(parse_vae_mode(to_string(value)).value == value);
  CHECK(parse_offload("modal").nearest == "model");
  CHECK(parse_vae_mode("slice").nearest == "sliced");
}

}  // namespace gpuplan::testing
