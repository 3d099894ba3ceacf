#include "gguf.hpp"

#include <gpuplan/model/ggml_types.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::uint64_t kMaxHeader = std::uint64_t{64} << 20;
constexpr std::uint64_t kMaxTensors = 1'000'000;
constexpr std::uint64_t kMaxKeys = 100'000;
constexpr std::int64_t kMaxParts = 9999;
constexpr std::size_t kMaxName = 4096;
constexpr std::uint32_t kMaxDimensions = 4;
constexpr std::int64_t kDefaultAlignment = 32;
constexpr std::int64_t kMaxAlignment = std::int64_t{1} << 20;

int read_version(ByteCursor& in) {
  const std::string magic = in.text(4, "the magic number");
  if (magic == "lmgg" || magic == "tjgg" || magic == "fmgg" || magic == "algg") {
    refuse("input.unsupported", in.origin(), "is a GGML file from before GGUF", "a GGUF file");
  }
  if (magic != "GGUF") {
    refuse("input.bad_value", in.origin(), "begins with " + in_quotes(magic), "'GGUF'; is this a GGUF file?");
  }
  const auto version = in.number<std::uint32_t>("the version");
  if (version != 0 && (version & 0xFFFFu) == 0) {
    refuse("input.unsupported", in.origin(), "is a big-endian GGUF file", "a little-endian one, as most are");
  }
  if (version < 1 || version > 3) {
    refuse("input.unsupported", in.origin(), fmt::format("is a GGUF file of version {}", version), "version 1, 2 or 3");
  }
  return static_cast<int>(version);
}

std::uint64_t read_count(ByteCursor& in, int version, std::string_view what, std::uint64_t limit, std::uint64_t least) {
  const std::uint64_t count = read_gguf_length(in, version, what);
  if (count > limit || count > in.remaining() / least) {
    refuse("input.too_large", in.origin(), fmt::format("the header says there are {} {}", count, what),
           fmt::format("at most {}, and no more than fit into the file", limit));
  }
  return count;
}

struct PlacedTensor {
  StoredTensor tensor;
  std::int64_t offset = 0;
};

class TensorReader {
 public:
  TensorReader(ByteCursor& in, int version) : in_(in), version_(version) {}

  PlacedTensor read() {
    at_ = in_.position();
    PlacedTensor out;
    out.tensor.name = name();
    name_ = &out.tensor.name;
    dimensions(out.tensor);
    const auto id = in_.number<std::uint32_t>("the type of a tensor");
    const GgmlTypeTraits* type = find_ggml_type(id);
    if (!type) bad("input.unknown_name", fmt::format("has the unknown type {}", id), "a type of GGML");
    out.tensor.format = type->name;
    out.tensor.size = size_of(out.tensor, *type);
    const auto offset = in_.number<std::uint64_t>("the offset of a tensor");
    if (offset > static_cast<std::uint64_t>(INT64_MAX)) {
      bad("input.bad_value", fmt::format("is at offset {}", offset), "an offset inside the file");
    }
    out.offset = static_cast<std::int64_t>(offset);
    return out;
  }

 private:
  std::string name() {
    const std::uint64_t length = read_gguf_length(in_, version_, "the length of a tensor's name");
    if (length > kMaxName) {
      refuse("input.too_large", in_.origin(), fmt::format("the tensor's name at byte {} is {} bytes long", at_, length),
             fmt::format("at most {}", kMaxName));
    }
    std::string name = in_.text(length, "a tensor's name");
    if (!is_clean_name(name, kMaxName)) {
      refuse("input.bad_value", in_.origin(), fmt::format("{} at byte {} is no name of a tensor", in_quotes(name), at_),
             "printable UTF-8");
    }
    if (!names_.insert(name).second) {
      refuse("input.duplicate_key", in_.origin(),
             fmt::format("the tensor {} at byte {} was there before", in_quotes(name), at_), "each tensor once");
    }
    return name;
  }

