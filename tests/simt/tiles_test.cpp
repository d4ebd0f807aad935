// GEMM with large m and four-bit weights on the CPU: index maps and tiles exhaustively, delayed asynchronous copies, sums
// against sums in double.
#include <cstdlib>
#include <set>

#include "kernels/common/cuda_async.hpp"
#include "kernels/gemm/cuda/cuda_few_rows.hpp"
#include "kernels/gemm/cuda/cuda_tiles.hpp"
#include "tests/simt/device_gemms.hpp"

namespace lpt::test {
namespace {

// Shared memory.

TEST(SimtTiles, ChunksOfARowHaveAPlaceEach) {
  for (int row = 0; row < 128; ++row) {
    std::set<int> a, b;
    for (int chunk = 0; chunk < kAChunks; ++chunk) a.insert(place_of_a_chunk(row, chunk));
    for (int chunk = 0; chunk < kBChunks; ++chunk) b.insert(place_of_b_chunk(row, chunk));
    std::set<int> bytes;
    for (int chunk = 0; chunk < kAChunks / 2; ++chunk) bytes.insert(place_of_byte_chunk(row, chunk));
    EXPECT_TRUE(bytes.size() == 8 && *bytes.begin() == 0 && *bytes.rbegin() == 7) << row;
    EXPECT_TRUE(a.size() == 16 && *a.begin() == 0 && *a.rbegin() == 15) << row;
    EXPECT_TRUE(b.size() == 4 && *b.begin() == 0 && *b.rbegin() == 3) << row;
  }
}

// A quarter of a warp reads 16 bytes per lane from shared memory in one access if the addresses are in different eighths of 128
// bytes.
TEST(SimtTiles, QuartersOfAWarpReadFromAllBanks) {
  for (const bool is_narrow : {false, true}) {
    for (int word = 0; word < kFewWords; ++word) {
      for (int quarter = 0; quarter < 4; ++quarter) {
        std::set<int> a, b;
        for (int lane = 8 * quarter; lane < 8 * quarter + 8; ++lane) {
          const int row = lane / 4, place = lane % 4;
          a.insert((row * kAChunks + place_of_a_chunk(row, first_k_of_word(is_narrow, word, place) / 8)) % 8);
          b.insert((row * kBChunks + place_of_b_chunk(row, place)) % 8);
        }
        EXPECT_EQ(8u, a.size()) << is_narrow << ", " << word << ", " << quarter;
        EXPECT_EQ(8u, b.size()) << quarter;
      }
    }
  }
}

// Half of a warp reads eight bytes per lane in one access if the addresses are in different sixteenths: byte elements of a.
TEST(SimtTiles, HalvesOfAWarpReadBytesFromAllBanks) {
  for (int word = 0; word < kFewWords; ++word) {
    for (int half = 0; half < 2; ++half) {
      std::set<int> places;
      for (int lane = 16 * half; lane < 16 * half + 16; ++lane) {
        const int row = lane / 4, k = first_k_of_word(true, word, lane % 4);
        places.insert((row * kTileStep + place_of_byte_chunk(row, k / 16) * 16 + k % 16) / 8 % 16);
      }
      EXPECT_EQ(16u, places.size()) << word << ", " << half;
    }
  }
}

// A warp reads four bytes per lane in one access if the addresses are in different banks of 32 words.
TEST(SimtTiles, NarrowWordsAreReadFromAllBanks) {
  for (int word = 0; word < kFewWords; ++word) {
    std::set<int> banks;
    for (int lane = 0; lane < 32; ++lane) {
      banks.insert(((lane / 4 * kBChunks + place_of_b_chunk(lane / 4, word)) * 4 + lane % 4) % 32);
    }
    EXPECT_EQ(32u, banks.size()) << word;
  }
}

// Tiles.

TEST(SimtTiles, PartsTakeEveryStepOnce) {
  for (const int64_t m : {17, 32, 33, 64, 65, 128, 129, 1000}) {
    for (const int64_t n : {1, 128, 129, 4096, 28672, 100000}) {
      for (int64_t steps = 1; steps <= 140; ++steps) {
        const TileGrid grid = tile_grid(m, n, steps * kTileStep);
        EXPECT_GE(grid.tokens * grid.token_tiles, m);
        EXPECT_LT(grid.tokens * (grid.token_tiles - 1), m);
        EXPECT_GE(grid.row_tiles * kTileRows, n);
        EXPECT_GE(grid.parts * grid.steps_of_part, steps);
        EXPECT_LT((grid.parts - 1) * grid.steps_of_part, steps);
        EXPECT_TRUE(grid.parts >= 1 && grid.parts <= kMostParts);
        EXPECT_TRUE(grid.parts == 1 || grid.steps_of_part >= kLeastStepsOfPart);
        EXPECT_TRUE(grid.parts == 1 || grid.token_tiles * grid.row_tiles * 2 <= kRequestedBlocks);
      }
    }
  }
}

TEST(SimtTiles, PartsWantTheirSumsInScratch) {
  Problem problem("bf16", "int4_1x128", LPT_FORMAT_F32, false, true, 20, 40, 1280, 32);
  EXPECT_EQ(size_t{2 * 20 * 40 * 4}, tiles_kernels().front().scratch_bytes(problem.request));
  problem.request.k = 512;
  EXPECT_EQ(0u, tiles_kernels().front().scratch_bytes(problem.request));
}

// Asynchronous copies.

TEST(SimtAsync, CopiesAreMadeWhenTheirGroupIsWaitedFor) {
  alignas(16) static uint32_t source[8], target[8];
  for (uint32_t i = 0; i < 8; ++i) source[i] = i + 1;
  simt::launch("copies", nullptr, 1, 1, 0, nullptr, [] {
    copy_async(target, source);
    close_copies();
    copy_async(target + 4, source + 4);
    close_copies();
    EXPECT_EQ(0u, target[0]);
    wait_for_copies<1>();
    EXPECT_TRUE(target[3] == 4 && target[4] == 0);
    wait_for_copies<0>();
    EXPECT_EQ(8u, target[7]);
  });
  EXPECT_THROW(simt::launch("askew", nullptr, 1, 1, 0, nullptr, [] { copy_async(target, source + 1); }), simt::Fault);
}

// GEMMs.

constexpr GemmCase kCases[] = {
    {"bf16", "int4_1x128", LPT_FORMAT_BF16, 17, 16, 128},
    {"bf16", "int4_1x128", LPT_FORMAT_F32, 33, 130, 1280},
    {"f16", "int4_1x128", LPT_FORMAT_F16, 64, 70, 512},
    {"f16", "int4_1x128", LPT_FORMAT_F32, 131, 1, 256},
    {"f16_tensor", "int4_1x128", LPT_FORMAT_BF16, 32, 129, 384},
    {"bf16", "int4_1x32", LPT_FORMAT_F32, 31, 128, 1152},
    {"bf16", "int4_1x32", LPT_FORMAT_BF16, 40, 31, 640},
    {"f16", "int4_1x32", LPT_FORMAT_F32, 66, 200, 128},
    {"e4m3fn_row", "int4_1x128", LPT_FORMAT_BF16, 20, 40, 256},
    {"e4m3fn_tensor", "int4_1x32", LPT_FORMAT_F32, 70, 130, 384},
    {"e4m3fn", "int4_1x128", LPT_FORMAT_F32, 33, 129, 1152},
    {"bf16", "nvfp4", LPT_FORMAT_F32, 18, 35, 256},
    {"bf16", "nvfp4", LPT_FORMAT_BF16, 65, 129, 384},
    {"bf16", "nvfp4", LPT_FORMAT_F16, 50, 64, 2048},
    {"bf16", "mxfp4", LPT_FORMAT_F32, 30, 20, 128},
    {"bf16", "mxfp4", LPT_FORMAT_F32, 63, 66, 384},
    {"bf16", "mxfp4", LPT_FORMAT_BF16, 128, 130, 1408},
};

TEST(SimtTiles, AreNearTheSumsOfTheDefinition) {
  Random random(85);
  Tally tally(tiles_kernels());
  for (const GemmCase &c : kCases) check(c, random, tally);
  tally.expect_all_at_least(6);
}

// The order of threads and of blocks does not change the bits, also if k is split in parts.
TEST(SimtTiles, HaveTheSameBitsInEveryOrder) {
  Random random(86);
  Problem problem("bf16", "int4_1x128", LPT_FORMAT_F32, false, true, 20, 130, 1152, 32);
  problem.draw(random);
  ASSERT_GT(tile_grid(20, 130, 1152).parts, 1);
  std::vector<double> first;
  for (const simt::Order order : kOrders) {
    simt::set_order(order);
    run_on_cpu(*kernel_for(problem.request), problem.request);
    if (first.empty()) first = numbers_of_c(problem);
    EXPECT_EQ(first, numbers_of_c(problem));
  }
}

TEST(SimtTiles, RejectWhatTheyDoNotTake) {
  const Problem integers("bf16", "int4_1x128", LPT_FORMAT_F32, false, true, 17, 32, 256, 32);
  const Problem floats("bf16", "nvfp4", LPT_FORMAT_F32, false, true, 128, 32, 256, 32);
  const KernelEntry<GemmRequest> &int4 = tiles_kernels()[0], &fp4 = tiles_kernels()[1];
  EXPECT_EQ(nullptr, int4.unsupported_reason(integers.request));
  EXPECT_EQ(nullptr, fp4.unsupported_reason(floats.request));
  GemmRequest request = integers.request;
  request.m = 16;
  EXPECT_STREQ("takes 17 rows of a and more only", int4.unsupported_reason(request));
  EXPECT_STREQ("takes 17 rows of a and more only", fp4.unsupported_reason(request));
  request = integers.request;
  request.a.format.element = LPT_FORMAT_E5M2;
  EXPECT_STREQ("takes a of bf16, f16 and e4m3fn only", int4.unsupported_reason(request));
  request = integers.request;
  request.n = 8388481;
  EXPECT_STREQ("takes 8388480 columns of c at most", int4.unsupported_reason(request));
  request = integers.request;
  request.k = 192;
  EXPECT_STREQ("takes k in multiples of 128 only", int4.unsupported_reason(request));
  EXPECT_STREQ("takes b of int4 with f32 scales of 1 x 32 and 1 x 128 only", int4.unsupported_reason(floats.request));
}

// With more than 128 rows of a by FP4, the cost estimate prefers the library; an option enables the kernel.
TEST(SimtTiles, TakeMoreRowsByFp4WhereTheyAreRequestedTo) {
  Problem problem("bf16", "mxfp4", LPT_FORMAT_F32, false, true, 129, 32, 256, 32);
  EXPECT_STREQ("takes more than 128 rows of a only with LPT_GEMM_TILES set",
               tiles_kernels()[1].unsupported_reason(problem.request));
  problem.request.options.has_fp4_tiles = true;
  EXPECT_EQ(&tiles_kernels()[1], kernel_for(problem.request));
}

}  // namespace
}  // namespace lpt::test
