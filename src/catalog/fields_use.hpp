#pragma once
// The fields of the record of records_use.hpp; see fields.hpp.

#include "field_units.hpp"

namespace gpuplan {

template <class V, RecordOf<UseCase> R>
void visit_fields(V& v, R& r) {
  v.name("name", r.name);
  v.text("title", r.title);
  v.texts("aliases", r.aliases);
  v.template fact<AsNumber>("active_share", r.active_share);
  v.template fact<AsSeconds>("think_s", r.think);
  v.template fact<AsCount>("input", r.input);
  v.template fact<AsCount>("output", r.output);
  v.template fact<AsNumber>("prefix_hit", r.prefix_hit);
  v.template fact<AsSeconds>("ttft_s", r.ttft);
  v.template fact<AsSeconds>("tpot_s", r.tpot);
  v.template fact<AsSeconds>("e2e_s", r.e2e);
  v.text("notes", r.notes);
  v.marks(r.marks);
  v.source(r.source);
}

}  // namespace gpuplan
