#pragma once
/// Which measurements the project has: groups of rows of data/measured/ of one model, accelerator, program, release and format.
///
///     for (const MeasuredGroup& g : measured_groups()) …   // g.file, g.first_row: where its rows are
///
/// Names are those of the rows; `Catalog::find_model` and the like know them.

#include <span>
#include <string_view>
#include <vector>

namespace gpuplan {

struct MeasuredGroup {
  std::string_view file;  ///< in data/measured/
  std::string_view model;
  std::string_view accelerator;
  std::string_view engine;   ///< engine, runtime or framework of training
  std::string_view release;  ///< empty: not stated
  std::string_view format;   ///< of weights; in training the precision
  int rows = 0;
  std::string_view first_row;    ///< its id
  std::string_view metrics;      ///< parted by commas
  std::string_view observed_on;  ///< the newest day; empty: not stated
  std::string_view source;       ///< where the first row was read
};

/// All groups, in the order of the files. The texts live as long as the program.
std::vector<MeasuredGroup> measured_groups();

}  // namespace gpuplan
