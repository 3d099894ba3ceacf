#include "url.hpp"

#include "curl_library.hpp"

#include <gpuplan/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace gpuplan {
namespace {

constexpr std::size_t kMaxAddress = 16384;
constexpr std::size_t kMaxShown = 300;

std::string part_of(const CurlLibrary& curl, CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl.url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK || text == nullptr) return {};
  std::string copy = text;
  curl.free(text);
  return copy;
}

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

}  // namespace

std::optional<Address> parse_address(const std::string& url) {
  const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; };
  if (url.empty() || url.size() > kMaxAddress || std::any_of(url.begin(), url.end(), is_blank)) return std::nullopt;
  const CurlLibrary& curl = curl_library();
  CURLU* parsed = curl.url();
  if (parsed == nullptr) return std::nullopt;
  Address address;
  if (curl.url_set(parsed, CURLUPART_URL, url.c_str(), 0) == CURLUE_OK) {
    address.scheme = to_lower(part_of(curl, parsed, CURLUPART_SCHEME));
    address.host = to_lower(part_of(curl, parsed, CURLUPART_HOST));
    address.port = part_of(curl, parsed, CURLUPART_PORT);
    address.path = part_of(curl, parsed, CURLUPART_PATH);
  }
  curl.url_cleanup(parsed);
  if ((address.scheme != "http" && address.scheme != "https") || address.host.empty()) return std::nullopt;
  const bool usual_port = address.port == (address.scheme == "https" ? "443" : "80");
  address.shown =
      printable(address.scheme + "://" + address.host + (usual_port ? "" : ":" + address.port) + address.path);
  return address;
}

std::string percent_encoded(std::string_view text, bool slashes) {
  std::string out;
  for (const char c : text) {
    if (is_unreserved(c) || (c == '/' && !slashes)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  const std::string_view head = text.substr(0, kMaxShown);
  const bool readable = is_utf8(head);
  for (const char c : head) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !readable)) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + (text.size() > kMaxShown ? "…" : "");
}

}  // namespace gpuplan
