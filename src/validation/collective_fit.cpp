#include <Eigen/Dense>

#include "three_digits.hpp"

#include <gpuplan/topology/algorithms.hpp>
#include <gpuplan/validation/collectives.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace gpuplan {
namespace {

using Eigen::ArrayXd;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kRounds = 40;
constexpr std::int64_t kLeastRows = 5;  // for a latency beside the rate
constexpr double kManyRows = 10;
constexpr double kFastestCopy = 1000;      // over a link's rate: beyond it no copy is seen
constexpr double kLeastEfficiency = 1e-6;  // a row that took so long went wrong
constexpr double kMostEfficiency = 2;      // a rank cannot send faster; in a network several ranks share the work

// Where a fit starts; what rows show nothing of and no other link of the category either.
LevelSpeed usual_start(std::string_view algorithm) {
  LevelSpeed s;
  const bool network = algorithm == "network" || algorithm == "in_network";
  s.launch = microseconds(network ? 0 : 6);
  s.hop = microseconds(network ? 20 : 1);
  s.efficiency = 0.2;
  s.bulk_launch = microseconds(network ? 0 : algorithm == "in_switch" ? 70 : 25);
  s.bulk_hop = microseconds(network ? 100 : 1);
  s.bulk_efficiency = algorithm == "in_switch" ? 0.6 : 0.8;
  if (algorithm == "in_switch" || algorithm == "in_network") s.efficiency = 0;
  return s;
}

std::string_view algorithm_name(SpeedKind kind) {
  return kind == SpeedKind::ring ? "ring" : kind == SpeedKind::exchange ? "exchange" : "in_switch";
}

using Key = std::pair<std::string, std::string>;  // link and algorithm
struct Known {
  LevelSpeed speed;
  std::int64_t rows = 0;
  std::int64_t systems = 0;
  bool words_seen = true;  // one way of two: word by word
  bool bulk_seen = true;
  bool shows_latency = false;
  bool shows_bulk_latency = false;
};
using Speeds = std::map<Key, Known>;

// One row as a linear equation in the constants of one way of one algorithm over one link.
struct Equation {
  std::string source;
  double time = 0;   // what is left of the measured time
  double whole = 0;  // the measured time: errors are relative to it
  double steps = 0;
  double carried = 0;  // seconds at the full rate
  double copied = 0;
  bool pair = false;
};
struct Way {
  std::vector<Equation> equations;
};

// Non-negative weighted least squares over few unknowns: the best of all subsets that are held at zero.
VectorXd non_negative(const MatrixXd& a, const VectorXd& y) {
  const Eigen::Index n = a.cols();
  VectorXd best = VectorXd::Zero(n);
  double least = y.squaredNorm();
  for (unsigned subset = 1; subset < (1U << static_cast<unsigned>(n)); ++subset) {
    std::vector<Eigen::Index> columns;
    for (Eigen::Index j = 0; j < n; ++j) {
      if (subset >> static_cast<unsigned>(j) & 1U) columns.push_back(j);
    }
    MatrixXd part(a.rows(), static_cast<Eigen::Index>(columns.size()));
    for (std::size_t j = 0; j < columns.size(); ++j) part.col(static_cast<Eigen::Index>(j)) = a.col(columns[j]);
    const VectorXd x = part.colPivHouseholderQr().solve(y);
    if (!x.allFinite() || x.minCoeff() < 0) continue;
    const double cost = (part * x - y).squaredNorm();
    if (cost >= least * (1 - 1e-12)) continue;
    least = cost;
    best.setZero();
    for (std::size_t j = 0; j < columns.size(); ++j) best[columns[j]] = x[static_cast<Eigen::Index>(j)];
  }
  return best;
}

// Each system weighs the same, those of fewer than ten rows by their rows. Reweighed towards least absolute errors, so that one row that went wrong bends nothing.
VectorXd solve(const std::vector<Equation>& equations, const MatrixXd& terms, const VectorXd& left) {
  std::map<std::string, double> of_source;
  for (const Equation& e : equations) of_source[e.source] += 1;
  const auto rows = static_cast<Eigen::Index>(equations.size());
  VectorXd weight(rows);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const Equation& e = equations[static_cast<std::size_t>(i)];
    weight[i] = 1 / std::sqrt(std::max(of_source.at(e.source), kManyRows)) / e.whole;
  }
  constexpr double kSmallError = 0.15;
  VectorXd robust = VectorXd::Ones(rows);
  VectorXd x;
  for (int round = 0; round < 12; ++round) {
    const VectorXd w = weight.cwiseProduct(robust);
    x = non_negative(w.asDiagonal() * terms, w.cwiseProduct(left));
    const VectorXd off = terms * x - left;
    for (Eigen::Index i = 0; i < rows; ++i) {
      const double error = std::fabs(off[i]) / equations[static_cast<std::size_t>(i)].whole;
      robust[i] = 1 / std::sqrt(std::max(error, kSmallError));
    }
  }
  return x;
}

