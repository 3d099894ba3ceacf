#pragma once
// What the tools that fit constants share: the file they write in place or check, and how they end.

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/reader.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

/// Writes the file unless it holds that already; with `check` only says whether it does. Returns the exit status.
inline int finish_file(const std::string& path, const std::string& after, bool check, std::string_view tool) {
  if (read_text_file(path) == after) return 0;
  if (check) {
    std::fprintf(stderr, "%s is not what the measured rows give: run %.*s\n", path.c_str(),
                 static_cast<int>(tool.size()), tool.data());
    return 1;
  }
  const std::string temporary = path + ".new";
  {
    std::ofstream out(temporary, std::ios::binary);
    out << after;
    if (!out.flush()) {
      std::fprintf(stderr, "cannot write %s\n", temporary.c_str());
      return 1;
    }
  }
  std::error_code failure;
  std::filesystem::rename(temporary, path, failure);
  if (failure) std::fprintf(stderr, "cannot write %s\n", path.c_str());
  return failure ? 1 : 0;
}

/// Runs a tool on its arguments and turns what is thrown into messages and an exit status.
template <class Run>
int guarded(int argc, char** argv, Run run) {
  try {
    return run(std::vector<std::string>{argv + 1, argv + argc});
  } catch (const InputError& error) {
    for (const Problem& problem : error.problems()) std::fprintf(stderr, "%s\n", format_problem(problem).c_str());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace gpuplan
