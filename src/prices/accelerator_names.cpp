#include "accelerator_names.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace gpuplan {
namespace {

using Candidates = std::vector<const Accelerator*>;

constexpr double kMemoryTolerance = 0.10;  // label, ECC, driver's share: up to 9 % apart

// A name taken apart: what it is called, and what it says of form factor and memory.
struct NameParts {
  std::string base;
  std::string form;  // as in the catalogue: sxm, pcie, nvl
  std::optional<double> memory_gib;
};

constexpr std::array<std::string_view, 11> kMakers = {"nvidia",   "amd", "intel",    "geforce", "tesla", "radeon",
                                                      "instinct", "ati", "graphics", "gpu",     "gpus"};
constexpr std::array<std::string_view, 6> kMemoryWords = {"hbm2", "hbm2e", "hbm3", "hbm3e", "gddr6", "mega"};

std::optional<std::string> form_of(const std::string& word) {
  if (word.starts_with("sxm") || word == "nvlink") return "sxm";
  if (word == "pcie" || word == "pci") return "pcie";
  if (word == "nvl") return "nvl";
  return std::nullopt;
}

std::optional<double> gib_of(std::string word) {
  for (const std::string_view unit : {"gib", "gb", "g"}) {
    if (!word.ends_with(unit)) continue;
    word.resize(word.size() - unit.size());
    const auto number = parse_number(word);
    if (number.value && *number.value > 0 && *number.value < 10000) return number.value;
    return std::nullopt;
  }
  return std::nullopt;
}

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (c == ' ' || c == '-' || c == '_' || c == '(' || c == ')' || c == ',') {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool is_whole_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Marketplaces shorten "Super": 4070S is the 4070 Super, 4070S Ti the 4070 Ti Super.
void spell_out_super(std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string& word = words[i];
    if (word.size() != 5 || word.back() != 's' || !is_whole_number(word.substr(0, 4))) continue;
    word.pop_back();
    const bool has_ti = i + 1 < words.size() && words[i + 1] == "ti";
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(i) + (has_ti ? 2 : 1), "super");
    return;
  }
}

NameParts take_apart(std::string_view name, bool without_makers) {
  NameParts parts;
  std::vector<std::string> words = words_of(name);
  spell_out_super(words);
  for (const std::string& word : words) {
    const auto among = [&](const auto& list) { return std::find(list.begin(), list.end(), word) != list.end(); };
    if (const auto form = form_of(word)) {
      parts.form = *form;
    } else if (const auto memory = gib_of(word)) {
      parts.memory_gib = memory;
    } else if (!among(kMemoryWords) && !(without_makers && among(kMakers))) {
      parts.base += (parts.base.empty() ? "" : " ") + word;
    }
  }
  return parts;
}

double label_gib(const Accelerator& gpu) {
  // The number on the box: decimal GB on paper, GiB in truth for cards (docs of the facts).
  if (gpu.memory_label.known()) return gpu.memory_label.value / gigabytes(1);
  return gpu.memory.known() ? gpu.memory.value / gibibytes(1) : 0;
}

double distance(const Accelerator& gpu, double gib) {
  const auto off = [&](double own) { return own > 0 ? std::abs(gib / own - 1) : 1e9; };
  const double reported = gpu.memory.known() ? gpu.memory.value / gibibytes(1) : 0;
  return std::min(off(label_gib(gpu)), off(reported));
}

void keep_near(Candidates& candidates, double gib) {
  double nearest = 1e9;
  for (const Accelerator* gpu : candidates) nearest = std::min(nearest, distance(*gpu, gib));
  if (nearest > kMemoryTolerance) {
    candidates.clear();
    return;
  }
  std::erase_if(candidates, [&](const Accelerator* gpu) { return distance(*gpu, gib) > nearest + 0.02; });
}

bool has_form(const Accelerator& gpu, std::string_view form) { return gpu.form_factor.find(form) != Text::npos; }

