#pragma once
// Pieces of documents that several reports share.

#include <gpuplan/report/build.hpp>

namespace gpuplan {

CatalogStamp stamp_of(const Catalog& catalog);
ModelDocument describe_model(const JobSpec& job, const Estimate& estimate);
std::vector<JobValue> describe_job(const JobSpec& job, const Estimate& estimate);
MemoryDocumentPart describe_memory(const InferenceMemory& memory, std::int64_t max_concurrency);
LatencyDocument describe_latency(const ServingTime& time);
/// @param replicas  multiplies the output of one replica
TimeDocument describe_time(const ServingTime& time, double replicas);
LayoutDocument describe_layout(const Layout& layout, const Engine& engine);
std::vector<HardwareDocument> describe_hardware(const Estimate& estimate);

}  // namespace gpuplan
