#include "interruptions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace gpuplan {
namespace {

using Complex = std::complex<double>;

// Moments about zero of the time to an interruption that comes within `window`.
struct Truncated {
  double m1 = 0, m2 = 0, m3 = 0;
};
Truncated within(double rate, double window) {
  const double x = rate * window;
  if (x < 1e-2) {  // nearly uniform; the closed form loses digits
    const auto moment = [&](double k) { return std::pow(window, k) / (k + 1) * (1 - x * k / (2 * (k + 2))); };
    return {moment(1), moment(2), moment(3)};
  }
  const double e = std::expm1(x);
  return {(1 - x / e) / rate, (2 - (x * x + 2 * x) / e) / (rate * rate),
          (6 - (x * x * x + 3 * x * x + 6 * x) / e) / (rate * rate * rate)};
}

Complex transform_within(double rate, double window, Complex z) {
  const Complex shifted = rate + z;
  return rate / shifted * (1.0 - std::exp(-shifted * window)) / -std::expm1(-rate * window);
}

// 10 % and 90 % points and the like of the normal distribution: Newton on erfc.
double normal_quantile(double p) {
  double x = 0;
  for (int i = 0; i < 50; ++i) {
    const double error = 0.5 * std::erfc(-x / std::numbers::sqrt2) - p;
    x -= error * std::sqrt(2 * std::numbers::pi) * std::exp(x * x / 2);
    if (std::abs(error) < 1e-13) break;
  }
  return x;
}

// Beyond so many expected interruptions the sum is close to normal, and its skewness corrects what is left.
constexpr double kManyInterruptions = 60;

}  // namespace

InterruptionTime::Moments InterruptionTime::Kind::moments(double rate, double wait) const {
  // fixed + wait + lost + sum over the failed attempts of (their time + wait), whose number is geometric.
  const Truncated first = lost > 0 ? within(rate, lost) : Truncated{};
  const Truncated again = window > 0 ? within(rate, window) : Truncated{};
  const double q = std::exp(-rate * window);
  const double mean = (1 - q) / q;
  const double variance = (1 - q) / (q * q);
  const double third = (1 - q) * (2 - q) / (q * q * q);
  const double mu = again.m1 + wait;
  const double var = again.m2 - again.m1 * again.m1;
  const double skew = again.m3 - 3 * again.m1 * again.m2 + 2 * again.m1 * again.m1 * again.m1;
  const double k1 = fixed + wait + first.m1 + mean * mu;
  const double k2 = first.m2 - first.m1 * first.m1 + mean * var + variance * mu * mu;
  const double k3 = first.m3 - 3 * first.m1 * first.m2 + 2 * first.m1 * first.m1 * first.m1 + mean * skew +
                    3 * variance * mu * var + third * mu * mu * mu;
  return {k1, k2 + k1 * k1, k3 + 3 * k2 * k1 + k1 * k1 * k1};
}

std::complex<double> InterruptionTime::Kind::transform(double rate, double wait, Complex z) const {
  const Complex first = lost > 0 ? transform_within(rate, lost, z) : Complex(1);
  const double q = std::exp(-rate * window);
  const Complex again = window > 0 ? transform_within(rate, window, z) * std::exp(-z * wait) : Complex(0);
  return first * std::exp(-z * (fixed + wait)) * q / (1.0 - (1 - q) * again);
}

void InterruptionTime::add_cumulants(const Moments& raw, double times) {
  cumulants_[0] += times * raw.first;
  cumulants_[1] += times * (raw.second - raw.first * raw.first);
  cumulants_[2] += times * (raw.third - 3 * raw.first * raw.second + 2 * raw.first * raw.first * raw.first);
}

InterruptionTime InterruptionTime::of_segments(double rate, double segments, double segment, double last,
                                               double restore, double lost_wait) {
  InterruptionTime time;
  time.rate_ = rate;
  time.wait_ = lost_wait;
  time.segments_ = segments;
  time.full_ = {segment, restore, restore + segment};
  time.last_ = {last, restore, restore + last};
  if (rate <= 0) return time;
  const auto add = [&](const Kind& kind, double times) {
    if (times <= 0) return;
    const double p = -std::expm1(-rate * kind.lost);
    const Moments of_one = kind.moments(rate, lost_wait);
    time.add_cumulants({p * of_one.first, p * of_one.second, p * of_one.third}, times);
  };
  add(time.full_, segments);
  add(time.last_, 1);
  return time;
}

