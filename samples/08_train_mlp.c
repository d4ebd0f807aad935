/* Trains a small MLP in low precision: y = silu(x · w1ᵀ + b1) · w2ᵀ + b2, fifty batches, AdamW. Prints the loss of each
 * batch.
 *
 *   sample_train_mlp [RECIPE [FILE]]
 *
 * RECIPE is a recipe of the library; the default is fp8_current. Moments are f32 with the recipe f32, else FP8. FILE
 * receives the initial values and the data as raw f32: w1, b1, w2, b2, then x and target of each batch. Other programs can
 * train with the same values: see bindings/python/examples/torch_parity.py. */
#include <lpt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRows = 32, kInputs = 64, kHidden = 128, kOutputs = 8, kSteps = 50 };

static lpt_context *context;

static void must(lpt_status status) {
  if (status == LPT_OK) return;
  fprintf(stderr, "%s: %s\n", lpt_status_string(status), lpt_context_error(context));
  exit(1);
}

/* Uniform in [-scale, scale). */
static void draw(float *numbers, int count, double scale) {
  static uint32_t state = 1;
  for (int i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    numbers[i] = (float)(((double)state / 2147483648.0 - 1.0) * scale);
  }
}

static lpt_tensor *wrap(float *numbers, int64_t rows, int64_t columns) {
  lpt_tensor *tensor = NULL;
  must(lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, numbers, rows, columns, 0, &tensor));
  return tensor;
}

/* A layer, its random numbers, its parameters (weight, bias) and their gradients. */
struct layer {
  lpt_linear *linear;
  lpt_random random;
  lpt_tensor *saved, *parameters[2], *gradients[2];
};

static struct layer make_layer(const lpt_recipe *recipe, uint32_t index, int inputs, int outputs, float *weight,
                               float *bias, float *weight_gradient, float *bias_gradient) {
  struct layer layer = {NULL,
                        LPT_RANDOM_INIT,
                        NULL,
                        {wrap(weight, outputs, inputs), wrap(bias, 1, outputs)},
                        {wrap(weight_gradient, outputs, inputs), wrap(bias_gradient, 1, outputs)}};
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  size_t bytes = 0;
  layer.random.seed = 1;
  layer.random.stream = index;
  shape.input_columns = inputs;
  shape.output_columns = outputs;
  must(lpt_linear_create(context, recipe, &shape, &layer.linear));
  must(lpt_linear_saved_size(context, layer.linear, kRows, &bytes));
  const int64_t extent = (int64_t)bytes;
  must(lpt_tensor_create(context, LPT_FORMAT_UINT8, 1, &extent, &layer.saved));
  draw(weight, outputs * inputs, 1.0 / sqrt(inputs));
  draw(bias, outputs, 1.0 / sqrt(inputs));
  return layer;
}

static void forward(struct layer *layer, const lpt_tensor *input, lpt_tensor *output) {
  lpt_linear_options options = LPT_LINEAR_OPTIONS_INIT;
  options.random = layer->random;
  options.bias = layer->parameters[1];
  must(lpt_linear_prepare(context, layer->linear, layer->parameters[0], &options));
  must(lpt_linear_forward(context, layer->linear, input, &options, layer->saved, output));
}

static void backward(struct layer *layer, const lpt_tensor *output_gradient, lpt_tensor *input_gradient) {
  lpt_linear_options options = LPT_LINEAR_OPTIONS_INIT;
  options.random = layer->random;
  must(lpt_linear_backward(context, layer->linear, layer->saved, output_gradient, &options, input_gradient,
                           layer->gradients[0], layer->gradients[1]));
}

static lpt_optimizer *make_optimizer(const struct layer *layers, lpt_format moments) {
  lpt_optimizer_options options = LPT_OPTIMIZER_OPTIONS_INIT;
  lpt_optimizer *optimizer = NULL;
  options.beta2 = 0.95;
  must(lpt_optimizer_create(context, &options, &optimizer));
  for (int i = 0; i < 4; ++i) {
    lpt_optimizer_parameter kind = LPT_OPTIMIZER_PARAMETER_INIT;
    size_t bytes = 0;
    int64_t index = 0;
    must(lpt_tensor_size(context, layers[i / 2].parameters[i % 2], &bytes));
    kind.elements = (int64_t)(bytes / sizeof(float));
    kind.first_moment = kind.second_moment = moments;
    kind.weight_decay = 0.01;
    must(lpt_optimizer_add(context, optimizer, NULL, &kind, &index));
  }
  return optimizer;
}

static void step(lpt_optimizer *optimizer, struct layer *layers) {
  const int64_t indices[4] = {0, 1, 2, 3};
  const lpt_tensor *gradients[4];
  lpt_tensor *parameters[4];
  lpt_linear *linears[2] = {layers[0].linear, layers[1].linear};
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.learning_rate = 3e-3;
  for (int i = 0; i < 4; ++i)
    gradients[i] = layers[i / 2].gradients[i % 2], parameters[i] = layers[i / 2].parameters[i % 2];
  must(lpt_optimizer_step(context, optimizer, indices, 4, gradients, &options, parameters));
  must(lpt_linear_update_scalers(context, linears, 2));
}

