#include "parser.hpp"

#include "flags.hpp"
#include "job_file.hpp"

#include <gpuplan/base/text.hpp>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <map>

namespace gpuplan::cli {
namespace {

Problem usage_problem(std::string id, std::string message, std::string expected, std::string nearest = {}) {
  return {std::move(id), std::move(message), std::nullopt, std::move(expected), std::move(nearest), {}};
}

const Command& require_command(const std::string& name) {
  if (const Command* command = find_command(name)) return *command;
  std::vector<std::string> all;
  std::vector<std::string_view> views;
  for (const Command& command : commands()) {
    all.emplace_back(command.name);
    views.push_back(command.name);
  }
  throw InputError(usage_problem("usage.unknown_command", "unknown command '" + name + "'", join(all, ", "),
                                 nearest_name(name, views)));
}

std::string option_names(const Flag& flag) {
  std::string names = "--" + std::string(flag.name);
  if (flag.letter) names += std::string(",-") + flag.letter;
  return names;
}

// What CLI11 found, by flag, in the order of the table.
struct Found {
  std::map<std::string_view, std::vector<std::string>> values;
  std::map<std::string_view, std::size_t> switches;
  std::vector<std::string> words;
  std::vector<std::string> unknown;
};

Found split_arguments(const Command& command, std::vector<std::string> arguments) {
  Found found;
  CLI::App app;
  app.set_help_flag("");
  app.allow_extras();
  for (const std::string_view name : command.flags) {
    const Flag& flag = *find_flag(name);
    if (flag.value.empty()) {
      app.add_flag(option_names(flag), found.switches[name]);
    } else {
      app.add_option(option_names(flag), found.values[name])->take_all()->expected(1)->allow_extra_args(false);
    }
  }
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();
    throw InputError(usage_problem("usage.missing_value", "'" + what.substr(0, what.find(':')) + "' needs a value",
                                   "see 'gpuplan help " + std::string(command.name) + "'"));
  } catch (const CLI::Error& error) {
    throw InputError(usage_problem(
        "usage.bad_arguments", to_lower(std::string(error.what()).substr(0, 1)) + std::string(error.what()).substr(1),
        "see 'gpuplan help " + std::string(command.name) + "'"));
  }
  bool only_words = false;  // behind '--'
  for (const std::string& extra : app.remaining()) {
    const bool is_flag = !only_words && extra.size() > 1 && extra.front() == '-';
    if (is_flag && extra == "--") {
      only_words = true;
    } else {
      (is_flag ? found.unknown : found.words).push_back(extra);
    }
  }
  return found;
}

const Flag* flag_named(const Command& command, std::string_view name) {
  const auto at = std::find(command.flags.begin(), command.flags.end(), name);
  return at == command.flags.end() ? nullptr : find_flag(*at);
}

// CLI11 would make of `--explain=false` what it likes: the values of switches are told and taken away.
std::vector<Problem> take_values_of_switches(const Command& command, std::vector<std::string>& arguments) {
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string_view argument = arguments[i];
    const bool is_long = argument.starts_with("--");
    const std::size_t equals = is_long ? argument.find('=') : std::string_view::npos;
    const Flag* flag = nullptr;
    if (is_long) flag = flag_named(command, argument.substr(2, equals - 2));
    if (argument.size() == 2 && argument.front() == '-') flag = find_flag(argument.substr(1));
    if (!flag) continue;
    if (flag->value.empty() && equals != std::string_view::npos) {
      problems.push_back(usage_problem(
          "usage.unexpected_value",
          "'--" + std::string(flag->name) + "' takes no value, not '" + std::string(argument.substr(equals + 1)) + "'",
          "--" + std::string(flag->name)));
      arguments[i].resize(equals);
    } else if (!flag->value.empty() && equals == std::string_view::npos) {
      ++i;  // its value
    }
  }
  return problems;
}

