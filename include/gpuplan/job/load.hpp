#pragma once
/// How much is asked of a served model, and how fast its answers must be.
///
///     ServingLoad load;
///     load.request_rate = 2.5;                // requests a second of all users together
///     load.targets.ttft = milliseconds(500);  // mean time to the first token
///
/// A load is one of three: requests in flight (`JobSpec::concurrency`), requests a second that arrive by themselves, or users who ask, read
/// and ask again. Source: docs/PHYSICS.md, "Load".

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuplan {

/// What a value of a load was said by: a flag, a use case, or nobody.
template <class T>
struct Chosen {
  std::optional<T> value;
  bool is_default = true;  ///< not said by the user: of a use case
  void choose(const T& said) { value = said, is_default = false; }
  void choose_default(const T& usual) {
    if (!value) value = usual;
  }
  [[nodiscard]] bool has_value() const { return value.has_value(); }
  const T& operator*() const { return *value; }
};

/// Means that an option must hold at its load. Empty: none.
struct Targets {
  Chosen<Seconds> ttft;
  Chosen<Seconds> tpot;
  Chosen<Seconds> e2e;
  [[nodiscard]] bool any() const { return ttft.has_value() || tpot.has_value() || e2e.has_value(); }
};

struct ServingLoad {
  std::optional<double> request_rate;  ///< requests a second, of all replicas
  std::optional<std::int64_t> users;   ///< of whom `active_share` work with the model in the busiest minutes
  std::string use_case;                ///< a record of the catalogue; empty: none
  Chosen<double> active_share;
  Chosen<Seconds> think;  ///< from the end of an answer to the next request of the same user
  Targets targets;
  bool spare_replica = false;        ///< one replica may fail, and the others carry the load within the targets
  Chosen<double> prefix_hit;         ///< share of the prompt that lies in the cache
  double draft_tokens = 0;           ///< guessed a step; 0: no speculation
  std::optional<double> acceptance;  ///< of a guess, 0 to 1

  /// Whether requests arrive by themselves instead of when another ends.
  [[nodiscard]] bool arrives() const { return request_rate.has_value() || users.has_value(); }
  /// Users who work with the model in the busiest minutes.
  [[nodiscard]] double active_users() const;
  [[nodiscard]] double pause() const { return think.value.value_or(Seconds{}).base(); }
};

/// What contradicts itself, and values out of range.
/// @param concurrency_is_said  requests in flight are given as well
/// @param drafts               a model that proposes tokens is given
std::vector<Problem> check_load(const ServingLoad& load, bool concurrency_is_said, bool drafts);

}  // namespace gpuplan
