#pragma once
// How the texts of flags become values; each says what is wrong with a text, or nothing.

#include "options.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuplan::cli {

using Taken = std::optional<Problem>;

template <class T, class Set>
Taken take(const Parsed<T>& parsed, Set set) {
  if (!parsed.value) return Problem{parsed.id, parsed.message, std::nullopt, parsed.expected, parsed.nearest, {}};
  set(*parsed.value);
  return std::nullopt;
}

template <class T>
void said(Setting<T>& setting, T value) {
  setting = {std::move(value), false};
}

template <class E, std::size_t N>
Parsed<E> one_of(std::string_view text, const std::array<std::pair<std::string_view, E>, N>& words) {
  std::vector<std::string> all;
  std::vector<std::string_view> views;
  for (const auto& [word, value] : words) {
    if (word == text) return Parsed<E>::ok(value);
    all.emplace_back(word);
    views.push_back(word);
  }
  return Parsed<E>::fail("unknown value '" + std::string(text) + "'", join(all, ", "), nearest_name(text, views),
                         "input.unknown_name");
}

template <class T>
Taken take_choice(const Parsed<T>& parsed, Chosen<T>& into) {
  return take(parsed, [&](const T& value) { into.choose(value); });
}

inline constexpr std::array<std::pair<std::string_view, Format>, 6> kFormats = {{{"table", Format::table},
                                                                                 {"json", Format::json},
                                                                                 {"csv", Format::csv},
                                                                                 {"markdown", Format::markdown},
                                                                                 {"html", Format::html},
                                                                                 {"svg", Format::svg}}};

Taken take_text(std::string_view text, std::string& into);
// Names may hold commas: the text is taken apart where the catalogue is known.
Taken take_gpus(std::string_view text, std::vector<std::string>& into);
Taken take_list(std::string_view text, std::vector<std::string>& into);
Taken take_contracts(std::string_view text, std::vector<Contract>& into);
Taken take_country(std::string_view text, std::string& into);
// exclude, include, or the percentage that every net price is compared with.
Taken take_vat(std::string_view text, VatHandling& into);
// RUB=84.34@2026-09-26: so many units of the currency for one dollar, on that day.
Taken take_rate(std::string_view text, std::vector<GivenRate>& into);
// The training framework, or with == the release of a framework that offers must run.
Taken take_framework(Options& o, std::string_view text);
TrainingSpec& of_training(Options& o, std::string_view flag);
Residency& of_residency(Options& o, std::string_view flag);
ServingLoad& of_load(Options& o, std::string_view flag);
Taken take_request_rate(Options& o, std::string_view text);
PartsJob& of_parts(Options& o, std::string_view flag);
// The flag means one thing to a training job and another to a network that is run by its parts.
Taken take_offload(Options& o, std::string_view text);

}  // namespace gpuplan::cli
