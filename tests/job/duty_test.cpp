#include <gpuplan/job/duty.hpp>

#include "catch.hpp"

namespace gpuplan::testing {

TEST_CASE("duty: hours of a week are those of its days", "[job]") {
  struct Row {
    const char* text;
    double hours;
    std::size_t windows;
  };
  const auto row = GENERATE(values<Row>({
      {"Mon-Fri 8-20", 60, 5},
      {"mon-fri 08:30-17", 42.5, 5},
      {"Sat 10-14", 4, 1},
      {"Mon-Fri 8-20, Sat 10-14", 64, 6},
      {"daily 22-6", 56, 7},          // eight hours past midnight each
      {"Sun 22-2", 4, 1},             // into Monday
      {"Sat-Mon 0-24", 72, 1},        // three whole days without a break
      {"Mon 8-12, Mon 10-14", 6, 1},  // what overlaps counts once
      {"Mon-Fri 8-12, Mon-Fri 13-17", 40, 10},
      {"daily 0-24", 168, 1},
      {"always", 168, 1},
  }));
  CAPTURE(row.text);
  const auto duty = parse_duty(row.text);
  REQUIRE(duty.value);
  CHECK(duty.value->hours_per_week() == Approx(row.hours));
  CHECK(duty.value->windows.size() == row.windows);
  CHECK(duty.value->is_always() == (row.hours >= 168));
}

TEST_CASE("duty: a month is a twelfth of 365 days", "[job]") {
  // 60 hours a week * 365 / 7 / 12 weeks = 260.7 hours; all of a week is the usual month of 730.
  CHECK(parse_duty("Mon-Fri 8-20").value->hours_per_month() == Approx(260.714285714));
  CHECK(parse_duty("always").value->hours_per_month() == Approx(730));
}

TEST_CASE("duty: what says no hours is refused", "[job]") {
  for (const char* text : {"Mon-Fri", "8-20", "Mon-Fri 8-8", "Mon-Fri 8-25", "Moon 8-20", "Mon-Fri 8:60-9", "Mon 8"}) {
    CAPTURE(text);
    const auto duty = parse_duty(text);
    CHECK_FALSE(duty.value);
    CHECK(duty.id == "input.bad_value");
  }
}

}  // namespace gpuplan::testing
