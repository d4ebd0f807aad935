#include "src/ops/linear.hpp"

#include <cassert>
#include <cstring>

namespace lpt {
namespace {

constexpr lpt_operand kOperandOf[kCastCount] = {LPT_OPERAND_INPUT,  LPT_OPERAND_WEIGHT,   LPT_OPERAND_GRADIENT,
                                                LPT_OPERAND_WEIGHT, LPT_OPERAND_GRADIENT, LPT_OPERAND_INPUT};

// What forward leaves for backward begins with this, so that a wrong or unwritten buffer is told from a right one.
struct SavedHeader {
  uint32_t magic;
  uint32_t is_smoothed;
  int64_t rows;
  int64_t input_columns;
};
constexpr uint32_t kSavedMagic = 0x5653504C;
constexpr size_t kSavedHeaderBytes = kAlignment;

Format format_of(lpt_format id) {
  Format format;
  find_format(id, format);
  return format;
}

// Blocks must run along the product's inner size: in dgrad and wgrad that is not the last axis of w, x, dy.
bool is_stored_transposed(lpt_cast cast, const Format &format) {
  return format.has_block_scale() &&
         (cast == LPT_CAST_DGRAD_WEIGHT || cast == LPT_CAST_WGRAD_GRADIENT || cast == LPT_CAST_WGRAD_INPUT);
}

bool is_tensor_scaled(const Format &format) { return format.has_tensor_scale() && !format.has_block_scale(); }

// The same element with one more e8m0fnu factor per column: what a smoothed input decodes by.
Format with_column_factors(const Format &format) {
  Format result = format;
  result.id = LPT_FORMAT_NONE;
  result.block_scale = LPT_FORMAT_E8M0FNU;
  result.block_rows = LPT_WHOLE;
  result.block_columns = 1;
  const Status status = make_format(result, result.id);
  assert(status.is_ok());  // every element with one tensor scale takes column factors
  return status.is_ok() ? result : format;
}

// The format that an input or gradient has in a product. As it comes: what is saved is f32, or f64 with an f64 weight.
Format saved_format(const Linear &linear) {
  const lpt_format id = linear.recipe.casts[LPT_CAST_WGRAD_INPUT].format;
  if (id == LPT_FORMAT_NONE) return format_of(linear.is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32);
  const Format format = format_of(id);
  return is_tensor_scaled(format) ? with_column_factors(format) : format;
}

// Payload and scales of the saved input inside the caller's vector. The column factors have their place in any case, since
// its size follows from the layer and the rows alone.
MatrixView saved_view(const Linear &linear, int64_t rows, bool is_smoothed, std::byte *memory, size_t *out_bytes) {
  const Format format = saved_format(linear);
  const bool is_transposed =
      is_stored_transposed(LPT_CAST_WGRAD_INPUT, format_of(linear.recipe.casts[LPT_CAST_WGRAD_INPUT].format));
  MatrixView view;
  const size_t bytes =
      lay_out_matrix(format, is_transposed ? linear.input_columns : rows, is_transposed ? rows : linear.input_columns,
                     memory == nullptr ? nullptr : memory + kSavedHeaderBytes, view);
  if (out_bytes != nullptr) *out_bytes = kSavedHeaderBytes + bytes;
  const lpt_format id = linear.recipe.casts[LPT_CAST_WGRAD_INPUT].format;
  if (id != LPT_FORMAT_NONE && !is_smoothed) {
    view.format = format_of(id);
    if (!view.format.has_block_scale()) view.block_scales = nullptr;
  }
  return view;
}

Status take_matrix(Context &context, const Format &format, int64_t rows, int64_t columns, MatrixView &out_view) {
  std::byte *memory = nullptr;
  const size_t bytes = lay_out_matrix(format, rows, columns, nullptr, out_view);
  LPT_TRY(context.arena->take(bytes, &memory));
  lay_out_matrix(format, rows, columns, memory, out_view);
  return {};
}

struct Call {
  Context &context;
  Linear &linear;
  const lpt_linear_options &options;
  bool is_check_only;
};

// Casts one operand into `target`, whose orientation tells whether it is stored transposed.
Status cast_operand(const Call &call, lpt_cast which, const MatrixView &source, const MatrixView &target,
                    const uint8_t *smoothing) {
  const CastRule &rule = call.linear.recipe.casts[which];
  const lpt_operand operand = kOperandOf[which];
  Cast cast;
  cast.rounding = rule.rounding;
  cast.overflow = rule.overflow;
  cast.rule = rule.rule;
  cast.is_transposed = is_stored_transposed(which, format_of(rule.format));
  cast.smoothing = smoothing;
  if (is_tensor_scaled(format_of(rule.format))) cast.scaler = &call.linear.scalers[operand];
  lpt_random random = call.options.random;
  if (operand != LPT_OPERAND_WEIGHT) random.offset = call.options.first_row * source.columns;
  LPT_TRY(make_random(random, RandomRoom::kLinear, static_cast<uint32_t>(operand), source.columns, rule.stochastic_bits,
                      rule.philox_rounds, cast.random));
  return cast_matrix(call.context, source, target, cast, call.is_check_only);
}

// The operand of a product: `source` itself, or its cast in scratch.
Status make_operand(const Call &call, lpt_cast which, const MatrixView &source, const uint8_t *smoothing,
                    MatrixView &out_view) {
  const CastRule &rule = call.linear.recipe.casts[which];
  if (rule.format == LPT_FORMAT_NONE) {
    out_view = source;
    return {};
  }
  Format format = format_of(rule.format);
  const bool is_transposed = is_stored_transposed(which, format);
  if (smoothing != nullptr) format = with_column_factors(format);
  LPT_TRY(take_matrix(call.context, format, is_transposed ? source.columns : source.rows,
                      is_transposed ? source.rows : source.columns, out_view));
  return cast_operand(call, which, source, out_view, smoothing);
}

Status check_call(const Linear &linear, const lpt_linear_options &options, bool needs_prepared) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_choice("is_accumulated", options.is_accumulated, 1));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  if (options.random.offset != 0 || options.random.row_stride != 0) {
    return invalid(
        "random.%s is %lld: expected 0, the layer places its rows by first_row",
        options.random.offset != 0 ? "offset" : "row_stride",
        static_cast<long long>(options.random.offset != 0 ? options.random.offset : options.random.row_stride));
  }
  RandomSource unused;
  LPT_TRY(make_random(options.random, RandomRoom::kLinear, 0, 0, 16, 7, unused));
  if (options.first_row < 0 || options.first_row > (int64_t{1} << 32)) {
    return invalid("first_row is %lld: expected 0 to 2^32", static_cast<long long>(options.first_row));
  }
  if (needs_prepared && !linear.is_prepared) {
    return invalid("linear has no weight yet: expected a call of lpt_linear_prepare() before");
  }
  return {};
}

