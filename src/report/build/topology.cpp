#include <gpuplan/report/build.hpp>

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <array>

namespace gpuplan {
namespace {

constexpr std::array kCollectives = {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather,
                                     Collective::all_to_all, Collective::broadcast,      Collective::point_to_point};
// From a token's hidden states to a model's gradients.
constexpr std::array kSizes = {kibibytes(8), kibibytes(128), mebibytes(2), mebibytes(32), mebibytes(512), gibibytes(4)};
constexpr std::array kComparedSizes = {kibibytes(128), mebibytes(2), mebibytes(32), gibibytes(1)};
constexpr Bytes kExplained = mebibytes(32);
// Networks that stand beside an accelerator's own links, where the catalogue has them.
constexpr std::array<std::string_view, 5> kComparedNetworks = {"ib-ndr", "ib-hdr", "roce-100g", "eth-100g", "eth-10g"};

std::string rate_text(BytesPerSecond rate) { return format_quantity(rate.base(), Unit::bytes_per_second); }
std::string gigabits(BytesPerSecond rate) { return format_significant(rate / gigabits_per_second(1), 3) + " Gb/s"; }

TopologyDocument::Time time_of(const Fabric& fabric, Collective kind, const RankGroup& group, Bytes size,
                               Kernels kernels, Explain* why = nullptr) {
  const CollectiveTime t = collective_time(fabric, kind, group, size, why, kernels);
  const BytesPerSecond bus = bus_bandwidth(kind, group.ranks(), size, t.time);
  return {std::string(to_string(kind)),
          kernels == Kernels::engine ? "engine" : "library",
          std::string(t.algorithm),
          size.base(),
          t.time.base(),
          bus.base()};
}

TopologyDocument::Level describe(const Catalog& catalog, const FabricLevel& level, std::string role,
                                 std::int64_t devices) {
  TopologyDocument::Level d;
  d.role = std::move(role);
  d.link = level.link;
  if (const Link* link = catalog.find_link(level.link)) {
    d.title = link->title;
    d.source = catalog.source(link->source).text;
  }
  d.shape = to_string(level.shape);
  d.bytes_per_s = level.rate.base();
  d.devices = devices;
  d.via_host_memory = level.crosses_host;
  d.reduces = level.reduces;
  d.fitted = d.role == "inside" ? level.ring.fitted : level.network.fitted;
  return d;
}

// One line of devices, as their shape joins them.
std::vector<std::string> devices_drawn(const Fabric& fabric, std::int64_t devices) {
  constexpr std::int64_t kDrawn = 8;
  const std::int64_t drawn = std::min(devices, kDrawn);
  const FabricShape shape = fabric.inside.shape;
  std::string boxes;
  std::string stems;
  std::string bus;
  for (std::int64_t i = 0; i < drawn; ++i) {
    const bool last = i + 1 == drawn;
    const bool paired = shape == FabricShape::bridge && i % 2 == 0 && !last;
    boxes += "[" + std::to_string(i) + "]" + (last ? "" : paired ? "═" : " ");
    stems += std::string(" │ ") + (last ? "" : " ");
    bus += (i == 0 ? std::string(drawn > 1 ? " └" : " │") : std::string(last ? "─┘" : "─┴")) + (last ? "" : "──");
  }
  if (devices > drawn) boxes += " … [" + std::to_string(devices - 1) + "]";
  std::vector<std::string> lines = {boxes};
  if (drawn < 2 || shape == FabricShape::bridge) return lines;
  lines.push_back(stems);
  lines.push_back(bus);
  return lines;
}

std::string way_of(const FabricLevel& level) {
  switch (level.shape) {
    case FabricShape::switched:
      return "every device to every other through switches";
    case FabricShape::full_mesh:
      return "every device linked with every other";
    case FabricShape::cube_mesh:
      return "hybrid cube mesh: two links to some, one to others, none to the rest";
    case FabricShape::bridge:
      return "a bridge joins a pair; pairs talk over PCIe";
    case FabricShape::torus:
      return "neighbours on a torus";
    case FabricShape::tree:
      return level.crosses_host ? "no peer-to-peer: through the host's memory" : "PCIe switches or root complex";
    case FabricShape::unknown:
      break;
  }
  return level.crosses_host ? "no peer-to-peer: through the host's memory" : "joined in a way that is not known";
}

std::vector<std::string> draw(const TopologyPlan& plan) {
  const Fabric& fabric = plan.fabric;
  std::vector<std::string> lines = {"host 1" + (plan.group.hosts > 1 ? " of " + std::to_string(plan.group.hosts) : "")};
  std::vector<std::string> notes;
  if (plan.group.inside > 1) {
    notes = {std::string(fabric.inside.link) + ", " + rate_text(fabric.inside.rate) + " each way a device",
             way_of(fabric.inside)};
    if (fabric.inside.reduces) notes.back() += ", which add up too";
  }
  const auto drawn = devices_drawn(fabric, plan.group.inside);
  for (std::size_t i = 0; i < std::max(drawn.size(), notes.size()); ++i) {
    std::string line = i < drawn.size() ? drawn[i] : std::string{};
    constexpr int kColumn = 36;
    const std::size_t at = i + notes.size() >= std::max(drawn.size(), notes.size())
                               ? i + notes.size() - std::max(drawn.size(), notes.size())
                               : notes.size();
    if (at < notes.size()) {
      line += std::string(static_cast<std::size_t>(std::max(1, kColumn - display_width(line))), ' ');
      line += notes[at];
    }
    lines.push_back("  " + line);
  }
  if (plan.group.hosts <= 1) return lines;
  const BytesPerSecond host = static_cast<double>(fabric.domain) * fabric.between.rate;
  std::string network = std::string(fabric.between.link) + ", " + gigabits(host) + " a host";
  if (fabric.nics > 0 && plan.node && plan.node->count.or_else(0) == fabric.domain)
    network += " through " + std::to_string(fabric.nics) + (fabric.nics == 1 ? " NIC" : " NICs");
  if (fabric.oversubscription > 1)
    network += ", oversubscribed " + format_significant(fabric.oversubscription, 3) + " to 1";
  lines.push_back("═══╪════════════════════════════════  " + network);
  lines.push_back(plan.group.hosts == 2 ? "host 2, as host 1"
                                        : "hosts 2 to " + std::to_string(plan.group.hosts) + ", as host 1");
  return lines;
}

// The kinds of links that could stand between a few of the devices, each alone: the device's own, then networks with a NIC a device.
class Comparison {
 public:
  Comparison(const Catalog& catalog, const TopologyPlan& plan, const Accelerator& accelerator)
      : catalog_(catalog), accelerator_(accelerator), devices_(std::clamp<std::int64_t>(plan.count, 2, 8)) {}

