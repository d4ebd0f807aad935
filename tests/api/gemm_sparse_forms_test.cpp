// Every form of a GEMM with 2:4 operands equals the GEMM of the same matrices in dense form.
#include <atomic>
#include <cmath>
#include <cstdlib>

#include "tests/api/gemm.hpp"
#include "tests/api/sparse.hpp"
#include "tests/api/sparse_operand.hpp"

namespace lpt::test {
namespace {

bool was_sparse_row_taken(lpt_context *context) {
  return std::strstr(lpt_context_explanation(context), "gemm: gemm_sparse") != nullptr;
}

struct Sizes {
  int64_t m, n, k;
};

// a, b or both are 2:4. Each is stored transposed or not.
struct Way {
  bool is_a_sparse, is_b_sparse, is_a_transposed, is_b_transposed;

  std::string text() const {
    return std::string(is_a_sparse ? "2:4" : "dense") + (is_a_transposed ? " transposed by " : " by ") +
           (is_b_sparse ? "2:4" : "dense") + (is_b_transposed ? " transposed" : "");
  }
  lpt_gemm_options options() const {
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_a_transposed = is_a_transposed;
    options.is_b_transposed = is_b_transposed;
    return options;
  }
};

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (int i = 4; i < 16; ++i) ways.push_back({(i & 4) != 0, (i & 8) != 0, (i & 1) != 0, (i & 2) != 0});
  return ways;
}

struct Pair {
  Operand a, b;
};

Pair make_pair(lpt_context *context, const char *a_name, const char *b_name, const Way &way, const Sizes &s,
               std::vector<double> (*draw)(uint64_t, int64_t)) {
  return {make_operand(context, a_name, way.is_a_transposed ? s.k : s.m, way.is_a_transposed ? s.m : s.k,
                       way.is_a_sparse, draw(641, s.m * s.k)),
          make_operand(context, b_name, way.is_b_transposed ? s.n : s.k, way.is_b_transposed ? s.k : s.n,
                       way.is_b_sparse, draw(642, s.k * s.n))};
}

std::vector<double> draw_unit_normal(uint64_t place, int64_t count) { return draw_normal(place, count); }

// Computes the GEMM from the elements, for any storage of the operands.
ExactGemm exact_of(lpt_context *context, const Pair &pair, const Way &way, const Sizes &s) {
  std::vector<double> a = numbers_of(context, pair.a.dense.get());
  std::vector<double> b = numbers_of(context, pair.b.dense.get());
  if (way.is_a_transposed) a = transposed(a, s.k, s.m);
  if (way.is_b_transposed) b = transposed(b, s.n, s.k);
  return multiply(a, b, s.m, s.n, s.k);
}

// int8 without scales is summed exactly by every kernel. With scales, the reference kernel for dense matrices sums in f32.
bool are_sums_exact(const char *name, lpt_isa isa) {
  return name == std::string("int8") || (name == std::string("int8_row") && isa != LPT_ISA_REFERENCE);
}

// Kernels that read a 2:4 matrix directly sum floats in a different order. All other results have equal bits.
TEST(SparseGemmForms, EveryWayToStoreAndTransposeIsTheDenseGemm) {
  int sparse_rows = 0;
  for (const lpt_isa isa : {LPT_ISA_AUTO, LPT_ISA_REFERENCE}) {
    const Context context = make_context(2, isa);
    lpt_context *const c = context.get();
    for (const char *name : {"f32", "bf16", "f16", "f64", "int8", "int8_row", "e4m3fn_row", "mxfp8_e4m3", "nvfp4"}) {
      for (const Way &way : all_ways()) {
        for (const Sizes &s : {Sizes{1, 7, 9}, {5, 70, 131}, {20, 33, 64}}) {
          SCOPED_TRACE(std::string(name) + " " + way.text() + " m " + std::to_string(s.m) + " isa " +
                       std::to_string(isa));
          const Pair pair = make_pair(c, name, name, way, s, name[0] == 'i' ? draw_whole : draw_unit_normal);
          const lpt_gemm_options options = way.options();
          const lpt_format format = name == std::string("f64") ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
          const Tensor expected = make_tensor(c, format, s.m, s.n), found = make_tensor(c, format, s.m, s.n);
          ASSERT_TRUE(ok(c, lpt_gemm(c, pair.a.dense.get(), pair.b.dense.get(), &options, expected.get())));
          ASSERT_TRUE(ok(c, lpt_gemm(c, pair.a.given(), pair.b.given(), &options, found.get())));
          const bool is_sparse_row = was_sparse_row_taken(c);
          sparse_rows += is_sparse_row;
          if (!is_sparse_row || are_sums_exact(name, isa)) {
            ASSERT_EQ(bytes_of(c, expected.get()), bytes_of(c, found.get()));
          } else {
            expect_gemm(exact_of(c, pair, way, s), numbers_of(c, found.get()), s.k);
          }
        }
      }
    }
  }
  EXPECT_GT(sparse_rows, 10);
}

// Epilogue options of a call.
struct Ending {
  lpt_format format;
  lpt_activation activation = LPT_ACTIVATION_NONE;
  double alpha = 1.0, beta = 0.0;
  bool has_bias = false, has_residual = false, has_cast = false;
  uint64_t flags = 0;
  lpt_gemm_arithmetic arithmetic = LPT_GEMM_ARITHMETIC_NATIVE;
};

constexpr Ending kEndings[] = {
    {LPT_FORMAT_F32, LPT_ACTIVATION_NONE, 0.75, 0.5},
    {LPT_FORMAT_BF16, LPT_ACTIVATION_NONE, 1.0, -2.0, true},
    {LPT_FORMAT_F16, LPT_ACTIVATION_NONE, 2.0, 1.0, true, true},
    {LPT_FORMAT_F64, LPT_ACTIVATION_NONE, 0.5, 1.0},
    {LPT_FORMAT_F32, LPT_ACTIVATION_GELU, 0.25, 1.0, true, true},
    {LPT_FORMAT_BF16, LPT_ACTIVATION_SILU, 0.25, 0.0, true},
    {LPT_FORMAT_F32, LPT_ACTIVATION_SWIGLU, 0.25, 0.0, true, true},
    {LPT_FORMAT_E5M2_ROW, LPT_ACTIVATION_SWIGLU, 0.25, 0.0, false, false, true},
    {LPT_FORMAT_MXFP8_E4M3},
    {LPT_FORMAT_E4M3FN, LPT_ACTIVATION_NONE, 0.25, 0.0, true, true, true},
    {LPT_FORMAT_F32, LPT_ACTIVATION_NONE, 1.0, 1.0, true, false, false, LPT_GEMM_PORTABLE_ORDER},
    {LPT_FORMAT_F32, LPT_ACTIVATION_NONE, 1.0, 0.0, false, false, false, 0, LPT_GEMM_ARITHMETIC_PIECEWISE_AFFINE},
};

std::string text_of(const Ending &ending) {
  return " to " + name_of(ending.format) + " activation " + std::to_string(ending.activation) + " alpha " +
         std::to_string(ending.alpha) + " beta " + std::to_string(ending.beta) + " flags " +
         std::to_string(ending.flags) + " arithmetic " + std::to_string(ending.arithmetic);
}

// The options of an epilogue and the tensors that they point to. The tensors have the leading axes of c.
struct Call {
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
  lpt_gemm_emulation emulation = LPT_GEMM_EMULATION_INIT;
  Tensor bias, residual;
  std::vector<int64_t> extents;
  lpt_format format;

