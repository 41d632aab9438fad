// Names of ARM processors by the implementer and the part in their main identification register
// (MIDR_EL1, Arm Architecture Reference Manual). Source of the names: util-linux, lscpu-arm.c.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace ridgebench {

struct ArmImplementer {
  std::uint64_t id;
  std::string_view name;
};
inline constexpr std::array<ArmImplementer, 10> kArmImplementers{{{0x41, "ARM"},
                                                                  {0x42, "Broadcom"},
                                                                  {0x43, "Cavium"},
                                                                  {0x46, "FUJITSU"},
                                                                  {0x48, "HiSilicon"},
                                                                  {0x4e, "NVIDIA"},
                                                                  {0x51, "Qualcomm"},
                                                                  {0x61, "Apple"},
                                                                  {0x70, "Phytium"},
                                                                  {0xc0, "Ampere"}}};

struct ArmPart {
  std::uint64_t implementer, part;
  std::string_view name;
};
inline constexpr std::array<ArmPart, 39> kArmParts{
    {{0x41, 0xd03, "Cortex-A53"},   {0x41, 0xd04, "Cortex-A35"},    {0x41, 0xd05, "Cortex-A55"},
     {0x41, 0xd07, "Cortex-A57"},   {0x41, 0xd08, "Cortex-A72"},    {0x41, 0xd09, "Cortex-A73"},
     {0x41, 0xd0a, "Cortex-A75"},   {0x41, 0xd0b, "Cortex-A76"},    {0x41, 0xd0c, "Neoverse-N1"},
     {0x41, 0xd0d, "Cortex-A77"},   {0x41, 0xd40, "Neoverse-V1"},   {0x41, 0xd41, "Cortex-A78"},
     {0x41, 0xd42, "Cortex-A78AE"}, {0x41, 0xd44, "Cortex-X1"},     {0x41, 0xd46, "Cortex-A510"},
     {0x41, 0xd47, "Cortex-A710"},  {0x41, 0xd48, "Cortex-X2"},     {0x41, 0xd49, "Neoverse-N2"},
     {0x41, 0xd4a, "Neoverse-E1"},  {0x41, 0xd4d, "Cortex-A715"},   {0x41, 0xd4e, "Cortex-X3"},
     {0x41, 0xd4f, "Neoverse-V2"},  {0x41, 0xd80, "Cortex-A520"},   {0x41, 0xd81, "Cortex-A720"},
     {0x41, 0xd82, "Cortex-X4"},    {0x41, 0xd84, "Neoverse-V3"},   {0x41, 0xd85, "Cortex-X925"},
     {0x41, 0xd8e, "Neoverse-N3"},  {0x43, 0x0a1, "ThunderX-88XX"}, {0x43, 0x0af, "ThunderX2-99xx"},
     {0x46, 0x001, "A64FX"},        {0x48, 0xd01, "Kunpeng-920"},   {0x4e, 0x004, "Carmel"},
     {0x61, 0x022, "Icestorm-M1"},  {0x61, 0x023, "Firestorm-M1"},  {0x61, 0x032, "Blizzard-M2"},
     {0x61, 0x033, "Avalanche-M2"}, {0xc0, 0xac3, "Ampere-1"},      {0xc0, 0xac4, "Ampere-1a"}}};

// Empty where unknown.
constexpr std::string_view arm_implementer(std::uint64_t implementer) {
  const auto* found = std::ranges::find(kArmImplementers, implementer, &ArmImplementer::id);
  return found == kArmImplementers.end() ? "" : found->name;
}
constexpr std::string_view arm_part(std::uint64_t implementer, std::uint64_t part) {
  const auto* found = std::ranges::find_if(kArmParts, [&](const ArmPart& known) {
    return known.implementer == implementer && known.part == part;
  });
  return found == kArmParts.end() ? "" : found->name;
}

}  // namespace ridgebench
