// One table of bad calls: each gives its status, a text that names what is wrong, and leaves every output as it was.
#include <functional>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

constexpr uint8_t kCanary = 0xC7;

void fill_with_canary(lpt_context *context, const lpt_tensor *tensor) {
  const lpt_tensor_description description = describe(context, tensor);
  const lpt_format_description format = describe(description.format);
  const bool has_part[] = {true, format.block_scale != LPT_FORMAT_NONE, format.tensor_scale != LPT_FORMAT_NONE};
  for (lpt_part part = LPT_PART_PAYLOAD; part <= LPT_PART_TENSOR_SCALE; ++part) {
    if (!has_part[part]) continue;
    const Tensor taken = part_of(context, tensor, part);
    const size_t bytes = plain_bytes(context, taken.get()).size();
    if (bytes > 0) std::memset(describe(context, taken.get()).data, kCanary, bytes);
  }
}

template <typename Handle>
Handle *canary_handle() {
  return reinterpret_cast<Handle *>(uintptr_t{0xC7C7C7C0});
}

// Everything that a bad call may be given, and all that it may not touch.
struct World {
  // All library calls that make and read the world; the bad call has a context of its own.
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
  // An output: filled with the canary and watched.
  Tensor output(lpt_format format, const std::vector<int64_t> &extents) {
    Tensor tensor = make_tensor(owner.get(), format, extents);
    fill_with_canary(owner.get(), tensor.get());
    watched.push_back(tensor.get());
    return tensor;
  }

  std::vector<const lpt_tensor *> watched;

  // Casts.
  Tensor source = f32(4, 32, 51);
  Tensor other_source = f32(4, 33, 52);
  Tensor dataless = wrap(owner.get(), LPT_FORMAT_F32, nullptr, 4, 32);
  Tensor codes = tensor_of(owner.get(), LPT_FORMAT_MXFP8_E4M3, 4, 32, draw_normal(53, 128));
  Tensor bytes = output(LPT_FORMAT_UINT8, {4, 32});
  Tensor mx = output(LPT_FORMAT_MXFP8_E4M3, {4, 32});
  Tensor fp8 = output(LPT_FORMAT_E4M3FN_TENSOR, {4, 32});
  Tensor plain = output(LPT_FORMAT_E4M3FN, {4, 32});
  Tensor integers = output(LPT_FORMAT_INT8, {4, 32});
  Tensor smoothed = output(format_named("e4m3fn/column/e8m0fnu/f32"), {4, 32});
  Tensor wide = output(LPT_FORMAT_F32, {4, 32});
  Tensor turned = output(LPT_FORMAT_E4M3FN, {32, 4});
  Tensor factors = vector_of(owner.get(), LPT_FORMAT_E8M0FNU, std::vector<double>(32, 1.0));
  Tensor few_factors = vector_of(owner.get(), LPT_FORMAT_E8M0FNU, std::vector<double>(31, 1.0));
  Tensor packed = make_tensor(owner.get(), LPT_FORMAT_E2M1FN, 4, 32);
  Tensor cube = make_tensor(owner.get(), LPT_FORMAT_MXFP8_E4M3, {2, 4, 32});

  // Products.
  Tensor a = f32(4, 8, 54);
  Tensor b = f32(8, 6, 55);
  Tensor product = output(LPT_FORMAT_F32, {4, 6});
  Tensor product_codes = output(LPT_FORMAT_E4M3FN, {4, 6});
  Tensor bias = f32(6, 56);
  Tensor long_bias = f32(7, 57);
  Tensor double_bias = make_tensor(owner.get(), LPT_FORMAT_F64, {6});

  // Scalers and their state.
  Scaler scaler;
  std::vector<uint8_t> scaler_state;

  // Linear layers: 8 columns in, 6 out.
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

  // Layers.
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

  // Optimizer: two parameters of 32 elements, one step done.
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
  lpt_recipe *out_recipe = canary_handle<lpt_recipe>();
  lpt_linear *out_linear = canary_handle<lpt_linear>();
  lpt_optimizer *out_optimizer = canary_handle<lpt_optimizer>();
  size_t out_size = 0xC7C7C7C7;
  int64_t out_number = 0xC7C7C7C7;
  std::vector<uint8_t> buffer = std::vector<uint8_t>(4096, kCanary);
  char error_text[256] = "";  // of calls without a context

