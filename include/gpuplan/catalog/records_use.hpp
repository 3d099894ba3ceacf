#pragma once
/// How people use a served model: what `--use-case` stands for.

#include <gpuplan/catalog/record.hpp>

#include <gpuplan/base/units.hpp>

#include <cstdint>

namespace gpuplan {

struct UseCase {
  Text name;
  Text title;
  Texts aliases;
  Fact<double> active_share;  ///< of all users, who are at it in the busiest minutes
  Fact<Seconds> think;        ///< from the end of an answer to the next request of the same user
  Fact<std::int64_t> input;   ///< tokens
  Fact<std::int64_t> output;  ///< tokens
  Fact<double> prefix_hit;    ///< share of the input that lies in the cache from earlier requests
  Fact<Seconds> ttft;         ///< targets: means
  Fact<Seconds> tpot;
  Fact<Seconds> e2e;
  Text notes;
  FieldMarks marks;
  SourceId source = 0;
};

}  // namespace gpuplan
