#include "step_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <vector>

#include "handles.hpp"

namespace tool {
namespace {

using Recipe = std::unique_ptr<lpt_recipe, Destroy<lpt_recipe_destroy>>;
using Linear = std::unique_ptr<lpt_linear, Destroy<lpt_linear_destroy>>;
using Optimizer = std::unique_ptr<lpt_optimizer, Destroy<lpt_optimizer_destroy>>;
using Work = std::function<void()>;

constexpr int kMostCopies = 4;
constexpr double kCopiesBytes = 64 << 20;

int copies_of(double bytes) {
  return static_cast<int>(std::clamp(kCopiesBytes / std::max(bytes, 1.0), 1.0, double{kMostCopies}));
}

Tensor make_tensor(lpt_context *context, lpt_format format, const std::vector<int64_t> &extents) {
  lpt_tensor *tensor = nullptr;
  check(context, lpt_tensor_create(context, format, static_cast<int32_t>(extents.size()), extents.data(), &tensor));
  return Tensor(tensor);
}

// Returns a tensor of numbers with deviation 1.
Tensor make_numbers(lpt_context *context, lpt_format format, const std::vector<int64_t> &extents) {
  int64_t count = 1;
  for (const int64_t extent : extents) count *= extent;
  std::vector<float> numbers(static_cast<size_t>(count));
  std::minstd_rand random(1);
  std::normal_distribution<float> normal;
  std::array<float, 4096> some{};
  for (float &number : some) number = normal(random);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = some[(i * 4099 + i / 4096) % some.size()];
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  description.format = LPT_FORMAT_F32;
  description.data = numbers.data();
  description.rank = static_cast<int32_t>(extents.size());
  description.extents = extents.data();
  lpt_tensor *source = nullptr;
  check(context, lpt_tensor_wrap(context, &description, &source));
  const Tensor owner(source);
  Tensor tensor = make_tensor(context, format, extents);
  check(context, lpt_quantize(context, source, nullptr, tensor.get(), nullptr));
  return tensor;
}

// Linear layers.

OperationTime counts_of(const LinearShape &shape) {
  const auto rows = static_cast<double>(shape.rows), inputs = static_cast<double>(shape.inputs),
             outputs = static_cast<double>(shape.outputs);
  return {.call = 1,
          .flops = 6 * rows * inputs * outputs,
          .elements = rows * inputs,
          .outputs = rows * outputs,
          .weights = inputs * outputs};
}

// One layer with its data.
class LayerWork {
 public:
  LayerWork(lpt_context *context, const std::string &recipe, const LinearShape &shape) : context_(context) {
    lpt_recipe *made = nullptr;
    check(context, lpt_recipe_create(context, recipe.c_str(), &made));
    const Recipe owner(made);
    lpt_linear_shape columns = LPT_LINEAR_SHAPE_INIT;
    columns.input_columns = shape.inputs;
    columns.output_columns = shape.outputs;
    lpt_linear *linear = nullptr;
    check(context, lpt_linear_create(context, made, &columns, &linear));
    linear_.reset(linear);
    size_t bytes = 0;
    check(context, lpt_linear_saved_size(context, linear, shape.rows, &bytes));
    saved_ = make_tensor(context, LPT_FORMAT_UINT8, {static_cast<int64_t>(bytes)});
    weight_ = make_numbers(context, LPT_FORMAT_F32, {shape.outputs, shape.inputs});
    // The stream between blocks is f32: the output of layers that do not widen it.
    const lpt_format inside = find_format(high_format(recipe));
    const lpt_format outside = shape.outputs > shape.inputs ? inside : lpt_format{LPT_FORMAT_F32};
    input_ = make_numbers(context, inside, {shape.rows, shape.inputs});
    output_ = make_numbers(context, outside, {shape.rows, shape.outputs});
    input_gradient_ = make_matrix(context, inside, shape.rows, shape.inputs);
    output_gradient_ = make_numbers(context, outside, {shape.rows, shape.outputs});
    weight_gradient_ = make_matrix(context, LPT_FORMAT_F32, shape.outputs, shape.inputs);
    prepare();
  }

  void prepare() const { check(context_, lpt_linear_prepare(context_, linear_.get(), weight_.get(), nullptr)); }

  void pass() const {
    check(context_, lpt_linear_forward(context_, linear_.get(), input_.get(), nullptr, saved_.get(), output_.get()));
    check(context_, lpt_linear_backward(context_, linear_.get(), saved_.get(), output_gradient_.get(), nullptr,
                                        input_gradient_.get(), weight_gradient_.get(), nullptr));
  }