  World() {
    lpt_context *own = owner.get();
    lpt_scaler_options delayed = LPT_SCALER_OPTIONS_INIT;
    delayed.kind = LPT_SCALER_DELAYED;
    delayed.history_length = 2;
    EXPECT_TRUE(ok(own, lpt_scaler_create(own, &delayed, out(scaler))));
    scaler_state = state(lpt_scaler_state_size, lpt_scaler_state_save, scaler.get());

    EXPECT_TRUE(ok(own, lpt_recipe_create(own, "fp8_trillion", out(recipe))));
    EXPECT_TRUE(ok(own, lpt_recipe_create(own, "f32", out(block_recipe))));
    for (const lpt_cast cast : {LPT_CAST_FORWARD_INPUT, LPT_CAST_WGRAD_INPUT}) {
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
    EXPECT_TRUE(ok(own, lpt_optimizer_add(own, optimizer.get(), &described, &index)));
    described.first_moment = described.second_moment = LPT_FORMAT_E4M3FN_TENSOR;
    EXPECT_TRUE(ok(own, lpt_optimizer_add(own, optimizer.get(), &described, &index)));
    optimizer_state = save_parameter(0);
    watched.push_back(parameter.get());
    watched.push_back(other_parameter.get());
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

  // All that a call may write.
  std::vector<uint8_t> snapshot() {
    std::vector<uint8_t> result = buffer;
    const auto add = [&](const std::vector<uint8_t> &more) { result.insert(result.end(), more.begin(), more.end()); };
    for (const lpt_tensor *tensor : watched) add(bytes_of(owner.get(), tensor));
    add(state(lpt_scaler_state_size, lpt_scaler_state_save, scaler.get()));
    add(state(lpt_linear_state_size, lpt_linear_state_save, linear.get()));
    add(save_parameter(0));
    add(save_parameter(1));
    for (lpt_cast cast = LPT_CAST_FORWARD_INPUT; cast <= LPT_CAST_WGRAD_INPUT; ++cast) {
      lpt_format format = LPT_FORMAT_NONE;
      EXPECT_TRUE(ok(owner.get(), lpt_recipe_cast_format(owner.get(), recipe.get(), cast, &format)));
      result.push_back(static_cast<uint8_t>(format));
    }
    const uintptr_t numbers[] = {reinterpret_cast<uintptr_t>(out_context),
                                 reinterpret_cast<uintptr_t>(out_tensor),
                                 reinterpret_cast<uintptr_t>(out_scaler),
                                 reinterpret_cast<uintptr_t>(out_recipe),
                                 reinterpret_cast<uintptr_t>(out_linear),
                                 reinterpret_cast<uintptr_t>(out_optimizer),
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
  std::vector<const char *> words;  // all of them in the error text
  std::function<lpt_status(World &)> call;
};

// ---- short ways to spell the calls

template <typename Handle>
Handle *cast(void *handle) {
  return reinterpret_cast<Handle *>(handle);
}

lpt_status create_context(World &w, lpt_context_options options) {
  options.error_text = w.error_text;
  options.error_text_bytes = sizeof w.error_text;
  return lpt_context_create(&options, &w.out_context);
}

lpt_status create_tensor(World &w, lpt_format format, const std::vector<int64_t> &extents) {
  return lpt_tensor_create(w.c, format, static_cast<int32_t>(extents.size()), extents.data(), &w.out_tensor);
}

lpt_status wrap_tensor(World &w, lpt_format format, const std::vector<int64_t> &extents,
                       const std::vector<int64_t> &strides) {
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  description.format = format;
  description.data = w.buffer.data();
  description.rank = static_cast<int32_t>(extents.size());
  description.extents = extents.data();
  description.strides = strides.data();
  return lpt_tensor_wrap(w.c, &description, &w.out_tensor);
}

lpt_status view_tensor(World &w, const Tensor &tensor, const std::vector<int64_t> &begins,
                       const std::vector<int64_t> &extents) {
  return lpt_tensor_view(w.c, tensor.get(), begins.data(), extents.data(), &w.out_tensor);
}

lpt_status combine(World &w, lpt_format format, int64_t rows, int64_t columns,
                   const std::vector<const lpt_tensor *> &parts) {
  return lpt_tensor_combine(w.c, format, rows, columns, parts.data(), static_cast<int32_t>(parts.size()),
                            &w.out_tensor);
}

// Casts `source` to `target` with options that `change` has spoilt.
template <typename Change>
lpt_status quantize(World &w, const Tensor &target, Change change) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  change(options);
  return lpt_quantize(w.c, w.source.get(), &options, target.get(), nullptr);
}

template <typename Change>
lpt_status create_scaler(World &w, Change change) {
  lpt_scaler_options options = LPT_SCALER_OPTIONS_INIT;
  change(options);
  return lpt_scaler_create(w.c, &options, &w.out_scaler);
}

template <typename Change>
lpt_status multiply(World &w, const Tensor &target, Change change) {
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  change(options);
  return lpt_gemm(w.c, w.a.get(), w.b.get(), &options, target.get());
}

template <typename Change>
lpt_status set_cast(World &w, lpt_cast which, lpt_format format, Change change) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  change(options);
  return lpt_recipe_set_cast(w.c, w.recipe.get(), which, format, &options);
}

lpt_status create_linear(World &w, int64_t input_columns, int64_t output_columns) {
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  shape.input_columns = input_columns;
  shape.output_columns = output_columns;
  return lpt_linear_create(w.c, w.recipe.get(), &shape, &w.out_linear);
}

template <typename Change>
lpt_status forward(World &w, Change change) {
  lpt_linear_options options = LPT_LINEAR_OPTIONS_INIT;
  change(options);
  return lpt_linear_forward(w.c, w.linear.get(), w.a.get(), &options, w.saved.get(), w.product.get());
}

lpt_status backward(World &w, const Tensor &saved, const Tensor &weight_gradient) {
  return lpt_linear_backward(w.c, w.linear.get(), saved.get(), w.output_gradient.get(), nullptr, w.input_gradient.get(),
                             weight_gradient.get(), w.bias_gradient.get());
}

lpt_status swiglu(World &w, lpt_smoothing smoothing, lpt_tensor *factors) {
  lpt_swiglu_options options = LPT_SWIGLU_OPTIONS_INIT;
  options.smoothing = smoothing;
  return lpt_swiglu_forward(w.c, w.gate.get(), w.up.get(), &options, w.activation.get(), factors);
}

template <typename Change>
lpt_status softmax(World &w, const Tensor &input, const Tensor &output, Change change) {
  lpt_softmax_options options = LPT_SOFTMAX_OPTIONS_INIT;
  change(options);
  return lpt_softmax_forward(w.c, input.get(), &options, output.get());
}

template <typename Change>
lpt_status create_optimizer(World &w, Change change) {
  lpt_optimizer_options options = LPT_OPTIMIZER_OPTIONS_INIT;
  change(options);
  return lpt_optimizer_create(w.c, &options, &w.out_optimizer);
}

template <typename Change>
lpt_status add(World &w, Change change) {
  lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
  parameter.elements = 8;
  change(parameter);
  return lpt_optimizer_add(w.c, w.optimizer.get(), &parameter, &w.out_number);
}

template <typename Change>
lpt_status step(World &w, std::vector<int64_t> indices, const Tensor &gradient, const Tensor &parameter,
                Change change) {
  lpt_step_options options = LPT_STEP_OPTIONS_INIT;
  change(options);
  const lpt_tensor *const gradients[] = {gradient.get(), w.gradient.get()};
  lpt_tensor *const parameters[] = {parameter.get(), w.other_parameter.get()};
  return lpt_optimizer_step(w.c, w.optimizer.get(), indices.data(), static_cast<int64_t>(indices.size()), gradients,
                            &options, parameters);
}

constexpr auto kUnchanged = [](auto &) {};

lpt_status load_scaler(World &w, const std::vector<uint8_t> &state) {
  return lpt_scaler_state_load(w.c, w.scaler.get(), state.data(), state.size());
}
lpt_status load_linear(World &w, const std::vector<uint8_t> &state) {
  return lpt_linear_state_load(w.c, w.linear.get(), state.data(), state.size());
}
lpt_status load_parameter(World &w, int64_t index, const std::vector<uint8_t> &state) {
  return lpt_optimizer_state_load(w.c, w.optimizer.get(), index, state.data(), state.size());
}

std::vector<uint8_t> cut(std::vector<uint8_t> state, size_t missing) {
  state.resize(state.size() - missing);
  return state;
}
std::vector<uint8_t> flipped(std::vector<uint8_t> state, size_t byte) {
  state[byte] ^= 0x10;
  return state;
}

// Options of a caller that is newer, and sets what it alone knows.
struct NewerGemmOptions {
  lpt_gemm_options known;
  uint64_t unknown;
};

// ---- the table

const std::vector<BadCall> kContextCalls = {
    {"context_create: threads",
     LPT_INVALID_ARGUMENT,
     {"thread_count is 5000", "0 to 4096"},
     [](World &w) {
       lpt_context_options o = LPT_CONTEXT_OPTIONS_INIT;
       o.thread_count = 5000;
       return create_context(w, o);
     }},
    {"context_create: isa",
     LPT_INVALID_ARGUMENT,
     {"isa is 77", "lpt_isa_values"},
     [](World &w) {
       lpt_context_options o = LPT_CONTEXT_OPTIONS_INIT;
       o.isa = 77;
       return create_context(w, o);
     }},
    {"context_create: log level",
     LPT_INVALID_ARGUMENT,
     {"log_level is -1", "0 to 3"},
     [](World &w) {
       lpt_context_options o = LPT_CONTEXT_OPTIONS_INIT;
       o.log_level = -1;
       return create_context(w, o);
     }},
    {"context_create: half an allocator",
     LPT_INVALID_ARGUMENT,
     {"release is NULL", "together"},
     [](World &w) {
       lpt_context_options o = LPT_CONTEXT_OPTIONS_INIT;
       o.allocate = [](void *, size_t, size_t) -> void * { return nullptr; };
       return create_context(w, o);
     }},
    {"context_create: host threads without width",
     LPT_INVALID_ARGUMENT,
     {"parallel_for_width is 0", "at least 1"},
     [](World &w) {
       lpt_context_options o = LPT_CONTEXT_OPTIONS_INIT;
       o.parallel_for = [](void *, int64_t, lpt_task_function, void *) {};
       return create_context(w, o);
     }},
    {"context_create: no room for the answer",
     LPT_INVALID_ARGUMENT,
     {"out_context is NULL"},
     [](World &w) {
       lpt_context_options o = LPT_CONTEXT_OPTIONS_INIT;
       o.error_text = w.error_text;
       o.error_text_bytes = sizeof w.error_text;
       return lpt_context_create(&o, nullptr);
     }},
    {"context_create: struct size 0",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) {
       lpt_context_options o = LPT_CONTEXT_OPTIONS_INIT;
       o.struct_size = 0;
       return create_context(w, o);
     }},
    {"set_threads: negative",
     LPT_INVALID_ARGUMENT,
     {"thread_count is -1", "0 to 4096"},
     [](World &w) { return lpt_context_set_threads(w.c, -1); }},
    {"set_isa: unknown",
     LPT_INVALID_ARGUMENT,
     {"isa is 99", "0 to 4"},
     [](World &w) { return lpt_context_set_isa(w.c, 99); }},
    {"set_log: unknown level",
     LPT_INVALID_ARGUMENT,
     {"level is 9", "0 to 3"},
     [](World &w) { return lpt_context_set_log(w.c, 9, nullptr, nullptr); }},
    {"set_profile: no truth value",
     LPT_INVALID_ARGUMENT,
     {"is_enabled is 2", "0 or 1"},
     [](World &w) { return lpt_context_set_profile(w.c, 2); }},
    {"profile_count: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_count is NULL"},
     [](World &w) { return lpt_context_profile_count(w.c, nullptr); }},
    {"profile_entry: beyond the count",
     LPT_INVALID_ARGUMENT,
     {"index is 5", "the count, 0"},
     [](World &w) {
       lpt_profile_entry e = LPT_PROFILE_ENTRY_INIT;
       return lpt_context_profile_entry(w.c, 5, &e);
     }},
    {"profile_entry: negative",
     LPT_INVALID_ARGUMENT,
     {"index is -1"},
     [](World &w) {
       lpt_profile_entry e = LPT_PROFILE_ENTRY_INIT;
       return lpt_context_profile_entry(w.c, -1, &e);
     }},
    {"profile_save: NULL",
     LPT_INVALID_ARGUMENT,
     {"path is NULL"},
     [](World &w) { return lpt_context_profile_save(w.c, nullptr); }},
    {"profile_save: no such directory",
     LPT_INVALID_ARGUMENT,
     {"/no-such-directory/trace.json", "cannot be written"},
     [](World &w) { return lpt_context_profile_save(w.c, "/no-such-directory/trace.json"); }},
};

