// GEMMs that reduce shared columns while private ones are computed have the bits of a GEMM followed by a reduction.
#include "tests/comm/partial.hpp"

namespace lpt::test {
namespace {

struct Size {
  int64_t rows, inner, hidden, shared;
};
// Columns that are multiples of the GEMM tiles, and others.
constexpr Size kSizes[] = {{1, 40, 64, 32},    {5, 64, 90, 45},  {130, 96, 192, 64}, {17, 32, 256, 100},
                           {70, 33, 200, 199}, {8, 32, 130, 0},  {8, 32, 130, 130},  {3, 0, 70, 20},
                           {0, 32, 70, 20},    {33, 64, 128, 1}, {9, 64, 1000, 512}};

Tensor filled(const Rank &self, lpt_format format, uint64_t place, int64_t rows, int64_t columns) {
  const std::vector<float> numbers = numbers_of(self.rank, place, rows * columns);
  const Tensor source = wrap(self.context, numbers, rows, columns);
  Tensor target = make_tensor(self.context, format, rows, columns);
  EXPECT_TRUE(self.ok(lpt_quantize(self.context, source.get(), nullptr, target.get(), nullptr)));
  return target;
}

// Computes c in both ways and compares all bytes.
void compare_ways(const Rank &self, const PartialPlan &plan, const Tensor &a, const Tensor &b,
                  const lpt_gemm_options &options, lpt_format format, const Size &size) {
  const Tensor apart = make_tensor(self.context, format, size.rows, size.hidden);
  const Tensor together = make_tensor(self.context, format, size.rows, size.hidden);
  ASSERT_TRUE(self.ok(lpt_gemm(self.context, a.get(), b.get(), &options, apart.get())));
  ASSERT_TRUE(self.ok(partial(self, plan, LPT_PARTIAL_PASS_FORWARD, apart, apart)));
  ASSERT_TRUE(
      self.ok(lpt_partial_gemm(self.context, self.comm, plan.get(), a.get(), b.get(), &options, together.get())));
  EXPECT_EQ(bytes_of(self.context, apart.get()), bytes_of(self.context, together.get()))
      << size.rows << "×" << size.inner << "×" << size.hidden << ", shared " << size.shared << ", c "
      << name_of(format);
}

void multiplies_as_one_after_the_other(const Rank &self) {
  for (const Size &size : kSizes) {
    const PartialPlan plan = make_plan(self, size.hidden, size.shared);
    for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F64}) {
      const Tensor a = filled(self, format, 90, size.rows, size.inner);
      const Tensor b = filled(self, format, 91, size.hidden, size.inner);
      const Tensor transposed_copy = filled(self, format, 92, size.inner, size.hidden);
      lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
      options.alpha = 0.7;
      compare_ways(self, plan, a, transposed_copy, options, format, size);
      options.is_b_transposed = 1;
      compare_ways(self, plan, a, b, options, format, size);
      options.flags = LPT_GEMM_PORTABLE_ORDER | LPT_GEMM_FAST_ACCUMULATE;
      compare_ways(self, plan, a, b, options, format, size);
    }
  }
}

// Weights with scales, and packed weights: dense ones are divided between panels, sparse ones are not divided.
void multiplies_weights_of_all_kinds(const Rank &self) {
  const Size sizes[] = {{40, 256, 192, 64}, {3, 128, 320, 100}, {150, 128, 128, 90}};
  for (const Size &size : sizes) {
    const PartialPlan plan = make_plan(self, size.hidden, size.shared);
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_b_transposed = 1;
    for (const lpt_format format : {LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_NVFP4}) {
      const Tensor a = filled(self, LPT_FORMAT_BF16, 93, size.rows, size.inner);
      const Tensor b = filled(self, format, 94, size.hidden, size.inner);
      compare_ways(self, plan, a, b, options, LPT_FORMAT_F32, size);
      Tensor packed;
      ASSERT_TRUE(self.ok(lpt_weights_pack(self.context, b.get(), nullptr, out(packed))));
      compare_ways(self, plan, a, packed, options, LPT_FORMAT_BF16, size);
    }
    const Tensor a = filled(self, LPT_FORMAT_BF16, 95, size.rows, size.inner);
    const Tensor b = filled(self, LPT_FORMAT_BF16, 96, size.hidden, size.inner);
    Tensor bitmask;
    lpt_weights_options sparse_packed = LPT_WEIGHTS_OPTIONS_INIT;
    sparse_packed.storage = LPT_WEIGHTS_STORAGE_BITMASK;
    ASSERT_TRUE(self.ok(lpt_weights_pack(self.context, b.get(), &sparse_packed, out(bitmask))));
    compare_ways(self, plan, a, bitmask, options, LPT_FORMAT_BF16, size);
  }
}

