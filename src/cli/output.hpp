#pragma once
// Where results go.

#include <stdexcept>
#include <string>
#include <string_view>

namespace gpuplan::cli {

inline constexpr std::string_view kStandardOutput = "output.standard_output";  ///< id: it cannot be written
inline constexpr std::string_view kOutputFile = "output.file";

// A result could not be written; a new file is not left half written.
class OutputError : public std::runtime_error {
 public:
  OutputError(std::string_view id, const std::string& message) : std::runtime_error(message), id_(id) {}
  [[nodiscard]] const std::string& id() const { return id_; }

 private:
  std::string id_;
};

// Writes to standard output, or to a file through a temporary one beside it, which no signal leaves behind. Links are followed;
// a file that is there keeps its mode, and one that is not writable stays. Throws OutputError.
void write_result(std::string_view text, const std::string& path);
void write_error(std::string_view text);

// Takes the places of standard streams that are closed, lest files that are opened do: writing to them goes on failing.
void hold_standard_streams();

}  // namespace gpuplan::cli
