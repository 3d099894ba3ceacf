#pragma once
// Measured training rows as jobs: what the columns say, and what frameworks do where they say nothing.

#include <gpuplan/validation/training.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace gpuplan {

/// The value of a key of the `variant` column; empty: it is not there.
std::string variant_of(const TrainingRow& row, std::string_view key);

/// The record of the row's framework, else of plain PyTorch; null: there is none.
const TrainingFramework* known_framework(const Catalog& catalog, const TrainingRow& row);

/// That record with what the row's variant does otherwise.
TrainingFramework framework_of(const TrainingFramework& framework, const TrainingRow& row);

std::optional<Architecture> architecture_for(const Catalog& catalog, const TrainingRow& row);

TrainingSpec job_of(const TrainingRow& row, const TrainingFramework& framework);

/// The model in the formats that the row's job holds it in.
ServedModel model_of(Architecture architecture, const TrainingRow& row);

}  // namespace gpuplan
