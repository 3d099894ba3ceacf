#include <gpuplan/base/explain.hpp>
#include <gpuplan/base/units.hpp>

#include "catch.hpp"

#include <concepts>
#include <type_traits>

namespace gpuplan {
namespace {

template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};
template <class A>
concept ComparableForEquality = requires(A a) {
  a == a;
};

static_assert(Addable<Bytes, Bytes>);
static_assert(!Addable<Bytes, Seconds>);
static_assert(!Addable<Bytes, double>);
static_assert(!Addable<double, Tokens>);
static_assert(!Addable<BytesPerSecond, Bytes>);
static_assert(!std::convertible_to<double, Bytes>);
static_assert(!std::convertible_to<Bytes, double>);
static_assert(!std::constructible_from<Bytes, double>);
static_assert(!std::convertible_to<Bytes, Flop>);
static_assert(!Comparable<Bytes, Seconds>);
static_assert(!Comparable<Bytes, double>);
static_assert(!ComparableForEquality<Bytes>);
static_assert(std::same_as<decltype(bytes(1) / seconds(1)), BytesPerSecond>);
static_assert(std::same_as<decltype(bytes(1) / gigabytes_per_second(1)), Seconds>);
static_assert(std::same_as<decltype(flop(1) / teraflop_per_second(1)), Seconds>);
static_assert(std::same_as<decltype(bytes(1) / bytes(2)), double>);
static_assert(std::same_as<decltype(bytes(1) / tokens(1)), BytesPerToken>);
static_assert(std::same_as<decltype(BytesPerToken() * tokens(1)), Bytes>);
static_assert(std::same_as<decltype(watts(1) * seconds(1)), Joules>);
static_assert(std::same_as<decltype(2 * bytes(1)), Bytes>);
static_assert(std::same_as<decltype(1.0 / (1.0 / seconds(1))), Seconds>);

TEST_CASE("units: binary and decimal sizes differ", "[base]") {
  CHECK(gibibytes(1) / bytes(1) == Approx(1073741824));
  CHECK(gigabytes(1) / bytes(1) == Approx(1e9));
  CHECK(gibibytes(80) / gigabytes(1) == Approx(85.89934592));
  CHECK(mebibytes(1) / kibibytes(1) == Approx(1024));
  CHECK(terabytes(1) / megabytes(1) == Approx(1e6));
}

TEST_CASE("units: bits on a wire are an eighth of a byte", "[base]") {
  CHECK(gigabits_per_second(400) / gigabytes_per_second(1) == Approx(50));
}

TEST_CASE("units: reading weights takes their size over the bandwidth", "[base]") {
  // 140e9 bytes / 3.35e12 bytes/s = 0.041791 s
  constexpr Seconds pass = gigabytes(140) / terabytes_per_second(3.35);
  CHECK(pass / milliseconds(1) == Approx(41.791).epsilon(1e-4));
}

TEST_CASE("units: times and energies convert by ratio", "[base]") {
  CHECK(days(1) / hours(1) == Approx(24));
  CHECK(hours(1) / minutes(1) == Approx(60));
  CHECK(milliseconds(1) / microseconds(1) == Approx(1000));
  CHECK(watts(700) * hours(1) / kilowatt_hours(1) == Approx(0.7));
}

TEST_CASE("units: sums, differences and order", "[base]") {
  Bytes size = bytes(3);
  size += bytes(4);
  size -= bytes(2);
  size *= 2;
  CHECK(size / bytes(1) == Approx(10));
  CHECK(bytes(1) < bytes(2));
  CHECK(bytes(2) >= bytes(2));
  CHECK((bytes(6) - bytes(4)) / 2 <= bytes(1));
}

TEST_CASE("units: a recorded term keeps its unit, its formula and its inputs", "[base]") {
  Explain why;
  why.term("memory.weights", gigabytes(2), "parameters * element",
           {{"parameters", 1e9, "model card"}, {"element", bytes(2)}});
  why.term("perf.batch", 8, "batch", {{"batch", 8}});
  REQUIRE(why.terms().size() == 2);
  const ExplainedTerm& term = why.terms()[0];
  CHECK(term.id == "memory.weights");
  CHECK(term.value == Approx(2e9));
  CHECK(term.unit == Unit::bytes);
  CHECK(term.formula == "parameters * element");
  REQUIRE(term.inputs.size() == 2);
  CHECK(term.inputs[0].source == "model card");
  CHECK(term.inputs[0].unit == Unit::none);
  CHECK(term.inputs[1].unit == Unit::bytes);
  CHECK(why.terms()[1].unit == Unit::none);
}

}  // namespace
}  // namespace gpuplan
