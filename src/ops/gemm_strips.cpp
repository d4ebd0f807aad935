#include "src/ops/gemm_strips.hpp"

#include <atomic>
#include <functional>

#include "src/ops/sparse_parts.hpp"

namespace lpt {
namespace {

// A strip and what its product packs of it stay in the second cache. Where many rows of a meet it, it is longer: a is packed
// anew for each strip.
constexpr int64_t kStripBytes = 512 << 10;
constexpr int64_t kManyRows = 64;
constexpr int64_t kStripBytesOfManyRows = 4 << 20;

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// Strips begin where the product may be cut and where a block of scales begins.
int64_t unit_of(const Format &format) {
  const bool has_blocks = format.has_block_scale() && format.block_rows != LPT_WHOLE;
  return has_blocks ? std::max<int64_t>(kGemmColumnUnit, format.block_rows) : kGemmColumnUnit;
}

// One strip of the dense shape; its scales are those of the sparse matrix, where they lie.
MatrixView dense_strip(const MatrixView &sparse, const MatrixView &shape, std::byte *memory) {
  MatrixView dense = sparse;
  dense.format = shape.format;
  dense.layout = Layout::kRows;
  dense.indices = nullptr;
  dense.data = memory;
  dense.row_stride = shape.row_stride;
  return dense;
}

GemmRequest strip_of(const GemmRequest &whole, const MatrixView &dense, int64_t begin) {
  GemmRequest part = whole;
  part.b = dense;
  part.n = dense.rows;
  part.c = cut_columns(whole.c, begin, dense.rows);
  const int64_t bias_bytes = whole.is_f64 ? sizeof(double) : sizeof(float);
  if (whole.bias != nullptr) part.bias = static_cast<const std::byte *>(whole.bias) + begin * bias_bytes;
  return part;
}

}  // namespace

bool is_in_strips(const GemmRequest &request) {
  return request.b.layout == Layout::kSparse && request.is_b_transposed && request.m > 0 && request.n > 0;
}

Strips cut_in_strips(const Context &context, const GemmRow &row, const GemmRequest &whole) {
  const int64_t width = width_of(context);
  const int64_t unit = unit_of(whole.b.format);
  const int64_t line_bytes = std::max<int64_t>(row_bytes(whole.b.format.element, whole.b.row_stride), 1);
  const int64_t bytes = whole.m < kManyRows ? kStripBytes : kStripBytesOfManyRows;
  const int64_t fair = (whole.n + width - 1) / width;
  Strips strips{};
  strips.length = std::min(whole.n, round_up(std::clamp<int64_t>(bytes / line_bytes, 1, fair), unit));
  strips.count = (whole.n + strips.length - 1) / strips.length;
  strips.threads = std::min(width, strips.count);
  strips.dense_bytes = aligned(static_cast<size_t>(strips.length * line_bytes));
  MatrixView longest = whole.b;
  longest.rows = strips.length;
  strips.scratch_bytes = aligned(row.scratch_bytes(strip_of(whole, longest, 0)));
  return strips;
}

Status run_in_strips(Context &context, const MatrixView &sparse, const GemmRow &row, const GemmRequest &whole) {
  const Strips strips = cut_in_strips(context, row, whole);
  RowWriter writer;
  LPT_TRY(writer.choose_row(context, sparse, false));
  std::byte *memory = nullptr;
  LPT_TRY(context.arena->take(strips.bytes(), &memory));
  const auto multiply = [&](int64_t strip, std::byte *mine) {
    const int64_t begin = strip * strips.length;
    const MatrixView part = cut_rows(sparse, begin, std::min(strips.length, whole.n - begin));
    const MatrixView dense = dense_strip(part, whole.b, mine);
    writer.write(part, dense);
    GemmRequest request = strip_of(whole, dense, begin);
    request.scratch = mine + strips.dense_bytes;
    row.run(request);
  };
  // A thread takes the next strip when it has ended one.
  const int64_t steps = context.progress == nullptr ? 1 : std::min<int64_t>(strips.count, 100);
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t end = strips.count * (step + 1) / steps;
    std::atomic<int64_t> next{strips.count * step / steps};
    const auto work = [&](int64_t thread) {
      std::byte *const mine = memory + static_cast<size_t>(thread) * (strips.dense_bytes + strips.scratch_bytes);
      for (int64_t strip = next++; strip < end; strip = next++) multiply(strip, mine);
    };
    parallel_for(context, strips.threads, std::cref(work));
    if (context.progress == nullptr) continue;
    const int64_t done = std::min(whole.n, end * strips.length) * whole.m;
    const int64_t all = whole.n * whole.m;
    if (context.progress(context.progress_user, done, all) != 0) return cancelled(done, all);
  }
  return {};
}

}  // namespace lpt
