// The model of train_test.py in C: 50 steps of two FP8 layers with a SwiGLU between them, and AdamW with FP8 moments. Prints
// each loss with all digits.
#include <stdio.h>
#include <stdlib.h>

#include "lpt.h"

enum { kRows = 8, kInputs = 16, kHidden = 32, kOutputs = 4, kSteps = 50 };

static lpt_context *context;

static void need(lpt_status status) {
  if (status == LPT_OK) return;
  fprintf(stderr, "%s\n", lpt_context_error(context));
  exit(1);
}

static uint32_t drawn = 1;

static void draw(float *numbers, int count, double scale) {
  for (int i = 0; i < count; i++) {
    drawn = drawn * 1664525u + 1013904223u;
    numbers[i] = (float)(((double)drawn / 2147483648.0 - 1.0) * scale);
  }
}

static lpt_tensor *wrap(float *numbers, int64_t rows, int64_t columns, int64_t stride) {
  lpt_tensor *tensor = NULL;
  need(lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, numbers, rows, columns, stride, &tensor));
  return tensor;
}

static lpt_tensor *bytes_for(const lpt_linear *linear) {
  size_t bytes = 0;
  lpt_tensor *saved = NULL;
  need(lpt_linear_saved_size(context, linear, kRows, &bytes));
  const int64_t extent = (int64_t)bytes;
  need(lpt_tensor_create(context, LPT_FORMAT_UINT8, 1, &extent, &saved));
  return saved;
}

static lpt_linear *layer(const lpt_recipe *recipe, int64_t inputs, int64_t outputs) {
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  lpt_linear *linear = NULL;
  shape.input_columns = inputs;
  shape.output_columns = outputs;
  need(lpt_linear_create(context, recipe, &shape, &linear));
  return linear;
}

int main(void) {
  static float x[kRows * kInputs], target[kRows * kOutputs], w1[kHidden * kInputs], w2[kOutputs * kHidden / 2];
  static float h[kRows * kHidden], a[kRows * kHidden / 2], y[kRows * kOutputs], dy[kRows * kOutputs],
      dh[kRows * kHidden];
  static float da[kRows * kHidden / 2], dw1[kHidden * kInputs], dw2[kOutputs * kHidden / 2];
  lpt_context_options context_options = LPT_CONTEXT_OPTIONS_INIT;
  context_options.thread_count = 1;
  if (lpt_context_create(&context_options, &context) != LPT_OK) return 1;
  draw(x, kRows * kInputs, 1.0);
  draw(target, kRows * kOutputs, 1.0);
  draw(w1, kHidden * kInputs, 0.25);
  draw(w2, kOutputs * kHidden / 2, 0.25);

  lpt_tensor *X = wrap(x, kRows, kInputs, 0), *W1 = wrap(w1, kHidden, kInputs, 0),
             *W2 = wrap(w2, kOutputs, kHidden / 2, 0);
  lpt_tensor *H = wrap(h, kRows, kHidden, 0), *gate = wrap(h, kRows, kHidden / 2, kHidden);
  lpt_tensor *up = wrap(h + kHidden / 2, kRows, kHidden / 2, kHidden), *A = wrap(a, kRows, kHidden / 2, 0);
  lpt_tensor *Y = wrap(y, kRows, kOutputs, 0), *DY = wrap(dy, kRows, kOutputs, 0),
             *DA = wrap(da, kRows, kHidden / 2, 0);
  lpt_tensor *DH = wrap(dh, kRows, kHidden, 0), *dgate = wrap(dh, kRows, kHidden / 2, kHidden);
  lpt_tensor *dup = wrap(dh + kHidden / 2, kRows, kHidden / 2, kHidden);
  lpt_tensor *DW1 = wrap(dw1, kHidden, kInputs, 0), *DW2 = wrap(dw2, kOutputs, kHidden / 2, 0);

  lpt_recipe *recipe = NULL;
  need(lpt_recipe_create(context, "fp8_current", &recipe));
  lpt_linear *layers[2] = {layer(recipe, kInputs, kHidden), layer(recipe, kHidden / 2, kOutputs)};
  lpt_tensor *saved1 = bytes_for(layers[0]), *saved2 = bytes_for(layers[1]);
  lpt_optimizer *optimizer = NULL;
  need(lpt_optimizer_create(context, NULL, &optimizer));
  for (int i = 0; i < 2; i++) {
    lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
    int64_t index = 0;
    parameter.elements = i == 0 ? kHidden * kInputs : kOutputs * kHidden / 2;
    parameter.first_moment = parameter.second_moment = LPT_FORMAT_E4M3FN_TENSOR;
    parameter.weight_decay = 0.1;
    need(lpt_optimizer_add(context, optimizer, NULL, &parameter, &index));
  }

  for (int step = 0; step < kSteps; step++) {
    need(lpt_linear_prepare(context, layers[0], W1, NULL));
    need(lpt_linear_prepare(context, layers[1], W2, NULL));
    need(lpt_linear_forward(context, layers[0], X, NULL, saved1, H));
    need(lpt_swiglu_forward(context, gate, up, NULL, A, NULL));
    need(lpt_linear_forward(context, layers[1], A, NULL, saved2, Y));
    double loss = 0.0;
    for (int i = 0; i < kRows * kOutputs; i++) {
      const double error = (double)y[i] - (double)target[i];
      loss += error * error;
      dy[i] = (float)(error * 0.0625);
    }
    printf("%.17g\n", loss / 32.0);
    need(lpt_linear_backward(context, layers[1], saved2, DY, NULL, DA, DW2, NULL));
    need(lpt_swiglu_backward(context, gate, up, DA, NULL, dgate, dup));
    need(lpt_linear_backward(context, layers[0], saved1, DH, NULL, NULL, DW1, NULL));
    need(lpt_linear_update_scalers(context, layers, 2));
    const int64_t indices[2] = {0, 1};
    const lpt_tensor *gradients[2] = {DW1, DW2};
    lpt_tensor *parameters[2] = {W1, W2};
    lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
    options.learning_rate = 0.01;
    need(lpt_optimizer_step(context, optimizer, indices, 2, gradients, &options, parameters));
  }
  return 0;
}