InterruptionTime InterruptionTime::of_warned(double rate, double work, double save, double restore, double lost_wait) {
  InterruptionTime time;
  time.rate_ = rate;
  time.wait_ = lost_wait;
  time.expected_ = rate * work;
  time.full_ = {0, save + restore, restore};
  if (rate <= 0) return time;
  const Moments of_one = time.full_.moments(rate, lost_wait);  // of a compound Poisson sum the cumulants are moments
  time.cumulants_[0] = time.expected_ * of_one.first;
  time.cumulants_[1] = time.expected_ * of_one.second;
  time.cumulants_[2] = time.expected_ * of_one.third;
  return time;
}

Complex InterruptionTime::transform(Complex z) const {
  if (expected_ > 0) return std::exp(expected_ * (full_.transform(rate_, wait_, z) - 1.0));
  const auto of_segment = [&](const Kind& kind) {
    const double p = -std::expm1(-rate_ * kind.lost);
    return (1 - p) + p * kind.transform(rate_, wait_, z);
  };
  const Complex full = segments_ > 0 ? std::exp(segments_ * std::log(of_segment(full_))) : Complex(1);
  return full * of_segment(last_);
}

double InterruptionTime::untouched() const {
  if (expected_ > 0) return std::exp(-expected_);
  return std::exp(-rate_ * (segments_ * full_.lost + last_.lost));
}

// Abate and Whitt: Numerical inversion of Laplace transforms of probability distributions, ORSA Journal on Computing 7,
// 1995 (EULER), of the part of the distribution beside the chance that nothing is added.
double InterruptionTime::probability(double time) const {
  if (rate_ <= 0) return 1;
  if (time <= 0) return untouched();
  constexpr double kA = 18.4;
  constexpr int kTerms = 60;
  constexpr int kAverages = 11;
  const double atom = untouched();
  const auto part = [&](int k) {
    const Complex z(kA / (2 * time), k * std::numbers::pi / time);
    return ((transform(z) - atom) / z).real();
  };
  double sum = part(0) / 2;
  double average = 0;
  double weight = std::ldexp(1.0, -kAverages);  // binomial
  for (int k = 1; k <= kTerms + kAverages; ++k) {
    sum += (k % 2 == 0 ? 1 : -1) * part(k);
    const int j = k - kTerms;
    if (j < 0) continue;
    average += weight * sum;
    weight *= static_cast<double>(kAverages - j) / (j + 1);
  }
  return std::clamp(atom + std::exp(kA / 2) / time * average, 0.0, 1.0);
}

double InterruptionTime::quantile(double p) const {
  if (rate_ <= 0 || untouched() >= p) return 0;
  const double sd = std::sqrt(cumulants_[1]);
  const double interruptions = expected_ > 0 ? expected_ : rate_ * (segments_ * full_.lost + last_.lost);
  if (interruptions > kManyInterruptions) {  // Cornish and Fisher
    const double z = normal_quantile(p);
    return std::max(0.0, cumulants_[0] + sd * (z + (z * z - 1) / 6 * cumulants_[2] / (sd * sd * sd)));
  }
  double low = 0;
  double high = cumulants_[0] + 10 * sd;
  for (int i = 0; i < 60 && probability(high) < p; ++i) high *= 2;
  // Ridders: the secant after an exponential is divided out of the curve; what it leaves is bisected, so the bracket always shrinks.
  double below = probability(low) - p;
  double above = probability(high) - p;
  double last = high;
  for (int i = 0; i < 50 && high - low > 1e-7 * high; ++i) {
    const double middle = (low + high) / 2;
    const double there = probability(middle) - p;
    const double root = std::sqrt(there * there - below * above);
    const double next = root > 0 ? middle - (middle - low) * there / root : middle;
    const double at = probability(next) - p;
    for (const auto& [x, f] : {std::pair(middle, there), std::pair(next, at)}) {
      if (x <= low || x >= high) continue;
      (f < 0 ? low : high) = x;
      (f < 0 ? below : above) = f;
    }
    if (std::abs(next - last) <= 1e-7 * next) return next;
    last = next;
  }
  return high;
}

}  // namespace gpuplan
