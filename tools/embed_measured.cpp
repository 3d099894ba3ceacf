// Writes which measurements there are, by model, accelerator, program, release and format, as C++ text: nothing is read from files when the
// program runs.
//
//   embed_measured OUTPUT.cpp data/measured/inference.csv …
//
// A line a group, its fields parted by tabs in the order of MeasuredGroup.

#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/validation/csv.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace gpuplan;

struct Group {
  std::string first_row;
  std::string source;
  std::string newest;
  std::set<std::string> metrics;
  int rows = 0;
};

// File, model, accelerator, engine, release, format.
using Key = std::array<std::string, 6>;

void read_groups(const std::string& path, std::vector<Key>& order, std::map<Key, Group>& groups) {
  const CsvTable table = read_csv(read_text_file(path), path);
  const std::string file = std::filesystem::path(path).filename().string();
  for (const CsvRecord& record : table.records) {
    const auto field = [&](std::string_view name) {
      const auto column = table.column(name);
      return column ? record.fields[*column] : std::string();
    };
    const std::string format = table.column("weights") ? field("weights") : field("precision");
    const Key key = {file, field("model"), field("accelerator"), field("engine"), field("engine_version"), format};
    if (key[1].empty() || key[2].empty()) continue;
    Group& group = groups[key];
    if (group.rows == 0) {
      order.push_back(key);
      group.first_row = field("id");
      group.source = field("source_url");
    }
    ++group.rows;
    group.newest = std::max(group.newest, field("observed_on"));
    group.metrics.insert(field("metric"));
  }
}

std::string literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\t')
      out += "\\t";
    else if (c == '"' || c == '\\')
      out += {'\\', c};
    else
      out += c;
  }
  return out + "\\n\"";
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) {
    std::fputs("usage: embed_measured OUTPUT.cpp MEASURED.csv...\n", stderr);
    return 2;
  }
  std::vector<Key> order;
  std::map<Key, Group> groups;
  for (std::size_t i = 1; i < arguments.size(); ++i) read_groups(arguments[i], order, groups);
  constexpr std::size_t kPiece = 60'000;  // compilers need not take literals of more than 65,536
  std::string out =
      "// Written by tools/embed_measured from data/measured.\n#include \"measured_data.hpp\"\n\nnamespace gpuplan {\n"
      "namespace {\n\nconstexpr std::string_view kPieces[] = {\n";
  std::size_t piece = 0;
  for (const Key& key : order) {
    const Group& group = groups.at(key);
    const std::vector<std::string> metrics(group.metrics.begin(), group.metrics.end());
    std::vector<std::string> fields(key.begin(), key.end());
    fields.insert(fields.end(),
                  {std::to_string(group.rows), group.first_row, join(metrics, ","), group.newest, group.source});
    const std::string line = literal(join(fields, "\t"));
    if (piece + line.size() > kPiece) {
      out += "    ,\n";
      piece = 0;
    }
    piece += line.size();
    out += "    " + line + "\n";
  }
  out +=
      "};\n\n}  // namespace\n\nconst std::span<const std::string_view> kMeasuredGroups = kPieces;\n\n}  // namespace "
      "gpuplan\n";
  std::ofstream file(arguments[0], std::ios::binary);
  file << out;
  return file.flush() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