// The caller's vector of saved bytes.
Status check_saved(const Tensor *saved, const Linear &linear, int64_t rows, bool needs_data, std::byte **out_memory) {
  const size_t bytes = linear_saved_bytes(linear, rows);
  void *memory = nullptr;
  LPT_TRY(check_vector(saved, "saved", LPT_FORMAT_UINT8, static_cast<int64_t>(bytes), needs_data, &memory));
  if (reinterpret_cast<uintptr_t>(memory) % 8 != 0) {
    return invalid("saved begins at %p: expected an address that 8 divides", memory);
  }
  *out_memory = static_cast<std::byte *>(memory);
  return {};
}

Status check_saved_header(const std::byte *memory, const Linear &linear, int64_t rows, SavedHeader &out_header) {
  std::memcpy(&out_header, memory, sizeof out_header);
  if (out_header.magic != kSavedMagic || out_header.rows != rows || out_header.input_columns != linear.input_columns) {
    return invalid("saved was not written by lpt_linear_forward() of this layer with %lld rows",
                   static_cast<long long>(rows));
  }
  return {};
}

// A copy of the weight as it comes; weights with scales are decoded, since their casts would share their parts.
Status store_weight(Context &context, const MatrixView &weight, MatrixView &out_view,
                    std::shared_ptr<std::byte> &out_storage) {
  const size_t bytes = lay_out_matrix(weight.format, weight.rows, weight.columns, nullptr, out_view);
  if (out_storage == nullptr) LPT_TRY(allocate_bytes(context.allocator, bytes, out_storage));
  lay_out_matrix(weight.format, weight.rows, weight.columns, out_storage.get(), out_view);
  copy_matrix(weight, out_view);
  return {};
}

