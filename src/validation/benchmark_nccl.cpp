// nccl-tests: lines of sizes with time, algorithm and bus bandwidth. The program's name says the collective where it is printed; else
// the ratio of the bandwidths and the reduction do, and the ratio says how many ranks there were where no line lists them.

#include "benchmark_rows.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>

namespace gpuplan {
namespace {

struct Line {
  int number = 0;
  double size = 0, microseconds = 0, algorithm = 0, bus = 0;
  std::string reduction;
};

// size count type redop root time algbw busbw …, anything before the size aside.
std::optional<Line> line_of(std::string_view text, int number) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  for (std::size_t i = 0; i + 7 < words.size(); ++i) {
    const auto digits = [](const std::string& w) {
      return !w.empty() && w.find_first_not_of("0123456789") == std::string::npos;
    };
    if (!digits(words[i]) || !digits(words[i + 1]) || digits(words[i + 2])) continue;
    const auto size = parse_number(words[i]).value;
    const auto time = parse_number(words[i + 5]).value;
    const auto algorithm = parse_number(words[i + 6]).value;
    const auto bus = parse_number(words[i + 7]).value;
    if (!size || !time || !algorithm || !bus) return std::nullopt;
    return Line{number, *size, *time, *algorithm, *bus, words[i + 3]};
  }
  return std::nullopt;
}

std::string collective_of(std::string_view text, const Line& largest) {
  constexpr std::pair<std::string_view, std::string_view> kPrograms[] = {
      {"all_reduce_perf", "all-reduce"}, {"all_gather_perf", "all-gather"}, {"reduce_scatter_perf", "reduce-scatter"},
      {"alltoall_perf", "all-to-all"},   {"broadcast_perf", "broadcast"},   {"sendrecv_perf", "point-to-point"}};
  for (const auto& [program, name] : kPrograms) {
    if (text.find(program) != std::string_view::npos) return std::string(name);
  }
  const bool reduces = largest.reduction != "none";
  if (largest.bus >= 0.99 * largest.algorithm) return reduces ? "all-reduce" : "broadcast";
  return reduces ? "reduce-scatter" : "all-gather";
}

// Bus over algorithm bandwidth is 2(n-1)/n or (n-1)/n.
double ranks_of(const std::string& collective, const Line& largest) {
  const double ratio = largest.bus / largest.algorithm;
  if (collective == "all-reduce") return std::round(2 / std::max(2 - ratio, 1e-9));
  return std::round(1 / std::max(1 - ratio, 1e-9));
}

}  // namespace

bool read_nccl_tests(std::string_view text, BenchmarkRows& rows) {
  if (text.find("algbw") == std::string_view::npos || text.find("busbw") == std::string_view::npos) return false;
  std::vector<Line> lines;
  std::set<std::string> hosts;
  std::int64_t ranks = 0;
  int number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    ++number;
    if (const auto on = line.find(" on ");
        line.find("Rank ") != std::string_view::npos && on != std::string_view::npos) {
      ++ranks;
      hosts.emplace(line.substr(on + 4, line.find(' ', on + 4) - on - 4));
    } else if (const auto one = line_of(line, number); one && one->size > 0 && one->microseconds > 0) {
      lines.push_back(*one);
    }
  }
  if (lines.empty()) return false;
  const BenchmarkContext& c = rows.context();
  if (c.link.empty()) rows.refuse(0, "the file does not say what joins the devices", "--gpu or --node");
  const Line& largest =
      *std::max_element(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.size < b.size; });
  const std::string collective = collective_of(text, largest);
  constexpr double kMostRanks = 1e6;
  if (ranks == 0)
    ranks = static_cast<std::int64_t>(
        std::clamp(largest.algorithm > 0 ? ranks_of(collective, largest) : 1.0, 1.0, kMostRanks));
  if (ranks < 2) ranks = std::max<std::int64_t>(2, c.count);
  std::int64_t nodes = static_cast<std::int64_t>(hosts.size());
  if (nodes == 0) nodes = std::max<std::int64_t>(1, ranks / std::max<std::int64_t>(1, c.devices_per_host));
  for (const Line& line : lines) {
    BenchmarkRows::Fields f;
    f["engine"] = "NCCL";
    f["mode"] = nodes > 1 ? "across" : "inside";
    f["count"] = std::to_string(ranks);
    f["nodes"] = std::to_string(nodes);
    f["domain"] = std::to_string(c.devices_per_host);
    f["link"] = c.link;
    if (nodes > 1) {
      f["network_link"] = c.network_link;
      if (c.network_gbit > 0) f["network_gbit"] = format_shortest(c.network_gbit);
    }
    f["collective"] = collective;
    f["message_bytes"] = count_text(line.size);
    rows.add_serving(line.number, f, "collective_s", "", line.microseconds * 1e-6);
  }
  return true;
}

}  // namespace gpuplan