const std::vector<BadCall> kTensorCalls = {
    {"tensor_create: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_tensor is NULL"},
     [](World &w) {
       const int64_t e[] = {1};
       return lpt_tensor_create(w.c, LPT_FORMAT_F32, 1, e, nullptr);
     }},
    {"tensor_create: no format",
     LPT_INVALID_ARGUMENT,
     {"format is 12345", "lpt_format_values"},
     [](World &w) {
       return create_tensor(w, 12345, {2, 2});
     }},
    {"tensor_create: format NONE",
     LPT_INVALID_ARGUMENT,
     {"format is 0"},
     [](World &w) {
       return create_tensor(w, LPT_FORMAT_NONE, {2, 2});
     }},
    {"tensor_create: stray bits in a format",
     LPT_INVALID_ARGUMENT,
     {"format is "},
     [](World &w) {
       return create_tensor(w, INT64_MAX, {2, 2});
     }},
    {"tensor_create: rank 9",
     LPT_INVALID_ARGUMENT,
     {"rank is 9", "0 to 8"},
     [](World &w) { return create_tensor(w, LPT_FORMAT_F32, std::vector<int64_t>(9, 1)); }},
    {"tensor_create: negative rank",
     LPT_INVALID_ARGUMENT,
     {"rank is -1", "0 to 8"},
     [](World &w) { return lpt_tensor_create(w.c, LPT_FORMAT_F32, -1, nullptr, &w.out_tensor); }},
    {"tensor_create: no extents",
     LPT_INVALID_ARGUMENT,
     {"extents is NULL", "2 numbers"},
     [](World &w) { return lpt_tensor_create(w.c, LPT_FORMAT_F32, 2, nullptr, &w.out_tensor); }},
    {"tensor_create: negative extent",
     LPT_INVALID_ARGUMENT,
     {"extents[1] is -4", "at least 0"},
     [](World &w) {
       return create_tensor(w, LPT_FORMAT_F32, {3, -4});
     }},
    {"tensor_create: huge product",
     LPT_INVALID_ARGUMENT,
     {"extents[1] is 4294967296", "does not fit"},
     [](World &w) {
       return create_tensor(w, LPT_FORMAT_F32, {int64_t{1} << 32, int64_t{1} << 32});
     }},
    {"tensor_create: huge extent beside a zero",
     LPT_INVALID_ARGUMENT,
     {"extents[1] is 9223372036854775807"},
     [](World &w) {
       return create_tensor(w, LPT_FORMAT_F32, {0, INT64_MAX});
     }},
    {"tensor_create: scales without rows",
     LPT_INVALID_ARGUMENT,
     {"rank is 1", "nvfp4", "rank 2 or more"},
     [](World &w) { return create_tensor(w, LPT_FORMAT_NVFP4, {32}); }},
    {"tensor_wrap: NULL",
     LPT_INVALID_ARGUMENT,
     {"description is NULL"},
     [](World &w) { return lpt_tensor_wrap(w.c, nullptr, &w.out_tensor); }},
    {"tensor_wrap: struct size 0",
     LPT_INVALID_ARGUMENT,
     {"description->struct_size is 0", "48"},
     [](World &w) {
       lpt_tensor_description d = LPT_TENSOR_DESCRIPTION_INIT;
       d.struct_size = 0;
       return lpt_tensor_wrap(w.c, &d, &w.out_tensor);
     }},
    {"tensor_wrap: reserved",
     LPT_UNSUPPORTED,
     {"reserved is 5", "expected 0"},
     [](World &w) {
       lpt_tensor_description d = LPT_TENSOR_DESCRIPTION_INIT;
       d.format = LPT_FORMAT_F32;
       d.reserved = 5;
       return lpt_tensor_wrap(w.c, &d, &w.out_tensor);
     }},
    {"tensor_wrap: a format with scales",
     LPT_INVALID_ARGUMENT,
     {"mxfp4", "lpt_tensor_combine"},
     [](World &w) {
       return wrap_tensor(w, LPT_FORMAT_MXFP4, {2, 32}, {32, 1});
     }},
    {"tensor_wrap: negative stride",
     LPT_INVALID_ARGUMENT,
     {"strides[0] is -32", "at least 0"},
     [](World &w) {
       return wrap_tensor(w, LPT_FORMAT_F32, {2, 32}, {-32, 1});
     }},
    {"tensor_wrap: elements that share memory",
     LPT_INVALID_ARGUMENT,
     {"strides[0] is 0", "share memory"},
     [](World &w) {
       return wrap_tensor(w, LPT_FORMAT_F32, {2, 32}, {0, 1});
     }},
    {"matrix_wrap: data between two elements",
     LPT_INVALID_ARGUMENT,
     {"data is", "that 4 divides", "f32"},
     [](World &w) {
       return lpt_matrix_wrap(w.c, LPT_FORMAT_F32, reinterpret_cast<void *>(uintptr_t{0x1002}), 2, 3, 0, &w.out_tensor);
     }},
    {"tensor_wrap: strided 4-bit elements",
     LPT_INVALID_ARGUMENT,
     {"strides[1] is 2", "e2m1fn"},
     [](World &w) {
       return wrap_tensor(w, LPT_FORMAT_E2M1FN, {2, 8}, {16, 2});
     }},
    {"tensor_wrap: stride beyond the address space",
     LPT_INVALID_ARGUMENT,
     {"strides[0] is", "does not fit"},
     [](World &w) {
       return wrap_tensor(w, LPT_FORMAT_F32, {4, 2}, {int64_t{1} << 60, 1});
     }},
    {"matrix_wrap: negative rows",
     LPT_INVALID_ARGUMENT,
     {"rows is -1", "at least 0"},
     [](World &w) { return lpt_matrix_wrap(w.c, LPT_FORMAT_F32, nullptr, -1, 2, 0, &w.out_tensor); }},
    {"matrix_wrap: negative columns",
     LPT_INVALID_ARGUMENT,
     {"columns is -2", "at least 0"},
     [](World &w) { return lpt_matrix_wrap(w.c, LPT_FORMAT_F32, nullptr, 1, -2, 0, &w.out_tensor); }},
    {"matrix_wrap: rows that overlap",
     LPT_INVALID_ARGUMENT,
     {"row_stride is 3", "columns, 4"},
     [](World &w) { return lpt_matrix_wrap(w.c, LPT_FORMAT_F32, nullptr, 2, 4, 3, &w.out_tensor); }},
    {"matrix_wrap: rows of 4-bit elements in mid-byte",
     LPT_INVALID_ARGUMENT,
     {"strides[0] is 5", "even"},
     [](World &w) { return lpt_matrix_wrap(w.c, LPT_FORMAT_E2M1FN, nullptr, 2, 5, 5, &w.out_tensor); }},
    {"tensor_view: NULL",
     LPT_INVALID_ARGUMENT,
     {"tensor is NULL"},
     [](World &w) {
       const int64_t n[] = {0, 0};
       return lpt_tensor_view(w.c, nullptr, n, n, &w.out_tensor);
     }},
    {"tensor_view: a scaler for a tensor",
     LPT_INVALID_ARGUMENT,
     {"tensor is not a live handle"},
     [](World &w) {
       const int64_t n[] = {0, 0};
       return lpt_tensor_view(w.c, cast<lpt_tensor>(w.scaler.get()), n, n, &w.out_tensor);
     }},
    {"tensor_view: no begins",
     LPT_INVALID_ARGUMENT,
     {"begins is NULL", "2 numbers"},
     [](World &w) {
       const int64_t n[] = {0, 0};
       return lpt_tensor_view(w.c, w.source.get(), nullptr, n, &w.out_tensor);
     }},
    {"tensor_view: no extents",
     LPT_INVALID_ARGUMENT,
     {"extents is NULL", "2 numbers"},
     [](World &w) {
       const int64_t n[] = {0, 0};
       return lpt_tensor_view(w.c, w.source.get(), n, nullptr, &w.out_tensor);
     }},
    {"tensor_view: negative begin",
     LPT_INVALID_ARGUMENT,
     {"axis 0", "begin -1"},
     [](World &w) {
       return view_tensor(w, w.source, {-1, 0}, {1, 1});
     }},
    {"tensor_view: past the end",
     LPT_INVALID_ARGUMENT,
     {"axis 1", "begin 30", "extent 3", "0 to 32"},
     [](World &w) {
       return view_tensor(w, w.source, {0, 30}, {1, 3});
     }},
    {"tensor_view: extent that wraps around",
     LPT_INVALID_ARGUMENT,
     {"axis 1"},
     [](World &w) {
       return view_tensor(w, w.source, {0, 30}, {1, INT64_MAX});
     }},
    {"tensor_view: begins inside a block",
     LPT_INVALID_ARGUMENT,
     {"columns 16 to 32", "multiples of 32"},
     [](World &w) {
       return view_tensor(w, w.codes, {0, 16}, {4, 16});
     }},
    {"tensor_view: ends inside a block",
     LPT_INVALID_ARGUMENT,
     {"columns 0 to 16", "multiples of 32"},
     [](World &w) {
       return view_tensor(w, w.codes, {0, 0}, {4, 16});
     }},
    {"tensor_view: begins inside a byte",
     LPT_INVALID_ARGUMENT,
     {"begins[1] is 3", "e2m1fn", "even"},
     [](World &w) {
       return view_tensor(w, w.packed, {0, 3}, {4, 4});
     }},
    {"tensor_view: cuts a middle axis of blocks",
     LPT_INVALID_ARGUMENT,
     {"axis 1", "only the first and the last"},
     [](World &w) {
       return view_tensor(w, w.cube, {0, 1, 0}, {2, 2, 32});
     }},
    {"tensor_part: NULL",
     LPT_INVALID_ARGUMENT,
     {"tensor is NULL"},
     [](World &w) { return lpt_tensor_part(w.c, nullptr, LPT_PART_PAYLOAD, &w.out_tensor); }},
    {"tensor_part: a layer for a tensor",
     LPT_INVALID_ARGUMENT,
     {"tensor is not a live handle"},
     [](World &w) { return lpt_tensor_part(w.c, cast<lpt_tensor>(w.linear.get()), LPT_PART_PAYLOAD, &w.out_tensor); }},
    {"tensor_part: the format has none",
     LPT_INVALID_ARGUMENT,
     {"part is 1", "f32 has no such part"},
     [](World &w) { return lpt_tensor_part(w.c, w.source.get(), LPT_PART_BLOCK_SCALES, &w.out_tensor); }},
    {"tensor_part: unknown",
     LPT_INVALID_ARGUMENT,
     {"part is 9"},
     [](World &w) { return lpt_tensor_part(w.c, w.codes.get(), 9, &w.out_tensor); }},
    {"tensor_combine: NULL",
     LPT_INVALID_ARGUMENT,
     {"parts is NULL"},
     [](World &w) { return lpt_tensor_combine(w.c, LPT_FORMAT_F32, 1, 1, nullptr, 1, &w.out_tensor); }},
    {"tensor_combine: no parts",
     LPT_INVALID_ARGUMENT,
     {"part_count is 0"},
     [](World &w) {
       const lpt_tensor *p[] = {nullptr};
       return lpt_tensor_combine(w.c, LPT_FORMAT_F32, 1, 1, p, 0, &w.out_tensor);
     }},
    {"tensor_combine: missing payload",
     LPT_INVALID_ARGUMENT,
     {"parts[0]", "missing"},
     [](World &w) { return combine(w, LPT_FORMAT_F32, 4, 32, {nullptr}); }},
    {"tensor_combine: missing scales",
     LPT_INVALID_ARGUMENT,
     {"parts[1]", "missing", "e4m3fn_row"},
     [](World &w) { return combine(w, LPT_FORMAT_E4M3FN_ROW, 4, 32, {w.plain.get()}); }},
    {"tensor_combine: needless scales",
     LPT_INVALID_ARGUMENT,
     {"parts[1]", "given", "lacks"},
     [](World &w) {
       return combine(w, LPT_FORMAT_E4M3FN, 4, 32, {w.plain.get(), w.bias.get()});
     }},
    {"tensor_combine: scales of another format",
     LPT_INVALID_ARGUMENT,
     {"parts[1]", "e8m0fnu", "expected f32"},
     [](World &w) {
       return combine(w, LPT_FORMAT_E4M3FN_ROW, 4, 32, {w.plain.get(), w.factors.get()});
     }},
    {"tensor_combine: scales of another shape",
     LPT_INVALID_ARGUMENT,
     {"parts[1]", "1×6", "4×1"},
     [](World &w) {
       return combine(w, LPT_FORMAT_E4M3FN_ROW, 4, 32, {w.plain.get(), w.bias.get()});
     }},
    {"tensor_combine: payload of another format",
     LPT_INVALID_ARGUMENT,
     {"parts[0]", "f32", "expected e4m3fn or uint8"},
     [](World &w) { return combine(w, LPT_FORMAT_E4M3FN, 4, 32, {w.source.get()}); }},
    {"tensor_combine: payload of another shape",
     LPT_INVALID_ARGUMENT,
     {"parts[0]", "4×32", "4×31"},
     [](World &w) { return combine(w, LPT_FORMAT_E4M3FN, 4, 31, {w.plain.get()}); }},
    {"tensor_combine: negative rows",
     LPT_INVALID_ARGUMENT,
     {"rows is -4"},
     [](World &w) { return combine(w, LPT_FORMAT_E4M3FN, -4, 31, {w.plain.get()}); }},
    {"tensor_combine: a scaler for a part",
     LPT_INVALID_ARGUMENT,
     {"parts[0]", "not a live tensor"},
     [](World &w) { return combine(w, LPT_FORMAT_E4M3FN, 4, 32, {cast<lpt_tensor>(w.scaler.get())}); }},
    {"tensor_describe: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_description is NULL"},
     [](World &w) { return lpt_tensor_describe(w.c, w.source.get(), nullptr); }},
    {"tensor_describe: struct size 0",
     LPT_INVALID_ARGUMENT,
     {"out_description->struct_size is 0"},
     [](World &w) {
       lpt_tensor_description d = LPT_TENSOR_DESCRIPTION_INIT;
       d.struct_size = 0;
       return lpt_tensor_describe(w.c, w.source.get(), &d);
     }},
    {"tensor_size: no tensor",
     LPT_INVALID_ARGUMENT,
     {"tensor is NULL"},
     [](World &w) { return lpt_tensor_size(w.c, nullptr, &w.out_size); }},
    {"tensor_describe: no tensor",
     LPT_INVALID_ARGUMENT,
     {"tensor is NULL"},
     [](World &w) {
       lpt_tensor_description d = LPT_TENSOR_DESCRIPTION_INIT;
       return lpt_tensor_describe(w.c, nullptr, &d);
     }},
    {"tensor_size: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_size_bytes is NULL"},
     [](World &w) { return lpt_tensor_size(w.c, w.source.get(), nullptr); }},
};

