// Every allocation of every part of the interface fails once, alone and with all after it: the call returns
// LPT_OUT_OF_MEMORY, nothing leaks, and the context serves the next call. What a call must leave as it was is compared.
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>

#include "tests/api/failing_memory.hpp"
#include "tests/api/gemm.hpp"

namespace lpt::test {
namespace {

#define LPT_TEST_TRY(call)                       \
  do {                                           \
    const lpt_status try_status = (call);        \
    if (try_status != LPT_OK) return try_status; \
  } while (0)

// Owns a handle, and takes no memory for it.
template <typename T, void (*kDestroy)(T *)>
class Handle {
 public:
  Handle() = default;
  ~Handle() { kDestroy(raw_); }
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
  T **out() {
    kDestroy(std::exchange(raw_, nullptr));
    return &raw_;
  }
  operator T *() const { return raw_; }

 private:
  T *raw_ = nullptr;
};
using OwnContext = Handle<lpt_context, lpt_context_destroy>;
using OwnTensor = Handle<lpt_tensor, lpt_tensor_destroy>;
using OwnScaler = Handle<lpt_scaler, lpt_scaler_destroy>;
using OwnStatistics = Handle<lpt_statistics, lpt_statistics_destroy>;
using OwnPlan = Handle<lpt_gemm_plan, lpt_gemm_plan_destroy>;
using OwnRecipe = Handle<lpt_recipe, lpt_recipe_destroy>;
using OwnLinear = Handle<lpt_linear, lpt_linear_destroy>;
using OwnOptimizer = Handle<lpt_optimizer, lpt_optimizer_destroy>;
using OwnMonitor = Handle<lpt_monitor, lpt_monitor_destroy>;
using OwnGroup = Handle<lpt_comm_group, lpt_comm_group_destroy>;
using OwnComm = Handle<lpt_comm, lpt_comm_destroy>;
using OwnFuture = Handle<lpt_future, lpt_future_destroy>;
using OwnBuckets = Handle<lpt_gradient_buckets, lpt_gradient_buckets_destroy>;
using OwnPartialPlan = Handle<lpt_partial_plan, lpt_partial_plan_destroy>;

// While it lives the thread's allocations do not count.
class Paused {
 public:
  Paused() : kept_(std::exchange(failing_memory().left, -1)) {}
  ~Paused() { failing_memory().left = kept_; }
  Paused(const Paused &) = delete;
  Paused &operator=(const Paused &) = delete;

 private:
  const int64_t kept_;
};

struct Counter {
  std::atomic<int64_t> live{0};
};

void *take(void *user, size_t bytes, size_t alignment) {
  if (failing_memory().fails_here()) return nullptr;
  void *memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes) != 0) return nullptr;
  ++static_cast<Counter *>(user)->live;
  return memory;
}

void give_back(void *user, void *memory, size_t) {
  --static_cast<Counter *>(user)->live;
  std::free(memory);
}

lpt_context_options counted_options(Counter &counter) {
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.thread_count = 1;
  options.allocate = take;
  options.release = give_back;
  options.allocator_user = &counter;
  return options;
}

constexpr int64_t kSide = 64;
constexpr int64_t kElements = kSide * kSide;

// What all walks share: a context, and matrices of kSide × kSide.
struct World {
  explicit World(Counter &of) : counter(of) {
    const lpt_context_options options = counted_options(of);
    EXPECT_EQ(LPT_OK, lpt_context_create(&options, out(context)));
    c = context.get();
    x = tensor_of(c, LPT_FORMAT_F32, kSide, kSide, draw_normal(900, kElements));
    y = tensor_of(c, LPT_FORMAT_F32, kSide, kSide, draw_normal(901, kElements));
    z = make_tensor(c, LPT_FORMAT_F32, kSide, kSide);
    halves = tensor_of(c, LPT_FORMAT_BF16, kSide, kSide, draw_normal(902, kElements));
    vector = vector_of(c, LPT_FORMAT_F32, draw_normal(903, kSide));
    mask = make_tensor(c, LPT_FORMAT_UINT8, kSide, kSide);
    lpt_sparse_options select = LPT_SPARSE_OPTIONS_INIT;
    EXPECT_TRUE(ok(c, lpt_sparse_mask_select(c, x.get(), &select, mask.get(), nullptr, nullptr)));
  }

  lpt_status create(lpt_format format, int64_t rows, int64_t columns, OwnTensor &tensor) const {
    const int64_t extents[] = {rows, columns};
    return lpt_tensor_create(c, format, 2, extents, tensor.out());
  }
  lpt_status cast(lpt_format format, OwnTensor &tensor) const {
    LPT_TEST_TRY(create(format, kSide, kSide, tensor));
    return lpt_quantize(c, x.get(), nullptr, tensor, nullptr);
  }

  Counter &counter;
  Context context;
  lpt_context *c;
  Tensor x, y, z, halves, vector, mask;
};

void ignore_log(void *, lpt_log_level, const char *) {}

lpt_status walk_contexts(World &w) {
  char text[256] = "";
  lpt_context_options options = counted_options(w.counter);
  options.thread_count = 2;
  options.log_level = LPT_LOG_LEVEL_DISPATCH;
  options.log = ignore_log;
  options.error_text = text;
  options.error_text_bytes = sizeof text;
  OwnContext context;
  LPT_TEST_TRY(lpt_context_create(&options, context.out()));
  OwnContext other;
  options.threads_of = context;
  options.thread_count = 0;
  LPT_TEST_TRY(lpt_context_create(&options, other.out()));
  lpt_device_info device = LPT_DEVICE_INFO_INIT;
  LPT_TEST_TRY(lpt_device_describe(nullptr, LPT_DEVICE_CPU, 0, &device));
  LPT_TEST_TRY(lpt_context_set_isa(context, LPT_ISA_AUTO));
  LPT_TEST_TRY(lpt_context_set_profile(context, 1));
  // Enough elements to start the threads.
  const int64_t extents[] = {256, 256};
  OwnTensor wide, codes;
  LPT_TEST_TRY(lpt_tensor_create(context, LPT_FORMAT_F32, 2, extents, wide.out()));
  LPT_TEST_TRY(lpt_tensor_create(context, LPT_FORMAT_MXFP4, 2, extents, codes.out()));
  LPT_TEST_TRY(lpt_quantize(context, wide, nullptr, codes, nullptr));
  LPT_TEST_TRY(lpt_dequantize(other, codes, nullptr, wide));
  static_cast<void>(lpt_context_explanation(context));
  int64_t count = 0;
  LPT_TEST_TRY(lpt_context_profile_count(context, &count));
  lpt_profile_entry entry = LPT_PROFILE_ENTRY_INIT;
  LPT_TEST_TRY(lpt_context_profile_entry(context, 0, &entry));
  return lpt_context_set_threads(context, 1);
}

