/* Quantizes a small matrix to several formats and back, and prints the size and the error of each. */
#include <lpt.h>
#include <math.h>
#include <stdio.h>

enum { kRows = 64, kColumns = 128 };

/* Values between -3 and 3 whose magnitude differs between rows, like that of activations. */
static void fill(float *values) {
  for (int i = 0; i < kRows * kColumns; ++i) {
    values[i] = (float)(3.0 * sin(0.7 * i) / (1.0 + i / kColumns));
  }
}

/* Returns the root mean square of the error relative to that of the values. */
static double relative_error(const float *values, const float *restored) {
  double error = 0.0, size = 0.0;
  for (int i = 0; i < kRows * kColumns; ++i) {
    const double difference = (double)restored[i] - (double)values[i];
    error += difference * difference;
    size += (double)values[i] * (double)values[i];
  }
  return sqrt(error / size);
}

int main(void) {
  static const char *const names[] = {"bf16",  "e4m3fn_tensor", "e4m3fn_row", "mxfp8_e4m3",
                                      "mxfp4", "nvfp4",         "int8_row"};
  const int64_t extents[] = {kRows, kColumns};
  static float values[kRows * kColumns], restored[kRows * kColumns];
  lpt_context *context = NULL;
  lpt_tensor *source = NULL, *target = NULL, *quantized = NULL;

  lpt_status status = lpt_context_create(NULL, &context);
  fill(values);
  if (status == LPT_OK) status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, values, kRows, kColumns, 0, &source);
  if (status == LPT_OK) status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, restored, kRows, kColumns, 0, &target);

  printf("a %d x %d matrix, %d bytes in f32\n", kRows, kColumns, (int)sizeof values);
  for (size_t i = 0; status == LPT_OK && i < sizeof names / sizeof *names; ++i) {
    lpt_format format = LPT_FORMAT_NONE;
    size_t bytes = 0;
    status = lpt_format_from_name(NULL, names[i], &format);
    if (status == LPT_OK) status = lpt_tensor_create(context, format, 2, extents, &quantized);
    if (status == LPT_OK) status = lpt_quantize(context, source, NULL, quantized, NULL);
    if (status == LPT_OK) status = lpt_dequantize(context, quantized, NULL, target);
    if (status == LPT_OK) status = lpt_tensor_size(context, quantized, &bytes);
    if (status == LPT_OK) {
      printf("%-14s %6zu bytes, relative error %.5f\n", names[i], bytes, relative_error(values, restored));
      lpt_tensor_destroy(quantized);
      quantized = NULL;
    }
  }

  if (status != LPT_OK) fprintf(stderr, "%s: %s\n", lpt_status_string(status), lpt_context_error(context));
  lpt_tensor_destroy(quantized);
  lpt_tensor_destroy(target);
  lpt_tensor_destroy(source);
  lpt_context_destroy(context);
  return status == LPT_OK ? 0 : 1;
}
