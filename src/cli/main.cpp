// The program: arguments in, one document out, and an exit status that is a contract.

#include "commands.hpp"
#include "output.hpp"
#include "parser.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/report/render.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <new>
#include <system_error>

#include <sys/ioctl.h>
#include <unistd.h>

namespace gpuplan::cli {
namespace {

constexpr int kDone = 0;
constexpr int kInternal = 1;
constexpr int kBadInput = 2;
constexpr int kAssertionFailed = 4;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// What $COLUMNS says, else the terminal on standard output; 0 when neither does: a pipe has room for whole tables.
int terminal_columns() {
  constexpr int kWidest = 1000;
  if (const auto columns = parse_count(variable("COLUMNS")); columns.value && *columns.value <= kWidest) {
    return static_cast<int>(*columns.value);
  }
  winsize size{};
  if (::isatty(STDOUT_FILENO) && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
    return std::min<int>(size.ws_col, kWidest);
  return 0;
}

Environment environment_of_process() {
  Environment environment;
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  if (::localtime_r(&now, &local)) environment.today = {local.tm_year + 1900, local.tm_mon + 1, local.tm_mday};
  environment.home = variable("HOME");
  environment.config_home = variable("XDG_CONFIG_HOME");
  environment.variable = [](const std::string& name) { return variable(name.c_str()); };
  environment.color = ::isatty(STDOUT_FILENO) && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  if (const int columns = terminal_columns(); columns > 0) environment.width = environment.table_width = columns;
  return environment;
}

std::string render(const Document& document, const Options& options, const Environment& environment, Format format) {
  switch (format) {
    case Format::json:
      return render_json(document);
    case Format::csv:
      return render_csv(document);
    case Format::markdown:
      return render_markdown(document);
    case Format::html:
      return render_html(document);
    case Format::svg:
      return render_svg(document);
    case Format::table:
      break;
  }
  TextStyle style{environment.width, environment.table_width, environment.color, options.explain};
  if (!options.output_file.empty()) style = {TextStyle{}.width, 0, false, options.explain};
  return render_table(document, style);
}

// Every assertion that does not hold is said; bad ones are input errors.
int check_assertions(const Document& document, const Options& options) {
  int failed = 0;
  for (const std::string& expression : options.assertions) {
    const AssertionResult result = check_assertion(document, expression);
    if (result.holds) continue;
    write_error("gpuplan: assertion does not hold: " + expression +
                (result.seen.empty() ? "" : " (" + result.seen + ")") + "\n");
    failed = kAssertionFailed;
  }
  return failed;
}

int run_command(const Invocation& invocation, const Environment& environment) {
  const Options& options = invocation.options;
  if (!invocation.command->run || options.help) {
    const Command* topic = invocation.command->run ? invocation.command : nullptr;
    if (!topic && !options.words.empty()) topic = parse_arguments({options.words.front()}).command;
    write_result(options.man ? man_page() : help_text(topic), {});
    return 0;
  }
  const Outcome outcome = invocation.command->run(options, environment);
  for (const std::string& notice : outcome.notices) write_error("gpuplan: " + notice + "\n");
  const int assertion = check_assertions(outcome.document, options);
  write_result(render(outcome.document, options, environment, outcome.format.value_or(options.format)),
               options.output_file);
  return outcome.status != 0 ? outcome.status : assertion;
}

// A problem quotes what was typed and lists what there is, which may be anything.
void shorten(std::string& text, std::size_t limit) {
  if (text.size() <= limit) return;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0) == 0x80) --limit;  // not inside a code point
  text.resize(limit);
  text += "…";
}

void shorten(Problem& problem) {
  constexpr std::size_t kMessage = 400;  // bytes
  constexpr std::size_t kList = 2000;
  shorten(problem.message, kMessage);
  shorten(problem.expected, kList);
  shorten(problem.nearest, kMessage);
  if (problem.place) shorten(problem.place->origin, kList);
}

ErrorDocument first_problems(ErrorDocument error) {
  constexpr std::size_t kShown = 20;
  if (error.problems.size() <= kShown) return error;
  const std::size_t more = error.problems.size() - kShown;
  error.problems.resize(kShown);
  error.problems.push_back({"input.more_problems", "and " + std::to_string(more) + " more", std::nullopt, {}, {}, {}});
  return error;
}

ErrorDocument document_of(const OutputError& error) {
  return {kInternal, {{error.id(), error.what(), std::nullopt, {}, {}, {}}}};
}

// In JSON on standard output too where JSON was asked for. A standard output that cannot be written to is not tried twice.
int report_errors(ErrorDocument error, Format format) {
  for (Problem& problem : error.problems) shorten(problem);
  write_error(render_table(error, {}));
  if (format != Format::json || error.problems.front().id == kStandardOutput) return error.status;
  const int status = error.status;
  try {
    write_result(render_json(first_problems(std::move(error))), {});
  } catch (const OutputError& failure) {
    write_error(render_table(document_of(failure), {}));
    return kInternal;
  }
  return status;
}

// Problems with a flag whose value the job file gave are problems there.
int run_placed(const Invocation& invocation) {
  try {
    return run_command(invocation, environment_of_process());
  } catch (const InputError& error) {
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) {
      if (!problem.place) continue;
      const auto found = invocation.options.places.find(problem.place->origin);
      if (found != invocation.options.places.end()) problem.place = found->second;
    }
    throw InputError(std::move(problems));
  }
}

int run(const std::vector<std::string>& arguments) {
  Format format = format_asked_for(arguments);
  try {
    const Invocation invocation = parse_arguments(arguments);
    if (invocation.version) {
      write_result("gpuplan " GPUPLAN_VERSION "\n", {});
      return kDone;
    }
    if (!invocation.command) {
      write_result(help_text(nullptr), {});
      return kDone;
    }
    format = invocation.options.format;  // a job file may say it
    return run_placed(invocation);
  } catch (const InputError& error) {
    return report_errors({kBadInput, error.problems()}, format);
  } catch (const OutputError& error) {
    return report_errors(document_of(error), format);
  }
}

}  // namespace
}  // namespace gpuplan::cli

int main(int argc, char** argv) {
  using gpuplan::cli::write_error;
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe becomes a message and a status,
  std::signal(SIGXFSZ, SIG_IGN);  // and so does a file that may not grow
  gpuplan::cli::hold_standard_streams();
  try {
    return gpuplan::cli::run({argv + 1, argv + argc});
  } catch (const std::system_error& error) {
    write_error(std::string("gpuplan: ") + error.what() + "\n");
  } catch (const std::bad_alloc&) {
    write_error("gpuplan: out of memory\n");
  } catch (const std::exception& error) {
    write_error(std::string("gpuplan: internal error: ") + error.what() + "\n");
  }
  return gpuplan::cli::kInternal;
}
