#pragma once
/// A model's repository on the Hub as a set of files, without fetching its weights.
///
///     const auto files = open_hub_repository(hub_settings_from(variable), "org/name");
///     parse_json(files->text("config.json"), files->origin("config.json"));
///     files->open("model.safetensors")->read(0, header, 8);   // one range request
///
/// Where a file comes from, in this order: the snapshot that the Hub's own libraries left on disk (`hub_cache`); what was
/// kept of earlier answers (`answers`); the network. Whatever is asked of one set is of one commit. Answers that name a commit
/// never change and are kept for good; others are asked for again by their ETag, and serve with a notice when the network
/// is gone or `offline` is set. The token goes to the endpoint only and is never written or printed.

#include <gpuplan/base/file_set.hpp>
#include <gpuplan/net/http.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace gpuplan {

inline constexpr const char* kPublicHub =
    "https://huggingface.co";  // product-name: the address that the format's tools ask

struct HubSettings {
  std::string endpoint = kPublicHub;
  std::string token;      ///< empty: none
  std::string hub_cache;  ///< the folder with `models--org--name`; empty: none
  std::string answers;    ///< a folder of ours for kept answers; empty: none are kept
  bool offline = false;
  HttpSettings http;  ///< also who hears of progress
  /// Told, at most once a set, that kept answers serve because there is no network; may be empty.
  std::function<void(const std::string&)> notice;
};

/// The value of an environment variable, empty when it is not set.
using Variables = std::function<std::string(const std::string&)>;

/// Settings from HF_ENDPOINT, HF_TOKEN (else the file HF_TOKEN_PATH or `$HF_HOME/token`), HF_HOME, HF_HUB_CACHE,
/// HF_HUB_OFFLINE, HF_HUB_DISABLE_IMPLICIT_TOKEN, XDG_CACHE_HOME, HOME, and certificates from CURL_CA_BUNDLE or SSL_CERT_FILE,
/// with the defaults of the Hub's own libraries. Throws InputError (`input.bad_value`) for an endpoint that is no address.
HubSettings hub_settings_from(const Variables& variable);

/// In front of a name it says that the Hub's is meant, whatever presets and files are called: `hub:org/name`. The Hub has models
/// without an organisation, from its first years, which have no other name here: `hub:gpt2`.
inline constexpr std::string_view kHubPrefix = "hub:";

/// Whether a text has the form `org/name`, `hub:name` or these with `@revision`. Nothing is asked; a path may look like the first.
bool looks_like_repository(std::string_view text);

/// @param repository  `org/name` or `hub:name`, also with `@revision`: a branch, a tag or a commit
/// Throws InputError: `input.bad_value` for other text. Nothing is asked yet: `has`, `list`, `text` and `open` ask, and throw
/// also `net.offline` (nothing kept, and the network is off) and what `HttpClient` does. A repository that does not exist and a
/// private one get the same answer from the Hub; the message says both.
std::unique_ptr<FileSet> open_hub_repository(const HubSettings& settings, std::string_view repository);

}  // namespace gpuplan
