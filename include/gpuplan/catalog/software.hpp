#pragma once
/// Whether a release of a framework runs on an accelerator, and on an offer.
///
///     const FrameworkRelease& release = require_framework_release(catalog, "pytorch==2.6", "--framework");
///     framework_fit(catalog, release, *catalog.find_accelerator("B200"))
///         // no: packages are for CUDA 11.8, 12.4, 12.6, which compile for up to 9.0; the device is 10.0
///
/// A package holds compiled kernels of some compute capabilities, or those its CUDA compiles for where it does not say. They run on
/// the same and later minor versions of their major one; PTX runs on anything newer. Source: the CUDA C++ programming guide, "Binary
/// compatibility".

#include <gpuplan/catalog/catalog.hpp>

#include <string>
#include <string_view>

namespace gpuplan {

struct FrameworkFit {
  enum class Answer : std::uint8_t { no, unknown, yes };
  Answer answer = Answer::unknown;
  std::string cuda;  ///< of the newest package that runs; empty where there is none, or none is needed
  std::string why;   ///< of no and unknown
};

FrameworkFit framework_fit(const Catalog& catalog, const FrameworkRelease& release, const Accelerator& accelerator);

/// The same on an offer: what it runs of the customer, and its driver and CUDA where they are known.
FrameworkFit framework_fit(const Catalog& catalog, const FrameworkRelease& release, const Accelerator& accelerator,
                           const Provider& provider, const Offer& offer);

/// `pytorch==2.6`, also with a patch version. Throws InputError for what the catalogue does not have.
/// @param flag  where the text stands
const FrameworkRelease& require_framework_release(const Catalog& catalog, std::string_view text, std::string_view flag);

/// Versions by their parts: `12.10` is newer than `12.9`. Parts that are no numbers count as 0.
bool version_less(std::string_view a, std::string_view b);

}  // namespace gpuplan
