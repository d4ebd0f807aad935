// Casts of the weight. The layer changes only after all casts succeed.
#include <algorithm>

#include "src/cast/scaler.hpp"
#include "src/linear/parts.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

bool is_same(const lpt_scaler_options &a, const lpt_scaler_options &b) {
  return a.kind == b.kind && a.history_length == b.history_length && a.margin == b.margin &&
         a.history_rule == b.history_rule && a.zero_rule == b.zero_rule && a.history_decay == b.history_decay;
}

// The next state of the layer. It becomes the current state if prepare succeeds.
struct Next {
  const Recipe &recipe;
  Scaler scalers[kOperandCount];
  PreparedWeight weight;
  CastStatistics sums[kCastCount];
};

// Copies the scalers. Scalers of a device share their history with those of the layer.
Status copy_scalers(const Context &context, const Linear &linear, Next &next) {
  for (int i = 0; i < kOperandCount; ++i) {
    const bool is_kept = is_same(linear.recipe.scalers[i], next.recipe.scalers[i]);
    next.scalers[i] = is_kept ? linear.scalers[i] : make_scaler(next.recipe.scalers[i]);
    if (!is_kept && !linear.device.is_cpu()) LPT_TRY(send_scaler(context, next.scalers[i]));
  }
  return {};
}

// Checks the weight and returns it as a wide float matrix. A weight with scales or small elements is decoded to f32 scratch.
Status read_weight(const Call &call, const Tensor *tensor, const Linear &linear, MatrixView &out_view) {
  LPT_TRY(check_matrix(tensor, "weight", !call.is_check_only, out_view, device_of(call)));
  LPT_TRY(check_holds_numbers(out_view.format.id, "weight"));
  LPT_TRY(check_shape(out_view, "weight", linear.output_columns, linear.input_columns,
                      "the layer's output by input columns"));
  if (!out_view.format.is_plain() || !is_wide_float(out_view.format.id)) {
    const MatrixView given = out_view;
    LPT_TRY(take_view(call, format_of(LPT_FORMAT_F32), given.rows, given.columns, out_view));
    LPT_TRY(decode_view(call, given, out_view));
  }
  const bool is_f64 = out_view.format.id == LPT_FORMAT_F64;
  if (is_f64 && is_on_device(call)) {
    return unsupported("weight is f64: layers on %s take f32, bf16, f16 and what is decoded to them",
                       device_text(device_of(call)).c_str());
  }
  if (linear.weight.is_ready && linear.weight.is_f64 != is_f64) {
    return invalid("weight is %s: this layer was prepared with %s before", is_f64 ? "f64" : "not f64",
                   is_f64 ? "another format" : "f64");
  }
  return {};
}

// Allocates memory for a view that has only a shape.
Status allocate_view(const Call &call, MatrixView &view, Storage &storage) {
  const MatrixView shape = view;
  const size_t bytes = lay_out_matrix(shape.format, shape.rows, shape.columns, nullptr, view);
  LPT_TRY(allocate_storage(call, bytes, storage));
  lay_out_matrix(shape.format, shape.rows, shape.columns, storage.memory.get(), view);
  return {};
}

// Casts the weight for one GEMM to storage of the layer. Without a cast, it copies the weight.
Status prepare_cast(const Call &call, lpt_linear_cast which, const Operand &source, MatrixView &out_view,
                    Storage &storage) {
  const bool is_cast = call.cast(which).format != LPT_FORMAT_NONE;
  Operand target = is_cast ? shape_cast(call, which, source, false) : source;
  if (!call.is_check_only) LPT_TRY(allocate_view(call, target.view, storage));
  if (is_cast) LPT_TRY(cast_operand(call, which, source, source.view.columns, Draw(), target));
  if (!is_cast) LPT_TRY(widen_view(call, source.view, target.view));
  out_view = target.view;
  return {};
}

Status prepare_mask(const Call &call, const MatrixView &numbers, PreparedWeight &weight) {
  const auto bytes = static_cast<size_t>(numbers.rows * mask_row_bytes(numbers.columns));
  if (!call.is_check_only) LPT_TRY(allocate_storage(call, bytes, weight.mask));
  return write_mask(call, numbers, weight.forward, weight.mask.memory.get());
}

Status prepare_forward(const Call &call, const MatrixView &view, PreparedWeight &weight) {
  const bool wants_mask = is_clipped(call.recipe, LPT_LINEAR_GEMM_WGRAD);
  Rotation rotation;
  Operand source;
  LPT_TRY(make_rotation(call, LPT_LINEAR_GEMM_FORWARD, call.options.random, nullptr, view.columns, rotation));
  LPT_TRY(make_source(call, LPT_LINEAR_CAST_FORWARD_WEIGHT, view, rotation, wants_mask, source));
  LPT_TRY(prepare_cast(call, LPT_LINEAR_CAST_FORWARD_WEIGHT, source, weight.forward, weight.forward_storage));
  return wants_mask ? prepare_mask(call, source.view, weight) : Status();
}

