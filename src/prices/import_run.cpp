#include "import_run.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <utility>

namespace gpuplan {
namespace {

constexpr double kBeyondMeasure = 1e12;

std::vector<ImportReason> in_order(const std::map<std::string, ImportReason>& reasons) {
  std::vector<ImportReason> all;
  for (const auto& [key, reason] : reasons) all.push_back(reason);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.rows > b.rows; });
  return all;
}

// Texts of a list are shown on terminals and written as JSON: one line of valid UTF-8 without control characters.
void clean(std::string& text) {
  constexpr std::size_t kLongest = 1000;
  const bool valid = is_utf8(text);
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = ' ';
    if (byte >= 0x80 && !valid) c = '?';
  }
  if (text.size() <= kLongest) return;
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a code point
  text.resize(end);
}

void clean(ImportedOffer& offer) {
  for (std::string* text : {&offer.provider, &offer.gpu, &offer.term, &offer.currency, &offer.region, &offer.country,
                            &offer.interconnect, &offer.product, &offer.tier, &offer.model, &offer.interruption,
                            &offer.why_not, &offer.observed_on, &offer.source, &offer.notes}) {
    clean(*text);
  }
}

// A list may hold thousands of names that nobody knows: their reasons are told one by one up to here, then together.
constexpr std::size_t kMostMessages = 200;

}  // namespace

// Tells how far the text has been read.
class ImportRun::Counted : public PriceText {
 public:
  Counted(PriceText& inner, const ImportContext& context)
      : PriceText(inner.origin()), inner_(inner), context_(context) {}
  std::size_t read(char* out, std::size_t size) override {
    const std::size_t got = inner_.read(out, size);
    done_ += got;
    if (context_.progress && done_ - told_ >= (std::uint64_t{1} << 20)) {
      told_ = done_;
      context_.progress(done_, inner_.total());
    }
    return got;
  }
  [[nodiscard]] std::uint64_t total() const override { return inner_.total(); }

 private:
  PriceText& inner_;
  const ImportContext& context_;
  std::uint64_t done_ = 0, told_ = 0;
};

ImportRun::ImportRun(PriceText& text, const ImportContext& context, const std::function<void(ImportedOffer&&)>& sink)
    : counted_(std::make_unique<Counted>(text, context)),
      text_(*counted_),
      context_(context),
      sink_(sink),
      names_(*context.catalog) {}

void ImportRun::row(std::string where) {
  where_ = std::move(where);
  ++summary_.read;
}

void ImportRun::count(std::map<std::string, ImportReason>& into, std::string_view id, std::string_view message) {
  std::string key = std::string(id) + '\n' + std::string(message);
  if (into.size() >= kMostMessages && !into.contains(key)) {
    key = std::string(id);
    message = "others of the same kind";
  }
  ImportReason& reason = into[key];
  if (reason.rows++ > 0) return;
  reason.id = id;
  reason.message = message;
  reason.example = where_;
  clean(reason.message);
  clean(reason.example);
}

void ImportRun::drop(std::string_view id, std::string_view message) { count(dropped_, id, message); }
void ImportRun::mend(std::string_view id, std::string_view message) { count(mended_, id, message); }

void ImportRun::without_price(ImportedOffer& offer, std::string_view why) {
  offer.price.reset();
  offer.rankable = false;
  offer.why_not = why;
}

void ImportRun::resolve(ImportedOffer& offer, const GpuClaim& claim) {
  const GpuMatch& match = names_.match(claim);
  if (match.memory_gib) offer.gpu_memory_gb = match.memory_gib;
  for (const GpuNote& note : match.mended) mend(note.id, note.message);
  if (match.gpu) {
    offer.gpu = match.gpu->name;
    return;
  }
  offer.gpu = claim.name;
  offer.rankable = false;
  if (offer.why_not.empty()) offer.why_not = match.why_not;
}

void ImportRun::keep(ImportedOffer offer) {
  if (offer.provider.empty()) offer.provider = required_provider();
  if (offer.observed_on.empty()) offer.observed_on = context_.observed_on;
  if (offer.source.empty()) offer.source = text_.origin();
  const bool of_tokens = offer.contract == Contract::token_api;
  if (offer.price && (*offer.price <= 0 || *offer.price > kBeyondMeasure)) {
    without_price(offer, *offer.price == 0 ? "the price is 0, which lists say where they know none"
                                           : "the price is negative or beyond all measure");
  }
  if (!of_tokens && offer.rankable && !offer.price) without_price(offer, "the list gives no price");
  if (offer.rankable && !of_tokens && !catalog().find_currency(offer.currency)) {
    offer.rankable = false;
    offer.why_not = "the catalogue has no rate for currency '" + offer.currency + "'";
  }
  if (offer.share && offer.rankable) {
    offer.rankable = false;
    offer.why_not = "a part of a GPU (" + format_shortest(*offer.share) + ")";
  }
  if (!of_tokens && offer.rankable && (offer.gpu.empty() || !offer.count)) {
    offer.rankable = false;
    offer.why_not = offer.gpu.empty() ? "no accelerator" : "the number of GPUs is not known";
  }
  clean(offer);
  ++summary_.kept;
  if (offer.rankable) {
    ++summary_.rankable;
  } else {
    count(unranked_, "prices.unranked", offer.why_not);
  }
  sink_(std::move(offer));
}

std::string ImportRun::provider_named(std::string_view name) {
  const auto found = providers_.find(name);
  if (found != providers_.end()) return found->second;
  const Provider* provider = catalog().find_provider(name);
  std::string known = provider ? std::string(provider->name) : to_lower(trim(name));
  return providers_.emplace(std::string(name), std::move(known)).first->second;
}

std::string ImportRun::required_provider() {
  if (context_.provider.empty()) {
    throw InputError(Problem{"prices.no_provider",
                             "the list does not say whose prices it has",
                             Place{text_.origin(), 0, 0},
                             "--provider NAME",
                             {},
                             {}});
  }
  return provider_named(context_.provider);
}

ImportSummary ImportRun::finish() {
  summary_.dropped = in_order(dropped_);
  summary_.mended = in_order(mended_);
  summary_.unranked = in_order(unranked_);
  return std::move(summary_);
}

std::optional<double> list_number(std::string_view text) {
  const auto number = parse_number(trim(text));
  if (!number.value || *number.value > kBeyondMeasure || *number.value < -kBeyondMeasure) return std::nullopt;
  return number.value;
}

std::optional<double> list_number(const nlohmann::json& value) {
  if (value.is_number()) {
    const auto number = value.get<double>();
    return number >= -kBeyondMeasure && number <= kBeyondMeasure ? std::optional(number) : std::nullopt;
  }
  if (value.is_string()) return list_number(std::string_view(value.get_ref<const std::string&>()));
  return std::nullopt;
}

std::optional<double> list_number(const nlohmann::json& object, std::string_view key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(std::string(key));
  return found == object.end() ? std::nullopt : list_number(*found);
}

std::string list_text(const nlohmann::json& object, std::string_view key) {
  if (!object.is_object()) return {};
  const auto found = object.find(std::string(key));
  if (found == object.end() || !found->is_string()) return {};
  return std::string(trim(found->get_ref<const std::string&>()));
}

std::string day_of(std::string_view time) {
  const std::string day(trim(time).substr(0, 10));
  return parse_date(day).value ? day : std::string{};
}

std::string upper_country(std::string_view text) {
  std::string code(trim(text));
  if (code.size() != 2) return {};
  for (char& c : code) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (c < 'A' || c > 'Z') return {};
  }
  return code;
}

}  // namespace gpuplan
