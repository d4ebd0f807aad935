// Read-only tensors: every output of every function rejects them, and nothing is written.
#include "tests/api/bad_calls.hpp"

namespace lpt::test {
namespace {

struct Output {
  const char *name;
  lpt_status (*call)(World &, lpt_tensor *);
};

// All parameters of the header of type lpt_tensor * or lpt_tensor *const *.
constexpr Output kOutputs[] = {
    {"target", [](World &w, lpt_tensor *t) { return lpt_tensor_copy(w.c, w.source.get(), t); }},
    {"tensor", [](World &w, lpt_tensor *t) { return lpt_foreign_layout_import(w.c, nullptr, 0, 0, t); }},
    {"quantized", [](World &w, lpt_tensor *t) { return lpt_quantize(w.c, w.source.get(), nullptr, t, nullptr); }},
    {"transposed", [](World &w, lpt_tensor *t) { return lpt_quantize(w.c, w.source.get(), nullptr, nullptr, t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_fake_quantize(w.c, w.source.get(), 0, nullptr, t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_dequantize(w.c, w.source.get(), nullptr, t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_hadamard(w.c, w.source.get(), nullptr, t); }},
    {"signs", [](World &w, lpt_tensor *t) { return lpt_hadamard_draw_signs(w.c, nullptr, t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_convert(w.c, w.source.get(), nullptr, t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_sparse_fit(w.c, w.source.get(), w.source.get(), w.source.get(), nullptr, t, nullptr, nullptr); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_calibration_read(w.c, nullptr, 0, t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_weights_fit(w.c, w.source.get(), w.source.get(), nullptr, t, nullptr, nullptr, nullptr); }},
    {"input_factors", [](World &w, lpt_tensor *t) { return lpt_weights_fit(w.c, w.source.get(), w.source.get(), nullptr, nullptr, t, nullptr, nullptr); }},
    {"bias_change", [](World &w, lpt_tensor *t) { return lpt_weights_fit(w.c, w.source.get(), w.source.get(), nullptr, nullptr, nullptr, t, nullptr); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_power_quantize(w.c, w.source.get(), 2.0, t, nullptr); }},
    {"bias_change", [](World &w, lpt_tensor *t) { return lpt_sparse_fit(w.c, w.source.get(), w.source.get(), w.source.get(), nullptr, nullptr, t, nullptr); }},
    {"c", [](World &w, lpt_tensor *t) { return lpt_gemm(w.c, w.source.get(), w.source.get(), nullptr, t); }},
    {"c", [](World &w, lpt_tensor *t) { return lpt_gemm_grouped(w.c, w.source.get(), w.source.get(), nullptr, nullptr, t); }},
    {"c", [](World &w, lpt_tensor *t) { return lpt_gemm_plan_run(w.c, nullptr, w.source.get(), w.source.get(), nullptr, t); }},
    {"mask", [](World &w, lpt_tensor *t) { return lpt_sparse_mask_select(w.c, w.source.get(), nullptr, t, nullptr, nullptr); }},
    {"masked", [](World &w, lpt_tensor *t) { return lpt_sparse_mask_select(w.c, w.source.get(), nullptr, nullptr, t, nullptr); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_sparse_mask_apply(w.c, w.source.get(), w.source.get(), t); }},
    {"gradient", [](World &w, lpt_tensor *t) { return lpt_sparse_mask_decay(w.c, w.source.get(), w.source.get(), 0, t); }},
    {"compressed", [](World &w, lpt_tensor *t) { return lpt_sparse_compress(w.c, w.source.get(), w.source.get(), t, nullptr); }},
    {"transposed", [](World &w, lpt_tensor *t) { return lpt_sparse_compress(w.c, w.source.get(), w.source.get(), nullptr, t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_sparse_decompress(w.c, w.source.get(), t); }},
    {"weights", [](World &w, lpt_tensor *t) { return lpt_weights_unpack(w.c, w.source.get(), t); }},
    {"saved", [](World &w, lpt_tensor *t) { return lpt_linear_forward(w.c, w.linear.get(), w.source.get(), nullptr, t, nullptr); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_linear_forward(w.c, w.linear.get(), w.source.get(), nullptr, nullptr, t); }},
    {"input_gradient", [](World &w, lpt_tensor *t) { return lpt_linear_backward(w.c, w.linear.get(), w.source.get(), w.source.get(), nullptr, t, nullptr, nullptr); }},
    {"weight_gradient", [](World &w, lpt_tensor *t) { return lpt_linear_backward(w.c, w.linear.get(), w.source.get(), w.source.get(), nullptr, nullptr, t, nullptr); }},
    {"bias_gradient", [](World &w, lpt_tensor *t) { return lpt_linear_backward(w.c, w.linear.get(), w.source.get(), w.source.get(), nullptr, nullptr, nullptr, t); }},
    {"mask", [](World &w, lpt_tensor *t) { return lpt_linear_mask_read(w.c, nullptr, t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_swiglu_forward(w.c, w.source.get(), w.source.get(), nullptr, t, nullptr); }},
    {"smoothing", [](World &w, lpt_tensor *t) { return lpt_swiglu_forward(w.c, w.source.get(), w.source.get(), nullptr, nullptr, t); }},
    {"gate_gradient", [](World &w, lpt_tensor *t) { return lpt_swiglu_backward(w.c, w.source.get(), w.source.get(), w.source.get(), nullptr, t, nullptr); }},
    {"up_gradient", [](World &w, lpt_tensor *t) { return lpt_swiglu_backward(w.c, w.source.get(), w.source.get(), w.source.get(), nullptr, nullptr, t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_rmsnorm_forward(w.c, w.source.get(), w.source.get(), nullptr, t, nullptr); }},
    {"inverse_rms", [](World &w, lpt_tensor *t) { return lpt_rmsnorm_forward(w.c, w.source.get(), w.source.get(), nullptr, nullptr, t); }},
    {"sum", [](World &w, lpt_tensor *t) { return lpt_rmsnorm_forward_sum(w.c, w.source.get(), w.source.get(), w.source.get(), nullptr, t, nullptr, nullptr); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_rmsnorm_forward_sum(w.c, w.source.get(), w.source.get(), w.source.get(), nullptr, nullptr, t, nullptr); }},
    {"inverse_rms", [](World &w, lpt_tensor *t) { return lpt_rmsnorm_forward_sum(w.c, w.source.get(), w.source.get(), w.source.get(), nullptr, nullptr, nullptr, t); }},
    {"input_gradient", [](World &w, lpt_tensor *t) { return lpt_rmsnorm_backward(w.c, w.source.get(), w.source.get(), w.source.get(), w.source.get(), nullptr, t, nullptr); }},
    {"weight_gradient", [](World &w, lpt_tensor *t) { return lpt_rmsnorm_backward(w.c, w.source.get(), w.source.get(), w.source.get(), w.source.get(), nullptr, nullptr, t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_layernorm_forward(w.c, w.source.get(), nullptr, nullptr, nullptr, t, nullptr, nullptr); }},
    {"mean", [](World &w, lpt_tensor *t) { return lpt_layernorm_forward(w.c, w.source.get(), nullptr, nullptr, nullptr, nullptr, t, nullptr); }},
    {"inverse_deviation", [](World &w, lpt_tensor *t) { return lpt_layernorm_forward(w.c, w.source.get(), nullptr, nullptr, nullptr, nullptr, nullptr, t); }},
    {"input_gradient", [](World &w, lpt_tensor *t) { return lpt_layernorm_backward(w.c, w.source.get(), nullptr, w.source.get(), w.source.get(), w.source.get(), nullptr, t, nullptr, nullptr); }},
    {"weight_gradient", [](World &w, lpt_tensor *t) { return lpt_layernorm_backward(w.c, w.source.get(), nullptr, w.source.get(), w.source.get(), w.source.get(), nullptr, nullptr, t, nullptr); }},
    {"bias_gradient", [](World &w, lpt_tensor *t) { return lpt_layernorm_backward(w.c, w.source.get(), nullptr, w.source.get(), w.source.get(), w.source.get(), nullptr, nullptr, nullptr, t); }},
    {"frequencies", [](World &w, lpt_tensor *t) { return lpt_rotary_frequencies(w.c, nullptr, t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_rotary(w.c, w.source.get(), w.source.get(), nullptr, t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_exaq_softmax_forward(w.c, w.source.get(), nullptr, t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_softmax_forward(w.c, w.source.get(), nullptr, t); }},
    {"input_gradient", [](World &w, lpt_tensor *t) { return lpt_softmax_backward(w.c, w.source.get(), w.source.get(), nullptr, t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_attention_forward(w.c, w.source.get(), w.source.get(), w.source.get(), nullptr, t); }},
    {"query_gradient", [](World &w, lpt_tensor *t) { return lpt_attention_backward(w.c, w.source.get(), w.source.get(), w.source.get(), w.source.get(), nullptr, t, nullptr, nullptr); }},
    {"key_gradient", [](World &w, lpt_tensor *t) { return lpt_attention_backward(w.c, w.source.get(), w.source.get(), w.source.get(), w.source.get(), nullptr, nullptr, t, nullptr); }},
    {"value_gradient", [](World &w, lpt_tensor *t) { return lpt_attention_backward(w.c, w.source.get(), w.source.get(), w.source.get(), w.source.get(), nullptr, nullptr, nullptr, t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_sequence_attention_forward(w.c, w.comm.get(), nullptr, w.source.get(), w.source.get(), w.source.get(), nullptr, t); }},
    {"query_gradient", [](World &w, lpt_tensor *t) { return lpt_sequence_attention_backward(w.c, w.comm.get(), nullptr, w.source.get(), w.source.get(), w.source.get(), w.source.get(), nullptr, t, nullptr, nullptr); }},
    {"key_gradient", [](World &w, lpt_tensor *t) { return lpt_sequence_attention_backward(w.c, w.comm.get(), nullptr, w.source.get(), w.source.get(), w.source.get(), w.source.get(), nullptr, nullptr, t, nullptr); }},
    {"value_gradient", [](World &w, lpt_tensor *t) { return lpt_sequence_attention_backward(w.c, w.comm.get(), nullptr, w.source.get(), w.source.get(), w.source.get(), w.source.get(), nullptr, nullptr, nullptr, t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_embedding_forward(w.c, w.source.get(), w.source.get(), nullptr, t); }},
    {"weight_gradient", [](World &w, lpt_tensor *t) { return lpt_embedding_backward(w.c, w.source.get(), w.source.get(), nullptr, t); }},
    {"loss", [](World &w, lpt_tensor *t) { return lpt_cross_entropy_forward(w.c, w.source.get(), nullptr, nullptr, t, nullptr); }},
    {"log_sums", [](World &w, lpt_tensor *t) { return lpt_cross_entropy_forward(w.c, w.source.get(), nullptr, nullptr, nullptr, t); }},
    {"logits_gradient", [](World &w, lpt_tensor *t) { return lpt_cross_entropy_backward(w.c, w.source.get(), nullptr, w.source.get(), w.source.get(), nullptr, t); }},
    {"parameters[0]", [](World &w, lpt_tensor *t) { return lpt_optimizer_step(w.c, nullptr, nullptr, 1, nullptr, nullptr, &t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_all_reduce(w.c, w.comm.get(), w.source.get(), nullptr, t, nullptr); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_schedule_all_reduce(w.c, w.comm.get(), nullptr, w.source.get(), nullptr, t, nullptr); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_reduce_scatter(w.c, w.comm.get(), w.source.get(), nullptr, nullptr, t, nullptr); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_all_gather(w.c, w.comm.get(), w.source.get(), nullptr, nullptr, t, nullptr); }},
    {"tensor", [](World &w, lpt_tensor *t) { return lpt_broadcast(w.c, w.comm.get(), 0, t, nullptr); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_all_to_all(w.c, w.comm.get(), w.source.get(), nullptr, nullptr, t, nullptr); }},
    {"tensor", [](World &w, lpt_tensor *t) { return lpt_receive(w.c, w.comm.get(), t, 0, 0, nullptr); }},
    {"tensors[0]", [](World &w, lpt_tensor *t) { return lpt_all_reduce_many(w.c, w.comm.get(), &t, 1, nullptr, nullptr); }},
    {"gradients[0]", [](World &w, lpt_tensor *t) { return lpt_gradient_buckets_create(w.c, w.comm.get(), &t, 1, nullptr, nullptr); }},
    {"parameters[0]", [](World &w, lpt_tensor *t) { return lpt_optimizer_step_shards(w.c, w.comm.get(), nullptr, nullptr, 1, nullptr, nullptr, nullptr, &t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_partial_all_reduce(w.c, w.comm.get(), nullptr, 0, w.source.get(), t, nullptr); }},
    {"c", [](World &w, lpt_tensor *t) { return lpt_partial_gemm(w.c, w.comm.get(), nullptr, w.source.get(), w.source.get(), nullptr, t); }},
    {"weight", [](World &w, lpt_tensor *t) { return lpt_partial_scale_weight(w.c, nullptr, t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_sequence_gather(w.c, w.comm.get(), nullptr, w.source.get(), nullptr, t, nullptr); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_sequence_scatter(w.c, w.comm.get(), nullptr, 0, w.source.get(), nullptr, t, nullptr); }},
    {"worker_error", [](World &w, lpt_tensor *t) { return lpt_all_reduce_signs(w.c, w.comm.get(), w.source.get(), t, nullptr, nullptr, nullptr); }},
    {"server_error", [](World &w, lpt_tensor *t) { return lpt_all_reduce_signs(w.c, w.comm.get(), w.source.get(), nullptr, t, nullptr, nullptr); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_all_reduce_signs(w.c, w.comm.get(), w.source.get(), nullptr, nullptr, t, nullptr); }},
    {"cosines", [](World &w, lpt_tensor *t) { return lpt_swiglu_alignment(w.c, w.source.get(), w.source.get(), t, nullptr); }},
    {"gradients[0]", [](World &w, lpt_tensor *t) { return lpt_delay_compensate(w.c, nullptr, nullptr, 1, nullptr, &t); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_lossy_reduce_scatter(w.c, nullptr, w.source.get(), nullptr, 0, nullptr, 0, t, nullptr); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_lossy_all_gather(w.c, nullptr, w.source.get(), nullptr, 0, t, nullptr); }},
    {"output", [](World &w, lpt_tensor *t) { return lpt_sparse_absorb(w.c, w.source.get(), w.source.get(), 0, 0, t); }},
};

TEST(ReadOnly, IsRejectedByEveryOutput) {
  World w;
  std::vector<float> numbers(128, 1.0f);
  Tensor tensor;
  ASSERT_TRUE(ok(w.c, lpt_tensor_wrap_const_matrix(w.c, LPT_FORMAT_F32, numbers.data(), 4, 32, 0, out(tensor))));
  for (const Output &output : kOutputs) {
    EXPECT_EQ(LPT_INVALID_ARGUMENT, output.call(w, tensor.get())) << output.name;
    EXPECT_EQ(std::string(output.name) + " is read-only: expected a tensor whose memory may be written",
              lpt_context_error(w.c));
  }
  EXPECT_EQ(std::vector<float>(128, 1.0f), numbers);
}

TEST(ReadOnly, IsInheritedByViewsPartsAndCombinations) {
  const Context context = make_context();
  const std::vector<uint8_t> codes(64);
  Tensor payload;
  ASSERT_TRUE(ok(context.get(),
                 lpt_tensor_wrap_const_matrix(context.get(), LPT_FORMAT_E4M3FN, codes.data(), 1, 64, 0, out(payload))));
  const Tensor scales = make_tensor(context.get(), LPT_FORMAT_F32, 1, 1);
  const lpt_tensor *const parts[] = {payload.get(), scales.get()};
  Tensor whole;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_combine(context.get(), LPT_FORMAT_E4M3FN_ROW, 1, 64, parts, 2, out(whole))));
  const Tensor cut = view(context.get(), whole.get(), {0, 0}, {1, 32});
  const Tensor part = part_of(context.get(), cut.get(), LPT_TENSOR_PART_PAYLOAD);
  for (lpt_tensor *tensor : {payload.get(), whole.get(), cut.get(), part.get()}) {
    EXPECT_EQ(uint64_t{LPT_TENSOR_READ_ONLY}, describe(context.get(), tensor).flags);
    EXPECT_EQ(nullptr, lpt_tensor_data(tensor));
    EXPECT_EQ(codes.data(), lpt_tensor_const_data(tensor));
  }
  EXPECT_EQ(0u, describe(context.get(), scales.get()).flags);
}

TEST(Getters, ReturnWhatTheDescriptionHas) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_MXFP8_E4M3, {3, 5, 64});
  const lpt_tensor_description description = describe(context.get(), tensor.get());
  EXPECT_EQ(description.format, lpt_tensor_format(tensor.get()));
  ASSERT_EQ(description.rank, lpt_tensor_rank(tensor.get()));
  for (int32_t i = 0; i < description.rank; ++i) {
    EXPECT_EQ(description.extents[i], lpt_tensor_extent(tensor.get(), i));
    EXPECT_EQ(description.extents[i], lpt_tensor_extent(tensor.get(), i - description.rank));
    EXPECT_EQ(description.strides[i], lpt_tensor_stride(tensor.get(), i));
    EXPECT_EQ(description.strides[i], lpt_tensor_stride(tensor.get(), i - description.rank));
  }
  for (const int32_t axis : {3, -4, 100}) {
    EXPECT_EQ(0, lpt_tensor_extent(tensor.get(), axis));
    EXPECT_EQ(0, lpt_tensor_stride(tensor.get(), axis));
  }
  EXPECT_EQ(description.data, lpt_tensor_data(tensor.get()));
  int32_t index = 7;
  EXPECT_EQ(LPT_DEVICE_CPU, lpt_tensor_device(tensor.get(), &index));
  EXPECT_EQ(0, index);
  EXPECT_EQ(LPT_DEVICE_CPU, lpt_tensor_device(tensor.get(), nullptr));
}

TEST(Getters, TakeNull) {
  EXPECT_EQ(LPT_FORMAT_NONE, lpt_tensor_format(nullptr));
  EXPECT_EQ(0, lpt_tensor_rank(nullptr));
  EXPECT_EQ(0, lpt_tensor_extent(nullptr, 0));
  EXPECT_EQ(0, lpt_tensor_stride(nullptr, -1));
  EXPECT_EQ(nullptr, lpt_tensor_data(nullptr));
  EXPECT_EQ(nullptr, lpt_tensor_const_data(nullptr));
  EXPECT_EQ(LPT_DEVICE_CPU, lpt_tensor_device(nullptr, nullptr));
}

TEST(Getters, CreateAMatrix) {
  const Context context = make_context();
  Tensor tensor;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_create_matrix(context.get(), LPT_FORMAT_NVFP4, 3, 32, out(tensor))));
  EXPECT_EQ(2, lpt_tensor_rank(tensor.get()));
  EXPECT_EQ(3, lpt_tensor_extent(tensor.get(), 0));
  EXPECT_EQ(32, lpt_tensor_extent(tensor.get(), 1));
  Tensor none;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_tensor_create_matrix(context.get(), LPT_FORMAT_F32, -1, 32, out(none)));
  expect_words({"extents[0] is -1"}, lpt_context_error(context.get()), "rows");
}

}  // namespace
}  // namespace lpt::test
