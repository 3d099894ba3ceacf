#pragma once
/// Parts of the reader of GGUF that tests and fuzz targets reach without a file.

#include "bytes.hpp"

#include <gpuplan/model/gguf.hpp>

#include <cstdint>

namespace gpuplan {

/// One part, whatever its `split.count` says.
GgufFile read_gguf_part(ByteSource& source);

/// Reads `count` keys and values. @param version  1 has lengths of 32 bits
void read_gguf_metadata(ByteCursor& cursor, int version, std::uint64_t count, GgufMetadata& out);

/// A count or a length of the file's version.
std::uint64_t read_gguf_length(ByteCursor& cursor, int version, std::string_view what);

}  // namespace gpuplan
