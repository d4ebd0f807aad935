// Walks over contexts, tensors, casts, GEMMs, masks and layers without state.
#include "tests/api/allocation_walk.hpp"

namespace lpt::test {
namespace {

void ignore_log(void *, lpt_log_level, const char *) {}

lpt_status walk_contexts(WalkWorld &w) {
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
  // The tensors have enough elements for the context to start its threads.
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

lpt_status walk_formats(WalkWorld &w) {
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

lpt_status walk_tensors(WalkWorld &w) {
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

lpt_status walk_dlpack(WalkWorld &w) {
  void *managed = nullptr;
  OwnTensor given, taken;
  LPT_TEST_TRY(lpt_tensor_to_dlpack(w.c, w.x.get(), 1, &managed));
  lpt_status status = lpt_tensor_from_dlpack(w.c, managed, 1, nullptr, given.out());
  if (status == LPT_OK) status = lpt_tensor_take_dlpack(w.c, managed, 1, nullptr, taken.out());
  if (taken == nullptr) {
    // After a failed take the caller still owns the DLPack tensor. A second take releases it.
    const Paused paused;
    EXPECT_TRUE(ok(w.c, lpt_tensor_take_dlpack(w.c, managed, 1, nullptr, taken.out())));
  }
  return status;
}

lpt_status walk_casts(WalkWorld &w) {
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

lpt_status walk_foreign_layouts(WalkWorld &w) {
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

lpt_status walk_gemm(WalkWorld &w) {
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

lpt_status walk_many_gemms(WalkWorld &w) {
  OwnTensor left, right, result;
  const int64_t cube[] = {4, 16, kSide}, bricks[] = {4, kSide, kSide}, results[] = {4, 16, kSide};
  LPT_TEST_TRY(lpt_tensor_create(w.c, LPT_FORMAT_BF16, 3, cube, left.out()));
  LPT_TEST_TRY(lpt_tensor_create(w.c, LPT_FORMAT_BF16, 3, bricks, right.out()));
  LPT_TEST_TRY(lpt_tensor_create(w.c, LPT_FORMAT_F32, 3, results, result.out()));
  LPT_TEST_TRY(lpt_gemm(w.c, left, right, nullptr, result));
  static const int64_t numbers[] = {10, 10, 40, kSide};
  OwnTensor ends;
  LPT_TEST_TRY(lpt_tensor_wrap_const_matrix(w.c, LPT_FORMAT_INT64, numbers, 1, 4, 0, ends.out()));
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.activation = LPT_ACTIVATION_SWIGLU;
  OwnTensor gated;
  LPT_TEST_TRY(w.create(LPT_FORMAT_BF16, kSide, kSide / 2, gated));
  LPT_TEST_TRY(lpt_gemm_grouped(w.c, w.x.get(), right, ends, &options, gated));
  lpt_gemm_options along = LPT_GEMM_OPTIONS_INIT;
  along.is_a_transposed = 1;
  OwnTensor gradients;
  LPT_TEST_TRY(lpt_tensor_create(w.c, LPT_FORMAT_F32, 3, bricks, gradients.out()));
  return lpt_gemm_grouped(w.c, w.x.get(), w.y.get(), ends, &along, gradients);
}

lpt_status walk_weights(WalkWorld &w) {
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

lpt_status walk_sparse(WalkWorld &w) {
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
  lpt_gemm_options square = LPT_GEMM_OPTIONS_INIT;
  square.is_a_transposed = 1;
  LPT_TEST_TRY(lpt_gemm(w.c, w.x.get(), w.x.get(), &square, dense));
  OwnCalibration calibration;
  LPT_TEST_TRY(lpt_calibration_create(w.c, kSide, nullptr, calibration.out()));
  LPT_TEST_TRY(lpt_calibration_add(w.c, calibration, w.halves.get(), nullptr));
  LPT_TEST_TRY(lpt_calibration_read(w.c, calibration, LPT_CALIBRATION_VALUE_GRAM, w.z.get()));
  lpt_weights_fit_options weights_fit = LPT_WEIGHTS_FIT_OPTIONS_INIT;
  weights_fit.cross_gram = weights_fit.inputs = dense;
  weights_fit.input_format = LPT_FORMAT_MXFP8_E4M3;
  LPT_TEST_TRY(lpt_weights_fit(w.c, w.y.get(), dense, &weights_fit, w.z.get(), nullptr, nullptr, nullptr));
  return lpt_sparse_order(w.c, w.x.get(), nullptr, order, &values);
}

lpt_status walk_layers(WalkWorld &w) {
  static const std::vector<int64_t> targets(kSide, 3);
  OwnTensor out_codes, gradient, other, sums, logs, loss, smoothing, classes;
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
  OwnTensor means, bias_gradient;
  LPT_TEST_TRY(w.create(LPT_FORMAT_F32, 1, kSide, means));
  LPT_TEST_TRY(w.create(LPT_FORMAT_F32, 1, kSide, bias_gradient));
  LPT_TEST_TRY(lpt_layernorm_forward(w.c, w.x.get(), w.vector.get(), nullptr, nullptr, w.z.get(), means, sums));
  LPT_TEST_TRY(lpt_layernorm_backward(w.c, w.x.get(), w.vector.get(), means, sums, w.y.get(), nullptr, gradient,
                                      nullptr, bias_gradient));
  OwnTensor frequencies;
  LPT_TEST_TRY(w.create(LPT_FORMAT_F32, 1, kSide / 2, frequencies));
  LPT_TEST_TRY(lpt_rotary_frequencies(w.c, nullptr, frequencies));
  LPT_TEST_TRY(lpt_rotary(w.c, w.x.get(), frequencies, nullptr, other));
  LPT_TEST_TRY(lpt_tensor_wrap_const_matrix(w.c, LPT_FORMAT_INT64, targets.data(), 1, kSide, 0, classes.out()));
  LPT_TEST_TRY(lpt_cross_entropy_forward(w.c, w.x.get(), classes, nullptr, loss, logs));
  LPT_TEST_TRY(lpt_cross_entropy_backward(w.c, w.x.get(), classes, logs, nullptr, nullptr, gradient));
  LPT_TEST_TRY(lpt_embedding_forward(w.c, w.x.get(), classes, nullptr, gradient));
  LPT_TEST_TRY(lpt_embedding_backward(w.c, classes, w.x.get(), nullptr, gradient));
  OwnTensor to_query, to_key, to_value;
  for (OwnTensor *tensor : {&to_query, &to_key, &to_value}) {
    LPT_TEST_TRY(w.create(LPT_FORMAT_BF16, kSide, kSide, *tensor));
  }
  LPT_TEST_TRY(lpt_attention_forward(w.c, w.x.get(), w.y.get(), w.z.get(), nullptr, gradient));
  return lpt_attention_backward(w.c, w.x.get(), w.y.get(), w.z.get(), w.x.get(), nullptr, to_query, to_key, to_value);
}

lpt_status walk_kv_cache(WalkWorld &w) {
  static const std::vector<int64_t> swapped = {1, 0}, counts = {9, 32};
  const int64_t extents[] = {2, 2, 32, kSide / 2};
  lpt_tensor_description rows = LPT_TENSOR_DESCRIPTION_INIT;
  rows.format = LPT_FORMAT_F32;
  rows.data = lpt_tensor_data(w.x.get());
  rows.rank = 4;
  rows.extents = extents;
  lpt_kv_cache_options options = LPT_KV_CACHE_OPTIONS_INIT;
  options.batches = options.key_heads = 2;
  options.capacity = 40;
  options.key_width = kSide / 2;
  options.key_format = LPT_FORMAT_NVFP4;
  options.value_format = LPT_FORMAT_INT8_TENSOR;
  OwnKvCache cache;
  OwnTensor numbers, batches, ends, keys, values, lengths;
  LPT_TEST_TRY(lpt_kv_cache_create(w.c, &options, cache.out()));
  LPT_TEST_TRY(lpt_kv_cache_view(w.c, cache, keys.out(), values.out(), lengths.out()));
  LPT_TEST_TRY(lpt_tensor_wrap(w.c, &rows, numbers.out()));
  LPT_TEST_TRY(lpt_tensor_wrap_const_matrix(w.c, LPT_FORMAT_INT64, swapped.data(), 1, 2, 0, batches.out()));
  LPT_TEST_TRY(lpt_tensor_wrap_const_matrix(w.c, LPT_FORMAT_INT64, counts.data(), 1, 2, 0, ends.out()));
  const auto length_bits = [&] { return bytes_of(w.c, lengths); };
  const auto all_bits = [&] {
    KeptBytes bytes;
    for (const lpt_tensor *tensor : {static_cast<const lpt_tensor *>(keys), static_cast<const lpt_tensor *>(values),
                                     static_cast<const lpt_tensor *>(lengths)}) {
      bytes.add(w.c, tensor);
    }
    return bytes.all;
  };
  LPT_TEST_TRY(all_or_nothing(length_bits, [&] { return lpt_kv_cache_append(w.c, cache, numbers, numbers, ends); }));
  LPT_TEST_TRY(all_or_nothing(all_bits, [&] { return lpt_kv_cache_select(w.c, cache, batches); }));
  return all_or_nothing(all_bits, [&] { return lpt_kv_cache_truncate(w.c, cache, batches); });
}

lpt_status walk_measures(WalkWorld &w) {
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
  const int64_t sizes[] = {4, 8, 4, 8};
  const double errors[] = {2.0, 1.0, 3.0, 1.0};
  int64_t choices[2];
  LPT_TEST_TRY(lpt_format_choose(w.c, errors, sizes, 2, 2, 12, choices, nullptr));
  OwnTensor codes;
  LPT_TEST_TRY(w.create(LPT_FORMAT_INT8_ROW, kSide, kSide, codes));
  LPT_TEST_TRY(lpt_power_quantize(w.c, w.x.get(), 2.0, codes, nullptr));
  lpt_tensor *const corrected[] = {w.z.get()};
  LPT_TEST_TRY(lpt_delay_compensate(w.c, gradients, noisy, 1, nullptr, corrected));
  lpt_drop_compute_info drop = LPT_DROP_COMPUTE_INFO_INIT;
  LPT_TEST_TRY(lpt_drop_compute_fit(w.c, seconds, 1, 1, 3, 0.0, 0.0, &drop));
  LPT_TEST_TRY(lpt_drop_compute_estimate(w.c, 8, 4, 1.0, 0.1, 0.0, 0.0, &drop));
  lpt_cost_info cost = LPT_COST_INFO_INIT;
  return lpt_cost_estimate(w.c, 0, 0, 8, 1 << 20, LPT_FORMAT_F32, &link, &cost);
}

}  // namespace

const std::vector<Walk> kTensorWalks = {
    {"Contexts", walk_contexts}, {"Formats", walk_formats},      {"Tensors", walk_tensors},
    {"Dlpack", walk_dlpack},     {"Casts", walk_casts},          {"ForeignLayouts", walk_foreign_layouts},
    {"Gemm", walk_gemm},         {"ManyGemms", walk_many_gemms}, {"Weights", walk_weights},
    {"Sparse", walk_sparse},     {"Layers", walk_layers},        {"KvCache", walk_kv_cache},
    {"Measures", walk_measures},
};

}  // namespace lpt::test