  void dimensions(StoredTensor& t) {
    const auto count = in_.number<std::uint32_t>("the number of dimensions");
    if (count < 1 || count > kMaxDimensions) {
      bad("input.bad_value", fmt::format("has {} dimensions", count), "1 to 4");
    }
    t.elements = 1;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t n = read_gguf_length(in_, version_, "a dimension");
      if (n == 0 || n > static_cast<std::uint64_t>(INT64_MAX) || !multiply(t.elements, static_cast<std::int64_t>(n))) {
        bad("input.bad_value", fmt::format("has a dimension of {}", n), "from 1, and a product below 2^63");
      }
      t.shape.push_back(static_cast<std::int64_t>(n));
    }
    std::reverse(t.shape.begin(), t.shape.end());  // the file has the innermost first
  }

  std::int64_t size_of(const StoredTensor& t, const GgmlTypeTraits& type) const {
    const std::int64_t row = t.shape.back();
    if (row % type.block != 0) {
      bad("input.bad_value", fmt::format("has rows of {} elements in {}", row, type.name),
          fmt::format("a multiple of {}", type.block));
    }
    std::int64_t size = row / type.block;
    const bool fits = multiply(size, type.block_bytes) && !__builtin_add_overflow(size, type.row_bytes, &size) &&
                      multiply(size, t.elements / row);
    if (!fits) bad("input.bad_value", "has a size that overflows", "less than 2^63 bytes");
    return size;
  }

  [[noreturn]] void bad(const std::string& id, const std::string& how, const std::string& expected) const {
    refuse(id, in_.origin(), fmt::format("the tensor {} at byte {} {}", in_quotes(*name_), at_, how), expected);
  }

  ByteCursor& in_;
  int version_;
  std::uint64_t at_ = 0;
  const std::string* name_ = nullptr;
  std::unordered_set<std::string> names_;
};

std::int64_t alignment_of(const GgufMetadata& metadata, const std::string& origin) {
  if (!metadata.has("general.alignment")) return kDefaultAlignment;
  const std::int64_t a = metadata.whole("general.alignment").value_or(0);
  if (a < 1 || a > kMaxAlignment || (a & (a - 1)) != 0) {
    refuse("input.bad_value", origin, fmt::format("'general.alignment' is {}", a), "a power of two up to 1 MiB");
  }
  return a;
}

void check_places(const std::vector<PlacedTensor>& tensors, std::int64_t alignment, std::uint64_t header,
                  const ByteSource& source) {
  const auto start =
      static_cast<std::int64_t>(header + static_cast<std::uint64_t>(alignment) - 1) / alignment * alignment;
  const std::int64_t data = std::max<std::int64_t>(0, static_cast<std::int64_t>(source.size()) - start);
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return tensors[a].offset < tensors[b].offset; });
  std::int64_t end = 0;
  const StoredTensor* before = nullptr;
  for (const std::size_t i : order) {
    const StoredTensor& t = tensors[i].tensor;
    const std::int64_t offset = tensors[i].offset;
    const auto bad = [&](const std::string& id, const std::string& how, const std::string& expected) {
      refuse(id, source.origin(), "the tensor " + in_quotes(t.name) + " " + how, expected);
    };
    if (offset % alignment != 0) {
      bad("input.bad_value", fmt::format("is at offset {}", offset), fmt::format("a multiple of {}", alignment));
    }
    if (offset > data || t.size > data - offset) {
      bad("input.truncated",
          fmt::format("of {} bytes at offset {} ends past the {} bytes of data", t.size, offset, data),
          "a complete file");
    }
    if (offset < end) {
      bad("input.bad_value", fmt::format("at offset {} overlaps {}", offset, in_quotes(before->name)),
          fmt::format("an offset from {}", end));
    }
    end = offset + t.size;
    before = &t;
  }
}

/// `/models/llama-00002-of-00003.gguf` without its last 20 characters; empty when it is not called so.
std::string split_prefix(const std::string& path) {
  constexpr std::string_view kForm = "-00000-of-00000.gguf";
  if (path.size() <= kForm.size()) return {};
  const std::string_view end = std::string_view(path).substr(path.size() - kForm.size());
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool is_digit = end[i] >= '0' && end[i] <= '9';
    if (kForm[i] == '0' ? !is_digit : end[i] != kForm[i]) return {};
  }
  return path.substr(0, path.size() - kForm.size());
}

