#pragma once
/// When a service works: the hours of a week that it is on.
///
///     parse_duty("Mon-Fri 8-20").value->hours_per_week()   // 60
///     parse_duty("Mon-Fri 8-20, Sat 10-14")                // 64 hours
///     parse_duty("daily 22-6")                             // past midnight
///
/// A month is a twelfth of a year of 365 days: 365 / 7 / 12 = 4.345 weeks.

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/units.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

inline constexpr double kWeeksPerMonth = 365.0 / 7 / 12;

struct Duty {
  std::string text;              ///< as it was said
  std::vector<Seconds> windows;  ///< lengths of the times without a break in a week
  [[nodiscard]] double hours_per_week() const;
  [[nodiscard]] double hours_per_month() const { return hours_per_week() * kWeeksPerMonth; }
  [[nodiscard]] bool is_always() const { return hours_per_week() >= 168; }
};

/// Days (`Mon`, `Mon-Fri`, `daily`) and hours (`8-20`, `8:30-17`, `22-6`), several parted by commas.
Parsed<Duty> parse_duty(std::string_view text);

}  // namespace gpuplan
