// Common parts of the tables of invalid calls: the objects that the calls use, and short helpers that make the calls.
#pragma once

#include <functional>

#include "tests/api/support.hpp"

namespace lpt::test {

constexpr uint8_t kCanary = 0xC7;

inline void fill_with_canary(lpt_context *context, const lpt_tensor *tensor) {
  for (const lpt_tensor_part part : parts_of(describe(context, tensor).format)) {
    const Tensor taken = part_of(context, tensor, part);
    const size_t bytes = plain_bytes(context, taken.get()).size();
    if (bytes > 0) std::memset(describe(context, taken.get()).data, kCanary, bytes);
  }
}

template <typename Handle>
inline Handle *canary_handle() {
  return reinterpret_cast<Handle *>(uintptr_t{0xC7C7C7C0});
}

// All objects that an invalid call may be passed, and all outputs that it must not write.
struct World {
  // `owner` runs all valid calls that create and read these objects. The invalid call uses `context`.
  Context owner = make_context(1);
  Context context = make_context(2);
  lpt_context *c = context.get();

  Tensor f32(int64_t rows, int64_t columns, uint64_t place) {
    return tensor_of(owner.get(), LPT_FORMAT_F32, rows, columns, draw_normal(place, rows * columns));
  }
  Tensor f32(int64_t count, uint64_t place) {
    Tensor vector = make_tensor(owner.get(), LPT_FORMAT_F32, {count});
    const std::vector<double> numbers = draw_normal(place, count);
    for (size_t i = 0; i < numbers.size(); ++i) {
      static_cast<float *>(describe(owner.get(), vector.get()).data)[i] = static_cast<float>(numbers[i]);
    }
    return vector;
  }
  // Creates an output tensor: filled with the canary, and compared after each call.
  Tensor output(lpt_format format, const std::vector<int64_t> &extents) {
    Tensor tensor = make_tensor(owner.get(), format, extents);
    fill_with_canary(owner.get(), tensor.get());
    watched.push_back(tensor.get());
    return tensor;
  }

  std::vector<const lpt_tensor *> watched;

  // Operands of casts.
  Tensor source = f32(4, 32, 51);
  Tensor other_source = f32(4, 33, 52);
  Tensor other_rows = f32(6, 32, 50);
  Tensor dataless = wrap(owner.get(), LPT_FORMAT_F32, nullptr, 4, 32);
  Tensor codes = tensor_of(owner.get(), LPT_FORMAT_MXFP8_E4M3, 4, 32, draw_normal(53, 128));
  Tensor bytes = output(LPT_FORMAT_UINT8, {4, 32});
  Tensor mx = output(LPT_FORMAT_MXFP8_E4M3, {4, 32});
  Tensor fp8 = output(LPT_FORMAT_E4M3FN_TENSOR, {4, 32});
  Tensor plain = output(LPT_FORMAT_E4M3FN, {4, 32});
  Tensor integers = output(LPT_FORMAT_INT8, {4, 32});
  Tensor smoothed = output(format_named("e4m3fn/column/e8m0fnu/f32"), {4, 32});
  Tensor shifted = output(LPT_FORMAT_UINT4_1X32, {4, 32});  // has zero points
  Tensor square_blocks = output(LPT_FORMAT_NVFP4_16X16, {16, 32});
  Tensor wide = output(LPT_FORMAT_F32, {4, 32});
  Tensor transposed_copy = output(LPT_FORMAT_E4M3FN, {32, 4});
  Tensor factors = vector_of(owner.get(), LPT_FORMAT_E8M0FNU, std::vector<double>(32, 1.0));
  Tensor few_factors = vector_of(owner.get(), LPT_FORMAT_E8M0FNU, std::vector<double>(31, 1.0));
  Tensor packed = make_tensor(owner.get(), LPT_FORMAT_E2M1FN, 4, 32);
  Tensor cube = make_tensor(owner.get(), LPT_FORMAT_MXFP8_E4M3, {2, 4, 32});

