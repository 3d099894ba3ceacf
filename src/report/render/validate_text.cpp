#include "table.hpp"
#include "text.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

std::string percent(double share) { return format_significant(100 * share, 3) + " %"; }

std::vector<std::string> cells_of(const ValidateDocument::Group& group) {
  std::vector<std::string> cells;
  for (const auto& [key, value] : group.by) cells.push_back(value.empty() ? "-" : value);
  const auto whole = [](std::int64_t n) { return format_whole(static_cast<double>(n)); };
  for (const std::int64_t n : {group.rows, group.predicted, group.sources}) cells.push_back(whole(n));
  for (const double error :
       {group.median_abs_error, group.mean_abs_error, group.p90_abs_error, group.worst_abs_error}) {
    cells.push_back(percent(error));
  }
  cells.push_back(format_significant(group.bias, 3));
  cells.push_back(group.coverage_80 ? percent(*group.coverage_80) : "");
  return cells;
}

std::string groups_table(const ValidateDocument& d, const TextStyle& style) {
  std::vector<TableColumn> columns;
  if (!d.groups.empty()) {
    for (const auto& [key, value] : d.groups.front().by) columns.push_back({key});
  }
  const std::size_t keys = columns.size();
  for (const char* title : {"rows", "predicted", "sources", "median", "mean", "p90", "worst", "bias", "in 80 %"})
    columns.push_back({title, true});
  std::vector<std::vector<std::string>> rows;
  for (const auto& group : d.groups) rows.push_back(cells_of(group));
  if (keys > 0) {
    auto all = cells_of(d.all);
    std::vector<std::string> names(keys);
    names.front() = "all";
    all.insert(all.begin(), names.begin(), names.end());
    rows.push_back(std::move(all));
  }
  return layout_table(columns, rows, style, "  ");
}

std::string rows_table(const std::vector<ValidateDocument::Row>& rows, std::string_view last, const TextStyle& style) {
  std::vector<std::vector<std::string>> cells;
  for (const auto& row : rows) {
    cells.push_back({row.id, row.metric, format_significant(row.measured, 5),
                     row.predicted ? format_significant(*row.predicted, 5) : "", percent(row.abs_error), row.how});
  }
  return layout_table(
      {{"row"}, {"metric"}, {"measured", true}, {"predicted", true}, {"error", true}, {std::string(last)}}, cells,
      style, "  ");
}

}  // namespace

std::string validate_text(const ValidateDocument& d, const TextStyle& style) {
  const auto whole = [](std::int64_t n) { return format_whole(static_cast<double>(n)); };
  std::string out = labelled("rows",
                             whole(d.rows) + ", " + whole(d.scored) + " scored, " + whole(d.predicted) +
                                 " predicted (" + percent(d.coverage) + ")",
                             style);
  out += "\n" + groups_table(d, style);
  if (!d.worst.empty()) out += "\n" + bold("farthest off", style) + "\n" + rows_table(d.worst, "with", style);
  if (!d.skipped.empty()) {
    out += "\n" + bold("not predicted", style) + "\n";
    for (const auto& skipped : d.skipped) out += "  " + skipped.reason + ": " + whole(skipped.rows) + "\n";
    constexpr std::size_t kShown = 20;
    std::vector<ValidateDocument::Row> rows(
        d.unpredicted.begin(),
        d.unpredicted.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, d.unpredicted.size())));
    out += rows_table(rows, "why", style);
    if (d.unpredicted.size() > kShown) out += "  and " + std::to_string(d.unpredicted.size() - kShown) + " more\n";
  }
  return out;
}

std::string start_log_text(const StartLogDocument& d, const TextStyle& style) {
  std::string head = d.engine.empty() ? "engine not recognised" : d.engine;
  if (!d.version.empty()) head += " " + d.version;
  if (!d.model.empty()) head += ", " + d.model;
  if (!d.accelerator.empty()) head += " on " + d.accelerator;
  std::string out = labelled("log", head, style);
  std::string said;
  for (const JobValue& setting : d.settings) {
    const auto* amount = std::get_if<double>(&setting.value);
    said += (said.empty() ? "" : ", ") + setting.name + " " +
            (amount ? format_shortest(*amount) : std::get<std::string>(setting.value));
  }
  if (!said.empty()) out += labelled("says", said, style);
  std::vector<std::vector<std::string>> rows;
  for (const auto& t : d.terms) {
    const auto shown = [&](double value) {
      return t.unit == Unit::bytes    ? format_binary_bytes(bytes(value))
             : t.unit == Unit::tokens ? format_whole(value)
                                      : format_significant(value, 3);
    };
    std::string residual;
    if (t.predicted && t.printed > 0) residual = format_significant(100 * (*t.predicted / t.printed - 1), 2) + " %";
    rows.push_back({t.id, std::to_string(t.ranks), shown(t.printed), t.predicted ? shown(*t.predicted) : "", residual,
                    std::to_string(t.line), t.how});
  }
  return out + "\n" +
         layout_table({{"term"},
                       {"ranks", true},
                       {"printed", true},
                       {"predicted", true},
                       {"off", true},
                       {"line", true},
                       {"with"}},
                      rows, style, "  ");
}

}  // namespace gpuplan
