#pragma once
/// The text of a document: checks before it is parsed, places and lines afterwards.

#include <gpuplan/base/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuplan {

/// The text in '…' as messages quote it: control characters and bad UTF-8 escaped, long text cut.
std::string quote(std::string_view text);

/// What to call a document's origin: `<stdin>` for `-`.
std::string origin_name(std::string_view path);

std::string_view without_byte_order_mark(std::string_view text);

/// Throws InputError unless the text is UTF-8 without NUL: `input.binary`, `input.encoding`.
void check_text(std::string_view text, std::string_view origin);

/// Line `line` (from 1) of the text without its end, or empty when it is too long to be shown.
std::string source_line(std::string_view text, int line);

/// Line and column (in code points) of offsets that mostly grow; each byte is looked at once as long as they do.
class PlaceFinder {
 public:
  PlaceFinder(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {}
  Place at(std::size_t offset);

 private:
  std::string_view text_;
  std::string origin_;
  std::size_t offset_ = 0;
  int line_ = 1;
  int column_ = 1;
};

}  // namespace gpuplan
