#pragma once
// One reader a format. Words that look like products are words of the formats.

#include "../import_run.hpp"

namespace gpuplan {

void read_own_csv(ImportRun& run);
void read_skypilot(ImportRun& run);
void read_gpuhunt(ImportRun& run);
void read_vast(ImportRun& run);
void read_runpod(ImportRun& run);
void read_aws_csv(ImportRun& run);
void read_aws_json(ImportRun& run);
void read_spot_advisor(ImportRun& run);
void read_azure(ImportRun& run);
void read_gcp(ImportRun& run);
void read_scaleway(ImportRun& run);
void read_ovh(ImportRun& run);
void read_litellm(ImportRun& run);
void read_models_dev(ImportRun& run);
void read_focus(ImportRun& run);
void read_opencost(ImportRun& run);

// Throws `prices.not_this_format` when the header lacks a column.
void require_columns(const CsvStream& csv, const PriceText& text, std::initializer_list<std::string_view> columns);
[[noreturn]] void refuse_format(const PriceText& text, std::string message, std::string expected);
std::string at_line(const CsvStream& csv);

}  // namespace gpuplan
