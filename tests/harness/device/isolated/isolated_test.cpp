#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

#include "harness/device/isolated/message.hpp"
#include "harness/device/isolated/remote_launch.hpp"
#include "harness/device/isolated/rethrow.hpp"
#include "harness/device/isolated/shared_memory.hpp"
#include "harness/device/isolated/wire.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/resolved_registry.hpp"

namespace ridgebench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Sockets : public testing::Test {
 protected:
  Sockets() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()), 0); }
  ~Sockets() override {
    for (const int end : ends_) close(end);
  }
  void cut() { shutdown(ends_[0], SHUT_WR); }

  std::array<int, 2> ends_{};
};

TEST_F(Sockets, AMessageArrivesWithItsDescriptor) {
  const auto memory = allocate_shared(1, true);
  KernelMessage sent = KernelMessage::of_numbers(MessageKind::map, {1, 2, 3});
  sent.number = 7;
  sent.descriptor = shared_place(memory.get())->arena.descriptor;
  ASSERT_TRUE(send_message(ends_[0], sent));
  const auto received = receive_message(ends_[1]);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->kind, MessageKind::map);
  EXPECT_EQ(received->number, 7U);
  EXPECT_THAT(received->numbers(3), ElementsAre(1, 2, 3));
  EXPECT_GE(received->descriptor, 0);
  close(received->descriptor);
}

TEST_F(Sockets, ACutMessageIsNone) {
  ASSERT_EQ(send(ends_[0], "abc", 3, 0), 3);
  cut();
  EXPECT_FALSE(receive_message(ends_[1]));
}

TEST_F(Sockets, AMessageThatClaimsToBeHugeIsNone) {
  const std::array<std::uint32_t, 4> header{0xFFFFFFFF, 0, 0, 0};
  ASSERT_EQ(send(ends_[0], header.data(), sizeof header, 0), std::ssize(header) * 4);
  EXPECT_FALSE(receive_message(ends_[1]));
}

TEST(KernelMessage, SaysWhatItLacks) {
  const KernelMessage numbers = KernelMessage::of_numbers(MessageKind::run, {1});
  EXPECT_THAT([&] { static_cast<void>(numbers.numbers(2)); },
              ThrowsMessage<std::runtime_error>(HasSubstr("too few numbers")));
  const KernelMessage text{.kind = MessageKind::value, .payload = "\xC1"};
  EXPECT_THAT([&] { static_cast<void>(text.json()); },
              ThrowsMessage<std::runtime_error>(HasSubstr("is not JSON")));
}

// What another process can do with an arena: map it so, in this process.
void* map_again(const SharedArena& arena, int protection) {
  return mmap(nullptr, arena.bytes, protection, MAP_SHARED, arena.descriptor, 0);
}

TEST(SharedMemory, OnlyThisProcessWritesInputs) {
  const auto inputs = allocate_shared(1000, false);
  const auto outputs = allocate_shared(1000, true);
  EXPECT_EQ(map_again(shared_place(inputs.get())->arena, PROT_READ | PROT_WRITE), MAP_FAILED);
  EXPECT_NE(map_again(shared_place(inputs.get())->arena, PROT_READ), MAP_FAILED);
  EXPECT_NE(map_again(shared_place(outputs.get())->arena, PROT_READ | PROT_WRITE), MAP_FAILED);
}

TEST(SharedMemory, KeepsItsLength) {
  const auto memory = allocate_shared(1000, true);
  EXPECT_EQ(ftruncate(shared_place(memory.get())->arena.descriptor, 0), -1);
  EXPECT_EQ(errno, EPERM);
}

TEST(SharedMemory, ShowsTheSameBytesElsewhere) {
  const auto memory = allocate_shared(5 << 20, true);
  auto* const bytes = static_cast<std::byte*>(memory.get());
  const SharedPlace place = shared_place(bytes + 4321).value();
  EXPECT_EQ(place.offset, 4321U);
  const MappedArena mapped(dup(place.arena.descriptor), place.arena.bytes, true);
  bytes[4321] = std::byte{42};
  EXPECT_EQ(*mapped.at(4321), std::byte{42});
  use_huge_pages(bytes, 3 << 20);
  mapped.populate(3 << 20);
  EXPECT_EQ(*mapped.at(4321), std::byte{42});
  EXPECT_THROW(static_cast<void>(mapped.at(place.arena.bytes)), std::out_of_range);
}

TEST(SharedMemory, IsForgottenWhenItIsFreed) {
  auto memory = allocate_shared(1, true);
  const void* const address = memory.get();
  const std::uint64_t number = shared_place(address)->arena.number;
  EXPECT_TRUE(is_allocated(number));
  memory.reset();
  EXPECT_FALSE(is_allocated(number));
  EXPECT_FALSE(shared_place(address));
}

using Wire = RegistryTest;

TEST_F(Wire, CarriesEveryOperationAndTechnique) {
  for (const auto& operation : Registry::instance().operations()) {
    nlohmann::json there = wire::of(*operation);
    nlohmann::json back = wire::of(wire::operation(there));
    EXPECT_TRUE(wire::has(there, "reference"));
    EXPECT_FALSE(wire::has(back, "reference"));
    there.erase("functions");
    back.erase("functions");
    EXPECT_EQ(there, back);
  }
  for (const auto& implementation : Registry::instance().implementations()) {
    nlohmann::json there = wire::of(*implementation);
    nlohmann::json back = wire::of(wire::implementation(there));
    there.erase("functions");
    back.erase("functions");
    EXPECT_EQ(there, back);
  }
}

