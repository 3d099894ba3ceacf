#pragma once
// Addresses as libcurl understands them, so that what is decided here is about the host that it then talks to.

#include <optional>
#include <string>
#include <string_view>

namespace gpuplan {

struct Address {
  std::string scheme;  ///< http or https
  std::string host;    ///< lower case
  std::string port;    ///< also when it is the scheme's own
  std::string path;
  std::string shown;  ///< scheme, host, port unless it is the scheme's own, path; printable. No user, query or fragment

  [[nodiscard]] bool same_origin(const Address& other) const {
    return scheme == other.scheme && host == other.host && port == other.port;
  }
};

// Nothing for what is no http or https address.
std::optional<Address> parse_address(const std::string& url);

// Letters, digits and `-._~` as they are, the rest as %XX; '/' stays unless `slashes` are to be escaped too.
std::string percent_encoded(std::string_view text, bool slashes = false);

// Text of others for a message: control characters and bytes that are no UTF-8 escaped, cut at 300 bytes.
std::string printable(std::string_view text);

}  // namespace gpuplan