  // Operands of GEMMs.
  Tensor a = f32(4, 8, 54);
  Tensor b = f32(8, 6, 55);
  Tensor gemm = output(LPT_FORMAT_F32, {4, 6});
  Tensor gemm_codes = output(LPT_FORMAT_E4M3FN, {4, 6});
  Tensor bias = f32(6, 56);
  Tensor long_bias = f32(7, 57);
  Tensor double_bias = make_tensor(owner.get(), LPT_FORMAT_F64, {6});

  // Scalers and their state.
  Scaler scaler;
  std::vector<uint8_t> scaler_state;

  // Linear layers with 8 input columns and 6 output columns.
  Recipe recipe, block_recipe;
  Linear linear, raw_linear, block_linear;
  Tensor weight = f32(6, 8, 58);
  Tensor output_gradient = f32(4, 6, 59);
  Tensor input_gradient = output(LPT_FORMAT_F32, {4, 8});
  Tensor weight_gradient = output(LPT_FORMAT_F32, {6, 8});
  Tensor bf16_weight_gradient = output(LPT_FORMAT_BF16, {6, 8});
  Tensor bias_gradient = output(LPT_FORMAT_F32, {6});
  Tensor input_factors = vector_of(owner.get(), LPT_FORMAT_E8M0FNU, std::vector<double>(8, 1.0));
  Tensor saved, saved_of_5_rows, unsaved;
  std::vector<uint8_t> linear_state;

  // Operands of layers without state.
  Tensor gate = f32(4, 8, 60);
  Tensor up = f32(4, 8, 61);
  Tensor activation = output(LPT_FORMAT_F32, {4, 8});
  Tensor up_gradient = output(LPT_FORMAT_F32, {4, 8});
  Tensor written_factors = output(LPT_FORMAT_E8M0FNU, {8});
  Tensor norm_weight = f32(8, 62);
  Tensor inverse_rms = output(LPT_FORMAT_F32, {4});
  Tensor norm_weight_gradient = output(LPT_FORMAT_F32, {8});
  Tensor line = f32(8, 63);
  Tensor line_output = output(LPT_FORMAT_F32, {8});

  // An optimizer with two parameters of 32 elements, after one step.
  Optimizer optimizer;
  Tensor parameter = f32(4, 8, 64);
  Tensor other_parameter = f32(4, 8, 65);
  Tensor gradient = f32(4, 8, 66);
  Tensor f64_tensor = make_tensor(owner.get(), LPT_FORMAT_F64, 4, 8);
  std::vector<uint8_t> optimizer_state;

  // Out-parameters.
  lpt_context *out_context = canary_handle<lpt_context>();
  lpt_tensor *out_tensor = canary_handle<lpt_tensor>();
  lpt_scaler *out_scaler = canary_handle<lpt_scaler>();
  lpt_comm *out_comm = canary_handle<lpt_comm>();
  lpt_future *out_future = canary_handle<lpt_future>();
  lpt_recipe *out_recipe = canary_handle<lpt_recipe>();
  lpt_linear *out_linear = canary_handle<lpt_linear>();
  lpt_optimizer *out_optimizer = canary_handle<lpt_optimizer>();
  lpt_lossy_link *out_link = canary_handle<lpt_lossy_link>();
  lpt_gradient_buckets *out_buckets = canary_handle<lpt_gradient_buckets>();
  size_t out_size = 0xC7C7C7C7;
  int64_t out_number = 0xC7C7C7C7;
  std::vector<uint8_t> buffer = std::vector<uint8_t>(4096, kCanary);
  char error_text[256] = "";  // for calls without a context

  // `comm` has one rank. No second rank joins `pair`. `buckets` is in a pass, and its first gradient is ready.
  Group group, pair;
  Comm comm;
  Tensor bucket_gradient = f32(4, 8, 68);
  Tensor late_gradient = f32(4, 8, 69);
  struct DestroyBuckets {
    void operator()(lpt_gradient_buckets *handle) const { lpt_gradient_buckets_destroy(handle); }
  };
  std::unique_ptr<lpt_gradient_buckets, DestroyBuckets> idle_buckets, buckets;
  Optimizer shared_optimizer;  // two parameters of 32 elements, added as shards

