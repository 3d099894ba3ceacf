#include "catalogues.hpp"
#include "catch.hpp"
#include "prices/database.hpp"

#include <gpuplan/prices/store.hpp>
#include <gpuplan/report/build.hpp>

#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <map>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gpuplan {
namespace {

using testing::built_in;
using testing::Folder;
using testing::problems_of;

ImportedOffer offer(const std::string& product, double price, Contract contract = Contract::on_demand) {
  ImportedOffer o;
  o.provider = "lambda";
  o.gpu = "H100-SXM5-80GB";
  o.count = 8;
  o.contract = contract;
  o.price = price;
  o.product = product;
  o.source = "test";
  return o;
}

Snapshot import(const std::string& path, const std::vector<ImportedOffer>& offers, const std::string& source = "list",
                const std::string& when = "2026-09-20T00:00:00Z") {
  PriceStore store(path, PriceStore::Use::write);
  SnapshotWriter writer(store, built_in(), {source, "csv", "file", when});
  ImportSummary summary;
  for (const ImportedOffer& one : offers) {
    writer.add(one);
    ++summary.kept;
    ++summary.read;
  }
  return writer.commit(summary);
}

std::vector<StoredOffer> all(const std::string& path, const StoreQuery& query = {}) {
  return PriceStore(path, PriceStore::Use::read).offers(query);
}

std::string problem_of(const std::function<void()>& what) {
  const auto problems = problems_of(what);
  return problems.empty() ? "" : problems[0].id;
}

// What a child of ours does, and how it ended.
int in_child(const std::function<void()>& what) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      what();
    } catch (const InputError& error) {
      ::_exit(error.problems()[0].id == "store.full" ? 7 : 8);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("price store: what was imported comes back whole, cheapest first", "[prices]") {
  const Folder folder;
  const std::string path = folder.path("sub/prices.db");
  ImportedOffer full = offer("a", 16);
  full.region = "O'Brien's";
  full.vcpus = 208;
  full.gpu_memory_gb = 80;
  full.vat = Vat::included;
  full.interruption = "<5%";
  full.savings_percent = -3;
  full.rankable = false;
  full.why_not = "why";
  full.notes = "\xC3\xA9";
  full.term_months = 12;
  const Snapshot snapshot = import(path, {full, offer("b", 8)});
  CHECK(snapshot.id == 1);
  const auto offers = all(path);
  REQUIRE(offers.size() == 2);
  CHECK(offers[0].offer.product == "b");
  CHECK(offers[0].usd_gpu_hour.value() == Approx(1));
  const ImportedOffer& back = offers[1].offer;
  CHECK(back.region == full.region);
  CHECK(back.vcpus == full.vcpus);
  CHECK(back.vat == full.vat);
  CHECK(back.savings_percent == full.savings_percent);
  CHECK(back.interruption == full.interruption);
  CHECK(back.notes == full.notes);
  CHECK(back.term_months == full.term_months);
  CHECK_FALSE(back.rankable);
  CHECK(back.share.has_value() == false);
  CHECK(offers[1].id == "store/" + identity_of(full));
  StoreQuery query;
  query.region = "o'b";
  CHECK(all(path, query).size() == 1);
  query = {};
  query.limit = 1;
  CHECK(all(path, query).size() == 1);
}

TEST_CASE("price store: the newest import of each source counts, the others are history", "[prices]") {
  const Folder folder;
  const std::string path = folder.path("p.db");
  import(path, {offer("a", 8)}, "one", "2026-09-01T00:00:00Z");
  import(path, {offer("a", 16)}, "one", "2026-09-02T00:00:00Z");
  import(path, {offer("x", 24)}, "two", "2026-09-02T00:00:00Z");
  CHECK(all(path).size() == 2);
  PriceStore store(path, PriceStore::Use::write);
  StoreQuery query;
  query.providers = {"lambda"};
  const auto series = price_history(store, query);
  REQUIRE(series.size() == 1);
  REQUIRE(series[0].points.size() == 2);  // the lowest of each day
  CHECK(series[0].points[0].usd_gpu_hour == Approx(1));
  CHECK(series[0].points[1].usd_gpu_hour == Approx(2));
  CHECK(store.prune(1) == 1);
  CHECK(store.snapshots().size() == 2);
  CHECK(all(path).size() == 2);
}

TEST_CASE("sparkline: eight levels over the range", "[prices]") {
  CHECK(sparkline({}) == "");
  CHECK(sparkline({2, 2}) == "▁▁");
  CHECK(sparkline({0, 1, 2, 3, 4, 5, 6, 7}) == "▁▂▃▄▅▆▇█");
}

TEST_CASE("price store: moves are told from restatements", "[prices]") {
  const Folder folder;
  const std::string path = folder.path("p.db");
  ImportedOffer per_gpu = offer("restated", 2);
  per_gpu.scope = PriceScope::gpu;
  import(path, {offer("same", 8), offer("moved", 16), offer("gone", 1), offer("restated", 16)});
  import(path, {offer("same", 8), offer("moved", 20), offer("new", 1), per_gpu});
  PriceStore store(path, PriceStore::Use::read);
  std::map<PriceChange, const PriceDifference*> by_change;
  const auto differences = compare_snapshots(store, 1, 2);
  for (const PriceDifference& d : differences) by_change[d.change] = &d;
  REQUIRE(differences.size() == 4);
  CHECK(by_change.at(PriceChange::moved)->after->offer.product == "moved");
  CHECK(by_change.at(PriceChange::moved)->ratio.value() == Approx(1.25));
  CHECK(by_change.at(PriceChange::restated)->after->offer.product == "restated");  // 16 for 8 GPUs is 2 for one
  CHECK(by_change.at(PriceChange::restated)->why == "per instance to per gpu");
  CHECK(by_change.at(PriceChange::added)->after->offer.product == "new");
  CHECK(by_change.at(PriceChange::removed)->before->offer.product == "gone");
  CHECK(problem_of([&] { compare_snapshots(store, 1, 9); }) == "input.unknown_name");
}

TEST_CASE("price store: one factor over all prices of a provider is a restatement", "[prices]") {
  const Folder folder;
  const std::string path = folder.path("p.db");
  std::vector<ImportedOffer> before, after;
  for (int i = 1; i <= 12; ++i) {
    before.push_back(offer("m" + std::to_string(i), i));
    after.push_back(offer("m" + std::to_string(i), i * 1.22));
  }
  import(path, before);
  import(path, after);
  PriceStore store(path, PriceStore::Use::read);
  const auto differences = compare_snapshots(store, 1, 2);
  REQUIRE(differences.size() == 12);
  CHECK(differences[0].change == PriceChange::restated);
  CHECK(differences[0].why.find("1.22") != std::string::npos);
}

TEST_CASE("price store: one price for all regions is said", "[prices]") {
  const Folder folder;
  PriceStore store(folder.path("p.db"), PriceStore::Use::write);
  SnapshotWriter writer(store, built_in(), {"s", "csv", "f", "2026-09-20T00:00:00Z"});
  for (const char* region : {"a", "b", "c", "d"}) {
    ImportedOffer one = offer("x", 8);
    one.region = region;
    writer.add(one);
  }
  ImportSummary summary;
  writer.commit(summary);
  REQUIRE(summary.mended.size() == 1);
  CHECK(summary.mended[0].id == "prices.one_price_for_regions");
  CHECK(summary.mended[0].rows == 4);
}

TEST_CASE("price store: a program that is killed in an import leaves what was there", "[prices]") {
  const Folder folder;
  const std::string path = folder.path("p.db");
  import(path, {offer("a", 8)});
  const int status = in_child([&] {
    PriceStore store(path, PriceStore::Use::write);
    SnapshotWriter writer(store, built_in(), {"list", "csv", "f", "2026-09-21T00:00:00Z"});
    for (int i = 0; i < 20000; ++i) writer.add(offer("k" + std::to_string(i), i));
    ::kill(::getpid(), SIGKILL);
  });
  CHECK(status == 128 + SIGKILL);
  CHECK(all(path).size() == 1);
  import(path, {offer("a", 8), offer("b", 8)});
  CHECK(all(path).size() == 2);
  PriceStore store(path, PriceStore::Use::read);
  CHECK(store.snapshots().size() == 2);
}

TEST_CASE("price store: a full disk changes nothing and is told", "[prices]") {
  const Folder folder;
  const std::string path = folder.path("p.db");
  import(path, {offer("a", 8)});
  const int status = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    PriceStore store(path, PriceStore::Use::write);
    SnapshotWriter writer(store, built_in(), {"list", "csv", "f", "2026-09-21T00:00:00Z"});
    const rlimit limit{std::uint64_t{1} << 18, std::uint64_t{1} << 18};  // no file may grow past 256 KiB
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ImportSummary summary;
    for (int i = 0; i < 50000; ++i) writer.add(offer("k" + std::to_string(i), i));
    writer.commit(summary);
  });
  CHECK(status == 7);  // store.full
  CHECK(all(path).size() == 1);
}