const std::vector<BadCall> kQuantizeCalls = {
    {"quantize: no source",
     LPT_INVALID_ARGUMENT,
     {"source is NULL"},
     [](World &w) { return lpt_quantize(w.c, nullptr, nullptr, w.fp8.get(), nullptr); }},
    {"quantize: a scaler for the source",
     LPT_INVALID_ARGUMENT,
     {"source is not a live tensor"},
     [](World &w) { return lpt_quantize(w.c, cast<lpt_tensor>(w.scaler.get()), nullptr, w.fp8.get(), nullptr); }},
    {"quantize: a source without data",
     LPT_INVALID_ARGUMENT,
     {"source", "without data", "LPT_CHECK_ONLY"},
     [](World &w) { return lpt_quantize(w.c, w.dataless.get(), nullptr, w.fp8.get(), nullptr); }},
    {"quantize: codes as source",
     LPT_UNSUPPORTED,
     {"source is mxfp8_e4m3", "f64, f32, bf16 or f16"},
     [](World &w) { return lpt_quantize(w.c, w.codes.get(), nullptr, w.fp8.get(), nullptr); }},
    {"quantize: columns that are not adjacent",
     LPT_UNSUPPORTED,
     {"source", "stride 2", "expected 1"},
     [](World &w) {
       const int64_t extents[] = {4, 16};
       const int64_t strides[] = {32, 2};
       lpt_tensor_description d = LPT_TENSOR_DESCRIPTION_INIT;
       d.format = LPT_FORMAT_F32;
       d.data = describe(w.owner.get(), w.source.get()).data;
       d.rank = 2;
       d.extents = extents;
       d.strides = strides;
       Tensor strided;
       EXPECT_TRUE(ok(w.owner.get(), lpt_tensor_wrap(w.owner.get(), &d, out(strided))));
       return lpt_quantize(w.c, strided.get(), nullptr, w.fp8.get(), nullptr);
     }},
    {"quantize: no output",
     LPT_INVALID_ARGUMENT,
     {"quantized and transposed are NULL"},
     [](World &w) { return lpt_quantize(w.c, w.source.get(), nullptr, nullptr, nullptr); }},
    {"quantize: output of another shape",
     LPT_INVALID_ARGUMENT,
     {"quantized is 4×32", "4×33", "source"},
     [](World &w) { return lpt_quantize(w.c, w.other_source.get(), nullptr, w.fp8.get(), nullptr); }},
    {"quantize: transposed output that is not",
     LPT_INVALID_ARGUMENT,
     {"transposed is 4×32", "32×4"},
     [](World &w) { return lpt_quantize(w.c, w.source.get(), nullptr, nullptr, w.plain.get()); }},
    {"quantize: bytes as output",
     LPT_UNSUPPORTED,
     {"quantized is uint8"},
     [](World &w) { return quantize(w, w.bytes, kUnchanged); }},
    {"quantize: output over the source",
     LPT_INVALID_ARGUMENT,
     {"quantized", "overlaps source"},
     [](World &w) { return quantize(w, w.source, kUnchanged); }},
    {"quantize: outputs over each other",
     LPT_INVALID_ARGUMENT,
     {"quantized", "overlaps transposed"},
     [](World &w) {
       const Tensor over = wrap(w.owner.get(), LPT_FORMAT_E4M3FN, describe(w.owner.get(), w.turned.get()).data, 4, 32);
       return lpt_quantize(w.c, w.source.get(), nullptr, over.get(), w.turned.get());
     }},
    {"quantize: unknown flag",
     LPT_UNSUPPORTED,
     {"flags is 0x2", "LPT_CHECK_ONLY"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.flags = 2; }); }},
    {"quantize: unknown rounding",
     LPT_INVALID_ARGUMENT,
     {"rounding is 7", "0 to 2"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.rounding = 7; }); }},
    {"quantize: unknown overflow",
     LPT_INVALID_ARGUMENT,
     {"overflow is -1", "0 to 1"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.overflow = -1; }); }},
    {"quantize: unknown scale rule",
     LPT_INVALID_ARGUMENT,
     {"scale_rule is 9", "0 to 6"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.scale_rule = 9; }); }},
    {"quantize: scale rule of another scale",
     LPT_UNSUPPORTED,
     {"scale_rule is 4", "e4m3fn_tensor", "scales in f32"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.scale_rule = LPT_SCALE_RULE_FLOOR; }); }},
    {"quantize: scale rule without scales",
     LPT_UNSUPPORTED,
     {"scale_rule is 1", "e4m3fn", "no scales"},
     [](World &w) { return quantize(w, w.plain, [](auto &o) { o.scale_rule = LPT_SCALE_RULE_AMAX; }); }},
    {"quantize: five random bits",
     LPT_INVALID_ARGUMENT,
     {"stochastic_bits is 5", "16 or 8"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.stochastic_bits = 5; }); }},
    {"quantize: nine rounds",
     LPT_INVALID_ARGUMENT,
     {"philox_rounds is 9", "7 or 10"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.philox_rounds = 9; }); }},
    {"quantize: reserved",
     LPT_UNSUPPORTED,
     {"reserved is 1", "expected 0"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.reserved = 1; }); }},
    {"quantize: stream of 2^24",
     LPT_INVALID_ARGUMENT,
     {"random.stream is 16777216", "2^24"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.random.stream = 1u << 24; }); }},
    {"quantize: negative offset",
     LPT_INVALID_ARGUMENT,
     {"random.offset is -1", "0 to 2^60"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.random.offset = -1; }); }},
    {"quantize: random rows that overlap",
     LPT_INVALID_ARGUMENT,
     {"random.row_stride is 31", "columns, 32"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.random.row_stride = 31; }); }},
    {"quantize: scaler with blocks",
     LPT_UNSUPPORTED,
     {"scaler", "mxfp8_e4m3", "one tensor scale"},
     [](World &w) { return quantize(w, w.mx, [&](auto &o) { o.scaler = w.scaler.get(); }); }},
    {"quantize: scaler without scale",
     LPT_UNSUPPORTED,
     {"scaler", "e4m3fn", "one tensor scale"},
     [](World &w) { return quantize(w, w.plain, [&](auto &o) { o.scaler = w.scaler.get(); }); }},
    {"quantize: a tensor for the scaler",
     LPT_INVALID_ARGUMENT,
     {"scaler is not a live scaler"},
     [](World &w) { return quantize(w, w.fp8, [&](auto &o) { o.scaler = cast<lpt_scaler>(w.source.get()); }); }},
    {"quantize: smoothing without column scales",
     LPT_UNSUPPORTED,
     {"smoothing", "e4m3fn_tensor", "e8m0fnu"},
     [](World &w) { return quantize(w, w.fp8, [&](auto &o) { o.smoothing = w.factors.get(); }); }},
    {"quantize: smoothing of another length",
     LPT_INVALID_ARGUMENT,
     {"smoothing is 1×31", "vector of 32"},
     [](World &w) { return quantize(w, w.smoothed, [&](auto &o) { o.smoothing = w.few_factors.get(); }); }},
    {"quantize: smoothing of another format",
     LPT_INVALID_ARGUMENT,
     {"smoothing", "f32", "expected e8m0fnu"},
     [](World &w) {
       const Tensor ones = make_tensor(w.owner.get(), LPT_FORMAT_F32, {32});
       return quantize(w, w.smoothed, [&](auto &o) { o.smoothing = ones.get(); });
     }},
    {"quantize: NaN for integers",
     LPT_INVALID_ARGUMENT,
     {"NaN", "int8"},
     [](World &w) {
       static_cast<float *>(describe(w.owner.get(), w.source.get()).data)[77] = std::nanf("");
       return quantize(w, w.integers, kUnchanged);
     }},
    {"quantize: struct size 0",
     LPT_INVALID_ARGUMENT,
     {"options->struct_size is 0"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.struct_size = 0; }); }},
    {"quantize: struct size of rubbish",
     LPT_INVALID_ARGUMENT,
     {"options->struct_size is"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.struct_size = SIZE_MAX; }); }},
    {"dequantize: no source",
     LPT_INVALID_ARGUMENT,
     {"source is NULL"},
     [](World &w) { return lpt_dequantize(w.c, nullptr, nullptr, w.wide.get()); }},
    {"dequantize: no output",
     LPT_INVALID_ARGUMENT,
     {"output is NULL"},
     [](World &w) { return lpt_dequantize(w.c, w.codes.get(), nullptr, nullptr); }},
    {"dequantize: output of another shape",
     LPT_INVALID_ARGUMENT,
     {"output is 4×6", "4×32"},
     [](World &w) { return lpt_dequantize(w.c, w.codes.get(), nullptr, w.product.get()); }},
    {"dequantize: codes as output",
     LPT_UNSUPPORTED,
     {"output is e4m3fn", "f64, f32, bf16 or f16"},
     [](World &w) { return lpt_dequantize(w.c, w.codes.get(), nullptr, w.plain.get()); }},
    {"dequantize: bytes as source",
     LPT_UNSUPPORTED,
     {"source is uint8"},
     [](World &w) { return lpt_dequantize(w.c, w.bytes.get(), nullptr, w.wide.get()); }},
    {"dequantize: scales without data",
     LPT_INVALID_ARGUMENT,
     {"source", "without data"},
     [](World &w) {
       const Tensor none = wrap(w.owner.get(), LPT_FORMAT_F32, nullptr, 4, 1);
       const lpt_tensor *const parts[] = {w.plain.get(), none.get()};
       Tensor rows;
       EXPECT_TRUE(
           ok(w.owner.get(), lpt_tensor_combine(w.owner.get(), LPT_FORMAT_E4M3FN_ROW, 4, 32, parts, 2, out(rows))));
       return lpt_dequantize(w.c, rows.get(), nullptr, w.wide.get());
     }},
    {"dequantize: unknown flag",
     LPT_UNSUPPORTED,
     {"flags is 0x8000000000000000"},
     [](World &w) {
       lpt_dequantize_options o = LPT_DEQUANTIZE_OPTIONS_INIT;
       o.flags = uint64_t{1} << 63;
       return lpt_dequantize(w.c, w.codes.get(), &o, w.wide.get());
     }},
};

