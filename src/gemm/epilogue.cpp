#include "src/gemm/epilogue.hpp"

#include "kernels/activation/activation.hpp"
#include "kernels/gemm/library.hpp"
#include "src/call/launch.hpp"
#include "src/cast/cast.hpp"
#include "src/cast/quantize.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

bool is_same_place(const MatrixView &a, const MatrixView &b) {
  return a.data == b.data && a.format.id == b.format.id && a.row_stride == b.row_stride;
}

Status check_residual(const lpt_gemm_options &options, bool needs_data, const Device &device, GemmEpilogue &epilogue) {
  if (options.residual == nullptr) return {};
  LPT_TRY(check_wide_matrix(options.residual, "residual", needs_data, epilogue.residual, device));
  LPT_TRY(check_shape(epilogue.residual, "residual", epilogue.c_view.rows, epilogue.c_view.columns, "c"));
  if (epilogue.residual.format.id == LPT_FORMAT_F64) return unsupported("residual is f64: expected f32, bf16 or f16");
  if (is_same_place(epilogue.residual, epilogue.c_view)) return {};
  return check_no_overlap(epilogue.c_view, "c", epilogue.residual, "residual");
}

Status run_finish(Context &context, const GemmEpilogue &epilogue, const MatrixView &out, bool is_check_only) {
  EpilogueRequest whole{};
  whole.x = static_cast<const float *>(epilogue.target.data);
  whole.x_stride = epilogue.target.row_stride;
  whole.rows = out.rows;
  whole.columns = out.columns;
  whole.activation = epilogue.activation;
  whole.residual = epilogue.residual;
  whole.out = out;
  const auto slice = [](const EpilogueRequest &of, int64_t begin, int64_t count) {
    EpilogueRequest part = of;
    part.x += begin * of.x_stride;
    part.rows = count;
    part.out = cut_rows(of.out, begin, count);
    if (of.residual.data != nullptr) part.residual = cut_rows(of.residual, begin, count);
    return part;
  };
  return launch(context, {"finish", epilogue_kernels}, whole, {out.format.id}, is_check_only,
                {out.rows, epilogue.columns, view_bytes(epilogue.target) + view_bytes(out)}, slice);
}

// Returns a tensor for a view of plain rows.
Tensor tensor_around(const MatrixView &view, const Device &device) {
  Tensor tensor;
  tensor.device = device;
  tensor.format = view.format;
  tensor.rank = 2;
  tensor.extents[0] = view.rows;
  tensor.extents[1] = view.columns;
  tensor.strides[0] = view.row_stride;
  tensor.strides[1] = 1;
  tensor.data = view.data;
  return tensor;
}

Status encode(Context &context, const GemmEpilogue &epilogue, const MatrixView &numbers, bool is_check_only) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  if (epilogue.quantize != nullptr) options = *epilogue.quantize;
  if (is_check_only) options.flags |= LPT_CHECK_ONLY;
  const Tensor source = tensor_around(numbers, context.queue.device());
  return quantize(context, &source, options, epilogue.c, nullptr);
}

// Sets the target of GEMMs with `rows` rows: c if it can store their sums, otherwise an f32 copy. The copy is filled with c
// if beta is not 0.
Status take_target(Context &context, int64_t rows, bool is_check_only, bool is_read, GemmEpilogue &epilogue) {
  const MatrixView &c = epilogue.c_view;
  const bool is_read_later = epilogue.residual.data != nullptr && is_same_place(epilogue.residual, c);
  const bool has_space = c.format.id == LPT_FORMAT_F32 && epilogue.activation != LPT_ACTIVATION_SWIGLU;
  if (has_space && !is_read_later) {
    epilogue.target = c;
    return {};
  }
  epilogue.target_bytes = static_cast<size_t>(rows * epilogue.columns) * sizeof(float);
  LPT_TRY(take_matrix(context, LPT_FORMAT_F32, rows, epilogue.columns, is_check_only, epilogue.target));
  return is_read ? widen_matrix(context, c, epilogue.target, is_check_only) : Status();
}

