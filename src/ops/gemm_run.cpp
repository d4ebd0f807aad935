#include "src/ops/gemm_run.hpp"

#include <atomic>
#include <cassert>
#include <cmath>
#include <functional>

#include "src/ops/gemm_strips.hpp"
#include "src/ops/gemm_tiles.hpp"
#include "src/ops/sparse_parts.hpp"
#include "src/ops/weights.hpp"
#include "src/ops/weights_thin.hpp"

namespace lpt {
namespace {

// Some rows and columns of the result.
struct Area {
  int64_t row, column, rows, columns;
};

// An area cut into a grid of parts.
struct Grid {
  int64_t rows, columns;  // parts
  int64_t row_length, column_length;

  int64_t count() const { return rows * columns; }
};

// Cuts an area into `wanted` parts or fewer, each as square as the units allow, since a part packs its share of a and b
// anew.
Grid make_grid(const Area &area, int64_t wanted) {
  const int64_t row_units = (area.rows + kGemmRowUnit - 1) / kGemmRowUnit;
  const int64_t column_units = (area.columns + kGemmColumnUnit - 1) / kGemmColumnUnit;
  Grid grid{};
  double best_cost = INFINITY;
  for (int64_t rows = 1; rows <= wanted; ++rows) {
    const int64_t columns = wanted / rows;
    const int64_t row_length = (row_units + rows - 1) / rows * kGemmRowUnit;
    const int64_t column_length = (column_units + columns - 1) / columns * kGemmColumnUnit;
    // The longest part decides: its multiply-adds, and what it packs, worth some 32 of them an element.
    const double cost = static_cast<double>(row_length) * static_cast<double>(column_length) +
                        32.0 * static_cast<double>(row_length + column_length);
    if (cost >= best_cost) continue;
    best_cost = cost;
    grid = {(area.rows + row_length - 1) / row_length, (area.columns + column_length - 1) / column_length, row_length,
            column_length};
  }
  return grid;
}

// The part at a place of the grid that an area is cut into. The last ones of a row or a column may be smaller, or
// nothing where the grid is that of a larger area.
Area cut(const Area &area, const Grid &grid, int64_t index) {
  const int64_t row = index / grid.columns * grid.row_length;
  const int64_t column = index % grid.columns * grid.column_length;
  return {area.row + row, area.column + column, std::min(grid.row_length, area.rows - row),
          std::min(grid.column_length, area.columns - column)};
}

GemmRequest cut(const GemmRequest &whole, const Area &area) {
  GemmRequest part = whole;
  part.first_row = area.row;
  part.first_column = area.column;
  part.m = area.rows;
  part.n = area.columns;
  return part;
}

constexpr double kLeastWork = 1 << 18;  // multiply-adds that are worth a thread's waking

int64_t threads_for(const Context &context, const Area &area, int64_t k) {
  return threads_worth(context,
                       static_cast<double>(area.rows) * static_cast<double>(area.columns) * static_cast<double>(k));
}

// In how many steps a product runs: one, if nobody wants to know how far it has come. A step packs its share of a and b
// anew, so it has many elements.
int64_t steps_for(const Context &context, const Area &area) {
  constexpr int64_t kReportedElements = 1 << 19;
  constexpr int64_t kMostReports = 100;
  if (context.progress == nullptr) return 1;
  return std::clamp<int64_t>(area.rows * area.columns / kReportedElements, 1, kMostReports);
}

// How a product is cut: into steps, each of them shared among the threads. The first step is the largest, and so is its
// first part: all are cut alike and get scratch of its size.
struct Cutting {
  Area all;
  Grid steps, parts;
  size_t scratch_bytes;  // of one part
};

int64_t round_to(int64_t count, int64_t unit) { return (count + unit - 1) / unit * unit; }

Area all_of(const GemmRequest &whole) { return {0, 0, whole.m, whole.n}; }

Cutting cut_product(const Context &context, const GemmRow &row, const GemmRequest &whole, const Area &all) {
  Cutting cutting{};
  cutting.all = all;
  cutting.steps = make_grid(cutting.all, steps_for(context, cutting.all));
  const Area first = cut(cutting.all, cutting.steps, 0);
  cutting.parts = make_grid(first, threads_for(context, first, whole.k));
  cutting.scratch_bytes = aligned(row.scratch_bytes(cut(whole, cut(first, cutting.parts, 0))));
  return cutting;
}

// The part of a product that `all` names, which begins on units.
Status run_product(Context &context, const GemmRow &row, const GemmRequest &whole, const Area &all) {
  const Cutting cutting = cut_product(context, row, whole, all);
  const Grid &steps = cutting.steps, &parts = cutting.parts;  // clang 14 has no bindings in lambdas
  const size_t scratch_bytes = cutting.scratch_bytes;
  std::byte *scratch = nullptr;
  LPT_TRY(context.arena->take(static_cast<size_t>(parts.count()) * scratch_bytes, &scratch));
  int64_t done = 0;
  for (int64_t s = 0; s < steps.count(); ++s) {
    const Area step = cut(all, steps, s);
    const auto run_part = [&](int64_t i) {
      const Area area = cut(step, parts, i);
      if (area.rows <= 0 || area.columns <= 0) return;
      GemmRequest part = cut(whole, area);
      assert(row.scratch_bytes(part) <= scratch_bytes);
      part.scratch = scratch + static_cast<size_t>(i) * scratch_bytes;
      row.run(part);
    };
    parallel_for(context, parts.count(), std::cref(run_part));  // by reference: nothing is allocated
    done += step.rows * step.columns;
    if (context.progress == nullptr) continue;
    const int64_t work = all.rows * all.columns;
    if (context.progress(context.progress_user, done, work) != 0) return cancelled(done, work);
  }
  return {};
}

double flops_of(const GemmRequest &request) {
  return 2.0 * static_cast<double>(request.m) * static_cast<double>(request.n) * static_cast<double>(request.k);
}

double bytes_of(const GemmRequest &request) {
  return view_bytes(request.a) + view_bytes(request.b) + view_bytes(request.c);
}

bool is_empty(const GemmRequest &request) { return request.m == 0 || request.n == 0; }

// A product that was planned runs no other row than that.
bool may_run(const GemmRow &row, const GemmRow *planned) { return planned == nullptr || planned == &row; }

// Whether a fast row reads these panels, of thin weights once they are written out or gathered. Rows that need no instruction
// set read rows of numbers only.
bool has_row_for_panels(const Context &context, const GemmRow *planned, GemmRequest request) {
  if (request.b.layout == Layout::kTiles && !takes_tiles(request)) return false;
  if (is_thin(request.b.layout)) request.b = panels_shape(request.b);
  for (const GemmRow &row : gemm_kernels()) {
    if (!may_run(row, planned)) continue;
    if (row.needs != 0 && (row.needs & ~context.features) == 0 && row.refuses(request) == nullptr) return true;
  }
  return false;
}

// A row that takes a sparse b as it is; NULL if there is none. Where there are fast rows for dense matrices the plain one
// for sparse ones is no gain.
const GemmRow *find_sparse_row(const Context &context, const GemmRow *planned, const GemmRequest &request) {
  for (const GemmRow &row : sparse_gemm_kernels()) {
    if (!may_run(row, planned)) continue;
    const bool is_gain = planned != nullptr || row.needs != 0 || context.features == 0;
    if (is_gain && (row.needs & ~context.features) == 0 && row.refuses(request) == nullptr) return &row;
  }
  return nullptr;
}

// A sparse matrix that was written out: the products of a batch may share one. A single product writes its b out in strips.
struct WrittenOut {
  bool is_shared = false;
  MatrixView sparse, dense;

