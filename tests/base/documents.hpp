#pragma once
// What the tests of documents and of the cursor over them share.

#include <gpuplan/base/reader.hpp>

#include "catch.hpp"
#include "support.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

namespace gpuplan::testing::base {

using testing::problems_of;

inline Problem problem_of(const std::function<void()>& what) {
  const std::vector<Problem> all = problems_of(what);
  REQUIRE(all.size() == 1);
  return all[0];
}

inline Problem yaml_problem(const std::string& text) {
  CAPTURE(text.substr(0, 200));
  return problem_of([&] { parse_yaml(text, "job.yaml"); });
}

inline Problem json_problem(const std::string& text) {
  CAPTURE(text.substr(0, 200));
  return problem_of([&] { parse_json(text, "config.json"); });
}

inline std::string at(const Problem& p) {
  if (!p.place) return "nowhere";
  return p.place->origin + ":" + std::to_string(p.place->line) + ":" + std::to_string(p.place->column);
}

inline std::string at(const Place& p) { return std::to_string(p.line) + ":" + std::to_string(p.column); }

inline std::string repeat(const std::string& part, std::size_t times) {
  std::string out;
  out.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += part;
  return out;
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Of the processor: others may be at work on the machine.
inline double seconds_for(const std::function<void()>& what) {
  const std::clock_t start = std::clock();
  what();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

}  // namespace gpuplan::testing::base
