/* Trains a small classifier on an NVIDIA GPU, or on the CPU with the same calls if no GPU is present. The model has two
 * linear layers with a recipe, SwiGLU between them, and cross entropy; the optimizer is AdamW. Runs four batches ten times
 * and prints each loss.
 *
 *   sample_train_on_gpu [RECIPE]
 *
 * RECIPE is a recipe of the library; the default is fp8_current. Only batches are copied to the device, and only losses
 * back. */
#include <lpt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRows = 32, kInputs = 32, kHidden = 64, kClasses = 8, kBatches = 4, kSteps = 40 };

static lpt_context *here, *there; /* the CPU; the device of the training */

static void must(const lpt_context *context, lpt_status status) {
  if (status == LPT_OK) return;
  fprintf(stderr, "%s: %s\n", lpt_status_string(status), lpt_context_error(context));
  exit(1);
}

static void choose_device(void) {
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  lpt_device_info gpu = LPT_DEVICE_INFO_INIT;
  must(here, lpt_context_create(NULL, &here));
  must(here, lpt_device_describe(NULL, LPT_DEVICE_CUDA, 0, &gpu));
  if (gpu.is_usable) options.device = LPT_DEVICE_CUDA;
  fprintf(stderr, gpu.is_usable ? "on %s\n" : "on the CPU: %s\n", gpu.is_usable ? gpu.name : gpu.reason);
  must(there, lpt_context_create(&options, &there));
}

static lpt_tensor *make(lpt_format format, int64_t rows, int64_t columns) {
  const int64_t extents[2] = {rows, columns};
  lpt_tensor *tensor = NULL;
  must(there, lpt_tensor_create(there, format, 2, extents, &tensor));
  return tensor;
}

static lpt_tensor *view(const lpt_tensor *whole, int64_t column, int64_t columns) {
  const int64_t begins[2] = {0, column}, extents[2] = {kRows, columns};
  lpt_tensor *part = NULL;
  must(there, lpt_tensor_view(there, whole, begins, extents, &part));
  return part;
}

static void copy_to_device(const void *memory, lpt_format format, int64_t rows, int64_t columns, lpt_tensor *tensor) {
  lpt_tensor *source = NULL;
  must(here, lpt_tensor_wrap_const_matrix(here, format, memory, rows, columns, 0, &source));
  must(there, lpt_tensor_copy(there, source, tensor));
  must(there, lpt_context_synchronize(there)); /* the copy is asynchronous: `memory` must be valid until then */
  lpt_tensor_destroy(source);
}

/* Uniform in [-scale, scale). */
static void draw(float *numbers, int count, double scale) {
  static uint32_t state = 1;
  for (int i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    numbers[i] = (float)(((double)state / 2147483648.0 - 1.0) * scale);
  }
}

struct layer {
  lpt_linear *linear;
  lpt_tensor *saved, *weight, *gradient;
  lpt_linear_options options;
};

static struct layer make_layer(const lpt_recipe *recipe, lpt_optimizer *optimizer, int inputs, int outputs) {
  static float numbers[2 * kHidden * kHidden];
  struct layer layer = {NULL, NULL, make(LPT_FORMAT_F32, outputs, inputs), make(LPT_FORMAT_F32, outputs, inputs),
                        LPT_LINEAR_OPTIONS_INIT};
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  lpt_optimizer_parameter kind = LPT_OPTIMIZER_PARAMETER_INIT;
  size_t bytes = 0;
  int64_t extent = 0, index = 0;
  shape.input_columns = inputs;
  shape.output_columns = outputs;
  must(there, lpt_linear_create(there, recipe, &shape, &layer.linear));
  must(there, lpt_linear_saved_size(there, layer.linear, kRows, &bytes));
  extent = (int64_t)bytes;
  must(there, lpt_tensor_create(there, LPT_FORMAT_UINT8, 1, &extent, &layer.saved));
  draw(numbers, outputs * inputs, 1.7 / sqrt(inputs));
  copy_to_device(numbers, LPT_FORMAT_F32, outputs, inputs, layer.weight);
  kind.elements = outputs * inputs;
  kind.first_moment = kind.second_moment = LPT_FORMAT_E4M3FN_1X128;
  must(there, lpt_optimizer_add(there, optimizer, NULL, &kind, &index));
  layer.options.random.seed = 1;
  layer.options.random.stream = (uint32_t)index;
  return layer;
}

static void forward(struct layer *layer, const lpt_tensor *input, lpt_tensor *output) {
  must(there, lpt_linear_prepare(there, layer->linear, layer->weight, &layer->options));
  must(there, lpt_linear_forward(there, layer->linear, input, &layer->options, layer->saved, output));
}

static void backward(struct layer *layer, const lpt_tensor *gradient, lpt_tensor *input_gradient) {
  must(there, lpt_linear_backward(there, layer->linear, layer->saved, gradient, &layer->options, input_gradient,
                                  layer->gradient, NULL));
}

static void step(lpt_optimizer *optimizer, struct layer *layers) {
  const int64_t indices[2] = {0, 1};
  const lpt_tensor *gradients[2] = {layers[0].gradient, layers[1].gradient};
  lpt_tensor *weights[2] = {layers[0].weight, layers[1].weight};
  lpt_linear *linears[2] = {layers[0].linear, layers[1].linear};
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.learning_rate = 1e-2;
  must(there, lpt_optimizer_step(there, optimizer, indices, 2, gradients, &options, weights));
  must(there, lpt_linear_update_scalers(there, linears, 2));
}

