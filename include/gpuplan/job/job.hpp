#pragma once
/// What the user wants done, resolved: every value with where it came from.

#include <gpuplan/base/parse.hpp>
#include <gpuplan/job/load.hpp>
#include <gpuplan/job/parts.hpp>
#include <gpuplan/job/residency.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

enum class JobType : std::uint8_t { serve, batch, pretrain, full, lora, qlora, embed, generate, recommend };
std::string_view to_string(JobType value);
Parsed<JobType> parse_job_type(std::string_view text);

/// A value and whether the user said it.
template <class T>
struct Setting {
  T value{};
  bool is_default = true;
};

struct JobSpec {
  Setting<JobType> type{JobType::serve, true};
  Setting<std::string> model;
  Setting<std::string> dtype;  ///< default: the model's own format
  Setting<std::string> kv_dtype{"bf16", true};
  Setting<std::int64_t> context{4096, true};
  Setting<std::int64_t> input{1024, true};
  Setting<std::int64_t> output{256, true};
  Setting<std::int64_t> concurrency{1, true};  ///< requests in flight that the deployment must carry
  Setting<std::string> engine{"vllm", true};
  Residency residency;
  ServingLoad load;
  PartsJob parts;  ///< of a network that does not generate token by token
};

/// What contradicts itself: input + output beyond the context, …
std::vector<Problem> check_job(const JobSpec& job);

}  // namespace gpuplan
