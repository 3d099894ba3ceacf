#include "names.hpp"

#include <gpuplan/catalog/catalog.hpp>

namespace gpuplan {

std::string_view to_string(Mark value) { return enum_name(value); }
std::string_view to_string(Layer value) { return enum_name(value); }
std::string_view to_string(PeerToPeer value) { return enum_name(value); }
std::string_view to_string(FabricShape value) { return enum_name(value); }
std::string_view to_string(LinkCategory value) { return enum_name(value); }
std::string_view to_string(NormKind value) { return enum_name(value); }
std::string_view to_string(QkNorm value) { return enum_name(value); }
std::string_view to_string(Contract value) { return enum_name(value); }
std::string_view to_string(PriceScope value) { return enum_name(value); }
std::string_view to_string(PriceUnit value) { return enum_name(value); }
std::string_view to_string(Vat value) { return enum_name(value); }
std::string_view to_string(Confidence value) { return enum_name(value); }
std::string_view to_string(Availability value) { return enum_name(value); }
std::string_view to_string(OffState value) { return enum_name(value); }
std::string_view to_string(StorageKind value) { return enum_name(value); }
std::string_view to_string(StorageScope value) { return enum_name(value); }
Parsed<Contract> parse_contract(std::string_view text) { return parse_enum<Contract>(text); }

}  // namespace gpuplan