const std::vector<BadCall> kScalerCalls = {
    {"scaler_create: unknown kind",
     LPT_INVALID_ARGUMENT,
     {"kind is 5", "0 to 1"},
     [](World &w) { return create_scaler(w, [](auto &o) { o.kind = 5; }); }},
    {"scaler_create: no history",
     LPT_INVALID_ARGUMENT,
     {"history_length is 0", "1 to 65536"},
     [](World &w) { return create_scaler(w, [](auto &o) { o.history_length = 0; }); }},
    {"scaler_create: huge history",
     LPT_INVALID_ARGUMENT,
     {"history_length is 65537", "1 to 65536"},
     [](World &w) { return create_scaler(w, [](auto &o) { o.history_length = 65537; }); }},
    {"scaler_create: margin",
     LPT_INVALID_ARGUMENT,
     {"margin is 65", "-64 to 64"},
     [](World &w) { return create_scaler(w, [](auto &o) { o.margin = 65; }); }},
    {"scaler_create: reserved",
     LPT_UNSUPPORTED,
     {"reserved is 1", "expected 0"},
     [](World &w) { return create_scaler(w, [](auto &o) { o.reserved = 1; }); }},
    {"scaler_create: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_scaler is NULL"},
     [](World &w) { return lpt_scaler_create(w.c, nullptr, nullptr); }},
    {"scaler_update: negative count",
     LPT_INVALID_ARGUMENT,
     {"scaler_count is -1"},
     [](World &w) { return lpt_scaler_update(w.c, nullptr, -1); }},
    {"scaler_update: no array",
     LPT_INVALID_ARGUMENT,
     {"scalers is NULL"},
     [](World &w) { return lpt_scaler_update(w.c, nullptr, 2); }},
    {"scaler_update: a NULL among them",
     LPT_INVALID_ARGUMENT,
     {"scalers[1] is NULL"},
     [](World &w) {
       lpt_scaler *const s[] = {w.scaler.get(), nullptr};
       return lpt_scaler_update(w.c, s, 2);
     }},
    {"scaler_update: a tensor among them",
     LPT_INVALID_ARGUMENT,
     {"scalers[1] is not a live handle"},
     [](World &w) {
       lpt_scaler *const s[] = {w.scaler.get(), cast<lpt_scaler>(w.source.get())};
       return lpt_scaler_update(w.c, s, 2);
     }},
    {"scaler_read: no scaler",
     LPT_INVALID_ARGUMENT,
     {"scaler is NULL"},
     [](World &w) {
       lpt_scaler_values v = LPT_SCALER_VALUES_INIT;
       return lpt_scaler_read(w.c, nullptr, &v);
     }},
    {"scaler_state_size: no scaler",
     LPT_INVALID_ARGUMENT,
     {"scaler is NULL"},
     [](World &w) { return lpt_scaler_state_size(w.c, nullptr, &w.out_size); }},
    {"scaler_state_load: no scaler",
     LPT_INVALID_ARGUMENT,
     {"scaler is NULL"},
     [](World &w) { return lpt_scaler_state_load(w.c, nullptr, w.buffer.data(), 64); }},
    {"scaler_read: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_values is NULL"},
     [](World &w) { return lpt_scaler_read(w.c, w.scaler.get(), nullptr); }},
    {"scaler_state_save: too little room",
     LPT_INVALID_ARGUMENT,
     {"buffer_bytes is 3"},
     [](World &w) { return lpt_scaler_state_save(w.c, w.scaler.get(), w.buffer.data(), 3); }},
    {"scaler_state_save: NULL",
     LPT_INVALID_ARGUMENT,
     {"buffer is NULL"},
     [](World &w) { return lpt_scaler_state_save(w.c, w.scaler.get(), nullptr, 4096); }},
    {"scaler_state_load: NULL",
     LPT_INVALID_ARGUMENT,
     {"buffer is NULL"},
     [](World &w) { return lpt_scaler_state_load(w.c, w.scaler.get(), nullptr, 4096); }},
    {"scaler_state_load: empty",
     LPT_INVALID_STATE,
     {"saved state", "0 bytes"},
     [](World &w) { return lpt_scaler_state_load(w.c, w.scaler.get(), w.buffer.data(), 0); }},
    {"scaler_state_load: truncated",
     LPT_INVALID_STATE,
     {"saved state", "truncated"},
     [](World &w) { return load_scaler(w, cut(w.scaler_state, 1)); }},
    {"scaler_state_load: no state at all",
     LPT_INVALID_STATE,
     {"saved state", "LPTS"},
     [](World &w) { return load_scaler(w, w.buffer); }},
    {"scaler_state_load: another version",
     LPT_INVALID_STATE,
     {"saved state", "version 17"},
     [](World &w) { return load_scaler(w, flipped(w.scaler_state, 4)); }},
    {"scaler_state_load: state of a layer",
     LPT_INVALID_STATE,
     {"saved state", "kind 2", "expected 1"},
     [](World &w) { return load_scaler(w, w.linear_state); }},
    {"scaler_state_load: damaged",
     LPT_INVALID_STATE,
     {"saved state", "checksum"},
     [](World &w) { return load_scaler(w, flipped(w.scaler_state, w.scaler_state.size() - 1)); }},
    {"scaler_state_load: of another history",
     LPT_INVALID_STATE,
     {"history_length is 2", "expected 1"},
     [](World &w) {
       Scaler other;
       lpt_scaler_options o = LPT_SCALER_OPTIONS_INIT;
       o.kind = LPT_SCALER_DELAYED;
       EXPECT_TRUE(ok(w.owner.get(), lpt_scaler_create(w.owner.get(), &o, out(other))));
       return lpt_scaler_state_load(w.c, other.get(), w.scaler_state.data(), w.scaler_state.size());
     }},
};

const std::vector<BadCall> kGemmCalls = {
    {"gemm: no a",
     LPT_INVALID_ARGUMENT,
     {"a is NULL"},
     [](World &w) { return lpt_gemm(w.c, nullptr, w.b.get(), nullptr, w.product.get()); }},
    {"gemm: no c",
     LPT_INVALID_ARGUMENT,
     {"c is NULL"},
     [](World &w) { return lpt_gemm(w.c, w.a.get(), w.b.get(), nullptr, nullptr); }},
    {"gemm: a layer for b",
     LPT_INVALID_ARGUMENT,
     {"b is not a live tensor"},
     [](World &w) { return lpt_gemm(w.c, w.a.get(), cast<lpt_tensor>(w.linear.get()), nullptr, w.product.get()); }},
    {"gemm: inner sizes",
     LPT_INVALID_ARGUMENT,
     {"inner sizes differ", "a is 4×8", "b is 4×32"},
     [](World &w) { return lpt_gemm(w.c, w.a.get(), w.source.get(), nullptr, w.product.get()); }},
    {"gemm: inner sizes of a transposed one",
     LPT_INVALID_ARGUMENT,
     {"inner sizes differ", "8×6 f32 transposed"},
     [](World &w) { return multiply(w, w.product, [](auto &o) { o.is_b_transposed = 1; }); }},
    {"gemm: c of another shape",
     LPT_INVALID_ARGUMENT,
     {"c is 4×32", "4×6"},
     [](World &w) { return multiply(w, w.wide, kUnchanged); }},
    {"gemm: codes as c",
     LPT_UNSUPPORTED,
     {"c is e4m3fn", "f64, f32, bf16 or f16"},
     [](World &w) { return multiply(w, w.product_codes, kUnchanged); }},
    {"gemm: bytes as a",
     LPT_UNSUPPORTED,
     {"a is uint8"},
     [](World &w) { return lpt_gemm(w.c, w.bytes.get(), w.b.get(), nullptr, w.product.get()); }},
    {"gemm: no truth value",
     LPT_INVALID_ARGUMENT,
     {"is_a_transposed is 2", "0 to 1"},
     [](World &w) { return multiply(w, w.product, [](auto &o) { o.is_a_transposed = 2; }); }},
    {"gemm: alpha NaN",
     LPT_INVALID_ARGUMENT,
     {"alpha is", "nan", "finite"},
     [](World &w) { return multiply(w, w.product, [](auto &o) { o.alpha = std::nan(""); }); }},
    {"gemm: beta infinite",
     LPT_INVALID_ARGUMENT,
     {"beta is inf", "finite"},
     [](World &w) { return multiply(w, w.product, [](auto &o) { o.beta = INFINITY; }); }},
    {"gemm: bias of another length",
     LPT_INVALID_ARGUMENT,
     {"bias is 7", "vector of 6"},
     [](World &w) { return multiply(w, w.product, [&](auto &o) { o.bias = w.long_bias.get(); }); }},
    {"gemm: bias of another format",
     LPT_INVALID_ARGUMENT,
     {"bias is f64", "expected f32"},
     [](World &w) { return multiply(w, w.product, [&](auto &o) { o.bias = w.double_bias.get(); }); }},
    {"gemm: c over a",
     LPT_INVALID_ARGUMENT,
     {"c at", "overlaps a"},
     [](World &w) {
       const Tensor over = wrap(w.owner.get(), LPT_FORMAT_F32, describe(w.owner.get(), w.a.get()).data, 4, 6);
       return multiply(w, over, kUnchanged);
     }},
    {"gemm: c over b",
     LPT_INVALID_ARGUMENT,
     {"c at", "overlaps b"},
     [](World &w) {
       const Tensor over = wrap(w.owner.get(), LPT_FORMAT_F32, describe(w.owner.get(), w.b.get()).data, 4, 6);
       return multiply(w, over, kUnchanged);
     }},
    {"gemm: c over the bias",
     LPT_INVALID_ARGUMENT,
     {"c at", "overlaps bias"},
     [](World &w) {
       const Tensor over = wrap(w.owner.get(), LPT_FORMAT_F32, describe(w.owner.get(), w.product.get()).data, 1, 6);
       return multiply(w, w.product, [&](auto &o) { o.bias = over.get(); });
     }},
    {"gemm: member that is unknown",
     LPT_UNSUPPORTED,
     {"options sets a member", "does not know"},
     [](World &w) {
       NewerGemmOptions newer = {LPT_GEMM_OPTIONS_INIT, 1};
       newer.known.struct_size = sizeof newer;
       return lpt_gemm(w.c, w.a.get(), w.b.get(), &newer.known, w.product.get());
     }},
    {"gemm: unknown flag",
     LPT_UNSUPPORTED,
     {"flags is 0x4"},
     [](World &w) { return multiply(w, w.product, [](auto &o) { o.flags = 4; }); }},
};

