#include "harness/device/nvidia_gpu.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "harness/device/open_devices.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ridgebench {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

// A root of the file system with what the kernel shows of a machine.
class NvidiaGpu : public testing::Test {
 protected:
  void write(const fs::path& file, const std::string& text = "") const {
    fs::create_directories((root() / file).parent_path());
    std::ofstream(root() / file) << text << "\n";
  }
  void add_pci_device(const std::string& address, const std::string& vendor,
                      const std::string& device_class) const {
    const fs::path folder = fs::path("sys/bus/pci/devices") / address;
    write(folder / "vendor", vendor);
    write(folder / "class", device_class);
  }
  [[nodiscard]] const fs::path& root() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

TEST_F(NvidiaGpu, AMachineWithoutOneShowsNoSign) {
  EXPECT_EQ(sign_of_nvidia_gpu(root()), "") << "with neither /dev nor /sys";
  write("dev/nvidiactl");  // left by a driver
  write("dev/nvidia-uvm");
  add_pci_device("0000:00:02.0", "0x8086", "0x030000");
  add_pci_device("0000:03:00.1", "0x10de", "0x040300");  // an audio function
  EXPECT_EQ(sign_of_nvidia_gpu(root()), "");
}

TEST_F(NvidiaGpu, ADisplayControllerOfNvidiaIsASign) {
  add_pci_device("0000:1b:00.0", "0x10de", "0x030200");
  EXPECT_EQ(sign_of_nvidia_gpu(root()), "PCI device 0000:1b:00.0");
}

TEST_F(NvidiaGpu, ADeviceFileIsASignAndMayRefuse) {
  write("dev/nvidia0");
  EXPECT_EQ(sign_of_nvidia_gpu(root()), "/dev/nvidia0");
  fs::remove(root() / "dev/nvidia0");
  fs::create_symlink("nowhere", root() / "dev/nvidia0");  // root may open any file that exists
  EXPECT_THAT(sign_of_nvidia_gpu(root()),
              StartsWith("/dev/nvidia0, which this user cannot open: No such file"));
}

// On a machine with GPUs that work, the default opens them.
bool has_gpu() { return sign_of_nvidia_gpu() != ""; }

TEST_F(NvidiaGpu, AMachineThatShowsOneNeverFallsBackToTheHost) {
  if (has_gpu()) GTEST_SKIP() << "this machine shows a GPU of its own";
  add_pci_device("0000:1b:00.0", "0x10de", "0x030200");
  for (const char* selection : {"", "all"}) {
    EXPECT_THAT([&] { open_devices(selection, root()); },
                ThrowsMessage<DeviceError>(AllOf(HasSubstr("PCI device 0000:1b:00.0"),
                                                 HasSubstr("cannot be used: "),
                                                 HasSubstr("allowed: --device cpu"))));
  }
  EXPECT_EQ(open_devices("cpu", root()).size(), 1U);
}

TEST_F(NvidiaGpu, OnlyAMachineThatShowsNoneDefaultsToTheHost) {
  if (has_gpu()) GTEST_SKIP() << "this machine shows a GPU of its own";
  const auto devices = open_devices("", root());
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices.front()->name(), "cpu");
}

const std::vector<std::string> kTwo{"GPU-0aa0e1f2-3c4d-5e6f-7081-92a3b4c5d6e7",
                                    "GPU-0bb0e1f2-3c4d-5e6f-7081-92a3b4c5d6e7"};

TEST(ChooseGpu, TakesIndicesAndUuids) {
  EXPECT_EQ(choose_gpu("0", kTwo), 0U);
  EXPECT_EQ(choose_gpu("1", kTwo), 1U);
  EXPECT_EQ(choose_gpu(kTwo[1], kTwo), 1U);
  EXPECT_EQ(choose_gpu("gpu-0BB0E1F2-3C4D-5E6F-7081-92A3B4C5D6E7", kTwo), 1U);
  EXPECT_EQ(choose_gpu("GPU-0b", kTwo), 1U) << "as CUDA_VISIBLE_DEVICES";
  EXPECT_EQ(choose_gpu("MIG-12", {"MIG-12345678-1234-1234-1234-123456789012"}), 0U);
}

TEST(ChooseGpu, SaysWhatIsAbsentAndWhatIsAllowed) {
  EXPECT_THAT([] { choose_gpu("2", kTwo); },
              ThrowsMessage<DeviceError>(
                  HasSubstr("device cuda:2 is absent; allowed: cuda:0 to cuda:1 (" + kTwo[0])));
  EXPECT_THAT([] { choose_gpu("GPU-1", kTwo); },
              ThrowsMessage<DeviceError>(HasSubstr("device GPU-1 is absent")));
  EXPECT_THAT([] { choose_gpu("MIG-0aa0e1f2", kTwo); },
              ThrowsMessage<DeviceError>(HasSubstr("device MIG-0aa0e1f2 is absent")));
  EXPECT_THAT([] { choose_gpu("GPU-0", kTwo); },
              ThrowsMessage<DeviceError>(HasSubstr("device GPU-0 is ambiguous")));
  for (const char* text : {"", "x", "-1", "1,2", "0123", "GPU-", "0.5"}) {
    EXPECT_THROW(choose_gpu(text, kTwo), UsageError) << text;
  }
}

TEST(ChooseGpu, SaysThatTheDriverOffersFewerThanCudaVisibleDevicesLists) {
  EXPECT_EQ(visibility_note("0,1", 2), "");
  EXPECT_EQ(visibility_note("GPU-0aa0e1f2", 1), "");
  EXPECT_EQ(visibility_note("MIG-0aa0e1f2", 1), "");
  for (const char* value : {"0,,1", "0,9,1", "0,-1,1", "0, 1,x"}) {
    EXPECT_EQ(visibility_note(value, 1), std::string("CUDA_VISIBLE_DEVICES=") + value +
                                             " lists 3 GPUs, but the NVIDIA driver offers 1");
  }
  EXPECT_THAT(visibility_note("0,0", 1), HasSubstr("lists 2 GPUs"));
}

}  // namespace
}  // namespace ridgebench