  Call(lpt_context *context, const Ending &ending, std::vector<int64_t> c_extents, const Way &way)
      : options(way.options()), extents(std::move(c_extents)), format(ending.format) {
    const int64_t n = extents.back();
    if (ending.activation == LPT_ACTIVATION_SWIGLU) extents.back() /= 2;
    cast.rounding = LPT_ROUNDING_TOWARD_ZERO;
    bias = tensor_of(context, LPT_FORMAT_F32, std::vector<int64_t>{n}, draw_whole(643, n));
    residual = tensor_of(context, LPT_FORMAT_BF16, extents, draw_whole(644, count()));
    options.flags = ending.flags;
    emulation.arithmetic = ending.arithmetic;
    options.emulation = &emulation;
    options.alpha = ending.alpha;
    options.beta = ending.beta;
    options.activation = ending.activation;
    options.bias = ending.has_bias ? bias.get() : nullptr;
    options.residual = ending.has_residual ? residual.get() : nullptr;
    options.quantize = ending.has_cast ? &cast : nullptr;
  }
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  int64_t count() const {
    int64_t gemm = 1;
    for (const int64_t extent : extents) gemm *= extent;
    return gemm;
  }
  // Creates a c with nonzero content.
  Tensor make_c(lpt_context *context) const {
    if (format != LPT_FORMAT_F64) return tensor_of(context, format, extents, draw_whole(645, count()));
    return tensor_of(context, format, extents[0], extents[1], draw_whole(645, count()));
  }
};

TEST(SparseGemmForms, EveryEndingIsThatOfTheDenseGemmBitForBit) {
  for (const lpt_isa isa : {LPT_ISA_AUTO, LPT_ISA_REFERENCE}) {
    const Context context = make_context(2, isa);
    lpt_context *const c = context.get();
    for (const Ending &ending : kEndings) {
      for (const char *name : {"bf16", "int8", "int8_row"}) {
        for (const Way &way :
             {Way{false, true, false, true}, {false, true, false, false}, {true, false, false, true}}) {
          for (const Sizes &s : {Sizes{3, 66, 130}, {40, 34, 72}}) {
            if (name == std::string("int8_row") && !are_sums_exact(name, isa)) continue;
            SCOPED_TRACE(std::string(name) + " " + way.text() + text_of(ending) + " m " + std::to_string(s.m) +
                         " isa " + std::to_string(isa));
            const Pair pair = make_pair(c, name, name, way, s, draw_whole);
            const Call call(c, ending, {s.m, s.n}, way);
            const Tensor expected = call.make_c(c), found = call.make_c(c);
            ASSERT_TRUE(ok(c, lpt_gemm(c, pair.a.dense.get(), pair.b.dense.get(), &call.options, expected.get())));
            ASSERT_TRUE(ok(c, lpt_gemm(c, pair.a.given(), pair.b.given(), &call.options, found.get())));
            ASSERT_EQ(bytes_of(c, expected.get()), bytes_of(c, found.get()));
          }
        }
      }
    }
  }
}

// Leading axes of a: rows that fold into one matrix, transposed matrices of a batch, and interleaved heads.
TEST(SparseGemmForms, BatchesTakeOneSparseMatrixForAll) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const int64_t count = 3;
  for (const Sizes &s : {Sizes{2, 66, 130}, {20, 34, 72}}) {
    const int64_t m = s.m, n = s.n, k = s.k;
    const std::vector<double> numbers = draw_whole(646, count * m * k);
    const std::vector<float> stored(numbers.begin(), numbers.end());
    for (const Ending &ending : kEndings) {
      if (ending.format == LPT_FORMAT_F64) continue;
      for (const Way &way : all_ways()) {
        if (way.is_a_sparse == way.is_b_sparse) continue;
        SCOPED_TRACE(way.text() + text_of(ending) + " m " + std::to_string(m));
        const Pair one = make_pair(c, "bf16", "bf16", way, s, draw_whole);
        const int64_t rows = way.is_a_sparse ? (way.is_b_transposed ? n : k) : (way.is_a_transposed ? k : m);
        const int64_t columns = way.is_a_sparse ? (way.is_b_transposed ? k : n) : (way.is_a_transposed ? m : k);
        const std::vector<double> all = draw_whole(647, count * rows * columns);
        const std::vector<float> data(all.begin(), all.end());
        const Tensor dense = tensor_of(c, LPT_FORMAT_BF16, {count, rows, columns}, all);
        const Tensor heads =
            wrap_axes(c, LPT_FORMAT_F32, data.data(), {count, rows, columns}, {columns, count * columns, 1});
        for (const lpt_tensor *many : {dense.get(), heads.get()}) {
          const Call call(c, ending, {count, m, n}, way);
          const Tensor expected = call.make_c(c), found = call.make_c(c);
          const lpt_tensor *a = way.is_a_sparse ? one.a.dense.get() : many;
          const lpt_tensor *b = way.is_b_sparse ? one.b.dense.get() : many;
          ASSERT_TRUE(ok(c, lpt_gemm(c, a, b, &call.options, expected.get())));
          a = way.is_a_sparse ? one.a.sparse.get() : many;
          b = way.is_b_sparse ? one.b.sparse.get() : many;
          ASSERT_TRUE(ok(c, lpt_gemm(c, a, b, &call.options, found.get())));
          ASSERT_EQ(bytes_of(c, expected.get()), bytes_of(c, found.get())) << (many == heads.get() ? "heads" : "");
        }
      }
    }
  }
}