void keep_form(Candidates& candidates, std::string_view form) {
  Candidates fitting;
  for (const Accelerator* gpu : candidates) {
    const bool nvl = lookup_key(gpu->name).find("nvl") != std::string::npos;
    const bool fits = form == "nvl" ? nvl : has_form(*gpu, form) && !(form == "pcie" && nvl);
    if (fits) fitting.push_back(gpu);
  }
  if (!fitting.empty()) candidates = std::move(fitting);
}

// The product `v100-pcie` of a row whose accelerator is the V100: the one member of the family that it names.
void keep_product(const Catalog& catalog, const std::string& product, const std::string& base, Candidates& candidates) {
  const std::string key = lookup_key(base);
  if (key.empty() || lookup_key(product).find(key) == std::string::npos) return;
  Candidates named = catalog.select_accelerators(product);
  if (named.size() == 1 && named.front()->family == candidates.front()->family) candidates = std::move(named);
}

std::string shown_gib(double gib) { return format_significant(gib, 3) + " GiB"; }

std::string names_of(const Candidates& candidates) {
  std::vector<std::string> names;
  for (const Accelerator* gpu : candidates) names.emplace_back(gpu->name);
  return join(names, ", ");
}

// A name without the maker's words, for RTX 6000 is a name of three generations.
std::string bare_key(std::string_view name) {
  std::string base = take_apart(name, true).base;
  if (base.starts_with("quadro ")) base.erase(0, 7);
  return lookup_key(base);
}

// The name's usual memory is another: sisters of the same form with that memory, else other cards of that name.
Candidates others_with_memory(const Catalog& catalog, std::string_view name, const Accelerator& usual, double gib) {
  Candidates sisters, namesakes;
  for (const Accelerator& gpu : catalog.accelerators()) {
    if (&gpu == &usual) continue;
    const bool kin = (!gpu.family.empty() && lookup_key(gpu.family) == lookup_key(usual.family)) ||
                     lookup_key(gpu.name).starts_with(lookup_key(usual.name));
    if (kin && gpu.form_factor == usual.form_factor) sisters.push_back(&gpu);
    if (bare_key(gpu.name) == bare_key(name)) namesakes.push_back(&gpu);
  }
  keep_near(sisters, gib);
  if (!sisters.empty()) return sisters;
  keep_near(namesakes, gib);
  return namesakes;
}

struct Reading {
  double factor = 1;  // what the list's number has to be multiplied with
  std::string_view id, message;
};

// What lists are known to do with memory, from the least wrong to the most.
std::vector<Reading> readings_of(std::int64_t count) {
  const auto n = static_cast<double>(std::max<std::int64_t>(count, 1));
  std::vector<Reading> all = {{1, {}, {}},
                              {1024, "prices.gb_as_mib", "memory in a field of MiB is in GB: taken as GB"}};
  if (count > 1) {
    all.push_back({1 / n, "prices.memory_summed", "memory is the sum over the GPUs: divided by their number"});
    all.push_back({1 / (n * n), "prices.memory_multiplied_twice",
                   "memory was multiplied by the number of GPUs twice: divided by its square"});
    all.push_back(
        {1024 / n, "prices.gb_as_mib_summed", "memory is in GB and summed over the GPUs: divided by their number"});
  }
  return all;
}

}  // namespace

const GpuMatch& AcceleratorNames::match(const GpuClaim& claim) {
  std::string key = claim.name + '\n' + claim.machine + '\n' + std::to_string(claim.count) + '\n' +
                    (claim.memory_gib ? std::to_string(std::llround(*claim.memory_gib * 1024)) : "") +
                    (claim.measured ? "m" : "") + '\n' + claim.product;
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  return known_.emplace(std::move(key), find(claim)).first->second;
}