// Checks the epilogue before the GEMM runs. Its kernels are reported only when it runs.
Status check_end(Context &context, const GemmEpilogue &epilogue) {
  const size_t reported = context.choices.size();
  const Status status = end_epilogue(context, epilogue, true);
  if (status.is_ok()) context.choices.resize(reported);
  return status;
}

}  // namespace

Status check_finish(const lpt_gemm_options &options, const Tensor &c, bool needs_f32, bool &out_is_direct) {
  const lpt_format format = c.format.id;
  const bool is_wide = is_wide_float(format);
  const bool is_plain = options.activation == LPT_ACTIVATION_NONE && options.residual == nullptr;
  if (is_wide && options.quantize != nullptr) {
    return invalid("quantize is given and c is %s: expected a c that is encoded", format_name(format).c_str());
  }
  if (options.beta != 0 && (options.activation == LPT_ACTIVATION_SWIGLU || !is_wide)) {
    return unsupported("beta is %g and c is %s: only c of f32, bf16, f16 or f64, without SwiGLU, is read", options.beta,
                       tensor_text(c).c_str());
  }
  if (format == LPT_FORMAT_F64 && (!is_plain || needs_f32)) {
    return unsupported("c is f64: it takes no activation, no residual and no outlier_threshold");
  }
  out_is_direct = is_wide && is_plain && (!needs_f32 || format == LPT_FORMAT_F32);
  return {};
}

Status begin_epilogue(Context &context, const lpt_gemm_options &options, Tensor *c, int64_t rows, int64_t columns,
                      bool needs_f32, GemmEpilogue &out_finish) {
  const bool is_check = is_check_only(options.flags);
  GemmEpilogue epilogue{};
  epilogue.c = c;
  epilogue.columns = columns;
  epilogue.activation = options.activation;
  LPT_TRY(check_matrix(c, "c", !is_check, epilogue.c_view, context.queue.device()));
  const bool is_gated = options.activation == LPT_ACTIVATION_SWIGLU;
  if (is_gated && columns % 2 != 0) {
    return invalid("the GEMM has %lld columns: expected an even number for LPT_ACTIVATION_SWIGLU", number(columns));
  }
  LPT_TRY(check_shape(epilogue.c_view, "c", rows, is_gated ? columns / 2 : columns,
                      is_gated ? "the gated GEMM of a and b" : "the GEMM of a and b"));
  LPT_TRY(check_residual(options, !is_check, context.queue.device(), epilogue));
  LPT_TRY(check_finish(options, *c, needs_f32, epilogue.is_direct));
  if (!is_wide_float(epilogue.c_view.format.id)) epilogue.quantize = options.quantize;
  out_finish = epilogue;
  if (epilogue.is_direct) return {};
  out_finish.target = dense_view(LPT_FORMAT_F32, nullptr, rows, columns);
  LPT_TRY(check_end(context, out_finish));
  return take_target(context, rows, is_check, options.beta != 0, out_finish);
}

Status end_epilogue(Context &context, const GemmEpilogue &epilogue, bool is_check_only) {
  if (epilogue.is_direct) return {};
  const bool is_wide = is_wide_float(epilogue.c_view.format.id);
  if (is_wide) return run_finish(context, epilogue, epilogue.c_view, is_check_only);
  MatrixView numbers = epilogue.target;
  const bool is_gated = epilogue.activation == LPT_ACTIVATION_SWIGLU;
  if (is_gated) {
    LPT_TRY(
        take_matrix(context, LPT_FORMAT_F32, epilogue.c_view.rows, epilogue.c_view.columns, is_check_only, numbers));
  }
  if (epilogue.activation != LPT_ACTIVATION_NONE || epilogue.residual.format.element != LPT_FORMAT_NONE) {
    LPT_TRY(run_finish(context, epilogue, numbers, is_check_only));
  }
  return encode(context, epilogue, numbers, is_check_only);
}

}  // namespace lpt