const std::vector<BadCall> kRecipeCalls = {
    {"recipe_create: NULL",
     LPT_INVALID_ARGUMENT,
     {"name is NULL"},
     [](World &w) { return lpt_recipe_create(w.c, nullptr, &w.out_recipe); }},
    {"recipe_create: unknown name",
     LPT_INVALID_ARGUMENT,
     {"'fp9'", "f32", "bf16", "fp8_trillion"},
     [](World &w) { return lpt_recipe_create(w.c, "fp9", &w.out_recipe); }},
    {"recipe_set_cast: unknown cast",
     LPT_INVALID_ARGUMENT,
     {"cast is 6", "0 to 5"},
     [](World &w) { return set_cast(w, 6, LPT_FORMAT_BF16, kUnchanged); }},
    {"recipe_set_cast: bytes",
     LPT_INVALID_ARGUMENT,
     {"format is uint8"},
     [](World &w) { return set_cast(w, 0, LPT_FORMAT_UINT8, kUnchanged); }},
    {"recipe_set_cast: no format",
     LPT_INVALID_ARGUMENT,
     {"format is format 4711"},
     [](World &w) { return set_cast(w, 0, 4711, kUnchanged); }},
    {"recipe_set_cast: a handle",
     LPT_INVALID_ARGUMENT,
     {"scaler is given", "no handles"},
     [](World &w) { return set_cast(w, 0, LPT_FORMAT_E5M2_TENSOR, [&](auto &o) { o.scaler = w.scaler.get(); }); }},
    {"recipe_set_cast: random numbers",
     LPT_INVALID_ARGUMENT,
     {"random is set"},
     [](World &w) { return set_cast(w, 0, LPT_FORMAT_E5M2_TENSOR, [](auto &o) { o.random.seed = 1; }); }},
    {"recipe_set_cast: scale rule of another scale",
     LPT_UNSUPPORTED,
     {"scale_rule is 5", "mxfp4"},
     [](World &w) { return set_cast(w, 0, LPT_FORMAT_MXFP4, [](auto &o) { o.scale_rule = LPT_SCALE_RULE_NEAREST; }); }},
    {"recipe_set_cast: no recipe",
     LPT_INVALID_ARGUMENT,
     {"recipe is NULL"},
     [](World &w) { return lpt_recipe_set_cast(w.c, nullptr, 0, LPT_FORMAT_BF16, nullptr); }},
    {"recipe_set_scaler: unknown operand",
     LPT_INVALID_ARGUMENT,
     {"operand is 3", "0 to 2"},
     [](World &w) { return lpt_recipe_set_scaler(w.c, w.recipe.get(), 3, nullptr); }},
    {"recipe_set_scaler: bad options",
     LPT_INVALID_ARGUMENT,
     {"history_length is -1"},
     [](World &w) {
       lpt_scaler_options o = LPT_SCALER_OPTIONS_INIT;
       o.history_length = -1;
       return lpt_recipe_set_scaler(w.c, w.recipe.get(), 0, &o);
     }},
    {"recipe_cast_format: unknown cast",
     LPT_INVALID_ARGUMENT,
     {"cast is -1", "0 to 5"},
     [](World &w) { return lpt_recipe_cast_format(w.c, w.recipe.get(), -1, &w.out_number); }},
};

const std::vector<BadCall> kLinearCalls = {
    {"linear_create: no shape",
     LPT_INVALID_ARGUMENT,
     {"shape is NULL"},
     [](World &w) { return lpt_linear_create(w.c, w.recipe.get(), nullptr, &w.out_linear); }},
    {"linear_create: no columns",
     LPT_INVALID_ARGUMENT,
     {"input_columns is 0", "1 to 2^28"},
     [](World &w) { return create_linear(w, 0, 6); }},
    {"linear_create: too many columns",
     LPT_INVALID_ARGUMENT,
     {"output_columns is 536870912", "1 to 2^28"},
     [](World &w) { return create_linear(w, 8, int64_t{1} << 29); }},
    {"linear_create: a layer for a recipe",
     LPT_INVALID_ARGUMENT,
     {"recipe is not a live handle"},
     [](World &w) {
       lpt_linear_shape s = {sizeof s, 8, 6};
       return lpt_linear_create(w.c, cast<lpt_recipe>(w.linear.get()), &s, &w.out_linear);
     }},
    {"linear_prepare: no weight",
     LPT_INVALID_ARGUMENT,
     {"weight is NULL"},
     [](World &w) { return lpt_linear_prepare(w.c, w.linear.get(), nullptr, nullptr); }},
    {"linear_prepare: weight of another shape",
     LPT_INVALID_ARGUMENT,
     {"weight is 8×6", "6×8"},
     [](World &w) { return lpt_linear_prepare(w.c, w.linear.get(), w.b.get(), nullptr); }},
    {"linear_prepare: f64 after f32",
     LPT_INVALID_ARGUMENT,
     {"weight is f64"},
     [](World &w) {
       const Tensor f64 = make_tensor(w.owner.get(), LPT_FORMAT_F64, 6, 8);
       return lpt_linear_prepare(w.c, w.linear.get(), f64.get(), nullptr);
     }},
    {"linear_forward: no layer",
     LPT_INVALID_ARGUMENT,
     {"linear is NULL"},
     [](World &w) { return lpt_linear_forward(w.c, nullptr, w.a.get(), nullptr, nullptr, w.product.get()); }},
    {"linear_forward: not prepared",
     LPT_INVALID_ARGUMENT,
     {"linear", "lpt_linear_prepare()"},
     [](World &w) {
       return lpt_linear_forward(w.c, w.raw_linear.get(), w.a.get(), nullptr, nullptr, w.product.get());
     }},
    {"linear_forward: input of other columns",
     LPT_INVALID_ARGUMENT,
     {"input is 4×32", "4×8"},
     [](World &w) {
       return lpt_linear_forward(w.c, w.linear.get(), w.source.get(), nullptr, nullptr, w.product.get());
     }},
    {"linear_forward: output of another shape",
     LPT_INVALID_ARGUMENT,
     {"output is 4×32", "4×6"},
     [](World &w) { return lpt_linear_forward(w.c, w.linear.get(), w.a.get(), nullptr, nullptr, w.wide.get()); }},
    {"linear_forward: output over the input",
     LPT_INVALID_ARGUMENT,
     {"output at", "overlaps input"},
     [](World &w) {
       const Tensor over = wrap(w.owner.get(), LPT_FORMAT_F32, describe(w.owner.get(), w.a.get()).data, 4, 6);
       return lpt_linear_forward(w.c, w.linear.get(), w.a.get(), nullptr, nullptr, over.get());
     }},
    {"linear_forward: saved of another size",
     LPT_INVALID_ARGUMENT,
     {"saved is", "expected a vector of"},
     [](World &w) {
       return lpt_linear_forward(w.c, w.linear.get(), w.a.get(), nullptr, w.bytes.get(), w.product.get());
     }},
    {"linear_forward: saved of numbers",
     LPT_INVALID_ARGUMENT,
     {"saved is f32", "expected uint8"},
     [](World &w) {
       const Tensor numbers =
           make_tensor(w.owner.get(), LPT_FORMAT_F32, {shape_of(w.owner.get(), w.saved.get()).columns});
       return lpt_linear_forward(w.c, w.linear.get(), w.a.get(), nullptr, numbers.get(), w.product.get());
     }},
    {"linear_forward: places that are the layer's",
     LPT_INVALID_ARGUMENT,
     {"random.offset is 3", "first_row"},
     [](World &w) { return forward(w, [](auto &o) { o.random.offset = 3; }); }},
    {"linear_forward: negative first row",
     LPT_INVALID_ARGUMENT,
     {"first_row is -1"},
     [](World &w) { return forward(w, [](auto &o) { o.first_row = -1; }); }},
    {"linear_forward: first row beyond any index",
     LPT_INVALID_ARGUMENT,
     {"first_row is 9223372036854775807"},
     [](World &w) { return forward(w, [](auto &o) { o.first_row = INT64_MAX; }); }},
    {"linear_forward: stream of 2^24",
     LPT_INVALID_ARGUMENT,
     {"random.stream is 16777216"},
     [](World &w) { return forward(w, [](auto &o) { o.random.stream = 1u << 24; }); }},
    {"linear_forward: no truth value",
     LPT_INVALID_ARGUMENT,
     {"is_accumulated is 2", "0 to 1"},
     [](World &w) { return forward(w, [](auto &o) { o.is_accumulated = 2; }); }},
    {"linear_forward: bias of another length",
     LPT_INVALID_ARGUMENT,
     {"bias is 7", "vector of 6"},
     [](World &w) { return forward(w, [&](auto &o) { o.bias = w.long_bias.get(); }); }},
    {"linear_forward: factors of another length",
     LPT_INVALID_ARGUMENT,
     {"input_smoothing is 1×32", "vector of 8"},
     [](World &w) { return forward(w, [&](auto &o) { o.input_smoothing = w.factors.get(); }); }},
    {"linear_forward: factors with blocks",
     LPT_UNSUPPORTED,
     {"input_smoothing", "mxfp8_e4m3", "tensor scales"},
     [](World &w) {
       lpt_linear_options o = LPT_LINEAR_OPTIONS_INIT;
       o.input_smoothing = w.input_factors.get();
       return lpt_linear_forward(w.c, w.block_linear.get(), w.a.get(), &o, nullptr, w.product.get());
     }},
    {"linear_backward: no output",
     LPT_INVALID_ARGUMENT,
     {"input_gradient, weight_gradient and bias_gradient are NULL"},
     [](World &w) {
       return lpt_linear_backward(w.c, w.linear.get(), w.saved.get(), w.output_gradient.get(), nullptr, nullptr,
                                  nullptr, nullptr);
     }},
    {"linear_backward: nothing saved",
     LPT_INVALID_ARGUMENT,
     {"saved is NULL", "weight_gradient"},
     [](World &w) { return backward(w, Tensor(), w.weight_gradient); }},
    {"linear_backward: saved was not written",
     LPT_INVALID_ARGUMENT,
     {"saved was not written", "4 rows"},
     [](World &w) { return backward(w, w.unsaved, w.weight_gradient); }},
    {"linear_backward: saved with other rows",
     LPT_INVALID_ARGUMENT,
     {"saved was not written", "4 rows"},
     [](World &w) { return backward(w, w.saved_of_5_rows, w.weight_gradient); }},
    {"linear_backward: weight gradient in bf16",
     LPT_UNSUPPORTED,
     {"weight_gradient is bf16", "f32 or f64"},
     [](World &w) { return backward(w, w.saved, w.bf16_weight_gradient); }},
    {"linear_backward: weight gradient of another shape",
     LPT_INVALID_ARGUMENT,
     {"weight_gradient is 4×32", "6×8"},
     [](World &w) { return backward(w, w.saved, w.wide); }},
    {"linear_backward: input gradient over the output gradient",
     LPT_INVALID_ARGUMENT,
     {"input_gradient", "overlaps output_gradient"},
     [](World &w) {
       Tensor dy = wrap(w.owner.get(), LPT_FORMAT_F32, describe(w.owner.get(), w.input_gradient.get()).data, 4, 6);
       return lpt_linear_backward(w.c, w.linear.get(), nullptr, dy.get(), nullptr, w.input_gradient.get(), nullptr,
                                  nullptr);
     }},
    {"linear_backward: weight gradient over what was saved",
     LPT_INVALID_ARGUMENT,
     {"weight_gradient", "overlaps saved"},
     [](World &w) {
       Tensor over = wrap(w.owner.get(), LPT_FORMAT_F32, describe(w.owner.get(), w.saved.get()).data, 6, 8);
       return backward(w, w.saved, over);
     }},
    {"linear_saved_size: negative rows",
     LPT_INVALID_ARGUMENT,
     {"rows is -1"},
     [](World &w) { return lpt_linear_saved_size(w.c, w.linear.get(), -1, &w.out_size); }},
    {"linear_saved_size: more rows than can be",
     LPT_INVALID_ARGUMENT,
     {"rows is 1152921504606846976"},
     [](World &w) { return lpt_linear_saved_size(w.c, w.linear.get(), int64_t{1} << 60, &w.out_size); }},
    {"linear_saved_size: no layer",
     LPT_INVALID_ARGUMENT,
     {"linear is NULL"},
     [](World &w) { return lpt_linear_saved_size(w.c, nullptr, 4, &w.out_size); }},
    {"linear_cast_size: no layer",
     LPT_INVALID_ARGUMENT,
     {"linear is NULL"},
     [](World &w) { return lpt_linear_cast_size(w.c, nullptr, &w.out_size); }},
    {"linear_prepare: no layer",
     LPT_INVALID_ARGUMENT,
     {"linear is NULL"},
     [](World &w) { return lpt_linear_prepare(w.c, nullptr, w.weight.get(), nullptr); }},
    {"linear_backward: no layer",
     LPT_INVALID_ARGUMENT,
     {"linear is NULL"},
     [](World &w) {
       return lpt_linear_backward(w.c, nullptr, w.saved.get(), w.output_gradient.get(), nullptr, w.input_gradient.get(),
                                  nullptr, nullptr);
     }},
    {"linear_backward: output over itself",
     LPT_INVALID_ARGUMENT,
     {"weight_gradient", "overlaps input_gradient"},
     [](World &w) {
       Tensor over = wrap(w.owner.get(), LPT_FORMAT_F32, w.buffer.data(), 6, 8);
       Tensor dx = wrap(w.owner.get(), LPT_FORMAT_F32, w.buffer.data(), 4, 8);
       return lpt_linear_backward(w.c, w.linear.get(), w.saved.get(), w.output_gradient.get(), nullptr, dx.get(),
                                  over.get(), nullptr);
     }},
    {"linear_update: a NULL among them",
     LPT_INVALID_ARGUMENT,
     {"linears[1] is NULL"},
     [](World &w) {
       lpt_linear *const l[] = {w.linear.get(), nullptr};
       return lpt_linear_update(w.c, l, 2);
     }},
    {"linear_scaler_read: unknown operand",
     LPT_INVALID_ARGUMENT,
     {"operand is 7", "0 to 2"},
     [](World &w) {
       lpt_scaler_values v = LPT_SCALER_VALUES_INIT;
       return lpt_linear_scaler_read(w.c, w.linear.get(), 7, &v);
     }},
    {"linear_state_load: truncated",
     LPT_INVALID_STATE,
     {"saved state", "truncated"},
     [](World &w) { return load_linear(w, cut(w.linear_state, 4)); }},
    {"linear_state_load: damaged",
     LPT_INVALID_STATE,
     {"saved state", "checksum"},
     [](World &w) { return load_linear(w, flipped(w.linear_state, 40)); }},
    {"linear_state_load: state of a scaler",
     LPT_INVALID_STATE,
     {"kind 1", "expected 2"},
     [](World &w) { return load_linear(w, w.scaler_state); }},
    {"linear_state_load: of other columns",
     LPT_INVALID_STATE,
     {"input_columns is 8", "expected 9"},
     [](World &w) {
       lpt_linear_shape s = {sizeof s, 9, 6};
       Linear other;
       EXPECT_TRUE(ok(w.owner.get(), lpt_linear_create(w.owner.get(), w.recipe.get(), &s, out(other))));
       return lpt_linear_state_load(w.c, other.get(), w.linear_state.data(), w.linear_state.size());
     }},
};