GpuMatch AcceleratorNames::find(const GpuClaim& claim) const {
  GpuMatch match;
  match.memory_gib = claim.memory_gib;
  NameParts parts = take_apart(claim.name, false);
  Candidates all = catalog_.select_accelerators(claim.name);
  for (const bool without_makers : {false, true}) {
    if (!all.empty()) break;
    parts = take_apart(claim.name, without_makers);
    all = catalog_.select_accelerators(parts.base);
  }
  if (all.empty()) {
    match.why_not = "the catalogue has no accelerator '" + claim.name + "'";
    if (const std::string near = catalog_.nearest_accelerator(parts.base); !near.empty())
      match.why_not += " (nearest: " + near + ")";
    return match;
  }

  Candidates candidates = all;
  keep_product(catalog_, claim.product, parts.base, candidates);
  const std::string form = parts.form;
  if (candidates.size() > 1 && !form.empty()) keep_form(candidates, form);
  if (candidates.size() > 1 && parts.memory_gib) {
    Candidates near = candidates;
    keep_near(near, *parts.memory_gib);
    if (!near.empty()) candidates = near;
  }
  if (candidates.size() > 1) {
    for (const std::string& word : words_of(claim.machine)) {
      for (const std::string_view hint : {"sxm", "pcie", "nvl"}) {
        if (word.find(hint) != std::string::npos) keep_form(candidates, hint);
      }
    }
  }

  if (claim.memory_gib) {
    bool settled = false;
    for (const Reading& reading : readings_of(claim.count)) {
      const double gib = *claim.memory_gib * reading.factor;
      Candidates near = candidates;
      keep_near(near, gib);
      if (near.empty() && candidates.size() == 1) {
        near = others_with_memory(catalog_, claim.name, *candidates.front(), gib);
        if (near.size() == 1) {
          match.mended.push_back({"prices.memory_decides", "'" + claim.name + "' with " + shown_gib(gib) +
                                                               " is taken for " + std::string(near.front()->name)});
        } else {
          near.clear();
        }
      }
      if (near.empty()) continue;
      candidates = near;
      match.memory_gib = gib;
      if (!reading.id.empty()) match.mended.push_back({reading.id, std::string(reading.message)});
      settled = true;
      break;
    }
    if (!settled && candidates.size() == 1 && claim.measured) {
      match.why_not = "the device has " + shown_gib(*claim.memory_gib) + ", " + std::string(candidates.front()->name) +
                      " has " + shown_gib(label_gib(*candidates.front())) + ": a changed card, or another one";
      return match;
    }
    // A name that says only the beginning of the catalogue's is not trusted against its memory.
    if (!settled && candidates.size() == 1 && !catalog_.find_accelerator(claim.name) &&
        !catalog_.find_accelerator(parts.base)) {
      match.why_not = "'" + claim.name + "' with " + shown_gib(*claim.memory_gib) + " is not " +
                      std::string(candidates.front()->name);
      return match;
    }
    if (!settled && candidates.size() == 1) {
      match.mended.push_back({"prices.wrong_memory", "memory of '" + claim.name + "' in the list is " +
                                                         shown_gib(*claim.memory_gib) + ": the name decides, " +
                                                         shown_gib(label_gib(*candidates.front()))});
    }
  }

  if (candidates.size() > 1) {
    // A family's name with its memory is an alias of the most common member.
    const double gib = label_gib(*candidates.front());
    const bool one_memory = std::all_of(candidates.begin(), candidates.end(),
                                        [&](const Accelerator* gpu) { return std::abs(label_gib(*gpu) - gib) < 1; });
    const std::string usual = std::string(candidates.front()->family) + "-" + format_shortest(std::round(gib)) + "GB";
    const Accelerator* gpu = one_memory ? catalog_.find_accelerator(usual) : nullptr;
    if (!gpu || std::find(candidates.begin(), candidates.end(), gpu) == candidates.end()) {
      match.why_not = "'" + claim.name + "' may be " + names_of(candidates);
      return match;
    }
    match.mended.push_back({"prices.form_factor_assumed", "'" + claim.name + "' may be " + names_of(candidates) +
                                                              ": taken for " + std::string(gpu->name)});
    candidates = {gpu};
  }
  match.gpu = candidates.front();
  return match;
}

}  // namespace gpuplan
