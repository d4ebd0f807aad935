// Every form of a GEMM with sparse packed weights equals the GEMM of the same weights with their zeros. Sums of integers are
// exact, so that no summation order changes a bit.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>

#include "tests/api/gemm.hpp"
#include "tests/support/random.hpp"

namespace lpt::test {
namespace {

lpt_weights_options storage(lpt_weights_storage kind, int32_t tile_rows = 0, int32_t tile_columns = 0) {
  lpt_weights_options options = LPT_WEIGHTS_OPTIONS_INIT;
  options.storage = kind;
  options.tile_rows = tile_rows;
  options.tile_columns = tile_columns;
  return options;
}

std::vector<double> draw_whole(uint64_t place, int64_t count) {
  Random random(place);
  std::vector<double> numbers(static_cast<size_t>(count));
  for (double &number : numbers) number = static_cast<double>(random.below(9) - 4);
  return numbers;
}

// Returns integers of which random rectangles are zero, and half of the other elements.
std::vector<double> draw_sparse(uint64_t place, int64_t rows, int64_t columns) {
  std::vector<double> numbers = draw_whole(place, rows * columns);
  Random random(place + 1);
  const int64_t high = 1 + random.below(64), wide = 1 + random.below(64), across = columns / wide + 1;
  std::vector<bool> is_left((static_cast<size_t>(rows / high + 1) * static_cast<size_t>(across)));
  for (size_t i = 0; i < is_left.size(); ++i) is_left[i] = random.chance(0.4);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const bool stays = is_left[static_cast<size_t>(r / high * across + c / wide)] && random.chance(0.5);
      if (!stays) numbers[static_cast<size_t>(r * columns + c)] = random.chance(0.5) ? 0.0 : -0.0;
    }
  }
  return numbers;
}

// Counts the memory of a context. Fills it with 0xFF, so that reads of unwritten memory are detected.
struct CallCounter {
  size_t live = 0, most = 0;

  static void *take(void *user, size_t bytes, size_t alignment) {
    auto &self = *static_cast<CallCounter *>(user);
    void *memory = nullptr;
    if (posix_memalign(&memory, alignment, bytes) != 0) return nullptr;
    std::memset(memory, 0xFF, bytes);
    self.live += bytes;
    self.most = std::max(self.most, self.live);
    return memory;
  }
  static void give(void *user, void *memory, size_t bytes) {
    static_cast<CallCounter *>(user)->live -= bytes;
    std::free(memory);
  }
};

Context make_counted(CallCounter &counter, lpt_isa isa, int32_t threads) {
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.isa = isa;
  options.thread_count = threads;
  options.allocate = CallCounter::take;
  options.release = CallCounter::give;
  options.allocator_user = &counter;
  Context context;
  EXPECT_EQ(LPT_OK, lpt_context_create(&options, out(context)));
  return context;
}

// One GEMM of random shape and form.
struct Form {
  int64_t m, n, k;
  const char *a, *b, *c;
  lpt_gemm_options options;
  bool has_bias, has_residual, has_gap;
};

constexpr lpt_gemm_emulation kPiecewiseAffine = {sizeof(lpt_gemm_emulation), LPT_GEMM_ARITHMETIC_PIECEWISE_AFFINE, 0};

std::string text_of(const Form &form) {
  return std::to_string(form.m) + "×" + std::to_string(form.n) + "×" + std::to_string(form.k) + " " + form.a + " by " +
         form.b + " to " + form.c + ", activation " + std::to_string(form.options.activation) + ", flags " +
         std::to_string(form.options.flags) + ", emulation " + std::to_string(form.options.emulation != nullptr) +
         ", outliers " + std::to_string(form.options.outlier_threshold) + ", beta " +
         std::to_string(form.options.beta) + (form.has_bias ? ", bias" : "") + (form.has_residual ? ", residual" : "") +
         (form.has_gap ? ", a with gaps" : "");
}

