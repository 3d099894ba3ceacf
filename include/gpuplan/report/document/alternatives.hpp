#pragma once
/// What stands beside the ranking of rented hardware: the same tokens from services, and machines that are bought. Conventions as in document.hpp.

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpuplan {

struct TokenApiDocument {
  std::string provider, provider_title, model;
  bool same_name = true;
  std::optional<double> input_per_1m, output_per_1m, cached_input_per_1m;
  double per_request = 0, cost = 0;
  std::optional<double> break_even_requests, break_even_output_tokens;  ///< a month; of a job in all
  std::string break_even_offer;
  bool rented_wins_from_there_on = false;
  std::string observed_on, source;
  bool imported = false;
};

struct OwnedDocument {
  std::string machine, title, accelerator;
  double count = 1;
  double capex = 0, fixed_per_month = 0, energy_per_hour = 0, per_month = 0;
  std::vector<std::pair<std::string, double>> terms;  ///< of the month at work; they add up to it
  std::string rented_offer, rented_provider;
  std::optional<double> rented_per_hour, break_even_hours;
  bool wins = false;
  std::string source;
};

struct AlternativesDocument {
  std::string period;        ///< month or job
  double requests = 0;       ///< that services are asked the price of
  double output_tokens = 0;  ///< of those
  double cached_share = 0;
  double rented_cost = 0;  ///< of the first option, for the same
  std::vector<TokenApiDocument> token_apis;
  std::vector<OwnedDocument> owned;
};

}  // namespace gpuplan