lpt_status walk_formats(World &w) {
  lpt_format format = LPT_FORMAT_NONE;
  LPT_TEST_TRY(lpt_format_from_name(nullptr, "e4m3fn/1x64/f32/2:4", &format));
  LPT_TEST_TRY(lpt_format_from_name(nullptr, "e4m3b-20-nan/tensor/f32", &format));
  char text[4096];
  size_t needed = 0;
  LPT_TEST_TRY(lpt_format_write_name(nullptr, format, text, sizeof text, &needed));
  LPT_TEST_TRY(lpt_format_write_text(nullptr, format, text, sizeof text, &needed));
  lpt_format_description description = LPT_FORMAT_DESCRIPTION_INIT;
  LPT_TEST_TRY(lpt_format_describe(nullptr, format, &description));
  LPT_TEST_TRY(lpt_format_from_description(nullptr, &description, &format));
  OwnTensor tensor;
  return w.create(format, 4, 8, tensor);
}

lpt_status walk_tensors(World &w) {
  OwnTensor codes, parts[3], whole, view, copy, strided;
  LPT_TEST_TRY(w.cast(LPT_FORMAT_NVFP4, codes));
  LPT_TEST_TRY(lpt_tensor_view_part(w.c, codes, LPT_TENSOR_PART_PAYLOAD, parts[0].out()));
  LPT_TEST_TRY(lpt_tensor_view_part(w.c, codes, LPT_TENSOR_PART_BLOCK_SCALES, parts[1].out()));
  LPT_TEST_TRY(lpt_tensor_view_part(w.c, codes, LPT_TENSOR_PART_TENSOR_SCALE, parts[2].out()));
  const lpt_tensor *const all[] = {parts[0], parts[1], parts[2]};
  LPT_TEST_TRY(lpt_tensor_combine(w.c, LPT_FORMAT_NVFP4, kSide, kSide, all, 3, whole.out()));
  const int64_t begins[] = {16, 0}, extents[] = {32, kSide};
  LPT_TEST_TRY(lpt_tensor_view(w.c, whole, begins, extents, view.out()));
  LPT_TEST_TRY(w.create(LPT_FORMAT_F32, kSide, kSide, copy));
  LPT_TEST_TRY(lpt_tensor_copy(w.c, w.x.get(), copy));
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  LPT_TEST_TRY(lpt_tensor_describe(w.c, copy, &description));
  const int64_t cube[] = {4, 16, 32}, strides[] = {16 * kSide, kSide, 1};
  description.rank = 3;
  description.extents = cube;
  description.strides = strides;
  LPT_TEST_TRY(lpt_tensor_wrap(w.c, &description, strided.out()));
  size_t bytes = 0;
  return lpt_tensor_size(w.c, view, &bytes);
}

lpt_status walk_dlpack(World &w) {
  void *managed = nullptr;
  OwnTensor given, taken;
  LPT_TEST_TRY(lpt_tensor_to_dlpack(w.c, w.x.get(), 1, &managed));
  lpt_status status = lpt_tensor_from_dlpack(w.c, managed, 1, nullptr, given.out());
  if (status == LPT_OK) status = lpt_tensor_take_dlpack(w.c, managed, 1, nullptr, taken.out());
  if (taken == nullptr) {
    // What was not taken is still the caller's: it is taken to be ended.
    const Paused paused;
    EXPECT_TRUE(ok(w.c, lpt_tensor_take_dlpack(w.c, managed, 1, nullptr, taken.out())));
  }
  return status;
}

lpt_status walk_casts(World &w) {
  OwnStatistics statistics;
  LPT_TEST_TRY(lpt_statistics_create(w.c, statistics.out()));
  OwnTensor signs;
  const int64_t extents[] = {32};
  LPT_TEST_TRY(lpt_tensor_create(w.c, LPT_FORMAT_INT8, 1, extents, signs.out()));
  lpt_random random = {};
  LPT_TEST_TRY(lpt_hadamard_draw_signs(w.c, &random, signs));
  for (const lpt_format format :
       {LPT_FORMAT_NVFP4, LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_E4M3FN_128X128, LPT_FORMAT_UINT4_1X64, LPT_FORMAT_INT8_ROW,
        LPT_FORMAT_E5M2_TENSOR, LPT_FORMAT_NF4_1X64, LPT_FORMAT_TERNARY_TENSOR, LPT_FORMAT_F16}) {
    OwnTensor codes, transposed;
    LPT_TEST_TRY(w.create(format, kSide, kSide, codes));
    LPT_TEST_TRY(w.create(format, kSide, kSide, transposed));
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    options.statistics = statistics;
    options.hadamard_size = 32;
    options.hadamard_signs = signs;
    LPT_TEST_TRY(lpt_quantize(w.c, w.x.get(), &options, codes, transposed));
    LPT_TEST_TRY(lpt_dequantize(w.c, codes, nullptr, w.z.get()));
    LPT_TEST_TRY(lpt_fake_quantize(w.c, w.x.get(), format, nullptr, w.z.get()));
  }
  lpt_hadamard_options rotate = LPT_HADAMARD_OPTIONS_INIT;
  LPT_TEST_TRY(lpt_hadamard(w.c, w.x.get(), &rotate, w.z.get()));
  LPT_TEST_TRY(lpt_hadamard(w.c, w.x.get(), &rotate, w.halves.get()));
  OwnTensor codes, relatives;
  LPT_TEST_TRY(w.cast(LPT_FORMAT_E4M3FN_TENSOR, codes));
  lpt_format relative = LPT_FORMAT_NONE;
  LPT_TEST_TRY(lpt_format_from_name(nullptr, "e4m3fnuz/tensor/f32", &relative));
  LPT_TEST_TRY(w.create(relative, kSide, kSide, relatives));
  LPT_TEST_TRY(lpt_convert(w.c, codes, nullptr, relatives));
  lpt_statistics_info values = LPT_STATISTICS_INFO_INIT;
  LPT_TEST_TRY(lpt_statistics_read(w.c, statistics, &values));
  return lpt_statistics_reset(w.c, statistics);
}

