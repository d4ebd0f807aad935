/* The scenario of every language. Each program must print the lines that this C program prints. A line has a name, and the
 * FNV-1a digest of bytes, or text. All values are small and exact, so that every kernel gives the same bits. */
#include <inttypes.h>
#include <lpt.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRows = 4, kColumns = 32, kOutputs = 8, kElements = kRows * kColumns };

static lpt_context *context;

static void must(lpt_status status) {
  if (status == LPT_OK) return;
  fprintf(stderr, "scenario: %s: %s\n", lpt_status_string(status), lpt_context_error(context));
  exit(1);
}

static void print_bytes(const char *name, const void *bytes, size_t count) {
  uint64_t digest = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < count; ++i) digest = (digest ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
  printf("%s %016" PRIx64 "\n", name, digest);
}

/* Multiples of a quarter from -1.5 to 1.5; times 4, integers from -6 to 6. */
static void fill(float *values, int count, float step) {
  for (int i = 0; i < count; ++i) values[i] = (float)(i * 7 % 13 - 6) * step;
}

static lpt_tensor *wrap(float *values, int64_t rows, int64_t columns) {
  lpt_tensor *tensor = NULL;
  must(lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, values, rows, columns, 0, &tensor));
  return tensor;
}

static lpt_tensor *create(lpt_format format, int64_t rows, int64_t columns) {
  const int64_t extents[2] = {rows, columns};
  lpt_tensor *tensor = NULL;
  must(lpt_tensor_create(context, format, 2, extents, &tensor));
  return tensor;
}

static void print_part(const char *name, const lpt_tensor *tensor, lpt_tensor_part which) {
  lpt_tensor *part = NULL;
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  size_t bytes = 0;
  must(lpt_tensor_view_part(context, tensor, which, &part));
  must(lpt_tensor_describe(context, part, &description));
  must(lpt_tensor_size(context, part, &bytes));
  print_bytes(name, description.data, bytes);
  lpt_tensor_destroy(part);
}

static void quantize_both(void) {
  float values[kElements], restored[kElements];
  fill(values, kElements, 0.25f);
  lpt_tensor *source = wrap(values, kRows, kColumns), *target = wrap(restored, kRows, kColumns);
  lpt_tensor *nvfp4 = create(LPT_FORMAT_NVFP4, kRows, kColumns), *fp8 = create(LPT_FORMAT_E4M3FN_ROW, kRows, kColumns);
  must(lpt_quantize(context, source, NULL, nvfp4, NULL));
  must(lpt_dequantize(context, nvfp4, NULL, target));
  print_part("nvfp4.payload", nvfp4, LPT_TENSOR_PART_PAYLOAD);
  print_part("nvfp4.block_scales", nvfp4, LPT_TENSOR_PART_BLOCK_SCALES);
  print_part("nvfp4.tensor_scale", nvfp4, LPT_TENSOR_PART_TENSOR_SCALE);
  print_bytes("nvfp4.numbers", restored, sizeof restored);
  must(lpt_quantize(context, source, NULL, fp8, NULL));
  must(lpt_dequantize(context, fp8, NULL, target));
  print_part("e4m3fn.payload", fp8, LPT_TENSOR_PART_PAYLOAD);
  print_bytes("e4m3fn.numbers", restored, sizeof restored);
  lpt_quantize_options stochastic = LPT_QUANTIZE_OPTIONS_INIT;
  stochastic.rounding = LPT_ROUNDING_STOCHASTIC;
  stochastic.random.seed = 7;
  must(lpt_quantize(context, source, &stochastic, fp8, NULL));
  print_part("e4m3fn.stochastic", fp8, LPT_TENSOR_PART_PAYLOAD);
  lpt_tensor_destroy(source);
  lpt_tensor_destroy(nvfp4);
  lpt_tensor_destroy(target);
  lpt_tensor_destroy(fp8);
}

