#include "markup.hpp"
#include "plain.hpp"

#include <gpuplan/report/render.hpp>

namespace gpuplan {
namespace {

constexpr const char* kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
)";
constexpr const char* kStyle = R"(<style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em; }
table { border-collapse: collapse; }
th, td { padding: .3em .7em; border-bottom: 1px solid #ccc; text-align: left; vertical-align: top; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.best { font-weight: bold; }
</style>
</head>
<body>
)";

}  // namespace

std::string render_html(const Document& document) {
  const PlainTable table = plain_table(document);
  std::string out = std::string(kHead) + "<title>" + escaped(table.title) + "</title>\n" + kStyle + "<h1>" +
                    escaped(table.title) + "</h1>\n<table>\n<thead><tr>";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    out += std::string("<th") + (table.is_number[c] ? " class=\"number\"" : "") + ">" + escaped(table.columns[c]) +
           "</th>";
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) {
      std::string classes = table.is_number[c] ? "number" : "";
      if (row[c].best) classes += classes.empty() ? "best" : " best";
      out += (classes.empty() ? "<td>" : "<td class=\"" + classes + "\">") + escaped(row[c].text) + "</td>";
    }
    out += "</tr>\n";
  }
  out += "</tbody>\n</table>\n";
  for (const std::string& note : table.notes) out += "<p>" + escaped(note) + "</p>\n";
  return out + "</body>\n</html>\n";
}

}  // namespace gpuplan