TEST_CASE("price store: two imports at once both arrive, and readers read on", "[prices]") {
  const Folder folder;
  const std::string path = folder.path("p.db");
  const auto many = [&](const std::string& source) {
    PriceStore store(path, PriceStore::Use::write);
    SnapshotWriter writer(store, built_in(), {source, "csv", "f", "2026-09-21T00:00:00Z"});
    ImportSummary summary;
    for (int i = 0; i < 3000; ++i) writer.add(offer(source + std::to_string(i), i + 1));
    writer.commit(summary);
  };
  import(path, {offer("a", 8)});
  std::vector<pid_t> children;
  for (const char* source : {"one", "two"}) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        many(source);
      } catch (...) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (int i = 0; i < 20; ++i) CHECK(all(path).size() % 3000 == 1);
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(all(path).size() == 6001);
}

TEST_CASE("price store: a reader is not blocked by a writer in its transaction", "[prices]") {
  const Folder folder;
  const std::string path = folder.path("p.db");
  import(path, {offer("a", 8)});
  Database writer(path, Database::Use::write);
  Transaction transaction(writer);
  writer.run("DELETE FROM offer");
  CHECK(all(path).size() == 1);
}

TEST_CASE("price store: files that are none are refused with what is wrong", "[prices]") {
  const Folder folder;
  const auto reading = [](const std::string& path) {
    return problem_of([&] { PriceStore(path, PriceStore::Use::read).offers({}); });
  };
  CHECK(reading(folder.path("none.db")) == "store.not_found");
  CHECK(reading(folder.path()) == "store.unreadable");
  CHECK(reading(folder.write("text.db", "this is no database, and long enough to be looked at as one\n")) ==
        "store.damaged");
  {
    Database other(folder.path("other.db"), Database::Use::write);
    other.run("CREATE TABLE mine(a)");
  }
  CHECK(reading(folder.path("other.db")) == "store.not_ours");
  const std::string path = folder.path("p.db");
  std::vector<ImportedOffer> many;
  for (int i = 0; i < 2000; ++i) many.push_back(offer("p" + std::to_string(i), i + 1));
  import(path, many);
  {
    Database store(path, Database::Use::write);
    store.run("PRAGMA wal_checkpoint(TRUNCATE)");
    store.run("PRAGMA user_version = 99");
    store.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  CHECK(reading(path) == "store.newer");
  Database(path, Database::Use::write).run("PRAGMA user_version = 2");
  Database(path, Database::Use::write).run("PRAGMA wal_checkpoint(TRUNCATE)");
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    for (int page = 3; page < 40; ++page) {
      file.seekp(page * 4096);
      file << std::string(2048, '\xAA');
    }
  }
  CHECK(reading(path) == "store.damaged");
}