Status prepare_dgrad(const Call &call, const MatrixView &view, PreparedWeight &weight) {
  if (is_weight_shared(call.recipe)) {
    weight.dgrad = weight.forward;
    return {};
  }
  MatrixView from = view;
  if (call.gemm(LPT_LINEAR_GEMM_DGRAD).source != LPT_LINEAR_SOURCE_PLAIN) {
    LPT_TRY(take_view(call, format_of(LPT_FORMAT_F32), view.rows, view.columns, from));
    LPT_TRY(decode_view(call, weight.forward, from));
  }
  Rotation rotation;
  Operand source;
  if (call.gemm(LPT_LINEAR_GEMM_DGRAD).is_rotated()) {
    LPT_TRY(make_rotation(call, LPT_LINEAR_GEMM_DGRAD, call.options.random, nullptr, view.rows, rotation));
  }
  LPT_TRY(make_source(call, LPT_LINEAR_CAST_DGRAD_WEIGHT, from, rotation, false, source));
  return prepare_cast(call, LPT_LINEAR_CAST_DGRAD_WEIGHT, source, weight.dgrad, weight.dgrad_storage);
}

Status prepare_weight(const Call &call, const Tensor *tensor, const Linear &linear, PreparedWeight &weight) {
  MatrixView view;
  MatrixView masked;
  LPT_TRY(read_weight(call, tensor, linear, view));
  LPT_TRY(mask_weight(call, linear, view, weight.sparse, masked));
  LPT_TRY(smooth_weight(call, masked, weight));
  LPT_TRY(prepare_forward(call, masked, weight));
  weight.is_f64 = view.format.id == LPT_FORMAT_F64;
  return prepare_dgrad(call, masked, weight);
}

// Moves the memory of a weight to the spare memory of the context, if it has no other owner. The context keeps the last eight
// blocks of memory.
void spare_memory(Context &context, PreparedWeight &weight) {
  constexpr size_t most = 8;
  if (!is_on_cpu(context) || weight.allocator != context.allocator) return;
  for (Storage *storage : {&weight.forward_storage, &weight.dgrad_storage, &weight.mask}) {
    if (storage->memory.use_count() != 1) continue;
    if (context.spares.size() == most) context.spares.erase(context.spares.begin());
    context.spares.push_back({std::move(storage->memory), storage->bytes});
  }
}

}  // namespace

size_t linear_cast_bytes(const Linear &linear) {
  const auto bytes = [&](lpt_linear_cast which) {
    const bool is_transposed = is_stored_transposed(linear.recipe, which);
    const bool is_f64 = linear.weight.is_f64 && !linear.recipe.gemms[which / 2].is_rotated();
    lpt_format format = linear.recipe.casts[which].format;
    if (format == LPT_FORMAT_NONE) format = is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
    MatrixView view;
    return lay_out_matrix(format_of(format), is_transposed ? linear.input_columns : linear.output_columns,
                          is_transposed ? linear.output_columns : linear.input_columns, nullptr, view);
  };
  size_t sum = bytes(LPT_LINEAR_CAST_FORWARD_WEIGHT) +
               (is_weight_shared(linear.recipe) ? 0 : bytes(LPT_LINEAR_CAST_DGRAD_WEIGHT));
  if (is_clipped(linear.recipe, LPT_LINEAR_GEMM_WGRAD)) {
    sum += static_cast<size_t>(linear.output_columns * mask_row_bytes(linear.input_columns));
  }
  if (linear.recipe.sparsity[LPT_LINEAR_OPERAND_WEIGHT].is_used()) {
    sum += static_cast<size_t>(linear.output_columns * mask_row_bytes(linear.input_columns));
  }
  return sum;
}

Status prepare_linear(Context &context, Linear &linear, const Tensor *tensor, const lpt_linear_options &options) {
  LPT_TRY(check_call(context, linear, options, false));
  Next next{linear.next_recipe != nullptr ? *linear.next_recipe : linear.recipe, {}, {}, {}};
  LPT_TRY(copy_scalers(context, linear, next));
  if (!linear.device.is_cpu()) {
    next.weight.forward_storage = linear.weight.forward_storage;
    next.weight.dgrad_storage = linear.weight.dgrad_storage;
    next.weight.mask = linear.weight.mask;
  }
  std::copy_n(linear.sums, kCastCount, next.sums);
  const Call call{context,
                  next.recipe,
                  next.scalers,
                  options,
                  is_check_only(options.flags),
                  linear.is_watched ? next.sums : nullptr};
  LPT_TRY(check_supported(call));
  LPT_TRY(run_call(call, [&](const Call &each) { return prepare_weight(each, tensor, linear, next.weight); }));
  if (call.is_check_only) return {};
  next.weight.is_ready = true;
  next.weight.random = options.random;
  next.weight.allocator = context.allocator;
  spare_memory(context, linear.weight);
  linear.weight = std::move(next.weight);
  for (int i = 0; i < kOperandCount; ++i) linear.scalers[i] = std::move(next.scalers[i]);
  std::copy_n(next.sums, kCastCount, linear.sums);
  if (linear.next_recipe != nullptr) linear.recipe = *linear.next_recipe;
  linear.next_recipe.reset();
  return {};
}

}  // namespace lpt
