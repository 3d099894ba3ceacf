#pragma once
// Pieces of the terminal rendering.

#include <gpuplan/report/render.hpp>

namespace gpuplan {

std::string estimate_text(const EstimateDocument& document, const TextStyle& style);
std::string memory_text(const MemoryReport& document, const TextStyle& style);
std::string training_text(const TrainingReport& document, const TextStyle& style);
std::string validate_text(const ValidateDocument& document, const TextStyle& style);
std::string compare_text(const CompareDocument& document, const TextStyle& style);
std::string topology_text(const TopologyDocument& document, const TextStyle& style);
std::string roofline_text(const RooflineDocument& document, const TextStyle& style);
std::string start_log_text(const StartLogDocument& document, const TextStyle& style);

// A labelled paragraph: the label stands in a column of its own, the text is wrapped beside it.
std::string labelled(std::string_view label, std::string_view text, const TextStyle& style);
std::string bold(std::string_view text, const TextStyle& style);
std::string model_line(const ModelDocument& model);
std::string job_line(const std::vector<JobValue>& job);
std::string memory_line(const MemoryDocumentPart& memory);
std::string explanation_text(const std::vector<ExplainedTerm>& terms, const TextStyle& style);
std::string hardware_table(const std::vector<HardwareDocument>& hardware, std::int64_t rows, const TextStyle& style);
// What cannot run the job, those with the same reason together.
std::string rejected_hardware(const std::vector<HardwareDocument>& hardware, const TextStyle& style);

}  // namespace gpuplan