/* A batch, and the outputs of a fixed random layer for it. */
static void draw_batch(const float *teacher, float *x, float *target) {
  draw(x, kRows * kInputs, 1.0);
  for (int i = 0; i < kRows * kOutputs; ++i) {
    double sum = 0.0;
    for (int k = 0; k < kInputs; ++k)
      sum += (double)x[i / kOutputs * kInputs + k] * teacher[i % kOutputs * kInputs + k];
    target[i] = (float)tanh(sum);
  }
}

static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

int main(int count, char **arguments) {
  static float w1[kHidden * kInputs], b1[kHidden], w2[kOutputs * kHidden], b2[kOutputs], teacher[kOutputs * kInputs];
  static float dw1[kHidden * kInputs], db1[kHidden], dw2[kOutputs * kHidden], db2[kOutputs];
  static float x[kRows * kInputs], target[kRows * kOutputs], h[kRows * kHidden], s[kRows * kHidden];
  static float y[kRows * kOutputs], dy[kRows * kOutputs], ds[kRows * kHidden], dh[kRows * kHidden];
  const char *name = count > 1 ? arguments[1] : "fp8_current";
  FILE *file = count > 2 ? fopen(arguments[2], "wb") : NULL;
  lpt_recipe *recipe = NULL;
  must(lpt_context_create(NULL, &context));
  must(lpt_recipe_create(context, name, &recipe));
  struct layer layers[2] = {make_layer(recipe, 0, kInputs, kHidden, w1, b1, dw1, db1),
                            make_layer(recipe, 1, kHidden, kOutputs, w2, b2, dw2, db2)};
  lpt_optimizer *optimizer =
      make_optimizer(layers, strcmp(name, "f32") == 0 ? LPT_FORMAT_F32 : LPT_FORMAT_E4M3FN_1X128);
  lpt_tensor *X = wrap(x, kRows, kInputs), *H = wrap(h, kRows, kHidden), *S = wrap(s, kRows, kHidden);
  lpt_tensor *Y = wrap(y, kRows, kOutputs), *DY = wrap(dy, kRows, kOutputs);
  lpt_tensor *DS = wrap(ds, kRows, kHidden), *DH = wrap(dh, kRows, kHidden);
  draw(teacher, kOutputs * kInputs, 0.25);
  const float *const first[] = {w1, b1, w2, b2};
  const size_t sizes[] = {sizeof w1, sizeof b1, sizeof w2, sizeof b2};
  for (int i = 0; i < 4 && file; ++i) fwrite(first[i], 1, sizes[i], file);

  double loss = 0.0, begin = 0.0;
  for (int batch = 0; batch < kSteps; ++batch) {
    draw_batch(teacher, x, target);
    /* Recipes with stochastic rounding need different random bits in each step. */
    for (int i = 0; i < 2; ++i) layers[i].random.step = (uint32_t)batch;
    if (file) fwrite(x, 1, sizeof x, file), fwrite(target, 1, sizeof target, file);
    forward(&layers[0], X, H);
    for (int i = 0; i < kRows * kHidden; ++i) s[i] = (float)(h[i] * sigmoid(h[i]));
    forward(&layers[1], S, Y);
    loss = 0.0;
    for (int i = 0; i < kRows * kOutputs; ++i) {
      const double error = (double)y[i] - target[i];
      loss += error * error / (kRows * kOutputs);
      dy[i] = (float)(2.0 * error / (kRows * kOutputs));
    }
    printf("%.9g\n", loss);
    if (batch == 0) begin = loss;
    backward(&layers[1], DY, DS);
    for (int i = 0; i < kRows * kHidden; ++i) {
      const double share = sigmoid(h[i]);
      dh[i] = (float)(ds[i] * (share + h[i] * share * (1.0 - share)));
    }
    backward(&layers[0], DH, NULL);
    step(optimizer, layers);
  }

  lpt_tensor *const tensors[] = {X, H, S, Y, DY, DS, DH};
  for (int i = 0; i < 7; ++i) lpt_tensor_destroy(tensors[i]);
  for (int i = 0; i < 2; ++i) {
    lpt_linear_destroy(layers[i].linear);
    lpt_tensor_destroy(layers[i].saved);
    for (int k = 0; k < 2; ++k) lpt_tensor_destroy(layers[i].parameters[k]), lpt_tensor_destroy(layers[i].gradients[k]);
  }
  lpt_optimizer_destroy(optimizer);
  lpt_recipe_destroy(recipe);
  lpt_context_destroy(context);
  if (file && (ferror(file) | fclose(file)) != 0) return fprintf(stderr, "%s: cannot be written\n", arguments[2]), 1;
  return loss < 0.5 * begin ? 0 : 1;
}
