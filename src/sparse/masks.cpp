// Operations on existing masks: counting, comparison, application and decay.
#include <vector>

#include "src/call/launch.hpp"
#include "src/sparse/parts.hpp"
#include "src/tensor/checks.hpp"
#include "src/tensor/sparse_matrix.hpp"

namespace lpt {

Status check_sparse_group(int32_t kept, int32_t of, int32_t most_kept) {
  if (of < 2 || of > kLongestSparseGroup) return invalid("of is %d: expected 2 to %d", of, kLongestSparseGroup);
  if (kept < 1 || kept > most_kept) return invalid("kept is %d of %d: expected 1 to %d", kept, of, most_kept);
  return {};
}

Status check_mask(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view, const Device &device) {
  LPT_TRY(check_matrix(tensor, name, needs_data, out_view, device));
  if (out_view.format.id == LPT_FORMAT_UINT8) return {};
  return unsupported("%s is %s: expected uint8", name, format_name(out_view.format.id).c_str());
}

Status check_same_shape(const MatrixView &view, const char *name, const MatrixView &source, const char *source_name) {
  LPT_TRY(check_shape(view, name, source.rows, source.columns, source_name));
  return check_no_overlap(view, name, source, source_name);
}

Status check_output(const Tensor *tensor, const char *name, bool needs_data, const MatrixView &source,
                    MatrixView &out_view, const Device &device) {
  LPT_TRY(check_matrix(tensor, name, needs_data, out_view, device));
  if (out_view.format.id != LPT_FORMAT_F32 && out_view.format.id != source.format.id) {
    return unsupported("%s is %s: expected f32, or %s as the source", name, format_name(out_view.format.id).c_str(),
                       format_name(source.format.id).c_str());
  }
  LPT_TRY(check_shape(out_view, name, source.rows, source.columns, "source"));
  return check_in_place(out_view, name, source, "source");
}

Status apply_mask(Context &context, const MaskApplyRequest &given, bool is_run) {
  MaskApplyRequest whole = given;
  whole.is_streamed = view_bytes(whole.target) >= kStreamedBytes;
  const auto slice = [](const MaskApplyRequest &of, int64_t begin, int64_t count) {
    return MaskApplyRequest{cut_rows(of.source, begin, count), cut_rows(of.mask, begin, count),
                            cut_rows(of.target, begin, count), of.is_streamed};
  };
  return launch(context, {"mask_apply", mask_apply_kernels}, whole, {whole.source.format.id, whole.target.format.id},
                !is_run, {whole.source.rows, whole.source.columns, view_bytes(whole.source) + view_bytes(whole.target)},
                slice);
}

namespace {

// Counts the groups of a mask, along its rows, that keep too many elements.
int64_t count_overfull(const MatrixView &mask, int32_t kept, int32_t of) {
  int64_t result = 0;
  for (int64_t row = 0; row < mask.rows; ++row) {
    for (int64_t begin = 0; begin < mask.columns; begin += of) result += count_kept(mask, row, begin, of) > kept;
  }
  return result;
}

// Returns the sum of `count` over parts of the rows of a mask.
template <typename Count>
int64_t add_up_parts(Context &context, int64_t rows, int64_t columns, const Count &count) {
  const Parts parts = split(context, rows, columns);
  std::vector<int64_t> counts(static_cast<size_t>(parts.count));
  parallel_for(context, parts.count, [&](int64_t i) {
    const int64_t begin = i * parts.length;
    counts[static_cast<size_t>(i)] = count(begin, std::min(parts.length, rows - begin));
  });
  int64_t result = 0;
  for (const int64_t part : counts) result += part;
  return result;
}

int64_t count_differences(const MatrixView &mask, const MatrixView &other) {
  int64_t result = 0;
  for (int64_t row = 0; row < mask.rows; ++row) {
    const auto *a = static_cast<const uint8_t *>(mask.data) + row * mask.row_stride;
    const auto *b = static_cast<const uint8_t *>(other.data) + row * other.row_stride;
    for (int64_t i = 0; i < mask.columns; ++i) result += (a[i] != 0) != (b[i] != 0);
  }
  return result;
}

}  // namespace

Status check_sparse_mask(Context &context, const Tensor *mask, int32_t kept, int32_t of, lpt_sparse_direction direction,
                         int64_t *out_count) {
  MatrixView view;
  LPT_TRY(check_sparse_group(kept, of, of));
  LPT_TRY(check_choice("direction", direction, LPT_SPARSE_DIRECTION_BOTH));
  LPT_TRY(check_mask(mask, "mask", true, view));
  int64_t count = 0;
  for (const bool is_column : {false, true}) {
    if (direction == (is_column ? LPT_SPARSE_DIRECTION_ROW : LPT_SPARSE_DIRECTION_COLUMN)) continue;
    const MatrixView lines = is_column ? transposed_view(view) : view;
    count += add_up_parts(context, lines.rows, lines.columns, [&](int64_t begin, int64_t length) {
      return count_overfull(cut_rows(lines, begin, length), kept, of);
    });
  }
  *out_count = count;
  return {};
}

Status compare_sparse_masks(Context &context, const Tensor *mask, const Tensor *other, int64_t *out_count) {
  MatrixView a;
  MatrixView b;
  LPT_TRY(check_mask(mask, "mask", true, a));
  LPT_TRY(check_mask(other, "other", true, b));
  LPT_TRY(check_shape(b, "other", a.rows, a.columns, "mask"));
  *out_count = add_up_parts(context, a.rows, a.columns, [&](int64_t begin, int64_t length) {
    return count_differences(cut_rows(a, begin, length), cut_rows(b, begin, length));
  });
  return {};
}

Status apply_sparse_mask(Context &context, const Tensor *source, const Tensor *mask, Tensor *output) {
  MaskApplyRequest whole{};
  const Device &device = context.queue.device();
  LPT_TRY(check_wide_matrix(source, "source", true, whole.source, device));
  LPT_TRY(check_mask(mask, "mask", true, whole.mask, device));
  LPT_TRY(check_shape(whole.mask, "mask", whole.source.rows, whole.source.columns, "source"));
  LPT_TRY(check_output(output, "output", true, whole.source, whole.target, device));
  LPT_TRY(check_no_overlap(whole.target, "output", whole.mask, "mask"));
  return apply_mask(context, whole, true);
}

Status decay_masked(Context &context, const Tensor *weight, const Tensor *mask, double rate, Tensor *gradient) {
  MaskDecayRequest whole{};
  const Device &device = context.queue.device();
  LPT_TRY(check_finite("rate", rate, -1e30, 1e30));
  LPT_TRY(check_wide_matrix(weight, "weight", true, whole.weight, device));
  LPT_TRY(check_mask(mask, "mask", true, whole.mask, device));
  LPT_TRY(check_shape(whole.mask, "mask", whole.weight.rows, whole.weight.columns, "weight"));
  LPT_TRY(check_matrix(gradient, "gradient", true, whole.gradient, device));
  if (whole.gradient.format.id != LPT_FORMAT_F32) {
    return unsupported("gradient is %s: expected f32", format_name(whole.gradient.format.id).c_str());
  }
  LPT_TRY(check_same_shape(whole.gradient, "gradient", whole.weight, "weight"));
  LPT_TRY(check_no_overlap(whole.gradient, "gradient", whole.mask, "mask"));
  whole.rate = static_cast<float>(rate);
  const auto slice = [](const MaskDecayRequest &of, int64_t begin, int64_t count) {
    return MaskDecayRequest{cut_rows(of.weight, begin, count), cut_rows(of.mask, begin, count),
                            cut_rows(of.gradient, begin, count), of.rate};
  };
  return launch(context, {"mask_decay", mask_decay_kernels}, whole, {whole.weight.format.id}, false,
                {whole.weight.rows, whole.weight.columns, view_bytes(whole.weight) + view_bytes(whole.gradient)},
                slice);
}

Status absorb_masked(Context &context, const Tensor *source, const Tensor *mask, int32_t of,
                     lpt_sparse_direction direction, Tensor *output) {
  MaskAbsorbRequest whole{};
  LPT_TRY(check_sparse_group(1, of, of));
  LPT_TRY(check_choice("direction", direction, LPT_SPARSE_DIRECTION_COLUMN));
  LPT_TRY(check_wide_matrix(source, "source", true, whole.source));
  LPT_TRY(check_mask(mask, "mask", true, whole.mask));
  LPT_TRY(check_shape(whole.mask, "mask", whole.source.rows, whole.source.columns, "source"));
  LPT_TRY(check_output(output, "output", true, whole.source, whole.target));
  LPT_TRY(check_no_overlap(whole.target, "output", whole.mask, "mask"));
  whole.of = of;
  if (direction == LPT_SPARSE_DIRECTION_COLUMN) {
    for (MatrixView *view : {&whole.source, &whole.mask, &whole.target}) *view = transposed_view(*view);
  }
  const KernelEntry<MaskAbsorbRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "mask_absorb", mask_absorb_kernels(), whole, {whole.source.format.id}, &kernel));
  parallel_parts(context, whole.source.rows, whole.source.columns, [&](int64_t begin, int64_t count) {
    kernel->run({cut_rows(whole.source, begin, count), cut_rows(whole.mask, begin, count),
                 cut_rows(whole.target, begin, count), of});
  });
  return {};
}

}  // namespace lpt
