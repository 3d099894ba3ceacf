#pragma once
/// Reading third-party price lists: a table of formats, a stream of rows, and a summary of what became of each.
///
///     const PriceFormat* format = find_price_format("skypilot");
///     const auto text = open_price_list("aws.csv", {});
///     const ImportSummary summary = import_prices(*format, *text, {&catalog, "aws"}, [](ImportedOffer&& row) { … });
///
/// Lists are read as a stream: memory does not grow with the list (docs/PRICES.md says what a format keeps). Text that is not
/// of the format at all throws InputError; a row that is wrong is dropped and counted.

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/net/http.hpp>
#include <gpuplan/prices/imported_offer.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

/// Text that comes piece by piece.
class PriceText {
 public:
  PriceText() = default;
  PriceText(const PriceText&) = delete;
  PriceText& operator=(const PriceText&) = delete;
  virtual ~PriceText() = default;
  /// At most `size` bytes; 0 at the end. Throws InputError.
  virtual std::size_t read(char* out, std::size_t size) = 0;
  [[nodiscard]] virtual std::uint64_t total() const { return 0; }  ///< bytes in all; 0: not known
  [[nodiscard]] const std::string& origin() const { return origin_; }

 protected:
  explicit PriceText(std::string origin) : origin_(std::move(origin)) {}

 private:
  std::string origin_;  ///< for messages: path, address without query, <stdin>
};

/// @param place  a path, `-` for standard input, or an http(s) address, which is fetched in ranges of 8 MiB
/// Throws InputError: `input.not_found`, `input.unreadable`, `input.compressed`, and those of the network.
std::unique_ptr<PriceText> open_price_list(const std::string& place, const HttpSettings& http);
std::unique_ptr<PriceText> price_text(std::string text, std::string origin = "<memory>");

/// Why rows were dropped, changed on the way in, or kept without taking part.
struct ImportReason {
  std::string id;       ///< stable: prices.no_gpu
  std::string message;  ///< with what the list says and what we make of it
  std::int64_t rows = 0;
  std::string example;  ///< of the first row
};
struct ImportSummary {
  std::int64_t read = 0;               ///< rows of the list
  std::int64_t kept = 0;               ///< offers made of them; a row may give several (on demand and spot)
  std::int64_t rankable = 0;           ///< of those
  std::vector<ImportReason> dropped;   ///< rows; every row that gives no offer is in one of these
  std::vector<ImportReason> mended;    ///< offers that are not as the list has them
  std::vector<ImportReason> unranked;  ///< offers that are kept but do not compete
};

struct ImportContext {
  const Catalog* catalog = nullptr;
  std::string provider;     ///< whose list it is, where the format does not say
  std::string observed_on;  ///< day of rows that give none; empty: unknown
  /// Bytes read, of how many (0: not known); called at most every MiB. May be empty.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
  /// The next page of a list that comes in pages; empty: pages are not followed, which the summary says.
  std::function<std::unique_ptr<PriceText>(const std::string& address)> next_page;
};

struct PriceFormat {
  std::string_view name;
  std::string_view title;
  std::string_view text;   ///< csv or json
  std::string_view needs;  ///< what must be said beside the file: `--provider`, or nothing
  void (*read)(class ImportRun&);
};
std::span<const PriceFormat> price_formats();
const PriceFormat* find_price_format(std::string_view name);

ImportSummary import_prices(const PriceFormat& format, PriceText& text, const ImportContext& context,
                            const std::function<void(ImportedOffer&&)>& sink);

}  // namespace gpuplan
