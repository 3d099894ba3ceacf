#pragma once
// The time that interruptions add to work: its transform, its cumulants and its quantiles. docs/PHYSICS.md, "Interruptions".

#include <complex>
#include <cstdint>

namespace gpuplan {

// Seconds added to the undisturbed time. All rates a second.
class InterruptionTime {
 public:
  // Work in `segments` of `segment` seconds (saving included) and a last one of `last`; each restarts after an interruption.
  // @param lost_wait  seconds after each interruption that count, 0 for those that are not billed
  static InterruptionTime of_segments(double rate, double segments, double segment, double last, double restore,
                                      double lost_wait);
  // Work that is saved when the warning comes: nothing is lost but `save` and the restore.
  static InterruptionTime of_warned(double rate, double work, double save, double restore, double lost_wait);

  [[nodiscard]] double mean() const { return cumulants_[0]; }
  [[nodiscard]] double variance() const { return cumulants_[1]; }
  // Smallest time that is not exceeded with probability p.
  [[nodiscard]] double quantile(double p) const;
  // Probability of at most `time`.
  [[nodiscard]] double probability(double time) const;

 private:
  struct Moments {
    double first = 0, second = 0, third = 0;  // about zero
  };
  struct Kind {         // of one segment that is interrupted
    double lost = 0;    // window in which the first interruption loses time; 0: none is lost
    double fixed = 0;   // seconds that each interruption adds for certain
    double window = 0;  // that has to pass without an interruption to get over it
    [[nodiscard]] Moments moments(double rate, double wait) const;
    [[nodiscard]] std::complex<double> transform(double rate, double wait, std::complex<double> z) const;
  };
  void add_cumulants(const Moments& raw, double times);
  [[nodiscard]] std::complex<double> transform(std::complex<double> z) const;
  [[nodiscard]] double untouched() const;  // probability that nothing is added

  double rate_ = 0, wait_ = 0;
  double segments_ = 0;  // full ones
  double expected_ = 0;  // interruptions of work with warnings; 0: work in segments
  Kind full_, last_;
  double cumulants_[3] = {0, 0, 0};
};

}  // namespace gpuplan