  World() {
    lpt_context *own = owner.get();
    lpt_scaler_options delayed = LPT_SCALER_OPTIONS_INIT;
    delayed.kind = LPT_SCALER_KIND_DELAYED;
    delayed.history_length = 2;
    EXPECT_TRUE(ok(own, lpt_scaler_create(own, &delayed, out(scaler))));
    scaler_state = state(lpt_scaler_state_size, lpt_scaler_state_save, scaler.get());

    EXPECT_TRUE(ok(own, lpt_recipe_create(own, "fp8_trillion", out(recipe))));
    EXPECT_TRUE(ok(own, lpt_recipe_create(own, "f32", out(block_recipe))));
    for (const lpt_linear_cast cast : {LPT_LINEAR_CAST_FORWARD_INPUT, LPT_LINEAR_CAST_WGRAD_INPUT}) {
      EXPECT_TRUE(ok(own, lpt_recipe_set_cast(own, block_recipe.get(), cast, LPT_FORMAT_MXFP8_E4M3, nullptr)));
    }
    lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
    shape.input_columns = 8;
    shape.output_columns = 6;
    EXPECT_TRUE(ok(own, lpt_linear_create(own, recipe.get(), &shape, out(linear))));
    EXPECT_TRUE(ok(own, lpt_linear_create(own, recipe.get(), &shape, out(raw_linear))));
    EXPECT_TRUE(ok(own, lpt_linear_create(own, block_recipe.get(), &shape, out(block_linear))));
    EXPECT_TRUE(ok(own, lpt_linear_prepare(own, linear.get(), weight.get(), nullptr)));
    EXPECT_TRUE(ok(own, lpt_linear_prepare(own, block_linear.get(), weight.get(), nullptr)));
    saved = forward(4);
    saved_of_5_rows = forward(5);
    unsaved = make_tensor(own, LPT_FORMAT_UINT8, {shape_of(own, saved.get()).columns});
    watched.push_back(saved.get());
    linear_state = state(lpt_linear_state_size, lpt_linear_state_save, linear.get());

    EXPECT_TRUE(ok(own, lpt_optimizer_create(own, nullptr, out(optimizer))));
    lpt_optimizer_parameter described = LPT_OPTIMIZER_PARAMETER_INIT;
    described.elements = 32;
    int64_t index = -1;
    EXPECT_TRUE(ok(own, lpt_optimizer_add(own, optimizer.get(), nullptr, &described, &index)));
    described.first_moment = described.second_moment = LPT_FORMAT_E4M3FN_TENSOR;
    EXPECT_TRUE(ok(own, lpt_optimizer_add(own, optimizer.get(), nullptr, &described, &index)));
    optimizer_state = save_parameter(0);
    watched.push_back(parameter.get());
    watched.push_back(other_parameter.get());

    EXPECT_EQ(LPT_OK, lpt_comm_group_create(nullptr, 1, out(group)));
    EXPECT_EQ(LPT_OK, lpt_comm_group_create(nullptr, 2, out(pair)));
    EXPECT_TRUE(ok(own, lpt_comm_create_local(own, group.get(), 0, nullptr, out(comm))));
    lpt_tensor *const gradients[] = {bucket_gradient.get(), late_gradient.get()};
    for (auto *made : {&idle_buckets, &buckets}) {
      lpt_gradient_buckets *handle = nullptr;
      EXPECT_TRUE(ok(own, lpt_gradient_buckets_create(own, comm.get(), gradients, 2, nullptr, &handle)));
      made->reset(handle);
    }
    EXPECT_TRUE(ok(own, lpt_gradient_buckets_begin(own, buckets.get(), 1, nullptr)));
    EXPECT_TRUE(ok(own, lpt_gradient_buckets_ready(own, buckets.get(), 0)));
    EXPECT_TRUE(ok(own, lpt_optimizer_create(own, nullptr, out(shared_optimizer))));
    lpt_optimizer_parameter shared = LPT_OPTIMIZER_PARAMETER_INIT;
    shared.elements = 32;
    const lpt_optimizer_parameter *const both[] = {&shared, &shared};
    int64_t indices[2];
    EXPECT_TRUE(ok(own, lpt_optimizer_add_shards(own, comm.get(), shared_optimizer.get(), nullptr, both, 2, indices)));
  }

