#include <gpuplan/prices/store.hpp>

#include "database.hpp"
#include "store_access.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <array>

#include <unistd.h>

namespace gpuplan {
namespace {

constexpr std::int64_t kApplicationId = 0x67706c70;  // "gplp"

// Each takes the schema from one version to the next; what stands here never changes.
constexpr std::array<const char*, 2> kMigrations = {
    R"(CREATE TABLE snapshot(
         id INTEGER PRIMARY KEY, source TEXT NOT NULL, format TEXT NOT NULL, origin TEXT NOT NULL,
         imported_at TEXT NOT NULL, offers INTEGER NOT NULL, rankable INTEGER NOT NULL, read INTEGER NOT NULL,
         dropped INTEGER NOT NULL);
       CREATE TABLE offer(
         snapshot INTEGER NOT NULL, key TEXT NOT NULL, copy INTEGER NOT NULL, cheapest INTEGER NOT NULL, usd_gpu_hour REAL,
         provider TEXT NOT NULL, gpu TEXT, count INTEGER, share REAL, scope TEXT NOT NULL, includes_host INTEGER NOT NULL,
         marketplace INTEGER NOT NULL, contract TEXT NOT NULL, term TEXT, term_months REAL, price REAL, currency TEXT,
         unit TEXT NOT NULL, vat TEXT NOT NULL, region TEXT, country TEXT, interconnect TEXT, network_gbit_per_s REAL,
         vcpus REAL, ram_gb REAL, storage_gb REAL, gpu_memory_gb REAL, product TEXT, tier TEXT, model TEXT,
         input_per_1m REAL, output_per_1m REAL, interruption TEXT, savings_percent REAL, confidence TEXT NOT NULL,
         rankable INTEGER NOT NULL, why_not TEXT, observed_on TEXT, source TEXT, notes TEXT);
       CREATE INDEX snapshot_by_source ON snapshot(source, id);
       CREATE INDEX offer_by_price ON offer(snapshot, usd_gpu_hour);
       CREATE INDEX offer_cheapest ON offer(snapshot) WHERE cheapest;
       CREATE INDEX offer_by_gpu ON offer(gpu, snapshot, usd_gpu_hour);)",
    "CREATE INDEX offer_by_key ON offer(snapshot, key, copy);",
};

void check_schema(Database& db, bool may_write) {
  const std::int64_t application = db.number("PRAGMA application_id");
  const std::int64_t version = db.number("PRAGMA user_version");
  const bool is_new = application == 0 && version == 0 && db.number("SELECT count(*) FROM sqlite_master") == 0;
  const auto refuse = [&](std::string id, std::string message, std::string expected) {
    throw InputError(Problem{std::move(id), std::move(message), Place{db.path(), 0, 0}, std::move(expected), {}, {}});
  };
  if (!is_new && application != kApplicationId)
    refuse("store.not_ours", "the file is another program's database", "another file: --store FILE");
  const auto newest = static_cast<std::int64_t>(kMigrations.size());
  if (version > newest)
    refuse("store.newer", "the price store was made by a newer gpuplan (schema " + std::to_string(version) + ")",
           "a newer gpuplan, or another file: --store FILE");
  if (version == newest) return;
  if (!may_write) {
    if (is_new) return;
    refuse("store.older", "the price store is of an older gpuplan and may not be written to", "a file that may be");
  }
  if (is_new) db.run("PRAGMA auto_vacuum = INCREMENTAL");
  db.run("PRAGMA journal_mode = WAL");
  Transaction transaction(db);
  for (auto at = db.number("PRAGMA user_version"); at < newest; ++at) {  // another program may have done it meanwhile
    db.run(kMigrations[static_cast<std::size_t>(at)]);
    db.run("PRAGMA user_version = " + std::to_string(at + 1));
  }
  db.run("PRAGMA application_id = " + std::to_string(kApplicationId));
  transaction.commit();
}

