#pragma once
// A SQLite file: opening, statements, and what goes wrong in words.

#include "sqlite_library.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuplan {

class Database {
 public:
  enum class Use { read, write };
  // `read` opens a file that is there, also one that may not be written to; `write` makes it. Throws InputError:
  // store.not_found, store.unreadable, store.read_only, store.damaged.
  Database(const std::string& path, Use use);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void run(const std::string& sql);
  std::int64_t number(const std::string& sql);  // the first value of the first row; 0 without one
  [[nodiscard]] std::int64_t last_id() const;
  [[nodiscard]] std::int64_t changes() const;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[noreturn]] void fail() const;

 private:
  friend class Statement;
  std::string path_;
  sqlite3* handle_ = nullptr;
};

class Statement {
 public:
  Statement(Database& database, const std::string& sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(int index, std::string_view text);  // empty: null
  void bind(int index, std::optional<double> number);
  void bind_whole(int index, std::optional<std::int64_t> number);
  bool step();  // true: there is a row
  void again();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::optional<double> number(int column) const;
  [[nodiscard]] std::optional<std::int64_t> whole(int column) const;

 private:
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

// A transaction that is undone unless it is committed.
class Transaction {
 public:
  explicit Transaction(Database& database, const std::string& begin = "BEGIN IMMEDIATE");
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace gpuplan
