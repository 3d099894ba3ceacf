#include "flag_values.hpp"

namespace gpuplan::cli {
namespace {

// A filter of nothing would be no filter.
Taken refuse_empty(const std::vector<std::string>& parts, std::string_view text) {
  if (!parts.empty()) return std::nullopt;
  return Problem{"input.bad_value",
                 "no name in '" + std::string(text) + "'",
                 std::nullopt,
                 "one or more names, with commas between them",
                 {},
                 {}};
}

}  // namespace

Taken take_text(std::string_view text, std::string& into) {
  return take(parse_text(text), [&](const std::string& value) { into = value; });
}

Taken take_gpus(std::string_view text, std::vector<std::string>& into) {
  if (auto problem = refuse_empty(split(text, ','), text)) return problem;
  into.emplace_back(text);
  return std::nullopt;
}

Taken take_list(std::string_view text, std::vector<std::string>& into) {
  auto parts = split(text, ',');
  if (auto problem = refuse_empty(parts, text)) return problem;
  for (auto& part : parts) into.push_back(std::move(part));
  return std::nullopt;
}

Taken take_contracts(std::string_view text, std::vector<Contract>& into) {
  const auto parts = split(text, ',');
  if (auto problem = refuse_empty(parts, text)) return problem;
  for (const auto& part : parts) {
    if (auto problem = take(parse_contract(part), [&](Contract value) { into.push_back(value); })) return problem;
  }
  return std::nullopt;
}

Taken take_country(std::string_view text, std::string& into) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text.size() != 2 || !is_letter(text[0]) || !is_letter(text[1])) {
    return Problem{"input.bad_value",
                   "bad country '" + std::string(text) + "'",
                   std::nullopt,
                   "two letters, such as RU or DE",
                   {},
                   {}};
  }
  into = text;
  return std::nullopt;
}

Taken take_vat(std::string_view text, VatHandling& into) {
  if (text == "exclude") into = VatHandling::exclude;
  if (text == "include") into = VatHandling::include;
  if (text == "exclude" || text == "include") return std::nullopt;
  const auto percent = parse_non_negative(text.ends_with('%') ? text.substr(0, text.size() - 1) : text);
  if (percent.value && *percent.value <= 100) {
    into = VatHandling::at(*percent.value);
    return std::nullopt;
  }
  constexpr std::string_view kWords[] = {"exclude", "include"};
  return Problem{"input.bad_value",
                 "unknown way '" + std::string(text) + "' to count VAT",
                 std::nullopt,
                 "exclude, include, or a percentage up to 100",
                 nearest_name(text, kWords),
                 {}};
}

Taken take_rate(std::string_view text, std::vector<GivenRate>& into) {
  const auto refuse = [&](const std::string& what) {
    return Problem{"input.bad_value",
                   what + " in '" + std::string(text) + "'",
                   std::nullopt,
                   "CODE=UNITS[@DAY], such as RUB=84.34@2026-09-26: units for one US dollar",
                   {},
                   {}};
  };
  const std::size_t equals = text.find('=');
  if (equals != 3) return refuse("no currency code");
  GivenRate rate;
  for (const char c : text.substr(0, equals)) {
    const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    if (upper < 'A' || upper > 'Z') return refuse("no currency code");
    rate.currency += upper;
  }
  const std::size_t at = text.find('@', equals);
  const auto units = parse_positive(text.substr(equals + 1, at == std::string_view::npos ? at : at - equals - 1));
  if (!units.value || *units.value > 1e9 || *units.value < 1e-9) return refuse("no rate");
  rate.per_usd = *units.value;
  if (at != std::string_view::npos) {
    const auto day = parse_date(text.substr(at + 1));
    if (!day.value) return refuse("no day");
    rate.day = *day.value;
  }
  if (rate.currency == "USD") return refuse("the dollar is what rates are for");
  into.push_back(std::move(rate));
  return std::nullopt;
}

Taken take_framework(Options& o, std::string_view text) {
  if (text.find("==") != std::string_view::npos) return take_text(text, o.software);
  return take(parse_text(text), [&](const std::string& v) {
    o.said_of_training.emplace_back("framework");
    said(o.framework, v);
  });
}

TrainingSpec& of_training(Options& o, std::string_view flag) {
  o.said_of_training.emplace_back(flag);
  return o.training;
}

Residency& of_residency(Options& o, std::string_view flag) {
  o.said_of_residency.emplace_back(flag);
  return o.job.residency;
}

ServingLoad& of_load(Options& o, std::string_view flag) {
  o.said_of_load.emplace_back(flag);
  return o.job.load;
}

Taken take_request_rate(Options& o, std::string_view text) {
  return take(parse_positive(text), [&](double v) { of_load(o, "request-rate").request_rate = v; });
}

PartsJob& of_parts(Options& o, std::string_view flag) {
  o.said_of_parts.emplace_back(flag);
  return o.job.parts;
}

Taken take_offload(Options& o, std::string_view text) {
  const auto training = parse_training_offload(text);
  const auto parts = parse_offload(text);
  if (training.value) of_training(o, "offload").offload = *training.value;
  if (parts.value) o.job.parts.offload = *parts.value;
  if (training.value && parts.value) return std::nullopt;  // none
  if (parts.value) return take(parts, [&](Offload v) { of_parts(o, "offload").offload = v; });
  if (training.value) return std::nullopt;
  return Problem{
      training.id, training.message, std::nullopt, training.expected + "; model, sequential", training.nearest, {}};
}

}  // namespace gpuplan::cli
