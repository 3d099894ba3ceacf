#pragma once
// One request and one answer with libcurl, without following anything.

#include "curl_library.hpp"
#include "url.hpp"

#include <gpuplan/net/http.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace gpuplan {

struct TransferAnswer {
  int status = 0;
  std::string body;  ///< of answers other than 200 and 206: its beginning
  std::vector<HttpHeader> headers;
  std::string redirect;  ///< absolute; empty: no redirection
  std::optional<Seconds> retry_after;
};

// Who watches a transfer.
class TransferWatch {
 public:
  TransferWatch() = default;
  TransferWatch(const TransferWatch&) = delete;
  TransferWatch& operator=(const TransferWatch&) = delete;
  virtual ~TransferWatch() = default;
  virtual void received(std::uint64_t now, std::uint64_t total) = 0;  ///< often; total 0: not known
};

// An easy handle; connections stay open from one transfer to the next.
class Transfer {
 public:
  Transfer();
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // @param address  of `url`
  // Throws InputError; see HttpClient::ask.
  TransferAnswer run(const HttpRequest& request, const std::string& url, const Address& address, bool with_token,
                     const HttpSettings& settings, TransferWatch& watch);

 private:
  const CurlLibrary& curl_;
  CURL* handle_;
};

[[noreturn]] void refuse_net(std::string id, const std::string& shown, std::string message, std::string expected = {});

}  // namespace gpuplan