void check_part(const GgufFile& part, std::int64_t number, std::int64_t count, const std::string& path) {
  const std::int64_t its_count = part.metadata.whole("split.count").value_or(1);
  const std::int64_t its_number = part.metadata.whole("split.no").value_or(0);
  if (its_count != count || its_number != number) {
    refuse("input.bad_value", path, fmt::format("says it is part {} of {}", its_number + 1, its_count),
           fmt::format("part {} of {}", number + 1, count));
  }
}

GgufFile read_parts(FileSet& files, const std::string& file, std::int64_t count) {
  const std::string path = files.origin(file);
  const std::string prefix = split_prefix(file);
  if (prefix.empty()) {
    refuse("input.bad_path", path, fmt::format("is a part of {}, but is not called like one", count),
           fmt::format("a name that ends in -00001-of-{:05}.gguf", count));
  }
  GgufFile all;
  std::unordered_set<std::string> names;
  for (std::int64_t number = 0; number < count; ++number) {
    const std::string part_name = fmt::format("{}-{:05}-of-{:05}.gguf", prefix, number + 1, count);
    const std::string part_path = files.origin(part_name);
    if (!files.has(part_name)) {
      refuse("input.missing_shard", path, fmt::format("part {} of {} is not there", number + 1, count), part_path);
    }
    GgufFile part = read_gguf_part(*files.open(part_name));
    check_part(part, number, count, part_path);
    for (StoredTensor& t : part.stored.tensors) {
      if (!names.insert(t.name).second) {
        refuse("input.duplicate_key", part_path, "the tensor " + in_quotes(t.name) + " is in an earlier part too",
               "each tensor once");
      }
      all.stored.tensors.push_back(std::move(t));
    }
    all.file_size += part.file_size;
    if (number == 0) {
      all.version = part.version;
      all.metadata = std::move(part.metadata);
    }
  }
  all.stored.format = "gguf";
  all.parts = count;
  const auto stated = all.metadata.whole("split.tensors.count");
  if (stated && *stated != static_cast<std::int64_t>(all.stored.tensors.size())) {
    refuse("input.bad_value", path,
           fmt::format("'split.tensors.count' is {}, but the parts hold {}", *stated, all.stored.tensors.size()),
           "parts that belong together");
  }
  return all;
}

}  // namespace

GgufFile read_gguf_part(ByteSource& source) {
  refuse_lfs_pointer(source);
  if (source.size() == 0) refuse("input.empty", source.origin(), "the file is empty");
  ByteCursor in(source, kMaxHeader);
  GgufFile out;
  out.version = read_version(in);
  out.stored.format = "gguf";
  out.file_size = static_cast<std::int64_t>(source.size());
  // The least an entry can take: lengths, a name of one byte, a type, and a dimension and an offset or a value of one byte.
  const std::uint64_t tensors = read_count(in, out.version, "tensors", kMaxTensors, 25);
  const std::uint64_t keys = read_count(in, out.version, "keys", kMaxKeys, 10);
  read_gguf_metadata(in, out.version, keys, out.metadata);

  std::vector<PlacedTensor> placed;
  TensorReader reader(in, out.version);
  for (std::uint64_t i = 0; i < tensors; ++i) placed.push_back(reader.read());
  check_places(placed, alignment_of(out.metadata, source.origin()), in.position(), source);
  out.stored.tensors.reserve(placed.size());
  for (PlacedTensor& p : placed) out.stored.tensors.push_back(std::move(p.tensor));
  return out;
}

GgufFile read_gguf_header(FileSet& files, std::string_view name) {
  const std::string path = files.origin(name);
  GgufFile file = read_gguf_part(*files.open(name));
  const std::int64_t count = file.metadata.whole("split.count").value_or(1);
  if (count < 0 || count > kMaxParts) {
    refuse("input.bad_value", path, fmt::format("'split.count' is {}", count), fmt::format("1 to {}", kMaxParts));
  }
  return count > 1 ? read_parts(files, std::string(name), count) : std::move(file);
}

GgufFile read_gguf_header(const std::string& path) {
  {
    FileBytes there(path);  // says what is wrong with the file itself
  }
  const std::filesystem::path file(path);
  const auto files = open_folder(file.has_parent_path() ? file.parent_path().string() : ".");
  return read_gguf_header(*files, file.filename().string());
}

}  // namespace gpuplan