Form draw_form(Random &random) {
  constexpr int64_t kRows[] = {1, 2, 3, 5, 17, 33, 70}, kColumns[] = {1, 2, 31, 33, 64, 100, 200};
  constexpr int64_t kInner[] = {1, 3, 31, 33, 64, 129, 200, 333};
  constexpr const char *kLeft[] = {"f32",
                                   "bf16",
                                   "int8",
                                   "e4m3fn",
                                   "mxfp4",
                                   "mxfp6_e2m3",
                                   "int4",
                                   "ternary",
                                   "e2m1fn/1x16/e8m0fnu",
                                   "e4m3fn/1x128/e8m0fnu"};
  constexpr const char *kRight[] = {"f32", "bf16", "f16", "int8", "e4m3fn", "mxfp4", "mxfp8_e4m3", "int4", "f64"};
  constexpr const char *kResults[] = {"f32", "f32", "bf16", "f16", "e4m3fn_row", "int8_row"};
  Form form{random.of(kRows),  random.of(kColumns), random.of(kInner),
            random.of(kLeft),  random.of(kRight),   random.of(kResults),
            transposed_b(),    random.chance(0.5),  false,
            random.chance(0.3)};
  if (std::string(form.b) == "f64") form.b = "bf16", form.c = "f64";
  const bool is_f64 = std::string(form.c) == "f64", is_wide = std::string(form.c).find("_row") == std::string::npos;
  form.options.alpha = random.chance(0.5) ? 1.0 : 0.25;
  if (random.chance(0.2)) form.options.flags = LPT_GEMM_PORTABLE_ORDER;
  if (random.chance(0.15)) form.options.emulation = &kPiecewiseAffine;
  if (is_f64) return form;
  constexpr lpt_activation kActivations[] = {LPT_ACTIVATION_NONE, LPT_ACTIVATION_NONE, LPT_ACTIVATION_GELU,
                                             LPT_ACTIVATION_SWIGLU};
  form.options.activation = random.of(kActivations);
  if (form.options.activation == LPT_ACTIVATION_SWIGLU) form.n += form.n % 2;
  form.has_residual = random.chance(0.3);
  if (is_wide && form.options.activation != LPT_ACTIVATION_SWIGLU && random.chance(0.5)) form.options.beta = -0.5;
  if (random.chance(0.15)) form.options.outlier_threshold = 3.5;
  return form;
}

// Operand a. It may have gaps between its rows, where reads are detected.
struct Left {
  std::vector<float> memory;
  Tensor tensor;
};

Left make_left(lpt_context *c, const Form &form) {
  const std::vector<double> numbers = draw_whole(872, form.m * form.k);
  Left left;
  if (!form.has_gap || std::string(form.a) != "f32") {
    left.tensor = tensor_of(c, format_named(form.a), form.m, form.k, numbers);
    return left;
  }
  const int64_t stride = form.k + 5;
  left.memory.assign(static_cast<size_t>(form.m * stride), std::numeric_limits<float>::quiet_NaN());
  for (int64_t i = 0; i < form.m * form.k; ++i) {
    left.memory[static_cast<size_t>(i / form.k * stride + i % form.k)] =
        static_cast<float>(numbers[static_cast<size_t>(i)]);
  }
  left.tensor = wrap_axes(c, LPT_FORMAT_F32, left.memory.data(), {form.m, form.k}, {stride, 1});
  return left;
}

struct Outcome {
  lpt_status status;
  std::vector<double> numbers;
};

Outcome run(lpt_context *c, const Form &form, const lpt_tensor *a, const lpt_tensor *b) {
  const int64_t n = form.options.activation == LPT_ACTIVATION_SWIGLU ? form.n / 2 : form.n;
  const bool is_f64 = std::string(form.c) == "f64";
  const Tensor result = tensor_of(c, format_named(form.c), form.m, n, draw_whole(873, form.m * n));
  const Tensor bias = tensor_of(c, is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32, 1, form.n, draw_whole(874, form.n));
  const Tensor residual = tensor_of(c, LPT_FORMAT_BF16, form.m, n, draw_whole(875, form.m * n));
  lpt_gemm_options options = form.options;
  if (form.has_bias) options.bias = bias.get();
  if (form.has_residual) options.residual = residual.get();
  options.flags |= LPT_CHECK_ONLY;
  const lpt_status checked = lpt_gemm(c, a, b, &options, result.get());
  options.flags = form.options.flags;
  const lpt_status status = lpt_gemm(c, a, b, &options, result.get());
  EXPECT_EQ(checked, status) << lpt_context_error(c);
  return {status, numbers_of(c, result.get())};
}