constexpr const char* kColumns =
    "provider, gpu, count, share, scope, includes_host, marketplace, contract, term, term_months, price, currency, "
    "unit, "
    "vat, region, country, interconnect, network_gbit_per_s, vcpus, ram_gb, storage_gb, gpu_memory_gb, product, tier, "
    "model, input_per_1m, output_per_1m, interruption, savings_percent, confidence, rankable, why_not, observed_on, "
    "source, notes";
constexpr int kColumnCount = 35;

std::string prefixed(std::string_view prefix) {
  std::string out;
  for (const std::string& column : split(kColumns, ',')) {
    if (!out.empty()) out += ", ";
    out.append(prefix).append(column);
  }
  return out;
}

void bind_offer(Statement& s, int at, const ImportedOffer& o) {
  s.bind(at++, o.provider);
  s.bind(at++, o.gpu);
  s.bind_whole(at++, o.count);
  s.bind(at++, o.share);
  s.bind(at++, to_string(o.scope));
  s.bind_whole(at++, o.includes_host ? 1 : 0);
  s.bind_whole(at++, o.marketplace ? 1 : 0);
  s.bind(at++, to_string(o.contract));
  s.bind(at++, o.term);
  s.bind(at++, o.term_months);
  s.bind(at++, o.price);
  s.bind(at++, o.currency);
  s.bind(at++, to_string(o.unit));
  s.bind(at++, to_string(o.vat));
  s.bind(at++, o.region);
  s.bind(at++, o.country);
  s.bind(at++, o.interconnect);
  s.bind(at++, o.network_gbit_per_s);
  s.bind(at++, o.vcpus);
  s.bind(at++, o.ram_gb);
  s.bind(at++, o.storage_gb);
  s.bind(at++, o.gpu_memory_gb);
  s.bind(at++, o.product);
  s.bind(at++, o.tier);
  s.bind(at++, o.model);
  s.bind(at++, o.input_per_1m);
  s.bind(at++, o.output_per_1m);
  s.bind(at++, o.interruption);
  s.bind(at++, o.savings_percent);
  s.bind(at++, to_string(o.confidence));
  s.bind_whole(at++, o.rankable ? 1 : 0);
  s.bind(at++, o.why_not);
  s.bind(at++, o.observed_on);
  s.bind(at++, o.source);
  s.bind(at++, o.notes);
}

template <class E, std::size_t N>
E word_of(const std::string& word, const std::array<E, N>& values) {
  for (const E value : values) {
    if (to_string(value) == word) return value;
  }
  return values.front();
}

ImportedOffer offer_at(const Statement& s, int at) {
  ImportedOffer o;
  o.provider = s.text(at++);
  o.gpu = s.text(at++);
  o.count = s.whole(at++);
  o.share = s.number(at++);
  o.scope = word_of(s.text(at++), std::array{PriceScope::instance, PriceScope::gpu});
  o.includes_host = s.whole(at++).value_or(1) != 0;
  o.marketplace = s.whole(at++).value_or(0) != 0;
  o.contract = parse_contract(s.text(at++)).value.value_or(Contract::on_demand);
  o.term = s.text(at++);
  o.term_months = s.number(at++);
  o.price = s.number(at++);
  o.currency = s.text(at++);
  o.unit = word_of(s.text(at++), std::array{PriceUnit::hour, PriceUnit::second, PriceUnit::month});
  o.vat = word_of(s.text(at++), std::array{Vat::unknown, Vat::included, Vat::excluded});
  o.region = s.text(at++);
  o.country = s.text(at++);
  o.interconnect = s.text(at++);
  o.network_gbit_per_s = s.number(at++);
  o.vcpus = s.number(at++);
  o.ram_gb = s.number(at++);
  o.storage_gb = s.number(at++);
  o.gpu_memory_gb = s.number(at++);
  o.product = s.text(at++);
  o.tier = s.text(at++);
  o.model = s.text(at++);
  o.input_per_1m = s.number(at++);
  o.output_per_1m = s.number(at++);
  o.interruption = s.text(at++);
  o.savings_percent = s.number(at++);
  o.confidence = word_of(s.text(at++), std::array{Confidence::aggregator, Confidence::published,
                                                  Confidence::second_hand, Confidence::unknown});
  o.rankable = s.whole(at++).value_or(1) != 0;
  o.why_not = s.text(at++);
  o.observed_on = s.text(at++);
  o.source = s.text(at++);
  o.notes = s.text(at++);
  return o;
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    out += c;
    if (c == '\'') out += c;
  }
  return out + "'";
}