lpt_status walk_foreign_layouts(World &w) {
  static constexpr struct {
    lpt_format format;
    lpt_foreign_layout foreign_layout;
  } kPairs[] = {{LPT_FORMAT_MXFP4, LPT_FOREIGN_LAYOUT_GGML},
                {LPT_FORMAT_UINT4_1X32, LPT_FOREIGN_LAYOUT_GGML_Q4_1},
                {LPT_FORMAT_NF4_1X64, LPT_FOREIGN_LAYOUT_BITSANDBYTES},
                {LPT_FORMAT_MXFP8_E4M3, LPT_FOREIGN_LAYOUT_CUBLAS_SCALES}};
  alignas(64) static uint8_t buffer[1 << 16];
  for (const auto &[format, foreign_layout] : kPairs) {
    OwnTensor codes;
    size_t bytes = 0;
    LPT_TEST_TRY(w.create(format, kSide, kSide, codes));
    LPT_TEST_TRY(lpt_foreign_layout_size(w.c, codes, foreign_layout, &bytes));
    LPT_TEST_TRY(lpt_foreign_layout_export(w.c, codes, foreign_layout, buffer, bytes));
    LPT_TEST_TRY(lpt_foreign_layout_import(w.c, buffer, bytes, foreign_layout, codes));
  }
  OwnTensor sparse;
  lpt_format format = LPT_FORMAT_NONE;
  LPT_TEST_TRY(lpt_format_from_name(nullptr, "bf16/2:4", &format));
  LPT_TEST_TRY(w.create(format, kSide, kSide, sparse));
  LPT_TEST_TRY(lpt_sparse_compress(w.c, w.halves.get(), w.mask.get(), sparse, nullptr));
  for (const lpt_foreign_layout foreign_layout : {LPT_FOREIGN_LAYOUT_MMA_SPARSE, LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE}) {
    size_t bytes = 0;
    LPT_TEST_TRY(lpt_foreign_layout_size(w.c, sparse, foreign_layout, &bytes));
    LPT_TEST_TRY(lpt_foreign_layout_export(w.c, sparse, foreign_layout, buffer, bytes));
    LPT_TEST_TRY(lpt_foreign_layout_import(w.c, buffer, bytes, foreign_layout, sparse));
  }
  return LPT_OK;
}

lpt_status walk_gemm(World &w) {
  OwnTensor codes, out_codes, halves;
  LPT_TEST_TRY(w.cast(LPT_FORMAT_MXFP8_E4M3, codes));
  LPT_TEST_TRY(w.create(LPT_FORMAT_NVFP4, kSide, kSide, out_codes));
  LPT_TEST_TRY(w.create(LPT_FORMAT_F64, kSide, kSide, halves));
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  LPT_TEST_TRY(lpt_gemm(w.c, w.x.get(), w.y.get(), &options, w.z.get()));
  LPT_TEST_TRY(lpt_gemm(w.c, codes, w.y.get(), &options, halves));
  options.bias = w.vector.get();
  options.activation = LPT_ACTIVATION_SILU;
  options.residual = w.halves.get();
  LPT_TEST_TRY(lpt_gemm(w.c, codes, w.y.get(), &options, out_codes));
  options.bias = options.residual = nullptr;
  lpt_gemm_options outliers = LPT_GEMM_OPTIONS_INIT;
  outliers.outlier_threshold = 2.5;
  LPT_TEST_TRY(lpt_gemm(w.c, w.x.get(), w.y.get(), &outliers, w.z.get()));
  OwnPlan plan;
  LPT_TEST_TRY(lpt_gemm_plan_create(w.c, codes, w.y.get(), &options, out_codes, plan.out()));
  lpt_gemm_plan_info values = LPT_GEMM_PLAN_INFO_INIT;
  LPT_TEST_TRY(lpt_gemm_plan_read(w.c, plan, &values));
  lpt_gemm_operands operands = LPT_GEMM_OPERANDS_INIT;
  operands.bias = w.vector.get();
  operands.residual = w.halves.get();
  return lpt_gemm_plan_run(w.c, plan, codes, w.y.get(), &operands, out_codes);
}

lpt_status walk_many_gemms(World &w) {
  OwnTensor left, right, result;
  const int64_t cube[] = {4, 16, kSide}, bricks[] = {4, kSide, kSide}, results[] = {4, 16, kSide};
  LPT_TEST_TRY(lpt_tensor_create(w.c, LPT_FORMAT_BF16, 3, cube, left.out()));
  LPT_TEST_TRY(lpt_tensor_create(w.c, LPT_FORMAT_BF16, 3, bricks, right.out()));
  LPT_TEST_TRY(lpt_tensor_create(w.c, LPT_FORMAT_F32, 3, results, result.out()));
  LPT_TEST_TRY(lpt_gemm(w.c, left, right, nullptr, result));
  const int64_t ends[] = {10, 10, 40, kSide};
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.activation = LPT_ACTIVATION_SWIGLU;
  OwnTensor gated;
  LPT_TEST_TRY(w.create(LPT_FORMAT_BF16, kSide, kSide / 2, gated));
  LPT_TEST_TRY(lpt_gemm_grouped(w.c, w.x.get(), right, ends, 4, &options, gated));
  lpt_gemm_options along = LPT_GEMM_OPTIONS_INIT;
  along.is_a_transposed = 1;
  OwnTensor gradients;
  LPT_TEST_TRY(lpt_tensor_create(w.c, LPT_FORMAT_F32, 3, bricks, gradients.out()));
  return lpt_gemm_grouped(w.c, w.x.get(), w.y.get(), ends, 4, &along, gradients);
}

lpt_status walk_weights(World &w) {
  static int32_t order[kSide];
  static uint8_t buffer[1 << 16];
  OwnTensor codes;
  LPT_TEST_TRY(w.cast(LPT_FORMAT_MXFP4, codes));
  LPT_TEST_TRY(lpt_weights_order(w.c, codes, nullptr, order, nullptr, nullptr));
  for (const lpt_weights_storage storage :
       {LPT_WEIGHTS_STORAGE_ALL, LPT_WEIGHTS_STORAGE_BITMASK, LPT_WEIGHTS_STORAGE_BLOCK_SPARSE}) {
    OwnTensor packed, loaded, rows, view;
    lpt_weights_options options = LPT_WEIGHTS_OPTIONS_INIT;
    options.storage = storage;
    options.output_order = order;
    LPT_TEST_TRY(lpt_weights_pack(w.c, codes, &options, packed.out()));
    size_t bytes = 0;
    LPT_TEST_TRY(lpt_weights_state_size(w.c, packed, &bytes));
    LPT_TEST_TRY(lpt_weights_state_save(w.c, packed, buffer, bytes));
    LPT_TEST_TRY(lpt_weights_state_load(w.c, buffer, bytes, loaded.out()));
    lpt_gemm_options multiply = LPT_GEMM_OPTIONS_INIT;
    multiply.is_b_transposed = 1;
    LPT_TEST_TRY(lpt_gemm(w.c, w.x.get(), loaded, &multiply, w.z.get()));
    LPT_TEST_TRY(w.create(LPT_FORMAT_MXFP4, kSide, kSide, rows));
    LPT_TEST_TRY(lpt_weights_unpack(w.c, loaded, rows));
  }
  return LPT_OK;
}