  // Matrices may have some of their parts in common.
  bool is_of(const MatrixView &other) const {
    return dense.data != nullptr && sparse.format.id == other.format.id && sparse.data == other.data &&
           sparse.rows == other.rows && sparse.columns == other.columns && sparse.row_stride == other.row_stride &&
           sparse.block_scales == other.block_scales && sparse.block_scale_stride == other.block_scale_stride &&
           sparse.tensor_scale == other.tensor_scale && sparse.indices == other.indices &&
           sparse.index_stride == other.index_stride;
  }
};

// Sparse operands that no row reads are written out, anew if `last` is not the same one.
Status write_out(Context &context, bool is_check_only, GemmRequest &request, WrittenOut &last) {
  for (MatrixView *operand : {&request.a, &request.b}) {
    if (operand->layout != Layout::kSparse) continue;
    if (operand == &request.b && !last.is_shared && is_in_strips(request)) {
      *operand = dense_shape(*operand);
      continue;
    }
    if (!last.is_of(*operand)) {
      last.sparse = *operand;
      LPT_TRY(take_dense(context, last.sparse, is_check_only || is_empty(request), last.dense));
    }
    *operand = last.dense;
  }
  return {};
}

// The row of a request: the one that was picked before, or the first that takes it.
Status choose_row(Context &context, const Product &product, bool is_check_only, GemmRequest &request, WrittenOut &last,
                  const GemmRow **out_row) {
  if (const GemmRow *row = find_sparse_row(context, product.row, request)) {
    explain_taken(context, "gemm", row->name);
    *out_row = row;
    return {};
  }
  LPT_TRY(write_out(context, is_check_only, request, last));
  if (is_packed(request.b.layout) && !has_row_for_panels(context, product.row, request)) {
    LPT_TRY(take_unpacked(context, product.b, is_check_only || is_empty(request), request.b));
  }
  if (is_thin(request.b.layout)) request.b = panels_shape(request.b);
  if (product.row != nullptr) {
    explain_taken(context, "gemm", product.row->name);
    *out_row = product.row;
    return {};
  }
  return choose(context, "gemm", gemm_kernels(), request,
                {request.a.format.id, request.b.format.id, request.c.format.id}, out_row);
}

// Whether choosing its row left a product's b to be written out in strips.
bool is_written_in_strips(const Product &product, const GemmRequest &whole) {
  if (product.b.layout == Layout::kLoose) return whole.b.layout == Layout::kPanels;
  return is_in_strips(request_of(product)) && whole.b.layout == Layout::kRows;
}

// Whether a's columns are to be gathered for each line of tiles.
bool is_gathered(const Product &product, const GemmRequest &whole) {
  return product.b.layout == Layout::kTiles && whole.b.layout == Layout::kPanels;
}

// A part of one of many products.
struct Piece {
  const GemmRow *row;
  GemmRequest request;
};

// Cuts a product so that no piece has more than `most_work` multiply-adds, as far as its rows and columns allow.
void cut_into_pieces(const GemmRow *row, const GemmRequest &whole, double most_work, std::vector<Piece> &pieces) {
  const Area all{0, 0, whole.m, whole.n};
  const double work = flops_of(whole) / 2;
  const auto wanted = static_cast<int64_t>(std::clamp(std::ceil(work / most_work), 1.0, 64.0));
  const Grid grid = make_grid(all, wanted);
  for (int64_t i = 0; i < grid.count(); ++i) {
    const Area area = cut(all, grid, i);
    if (area.rows > 0 && area.columns > 0) pieces.push_back({row, cut(whole, area)});
  }
}

// Each of `count` threads takes the next piece when it has ended one. Where a piece runs does not change its bits.
void run_pieces(Context &context, const std::vector<Piece> &pieces, size_t begin, size_t end, std::byte *scratch,
                size_t scratch_bytes, int64_t threads) {
  std::atomic<size_t> next{begin};
  const auto work = [&](int64_t thread) {
    for (size_t i = next++; i < end; i = next++) {
      GemmRequest request = pieces[i].request;
      request.scratch = scratch + static_cast<size_t>(thread) * scratch_bytes;
      pieces[i].row->run(request);
    }
  };
  parallel_for(context, threads, std::cref(work));
}

// While it lives, products report to one whole, some hundred times at most.
class OneWhole {
 public:
  OneWhole(Context &context, int64_t whole)
      : context_(context), progress_(context.progress), user_(context.progress_user), whole_(whole) {
    if (progress_ == nullptr) return;
    context.progress = tell;
    context.progress_user = this;
  }
  ~OneWhole() {
    context_.progress = progress_;
    context_.progress_user = user_;
  }
  OneWhole(const OneWhole &) = delete;
  OneWhole &operator=(const OneWhole &) = delete;