// Casts the weight for one product into storage of the layer.
Status prepare_cast(const Call &call, lpt_cast which, const MatrixView &weight, MatrixView &out_view,
                    std::shared_ptr<std::byte> &out_storage) {
  const CastRule &rule = call.linear.recipe.casts[which];
  if (rule.format == LPT_FORMAT_NONE) {
    return call.is_check_only ? Status() : store_weight(call.context, weight, out_view, out_storage);
  }
  const Format format = format_of(rule.format);
  const bool is_transposed = is_stored_transposed(which, format);
  const int64_t rows = is_transposed ? weight.columns : weight.rows;
  const int64_t columns = is_transposed ? weight.rows : weight.columns;
  MatrixView view;
  const size_t bytes = lay_out_matrix(format, rows, columns, nullptr, view);
  if (call.is_check_only) return cast_operand(call, which, weight, view, nullptr);
  if (out_storage == nullptr) LPT_TRY(allocate_bytes(call.context.allocator, bytes, out_storage));
  lay_out_matrix(format, rows, columns, out_storage.get(), out_view);
  return cast_operand(call, which, weight, out_view, nullptr);
}

// True if dgrad can use the forward product's cast: the same rule, and no transposition.
bool is_weight_shared(const Recipe &recipe) {
  const CastRule &rule = recipe.casts[LPT_CAST_FORWARD_WEIGHT];
  return rule == recipe.casts[LPT_CAST_DGRAD_WEIGHT] &&
         (rule.format == LPT_FORMAT_NONE || !format_of(rule.format).has_block_scale());
}

// Wants column sums of dy: the product of a row of ones with dy.
Status sum_columns(const Call &call, const MatrixView &gradient, const MatrixView &sums) {
  MatrixView ones;
  const lpt_format format = gradient.format.id == LPT_FORMAT_F64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  LPT_TRY(take_matrix(call.context, format_of(format), 1, gradient.rows, ones));
  for (int64_t i = 0; i < gradient.rows && !call.is_check_only; ++i) {
    if (format == LPT_FORMAT_F64) {
      static_cast<double *>(ones.data)[i] = 1.0;
    } else {
      static_cast<float *>(ones.data)[i] = 1.0f;
    }
  }
  Product product;
  product.a = ones;
  product.b = gradient;
  product.c = sums;
  product.beta = call.options.is_accumulated != 0 ? 1.0 : 0.0;
  return multiply_matrices(call.context, product, call.is_check_only);
}

Status check_gradient(const Tensor *tensor, const char *name, int64_t rows, int64_t columns, const char *like,
                      const MatrixView &output_gradient, bool needs_data, MatrixView &out_view) {
  LPT_TRY(check_wide_matrix(tensor, name, needs_data, out_view));
  LPT_TRY(check_shape(out_view, name, rows, columns, like));
  return check_apart(out_view, name, output_gradient, "output_gradient");
}

// Gradients that add up over micro-batches are f32 or f64.
Status check_sum_format(const MatrixView &view, const char *name) {
  if (view.format.id == LPT_FORMAT_F32 || view.format.id == LPT_FORMAT_F64) return {};
  return unsupported("%s is %s: expected f32 or f64", name, format_name(view.format.id).c_str());
}

}  // namespace

Status create_linear(const Recipe &recipe, const lpt_linear_shape &shape, Linear **out_linear) {
  const auto check = [](const char *name, int64_t value) -> Status {
    if (value >= 1 && value <= (int64_t{1} << 28)) return {};
    return invalid("%s is %lld: expected 1 to 2^28", name, static_cast<long long>(value));
  };
  LPT_TRY(check("input_columns", shape.input_columns));
  LPT_TRY(check("output_columns", shape.output_columns));
  auto linear = std::make_unique<Linear>();
  linear->recipe = recipe;
  linear->input_columns = shape.input_columns;
  linear->output_columns = shape.output_columns;
  for (int i = 0; i < kOperandCount; ++i) linear->scalers[i] = make_scaler(recipe.scalers[i]);
  *out_linear = linear.release();
  return {};
}

size_t linear_saved_bytes(const Linear &linear, int64_t rows) {
  size_t bytes = 0;
  saved_view(linear, rows, false, nullptr, &bytes);
  return bytes;
}

