#include "database.hpp"

#include <gpuplan/base/error.hpp>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace gpuplan {
namespace {

constexpr int kBusyMilliseconds = 60000;

[[noreturn]] void refuse(std::string id, const std::string& path, std::string message, std::string expected = {}) {
  throw InputError(Problem{std::move(id), std::move(message), Place{path, 0, 0}, std::move(expected), {}, {}});
}

std::string address_of(const std::string& path) {
  std::string out = "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      constexpr char kDigits[] = "0123456789abcdef";
      out += '%';
      out += kDigits[static_cast<unsigned char>(c) >> 4];
      out += kDigits[static_cast<unsigned char>(c) & 15U];
    } else {
      out += c;
    }
  }
  return out + "?immutable=1";
}

}  // namespace

Database::Database(const std::string& path, Use use) : path_(path) {
  const SqliteLibrary& sqlite = sqlite_library();
  std::error_code error;
  const bool is_there = std::filesystem::exists(path, error);
  if (use == Use::read && !is_there) {
    refuse("store.not_found", path, "there is no price store yet", "gpuplan prices import FORMAT FILE");
  }
  if (std::filesystem::is_directory(path, error)) refuse("store.unreadable", path, "is a folder", "a file");
  const bool may_write = ::access(path.c_str(), W_OK) == 0;
  if (is_there && ::access(path.c_str(), R_OK) != 0) refuse("store.unreadable", path, "may not be read");
  if (use == Use::write && is_there && !may_write) {
    refuse("store.read_only", path, "the price store may not be written to", "another file: --store FILE");
  }
  if (use == Use::write && !is_there) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, error);
  }
  int flags = SQLITE_OPEN_NOMUTEX | (use == Use::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                     : may_write       ? SQLITE_OPEN_READWRITE
                                                       : SQLITE_OPEN_READONLY);
  int result = sqlite.open_v2(path.c_str(), &handle_, flags, nullptr);
  if (result == SQLITE_OK) sqlite.busy_timeout(handle_, kBusyMilliseconds);
  // A file in a folder that may not be written to has no place for what readers share: nobody writes it either.
  if (use == Use::read && (result != SQLITE_OK || sqlite.exec(handle_, "SELECT 1 FROM sqlite_master", nullptr, nullptr,
                                                              nullptr) != SQLITE_OK)) {
    const int why = sqlite.extended_errcode(handle_) & 0xff;
    if (why == SQLITE_CANTOPEN || why == SQLITE_READONLY || why == SQLITE_PERM) {
      sqlite.close(handle_);
      handle_ = nullptr;
      flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
      result = sqlite.open_v2(address_of(path).c_str(), &handle_, flags, nullptr);
    }
  }
  if (result != SQLITE_OK) fail();
}

Database::~Database() {
  if (handle_ != nullptr) sqlite_library().close(handle_);
}

void Database::fail() const {
  const SqliteLibrary& sqlite = sqlite_library();
  const int code = handle_ == nullptr ? SQLITE_NOMEM : sqlite.extended_errcode(handle_);
  const int system = handle_ == nullptr ? 0 : sqlite.system_errno(handle_);
  const std::string words = handle_ == nullptr ? "out of memory" : sqlite.errmsg(handle_);
  const bool no_space = system == ENOSPC || system == EDQUOT || system == EFBIG;
  switch (code & 0xff) {
    case SQLITE_FULL:
      refuse("store.full", path_, "the disk is full: nothing was changed, and what the store held is there",
             "room on the disk, or another one: --store FILE");
    case SQLITE_IOERR:
      if (no_space) {
        refuse("store.full", path_, "the disk is full: nothing was changed, and what the store held is there",
               "room on the disk, or another one: --store FILE");
      }
      refuse("store.unreadable", path_, "cannot be read or written: " + words);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      refuse("store.damaged", path_, "the file is damaged, or no price store (" + words + ")",
             "move it away and import again");
    case SQLITE_READONLY:
    case SQLITE_PERM:
      refuse("store.read_only", path_, "the price store may not be written to", "another file: --store FILE");
    case SQLITE_CANTOPEN:
      refuse("store.unreadable", path_, "cannot be opened: " + words, "another file: --store FILE");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      refuse("store.busy", path_, "another program has been writing to the price store for a minute", "try again");
    default:
      refuse("store.failed", path_, words);
  }
}

void Database::run(const std::string& sql) {
  if (sqlite_library().exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

std::int64_t Database::number(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.whole(0).value_or(0) : 0;
}

std::int64_t Database::last_id() const { return sqlite_library().last_insert_rowid(handle_); }
std::int64_t Database::changes() const { return sqlite_library().changes(handle_); }

Statement::Statement(Database& database, const std::string& sql) : database_(database) {
  if (sqlite_library().prepare_v2(database.handle_, sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK)
    database.fail();
}
Statement::~Statement() { sqlite_library().finalize(statement_); }

void Statement::bind(int index, std::string_view text) {
  if (text.empty()) {
    sqlite_library().bind_null(statement_, index);
    return;
  }
  // SQLite's SQLITE_TRANSIENT is a cast that the compiler warns of; the text outlives the step.
  sqlite_library().bind_text(statement_, index, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}
void Statement::bind(int index, std::optional<double> number) {
  if (number) {
    sqlite_library().bind_double(statement_, index, *number);
  } else {
    sqlite_library().bind_null(statement_, index);
  }
}
void Statement::bind_whole(int index, std::optional<std::int64_t> number) {
  if (number) {
    sqlite_library().bind_int64(statement_, index, *number);
  } else {
    sqlite_library().bind_null(statement_, index);
  }
}

bool Statement::step() {
  const int result = sqlite_library().step(statement_);
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) database_.fail();
  return false;
}
void Statement::again() { sqlite_library().reset(statement_); }

bool Statement::is_null(int column) const { return sqlite_library().column_type(statement_, column) == SQLITE_NULL; }
std::string Statement::text(int column) const {
  const unsigned char* text = sqlite_library().column_text(statement_, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite_library().column_bytes(statement_, column))};
}
std::optional<double> Statement::number(int column) const {
  if (is_null(column)) return std::nullopt;
  return sqlite_library().column_double(statement_, column);
}
std::optional<std::int64_t> Statement::whole(int column) const {
  if (is_null(column)) return std::nullopt;
  return sqlite_library().column_int64(statement_, column);
}

Transaction::Transaction(Database& database, const std::string& begin) : database_(database) { database.run(begin); }
Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.run("ROLLBACK");
  } catch (const InputError&) {  // a full disk has ended it already
  }
}
void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace gpuplan
