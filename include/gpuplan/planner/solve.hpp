#pragma once
/// What given hardware carries: the load question the other way round.
///
///     answer_load(catalog, request, LoadQuestion::users)   // → 812 users on 2 x a card, bound by tpot
///
/// Of each accelerator all layouts over the devices are tried, and the one that carries most is the answer; targets and a spare replica count
/// as in an estimate.

#include <gpuplan/planner/estimate.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuplan {

enum class LoadQuestion : std::uint8_t { users, requests_per_second, context };
std::string_view to_string(LoadQuestion value);
Parsed<LoadQuestion> parse_load_question(std::string_view text);

struct LoadAnswer {
  LoadQuestion question = LoadQuestion::users;
  const Accelerator* accelerator = nullptr;  ///< null: nothing fits; `rejection` says why
  Layout layout;
  double value = 0;   ///< users, requests a second, tokens
  std::string dtype;  ///< that it holds for
  std::string bound;  ///< memory, engine, ttft, tpot, e2e, model
  std::optional<Rejection> rejection;
};

/// @param request  without a count: one device
LoadAnswer answer_load(const Catalog& catalog, const EstimateRequest& request, LoadQuestion question);

/// The request with the answer as its load, so that an estimate prices it.
EstimateRequest with_answer(EstimateRequest request, const LoadAnswer& answer);

}  // namespace gpuplan
