// Packed weights without their zeros: bitmask storage and tiles. The reference is the dense GEMM of the same values.
#include "tests/api/weights_sparse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "tests/api/gemm.hpp"
#include "tests/support/random.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

// One format of each kind of panel: with row scales, blocks along k and over many rows, a tensor scale, zero points.
const lpt_format kFormats[] = {
    LPT_FORMAT_F32,        LPT_FORMAT_BF16,           LPT_FORMAT_F16,        LPT_FORMAT_E4M3FN_TENSOR,
    LPT_FORMAT_E5M2_ROW,   LPT_FORMAT_E4M3FN_128X128, LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_MXFP4,
    LPT_FORMAT_NVFP4,      LPT_FORMAT_INT8_ROW,       LPT_FORMAT_INT8_1X32,  LPT_FORMAT_INT4_1X32,
    LPT_FORMAT_MXFP6_E2M3, LPT_FORMAT_UINT4_1X64,     LPT_FORMAT_NF4_1X64,   LPT_FORMAT_TERNARY_TENSOR};

lpt_weights_options bitmask() {
  lpt_weights_options options = LPT_WEIGHTS_OPTIONS_INIT;
  options.storage = LPT_WEIGHTS_STORAGE_BITMASK;
  return options;
}

bool can_gather_columns(lpt_format format) { return format != LPT_FORMAT_UINT4_1X64 && format != LPT_FORMAT_NF4_1X64; }

// Runs a GEMM with beta, a bias and a quantized c.
std::vector<double> full_gemm(lpt_context *context, const lpt_tensor *a, const lpt_tensor *b, int64_t m, int64_t n,
                              lpt_format c_format = LPT_FORMAT_F32) {
  const Tensor c = tensor_of(context, c_format, m, n, draw_normal(801, m * n));
  const Tensor bias = tensor_of(context, LPT_FORMAT_F32, 1, n, draw_normal(802, n));
  lpt_gemm_options options = transposed_b();
  options.alpha = 0.75;
  options.beta = -0.5;
  options.bias = bias.get();
  EXPECT_TRUE(ok(context, lpt_gemm(context, a, b, &options, c.get())));
  return numbers_of(context, c.get());
}

constexpr std::array<int64_t, 3> kShapes[] = {{1, 31, 7}, {3, 33, 130}, {5, 200, 520}, {70, 130, 333}};

TEST(BitmaskWeights, HaveTheGemmsOfDenseOnesBitForBit) {
  for (const int32_t threads : {1, 2}) {
    const Context context = make_context(threads);
    lpt_context *const c = context.get();
    for (const lpt_format format : kFormats) {
      for (const auto &[m, n, k] : kShapes) {
        SCOPED_TRACE(name_of(format) + " " + std::to_string(m) + "×" + std::to_string(n) + "×" + std::to_string(k));
        const Tensor weights = tensor_of(c, format, n, k, thinned(811, n, k, 0.8));
        const lpt_weights_options options = bitmask();
        const Tensor dense = pack(c, weights.get()), sparse_packed = pack(c, weights.get(), &options);
        for (const lpt_format a_format : {LPT_FORMAT_BF16, LPT_FORMAT_INT8_ROW, LPT_FORMAT_MXFP4}) {
          const Tensor a = tensor_of(c, a_format, m, k, draw_normal(812, m * k));
          EXPECT_EQ(full_gemm(c, a.get(), dense.get(), m, n), full_gemm(c, a.get(), sparse_packed.get(), m, n));
        }
      }
    }
  }
}