template <class List, class Show>
void add_among(std::string& sql, std::string_view column, const List& list, Show show) {
  if (list.empty()) return;
  std::string words;
  for (const auto& value : list) words += (words.empty() ? "" : ",") + quoted(show(value));
  sql.append(" AND ").append(column).append(" IN (").append(words).append(")");
}

std::string conditions(const StoreQuery& query) {
  std::string sql = "1";
  if (query.snapshot) {
    sql += " AND o.snapshot = " + std::to_string(*query.snapshot);
  } else if (!query.all_snapshots) {
    sql += " AND o.snapshot IN (SELECT max(id) FROM snapshot GROUP BY source)";
  }
  const auto same = [](const std::string& text) { return std::string_view(text); };
  // Of many accelerators the cheapest are found sooner by going through the prices in order (a '+' keeps the index out).
  constexpr std::size_t kFewNames = 8;
  add_among(sql, query.limit > 0 && query.gpus.size() > kFewNames ? "+o.gpu" : "o.gpu", query.gpus, same);
  add_among(sql, "o.provider", query.providers, same);
  add_among(sql, "o.contract", query.contracts, [](Contract value) { return to_string(value); });
  if (!query.region.empty()) sql += " AND instr(lower(o.region), " + quoted(to_lower(query.region)) + ") > 0";
  if (!query.country.empty()) sql += " AND lower(o.country) = " + quoted(to_lower(query.country));
  if (!query.text.empty()) {
    const std::string word = quoted(to_lower(query.text));
    sql += " AND (instr(lower(o.gpu), " + word + ") > 0 OR instr(lower(o.product), " + word +
           ") > 0 OR instr(lower(o.provider), " + word + ") > 0 OR instr(lower(o.model), " + word + ") > 0)";
  }
  if (query.rankable_only) sql += " AND o.rankable";
  if (query.marketplace) {
    std::string hosts;
    add_among(hosts, "o.provider", query.marketplaces, same);
    const std::string listed = hosts.empty() ? "" : " OR " + hosts.substr(std::string_view(" AND ").size());
    sql += std::string(*query.marketplace ? " AND (" : " AND NOT (") + "o.marketplace" + listed + ")";
  }
  return sql;
}

// One GPU and hour without VAT in dollars, for order and comparison.
std::optional<double> dollars(const Catalog& catalog, const ImportedOffer& offer) {
  auto hour = stated_gpu_hour(offer);
  const CurrencyRate* rate = catalog.find_currency(offer.currency);
  if (!hour || !rate || !rate->per_usd.known()) return std::nullopt;
  const Provider* provider = offer.vat == Vat::included ? catalog.find_provider(offer.provider) : nullptr;
  if (provider) *hour /= 1 + provider->vat_percent.or_else(0) / 100;
  return *hour / *rate->per_usd;
}

}  // namespace

PriceStore::PriceStore(const std::string& path, Use use)
    : database_(std::make_unique<Database>(path, use == Use::write ? Database::Use::write : Database::Use::read)) {
  check_schema(*database_, ::access(path.c_str(), W_OK) == 0);
}
PriceStore::~PriceStore() = default;
PriceStore::PriceStore(PriceStore&&) noexcept = default;
PriceStore& PriceStore::operator=(PriceStore&&) noexcept = default;

std::vector<Snapshot> PriceStore::snapshots() {
  std::vector<Snapshot> all;
  Statement s(
      *database_,
      "SELECT source, format, origin, imported_at, id, offers, rankable, read, dropped FROM snapshot ORDER BY id");
  while (s.step()) {
    all.push_back({s.text(0), s.text(1), s.text(2), s.text(3), s.whole(4).value_or(0), s.whole(5).value_or(0),
                   s.whole(6).value_or(0), s.whole(7).value_or(0), s.whole(8).value_or(0)});
  }
  return all;
}

