#pragma once
/// Schemes whose names hold parameters: bits, group sizes, average bits, types of GGUF files.

#include <gpuplan/model/scheme.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace gpuplan {

/// A scheme whose linears, experts included, are stored in one way and the rest in 16 bit.
Scheme linear_scheme(std::string name, std::string_view kernel, const Storage& linear);

/// `int4-gptq-g64`, `hqq-4bit-g64`, `aqlm-1x16-g8`, …: integers in groups or codebooks. Nothing when the name is none of those.
/// @param key  of the name, by lookup_key
std::optional<Scheme> grouped_scheme(std::string_view key);

/// What follows the colon of `exl2:`, `exl3:` and `bits:`, each an average. Nothing when it is no such name.
std::optional<Scheme> average_scheme(std::string_view name);

/// A type of a GGUF file or of its tensors, with or without `gguf:`. Nothing when it is neither.
std::optional<Scheme> gguf_scheme(std::string_view name);

}  // namespace gpuplan
