#include <gpuplan/job/duty.hpp>

#include <gpuplan/base/text.hpp>

#include <array>
#include <bitset>
#include <charconv>
#include <optional>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr int kMinutesPerDay = 24 * 60;
constexpr int kMinutesPerWeek = 7 * kMinutesPerDay;
using Week = std::bitset<kMinutesPerWeek>;

std::optional<int> number_of(std::string_view text, int most) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size() || number < 0 || number > most) return std::nullopt;
  return number;
}

std::optional<int> minute_of_day(std::string_view text) {
  const auto colon = text.find(':');
  const auto hour = number_of(text.substr(0, colon), 24);
  const auto minute = colon == std::string_view::npos ? std::optional<int>(0) : number_of(text.substr(colon + 1), 59);
  if (!hour || !minute || *hour * 60 + *minute > kMinutesPerDay) return std::nullopt;
  return *hour * 60 + *minute;
}

std::optional<int> day_of(std::string_view text) {
  const std::string word = to_lower(text).substr(0, 3);
  for (std::size_t i = 0; i < kDays.size(); ++i) {
    if (text.size() >= 3 && kDays[i] == word) return static_cast<int>(i);
  }
  return std::nullopt;
}

// First and last day; the last may come before the first (Sat-Mon).
std::optional<std::pair<int, int>> days_of(std::string_view text) {
  if (to_lower(text) == "daily") return std::pair(0, 6);
  const auto dash = text.find('-');
  const auto first = day_of(trim(text.substr(0, dash)));
  const auto last = dash == std::string_view::npos ? first : day_of(trim(text.substr(dash + 1)));
  if (!first || !last) return std::nullopt;
  return std::pair(*first, *last);
}

// Marks `Mon-Fri 8-20`; false when it is none.
bool mark(std::string_view part, Week& week) {
  const std::string_view text = trim(part);
  const auto space = text.find_last_of(' ');
  if (space == std::string_view::npos) return false;
  const auto days = days_of(trim(text.substr(0, space)));
  const std::string_view hours_text = trim(text.substr(space + 1));
  const auto dash = hours_text.find('-');
  if (!days || dash == std::string_view::npos) return false;
  const auto from = minute_of_day(hours_text.substr(0, dash));
  const auto to = minute_of_day(hours_text.substr(dash + 1));
  if (!from || !to || *from == *to) return false;
  const int length = (*to - *from + kMinutesPerDay) % kMinutesPerDay;
  const int count = (days->second - days->first + 7) % 7 + 1;
  for (int day = 0; day < count; ++day) {
    const int start = (days->first + day) % 7 * kMinutesPerDay + *from;
    for (int minute = 0; minute < (length == 0 ? kMinutesPerDay : length); ++minute)
      week.set(static_cast<std::size_t>((start + minute) % kMinutesPerWeek));
  }
  return true;
}

// The week is a circle: what ends on Sunday at midnight goes on on Monday.
std::vector<Seconds> windows_of(const Week& week) {
  if (week.all()) return {hours(168)};
  std::vector<Seconds> windows;
  std::size_t start = 0;
  while (week[start]) ++start;
  int length = 0;
  for (std::size_t i = 0; i < week.size(); ++i) {
    const bool on = week[(start + i + 1) % week.size()];
    if (on) ++length;
    if (!on && length > 0) windows.push_back(minutes(length));
    if (!on) length = 0;
  }
  return windows;
}

}  // namespace

double Duty::hours_per_week() const {
  Seconds total;
  for (const Seconds window : windows) total += window;
  return total / hours(1);
}

Parsed<Duty> parse_duty(std::string_view text) {
  Week week;
  if (to_lower(trim(text)) == "always") {
    week.set();
  } else {
    for (const std::string& part : split(text, ',')) {
      if (!mark(part, week)) {
        return Parsed<Duty>::fail("'" + part + "' says no hours of a week",
                                  "days and hours, such as 'Mon-Fri 8-20' or 'daily 22-6', or always", {},
                                  "input.bad_value");
      }
    }
  }
  return Parsed<Duty>::ok({std::string(text), windows_of(week)});
}

}  // namespace gpuplan
