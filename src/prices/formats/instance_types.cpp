#include "instance_types.hpp"

#include <gpuplan/base/text.hpp>

#include <map>

namespace gpuplan {
namespace {

struct Row {
  std::string_view type, gpu;
  std::int64_t count;
  std::string_view interconnect;
  double share = 1;
};

// Sources: the providers' pages of instance types. Sizes of one family that differ in the host alone share a row by prefix
// `family.size`.
constexpr Row kTypes[] = {
    {"p2.xlarge", "Tesla-K80", 1, ""},                      // product-name: a format
    {"p2.8xlarge", "Tesla-K80", 8, ""},                     // product-name: a format
    {"p2.16xlarge", "Tesla-K80", 16, ""},                   // product-name: a format
    {"p3.2xlarge", "V100-SXM2-16GB", 1, ""},                // product-name: a format
    {"p3.8xlarge", "V100-SXM2-16GB", 4, "nvlink"},          // product-name: a format
    {"p3.16xlarge", "V100-SXM2-16GB", 8, "nvlink"},         // product-name: a format
    {"p3dn.24xlarge", "V100-SXM2-32GB", 8, "nvlink"},       // product-name: a format
    {"p4d.24xlarge", "A100-SXM4-40GB", 8, "nvswitch"},      // product-name: a format
    {"p4de.24xlarge", "A100-SXM4-80GB", 8, "nvswitch"},     // product-name: a format
    {"p5.4xlarge", "H100-SXM5-80GB", 1, ""},                // product-name: a format
    {"p5.48xlarge", "H100-SXM5-80GB", 8, "nvswitch"},       // product-name: a format
    {"p5e.48xlarge", "H200-SXM-141GB", 8, "nvswitch"},      // product-name: a format
    {"p5en.48xlarge", "H200-SXM-141GB", 8, "nvswitch"},     // product-name: a format
    {"p6-b200.48xlarge", "B200-SXM-180GB", 8, "nvswitch"},  // product-name: a format
    {"p6-b300.48xlarge", "B300-SXM-288GB", 8, "nvswitch"},  // product-name: a format
    {"g4dn.xlarge", "T4", 1, "pcie"},
    {"g4dn.2xlarge", "T4", 1, "pcie"},
    {"g4dn.4xlarge", "T4", 1, "pcie"},
    {"g4dn.8xlarge", "T4", 1, "pcie"},
    {"g4dn.16xlarge", "T4", 1, "pcie"},
    {"g4dn.12xlarge", "T4", 4, "pcie"},
    {"g4dn.metal", "T4", 8, "pcie"},
    {"g5.xlarge", "A10G", 1, "pcie"},    // product-name: a format
    {"g5.2xlarge", "A10G", 1, "pcie"},   // product-name: a format
    {"g5.4xlarge", "A10G", 1, "pcie"},   // product-name: a format
    {"g5.8xlarge", "A10G", 1, "pcie"},   // product-name: a format
    {"g5.16xlarge", "A10G", 1, "pcie"},  // product-name: a format
    {"g5.12xlarge", "A10G", 4, "pcie"},  // product-name: a format
    {"g5.24xlarge", "A10G", 4, "pcie"},  // product-name: a format
    {"g5.48xlarge", "A10G", 8, "pcie"},  // product-name: a format
    {"g6.xlarge", "L4", 1, "pcie"},
    {"g6.2xlarge", "L4", 1, "pcie"},
    {"g6.4xlarge", "L4", 1, "pcie"},
    {"g6.8xlarge", "L4", 1, "pcie"},
    {"g6.16xlarge", "L4", 1, "pcie"},
    {"g6.12xlarge", "L4", 4, "pcie"},
    {"g6.24xlarge", "L4", 4, "pcie"},
    {"g6.48xlarge", "L4", 8, "pcie"},  // product-name: a format
    {"gr6.4xlarge", "L4", 1, "pcie"},
    {"gr6.8xlarge", "L4", 1, "pcie"},
    {"g6f.large", "L4", 0, "", 0.125},
    {"g6f.xlarge", "L4", 0, "", 0.125},
    {"g6f.2xlarge", "L4", 0, "", 0.25},
    {"g6f.4xlarge", "L4", 0, "", 0.5},
    {"gr6f.4xlarge", "L4", 0, "", 0.5},
    {"g6e.xlarge", "L40S", 1, "pcie"},                      // product-name: a format
    {"g6e.2xlarge", "L40S", 1, "pcie"},                     // product-name: a format
    {"g6e.4xlarge", "L40S", 1, "pcie"},                     // product-name: a format
    {"g6e.8xlarge", "L40S", 1, "pcie"},                     // product-name: a format
    {"g6e.16xlarge", "L40S", 1, "pcie"},                    // product-name: a format
    {"g6e.12xlarge", "L40S", 4, "pcie"},                    // product-name: a format
    {"g6e.24xlarge", "L40S", 4, "pcie"},                    // product-name: a format
    {"g6e.48xlarge", "L40S", 8, "pcie"},                    // product-name: a format
    {"trn1.2xlarge", "Trainium1", 1, ""},                   // product-name: a format
    {"trn1.32xlarge", "Trainium1", 16, ""},                 // product-name: a format
    {"trn1n.32xlarge", "Trainium1", 16, ""},                // product-name: a format
    {"trn2.48xlarge", "Trainium2", 16, ""},                 // product-name: a format
    {"inf2.xlarge", "Inferentia2", 1, ""},                  // product-name: a format
    {"inf2.8xlarge", "Inferentia2", 1, ""},                 // product-name: a format
    {"inf2.24xlarge", "Inferentia2", 6, ""},                // product-name: a format
    {"inf2.48xlarge", "Inferentia2", 12, ""},               // product-name: a format
    {"Standard_NC6s_v3", "V100-PCIe-16GB", 1, "pcie"},      // product-name: a format
    {"Standard_NC12s_v3", "V100-PCIe-16GB", 2, "pcie"},     // product-name: a format
    {"Standard_NC24s_v3", "V100-PCIe-16GB", 4, "pcie"},     // product-name: a format
    {"Standard_NC24rs_v3", "V100-PCIe-16GB", 4, "pcie"},    // product-name: a format
    {"Standard_ND40rs_v2", "V100-SXM2-32GB", 8, "nvlink"},  // product-name: a format
    {"Standard_NC4as_T4_v3", "T4", 1, "pcie"},
    {"Standard_NC8as_T4_v3", "T4", 1, "pcie"},
    {"Standard_NC16as_T4_v3", "T4", 1, "pcie"},
    {"Standard_NC64as_T4_v3", "T4", 4, "pcie"},
    {"Standard_NC24ads_A100_v4", "A100-PCIe-80GB", 1, "pcie"},          // product-name: a format
    {"Standard_NC48ads_A100_v4", "A100-PCIe-80GB", 2, "pcie"},          // product-name: a format
    {"Standard_NC96ads_A100_v4", "A100-PCIe-80GB", 4, "pcie"},          // product-name: a format
    {"Standard_ND96asr_v4", "A100-SXM4-40GB", 8, "nvswitch"},           // product-name: a format
    {"Standard_ND96amsr_A100_v4", "A100-SXM4-80GB", 8, "nvswitch"},     // product-name: a format
    {"Standard_NC40ads_H100_v5", "H100-NVL-94GB", 1, "pcie"},           // product-name: a format
    {"Standard_NC80adis_H100_v5", "H100-NVL-94GB", 2, "nvl"},           // product-name: a format
    {"Standard_NCC40ads_H100_v5", "H100-NVL-94GB", 1, "pcie"},          // product-name: a format
    {"Standard_ND96isr_H100_v5", "H100-SXM5-80GB", 8, "nvswitch"},      // product-name: a format
    {"Standard_ND96is_flex_H100_v5", "H100-SXM5-80GB", 8, "nvswitch"},  // product-name: a format
    {"Standard_ND96is_H100_v5", "H100-SXM5-80GB", 8, "nvswitch"},       // product-name: a format
    {"Standard_ND96isr_H200_v5", "H200-SXM-141GB", 8, "nvswitch"},      // product-name: a format
    {"Standard_ND96isr_MI300X_v5", "Instinct-MI300X", 8, ""},           // product-name: a format
    {"Standard_ND128isr_NDR_GB200_v6", "GB200-186GB", 4, "nvlink"},     // product-name: a format
    {"Standard_NV36ads_A10_v5", "A10", 1, "pcie"},
    {"Standard_NV36adms_A10_v5", "A10", 1, "pcie"},
    {"Standard_NV72ads_A10_v5", "A10", 2, "pcie"},
    {"Standard_NV6ads_A10_v5", "A10", 0, "", 1.0 / 6},
    {"Standard_NV12ads_A10_v5", "A10", 0, "", 1.0 / 3},
    {"Standard_NV18ads_A10_v5", "A10", 0, "", 0.5},
};

struct HostRow {
  std::string_view accelerator;
  std::int64_t count;
  std::string_view type;
};

// Which host goes with an accelerator that is priced apart, as the list's own tool pairs them.
constexpr HostRow kHosts[] = {
    {"A100", 1, "a2-highgpu-1g"},        // product-name: a format
    {"A100", 2, "a2-highgpu-2g"},        // product-name: a format
    {"A100", 4, "a2-highgpu-4g"},        // product-name: a format
    {"A100", 8, "a2-highgpu-8g"},        // product-name: a format
    {"A100", 16, "a2-megagpu-16g"},      // product-name: a format
    {"A100-80GB", 1, "a2-ultragpu-1g"},  // product-name: a format
    {"A100-80GB", 2, "a2-ultragpu-2g"},  // product-name: a format
    {"A100-80GB", 4, "a2-ultragpu-4g"},  // product-name: a format
    {"A100-80GB", 8, "a2-ultragpu-8g"},  // product-name: a format
    {"L4", 1, "g2-standard-4"},         {"L4", 2, "g2-standard-24"},  {"L4", 4, "g2-standard-48"},
    {"L4", 8, "g2-standard-96"},        {"H100", 1, "a3-highgpu-1g"},  // product-name: a format
    {"H100", 2, "a3-highgpu-2g"},                                      // product-name: a format
    {"H100", 4, "a3-highgpu-4g"},                                      // product-name: a format
    {"H100", 8, "a3-highgpu-8g"},                                      // product-name: a format
    {"H100-MEGA", 8, "a3-megagpu-8g"},                                 // product-name: a format
    {"H200", 8, "a3-ultragpu-8g"},                                     // product-name: a format
    {"B200", 8, "a4-highgpu-8g"},                                      // product-name: a format
    {"T4", 1, "n1-highmem-4"},          {"T4", 2, "n1-highmem-8"},    {"T4", 4, "n1-highmem-16"},
    {"V100", 1, "n1-highmem-8"},   // product-name: a format
    {"V100", 2, "n1-highmem-16"},  // product-name: a format
    {"V100", 4, "n1-highmem-32"},  // product-name: a format
    {"V100", 8, "n1-highmem-64"},  // product-name: a format
    {"P100", 1, "n1-highmem-8"},   // product-name: a format
    {"P100", 2, "n1-highmem-16"},  // product-name: a format
    {"P100", 4, "n1-highmem-32"},  // product-name: a format
    {"P4", 1, "n1-highmem-8"},          {"P4", 2, "n1-highmem-16"},   {"P4", 4, "n1-highmem-32"},
    {"K80", 1, "n1-highmem-8"},         {"K80", 2, "n1-highmem-16"},  {"K80", 4, "n1-highmem-32"},
    {"K80", 8, "n1-highmem-64"},
};

}  // namespace

const InstanceType* find_instance_type(std::string_view type) {
  static const auto kIndex = [] {
    std::map<std::string, InstanceType> index;
    for (const Row& row : kTypes)
      index[lookup_key(row.type)] = {std::string(row.gpu), row.count, row.share, std::string(row.interconnect)};
    return index;
  }();
  const auto found = kIndex.find(lookup_key(type));
  return found == kIndex.end() ? nullptr : &found->second;
}

bool is_host_type(std::string_view type) {
  for (const HostRow& row : kHosts) {
    if (row.type == type) return true;
  }
  return false;
}

std::string host_for(std::string_view accelerator, std::int64_t count) {
  for (const HostRow& row : kHosts) {
    if (row.accelerator == accelerator && row.count == count) return std::string(row.type);
  }
  return {};
}

}  // namespace gpuplan
