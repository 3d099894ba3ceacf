#include "protobuf.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gpuplan {
namespace {

// After a jump little is read, because another jump may follow; in a row more and more.
constexpr std::size_t kFirstRead = std::size_t{4} << 10;
constexpr std::size_t kMostRead = std::size_t{64} << 10;
constexpr int kMaxVarintBytes = 10;

}  // namespace

WireReader::WireReader(ByteSource& source, std::uint64_t limit)
    : source_(source), limit_(limit), end_(source.size()), next_read_(kFirstRead) {}

void WireReader::count(std::uint64_t bytes) {
  if (bytes > limit_ - structure_) {
    refuse("input.too_large", origin(),
           fmt::format("at byte {} the structure without the data becomes larger than {} MiB", position_, limit_ >> 20),
           "weights in raw_data or in external files");
  }
  structure_ += bytes;
}

void WireReader::need(std::uint64_t bytes, std::string_view what) const {
  if (bytes <= end_ - position_) return;
  if (bytes > source_.size() - position_) {
    refuse("input.truncated", origin(),
           fmt::format("{} at byte {} needs {} bytes, past the end of the file of {} bytes", what, position_, bytes,
                       source_.size()),
           "a complete file");
  }
  refuse("input.bad_value", origin(),
         fmt::format("{} at byte {} needs {} bytes, but the message around it ends at byte {}", what, position_, bytes,
                     end_),
         "a length inside the message");
}

char WireReader::byte() {
  if (position_ < buffer_start_ || position_ - buffer_start_ >= buffer_.size()) {
    const bool follows = !buffer_.empty() && position_ == buffer_start_ + buffer_.size();
    next_read_ = follows ? std::min(2 * next_read_, kMostRead) : kFirstRead;
    buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(next_read_, source_.size() - position_)));
    buffer_start_ = position_;
    source_.read(position_, buffer_.data(), buffer_.size());
  }
  return buffer_[static_cast<std::size_t>(position_++ - buffer_start_)];
}

std::uint64_t WireReader::varint(std::string_view what) {
  const std::uint64_t at = position_;
  std::uint64_t value = 0;
  for (int i = 0; i < kMaxVarintBytes; ++i) {
    need(1, what);
    count(1);
    const auto part = static_cast<unsigned char>(byte());
    if (i == kMaxVarintBytes - 1 && part > 1) break;
    value |= static_cast<std::uint64_t>(part & 0x7Fu) << (7 * i);
    if (part < 0x80) return value;
  }
  refuse("input.bad_value", origin(), fmt::format("{} at byte {} is a number of more than 64 bits", what, at),
         "at most 10 bytes");
}

bool WireReader::next(WireField& field) {
  if (position_ == end_) return false;
  field.at = position_;
  const std::uint64_t tag = varint("the tag of a field");
  if (tag > UINT32_MAX || (tag >> 3) == 0) {
    refuse("input.bad_value", origin(), fmt::format("the field at byte {} has the number {}", field.at, tag >> 3),
           "1 to 536870911");
  }
  field.number = static_cast<std::uint32_t>(tag >> 3);
  const auto wire = static_cast<std::uint8_t>(tag & 7u);
  if (wire == 3 || wire == 4) {
    refuse("input.bad_value", origin(), fmt::format("the field {} at byte {} is a group", field.number, field.at),
           "no groups, which the format does not use");
  }
  if (wire > 5) {
    refuse("input.bad_value", origin(),
           fmt::format("the field {} at byte {} has the wire type {}", field.number, field.at, wire), "0, 1, 2 or 5");
  }
  field.wire = static_cast<Wire>(wire);
  return true;
}

void WireReader::expect(const WireField& field, Wire wire, std::string_view what) const {
  if (field.wire == wire) return;
  refuse("input.bad_value", origin(),
         fmt::format("{} (field {}) at byte {} has the wire type {}", what, field.number, field.at,
                     static_cast<int>(field.wire)),
         fmt::format("wire type {}", static_cast<int>(wire)));
}

std::int64_t WireReader::whole(const WireField& field, std::string_view what) {
  expect(field, Wire::varint, what);
  return static_cast<std::int64_t>(varint(what));
}

/// Of a field whose bytes come next; they lie inside the message.
std::uint64_t WireReader::length(const WireField& field, std::string_view what) {
  expect(field, Wire::length, what);
  const std::uint64_t bytes = varint(what);
  need(bytes, what);
  return bytes;
}

std::string WireReader::text(const WireField& field, std::string_view what, std::size_t limit) {
  const std::uint64_t bytes = length(field, what);
  if (bytes > limit) {
    refuse("input.too_large", origin(), fmt::format("{} at byte {} is {} bytes long", what, field.at, bytes),
           fmt::format("at most {}", limit));
  }
  count(bytes);
  std::string out;
  out.reserve(static_cast<std::size_t>(bytes));
  for (std::uint64_t i = 0; i < bytes; ++i) out += byte();
  if (!out.empty() && !is_clean_name(out, limit)) {
    refuse("input.bad_value", origin(), fmt::format("{} at byte {} is {}", what, field.at, in_quotes(out)),
           "printable UTF-8");
  }
  return out;
}

void WireReader::wholes(const WireField& field, std::string_view what, std::size_t limit,
                        std::vector<std::int64_t>& out) {
  const auto add = [&] {
    if (out.size() == limit) {
      refuse("input.too_large", origin(), fmt::format("{} at byte {} are more than {}", what, position_, limit));
    }
    out.push_back(static_cast<std::int64_t>(varint(what)));
  };
  if (field.wire == Wire::varint) {
    add();
    return;
  }
  message(field, what, [&] {
    while (position_ < end_) add();
  });
}

std::uint64_t WireReader::enter(const WireField& field, std::string_view what) {
  const std::uint64_t bytes = length(field, what);
  if (depth_ == kMaxDepth) {
    refuse("input.too_deep", origin(), fmt::format("{} at byte {} is nested too deep", what, field.at),
           fmt::format("at most {} messages inside each other", kMaxDepth));
  }
  ++depth_;
  const std::uint64_t outer = end_;
  end_ = position_ + bytes;
  return outer;
}

void WireReader::leave(std::uint64_t outer) {
  --depth_;
  end_ = outer;
}

std::uint64_t WireReader::payload(const WireField& field, std::string_view what) {
  const std::uint64_t bytes = length(field, what);
  position_ += bytes;
  return bytes;
}

void WireReader::skip(const WireField& field) {
  constexpr std::string_view kWhat = "a field that is passed over";
  if (field.wire == Wire::varint) {
    (void)varint(kWhat);
    return;
  }
  const std::uint64_t bytes = field.wire == Wire::length ? length(field, kWhat) : field.wire == Wire::fixed64 ? 8 : 4;
  need(bytes, kWhat);
  count(bytes);
  position_ += bytes;
}

}  // namespace gpuplan
