/* Keeps two of every four weights of a layer, stores only these, and multiplies a few rows by the 2:4 matrix. */
#include <lpt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { kTokens = 4, kInputs = 512, kOutputs = 256 };

/* Sums of uniform values, approximately normal. */
static void fill(float *values, int count, uint32_t seed) {
  for (int i = 0; i < count; ++i) {
    float sum = -2.0f;
    for (int k = 0; k < 4; ++k) {
      seed = seed * 1664525u + 1013904223u;
      sum += (float)(seed >> 8) * 0x1p-24f;
    }
    values[i] = sum;
  }
}

/* Returns the root mean square of the error relative to that of the exact result. */
static double relative_error(const float *exact, const float *gemm) {
  double error = 0.0, size = 0.0;
  for (int i = 0; i < kTokens * kOutputs; ++i) {
    error += ((double)gemm[i] - exact[i]) * ((double)gemm[i] - exact[i]);
    size += (double)exact[i] * exact[i];
  }
  return sqrt(error / size);
}

/* Drops the two smallest of every four weights in-place, and prints how much is kept. */
static lpt_status prune(lpt_context *context, lpt_tensor *weight) {
  lpt_sparse_options options = LPT_SPARSE_OPTIONS_INIT; /* 2:4 along rows */
  lpt_sparse_info values = LPT_SPARSE_INFO_INIT;
  lpt_status status = lpt_sparse_mask_select(context, weight, &options, NULL, weight, &values);
  if (status == LPT_OK) {
    printf("%d:%d keeps %d of %d numbers, %.1f %% of the energy\n", (int)options.kept, (int)options.of,
           (int)values.kept_count, (int)values.element_count, 100.0 * values.kept_energy / values.energy);
  }
  return status;
}

/* The input and the pruned weight in one format. The weight is stored dense and 2:4. */
struct layer {
  lpt_tensor *input, *dense, *sparse;
};

static lpt_status make_layer(lpt_context *context, const char *name, const lpt_tensor *input, const lpt_tensor *weight,
                             struct layer *layer) {
  const int64_t input_extents[] = {kTokens, kInputs}, extents[] = {kOutputs, kInputs};
  char sparse_name[32];
  lpt_format format = LPT_FORMAT_NONE, sparse_format = LPT_FORMAT_NONE;
  snprintf(sparse_name, sizeof sparse_name, "%s/2:4", name);
  lpt_status status = lpt_format_from_name(NULL, name, &format);
  if (status == LPT_OK) status = lpt_format_from_name(NULL, sparse_name, &sparse_format);
  if (status == LPT_OK) status = lpt_tensor_create(context, format, 2, input_extents, &layer->input);
  if (status == LPT_OK) status = lpt_tensor_create(context, format, 2, extents, &layer->dense);
  if (status == LPT_OK) status = lpt_tensor_create(context, sparse_format, 2, extents, &layer->sparse);
  if (status == LPT_OK) status = lpt_quantize(context, input, NULL, layer->input, NULL);
  if (status == LPT_OK) status = lpt_quantize(context, weight, NULL, layer->dense, NULL);
  if (status == LPT_OK) status = lpt_sparse_compress(context, layer->dense, NULL, layer->sparse, NULL);
  return status;
}

/* Multiplies by both weights. Prints their bytes, the errors, and the kernel that reads the 2:4 weight. */
static lpt_status compare(lpt_context *context, const char *name, const struct layer *layer, const float *exact) {
  static float dense_values[kTokens * kOutputs], sparse_values[kTokens * kOutputs];
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  lpt_tensor *dense = NULL, *sparse = NULL;
  size_t dense_bytes = 0, sparse_bytes = 0;
  options.is_b_transposed = 1;
  lpt_status status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, dense_values, kTokens, kOutputs, 0, &dense);
  if (status == LPT_OK)
    status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, sparse_values, kTokens, kOutputs, 0, &sparse);
  if (status == LPT_OK) status = lpt_tensor_size(context, layer->dense, &dense_bytes);
  if (status == LPT_OK) status = lpt_tensor_size(context, layer->sparse, &sparse_bytes);
  if (status == LPT_OK) status = lpt_gemm(context, layer->input, layer->dense, &options, dense);
  if (status == LPT_OK) status = lpt_gemm(context, layer->input, layer->sparse, &options, sparse);
  if (status == LPT_OK) {
    printf("%-8s %6zu bytes dense, %6zu 2:4; relative error %.1e to dense, %.3f to all weights\n", name, dense_bytes,
           sparse_bytes, relative_error(dense_values, sparse_values), relative_error(exact, sparse_values));
    printf("%s\n", lpt_context_explanation(context));
  }
  lpt_tensor_destroy(sparse);
  lpt_tensor_destroy(dense);
  return status;
}

int main(void) {
  static const char *const names[] = {"bf16", "int8_row"};
  static float weight_values[kOutputs * kInputs], input_values[kTokens * kInputs], exact[kTokens * kOutputs];
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  lpt_context *context = NULL;
  lpt_tensor *weight = NULL, *input = NULL, *output = NULL;

  fill(weight_values, kOutputs * kInputs, 1);
  fill(input_values, kTokens * kInputs, 2);
  options.is_b_transposed = 1;
  lpt_status status = lpt_context_create(NULL, &context);
  if (status == LPT_OK)
    status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, weight_values, kOutputs, kInputs, 0, &weight);
  if (status == LPT_OK)
    status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, input_values, kTokens, kInputs, 0, &input);
  if (status == LPT_OK) status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, exact, kTokens, kOutputs, 0, &output);
  if (status == LPT_OK) status = lpt_gemm(context, input, weight, &options, output);
  if (status == LPT_OK) status = prune(context, weight);

  for (size_t i = 0; status == LPT_OK && i < sizeof names / sizeof *names; ++i) {
    struct layer layer = {NULL, NULL, NULL};
    status = make_layer(context, names[i], input, weight, &layer);
    if (status == LPT_OK) status = compare(context, names[i], &layer, exact);
    lpt_tensor_destroy(layer.sparse);
    lpt_tensor_destroy(layer.dense);
    lpt_tensor_destroy(layer.input);
  }

  if (status != LPT_OK) fprintf(stderr, "%s: %s\n", lpt_status_string(status), lpt_context_error(context));
  lpt_tensor_destroy(output);
  lpt_tensor_destroy(input);
  lpt_tensor_destroy(weight);
  lpt_context_destroy(context);
  return status == LPT_OK ? 0 : 1;
}
