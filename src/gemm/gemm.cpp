#include "src/gemm/gemm.hpp"

#include "src/gemm/cast.hpp"
#include "src/gemm/checks.hpp"
#include "src/gemm/epilogue.hpp"
#include "src/gemm/outliers.hpp"
#include "src/gemm/run.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

// Checks the arguments that a GEMM and a batch share.
Status check_call(const Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options,
                  const Tensor *c, GemmCall &out_common) {
  const Device &device = context.queue.device();
  LPT_TRY(check_gemm_options(options, out_common));
  LPT_TRY(check_tensor(a, "a", device));
  LPT_TRY(check_tensor(b, "b", device));
  LPT_TRY(check_tensor(c, "c", device));
  return device.is_cpu() ? Status() : check_no_outliers(options, "a GEMM on a GPU");
}

bool do_axes_fold(const Tensor &tensor) {
  MatrixView view;
  return tensor.rank <= 2 || matrix_of(tensor, "", view).code() == LPT_OK;
}

// Multiplies two matrices. With `out_dispatch` it only reports the kernel and the scratch.
Status multiply_one(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options, GemmCall call,
                    Tensor *c, GemmDispatch *out_dispatch) {
  const bool is_check = is_check_only(options.flags);
  call.is_a_transposed = options.is_a_transposed != 0;
  call.is_b_transposed = options.is_b_transposed != 0;
  const Device &device = context.queue.device();
  LPT_TRY(check_operand(a, "a", !is_check, call.is_a_transposed, call.a, device));
  LPT_TRY(check_second_operand(b, !is_check, call.is_b_transposed, call.b, device));
  GemmShape shape;
  LPT_TRY(check_inner_sizes(call, shape));
  GemmEpilogue epilogue;
  const bool has_outliers = options.outlier_threshold > 0;
  LPT_TRY(begin_epilogue(context, options, c, shape.m, shape.n, has_outliers, epilogue));
  LPT_TRY(check_no_overlap(epilogue.c_view, "c", call.a, "a"));
  LPT_TRY(check_no_overlap(epilogue.c_view, "c", call.b, "b"));
  call.c = epilogue.is_direct ? epilogue.c_view : epilogue.target;
  MatrixView bias;
  LPT_TRY(check_bias(options, call, 1, shape.n, epilogue.c_view, bias, device));
  call.bias = bias.data;
  size_t cast_bytes = 0;
  LPT_TRY(cast_first_operand(context, options, call.a, cast_bytes));
  if (out_dispatch != nullptr) {
    LPT_TRY(dispatch_gemm(context, call, *out_dispatch));
    out_dispatch->workspace_bytes += epilogue.target_bytes + cast_bytes;
    return end_epilogue(context, epilogue, true);
  }
  if (has_outliers) {
    if (call.a.layout == Layout::kSparse || call.b.layout == Layout::kSparse) {
      LPT_TRY(check_no_outliers(options, "a GEMM of a sparse matrix"));
    }
    LPT_TRY(multiply_with_outliers(context, call, static_cast<float>(options.outlier_threshold), is_check));
  } else {
    LPT_TRY(run_gemm(context, call, is_check));
  }
  return end_epilogue(context, epilogue, is_check);
}

Status check_count(const Tensor *tensor, const char *name, int64_t count) {
  if (tensor->rank <= 2 || matrix_count(*tensor) == count) return {};
  return invalid("%s is %s, %lld matrices: expected %lld, as c", name, tensor_text(*tensor).c_str(),
                 number(matrix_count(*tensor)), number(count));
}

// A batch: the output, and the memory that no operand may overlap.
struct Batch {
  int64_t m;              // of one GEMM
  GemmEpilogue epilogue;  // of all GEMMs, unless they write c directly
  MatrixView whole;
  bool is_whole;  // the matrices of c fold into one
};

// Returns the output of the GEMM at `index`.
Status result_at(const Tensor &c, const Batch &batch, int64_t index, bool needs_data, MatrixView &out_view) {
  if (!batch.epilogue.is_direct) {
    out_view = cut_rows(batch.epilogue.target, index * batch.m, batch.m);
    return {};
  }
  Tensor matrix;
  LPT_TRY(matrix_at(c, "c", index, matrix));
  return check_wide_matrix(&matrix, "c", needs_data, out_view, c.device);
}