class Fit {
 public:
  Fit(const Catalog& catalog, std::span<const CollectiveRow> rows) : catalog_(catalog) {
    for (const CollectiveRow& row : rows) {
      if (row.scored && row.group.ranks() > 1) rows_.push_back(&row);
    }
    for (const CollectiveRow* row : rows_) start(*row);
  }

  std::vector<FittedSpeed> run() {
    for (int round = 0; round < kRounds; ++round) {
      improve(false);
      improve(true);
    }
    std::vector<FittedSpeed> out;
    for (const auto& [key, known] : speeds_) {
      if (known.rows > 0) out.push_back(fitted(key, known));
    }
    return out;
  }

 private:
  void start(const CollectiveRow& row) {
    const auto add = [&](std::string_view link, std::string_view algorithm) {
      const Link* found = catalog_.find_link(link);
      if (!found) return;
      const Key key(found->name, algorithm);
      speeds_.try_emplace(key, Known{usual_start(algorithm)});
    };
    add(row.link, "ring");
    if (row.kind == Collective::all_to_all || row.kind == Collective::point_to_point) add(row.link, "exchange");
    const Link* inside = catalog_.find_link(row.link);
    if (inside && inside->in_network_reduction.or_else(false)) add(row.link, "in_switch");
    if (row.group.hosts <= 1) return;
    add(row.network_link, "network");
    // That switches could reduce says little: only a cloud's own network, whose platforms have it on.
    const Link* between = catalog_.find_link(row.network_link);
    if (between && between->in_network_reduction.or_else(false) && !between->platforms.empty())
      add(row.network_link, "in_network");
  }

  static FittedSpeed fitted(const Key& key, const Known& known) {
    return {key.first,        key.second,      known.speed,
            known.words_seen, known.bulk_seen, std::max<std::int64_t>(known.rows, 1),
            known.systems};
  }
  [[nodiscard]] std::vector<FittedSpeed> current() const {
    std::vector<FittedSpeed> all;
    for (const auto& [key, known] : speeds_) all.push_back(fitted(key, known));
    return all;
  }

  // The rows of one kind, inside hosts or between, by the way that is now the cheapest for each, and new constants from them.
  void improve(bool between) {
    const Catalog now = with_speeds(catalog_, current());
    std::map<std::pair<Key, bool>, Way> ways;
    for (const CollectiveRow* row : rows_) {
      if ((row->group.hosts > 1) == between) assign(now, *row, ways);
    }
    for (auto& [key, known] : speeds_) {
      const bool is_network = key.second == "network" || key.second == "in_network";
      if (is_network != between) continue;
      known.rows = 0;
      std::set<std::string> systems;
      for (const bool bulk : {false, true}) {
        const auto found = ways.find({key, bulk});
        (bulk ? known.bulk_seen : known.words_seen) = found != ways.end();
        if (found == ways.end()) continue;
        const auto& equations = found->second.equations;
        known.rows += static_cast<std::int64_t>(equations.size());
        for (const Equation& e : equations) systems.insert(e.source);
        solve_way(key, bulk, equations, known);
      }
      known.systems = static_cast<std::int64_t>(systems.size());
    }
  }