// Few columns and many rows: each thread expands the slab separately, and has some rows of a.
TEST(BitmaskWeights, OfFewColumnsShareRowsAmongThreads) {
  const Context one = make_context(1), three = make_context(3);
  const int64_t m = 330, n = 40, k = 300;
  for (const lpt_format format : {LPT_FORMAT_BF16, LPT_FORMAT_INT8_1X32}) {
    const Tensor weights = tensor_of(one.get(), format, n, k, thinned(815, n, k, 0.8));
    const lpt_weights_options options = bitmask();
    const Tensor sparse_packed = pack(one.get(), weights.get(), &options);
    const Tensor a = tensor_of(one.get(), LPT_FORMAT_INT8_ROW, m, k, draw_normal(816, m * k));
    EXPECT_EQ(full_gemm(one.get(), a.get(), sparse_packed.get(), m, n),
              full_gemm(three.get(), a.get(), sparse_packed.get(), m, n));
    lpt_gemm_plan *plan = nullptr;
    const lpt_gemm_options gemm = transposed_b();
    const Tensor c = make_tensor(three.get(), LPT_FORMAT_F32, m, n);
    ASSERT_TRUE(
        ok(three.get(), lpt_gemm_plan_create(three.get(), a.get(), sparse_packed.get(), &gemm, c.get(), &plan)));
    lpt_gemm_plan_info values = LPT_GEMM_PLAN_INFO_INIT;
    EXPECT_TRUE(ok(three.get(), lpt_gemm_plan_read(three.get(), plan, &values)));
    // Kernels for AVX2 read no panels: all weights are unpacked first.
    const bool has_slabs =
        std::strstr(values.kernel, "avx512") != nullptr || std::strstr(values.kernel, "amx") != nullptr;
    if (has_slabs) {
      EXPECT_EQ(values.part_count, 3) << values.kernel;
    }
    lpt_gemm_plan_destroy(plan);
  }
}

// The weights are unpacked if no kernel reads panels: for reference kernels and for f64.
TEST(SparseWeights, AreTakenByEveryRow) {
  const Context reference = make_context(1, LPT_ISA_REFERENCE), portable = make_context(2);
  const int64_t m = 3, n = 70, k = 200;
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_MXFP4, LPT_FORMAT_INT8_ROW, LPT_FORMAT_E4M3FN_128X128}) {
    lpt_context *const c = reference.get();
    const Tensor weights = tensor_of(c, format, n, k, thinned(813, n, k, 0.7, 32, 32));
    const Tensor a = tensor_of(c, LPT_FORMAT_F32, m, k, draw_normal(814, m * k));
    for (const lpt_weights_options &options : {bitmask(), tiles(32, format == LPT_FORMAT_E4M3FN_128X128 ? 128 : 32)}) {
      const Tensor sparse_packed = pack(c, weights.get(), &options);
      EXPECT_EQ(full_gemm(c, a.get(), weights.get(), m, n), full_gemm(c, a.get(), sparse_packed.get(), m, n));
      lpt_gemm_options in_order = transposed_b();
      in_order.flags = LPT_GEMM_PORTABLE_ORDER;
      std::vector<double> given[2];
      for (const bool is_sparse_packed : {false, true}) {
        const Tensor result = make_tensor(portable.get(), LPT_FORMAT_F32, m, n);
        ASSERT_TRUE(
            ok(portable.get(), lpt_gemm(portable.get(), a.get(), is_sparse_packed ? sparse_packed.get() : weights.get(),
                                        &in_order, result.get())));
        given[is_sparse_packed] = numbers_of(portable.get(), result.get());
      }
      EXPECT_EQ(given[0], given[1]) << name_of(format);
    }
  }
}

