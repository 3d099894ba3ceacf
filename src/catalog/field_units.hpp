#pragma once
// How values of records stand in YAML: units, and which record a table of fields is of.

#include "names.hpp"

#include <gpuplan/catalog/records.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>

namespace gpuplan {

// How a number in YAML becomes a value, and back.
struct AsNumber {
  static constexpr double make(double n) { return n; }
  static constexpr double read(double v) { return v; }
  static constexpr std::string_view unit = "";
};
struct AsCount {
  static constexpr std::int64_t make(double n) { return static_cast<std::int64_t>(n); }
  static constexpr double read(std::int64_t v) { return static_cast<double>(v); }
  static constexpr std::string_view unit = "";
};
#define GPUPLAN_UNIT(Name, Type, maker, text)                     \
  struct Name {                                                   \
    static constexpr Type make(double n) { return maker(n); }     \
    static constexpr double read(Type v) { return v / maker(1); } \
    static constexpr std::string_view unit = text;                \
  }
GPUPLAN_UNIT(AsGib, Bytes, gibibytes, "GiB");
GPUPLAN_UNIT(AsMib, Bytes, mebibytes, "MiB");
GPUPLAN_UNIT(AsGb, Bytes, gigabytes, "GB");
GPUPLAN_UNIT(AsMb, Bytes, megabytes, "MB");
GPUPLAN_UNIT(AsGbPerS, BytesPerSecond, gigabytes_per_second, "GB/s");
GPUPLAN_UNIT(AsGbitPerS, BytesPerSecond, gigabits_per_second, "Gb/s");
GPUPLAN_UNIT(AsTflops, FlopPerSecond, teraflop_per_second, "TFLOP/s");
GPUPLAN_UNIT(AsWatts, Watts, watts, "W");
GPUPLAN_UNIT(AsSeconds, Seconds, seconds, "s");
GPUPLAN_UNIT(AsMicroseconds, Seconds, microseconds, "us");
GPUPLAN_UNIT(AsDays, Seconds, days, "d");
#undef GPUPLAN_UNIT

template <class R, class T>
concept RecordOf = std::same_as<std::remove_const_t<R>, T>;

}  // namespace gpuplan
