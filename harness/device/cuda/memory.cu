#include <cuda.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <stdexcept>

#include "harness/device/cpu/memory.hpp"
#include "harness/device/cuda/memory.cuh"
#include "harness/device/cuda/memory_kernels.cuh"
#include "harness/device/isolated/gpu/memory.hpp"
#include "kernels/common/cuda/launch.cuh"

namespace ridgebench {
namespace {

// The values that the harness passes to the driver without its header.
static_assert(sizeof(driver_abi::AllocationProperties) == sizeof(CUmemAllocationProp) &&
              offsetof(driver_abi::AllocationProperties, windows) ==
                  offsetof(CUmemAllocationProp, win32HandleMetaData) &&
              offsetof(driver_abi::AllocationProperties, flags) ==
                  offsetof(CUmemAllocationProp, allocFlags));
static_assert(sizeof(driver_abi::Access) == sizeof(CUmemAccessDesc));

using cuda::check;
using memory_kernels::Bytes;

constexpr int kThreads = 256;
constexpr std::size_t kStagingBytes = std::size_t{64} << 20U;
constexpr std::size_t kFewRegions = 8;  // up to this number, one memset per region

using Region = DeviceMemory::Region;
static_assert(sizeof(Region) == sizeof(Bytes), "a span is a pointer and a size");

template <class T>
std::shared_ptr<T> on_device(std::size_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)));
  return {static_cast<T*>(memory), [](T* p) { static_cast<void>(cudaFree(p)); }};
}

// The grid of a grid-stride loop: enough blocks for any device.
unsigned blocks(std::int64_t items) {
  constexpr std::int64_t most = 4096;
  return static_cast<unsigned>(std::clamp<std::int64_t>(ceil_div(items, kThreads), 1, most));
}

// Calls f with a null pointer to the format's storage type.
template <class F>
void with_type(Format format, F f) {
  switch (format) {
    case Format::fp32:
    case Format::tf32:
    case Format::tf32x3:
      return f(static_cast<const float*>(nullptr));
    case Format::fp16:
      return f(static_cast<const Fp16*>(nullptr));
    case Format::bf16:
      return f(static_cast<const Bf16*>(nullptr));
    case Format::fp8_e4m3:
      return f(static_cast<const Fp8E4m3*>(nullptr));
    case Format::fp8_e5m2:
      return f(static_cast<const Fp8E5m2*>(nullptr));
    case Format::fp64:
      return f(static_cast<const double*>(nullptr));
    case Format::int32:
    case Format::int8:
    case Format::ue8m0:
    case Format::fp4_e2m1:
      throw std::logic_error(
          "whole numbers, scales and pairs of numbers are compared by their bits");
  }
}

}  // namespace

CudaMemory::CudaMemory(cudaStream_t stream)
    : stream_(stream),
      result_(on_device<unsigned long long>(1)),
      found_(on_device<memory_kernels::Found>(1)) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, kStagingBytes, cudaHostAllocDefault));
  staging_ = {static_cast<std::byte*>(memory),
              [](std::byte* p) { static_cast<void>(cudaFreeHost(p)); }};
  check(cudaMemsetAsync(result_.get(), 0, sizeof *result_, stream_));
  check(cudaMemsetAsync(found_.get(), 0, sizeof *found_, stream_));
}

// Returns what the kernels found that were enqueued so far, and resets it to zero.
std::uint64_t CudaMemory::take_result() {
  check(cudaGetLastError());
  std::uint64_t found = 0;
  check(cudaMemcpyAsync(&found, result_.get(), sizeof found, cudaMemcpyDeviceToHost, stream_));
  check(cudaMemsetAsync(result_.get(), 0, sizeof found, stream_));
  check(cudaStreamSynchronize(stream_));
  return found;
}

void CudaMemory::upload(const void* data, std::size_t bytes) {
  if (table_bytes_ < bytes) {
    table_ = on_device<std::byte>(bytes);
    table_bytes_ = bytes;
  }
  check(cudaMemcpyAsync(table_.get(), data, bytes, cudaMemcpyHostToDevice, stream_));
}

void CudaMemory::fill(void* out, std::int64_t elements, Format format, const RandomStream& from) {
  const bool of_the_run = from.values.kind == Values::Kind::of_the_run;
  const unsigned grid = blocks(elements / kElementsPerBlock);
  const auto launch = [&](auto* words) {
    if (of_the_run) {
      const std::span<const std::uint32_t> quantiles = quantile_table(format, from.fill);
      upload(quantiles.data(), quantiles.size_bytes());
      memory_kernels::fill_elements<<<grid, kThreads, 0, stream_>>>(
          words, elements, reinterpret_cast<const std::uint32_t*>(table_.get()), from.seed,
          from.stream, from.first);
    } else {
      memory_kernels::fill_values<<<grid, kThreads, 0, stream_>>>(words, elements, info(format),
                                                                  from);
    }
  };
  const int bytes = info(format).storage_bytes;
  if (bytes == 1) launch(static_cast<std::uint8_t*>(out));
  if (bytes == 2) launch(static_cast<std::uint16_t*>(out));
  if (bytes == 4) launch(static_cast<std::uint32_t*>(out));
  if (bytes == 8) launch(static_cast<double*>(out));
  check(cudaGetLastError());
  check(cudaStreamSynchronize(stream_));
}

void CudaMemory::write(void* out, std::span<const std::byte> bytes) {
  check(cudaMemcpyAsync(out, bytes.data(), bytes.size(), cudaMemcpyHostToDevice, stream_));
  check(cudaStreamSynchronize(stream_));
}