 private:
  lpt_context *context_;
  Linear linear_;
  Tensor saved_, weight_, input_, output_, input_gradient_, output_gradient_, weight_gradient_;
};

StepWork layer_work(const std::string &recipe, const LinearShape &shape, bool is_prepare) {
  const OperationTime counts = counts_of(shape), weights = {.call = 1, .weights = counts.weights};
  const int copies = copies_of(8 * (counts.elements + counts.outputs + counts.weights));
  const MakeWork make = [=](lpt_context *context) -> Work {
    auto layers = std::make_shared<std::vector<LayerWork>>();
    for (int i = 0; i < copies; ++i) layers->emplace_back(context, recipe, shape);
    return [layers, is_prepare] {
      for (const LayerWork &layer : *layers) is_prepare ? layer.prepare() : layer.pass();
    };
  };
  return {is_prepare ? weights : counts, copies, make};
}

// Attention.

OperationTime counts_of(const AttentionShape &shape) {
  const auto sequences = static_cast<double>(shape.batch * shape.heads),
             positions = static_cast<double>(shape.positions), width = static_cast<double>(shape.width);
  return {.call = 1,
          .flops = 14 * width * sequences * positions * (positions + 1) / 2,
          .elements = 3 * width * sequences * positions};
}

// Returns a view of a matrix: tensors of a model are parts of its rows.
Tensor view_of(lpt_context *context, const Tensor &matrix, int64_t first_column, const std::vector<int64_t> &extents,
               const std::vector<int64_t> &strides) {
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  check(context, lpt_tensor_describe(context, matrix.get(), &description));
  description.data =
      static_cast<std::byte *>(description.data) + first_column * describe(description.format).element_bits / 8;
  description.rank = static_cast<int32_t>(extents.size());
  description.extents = extents.data();
  description.strides = strides.data();
  lpt_tensor *view = nullptr;
  check(context, lpt_tensor_wrap(context, &description, &view));
  return Tensor(view);
}

struct AttentionData {
  AttentionData(lpt_context *context, lpt_format format, const AttentionShape &shape)
      : qkv(make_numbers(context, format, {shape.batch * shape.positions, 3 * shape.heads * shape.width})),
        qkv_gradient(make_numbers(context, format, {shape.batch * shape.positions, 3 * shape.heads * shape.width})),
        attended(make_numbers(context, format, {shape.batch * shape.positions, shape.heads * shape.width})),
        attended_gradient(make_numbers(context, format, {shape.batch * shape.positions, shape.heads * shape.width})),
        log_sums(make_tensor(context, LPT_FORMAT_F32, {shape.batch, shape.heads, shape.positions})) {
    const auto heads_of = [&](const Tensor &matrix, int64_t index, int64_t count) {
      const int64_t columns = shape.heads * shape.width, stride = count * columns;
      return view_of(context, matrix, index * columns, {shape.batch, shape.heads, shape.positions, shape.width},
                     {shape.positions * stride, shape.width, stride, 1});
    };
    query = heads_of(qkv, 0, 3), key = heads_of(qkv, 1, 3), value = heads_of(qkv, 2, 3);
    query_gradient = heads_of(qkv_gradient, 0, 3), key_gradient = heads_of(qkv_gradient, 1, 3);
    value_gradient = heads_of(qkv_gradient, 2, 3);
    output = heads_of(attended, 0, 1), output_gradient = heads_of(attended_gradient, 0, 1);
  }