// A view of a 2:4 matrix has the codes and the indices of its elements.
TEST(SparseGemmForms, ViewsAreTheGemmsOfViews) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  for (const char *name : {"bf16", "int8_row", "nvfp4"}) {
    const Weights weights = make_weights(c, name, 90, 192, draw_whole(648, 90 * 192));
    const Tensor sparse = view(c, weights.sparse.get(), {7, 64}, {66, 128});
    const Tensor dense = view(c, weights.dense.get(), {7, 64}, {66, 128});
    const Way way{false, true, false, true};
    for (const int64_t m : {3, 40}) {
      SCOPED_TRACE(std::string(name) + " m " + std::to_string(m));
      const Tensor a = tensor_of(c, format_named(name), m, 128, draw_whole(649, m * 128));
      const lpt_gemm_options options = way.options();
      const Tensor expected = make_tensor(c, LPT_FORMAT_F32, m, 66), found = make_tensor(c, LPT_FORMAT_F32, m, 66);
      ASSERT_TRUE(ok(c, lpt_gemm(c, a.get(), dense.get(), &options, expected.get())));
      ASSERT_TRUE(ok(c, lpt_gemm(c, a.get(), sparse.get(), &options, found.get())));
      ASSERT_EQ(bytes_of(c, expected.get()), bytes_of(c, found.get()));
    }
  }
}

