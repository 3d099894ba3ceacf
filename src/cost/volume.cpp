#include <gpuplan/cost/break_even.hpp>

#include <algorithm>
#include <cmath>

namespace gpuplan {

std::optional<double> token_price(const Catalog& catalog, const Provider& provider, const TokenPrice& price,
                                  const TokenLoad& load, std::string_view currency, VatHandling vat) {
  const bool batch = load.batch && price.batch_input_per_1m.known() && price.batch_output_per_1m.known();
  const Fact<double>& input = batch ? price.batch_input_per_1m : price.input_per_1m;
  const Fact<double>& output = batch ? price.batch_output_per_1m : price.output_per_1m;
  if ((load.input > 0 && !input.known()) || (load.output > 0 && !output.known())) return std::nullopt;
  const double cached = load.input * std::clamp(load.cached_share, 0.0, 1.0);
  const double cached_price = batch ? input.or_else(0) : price.cached_input_per_1m.or_else(input.or_else(0));
  const double listed =
      ((load.input - cached) * input.or_else(0) + cached * cached_price + load.output * output.or_else(0)) / 1e6;
  const double share = provider.vat_percent.or_else(0) / 100;
  const double net = listed / (1 + (price.vat == Vat::included ? share : 0));
  return convert(catalog, {net, price.currency}, currency).amount * (1 + added_vat_share(vat, provider));
}

// k deployments carry k * capacity requests for k * rent. The service is dearer from rent / price on; where that is more than
// they carry, another one is rented. The volume is the least v with ceil(v / capacity) * rent <= v * price.
VolumeBreakEven break_even_volume(const VolumeInputs& in) {
  VolumeBreakEven result;
  result.service_per_request = in.per_request;
  if (in.requests_per_month <= 0) return result;
  result.rented_per_request = in.rented_per_month / in.requests_per_month;
  if (in.per_request <= 0 || result.rented_per_request > in.per_request) return result;
  const double alone = in.rented_per_month / in.per_request;  // at most one deployment's capacity, by the line above
  result.requests = alone;
  result.deployments = 1;
  // Just past a full deployment a second one is rented: renting stays cheaper if the service costs two rents there.
  result.rented_wins_from_there_on = in.requests_per_month * in.per_request >= 2 * in.rented_per_month;
  return result;
}

ServerlessCost serverless_cost(const ServerlessInputs& in, Explain* why) {
  ServerlessCost cost;
  if (in.requests_per_hour <= 0) return cost;
  const double rate = in.requests_per_hour / 3600;
  const double busy = in.busy / seconds(1);
  const double keep = in.keep_alive / seconds(1);
  const double cold = in.cold_start / seconds(1);
  cost.cold_share = std::exp(-rate * keep);
  // After a request the worker waits for the next one, at most `keep`: (1 - exp(-rate * keep)) / rate seconds on average.
  const double waits = -std::expm1(-rate * keep) / rate;
  const double billed = std::min(1.0, rate * (busy + waits + cost.cold_share * cold));
  cost.per_hour = billed * 3600 * in.per_second;
  cost.busy_share = billed > 0 ? std::min(1.0, rate * busy) / billed : 0;
  if (why) {
    why->term("serverless.per_hour", cost.per_hour,
              "min(1, rate * (busy + (1 - exp(-rate * keep)) / rate + exp(-rate * keep) * cold)) * 3600 * per_second",
              {{"rate", rate}, {"busy", busy}, {"keep", keep}, {"cold", cold}, {"per_second", in.per_second}},
              Unit::money);
  }
  return cost;
}

std::optional<double> break_even_requests(const ServerlessInputs& in, double per_hour) {
  const double most = in.busy > Seconds{} ? hours(1) / in.busy : 0;
  const auto cost_at = [&](double requests) {
    ServerlessInputs at = in;
    at.requests_per_hour = requests;
    return serverless_cost(at, nullptr).per_hour;
  };
  if (most <= 0 || cost_at(most) <= per_hour) return std::nullopt;
  double low = 0;
  double high = most;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (cost_at(middle) > per_hour ? high : low) = middle;
  }
  return high;
}

}  // namespace gpuplan
