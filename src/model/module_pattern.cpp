#include "module_pattern.hpp"

#include <functional>
#include <utility>

namespace gpuplan {

bool glob_matches(std::string_view pattern, std::string_view name, MatchBudget& budget) {
  std::size_t p = 0, n = 0;
  std::size_t star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (!budget.spend()) return false;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool has_module_path(std::string_view name, std::string_view part) {
  if (part.empty()) return false;
  for (auto at = name.find(part); at != std::string_view::npos; at = name.find(part, at + 1)) {
    const bool starts = at == 0 || name[at - 1] == '.';
    const std::size_t after = at + part.size();
    if (starts && (after == name.size() || name[after] == '.')) return true;
  }
  return false;
}

/// Recursive descent over the pattern; any failure is one of the whole.
class ModuleRegex::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<std::vector<Sequence>> parse() {
    std::vector<Sequence> all;
    if (!alternatives(all, 0) || at_ != text_.size()) return std::nullopt;
    return all;
  }

 private:
  static constexpr int kDeepest = 12;
  static constexpr int kMany = 1000;

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool alternatives(std::vector<Sequence>& out, int depth) {
    if (depth > kDeepest) return false;
    do {
      Sequence sequence;
      while (!at_end() && text_[at_] != '|' && text_[at_] != ')') {
        Item item;
        if (!atom(item, depth) || !quantifier(item)) return false;
        sequence.push_back(std::move(item));
      }
      out.push_back(std::move(sequence));
    } while (take('|'));
    return true;
  }

  bool atom(Item& item, int depth) {
    const char c = text_[at_++];
    switch (c) {
      case '.':
        item.set.set();
        return true;
      case '^':
        item.kind = Kind::start;
        return true;
      case '$':
        item.kind = Kind::end;
        return true;
      case '(':
        return group(item, depth);
      case '[':
        return char_class(item.set);
      case '\\':
        return escape(item.set);
      case '*':
      case '+':
      case '?':
        return false;
      default:
        item.set.set(static_cast<unsigned char>(c));
        return true;
    }
  }

  bool group(Item& item, int depth) {
    item.kind = Kind::group;
    if (take('?')) {
      if (take('!')) {
        item.kind = Kind::not_ahead;
      } else if (take('=')) {
        item.kind = Kind::ahead;
      } else if (!take(':')) {
        return false;
      }
    }
    return alternatives(item.alternatives, depth + 1) && take(')');
  }

  bool escape(std::bitset<256>& set) {
    if (at_end()) return false;
    const char c = text_[at_++];
    const auto range = [&](char from, char to) {
      for (int i = from; i <= to; ++i) set.set(static_cast<std::size_t>(i));
    };
    switch (c) {
      case 'w':
        range('a', 'z');
        range('A', 'Z');
        set.set('_');
        [[fallthrough]];
      case 'd':
        range('0', '9');
        return true;
      case 's':
        set.set(' ');
        return true;
      default:
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return false;
        set.set(static_cast<unsigned char>(c));
        return true;
    }
  }

  bool char_class(std::bitset<256>& set) {
    const bool negated = take('^');
    bool first = true;
    while (!at_end() && (first || text_[at_] != ']')) {
      first = false;
      if (text_[at_] == '\\') {
        ++at_;
        if (!escape(set)) return false;
        continue;
      }
      const auto from = static_cast<unsigned char>(text_[at_++]);
      auto to = from;
      if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
        to = static_cast<unsigned char>(text_[at_ + 1]);
        at_ += 2;
      }
      for (int c = from; c <= to; ++c) set.set(static_cast<std::size_t>(c));
    }
    if (negated) set.flip();
    return take(']');
  }

  int number() {
    int value = 0;
    bool any = false;
    while (!at_end() && text_[at_] >= '0' && text_[at_] <= '9' && value < kMany) {
      value = 10 * value + (text_[at_++] - '0');
      any = true;
    }
    return any ? value : -1;
  }

  bool quantifier(Item& item) {
    if (take('*')) {
      item.least = 0;
      item.most = kMany;
    } else if (take('+')) {
      item.most = kMany;
    } else if (take('?')) {
      item.least = 0;
    } else if (take('{')) {
      item.least = item.most = number();
      if (take(',')) {
        item.most = number();
        if (item.most < 0) item.most = kMany;
      }
      if (item.least < 0 || item.most < item.least || !take('}')) return false;
    } else {
      return true;
    }
    (void)take('?');  // lazy: the same yes or no
    return item.kind == Kind::set || item.kind == Kind::group;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Backtracking; what follows an item is a continuation.
class ModuleRegex::Matcher {
 public:
  using Next = std::function<bool(std::size_t)>;
  Matcher(std::string_view name, MatchBudget& budget) : name_(name), budget_(budget) {}

  bool any_of(const std::vector<Sequence>& all, std::size_t at, const Next& next) {
    for (const Sequence& sequence : all) {
      if (from(sequence, 0, at, next)) return true;
    }
    return false;
  }

 private:
  bool from(const Sequence& sequence, std::size_t item, std::size_t at, const Next& next) {
    if (!budget_.spend()) return false;
    if (item == sequence.size()) return next(at);
    const Item& it = sequence[item];
    const auto rest = [&, item](std::size_t then) { return from(sequence, item + 1, then, next); };
    switch (it.kind) {
      case Kind::start:
        return at == 0 && rest(at);
      case Kind::end:
        return at == name_.size() && rest(at);
      case Kind::ahead:
      case Kind::not_ahead:
        return any_of(it.alternatives, at, [](std::size_t) { return true; }) == (it.kind == Kind::ahead) && rest(at);
      case Kind::set:
        return characters(it, at, rest);
      case Kind::group:
        return groups(it, 0, at, rest);
    }
    return false;
  }

  bool characters(const Item& it, std::size_t at, const Next& rest) {
    std::size_t most = 0;
    while (most < static_cast<std::size_t>(it.most) && at + most < name_.size() &&
           it.set.test(static_cast<unsigned char>(name_[at + most]))) {
      ++most;
    }
    for (std::size_t n = most + 1; n-- > static_cast<std::size_t>(it.least);) {
      if (rest(at + n)) return true;
    }
    return false;
  }

  bool groups(const Item& it, int done, std::size_t at, const Next& rest) {
    if (done < it.most) {
      const auto again = [&, done](std::size_t then) {
        if (then == at) return done + 1 >= it.least && rest(then);  // no use in going round without a step
        return groups(it, done + 1, then, rest);
      };
      if (any_of(it.alternatives, at, again)) return true;
    }
    return done >= it.least && rest(at);
  }

  std::string_view name_;
  MatchBudget& budget_;
};

std::optional<ModuleRegex> ModuleRegex::compile(std::string_view pattern) {
  constexpr std::size_t kLongest = 2000;
  if (pattern.size() > kLongest) return std::nullopt;
  auto parsed = Parser(pattern).parse();
  if (!parsed) return std::nullopt;
  ModuleRegex regex;
  regex.alternatives_ = std::move(*parsed);
  return regex;
}

bool ModuleRegex::matches(std::string_view name, MatchBudget& budget) const {
  return Matcher(name, budget).any_of(alternatives_, 0, [](std::size_t) { return true; });
}

}  // namespace gpuplan