// The child gives up root, who may write anywhere.
TEST_CASE("price store: a file in a folder that may not be written to is read, and writing to it is refused",
          "[prices]") {
  const Folder folder;
  const std::string path = folder.path("p.db");
  import(path, {offer("a", 8), offer("b", 16)});
  {
    Database store(path, Database::Use::write);
    store.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  REQUIRE(::chmod(path.c_str(), 0444) == 0);
  REQUIRE(::chmod(folder.path().c_str(), 0555) == 0);
  const auto as_somebody = [](const std::function<void()>& what) {
    return in_child([&] {
      constexpr uid_t kNobody = 65534;
      if (::geteuid() == 0 && ::setresuid(kNobody, kNobody, kNobody) != 0) ::_exit(9);
      what();
    });
  };
  CHECK(as_somebody([&] { ::_exit(all(path).size() == 2 ? 0 : 1); }) == 0);
  CHECK(as_somebody(
            [&] { ::_exit(problem_of([&] { import(path, {offer("c", 1)}); }) == "store.read_only" ? 0 : 1); }) == 0);
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  CHECK(all(path).size() == 2);
}

TEST_CASE("price store: a schema of an older program is migrated, and nothing is lost", "[prices]") {
  const Folder folder;
  const std::string path = folder.path("p.db");
  import(path, {offer("a", 8)});
  {
    Database store(path, Database::Use::write);
    store.run("DROP INDEX offer_by_key; PRAGMA user_version = 1");
  }
  CHECK(all(path).size() == 1);  // a reader migrates a file that it may write to
  import(path, {offer("b", 8)}, "other");
  CHECK(all(path).size() == 2);
  Database store(path, Database::Use::write);
  CHECK(store.number("PRAGMA user_version") == 2);
  CHECK(store.number("SELECT count(*) FROM sqlite_master WHERE name = 'offer_by_key'") == 1);
}

TEST_CASE("price store: imported offers join the catalogue between the built-in facts and the user's", "[prices]") {
  const Folder folder;
  const std::string path = folder.path("p.db");
  ImportedOffer odd = offer("odd", 8);
  odd.gpu = "nobody knows";
  ImportedOffer fresh = offer("fresh", 4);
  fresh.provider = "newcomer";
  import(path, {offer("a", 8), odd, fresh}, "skypilot:lambda");
  PriceStore store(path, PriceStore::Use::read);
  const std::vector<AddedOffer> added = offers_for_catalog(store, {});
  const Catalog catalog = load_catalog({}, added);
  const Provider& lambda = testing::required(catalog.find_provider("lambda"), "lambda");
  const Offer& joined = testing::offer(lambda, "store/" + identity_of(offer("a", 8)));
  CHECK(joined.rankable);
  CHECK(joined.confidence == Confidence::aggregator);
  CHECK(catalog.source(joined.price.source).layer == Layer::store);
  CHECK(catalog.source(joined.price.source).observed_on == "2026-09-20");
  CHECK_FALSE(testing::offer(lambda, "store/" + identity_of(odd)).rankable);
  CHECK(catalog.find_provider("newcomer") != nullptr);
  const std::string mine = folder.write("my.yaml", "providers:\n  - {name: newcomer, title: The newcomer}\n");
  CHECK(load_catalog({{mine, Layer::user}}, added).find_provider("newcomer")->title == "The newcomer");
}

TEST_CASE("price store: offers of marketplaces are told by themselves or by their provider", "[prices]") {
  const Folder folder;
  ImportedOffer flagged = offer("a", 8);
  flagged.marketplace = true;
  ImportedOffer hosted = offer("b", 16);
  hosted.provider = "bazaar";
  import(folder.path("p.db"), {flagged, hosted, offer("c", 24)});
  StoreQuery query;
  query.marketplaces = {"bazaar"};
  query.marketplace = true;
  CHECK(all(folder.path("p.db"), query).size() == 2);
  query.marketplace = false;
  REQUIRE(all(folder.path("p.db"), query).size() == 1);
  CHECK(all(folder.path("p.db"), query)[0].offer.product == "c");
  query.marketplace = true;
  query.marketplaces.clear();
  CHECK(all(folder.path("p.db"), query).size() == 1);
}

TEST_CASE("price store: an interruption band is a rate a month", "[prices]") {
  struct Row {
    const char* band;
    double share;  // 0: no rate
  };
  for (const Row& row : {Row{"<5%", 0.025}, Row{"5-10%", 0.075}, Row{">20%", 0.2}, Row{"often", 0}, Row{"1e99%", 0},
                         Row{"0%", 0}, Row{"100%", 0}}) {
    const Folder folder;
    ImportedOffer spot = offer("a", 8, Contract::spot);
    spot.interruption = row.band;
    import(folder.path("p.db"), {spot});
    PriceStore store(folder.path("p.db"), PriceStore::Use::read);
    const auto added = offers_for_catalog(store, {});
    REQUIRE(added.size() == 1);
    CAPTURE(row.band);
    CHECK(added[0].interruptions_per_month.has_value() == (row.share > 0));
    if (row.share > 0) CHECK(*added[0].interruptions_per_month == Approx(-std::log(1 - row.share)));
  }
}

TEST_CASE("price list: another currency is converted at a dated rate that is shown", "[prices]") {  // w59
  ImportedOffer in_euro = offer("e", 16);
  in_euro.currency = "EUR";
  const Folder folder;
  const std::string path = folder.path("p.db");
  import(path, {in_euro});
  const auto stored = all(path);
  const CurrencyRate& rate = *built_in().find_currency("EUR");
  CHECK(stored[0].usd_gpu_hour.value() == Approx(2 / *rate.per_usd));
  const ListDocument list = list_stored_offers(built_in(), stored, "USD");
  CHECK(list.note.find(std::string(built_in().source(rate.per_usd.source).observed_on)) != std::string::npos);
  CHECK(list.note.find("EUR") != std::string::npos);
}

TEST_CASE("price store: offers of a hundred thousand are filtered and ranked by the index", "[prices][slow]") {
  const Folder folder;
  const std::string path = folder.path("p.db");
  std::vector<ImportedOffer> many;
  for (int i = 0; i < 100000; ++i) {
    ImportedOffer one = offer("m" + std::to_string(i), 8 + i % 977, i % 3 == 0 ? Contract::spot : Contract::on_demand);
    if (i % 5 != 0) one.gpu = "L4";
    many.push_back(std::move(one));
  }
  import(path, many);
  const auto begin = std::chrono::steady_clock::now();
  StoreQuery query;
  query.gpus = {"H100-SXM5-80GB"};
  query.contracts = {Contract::spot};
  query.limit = 20;
  const auto found = all(path, query);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  REQUIRE(found.size() == 20);
  for (std::size_t i = 1; i < found.size(); ++i) CHECK(*found[i - 1].usd_gpu_hour <= *found[i].usd_gpu_hour);
  CHECK(*found[0].usd_gpu_hour == Approx(1));
  CHECK(took.count() < 0.06 * 5);  // a slow machine under load; 0.01 s on an idle one
}

TEST_CASE("lint: rows that are hard to believe", "[prices]") {
  std::vector<StoredOffer> offers;
  const auto add = [&](ImportedOffer o) -> StoredOffer& {
    StoredOffer stored;
    stored.usd_gpu_hour = stated_gpu_hour(o);
    stored.id = "store/" + identity_of(o);
    stored.offer = std::move(o);
    return offers.emplace_back(std::move(stored));
  };
  const auto found = [&] {
    std::map<std::string, int> ids;
    for (const LintFinding& finding : lint_prices(built_in(), offers)) ++ids[finding.id];
    return ids;
  };
  add(offer("x8", 16));
  CHECK(found().empty());
  ImportedOffer four = offer("x4", 20);
  four.count = 4;
  add(four);
  CHECK(found()["lint.more_for_less"] == 1);  // 8 GPUs for 16, 4 for 20
  add(offer("x8", 17, Contract::spot));
  CHECK(found()["lint.spot_above_on_demand"] == 1);
  add(offer("x8", 18));
  CHECK(found()["lint.contradiction"] == 1);
  ImportedOffer small = offer("small", 16);
  small.gpu_memory_gb = 40;
  add(small);
  add(small);
  CHECK(found()["lint.memory"] == 2);
  CHECK(found()["lint.duplicate"] == 1);
  add(offer("cheap", 0.8));
  CHECK(found()["lint.far_from_class"] == 1);
}

}  // namespace gpuplan