lpt_status walk_sparse(World &w) {
  static int32_t order[kSide];
  OwnTensor mask, other, sparse, transposed, dense;
  LPT_TEST_TRY(w.create(LPT_FORMAT_UINT8, kSide, kSide, mask));
  LPT_TEST_TRY(w.create(LPT_FORMAT_UINT8, kSide, kSide, other));
  LPT_TEST_TRY(w.create(LPT_FORMAT_F32, kSide, kSide, dense));
  lpt_sparse_info values = LPT_SPARSE_INFO_INIT;
  for (const lpt_sparse_direction direction :
       {LPT_SPARSE_DIRECTION_COLUMN, LPT_SPARSE_DIRECTION_BOTH, LPT_SPARSE_DIRECTION_ROW}) {
    for (const int32_t of : {4, 8}) {
      lpt_sparse_options options = LPT_SPARSE_OPTIONS_INIT;
      options.kept = of / 2;
      options.of = of;
      options.direction = direction;
      LPT_TEST_TRY(lpt_sparse_mask_select(w.c, w.x.get(), &options, other, dense, &values));
    }
  }
  lpt_sparse_options options = LPT_SPARSE_OPTIONS_INIT;
  LPT_TEST_TRY(lpt_sparse_mask_select(w.c, w.x.get(), &options, mask, nullptr, &values));
  int64_t count = 0;
  LPT_TEST_TRY(lpt_sparse_mask_check(w.c, mask, 2, 4, LPT_SPARSE_DIRECTION_ROW, &count));
  LPT_TEST_TRY(lpt_sparse_mask_compare(w.c, mask, other, &count));
  LPT_TEST_TRY(lpt_sparse_mask_apply(w.c, w.x.get(), mask, dense));
  LPT_TEST_TRY(lpt_sparse_mask_decay(w.c, w.x.get(), mask, 0.5, dense));
  lpt_format format = LPT_FORMAT_NONE;
  LPT_TEST_TRY(lpt_format_from_name(nullptr, "f32/2:4", &format));
  LPT_TEST_TRY(w.create(format, kSide, kSide, sparse));
  LPT_TEST_TRY(lpt_sparse_compress(w.c, w.x.get(), mask, sparse, nullptr));
  LPT_TEST_TRY(lpt_sparse_decompress(w.c, sparse, dense));
  lpt_gemm_options multiply = LPT_GEMM_OPTIONS_INIT;
  multiply.is_b_transposed = 1;
  LPT_TEST_TRY(lpt_gemm(w.c, w.x.get(), sparse, &multiply, w.z.get()));
  LPT_TEST_TRY(lpt_gemm(w.c, sparse, w.y.get(), nullptr, w.z.get()));
  double bits = 0;
  LPT_TEST_TRY(lpt_sparse_diversity(w.c, 2, 4, LPT_SPARSE_DIRECTION_BOTH, 0, &bits));
  int32_t kept = 0;
  LPT_TEST_TRY(lpt_sparse_choose_kept(w.c, 0.8, 8, 0.9, &kept));
  LPT_TEST_TRY(lpt_sparse_absorb(w.c, w.x.get(), mask, 4, LPT_SPARSE_DIRECTION_ROW, dense));
  lpt_sparse_fit_info fit = LPT_SPARSE_FIT_INFO_INIT;
  LPT_TEST_TRY(lpt_sparse_fit(w.c, w.x.get(), mask, w.y.get(), nullptr, dense, nullptr, &fit));
  return lpt_sparse_order(w.c, w.x.get(), nullptr, order, &values);
}

lpt_status walk_layers(World &w) {
  static const std::vector<int64_t> targets(kSide, 3);
  OwnTensor out_codes, gradient, other, sums, logs, loss, smoothing;
  LPT_TEST_TRY(w.create(LPT_FORMAT_F32, kSide, kSide, gradient));
  LPT_TEST_TRY(w.create(LPT_FORMAT_F32, kSide, kSide, other));
  LPT_TEST_TRY(w.create(LPT_FORMAT_F32, 1, kSide, sums));
  LPT_TEST_TRY(w.create(LPT_FORMAT_F64, 1, kSide, logs));
  LPT_TEST_TRY(w.create(LPT_FORMAT_F32, 1, 1, loss));
  LPT_TEST_TRY(lpt_softmax_forward(w.c, w.x.get(), nullptr, w.z.get()));
  LPT_TEST_TRY(lpt_softmax_backward(w.c, w.z.get(), w.y.get(), nullptr, gradient));
  LPT_TEST_TRY(lpt_rmsnorm_forward(w.c, w.x.get(), w.vector.get(), nullptr, w.z.get(), sums));
  LPT_TEST_TRY(lpt_rmsnorm_forward_sum(w.c, w.x.get(), w.y.get(), w.vector.get(), nullptr, gradient, w.z.get(), sums));
  LPT_TEST_TRY(lpt_rmsnorm_backward(w.c, w.x.get(), w.vector.get(), sums, w.y.get(), nullptr, gradient, nullptr));
  LPT_TEST_TRY(lpt_swiglu_forward(w.c, w.x.get(), w.y.get(), nullptr, w.z.get(), nullptr));
  LPT_TEST_TRY(lpt_swiglu_backward(w.c, w.x.get(), w.y.get(), w.z.get(), nullptr, gradient, other));
  LPT_TEST_TRY(lpt_cross_entropy_forward(w.c, w.x.get(), targets.data(), nullptr, loss, logs));
  return lpt_cross_entropy_backward(w.c, w.x.get(), targets.data(), logs, nullptr, nullptr, gradient);
}