// Rows are sent while the next ones are multiplied: one collective per chunk, and the bits of one collective.
void multiplies_in_chunks(const Rank &self) {
  const Size sizes[] = {{130, 96, 192, 192}, {130, 40, 200, 90}, {64, 32, 64, 64}, {5, 32, 70, 70}};
  for (const Size &size : sizes) {
    const Tensor a = filled(self, LPT_FORMAT_F32, 97, size.rows, size.inner);
    const Tensor b = filled(self, LPT_FORMAT_F32, 98, size.inner, size.hidden);
    for (const int64_t rows : {1, 32, 100, 1000}) {
      lpt_partial_plan_options options = options_of(self, size.hidden, size.shared);
      options.chunk_rows = rows;
      const int64_t before = read(self).collectives;
      compare_ways(self, make_plan(self, options), a, b, LPT_GEMM_OPTIONS_INIT, LPT_FORMAT_F32, size);
      // One of them is that of the separate GEMM. Chunks are a little larger than requested.
      const int64_t chunks = read(self).collectives - before - 1;
      EXPECT_LE(chunks, (size.rows + rows - 1) / rows);
      EXPECT_GE(chunks, size.rows >= 4 * rows && size.rows > 100 ? 2 : 1) << rows << " of " << size.rows;
    }
  }
}

// A fast link with high latency sends all rows at once. A slow link with low latency sends many chunks.
void finds_chunks_for_a_link(const Rank &self) {
  const Size size = {520, 8, 64, 64};
  const Tensor a = filled(self, LPT_FORMAT_F32, 99, size.rows, size.inner);
  const Tensor b = filled(self, LPT_FORMAT_F32, 89, size.inner, size.hidden);
  const auto chunks_on = [&](double latency, double bandwidth, lpt_format wire) {
    lpt_partial_plan_options options = options_of(self, size.hidden, size.shared);
    options.link_latency_seconds = latency;
    options.link_bytes_per_second = bandwidth;
    options.forward_wire = wire;
    const int64_t before = read(self).collectives;
    compare_ways(self, make_plan(self, options), a, b, LPT_GEMM_OPTIONS_INIT, LPT_FORMAT_F32, size);
    return read(self).collectives - before - 1;
  };
  EXPECT_EQ(1, chunks_on(0.0, 0.0, LPT_FORMAT_NONE)) << "nothing is known of the link";
  EXPECT_EQ(1, chunks_on(1e-3, 1e12, LPT_FORMAT_NONE));
  // 520 · 64 f32 take (R - 1) / R · 266 ms in two steps of 1 ms: sqrt(133 (R - 1) / R) chunks, 8 for two ranks.
  const int64_t many = chunks_on(1e-3, 1e6, LPT_FORMAT_NONE);
  EXPECT_GE(many, self.ranks == 1 ? 1 : 5);
  EXPECT_LE(many, 16);
  EXPECT_EQ(1, chunks_on(1e-3, 1e6, LPT_FORMAT_INT8_1X32)) << "a wire casts the whole";
}

