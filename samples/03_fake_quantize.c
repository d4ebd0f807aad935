/* Casts a matrix with outliers to four bits and back with several rules, in one call each, and prints the errors. */
#include <lpt.h>
#include <math.h>
#include <stdio.h>

enum { kRows = 256, kColumns = 512 };

/* Sums of uniform values, approximately normal. One column in 64 is twenty times as large. */
static void fill(float *values) {
  uint32_t state = 1;
  for (int i = 0; i < kRows * kColumns; ++i) {
    float sum = -2.0f;
    for (int k = 0; k < 4; ++k) {
      state = state * 1664525u + 1013904223u;
      sum += (float)(state >> 8) * 0x1p-24f;
    }
    values[i] = i % 64 == 5 ? 20.0f * sum : sum;
  }
}

struct trial {
  const char *format;
  const char *rule_name;
  lpt_scale_rule rule;
  int32_t hadamard_size;
};

static lpt_status run(lpt_context *context, const struct trial *trial, const lpt_tensor *source, lpt_tensor *output) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  lpt_statistics_info values = LPT_STATISTICS_INFO_INIT;
  lpt_statistics *statistics = NULL;
  lpt_format format = LPT_FORMAT_NONE;

  lpt_status status = lpt_format_from_name(NULL, trial->format, &format);
  if (status == LPT_OK) status = lpt_statistics_create(context, &statistics);
  options.scale_rule = trial->rule;
  options.hadamard_size = trial->hadamard_size;
  options.statistics = statistics;
  if (status == LPT_OK) status = lpt_fake_quantize(context, source, format, &options, output);
  if (status == LPT_OK) status = lpt_statistics_read(context, statistics, &values);
  if (status == LPT_OK) {
    printf("%-10s %-14s rotation %3d  signal to noise %5.2f dB  clipped %5.2f %%  flushed %5.2f %%\n", trial->format,
           trial->rule_name, (int)trial->hadamard_size, 10.0 * log10(values.squared_sum / values.squared_error),
           100.0 * (double)values.clipped_count / (double)values.element_count,
           100.0 * (double)values.underflow_count / (double)values.element_count);
  }
  lpt_statistics_destroy(statistics);
  return status;
}

int main(void) {
  static const struct trial trials[] = {{"mxfp4", "floor", LPT_SCALE_RULE_FLOOR, 0},
                                        {"mxfp4", "round up", LPT_SCALE_RULE_ROUND_UP, 0},
                                        {"mxfp4", "round up", LPT_SCALE_RULE_ROUND_UP, 32},
                                        {"mxfp4", "smallest error", LPT_SCALE_RULE_MSE, 0},
                                        {"nvfp4", "nearest", LPT_SCALE_RULE_NEAREST, 0},
                                        {"nvfp4", "nearest", LPT_SCALE_RULE_NEAREST, 16},
                                        {"nvfp4", "four over six", LPT_SCALE_RULE_FOUR_OVER_SIX, 0},
                                        {"int4_1x32", "amax", LPT_SCALE_RULE_AMAX, 0},
                                        {"int4_1x32", "amax", LPT_SCALE_RULE_AMAX, 32}};
  static float values[kRows * kColumns], restored[kRows * kColumns];
  lpt_context *context = NULL;
  lpt_tensor *source = NULL, *output = NULL;

  fill(values);
  lpt_status status = lpt_context_create(NULL, &context);
  if (status == LPT_OK) status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, values, kRows, kColumns, 0, &source);
  if (status == LPT_OK) status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, restored, kRows, kColumns, 0, &output);
  for (size_t i = 0; status == LPT_OK && i < sizeof trials / sizeof *trials; ++i) {
    status = run(context, &trials[i], source, output);
  }
  if (status != LPT_OK) fprintf(stderr, "%s: %s\n", lpt_status_string(status), lpt_context_error(context));
  lpt_tensor_destroy(output);
  lpt_tensor_destroy(source);
  lpt_context_destroy(context);
  return status == LPT_OK ? 0 : 1;
}