const std::vector<BadCall> kLayerCalls = {
    {"swiglu_forward: unknown smoothing",
     LPT_INVALID_ARGUMENT,
     {"smoothing is 2", "0 to 1"},
     [](World &w) { return swiglu(w, 2, w.written_factors.get()); }},
    {"swiglu_forward: factors that are not asked for",
     LPT_INVALID_ARGUMENT,
     {"smoothing is given", "LPT_SMOOTHING_CHANNEL"},
     [](World &w) { return swiglu(w, LPT_SMOOTHING_NONE, w.written_factors.get()); }},
    {"swiglu_forward: no room for factors",
     LPT_INVALID_ARGUMENT,
     {"smoothing is NULL"},
     [](World &w) { return swiglu(w, LPT_SMOOTHING_CHANNEL, nullptr); }},
    {"swiglu_forward: up of another shape",
     LPT_INVALID_ARGUMENT,
     {"up is 4×32", "4×8"},
     [](World &w) {
       return lpt_swiglu_forward(w.c, w.gate.get(), w.source.get(), nullptr, w.activation.get(), nullptr);
     }},
    {"swiglu_forward: output over the gate",
     LPT_INVALID_ARGUMENT,
     {"output at", "overlaps gate"},
     [](World &w) { return lpt_swiglu_forward(w.c, w.gate.get(), w.up.get(), nullptr, w.gate.get(), nullptr); }},
    {"swiglu_backward: gradients over each other",
     LPT_INVALID_ARGUMENT,
     {"gate_gradient", "overlaps up_gradient"},
     [](World &w) {
       return lpt_swiglu_backward(w.c, w.gate.get(), w.up.get(), w.a.get(), nullptr, w.up_gradient.get(),
                                  w.up_gradient.get());
     }},
    {"swiglu_backward: no gradient",
     LPT_INVALID_ARGUMENT,
     {"output_gradient is NULL"},
     [](World &w) {
       return lpt_swiglu_backward(w.c, w.gate.get(), w.up.get(), nullptr, nullptr, w.activation.get(),
                                  w.up_gradient.get());
     }},
    {"rmsnorm_forward: negative epsilon",
     LPT_INVALID_ARGUMENT,
     {"epsilon is -1"},
     [](World &w) {
       lpt_rmsnorm_options o = LPT_RMSNORM_OPTIONS_INIT;
       o.epsilon = -1;
       return lpt_rmsnorm_forward(w.c, w.gate.get(), w.norm_weight.get(), &o, w.activation.get(), w.inverse_rms.get());
     }},
    {"rmsnorm_forward: weight of another length",
     LPT_INVALID_ARGUMENT,
     {"weight is 6", "vector of 8"},
     [](World &w) {
       return lpt_rmsnorm_forward(w.c, w.gate.get(), w.bias.get(), nullptr, w.activation.get(), w.inverse_rms.get());
     }},
    {"rmsnorm_forward: inverse rms of another length",
     LPT_INVALID_ARGUMENT,
     {"inverse_rms is 8", "vector of 4"},
     [](World &w) {
       return lpt_rmsnorm_forward(w.c, w.gate.get(), w.norm_weight.get(), nullptr, w.activation.get(),
                                  w.norm_weight_gradient.get());
     }},
    {"rmsnorm_backward: no output",
     LPT_INVALID_ARGUMENT,
     {"input_gradient and weight_gradient are NULL"},
     [](World &w) {
       return lpt_rmsnorm_backward(w.c, w.gate.get(), w.norm_weight.get(), w.inverse_rms.get(), w.up.get(), nullptr,
                                   nullptr, nullptr);
     }},
    {"rmsnorm_backward: no truth value",
     LPT_INVALID_ARGUMENT,
     {"is_accumulated is 3"},
     [](World &w) {
       lpt_rmsnorm_options o = LPT_RMSNORM_OPTIONS_INIT;
       o.is_accumulated = 3;
       return lpt_rmsnorm_backward(w.c, w.gate.get(), w.norm_weight.get(), w.inverse_rms.get(), w.up.get(), &o,
                                   w.activation.get(), w.norm_weight_gradient.get());
     }},
    {"softmax_forward: no truth value",
     LPT_INVALID_ARGUMENT,
     {"is_causal is 2", "0 to 1"},
     [](World &w) { return softmax(w, w.gate, w.activation, [](auto &o) { o.is_causal = 2; }); }},
    {"softmax_forward: infinite scale",
     LPT_INVALID_ARGUMENT,
     {"scale is inf"},
     [](World &w) { return softmax(w, w.gate, w.activation, [](auto &o) { o.scale = INFINITY; }); }},
    {"softmax_forward: a causal vector",
     LPT_INVALID_ARGUMENT,
     {"is_causal is 1", "rank 2 or more"},
     [](World &w) { return softmax(w, w.line, w.line_output, [](auto &o) { o.is_causal = 1; }); }},
    {"softmax_forward: output of another shape",
     LPT_INVALID_ARGUMENT,
     {"output is 4×32", "4×8"},
     [](World &w) { return softmax(w, w.gate, w.wide, kUnchanged); }},
    {"softmax_forward: output over the input",
     LPT_INVALID_ARGUMENT,
     {"output at", "overlaps input"},
     [](World &w) { return softmax(w, w.gate, w.gate, kUnchanged); }},
    {"softmax_backward: gradient of another shape",
     LPT_INVALID_ARGUMENT,
     {"output_gradient is 4×32", "4×8"},
     [](World &w) { return lpt_softmax_backward(w.c, w.gate.get(), w.source.get(), nullptr, w.activation.get()); }},
};