TEST(TileWeights, HaveTheGemmsOfTheirRows) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  int place = 0;
  for (const lpt_format format : kFormats) {
    if (!can_gather_columns(format)) continue;
    const bool is_wide = format == LPT_FORMAT_E4M3FN_128X128;
    for (const auto &[m, n, k] : kShapes) {
      for (const auto &[rows, columns] :
           {std::array<int32_t, 2>{32, is_wide ? 128 : 32}, {0, is_wide ? 256 : 0}, {96, 128}}) {
        SCOPED_TRACE(name_of(format) + " " + std::to_string(m) + "×" + std::to_string(n) + "×" + std::to_string(k) +
                     " tiles " + std::to_string(rows) + "×" + std::to_string(columns));
        const int64_t high = rows == 0 ? 64 : rows, wide = columns == 0 ? 64 : columns;
        const Tensor weights = tensor_of(c, format, n, k, thinned(821, n, k, 0.6, high, wide));
        const lpt_weights_options options = tiles(rows, columns);
        const Tensor sparse_packed = pack(c, weights.get(), &options);
        const std::vector<double> right = transposed(numbers_of(c, weights.get()), n, k);
        for (const lpt_format a_format :
             {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_MXFP4, LPT_FORMAT_INT8_ROW,
              LPT_FORMAT_NVFP4, LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_UINT4_1X64}) {
          // A sanitizer run uses only some formats of a for the larger shapes, which take nearly all of the time.
          if (kIsSanitized && m > 3 && place++ % 7 != 0) continue;
          const Tensor a = tensor_of(c, a_format, m, k, draw_normal(822, m * k));
          expect_gemm(multiply(numbers_of(c, a.get()), right, m, n, k), gemm_of(c, a.get(), sparse_packed.get(), m, n),
                      k);
        }
      }
    }
  }
}

// Integers are summed exactly: skipped tiles, threads and row blocks of a do not change the bits.
TEST(TileWeights, OfIntegersHaveTheBitsOfDenseOnes) {
  for (const int32_t threads : {1, 2}) {
    const Context context = make_context(threads);
    lpt_context *const c = context.get();
    const int64_t m = 150, n = 100, k = 9000;
    const Tensor weights = tensor_of(c, LPT_FORMAT_INT8_ROW, n, k, thinned(823, n, k, 0.7, 64, 64));
    const lpt_weights_options options = tiles();
    const Tensor dense = pack(c, weights.get()), sparse_packed = pack(c, weights.get(), &options);
    const Tensor a = tensor_of(c, LPT_FORMAT_INT8_ROW, m, k, draw_normal(824, m * k));
    for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) {
      EXPECT_EQ(full_gemm(c, a.get(), dense.get(), m, n, format),
                full_gemm(c, a.get(), sparse_packed.get(), m, n, format));
    }
  }
}

// Tile rows without a tile have no GEMM: the result is beta · c + bias.
TEST(TileWeights, OfZerosLeaveTheBias) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const int64_t m = 5, n = 130, k = 256;
  std::vector<double> numbers(static_cast<size_t>(n * k));
  numbers[static_cast<size_t>(70 * k + 3)] = 1.0;
  for (const lpt_format format : {LPT_FORMAT_BF16, LPT_FORMAT_NVFP4, LPT_FORMAT_INT8_ROW}) {
    const Tensor weights = tensor_of(c, format, n, k, numbers);
    const lpt_weights_options options = tiles();
    const Tensor sparse_packed = pack(c, weights.get(), &options);
    const Tensor a = tensor_of(c, LPT_FORMAT_BF16, m, k, draw_normal(825, m * k));
    EXPECT_EQ(full_gemm(c, a.get(), weights.get(), m, n), full_gemm(c, a.get(), sparse_packed.get(), m, n));
  }
}

TEST(SparseWeights, AreUnpackedToTheSameNumbersAndScales) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const int64_t n = 150, k = 520;
  for (const lpt_format format : kFormats) {
    const lpt_format_description description = describe(format);
    if (description.block_scale != LPT_FORMAT_NONE && description.block_rows != 1) continue;
    const Tensor weights = tensor_of(c, format, n, k, thinned(831, n, k, 0.7, 32, 32));
    for (const lpt_weights_options &options : {bitmask(), tiles(64, 64)}) {
      if (options.storage == LPT_WEIGHTS_STORAGE_BLOCK_SPARSE && !can_gather_columns(format)) continue;
      const Tensor sparse_packed = pack(c, weights.get(), &options);
      const Tensor back = make_tensor(c, format, n, k);
      ASSERT_TRUE(ok(c, lpt_weights_unpack(c, sparse_packed.get(), back.get()))) << name_of(format);
      EXPECT_EQ(numbers_of(c, weights.get()), numbers_of(c, back.get())) << name_of(format);
    }
  }
}