size_t linear_cast_bytes(const Linear &linear) {
  const auto bytes = [&](lpt_cast which) {
    const lpt_format id = linear.recipe.casts[which].format;
    const lpt_format plain = linear.is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
    MatrixView view;
    return lay_out_matrix(format_of(id == LPT_FORMAT_NONE ? plain : id), linear.output_columns, linear.input_columns,
                          nullptr, view);
  };
  return bytes(LPT_CAST_FORWARD_WEIGHT) + (is_weight_shared(linear.recipe) ? 0 : bytes(LPT_CAST_DGRAD_WEIGHT));
}

Status prepare_linear(Context &context, Linear &linear, const Tensor *weight, const lpt_linear_options &options) {
  LPT_TRY(check_call(linear, options, false));
  const Call call{context, linear, options, is_check_only(options.flags)};
  MatrixView view;
  LPT_TRY(check_matrix(weight, "weight", !call.is_check_only, view));
  if (view.format.element == LPT_FORMAT_UINT8) return unsupported("weight is uint8: it holds bytes, not numbers");
  LPT_TRY(
      check_shape(view, "weight", linear.output_columns, linear.input_columns, "the layer's output by input columns"));
  if (!view.format.is_plain() || !is_wide_float(view.format.id)) {
    MatrixView decoded;
    LPT_TRY(take_matrix(context, format_of(LPT_FORMAT_F32), view.rows, view.columns, decoded));
    LPT_TRY(dequantize_matrix(context, view, decoded, call.is_check_only));
    view = decoded;
  }
  const bool is_f64 = view.format.id == LPT_FORMAT_F64;
  if (linear.is_prepared && linear.is_f64 != is_f64) {
    return invalid("weight is %s: this layer was prepared with %s before", is_f64 ? "f64" : "not f64",
                   is_f64 ? "another format" : "f64");
  }
  // A weight as it comes keeps its format: storage of another one is made anew.
  if (linear.forward_weight.format.id != view.format.id &&
      linear.recipe.casts[LPT_CAST_FORWARD_WEIGHT].format == LPT_FORMAT_NONE) {
    linear.forward_storage.reset();
  }
  if (linear.dgrad_weight.format.id != view.format.id &&
      linear.recipe.casts[LPT_CAST_DGRAD_WEIGHT].format == LPT_FORMAT_NONE) {
    linear.dgrad_storage.reset();
  }
  LPT_TRY(prepare_cast(call, LPT_CAST_FORWARD_WEIGHT, view, linear.forward_weight, linear.forward_storage));
  if (!is_weight_shared(linear.recipe)) {
    LPT_TRY(prepare_cast(call, LPT_CAST_DGRAD_WEIGHT, view, linear.dgrad_weight, linear.dgrad_storage));
  } else if (!call.is_check_only) {
    linear.dgrad_weight = linear.forward_weight;
  }
  if (!call.is_check_only) {
    linear.is_prepared = true;
    linear.is_f64 = is_f64;
  }
  return {};
}

