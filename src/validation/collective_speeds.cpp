// Constants of links in a catalogue and in the text of data/links.yaml.

#include "three_digits.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/validation/collectives.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace gpuplan {
namespace {

struct ChangedLinks {
  std::vector<Link> links;
  std::vector<std::vector<CollectiveSpeed>> speeds;
  std::vector<std::string> names;
};

CollectiveSpeed record_of(const FittedSpeed& fitted) {
  const auto time = [](bool seen, Seconds value) {
    return seen ? Fact<Seconds>{value, Mark::derived, 0} : Fact<Seconds>{};
  };
  const auto number = [](double value) { return value > 0 ? Fact<double>{value, Mark::derived, 0} : Fact<double>{}; };
  const LevelSpeed& s = fitted.speed;
  CollectiveSpeed r;
  r.algorithm = fitted.algorithm;
  r.launch = time(fitted.words, s.launch);
  r.hop = time(fitted.words, s.hop);
  r.efficiency = number(fitted.words ? s.efficiency : 0);
  r.bulk_launch = time(fitted.bulk, s.bulk_launch);
  r.bulk_hop = time(fitted.bulk, s.bulk_hop);
  r.bulk_efficiency = number(fitted.bulk ? s.bulk_efficiency : 0);
  r.pair_efficiency = number(s.pair_efficiency);
  r.copy_efficiency = number(s.copy_efficiency);
  r.rows = {fitted.rows, Mark::derived, 0};
  r.systems = {fitted.systems, Mark::derived, 0};
  return r;
}

// Facts that are said replace those that were.
CollectiveSpeed over(const CollectiveSpeed& before, const CollectiveSpeed& after) {
  CollectiveSpeed r = after;
  const auto keep = [](auto& fact, const auto& old) {
    if (!fact.known()) fact = old;
  };
  keep(r.launch, before.launch);
  keep(r.hop, before.hop);
  keep(r.efficiency, before.efficiency);
  keep(r.bulk_launch, before.bulk_launch);
  keep(r.bulk_hop, before.bulk_hop);
  keep(r.bulk_efficiency, before.bulk_efficiency);
  keep(r.pair_efficiency, before.pair_efficiency);
  keep(r.copy_efficiency, before.copy_efficiency);
  return r;
}

// @param anew  what was fitted before is forgotten
Catalog changed(const Catalog& catalog, std::span<const FittedSpeed> speeds, bool anew) {
  auto owned = std::make_shared<ChangedLinks>();
  owned->links.assign(catalog.links().begin(), catalog.links().end());
  owned->speeds.resize(owned->links.size());
  owned->names.reserve(speeds.size());
  for (std::size_t i = 0; i < owned->links.size(); ++i) {
    for (const CollectiveSpeed& kept : owned->links[i].collectives) {
      if (!anew || kept.rows.or_else(0) == 0) owned->speeds[i].push_back(kept);
    }
  }
  for (const FittedSpeed& fitted : speeds) {
    for (std::size_t i = 0; i < owned->links.size(); ++i) {
      if (owned->links[i].name != fitted.link) continue;
      CollectiveSpeed record = record_of(fitted);
      record.algorithm = owned->names.emplace_back(fitted.algorithm);
      auto& own = owned->speeds[i];
      const auto before = std::find_if(own.begin(), own.end(),
                                       [&](const CollectiveSpeed& s) { return s.algorithm == record.algorithm; });
      if (before == own.end()) {
        own.push_back(record);
      } else {
        *before = anew ? record : over(*before, record);
      }
    }
  }
  for (std::size_t i = 0; i < owned->links.size(); ++i) owned->links[i].collectives = owned->speeds[i];
  CatalogView view;
  view.accelerators = catalog.accelerators();
  view.links = owned->links;
  view.nodes = catalog.nodes();
  view.models = catalog.models();
  view.engines = catalog.engines();
  view.training_frameworks = catalog.training_frameworks();
  view.runtimes = catalog.runtimes();
  view.providers = catalog.providers();
  view.storage_classes = catalog.storage_classes();
  view.framework_releases = catalog.framework_releases();
  view.cuda_releases = catalog.cuda_releases();
  view.owned_hardware = catalog.owned_hardware();
  view.energy = catalog.energy();
  view.failure_studies = catalog.failure_studies();
  view.format_qualities = catalog.format_qualities();
  view.use_cases = catalog.use_cases();
  view.currencies = catalog.currencies();
  view.sources = catalog.sources();
  view.hash = catalog.hash();
  return catalog_from(view, owned);
}

}  // namespace

Catalog with_speeds(const Catalog& catalog, std::span<const FittedSpeed> speeds) {
  return changed(catalog, speeds, true);
}
Catalog over_speeds(const Catalog& catalog, std::span<const FittedSpeed> speeds) {
  return changed(catalog, speeds, false);
}

std::string collective_line(const FittedSpeed& f) {
  const LevelSpeed& s = f.speed;
  std::string line = "      - {algorithm: " + f.algorithm;
  const auto add = [&](std::string_view key, double value) {
    line += ", " + std::string(key) + ": " + format_shortest(value);
  };
  const auto add_time = [&](std::string_view key, Seconds value) { add(key, three_digits(value / microseconds(1))); };
  if (f.words) {
    add_time("launch_us", s.launch);
    add_time("hop_us", s.hop);
    if (s.efficiency > 0) add("efficiency", s.efficiency);
  }
  if (f.bulk) {
    add_time("bulk_launch_us", s.bulk_launch);
    add_time("bulk_hop_us", s.bulk_hop);
    if (s.bulk_efficiency > 0) add("bulk_efficiency", s.bulk_efficiency);
  }
  if (s.pair_efficiency > 0) add("pair_efficiency", s.pair_efficiency);
  if (s.copy_efficiency > 0) add("copy_efficiency", s.copy_efficiency);
  add("rows", static_cast<double>(f.rows));
  add("systems", static_cast<double>(f.systems));
  return line + "}\n";
}

std::string with_speeds(std::string_view links_yaml, std::span<const FittedSpeed> speeds) {
  constexpr std::string_view kName = "  - name: ";
  std::string result;
  std::string name;
  while (!links_yaml.empty()) {
    const std::string_view line = links_yaml.substr(0, links_yaml.find('\n'));
    links_yaml.remove_prefix(std::min(links_yaml.size(), line.size() + 1));
    if (line.substr(0, kName.size()) == kName) name = trim(line.substr(kName.size()));
    const bool fitted_line =
        line.find("- {algorithm: ") != std::string_view::npos && line.find(", rows: ") != std::string_view::npos;
    if (fitted_line) continue;
    const bool heads = line == "    collectives:";
    if (!heads) result += std::string(line) + "\n";
    const bool shape = line.substr(0, 11) == "    shape: ";
    const bool has_own = links_yaml.substr(0, 17) == "    collectives:\n";
    if (!(heads || (shape && !has_own))) continue;
    std::string lines;
    for (const FittedSpeed& f : speeds) {
      if (f.link == name) lines += collective_line(f);
    }
    // Lines by hand that follow need their head too.
    const bool by_hand = heads && links_yaml.substr(0, 20) == "      - {algorithm: ";
    if (!lines.empty() || by_hand) result += "    collectives:\n" + lines;
  }
  return result;
}

}  // namespace gpuplan
