#include "gguf.hpp"

#include <gpuplan/base/text.hpp>

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::size_t kMaxKey = 4096;
constexpr std::uint64_t kMaxKeptText = 4096;  // chat templates and licences are longer
constexpr std::uint64_t kMaxKeptList = 4096;  // one number a layer is kept, a vocabulary is not
constexpr std::uint64_t kMaxKeptTexts = 64;
constexpr int kMaxNesting = 4;

// The numbers in files; docs/gguf.md, "enum gguf_metadata_value_type".
enum class ValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, list, u64, i64, f64 };

std::uint64_t fixed_size(ValueType type) {
  switch (type) {
    case ValueType::u8:
    case ValueType::i8:
    case ValueType::boolean:
      return 1;
    case ValueType::u16:
    case ValueType::i16:
      return 2;
    case ValueType::u32:
    case ValueType::i32:
    case ValueType::f32:
      return 4;
    case ValueType::u64:
    case ValueType::i64:
    case ValueType::f64:
      return 8;
    case ValueType::text:
    case ValueType::list:
      return 0;
  }
  return 0;
}

class MetadataReader {
 public:
  MetadataReader(ByteCursor& cursor, int version, GgufMetadata& out) : in_(cursor), version_(version), out_(out) {}

  void entry() {
    const std::uint64_t at = in_.position();
    const std::uint64_t length = read_gguf_length(in_, version_, "the length of a key");
    if (length > kMaxKey) {
      refuse("input.too_large", in_.origin(), fmt::format("the key at byte {} is {} bytes long", at, length),
             fmt::format("at most {}", kMaxKey));
    }
    key_ = in_.text(length, "a key");
    if (!is_clean_name(key_, kMaxKey)) {
      refuse("input.bad_value", in_.origin(), fmt::format("{} at byte {} is no key", in_quotes(key_), at),
             "printable UTF-8");
    }
    if (!out_.add_key(key_)) {
      refuse("input.duplicate_key", in_.origin(),
             fmt::format("the key {} at byte {} was there before", in_quotes(key_), at), "each key once");
    }
    value(type());
  }

 private:
  ValueType type() {
    const std::uint64_t at = in_.position();
    const auto id = in_.number<std::uint32_t>("the type of a value");
    if (id > static_cast<std::uint32_t>(ValueType::f64)) {
      refuse("input.bad_value", in_.origin(),
             fmt::format("{} at byte {} has the unknown type {}", in_quotes(key_), at, id), "a type from 0 to 12");
    }
    return static_cast<ValueType>(id);
  }

  std::int64_t whole(ValueType type) {
    switch (type) {
      case ValueType::u8:
        return in_.number<std::uint8_t>(key_);
      case ValueType::i8:
        return in_.number<std::int8_t>(key_);
      case ValueType::u16:
        return in_.number<std::uint16_t>(key_);
      case ValueType::i16:
        return in_.number<std::int16_t>(key_);
      case ValueType::u32:
        return in_.number<std::uint32_t>(key_);
      case ValueType::i32:
        return in_.number<std::int32_t>(key_);
      case ValueType::i64:
        return in_.number<std::int64_t>(key_);
      default: {
        const std::uint64_t at = in_.position();
        const auto value = in_.number<std::uint64_t>(key_);
        if (value > static_cast<std::uint64_t>(INT64_MAX)) {
          refuse("input.bad_value", in_.origin(), fmt::format("{} at byte {} is {}", in_quotes(key_), at, value),
                 "a number below 2^63");
        }
        return static_cast<std::int64_t>(value);
      }
    }
  }
  double number(ValueType type) {
    return type == ValueType::f32 ? static_cast<double>(in_.number<float>(key_)) : in_.number<double>(key_);
  }
  /// nullopt when it is too long or not UTF-8: then it was passed over.
  std::optional<std::string> text() {
    const std::uint64_t length = read_gguf_length(in_, version_, key_);
    if (length > kMaxKeptText) {
      in_.skip(length, key_);
      return std::nullopt;
    }
    std::string value = in_.text(length, key_);
    return is_utf8(value) ? std::optional(std::move(value)) : std::nullopt;
  }
  static bool is_number(ValueType type) { return type == ValueType::f32 || type == ValueType::f64; }

  void value(ValueType type) {
    if (type == ValueType::list) {
      list(1, true);
    } else if (type == ValueType::text) {
      if (auto kept = text()) {
        out_.set(key_, std::move(*kept));
      } else {
        out_.set_length(key_, -1);
      }
    } else if (type == ValueType::boolean) {
      out_.set(key_, in_.number<std::uint8_t>(key_) != 0);
    } else if (is_number(type)) {
      out_.set(key_, number(type));
    } else {
      out_.set(key_, whole(type));
    }
  }

