// GEMM of int8 and of groups of small integers in AMX tiles of int8, with b in panels and in rows. The expected values are sums of
// doubles that do not use tiles.
#include <cstring>
#include <vector>

#include "tests/kernels/gemm_panels.hpp"

namespace lpt::test {
namespace {

// int8 in AMX tiles: b in panels and in rows, in shapes at the edges of tiles, and in a shape that is split in every direction.
class GemmByteTiles : public GemmKernelTest {
 protected:
  GemmByteTiles() : GemmKernelTest("gemm_int8_x86_amx") {}

  void check(int64_t m, int64_t n, int64_t k, Random &random) const {
    Problem problem("int8_row", "int8_row", LPT_FORMAT_F32, false, true, m, n, k);
    problem.draw(random);
    Oracle oracle(problem);
    const std::vector<double> found = packed(problem);
    oracle.judge("packed");
    EXPECT_EQ(plain(problem), found) << problem.name;
  }
};

TEST_F(GemmByteTiles, MultipliesAllShapes) {
  Random random(12);
  for_all_shapes(random, [&](int64_t m, int64_t n, int64_t k) { check(m, n, k, random); });
  check(kIsSanitized ? 70 : 600, 830, 2501, random);
}

// Groups in AMX tiles of int8. int8 dot products compute the same bits.
class GemmByteTileGroups : public GemmKernelTest {
 protected:
  GemmByteTileGroups() : GemmKernelTest("gemm_groups_x86_amx") {}

  // Returns whether the kernel supports the problem.
  bool check(Problem &problem) const {
    if (!takes(*kernel_, problem.request)) return false;
    const auto *const begin = problem.c.data.data();
    const std::vector<uint8_t> before(begin, begin + problem.c.data.bytes());
    const auto reset = [&] { std::memcpy(problem.c.data.data(), before.data(), before.size()); };
    Oracle oracle(problem);
    const std::vector<double> found = packed(problem);
    oracle.judge("packed");
    reset();
    EXPECT_EQ(plain(problem), found) << problem.name;
    reset();
    run_row(*find_kernel("gemm_groups_x86_avx512_vnni"), problem.request);
    EXPECT_EQ(numbers_of_c(problem), found) << problem.name;
    return true;
  }
};

TEST_F(GemmByteTileGroups, AddUpAllPairsOfFormatsAndShapes) {
  Random random(14);
  int judged = 0;
  for (const char *a_format : {"int8_1x32", "int8_row", "int8/1x64/f32", "int4_1x32", "int2/1x128/f32", "mxint8"}) {
    for (const char *b_format : {"int4_1x32", "int4_1x128", "int8_1x32", "uint4_1x32", "uint4_1x128", "e2m1fn/1x64/f32",
                                 "e2m3fn/1x32/f32", "ternary/1x32/f32", "int4/16x64/e4m3fn/f32", "int8/1x256/f32"}) {
      for (int repetition = 0; repetition < (kIsSanitized ? 1 : 6); ++repetition) {
        Problem problem(a_format, b_format, random.of(kOutputs), false, true, random.of({32, 33, 48, 49, 64, 95, 200}),
                        random.of(kEdges), random.of({33, 64, 65, 100, 129, 512, 513, 700, 1025}), random.below(3));
        problem.draw(random);
        problem.add_terms(random.chance(0.5) ? 1 : -1.5, random.chance(0.5) ? 0 : 0.75, random.chance(0.5));
        judged += check(problem);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(judged, 50);
  Problem large("int8_1x32", "int4_1x32", LPT_FORMAT_F32, false, true, kIsSanitized ? 70 : 600, 230, 2500);
  large.draw(random);
  EXPECT_TRUE(check(large));
}

TEST_F(GemmByteTileGroups, TakeEveryZeroPoint) {
  Random random(15);
  Problem problem("int8_1x32", "uint4_1x64", LPT_FORMAT_F32, false, true, 50, 256, 300);
  problem.draw(random);
  for (int64_t row = 0; row < 256; ++row) {
    for (int64_t block = 0; block < problem.b.grid().columns; ++block) {
      problem.b.zero_points.data()[row * problem.b.scale_stride() + block] = static_cast<uint8_t>(row + 85 * block);
    }
  }
  EXPECT_TRUE(check(problem));
}

// The least and the largest integers, whose sums have the largest magnitudes. A group is longer than a decoded part of a panel.
TEST_F(GemmByteTileGroups, HoldTheLargestSums) {
  Problem problem("int8/1x1024/f32", "int8/1x1024/f32", LPT_FORMAT_F32, false, true, 33, 35, 2048);
  Random random(16);
  problem.draw(random);
  for (int64_t i = 0; i < 33; ++i) {
    for (int64_t p = 0; p < 2048; ++p) problem.a.set_code(i, p, i % 2 == 0 ? 0x80 : 0x7F);
  }
  for (int64_t j = 0; j < 35; ++j) {
    for (int64_t p = 0; p < 2048; ++p) problem.b.set_code(j, p, j % 3 == 0 ? 0x80 : 0x7F);
  }
  EXPECT_TRUE(check(problem));
}

}  // namespace
}  // namespace lpt::test
