#include <gpuplan/base/parse.hpp>

#include "catch.hpp"

#include <string>

namespace gpuplan {
namespace {

TEST_CASE("parse: counts take decimal suffixes", "[base]") {
  struct Row {
    const char* text;
    std::int64_t value;
  };
  const auto row = GENERATE(values<Row>({
      {"1", 1},
      {"4096", 4096},
      {"128k", 128000},
      {"128K", 128000},
      {"128 k", 128000},
      {"1.5k", 1500},
      {"1.001k", 1001},
      {"2M", 2000000},
      {"7B", 7000000000},
      {"7G", 7000000000},
      {"15T", 15000000000000},
      {"1e6", 1000000},
      {"9e15", 9000000000000000},
  }));
  CAPTURE(row.text);
  CHECK(parse_count(row.text).value == row.value);
}

TEST_CASE("parse: what is not a count is refused with what was expected", "[base]") {
  const auto text = GENERATE("0", "-1", "-0", "+1", "1.5", "0x10", "010", "00", "1_000", "1,000", "1kk", "1q", "k",
                             "nan", "inf", "Infinity", "1e", "1e+", "1.", ".", "-", "--1", " 1", "1 ", "1  k", "1k ",
                             "one", "1.0001k", "0b1", "0o7", "１");
  CAPTURE(text);
  const auto parsed = parse_count(text);
  CHECK_FALSE(parsed.value.has_value());
  CHECK(parsed.id == "input.bad_value");
  CHECK(parsed.message == "bad number '" + std::string(text) + "'");
  CHECK(parsed.expected == "a whole number, 1 or more (k, M, B, G and T may follow)");
}

TEST_CASE("parse: counts past what a double holds are refused", "[base]") {
  const auto text =
      GENERATE("9000000000000001", "10000T", "1e16", "1e400", "1e99999999999999999999", "99999999999999999999999");
  CAPTURE(text);
  const auto parsed = parse_count(text);
  CHECK_FALSE(parsed.value.has_value());
  CHECK(parsed.message == "number '" + std::string(text) + "' is too large");
}

TEST_CASE("parse: an empty text is named as such", "[base]") {
  CHECK(parse_count("").message == "empty number");
  CHECK(parse_number("").message == "empty number");
  CHECK(parse_bytes("").message == "empty size");
  CHECK(parse_duration("").message == "empty time");
  CHECK(parse_date("").message == "empty date");
  CHECK(parse_bool("").message == "empty truth value");
  CHECK(parse_text("").message == "empty text");
  CHECK(parse_text("  ").message == "empty text");
}

TEST_CASE("parse: control characters in a message are escaped and long text is cut", "[base]") {
  CHECK(parse_count("\x1b[31m").message == "bad number '\\x1b[31m'");
  CHECK(parse_count("\xff").message == "bad number '\\xff'");
  CHECK(parse_count(std::string(1000, 'a')).message == "bad number '" + std::string(80, 'a') + "…'");
}

TEST_CASE("parse: zero is a count where it may be", "[base]") {
  CHECK(parse_count_or_zero("0").value == 0);
  CHECK(parse_count_or_zero("3k").value == 3000);
  CHECK_FALSE(parse_count_or_zero("-1").value.has_value());
  CHECK_FALSE(parse_count_or_zero("0.5").value.has_value());
}

TEST_CASE("parse: numbers have no suffix", "[base]") {
  CHECK(*parse_number("-1.5e3").value == Approx(-1500));
  CHECK(*parse_number(".5").value == Approx(0.5));
  CHECK(*parse_number("0").value == Approx(0).margin(0));
  CHECK(*parse_number("0.25").value == Approx(0.25));
  CHECK(*parse_number("2E+2").value == Approx(200));
  for (const char* text : {"1k", "0x1p3", "NaN", "-inf", "+1", "01", "1,5", "1.5.2", "1e5.5", "5."}) {
    CAPTURE(text);
    CHECK_FALSE(parse_number(text).value.has_value());
  }
  CHECK(parse_number("1e400").message == "number '1e400' is too large");
  CHECK(parse_number("1e-400").message == "number '1e-400' is too small");
}

TEST_CASE("parse: positive and non-negative numbers", "[base]") {
  CHECK(*parse_positive("1.5T").value == Approx(1.5e12));
  CHECK(*parse_positive("70.6B").value == Approx(70.6e9));
  CHECK(*parse_positive("0.001").value == Approx(0.001));
  CHECK_FALSE(parse_positive("0").value.has_value());
  CHECK_FALSE(parse_positive("-2").value.has_value());
  CHECK(*parse_share("50%").value == Approx(0.5));
  CHECK(*parse_share("0.5").value == Approx(0.5));
  CHECK(*parse_share("100%").value == Approx(1));
  for (const char* text : {"1.5", "101%", "-0.1", "%", "half", ""}) CHECK_FALSE(parse_share(text).value.has_value());
  CHECK(*parse_non_negative("0").value == Approx(0).margin(0));
  CHECK_FALSE(parse_non_negative("-0.1").value.has_value());
  CHECK_FALSE(parse_non_negative("-0").value.has_value());
  CHECK_FALSE(parse_non_negative("1k").value.has_value());
}

TEST_CASE("parse: truth values", "[base]") {
  CHECK(parse_bool("true").value == true);
  CHECK(parse_bool("Yes").value == true);
  CHECK(parse_bool("FALSE").value == false);
  CHECK(parse_bool("no").value == false);
  CHECK_FALSE(parse_bool("1").value.has_value());
  CHECK_FALSE(parse_bool("on").value.has_value());
}

TEST_CASE("parse: sizes tell GB from GiB", "[base]") {
  CHECK(*parse_bytes("80GB").value / gigabytes(1) == Approx(80));
  CHECK(*parse_bytes("24GiB").value / gibibytes(1) == Approx(24));
  CHECK(*parse_bytes("512 MiB").value / mebibytes(1) == Approx(512));
  CHECK(*parse_bytes("1.5TB").value / terabytes(1) == Approx(1.5));
  CHECK(*parse_bytes("100B").value / bytes(1) == Approx(100));
  CHECK(*parse_bytes("80gB").value / gigabytes(1) == Approx(80));
  CHECK(*parse_bytes("1KiB").value / bytes(1) == Approx(1024));
  CHECK(*parse_bytes("1kB").value / bytes(1) == Approx(1000));
}

TEST_CASE("parse: sizes need bytes as their unit", "[base]") {
  for (const char* text : {"80", "80G", "80Gi", "-80GB", "GB", "80GBs", "010GB", "1e999GB", "80G B"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_bytes(text).value.has_value());
  }
  const auto bits = parse_bytes("80Gb");
  CHECK(bits.message == "bad size '80Gb'");
  CHECK(bits.expected == "bytes, not bits: a capital B");
  CHECK(bits.nearest == "80GB");
}

TEST_CASE("parse: times", "[base]") {
  CHECK(*parse_duration("36h").value / hours(1) == Approx(36));
  CHECK(*parse_duration("30d").value / days(1) == Approx(30));
  CHECK(*parse_duration("250ms").value / milliseconds(1) == Approx(250));
  CHECK(*parse_duration("90s").value / seconds(1) == Approx(90));
  CHECK(*parse_duration("15min").value / minutes(1) == Approx(15));
  CHECK(*parse_duration("1.5 hours").value / minutes(1) == Approx(90));
  CHECK(*parse_duration("2 weeks").value / days(1) == Approx(14));
  CHECK(*parse_duration("5us").value / microseconds(1) == Approx(5));
  for (const char* text : {"90", "5m", "h", "-1h", "1h30m", "1y", "0x1h"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text).value.has_value());
    CHECK(parse_duration(text).expected == "a time with its unit, such as 250ms, 90s, 15min, 36h or 30d");
  }
}

TEST_CASE("parse: dates must exist", "[base]") {
  CHECK(*parse_date("2026-09-20").value == Date{2026, 9, 20});
  CHECK(*parse_date("2026-09").value == Date{2026, 9, 0});
  CHECK(parse_date("2024-02-29").value.has_value());
  CHECK(parse_date("2000-02-29").value.has_value());
  for (const char* text : {"2026-02-29", "1900-02-29", "2100-02-29", "2026-04-31", "2026-13-01", "2026-00",
                           "2026-01-00", "1899-12-31", "2201-01-01", "2026-9-20", "26-09-20", "2026/09/20", "2026-09-2",
                           "2026-09-20T00", "2026-+9-20", "2026", "20260920", "2026-09-", "abcd-ef-gh"}) {
    CAPTURE(text);
    const auto parsed = parse_date(text);
    CHECK_FALSE(parsed.value.has_value());
    CHECK(parsed.message == "bad date '" + std::string(text) + "'");
  }
}

TEST_CASE("parse: days between dates", "[base]") {
  CHECK(days_between({1970, 1, 1}, {1970, 1, 1}) == 0);
  CHECK(days_between({2024, 2, 28}, {2024, 3, 1}) == 2);
  CHECK(days_between({2025, 2, 28}, {2025, 3, 1}) == 1);
  CHECK(days_between({2026, 1, 1}, {2025, 1, 1}) == -365);
  CHECK(days_between({2026, 9, 0}, {2026, 9, 20}) == 19);
  CHECK(days_between({1970, 1, 1}, {2000, 1, 1}) == 10957);   // 30 years of 365 days and 7 leap days
  CHECK(days_between({1900, 1, 1}, {2200, 1, 1}) == 109573);  // 300 * 365 + 75 fourth years, less 1900 and 2100
}

TEST_CASE("parse: dates are written as they are read", "[base]") {
  CHECK(to_string(Date{2026, 9, 20}) == "2026-09-20");
  CHECK(to_string(Date{2026, 9, 0}) == "2026-09");
  CHECK(Date{2026, 9, 20} > Date{2026, 9, 19});
}

}  // namespace
}  // namespace gpuplan