  Tensor forward(int64_t rows) {
    size_t size = 0;
    EXPECT_TRUE(ok(owner.get(), lpt_linear_saved_size(owner.get(), linear.get(), rows, &size)));
    Tensor memory = make_tensor(owner.get(), LPT_FORMAT_UINT8, {static_cast<int64_t>(size)});
    const Tensor input = f32(rows, 8, 67);
    const Tensor y = make_tensor(owner.get(), LPT_FORMAT_F32, rows, 6);
    EXPECT_TRUE(
        ok(owner.get(), lpt_linear_forward(owner.get(), linear.get(), input.get(), nullptr, memory.get(), y.get())));
    return memory;
  }

  template <typename Handle>
  std::vector<uint8_t> state(lpt_status (*size)(lpt_context *, const Handle *, size_t *),
                             lpt_status (*save)(lpt_context *, const Handle *, void *, size_t), const Handle *handle) {
    size_t count = 0;
    EXPECT_TRUE(ok(owner.get(), size(owner.get(), handle, &count)));
    std::vector<uint8_t> result(count);
    EXPECT_TRUE(ok(owner.get(), save(owner.get(), handle, result.data(), count)));
    return result;
  }

  std::vector<uint8_t> save_parameter(int64_t index) {
    size_t count = 0;
    EXPECT_TRUE(ok(owner.get(), lpt_optimizer_state_size(owner.get(), optimizer.get(), index, &count)));
    std::vector<uint8_t> result(count);
    EXPECT_TRUE(ok(owner.get(), lpt_optimizer_state_save(owner.get(), optimizer.get(), index, result.data(), count)));
    return result;
  }

  // Returns the bytes of everything that a call can write.
  std::vector<uint8_t> snapshot() {
    std::vector<uint8_t> result = buffer;
    const auto add = [&](const std::vector<uint8_t> &more) { result.insert(result.end(), more.begin(), more.end()); };
    for (const lpt_tensor *tensor : watched) add(bytes_of(owner.get(), tensor));
    add(state(lpt_scaler_state_size, lpt_scaler_state_save, scaler.get()));
    add(state(lpt_linear_state_size, lpt_linear_state_save, linear.get()));
    add(save_parameter(0));
    add(save_parameter(1));
    for (lpt_linear_cast cast = LPT_LINEAR_CAST_FORWARD_INPUT; cast <= LPT_LINEAR_CAST_WGRAD_INPUT; ++cast) {
      lpt_format format = LPT_FORMAT_NONE;
      EXPECT_TRUE(ok(owner.get(), lpt_recipe_cast_format(owner.get(), recipe.get(), cast, &format)));
      result.push_back(static_cast<uint8_t>(format));
    }
    const uintptr_t numbers[] = {reinterpret_cast<uintptr_t>(out_context),
                                 reinterpret_cast<uintptr_t>(out_tensor),
                                 reinterpret_cast<uintptr_t>(out_scaler),
                                 reinterpret_cast<uintptr_t>(out_comm),
                                 reinterpret_cast<uintptr_t>(out_future),
                                 reinterpret_cast<uintptr_t>(out_recipe),
                                 reinterpret_cast<uintptr_t>(out_linear),
                                 reinterpret_cast<uintptr_t>(out_optimizer),
                                 reinterpret_cast<uintptr_t>(out_buckets),
                                 reinterpret_cast<uintptr_t>(out_link),
                                 out_size,
                                 static_cast<uintptr_t>(out_number)};
    for (const uintptr_t number : numbers) {
      for (int shift = 0; shift < 64; shift += 8) result.push_back(static_cast<uint8_t>(number >> shift));
    }
    return result;
  }
};

struct BadCall {
  const char *name;
  lpt_status status;
  std::vector<const char *> words;  // the error text contains all of them
  std::function<lpt_status(World &)> call;
};

// Short helpers that make the calls.

template <typename Handle>
inline Handle *cast(void *handle) {
  return reinterpret_cast<Handle *>(handle);
}

template <typename Change>
inline lpt_status create_context(World &w, Change change) {
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  change(options);
  options.error_text = w.error_text;
  options.error_text_bytes = sizeof w.error_text;
  return lpt_context_create(&options, &w.out_context);
}

inline lpt_status create_tensor(World &w, lpt_format format, const std::vector<int64_t> &extents) {
  return lpt_tensor_create(w.c, format, static_cast<int32_t>(extents.size()), extents.data(), &w.out_tensor);
}

inline lpt_status wrap_tensor(World &w, lpt_format format, const std::vector<int64_t> &extents,
                              const std::vector<int64_t> &strides) {
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  description.format = format;
  description.data = w.buffer.data();
  description.rank = static_cast<int32_t>(extents.size());
  description.extents = extents.data();
  description.strides = strides.data();
  return lpt_tensor_wrap(w.c, &description, &w.out_tensor);
}

inline lpt_status view_tensor(World &w, const Tensor &tensor, const std::vector<int64_t> &begins,
                              const std::vector<int64_t> &extents) {
  return lpt_tensor_view(w.c, tensor.get(), begins.data(), extents.data(), &w.out_tensor);
}

inline lpt_status combine(World &w, lpt_format format, int64_t rows, int64_t columns,
                          const std::vector<const lpt_tensor *> &parts) {
  return lpt_tensor_combine(w.c, format, rows, columns, parts.data(), static_cast<int32_t>(parts.size()),
                            &w.out_tensor);
}

// Casts `source` to `target` with options that `change` makes invalid.
template <typename Change>
inline lpt_status quantize(World &w, const Tensor &target, Change change) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  change(options);
  return lpt_quantize(w.c, w.source.get(), &options, target.get(), nullptr);
}