std::vector<Problem> unknown_flags(const Command& command, const std::vector<std::string>& unknown) {
  std::vector<Problem> problems;
  std::vector<std::string> names;
  for (const std::string_view flag : command.flags) names.push_back("--" + std::string(flag));
  const std::vector<std::string_view> views(names.begin(), names.end());
  for (const std::string& flag : unknown) {
    problems.push_back(usage_problem(
        "usage.unknown_flag", "unknown flag '" + flag + "' of 'gpuplan " + std::string(command.name) + "'",
        "see 'gpuplan help " + std::string(command.name) + "'", nearest_name(flag.substr(0, flag.find('=')), views)));
  }
  return problems;
}

void apply(const Found& found, const Command& command, Options& options, std::vector<Problem>& problems) {
  const auto report = [&](const Flag& flag, std::optional<Problem> problem) {
    if (!problem) return;
    problem->place = Place{"--" + std::string(flag.name), 0, 0};
    problems.push_back(std::move(*problem));
  };
  for (const std::string_view name : command.flags) {
    const Flag& flag = *find_flag(name);
    if (flag.value.empty()) {
      if (found.switches.at(name) > 0) report(flag, flag.apply(options, "true"));
    } else {
      for (const std::string& text : found.values.at(name)) report(flag, flag.apply(options, text));
    }
  }
}

// A list that the command line gives replaces the file's.
void forget_lists(const Found& found, Options& options) {
  const auto said = [&](std::string_view name) {
    const auto at = found.values.find(name);
    return at != found.values.end() && !at->second.empty();
  };
  if (said("gpu")) options.gpus.clear();
  if (said("provider")) options.providers.clear();
  if (said("contract")) options.contracts.clear();
  if (said("metric")) options.metrics.clear();
  if (said("group-by")) options.group_by.clear();
}

// What the command line says stands there, whatever the file says.
void forget_places(const Found& found, Options& options) {
  for (const auto& [name, values] : found.values) {
    if (!values.empty()) options.places.erase("--" + std::string(name));
  }
  for (const auto& [name, times] : found.switches) {
    if (times > 0) options.places.erase("--" + std::string(name));
  }
}

}  // namespace

Invocation parse_arguments(const std::vector<std::string>& arguments) {
  Invocation invocation;
  if (arguments.empty())
    throw InputError(usage_problem("usage.missing_command", "no command given", "see 'gpuplan help'"));
  if (arguments.front() == "--version") {
    invocation.version = true;
    return invocation;
  }
  if (arguments.front() == "--help" || arguments.front() == "-h") {
    invocation.options.help = true;
    return invocation;
  }
  const Command& command = require_command(arguments.front());
  invocation.command = &command;
  std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  std::vector<Problem> problems = take_values_of_switches(command, rest);
  const Found found = split_arguments(command, std::move(rest));
  for (Problem& problem : unknown_flags(command, found.unknown)) problems.push_back(std::move(problem));
  if (command.words.empty() && problems.empty()) {  // behind an unknown flag stands its value
    for (const std::string& word : found.words) {
      problems.push_back(usage_problem("usage.unexpected_word", "unexpected '" + word + "'",
                                       "flags only; see 'gpuplan help " + std::string(command.name) + "'"));
    }
  }
  if (const auto files = found.values.find("file"); files != found.values.end() && files->second.size() > 1) {
    problems.push_back(usage_problem("usage.repeated_flag", "'--file' is given more than once", "one job file"));
  }
  Options typed;
  apply(found, command, typed, problems);
  if (!problems.empty()) throw InputError(std::move(problems));
  if (!typed.job_file.empty() && !typed.help) {
    read_job_file(typed.job_file, command, invocation.options);
    forget_lists(found, invocation.options);
    forget_places(found, invocation.options);
  }
  apply(found, command, invocation.options, problems);
  invocation.options.words = found.words;
  return invocation;
}

Format format_asked_for(const std::vector<std::string>& arguments) {
  constexpr std::string_view kFlag = "--format";
  std::string_view value;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == kFlag && i + 1 < arguments.size()) value = arguments[i + 1];
    if (argument.substr(0, kFlag.size() + 1) == "--format=") value = argument.substr(kFlag.size() + 1);
  }
  return value == "json" ? Format::json : Format::table;
}

}  // namespace gpuplan::cli