const std::vector<BadCall> kOptimizerCalls = {
    {"optimizer_create: beta1 of 1",
     LPT_INVALID_ARGUMENT,
     {"beta1 is 1", "less than 1"},
     [](World &w) { return create_optimizer(w, [](auto &o) { o.beta1 = 1.0; }); }},
    {"optimizer_create: beta2 NaN",
     LPT_INVALID_ARGUMENT,
     {"beta2 is", "nan"},
     [](World &w) { return create_optimizer(w, [](auto &o) { o.beta2 = std::nan(""); }); }},
    {"optimizer_create: negative epsilon",
     LPT_INVALID_ARGUMENT,
     {"epsilon is -1e-08"},
     [](World &w) { return create_optimizer(w, [](auto &o) { o.epsilon = -1e-8; }); }},
    {"optimizer_create: unknown underflow",
     LPT_INVALID_ARGUMENT,
     {"second_underflow is 2", "0 to 1"},
     [](World &w) { return create_optimizer(w, [](auto &o) { o.second_underflow = 2; }); }},
    {"optimizer_add: no parameter",
     LPT_INVALID_ARGUMENT,
     {"parameter is NULL"},
     [](World &w) { return lpt_optimizer_add(w.c, w.optimizer.get(), nullptr, &w.out_number); }},
    {"optimizer_add: negative elements",
     LPT_INVALID_ARGUMENT,
     {"elements is -1"},
     [](World &w) { return add(w, [](auto &p) { p.elements = -1; }); }},
    {"optimizer_add: moments with blocks",
     LPT_UNSUPPORTED,
     {"first_moment is mxfp8_e4m3"},
     [](World &w) { return add(w, [](auto &p) { p.first_moment = LPT_FORMAT_MXFP8_E4M3; }); }},
    {"optimizer_add: negative decay",
     LPT_INVALID_ARGUMENT,
     {"weight_decay is -0.1"},
     [](World &w) { return add(w, [](auto &p) { p.weight_decay = -0.1; }); }},
    {"optimizer_step: no optimizer",
     LPT_INVALID_ARGUMENT,
     {"optimizer is NULL"},
     [](World &w) { return lpt_optimizer_step(w.c, nullptr, nullptr, 0, nullptr, nullptr, nullptr); }},
    {"optimizer_step: negative count",
     LPT_INVALID_ARGUMENT,
     {"count is -1"},
     [](World &w) { return lpt_optimizer_step(w.c, w.optimizer.get(), nullptr, -1, nullptr, nullptr, nullptr); }},
    {"optimizer_step: no indices",
     LPT_INVALID_ARGUMENT,
     {"indices is NULL"},
     [](World &w) { return lpt_optimizer_step(w.c, w.optimizer.get(), nullptr, 2, nullptr, nullptr, nullptr); }},
    {"optimizer_step: the same parameter twice",
     LPT_INVALID_ARGUMENT,
     {"indices[1] is 0 again", "at most once"},
     [](World &w) {
       return step(w, {0, 0}, w.gradient, w.parameter, kUnchanged);
     }},
    {"optimizer_step: index out of range",
     LPT_INVALID_ARGUMENT,
     {"indices[1] is 7", "0 to 1"},
     [](World &w) {
       return step(w, {0, 7}, w.gradient, w.parameter, kUnchanged);
     }},
    {"optimizer_step: learning rate NaN",
     LPT_INVALID_ARGUMENT,
     {"learning_rate is", "nan"},
     [](World &w) {
       return step(w, {0, 1}, w.gradient, w.parameter, [](auto &o) { o.learning_rate = std::nan(""); });
     }},
    {"optimizer_step: infinite gradient scale",
     LPT_INVALID_ARGUMENT,
     {"gradient_scale is inf"},
     [](World &w) {
       return step(w, {0, 1}, w.gradient, w.parameter, [](auto &o) { o.gradient_scale = INFINITY; });
     }},
    {"optimizer_step: unknown rounding",
     LPT_INVALID_ARGUMENT,
     {"parameter_rounding is 3"},
     [](World &w) {
       return step(w, {0, 1}, w.gradient, w.parameter, [](auto &o) { o.parameter_rounding = 3; });
     }},
    {"optimizer_step: gradient of another size",
     LPT_INVALID_ARGUMENT,
     {"gradients[0] is 4×6", "32 elements"},
     [](World &w) {
       return step(w, {0, 1}, w.output_gradient, w.parameter, kUnchanged);
     }},
    {"optimizer_step: gradient in f64",
     LPT_UNSUPPORTED,
     {"gradients[0] is f64", "f32 or bf16"},
     [](World &w) {
       return step(w, {0, 1}, w.f64_tensor, w.parameter, kUnchanged);
     }},
    {"optimizer_step: parameter in f64",
     LPT_UNSUPPORTED,
     {"parameters[0] is f64"},
     [](World &w) {
       return step(w, {0, 1}, w.gradient, w.f64_tensor, kUnchanged);
     }},
    {"optimizer_step: parameter over its gradient",
     LPT_INVALID_ARGUMENT,
     {"overlaps", "parameters[0]", "gradients["},
     [](World &w) {
       return step(w, {0, 1}, w.gradient, w.gradient, kUnchanged);
     }},
    {"optimizer_step: parameters over each other",
     LPT_INVALID_ARGUMENT,
     {"overlaps", "parameters[0]", "parameters[1]"},
     [](World &w) {
       return step(w, {0, 1}, w.gradient, w.other_parameter, kUnchanged);
     }},
    {"optimizer_size: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_size_bytes is NULL"},
     [](World &w) { return lpt_optimizer_size(w.c, w.optimizer.get(), nullptr); }},
    {"optimizer_state_size: index out of range",
     LPT_INVALID_ARGUMENT,
     {"index is 2", "0 to 1"},
     [](World &w) { return lpt_optimizer_state_size(w.c, w.optimizer.get(), 2, &w.out_size); }},
    {"optimizer_state_save: too little room",
     LPT_INVALID_ARGUMENT,
     {"buffer_bytes is 31"},
     [](World &w) { return lpt_optimizer_state_save(w.c, w.optimizer.get(), 0, w.buffer.data(), 31); }},
    {"optimizer_state_load: truncated",
     LPT_INVALID_STATE,
     {"saved state", "truncated"},
     [](World &w) { return load_parameter(w, 0, cut(w.optimizer_state, 9)); }},
    {"optimizer_state_load: damaged",
     LPT_INVALID_STATE,
     {"saved state", "checksum"},
     [](World &w) { return load_parameter(w, 0, flipped(w.optimizer_state, 100)); }},
    {"optimizer_state_load: other formats",
     LPT_INVALID_STATE,
     {"first moment's format is 2", "expected 64"},
     [](World &w) { return load_parameter(w, 1, w.optimizer_state); }},
    {"optimizer_state_load: state of a scaler",
     LPT_INVALID_STATE,
     {"kind 1", "expected 3"},
     [](World &w) { return load_parameter(w, 0, w.scaler_state); }},
};

const std::vector<BadCall> kNullContextCalls = {
    {"quantize: no context",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) { return lpt_quantize(nullptr, w.source.get(), nullptr, w.fp8.get(), nullptr); }},
    {"quantize: a tensor for the context",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) {
       return lpt_quantize(cast<lpt_context>(w.source.get()), w.source.get(), nullptr, w.fp8.get(), nullptr);
     }},
    {"gemm: no context",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) { return lpt_gemm(nullptr, w.a.get(), w.b.get(), nullptr, w.product.get()); }},
    {"tensor_create: no context",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) {
       const int64_t e[] = {1};
       return lpt_tensor_create(nullptr, LPT_FORMAT_F32, 1, e, &w.out_tensor);
     }},
    {"format_name: no format",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) { return lpt_format_name(12345, reinterpret_cast<char *>(w.buffer.data()), 100, &w.out_size); }},
    {"format_name: no buffer",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) { return lpt_format_name(LPT_FORMAT_F32, nullptr, 100, &w.out_size); }},
    {"format_from_name: no such name",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) { return lpt_format_from_name("e9m9", &w.out_number); }},
    {"format_from_name: NULL",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) { return lpt_format_from_name(nullptr, &w.out_number); }},
    {"format_from_name: empty",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) { return lpt_format_from_name("", &w.out_number); }},
    {"format_from_description: parts that make none",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) {
       lpt_format_description d = LPT_FORMAT_DESCRIPTION_INIT;
       d.element = LPT_FORMAT_E4M3FN;
       d.block_scale = LPT_FORMAT_F32;
       d.block_rows = 3;
       d.block_columns = 32;
       return lpt_format_from_description(&d, &w.out_number);
     }},
    {"format_describe: no format",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &) {
       lpt_format_description d = LPT_FORMAT_DESCRIPTION_INIT;
       return lpt_format_describe(-5, &d);
     }},
};

class BadCalls : public testing::TestWithParam<const std::vector<BadCall> *> {};

std::string text_of(const World &w) {
  return w.error_text[0] != '\0' ? w.error_text : lpt_context_error(w.context.get());
}

TEST_P(BadCalls, GiveTheirStatusAndSayWhatIsWrong) {
  for (const BadCall &bad : *GetParam()) {
    World w;
    const lpt_status status = bad.call(w);
    const std::string text = text_of(w);
    EXPECT_EQ(bad.status, status) << bad.name << ": " << text;
    for (const char *word : bad.words) EXPECT_NE(std::string::npos, text.find(word)) << bad.name << ": " << text;
  }
}

TEST_P(BadCalls, LeaveEveryOutputAsItWas) {
  for (const BadCall &bad : *GetParam()) {
    World w;
    const std::vector<uint8_t> before = w.snapshot();
    bad.call(w);
    EXPECT_TRUE(before == w.snapshot()) << bad.name;
  }
}

TEST_P(BadCalls, LeaveTheContextFitForWork) {
  World w;
  for (const BadCall &bad : *GetParam()) bad.call(w);
  const Tensor target = make_tensor(w.context.get(), LPT_FORMAT_F32, 4, 6);
  EXPECT_TRUE(ok(w.context.get(), lpt_gemm(w.context.get(), w.a.get(), w.b.get(), nullptr, target.get())));
  EXPECT_STREQ("", lpt_context_error(w.context.get()));
}

INSTANTIATE_TEST_SUITE_P(OfContext, BadCalls, testing::Values(&kContextCalls));
INSTANTIATE_TEST_SUITE_P(OfTensor, BadCalls, testing::Values(&kTensorCalls));
INSTANTIATE_TEST_SUITE_P(OfQuantize, BadCalls, testing::Values(&kQuantizeCalls));
INSTANTIATE_TEST_SUITE_P(OfScaler, BadCalls, testing::Values(&kScalerCalls));
INSTANTIATE_TEST_SUITE_P(OfGemm, BadCalls, testing::Values(&kGemmCalls));
INSTANTIATE_TEST_SUITE_P(OfRecipe, BadCalls, testing::Values(&kRecipeCalls));
INSTANTIATE_TEST_SUITE_P(OfLinear, BadCalls, testing::Values(&kLinearCalls));
INSTANTIATE_TEST_SUITE_P(OfLayers, BadCalls, testing::Values(&kLayerCalls));
INSTANTIATE_TEST_SUITE_P(OfOptimizer, BadCalls, testing::Values(&kOptimizerCalls));
INSTANTIATE_TEST_SUITE_P(WithoutContext, BadCalls, testing::Values(&kNullContextCalls));

}  // namespace
}  // namespace lpt::test
