#pragma once
// A job file: the flags of a command under their names.

#include "commands.hpp"

namespace gpuplan::cli {

// Sets in `options` what the file says. Throws InputError with every problem and its place.
void read_job_file(const std::string& path, const Command& command, Options& options);

}  // namespace gpuplan::cli
