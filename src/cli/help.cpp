#include "commands.hpp"
#include "flags.hpp"

#include <gpuplan/base/text.hpp>

namespace gpuplan::cli {
namespace {

constexpr int kWidth = 100;
constexpr int kFlagColumn = 28;

constexpr std::pair<std::string_view, std::string_view> kStatuses[] = {
    {"0", "done"},
    {"1", "internal failure, or the result could not be written"},
    {"2", "bad usage or bad input"},
    {"3", "no feasible plan"},
    {"4", "an assertion, a deadline or a budget did not hold"},
};

constexpr std::string_view kRepeating =
    "A flag that is given again counts as it was given last, unless its help says that it may be repeated or its value "
    "is a list; there may be only one "
    "job file. What the command line says goes over the job file.";

constexpr std::string_view kFilesRules =
    "Names may also end in .yml; hidden files, folders, pipes and devices are passed over. A folder that is not there "
    "is no layer, one that cannot be "
    "listed is told on standard error and left out, and a file that cannot be read is an error.";

constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
    {"/etc/gpuplan/*.yaml", "facts of this machine, over the built-in ones"},
    {"$XDG_CONFIG_HOME/gpuplan/*.yaml", "facts of the user (~/.config/gpuplan where unset or not absolute)"},
    {".gpuplan/*.yaml", "facts of the project in the current folder"},
};

std::string flag_usage(const Flag& flag) {
  std::string text = flag.letter ? std::string("-") + flag.letter + ", " : std::string("    ");
  text += "--" + std::string(flag.name);
  if (!flag.value.empty()) text += " " + std::string(flag.value);
  return text;
}

std::string flag_help(const Flag& flag) {
  std::string text(flag.help);
  if (!flag.fallback.empty()) text += " (default: " + std::string(flag.fallback) + ")";
  return text;
}

// Two columns, the second wrapped.
std::string entry(const std::string& left, std::string_view right, int column) {
  std::string out;
  std::string line = "  " + left;
  if (display_width(line) > column - 2) {
    out += line + "\n";
    line.clear();
  }
  for (const auto& part : wrap(right, kWidth - column)) {
    line.append(static_cast<std::size_t>(std::max(0, column - display_width(line))), ' ');
    out += line + part + "\n";
    line.clear();
  }
  return out;
}

std::string paragraph(std::string_view text) {
  std::string out;
  for (const auto& line : wrap(text, kWidth)) out += line + "\n";
  return out;
}

std::string overview() {
  std::string out = "usage: gpuplan COMMAND [FLAGS]\n\n";
  out += paragraph(
      "Plans accelerators, time and cost for machine-learning workloads, from facts and physics, and shows where every "
      "number came from.");
  out += "\ncommands\n";
  for (const Command& command : commands()) out += entry(std::string(command.name), command.summary, 14);
  out += "\n" + paragraph(kRepeating);
  out += "\n" + paragraph("'gpuplan help COMMAND' explains one. 'gpuplan --version' prints the version.") +
         "\nexample\n  " + std::string(commands().front().examples.front()) + "\n";
  return out;
}

// Roff: a leading dot or quote and backslashes would be commands.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  if (!out.empty() && (out.front() == '.' || out.front() == '\'')) out.insert(0, "\\&");
  return out;
}

std::string man_flag(const Flag& flag) {
  std::string out = ".TP\n.B ";
  if (flag.letter) out += std::string("\\-") + flag.letter + ", ";
  out += "\\-\\-" + roff(flag.name);
  if (!flag.value.empty()) out += " " + roff(flag.value);
  return out + "\n" + roff(flag_help(flag)) + "\n";
}

}  // namespace

std::string help_text(const Command* command) {
  if (!command) return overview();
  std::string out = "usage: gpuplan " + std::string(command->name);
  if (!command->words.empty()) out += " " + std::string(command->words);
  out += " [FLAGS]\n\n" + paragraph(command->summary);
  if (!command->description.empty()) out += "\n" + paragraph(command->description);
  std::string_view group;
  for (const std::string_view name : command->flags) {
    const Flag* flag = find_flag(name);
    if (flag->group != group) out += "\n" + std::string(flag->group) + "\n";
    group = flag->group;
    out += entry(flag_usage(*flag), flag_help(*flag), kFlagColumn);
  }
  if (!command->examples.empty()) out += "\nexamples\n";
  for (const std::string_view example : command->examples) out += "  " + std::string(example) + "\n";
  out += "\nexit status\n";
  for (const auto& [status, meaning] : kStatuses) out += entry(std::string(status), meaning, 6);
  return out;
}

std::string man_page() {
  std::string out = ".\\\" Written by 'gpuplan help --man'; do not edit.\n.TH GPUPLAN 1 \"\" \"gpuplan " GPUPLAN_VERSION
                    "\" \"User Commands\"\n";
  out += ".SH NAME\ngpuplan \\- plan accelerators, time and cost for machine\\-learning workloads\n";
  out += ".SH SYNOPSIS\n.B gpuplan\n.I COMMAND\n[\\fIFLAGS\\fR]\n.SH COMMANDS\n";
  for (const Command& command : commands()) {
    out += ".SS " + roff(command.name);
    if (!command.words.empty()) out += " " + roff(command.words);
    out += "\n" + roff(command.summary) + ".\n";
    if (!command.description.empty()) out += ".PP\n" + roff(command.description) + "\n";
    if (command.run) {
      out += ".PP\nFlags:";
      for (const std::string_view name : command.flags) out += " \\-\\-" + roff(name);
      out += ".\n";
    }
  }
  out += ".SH FLAGS\n" + roff(kRepeating) + "\n";
  for (const Flag& flag : flags()) out += man_flag(flag);
  out += ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : kStatuses) out += ".TP\n.B " + std::string(status) + "\n" + roff(meaning) + "\n";
  out += ".SH FILES\n";
  for (const auto& [file, meaning] : kFiles) out += ".TP\n.I " + roff(file) + "\n" + roff(meaning) + "\n";
  out += ".PP\n" + roff(kFilesRules) + "\n";
  out +=
      ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colour, whatever the terminal\n.TP\n.B COLUMNS\nwidth of prose and "
      "tables; unset: that of the terminal, and whole tables in a pipe\n";
  out += ".SH EXAMPLES\n.nf\n";
  for (const Command& command : commands()) {
    for (const std::string_view example : command.examples) out += roff(example) + "\n";
  }
  return out + ".fi\n";
}

}  // namespace gpuplan::cli
