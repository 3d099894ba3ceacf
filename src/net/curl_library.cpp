#include "curl_library.hpp"

#include <gpuplan/base/error.hpp>

#include <string>
#include <utility>

#include <dlfcn.h>

namespace gpuplan {
namespace {

// The number is that of the interface, unchanged since 2006.
#ifdef __APPLE__
constexpr const char* kNames[] = {"libcurl.4.dylib", "/usr/lib/libcurl.4.dylib"};
#else
constexpr const char* kNames[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
#endif

[[noreturn]] void refuse(std::string message) {
  Problem problem;
  problem.id = "net.no_library";
  problem.message = std::move(message);
  problem.expected = "libcurl 7.85 or newer on this machine (on Debian: the package libcurl4)";
  throw InputError(std::move(problem));
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) refuse(std::string("libcurl on this machine has no '") + name + "'");
}

CurlLibrary load() {
  void* library = nullptr;
  for (const char* name : kNames) {
    if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) refuse("libcurl cannot be loaded, so nothing can be asked over the network");
  CurlLibrary curl;
  find(library, "curl_global_init", curl.global_init);
  find(library, "curl_easy_init", curl.easy_init);
  find(library, "curl_easy_setopt", curl.easy_setopt);
  find(library, "curl_easy_perform", curl.easy_perform);
  find(library, "curl_easy_getinfo", curl.easy_getinfo);
  find(library, "curl_easy_reset", curl.easy_reset);
  find(library, "curl_easy_cleanup", curl.easy_cleanup);
  find(library, "curl_easy_strerror", curl.easy_strerror);
  find(library, "curl_slist_append", curl.slist_append);
  find(library, "curl_slist_free_all", curl.slist_free_all);
  find(library, "curl_url", curl.url);
  find(library, "curl_url_set", curl.url_set);
  find(library, "curl_url_get", curl.url_get);
  find(library, "curl_url_cleanup", curl.url_cleanup);
  find(library, "curl_free", curl.free);
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) refuse("libcurl cannot be initialised");
  return curl;
}

}  // namespace

const CurlLibrary& curl_library() {
  static const CurlLibrary library = load();
  return library;
}

}  // namespace gpuplan