lpt_status walk_measures(World &w) {
  OwnMonitor monitor;
  OwnStatistics statistics;
  LPT_TEST_TRY(lpt_monitor_create(w.c, monitor.out()));
  LPT_TEST_TRY(lpt_statistics_create(w.c, statistics.out()));
  LPT_TEST_TRY(lpt_monitor_record(w.c, monitor, 1, "a name that is longer than a short string has space for", 2.0));
  LPT_TEST_TRY(
      lpt_monitor_record_statistics(w.c, monitor, 1, "another name, as long as the one before it", statistics));
  int64_t count = 0;
  LPT_TEST_TRY(lpt_monitor_count(w.c, monitor, &count));
  LPT_TEST_TRY(lpt_monitor_save(w.c, monitor, "/dev/null"));
  const lpt_tensor *const gradients[] = {w.x.get()}, *const noisy[] = {w.y.get()};
  lpt_noise_info noise = LPT_NOISE_INFO_INIT;
  LPT_TEST_TRY(lpt_noise_measure(w.c, gradients, noisy, 1, nullptr, &noise));
  lpt_swiglu_alignment_info alignment = LPT_SWIGLU_ALIGNMENT_INFO_INIT;
  LPT_TEST_TRY(lpt_swiglu_alignment(w.c, w.x.get(), w.y.get(), nullptr, &alignment));
  lpt_gradients_info sums = LPT_GRADIENTS_INFO_INIT;
  LPT_TEST_TRY(lpt_gradients_measure(w.c, gradients, 1, &sums));
  lpt_cost_link link = LPT_COST_LINK_INIT;
  const double bytes[] = {1e3, 1e4, 1e5}, seconds[] = {1e-5, 2e-5, 1e-4};
  LPT_TEST_TRY(lpt_cost_fit_link(w.c, bytes, seconds, 3, &link));
  lpt_cost_info cost = LPT_COST_INFO_INIT;
  return lpt_cost_estimate(w.c, 0, 0, 8, 1 << 20, LPT_FORMAT_F32, &link, &cost);
}

// ---- what a failure must leave as it was

struct Bytes {
  std::vector<uint8_t> all;
  void add(lpt_context *c, const lpt_tensor *tensor) {
    const std::vector<uint8_t> more = bytes_of(c, tensor);
    all.insert(all.end(), more.begin(), more.end());
  }
  template <typename Size, typename Save>
  void add_state(lpt_context *c, Size size, Save save) {
    size_t bytes = 0;
    EXPECT_TRUE(ok(c, size(&bytes)));
    const size_t begin = all.size();
    all.resize(begin + bytes);
    EXPECT_TRUE(ok(c, save(all.data() + begin, bytes)));
  }
};

// Runs `call`; where it fails, what `bits` gives is what it was.
template <typename Bits, typename Call>
lpt_status all_or_nothing(const Bits &bits, const Call &call) {
  std::vector<uint8_t> before;
  {
    const Paused paused;
    before = bits();
  }
  const lpt_status status = call();
  if (status != LPT_OK) {
    const Paused paused;
    EXPECT_EQ(before, bits());
  }
  const Paused paused;
  std::vector<uint8_t>().swap(before);
  return status;
}

std::vector<uint8_t> state_of(lpt_context *c, const lpt_scaler *scaler) {
  Bytes bytes;
  bytes.add_state(
      c, [&](size_t *size) { return lpt_scaler_state_size(c, scaler, size); },
      [&](void *buffer, size_t size) { return lpt_scaler_state_save(c, scaler, buffer, size); });
  return bytes.all;
}

std::vector<uint8_t> state_of(lpt_context *c, const lpt_linear *linear) {
  Bytes bytes;
  bytes.add_state(
      c, [&](size_t *size) { return lpt_linear_state_size(c, linear, size); },
      [&](void *buffer, size_t size) { return lpt_linear_state_save(c, linear, buffer, size); });
  return bytes.all;
}

std::vector<uint8_t> state_of(lpt_context *c, const lpt_optimizer *optimizer, int64_t index) {
  Bytes bytes;
  bytes.add_state(
      c, [&](size_t *size) { return lpt_optimizer_state_size(c, optimizer, index, size); },
      [&](void *buffer, size_t size) { return lpt_optimizer_state_save(c, optimizer, index, buffer, size); });
  return bytes.all;
}

