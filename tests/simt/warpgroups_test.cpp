// GEMM by warp groups on the CPU: the fragment layout of PTX, the addresses that a descriptor selects, sums against sums in
// double.
#include <set>
#include <tuple>

#include "kernels/common/cuda_wgmma.hpp"
#include "kernels/gemm/cuda/cuda_warpgroups.hpp"
#include "tests/simt/device_gemms.hpp"

namespace lpt::test {
namespace {

// Fragment layouts.

TEST(SimtWgmma, LeftPlacesAreThoseOfPtx) {
  for (uint32_t thread = 0; thread < 128; ++thread) {
    const int warp = static_cast<int>(thread / 32), group = static_cast<int>(thread % 32 / 4);
    for (int i = 0; i < 16; ++i) {
      const bool is_upper = i < 4 || (i >= 8 && i < 12);
      const int row = 16 * warp + (is_upper ? group : group + 8);
      const int column = static_cast<int>(thread % 4) * 4 + (i & 3) + (i < 8 ? 0 : 16);
      const WgmmaPosition place = wgmma_left_place(row, column);
      EXPECT_EQ(std::make_tuple(thread, i / 4, i % 4), std::make_tuple(place.thread, place.word, place.byte));
    }
  }
}

TEST(SimtWgmma, SumPlacesAreThoseOfPtx) {
  for (uint32_t thread = 0; thread < 128; ++thread) {
    const int warp = static_cast<int>(thread / 32), group = static_cast<int>(thread % 32 / 4);
    for (int i = 0; i < 32; ++i) {
      EXPECT_EQ(wgmma_sum_row(thread, i), 16 * warp + group + (i % 4 < 2 ? 0 : 8));
      EXPECT_EQ(wgmma_sum_column(thread, i), 8 * (i / 4) + static_cast<int>(thread % 4) * 2 + (i & 1));
    }
  }
}

TEST(SimtWgmma, DescriptorsSayWhereRowsOf128BytesAre) {
  for (uint32_t address = 0; address < 227 * 1024; address += 16) {
    const uint64_t descriptor = wgmma_descriptor(address);
    EXPECT_EQ(address, (descriptor & 0x3FFF) * 16);
    EXPECT_EQ(64u, descriptor >> 32 & 0x3FFF);  // 1024 bytes between groups of eight columns
    EXPECT_EQ(1u, descriptor >> 62);            // 128-byte swizzle
    constexpr uint64_t kFields = 0x3FFFu | 0x3FFFu << 16 | uint64_t{0x3FFF} << 32 | uint64_t{3} << 62;
    EXPECT_EQ(0u, descriptor & ~kFields);  // no base offset, and unused fields are zero
  }
}

// A copy writes a chunk to its swizzled position; an MMA operation at a slice of 32 of k must read that position.
TEST(SimtWgmma, GemmsFindWhatWasCopied) {
  for (uint32_t base = 0; base < 64 * 1024; base += kWgmmaBoundary) {
    for (int slice = 0; slice < 4; ++slice) {
      const uint64_t descriptor = wgmma_descriptor(base + static_cast<uint32_t>(32 * slice));
      for (int column = 0; column < 64; ++column) {
        for (int k = 0; k < 32; ++k) {
          const int byte = 32 * slice + k;
          const int copied = column * 128 + wgmma_chunk_place(column, byte / 16) * 16 + byte % 16;
          ASSERT_EQ(base + static_cast<uint32_t>(copied), wgmma_right_address(descriptor, column, k));
        }
      }
    }
  }
}

TEST(SimtWarpgroupPlaces, LanesReadFourCodesWhereTheyLie) {
  for (int row = 0; row < 128; ++row) {
    std::set<int> seen;
    for (int slice = 0; slice < 4; ++slice) {
      for (int k = 0; k < 32; k += 4) {
        const WgmmaPosition place = wgmma_left_place(row % 64, k);
        const int lane_place = static_cast<int>(place.thread % 4), byte = (32 * slice + k) / 2;
        const int found = place_of_four_codes(row, slice, place.word / 2, lane_place);
        EXPECT_EQ(place_of_b_chunk(row, byte / 16) * 16 + byte % 16, found) << row << ", " << slice << ", " << k;
        seen.insert(found);
      }
    }
    EXPECT_EQ(32u, seen.size());
  }
}

// The lanes of a warp read different words of shared memory, or the same word.
TEST(SimtWarpgroupPlaces, LanesReadFromAllBanks) {
  for (int slice = 0; slice < 4; ++slice) {
    for (int half = 0; half < 2; ++half) {
      std::set<int> words, banks;
      for (int lane = 0; lane < 32; ++lane) {
        const int row = lane / 4;
        const int word = (row * kBChunks * kChunkBytes + place_of_four_codes(row, slice, half, lane % 4)) / 4;
        words.insert(word);
        banks.insert(word % 32);
      }
      EXPECT_EQ(words.size(), banks.size());
    }
  }
}

// Products of integers are exact, so that any misplaced element is detected.
TEST(SimtWgmma, MultipliesMatrices) {
  static float left[64][32], right[32][64], found[64][64];
  for (int k = 0; k < 32; ++k) {
    for (int i = 0; i < 64; ++i) left[i][k] = static_cast<float>((7 * i + 3 * k) % 17 - 8);
    for (int j = 0; j < 64; ++j) right[k][j] = static_cast<float>((5 * k + 11 * j) % 13 - 6);
  }
  const auto code = [](float number) {
    return encode(kElementE4m3fn, number, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 0);
  };
  take_next_order();
  simt::launch("warpgroup_gemm", nullptr, 1, 128, 64 * 128, nullptr, [&] {
    auto *const shared = static_cast<uint8_t *>(simt::dynamic_shared());
    WgmmaLeft a = {};
    WgmmaSum sum = {};
    for (int k = 0; k < 32; ++k) {
      for (int i = 0; i < 64; ++i) {
        const WgmmaPosition place = wgmma_left_place(i, k);
        if (place.thread == threadIdx.x) a.word[place.word] |= code(left[i][k]) << (8 * place.byte);
      }
      const int j = static_cast<int>(threadIdx.x) % 64, byte = 96 + k;  // the last slice
      shared[j * 128 + wgmma_chunk_place(j, byte / 16) * 16 + byte % 16] = static_cast<uint8_t>(code(right[k][j]));
    }
    __syncthreads();
    multiply_add(sum, a, wgmma_descriptor(shared_address(shared) + 96), false);
    multiply_add(sum, a, wgmma_descriptor(shared_address(shared) + 96), true);
    for (int i = 0; i < 32; ++i) found[wgmma_sum_row(threadIdx.x, i)][wgmma_sum_column(threadIdx.x, i)] = sum.number[i];
  });
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j < 64; ++j) {
      float oracle = 0;
      for (int k = 0; k < 32; ++k) oracle += 2 * left[i][k] * right[k][j];
      EXPECT_EQ(oracle, found[i][j]) << i << ", " << j;
    }
  }
}