// Sets the GEMM at `index` of a batch.
Status gemm_at(const Tensor &a, const Tensor &b, const lpt_gemm_options &options, const Tensor &c, const Batch &batch,
               int64_t index, GemmCall &call) {
  const bool needs_data = !is_check_only(options.flags);
  const Device &device = c.device;  // device of the context, see check_call()
  call.is_a_transposed = options.is_a_transposed != 0;
  call.is_b_transposed = options.is_b_transposed != 0;
  LPT_TRY(check_operand_at(a, "a", index, needs_data, call.is_a_transposed, call.a, device));
  LPT_TRY(check_second_operand_at(b, index, needs_data, call.is_b_transposed, call.b, device));
  GemmShape shape;
  LPT_TRY(check_inner_sizes(call, shape));
  LPT_TRY(result_at(c, batch, index, needs_data, call.c));
  LPT_TRY(check_shape(call.c, "c", shape.m, shape.n, "the GEMM of a and b"));
  const MatrixView &written = batch.is_whole ? batch.whole : call.c;
  LPT_TRY(check_no_overlap(written, "c", call.a, "a"));
  LPT_TRY(check_no_overlap(written, "c", call.b, "b"));
  MatrixView bias;
  LPT_TRY(check_bias(options, call, 1, shape.n, written, bias, device));
  call.bias = bias.data;
  return {};
}

// Casts the first operands. A matrix that consecutive GEMMs share is cast once. The explanation contains only the first cast.
Status cast_first_operands(Context &context, const lpt_gemm_options &options, std::vector<GemmCall> &calls) {
  const void *last = nullptr;
  MatrixView cast;
  for (size_t i = 0; i < calls.size(); ++i) {
    MatrixView &a = calls[i].a;
    if (i == 0 || a.data != last) {
      last = a.data;
      cast = a;
      size_t bytes = 0;
      const size_t explained = context.choices.size();
      LPT_TRY(cast_first_operand(context, options, cast, bytes));
      if (i > 0) context.choices.resize(explained);
    }
    a = cast;
  }
  return {};
}

// Runs the GEMMs of a batch. a and b have one matrix per GEMM or one for all; c has one per GEMM.
Status multiply_batch(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options,
                      const GemmCall &common, Tensor *c) {
  const bool is_check = is_check_only(options.flags);
  LPT_TRY(check_no_outliers(options, "a batch"));
  const int64_t count = matrix_count(*c);
  LPT_TRY(check_count(a, "a", count));
  LPT_TRY(check_count(b, "b", count));
  const bool is_gated = options.activation == LPT_ACTIVATION_SWIGLU;
  const int64_t n = c->extents[c->rank - 1] * (is_gated ? 2 : 1);
  Batch batch{};
  batch.m = c->extents[c->rank - 2];
  batch.is_whole = matrix_of(*c, "c", batch.whole).is_ok();
  LPT_TRY(check_finish(options, *c, false, batch.epilogue.is_direct));
  if (!batch.epilogue.is_direct)
    LPT_TRY(begin_epilogue(context, options, c, count * batch.m, n, false, batch.epilogue));
  std::vector<GemmCall> calls(static_cast<size_t>(count), common);
  for (int64_t i = 0; i < count; ++i) {
    LPT_TRY(gemm_at(*a, *b, options, *c, batch, i, calls[static_cast<size_t>(i)]));
  }
  LPT_TRY(cast_first_operands(context, options, calls));
  LPT_TRY(run_gemms(context, calls, is_check));
  return end_epilogue(context, batch.epilogue, is_check);
}

}  // namespace

Status gemm(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options, Tensor *c) {
  GemmCall common;
  LPT_TRY(check_call(context, a, b, options, c, common));
  // If only a has leading axes and they fold, they are rows of one GEMM.
  const bool is_batch = c->rank > 2 && (b->rank > 2 || (a->rank > 2 && options.is_a_transposed != 0) ||
                                        !do_axes_fold(*a) || !do_axes_fold(*c));
  return is_batch ? multiply_batch(context, a, b, options, common, c)
                  : multiply_one(context, a, b, options, common, c, nullptr);
}

Status gemm_planned(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options,
                    const KernelEntry<GemmRequest> *kernel, Tensor *c) {
  GemmCall common;
  LPT_TRY(check_call(context, a, b, options, c, common));
  common.kernel = kernel;
  return multiply_one(context, a, b, options, common, c, nullptr);
}

Status plan_gemm(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options, const Tensor *c,
                 GemmDispatch &out_dispatch) {
  GemmCall common;
  LPT_TRY(check_call(context, a, b, options, c, common));
  if (a->rank > 2 || b->rank > 2 || c->rank > 2) return unsupported("a plan is for matrices: a batch has no plan");
  LPT_TRY(check_no_outliers(options, "a plan"));
  // c is not written because only checks run.
  return multiply_one(context, a, b, options, common, const_cast<Tensor *>(c), &out_dispatch);
}

}  // namespace lpt
