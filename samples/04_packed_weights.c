/* Packs the weights of a layer once, 4 bits each, and multiplies bf16 inputs by the packed weights. A view has half of the
 * layer. */
#include <lpt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { kTokens = 4, kInputs = 512, kOutputs = 256 };

static void fill(float *values, int count, uint32_t seed) {
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = (float)((double)(seed >> 8) / 8388608.0 - 1.0);
  }
}

static double relative_error(const float *exact, const float *given, int rows, int columns, int exact_stride) {
  double error = 0.0, size = 0.0;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      const double number = exact[i * exact_stride + j], off = given[i * columns + j] - number;
      error += off * off;
      size += number * number;
    }
  }
  return sqrt(error / size);
}

/* Computes gelu(input · weights^T) with a plan. A program creates the plan once per layer. */
static lpt_status run_layer(lpt_context *context, const lpt_tensor *input, const lpt_tensor *weights,
                            lpt_tensor *output, const char *name) {
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  lpt_gemm_plan_info values = LPT_GEMM_PLAN_INFO_INIT;
  lpt_gemm_plan *plan = NULL;
  options.is_b_transposed = 1;
  options.activation = LPT_ACTIVATION_GELU;
  lpt_status status = lpt_gemm_plan_create(context, input, weights, &options, output, &plan);
  if (status == LPT_OK) status = lpt_gemm_plan_read(context, plan, &values);
  if (status == LPT_OK) status = lpt_gemm_plan_run(context, plan, input, weights, NULL, output);
  if (status == LPT_OK) printf("%-12s %s\n", name, values.kernel);
  lpt_gemm_plan_destroy(plan);
  return status;
}

int main(void) {
  static const char *const names[] = {"e4m3fn_row", "nvfp4", "int4_1x128", "uint4_1x64"};
  static float weight_values[kOutputs * kInputs], input_values[kTokens * kInputs];
  static float exact_values[kTokens * kOutputs], output_values[kTokens * kOutputs];
  const int64_t input_extents[] = {kTokens, kInputs};
  const int64_t extents[] = {kOutputs, kInputs}, begins[] = {0, 0}, half_extents[] = {kOutputs / 2, kInputs};
  lpt_context *context = NULL;
  lpt_tensor *weights = NULL, *wide_input = NULL, *input = NULL, *exact = NULL, *output = NULL, *half_output = NULL;

  fill(weight_values, kOutputs * kInputs, 1);
  fill(input_values, kTokens * kInputs, 2);
  lpt_status status = lpt_context_create(NULL, &context);
  if (status == LPT_OK)
    status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, weight_values, kOutputs, kInputs, 0, &weights);
  if (status == LPT_OK)
    status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, input_values, kTokens, kInputs, 0, &wide_input);
  if (status == LPT_OK) status = lpt_tensor_create(context, LPT_FORMAT_BF16, 2, input_extents, &input);
  if (status == LPT_OK) status = lpt_quantize(context, wide_input, NULL, input, NULL);
  if (status == LPT_OK)
    status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, exact_values, kTokens, kOutputs, 0, &exact);
  if (status == LPT_OK)
    status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, output_values, kTokens, kOutputs, 0, &output);
  if (status == LPT_OK) {
    status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, output_values, kTokens, kOutputs / 2, 0, &half_output);
  }
  if (status == LPT_OK) status = run_layer(context, input, weights, exact, "f32");

  for (size_t i = 0; status == LPT_OK && i < sizeof names / sizeof *names; ++i) {
    lpt_tensor *codes = NULL, *packed = NULL, *half = NULL;
    lpt_format format = LPT_FORMAT_NONE;
    size_t bytes = 0;
    status = lpt_format_from_name(NULL, names[i], &format);
    if (status == LPT_OK) status = lpt_tensor_create(context, format, 2, extents, &codes);
    if (status == LPT_OK) status = lpt_quantize(context, weights, NULL, codes, NULL);
    if (status == LPT_OK) status = lpt_weights_pack(context, codes, NULL, &packed);
    if (status == LPT_OK) status = lpt_tensor_size(context, packed, &bytes);
    if (status == LPT_OK) status = run_layer(context, input, packed, output, names[i]);
    if (status == LPT_OK) {
      printf("  %zu bytes, relative error %.2e\n", bytes,
             relative_error(exact_values, output_values, kTokens, kOutputs, kOutputs));
      status = lpt_tensor_view(context, packed, begins, half_extents, &half);
    }
    if (status == LPT_OK) status = run_layer(context, input, half, half_output, "  half of it");
    if (status == LPT_OK) {
      printf("  relative error %.2e\n", relative_error(exact_values, output_values, kTokens, kOutputs / 2, kOutputs));
    }
    lpt_tensor_destroy(half), lpt_tensor_destroy(packed), lpt_tensor_destroy(codes);
  }

  if (status != LPT_OK) fprintf(stderr, "%s: %s\n", lpt_status_string(status), lpt_context_error(context));
  lpt_tensor_destroy(half_output), lpt_tensor_destroy(output), lpt_tensor_destroy(exact);
  lpt_tensor_destroy(input), lpt_tensor_destroy(wide_input), lpt_tensor_destroy(weights), lpt_context_destroy(context);
  return status == LPT_OK ? 0 : 1;
}
