#pragma once
// The one table of flags: parser, job files, help and man page are all made from it.

#include "options.hpp"

#include <gpuplan/base/error.hpp>

#include <span>
#include <string_view>

namespace gpuplan::cli {

/// Sets a value from its text; what is wrong with the text is returned (without a place).
using ApplyFlag = std::optional<Problem> (*)(Options&, std::string_view text);

struct Flag {
  std::string_view name;   ///< `kv-dtype` is --kv-dtype, and the key in a job file
  char letter = 0;         ///< -f
  std::string_view value;  ///< what stands for the value in help; empty: a switch
  std::string_view help;
  std::string_view fallback;  ///< the default, as help says it; empty: none
  bool in_file = true;        ///< may stand in a job file
  std::string_view group;     ///< heading in help
  ApplyFlag apply;
  bool repeats = false;  ///< takes several values: given again, or a list in a job file
};

std::span<const Flag> flags();
const Flag* find_flag(std::string_view name);

}  // namespace gpuplan::cli