  Tensor qkv, qkv_gradient, attended, attended_gradient, log_sums;
  Tensor query, key, value, output, output_gradient, query_gradient, key_gradient, value_gradient;
};

void attend(lpt_context *context, const AttentionData &data) {
  lpt_attention_options options = LPT_ATTENTION_OPTIONS_INIT;
  options.is_causal = 1;
  options.log_sum_exp = data.log_sums.get();
  check(context, lpt_attention_forward(context, data.query.get(), data.key.get(), data.value.get(), &options,
                                       data.output.get()));
  options.output = data.output.get();
  check(context, lpt_attention_backward(context, data.query.get(), data.key.get(), data.value.get(),
                                        data.output_gradient.get(), &options, data.query_gradient.get(),
                                        data.key_gradient.get(), data.value_gradient.get()));
}

// Operations that read and write each element a few times. Shapes are rows × columns.

constexpr int64_t kClasses = 256, kHeadWidth = 64;

OperationTime counts_of(const ElementwiseShape &shape) {
  return {.call = 1, .elements = static_cast<double>(shape.rows * shape.columns)};
}

// Both directions of one operation, on tensors of a shape. The stream is f32, the output of the norm and its gradient are not.
Work rmsnorm_work(lpt_context *context, lpt_format format, const ElementwiseShape &shape) {
  const auto vector = [&](int64_t size) { return make_numbers(context, LPT_FORMAT_F32, {size}); };
  auto data = std::make_shared<std::vector<Tensor>>();
  for (int i = 0; i < 6; ++i) {
    data->push_back(
        make_numbers(context, i == 3 || i == 4 ? format : lpt_format{LPT_FORMAT_F32}, {shape.rows, shape.columns}));
  }
  for (const int64_t size : {shape.columns, shape.columns, shape.rows}) data->push_back(vector(size));
  return [context, data] {
    const auto at = [&](size_t i) { return (*data)[i].get(); };
    check(context, lpt_rmsnorm_forward_sum(context, at(0), at(1), at(6), nullptr, at(2), at(3), at(8)));
    lpt_rmsnorm_options options = LPT_RMSNORM_OPTIONS_INIT;
    options.residual_gradient = at(5);
    check(context, lpt_rmsnorm_backward(context, at(2), at(6), at(8), at(4), &options, at(5), at(7)));
  };
}

Work swiglu_work(lpt_context *context, lpt_format format, const ElementwiseShape &shape) {
  auto data = std::make_shared<std::vector<Tensor>>();
  for (const int64_t count : {2, 2, 1, 1}) {
    data->push_back(make_numbers(context, format, {shape.rows, count * shape.columns}));
  }
  for (const size_t i : {0, 0, 1, 1}) {
    const auto half = static_cast<int64_t>(data->size() % 2);
    data->push_back(
        view_of(context, (*data)[i], half * shape.columns, {shape.rows, shape.columns}, {2 * shape.columns, 1}));
  }
  return [context, data] {
    const auto at = [&](size_t i) { return (*data)[i].get(); };
    check(context, lpt_swiglu_forward(context, at(4), at(5), nullptr, at(2), nullptr));
    check(context, lpt_swiglu_backward(context, at(4), at(5), at(3), nullptr, at(6), at(7)));
  };
}

Work rotary_work(lpt_context *context, lpt_format format, const ElementwiseShape &shape) {
  const int64_t heads = std::max<int64_t>(1, shape.columns / kHeadWidth);
  const int64_t width = shape.columns / heads / 2 * 2;
  auto data = std::make_shared<std::vector<Tensor>>();
  data->push_back(make_numbers(context, format, {shape.rows / 128, heads, 128, width}));
  data->push_back(make_tensor(context, LPT_FORMAT_F64, {width / 2}));
  check(context, lpt_rotary_frequencies(context, nullptr, (*data)[1].get()));
  return [context, data] {
    for (const int32_t is_inverse : {0, 1}) {
      lpt_rotary_options options = LPT_ROTARY_OPTIONS_INIT;
      options.is_inverse = is_inverse;
      lpt_tensor *const heads_of = (*data)[0].get();
      check(context, lpt_rotary(context, heads_of, (*data)[1].get(), &options, heads_of));
    }
  };
}

// Returns `rows` indices below `classes`.
Tensor make_indices(lpt_context *context, int64_t rows, int64_t classes) {
  std::vector<int32_t> values(static_cast<size_t>(rows));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i * 37 % static_cast<size_t>(classes));
  Tensor tensor = make_tensor(context, LPT_FORMAT_INT32, {rows});
  const auto part = part_of(context, tensor.get(), LPT_TENSOR_PART_PAYLOAD);
  std::copy_n(reinterpret_cast<const std::byte *>(values.data()), part->bytes, part->data);
  return tensor;
}

Work embedding_work(lpt_context *context, lpt_format, const ElementwiseShape &shape) {
  auto data = std::make_shared<std::vector<Tensor>>();
  data->push_back(make_indices(context, shape.rows, kClasses));
  for (const int64_t rows : {kClasses, shape.rows, kClasses}) {
    data->push_back(make_numbers(context, LPT_FORMAT_F32, {rows, shape.columns}));
  }
  return [context, data] {
    const auto at = [&](size_t i) { return (*data)[i].get(); };
    check(context, lpt_embedding_forward(context, at(1), at(0), nullptr, at(2)));
    check(context, lpt_embedding_backward(context, at(0), at(2), nullptr, at(3)));
  };
}

Work cross_entropy_work(lpt_context *context, lpt_format, const ElementwiseShape &shape) {
  auto data = std::make_shared<std::vector<Tensor>>();
  data->push_back(make_indices(context, shape.rows, shape.columns));
  data->push_back(make_numbers(context, LPT_FORMAT_F32, {shape.rows, shape.columns}));
  data->push_back(make_tensor(context, LPT_FORMAT_F64, {1}));
  data->push_back(make_tensor(context, LPT_FORMAT_F64, {shape.rows}));
  data->push_back(make_matrix(context, LPT_FORMAT_F32, shape.rows, shape.columns));
  return [context, data] {
    const auto at = [&](size_t i) { return (*data)[i].get(); };
    check(context, lpt_cross_entropy_forward(context, at(1), at(0), nullptr, at(2), at(3)));
    check(context, lpt_cross_entropy_backward(context, at(1), at(0), at(3), nullptr, nullptr, at(4)));
  };
}

using MakeMatrixWork = Work (*)(lpt_context *context, lpt_format format, const ElementwiseShape &shape);

MakeMatrixWork maker_of(const std::string &name) {
  if (name == kRmsnorm) return rmsnorm_work;
  if (name == kSwiglu) return swiglu_work;
  if (name == kRotary) return rotary_work;
  return name == kEmbedding ? embedding_work : cross_entropy_work;
}

// The optimizer.

Work step_work(lpt_context *context, lpt_format first, lpt_format second, int64_t elements) {
  lpt_optimizer_options options = LPT_OPTIMIZER_OPTIONS_INIT;
  lpt_optimizer *made = nullptr;
  check(context, lpt_optimizer_create(context, &options, &made));
  const auto optimizer = std::make_shared<Optimizer>(made);
  lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
  parameter.elements = elements;
  parameter.first_moment = first;
  parameter.second_moment = second;
  int64_t index = 0;
  check(context, lpt_optimizer_add(context, made, nullptr, &parameter, &index));
  auto data = std::make_shared<std::vector<Tensor>>();
  for (int i = 0; i < 2; ++i) data->push_back(make_numbers(context, LPT_FORMAT_F32, {elements}));
  return [context, optimizer, data] {
    const lpt_tensor *const gradient = (*data)[0].get();
    lpt_tensor *const value = (*data)[1].get();
    lpt_gradients_info norm = LPT_GRADIENTS_INFO_INIT;
    check(context, lpt_gradients_measure(context, &gradient, 1, &norm));
    lpt_optimizer_step_options step = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
    const int64_t first_index = 0;
    check(context, lpt_optimizer_step(context, optimizer->get(), &first_index, 1, &gradient, &step, &value));
  };
}

}  // namespace

