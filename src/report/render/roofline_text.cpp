#include "table.hpp"
#include "text.hpp"

#include <gpuplan/base/text.hpp>

namespace gpuplan {
namespace {

std::string percent(double share) { return format_significant(100 * share, share < 0.1 ? 2 : 3) + " %"; }

std::string phase_line(const RooflineDocument::Phase& p) {
  std::string line = p.id + ": " + format_whole(p.tokens) + (p.tokens > 1 ? " tokens" : " token") + " of " +
                     format_whole(p.sequences) + (p.sequences > 1 ? " sequences in " : " sequence in ") +
                     format_seconds(seconds(p.seconds)) + ", " +
                     format_quantity(p.tokens_per_s, Unit::tokens_per_second) + "; " +
                     format_quantity(p.flop, Unit::flop) + ", " + format_bytes(bytes(p.bytes)) + " a device";
  if (p.bytes > 0) line += ", " + format_significant(p.flop / p.bytes, 3) + " FLOP a byte";
  return line + "; mostly bound by " + p.bound;
}

std::string phase_table(const RooflineDocument::Phase& p, const TextStyle& style) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& o : p.operators) {
    rows.push_back(
        {o.id, o.kind.empty() ? "" : format_whole(o.count), o.flop > 0 ? format_quantity(o.flop, Unit::flop) : "",
         o.bytes > 0 ? format_bytes(bytes(o.bytes)) : "", o.intensity ? format_significant(*o.intensity, 3) : "",
         format_seconds(seconds(o.seconds)), percent(o.share), o.bound,
         o.flop_per_s ? format_quantity(*o.flop_per_s, Unit::flop_per_second) : "", o.arithmetic,
         o.of_ceiling ? percent(*o.of_ceiling) : ""});
  }
  return layout_table({{"operator"},
                       {"times", true, 4},
                       {"FLOP", true, 2},
                       {"bytes", true, 2},
                       {"FLOP/byte", true},
                       {"time", true},
                       {"share", true},
                       {"bound"},
                       {"achieved", true, 1},
                       {"in", false, 3},
                       {"of ceiling", true, 3}},
                      rows, style, "  ");
}

}  // namespace

std::string roofline_text(const RooflineDocument& d, const TextStyle& style) {
  std::string out = labelled("model", model_line(d.model), style) + labelled("job", job_line(d.job), style);
  if (!d.rejected.empty()) return out + labelled("", "does not run on " + d.accelerator + ": " + d.rejected, style);
  out += labelled("on",
                  std::to_string(d.count) + " x " + d.accelerator + ", " + d.engine +
                      (d.count > 1 ? "; figures of one device" : ""),
                  style);
  const auto rate = [](double value) { return format_quantity(value, Unit::bytes_per_second); };
  out += labelled("memory", rate(d.bandwidth_reached) + " reached of " + rate(d.bandwidth_datasheet), style);
  for (const auto& c : d.ceilings) {
    out += labelled(c.id,
                    format_quantity(c.reached, Unit::flop_per_second) + " reached of " +
                        format_quantity(c.datasheet, Unit::flop_per_second) + ": compute limits from " +
                        format_significant(c.ridge, 3) + " FLOP a byte on",
                    style);
  }
  for (const auto& phase : d.phases) {
    out += "\n" + bold(phase.id, style) + "\n";
    for (const auto& line : wrap(phase_line(phase), style.width - 2)) out += "  " + line + "\n";
    out += "\n" + phase_table(phase, style);
  }
  return out + explanation_text(d.explanation, style);
}

}  // namespace gpuplan
