#pragma once
// Where results go.

#include <string>
#include <string_view>

namespace gpuplan::cli {

// Writes to standard output, or to a file through a temporary one beside it. Throws std::system_error when it cannot.
void write_result(std::string_view text, const std::string& path);
void write_error(std::string_view text);

}  // namespace gpuplan::cli