static void multiply(void) {
  float a_values[kElements], b_values[kOutputs * kColumns], c_values[kRows * kOutputs];
  fill(a_values, kElements, 1.0f);
  fill(b_values, kOutputs * kColumns, 1.0f);
  lpt_tensor *a = wrap(a_values, kRows, kColumns), *b = wrap(b_values, kOutputs, kColumns);
  lpt_tensor *c = wrap(c_values, kRows, kOutputs), *packed = NULL, *loaded = NULL;
  lpt_tensor *fp8 = create(LPT_FORMAT_E4M3FN, kOutputs, kColumns);
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  must(lpt_gemm(context, a, b, &options, c));
  print_bytes("gemm.f32", c_values, sizeof c_values);
  must(lpt_quantize(context, b, NULL, fp8, NULL));
  must(lpt_weights_pack(context, fp8, NULL, &packed));
  size_t bytes = 0;
  must(lpt_weights_state_size(context, packed, &bytes));
  void *state = malloc(bytes);
  must(state ? lpt_weights_state_save(context, packed, state, bytes) : LPT_OUT_OF_MEMORY);
  print_bytes("weights.state", state, bytes);
  must(lpt_weights_state_load(context, state, bytes, &loaded));
  options.alpha = 0.5;
  must(lpt_gemm(context, a, loaded, &options, c));
  print_bytes("gemm.loaded", c_values, sizeof c_values);
  printf("gemm.error %s: ", lpt_status_string(lpt_gemm(context, a, b, NULL, c)));
  printf("%s\n", lpt_context_error(context));
  free(state);
  lpt_tensor_destroy(packed);
  lpt_tensor_destroy(fp8);
  lpt_tensor_destroy(loaded);
  lpt_tensor_destroy(c);
  lpt_tensor_destroy(b);
  lpt_tensor_destroy(a);
}

static void train_layer(void) {
  float x_values[kElements], w_values[kOutputs * kColumns], y_values[kRows * kOutputs], dw_values[kOutputs * kColumns];
  fill(x_values, kElements, 1.0f);
  fill(w_values, kOutputs * kColumns, 1.0f);
  lpt_tensor *x = wrap(x_values, kRows, kColumns), *w = wrap(w_values, kOutputs, kColumns);
  lpt_tensor *y = wrap(y_values, kRows, kOutputs), *dw = wrap(dw_values, kOutputs, kColumns), *saved = NULL;
  lpt_recipe *recipe = NULL;
  lpt_linear *linear = NULL;
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  shape.input_columns = kColumns;
  shape.output_columns = kOutputs;
  must(lpt_recipe_create(context, "mxfp8", &recipe));
  must(lpt_linear_create(context, recipe, &shape, &linear));
  lpt_recipe_destroy(recipe);
  must(lpt_linear_prepare(context, linear, w, NULL));
  size_t bytes = 0;
  must(lpt_linear_saved_size(context, linear, kRows, &bytes));
  const int64_t extent = (int64_t)bytes;
  must(lpt_tensor_create(context, LPT_FORMAT_UINT8, 1, &extent, &saved));
  must(lpt_linear_forward(context, linear, x, NULL, saved, y));
  print_bytes("linear.output", y_values, sizeof y_values);
  fill(y_values, kRows * kOutputs, 1.0f);
  must(lpt_linear_backward(context, linear, saved, y, NULL, NULL, dw, NULL));
  print_bytes("linear.weight_gradient", dw_values, sizeof dw_values);
  lpt_tensor_destroy(saved);
  lpt_linear_destroy(linear);
  lpt_tensor_destroy(x);
  lpt_tensor_destroy(w);
  lpt_tensor_destroy(y);
  lpt_tensor_destroy(dw);
}

static lpt_optimizer *adamw(void) {
  lpt_optimizer *optimizer = NULL;
  lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
  int64_t index = -1;
  parameter.elements = kElements;
  parameter.first_moment = LPT_FORMAT_E4M3FN_1X128;
  parameter.second_moment = LPT_FORMAT_E4M3FN_1X128;
  parameter.weight_decay = 0.125;
  must(lpt_optimizer_create(context, NULL, &optimizer));
  must(lpt_optimizer_add(context, optimizer, NULL, &parameter, &index));
  return optimizer;
}

