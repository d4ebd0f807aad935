// scenario.c in C++ with lpt.hpp.
#include <cinttypes>
#include <cstdio>
#include <numeric>
#include <stdexcept>

#include "bindings/cpp/lpt.hpp"

namespace {

constexpr std::int64_t kRows = 4, kColumns = 32, kOutputs = 8;

void print_bytes(const char *name, std::span<const std::byte> bytes) {
  std::uint64_t digest = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) digest = (digest ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  std::printf("%s %016" PRIx64 "\n", name, digest);
}

void print_numbers(const char *name, std::span<const float> numbers) { print_bytes(name, std::as_bytes(numbers)); }

void print_part(const char *name, const lpt::Context &context, const lpt::Tensor &tensor, lpt_tensor_part which) {
  const lpt::Tensor part = lpt::tensor_part(context, tensor, which);
  print_bytes(name, lpt::tensor_bytes(context, part));
}

std::vector<float> filled(std::int64_t count, float step) {
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) numbers[static_cast<std::size_t>(i)] = static_cast<float>(i * 7 % 13 - 6) * step;
  return numbers;
}

lpt::Tensor wrap(const lpt::Context &context, std::vector<float> &numbers, std::int64_t rows, std::int64_t columns) {
  return lpt::matrix_wrap(context, std::span(numbers), rows, columns);
}

void quantize_both(const lpt::Context &context) {
  auto numbers = filled(kRows * kColumns, 0.25f), restored = numbers;
  const auto source = wrap(context, numbers, kRows, kColumns);
  auto target = wrap(context, restored, kRows, kColumns);
  auto nvfp4 = lpt::tensor_create(context, LPT_FORMAT_NVFP4, kRows, kColumns);
  auto fp8 = lpt::tensor_create(context, lpt::format_from_name("e4m3fn_row"), kRows, kColumns);
  lpt::quantize(context, source, nvfp4);
  lpt::dequantize(context, nvfp4, target);
  print_part("nvfp4.payload", context, nvfp4, LPT_TENSOR_PART_PAYLOAD);
  print_part("nvfp4.block_scales", context, nvfp4, LPT_TENSOR_PART_BLOCK_SCALES);
  print_part("nvfp4.tensor_scale", context, nvfp4, LPT_TENSOR_PART_TENSOR_SCALE);
  print_numbers("nvfp4.numbers", restored);
  lpt::quantize(context, source, fp8);
  lpt::dequantize(context, fp8, target);
  print_part("e4m3fn.payload", context, fp8, LPT_TENSOR_PART_PAYLOAD);
  print_numbers("e4m3fn.numbers", restored);
  lpt_quantize_options stochastic = LPT_QUANTIZE_OPTIONS_INIT;
  stochastic.rounding = LPT_ROUNDING_STOCHASTIC;
  stochastic.random.seed = 7;
  lpt::quantize(context, source, fp8, &stochastic);
  print_part("e4m3fn.stochastic", context, fp8, LPT_TENSOR_PART_PAYLOAD);
}

void multiply(const lpt::Context &context) {
  auto a_numbers = filled(kRows * kColumns, 1), b_numbers = filled(kOutputs * kColumns, 1);
  std::vector<float> c_numbers(kRows * kOutputs);
  const auto a = wrap(context, a_numbers, kRows, kColumns), b = wrap(context, b_numbers, kOutputs, kColumns);
  auto c = wrap(context, c_numbers, kRows, kOutputs);
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  lpt::gemm(context, a, b, c, &options);
  print_numbers("gemm.f32", c_numbers);
  auto fp8 = lpt::tensor_create(context, LPT_FORMAT_E4M3FN, kOutputs, kColumns);
  lpt::quantize(context, b, fp8);
  const auto state = lpt::weights_state_save(context, lpt::weights_pack(context, fp8));
  print_bytes("weights.state", state);
  options.alpha = 0.5;
  lpt::gemm(context, a, lpt::weights_state_load(context, state), c, &options);
  print_numbers("gemm.loaded", c_numbers);
  try {
    lpt::gemm(context, a, b, c);
  } catch (const lpt::Error &error) {
    std::printf("gemm.error %s: %s\n", lpt_status_string(error.status()), error.what());
  }
}