std::vector<StoredOffer> StoreAccess::select(PriceStore& store, const std::string& columns_from_where_order) {
  std::vector<StoredOffer> all;
  Statement s(*store.database_, columns_from_where_order);
  while (s.step()) {
    StoredOffer stored;
    stored.offer = offer_at(s, 0);
    stored.id = "store/" + s.text(kColumnCount);
    if (const auto copy = s.whole(kColumnCount + 1); copy.value_or(0) > 0) stored.id += "/" + std::to_string(*copy + 1);
    stored.snapshot = s.whole(kColumnCount + 2).value_or(0);
    stored.usd_gpu_hour = s.number(kColumnCount + 3);
    stored.source = s.text(kColumnCount + 4);
    stored.imported_at = s.text(kColumnCount + 5);
    all.push_back(std::move(stored));
  }
  return all;
}
std::string StoreAccess::columns() {
  return prefixed("o.") + ", o.key, o.copy, o.snapshot, o.usd_gpu_hour, s.source, s.imported_at";
}
Database& StoreAccess::database(PriceStore& store) { return *store.database_; }
std::string StoreAccess::where(const StoreQuery& query) { return conditions(query); }

std::vector<StoredOffer> PriceStore::offers(const StoreQuery& query) {
  std::string sql = "SELECT " + StoreAccess::columns() + " FROM offer o JOIN snapshot s ON s.id = o.snapshot WHERE ";
  const std::string order = " ORDER BY o.usd_gpu_hour IS NULL, o.usd_gpu_hour, o.key, o.copy";
  const std::string limit = query.limit > 0 ? " LIMIT " + std::to_string(query.limit) : "";
  if (query.cheapest_of_alike && query.region.empty() && query.country.empty()) {
    sql += conditions(query) + " AND o.cheapest" + order + limit;
  } else if (query.cheapest_of_alike) {
    // With min() alone in a group, SQLite takes the other columns from the row that has it.
    sql = "SELECT " + StoreAccess::columns() +
          ", min(o.usd_gpu_hour) FROM offer o JOIN snapshot s ON s.id = o.snapshot WHERE " + conditions(query) +
          " AND o.usd_gpu_hour IS NOT NULL GROUP BY o.provider, o.gpu, o.count, o.contract, o.term, o.interconnect" +
          order + limit;
  } else if (query.limit > 0) {
    // The cheapest by the index first; only their rows are read.
    sql += "o.rowid IN (SELECT o.rowid FROM offer o WHERE " + conditions(query) +
           " AND o.usd_gpu_hour IS NOT NULL ORDER BY o.usd_gpu_hour" + limit + ")" + order;
  } else {
    sql += conditions(query) + order;
  }
  return StoreAccess::select(*this, sql);
}

std::int64_t PriceStore::prune(std::int64_t keep) {
  Database& db = *database_;
  std::int64_t gone = 0;
  {
    Transaction transaction(db);
    db.run(
        "DELETE FROM snapshot WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY source ORDER BY "
        "id DESC) AS n FROM snapshot) WHERE n > " +
        std::to_string(keep) + ")");
    gone = db.changes();
    db.run("DELETE FROM offer WHERE snapshot NOT IN (SELECT id FROM snapshot)");
    transaction.commit();
  }
  db.run("PRAGMA incremental_vacuum");
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  return gone;
}

SnapshotWriter::SnapshotWriter(PriceStore& store, const Catalog& catalog, Snapshot snapshot)
    : store_(store), catalog_(catalog), snapshot_(std::move(snapshot)) {
  Database& db = *store_.database_;
  // Rows gather in a temporary file of SQLite's, which goes with the program, however that ends.
  db.run(
      "PRAGMA temp_store = FILE; PRAGMA cache_size = -8000; PRAGMA temp.cache_size = -8000;"
      "CREATE TEMP TABLE spool AS SELECT key, usd_gpu_hour, " +
      std::string(kColumns) + " FROM offer WHERE 0; BEGIN");
  std::string values = "?, ?";
  for (int i = 0; i < kColumnCount; ++i) values += ", ?";
  insert_ = std::make_unique<Statement>(db, "INSERT INTO temp.spool VALUES(" + values + ")");
}

