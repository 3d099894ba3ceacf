#include "sqlite_library.hpp"

#include <gpuplan/base/error.hpp>

#include <string>
#include <utility>

#include <dlfcn.h>

namespace gpuplan {
namespace {

#ifdef __APPLE__
constexpr const char* kName = "/usr/lib/libsqlite3.dylib";
#else
constexpr const char* kName = "libsqlite3.so.0";
#endif

[[noreturn]] void refuse(std::string message) {
  Problem problem;
  problem.id = "store.no_library";
  problem.message = std::move(message);
  problem.expected = "SQLite 3.35 or newer on this machine (on Debian: the package libsqlite3-0)";
  throw InputError(std::move(problem));
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) refuse(std::string("SQLite on this machine has no '") + name + "'");
}

SqliteLibrary load() {
  void* library = ::dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse("SQLite cannot be loaded, so there is no price store");
  SqliteLibrary sqlite;
  find(library, "sqlite3_open_v2", sqlite.open_v2);
  find(library, "sqlite3_close", sqlite.close);
  find(library, "sqlite3_exec", sqlite.exec);
  find(library, "sqlite3_busy_timeout", sqlite.busy_timeout);
  find(library, "sqlite3_prepare_v2", sqlite.prepare_v2);
  find(library, "sqlite3_step", sqlite.step);
  find(library, "sqlite3_reset", sqlite.reset);
  find(library, "sqlite3_finalize", sqlite.finalize);
  find(library, "sqlite3_bind_text", sqlite.bind_text);
  find(library, "sqlite3_bind_double", sqlite.bind_double);
  find(library, "sqlite3_bind_int64", sqlite.bind_int64);
  find(library, "sqlite3_bind_null", sqlite.bind_null);
  find(library, "sqlite3_column_type", sqlite.column_type);
  find(library, "sqlite3_column_text", sqlite.column_text);
  find(library, "sqlite3_column_bytes", sqlite.column_bytes);
  find(library, "sqlite3_column_double", sqlite.column_double);
  find(library, "sqlite3_column_int64", sqlite.column_int64);
  find(library, "sqlite3_errmsg", sqlite.errmsg);
  find(library, "sqlite3_extended_errcode", sqlite.extended_errcode);
  find(library, "sqlite3_system_errno", sqlite.system_errno);
  find(library, "sqlite3_last_insert_rowid", sqlite.last_insert_rowid);
  find(library, "sqlite3_changes", sqlite.changes);
  return sqlite;
}

}  // namespace

const SqliteLibrary& sqlite_library() {
  static const SqliteLibrary library = load();
  return library;
}

}  // namespace gpuplan