template <typename Change>
inline lpt_status create_scaler(World &w, Change change) {
  lpt_scaler_options options = LPT_SCALER_OPTIONS_INIT;
  change(options);
  return lpt_scaler_create(w.c, &options, &w.out_scaler);
}

template <typename Change>
inline lpt_status multiply(World &w, const Tensor &target, Change change) {
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  change(options);
  return lpt_gemm(w.c, w.a.get(), w.b.get(), &options, target.get());
}

template <typename Change>
inline lpt_status set_cast(World &w, lpt_linear_cast which, lpt_format format, Change change) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  change(options);
  return lpt_recipe_set_cast(w.c, w.recipe.get(), which, format, &options);
}

inline lpt_status create_linear(World &w, int64_t input_columns, int64_t output_columns) {
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  shape.input_columns = input_columns;
  shape.output_columns = output_columns;
  return lpt_linear_create(w.c, w.recipe.get(), &shape, &w.out_linear);
}

template <typename Change>
inline lpt_status forward(World &w, Change change) {
  lpt_linear_options options = LPT_LINEAR_OPTIONS_INIT;
  change(options);
  return lpt_linear_forward(w.c, w.linear.get(), w.a.get(), &options, w.saved.get(), w.gemm.get());
}

inline lpt_status backward(World &w, const Tensor &saved, const Tensor &weight_gradient) {
  return lpt_linear_backward(w.c, w.linear.get(), saved.get(), w.output_gradient.get(), nullptr, w.input_gradient.get(),
                             weight_gradient.get(), w.bias_gradient.get());
}

inline lpt_status swiglu(World &w, lpt_swiglu_smoothing smoothing, lpt_tensor *factors) {
  lpt_swiglu_options options = LPT_SWIGLU_OPTIONS_INIT;
  options.smoothing = smoothing;
  return lpt_swiglu_forward(w.c, w.gate.get(), w.up.get(), &options, w.activation.get(), factors);
}

template <typename Change>
inline lpt_status softmax(World &w, const Tensor &input, const Tensor &output, Change change) {
  lpt_softmax_options options = LPT_SOFTMAX_OPTIONS_INIT;
  change(options);
  return lpt_softmax_forward(w.c, input.get(), &options, output.get());
}

template <typename Change>
inline lpt_status create_optimizer(World &w, Change change) {
  lpt_optimizer_options options = LPT_OPTIMIZER_OPTIONS_INIT;
  change(options);
  return lpt_optimizer_create(w.c, &options, &w.out_optimizer);
}