TEST_F(Wire, CarriesShapesMachinesAndOperands) {
  const Shape shape({{"m", 3}, {"n", 5}}, Layout::tn, {{"eps", 1e-5}});
  EXPECT_EQ(wire::shape(wire::of(shape)), shape);
  const Machine machine{.units = 3, .caches = {{1, 32768, 2}}, .memory_bytes = 5};
  EXPECT_EQ(wire::of(wire::machine(wire::of(machine))), wire::of(machine));
  const std::vector<Operand> operands{{"x", 8, Format::int32, Access::updated, integers_below(5)}};
  EXPECT_EQ(wire::of(wire::operands(wire::of(operands))), wire::of(operands));
}

TEST(WireOfAnotherProgram, IsChecked) {
  EXPECT_THROW(static_cast<void>(wire::format_pair({200, 0})), std::runtime_error);
  EXPECT_THROW(static_cast<void>(wire::format_pair({"x", 0})), std::exception);
  nlohmann::json operands = wire::of(std::vector<Operand>{{"x", 8, Format::fp32}});
  operands[0]["access"] = 3;
  EXPECT_THROW(static_cast<void>(wire::operands(operands)), std::runtime_error);
  operands[0]["access"] = -1;
  EXPECT_THROW(static_cast<void>(wire::operands(operands)), std::runtime_error);
}

// Passes an exception through the description.
template <class E>
void pass(const E& exception) {
  nlohmann::json described;
  try {
    throw exception;
  } catch (...) {
    described = describe_exception();
  }
  rethrow(described);
}

TEST(Rethrow, KeepsTheKindsThatMatter) {
  EXPECT_THAT([] { pass(Unsupported("a")); }, ThrowsMessage<Unsupported>("a"));
  EXPECT_THAT([] { pass(UsageError("b")); }, ThrowsMessage<UsageError>("b"));
  EXPECT_THAT([] { pass(DeviceError("c")); }, ThrowsMessage<DeviceError>("c"));
  EXPECT_THAT([] { pass(OutOfMemory(7, 5)); }, ThrowsMessage<OutOfMemory>(HasSubstr("7 bytes")));
  EXPECT_THROW(pass(std::bad_alloc()), std::bad_alloc);
  EXPECT_THAT([] { pass(std::logic_error("d")); }, ThrowsMessage<std::runtime_error>("d"));
  EXPECT_THAT([] { pass(1); },
              ThrowsMessage<std::runtime_error>(HasSubstr("not a std::exception")));
}

TEST(SharedMemory, OfADeviceIsAnArenaThatTheHostLeavesAlone) {
  const int file = memfd_create("device", MFD_CLOEXEC);
  bool freed = false;
  int byte = 0;  // represents an address that the host cannot read
  auto memory = share_memory({&byte, [&](void*) { freed = true; }},
                             {.bytes = 4096, .descriptor = file, .of_host = false});
  const SharedPlace place = shared_place(memory.get()).value();
  EXPECT_EQ(place.arena.descriptor, file);
  use_huge_pages(memory.get(), 4096);
  EXPECT_EQ(shared_place(memory.get())->arena.used, 0U);
  const MappedArena mapped(memory, 4096);
  mapped.populate(4096);
  EXPECT_EQ(mapped.at(0), place.arena.data);
  EXPECT_THROW(static_cast<void>(mapped.at(4096)), std::out_of_range);
}

TEST(SharedMemory, OfADeviceGoesWithItsDescriptor) {
  const int file = memfd_create("device", MFD_CLOEXEC);
  bool freed = false;
  int byte = 0;
  share_memory({&byte, [&](void*) { freed = true; }},
               {.bytes = 4096, .descriptor = file, .of_host = false})
      .reset();
  EXPECT_TRUE(freed);
  EXPECT_FALSE(shared_place(&byte));
  EXPECT_EQ(fcntl(file, F_GETFD), -1);
}

TEST(Claims, LeaveOutTheTimeInWhichAGpuMayWaitForItsHost) {
  EXPECT_EQ(Claims().enqueued_s(100), 0);
  const Claims gpu{.asynchronous = true};
  EXPECT_DOUBLE_EQ(gpu.enqueued_s(1), 20.1e-6);
  EXPECT_DOUBLE_EQ(gpu.enqueued_s(1e6), 20e-6 + 2048e-7);
}

TEST(Isolation, IsOfOwnKernels) {
  Implementation implementation{};
  EXPECT_EQ(isolation_of(implementation), std::nullopt);
  implementation.calls_back = true;
  EXPECT_EQ(isolation_of(implementation), false);
  implementation.calls_back = false;
  implementation.technique.loaded_from = "libmine.so";
  EXPECT_EQ(isolation_of(implementation), false);
  implementation.bind = RemoteBind(nullptr, 0);
  EXPECT_EQ(isolation_of(implementation), true);
  const Bind here = [](Queue&, const Plan&, const Shape&, std::span<void* const>) {
    return Launch();
  };
  implementation.bind = RemoteBind(nullptr, 0, here);
  EXPECT_EQ(isolation_of(implementation), true);
}

}  // namespace
}  // namespace ridgebench
