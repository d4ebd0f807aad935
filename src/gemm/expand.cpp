#include "src/gemm/expand.hpp"

#include "src/tensor/panels.hpp"
#include "src/tensor/sparse_matrix.hpp"
#include "src/tensor/sparse_panels.hpp"

namespace lpt {
namespace {

// A slab fits in the caches. Slabs that fit in the L2 cache are slower, because a is packed once per slab.
constexpr int64_t kSlabBytes = 4 << 20;

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// Returns the unit of slab edges: a multiple of the column unit of GEMMs and of a block of scales.
int64_t unit_of(const Format &format) {
  const bool has_blocks = format.has_block_scale() && format.block_rows != LPT_BLOCK_EXTENT_FULL;
  return has_blocks ? std::max<int64_t>(kGemmColumnUnit, format.block_rows) : kGemmColumnUnit;
}

// Expands a slab: a 2:4 matrix to rows, bitmask panels to panels. The scales are those of b.
class SlabWriter {
 public:
  Status select_gemm_kernel(Context &context, const MatrixView &b) {
    if (b.layout == Layout::kSparse) return rows_.select_gemm_kernel(context, b, false);
    return select_kernel(context, "expand", expand_kernels(), ExpandRequest{}, {}, &fill_);
  }

  // Writes rows `begin` to `begin + count` of b to `memory` and returns them.
  MatrixView write(const MatrixView &b, const MatrixView &shape, int64_t begin, int64_t count,
                   std::byte *memory) const {
    if (b.layout == Layout::kSparse) {
      const MatrixView part = cut_rows(b, begin, count);
      MatrixView dense = part;
      dense.format = shape.format;
      dense.layout = Layout::kRows;
      dense.indices = nullptr;
      dense.data = memory;
      dense.row_stride = shape.row_stride;
      rows_.write(part, dense);
      return dense;
    }
    const MatrixView part = cut_packed_rows(b, begin, count);
    MatrixView panels = panels_shape(part);
    panels.data = memory;
    const int64_t bytes = panel_size(b.format, b.columns).payload;
    for (int64_t panel = 0; panel < panels_for(count); ++panel)
      write_panel(*fill_, part, panel, memory + panel * bytes);
    return panels;
  }

 private:
  RowWriter rows_;
  const KernelEntry<ExpandRequest> *fill_ = nullptr;
};

// Returns the bytes of a row in the dense shape.
int64_t line_bytes_of(const MatrixView &shape) {
  if (shape.layout == Layout::kRows) return row_bytes(shape.format.element, shape.row_stride);
  return panel_size(shape.format, shape.columns).payload / kPanelLanes;
}

}  // namespace

bool is_in_slabs(const GemmRequest &request) {
  return request.b.layout == Layout::kSparse && request.is_b_transposed && request.m > 0 && request.n > 0;
}

ExpandPlan plan_expansion(const Context &context, const KernelEntry<GemmRequest> &kernel, const GemmRequest &whole) {
  const double work = static_cast<double>(whole.m) * static_cast<double>(whole.n) * static_cast<double>(whole.k);
  const int64_t width = threads_worth(context, work);
  const int64_t unit = unit_of(whole.b.format);
  const int64_t line_bytes = std::max<int64_t>(line_bytes_of(whole.b), 1);
  const int64_t fair = (whole.n + width - 1) / width;
  ExpandPlan slabs{};
  slabs.length = std::min(whole.n, round_up(std::clamp<int64_t>(kSlabBytes / line_bytes, 1, fair), unit));
  slabs.count = (whole.n + slabs.length - 1) / slabs.length;
  const int64_t requested = (width + slabs.count - 1) / slabs.count;
  slabs.row_length = std::min(whole.m, round_up((whole.m + requested - 1) / requested, kGemmRowUnit));
  slabs.row_count = (whole.m + slabs.row_length - 1) / slabs.row_length;
  slabs.threads = std::min(width, slabs.items());
  slabs.dense_bytes = aligned(static_cast<size_t>(round_up(slabs.length, kPanelLanes) * line_bytes));
  MatrixView longest = whole.b;
  longest.rows = slabs.length;
  GemmRequest largest = columns_of(whole, longest, 0);
  largest.m = slabs.row_length;
  slabs.scratch_bytes = aligned(kernel.scratch_bytes(largest));
  return slabs;
}

Status run_expanded(Context &context, const MatrixView &b, const KernelEntry<GemmRequest> &kernel,
                    const GemmRequest &whole) {
  const ExpandPlan slabs = plan_expansion(context, kernel, whole);
  SlabWriter writer;
  LPT_TRY(writer.select_gemm_kernel(context, b));
  const auto multiply = [&](int64_t item, std::byte *mine) {
    const int64_t begin = item / slabs.row_count * slabs.length;
    const MatrixView dense = writer.write(b, whole.b, begin, std::min(slabs.length, whole.n - begin), mine);
    GemmRequest request = columns_of(whole, dense, begin);
    request.first_row = item % slabs.row_count * slabs.row_length;
    request.m = std::min(slabs.row_length, whole.m - request.first_row);
    request.scratch = mine + slabs.dense_bytes;
    kernel.run(request);
  };
  return run_dynamic(context, slabs.queue(), whole.m * whole.n, multiply);
}

}  // namespace lpt