template <typename Change>
inline lpt_status add(World &w, Change change) {
  lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
  parameter.elements = 8;
  change(parameter);
  return lpt_optimizer_add(w.c, w.optimizer.get(), nullptr, &parameter, &w.out_number);
}

template <typename Change>
inline lpt_status create_comm(World &w, int32_t rank, Change change) {
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  change(options);
  return lpt_comm_create_local(w.c, w.pair.get(), rank, &options, &w.out_comm);
}

template <typename Change>
inline lpt_status create_linked(World &w, Change change) {
  lpt_comm_emulation link = LPT_COMM_EMULATION_INIT;
  change(link);
  return create_comm(w, 0, [&](lpt_comm_options &options) { options.emulation = &link; });
}

template <typename Change>
inline lpt_status all_reduce(World &w, const Tensor &input, const Tensor &output, Change change) {
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  change(options);
  return lpt_all_reduce(w.c, w.comm.get(), input.get(), &options, output.get(), &w.out_future);
}

template <typename Change>
inline lpt_status step(World &w, std::vector<int64_t> indices, const Tensor &gradient, const Tensor &parameter,
                       Change change) {
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  change(options);
  const lpt_tensor *const gradients[] = {gradient.get(), w.gradient.get()};
  lpt_tensor *const parameters[] = {parameter.get(), w.other_parameter.get()};
  return lpt_optimizer_step(w.c, w.optimizer.get(), indices.data(), static_cast<int64_t>(indices.size()), gradients,
                            &options, parameters);
}

constexpr auto kUnchanged = [](auto &) {};

inline lpt_status load_scaler(World &w, const std::vector<uint8_t> &state) {
  return lpt_scaler_state_load(w.c, w.scaler.get(), state.data(), state.size());
}
inline lpt_status load_linear(World &w, const std::vector<uint8_t> &state) {
  return lpt_linear_state_load(w.c, w.linear.get(), state.data(), state.size());
}
inline lpt_status load_parameter(World &w, int64_t index, const std::vector<uint8_t> &state) {
  return lpt_optimizer_state_load(w.c, w.optimizer.get(), index, state.data(), state.size());
}

inline std::vector<uint8_t> cut(std::vector<uint8_t> state, size_t missing) {
  state.resize(state.size() - missing);
  return state;
}
inline std::vector<uint8_t> flipped(std::vector<uint8_t> state, size_t byte) {
  state[byte] ^= 0x10;
  return state;
}

// Options of a newer caller that sets a field unknown to this version.
struct NewerGemmOptions {
  lpt_gemm_options known;
  uint64_t unknown;
};

// The tables, one for each header.
extern const std::vector<BadCall> kContextCalls;
extern const std::vector<BadCall> kFormatCalls;
extern const std::vector<BadCall> kTensorCalls;
extern const std::vector<BadCall> kQuantizeCalls;
extern const std::vector<BadCall> kScalerCalls;
extern const std::vector<BadCall> kSparseCalls;
extern const std::vector<BadCall> kGemmCalls;
extern const std::vector<BadCall> kWeightsCalls;
extern const std::vector<BadCall> kRecipeCalls;
extern const std::vector<BadCall> kLinearCalls;
extern const std::vector<BadCall> kLayerCalls;
extern const std::vector<BadCall> kAttentionCalls;
extern const std::vector<BadCall> kCacheCalls;
extern const std::vector<BadCall> kOptimizerCalls;
extern const std::vector<BadCall> kCollectiveCalls;
extern const std::vector<BadCall> kCostCalls;
extern const std::vector<BadCall> kDelayCalls;
extern const std::vector<BadCall> kAutopilotCalls;
extern const std::vector<BadCall> kDropComputeCalls;
extern const std::vector<BadCall> kLossScalerCalls;
extern const std::vector<BadCall> kLossyCalls;
extern const std::vector<BadCall> kShareCalls;
extern const std::vector<BadCall> kForeignLayoutCalls;
extern const std::vector<BadCall> kNullContextCalls;

}  // namespace lpt::test