// GEMMs.

constexpr KernelOptions kEnabled{.has_warpgroups = true};

constexpr GemmCase kCases[] = {
    {"e4m3fn_row", "int4_1x128", LPT_FORMAT_BF16, 17, 16, 128},
    {"e4m3fn_tensor", "int4_1x128", LPT_FORMAT_F32, 64, 70, 640},
    {"e4m3fn_1x128", "int4_1x128", LPT_FORMAT_F32, 66, 130, 384},
    {"e4m3fn_1x128", "int4_1x128", LPT_FORMAT_F16, 5, 129, 1152},
    {"e4m3fn", "int4_1x128", LPT_FORMAT_F32, 129, 1, 256},
};

TEST(SimtWarpgroups, AreNearTheSumsOfTheDefinition) {
  Random random(87);
  Tally tally(warpgroups_kernels());
  for (const GemmCase &c : kCases) check(c, random, tally, kEnabled);
  tally.expect_all_at_least(5);
}

TEST(SimtWarpgroups, HaveTheSameBitsInEveryOrder) {
  Random random(88);
  Problem problem("e4m3fn_1x128", "int4_1x128", LPT_FORMAT_F32, false, true, 18, 20, 1024, 32);
  problem.draw(random);
  ASSERT_GT(warpgroup_grid(18, 20, 1024).parts, 1);
  std::vector<double> first;
  for (const simt::Order order : kOrders) {
    simt::set_order(order);
    run_on_cpu(warpgroups_kernels().front(), problem.request);
    if (first.empty()) first = numbers_of_c(problem);
    EXPECT_EQ(first, numbers_of_c(problem));
  }
}

TEST(SimtWarpgroups, RejectWhatTheyDoNotTake) {
  Problem problem("e4m3fn_1x128", "int4_1x128", LPT_FORMAT_F32, false, true, 17, 32, 256, 32);
  problem.request.options = kEnabled;
  const KernelEntry<GemmRequest> &kernel = warpgroups_kernels().front();
  EXPECT_TRUE(kernel.needs.min_capability == 90 && kernel.needs.max_capability == 90);
  EXPECT_EQ(nullptr, kernel.unsupported_reason(problem.request));
  GemmRequest request = problem.request;
  request.a.format.element = LPT_FORMAT_BF16;
  EXPECT_STREQ("takes a of e4m3fn only", kernel.unsupported_reason(request));
  request = problem.request;
  request.a.format.block_columns = 64;
  EXPECT_STREQ("takes a with one f32 scale a row, in all, or per 1 x 128, only", kernel.unsupported_reason(request));
  request = problem.request;
  request.b.format.block_columns = 32;
  EXPECT_STREQ("takes b of int4 with f32 scales of 1 x 128 only", kernel.unsupported_reason(request));
  request = problem.request;
  request.a.row_stride += 8;
  EXPECT_STREQ("rows of a do not begin on 16 bytes", kernel.unsupported_reason(request));
  request = problem.request;
  request.k = 192;
  EXPECT_STREQ("takes k in multiples of 128 only", kernel.unsupported_reason(request));
  request = problem.request;
  request.n = 8388481;
  EXPECT_STREQ("takes 8388480 columns of c at most", kernel.unsupported_reason(request));
}

// The kernel is off by default and is selected only on request.
TEST(SimtWarpgroups, AreTakenWhereTheyAreRequestedOnly) {
  Problem problem("e4m3fn_1x128", "int4_1x128", LPT_FORMAT_F32, false, true, 17, 32, 256, 32);
  problem.request.options = kEnabled;
  EXPECT_EQ(&warpgroups_kernels().front(), kernel_for(problem.request));
  problem.request.options = {};
  EXPECT_STREQ("is taken with LPT_GEMM_WGMMA set only",
               warpgroups_kernels().front().unsupported_reason(problem.request));
  EXPECT_EQ(nullptr, kernel_for(problem.request));
}

}  // namespace
}  // namespace lpt::test