// Two matrices share their indices but not their codes, or their codes but not their indices.
TEST(SparseGemmForms, OperandsThatSharePartsAreNotOne) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  const Weights first = make_weights(c, "f32", 32, 32, draw_whole(661, 32 * 32));
  const Weights second = make_weights(c, "f32", 32, 32, draw_whole(662, 32 * 32));
  for (const lpt_tensor_part shared : {LPT_TENSOR_PART_SPARSE_INDICES, LPT_TENSOR_PART_PAYLOAD}) {
    const Tensor payload =
        part_of(c, (shared == LPT_TENSOR_PART_PAYLOAD ? first : second).sparse.get(), LPT_TENSOR_PART_PAYLOAD);
    const Tensor places =
        part_of(c, (shared == LPT_TENSOR_PART_PAYLOAD ? second : first).sparse.get(), LPT_TENSOR_PART_SPARSE_INDICES);
    const lpt_tensor *parts[] = {payload.get(), nullptr, nullptr, nullptr, places.get()};
    Tensor mixed;
    ASSERT_TRUE(ok(c, lpt_tensor_combine(c, format_named("f32/2:4"), 32, 32, parts, 5, out(mixed))));
    const Tensor dense = written_out(c, mixed.get(), "f32");
    const Tensor expected = make_tensor(c, LPT_FORMAT_F32, 32, 32), found = make_tensor(c, LPT_FORMAT_F32, 32, 32);
    ASSERT_TRUE(ok(c, lpt_gemm(c, first.dense.get(), dense.get(), nullptr, expected.get())));
    ASSERT_TRUE(ok(c, lpt_gemm(c, first.sparse.get(), mixed.get(), nullptr, found.get())));
    EXPECT_EQ(bytes_of(c, expected.get()), bytes_of(c, found.get()));
  }
}

// Plans.

struct Plan {
  lpt_gemm_plan *handle = nullptr;
  ~Plan() { lpt_gemm_plan_destroy(handle); }
  Plan() = default;
  Plan(const Plan &) = delete;
  Plan &operator=(const Plan &) = delete;
};

TEST(SparseGemmForms, PlansGiveTheBitsOfTheCall) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  for (const Ending &ending : kEndings) {
    for (const Way &way : all_ways()) {
      for (const Sizes &s : {Sizes{3, 66, 130}, {40, 34, 72}}) {
        SCOPED_TRACE(way.text() + text_of(ending) + " m " + std::to_string(s.m));
        const Pair pair = make_pair(c, "bf16", "bf16", way, s, draw_whole);
        const Call call(c, ending, {s.m, s.n}, way);
        const Tensor expected = call.make_c(c), found = call.make_c(c);
        ASSERT_TRUE(ok(c, lpt_gemm(c, pair.a.dense.get(), pair.b.dense.get(), &call.options, expected.get())));
        lpt_gemm_options planned = call.options;
        planned.bias = planned.residual = nullptr;
        planned.quantize = nullptr;
        lpt_gemm_operands operands = LPT_GEMM_OPERANDS_INIT;
        operands.bias = call.options.bias;
        operands.residual = call.options.residual;
        operands.quantize = call.options.quantize;
        Plan plan;
        ASSERT_TRUE(
            ok(c, lpt_gemm_plan_create(c, pair.a.given(), pair.b.given(), &planned, found.get(), &plan.handle)));
        ASSERT_TRUE(ok(c, lpt_gemm_plan_run(c, plan.handle, pair.a.given(), pair.b.given(), &operands, found.get())));
        ASSERT_EQ(bytes_of(c, expected.get()), bytes_of(c, found.get()));
        ASSERT_EQ(LPT_INVALID_ARGUMENT,
                  lpt_gemm_plan_run(c, plan.handle, pair.a.dense.get(), pair.b.dense.get(), &operands, found.get()));
        expect_words({way.is_a_sparse ? "a is" : "b is", "bf16", "/2:4", "as planned"}, lpt_context_error(c));
        ASSERT_EQ(bytes_of(c, expected.get()), bytes_of(c, found.get()));
      }
    }
  }
}