// bf16: two bytes per nonzero element, plus one bit per element. A tile is stored completely or not at all.
TEST(SparseWeights, TakeTheBytesOfWhatIsNotZero) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  const int64_t n = 128, k = 256;
  const lpt_weights_options options = bitmask();
  for (const auto &[format, bytes] : {std::pair<lpt_format, int64_t>{LPT_FORMAT_F32, 4},
                                      {LPT_FORMAT_BF16, 2},
                                      {LPT_FORMAT_F16, 2},
                                      {LPT_FORMAT_E4M3FN, 1}}) {
    const Tensor weights = tensor_of(c, format, n, k, thinned(832, n, k, 0.8));
    int64_t kept = 0;
    for (const double number : numbers_of(c, weights.get())) kept += number != 0.0;
    EXPECT_EQ(static_cast<size_t>(bytes * kept + n * k / 8), size_of(c, pack(c, weights.get(), &options).get()));
  }
  std::vector<double> one(static_cast<size_t>(n * k));
  one[static_cast<size_t>(65 * k + 64)] = -3.0;
  const Tensor lone = tensor_of(c, LPT_FORMAT_BF16, n, k, one);
  const lpt_weights_options squares = tiles();
  EXPECT_EQ(static_cast<size_t>(64 * 64 * 2 + 2 * 8),
            size_of(c, pack(c, lone.get(), &squares).get()));  // one word of bits per tile row
}

// A 2:4 weight with many rows.
TEST(BitmaskWeights, AreMadeOfSparseOnes) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const int64_t m = 9, n = 96, k = 160;
  for (const char *name : {"bf16", "int8_row", "nvfp4"}) {
    const Tensor source = tensor_of(c, LPT_FORMAT_F32, n, k, draw_normal(833, n * k));
    ASSERT_TRUE(ok(c, lpt_sparse_mask_select(c, source.get(), nullptr, nullptr, source.get(), nullptr)));
    const Tensor dense = tensor_of(c, format_named(name), n, k, numbers_of(c, source.get()));
    const Tensor sparse = make_tensor(c, format_named((std::string(name) + "/2:4").c_str()), n, k);
    ASSERT_TRUE(ok(c, lpt_sparse_compress(c, dense.get(), nullptr, sparse.get(), nullptr)));
    const lpt_weights_options options = bitmask();
    const Tensor packed = pack(c, dense.get()), sparse_packed = pack(c, sparse.get(), &options);
    const Tensor a = tensor_of(c, LPT_FORMAT_BF16, m, k, draw_normal(834, m * k));
    EXPECT_EQ(full_gemm(c, a.get(), packed.get(), m, n), full_gemm(c, a.get(), sparse_packed.get(), m, n)) << name;
    if (std::string(name) == "bf16") {
      EXPECT_EQ(size_of(c, sparse.get()), size_of(c, sparse_packed.get()));
    }
    const Tensor back = make_tensor(c, format_named(name), n, k);
    ASSERT_TRUE(ok(c, lpt_weights_unpack(c, sparse_packed.get(), back.get())));
    EXPECT_EQ(numbers_of(c, dense.get()), numbers_of(c, back.get())) << name;
  }
  Tensor none;
  EXPECT_EQ(LPT_UNSUPPORTED,
            lpt_weights_pack(c, make_tensor(c, format_named("f64/2:4"), 4, 8).get(), nullptr, out(none)));
  expect_words({"4 x 8 f64/2:4"}, lpt_context_error(c));
}

