#include <gpuplan/catalog/software.hpp>

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace gpuplan {
namespace {

std::vector<long> parts_of(std::string_view version) {
  std::vector<long> parts;
  for (const std::string& part : split(std::string(version), '.'))
    parts.push_back(std::strtol(part.c_str(), nullptr, 10));
  while (!parts.empty() && parts.back() == 0) parts.pop_back();
  return parts;
}

long major_of(std::string_view version) {
  const auto parts = parts_of(version);
  return parts.empty() ? 0 : parts.front();
}

bool same_or_newer_minor(std::string_view kernel, std::string_view device) {
  return major_of(kernel) == major_of(device) && !version_less(device, kernel);
}

bool runs_on(const Catalog& catalog, const FrameworkPackage& package, std::string_view capability) {
  if (!package.compute_capabilities.empty()) {
    for (const Text kernel : package.compute_capabilities) {
      if (same_or_newer_minor(kernel, capability)) return true;
    }
    const auto newest = std::max_element(package.compute_capabilities.begin(), package.compute_capabilities.end(),
                                         [](Text a, Text b) { return version_less(a, b); });
    return package.ptx && version_less(*newest, capability);
  }
  const CudaRelease* cuda = catalog.find_cuda_release(package.cuda);
  if (!cuda || cuda->min_compute_capability.empty()) return true;  // nothing speaks against it
  if (version_less(capability, cuda->min_compute_capability)) return false;
  return !version_less(cuda->max_compute_capability, capability) ||
         same_or_newer_minor(cuda->max_compute_capability, capability);
}

// The least driver for a package: minor versions are compatible.
std::string_view driver_for(const Catalog& catalog, const FrameworkPackage& package) {
  const CudaRelease* cuda = catalog.find_cuda_release(package.cuda);
  if (!cuda) return {};
  return cuda->min_driver_compatible.empty() ? cuda->min_driver : cuda->min_driver_compatible;
}

std::string reach_of(const Catalog& catalog, const FrameworkRelease& release) {
  std::vector<std::string> toolkits;
  Text least;
  Text most;
  const auto widen = [&](Text low, Text high) {
    if (!low.empty() && (least.empty() || version_less(low, least))) least = low;
    if (!high.empty() && (most.empty() || version_less(most, high))) most = high;
  };
  for (const FrameworkPackage& package : release.packages) {
    toolkits.emplace_back(package.cuda);
    for (const Text kernel : package.compute_capabilities) widen(kernel, kernel);
    const CudaRelease* cuda = catalog.find_cuda_release(package.cuda);
    if (package.compute_capabilities.empty() && cuda) widen(cuda->min_compute_capability, cuda->max_compute_capability);
  }
  std::string text = "its packages are for CUDA " + join(toolkits, ", ");
  if (!least.empty()) text += ", for compute capability " + std::string(least) + " to " + std::string(most);
  return text;
}

std::string title_of(const FrameworkRelease& release) {
  return std::string(release.framework) + " " + std::string(release.version);
}

}  // namespace

bool version_less(std::string_view a, std::string_view b) { return parts_of(a) < parts_of(b); }

FrameworkFit framework_fit(const Catalog& catalog, const FrameworkRelease& release, const Accelerator& accelerator) {
  using Answer = FrameworkFit::Answer;
  if (accelerator.compute_capability.empty()) {
    return {Answer::unknown, {}, "no compute capability is known of " + std::string(accelerator.name)};
  }
  const FrameworkPackage* newest = nullptr;
  for (const FrameworkPackage& package : release.packages) {
    if (!runs_on(catalog, package, accelerator.compute_capability)) continue;
    if (!newest || version_less(newest->cuda, package.cuda)) newest = &package;
  }
  if (newest) return {Answer::yes, std::string(newest->cuda), {}};
  if (release.packages.empty()) return {Answer::unknown, {}, "no packages are known of " + title_of(release)};
  return {Answer::no,
          {},
          "compute capability " + std::string(accelerator.compute_capability) + "; " + reach_of(catalog, release)};
}

FrameworkFit framework_fit(const Catalog& catalog, const FrameworkRelease& release, const Accelerator& accelerator,
                           const Provider& provider, const Offer& offer) {
  using Answer = FrameworkFit::Answer;
  const ProviderTerms* terms = provider.terms.empty() ? nullptr : &provider.terms.front();
  if (terms && terms->own_image.known() && !*terms->own_image) {
    return {Answer::no, {}, std::string(provider.title) + " runs no software of its customers"};
  }
  FrameworkFit fit = framework_fit(catalog, release, accelerator);
  if (fit.answer != Answer::yes || offer.driver_version.empty()) return fit;
  const FrameworkPackage* newest = nullptr;
  std::string_view least;
  for (const FrameworkPackage& package : release.packages) {
    if (!runs_on(catalog, package, accelerator.compute_capability)) continue;
    const std::string_view driver = driver_for(catalog, package);
    if (!driver.empty() && version_less(offer.driver_version, driver)) {
      if (least.empty() || version_less(driver, least)) least = driver;
    } else if (!newest || version_less(newest->cuda, package.cuda)) {
      newest = &package;
    }
  }
  if (newest) return {Answer::yes, std::string(newest->cuda), {}};
  return {Answer::no, {}, "driver " + std::string(offer.driver_version) + "; it needs " + std::string(least)};
}

const FrameworkRelease& require_framework_release(const Catalog& catalog, std::string_view text,
                                                  std::string_view flag) {
  const std::size_t at = text.find("==");
  const std::string name = to_lower(text.substr(0, at));
  const std::string version(at == std::string_view::npos ? std::string_view{} : text.substr(at + 2));
  std::vector<std::string> known;
  std::vector<std::string_view> names;
  for (const FrameworkRelease& release : catalog.framework_releases()) {
    names.push_back(release.framework);
    if (release.framework != name) continue;
    known.emplace_back(release.version);
    const std::string dotted = std::string(release.version) + ".";
    if (release.version == version || version.starts_with(dotted)) return release;
  }
  const bool has_name = !known.empty();
  throw InputError(Problem{"input.unknown_name",
                           has_name ? "unknown release '" + version + "' of " + name
                                    : "unknown framework '" + name + "' in '" + std::string(text) + "'",
                           Place{std::string(flag), 0, 0},
                           has_name ? name + "== one of " + join(known, ", ") : "NAME==VERSION, such as pytorch==2.6",
                           has_name ? std::string() : nearest_name(name, names),
                           {}});
}

}  // namespace gpuplan