SnapshotWriter::~SnapshotWriter() {
  insert_.reset();
  try {
    store_.database_->run("COMMIT");
  } catch (const InputError&) {  // committed already
  }
  try {
    store_.database_->run("DROP TABLE IF EXISTS temp.spool");
  } catch (const InputError&) {  // a full disk: it goes with the program
  }
}

void SnapshotWriter::add(const ImportedOffer& offer) {
  const std::string key = identity_of(offer);
  insert_->bind(1, key);
  insert_->bind(2, dollars(catalog_, offer));
  bind_offer(*insert_, 3, offer);
  insert_->step();
  insert_->again();
}

Snapshot SnapshotWriter::commit(ImportSummary& summary) {
  Database& db = *store_.database_;
  insert_.reset();
  db.run("COMMIT");
  const std::int64_t broadcast = db.number(
      "SELECT count(*) FROM (SELECT 1 FROM temp.spool WHERE price IS NOT NULL GROUP BY provider, gpu, count, "
      "contract, product, term, tier HAVING count(DISTINCT region) >= 4 AND min(price) >= max(price))");
  if (broadcast > 0) {
    db.run(
        "CREATE TEMP TABLE broadcast AS SELECT provider, gpu, count, contract, product FROM temp.spool WHERE price IS "
        "NOT NULL GROUP BY provider, gpu, count, contract, product, term, tier HAVING count(DISTINCT region) >= 4 AND "
        "min(price) >= max(price);"
        "UPDATE temp.spool SET notes = trim(coalesce(notes || '; ', '') || 'the list has one price for all regions') "
        "WHERE (provider, gpu, count, contract, product) IN (SELECT * FROM temp.broadcast)");
    summary.mended.push_back({"prices.one_price_for_regions",
                              "one price for all regions of a product: kept in each, with a note",
                              db.changes(),
                              {}});
    db.run("DROP TABLE temp.broadcast");
  }
  std::int64_t dropped = 0;
  for (const ImportReason& reason : summary.dropped) dropped += reason.rows;
  Transaction transaction(db);
  {
    Statement s(db,
                "INSERT INTO snapshot(source, format, origin, imported_at, offers, rankable, read, dropped) "
                "VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
    s.bind(1, snapshot_.source);
    s.bind(2, snapshot_.format);
    s.bind(3, snapshot_.origin);
    s.bind(4, snapshot_.imported_at);
    s.bind_whole(5, summary.kept);
    s.bind_whole(6, summary.rankable);
    s.bind_whole(7, summary.read);
    s.bind_whole(8, dropped);
    s.step();
  }
  snapshot_.id = db.last_id();
  // `cheapest`: of offers alike but for region, machine and instance type, what plans need to look at.
  db.run("INSERT INTO offer(snapshot, key, copy, cheapest, usd_gpu_hour, " + std::string(kColumns) + ") SELECT " +
         std::to_string(snapshot_.id) +
         ", key, row_number() OVER (PARTITION BY key ORDER BY rowid) - 1, rankable AND usd_gpu_hour IS NOT NULL AND "
         "row_number() OVER (PARTITION BY provider, gpu, count, contract, term, interconnect, rankable ORDER BY "
         "usd_gpu_hour IS NULL, usd_gpu_hour) = 1, usd_gpu_hour, " +
         kColumns + " FROM temp.spool");
  transaction.commit();
  snapshot_.offers = summary.kept;
  snapshot_.rankable = summary.rankable;
  snapshot_.read = summary.read;
  snapshot_.dropped = dropped;
  return snapshot_;
}

}  // namespace gpuplan