TEST(SparseWeightsForms, GiveWhatDenseOnesGive) {
  CallCounter counters[3];
  const Context contexts[] = {make_counted(counters[0], LPT_ISA_AUTO, 1), make_counted(counters[1], LPT_ISA_AUTO, 3),
                              make_counted(counters[2], LPT_ISA_REFERENCE, 1)};
  Random random(871);
  const char *trials_text = std::getenv("LPT_TRIALS");
  const int trials = trials_text != nullptr ? std::atoi(trials_text) : 120;
  int ran = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const Form form = draw_form(random);
    lpt_context *const c = contexts[random.below(3)].get();
    SCOPED_TRACE(text_of(form));
    constexpr int32_t kTileRows[] = {0, 32, 96, 4096}, kTileColumns[] = {0, 4, 20, 32, 96, 160, 4096};
    const int32_t tile_rows = random.of(kTileRows);
    int32_t tile_columns = random.of(kTileColumns);
    if (describe(format_named(form.b)).block_columns == 32 && tile_columns % 32 != 0) tile_columns = 32;
    // Views of packed weights are included.
    const int64_t begin = random.chance(0.3) ? (tile_rows == 0 ? 64 : tile_rows) : 0;
    if (begin > 128) continue;
    const int64_t rows = begin + form.n + random.below(2) * random.below(70);
    const Tensor weights =
        tensor_of(c, format_named(form.b), rows, form.k, draw_sparse(876 + static_cast<uint64_t>(trial), rows, form.k));
    const Left a = make_left(c, form);
    const auto gemm = [&](const lpt_weights_options &options) {
      const Tensor packed = pack(c, weights.get(), &options);
      const Tensor part = view(c, packed.get(), {begin, 0}, {form.n, form.k});
      return run(c, form, a.tensor.get(), part.get());
    };
    const Outcome dense = gemm(storage(LPT_WEIGHTS_STORAGE_ALL));
    ran += dense.status == LPT_OK;
    for (const lpt_weights_options &options :
         {storage(LPT_WEIGHTS_STORAGE_BITMASK), storage(LPT_WEIGHTS_STORAGE_BLOCK_SPARSE, tile_rows, tile_columns)}) {
      SCOPED_TRACE("storage " + std::to_string(options.storage) + ", tiles " + std::to_string(tile_rows) + "×" +
                   std::to_string(tile_columns));
      const Outcome sparse_packed = gemm(options);
      ASSERT_EQ(dense.status, sparse_packed.status) << lpt_context_error(c);
      ASSERT_EQ(dense.numbers, sparse_packed.numbers);
    }
  }
  EXPECT_GT(ran, trials / 2);
}

// In the portable order tiles multiply every skipped element by 0, for any value of a and on every CPU.
TEST(SparseWeightsForms, InThePortableOrderTilesLeaveNothingOut) {
  for (const lpt_isa isa : {LPT_ISA_AUTO, LPT_ISA_REFERENCE}) {
    const Context context = make_context(1, isa);
    lpt_context *const c = context.get();
    const int64_t m = 2, n = 64, k = 128;
    std::vector<double> numbers(static_cast<size_t>(n * k)), left(static_cast<size_t>(m * k), 1.0);
    for (int64_t r = 0; r < n; ++r) numbers[static_cast<size_t>(r * k)] = 1.0;
    left[100] = std::numeric_limits<double>::infinity();
    const lpt_weights_options options = storage(LPT_WEIGHTS_STORAGE_BLOCK_SPARSE);
    const Tensor packed = pack(c, tensor_of(c, LPT_FORMAT_F32, n, k, numbers).get(), &options);
    const Tensor a = tensor_of(c, LPT_FORMAT_F32, m, k, left), result = make_tensor(c, LPT_FORMAT_F32, m, n);
    lpt_gemm_options gemm = transposed_b();
    gemm.flags = LPT_GEMM_PORTABLE_ORDER;
    ASSERT_TRUE(ok(c, lpt_gemm(c, a.get(), packed.get(), &gemm, result.get())));
    const std::vector<double> found = numbers_of(c, result.get());
    EXPECT_TRUE(std::isnan(found[0])) << isa;
    EXPECT_EQ(1.0, found[static_cast<size_t>(n)]) << isa;
  }
}