Status forward_linear(Context &context, Linear &linear, const Tensor *input, const lpt_linear_options &options,
                      Tensor *saved, Tensor *output) {
  LPT_TRY(check_call(linear, options, true));
  const Call call{context, linear, options, is_check_only(options.flags)};
  const bool needs_data = !call.is_check_only;
  MatrixView x;
  Product product;
  LPT_TRY(check_wide_matrix(input, "input", needs_data, x));
  LPT_TRY(check_shape(x, "input", x.rows, linear.input_columns, "the layer's input_columns"));
  LPT_TRY(check_wide_matrix(output, "output", needs_data, product.c));
  LPT_TRY(check_shape(product.c, "output", x.rows, linear.output_columns, "input rows by the layer's output_columns"));
  LPT_TRY(check_apart(product.c, "output", x, "input"));

  const CastRule &forward_rule = linear.recipe.casts[LPT_CAST_FORWARD_INPUT];
  const CastRule &saved_rule = linear.recipe.casts[LPT_CAST_WGRAD_INPUT];
  const uint8_t *smoothing = nullptr;
  if (options.input_smoothing != nullptr) {
    void *factors = nullptr;
    LPT_TRY(check_vector(options.input_smoothing, "input_smoothing", LPT_FORMAT_E8M0FNU, linear.input_columns,
                         needs_data, &factors));
    for (const CastRule *rule : {&forward_rule, &saved_rule}) {
      if (rule->format != LPT_FORMAT_NONE && format_of(rule->format).has_block_scale()) {
        return unsupported("input_smoothing is given and the recipe casts the input to %s: it goes with tensor scales",
                           format_name(rule->format).c_str());
      }
    }
    smoothing = static_cast<const uint8_t *>(factors);
  }
  const auto factors_for = [&](const CastRule &rule) {
    return rule.format != LPT_FORMAT_NONE && is_tensor_scaled(format_of(rule.format)) ? smoothing : nullptr;
  };

  std::byte *memory = nullptr;
  if (saved != nullptr) {
    LPT_TRY(check_saved(saved, linear, x.rows, needs_data, &memory));
    const MatrixView bytes =
        vector_view(LPT_FORMAT_UINT8, memory, static_cast<int64_t>(linear_saved_bytes(linear, x.rows)));
    LPT_TRY(check_apart(bytes, "saved", x, "input"));
    LPT_TRY(check_apart(bytes, "saved", product.c, "output"));
  }
  product.b = linear.forward_weight;
  product.is_b_transposed = true;
  if (options.bias != nullptr) {
    Product formats = product;
    formats.a = x;
    const lpt_format format = is_f64_product(formats) ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
    void *bias = nullptr;
    LPT_TRY(check_vector(options.bias, "options.bias", format, linear.output_columns, needs_data, &bias));
    product.bias = bias;
  }

  LPT_TRY(make_operand(call, LPT_CAST_FORWARD_INPUT, x, factors_for(forward_rule), product.a));
  if (saved != nullptr) {
    const uint8_t *factors = factors_for(saved_rule);
    const MatrixView target = saved_view(linear, x.rows, factors != nullptr, memory, nullptr);
    if (saved_rule.format == LPT_FORMAT_NONE) {
      LPT_TRY(widen_matrix(context, x, target, call.is_check_only));
    } else {
      LPT_TRY(cast_operand(call, LPT_CAST_WGRAD_INPUT, x, target, factors));
    }
    if (needs_data) {
      const SavedHeader header{kSavedMagic, factors != nullptr ? 1u : 0u, x.rows, linear.input_columns};
      std::memcpy(memory, &header, sizeof header);
    }
  }
  return multiply_matrices(context, product, call.is_check_only);
}

