#pragma once
/// Quantities with their dimension in the type.
///
/// A quantity is made by name and read by ratio, so that GiB and GB, GB/s and Gb/s, or one direction and both can only be
/// confused on purpose:
///
///     constexpr Bytes weights = gibibytes(140);
///     constexpr Seconds pass = weights / terabytes_per_second(3.35);
///     const double gib = weights / gibibytes(1);
///
/// Products and quotients carry their dimension; a quotient of equals is a plain double. `.base()` (bytes, FLOP, seconds,
/// tokens, joules) is for `base/`, renderers and recorders only.

#include <compare>

namespace gpuplan {

template <int B, int F, int S, int T, int J>
class Quantity {
 public:
  constexpr Quantity() = default;

  /// The number of base units: bytes, FLOP, seconds, tokens, joules and their products.
  [[nodiscard]] constexpr double base() const { return value_; }
  [[nodiscard]] static constexpr Quantity from_base(double value) {
    Quantity q;
    q.value_ = value;
    return q;
  }

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  constexpr Quantity& operator*=(double factor) {
    value_ *= factor;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, double f) { return a *= f; }
  friend constexpr Quantity operator*(double f, Quantity a) { return a *= f; }
  friend constexpr Quantity operator/(Quantity a, double d) { return from_base(a.value_ / d); }
  friend constexpr auto operator<=>(Quantity a, Quantity b) { return a.value_ <=> b.value_; }
  friend constexpr bool operator<(Quantity a, Quantity b) { return a.value_ < b.value_; }
  friend constexpr bool operator>(Quantity a, Quantity b) { return a.value_ > b.value_; }
  friend constexpr bool operator<=(Quantity a, Quantity b) { return a.value_ <= b.value_; }
  friend constexpr bool operator>=(Quantity a, Quantity b) { return a.value_ >= b.value_; }

 private:
  double value_ = 0;
};

template <int B, int F, int S, int T, int J>
constexpr auto make_quantity(double value) {
  if constexpr (B == 0 && F == 0 && S == 0 && T == 0 && J == 0) {
    return value;
  } else {
    return Quantity<B, F, S, T, J>::from_base(value);
  }
}

template <int B1, int F1, int S1, int T1, int J1, int B2, int F2, int S2, int T2, int J2>
constexpr auto operator*(Quantity<B1, F1, S1, T1, J1> a, Quantity<B2, F2, S2, T2, J2> b) {
  return make_quantity<B1 + B2, F1 + F2, S1 + S2, T1 + T2, J1 + J2>(a.base() * b.base());
}
template <int B1, int F1, int S1, int T1, int J1, int B2, int F2, int S2, int T2, int J2>
constexpr auto operator/(Quantity<B1, F1, S1, T1, J1> a, Quantity<B2, F2, S2, T2, J2> b) {
  return make_quantity<B1 - B2, F1 - F2, S1 - S2, T1 - T2, J1 - J2>(a.base() / b.base());
}
template <int B, int F, int S, int T, int J>
constexpr auto operator/(double a, Quantity<B, F, S, T, J> b) {
  return make_quantity<-B, -F, -S, -T, -J>(a / b.base());
}

using Bytes = Quantity<1, 0, 0, 0, 0>;
using Flop = Quantity<0, 1, 0, 0, 0>;
using Seconds = Quantity<0, 0, 1, 0, 0>;
using Tokens = Quantity<0, 0, 0, 1, 0>;
using Joules = Quantity<0, 0, 0, 0, 1>;
using Watts = Quantity<0, 0, -1, 0, 1>;
using BytesPerSecond = Quantity<1, 0, -1, 0, 0>;  ///< of a link: per direction
using FlopPerSecond = Quantity<0, 1, -1, 0, 0>;   ///< dense
using TokensPerSecond = Quantity<0, 0, -1, 1, 0>;
using BytesPerToken = Quantity<1, 0, 0, -1, 0>;

constexpr Bytes bytes(double n) { return Bytes::from_base(n); }
constexpr Bytes kibibytes(double n) { return bytes(n * 1024.0); }
constexpr Bytes mebibytes(double n) { return bytes(n * 1048576.0); }
constexpr Bytes gibibytes(double n) { return bytes(n * 1073741824.0); }
constexpr Bytes megabytes(double n) { return bytes(n * 1e6); }
constexpr Bytes gigabytes(double n) { return bytes(n * 1e9); }
constexpr Bytes terabytes(double n) { return bytes(n * 1e12); }

constexpr Flop flop(double n) { return Flop::from_base(n); }

constexpr Seconds seconds(double n) { return Seconds::from_base(n); }
constexpr Seconds milliseconds(double n) { return seconds(n * 1e-3); }
constexpr Seconds microseconds(double n) { return seconds(n * 1e-6); }
constexpr Seconds minutes(double n) { return seconds(n * 60); }
constexpr Seconds hours(double n) { return seconds(n * 3600); }
constexpr Seconds days(double n) { return seconds(n * 86400); }

constexpr Tokens tokens(double n) { return Tokens::from_base(n); }
constexpr Joules kilowatt_hours(double n) { return Joules::from_base(n * 3.6e6); }
constexpr Watts watts(double n) { return Watts::from_base(n); }

constexpr BytesPerSecond gigabytes_per_second(double n) { return BytesPerSecond::from_base(n * 1e9); }
constexpr BytesPerSecond terabytes_per_second(double n) { return BytesPerSecond::from_base(n * 1e12); }
constexpr BytesPerSecond gigabits_per_second(double n) { return BytesPerSecond::from_base(n * 1e9 / 8); }
constexpr FlopPerSecond teraflop_per_second(double n) { return FlopPerSecond::from_base(n * 1e12); }
constexpr TokensPerSecond tokens_per_second(double n) { return TokensPerSecond::from_base(n); }

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};

}  // namespace gpuplan
