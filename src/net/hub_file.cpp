#include "hub_file.hpp"

#include "transfer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::uint64_t kFirstRange = std::uint64_t{512} << 10;  // most headers of weights are shorter
constexpr std::uint64_t kMaxReadAhead = std::uint64_t{8} << 20;
constexpr std::uint64_t kMaxRange = std::uint64_t{64} << 20;  // of one request
constexpr std::uint64_t kMaxHead = std::uint64_t{32} << 20;   // that is held and kept
constexpr std::uint64_t kGap = std::uint64_t{256} << 10;      // fetched though skipped, to keep the head in one piece

/// Headers stand at the beginning and are read forwards: the head grows as long as reads follow it, and is kept on disk.
/// Reads elsewhere go through a window. Read-ahead doubles with each request.
class HubFile : public ByteSource {
 public:
  HubFile(std::shared_ptr<HubConnection> connection, const std::string& file)
      : ByteSource(connection->shown_file(file)), connection_(std::move(connection)), file_(file) {
    auto kept = connection_->kept_head(file_);
    if (kept && connection_->pinned()) {
      take_kept(std::move(*kept));
      return;
    }
    try {
      first_range(kept);
    } catch (const InputError& error) {
      if (!connection_->may_use_kept(error) || !kept) throw;
      take_kept(std::move(*kept));
    }
  }

  [[nodiscard]] std::uint64_t size() const override { return size_; }

  void read(std::uint64_t offset, char* out, std::size_t count) override {
    GPUPLAN_ASSERT(offset <= size_ && count <= size_ - offset, "reads stay inside the file");
    while (count > 0) {
      std::size_t got = copy(0, head_, offset, out, count);
      if (got == 0) got = copy(window_start_, window_, offset, out, count);
      if (got == 0) fetch(offset, count);
      offset += got;
      out += got;
      count -= got;
    }
  }

 private:
  static std::size_t copy(std::uint64_t start, const std::string& from, std::uint64_t offset, char* out,
                          std::size_t count) {
    if (offset < start || offset - start >= from.size()) return 0;
    const auto skipped = static_cast<std::size_t>(offset - start);
    const std::size_t got = std::min(count, from.size() - skipped);
    std::copy_n(from.data() + skipped, got, out);
    return got;
  }

  void take_kept(KeptAnswer kept) {
    size_ = kept.total;
    etag_ = std::move(kept.etag);
    head_ = std::move(kept.body);
  }

  void first_range(std::optional<KeptAnswer>& kept) {
    HttpAnswer answer = connection_->range(file_, {0, kFirstRange}, kept ? kept->etag : std::string(), address_);
    if (answer.status == 304 && kept) {
      take_kept(std::move(*kept));
      return;
    }
    size_ = answer.total;
    etag_ = answer.header("etag");
    if (answer.status == 416) {
      if (size_ != 0) refuse_net("net.bad_answer", answer.shown, "refuses the first bytes of a file that is not empty");
      return;
    }
    head_ = std::move(answer.body);
    keep();
  }

  void keep() const { connection_->keep_head(file_, {etag_, size_, head_}); }

  void fetch(std::uint64_t offset, std::uint64_t count) {
    const bool extends = offset - std::min<std::uint64_t>(offset, head_.size()) <= kGap && offset >= head_.size() &&
                         offset + count <= kMaxHead;
    const std::uint64_t start = extends ? head_.size() : offset;
    const std::uint64_t wanted = std::max(offset + count - start, ahead_);
    const std::uint64_t bounded = std::min({wanted, kMaxRange, size_ - start});
    ahead_ = std::min(2 * ahead_, kMaxReadAhead);
    HttpAnswer answer = connection_->range(file_, {start, bounded}, {}, address_);
    if (answer.status == 416 || !answer.range || answer.total != size_) {
      refuse_net("net.bad_answer", answer.shown, "the file changed while it was read", "try again");
    }
    if (answer.range->first == 0 && start != 0) {  // a server that gives the whole file
      head_ = std::move(answer.body);
    } else if (extends) {
      head_ += answer.body;
      keep();
    } else {
      window_start_ = start;
      window_ = std::move(answer.body);
    }
  }

  std::shared_ptr<HubConnection> connection_;
  std::string file_;
  std::string address_;  ///< of the server that holds the bytes, once it is known
  std::string etag_;
  std::uint64_t size_ = 0;
  std::uint64_t ahead_ = 2 * kFirstRange;
  std::string head_;
  std::uint64_t window_start_ = 0;
  std::string window_;
};

}  // namespace

std::unique_ptr<ByteSource> open_hub_file(std::shared_ptr<HubConnection> connection, const std::string& file) {
  return std::make_unique<HubFile>(std::move(connection), file);
}

}  // namespace gpuplan