  void assign(const Catalog& now, const CollectiveRow& row, std::map<std::pair<Key, bool>, Way>& ways) {
    const auto fabric = fabric_of_row(now, row);
    if (!fabric || fabric->inside.rate <= BytesPerSecond{}) return;
    if (row.group.hosts > 1 && fabric->between.rate <= BytesPerSecond{}) return;
    const Algorithms all = algorithms_of(*fabric, row.kind, row.group, Kernels::library);
    const AlgorithmTerms* best = nullptr;
    bool in_bulk = false;
    Seconds least;
    for (std::size_t i = 0; i < all.count; ++i) {
      if (!row.algorithm.empty() && all.list[i].name != row.algorithm) continue;
      for (const bool bulk : {false, true}) {
        const Seconds time = algorithm_time(*fabric, all.list[i], row.size, bulk);
        if (best && time >= least) continue;
        best = &all.list[i];
        in_bulk = bulk;
        least = time;
      }
    }
    if (!best) return;
    if (row.group.hosts > 1) return add_between(*fabric, *best, in_bulk, row, ways);
    Equation e{row.source,
               row.time().base(),
               row.time().base(),
               best->steps,
               best->sent * (row.size / (best->share * fabric->inside.rate)).base(),
               best->copied * (row.size / fabric->inside.rate).base(),
               best->pair};
    ways[{Key(fabric->inside.link, algorithm_name(best->inside)), in_bulk}].equations.push_back(e);
  }

  // What the inside of the hosts takes is known by now; where it outlasts the network, a row shows the network's latency alone.
  static void add_between(const Fabric& fabric, const AlgorithmTerms& terms, bool bulk, const CollectiveRow& row,
                          std::map<std::pair<Key, bool>, Way>& ways) {
    AlgorithmTerms inside = terms;
    inside.hops = 0;
    const double latency = algorithm_time(fabric, inside, Bytes{}, bulk).base();
    const double all_inside = algorithm_time(fabric, inside, row.size, bulk).base();
    const LevelSpeed& out = speed_between(fabric.between, terms);
    const double carried = terms.leaving * (row.size / terms.network).base();
    const double on_network = carried / (bulk ? out.bulk_efficiency : out.efficiency);
    const bool network_limits = on_network >= all_inside - latency;
    Equation e{row.source,
               row.time().base() - (network_limits ? latency : all_inside),
               row.time().base(),
               terms.hops,
               network_limits ? carried : 0,
               0,
               false};
    ways[{Key(fabric.between.link, terms.in_network ? "in_network" : "network"), bulk}].equations.push_back(e);
  }

  // What the catalogue says of the link itself.
  [[nodiscard]] std::optional<Seconds> own(const Key& key, bool bulk, bool hop) const {
    const Link* link = catalog_.find_link(key.first);
    if (!link) return std::nullopt;
    for (const CollectiveSpeed& known : link->collectives) {
      if (known.algorithm != key.second) continue;
      const Fact<Seconds>& fact = hop ? (bulk ? known.bulk_hop : known.hop) : (bulk ? known.bulk_launch : known.launch);
      if (fact.known()) return fact.value;
    }
    return std::nullopt;
  }

  // Middle latency of the other links of the category that show one. A network's is its kind's, not that of other clouds: those that
  // were put down with a source come first.
  [[nodiscard]] Seconds usual(const Key& key, bool bulk, bool hop) const {
    if (const auto known = own(key, bulk, hop)) return *known;
    const auto member = hop ? (bulk ? &LevelSpeed::bulk_hop : &LevelSpeed::hop)
                            : (bulk ? &LevelSpeed::bulk_launch : &LevelSpeed::launch);
    const Link* link = catalog_.find_link(key.first);
    const std::string_view algorithm = key.second == "in_network" ? "network" : std::string_view(key.second);
    std::vector<double> values;
    for (const Link& other : catalog_.links()) {
      if (!link || other.category != link->category || link->category != LinkCategory::scale_out) continue;
      for (const CollectiveSpeed& known : other.collectives) {
        if (known.algorithm == algorithm && known.rows.or_else(0) == 0)
          values.push_back((bulk ? known.bulk_hop : known.hop).or_else({}).base());
      }
    }
    for (const auto& [other, known] : speeds_) {
      if (other == key || other.second != key.second ||
          (link && link->category == LinkCategory::scale_out && !values.empty()))
        continue;
      if (!(bulk ? known.shows_bulk_latency : known.shows_latency)) continue;
      const Link* like = catalog_.find_link(other.first);
      if (like && link && like->category == link->category) values.push_back((known.speed.*member).base());
    }
    if (values.empty()) return usual_start(key.second).*member;
    std::sort(values.begin(), values.end());
    return seconds(values[values.size() / 2]);
  }