  // The product that reports next begins behind what is done.
  void begin() { before_ = done_; }
  Status cancelled() const { return lpt::cancelled(done_, whole_); }

 private:
  static int32_t tell(void *user, int64_t done, int64_t) {
    auto &self = *static_cast<OneWhole *>(user);
    self.done_ = self.before_ + done;
    if (self.done_ < self.whole_ && self.done_ - self.told_ < self.whole_ / 100) return 0;
    self.told_ = self.done_;
    return self.progress_(self.user_, self.done_, self.whole_);
  }

  Context &context_;
  const lpt_progress_function progress_;
  void *const user_;
  const int64_t whole_;
  int64_t before_ = 0, done_ = 0, told_ = 0;
};

}  // namespace

GemmRequest columns_of(const GemmRequest &whole, const MatrixView &b_rows, int64_t begin) {
  GemmRequest part = whole;
  part.b = b_rows;
  part.n = b_rows.rows;
  part.c = cut_columns(whole.c, begin, b_rows.rows);
  const int64_t bias_bytes = whole.is_f64 ? sizeof(double) : sizeof(float);
  if (whole.bias != nullptr) part.bias = static_cast<const std::byte *>(whole.bias) + begin * bias_bytes;
  return part;
}

int64_t threads_worth(const Context &context, double multiply_adds) {
  return static_cast<int64_t>(std::clamp(multiply_adds / kLeastWork, 1.0, static_cast<double>(width_of(context))));
}

bool is_f64_product(const Product &product) {
  const auto has_f64 = [](const MatrixView &view) { return view.format.element == LPT_FORMAT_F64; };
  return has_f64(product.a) || has_f64(product.b) || has_f64(product.c);
}

GemmRequest request_of(const Product &product) {
  GemmRequest request{};
  request.a = product.a;
  request.b = product.b;
  request.c = product.c;
  request.is_a_transposed = product.is_a_transposed;
  request.is_b_transposed = product.is_b_transposed;
  request.m = product.c.rows;
  request.n = product.c.columns;
  request.k = product.is_a_transposed ? product.a.rows : product.a.columns;
  request.alpha = product.alpha;
  request.beta = product.beta;
  request.bias = product.bias;
  request.is_f64 = is_f64_product(product);
  request.is_portable = product.is_portable;
  request.arithmetic = product.arithmetic;
  request.arithmetic_bits = product.arithmetic_bits;
  return request;
}

Status multiply_matrices(Context &context, const Product &product, bool is_check_only) {
  GemmRequest whole = request_of(product);
  const GemmRow *row = nullptr;
  WrittenOut written;
  LPT_TRY(choose_row(context, product, is_check_only, whole, written, &row));
  if (is_check_only || is_empty(whole)) return {};
  const Measure measure(context, "gemm", row->name, bytes_of(whole), flops_of(whole));
  if (is_gathered(product, whole)) return run_in_tiles(context, row, request_of(product));
  return is_written_in_strips(product, whole) ? run_in_strips(context, product.b, *row, whole)
                                              : run_product(context, *row, whole, all_of(whole));
}

Status multiply_in_pieces(Context &context, const Product &product, int64_t columns, int64_t rows,
                          const std::function<Status(int64_t begin, int64_t count)> &after_rows) {
  GemmRequest whole = request_of(product);
  const GemmRow *row = nullptr;
  WrittenOut written;
  LPT_TRY(choose_row(context, product, false, whole, written, &row));
  const int64_t piece = std::max<int64_t>(round_to(rows, kGemmRowUnit), kGemmRowUnit);
  const auto tell_all = [&]() -> Status {
    for (int64_t begin = 0; begin == 0 || begin < whole.m; begin += piece) {
      LPT_TRY(after_rows(begin, std::min(piece, whole.m - begin)));
    }
    return {};
  };
  if (is_empty(whole)) return tell_all();
  const Measure measure(context, "gemm", row->name, bytes_of(whole), flops_of(whole));
  if (is_gathered(product, whole) || is_written_in_strips(product, whole)) {
    LPT_TRY(is_gathered(product, whole) ? run_in_tiles(context, row, request_of(product))
                                        : run_in_strips(context, product.b, *row, whole));
    return tell_all();
  }
  const int64_t first = std::min(whole.n, round_to(columns, kGemmColumnUnit));
  const Arena::Mark mark = context.arena->mark();
  for (int64_t begin = 0; begin < whole.m; begin += piece) {
    const int64_t count = std::min(piece, whole.m - begin);
    if (first > 0) LPT_TRY(run_product(context, *row, whole, {begin, 0, count, first}));
    context.arena->give_back(mark);
    LPT_TRY(after_rows(begin, count));
  }
  return first == whole.n ? Status() : run_product(context, *row, whole, {0, first, whole.m, whole.n - first});
}

Status decide_product(Context &context, const Product &product, Decision &out_decision) {
  GemmRequest whole = request_of(product);
  const bool was_packed = is_packed(whole.b.layout);
  const bool was_sparse[] = {whole.a.layout == Layout::kSparse, whole.b.layout == Layout::kSparse};
  WrittenOut written;
  LPT_TRY(choose_row(context, product, true, whole, written, &out_decision.row));
  out_decision.name = out_decision.row->name;
  out_decision.shape = {whole.m, whole.n, whole.k};
  out_decision.workspace_bytes = 0;
  out_decision.part_count = 0;
  if (is_empty(whole)) return {};
  if (is_gathered(product, whole)) return measure_tiles(context, out_decision.row, request_of(product), out_decision);
  const bool has_strips = is_written_in_strips(product, whole);
  if (has_strips) {
    const Strips strips = cut_in_strips(context, *out_decision.row, whole);
    out_decision.part_count = strips.items();
    out_decision.workspace_bytes = strips.bytes();
  } else {
    const Cutting cutting = cut_product(context, *out_decision.row, whole, all_of(whole));
    out_decision.part_count = cutting.parts.count();
    out_decision.workspace_bytes = static_cast<size_t>(cutting.parts.count()) * cutting.scratch_bytes;
  }
  for (const bool is_b : {false, true}) {
    const MatrixView &operand = is_b ? whole.b : whole.a;
    if (!was_sparse[is_b] || operand.layout == Layout::kSparse || (is_b && has_strips)) continue;
    MatrixView dense;
    out_decision.workspace_bytes += lay_out_matrix(operand.format, operand.rows, operand.columns, nullptr, dense);
  }
  if (was_packed && whole.b.layout == Layout::kRows) {
    out_decision.workspace_bytes += unpacking_bytes(context, product.b);
  }
  return {};
}

namespace {

// Thin weights are shared among the threads already: one product after the other, each with the scratch of the last one,
// so that those of experts are not written out all at once.
Status multiply_in_turn(Context &context, const std::vector<Product> &products, bool is_check_only) {
  int64_t elements = 0;
  for (const Product &product : products) elements += product.c.rows * product.c.columns;
  OneWhole whole(context, elements);
  const Arena::Mark mark = context.arena->mark();
  for (const Product &product : products) {
    whole.begin();
    const Status status = multiply_matrices(context, product, is_check_only);
    if (status.code() == LPT_CANCELLED) return whole.cancelled();
    LPT_TRY(status);
    context.arena->give_back(mark);
  }
  return {};
}

}  // namespace

Status multiply_many(Context &context, const std::vector<Product> &products, bool is_check_only) {
  const bool has_thin =
      std::any_of(products.begin(), products.end(), [](const Product &product) { return is_thin(product.b.layout); });
  if (has_thin) return multiply_in_turn(context, products, is_check_only);
  std::vector<Piece> wholes;
  WrittenOut written;
  written.is_shared = true;
  double work = 0, bytes = 0;
  for (const Product &product : products) {
    Piece whole{nullptr, request_of(product)};
    LPT_TRY(choose_row(context, product, is_check_only, whole.request, written, &whole.row));
    if (is_check_only || is_empty(whole.request)) continue;
    work += flops_of(whole.request) / 2;
    bytes += bytes_of(whole.request);
    wholes.push_back(whole);
  }
  if (wholes.empty()) return {};
  const int64_t width = width_of(context);
  std::vector<Piece> pieces;
  // One thread has no use for smaller pieces. The work may be 0: without k, c still gets its bias and beta.
  const double most_work = width == 1 ? INFINITY : std::max(work / static_cast<double>(4 * width), kLeastWork);
  for (const Piece &whole : wholes) cut_into_pieces(whole.row, whole.request, most_work, pieces);
  size_t scratch_bytes = 0;
  for (const Piece &piece : pieces)
    scratch_bytes = std::max(scratch_bytes, aligned(piece.row->scratch_bytes(piece.request)));
  const int64_t threads = std::clamp<int64_t>(static_cast<int64_t>(work / kLeastWork), 1, width);
  std::byte *scratch = nullptr;
  LPT_TRY(context.arena->take(static_cast<size_t>(threads) * scratch_bytes, &scratch));
  const Measure measure(context, "gemm", wholes.front().row->name, bytes, 2 * work);
  const size_t steps = context.progress == nullptr ? 1 : std::min<size_t>(pieces.size(), 100);
  int64_t all = 0, done = 0;
  for (const Piece &piece : pieces) all += piece.request.m * piece.request.n;
  for (size_t step = 0, begin = 0; step < steps; ++step) {
    const size_t end = pieces.size() * (step + 1) / steps;
    run_pieces(context, pieces, begin, end, scratch, scratch_bytes, threads);
    for (; begin < end; ++begin) done += pieces[begin].request.m * pieces[begin].request.n;
    if (context.progress != nullptr && context.progress(context.progress_user, done, all) != 0) {
      return cancelled(done, all);
    }
  }
  return {};
}

}  // namespace lpt
