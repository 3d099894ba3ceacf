#pragma once
/// From measured rows and start-up logs with their predictions to documents.

#include <gpuplan/report/document.hpp>
#include <gpuplan/validation/start_log.hpp>
#include <gpuplan/validation/validate.hpp>

#include <span>
#include <string>
#include <vector>

namespace gpuplan {

/// @param keys  what rows are grouped by; @param worst  how many rows that are farthest off are listed
ValidateDocument report_validation(const Validation& validation, std::span<const std::string> keys, std::size_t worst);

StartLogDocument report_start_log(const StartLog& log, std::span<const LogPrediction> predictions);

}  // namespace gpuplan