Status backward_linear(Context &context, Linear &linear, const Tensor *saved, const Tensor *output_gradient,
                       const lpt_linear_options &options, Tensor *input_gradient, Tensor *weight_gradient,
                       Tensor *bias_gradient) {
  LPT_TRY(check_call(linear, options, true));
  const Call call{context, linear, options, is_check_only(options.flags)};
  const bool needs_data = !call.is_check_only;
  if (input_gradient == nullptr && weight_gradient == nullptr && bias_gradient == nullptr) {
    return invalid("input_gradient, weight_gradient and bias_gradient are NULL: expected at least one output");
  }
  MatrixView dy;
  LPT_TRY(check_wide_matrix(output_gradient, "output_gradient", needs_data, dy));
  LPT_TRY(check_shape(dy, "output_gradient", dy.rows, linear.output_columns, "the layer's output_columns"));

  Product dgrad;
  Product wgrad;
  MatrixView db;
  std::byte *memory = nullptr;
  if (input_gradient != nullptr) {
    LPT_TRY(check_gradient(input_gradient, "input_gradient", dy.rows, linear.input_columns,
                           "output_gradient rows by the layer's input_columns", dy, needs_data, dgrad.c));
  }
  if (weight_gradient != nullptr) {
    LPT_TRY(check_gradient(weight_gradient, "weight_gradient", linear.output_columns, linear.input_columns,
                           "the weight", dy, needs_data, wgrad.c));
    LPT_TRY(check_sum_format(wgrad.c, "weight_gradient"));
    if (saved == nullptr) return invalid("saved is NULL: weight_gradient needs what forward saved");
    LPT_TRY(check_saved(saved, linear, dy.rows, needs_data, &memory));
  }
  if (bias_gradient != nullptr) {
    LPT_TRY(check_gradient(bias_gradient, "bias_gradient", 1, linear.output_columns,
                           "a vector of the layer's output_columns", dy, needs_data, db));
    LPT_TRY(check_sum_format(db, "bias_gradient"));
  }
  const MatrixView *outputs[] = {&dgrad.c, &wgrad.c, &db};
  static constexpr const char *kNames[] = {"input_gradient", "weight_gradient", "bias_gradient"};
  const MatrixView saved_bytes = vector_view(
      LPT_FORMAT_UINT8, memory, memory == nullptr ? 0 : static_cast<int64_t>(linear_saved_bytes(linear, dy.rows)));
  for (int i = 0; i < 3; ++i) {
    LPT_TRY(check_apart(*outputs[i], kNames[i], saved_bytes, "saved"));
    for (int j = 0; j < i; ++j) LPT_TRY(check_apart(*outputs[i], kNames[i], *outputs[j], kNames[j]));
  }
  SavedHeader header{};
  if (memory != nullptr && needs_data) LPT_TRY(check_saved_header(memory, linear, dy.rows, header));

  const CastRule &dgrad_rule = linear.recipe.casts[LPT_CAST_DGRAD_GRADIENT];
  const CastRule &wgrad_rule = linear.recipe.casts[LPT_CAST_WGRAD_GRADIENT];
  const bool is_gradient_shared = dgrad_rule == wgrad_rule && (dgrad_rule.format == LPT_FORMAT_NONE ||
                                                               !format_of(dgrad_rule.format).has_block_scale());
  if (input_gradient != nullptr) {
    LPT_TRY(make_operand(call, LPT_CAST_DGRAD_GRADIENT, dy, nullptr, dgrad.a));
    const CastRule &rule = linear.recipe.casts[LPT_CAST_DGRAD_WEIGHT];
    dgrad.b = linear.dgrad_weight;
    dgrad.is_b_transposed =
        rule.format != LPT_FORMAT_NONE && is_stored_transposed(LPT_CAST_DGRAD_WEIGHT, format_of(rule.format));
    LPT_TRY(multiply_matrices(context, dgrad, call.is_check_only));
  }
  if (weight_gradient != nullptr) {
    if (is_gradient_shared && input_gradient != nullptr) {
      wgrad.a = dgrad.a;
    } else {
      LPT_TRY(make_operand(call, LPT_CAST_WGRAD_GRADIENT, dy, nullptr, wgrad.a));
    }
    const auto is_transposed = [&](lpt_cast which) {
      const lpt_format id = linear.recipe.casts[which].format;
      return id != LPT_FORMAT_NONE && is_stored_transposed(which, format_of(id));
    };
    wgrad.is_a_transposed = !is_transposed(LPT_CAST_WGRAD_GRADIENT);
    wgrad.b = saved_view(linear, dy.rows, header.is_smoothed != 0, memory, nullptr);
    wgrad.is_b_transposed = is_transposed(LPT_CAST_WGRAD_INPUT);
    wgrad.beta = options.is_accumulated != 0 ? 1.0 : 0.0;
    LPT_TRY(multiply_matrices(context, wgrad, call.is_check_only));
  }
  if (bias_gradient != nullptr) LPT_TRY(sum_columns(call, dy, db));
  return {};
}

void write_linear(const Linear &linear, BlobWriter &writer) {
  writer.i64(linear.input_columns);
  writer.i64(linear.output_columns);
  for (const Scaler &scaler : linear.scalers) write_scaler(scaler, writer);
}

Status load_linear(Linear &linear, const void *buffer, size_t buffer_bytes) {
  BlobReader reader;
  LPT_TRY(BlobReader::open(BlobKind::kLinear, buffer, buffer_bytes, reader));
  const int64_t input_columns = reader.i64();
  const int64_t output_columns = reader.i64();
  if (input_columns != linear.input_columns) {
    return blob_mismatch("input_columns", input_columns, linear.input_columns);
  }
  if (output_columns != linear.output_columns) {
    return blob_mismatch("output_columns", output_columns, linear.output_columns);
  }
  Scaler loaded[kOperandCount];
  for (int i = 0; i < kOperandCount; ++i) LPT_TRY(read_scaler(reader, linear.scalers[i], loaded[i]));
  if (reader.left_bytes() != 0) return blob_mismatch("bytes left over", static_cast<long long>(reader.left_bytes()), 0);
  for (int i = 0; i < kOperandCount; ++i) linear.scalers[i] = loaded[i];
  return {};
}

}  // namespace lpt