// A plan runs its kernel on every context that has the required features, and returns the bits of the context that created it.
// This holds even if the other context selects another kernel that reads 2:4 or packed matrices directly.
TEST(SparseGemmForms, PlansKeepTheirKernelOnOtherContexts) {
  const Context fast = make_context(2);
  for (const lpt_isa isa : {LPT_ISA_REFERENCE, LPT_ISA_X86_AVX2, LPT_ISA_X86_AVX512}) {
    lpt_context_options context_options = LPT_CONTEXT_OPTIONS_INIT;
    context_options.isa = isa;
    Context made;
    if (lpt_context_create(&context_options, out(made)) != LPT_OK) continue;
    const Sizes s{3, 66, 130};
    const Tensor a = tensor_of(made.get(), LPT_FORMAT_F32, s.m, s.k, draw_normal(650, s.m * s.k));
    const Weights weights = make_weights(made.get(), "bf16", s.n, s.k);
    const Tensor packed = pack(made.get(), weights.dense.get());
    for (const lpt_tensor *b : {weights.sparse.get(), packed.get(), weights.dense.get()}) {
      SCOPED_TRACE("isa " + std::to_string(isa) + (b == packed.get() ? " packed" : ""));
      const lpt_gemm_options options = transposed_b();
      const Tensor expected = make_tensor(made.get(), LPT_FORMAT_F32, s.m, s.n);
      const Tensor found = make_tensor(made.get(), LPT_FORMAT_F32, s.m, s.n);
      Plan plan;
      lpt_gemm_plan_info values = LPT_GEMM_PLAN_INFO_INIT;
      ASSERT_TRUE(ok(made.get(), lpt_gemm(made.get(), a.get(), b, &options, expected.get())));
      ASSERT_TRUE(ok(made.get(), lpt_gemm_plan_create(made.get(), a.get(), b, &options, found.get(), &plan.handle)));
      ASSERT_TRUE(ok(made.get(), lpt_gemm_plan_read(made.get(), plan.handle, &values)));
      ASSERT_TRUE(ok(fast.get(), lpt_gemm_plan_run(fast.get(), plan.handle, a.get(), b, nullptr, found.get())));
      expect_words({values.kernel}, lpt_context_explanation(fast.get()));
      EXPECT_EQ(bytes_of(made.get(), expected.get()), bytes_of(made.get(), found.get()));
    }
  }
}

// Scratch.

struct Counter {
  std::atomic<int64_t> bytes{0};
};

void *take(void *user, size_t bytes, size_t alignment) {
  void *memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes) != 0) return nullptr;
  static_cast<Counter *>(user)->bytes += static_cast<int64_t>(bytes);
  return memory;
}

void give(void *, void *memory, size_t) { std::free(memory); }

// A 2:4 matrix that is shared by a batch is expanded to dense once, not for each GEMM.
TEST(SparseGemmForms, ABatchWritesOneMatrixOutOnce) {
  Counter counter;
  lpt_context_options context_options = LPT_CONTEXT_OPTIONS_INIT;
  context_options.allocate = take;
  context_options.release = give;
  context_options.allocator_user = &counter;
  context_options.thread_count = 1;
  Context context;
  ASSERT_EQ(LPT_OK, lpt_context_create(&context_options, out(context)));
  lpt_context *const c = context.get();
  const int64_t count = 64, m = 2, n = 256, k = 256;
  const Operand b = make_operand(c, "f32", k, n, true, draw_whole(659, k * n));
  const Tensor a = tensor_of(c, LPT_FORMAT_F32, {count, k, m}, draw_whole(660, count * k * m));
  const Tensor expected = make_tensor(c, LPT_FORMAT_F32, {count, m, n});
  const Tensor found = make_tensor(c, LPT_FORMAT_F32, {count, m, n});
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_a_transposed = 1;
  ASSERT_TRUE(ok(c, lpt_gemm(c, a.get(), b.dense.get(), &options, expected.get())));
  const int64_t before = counter.bytes;
  ASSERT_TRUE(ok(c, lpt_gemm(c, a.get(), b.given(), &options, found.get())));
  EXPECT_LT(counter.bytes - before, 4 * k * n * 4);
  EXPECT_EQ(bytes_of(c, expected.get()), bytes_of(c, found.get()));
}

}  // namespace
}  // namespace lpt::test