// Rows of c have gaps, which are unchanged. a has leading axes.
void multiplies_into_columns_of_a_matrix(const Rank &self) {
  constexpr int64_t kStride = 150, kHidden = 128, kRows = 6;
  const PartialPlan plan = make_plan(self, kHidden, 64);
  const Tensor a = filled(self, LPT_FORMAT_F32, 97, kRows, 32), b = filled(self, LPT_FORMAT_F32, 98, 32, kHidden);
  std::vector<float> memory(kRows * kStride, 7.0f);
  const Tensor c = wrap(self.context, LPT_FORMAT_F32, memory.data(), kRows, kHidden, kStride);
  const Tensor dense = make_tensor(self.context, LPT_FORMAT_F32, kRows, kHidden);
  ASSERT_TRUE(self.ok(lpt_partial_gemm(self.context, self.comm, plan.get(), a.get(), b.get(), nullptr, c.get())));
  ASSERT_TRUE(self.ok(lpt_partial_gemm(self.context, self.comm, plan.get(), a.get(), b.get(), nullptr, dense.get())));
  const float *const expected = part_data<float>(self.context, dense.get(), LPT_TENSOR_PART_PAYLOAD);
  for (int64_t i = 0; i < kRows * kStride; ++i) {
    const int64_t column = i % kStride;
    ASSERT_EQ(column < kHidden ? expected[i / kStride * kHidden + column] : 7.0f, memory[static_cast<size_t>(i)]) << i;
  }
}

void rejects_what_ranks_would_add(const Rank &self) {
  const PartialPlan plan = make_plan(self, 64, 32);
  const Tensor a = filled(self, LPT_FORMAT_F32, 99, 4, 32), b = filled(self, LPT_FORMAT_F32, 99, 32, 64);
  const Tensor narrow = filled(self, LPT_FORMAT_F32, 99, 32, 60), short_b = filled(self, LPT_FORMAT_F32, 99, 30, 64);
  const Tensor c = make_tensor(self.context, LPT_FORMAT_F32, 4, 64),
               bias = make_tensor(self.context, LPT_FORMAT_F32, {64});
  const Tensor narrow_c = make_tensor(self.context, LPT_FORMAT_F32, 4, 60);
  const Tensor codes = make_tensor(self.context, LPT_FORMAT_E4M3FN, 4, 64);
  const auto reject = [&](const Tensor &second, const lpt_gemm_options &options, const Tensor &result,
                          const std::vector<const char *> &words) {
    EXPECT_NE(LPT_OK,
              lpt_partial_gemm(self.context, self.comm, plan.get(), a.get(), second.get(), &options, result.get()));
    expect_words(words, lpt_context_error(self.context));
  };
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  reject(narrow, options, narrow_c, {"c has 60 columns", "64", "plan"});
  reject(short_b, options, c, {"inner sizes differ"});
  reject(b, options, codes, {"c is e4m3fn"});
  reject(b, options, a, {"c is 4 x 32", "4 x 64"});
  reject(nullptr, options, c, {"b is NULL"});
  reject(b, options, nullptr, {"c is NULL"});
  options.bias = bias.get();
  reject(b, options, c, {"bias is set", "add up"});
  options = LPT_GEMM_OPTIONS_INIT;
  options.beta = 1.0;
  reject(b, options, c, {"beta is set"});
  options = LPT_GEMM_OPTIONS_INIT;
  options.residual = c.get();
  reject(b, options, c, {"residual is set"});
  options = LPT_GEMM_OPTIONS_INIT;
  options.activation = LPT_ACTIVATION_SWIGLU;
  reject(b, options, c, {"activation is set"});
  EXPECT_TRUE(self.ok(lpt_barrier(self.context, self.comm))) << "no one has heard of it";
}

}  // namespace

std::vector<Case> partial_gemm_cases() {
  return {{"MultipliesAsOneAfterTheOther", multiplies_as_one_after_the_other},
          {"MultipliesWeightsOfAllKinds", multiplies_weights_of_all_kinds},
          {"MultipliesInChunks", multiplies_in_chunks},
          {"FindsChunksForALink", finds_chunks_for_a_link},
          {"MultipliesIntoColumnsOfAMatrix", multiplies_into_columns_of_a_matrix},
          {"RejectsWhatRanksWouldAdd", rejects_what_ranks_would_add}};
}

}  // namespace lpt::test
