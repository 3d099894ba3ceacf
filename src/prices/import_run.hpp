#pragma once
// What a format's reader is given: the text as CSV records or JSON items, names of the catalogue, and where offers go.

#include "accelerator_names.hpp"
#include "csv_stream.hpp"
#include "json_stream.hpp"

#include <gpuplan/prices/import.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace gpuplan {

class ImportRun {
 public:
  ImportRun(PriceText& text, const ImportContext& context, const std::function<void(ImportedOffer&&)>& sink);

  [[nodiscard]] PriceText& text() { return text_; }
  [[nodiscard]] const Catalog& catalog() const { return *context_.catalog; }
  [[nodiscard]] const ImportContext& context() const { return context_; }

  // A row of the list begins; `where` names it in examples (line 12, an id).
  void row(std::string where);
  void drop(std::string_view id, std::string_view message);
  void mend(std::string_view id, std::string_view message);
  // Keeps the offer. Takes its accelerator's name, memory and count apart against the catalogue unless it is resolved.
  void keep(ImportedOffer offer);

  // Name of the seller in the catalogue, else the text in lower case.
  std::string provider_named(std::string_view name);
  // The seller that the format does not tell; throws InputError when nobody said one.
  std::string required_provider();

  // Gives the offer its accelerator. `measured`: the memory was read from the device, so it decides against the name.
  void resolve(ImportedOffer& offer, const GpuClaim& claim);
  // A price of 0, or none: unknown, kept without taking part.
  void without_price(ImportedOffer& offer, std::string_view why);

  ImportSummary finish();

 private:
  void count(std::map<std::string, ImportReason>& into, std::string_view id, std::string_view message);

  class Counted;
  std::unique_ptr<PriceText> counted_;
  PriceText& text_;
  const ImportContext& context_;
  const std::function<void(ImportedOffer&&)>& sink_;
  AcceleratorNames names_;
  std::map<std::string, std::string, std::less<>> providers_;
  std::string where_;
  ImportSummary summary_;
  std::map<std::string, ImportReason> dropped_, mended_, unranked_;
};

// Numbers of lists: empty, "nan", "None" and "null" are unknown; so is what is negative or beyond 1e12.
std::optional<double> list_number(std::string_view text);
std::optional<double> list_number(const nlohmann::json& value);             // a number, or a string with one
std::string list_text(const nlohmann::json& object, std::string_view key);  // empty when absent or no text
std::optional<double> list_number(const nlohmann::json& object, std::string_view key);
// 2026-09-20 of 2026-09-20T06:21:55Z; empty when it is no day.
std::string day_of(std::string_view time);
std::string upper_country(std::string_view text);  // two letters in upper case, else empty

}  // namespace gpuplan
