#include <gpuplan/base/text.hpp>

#include "catch.hpp"

#include <array>
#include <clocale>
#include <cmath>
#include <limits>
#include <string>

namespace gpuplan {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_CASE("text: lookup keys ignore case, spaces and dashes", "[base]") {
  CHECK(lookup_key("H100-SXM5_80 GB") == "h100sxm580gb");
  CHECK(lookup_key("llama-3.1-8b") == "llama3.18b");
  CHECK(lookup_key("").empty());
}

TEST_CASE("text: edit distance counts a swap of neighbours as one", "[base]") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("contxet", "context") == 1);
  CHECK(edit_distance("ABC", "abc") == 0);
  CHECK(edit_distance("ab", "ba") == 1);
}

TEST_CASE("text: the nearest name is the one that was meant", "[base]") {
  constexpr std::array<std::string_view, 8> names = {"H100-PCIe", "H100-SXM5-80GB",     "H200-SXM", "A100-SXM4-80GB",
                                                     "llama-70b", "llama-70b-instruct", "context",  "mixtral-8x7b"};
  struct Row {
    const char* typed;
    const char* meant;
  };
  const auto row = GENERATE(values<Row>({
      {"lama-70b", "llama-70b"},
      {"H10-SXM", "H100-SXM5-80GB"},
      {"h200 sxm", "H200-SXM"},
      {"contxt", "context"},
      {"contetx", "context"},
      {"A100", "A100-SXM4-80GB"},
      {"8x7b", "mixtral-8x7b"},
      {"llama-70b-chat", "llama-70b"},
      {"llama-70b-instuct", "llama-70b-instruct"},
      {"zebra", ""},
      {"x", ""},
      {"", ""},
      {"---", ""},
  }));
  CAPTURE(row.typed);
  CHECK(nearest_name(row.typed, names) == row.meant);
}

TEST_CASE("text: the nearest of nothing, or to a megabyte, is nothing", "[base]") {
  CHECK(nearest_name("abc", {}).empty());
  constexpr std::array<std::string_view, 1> names = {"context"};
  CHECK(nearest_name(std::string(1 << 20, 'c'), names).empty());
}

TEST_CASE("text: join, split and trim", "[base]") {
  const std::vector<std::string> parts = {"a", "b", "c"};
  CHECK(join(parts, ", ") == "a, b, c");
  CHECK(join({}, ", ").empty());
  CHECK(split(" a, b ,,c,", ',') == parts);
  CHECK(split("", ',').empty());
  CHECK(trim(" \t a b\r\n") == "a b");
  CHECK(trim("  ").empty());
  CHECK(to_lower("AbÄ9") == "abÄ9");
}

TEST_CASE("text: widths are those of a terminal", "[base]") {
  CHECK(display_width("") == 0);
  CHECK(display_width("abc") == 3);
  CHECK(display_width("é") == 1);
  CHECK(display_width("e\xCC\x81") == 1);  // e and a combining acute
  CHECK(display_width("模型") == 4);
  CHECK(display_width("한") == 2);
  CHECK(display_width("😀") == 2);
  CHECK(display_width("→ €") == 3);
  CHECK(display_width("a\xff") == 2);
}

TEST_CASE("text: wrapping breaks at spaces and keeps long words whole", "[base]") {
  CHECK(wrap("the quick brown fox", 10) == std::vector<std::string>{"the quick", "brown fox"});
  CHECK(wrap("a  b", 10) == std::vector<std::string>{"a b"});
  CHECK(wrap("https://example.org/long x", 8) == std::vector<std::string>{"https://example.org/long", "x"});
  CHECK(wrap("one\n\ntwo", 10) == std::vector<std::string>{"one", "", "two"});
  CHECK(wrap("", 10) == std::vector<std::string>{""});
  CHECK(wrap("模型 模型", 6) == std::vector<std::string>{"模型", "模型"});
}

