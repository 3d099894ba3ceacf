#pragma once
// The command line to options.

#include "commands.hpp"

#include <string>
#include <vector>

namespace gpuplan::cli {

struct Invocation {
  const Command* command = nullptr;  ///< null: the program's own help
  Options options;
  bool version = false;
};

// Throws InputError with every problem.
Invocation parse_arguments(const std::vector<std::string>& arguments);

// What the arguments say of the format, before they are known to be right: errors are given in it.
Format format_asked_for(const std::vector<std::string>& arguments);

}  // namespace gpuplan::cli