  template <class T, class Read>
  void keep_list(std::uint64_t count, Read read) {
    std::vector<T> kept;
    kept.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i) kept.push_back(read());
    out_.set(key_, std::move(kept));
  }

  void list(int depth, bool keep) {
    const std::uint64_t at = in_.position();
    if (depth > kMaxNesting) {
      refuse("input.too_deep", in_.origin(),
             fmt::format("{} at byte {} is nested deeper than {} lists", in_quotes(key_), at, kMaxNesting));
    }
    const ValueType element = type();
    const std::uint64_t count = read_gguf_length(in_, version_, key_);
    const std::uint64_t least = element == ValueType::text   ? read_length_bytes()
                                : element == ValueType::list ? 4 + read_length_bytes()
                                                             : fixed_size(element);
    if (count > in_.remaining() / least) {
      refuse("input.truncated", in_.origin(),
             fmt::format("{} at byte {} has {} elements, more than fit into the file", in_quotes(key_), at, count),
             "a complete file");
    }
    if (keep) out_.set_length(key_, static_cast<std::int64_t>(count));
    elements(element, count, depth, keep);
  }
  [[nodiscard]] std::uint64_t read_length_bytes() const { return version_ == 1 ? 4 : 8; }

  void elements(ValueType element, std::uint64_t count, int depth, bool keep) {
    if (element == ValueType::list) {
      for (std::uint64_t i = 0; i < count; ++i) list(depth + 1, false);
    } else if (element == ValueType::text) {
      texts(count, keep && count <= kMaxKeptTexts);
    } else if (!keep || count > kMaxKeptList) {
      in_.skip(count * fixed_size(element), key_);
    } else if (is_number(element)) {
      keep_list<double>(count, [&] { return number(element); });
    } else if (element == ValueType::boolean) {
      keep_list<std::int64_t>(count, [&] { return std::int64_t{in_.number<std::uint8_t>(key_) != 0}; });
    } else {
      keep_list<std::int64_t>(count, [&] { return whole(element); });
    }
  }

  void texts(std::uint64_t count, bool keep) {
    std::vector<std::string> kept;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (keep) {
        kept.push_back(text().value_or(std::string()));
      } else {
        in_.skip(read_gguf_length(in_, version_, key_), key_);
      }
    }
    if (keep) out_.set(key_, std::move(kept));
  }

  ByteCursor& in_;
  int version_;
  GgufMetadata& out_;
  std::string key_;
};

}  // namespace

std::optional<std::int64_t> GgufMetadata::whole(std::string_view key) const {
  const auto* value = find<std::int64_t>(key);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<double> GgufMetadata::number(std::string_view key) const {
  if (const auto* value = find<double>(key)) return *value;
  if (const auto* value = find<std::int64_t>(key)) return static_cast<double>(*value);
  return std::nullopt;
}

std::optional<bool> GgufMetadata::boolean(std::string_view key) const {
  const auto* value = find<bool>(key);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::string> GgufMetadata::text(std::string_view key) const {
  const auto* value = find<std::string>(key);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> GgufMetadata::wholes(std::string_view key) const {
  if (const auto* value = find<std::vector<std::int64_t>>(key)) return *value;
  if (const auto* value = find<std::int64_t>(key)) return std::vector<std::int64_t>{*value};
  return std::nullopt;
}

std::optional<std::int64_t> GgufMetadata::length(std::string_view key) const {
  const auto found = lengths_.find(key);
  return found == lengths_.end() || found->second < 0 ? std::nullopt : std::optional(found->second);
}

void GgufMetadata::set(const std::string& key, Value value) { values_.insert_or_assign(key, std::move(value)); }

void GgufMetadata::set_length(const std::string& key, std::int64_t length) { lengths_.insert_or_assign(key, length); }

bool GgufMetadata::add_key(const std::string& key) {
  if (has(key)) return false;
  ++keys_;
  return true;
}

std::uint64_t read_gguf_length(ByteCursor& cursor, int version, std::string_view what) {
  return version == 1 ? cursor.number<std::uint32_t>(what) : cursor.number<std::uint64_t>(what);
}

void read_gguf_metadata(ByteCursor& cursor, int version, std::uint64_t count, GgufMetadata& out) {
  MetadataReader reader(cursor, version, out);
  for (std::uint64_t i = 0; i < count; ++i) reader.entry();
}

}  // namespace gpuplan
