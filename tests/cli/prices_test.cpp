#include "cli/commands.hpp"

#include "catalogues.hpp"
#include "catch.hpp"
#include "cli/parser.hpp"

#include <algorithm>

namespace gpuplan::cli {
namespace {

// The command as it is typed, with a store of its own.
class Session {
 public:
  ListDocument run(std::vector<std::string> words, const std::string& second = "1758326400") {
    words.insert(words.begin(), "prices");
    words.insert(words.end(), {"--store", folder_.path("prices.db")});
    Environment environment;
    environment.today = {2026, 9, 20};
    environment.home = folder_.path();
    environment.variable = [&](const std::string& name) {
      return name == "SOURCE_DATE_EPOCH" ? second : std::string();
    };
    const Invocation invocation = parse_arguments(words);
    return std::get<ListDocument>(invocation.command->run(invocation.options, environment).document);
  }
  EstimateDocument estimate(std::vector<std::string> words) {
    words.insert(words.begin(), "estimate");
    words.insert(words.end(), {"--store", folder_.path("prices.db")});
    Environment environment;
    environment.today = {2026, 9, 20};
    environment.home = folder_.path();
    const Invocation invocation = parse_arguments(words);
    return std::get<EstimateDocument>(invocation.command->run(invocation.options, environment).document);
  }
  [[nodiscard]] const testing::Folder& folder() const { return folder_; }

 private:
  testing::Folder folder_;
};

std::string text_at(const ListDocument& list, std::size_t row, std::string_view column) {
  for (std::size_t c = 0; c < list.columns.size(); ++c) {
    if (list.columns[c] != column) continue;
    const auto* text = std::get_if<std::string>(&list.rows.at(row)[c].value);
    return text ? *text : "";
  }
  return "no such column";
}

std::string list_of(const std::string& price) {
  return "provider,gpu,count,contract,price,currency\nlambda,H100 SXM,8,on_demand," + price +
         ",USD\nlambda,L4,1,spot,0.3,USD\n";
}

}  // namespace

TEST_CASE("prices: imported prices of tokens stand beside the ranking", "[cli][prices]") {
  Session session;
  const std::string file = session.folder().write(
      "tokens.json",
      R"({"newco/llama-3.1-8b": {"litellm_provider": "newco", "mode": "chat", "input_cost_per_token": 1e-08, "output_cost_per_token": 2e-08}})");
  (void)session.run({"import", "litellm", file});
  const EstimateDocument document = session.estimate({"--model", "llama-3.1-8b", "--input", "1000", "--output", "500"});
  const auto found = std::find_if(document.alternatives.token_apis.begin(), document.alternatives.token_apis.end(),
                                  [](const TokenApiDocument& api) { return api.provider == "newco"; });
  REQUIRE(found != document.alternatives.token_apis.end());
  CHECK(found->imported);
  CHECK(found->per_request == Approx(1000 * 1e-8 + 500 * 2e-8));
}

TEST_CASE("prices: imports are listed, compared, drawn over time and pruned", "[cli][prices]") {
  Session session;
  const std::string file = session.folder().write("quotes.csv", list_of("16"));
  (void)session.run({"import", "csv", file, "--as-of", "2026-09-01"}, "1756684800");
  (void)session.folder().write("quotes.csv", list_of("20"));
  const ListDocument import = session.run({"import", "csv", file, "--as-of", "2026-09-20"});
  CHECK(import.note.find("snapshot 2 of 'csv:quotes'") == 0);

  const ListDocument list = session.run({"list", "--gpu", "H100"});
  REQUIRE(list.rows.size() == 1);
  CHECK(text_at(list, 0, "listed") == "20 USD per instance and hour");
  CHECK(text_at(list, 0, "observed_on") == "2026-09-20");

  const ListDocument history = session.run({"history", "--gpu", "H100", "--provider", "lambda"});
  REQUIRE(history.rows.size() == 2);
  CHECK(text_at(history, 1, "trend") == "▁█");

  const ListDocument diff = session.run({"diff", "1", "2"});
  REQUIRE(diff.rows.size() == 1);
  CHECK(text_at(diff, 0, "change") == "moved");
  CHECK(std::get<double>(diff.rows[0][4].value) == Approx(25));

  CHECK(session.run({"snapshots"}).rows.size() == 2);
  CHECK(session.run({"prune", "--keep", "1"}).rows.size() == 1);
  CHECK(session.run({"lint"}).rows.empty());
}

TEST_CASE("prices: what is exported imports as the same", "[cli][prices]") {
  Session session;
  (void)session.run({"import", "csv", session.folder().write("quotes.csv", list_of("16"))});
  const ListDocument before = session.run({"export"});
  std::string text;
  for (std::size_t c = 0; c < before.columns.size(); ++c) text += (c ? "," : "") + before.columns[c];
  for (const auto& row : before.rows) {
    text += '\n';
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c) text += ',';
      if (const auto* word = std::get_if<std::string>(&row[c].value)) text += '"' + *word + '"';
      if (const auto* number = std::get_if<double>(&row[c].value)) text += std::to_string(*number);
      if (const auto* truth = std::get_if<bool>(&row[c].value)) text += *truth ? "true" : "false";
    }
  }
  (void)session.run({"import", "csv", session.folder().write("quotes.csv", text + "\n")});
  CHECK(session.run({"diff", "1", "2"}).rows.empty());
  CHECK(session.run({"list"}).rows.size() == 2);
}

