#include <gpuplan/catalog/use_cases.hpp>

#include "names.hpp"

#include <gpuplan/base/parse.hpp>

#include <algorithm>
#include <set>

namespace gpuplan {
namespace {

Parsed<double> parse_share(std::string_view text) {
  const auto share = parse_non_negative(text);
  if (share.value && *share.value <= 1) return share;
  return Parsed<double>::fail("no share '" + std::string(text) + "'", "a number from 0 to 1");
}

Parsed<Seconds> parse_plain_seconds(std::string_view text) {
  const auto number = parse_non_negative(text);
  if (!number.value) return Parsed<Seconds>::fail(number.message, "seconds");
  return Parsed<Seconds>::ok(seconds(*number.value));
}

UseCase read_use_case(Reader& in) {
  UseCase use;
  use.name = in.required("name", parse_text);
  use.title = in.required("title", parse_text);
  use.aliases = in.list("aliases", parse_text);
  use.active_share = in.optional("active_share", parse_share);
  use.think = in.optional("think_s", parse_plain_seconds);
  use.input = in.optional("input", parse_count);
  use.output = in.optional("output", parse_count);
  use.prefix_hit = in.optional("prefix_hit", parse_share);
  use.ttft = in.optional("ttft_s", parse_plain_seconds);
  use.tpot = in.optional("tpot_s", parse_plain_seconds);
  use.e2e = in.optional("e2e_s", parse_plain_seconds);
  use.assumed = in.list("from_memory", parse_text);
  use.notes = in.required("notes", parse_text);
  use.source = in.required("source", parse_text);
  use.observed_on = in.optional("observed_on", parse_text).value_or("");
  in.done();
  return use;
}

}  // namespace

std::vector<UseCase> read_use_cases(const Node& document, std::string_view origin) {
  Reader in(document, origin);
  const std::string collected = in.optional("collected_on", parse_text).value_or("");
  std::vector<UseCase> all;
  std::set<std::string> names;
  for (Reader& reader : in.each("use_cases")) {
    UseCase use = read_use_case(reader);
    if (use.observed_on.empty()) use.observed_on = collected;
    std::vector<std::string> own = use.aliases;
    own.push_back(use.name);
    for (const std::string& name : own) {
      if (names.insert(lookup_key(name)).second) continue;
      reader.problem({"input.duplicate_name",
                      "'" + name + "' is the name of two use cases",
                      reader.place_of("name"),
                      "each name once",
                      {},
                      {}});
    }
    all.push_back(std::move(use));
  }
  in.done();
  in.finish();
  return all;
}

const UseCase* find_use_case(std::span<const UseCase> use_cases, std::string_view name) {
  const std::string key = lookup_key(name);
  for (const UseCase& use : use_cases) {
    const bool alias = std::any_of(use.aliases.begin(), use.aliases.end(),
                                   [&](const std::string& other) { return lookup_key(other) == key; });
    if (alias || lookup_key(use.name) == key) return &use;
  }
  return nullptr;
}

}  // namespace gpuplan
