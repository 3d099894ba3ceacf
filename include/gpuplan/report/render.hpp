#pragma once
/// Renderings of a document. They see the document only.

#include <gpuplan/report/document.hpp>

#include <string>
#include <string_view>

namespace gpuplan {

struct TextStyle {
  int width = 100;      ///< of prose
  int table_width = 0;  ///< of tables, which leave out columns to keep to it; 0: no limit
  bool color = false;
  bool explain = false;
};

std::string render_table(const Document& document, const TextStyle& style);
std::string render_json(const Document& document);
/// RFC 4180, one row an option or record; nested values become dotted columns.
std::string render_csv(const Document& document);
/// One table under a heading; of an estimate its options, of other documents the list they have.
std::string render_markdown(const Document& document);
/// The same as a page that stands alone.
std::string render_html(const Document& document);

/// The log-log plot of a roofline, readable on light and dark ground. Throws InputError for documents that have no plot.
std::string render_svg(const Document& document);

/// Whether an expression over the JSON report holds; `best` is `options[0]`, and a term of a list is addressed by its id:
/// `best.memory.terms.weights.bytes`. Comparing an unknown value never holds.
struct AssertionResult {
  bool holds = false;
  std::string seen;  ///< the values that were looked at: `best.cost.per_hour is 0.35`
};
/// Throws InputError on bad expressions and names that the report does not have.
AssertionResult check_assertion(const Document& document, std::string_view expression);

}  // namespace gpuplan
