#pragma once
/// How things go wrong: three kinds, three ways.
///
/// - The user's input is wrong: `InputError`, thrown once per document with all its problems.
/// - A plan does not fit, a price is missing: a value (`Rejection` and the like), never an exception.
/// - We are wrong: `GPUPLAN_ASSERT`, which no input may reach; it throws `InternalError`, and `main` exits with 1.

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

/// Where in the user's words a problem stands: a path, `<stdin>`, a flag such as `--gpu`, or a built-in data file.
struct Place {
  std::string origin;
  int line = 0;    ///< from 1; 0 when there is no line (a flag)
  int column = 0;  ///< from 1
};

struct Problem {
  std::string id;       ///< stable, dotted: `input.unknown_name`; tests and users may rely on it
  std::string message;  ///< lower case, no full stop, quotes what the user wrote in '…'
  std::optional<Place> place;
  std::string expected;  ///< what would have been right, in words
  std::string nearest;   ///< the nearest valid name, or empty
  std::string excerpt;   ///< the source line at `place`, or empty
};

class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Problem> problems);
  explicit InputError(Problem problem);
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// The problem as the user reads it: `job.yaml:7:8: error: unknown … [id]`, the line with a caret, what was expected.
std::string format_problem(const Problem& problem);

[[noreturn]] void assertion_failed(const char* condition, const char* what, const char* file, int line);

}  // namespace gpuplan

#define GPUPLAN_ASSERT(condition, what) \
  ((condition) ? static_cast<void>(0) : ::gpuplan::assertion_failed(#condition, what, __FILE__, __LINE__))