  // The latency of a step where the rows, all of as many steps, do not tell it from that of the call: that of the ring's over the
  // link, and of a reduction in the switch nothing.
  [[nodiscard]] Seconds step_of(const Key& key, bool bulk) const {
    if (key.second == "in_switch") return {};
    const auto ring = speeds_.find({key.first, "ring"});
    if (key.second != "exchange" || own(key, bulk, true) || ring == speeds_.end()) return usual(key, bulk, true);
    return ring->second.speed.*(bulk ? &LevelSpeed::bulk_hop : &LevelSpeed::hop);
  }

  // Columns: launch, hop, carried, carried by pairs, copied. A column of zeros gives zero, which is to say nothing.
  void solve_way(const Key& key, bool bulk, const std::vector<Equation>& equations, Known& known) {
    const bool network = key.second == "network" || key.second == "in_network";
    std::set<double> carried;
    std::set<double> steps;
    bool pairs = false;
    bool others = false;
    for (const Equation& e : equations) {
      carried.insert(e.carried);
      steps.insert(e.steps);
      (e.pair ? pairs : others) = true;
    }
    const Link* link = catalog_.find_link(key.first);
    const bool shared = link && link->shape == FabricShape::tree;
    const auto rows = static_cast<Eigen::Index>(equations.size());
    const bool shows = rows >= kLeastRows && (network || carried.size() >= 3);
    const bool split = bulk && shared && pairs && others;
    const bool copies = bulk && !shared && !network && key.second != "in_switch" && shows;
    const bool shows_hop = shows && (network || steps.size() > 1);
    const Seconds launch = network ? Seconds{} : usual(key, bulk, false);
    const Seconds hop = step_of(key, bulk);
    MatrixXd terms = MatrixXd::Zero(rows, 5);
    VectorXd left(rows);
    for (Eigen::Index i = 0; i < rows; ++i) {
      const Equation& e = equations[static_cast<std::size_t>(i)];
      left[i] = e.time - (shows ? 0 : launch.base()) - (shows_hop ? 0 : e.steps * hop.base());
      if (shows && !network) terms(i, 0) = 1;
      if (shows_hop) terms(i, 1) = e.steps;
      terms(i, split && e.pair ? 3 : 2) = e.carried;
      if (copies) terms(i, 4) = e.copied;
    }
    const VectorXd x = solve(equations, terms, left);
    const auto share = [](double per_rate) {
      return per_rate > 0 ? std::clamp(1 / per_rate, kLeastEfficiency, kMostEfficiency) : 0;
    };
    LevelSpeed& s = known.speed;
    (bulk ? known.shows_bulk_latency : known.shows_latency) = shows_hop || key.second == "in_switch";
    (bulk ? s.bulk_launch : s.launch) = shows ? seconds(x[0]) : launch;
    (bulk ? s.bulk_hop : s.hop) = shows_hop ? seconds(x[1]) : hop;
    (bulk ? s.bulk_efficiency : s.efficiency) = share(x[2]);
    if (!bulk) return;
    s.pair_efficiency = split ? share(x[3]) : 0;
    s.copy_efficiency = copies && x[4] * kFastestCopy > 1 ? 1 / x[4] : 0;
  }

  const Catalog& catalog_;
  std::vector<const CollectiveRow*> rows_;
  Speeds speeds_;
};

}  // namespace

namespace {

// Microseconds, from a picosecond on and up to what a catalogue may say.
double plausible(double microseconds_taken) {
  constexpr double kLeast = 1e-6;
  constexpr double kMost = 1e12;
  return microseconds_taken < kLeast ? 0 : three_digits(std::min(microseconds_taken, kMost));
}

}  // namespace

std::vector<FittedSpeed> fit_collectives(const Catalog& catalog, std::span<const CollectiveRow> rows) {
  std::vector<FittedSpeed> fitted = Fit(catalog, rows).run();
  for (FittedSpeed& one : fitted) {
    LevelSpeed& s = one.speed;
    for (Seconds* time : {&s.launch, &s.hop, &s.bulk_launch, &s.bulk_hop})
      *time = microseconds(plausible(*time / microseconds(1)));
    for (double* share : {&s.efficiency, &s.bulk_efficiency, &s.pair_efficiency, &s.copy_efficiency})
      *share = three_digits(*share);
  }
  return fitted;
}

}  // namespace gpuplan
