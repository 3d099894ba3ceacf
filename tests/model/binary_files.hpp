#pragma once
/// Files of weights made byte by byte, as large as needed to be wrong in one way.

#include "catalogues.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan::testing {

template <class Number>
std::string raw(Number value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

/// A safetensors file: the header's length, the header, `data` zeros.
inline std::string safetensors_file(const std::string& header, std::size_t data) {
  return raw<std::uint64_t>(header.size()) + header + std::string(data, '\0');
}

/// Builds a GGUF file; version 1 has lengths of 32 bits.
class GgufBuilder {
 public:
  explicit GgufBuilder(std::uint32_t version = 3) : version_(version) {}

  std::string text(std::string_view value) const { return length(value.size()) + std::string(value); }
  [[nodiscard]] std::string length(std::uint64_t value) const {
    return version_ == 1 ? raw(static_cast<std::uint32_t>(value)) : raw(value);
  }

  /// A value as it is stored, after its type.
  GgufBuilder& key(std::string_view name, std::uint32_t type, const std::string& value) {
    metadata_ += text(name) + raw(type) + value;
    ++keys_;
    return *this;
  }
  GgufBuilder& u32(std::string_view name, std::uint32_t value) { return key(name, 4, raw(value)); }
  GgufBuilder& u16(std::string_view name, std::uint16_t value) { return key(name, 2, raw(value)); }
  GgufBuilder& string(std::string_view name, std::string_view value) { return key(name, 8, text(value)); }
  GgufBuilder& list(std::string_view name, std::uint32_t element, std::uint64_t count, const std::string& values) {
    return key(name, 9, raw(element) + length(count) + values);
  }
  /// @param dimensions  innermost first, as in the file
  GgufBuilder& tensor(std::string_view name, const std::vector<std::uint64_t>& dimensions, std::uint32_t type,
                      std::uint64_t offset) {
    tensors_ += text(name) + raw(static_cast<std::uint32_t>(dimensions.size()));
    for (const std::uint64_t n : dimensions) tensors_ += length(n);
    tensors_ += raw(type) + raw(offset);
    ++count_;
    return *this;
  }
  [[nodiscard]] std::string build(std::size_t data = 0, std::size_t alignment = 32) const {
    std::string out = "GGUF" + raw(version_) + length(count_) + length(keys_) + metadata_ + tensors_;
    if (data > 0) out.resize((out.size() + alignment - 1) / alignment * alignment + data);
    return out;
  }

 private:
  std::uint32_t version_;
  std::string metadata_;
  std::string tensors_;
  std::uint64_t keys_ = 0;
  std::uint64_t count_ = 0;
};

/// The one problem that `what` ends with, as `id: message`; empty when there is none.
inline std::string refusal(const std::function<void()>& what) {
  const auto problems = problems_of(what);
  return problems.empty() ? std::string() : problems[0].id + ": " + problems[0].message;
}

/// A file that a checkout may have beside it.
inline std::string real_file(const std::string& name) {
  return std::string(GPUPLAN_SOURCE_DIR) + "/../shared/real/" + name;
}

}  // namespace gpuplan::testing
