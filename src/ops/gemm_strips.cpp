#include "src/ops/gemm_strips.hpp"

#include "src/ops/sparse_parts.hpp"
#include "src/ops/weights_panels.hpp"
#include "src/ops/weights_thin.hpp"

namespace lpt {
namespace {

// A strip stays in the caches. A smaller one that the second cache holds is slower: a is packed anew for each.
constexpr int64_t kStripBytes = 4 << 20;

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// Strips begin where the product may be cut and where a block of scales begins.
int64_t unit_of(const Format &format) {
  const bool has_blocks = format.has_block_scale() && format.block_rows != LPT_BLOCK_EXTENT_FULL;
  return has_blocks ? std::max<int64_t>(kGemmColumnUnit, format.block_rows) : kGemmColumnUnit;
}

// Writes a strip out: a 2:4 matrix as rows, loose panels as panels. Scales are those of b, where they lie.
class StripWriter {
 public:
  Status choose_row(Context &context, const MatrixView &b) {
    if (b.layout == Layout::kSparse) return rows_.choose_row(context, b, false);
    return choose(context, "fill", fill_kernels(), FillRequest{}, {}, &fill_);
  }

  // Rows `begin` to `begin + count` of b, at `memory`.
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
  const Row<FillRequest> *fill_ = nullptr;
};

// Bytes of a row of the dense shape.
int64_t line_bytes_of(const MatrixView &shape) {
  if (shape.layout == Layout::kRows) return row_bytes(shape.format.element, shape.row_stride);
  return panel_size(shape.format, shape.columns).payload / kPanelLanes;
}

}  // namespace

bool is_in_strips(const GemmRequest &request) {
  return request.b.layout == Layout::kSparse && request.is_b_transposed && request.m > 0 && request.n > 0;
}

Strips cut_in_strips(const Context &context, const GemmRow &row, const GemmRequest &whole) {
  const double work = static_cast<double>(whole.m) * static_cast<double>(whole.n) * static_cast<double>(whole.k);
  const int64_t width = threads_worth(context, work);
  const int64_t unit = unit_of(whole.b.format);
  const int64_t line_bytes = std::max<int64_t>(line_bytes_of(whole.b), 1);
  const int64_t fair = (whole.n + width - 1) / width;
  Strips strips{};
  strips.length = std::min(whole.n, round_up(std::clamp<int64_t>(kStripBytes / line_bytes, 1, fair), unit));
  strips.count = (whole.n + strips.length - 1) / strips.length;
  const int64_t wanted = (width + strips.count - 1) / strips.count;
  strips.row_length = std::min(whole.m, round_up((whole.m + wanted - 1) / wanted, kGemmRowUnit));
  strips.row_count = (whole.m + strips.row_length - 1) / strips.row_length;
  strips.threads = std::min(width, strips.items());
  strips.dense_bytes = aligned(static_cast<size_t>(round_up(strips.length, kPanelLanes) * line_bytes));
  MatrixView longest = whole.b;
  longest.rows = strips.length;
  GemmRequest largest = columns_of(whole, longest, 0);
  largest.m = strips.row_length;
  strips.scratch_bytes = aligned(row.scratch_bytes(largest));
  return strips;
}

Status run_in_strips(Context &context, const MatrixView &b, const GemmRow &row, const GemmRequest &whole) {
  const Strips strips = cut_in_strips(context, row, whole);
  StripWriter writer;
  LPT_TRY(writer.choose_row(context, b));
  const auto multiply = [&](int64_t item, std::byte *mine) {
    const int64_t begin = item / strips.row_count * strips.length;
    const MatrixView dense = writer.write(b, whole.b, begin, std::min(strips.length, whole.n - begin), mine);
    GemmRequest request = columns_of(whole, dense, begin);
    request.first_row = item % strips.row_count * strips.row_length;
    request.m = std::min(strips.row_length, whole.m - request.first_row);
    request.scratch = mine + strips.dense_bytes;
    row.run(request);
  };
  return run_in_turn(context, {strips.items(), strips.threads, strips.dense_bytes + strips.scratch_bytes},
                     whole.m * whole.n, multiply);
}

}  // namespace lpt