void train_layer(const lpt::Context &context) {
  auto x_numbers = filled(kRows * kColumns, 1), w_numbers = filled(kOutputs * kColumns, 1), dw_numbers = w_numbers;
  std::vector<float> y_numbers(kRows * kOutputs);
  const auto x = wrap(context, x_numbers, kRows, kColumns), w = wrap(context, w_numbers, kOutputs, kColumns);
  auto y = wrap(context, y_numbers, kRows, kOutputs), dw = wrap(context, dw_numbers, kOutputs, kColumns);
  auto linear = lpt::linear_create(context, lpt::recipe_create(context, "mxfp8"), kColumns, kOutputs);
  lpt::linear_prepare(context, linear, w);
  auto saved = lpt::linear_saved_create(context, linear, kRows);
  lpt::linear_forward(context, linear, x, &saved, y);
  print_numbers("linear.output", y_numbers);
  const auto gradient = filled(kRows * kOutputs, 1);
  std::copy(gradient.begin(), gradient.end(), y_numbers.begin());
  lpt::linear_backward(context, linear, saved, y, nullptr, &dw);
  print_numbers("linear.weight_gradient", dw_numbers);
}

lpt::Optimizer adamw(const lpt::Context &context) {
  auto optimizer = lpt::optimizer_create(context);
  lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
  parameter.elements = kRows * kColumns;
  parameter.first_moment = parameter.second_moment = LPT_FORMAT_E4M3FN_1X128;
  parameter.weight_decay = 0.125;
  lpt::optimizer_add(context, optimizer, parameter);
  return optimizer;
}

void optimize(const lpt::Context &context) {
  auto numbers = filled(kRows * kColumns, 0.25f), gradient_numbers = filled(kRows * kColumns, 1);
  auto parameter = wrap(context, numbers, kRows, kColumns);
  const auto gradient = wrap(context, gradient_numbers, kRows, kColumns);
  auto first = adamw(context), second = adamw(context);
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.learning_rate = 0.5;
  lpt::optimizer_step(context, first, 0, gradient, parameter, &options);
  print_numbers("adamw.parameter", numbers);
  auto state = lpt::optimizer_state_save(context, first, 0);
  print_bytes("adamw.state", state);
  lpt::optimizer_state_load(context, second, 0, state);
  lpt::optimizer_step(context, second, 0, gradient, parameter, &options);
  print_numbers("adamw.loaded", numbers);
  state[state.size() / 2] ^= std::byte{1};
  try {
    lpt::optimizer_state_load(context, second, 0, state);
  } catch (const lpt::Error &error) {
    std::printf("adamw.damaged %s\n", lpt_status_string(error.status()));
  }
}

void mask(const lpt::Context &context) {
  auto numbers = filled(kRows * kColumns, 0.25f);
  auto chosen = lpt::tensor_create(context, LPT_FORMAT_UINT8, kRows, kColumns);
  const auto counted = lpt::sparse_mask_select(context, wrap(context, numbers, kRows, kColumns), chosen);
  print_part("mask.2_4", context, chosen, LPT_TENSOR_PART_PAYLOAD);
  std::printf("mask.counts %" PRId64 " %" PRId64 "\n", counted.kept_count,
              lpt::sparse_mask_check(context, chosen, 2, 4, LPT_SPARSE_DIRECTION_ROW));
}

void reduce(const lpt::Context &context) {
  auto numbers = filled(kRows * kColumns, 1);
  auto tensor = wrap(context, numbers, kRows, kColumns);
  auto comm = lpt::comm_create_local(context, lpt::comm_group_create(1), 0);
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.factor = 0.5;
  auto future = lpt::all_reduce_start(context, comm, tensor, tensor, &options);
  lpt::future_wait(context, future);
  print_numbers("reduce.numbers", numbers);
}

void outlive() {
  auto context = std::make_optional<lpt::Context>();
  auto part = lpt::tensor_part(*context, lpt::tensor_create(*context, LPT_FORMAT_F32, kRows, kColumns),
                               LPT_TENSOR_PART_PAYLOAD);
  const auto bytes = lpt::tensor_bytes(*context, part);
  context.reset();
  const auto numbers = filled(kRows * kColumns, 0.25f);
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  print_bytes("part.alone", bytes);
}

}  // namespace

int main() try {
  const lpt::Context context;
  std::printf("abi %" PRId32 "\n", lpt_abi_level());
  quantize_both(context);
  multiply(context);
  train_layer(context);
  optimize(context);
  mask(context);
  reduce(context);
  outlive();
} catch (const std::exception &error) {
  std::fprintf(stderr, "scenario: %s\n", error.what());
  return 1;
}