  [[nodiscard]] std::int64_t devices() const { return devices_; }
  std::vector<TopologyDocument::Link> links(const TopologyPlan& plan) {
    if (plan.group.inside > 1 && plan.fabric.inside.link != accelerator_.host_link) {
      Fabric fabric = plan.fabric;
      fabric.domain = std::max(fabric.domain, devices_);
      add(fabric, {devices_, 1}, "inside a host");
    } else if (const Link* own = catalog_.find_link(accelerator_.scale_up_link);
               own && accelerator_.scale_up_bandwidth.known()) {
      const std::int64_t joined =
          std::min(devices_, std::max<std::int64_t>(2, accelerator_.scale_up_domain.or_else(2)));
      if (joined == devices_)
        add(fabric_of_links(catalog_, own, *accelerator_.scale_up_bandwidth, joined, nullptr, {}), {joined, 1},
            "with its bridge");
    }
    if (const Link* host = accelerator_.host_link.empty() ? nullptr : catalog_.find_link(accelerator_.host_link)) {
      Fabric fabric = fabric_of_links(catalog_, host, {}, devices_, nullptr, {});
      fabric.inside.crosses_host =
          accelerator_.peer_to_peer == PeerToPeer::no || accelerator_.peer_to_peer == PeerToPeer::bridge;
      if (fabric.inside.rate > BytesPerSecond{})
        add(fabric, {devices_, 1}, fabric.inside.crosses_host ? "through the host's memory" : "inside a host");
    }
    for (const std::string_view name : kComparedNetworks) {
      const Link* link = catalog_.find_link(name);
      if (!link || !link->rate.known()) continue;
      add(fabric_of_links(catalog_, nullptr, {}, 1, link, *link->rate), {1, devices_}, "a NIC a device");
    }
    for (auto& one : links_)
      one.times_slower = one.all_reduce.back().seconds / links_.front().all_reduce.back().seconds;
    return links_;
  }