TEST_CASE("prices: a file that says whose list it is needs no provider", "[cli][prices]") {
  Session session;
  const std::string text = "InstanceType,AcceleratorName,AcceleratorCount,Price,Region\na,L4,1,0.5,r\n";
  CHECK(session.run({"import", "skypilot", session.folder().write("nebius.csv", text)}).note.find("skypilot:nebius") !=
        std::string::npos);
  const auto problems = testing::problems_of([&] {
    (void)session.run({"import", "skypilot", session.folder().write("vms.csv", text)});
  });
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == "prices.no_provider");
}

TEST_CASE("prices: subcommands say what they miss", "[cli][prices]") {
  Session session;
  const auto id = [&](std::vector<std::string> words) {
    const auto problems = testing::problems_of([&] { (void)session.run(std::move(words)); });
    return problems.empty() ? std::string() : problems[0].id;
  };
  CHECK(id({}) == "usage.missing_word");
  CHECK(id({"improt"}) == "usage.unknown_command");
  CHECK(id({"import", "csv"}) == "usage.missing_word");
  CHECK(id({"import", "csv", session.folder().path("none.csv")}) == "input.not_found");
  CHECK(id({"import", "csv", session.folder().write("empty.csv", "")}) == "input.empty");
  CHECK(id({"import", "csv", session.folder().write("packed.csv", "\x1f\x8b compressed")}) == "input.compressed");
  CHECK(id({"diff", "1"}) == "usage.missing_word");
  CHECK(id({"prune"}) == "usage.missing_value");
  CHECK(id({"list"}) == "store.not_found");
  (void)session.run({"import", "csv", session.folder().write("quotes.csv", list_of("16"))});
  CHECK(id({"diff", "1", "x"}) == "input.bad_value");
  CHECK(id({"list", "--gpu", "H10O"}) == "input.unknown_name");
}

TEST_CASE("prices: imported offers take part in lists of offers unless they are left out", "[cli][prices]") {
  Session session;
  (void)session.run({"import", "csv", session.folder().write("quotes.csv", list_of("0.08"))});
  Environment environment;
  environment.today = {2026, 9, 20};
  environment.home = session.folder().path();
  const auto first_id = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {
        "offers", "--gpu", "H100", "--top", "1", "--store", session.folder().path("prices.db")};
    words.insert(words.end(), more.begin(), more.end());
    const Invocation invocation = parse_arguments(words);
    return text_at(std::get<ListDocument>(invocation.command->run(invocation.options, environment).document), 0, "id");
  };
  CHECK(first_id({}) == "store/lambda/h100-sxm5-80gb-x8/on_demand/any");
  CHECK(first_id({"--no-store"}).find("store/") == std::string::npos);
}

// With a number of rows the store is asked for the cheapest of each class alone; without, all of it is read.
TEST_CASE("offers: the first rows are those of the whole list, class by class and by price", "[cli][prices]") {
  Session session;
  std::string text = "provider,gpu,count,contract,price,currency,marketplace,product\n";
  int n = 0;
  for (const char* gpu : {"L4", "H100 SXM", "RTX 4090", "A100 SXM4 80GB", "L40S"}) {
    for (const char* marketplace : {"false", "true"}) {
      for (const char* price : {"0.0101", "0.0303", "0.0202"}) {
        text += "lambda," + std::string(gpu) + ",1,on_demand," + price + std::to_string(n) + ",USD," + marketplace +
                ",p" + std::to_string(n) + "\n";
        ++n;
      }
    }
  }
  (void)session.run({"import", "csv", session.folder().write("many.csv", text)});
  const auto ids = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "offers");
    words.insert(words.end(), {"--store", session.folder().path("prices.db")});
    Environment environment;
    environment.today = {2026, 11, 30};
    environment.home = session.folder().path();
    const Invocation invocation = parse_arguments(words);
    const auto list = std::get<ListDocument>(invocation.command->run(invocation.options, environment).document);
    std::vector<std::string> all;
    for (std::size_t row = 0; row < list.rows.size(); ++row) all.push_back(text_at(list, row, "id"));
    return all;
  };
  for (const std::vector<std::string>& order : {std::vector<std::string>{}, {"--sort", "price"}}) {
    const std::vector<std::string> whole = ids(order);
    for (const std::size_t rows : {1U, 4U, 9U, 25U}) {
      std::vector<std::string> words = order;
      words.insert(words.end(), {"--top", std::to_string(rows)});
      CAPTURE(order.size(), rows);
      CHECK(ids(words) == std::vector<std::string>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(rows)));
    }
  }
}

}  // namespace gpuplan::cli