// Experts, sliced along both axes, saved, and loaded without the surrounding panels.
TEST(SparseWeights, OfExpertsAreCutAndSaved) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const int64_t m = 3, n = 150, k = 160, begin = 64, rows = n - begin;
  for (const lpt_format format : {LPT_FORMAT_NVFP4, LPT_FORMAT_INT8_ROW, LPT_FORMAT_BF16, LPT_FORMAT_UINT4_1X64}) {
    for (const lpt_weights_options &options : {bitmask(), tiles(64, 32)}) {
      if (options.storage == LPT_WEIGHTS_STORAGE_BLOCK_SPARSE && !can_gather_columns(format)) continue;
      SCOPED_TRACE(name_of(format) + " storage " + std::to_string(options.storage));
      const Tensor weights = tensor_of(c, format, {3, n, k}, thinned(841, 3 * n, k, 0.6, 2, 32));
      const Tensor sparse_packed = pack(c, weights.get(), &options);
      const Tensor slice = view(c, sparse_packed.get(), {1, begin, 0}, {2, rows, k});
      const Tensor a = tensor_of(c, LPT_FORMAT_BF16, {2, m, k}, draw_normal(842, 2 * m * k));
      const Tensor result = make_tensor(c, LPT_FORMAT_F32, {2, m, rows});
      const lpt_gemm_options gemm = transposed_b();
      ASSERT_TRUE(ok(c, lpt_gemm(c, a.get(), slice.get(), &gemm, result.get())));
      const std::vector<double> left = numbers_of(c, a.get()), right = numbers_of(c, weights.get());
      const std::vector<double> given = numbers_of(c, result.get());
      for (int64_t e = 0; e < 2; ++e) {
        const std::vector<double> matrix = part(right, ((e + 1) * n + begin) * k, rows * k);
        expect_gemm(multiply(part(left, e * m * k, m * k), transposed(matrix, rows, k), m, rows, k),
                    part(given, e * m * rows, m * rows), k);
      }
      size_t bytes = 0;
      ASSERT_TRUE(ok(c, lpt_weights_state_size(c, slice.get(), &bytes)));
      std::vector<uint8_t> state(bytes);
      ASSERT_TRUE(ok(c, lpt_weights_state_save(c, slice.get(), state.data(), state.size())));
      Tensor loaded;
      ASSERT_TRUE(ok(c, lpt_weights_state_load(c, state.data(), state.size(), out(loaded))));
      const Tensor again = make_tensor(c, LPT_FORMAT_F32, {2, m, rows});
      ASSERT_TRUE(ok(c, lpt_gemm(c, a.get(), loaded.get(), &gemm, again.get())));
      EXPECT_EQ(given, numbers_of(c, again.get()));
      EXPECT_EQ(size_of(c, slice.get()), size_of(c, loaded.get()));
      for (size_t length = 0; length < state.size(); length += 1 + length / 4) {
        Tensor none;
        EXPECT_EQ(LPT_INVALID_STATE, lpt_weights_state_load(c, state.data(), length, out(none))) << length;
      }
    }
  }
}

