#include "parts.hpp"

#include <gpuplan/base/text.hpp>

namespace gpuplan {
namespace {

std::string about(const MeasuredGroup& g) {
  std::string words(g.model);
  if (!g.format.empty()) words += " in " + std::string(g.format);
  words += " on " + std::string(g.accelerator);
  if (!g.engine.empty()) words += " with " + std::string(g.engine);
  if (!g.release.empty()) words += " " + std::string(g.release);
  return words + ", " + format_whole(g.rows) + (g.rows == 1 ? " row" : " rows");
}

}  // namespace

EvidenceIndex evidence_of(const Catalog& catalog, EvidenceJob job, const ModelIdentity& model, std::string_view program,
                          std::string_view format) {
  const bool is_preset = model.read_from.rfind("preset", 0) == 0;
  return {catalog, {job, is_preset ? catalog.find_model(model.name) : nullptr, program, format}};
}

EvidenceDocument describe_evidence(const Evidence& evidence) {
  EvidenceDocument d;
  d.grade = to_string(evidence.grade);
  if (!evidence.group) return d;
  const MeasuredGroup& g = *evidence.group;
  d.row = std::string(g.file) + " " + std::string(g.first_row);
  d.about = about(g);
  d.observed_on = g.observed_on;
  d.source = g.source;
  return d;
}

QualityDocument describe_quality(const Catalog& catalog, const ServedModel& model) {
  QualityDocument d;
  d.format = model.scheme.name;
  const auto quality = quality_of(catalog, model);
  if (!quality) return d;
  d.loss = quality->loss;
  if (!quality->record) return d;
  d.measure = quality->record->measure;
  d.model = quality->record->model;
  d.source = catalog.source(quality->record->source).text;
  return d;
}

ListDocument list_evidence(const Catalog& catalog, const SupportQuery& query) {
  ListDocument list{"support",
                    {"grade", "model", "accelerator", "program", "release", "format", "rows", "metrics", "file",
                     "first_row", "observed_on", "source"},
                    {},
                    {}};
  const auto cell = [](std::string_view text) { return text.empty() ? Cell{} : Cell{std::string(text), Unit::none}; };
  for (const EvidenceJob job : {EvidenceJob::serve, EvidenceJob::parts, EvidenceJob::train}) {
    const EvidenceIndex index(catalog, {job, query.model, query.program, query.format});
    for (const Evidence& e : index.all(query.accelerators)) {
      const MeasuredGroup& g = *e.group;
      list.rows.push_back({cell(to_string(e.grade)), cell(g.model), cell(g.accelerator), cell(g.engine),
                           cell(g.release), cell(g.format), Cell{static_cast<double>(g.rows), Unit::none},
                           cell(g.metrics), cell(g.file), cell(g.first_row), cell(g.observed_on), cell(g.source)});
    }
  }
  list.note =
      "measured: this model on this accelerator with this program; near: the same model or the same accelerator. "
      "'gpuplan validate data/measured/FILE' says how far predictions are from the rows";
  return list;
}

}  // namespace gpuplan