lpt_status walk_scalers(World &w) {
  static std::vector<uint8_t> saved;
  OwnScaler scalers[2];
  lpt_scaler_options options = LPT_SCALER_OPTIONS_INIT;
  options.kind = LPT_SCALER_KIND_DELAYED;
  options.history_length = 4;
  OwnTensor codes;
  LPT_TEST_TRY(w.create(LPT_FORMAT_E4M3FN_TENSOR, kSide, kSide, codes));
  for (OwnScaler &scaler : scalers) {
    LPT_TEST_TRY(lpt_scaler_create(w.c, &options, scaler.out()));
    lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
    cast.scaler = scaler;
    LPT_TEST_TRY(lpt_quantize(w.c, w.x.get(), &cast, codes, nullptr));
  }
  {
    const Paused paused;
    saved = state_of(w.c, scalers[0]);
  }
  const auto bits = [&] {
    std::vector<uint8_t> all = state_of(w.c, scalers[0]);
    const std::vector<uint8_t> more = state_of(w.c, scalers[1]);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  lpt_scaler *const both[] = {scalers[0], scalers[1]};
  LPT_TEST_TRY(all_or_nothing(bits, [&] { return lpt_scaler_update(w.c, both, 2); }));
  lpt_scaler_info values = LPT_SCALER_INFO_INIT;
  LPT_TEST_TRY(lpt_scaler_read(w.c, scalers[0], &values));
  return all_or_nothing(bits, [&] { return lpt_scaler_state_load(w.c, scalers[0], saved.data(), saved.size()); });
}

// A layer under a recipe, forward, backward, update, saved and loaded.
lpt_status walk_linear(World &w, const char *name) {
  static std::vector<uint8_t> saved_state;
  OwnRecipe recipe;
  OwnLinear linears[2];
  OwnTensor saved, input_gradient, weight_gradient, bias_gradient;
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  shape.input_columns = shape.output_columns = kSide;
  LPT_TEST_TRY(lpt_recipe_create(w.c, name, recipe.out()));
  lpt_linear_options options = LPT_LINEAR_OPTIONS_INIT;
  options.bias = w.vector.get();
  LPT_TEST_TRY(w.create(LPT_FORMAT_F32, kSide, kSide, input_gradient));
  LPT_TEST_TRY(w.create(LPT_FORMAT_F32, kSide, kSide, weight_gradient));
  LPT_TEST_TRY(w.create(LPT_FORMAT_F32, 1, kSide, bias_gradient));
  for (OwnLinear &linear : linears) {
    LPT_TEST_TRY(lpt_linear_create(w.c, recipe, &shape, linear.out()));
    LPT_TEST_TRY(lpt_linear_watch(w.c, linear, 1));
    LPT_TEST_TRY(lpt_linear_prepare(w.c, linear, w.y.get(), nullptr));
    size_t bytes = 0;
    LPT_TEST_TRY(lpt_linear_saved_size(w.c, linear, kSide, &bytes));
    const int64_t extents[] = {static_cast<int64_t>(bytes)};
    LPT_TEST_TRY(lpt_tensor_create(w.c, LPT_FORMAT_UINT8, 1, extents, saved.out()));
    LPT_TEST_TRY(lpt_linear_forward(w.c, linear, w.x.get(), &options, saved, w.z.get()));
    LPT_TEST_TRY(
        lpt_linear_backward(w.c, linear, saved, w.z.get(), &options, input_gradient, weight_gradient, bias_gradient));
  }
  const auto bits = [&] {
    std::vector<uint8_t> all = state_of(w.c, linears[0]);
    const std::vector<uint8_t> more = state_of(w.c, linears[1]);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  {
    const Paused paused;
    saved_state = state_of(w.c, linears[0]);
  }
  lpt_linear *const both[] = {linears[0], linears[1]};
  LPT_TEST_TRY(all_or_nothing(bits, [&] { return lpt_linear_update_scalers(w.c, both, 2); }));
  OwnMonitor monitor;
  LPT_TEST_TRY(lpt_monitor_create(w.c, monitor.out()));
  LPT_TEST_TRY(lpt_monitor_record_linear(w.c, monitor, 1, "layers.0.feed_forward.up_projection", linears[0]));
  LPT_TEST_TRY(all_or_nothing(
      bits, [&] { return lpt_linear_state_load(w.c, linears[0], saved_state.data(), saved_state.size()); }));
  return all_or_nothing(bits, [&] { return lpt_linear_set_recipe(w.c, linears[0], recipe); });
}

lpt_status walk_recipes(World &w) {
  OwnRecipe recipe;
  LPT_TEST_TRY(lpt_recipe_create(w.c, "bf16", recipe.out()));
  LPT_TEST_TRY(lpt_recipe_set_cast(w.c, recipe, 0, LPT_FORMAT_MXFP4, nullptr));
  LPT_TEST_TRY(lpt_recipe_set_gemm(w.c, recipe, 0, nullptr));
  lpt_format format = LPT_FORMAT_NONE;
  LPT_TEST_TRY(lpt_recipe_cast_format(w.c, recipe, 0, &format));
  return lpt_recipe_set_high_precision(w.c, recipe, 0, LPT_FORMAT_BF16);
}

// Two parameters of a kind, stepped, saved and loaded. The step starts threads, of which there are none before.
lpt_status walk_optimizer(World &w, lpt_format first, lpt_format second, bool is_in_files) {
  static std::vector<uint8_t> states[2];
  const bool has_compensation = first == LPT_FORMAT_BF16;
  OwnOptimizer optimizer;
  OwnTensor gradients[2], values[2];
  int64_t indices[2] = {};
  LPT_TEST_TRY(lpt_optimizer_create(w.c, nullptr, optimizer.out()));
  if (is_in_files) LPT_TEST_TRY(lpt_optimizer_set_directory(w.c, optimizer, testing::TempDir().c_str(), 4 << 20));
  const int64_t sides[] = {kSide, 4 * kSide};
  for (size_t k = 0; k < 2; ++k) {
    lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
    parameter.elements = sides[k] * sides[k];
    parameter.first_moment = first;
    parameter.second_moment = second;
    parameter.first_scaling = first == LPT_FORMAT_E4M3FN_TENSOR ? LPT_SCALER_KIND_DELAYED : LPT_SCALER_KIND_CURRENT;
    parameter.compensation = has_compensation ? LPT_FORMAT_BF16 : LPT_FORMAT_NONE;
    LPT_TEST_TRY(lpt_optimizer_add(w.c, optimizer, &parameter, &indices[k]));
    LPT_TEST_TRY(w.create(LPT_FORMAT_F32, sides[k], sides[k], gradients[k]));
    LPT_TEST_TRY(w.create(has_compensation ? LPT_FORMAT_BF16 : LPT_FORMAT_F32, sides[k], sides[k], values[k]));
    const Paused paused;
    std::fill_n(part_data<float>(w.c, gradients[k], LPT_TENSOR_PART_PAYLOAD), parameter.elements, 0.5f);
  }
  const auto bits = [&] {
    Bytes bytes;
    for (size_t k = 0; k < 2; ++k) {
      const std::vector<uint8_t> state = state_of(w.c, optimizer, indices[k]);
      bytes.all.insert(bytes.all.end(), state.begin(), state.end());
      bytes.add(w.c, values[k]);
    }
    return bytes.all;
  };
  const lpt_tensor *const all_gradients[] = {gradients[0], gradients[1]};
  lpt_tensor *const all_values[] = {values[0], values[1]};
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.largest_norm = 1.0;
  const auto step = [&] { return lpt_optimizer_step(w.c, optimizer, indices, 2, all_gradients, &options, all_values); };
  LPT_TEST_TRY(lpt_context_set_threads(w.c, 2));
  LPT_TEST_TRY(all_or_nothing(bits, step));
  LPT_TEST_TRY(all_or_nothing(bits, step));
  lpt_optimizer_info read = LPT_OPTIMIZER_INFO_INIT;
  LPT_TEST_TRY(lpt_optimizer_read(w.c, optimizer, &read));
  {
    const Paused paused;
    for (size_t k = 0; k < 2; ++k) states[k] = state_of(w.c, optimizer, indices[k]);
    EXPECT_TRUE(ok(w.c, step()));
  }
  LPT_TEST_TRY(all_or_nothing(
      bits, [&] { return lpt_optimizer_state_load(w.c, optimizer, indices[0], states[0].data(), states[0].size()); }));
  const void *const buffers[] = {states[1].data()};
  const size_t sizes[] = {states[1].size()};
  return all_or_nothing(bits,
                        [&] { return lpt_optimizer_state_load_many(w.c, optimizer, indices[1], buffers, sizes, 1); });
}

// ---- two ranks: the allocations of the first one fail, the second one goes along

// What a rank calls, and what it works on, which is there before.
struct Ranked {
  explicit Ranked(lpt_context *context) : c(context) {
    const Paused paused;
    x = tensor_of(c, LPT_FORMAT_F32, kSide, kSide, draw_normal(910, kElements));
    y = make_tensor(c, LPT_FORMAT_F32, kSide, kSide);
    half = make_tensor(c, LPT_FORMAT_F32, kSide / 2, kSide);
  }

  lpt_context *const c;
  OwnComm comm;
  int32_t rank = 0;
  Tensor x, y, half;
};

lpt_status call_collectives(Ranked &r) {
  LPT_TEST_TRY(lpt_barrier(r.c, r.comm));
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  LPT_TEST_TRY(lpt_all_reduce(r.c, r.comm, r.x.get(), &options, r.y.get(), nullptr));
  options.wire = LPT_FORMAT_MXFP8_E4M3;
  LPT_TEST_TRY(lpt_all_reduce(r.c, r.comm, r.x.get(), &options, r.y.get(), nullptr));
  OwnFuture future;
  LPT_TEST_TRY(lpt_all_reduce(r.c, r.comm, r.x.get(), nullptr, r.y.get(), future.out()));
  int32_t is_done = 0;
  LPT_TEST_TRY(lpt_future_is_done(r.c, future, &is_done));
  LPT_TEST_TRY(lpt_future_wait(r.c, future));
  LPT_TEST_TRY(lpt_reduce_scatter(r.c, r.comm, r.x.get(), nullptr, nullptr, r.half.get(), nullptr));
  LPT_TEST_TRY(lpt_all_gather(r.c, r.comm, r.half.get(), nullptr, nullptr, r.y.get(), nullptr));
  LPT_TEST_TRY(lpt_broadcast(r.c, r.comm, 1, r.y.get(), nullptr));
  const int64_t counts[] = {kSide / 2, kSide / 2};
  LPT_TEST_TRY(lpt_all_to_all(r.c, r.comm, r.x.get(), counts, counts, r.y.get(), nullptr));
  LPT_TEST_TRY(r.rank == 0 ? lpt_send(r.c, r.comm, r.x.get(), 1, 7, nullptr)
                           : lpt_receive(r.c, r.comm, r.y.get(), 0, 7, nullptr));
  lpt_tensor *const many[] = {r.y.get(), r.half.get()};
  LPT_TEST_TRY(lpt_all_reduce_many(r.c, r.comm, many, 2, nullptr, nullptr));
  int32_t is_same = 0;
  LPT_TEST_TRY(lpt_comm_compare(r.c, r.comm, r.x.get(), &is_same));
  OwnComm part;
  LPT_TEST_TRY(lpt_comm_split(r.c, r.comm, 0, -r.rank, part.out()));
  lpt_comm_info values = LPT_COMM_INFO_INIT;
  LPT_TEST_TRY(lpt_comm_read(r.c, part, &values));
  return lpt_barrier(r.c, part);
}

lpt_status call_buckets(Ranked &r) {
  lpt_tensor *const gradients[] = {r.y.get(), r.half.get()};
  lpt_gradient_buckets_options options = LPT_GRADIENT_BUCKETS_OPTIONS_INIT;
  const char *const names[] = {"layers.0.attention.query.weight", "layers.0.attention.key.weight"};
  options.bucket_bytes = 1024;
  options.names = names;
  OwnBuckets buckets;
  LPT_TEST_TRY(lpt_gradient_buckets_create(r.c, r.comm, gradients, 2, &options, buckets.out()));
  for (int pass = 0; pass < 2; ++pass) {
    LPT_TEST_TRY(lpt_gradient_buckets_begin(r.c, buckets, 1, nullptr));
    LPT_TEST_TRY(lpt_gradient_buckets_ready(r.c, buckets, 1));
    LPT_TEST_TRY(lpt_gradient_buckets_ready(r.c, buckets, 0));
    LPT_TEST_TRY(lpt_gradient_buckets_wait(r.c, buckets));
  }
  lpt_gradient_buckets_info values = LPT_GRADIENT_BUCKETS_INFO_INIT;
  return lpt_gradient_buckets_read(r.c, buckets, &values);
}

lpt_status call_shards(Ranked &r) {
  OwnOptimizer optimizer;
  LPT_TEST_TRY(lpt_optimizer_create(r.c, nullptr, optimizer.out()));
  lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
  parameter.elements = kElements;
  parameter.first_moment = LPT_FORMAT_E4M3FN_TENSOR;
  parameter.second_moment = LPT_FORMAT_E5M2_TENSOR;
  parameter.first_scaling = LPT_SCALER_KIND_DELAYED;
  const lpt_optimizer_parameter *const parameters[] = {&parameter, &parameter};
  int64_t indices[2] = {};
  LPT_TEST_TRY(lpt_optimizer_add_shards(r.c, r.comm, optimizer, parameters, 2, indices));
  const lpt_tensor *const gradients[] = {r.x.get(), r.x.get()};
  OwnTensor other;
  const int64_t extents[] = {kSide, kSide};
  LPT_TEST_TRY(lpt_tensor_create(r.c, LPT_FORMAT_F32, 2, extents, other.out()));
  lpt_tensor *const values[] = {r.y.get(), other};
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.largest_norm = 1.0;
  lpt_reduce_options reduce = LPT_REDUCE_OPTIONS_INIT;
  lpt_optimizer_shard_options shards = LPT_OPTIMIZER_SHARD_OPTIONS_INIT;
  shards.reduce = &reduce;
  return lpt_optimizer_step_shards(r.c, r.comm, optimizer, indices, 2, gradients, &options, &shards, values);
}

lpt_status call_layers(Ranked &r) {
  static const std::vector<int64_t> targets(kSide, 70);
  OwnRecipe recipe;
  OwnLinear linear;
  OwnPartialPlan plan;
  OwnTensor loss, logs;
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  shape.input_columns = shape.output_columns = kSide;
  LPT_TEST_TRY(lpt_recipe_create(r.c, "fp8_trillion", recipe.out()));
  LPT_TEST_TRY(lpt_linear_create(r.c, recipe, &shape, linear.out()));
  LPT_TEST_TRY(lpt_linear_prepare(r.c, linear, r.x.get(), nullptr));
  lpt_linear_options options = LPT_LINEAR_OPTIONS_INIT;
  options.comm = r.comm;
  options.parallel = LPT_LINEAR_PARALLEL_ROWS;
  LPT_TEST_TRY(lpt_linear_forward(r.c, linear, r.x.get(), &options, nullptr, r.y.get()));
  lpt_linear *const linears[] = {linear};
  LPT_TEST_TRY(lpt_linear_share_amax(r.c, r.comm, linears, 1));
  lpt_partial_plan_options oracle = LPT_PARTIAL_PLAN_OPTIONS_INIT;
  oracle.hidden_columns = kSide;
  oracle.shared_columns = kSide / 2;
  oracle.rank_count = 2;
  LPT_TEST_TRY(lpt_partial_plan_create(r.c, &oracle, plan.out()));
  LPT_TEST_TRY(lpt_partial_all_reduce(r.c, r.comm, plan, LPT_PARTIAL_PASS_FORWARD, r.x.get(), r.y.get(), nullptr));
  LPT_TEST_TRY(lpt_partial_gemm(r.c, r.comm, plan, r.x.get(), r.x.get(), nullptr, r.y.get()));
  const int64_t one[] = {1}, rows[] = {kSide};
  LPT_TEST_TRY(lpt_tensor_create(r.c, LPT_FORMAT_F32, 1, one, loss.out()));
  LPT_TEST_TRY(lpt_tensor_create(r.c, LPT_FORMAT_F64, 1, rows, logs.out()));
  lpt_cross_entropy_options entropy = LPT_CROSS_ENTROPY_OPTIONS_INIT;
  entropy.comm = r.comm;
  LPT_TEST_TRY(lpt_cross_entropy_forward(r.c, r.x.get(), targets.data(), &entropy, loss, logs));
  return lpt_cross_entropy_backward(r.c, r.x.get(), targets.data(), logs, nullptr, &entropy, r.y.get());
}

// The other rank must learn of a failure at once, not by the time limit.
lpt_status walk_ranks(World &w, uint64_t flags, lpt_status (*call)(Ranked &)) {
  OwnGroup group;
  LPT_TEST_TRY(lpt_comm_group_create(nullptr, 2, group.out()));
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.flags = flags;
  options.timeout_seconds = 20.0;
  lpt_status statuses[2] = {};
  const auto run = [&](lpt_context *context, int32_t rank) {
    Ranked ranked(context);
    ranked.rank = rank;
    lpt_status &status = statuses[rank];
    status = lpt_comm_create_local(context, group, rank, &options, ranked.comm.out());
    if (status != LPT_OK) lpt_comm_group_abort(group);
    if (status == LPT_OK) status = call(ranked);
  };
  std::unique_ptr<std::thread> other;
  {
    const Paused paused;
    other = std::make_unique<std::thread>([&] { run(make_context(1).get(), 1); });
  }
  run(w.c, 0);
  other->join();
  const Paused paused;
  EXPECT_TRUE(statuses[1] == LPT_OK || statuses[1] == LPT_ABORTED) << lpt_status_string(statuses[1]);
  return statuses[0];
}

struct Walk {
  const char *name;
  std::function<lpt_status(World &)> run;
  bool has_lasting = true;  // messages that tell other ranks of a failure take memory themselves
};

const Walk kWalks[] = {
    {"Contexts", walk_contexts},
    {"Formats", walk_formats},
    {"Tensors", walk_tensors},
    {"Dlpack", walk_dlpack},
    {"Casts", walk_casts},
    {"ForeignLayouts", walk_foreign_layouts},
    {"Gemm", walk_gemm},
    {"ManyGemms", walk_many_gemms},
    {"Weights", walk_weights},
    {"Sparse", walk_sparse},
    {"Layers", walk_layers},
    {"Measures", walk_measures},
    {"Scalers", walk_scalers},
    {"Recipes", walk_recipes},
    {"LinearFp8", [](World &w) { return walk_linear(w, "fp8_trillion"); }},
    {"LinearNvfp4", [](World &w) { return walk_linear(w, "nvfp4_pretrain"); }},
    {"LinearQuartet", [](World &w) { return walk_linear(w, "quartet"); }},
    {"LinearInt4", [](World &w) { return walk_linear(w, "int4_hadamard"); }},
    {"LinearSparse", [](World &w) { return walk_linear(w, "sparse24_transposable"); }},
    {"LinearSparseGradients", [](World &w) { return walk_linear(w, "mvue24_gradients"); }},
    {"OptimizerTensorScales",
     [](World &w) { return walk_optimizer(w, LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_F16_TENSOR, false); }},
    {"OptimizerGroups",
     [](World &w) { return walk_optimizer(w, LPT_FORMAT_DYNAMIC_1X256, LPT_FORMAT_E5M2_1X128, false); }},
    {"OptimizerCompensated", [](World &w) { return walk_optimizer(w, LPT_FORMAT_BF16, LPT_FORMAT_BF16, false); }},
    {"Collectives", [](World &w) { return walk_ranks(w, 0, call_collectives); }},
    {"CollectivesByMessages", [](World &w) { return walk_ranks(w, LPT_COMM_MESSAGES, call_collectives); }, false},
    {"Buckets", [](World &w) { return walk_ranks(w, 0, call_buckets); }},
    {"Shards", [](World &w) { return walk_ranks(w, 0, call_shards); }},
    {"ShardsByMessages", [](World &w) { return walk_ranks(w, LPT_COMM_MESSAGES, call_shards); }, false},
    {"LayersOfRanks", [](World &w) { return walk_ranks(w, 0, call_layers); }},
    {"OptimizerFiles", [](World &w) { return walk_optimizer(w, LPT_FORMAT_F32, LPT_FORMAT_E4M3FN_1X128, true); }},
};

class AllocationWalk : public testing::TestWithParam<Walk> {};

// One run with allocation `number` failing; returns whether there was one.
bool fails_well(const Walk &walk, int64_t number, bool is_lasting) {
  bool has_failed = false;
  Counter counter;
  {
    World world(counter);
    failing_memory() = {number, is_lasting};
    const lpt_status status = walk.run(world);
    has_failed = std::exchange(failing_memory(), FailingMemory()).has_failed;
    EXPECT_TRUE(status == LPT_OK || (has_failed && status == LPT_OUT_OF_MEMORY))
        << lpt_status_string(status) << ": " << lpt_context_error(world.c);
    const Tensor result = make_tensor(world.c, LPT_FORMAT_F32, kSide, kSide);
    EXPECT_TRUE(ok(world.c, lpt_gemm(world.c, world.x.get(), world.y.get(), nullptr, result.get()))) << "afterwards";
  }
  EXPECT_EQ(0, counter.live) << "blocks of the allocator";
  return has_failed;
}

TEST_P(AllocationWalk, SurvivesTheFailureOfEveryAllocation) {
  const Walk &walk = GetParam();
  constexpr int64_t kNone = int64_t{1} << 40;
  for (int i = 0; i < 2; ++i) ASSERT_FALSE(fails_well(walk, kNone, false));  // what lives for good is made
  for (const bool is_lasting : {false, true}) {
    bool has_failed = walk.has_lasting || !is_lasting;
    for (int64_t number = 0; has_failed; ++number) {
      SCOPED_TRACE(std::string(is_lasting ? "all from allocation " : "allocation ") + std::to_string(number));
      const int64_t before = live_blocks();
      has_failed = fails_well(walk, number, is_lasting);
      EXPECT_EQ(before, live_blocks()) << "blocks of operator new";
      if (HasFailure()) return;
      ASSERT_LT(number, 100000);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, AllocationWalk, testing::ValuesIn(kWalks),
                         [](const auto &walk) { return walk.param.name; });

}  // namespace
}  // namespace lpt::test
