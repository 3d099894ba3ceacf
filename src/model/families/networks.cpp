#include "family.hpp"

#include <vector>

namespace gpuplan {
namespace {

const std::vector<NetworkRow> kNetworks = {
    // text encoders, encoder-decoders, image-text encoders, speech
    // diffusion
    // vision, recommenders, speech synthesis
};

const std::vector<WrapperRow> kWrappers = {};

}  // namespace

std::span<const NetworkRow> network_families() { return kNetworks; }
std::span<const WrapperRow> wrapper_families() { return kWrappers; }

}  // namespace gpuplan