StepWork linear_work(const std::string &recipe, const LinearShape &shape) { return layer_work(recipe, shape, false); }

StepWork prepare_work(const std::string &recipe, const LinearShape &shape) { return layer_work(recipe, shape, true); }

StepWork attention_work(lpt_format format, const AttentionShape &shape) {
  const OperationTime counts = counts_of(shape);
  const int copies = copies_of(12 * counts.elements);
  const MakeWork make = [=](lpt_context *context) -> Work {
    auto layers = std::make_shared<std::vector<AttentionData>>();
    for (int i = 0; i < copies; ++i) layers->emplace_back(context, format, shape);
    return [context, layers] {
      for (const AttentionData &data : *layers) attend(context, data);
    };
  };
  return {counts, copies, make};
}

StepWork elementwise_work(const std::string &name, lpt_format format, const ElementwiseShape &shape) {
  const OperationTime counts = counts_of(shape);
  const int copies = copies_of(24 * counts.elements);
  const MakeMatrixWork maker = maker_of(name);
  const MakeWork make = [=](lpt_context *context) -> Work {
    auto works = std::make_shared<std::vector<Work>>();
    for (int i = 0; i < copies; ++i) works->push_back(maker(context, format, shape));
    return [works] {
      for (const Work &work : *works) work();
    };
  };
  return {counts, copies, make};
}

StepWork optimizer_work(lpt_format first_moment, lpt_format second_moment, int64_t elements) {
  const MakeWork make = [=](lpt_context *context) { return step_work(context, first_moment, second_moment, elements); };
  return {{.call = 1, .elements = static_cast<double>(elements)}, 1, make};
}

}  // namespace tool