/* A batch, and for each row the class with the largest logit of a fixed random layer. */
static void draw_batch(const float *teacher, float *x, int64_t *targets) {
  draw(x, kRows * kInputs, 1.0);
  for (int i = 0; i < kRows; ++i) {
    double best = -INFINITY;
    for (int c = 0; c < kClasses; ++c) {
      double sum = 0.0;
      for (int k = 0; k < kInputs; ++k) sum += (double)x[i * kInputs + k] * teacher[c * kInputs + k];
      if (sum > best) best = sum, targets[i] = c;
    }
  }
}

static double read_number(const lpt_tensor *tensor) {
  const int64_t one = 1;
  double number = 0.0;
  lpt_tensor *target = NULL;
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  description.format = LPT_FORMAT_F64;
  description.data = &number;
  description.rank = 1;
  description.extents = &one;
  must(here, lpt_tensor_wrap(here, &description, &target));
  must(there, lpt_tensor_copy(there, tensor, target));
  must(there, lpt_context_synchronize(there));
  lpt_tensor_destroy(target);
  return number;
}

int main(int count, char **arguments) {
  static float x[kBatches][kRows * kInputs], teacher[kClasses * kInputs];
  static int64_t targets[kBatches][kRows];
  const int64_t one = 1, rows = kRows;
  lpt_recipe *recipe = NULL;
  lpt_optimizer *optimizer = NULL;
  lpt_tensor *loss = NULL, *sums = NULL;
  choose_device();
  must(there, lpt_recipe_create(there, count > 1 ? arguments[1] : "fp8_current", &recipe));
  must(there, lpt_optimizer_create(there, NULL, &optimizer));
  struct layer layers[2] = {make_layer(recipe, optimizer, kInputs, 2 * kHidden),
                            make_layer(recipe, optimizer, kHidden, kClasses)};
  lpt_tensor *X = make(LPT_FORMAT_F32, kRows, kInputs), *Y = make(LPT_FORMAT_F32, kRows, kClasses);
  lpt_tensor *H = make(LPT_FORMAT_F32, kRows, 2 * kHidden), *S = make(LPT_FORMAT_F32, kRows, kHidden);
  lpt_tensor *DY = make(LPT_FORMAT_F32, kRows, kClasses), *DS = make(LPT_FORMAT_F32, kRows, kHidden);
  lpt_tensor *DH = make(LPT_FORMAT_F32, kRows, 2 * kHidden);
  lpt_tensor *gate = view(H, 0, kHidden), *up = view(H, kHidden, kHidden);
  lpt_tensor *gate_gradient = view(DH, 0, kHidden), *up_gradient = view(DH, kHidden, kHidden);
  must(there, lpt_tensor_create(there, LPT_FORMAT_F64, 1, &one, &loss));
  must(there, lpt_tensor_create(there, LPT_FORMAT_F64, 1, &rows, &sums));
  draw(teacher, kClasses * kInputs, 1.0);
  lpt_tensor *classes[kBatches];
  for (int batch = 0; batch < kBatches; ++batch) {
    draw_batch(teacher, x[batch], targets[batch]);
    classes[batch] = make(LPT_FORMAT_INT64, 1, kRows);
    copy_to_device(targets[batch], LPT_FORMAT_INT64, 1, kRows, classes[batch]);
  }

  double begin = 0.0, end = 0.0;
  for (int index = 0; index < kSteps; ++index) {
    const lpt_tensor *const target = classes[index % kBatches];
    copy_to_device(x[index % kBatches], LPT_FORMAT_F32, kRows, kInputs, X);
    /* Recipes with stochastic rounding need different random bits in each step. */
    for (int i = 0; i < 2; ++i) layers[i].options.random.step = (uint32_t)index;
    forward(&layers[0], X, H);
    must(there, lpt_swiglu_forward(there, gate, up, NULL, S, NULL));
    forward(&layers[1], S, Y);
    must(there, lpt_cross_entropy_forward(there, Y, target, NULL, loss, sums));
    must(there, lpt_cross_entropy_backward(there, Y, target, sums, NULL, NULL, DY));
    backward(&layers[1], DY, DS);
    must(there, lpt_swiglu_backward(there, gate, up, DS, NULL, gate_gradient, up_gradient));
    backward(&layers[0], DH, NULL);
    step(optimizer, layers);
    end = read_number(loss);
    if (index == 0) begin = end;
    printf("%.6f\n", end);
  }

  lpt_tensor *const tensors[] = {gate, up, gate_gradient, up_gradient, X, H, S, Y, DY, DS, DH, loss, sums};
  for (int i = 0; i < 13; ++i) lpt_tensor_destroy(tensors[i]);
  for (int i = 0; i < kBatches; ++i) lpt_tensor_destroy(classes[i]);
  for (int i = 0; i < 2; ++i) {
    lpt_linear_destroy(layers[i].linear);
    lpt_tensor *const own[] = {layers[i].saved, layers[i].weight, layers[i].gradient};
    for (int k = 0; k < 3; ++k) lpt_tensor_destroy(own[k]);
  }
  lpt_optimizer_destroy(optimizer);
  lpt_recipe_destroy(recipe);
  lpt_context_destroy(there);
  lpt_context_destroy(here);
  return end < 0.5 * begin ? 0 : 1;
}