// Plans.

TEST(SparseWeightsForms, APlanTellsAllThatACallTakes) {
  for (const lpt_isa isa : {LPT_ISA_AUTO, LPT_ISA_REFERENCE}) {
    for (const lpt_weights_options &options : {storage(LPT_WEIGHTS_STORAGE_ALL), storage(LPT_WEIGHTS_STORAGE_BITMASK),
                                               storage(LPT_WEIGHTS_STORAGE_BLOCK_SPARSE)}) {
      CallCounter counter;
      const Context context = make_counted(counter, isa, 2);
      lpt_context *const c = context.get();
      const int64_t m = 20, n = 512, k = 640;
      const Tensor b = pack(c, tensor_of(c, LPT_FORMAT_BF16, n, k, draw_whole(883, n * k)).get(), &options);
      const Tensor a = make_tensor(c, LPT_FORMAT_BF16, m, k), result = make_tensor(c, LPT_FORMAT_F32, m, n);
      const lpt_gemm_options gemm = transposed_b();
      lpt_gemm_plan *plan = nullptr;
      ASSERT_TRUE(ok(c, lpt_gemm_plan_create(c, a.get(), b.get(), &gemm, result.get(), &plan)));
      lpt_gemm_plan_info values = LPT_GEMM_PLAN_INFO_INIT;
      EXPECT_TRUE(ok(c, lpt_gemm_plan_read(c, plan, &values)));
      CallCounter fresh;  // of a context without scratch
      const Context other = make_counted(fresh, isa, 2);
      const size_t before = fresh.live;
      lpt_gemm_operands operands = LPT_GEMM_OPERANDS_INIT;
      EXPECT_TRUE(ok(other.get(), lpt_gemm_plan_run(other.get(), plan, a.get(), b.get(), &operands, result.get())));
      EXPECT_EQ(values.workspace_bytes, fresh.live - before) << "isa " << isa << ", storage " << options.storage;
      lpt_gemm_plan_destroy(plan);
    }
  }
}

TEST(SparseWeightsForms, APlanTakesTheStorageThatItWasMadeFor) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  const int64_t m = 4, n = 64, k = 128;
  const Tensor weights = tensor_of(c, LPT_FORMAT_BF16, n, k, draw_whole(884, n * k));
  // Tiles of 16 columns divide the scale blocks of a, so the GEMM uses another kernel.
  const Tensor a = tensor_of(c, LPT_FORMAT_MXFP8_E4M3, m, k, draw_whole(885, m * k));
  const Tensor result = make_tensor(c, LPT_FORMAT_F32, m, n);
  const lpt_weights_options options[] = {storage(LPT_WEIGHTS_STORAGE_BLOCK_SPARSE),
                                         storage(LPT_WEIGHTS_STORAGE_BLOCK_SPARSE, 64, 16),
                                         storage(LPT_WEIGHTS_STORAGE_BLOCK_SPARSE, 32, 64),
                                         storage(LPT_WEIGHTS_STORAGE_BITMASK), storage(LPT_WEIGHTS_STORAGE_ALL)};
  const char *const words[] = {"BLOCK_SPARSE of 64 x 64", "BLOCK_SPARSE of 64 x 16", "BLOCK_SPARSE of 32 x 64",
                               "packed BITMASK", "bf16 packed,"};
  const lpt_gemm_options gemm = transposed_b();
  for (size_t i = 0; i < std::size(options); ++i) {
    lpt_gemm_plan *plan = nullptr;
    const Tensor planned = pack(c, weights.get(), &options[i]);
    ASSERT_TRUE(ok(c, lpt_gemm_plan_create(c, a.get(), planned.get(), &gemm, result.get(), &plan)));
    for (size_t j = 0; j < std::size(options); ++j) {
      const Tensor given = pack(c, weights.get(), &options[j]);
      lpt_gemm_operands operands = LPT_GEMM_OPERANDS_INIT;
      const lpt_status status = lpt_gemm_plan_run(c, plan, a.get(), given.get(), &operands, result.get());
      EXPECT_EQ(i == j ? LPT_OK : LPT_INVALID_ARGUMENT, status) << words[i] << " and " << words[j];
      if (i != j) expect_words({words[i], words[j], "as planned"}, lpt_context_error(c));
    }
    lpt_gemm_plan_destroy(plan);
  }
}

