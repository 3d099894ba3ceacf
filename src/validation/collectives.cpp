#include <gpuplan/validation/collectives.hpp>

#include "table_row.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/topology/algorithms.hpp>

#include <algorithm>
#include <array>

namespace gpuplan {
namespace {

constexpr std::array<std::string_view, 7> kColumns = {"id", "source", "link", "collective", "count", "metric", "value"};
constexpr Bytes kPeak = gibibytes(16);  // the largest message of nccl-tests that sources show

Parsed<BytesPerSecond> parse_gigabits(std::string_view text) {
  const auto parsed = parse_positive(text);
  if (!parsed.value) return Parsed<BytesPerSecond>::fail(parsed.message, parsed.expected);
  return Parsed<BytesPerSecond>::ok(gigabits_per_second(*parsed.value));
}

Parsed<std::string> parse_metric(std::string_view text) {
  if (text == "collective_s" || text == "bus_bytes_per_s") return Parsed<std::string>::ok(std::string(text));
  return Parsed<std::string>::fail("unknown metric '" + std::string(text) + "'", "collective_s or bus_bytes_per_s");
}

CollectiveRow read_row(TableRow& in) {
  CollectiveRow row;
  row.id = in.text("id");
  row.source = in.text("source");
  row.link = in.text("link");
  row.network_link = in.text("network_link");
  row.algorithm = in.text("algorithm");
  row.metric = in.required("metric", parse_metric);
  row.kind = in.required("collective", parse_collective);
  const std::int64_t ranks = in.required("count", parse_count);
  row.group.hosts =
      std::clamp<std::int64_t>(in.number("nodes", parse_count).value_or(1), 1, std::max<std::int64_t>(1, ranks));
  row.group.inside = std::max<std::int64_t>(1, ranks / row.group.hosts);
  row.domain = std::max(row.group.inside, in.number("domain", parse_count).value_or(1));
  row.network = in.number("network_gbit", parse_gigabits).value_or(BytesPerSecond{});
  row.size = bytes(static_cast<double>(in.number("message_bytes", parse_count).value_or(0)));
  if (row.size <= Bytes{}) row.size = kPeak;
  row.value = in.required("value", parse_positive);
  row.scored = in.text("score") != "no";
  return row;
}

const AlgorithmTerms* cheapest(const Fabric& fabric, const Algorithms& all, const CollectiveRow& row, Seconds& time) {
  const AlgorithmTerms* best = nullptr;
  for (std::size_t i = 0; i < all.count; ++i) {
    if (!row.algorithm.empty() && all.list[i].name != row.algorithm) continue;
    const Seconds one = std::min(algorithm_time(fabric, all.list[i], row.size, false),
                                 algorithm_time(fabric, all.list[i], row.size, true));
    if (best && one >= time) continue;
    best = &all.list[i];
    time = one;
  }
  return best;
}

}  // namespace

Seconds CollectiveRow::time() const {
  if (metric == "collective_s") return seconds(value);
  return bus_factor(kind, static_cast<double>(group.ranks())) * (size / BytesPerSecond::from_base(value));
}

std::vector<CollectiveRow> read_collective_rows(const CsvTable& table, std::string_view origin) {
  std::vector<Problem> problems;
  require_columns(table, kColumns, origin, problems);
  if (!problems.empty()) throw InputError(std::move(problems));
  std::vector<CollectiveRow> rows;
  for (const CsvRecord& record : table.records) {
    TableRow in(table, record, origin, problems);
    rows.push_back(read_row(in));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return rows;
}

std::optional<Fabric> fabric_of_row(const Catalog& catalog, const CollectiveRow& row) {
  const Link* inside = catalog.find_link(row.link);
  const Link* between = row.network_link.empty() ? nullptr : catalog.find_link(row.network_link);
  if (!inside || (!row.network_link.empty() && !between)) return std::nullopt;
  // Its own share of the network: in the rows a group takes all devices of its hosts.
  Fabric fabric = fabric_of_links(catalog, inside, {}, row.group.inside, between, row.network);
  fabric.domain = row.group.hosts > 1 ? row.group.inside : row.domain;
  return fabric;
}

CollectivePrediction predict_collective(const Catalog& catalog, const CollectiveRow& row) {
  if (row.group.ranks() <= 1) return {std::nullopt, "ranks.one"};
  const auto fabric = fabric_of_row(catalog, row);
  if (!fabric || fabric->inside.rate <= BytesPerSecond{}) return {std::nullopt, "link.unknown"};
  if (row.group.hosts > 1 && fabric->between.rate <= BytesPerSecond{}) return {std::nullopt, "network.unknown"};
  const Algorithms all = algorithms_of(*fabric, row.kind, row.group, Kernels::library);
  Seconds time;
  const AlgorithmTerms* best = cheapest(*fabric, all, row, time);
  if (!best) return {std::nullopt, "algorithm.unknown"};
  const double value = row.metric == "collective_s"
                           ? time / seconds(1)
                           : bus_bandwidth(row.kind, row.group.ranks(), row.size, time) / BytesPerSecond::from_base(1);
  return {value, std::string(best->name)};
}

}  // namespace gpuplan
