#include "safetensors.hpp"

#include "header_json.hpp"

#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/model/safetensors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>
#include <unordered_map>

namespace gpuplan {
namespace {

constexpr std::size_t kMaxShards = 10000;
constexpr std::size_t kMaxName = 4096;
constexpr std::size_t kBytesPerTensor = 90;    // of an index, or fewer
constexpr double kExact = 9007199254740992.0;  // 2^53: a whole number written as a float is exact up to here

/// A file beside the index or below it, and nothing else.
bool stays_inside(std::string_view name) {
  if (!is_clean_name(name, kMaxName) || name.front() == '/' || name.find('\\') != std::string_view::npos) return false;
  while (true) {
    const std::size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

class IndexReader {
 public:
  IndexReader(std::string_view text, const std::string& origin, bool with_shards)
      : json_(text, origin), origin_(origin), with_shards_(with_shards) {}

  WeightMap read() {
    if (json_.kind() != JsonKind::object) bad("the index", "is not an object");
    bool has_weight_map = false;
    json_.object([&](std::string_view key) {
      if (key == "metadata" && json_.kind() == JsonKind::object) {
        json_.object([&](std::string_view what) { what == "total_size" ? size() : json_.skip(); });
      } else if (key == "weight_map") {
        if (json_.kind() != JsonKind::object) bad("'weight_map'", "is not an object");
        has_weight_map = true;
        const std::size_t expected = json_.remaining() / kBytesPerTensor;
        json_.object([&](std::string_view name) { with_shards_ ? shard(name) : json_.skip(); }, expected);
      } else {
        json_.skip();
      }
    });
    json_.finish();
    if (with_shards_ && !has_weight_map)
      refuse("input.missing", origin_, "the index has no 'weight_map'", "weight_map");
    map_.unescaped = json_.take_unescaped();
    return std::move(map_);
  }

 private:
  void size() {
    const JsonKind comes = json_.kind();
    const bool nested = comes == JsonKind::object || comes == JsonKind::array;
    const JsonScalar value = nested ? JsonScalar{comes, 0, 0, {}} : json_.scalar();
    if (value.kind == JsonKind::null) return;
    if (value.kind == JsonKind::whole && value.whole >= 0) {
      map_.total_size = value.whole;
    } else if (value.kind == JsonKind::number && value.number >= 0 && value.number <= kExact &&
               value.number == static_cast<double>(static_cast<std::int64_t>(value.number))) {
      map_.total_size = static_cast<std::int64_t>(value.number);  // 34148369344.0 is found in the wild
    } else {
      bad("'total_size'", "is no number of bytes");
    }
  }

  void shard(std::string_view name) {
    if (json_.kind() != JsonKind::text) bad(in_quotes(json_.path()), "is not the name of a file");
    const std::string_view file = json_.scalar().text;
    if (!is_clean_name(name, kMaxName)) bad(in_quotes(name), "is no name of a tensor");
    if (map_.shards.empty() || map_.shards[last_].file != file) last_ = number_of(name, file);  // mostly the same
    map_.shards[last_].tensors.push_back(name);
  }

  std::size_t number_of(std::string_view tensor, std::string_view file) {
    if (!stays_inside(file)) {
      refuse("input.bad_path", origin_, in_quotes(tensor) + " is said to be in " + in_quotes(file),
             "a file in the index's own folder");
    }
    const auto [found, is_new] = numbers_.try_emplace(std::string(file), map_.shards.size());
    if (is_new) map_.shards.push_back({std::string(file), {}});
    if (map_.shards.size() > kMaxShards) {
      refuse("input.too_large", origin_, fmt::format("the index names more than {} files", kMaxShards));
    }
    return found->second;
  }

  [[noreturn]] void bad(const std::string& what, std::string_view how) const {
    refuse("input.bad_value", origin_, what + " " + std::string(how), "an index with metadata and weight_map");
  }

  JsonCursor json_;
  const std::string& origin_;
  bool with_shards_;
  WeightMap map_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::size_t last_ = 0;
};

std::string index_text(FileSet& files, std::string_view index) {
  std::string text = files.text(index);
  MemoryBytes source(text, files.origin(index));
  refuse_lfs_pointer(source);
  return text;
}

/// Where an index lies: the folder, and its name in it.
std::pair<std::unique_ptr<FileSet>, std::string> folder_of(const std::string& path) {
  const std::filesystem::path file(path);
  {
    FileBytes there(path);  // says what is wrong with the file itself
  }
  const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
  return {open_folder(folder), file.filename().string()};
}

/// A shard; a missing one says which and for what.
std::unique_ptr<ByteSource> open_shard(FileSet& files, std::string_view index, const std::string& shard) {
  const std::string path = (std::filesystem::path(index).parent_path() / shard).generic_string();
  if (!files.has(path)) {
    refuse("input.missing_shard", files.origin(index), "the shard " + in_quotes(shard) + " is not there",
           files.origin(path));
  }
  return files.open(path);
}

/// Where the named tensors are among those of their shard. Headers and indexes mostly have them in one order: each is looked for
/// behind the last one, and only then in a table.
class Places {
 public:
  explicit Places(std::span<const HeaderTensor> held) : held_(held) {}

  const HeaderTensor* find(std::string_view name) {
    if (next_ < held_.size() && held_[next_].name == name) return &held_[next_++];
    if (table_.empty()) {
      for (std::size_t i = 0; i < held_.size(); ++i) table_.emplace(held_[i].name, i);
    }
    const auto place = table_.find(name);
    if (place == table_.end()) return nullptr;
    next_ = place->second + 1;
    return &held_[place->second];
  }

  /// Each was asked for, one after the other.
  [[nodiscard]] bool all_in_order() const { return table_.empty() && next_ == held_.size(); }

 private:
  std::span<const HeaderTensor> held_;
  std::size_t next_ = 0;
  std::unordered_map<std::string_view, std::size_t> table_;
};

/// Tensors of one dtype after another as sums.
class Sums {
 public:
  void add(const HeaderTensor& tensor) {
    if (dtype_ != tensor.dtype) {
      dtype_ = tensor.dtype;
      const auto known =
          std::find_if(sums_.begin(), sums_.end(), [&](const StoredFormat& f) { return f.format == dtype_->name; });
      at_ = static_cast<std::size_t>(known - sums_.begin());
      if (known == sums_.end()) sums_.push_back({std::string(dtype_->name), 0, 0, 0});
    }
    StoredFormat& sum = sums_[at_];
    ++sum.tensors;
    sum.elements += tensor.elements;
    sum.size += tensor.size;
  }
  std::vector<StoredFormat> take() { return std::move(sums_); }

 private:
  std::vector<StoredFormat> sums_;
  const SafetensorsDtype* dtype_ = nullptr;
  std::size_t at_ = 0;
};

/// Shard by shard what the index names, in its order.
StoredTensors collect(FileSet& files, std::string_view index, const WeightMap& map, TensorListing listing) {
  StoredTensors out;
  out.format = "safetensors";
  HeaderReader reader;
  Sums sums;
  for (const WeightMap::Shard& shard : map.shards) {
    const std::unique_ptr<ByteSource> source = open_shard(files, index, shard.file);
    const std::span<const HeaderTensor> tensors = reader.read(*source, false);
    Places held(tensors);
    for (const std::string_view name : shard.tensors) {
      const HeaderTensor* tensor = held.find(name);
      if (!tensor) {
        refuse("input.missing", files.origin(index), in_quotes(name) + " is not in its shard " + in_quotes(shard.file),
               "an index that belongs to these files");
      }
      if (listing == TensorListing::counted) {
        sums.add(*tensor);
      } else {
        out.tensors.push_back(stored_tensor(*tensor));
      }
    }
    // Those of the index are there once each, and so are those of a header with the same names in the same order.
    if (!held.all_in_order()) refuse_same_names(tensors, source->origin());
  }
  out.counted = sums.take();
  return out;
}

}  // namespace

WeightMap parse_weight_map(std::string_view text, const std::string& origin, bool with_shards) {
  return IndexReader(text, origin, with_shards).read();
}

ShardedTensors read_safetensors_index(FileSet& files, std::string_view index, TensorListing listing) {
  const std::string text = index_text(files, index);
  const std::string origin = files.origin(index);
  const WeightMap map = parse_weight_map(text, origin, true);
  ShardedTensors out;
  out.shards = static_cast<std::int64_t>(map.shards.size());
  out.stated_size = map.total_size;
  out.stored = collect(files, index, map, listing);
  return out;
}

ShardedTensors read_safetensors_index(const std::string& path) {
  const auto [folder, name] = folder_of(path);
  return read_safetensors_index(*folder, name);
}

std::int64_t read_pytorch_index_size(FileSet& files, std::string_view index) {
  const std::string text = index_text(files, index);
  const WeightMap map = parse_weight_map(text, files.origin(index), false);
  if (!map.total_size)
    refuse("input.missing", files.origin(index), "the index does not say 'total_size'", "metadata: total_size");
  return *map.total_size;
}

std::int64_t read_pytorch_index_size(const std::string& path) {
  const auto [folder, name] = folder_of(path);
  return read_pytorch_index_size(*folder, name);
}

}  // namespace gpuplan
