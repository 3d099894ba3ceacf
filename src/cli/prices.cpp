#include "commands.hpp"
#include "output.hpp"
#include "resolve.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/prices/store.hpp>
#include <gpuplan/report/build.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include <unistd.h>

namespace gpuplan::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(std::string id, std::string message, std::string expected, std::string nearest = {}) {
  throw InputError(
      Problem{std::move(id), std::move(message), std::nullopt, std::move(expected), std::move(nearest), {}});
}

// What a subcommand is given.
struct Call {
  const Options& options;
  const Environment& environment;
  const Catalog& catalog;
  std::string store;
  std::vector<std::string> words;  // behind the subcommand
  std::vector<std::string> notices;
};

// The time of the import; SOURCE_DATE_EPOCH stands for it where runs must be alike.
std::string timestamp(const Environment& environment) {
  std::time_t now = std::time(nullptr);
  if (environment.variable) {
    const auto fixed = parse_count_or_zero(environment.variable("SOURCE_DATE_EPOCH"));
    if (fixed.value && *fixed.value < 253402300800) now = static_cast<std::time_t>(*fixed.value);
  }
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// A bar over itself on a terminal, a line every few seconds in a log; nothing for what is quick.
class Progress {
 public:
  explicit Progress(std::string what) : what_(std::move(what)), begin_(Clock::now()), told_(begin_) {}
  ~Progress() {
    if (on_terminal_ && shown_) write_error("\n");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void operator()(std::uint64_t done, std::uint64_t total) {
    const auto now = Clock::now();
    const auto pause = on_terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(5000);
    if (now - begin_ < std::chrono::seconds(1) || now - told_ < pause) return;
    told_ = now;
    shown_ = true;
    std::string line = "gpuplan: " + what_ + ": ";
    if (total > 0) {
      const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
      const auto full = static_cast<std::size_t>(share * 30);
      line += "[" + std::string(full, '#') + std::string(30 - full, ' ') + "] " +
              format_whole(std::floor(share * 100)) + " %, ";
    }
    line += format_bytes(bytes(static_cast<double>(done)));
    write_error(on_terminal_ ? "\r" + line : line + "\n");
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  Clock::time_point begin_, told_;
  bool on_terminal_ = ::isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
};

const PriceFormat& format_named(const std::string& name) {
  if (const PriceFormat* format = find_price_format(name)) return *format;
  std::vector<std::string> all;
  std::vector<std::string_view> views;
  for (const PriceFormat& format : price_formats()) {
    all.emplace_back(format.name);
    views.push_back(format.name);
  }
  refuse("input.unknown_name", "unknown format '" + name + "'", join(all, ", "), nearest_name(name, views));
}

// A catalogue's file says whose it is: aws.csv, aws/vms.csv.
std::string provider_of_file(const Catalog& catalog, const std::string& place) {
  const fs::path path(place.substr(0, place.find_first_of("?#")));
  for (const std::string& name : {path.stem().string(), path.parent_path().filename().string()}) {
    if (!name.empty() && catalog.find_provider(name)) return name;
  }
  return {};
}

Outcome import(Call& call) {
  if (call.words.size() != 2) {
    refuse("usage.missing_word", "import takes a format and a file, an address or -",
           "gpuplan prices import FORMAT FILE; 'gpuplan prices formats' names the formats");
  }
  const PriceFormat& format = format_named(call.words[0]);
  const std::string& place = call.words[1];
  const HttpSettings http = hub_access(call.environment)().http;
  if (call.options.providers.size() > 1) refuse("input.bad_value", "a list is of one provider", "--provider NAME");
  std::string provider = call.options.providers.empty() ? "" : call.options.providers.front();
  if (provider.empty() && !format.needs.empty()) provider = provider_of_file(call.catalog, place);
  const auto text = open_price_list(place, http);

  ImportContext context;
  context.catalog = &call.catalog;
  context.provider = provider;
  if (call.options.as_of) context.observed_on = to_string(*call.options.as_of);
  Progress progress(text->origin());
  context.progress = [&](std::uint64_t done, std::uint64_t total) { progress(done, total); };
  context.next_page = [&](const std::string& address) { return open_price_list(address, http); };

  Snapshot snapshot;
  snapshot.format = format.name;
  snapshot.source = call.options.import_as;
  if (snapshot.source.empty()) {
    snapshot.source = format.name;
    if (!format.needs.empty() && !provider.empty()) snapshot.source += ":" + to_lower(provider);
    if (format.name == "csv" && place != "-") snapshot.source += ":" + fs::path(place).stem().string();
  }
  snapshot.origin = text->origin();
  snapshot.imported_at = timestamp(call.environment);

  PriceStore store(call.store, PriceStore::Use::write);
  SnapshotWriter writer(store, call.catalog, snapshot);
  ImportSummary summary = import_prices(format, *text, context, [&](ImportedOffer&& offer) { writer.add(offer); });
  const Snapshot done = writer.commit(summary);
  Outcome outcome;
  outcome.document = list_import(summary, done, call.store);
  return outcome;
}

StoreQuery query_of(Call& call) {
  StoreQuery query;
  std::vector<Problem> problems;
  for (const std::string& text : call.options.gpus) {
    auto members = call.catalog.select_accelerators(text);
    std::vector<std::string> parts = {text};
    if (members.empty()) parts = split(text, ',');
    for (const std::string& name : parts) {
      members = call.catalog.select_accelerators(name);
      if (members.empty()) {
        problems.push_back({"input.unknown_name",
                            "unknown accelerator '" + name + "'",
                            Place{"--gpu", 0, 0},
                            "a name, alias or family from the catalogue (see 'gpuplan gpus')",
                            call.catalog.nearest_accelerator(name),
                            {}});
      }
      for (const Accelerator* gpu : members) query.gpus.emplace_back(gpu->name);
    }
  }
  for (const std::string& name : call.options.providers) {
    const Provider* known = call.catalog.find_provider(name);
    query.providers.push_back(known ? std::string(known->name) : to_lower(name));
  }
  query.contracts = call.options.contracts;
  query.region = call.options.region;
  query.country = call.options.country;
  query.text = join(call.words, " ");
  query.limit = call.options.top.value_or(0);
  if (!call.catalog.find_currency(call.options.currency)) {
    problems.push_back({"input.unknown_name",
                        "unknown currency '" + call.options.currency + "'",
                        Place{"--currency", 0, 0},
                        {},
                        call.catalog.nearest_currency(call.options.currency),
                        {}});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return query;
}

void take_no_words(const Call& call) {
  if (call.words.empty()) return;
  refuse("usage.unexpected_word", "unexpected '" + call.words.front() + "'", "see 'gpuplan help prices'");
}

Outcome list(Call& call) {
  const StoreQuery query = query_of(call);
  PriceStore store(call.store, PriceStore::Use::read);
  Outcome outcome;
  outcome.document = list_stored_offers(call.catalog, store.offers(query),
                                        call.catalog.find_currency(call.options.currency)->currency);
  return outcome;
}

Outcome history(Call& call) {
  const StoreQuery query = query_of(call);
  PriceStore store(call.store, PriceStore::Use::read);
  Outcome outcome;
  outcome.document = list_history(call.catalog, price_history(store, query),
                                  call.catalog.find_currency(call.options.currency)->currency);
  return outcome;
}

Outcome diff(Call& call) {
  if (call.words.size() != 2)
    refuse("usage.missing_word", "diff takes two snapshots",
           "gpuplan prices diff A B; 'gpuplan prices snapshots' numbers them");
  std::vector<std::int64_t> ids;
  for (const std::string& word : call.words) {
    const auto id = parse_count(word);
    if (!id.value) refuse("input.bad_value", "bad snapshot '" + word + "'", "a number from 'gpuplan prices snapshots'");
    ids.push_back(*id.value);
  }
  PriceStore store(call.store, PriceStore::Use::read);
  Outcome outcome;
  outcome.document = list_differences(compare_snapshots(store, ids[0], ids[1]));
  return outcome;
}

Outcome lint(Call& call) {
  const StoreQuery query = query_of(call);
  PriceStore store(call.store, PriceStore::Use::read);
  Outcome outcome;
  outcome.document = list_findings(lint_prices(call.catalog, store.offers(query)));
  return outcome;
}

Outcome snapshots(Call& call) {
  take_no_words(call);
  PriceStore store(call.store, PriceStore::Use::read);
  Outcome outcome;
  outcome.document = list_snapshots(store.snapshots());
  return outcome;
}

Outcome prune(Call& call) {
  take_no_words(call);
  if (!call.options.keep) refuse("usage.missing_value", "prune needs to know how many snapshots stay", "--keep N");
  (void)PriceStore(call.store, PriceStore::Use::read);  // that there is one
  PriceStore store(call.store, PriceStore::Use::write);
  const std::int64_t gone = store.prune(*call.options.keep);
  Outcome outcome;
  ListDocument left = list_snapshots(store.snapshots());
  left.note = std::to_string(gone) + (gone == 1 ? " snapshot" : " snapshots") + " deleted";
  outcome.document = std::move(left);
  return outcome;
}

Outcome export_all(Call& call) {
  const StoreQuery query = query_of(call);
  PriceStore store(call.store, PriceStore::Use::read);
  Outcome outcome;
  outcome.document = export_stored_offers(store.offers(query));
  if (call.options.format == Format::table) outcome.format = Format::csv;
  return outcome;
}

Outcome formats(Call& call) {
  take_no_words(call);
  Outcome outcome;
  outcome.document = list_price_formats();
  return outcome;
}

struct Subcommand {
  std::string_view name;
  Outcome (*run)(Call&);
};
constexpr Subcommand kSubcommands[] = {{"import", import}, {"list", list},         {"history", history},
                                       {"diff", diff},     {"lint", lint},         {"snapshots", snapshots},
                                       {"prune", prune},   {"export", export_all}, {"formats", formats}};

}  // namespace

Outcome run_prices(const Options& options, const Environment& environment) {
  std::vector<std::string> names;
  std::vector<std::string_view> views;
  for (const Subcommand& one : kSubcommands) {
    names.emplace_back(one.name);
    views.push_back(one.name);
  }
  if (options.words.empty())
    refuse("usage.missing_word", "'gpuplan prices' needs to know what to do", join(names, ", "));
  for (const Subcommand& one : kSubcommands) {
    if (one.name != options.words.front()) continue;
    std::vector<std::string> notices;
    const Catalog catalog = load_layers(options, environment, notices);
    Call call{options, environment, catalog, store_path(options, environment), {}, {}};
    call.words.assign(options.words.begin() + 1, options.words.end());
    if (call.store.empty())
      refuse("store.not_found", "there is no place for the price store: HOME is not set", "--store FILE");
    Outcome outcome = one.run(call);
    outcome.notices.insert(outcome.notices.begin(), notices.begin(), notices.end());
    return outcome;
  }
  refuse("usage.unknown_command", "unknown 'gpuplan prices " + options.words.front() + "'", join(names, ", "),
         nearest_name(options.words.front(), views));
}

}  // namespace gpuplan::cli
