/* Multiplies two matrices in several formats and compares the results with the f64 result. */
#include <lpt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { kRows = 96, kDepth = 320, kColumns = 80 };

/* Pseudorandom values between -1 and 1, from the high bits of a linear congruential generator. */
static void fill(double *values, int count, uint32_t seed) {
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = (double)(seed >> 8) / 8388608.0 - 1.0;
  }
}

/* Returns the root mean square of the error relative to that of the exact result. */
static double relative_error(const double *exact, const float *gemm) {
  double error = 0.0, size = 0.0;
  for (int i = 0; i < kRows * kColumns; ++i) {
    error += ((double)gemm[i] - exact[i]) * ((double)gemm[i] - exact[i]);
    size += exact[i] * exact[i];
  }
  return sqrt(error / size);
}

/* Casts both operands to `format` and multiplies them. b is transposed so that its blocks run along k. */
static lpt_status multiply_in(lpt_context *context, lpt_format format, const lpt_tensor *a, const lpt_tensor *b,
                              lpt_tensor *gemm) {
  const int64_t a_extents[] = {kRows, kDepth}, b_extents[] = {kColumns, kDepth};
  lpt_tensor *a_small = NULL, *b_small = NULL;
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  lpt_status status = lpt_tensor_create(context, format, 2, a_extents, &a_small);
  if (status == LPT_OK) status = lpt_tensor_create(context, format, 2, b_extents, &b_small);
  if (status == LPT_OK) status = lpt_quantize(context, a, NULL, a_small, NULL);
  if (status == LPT_OK) status = lpt_quantize(context, b, NULL, NULL, b_small);
  if (status == LPT_OK) status = lpt_gemm(context, a_small, b_small, &options, gemm);
  lpt_tensor_destroy(b_small);
  lpt_tensor_destroy(a_small);
  return status;
}

int main(void) {
  static const char *const names[] = {"f32", "bf16", "e4m3fn_row", "e5m2_row", "mxfp8_e4m3", "nvfp4", "int8_row"};
  static double a_values[kRows * kDepth], b_values[kDepth * kColumns], exact_values[kRows * kColumns];
  static float gemm_values[kRows * kColumns];
  lpt_context *context = NULL;
  lpt_tensor *a = NULL, *b = NULL, *exact = NULL, *gemm = NULL;

  lpt_status status = lpt_context_create(NULL, &context);
  fill(a_values, kRows * kDepth, 1);
  fill(b_values, kDepth * kColumns, 2);
  if (status == LPT_OK) status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F64, a_values, kRows, kDepth, 0, &a);
  if (status == LPT_OK) status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F64, b_values, kDepth, kColumns, 0, &b);
  if (status == LPT_OK)
    status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F64, exact_values, kRows, kColumns, 0, &exact);
  if (status == LPT_OK)
    status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, gemm_values, kRows, kColumns, 0, &gemm);
  if (status == LPT_OK) status = lpt_gemm(context, a, b, NULL, exact);

  printf("a %d x %d matrix times a %d x %d one, against f64\n", kRows, kDepth, kDepth, kColumns);
  for (size_t i = 0; status == LPT_OK && i < sizeof names / sizeof *names; ++i) {
    lpt_format format = LPT_FORMAT_NONE;
    status = lpt_format_from_name(NULL, names[i], &format);
    if (status == LPT_OK) status = multiply_in(context, format, a, b, gemm);
    if (status == LPT_OK) printf("%-11s relative error %.2e\n", names[i], relative_error(exact_values, gemm_values));
  }

  if (status != LPT_OK) fprintf(stderr, "%s: %s\n", lpt_status_string(status), lpt_context_error(context));
  lpt_tensor_destroy(gemm);
  lpt_tensor_destroy(exact);
  lpt_tensor_destroy(b);
  lpt_tensor_destroy(a);
  lpt_context_destroy(context);
  return status == LPT_OK ? 0 : 1;
}