// Experts.

// Experts of 128 × 256 with two rows each.
struct Experts {
  Experts(lpt_context *context, int64_t count, const lpt_weights_options &options, lpt_format format) : c(context) {
    const int64_t n = 128, k = 256;
    packed = pack(c, tensor_of(c, LPT_FORMAT_BF16, {count, n, k}, draw_whole(881, count * n * k)).get(), &options);
    a = tensor_of(c, format, 2 * count, k, draw_whole(882, 2 * count * k));
    result = make_tensor(c, format, 2 * count, n);
    std::vector<int64_t> numbers(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) numbers[static_cast<size_t>(i)] = 2 * i + 2;
    ends = indices_of(c, numbers);
  }
  lpt_status multiply() const {
    const lpt_gemm_options gemm = transposed_b();
    return lpt_gemm_grouped(c, a.get(), packed.get(), ends.get(), &gemm, result.get());
  }

  lpt_context *c;
  Tensor packed, a, ends, result;
};

size_t scratch_of(int64_t count, const lpt_weights_options &options, lpt_format format) {
  CallCounter counter;
  const Context context = make_counted(counter, LPT_ISA_AUTO, 1);
  const Experts experts(context.get(), count, options, format);
  const size_t before = counter.most = counter.live;
  EXPECT_TRUE(ok(context.get(), experts.multiply()));
  return counter.most - before;
}

// The dense copy of an expert reuses the memory of the previous one.
TEST(SparseWeightsForms, ManyExpertsTakeTheScratchOfOne) {
  for (const lpt_weights_options &options :
       {storage(LPT_WEIGHTS_STORAGE_BITMASK), storage(LPT_WEIGHTS_STORAGE_BLOCK_SPARSE)}) {
    for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_F64}) {
      EXPECT_LE(scratch_of(24, options, format), scratch_of(1, options, format))
          << "storage " << options.storage << ' ' << name_of(format);
    }
  }
}

struct Reports {
  std::vector<int64_t> done, whole;
  size_t stop_at = SIZE_MAX;

  static int32_t note(void *user, int64_t done, int64_t whole) {
    auto &self = *static_cast<Reports *>(user);
    self.done.push_back(done);
    self.whole.push_back(whole);
    return self.done.size() > self.stop_at ? 1 : 0;
  }
};

TEST(SparseWeightsForms, ExpertsReportToOneWhole) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const int64_t count = 130, all = count * 2 * 128;
  for (const lpt_weights_options &options :
       {storage(LPT_WEIGHTS_STORAGE_BITMASK), storage(LPT_WEIGHTS_STORAGE_BLOCK_SPARSE)}) {
    const Experts experts(c, count, options, LPT_FORMAT_F32);
    Reports reports;
    ASSERT_TRUE(ok(c, lpt_context_set_progress(c, Reports::note, &reports)));
    ASSERT_TRUE(ok(c, experts.multiply()));
    ASSERT_GE(reports.done.size(), 2u);
    EXPECT_LE(reports.done.size(), 110u);
    for (size_t i = 0; i < reports.done.size(); ++i) {
      EXPECT_EQ(reports.whole[i], all);
      EXPECT_GT(reports.done[i], i == 0 ? 0 : reports.done[i - 1]);
    }
    EXPECT_EQ(reports.done.back(), all);
    Reports stopped;
    stopped.stop_at = 2;
    ASSERT_TRUE(ok(c, lpt_context_set_progress(c, Reports::note, &stopped)));
    EXPECT_EQ(LPT_CANCELLED, experts.multiply());
    EXPECT_EQ(stopped.done.size(), 3u);
    expect_words({"cancelled after", std::to_string(stopped.done.back()).c_str(), std::to_string(all).c_str()},
                 lpt_context_error(c));
    ASSERT_TRUE(ok(c, lpt_context_set_progress(c, nullptr, nullptr)));
  }
}

}  // namespace
}  // namespace lpt::test