TEST(SparseWeights, AreGroupedAndPlanned) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const int64_t m = 20, n = 96, k = 128;
  const Tensor weights = tensor_of(c, LPT_FORMAT_BF16, {2, n, k}, thinned(851, 2 * n, k, 0.7, 32, 64));
  const Tensor a = tensor_of(c, LPT_FORMAT_BF16, m, k, draw_normal(852, m * k));
  const Tensor dense = pack(c, weights.get());
  const std::vector<int64_t> ends = {7, 20};
  const lpt_gemm_options gemm = transposed_b();
  const Tensor expected = make_tensor(c, LPT_FORMAT_F32, m, n);
  ASSERT_TRUE(ok(c, lpt_gemm_grouped(c, a.get(), dense.get(), indices_of(c, ends).get(), &gemm, expected.get())));
  for (const lpt_weights_options &options : {bitmask(), tiles(32, 64)}) {
    const Tensor sparse_packed = pack(c, weights.get(), &options);
    const Tensor found = make_tensor(c, LPT_FORMAT_F32, m, n);
    ASSERT_TRUE(
        ok(c, lpt_gemm_grouped(c, a.get(), sparse_packed.get(), indices_of(c, ends).get(), &gemm, found.get())));
    const std::vector<double> one = numbers_of(c, expected.get()), other = numbers_of(c, found.get());
    for (size_t i = 0; i < one.size(); ++i) ASSERT_NEAR(one[i], other[i], 1e-4);
    const Tensor first = view(c, sparse_packed.get(), {0, 0, 0}, {1, n, k});
    const Tensor single = pack(c, view(c, weights.get(), {0, 0, 0}, {1, n, k}).get(), &options);
    lpt_gemm_plan *plan = nullptr;
    std::vector<double> numbers = thinned(853, n, k, 0.7, 32, 64);
    numbers[0] = 1;  // at least one tile is not zero, so that the GEMM needs memory
    const Tensor matrix = pack(c, tensor_of(c, LPT_FORMAT_BF16, n, k, numbers).get(), &options);
    ASSERT_TRUE(ok(c, lpt_gemm_plan_create(c, a.get(), matrix.get(), &gemm, found.get(), &plan)));
    lpt_gemm_plan_info values = LPT_GEMM_PLAN_INFO_INIT;
    EXPECT_TRUE(ok(c, lpt_gemm_plan_read(c, plan, &values)));
    EXPECT_GT(values.workspace_bytes, 0u);
    lpt_gemm_operands operands = LPT_GEMM_OPERANDS_INIT;
    EXPECT_TRUE(ok(c, lpt_gemm_plan_run(c, plan, a.get(), matrix.get(), &operands, found.get())));
    EXPECT_EQ(numbers_of(c, found.get()), gemm_of(c, a.get(), matrix.get(), m, n));
    lpt_gemm_plan_destroy(plan);
  }
}

TEST(SparseWeights, WithoutRowsOrColumns) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  for (const auto &[n, k] : {std::array<int64_t, 2>{0, 5}, {5, 0}, {4096, 0}, {0, 0}}) {
    for (const lpt_weights_options &options : {bitmask(), tiles()}) {
      const Tensor sparse_packed = pack(c, make_tensor(c, LPT_FORMAT_NVFP4, n, k).get(), &options);
      const Tensor a = make_tensor(c, LPT_FORMAT_F32, 3, k);
      EXPECT_EQ(std::vector<double>(static_cast<size_t>(3 * n)), gemm_of(c, a.get(), sparse_packed.get(), 3, n));
      size_t bytes = 0;
      ASSERT_TRUE(ok(c, lpt_weights_state_size(c, sparse_packed.get(), &bytes)));
      std::vector<uint8_t> state(bytes);
      ASSERT_TRUE(ok(c, lpt_weights_state_save(c, sparse_packed.get(), state.data(), state.size())));
      Tensor loaded;
      ASSERT_TRUE(ok(c, lpt_weights_state_load(c, state.data(), state.size(), out(loaded))));
    }
  }
}