static void optimize(void) {
  float values[kElements], gradient_values[kElements];
  fill(values, kElements, 0.25f);
  fill(gradient_values, kElements, 1.0f);
  lpt_tensor *parameter = wrap(values, kRows, kColumns), *gradient = wrap(gradient_values, kRows, kColumns);
  const lpt_tensor *gradients[1] = {gradient};
  lpt_optimizer *first = adamw(), *second = adamw();
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  const int64_t index = 0;
  size_t bytes = 0;
  options.learning_rate = 0.5;
  must(lpt_optimizer_step(context, first, &index, 1, gradients, &options, &parameter));
  print_bytes("adamw.parameter", values, sizeof values);
  must(lpt_optimizer_state_size(context, first, 0, &bytes));
  void *state = malloc(bytes);
  must(state ? lpt_optimizer_state_save(context, first, 0, state, bytes) : LPT_OUT_OF_MEMORY);
  print_bytes("adamw.state", state, bytes);
  must(lpt_optimizer_state_load(context, second, 0, state, bytes));
  lpt_optimizer_destroy(first);
  must(lpt_optimizer_step(context, second, &index, 1, gradients, &options, &parameter));
  print_bytes("adamw.loaded", values, sizeof values);
  ((unsigned char *)state)[bytes / 2] ^= 1;
  printf("adamw.damaged %s\n", lpt_status_string(lpt_optimizer_state_load(context, second, 0, state, bytes)));
  free(state);
  lpt_optimizer_destroy(second);
  lpt_tensor_destroy(parameter);
  lpt_tensor_destroy(gradient);
}

static void mask(void) {
  float values[kElements];
  fill(values, kElements, 0.25f);
  lpt_tensor *source = wrap(values, kRows, kColumns), *chosen = create(LPT_FORMAT_UINT8, kRows, kColumns);
  lpt_sparse_info counted = LPT_SPARSE_INFO_INIT;
  int64_t offences = -1;
  must(lpt_sparse_mask_select(context, source, NULL, chosen, NULL, &counted));
  print_part("mask.2_4", chosen, LPT_TENSOR_PART_PAYLOAD);
  must(lpt_sparse_mask_check(context, chosen, 2, 4, LPT_SPARSE_DIRECTION_ROW, &offences));
  printf("mask.counts %" PRId64 " %" PRId64 "\n", counted.kept_count, offences);
  lpt_tensor_destroy(chosen);
  lpt_tensor_destroy(source);
}

static void reduce(void) {
  float values[kElements];
  fill(values, kElements, 1.0f);
  lpt_tensor *tensor = wrap(values, kRows, kColumns);
  lpt_comm_group *group = NULL;
  lpt_comm *comm = NULL;
  lpt_future *future = NULL;
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.factor = 0.5;
  must(lpt_comm_group_create(NULL, 1, &group));
  must(lpt_comm_create_local(context, group, 0, NULL, &comm));
  lpt_comm_group_destroy(group);
  must(lpt_all_reduce(context, comm, tensor, &options, tensor, &future));
  must(lpt_future_wait(context, future));
  print_bytes("reduce.numbers", values, sizeof values);
  lpt_future_destroy(future);
  lpt_comm_destroy(comm);
  lpt_tensor_destroy(tensor);
}

/* With any argument the reference kernels run, which define the bits. */
int main(int count, char **arguments) {
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  (void)arguments;
  if (count > 1) options.isa = LPT_ISA_REFERENCE;
  must(lpt_context_create(&options, &context));
  printf("abi %" PRId32 "\n", lpt_abi_level());
  quantize_both();
  multiply();
  train_layer();
  optimize();
  mask();
  reduce();
  /* Handles may be destroyed in any order: a tensor and its part outlive their context. */
  lpt_tensor *tensor = create(LPT_FORMAT_F32, kRows, kColumns), *part = NULL;
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  must(lpt_tensor_view_part(context, tensor, LPT_TENSOR_PART_PAYLOAD, &part));
  must(lpt_tensor_describe(context, part, &description));
  lpt_tensor_destroy(tensor);
  lpt_context_destroy(context);
  fill((float *)description.data, kElements, 0.25f);
  print_bytes("part.alone", description.data, kElements * sizeof(float));
  lpt_tensor_destroy(part);
  return 0;
}