TEST_CASE("text: UTF-8 is checked strictly", "[base]") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("aé模😀"));
  CHECK(is_utf8("\xF4\x8F\xBF\xBF"));  // U+10FFFF
  for (const char* bad :
       {"\xff", "\x80", "\xC3", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xED\xBF\xBF",
        "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "a\xE6\xA8", "\xC3("}) {
    CHECK_FALSE(is_utf8(bad));
  }
}

TEST_CASE("text: significant digits", "[base]") {
  struct Row {
    double value;
    int digits;
    const char* text;
  };
  const auto row = GENERATE(values<Row>({
      {1234, 3, "1,234"},
      {1234567, 3, "1,234,567"},
      {-1234, 3, "-1,234"},
      {999.6, 3, "1,000"},
      {9.996, 3, "10.0"},
      {0.0123, 3, "0.0123"},
      {0.1, 3, "0.100"},
      {39.8, 3, "39.8"},
      {1, 3, "1.00"},
      {100, 3, "100"},
      {0, 3, "0"},
      {-0.0, 3, "0"},
      {-0.5, 1, "-0.5"},
      {2.5, 4, "2.500"},
      {1234.5, 6, "1,234.50"},
      {999999999999999.0, 3, "999,999,999,999,999"},
      {1e15, 3, "1.00e+15"},
      {1e300, 3, "1.00e+300"},
      {1e-9, 1, "0.000000001"},
      {1e-300, 2, "1.0e-300"},
      {12, 0, "12"},
  }));
  CHECK(format_significant(row.value, row.digits) == row.text);
}

TEST_CASE("text: what is not finite is unknown", "[base]") {
  CHECK(format_significant(kInfinity, 3) == "unknown");
  CHECK(format_significant(std::nan(""), 3) == "unknown");
  CHECK(format_bytes(bytes(kInfinity)) == "unknown");
  CHECK(format_binary_bytes(bytes(std::nan(""))) == "unknown");
  CHECK(format_seconds(seconds(-kInfinity)) == "unknown");
  CHECK(format_count(kInfinity) == "unknown");
  CHECK(format_quantity(kInfinity, Unit::bytes_per_second) == "unknown");
  CHECK(format_quantity(std::nan(""), Unit::money) == "unknown");
}

TEST_CASE("text: sizes", "[base]") {
  CHECK(format_bytes(gigabytes(39.8)) == "39.8 GB");
  CHECK(format_bytes(gigabytes(80)) == "80.0 GB");
  CHECK(format_bytes(bytes(0)) == "0 B");
  CHECK(format_bytes(bytes(512)) == "512 B");
  CHECK(format_bytes(bytes(0.5)) == "0.500 B");
  CHECK(format_bytes(bytes(999.9)) == "1.00 kB");
  CHECK(format_bytes(megabytes(999.96)) == "1.00 GB");
  CHECK(format_bytes(gigabytes(-2)) == "-2.00 GB");
  CHECK(format_bytes(terabytes(1.5)) == "1.50 TB");
  CHECK(format_bytes(bytes(3e21)) == "3,000 EB");
  CHECK(format_binary_bytes(gibibytes(80)) == "80.0 GiB");
  CHECK(format_binary_bytes(gibibytes(1000)) == "1,000 GiB");
  CHECK(format_binary_bytes(bytes(1000)) == "1,000 B");
}

TEST_CASE("text: times", "[base]") {
  CHECK(format_seconds(milliseconds(12.4)) == "12.4 ms");
  CHECK(format_seconds(microseconds(2)) == "2.00 µs");
  CHECK(format_seconds(seconds(0)) == "0 s");
  CHECK(format_seconds(seconds(90)) == "90.0 s");
  CHECK(format_seconds(minutes(15)) == "15.0 min");
  CHECK(format_seconds(hours(36)) == "36.0 h");
  CHECK(format_seconds(days(30)) == "30.0 days");
  CHECK(format_seconds(milliseconds(999.96)) == "1.00 s");
  CHECK(format_seconds(seconds(-3)) == "-3.00 s");
}

TEST_CASE("text: quantities carry their unit", "[base]") {
  CHECK(format_quantity(3.35e12, Unit::bytes_per_second) == "3.35 TB/s");
  CHECK(format_quantity(989e12, Unit::flop_per_second) == "989 TFLOP/s");
  CHECK(format_quantity(6.3e24, Unit::flop) == "6,300 ZFLOP");
  CHECK(format_quantity(4096, Unit::tokens) == "4,096 tokens");
  CHECK(format_quantity(1234.5, Unit::tokens_per_second) == "1,234 tokens/s");
  CHECK(format_quantity(700, Unit::watts) == "700 W");
  CHECK(format_quantity(1200, Unit::watts) == "1.20 kW");
  CHECK(format_quantity(1234.5, Unit::money) == "1,234.50");
  CHECK(format_quantity(-0.001, Unit::money) == "0.00");
  CHECK(format_quantity(0.5, Unit::none) == "0.500");
  CHECK(format_quantity(12e-3, Unit::seconds) == "12.0 ms");
  CHECK(format_quantity(1e9, Unit::bytes) == "1.00 GB");
}

TEST_CASE("text: counts", "[base]") {
  CHECK(format_count(70.6e9) == "70.6 B");
  CHECK(format_count(4096) == "4,096");
  CHECK(format_count(999999) == "999,999");
  CHECK(format_count(1e6) == "1.00 M");
  CHECK(format_count(1.5e13) == "15.0 T");
  CHECK(format_count(0) == "0");
  CHECK(format_count(2.5) == "2.50");
  CHECK(format_count(-12) == "-12");
}

TEST_CASE("text: numbers do not follow the locale", "[base]") {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr) return;  // not installed
  CHECK(format_significant(1234.5, 6) == "1,234.50");
  std::setlocale(LC_ALL, before.c_str());
}

}  // namespace

TEST_CASE("shortest: whole numbers have no exponent, others as few digits as there are", "[base]") {
  CHECK(format_shortest(8e6) == "8000000");
  CHECK(format_shortest(-1e14) == "-100000000000000");
  CHECK(format_shortest(0) == "0");
  CHECK(format_shortest(0.1) == "0.1");
  CHECK(format_shortest(1e15) == "1e+15");
}

}  // namespace gpuplan
