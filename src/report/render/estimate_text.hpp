#pragma once
// Words that estimates of serving and of other networks share, and what the latter say of themselves.

#include "text.hpp"

#include <gpuplan/report/document.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

std::string plural(std::int64_t n, std::string_view word);
std::string money_text(double amount, const std::string& currency);
std::string spread_text(const Spread& spread);  // of seconds
// How VAT stands in the price of an option, as the end of a sentence.
std::string vat_words(const OptionDocument& option, const EstimateDocument& d);
// What a table says of an option's VAT: the rate, or that nobody knows it.
std::string vat_cell(const OptionDocument& option);

// How much of the load the option carries, and the target that it is nearest to missing.
std::string solve_line(const FitDocument& solve);
std::string load_line(const OptionDocument& option);
std::string slo_line(const SloDocument& slo);
// `12 users`; where requests come by themselves `2.4 requests in flight`.
std::string in_flight_words(const OptionDocument& option);

// The same for options whose network is run by its parts.
std::string run_answer(const EstimateDocument& d);
std::string run_plan_line(const OptionDocument& best);
std::string run_time_line(const OptionDocument& best, const EstimateDocument& d);
std::string run_cost_line(const OptionDocument& best, const EstimateDocument& d);
std::string run_options_table(const EstimateDocument& d, const std::vector<const OptionDocument*>& shown,
                              const TextStyle& style);

// What stands beside the ranking: services that sell the same tokens, machines that are bought. Empty without any.
std::string alternatives_text(const EstimateDocument& d, const TextStyle& style);

// The same for training jobs.
std::string train_answer(const EstimateDocument& d);
std::string train_plan_line(const OptionDocument& best);
std::string train_time_line(const OptionDocument& best);
std::string train_cost_line(const OptionDocument& best, const EstimateDocument& d);
std::string train_options_table(const EstimateDocument& d, const std::vector<const OptionDocument*>& shown,
                                const TextStyle& style);

}  // namespace gpuplan
