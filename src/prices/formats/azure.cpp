// Retail prices: pages of {"Items": [...], "NextPageLink": ...}, a list of pages, or one item.
//
// The price of a reservation is the sum of its whole term, whatever its unit says. Windows is a product of its own with the
// same SKU name; so are low priority and spot. An item may carry savings plans.

#include "formats.hpp"
#include "instance_types.hpp"

#include <gpuplan/base/text.hpp>

namespace gpuplan {
namespace {

using Json = nlohmann::json;
constexpr std::string_view kSeller = "azure";  // product-name: a format
constexpr double kHoursPerYear = 8760;

bool mentions(const std::string& text, std::string_view word) { return text.find(word) != std::string::npos; }

double years_of(const std::string& term) {
  const auto years = list_number(std::string_view(term).substr(0, term.find(' ')));
  return years && mentions(term, "Year") ? *years : 0;
}

// `https://host` of an address.
std::string_view server_of(std::string_view address) {
  const std::size_t begin = address.find("://");
  if (begin == std::string_view::npos) return {};
  return address.substr(0, address.find('/', begin + 3));
}

class AzureReader {
 public:
  explicit AzureReader(ImportRun& run) : run_(run) {}

  void read() {
    read_page(run_.text());
    if (!any_) refuse_format(run_.text(), "no items in the document", R"({"Items": [...]})");
    for (int pages = 1; !next_.empty() && run_.context().next_page && pages < 10000; ++pages) {
      const std::string address = std::exchange(next_, {});
      if (server_of(address) != server_of(run_.text().origin())) {
        next_ = address;
        break;
      }
      const auto page = run_.context().next_page(address);
      read_page(*page);
    }
    if (!next_.empty())
      run_.mend("prices.more_pages", "the answer is one page of several, and the next was not read: NextPageLink");
  }

 private:
  void read_page(PriceText& text) {
    Json alone = Json::object();
    stream_json(text, {{"Items", "*"}, {"", "Items", "*"}, {"NextPageLink"}, {"", "NextPageLink"}, {"="}},
                [&](const JsonItem& item) {
                  if (item.pattern == 2 || item.pattern == 3) {
                    next_ = item.value.is_string() ? item.value.get<std::string>() : "";
                  } else if (item.pattern == 4) {
                    if (alone.size() < 1000) alone[item.path.back()] = item.value;
                  } else if (item.value.is_object()) {
                    any_ = true;
                    take(item.value);
                  }
                });
    any_ = any_ || alone.contains("BillingCurrency");
    if (alone.contains("armSkuName")) {
      any_ = true;
      take(alone);
    }
  }

  void take(const Json& item) {
    const std::string sku = list_text(item, "armSkuName");
    const std::string product = list_text(item, "productName");
    const std::string name = list_text(item, "skuName") + " " + list_text(item, "meterName");
    const std::string type = list_text(item, "type");
    run_.row(sku + " " + list_text(item, "armRegionName"));
    const InstanceType* known = find_instance_type(sku);
    if (!known) {
      // What has a card's name in it and is not known is said, for its prices are missing.
      return run_.drop("prices.no_gpu", mentions(sku, "Standard_N") ? "a type of machine that we do not know: " + sku
                                                                    : "a machine without accelerator");
    }
    if (mentions(product, "Windows")) return run_.drop("prices.other_system", "Windows");
    if (mentions(name, "Low Priority")) return run_.drop("prices.low_priority", "low priority, which spot replaced");
    if (type != "Consumption" && type != "Reservation") return run_.drop("prices.other_term", "of type " + type);
    ImportedOffer offer;
    offer.provider = run_.provider_named(kSeller);
    offer.product = sku;
    offer.region = list_text(item, "armRegionName");
    offer.interconnect = known->interconnect;
    offer.currency = list_text(item, "currencyCode");
    offer.observed_on = run_.context().observed_on;
    offer.confidence = Confidence::published;
    offer.vat = Vat::excluded;
    if (known->count > 0) {
      offer.count = known->count;
      run_.resolve(offer, {known->gpu, std::nullopt, known->count, sku, false});
    } else {
      offer.gpu = known->gpu;
      offer.share = known->share;
    }
    if (offer.currency.empty()) offer.currency = "USD";
    offer.price = list_number(item, "retailPrice");
    if (type == "Reservation") return take_reservation(item, offer);
    if (list_text(item, "unitOfMeasure") != "1 Hour")
      return run_.drop("prices.other_unit", "a unit that is not an hour");
    if (mentions(name, "Spot")) offer.contract = Contract::spot;
    take_savings_plans(item, offer);
    run_.keep(std::move(offer));
  }

  void take_reservation(const Json& item, ImportedOffer offer) {
    const double years = years_of(list_text(item, "reservationTerm"));
    if (years <= 0 || !offer.price) return run_.drop("prices.other_term", "a reservation without a term in years");
    run_.mend("prices.reservation_total",
              "a reservation's price is of the whole term, though its unit says an hour: spread");
    *offer.price /= years * kHoursPerYear;
    offer.contract = Contract::reserved;
    offer.term = to_lower(list_text(item, "reservationTerm"));
    offer.term_months = years * 12;
    run_.keep(std::move(offer));
  }
  void take_savings_plans(const Json& item, const ImportedOffer& offer) {
    const auto plans = item.find("savingsPlan");
    if (plans == item.end() || !plans->is_array()) return;
    for (const Json& plan : *plans) {
      const double years = years_of(list_text(plan, "term"));
      ImportedOffer saved = offer;
      saved.price = list_number(plan, "retailPrice");
      if (years <= 0 || !saved.price) continue;
      saved.contract = Contract::reserved;
      saved.term = to_lower(list_text(plan, "term")) + ", savings plan";
      saved.term_months = years * 12;
      run_.keep(std::move(saved));
    }
  }

  ImportRun& run_;
  bool any_ = false;
  std::string next_;
};

}  // namespace

void read_azure(ImportRun& run) { AzureReader(run).read(); }

}  // namespace gpuplan