// The default tile side is a multiple of the scale block, for any block length.
TEST(TileWeights, HaveDefaultSidesInEveryFormat) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  const int64_t m = 3, n = 33, k = 130;
  std::vector<lpt_format> formats(std::begin(kFormats), std::end(kFormats));
  formats.push_back(LPT_FORMAT_E4M3FN_1X128);
  for (int32_t block = 1; block <= 4096; block *= 2) {
    formats.push_back(format_named(("e4m3fn/1x" + std::to_string(block) + "/f32").c_str()));
  }
  const lpt_weights_options options = tiles();
  for (const lpt_format format : formats) {
    if (!can_gather_columns(format)) continue;
    SCOPED_TRACE(name_of(format));
    const Tensor weights = tensor_of(c, format, n, k, thinned(823, n, k, 0.6));
    const Tensor a = tensor_of(c, LPT_FORMAT_F32, m, k, draw_normal(824, m * k));
    int32_t order[n];
    EXPECT_TRUE(ok(c, lpt_weights_order(c, weights.get(), &options, order, nullptr, nullptr)));
    const Tensor sparse_packed = pack(c, weights.get(), &options);
    const std::vector<double> right = transposed(numbers_of(c, weights.get()), n, k);
    expect_gemm(multiply(numbers_of(c, a.get()), right, m, n, k), gemm_of(c, a.get(), sparse_packed.get(), m, n), k);
  }
  Tensor none;
  const Tensor long_blocks = make_tensor(c, format_named("e4m3fn/1x8192/f32"), n, k);
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_weights_pack(c, long_blocks.get(), &options, out(none)));
  expect_words({"e4m3fn/1x8192/f32", "expected blocks of scales of at most 4096 columns"}, lpt_context_error(c));
}

TEST(SparseWeights, RejectWhatTheyCannotBe) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  const Tensor nf4 = make_tensor(c, LPT_FORMAT_NF4_1X64, 64, 64), mx = make_tensor(c, LPT_FORMAT_MXFP8_E4M3, 64, 64);
  const auto rejected = [&](const lpt_tensor *weights, const lpt_weights_options &options, lpt_status status,
                            const std::vector<const char *> &words) {
    Tensor none;
    EXPECT_EQ(status, lpt_weights_pack(c, weights, &options, out(none)));
    EXPECT_EQ(nullptr, none.get());
    expect_words(words, lpt_context_error(c));
  };
  lpt_weights_options options = bitmask();
  options.storage = 3;
  rejected(mx.get(), options, LPT_INVALID_ARGUMENT, {"storage is 3", "0 to 2"});
  options = bitmask();
  options.tile_rows = 32;
  rejected(mx.get(), options, LPT_INVALID_ARGUMENT, {"tile_rows is 32", "expected 0"});
  rejected(mx.get(), tiles(48), LPT_INVALID_ARGUMENT, {"tile_rows is 48", "multiple of 32"});
  rejected(mx.get(), tiles(-32), LPT_INVALID_ARGUMENT, {"tile_rows is -32"});
  rejected(mx.get(), tiles(8192), LPT_INVALID_ARGUMENT, {"tile_rows is 8192", "4096"});
  rejected(mx.get(), tiles(32, 16), LPT_INVALID_ARGUMENT, {"tile_columns is 16", "multiple of 32"});
  rejected(nf4.get(), tiles(), LPT_UNSUPPORTED, {"nf4_1x64", "code 0 is zero"});
  options = tiles();
  options.reserved = 1;
  rejected(mx.get(), options, LPT_UNSUPPORTED, {"reserved is 1"});
  const lpt_weights_options squares = tiles(64, 32);
  const Tensor sparse_packed =
      pack(c, tensor_of(c, LPT_FORMAT_BF16, 192, 64, draw_normal(871, 192 * 64)).get(), &squares);
  Tensor cut;
  const int64_t begins[] = {32, 0}, extents[] = {64, 64};
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_tensor_view(c, sparse_packed.get(), begins, extents, out(cut)));
  expect_words({"begins[0] is 32", "multiples of 64"}, lpt_context_error(c));
  int32_t order[64];
  const lpt_weights_options not_tiles = bitmask();
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_weights_order(c, mx.get(), &not_tiles, order, nullptr, nullptr));
  expect_words({"storage is 1", "BLOCK_SPARSE"}, lpt_context_error(c));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_weights_order(c, mx.get(), nullptr, nullptr, nullptr, nullptr));
  expect_words({"order is NULL"}, lpt_context_error(c));
}

}  // namespace
}  // namespace lpt::test
