#include <gpuplan/report/render.hpp>

#include "catch.hpp"
#include "report/documents.hpp"

#include <nlohmann/json.hpp>

#include <limits>

namespace gpuplan {
namespace {

nlohmann::json parsed(const Document& document) { return nlohmann::json::parse(render_json(document)); }

}  // namespace

TEST_CASE("json: what is unknown is null, never zero or an empty text", "[report]") {
  const auto option = parsed(testing::estimate_document())["options"][0];
  for (const char* key : {"term_months", "region", "country", "dominated_by"}) {
    CAPTURE(key);
    CHECK(option[key].is_null());
  }
  CHECK(option["price"]["observed_on"].is_null());
  CHECK(option["price"]["age_days"].is_null());
  CHECK(option["time"]["total_s"].is_null());
}

TEST_CASE("json: whole numbers carry no fraction", "[report]") {
  const std::string text = render_json(testing::estimate_document());
  CHECK(text.find("\"parameters\": 1000000000,") != std::string::npos);
  CHECK(text.find("\"per_month\": 73,") != std::string::npos);
}

TEST_CASE("json: a number that is none is our mistake and never printed", "[report]") {
  EstimateDocument d = testing::estimate_document();
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    d.options[0].alone.ttft_s = bad;
    CHECK_THROWS_AS(render_json(d), InternalError);
  }
}

TEST_CASE("json: the job names which of its values nobody gave", "[report]") {
  const auto job = parsed(testing::estimate_document())["job"];
  CHECK(job["defaults"] == nlohmann::json::array({"type"}));
  CHECK(job["context"] == 4096);
}

TEST_CASE("json: an explanation stands in the report only when it was asked for", "[report]") {
  EstimateDocument d = testing::estimate_document();
  CHECK_FALSE(parsed(d).contains("explanation"));
  d.explanation = {{"memory.weights", 6, Unit::bytes, "a * b", {{"a", 2}, {"b", 3}}}};
  CHECK(parsed(d)["explanation"][0]["inputs"][1]["value"] == 3);
}

TEST_CASE("json: an error tells its place, and what has no line has none", "[report]") {
  const auto problems = parsed(ErrorDocument{2,
                                             {{"input.bad_value", "bad", Place{"job.yaml", 3, 5}, "a number", "", ""},
                                              {"input.bad_value", "bad", Place{"--top", 0, 0}, "", "", ""},
                                              {"usage.x", "bad", std::nullopt, "", "", ""}}})["error"]["problems"];
  CHECK(problems[0]["place"]["line"] == 3);
  CHECK(problems[1]["place"]["origin"] == "--top");
  CHECK(problems[1]["place"]["line"].is_null());
  CHECK(problems[2]["place"].is_null());
  CHECK(problems[2]["nearest"].is_null());
}

TEST_CASE("json: bad UTF-8 that somebody typed does not break the document", "[report]") {
  CHECK(parsed(ErrorDocument{2, {{"input.x", "unknown 'a\xff'", std::nullopt, "", "", ""}}})["error"]["status"] == 2);
}

}  // namespace gpuplan
