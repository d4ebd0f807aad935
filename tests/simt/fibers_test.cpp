// Tests of the fibers: kernels that use barriers, warp operations and atomics, and kernels that misuse them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/common/launch.hpp"

namespace lpt::test {
namespace {

constexpr simt::Order kOrders[] = {simt::Order::kForward, simt::Order::kBackward, simt::Order::kShuffled};

// Returns the fault of a launch, or an empty string.
template <typename Launch>
std::string fault_of(const Launch &launch) {
  try {
    launch();
  } catch (const simt::Fault &fault) {
    return fault.what();
  }
  return "";
}

bool has(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

__global__ void reverse(int *numbers, bool is_synchronized) {
  __shared__ int held[64];
  held[threadIdx.x] = numbers[blockIdx.x * 64 + threadIdx.x];
  if (is_synchronized) __syncthreads();
  numbers[blockIdx.x * 64 + threadIdx.x] = held[63 - threadIdx.x];
}

std::vector<int> reversed(bool is_synchronized) {
  std::vector<int> numbers(3 * 64);
  for (int i = 0; i < 192; ++i) numbers[static_cast<std::size_t>(i)] = i;
  LPT_LAUNCH(reverse, 3, 64, 0, nullptr, numbers.data(), is_synchronized);
  return numbers;
}

bool is_reversed(const std::vector<int> &numbers) {
  for (int i = 0; i < 192; ++i) {
    if (numbers[static_cast<std::size_t>(i)] != i / 64 * 64 + 63 - i % 64) return false;
  }
  return true;
}

TEST(Simt, BarriersOrderSharedMemory) {
  for (const simt::Order order : kOrders) {
    simt::set_order(order);
    EXPECT_TRUE(is_reversed(reversed(true)));
    EXPECT_FALSE(is_reversed(reversed(false))) << "a missing barrier was not seen";
  }
}

__global__ void places(dim3 *out) {
  const uint32_t block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const uint32_t thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * 24 + thread] = threadIdx;
}

TEST(Simt, ThreadsKnowTheirPlaces) {
  std::vector<dim3> out(6 * 24, dim3(9, 9, 9));
  LPT_LAUNCH(places, dim3(1, 3, 2), dim3(4, 3, 2), 0, nullptr, out.data());
  for (uint32_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i].x, i % 4);
    EXPECT_EQ(out[i].y, i / 4 % 3);
    EXPECT_EQ(out[i].z, i / 12 % 2);
  }
}

struct Exchanged {
  float by_xor, down, up, chosen;
  uint64_t wide;
  uint32_t votes;
};

__global__ void exchange(Exchanged *out, uint32_t width) {
  const float own = static_cast<float>(threadIdx.x);
  Exchanged &mine = out[threadIdx.x];
  mine.by_xor = __shfl_xor_sync(~0u, own, 5u, width);
  mine.down = __shfl_down_sync(~0u, own, 3u, width);
  mine.up = __shfl_up_sync(~0u, own, 3u, width);
  mine.chosen = __shfl_sync(~0u, own, 6u, width);
  mine.wide = __shfl_xor_sync(~0u, uint64_t{threadIdx.x} << 40, 1u);
  mine.votes = __ballot_sync(~0u, threadIdx.x % 3 == 0);
}

TEST(Simt, LanesExchangeWithinTheirSegments) {
  for (const simt::Order order : kOrders) {
    simt::set_order(order);
    for (const uint32_t width : {8u, 16u, 32u}) {
      std::vector<Exchanged> out(64);
      LPT_LAUNCH(exchange, 1, 64, 0, nullptr, out.data(), width);
      for (uint32_t i = 0; i < 64; ++i) {
        const uint32_t at = i % width;
        EXPECT_EQ(out[i].by_xor, static_cast<float>(i ^ 5u));
        EXPECT_EQ(out[i].down, static_cast<float>(at + 3 < width ? i + 3 : i));
        EXPECT_EQ(out[i].up, static_cast<float>(at >= 3 ? i - 3 : i));
        EXPECT_EQ(out[i].chosen, static_cast<float>(i - at + 6));
        EXPECT_EQ(out[i].wide, uint64_t{i ^ 1u} << 40);
        EXPECT_EQ(out[i].votes, i < 32 ? 0x49249249u : 0x92492492u);  // thread 33 is lane 1
      }
    }
  }
}

__global__ void by_halves(uint32_t *votes) {
  const uint32_t mask = threadIdx.x < 16 ? 0xFFFFu : 0xFFFF0000u;
  if (threadIdx.x < 16) __syncwarp(mask);
  votes[threadIdx.x] = __ballot_sync(mask, true);
}

TEST(Simt, HalvesOfAWarpSynchronizeApart) {
  std::vector<uint32_t> votes(32);
  LPT_LAUNCH(by_halves, 1, 32, 0, nullptr, votes.data());
  EXPECT_EQ(votes[3], 0xFFFFu);
  EXPECT_EQ(votes[20], 0xFFFF0000u);
}

