#pragma once
// Answers of servers kept on disk: one file an answer, readable by its owner only, replaced as a whole. A cache that cannot
// be read or written is as good as an empty one; what is in it is believed only with the right key and checksum.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuplan {

struct KeptAnswer {
  std::string etag;         ///< empty: the server gave none
  std::uint64_t total = 0;  ///< bytes of the whole file, of which `body` may be the beginning
  std::string body;
};

class AnswerCache {
 public:
  // @param folder  empty: nothing is kept. Made with the first answer.
  explicit AnswerCache(std::string folder) : folder_(std::move(folder)) {}

  // @param group  becomes a folder: letters, digits, '-', '_' and '.', not beginning with '.'; other groups are never found
  // @param key    any text: its hash becomes the file's name
  [[nodiscard]] std::optional<KeptAnswer> find(std::string_view group, std::string_view key) const;
  // Says whether it was kept; never throws for what the disk says.
  bool store(std::string_view group, std::string_view key, const KeptAnswer& answer) const;

 private:
  [[nodiscard]] std::string path(std::string_view group, std::string_view key) const;
  std::string folder_;
};

}  // namespace gpuplan
