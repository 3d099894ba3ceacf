// Mistakes with units that the compiler must refuse; tools/check_must_not_compile sets one CASE at a time.

#include <gpuplan/base/units.hpp>

namespace gpuplan {

// What the cases are near to, so that a case fails for its own reason.
[[maybe_unused]] constexpr Bytes kSum = gibibytes(1) + gigabytes(1);
[[maybe_unused]] constexpr bool kLess = gibibytes(1) < gigabytes(2);
[[maybe_unused]] constexpr double kRatio = gibibytes(1) / bytes(1);
[[maybe_unused]] constexpr Seconds kTime = gigabytes(1) / gigabytes_per_second(1);

// CASE bytes_plus_seconds
#ifdef CASE_bytes_plus_seconds
[[maybe_unused]] const auto bad = bytes(1) + seconds(1);
#endif

// CASE bytes_from_double
#ifdef CASE_bytes_from_double
[[maybe_unused]] const Bytes bad = 80.0;
#endif

// CASE bytes_made_without_a_unit
#ifdef CASE_bytes_made_without_a_unit
[[maybe_unused]] const Bytes bad(80.0);
#endif

// CASE double_from_bytes
#ifdef CASE_double_from_bytes
[[maybe_unused]] const double bad = gigabytes(80);
#endif

// CASE bytes_compared_with_double
#ifdef CASE_bytes_compared_with_double
[[maybe_unused]] const bool bad = gibibytes(80) < 80.0;
#endif

// CASE rate_plus_size
#ifdef CASE_rate_plus_size
[[maybe_unused]] const auto bad = gigabytes_per_second(1) + gigabytes(1);
#endif

// CASE rate_compared_with_size
#ifdef CASE_rate_compared_with_size
[[maybe_unused]] const bool bad = gigabytes_per_second(1) < gigabytes(1);
#endif

// CASE inverted_ratio
#ifdef CASE_inverted_ratio
[[maybe_unused]] const Seconds bad = gigabytes_per_second(1) / gigabytes(1);
#endif

// CASE bytes_for_flop
#ifdef CASE_bytes_for_flop
[[maybe_unused]] const Flop bad = bytes(1);
#endif

}  // namespace gpuplan
