#include <gpuplan/report/build.hpp>

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <map>

namespace gpuplan {
namespace {

ValidateDocument::Group describe_group(const RowSummary& s, std::span<const std::string> keys) {
  ValidateDocument::Group g;
  g.id = join(s.by, "/");
  for (std::size_t i = 0; i < keys.size() && i < s.by.size(); ++i) g.by.emplace_back(keys[i], s.by[i]);
  g.rows = s.rows;
  g.sources = s.sources;
  g.predicted = s.predicted;
  g.median_abs_error = s.median_abs_error;
  g.mean_abs_error = s.mean_abs_error;
  g.p90_abs_error = s.p90_abs_error;
  g.worst_abs_error = s.worst_abs_error;
  g.bias = s.bias;
  g.coverage_80 = s.coverage_80;
  return g;
}

ValidateDocument::Row describe_row(const ValidatedRow& row) {
  return {row.id, row.source, row.metric, row.how, row.measured, row.predicted, row.abs_error()};
}

Unit unit_of(LogUnit unit) {
  switch (unit) {
    case LogUnit::bytes:
      return Unit::bytes;
    case LogUnit::tokens:
      return Unit::tokens;
    case LogUnit::ratio:
      return Unit::none;
  }
  return Unit::none;
}

}  // namespace

ValidateDocument report_validation(const Validation& validation, std::span<const std::string> keys, std::size_t worst) {
  ValidateDocument d;
  d.rows = validation.rows;
  d.scored = static_cast<std::int64_t>(validation.scored.size());
  std::map<std::string, std::int64_t> reasons;
  std::vector<const ValidatedRow*> predicted;
  for (const ValidatedRow& row : validation.scored) {
    if (row.predicted) {
      predicted.push_back(&row);
      continue;
    }
    ++reasons[row.how];
    d.unpredicted.push_back(describe_row(row));
  }
  d.predicted = static_cast<std::int64_t>(predicted.size());
  d.coverage = d.scored > 0 ? static_cast<double>(d.predicted) / static_cast<double>(d.scored) : 1;
  for (const auto& [reason, rows] : reasons) d.skipped.push_back({reason, rows});
  for (const RowSummary& s : summarize_rows(validation.scored, keys)) d.groups.push_back(describe_group(s, keys));
  for (const RowSummary& s : summarize_rows(validation.scored, {})) d.all = describe_group(s, {});
  d.all.id = "all";
  std::stable_sort(predicted.begin(), predicted.end(),
                   [](const ValidatedRow* a, const ValidatedRow* b) { return a->abs_error() > b->abs_error(); });
  if (predicted.size() > worst) predicted.resize(worst);
  for (const ValidatedRow* row : predicted) d.worst.push_back(describe_row(*row));
  return d;
}

StartLogDocument report_start_log(const StartLog& log, std::span<const LogPrediction> predictions) {
  StartLogDocument d;
  d.engine = log.engine;
  d.version = log.version;
  const auto say = [&](std::string name, const auto& value) {
    if (value) d.settings.push_back({std::move(name), static_cast<double>(*value), false});
  };
  say("tp", log.tp);
  say("pp", log.pp);
  say("context_parallel", log.context_parallel);
  say("context", log.context);
  say("sequences", log.sequences);
  say("batched_tokens", log.batched_tokens);
  say("micro_batch", log.micro_batch);
  say("utilization", log.utilization);
  if (log.flash_attention)
    d.settings.push_back({"flash_attention", std::string(*log.flash_attention ? "yes" : "no"), false});
  for (std::size_t i = 0; i < log.terms.size(); ++i) {
    const LogTerm& term = log.terms[i];
    StartLogDocument::Term out{term.id, unit_of(term.unit), term.value, term.ranks, term.line, std::nullopt, {}};
    if (i < predictions.size()) {
      out.predicted = predictions[i].value;
      out.how = predictions[i].how;
    }
    d.terms.push_back(std::move(out));
  }
  return d;
}

}  // namespace gpuplan
