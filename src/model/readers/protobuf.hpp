#pragma once
/// The wire format of protobuf as a walk: fields one after the other, messages inside messages, and payloads that are jumped
/// over. Knows no schema; who reads says what each field must be.
///
///     while (in.next(field)) {
///       if (field.number == 7) in.message(field, "the graph", [&] { read_graph(); });
///       else in.skip(field);
///     }

#include "bytes.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, length = 2, fixed32 = 5 };

struct WireField {
  std::uint32_t number = 0;
  Wire wire = Wire::varint;
  std::uint64_t at = 0;  ///< of its tag
};

class WireReader {
 public:
  static constexpr int kMaxDepth = 64;

  /// @param limit  bytes that may be read or skipped without being payload
  WireReader(ByteSource& source, std::uint64_t limit);

  /// The next field of the message, false at its end. The field must be consumed before the next call.
  bool next(WireField& field);

  std::int64_t whole(const WireField& field, std::string_view what);
  /// At most `limit` bytes; what is not UTF-8 or has control characters is refused.
  std::string text(const WireField& field, std::string_view what, std::size_t limit);
  /// Whole numbers, packed or not, at most `limit` in all.
  void wholes(const WireField& field, std::string_view what, std::size_t limit, std::vector<std::int64_t>& out);
  /// Calls `body`, which reads the fields of the message to its end.
  template <class Body>
  void message(const WireField& field, std::string_view what, Body body) {
    const std::uint64_t outer = enter(field, what);
    body();
    leave(outer);
  }
  /// Jumps over a payload of bytes and gives its length. Costs nothing and counts for nothing.
  std::uint64_t payload(const WireField& field, std::string_view what);
  /// Over a field of any type; it counts.
  void skip(const WireField& field);

  /// Refuses unless the field has the wire type.
  void expect(const WireField& field, Wire wire, std::string_view what) const;
  [[nodiscard]] const std::string& origin() const { return source_.origin(); }
  [[nodiscard]] std::uint64_t position() const { return position_; }

 private:
  std::uint64_t varint(std::string_view what);
  std::uint64_t length(const WireField& field, std::string_view what);
  std::uint64_t enter(const WireField& field, std::string_view what);
  void leave(std::uint64_t outer);
  void count(std::uint64_t bytes);
  char byte();
  void need(std::uint64_t bytes, std::string_view what) const;

  ByteSource& source_;
  std::uint64_t limit_;
  std::uint64_t structure_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t end_;  ///< of the message
  int depth_ = 0;
  std::uint64_t buffer_start_ = 0;
  std::size_t next_read_;
  std::vector<char> buffer_;
};

}  // namespace gpuplan
