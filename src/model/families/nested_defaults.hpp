#pragma once
/// Numbers that a nested configuration leaves out because they are its class's defaults.

#include "fields.hpp"

#include <gpuplan/base/reader.hpp>

namespace gpuplan {

/// The text model inside a wrapper, with the numbers that its class takes when they are not written. Wrappers are written
/// as what differs from the classes' defaults, so that even `hidden_size` may be left out. Warns of each.
Node with_class_defaults(Fields& in);

}  // namespace gpuplan
