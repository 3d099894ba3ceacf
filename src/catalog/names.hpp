#pragma once
// The words of the catalogue's enumerations, one table each, for YAML, JSON and messages alike.

#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/catalog/records.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace gpuplan {

template <class E>
inline constexpr int enum_names = 0;  // specialised below

template <>
inline constexpr std::array enum_names<Mark>{
    std::pair{Mark::unknown, "unknown"}, std::pair{Mark::published, "published"}, std::pair{Mark::measured, "measured"},
    std::pair{Mark::derived, "derived"}, std::pair{Mark::from_memory, "from memory"}};
template <>
inline constexpr std::array enum_names<Layer>{
    std::pair{Layer::built_in, "built-in"}, std::pair{Layer::store, "price store"},
    std::pair{Layer::system, "system"},     std::pair{Layer::user, "user"},
    std::pair{Layer::project, "project"},   std::pair{Layer::flag, "--catalog"}};
template <>
inline constexpr std::array enum_names<PeerToPeer>{std::pair{PeerToPeer::unknown, "unknown"},
                                                   std::pair{PeerToPeer::yes, "yes"}, std::pair{PeerToPeer::no, "no"},
                                                   std::pair{PeerToPeer::bridge, "bridge"}};
template <>
inline constexpr std::array enum_names<LinkCategory>{
    std::pair{LinkCategory::scale_up, "scale_up"}, std::pair{LinkCategory::host, "host"},
    std::pair{LinkCategory::switched, "switch"}, std::pair{LinkCategory::scale_out, "scale_out"}};
template <>
inline constexpr std::array enum_names<FabricShape>{
    std::pair{FabricShape::unknown, "unknown"},     std::pair{FabricShape::switched, "switch"},
    std::pair{FabricShape::full_mesh, "full_mesh"}, std::pair{FabricShape::cube_mesh, "cube_mesh"},
    std::pair{FabricShape::bridge, "bridge"},       std::pair{FabricShape::torus, "torus"},
    std::pair{FabricShape::tree, "tree"}};
template <>
inline constexpr std::array enum_names<NormKind>{std::pair{NormKind::rms, "rms"}, std::pair{NormKind::layer, "layer"}};
template <>
inline constexpr std::array enum_names<QkNorm>{std::pair{QkNorm::none, "none"}, std::pair{QkNorm::per_head, "per_head"},
                                               std::pair{QkNorm::full, "full"}};
template <>
inline constexpr std::array enum_names<Contract>{
    std::pair{Contract::on_demand, "on_demand"},   std::pair{Contract::spot, "spot"},
    std::pair{Contract::reserved, "reserved"},     std::pair{Contract::dedicated, "dedicated"},
    std::pair{Contract::cluster, "cluster"},       std::pair{Contract::managed, "managed"},
    std::pair{Contract::serverless, "serverless"}, std::pair{Contract::token_api, "token_api"},
    std::pair{Contract::cpu_vps, "cpu_vps"},       std::pair{Contract::owned, "owned"}};
template <>
inline constexpr std::array enum_names<PriceScope>{std::pair{PriceScope::gpu, "gpu"},
                                                   std::pair{PriceScope::instance, "instance"}};
template <>
inline constexpr std::array enum_names<PriceUnit>{
    std::pair{PriceUnit::second, "second"}, std::pair{PriceUnit::hour, "hour"}, std::pair{PriceUnit::month, "month"}};
template <>
inline constexpr std::array enum_names<Vat>{std::pair{Vat::unknown, "unknown"}, std::pair{Vat::included, "included"},
                                            std::pair{Vat::excluded, "excluded"}};
template <>
inline constexpr std::array enum_names<Confidence>{
    std::pair{Confidence::unknown, "unknown"}, std::pair{Confidence::published, "published"},
    std::pair{Confidence::aggregator, "aggregator"}, std::pair{Confidence::second_hand, "second_hand"}};

template <>
inline constexpr std::array enum_names<Availability>{
    std::pair{Availability::unknown, "unknown"},   std::pair{Availability::available, "available"},
    std::pair{Availability::limited, "limited"},   std::pair{Availability::on_request, "on_request"},
    std::pair{Availability::sold_out, "sold_out"}, std::pair{Availability::withdrawn, "withdrawn"}};
template <>
inline constexpr std::array enum_names<OffState>{
    std::pair{OffState::unknown, "unknown"}, std::pair{OffState::nothing, "nothing"},
    std::pair{OffState::storage, "storage"}, std::pair{OffState::all, "all"}};
template <>
inline constexpr std::array enum_names<StorageKind>{
    std::pair{StorageKind::unknown, "unknown"}, std::pair{StorageKind::local, "local"},
    std::pair{StorageKind::block, "block"}, std::pair{StorageKind::file, "file"},
    std::pair{StorageKind::object, "object"}};
template <>
inline constexpr std::array enum_names<StorageScope>{
    std::pair{StorageScope::device, "device"}, std::pair{StorageScope::node, "node"},
    std::pair{StorageScope::client, "client"}, std::pair{StorageScope::aggregate, "aggregate"}};

template <class E>
std::string_view enum_name(E value) {
  for (const auto& [candidate, name] : enum_names<E>) {
    if (candidate == value) return name;
  }
  GPUPLAN_ASSERT(false, "every enumerator has a name");
  return {};
}

template <class E>
Parsed<E> parse_enum(std::string_view text) {
  std::vector<std::string> all;
  std::vector<std::string_view> views;
  for (const auto& [value, name] : enum_names<E>) {
    if (name == text) return Parsed<E>::ok(value);
    all.emplace_back(name);
    views.emplace_back(name);
  }
  return Parsed<E>::fail("unknown value '" + std::string(text) + "'", join(all, ", "), nearest_name(text, views),
                         "input.unknown_name");
}

}  // namespace gpuplan
