#include "safetensors.hpp"

#include "header_json.hpp"

#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/model/safetensors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <unordered_map>

namespace gpuplan {
namespace {

constexpr std::size_t kMaxShards = 10000;
constexpr std::size_t kMaxName = 4096;
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

class IndexVisitor : public JsonVisitor {
 public:
  IndexVisitor(const std::string& origin, bool with_shards) : origin_(origin), with_shards_(with_shards) {}
  WeightMap map;
  bool has_weight_map = false;

  void visit(const std::vector<std::string>& keys, const JsonValue& value) override {
    if (keys.empty() && value.kind != JsonValue::Kind::object) bad("the index", "is not an object");
    if (keys.size() == 2 && keys[0] == "metadata" && keys[1] == "total_size") size(value);
    if (keys.empty() || keys[0] != "weight_map") return;
    if (keys.size() == 1) {
      if (value.kind != JsonValue::Kind::object) bad("'weight_map'", "is not an object");
      has_weight_map = true;
    } else if (with_shards_) {
      shard(keys, value);
    }
  }

 private:
  void size(const JsonValue& value) {
    if (value.kind == JsonValue::Kind::null) return;
    if (value.kind == JsonValue::Kind::whole && !value.is_negative) {
      map.total_size = value.whole;
    } else if (value.kind == JsonValue::Kind::number && value.number >= 0 && value.number <= kExact &&
               value.number == static_cast<double>(static_cast<std::int64_t>(value.number))) {
      map.total_size = static_cast<std::int64_t>(value.number);  // 34148369344.0 is found in the wild
    } else {
      bad("'total_size'", "is no number of bytes");
    }
  }

  void shard(const std::vector<std::string>& keys, const JsonValue& value) {
    if (keys.size() != 2 || value.kind != JsonValue::Kind::text)
      bad(in_quotes(key_path(keys)), "is not the name of a file");
    if (!is_clean_name(keys[1], kMaxName)) bad(in_quotes(keys[1]), "is no name of a tensor");
    if (!map.shards.empty() && map.shards[last_] == value.text) {  // as nearly always
      map.tensors.emplace_back(keys[1], last_);
      return;
    }
    if (!stays_inside(value.text)) {
      refuse("input.bad_path", origin_, in_quotes(keys[1]) + " is said to be in " + in_quotes(value.text),
             "a file in the index's own folder");
    }
    const auto [found, is_new] = numbers_.try_emplace(std::string(value.text), map.shards.size());
    if (is_new) map.shards.emplace_back(value.text);
    if (map.shards.size() > kMaxShards) {
      refuse("input.too_large", origin_, fmt::format("the index names more than {} files", kMaxShards));
    }
    last_ = found->second;
    map.tensors.emplace_back(keys[1], last_);
  }

  [[noreturn]] void bad(const std::string& what, std::string_view how) const {
    refuse("input.bad_value", origin_, what + " " + std::string(how), "an index with metadata and weight_map");
  }

  const std::string& origin_;
  bool with_shards_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::size_t last_ = 0;
};

WeightMap read_weight_map(FileSet& files, std::string_view index, bool with_shards) {
  const std::string text = files.text(index);
  MemoryBytes source(text, files.origin(index));
  refuse_lfs_pointer(source);
  return parse_weight_map(text, files.origin(index), with_shards);
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

/// The header of a shard; a missing one says which and for what.
StoredTensors read_shard(FileSet& files, std::string_view index, const std::string& shard) {
  const std::string path = (std::filesystem::path(index).parent_path() / shard).generic_string();
  if (!files.has(path)) {
    refuse("input.missing_shard", files.origin(index), "the shard " + in_quotes(shard) + " is not there",
           files.origin(path));
  }
  return read_safetensors_header(*files.open(path));
}

/// Shard by shard, so that only the tensors the index names are kept; its own names go as they are found.
void collect(FileSet& files, std::string_view index, WeightMap& map, std::vector<StoredTensor>& out) {
  std::vector<std::vector<std::size_t>> wanted(map.shards.size());
  for (std::size_t i = 0; i < map.tensors.size(); ++i) wanted[map.tensors[i].second].push_back(i);
  out.resize(map.tensors.size());
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t s = 0; s < map.shards.size(); ++s) {
    std::vector<StoredTensor> held = read_shard(files, index, map.shards[s]).tensors;
    places.clear();
    for (std::size_t i = 0; i < held.size(); ++i) places.emplace(held[i].name, i);
    std::vector<std::size_t> found;  // first, because a name that is moved away is no key any more
    for (const std::size_t i : wanted[s]) {
      const auto place = places.find(map.tensors[i].first);
      if (place == places.end()) {
        refuse("input.missing", files.origin(index),
               in_quotes(map.tensors[i].first) + " is not in its shard " + in_quotes(map.shards[s]),
               "an index that belongs to these files");
      }
      found.push_back(place->second);
      std::string().swap(map.tensors[i].first);
    }
    for (std::size_t i = 0; i < found.size(); ++i) out[wanted[s][i]] = std::move(held[found[i]]);
  }
}

}  // namespace

WeightMap parse_weight_map(std::string_view text, const std::string& origin, bool with_shards) {
  IndexVisitor visitor(origin, with_shards);
  walk_json(text, origin, visitor);
  if (with_shards && !visitor.has_weight_map)
    refuse("input.missing", origin, "the index has no 'weight_map'", "weight_map");
  return std::move(visitor.map);
}

ShardedTensors read_safetensors_index(FileSet& files, std::string_view index) {
  WeightMap map = read_weight_map(files, index, true);
  ShardedTensors out;
  out.stored.format = "safetensors";
  out.shards = static_cast<std::int64_t>(map.shards.size());
  out.stated_size = map.total_size;
  collect(files, index, map, out.stored.tensors);
  return out;
}

ShardedTensors read_safetensors_index(const std::string& path) {
  const auto [folder, name] = folder_of(path);
  return read_safetensors_index(*folder, name);
}

std::int64_t read_pytorch_index_size(FileSet& files, std::string_view index) {
  const WeightMap map = read_weight_map(files, index, false);
  if (!map.total_size)
    refuse("input.missing", files.origin(index), "the index does not say 'total_size'", "metadata: total_size");
  return *map.total_size;
}

std::int64_t read_pytorch_index_size(const std::string& path) {
  const auto [folder, name] = folder_of(path);
  return read_pytorch_index_size(*folder, name);
}

}  // namespace gpuplan
