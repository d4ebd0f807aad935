#include "linear.hpp"

#include "ranks.hpp"

namespace lm {

namespace {

LinearHandle make_linear(lpt_context *context, const lpt_recipe *recipe, const Parameter &weight) {
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  shape.input_columns = weight.columns;
  shape.output_columns = weight.rows;
  lpt_linear *linear = nullptr;
  check(context, lpt_linear_create(context, recipe, &shape, &linear));
  return LinearHandle(linear);
}

}  // namespace

Linear::Linear(lpt_context *context, const lpt_recipe *recipe, Parameter *weight, const TensorRanks *ranks,
               lpt_linear_parallel parallel)
    : handle_(make_linear(context, recipe, *weight)), weight_(weight), ranks_(ranks), parallel_(parallel) {}

lpt_linear_options Linear::options_for(const Pass &pass) const {
  lpt_linear_options options = LPT_LINEAR_OPTIONS_INIT;
  options.random.seed = pass.seed;
  options.random.stream = weight_->index;
  options.random.step = pass.step;
  options.first_row = pass.first_row;
  options.is_accumulated = pass.is_accumulated ? 1 : 0;
  if (ranks_ != nullptr) {
    options.comm = ranks_->comm();
    options.plan = ranks_->plan();
    options.parallel = parallel_;
  }
  return options;
}

void Linear::set_recipe(lpt_context *context, const lpt_recipe *recipe) {
  check(context, lpt_linear_set_recipe(context, handle_.get(), recipe));
}

void Linear::prepare(lpt_context *context, uint64_t seed, uint32_t step) {
  const lpt_linear_options options = options_for({.seed = seed, .step = step});
  check(context, lpt_linear_prepare(context, handle_.get(), weight_->value.get(), &options));
}

Tensor Linear::make_saved(lpt_context *context, int64_t rows) const {
  size_t bytes = 0;
  check(context, lpt_linear_saved_size(context, handle_.get(), rows, &bytes));
  return make_bytes(context, bytes);
}

void Linear::forward(lpt_context *context, const lpt_tensor *input, const lpt_tensor *smoothing, const Pass &pass,
                     lpt_tensor *saved, lpt_tensor *output) {
  lpt_linear_options options = options_for(pass);
  options.input_smoothing = smoothing;
  check(context,
        lpt_linear_forward(context, handle_.get(), input, &options, pass.is_training ? saved : nullptr, output));
}

void Linear::backward(lpt_context *context, const lpt_tensor *saved, const lpt_tensor *output_gradient,
                      const Pass &pass, lpt_tensor *input_gradient) {
  const lpt_linear_options options = options_for(pass);
  check(context, lpt_linear_backward(context, handle_.get(), saved, output_gradient, &options, input_gradient,
                                     weight_->gradient.get(), nullptr));
  pass.tell(context, *weight_);
}

void Pass::tell(lpt_context *context, const Parameter &parameter) const {
  if (ranks != nullptr) {
    ranks->ready(context, parameter);
  }
}

size_t Linear::cast_bytes(lpt_context *context) const {
  size_t bytes = 0;
  check(context, lpt_linear_cast_size(context, handle_.get(), &bytes));
  return bytes;
}

}  // namespace lm
