#include <algorithm>

#include "src/gemm/cast.hpp"
#include "src/gemm/checks.hpp"
#include "src/gemm/epilogue.hpp"
#include "src/gemm/gemm.hpp"
#include "src/gemm/run.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

struct Groups {
  MatrixView ends;  // a vector in CPU memory
  int64_t count;
  std::vector<std::byte> copied;  // the vector, if it was in GPU memory

  int64_t begin(int64_t group) const { return group == 0 ? 0 : index_at(ends, group - 1); }
  int64_t rows(int64_t group) const { return begin(group + 1) - begin(group); }
  int64_t end() const { return begin(count); }
};

// Reads the vector. If it is in GPU memory, it is copied, and the function waits for the stream.
Status read_groups(Context &context, const Tensor *tensor, Groups &out_groups) {
  MatrixView &ends = out_groups.ends;
  LPT_TRY(check_indices(tensor, "group_ends", true, ends, context.queue.device()));
  if (shape_of(*tensor).rows > 1) {
    return invalid("group_ends is %s: expected a vector", tensor_text(*tensor).c_str());
  }
  out_groups.count = ends.columns;
  if (tensor->device.is_cpu()) return {};
  const int64_t bytes = row_bytes(ends.format.id, ends.columns);
  out_groups.copied.resize(static_cast<size_t>(bytes));
  LPT_TRY(context.queue.copy({out_groups.copied.data(), bytes, ends.data, bytes, bytes, 1}));
  ends.data = out_groups.copied.data();
  return context.queue.synchronize();
}

Status check_groups(const Groups &groups, int64_t rows) {
  for (int64_t g = 0; g < groups.count; ++g) {
    const int64_t end = index_at(groups.ends, g);
    if (end < groups.begin(g) || end > rows) {
      return invalid("group_ends[%lld] is %lld: expected %lld to %lld, the rows of a", number(g), number(end),
                     number(groups.begin(g)), number(rows));
    }
  }
  return {};
}

Status check_axes(const Tensor *tensor, const char *name, int32_t rank, const Device &device) {
  LPT_TRY(check_tensor(tensor, name, device));
  if (tensor->rank == rank) return {};
  return invalid("%s is %s: expected %d axes", name, tensor_text(*tensor).c_str(), rank);
}

// Rejects blocks of scales that span rows, because groups can begin at any row.
Status check_rows(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view, const Device &device) {
  LPT_TRY(check_matrix(tensor, name, needs_data, out_view, device));
  const Format &format = out_view.format;
  if (format.has_block_scale() && format.block_rows != 1 && format.block_rows != LPT_BLOCK_EXTENT_FULL) {
    return unsupported("%s is %s: blocks of scales span rows of groups", name, tensor_text(*tensor).c_str());
  }
  return check_holds_numbers(format.id, name);
}

Status check_group_count(const Tensor *tensor, const char *name, int64_t count) {
  if (tensor->extents[0] == count) return {};
  return invalid("%s is %s: expected %lld matrices, one for each group", name, tensor_text(*tensor).c_str(),
                 number(count));
}

// Sets one bias for all groups, or one for each.
Status set_bias(const lpt_gemm_options &options, int64_t n, const MatrixView &c, const Device &device,
                std::vector<GemmCall> &calls) {
  if (calls.empty()) return {};
  MatrixView bias;
  const auto count = static_cast<int64_t>(calls.size());
  LPT_TRY(check_bias(options, calls.front(), count, n, c, bias, device));
  for (int64_t g = 0; g < count; ++g) {
    calls[static_cast<size_t>(g)].bias = bias.rows > 1 ? cut_rows(bias, g, 1).data : bias.data;
  }
  return {};
}