 private:
  void add(const Fabric& fabric, const RankGroup& group, std::string way) {
    const FabricLevel& level = group.hosts > 1 ? fabric.between : fabric.inside;
    TopologyDocument::Link d;
    d.link = level.link;
    if (const Link* link = catalog_.find_link(level.link)) d.title = link->title;
    d.way = std::move(way);
    d.bytes_per_s = level.rate.base();
    for (const Bytes size : kComparedSizes)
      d.all_reduce.push_back(time_of(fabric, Collective::all_reduce, group, size, Kernels::library));
    links_.push_back(std::move(d));
  }

  const Catalog& catalog_;
  const Accelerator& accelerator_;
  std::int64_t devices_;
  std::vector<TopologyDocument::Link> links_;
};

}  // namespace

TopologyDocument report_topology(const Catalog& catalog, const TopologyRequest& request, const TopologyPlan& plan,
                                 bool explain) {
  TopologyDocument d;
  const Fabric& fabric = plan.fabric;
  d.accelerator = request.accelerator->name;
  if (plan.node) d.node = plan.node->title.empty() ? plan.node->name : plan.node->title;
  d.count = plan.count;
  d.devices_per_host = plan.group.inside;
  d.hosts = plan.group.hosts;
  d.oversubscription = fabric.oversubscription;
  d.picture = draw(plan);
  if (fabric.inside.rate > BytesPerSecond{})
    d.levels.push_back(describe(catalog, fabric.inside, "inside", fabric.domain));
  if (fabric.between.rate > BytesPerSecond{}) {
    TopologyDocument::Level level = describe(catalog, fabric.between, "between", plan.group.hosts);
    level.host_bytes_per_s = (static_cast<double>(fabric.domain) * fabric.between.rate).base();
    if (plan.node && fabric.nics > 0) {
      level.nics = static_cast<double>(fabric.nics);
      if (plan.node->nic_rate.known()) level.nic_bytes_per_s = plan.node->nic_rate.value.base();
    }
    d.levels.push_back(std::move(level));
  }
  Explain why;
  if (plan.count > 1) {
    for (const Collective kind : kCollectives) {
      // A copy goes to one other: inside where there is one, and to another host where there is more than one.
      const RankGroup group = kind != Collective::point_to_point ? plan.group
                              : plan.group.hosts > 1             ? RankGroup{1, 2, 1}
                                                                 : RankGroup{2, 1, 1};
      for (const Bytes size : kSizes) d.times.push_back(time_of(fabric, kind, group, size, Kernels::library));
      if (explain) (void)collective_time(fabric, kind, group, kExplained, &why);
    }
    if (plan.group.hosts <= 1 && !fabric.inside.crosses_host) {
      for (const Bytes size : kSizes)
        d.times.push_back(time_of(fabric, Collective::all_reduce, plan.group, size, Kernels::engine));
    }
  }
  Comparison comparison(catalog, plan, *request.accelerator);
  d.compared_devices = comparison.devices();
  d.links = comparison.links(plan);
  d.explanation = why.terms();
  return d;
}

}  // namespace gpuplan