__global__ void count(int *sum, float *total, uint32_t *most) {
  atomicAdd(sum, 1);
  atomicAdd(total, 0.5f);
  atomicMax(most, blockIdx.x * 100 + threadIdx.x);
}

TEST(Simt, AtomicsTakeEveryThread) {
  int sum = 0;
  float total = 0;
  uint32_t most = 0;
  LPT_LAUNCH(count, 5, 96, 0, nullptr, &sum, &total, &most);
  EXPECT_EQ(sum, 480);
  EXPECT_EQ(total, 240.0f);
  EXPECT_EQ(most, 495u);
}

__global__ void exchange_in_dynamic(uint32_t *out) {
  LPT_DYNAMIC_SHARED(uint32_t, held);
  out[2 * threadIdx.x] = held[threadIdx.x];
  __syncthreads();
  held[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[2 * threadIdx.x + 1] = held[31 - threadIdx.x];
}

TEST(Simt, DynamicSharedMemoryIsPoisonedForEveryBlock) {
  std::vector<uint32_t> out(64);
  LPT_LAUNCH(exchange_in_dynamic, 2, 32, 128, nullptr, out.data());
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[2 * i], 0xA5A5A5A5u);
    EXPECT_EQ(out[2 * i + 1], 31 - i);
  }
}

__global__ void leave_early() {
  if (threadIdx.x == 7) return;
  __syncthreads();
}

__global__ void part_ways() {
  if (threadIdx.x < 9) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void leave_warp() {
  if (threadIdx.x != 3) __syncwarp();
}

__global__ void leave_out() { __shfl_xor_sync(0xFFu, 1, 8u); }

__global__ void misalign(const unsigned char *bytes) { __ldcs(reinterpret_cast<const uint4 *>(bytes + 4)); }

TEST(Simt, MisuseIsReportedWithKernelBlockAndThread) {
  for (const simt::Order order : kOrders) {
    simt::set_order(order);
    const std::string early = fault_of([] { LPT_LAUNCH(leave_early, 2, 32, 0, nullptr); });
    EXPECT_TRUE(has(early, "kernel leave_early, block (") && has(early, "thread (7, 0, 0) left out")) << early;
    const std::string ways = fault_of([] { LPT_LAUNCH(part_ways, 1, 32, 0, nullptr); });
    EXPECT_TRUE(has(ways, "waits at this barrier, and thread (0, 0, 0)")) << ways;
    const std::string warp = fault_of([] { LPT_LAUNCH(leave_warp, 1, 64, 0, nullptr); });
    EXPECT_TRUE(has(warp, "__syncwarp waits for lanes")) << warp;
    const std::string out = fault_of([] { LPT_LAUNCH(leave_out, 1, 32, 0, nullptr); });
    EXPECT_TRUE(has(out, "that its mask leaves out")) << out;
    alignas(16) const unsigned char bytes[32] = {};
    const std::string moved = fault_of([&] { LPT_LAUNCH(misalign, 1, 1, 0, nullptr, bytes); });
    EXPECT_TRUE(has(moved, "no multiple of its size")) << moved;
  }
  EXPECT_TRUE(is_reversed(reversed(true))) << "after faults";
}

TEST(Simt, GridsThatNoDeviceTakesAreRejected) {
  EXPECT_TRUE(has(fault_of([] { LPT_LAUNCH(leave_out, 1, 1025, 0, nullptr); }), "expected 1 to 1024 threads"));
  EXPECT_TRUE(has(fault_of([] { LPT_LAUNCH(leave_out, 1, dim3(1, 1, 65), 0, nullptr); }), "1024 x 1024 x 64 threads"));
  EXPECT_TRUE(has(fault_of([] { LPT_LAUNCH(leave_out, 0, 32, 0, nullptr); }), "at least one block"));
  for (const dim3 grid : {dim3(0x80000000u), dim3(1, 65536), dim3(1, 1, 65536)}) {
    const std::string fault = fault_of([grid] { LPT_LAUNCH(leave_out, grid, 32, 0, nullptr); });
    EXPECT_TRUE(has(fault, "expected 2147483647 x 65535 x 65535 blocks at most")) << fault;
  }
}

__global__ void with_shared() {}

// Every kernel may use 48 KiB; more must be enabled per kernel.
TEST(Simt, SharedMemoryThatNoBlockHasIsRejected) {
  EXPECT_EQ("", fault_of([] { LPT_LAUNCH(with_shared, 1, 32, 49152, nullptr); }));
  EXPECT_TRUE(has(fault_of([] { LPT_LAUNCH(with_shared, 1, 32, 49153, nullptr); }), "expected 49152 bytes at most"));
  allow_shared(with_shared, 65536);
  EXPECT_EQ("", fault_of([] { LPT_LAUNCH(with_shared, 1, 32, 65536, nullptr); }));
  allow_shared(with_shared, 300000);
  EXPECT_TRUE(has(fault_of([] { LPT_LAUNCH(with_shared, 1, 32, 232449, nullptr); }), "expected 232448 bytes at most"));
}

}  // namespace
}  // namespace lpt::test