// Multiplies the rows of each group of a by the matrix of the group.
Status multiply_rows(Context &context, const Tensor *a, const Tensor *b, const Groups &groups,
                     const lpt_gemm_options &options, const GemmCall &common, Tensor *c) {
  const bool is_check = is_check_only(options.flags);
  const Device &device = context.queue.device();
  LPT_TRY(check_axes(b, "b", 3, device));
  LPT_TRY(check_group_count(b, "b", groups.count));
  MatrixView rows;
  LPT_TRY(check_rows(a, "a", !is_check, rows, device));
  LPT_TRY(check_groups(groups, rows.rows));
  const int64_t n = b->extents[options.is_b_transposed != 0 ? 1 : 2];
  GemmEpilogue epilogue;
  LPT_TRY(begin_epilogue(context, options, c, rows.rows, n, false, epilogue));
  if (!epilogue.is_direct && groups.end() != rows.rows) {
    return unsupported("group_ends[%lld] is %lld: c is written through a copy, and all %lld rows belong to groups then",
                       number(groups.count - 1), number(groups.end()), number(rows.rows));
  }
  LPT_TRY(check_no_overlap(epilogue.c_view, "c", rows, "a"));
  size_t cast_bytes = 0;
  LPT_TRY(cast_first_operand(context, options, rows, cast_bytes));
  const MatrixView &target = epilogue.is_direct ? epilogue.c_view : epilogue.target;
  std::vector<GemmCall> calls(static_cast<size_t>(groups.count), common);
  for (int64_t g = 0; g < groups.count; ++g) {
    GemmCall &call = calls[static_cast<size_t>(g)];
    call.is_b_transposed = options.is_b_transposed != 0;
    call.a = cut_rows(rows, groups.begin(g), groups.rows(g));
    call.c = cut_rows(target, groups.begin(g), groups.rows(g));
    LPT_TRY(check_second_operand_at(*b, g, !is_check, call.is_b_transposed, call.b, device));
    GemmShape shape;
    LPT_TRY(check_inner_sizes(call, shape));
    LPT_TRY(check_no_overlap(epilogue.c_view, "c", call.b, "b"));
  }
  LPT_TRY(set_bias(options, n, epilogue.c_view, device, calls));
  LPT_TRY(run_gemms(context, calls, is_check));
  return end_epilogue(context, epilogue, is_check);
}

// Multiplies the transposed rows of each group of a by the rows of the same group of b. The sums are along the rows.
Status multiply_along_groups(Context &context, const Tensor *a, const Tensor *b, const Groups &groups,
                             const lpt_gemm_options &options, const GemmCall &common, Tensor *c) {
  const bool is_check = is_check_only(options.flags);
  const Device &device = context.queue.device();
  if (options.is_b_transposed != 0) return invalid("is_b_transposed is 1: expected 0 where groups lie along k");
  LPT_TRY(check_axes(b, "b", 2, device));
  LPT_TRY(check_axes(c, "c", 3, device));
  LPT_TRY(check_group_count(c, "c", groups.count));
  MatrixView left, right;
  LPT_TRY(check_rows(a, "a", !is_check, left, device));
  LPT_TRY(check_rows(b, "b", !is_check, right, device));
  LPT_TRY(check_groups(groups, left.rows));
  if (left.rows != right.rows) {
    return invalid("inner sizes differ: a is %s transposed, b is %s", tensor_text(*a).c_str(), tensor_text(*b).c_str());
  }
  const int64_t m = left.columns, n = right.columns;
  GemmEpilogue epilogue;
  LPT_TRY(begin_epilogue(context, options, c, groups.count * m, n, false, epilogue));
  LPT_TRY(check_no_overlap(epilogue.c_view, "c", left, "a"));
  LPT_TRY(check_no_overlap(epilogue.c_view, "c", right, "b"));
  size_t cast_bytes = 0;
  LPT_TRY(cast_first_operand(context, options, left, cast_bytes));
  const MatrixView &target = epilogue.is_direct ? epilogue.c_view : epilogue.target;
  std::vector<GemmCall> calls(static_cast<size_t>(groups.count), common);
  for (int64_t g = 0; g < groups.count; ++g) {
    GemmCall &call = calls[static_cast<size_t>(g)];
    call.is_a_transposed = true;
    call.a = cut_rows(left, groups.begin(g), groups.rows(g));
    call.b = cut_rows(right, groups.begin(g), groups.rows(g));
    call.c = cut_rows(target, g * m, m);
  }
  LPT_TRY(set_bias(options, n, epilogue.c_view, device, calls));
  LPT_TRY(run_gemms(context, calls, is_check));
  return end_epilogue(context, epilogue, is_check);
}

}  // namespace

Status gemm_grouped(Context &context, const Tensor *a, const Tensor *b, const Tensor *group_ends,
                    const lpt_gemm_options &options, Tensor *c) {
  GemmCall common;
  LPT_TRY(check_gemm_options(options, common));
  LPT_TRY(check_no_outliers(options, "a grouped GEMM"));
  LPT_TRY(check_axes(a, "a", 2, context.queue.device()));
  LPT_TRY(check_tensor(c, "c", context.queue.device()));
  Groups groups{};
  LPT_TRY(read_groups(context, group_ends, groups));
  return options.is_a_transposed != 0 ? multiply_along_groups(context, a, b, groups, options, common, c)
                                      : multiply_rows(context, a, b, groups, options, common, c);
}

}  // namespace lpt