void CudaMemory::set(std::span<const Region> regions, unsigned char value) {
  if (regions.size() <= kFewRegions) {
    for (const Region& region : regions) {
      check(cudaMemsetAsync(region.data(), value, region.size(), stream_));
    }
  } else {
    upload(regions.data(), regions.size_bytes());
    memory_kernels::set_regions<<<static_cast<unsigned>(regions.size()), kThreads, 0, stream_>>>(
        reinterpret_cast<const Bytes*>(table_.get()), std::byte{value});
    check(cudaGetLastError());
  }
  check(cudaStreamSynchronize(stream_));
}

bool CudaMemory::holds(std::span<const Region> regions, unsigned char value) {
  if (regions.empty()) return true;
  upload(regions.data(), regions.size_bytes());
  memory_kernels::find_other_bytes<<<static_cast<unsigned>(regions.size()), kThreads, 0, stream_>>>(
      reinterpret_cast<const Bytes*>(table_.get()), std::byte{value}, result_.get());
  return take_result() == 0;
}

// Copies through pinned memory, a buffer at a time; all threads of the host copy on from there.
const std::byte* CudaMemory::on_host(std::span<const Region> regions, HostBuffer& scratch) {
  std::size_t bytes = 0;
  for (const Region& region : regions) bytes += region.size();
  std::byte* const copy = scratch.resize(bytes);
  std::size_t staged = 0;
  std::size_t copied = 0;
  const auto flush = [&] {
    check(cudaStreamSynchronize(stream_));
    copy_in_parallel(copy + copied, staging_.get(), staged);
    copied += staged;
    staged = 0;
  };
  for (Region rest : regions) {
    while (!rest.empty()) {
      const std::size_t part = std::min(rest.size(), kStagingBytes - staged);
      check(cudaMemcpyAsync(staging_.get() + staged, rest.data(), part, cudaMemcpyDeviceToHost,
                            stream_));
      staged += part;
      rest = rest.subspan(part);
      if (staged == kStagingBytes) flush();
    }
  }
  flush();
  return copy;
}

bool CudaMemory::has_nan(const void* data, std::int64_t elements, Format format) {
  with_type(format, [&](auto* type) {
    memory_kernels::find_nan<<<blocks(elements), kThreads, 0, stream_>>>(
        static_cast<decltype(type)>(data), elements, result_.get());
  });
  return take_result() != 0;
}

std::uint64_t CudaMemory::checksum(Region region) {
  memory_kernels::
      add_checksums<<<blocks(static_cast<std::int64_t>(region.size() / 8)), kThreads, 0, stream_>>>(
          region.data(), region.size(), result_.get());
  return take_result();
}

void CudaMemory::enqueue_read(const void* data, std::size_t bytes) {
  const auto count = static_cast<std::int64_t>(bytes / sizeof(uint4));
  constexpr unsigned never = 0xDEADBEEF;  // the memory is cleared and never holds it
  memory_kernels::read_words<<<blocks(count), kThreads, 0, stream_>>>(
      static_cast<const uint4*>(data), count, never, result_.get());
}

double CudaMemory::largest_difference(const void* x, const void* y, std::int64_t elements,
                                      Format format, double absolute, double relative) {
  with_type(format, [&](auto* type) {
    using Pointer = decltype(type);
    memory_kernels::find_difference<<<blocks(elements), kThreads, 0, stream_>>>(
        static_cast<Pointer>(x), static_cast<Pointer>(y), elements, absolute, relative,
        result_.get());
  });
  return std::bit_cast<double>(take_result());
}

WrongBits CudaMemory::take_wrong_bits() {
  check(cudaGetLastError());
  memory_kernels::Found found{};
  check(cudaMemcpyAsync(&found, found_.get(), sizeof found, cudaMemcpyDeviceToHost, stream_));
  check(cudaMemsetAsync(found_.get(), 0, sizeof found, stream_));
  check(cudaStreamSynchronize(stream_));
  WrongBits wrong;
  wrong.words = static_cast<std::int64_t>(found.words);
  wrong.bits = static_cast<std::int64_t>(found.bits);
  wrong.first.assign(found.first, found.first + std::min<std::size_t>(found.words, kMostReported));
  std::ranges::sort(wrong.first, {}, &WrongWord::index);
  return wrong;
}

WrongBits CudaMemory::compare(Region found, Region expected) {
  const auto words = static_cast<std::int64_t>(found.size() / kWordBytes);
  memory_kernels::find_wrong_words<<<blocks(words), kThreads, 0, stream_>>>(
      found.data(), expected.data(), found.size(), found_.get());
  return take_wrong_bits();
}

void CudaMemory::write_pattern(Region region, const MemoryPattern& pattern) {
  const auto words = static_cast<std::int64_t>(region.size() / kWordBytes);
  memory_kernels::write_words<<<blocks(words), kThreads, 0, stream_>>>(
      reinterpret_cast<std::uint64_t*>(region.data()), words, pattern);
  check(cudaGetLastError());
  check(cudaStreamSynchronize(stream_));
}

WrongBits CudaMemory::compare(Region found, const MemoryPattern& expected) {
  const auto words = static_cast<std::int64_t>(found.size() / kWordBytes);
  memory_kernels::find_words_off_pattern<<<blocks(words), kThreads, 0, stream_>>>(
      reinterpret_cast<const std::uint64_t*>(found.data()), words, expected, found_.get());
  return take_wrong_bits();
}

}  // namespace ridgebench
