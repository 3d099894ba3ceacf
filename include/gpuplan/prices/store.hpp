#pragma once
/// The local store of imported prices: one SQLite file, each import a snapshot that is never changed.
///
///     PriceStore store(path, PriceStore::Use::write);
///     SnapshotWriter writer(store, {"skypilot:aws", "skypilot", "aws.csv", "2026-09-20T10:00:00Z"});
///     import_prices(format, text, context, [&](ImportedOffer&& offer) { writer.add(offer); });
///     const Snapshot snapshot = writer.commit(summary);
///
/// An import is written beside the store first and becomes part of it in one transaction: a program that is killed, a full
/// disk or an exception leaves what was there. Readers read on meanwhile (WAL); two imports follow each other. The file knows
/// its schema version: older ones are migrated, newer ones refused. SQLite is loaded with the first store.
///
/// Throws InputError: `store.not_found`, `store.unreadable`, `store.read_only`, `store.full`, `store.damaged`, `store.busy`,
/// `store.newer`, `store.not_ours`, `store.no_library`.

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/prices/import.hpp>
#include <gpuplan/prices/imported_offer.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpuplan {

struct Snapshot {
  std::string source;  ///< imports of one source follow each other; the newest counts
  std::string format;
  std::string origin;       ///< file or address
  std::string imported_at;  ///< 2026-09-20T10:00:00Z
  std::int64_t id = 0;
  std::int64_t offers = 0, rankable = 0, read = 0, dropped = 0;
};

struct StoredOffer {
  ImportedOffer offer;
  std::string id;  ///< `store/<identity>`, unique in a snapshot
  std::int64_t snapshot = 0;
  std::string source;                  ///< of the snapshot
  std::string imported_at;             ///< of the snapshot
  std::optional<double> usd_gpu_hour;  ///< one GPU and hour without VAT, at the rates of the day of the import
};

/// Which offers; empty: all of the newest snapshots.
struct StoreQuery {
  std::vector<std::string> gpus, providers;  ///< names as stored
  std::vector<Contract> contracts;
  std::string region, country, text;
  std::optional<std::int64_t> snapshot;
  bool all_snapshots = false;
  bool rankable_only = false;
  bool cheapest_of_alike = false;   ///< of offers that differ in region, machine or instance type alone, the cheapest
  std::int64_t limit = 0;           ///< cheapest GPU hour first; 0: no limit
  std::optional<bool> marketplace;  ///< only such, or only others
  std::vector<std::string> marketplaces;  ///< providers that are, whatever their offers say
};

class PriceStore {
 public:
  enum class Use { read, write };
  PriceStore(const std::string& path, Use use);
  ~PriceStore();
  PriceStore(PriceStore&&) noexcept;
  PriceStore& operator=(PriceStore&&) noexcept;

  std::vector<Snapshot> snapshots();  ///< oldest first
  /// Cheapest GPU hour first, offers without price last.
  std::vector<StoredOffer> offers(const StoreQuery& query);
  /// Deletes all but the newest `keep` snapshots of each source; how many went.
  std::int64_t prune(std::int64_t keep);

 private:
  friend class SnapshotWriter;
  friend class StoreAccess;
  std::unique_ptr<class Database> database_;
};

class SnapshotWriter {
 public:
  /// @param catalog  for the rates that GPU hours are compared by
  SnapshotWriter(PriceStore& store, const Catalog& catalog, Snapshot snapshot);
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  void add(const ImportedOffer& offer);
  /// Adds to the summary what only all rows together show (one price for all regions).
  Snapshot commit(ImportSummary& summary);

 private:
  PriceStore& store_;
  const Catalog& catalog_;
  Snapshot snapshot_;
  std::unique_ptr<class Statement> insert_;
};

/// What changed between two snapshots.
enum class PriceChange : std::uint8_t { added, removed, moved, restated, restated_and_moved };
std::string_view to_string(PriceChange change);
struct PriceDifference {
  PriceChange change = PriceChange::moved;
  std::string id;
  std::optional<StoredOffer> before, after;
  std::optional<double> ratio;  ///< of the GPU hours in dollars
  std::string why;              ///< of a restatement: what is stated otherwise
};
/// Price moves apart from restatements: the same price in another currency, unit, scope or tax, other facts beside the same
/// price, and one factor over all rows of a provider, which is a rate or a tax rather than so many new prices.
std::vector<PriceDifference> compare_snapshots(PriceStore& store, std::int64_t a, std::int64_t b);

/// The lowest GPU hour of each day that has one, of one provider, accelerator and contract.
struct PriceSeries {
  std::string provider, gpu;
  Contract contract = Contract::on_demand;
  struct Point {
    std::string day;
    double usd_gpu_hour = 0;
    std::string source;
  };
  std::vector<Point> points;
};
std::vector<PriceSeries> price_history(PriceStore& store, const StoreQuery& query);

/// Offers of the store for the catalogue, of the newest snapshots.
std::vector<AddedOffer> offers_for_catalog(PriceStore& store, const StoreQuery& query);

/// A row that is hard to believe.
struct LintFinding {
  std::string id;     ///< lint.spot_above_on_demand
  std::string offer;  ///< its id
  std::string message;
};
std::vector<LintFinding> lint_prices(const Catalog& catalog, const std::vector<StoredOffer>& offers);

}  // namespace gpuplan
