// The files that Linux shows of a processor differ between architectures: each test writes those of
// another machine.
#include "harness/device/cpu/processor.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "kernels/common/isa_level.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ridgebench {
namespace {

using ::testing::ElementsAre;

// A root folder with the files of another machine.
class FakeRoot {
 public:
  FakeRoot& add(const std::string& file, const std::string& text) {
    const std::filesystem::path path = folder_ / file;
    std::filesystem::create_directories(path.parent_path());
    write_text(path, text);
    return *this;
  }
  FakeRoot& arm(const std::string& implementer, const std::string& part) {
    return add("proc/cpuinfo",
               "processor\t: 0\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd\n"
               "CPU implementer\t: " +
                   implementer +
                   "\nCPU architecture: 8\n"
                   "CPU variant\t: 0x0\nCPU part\t: " +
                   part + "\nCPU revision\t: 0\n");
  }
  FakeRoot& dmi(const std::string& vendor, const std::string& product) {
    add("sys/class/dmi/id/sys_vendor", vendor + "\n");
    return add("sys/class/dmi/id/product_name", product + "\n");
  }
  [[nodiscard]] Processor read(std::string_view architecture, ArmRegisters registers = {}) const {
    return read_processor(architecture, folder_.path().string(), registers);
  }

 private:
  TemporaryDirectory folder_;
};

TEST(Processor, OfX86IsWhatCpuinfoSays) {
  const Processor xeon =
      FakeRoot()
          .add("proc/cpuinfo",
               "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 143\n"
               "model name\t: Intel(R) Xeon(R) Platinum 8480+\n"
               "flags\t\t: fpu sse4_2 fma avx2 avx512f avx512_bf16 amx_bf16 hypervisor\n")
          .read("x86_64");
  EXPECT_EQ(xeon.model, "Intel(R) Xeon(R) Platinum 8480+");
  EXPECT_EQ(xeon.vendor, "GenuineIntel");
  EXPECT_THAT(xeon.features,
              ElementsAre("sse4_2", "fma", "avx2", "avx512f", "avx512_bf16", "amx_bf16"));
  EXPECT_EQ(xeon.virtualized, true);
  EXPECT_EQ(FakeRoot().add("proc/cpuinfo", "flags : fpu\n").read("x86_64").virtualized, false);
  EXPECT_FALSE(FakeRoot().read("x86_64").virtualized) << "nothing is known without /proc/cpuinfo";
}

TEST(Processor, OfArmIsNamedByItsImplementerAndPart) {
  struct Named {
    const char *implementer, *part, *vendor, *model;
  };
  for (const auto& [implementer, part, vendor, model] :
       {Named{"0x41", "0xd4f", "ARM", "Neoverse-V2"}, Named{"0x41", "0xd0c", "ARM", "Neoverse-N1"},
        Named{"0x41", "0xd40", "ARM", "Neoverse-V1"}, Named{"0x41", "0xd08", "ARM", "Cortex-A72"},
        Named{"0xc0", "0xac3", "Ampere", "Ampere-1"}, Named{"0x46", "0x001", "FUJITSU", "A64FX"}}) {
    const Processor processor = FakeRoot().arm(implementer, part).read("aarch64");
    EXPECT_EQ(processor.vendor, vendor) << implementer << " " << part;
    EXPECT_EQ(processor.model, model) << implementer << " " << part;
  }
  EXPECT_EQ(FakeRoot().arm("0x41", "0xfff").read("aarch64").model,
            "ARM implementer 0x41 part 0xfff");
  EXPECT_EQ(FakeRoot().arm("0x99", "0xd4f").read("aarch64").vendor, "");
}

TEST(Processor, OfArmIsNamedByTheFileOfItsRegisterOrByTheRegister) {
  const char* const file = "sys/devices/system/cpu/cpu0/regs/identification/midr_el1";
  FakeRoot root;
  root.add(file, "0x00000000410fd4f0\n");
  EXPECT_EQ(root.read("aarch64", {.midr = 0x413fd0c1}).model, "Neoverse-V2");
  EXPECT_EQ(FakeRoot().read("aarch64", {.midr = 0x413fd0c1}).model, "Neoverse-N1");
}

// qemu's user emulation shows the files of the machine below it.
TEST(Processor, OfArmIsNeverNamedByX86sFile) {
  FakeRoot root;
  root.add("proc/cpuinfo",
           "vendor_id : GenuineIntel\nmodel name : Xeon\nflags : avx2 hypervisor\n");
  const Processor unknown = root.read("aarch64");
  EXPECT_EQ(unknown.model + unknown.vendor, "");
  EXPECT_TRUE(unknown.features.empty());
  EXPECT_FALSE(unknown.virtualized);
  EXPECT_EQ(root.read("aarch64", {.midr = 0x413fd0c1}).model, "Neoverse-N1");
}

TEST(Processor, WithoutANameIsTheBoardOrTheMachine) {
  using namespace std::string_literals;
  FakeRoot board;
  board.add("sys/firmware/devicetree/base/model", "Raspberry Pi 4 Model B Rev 1.4\0"s);
  EXPECT_EQ(board.read("aarch64").model, "Raspberry Pi 4 Model B Rev 1.4");
  EXPECT_EQ(board.arm("0x41", "0xd08").read("aarch64").model, "Cortex-A72");
  EXPECT_EQ(FakeRoot().dmi("IBM", "9105-22A").read("ppc64le").model, "9105-22A");
  EXPECT_EQ(FakeRoot().read("aarch64").model, "");
}

TEST(Processor, OfArmIsVirtualWhereTheKernelOrTheFirmwareNamesAHypervisor) {
  const auto virtualized = [](const FakeRoot& root) { return root.read("aarch64").virtualized; };
  EXPECT_EQ(virtualized(FakeRoot().dmi("QEMU", "KVM Virtual Machine")), true);
  EXPECT_EQ(virtualized(FakeRoot().dmi("Amazon EC2", "c7g.large")), true);
  EXPECT_EQ(virtualized(FakeRoot().dmi("Amazon EC2", "c7g.metal")), false);
  EXPECT_EQ(virtualized(FakeRoot().add("sys/hypervisor/type", "xen\n")), true);
  EXPECT_EQ(virtualized(FakeRoot().add("sys/firmware/devicetree/base/hypervisor/compatible", "k")),
            true);
  EXPECT_FALSE(virtualized(FakeRoot().dmi("Quanta Cloud Technology", "S74G-2U"))) << "unknown";
}

TEST(Processor, OfArmHasTheFeaturesThatTheKernelTells) {
  // The bits that Linux sets for a Neoverse-V2: all of the first word.
  const Processor grace = FakeRoot().read("aarch64", {.hwcap = 0xffffffff, .hwcap2 = 0x2f3ff});
  EXPECT_THAT(grace.features, ElementsAre("asimd", "asimdhp", "asimddp", "sve", "asimdfhm", "sve2",
                                          "svei8mm", "svebf16", "i8mm", "bf16"));
  EXPECT_THAT(FakeRoot().read("aarch64", {.hwcap = 0x8ff}).features, ElementsAre("asimd"));
}

TEST(Processor, ThreadsPerCoreAreThoseOfTheMask) {
  const TemporaryDirectory topology;
  write_text(topology / "thread_siblings", "00000001,00000001\n");
  EXPECT_EQ(threads_per_core(topology.path().string()), 2);
  EXPECT_FALSE(threads_per_core("nowhere"));
}

TEST(Processor, OfThisHostHasItsArchitecturesInstructionSet) {
  const std::string isa(name(host_isa()));
  const std::string architecture = host_architecture();
  EXPECT_EQ(architecture == "x86_64", isa.starts_with("x86-64-v"));
  EXPECT_EQ(architecture == "aarch64", isa.starts_with("armv8-a"));
  EXPECT_EQ(isa == "armv8-a+sve", host_sve_bytes() > 0);
}

}  // namespace
}  // namespace ridgebench
