#include "src/gemm/run.hpp"

#include <cassert>
#include <cmath>
#include <functional>

#include "src/gemm/block_sparse.hpp"
#include "src/gemm/expand.hpp"
#include "src/tensor/sparse_matrix.hpp"
#include "src/tensor/sparse_panels.hpp"
#include "src/weights/weights.hpp"

namespace lpt {
namespace {

// Some rows and columns of the result.
struct GemmRegion {
  int64_t row, column, rows, columns;
};

// The partition of a region into a grid of parts.
struct Grid {
  int64_t rows, columns;  // in parts
  int64_t row_length, column_length;

  int64_t count() const { return rows * columns; }
};

// Divides a region into at most `requested` parts. They are as square as the units allow, because each part packs its rows of
// a and columns of b.
Grid make_grid(const GemmRegion &area, int64_t requested) {
  const int64_t row_units = (area.rows + kGemmRowUnit - 1) / kGemmRowUnit;
  const int64_t column_units = (area.columns + kGemmColumnUnit - 1) / kGemmColumnUnit;
  Grid grid{};
  double best_cost = INFINITY;
  for (int64_t rows = 1; rows <= requested; ++rows) {
    const int64_t columns = requested / rows;
    const int64_t row_length = (row_units + rows - 1) / rows * kGemmRowUnit;
    const int64_t column_length = (column_units + columns - 1) / columns * kGemmColumnUnit;
    // The largest part determines the cost: its multiply-adds, and the elements that it packs, at 32 multiply-adds each.
    const double cost = static_cast<double>(row_length) * static_cast<double>(column_length) +
                        32.0 * static_cast<double>(row_length + column_length);
    if (cost >= best_cost) continue;
    best_cost = cost;
    grid = {(area.rows + row_length - 1) / row_length, (area.columns + column_length - 1) / column_length, row_length,
            column_length};
  }
  return grid;
}

// Returns the part of a region at an index of the grid. The last parts of a row or column can be smaller, or empty if the
// grid is that of a larger region.
GemmRegion cut(const GemmRegion &area, const Grid &grid, int64_t index) {
  const int64_t row = index / grid.columns * grid.row_length;
  const int64_t column = index % grid.columns * grid.column_length;
  return {area.row + row, area.column + column, std::min(grid.row_length, area.rows - row),
          std::min(grid.column_length, area.columns - column)};
}

GemmRequest cut(const GemmRequest &whole, const GemmRegion &area) {
  GemmRequest part = whole;
  part.first_row = area.row;
  part.first_column = area.column;
  part.m = area.rows;
  part.n = area.columns;
  return part;
}

// With few rows, the time is that of reading b.
constexpr int64_t kLeastRows = 4;

int64_t threads_for(const Context &context, const GemmRegion &area, int64_t k) {
  const auto rows = static_cast<double>(std::max(area.rows, kLeastRows));
  return threads_worth(context, rows * static_cast<double>(area.columns) * static_cast<double>(k));
}

// Returns the number of steps of a GEMM: one without a progress callback. Each step packs its rows of a and columns of b, so
// steps have many elements.
int64_t steps_for(const Context &context, const GemmRegion &area) {
  constexpr int64_t kReportedElements = 1 << 19;
  constexpr int64_t kMostReports = 100;
  if (context.progress == nullptr) return 1;
  return std::clamp<int64_t>(area.rows * area.columns / kReportedElements, 1, kMostReports);
}

// The partition of a GEMM into steps, which are divided among the threads. All steps use the partition of the first, which is
// the largest, and scratch for its first part, which is the largest part.
struct GemmPartition {
  GemmRegion all;
  Grid steps, parts;
  size_t scratch_bytes;  // of one part

  WorkQueue queue() const { return {steps.count() * parts.count(), parts.count(), scratch_bytes, parts.count()}; }
  GemmRegion part(int64_t item) const {
    return cut(cut(all, steps, item / parts.count()), parts, item % parts.count());
  }
};

int64_t round_to(int64_t count, int64_t unit) { return (count + unit - 1) / unit * unit; }

GemmRegion all_of(const GemmRequest &whole) { return {0, 0, whole.m, whole.n}; }

GemmPartition partition_gemm(const Context &context, const KernelEntry<GemmRequest> &kernel, const GemmRequest &whole,
                             const GemmRegion &all) {
  GemmPartition cutting{};
  cutting.all = all;
  cutting.steps = make_grid(cutting.all, steps_for(context, cutting.all));
  const GemmRegion first = cut(cutting.all, cutting.steps, 0);
  cutting.parts = make_grid(first, threads_for(context, first, whole.k));
  cutting.scratch_bytes = aligned(kernel.scratch_bytes(cut(whole, cut(first, cutting.parts, 0))));
  return cutting;
}

// Runs the region `all` of a GEMM. The region begins at multiples of the units.
Status run_kernel_on_region(Context &context, const KernelEntry<GemmRequest> &kernel, const GemmRequest &whole,
                            const GemmRegion &all) {
  const GemmPartition cutting = partition_gemm(context, kernel, whole, all);
  return run_dynamic(context, cutting.queue(), all.rows * all.columns, [&](int64_t item, std::byte *scratch) {
    const GemmRegion area = cutting.part(item);
    if (area.rows <= 0 || area.columns <= 0) return;
    GemmRequest part = cut(whole, area);
    assert(kernel.scratch_bytes(part) <= cutting.scratch_bytes);
    part.scratch = scratch;
    kernel.run(part);
  });
}

double flops_of(const GemmRequest &request) {
  return 2.0 * static_cast<double>(request.m) * static_cast<double>(request.n) * static_cast<double>(request.k);
}

double bytes_of(const GemmRequest &request) {
  return view_bytes(request.a) + view_bytes(request.b) + view_bytes(request.c);
}

// Returns whether the planned kernel, or any kernel that is not a reference kernel, reads these panels. Sparse packed weights
// are expanded or gathered to panels. Reference kernels only read rows of elements.
bool has_kernel_for_panels(const Context &context, const KernelEntry<GemmRequest> *planned, GemmRequest request) {
  if (request.b.layout == Layout::kBlockSparse && !can_gather_columns(request)) return false;
  if (is_sparse_packed(request.b.layout)) request.b = panels_shape(request.b);
  if (planned == nullptr) return find_fast_kernel(gemm_kernels(), request, context.machine) != nullptr;
  return planned->needs.cpu != 0 && rejection_of(*planned, request, context.machine).is_none();
}

// Returns a kernel that reads a sparse b directly, or NULL. The reference kernel is only returned if it is planned or no CPU
// features are available, because fast kernels for dense matrices are faster.
const KernelEntry<GemmRequest> *find_sparse_kernel(const Context &context, const KernelEntry<GemmRequest> *planned,
                                                   const GemmRequest &request) {
  for (const KernelEntry<GemmRequest> &kernel : sparse_gemm_kernels()) {
    if (planned != nullptr && planned != &kernel) continue;
    const bool is_gain = planned != nullptr || kernel.needs.cpu != 0 || context.machine.cpu == 0;
    if (is_gain && rejection_of(kernel, request, context.machine).is_none()) return &kernel;
  }
  return nullptr;
}

// A decompressed sparse matrix. The GEMMs of a batch can share it. A single GEMM decompresses its b in slabs.
struct DenseCopy {
  bool is_shared = false;
  MatrixView sparse, dense;

  // Compares all parts, because different matrices can share some of them.
  bool is_of(const MatrixView &other) const {
    return dense.data != nullptr && sparse.format.id == other.format.id && sparse.data == other.data &&
           sparse.rows == other.rows && sparse.columns == other.columns && sparse.row_stride == other.row_stride &&
           sparse.block_scales == other.block_scales && sparse.block_scale_stride == other.block_scale_stride &&
           sparse.tensor_scale == other.tensor_scale && sparse.indices == other.indices &&
           sparse.index_stride == other.index_stride;
  }
};

// Decompresses sparse operands that no kernel reads directly, unless `last` is the same matrix.
Status expand_to_dense(Context &context, bool is_check_only, GemmRequest &request, DenseCopy &last) {
  for (MatrixView *operand : {&request.a, &request.b}) {
    if (operand->layout != Layout::kSparse) continue;
    if (operand == &request.b && !last.is_shared && is_in_slabs(request)) {
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

// How the kernel reads b.
enum class SupplyOfB {
  kAsStored,
  kExpanded,  // in slabs, each before its GEMM
  kGathered,  // the stored tiles of a line, with the same columns of a
};

// The kernel of a GEMM, and the request with the operands that it reads.
struct GemmRoute {
  GemmRequest request;
  const KernelEntry<GemmRequest> *kernel = nullptr;
  SupplyOfB supply = SupplyOfB::kAsStored;
};

SupplyOfB supply_of_b(const GemmCall &call, const GemmRequest &request) {
  switch (call.b.layout) {
    case Layout::kBlockSparse:
      return request.b.layout == Layout::kPanels ? SupplyOfB::kGathered : SupplyOfB::kAsStored;
    case Layout::kBitmask:
      return request.b.layout == Layout::kPanels ? SupplyOfB::kExpanded : SupplyOfB::kAsStored;
    case Layout::kSparse:
      return is_in_slabs(request_of(call)) && request.b.layout == Layout::kRows ? SupplyOfB::kExpanded
                                                                                : SupplyOfB::kAsStored;
    default:
      return SupplyOfB::kAsStored;
  }
}

// Selects the kernel of a call: the planned one, or the first that supports the request.
Status select_route(Context &context, const GemmCall &call, bool is_check_only, DenseCopy &last, GemmRoute &route) {
  GemmRequest &request = route.request;
  request = request_of(call);
  request.options = context.machine.options;
  if (const KernelEntry<GemmRequest> *kernel = find_sparse_kernel(context, call.kernel, request)) {
    log_selected(context, "gemm", kernel->name);
    route.kernel = kernel;
    return {};
  }
  LPT_TRY(expand_to_dense(context, is_check_only, request, last));
  if (is_packed(request.b.layout) && !has_kernel_for_panels(context, call.kernel, request)) {
    LPT_TRY(take_unpacked(context, call.b, is_check_only || is_empty(request), request.b));
  }
  if (is_sparse_packed(request.b.layout)) request.b = panels_shape(request.b);
  route.supply = supply_of_b(call, request);
  if (call.kernel == nullptr) {
    return select_kernel(context, "gemm", gemm_kernels(), request,
                         {request.a.format.id, request.b.format.id, request.c.format.id}, &route.kernel);
  }
  log_selected(context, "gemm", call.kernel->name);
  route.kernel = call.kernel;
  return {};
}

// Runs a GEMM. b of `call` is in its original storage.
Status run_route(Context &context, const GemmCall &call, const GemmRoute &route) {
  switch (route.supply) {
    case SupplyOfB::kExpanded:
      return run_expanded(context, call.b, *route.kernel, route.request);
    case SupplyOfB::kGathered:
      return run_gathered(context, route.kernel, request_of(call));
    default:
      return run_kernel_on_region(context, *route.kernel, route.request, all_of(route.request));
  }
}

// A part of one of several GEMMs.
struct GemmTask {
  const KernelEntry<GemmRequest> *kernel;
  GemmRequest request;
};

// Divides a GEMM so that no task has more than `most_work` multiply-adds, if its rows and columns allow it.
void partition_into_tasks(const KernelEntry<GemmRequest> *kernel, const GemmRequest &whole, double most_work,
                          std::vector<GemmTask> &tasks) {
  const GemmRegion all{0, 0, whole.m, whole.n};
  const double work = flops_of(whole) / 2;
  const auto requested = static_cast<int64_t>(std::clamp(std::ceil(work / most_work), 1.0, 64.0));
  const Grid grid = make_grid(all, requested);
  for (int64_t i = 0; i < grid.count(); ++i) {
    const GemmRegion area = cut(all, grid, i);
    if (area.rows > 0 && area.columns > 0) tasks.push_back({kernel, cut(whole, area)});
  }
}

// During its lifetime, GEMMs report progress as parts of one operation, in about a hundred reports at most.
class CombinedProgress {
 public:
  CombinedProgress(Context &context, int64_t whole)
      : context_(context), progress_(context.progress), user_(context.progress_user), whole_(whole) {
    if (progress_ == nullptr) return;
    context.progress = tell;
    context.progress_user = this;
  }
  ~CombinedProgress() {
    context_.progress = progress_;
    context_.progress_user = user_;
  }
  CombinedProgress(const CombinedProgress &) = delete;
  CombinedProgress &operator=(const CombinedProgress &) = delete;

  // Starts the reports of the next GEMM at the current count.
  void begin() { before_ = done_; }
  Status cancelled() const { return lpt::cancelled(done_, whole_); }

 private:
  static int32_t tell(void *user, int64_t done, int64_t) {
    auto &self = *static_cast<CombinedProgress *>(user);
    self.done_ = self.before_ + done;
    if (self.done_ < self.whole_ && self.done_ - self.reported_ < self.whole_ / 100) return 0;
    self.reported_ = self.done_;
    return self.progress_(self.user_, self.done_, self.whole_);
  }

  Context &context_;
  const lpt_progress_function progress_;
  void *const user_;
  const int64_t whole_;
  int64_t before_ = 0, done_ = 0, reported_ = 0;
};

}  // namespace

Status run_gemm(Context &context, const GemmCall &call, bool is_check_only) {
  if (!is_on_cpu(context)) return multiply_on_device(context, call, is_check_only, nullptr);
  GemmRoute route;
  DenseCopy written;
  LPT_TRY(select_route(context, call, is_check_only, written, route));
  if (is_check_only || is_empty(route.request)) return {};
  const ProfileScope measure(context, "gemm", route.kernel->name, bytes_of(route.request), flops_of(route.request));
  return run_route(context, call, route);
}

Status run_gemm_in_steps(Context &context, const GemmCall &call, int64_t columns, int64_t rows,
                         const std::function<Status(int64_t begin, int64_t count)> &after_rows) {
  GemmRoute route;
  DenseCopy written;
  LPT_TRY(select_route(context, call, false, written, route));
  const GemmRequest &whole = route.request;
  const int64_t task = std::max<int64_t>(round_to(rows, kGemmRowUnit), kGemmRowUnit);
  const auto report_all = [&]() -> Status {
    for (int64_t begin = 0; begin == 0 || begin < whole.m; begin += task) {
      LPT_TRY(after_rows(begin, std::min(task, whole.m - begin)));
    }
    return {};
  };
  if (is_empty(whole)) return report_all();
  const ProfileScope measure(context, "gemm", route.kernel->name, bytes_of(whole), flops_of(whole));
  if (route.supply != SupplyOfB::kAsStored) {
    LPT_TRY(run_route(context, call, route));
    return report_all();
  }
  const int64_t first = std::min(whole.n, round_to(columns, kGemmColumnUnit));
  const Arena::Mark mark = context.host_scratch->mark();
  for (int64_t begin = 0; begin < whole.m; begin += task) {
    const int64_t count = std::min(task, whole.m - begin);
    if (first > 0) LPT_TRY(run_kernel_on_region(context, *route.kernel, whole, {begin, 0, count, first}));
    context.host_scratch->give_back(mark);
    LPT_TRY(after_rows(begin, count));
  }
  return first == whole.n ? Status()
                          : run_kernel_on_region(context, *route.kernel, whole, {0, first, whole.m, whole.n - first});
}

Status dispatch_gemm(Context &context, const GemmCall &call, GemmDispatch &out_dispatch) {
  if (!is_on_cpu(context)) return multiply_on_device(context, call, true, &out_dispatch);
  GemmRoute route;
  DenseCopy written;
  LPT_TRY(select_route(context, call, true, written, route));
  const GemmRequest &whole = route.request;
  out_dispatch = {{whole.m, whole.n, whole.k}, route.kernel, route.kernel->name, 0, 0};
  if (is_empty(whole)) return {};
  WorkQueue queue{};
  switch (route.supply) {
    case SupplyOfB::kGathered:
      LPT_TRY(plan_gathered(context, route.kernel, request_of(call), queue));
      break;
    case SupplyOfB::kExpanded:
      queue = plan_expansion(context, *route.kernel, whole).queue();
      break;
    default:
      queue = partition_gemm(context, *route.kernel, whole, all_of(whole)).queue();
  }
  out_dispatch.part_count = queue.count;
  out_dispatch.workspace_bytes = static_cast<size_t>(queue.threads) * queue.thread_bytes;
  for (const bool is_b : {false, true}) {
    const MatrixView &operand = is_b ? whole.b : whole.a;
    const bool was_sparse = (is_b ? call.b : call.a).layout == Layout::kSparse;
    if (!was_sparse || operand.layout == Layout::kSparse || (is_b && route.supply == SupplyOfB::kExpanded)) continue;
    MatrixView dense;
    out_dispatch.workspace_bytes += lay_out_matrix(operand.format, operand.rows, operand.columns, nullptr, dense);
  }
  if (is_packed(call.b.layout) && whole.b.layout == Layout::kRows) {
    out_dispatch.workspace_bytes += unpacking_bytes(context, call.b);
  }
  return {};
}

namespace {

// Runs GEMMs with sparse packed weights one after the other. Each one uses all threads and the same scratch, so that only the
// weights of one expert are expanded at a time.
Status multiply_in_order(Context &context, const std::vector<GemmCall> &calls, bool is_check_only) {
  int64_t elements = 0;
  for (const GemmCall &call : calls) elements += call.c.rows * call.c.columns;
  CombinedProgress whole(context, elements);
  const Arena::Mark mark = context.host_scratch->mark();
  for (const GemmCall &call : calls) {
    whole.begin();
    const Status status = run_gemm(context, call, is_check_only);
    if (status.code() == LPT_CANCELLED) return whole.cancelled();
    LPT_TRY(status);
    context.host_scratch->give_back(mark);
  }
  return {};
}

}  // namespace

Status run_gemms(Context &context, const std::vector<GemmCall> &calls, bool is_check_only) {
  if (!is_on_cpu(context)) return multiply_many_on_device(context, calls, is_check_only);
  const bool has_sparse =
      std::any_of(calls.begin(), calls.end(), [](const GemmCall &call) { return is_sparse_packed(call.b.layout); });
  if (has_sparse) return multiply_in_order(context, calls, is_check_only);
  std::vector<GemmTask> wholes;
  DenseCopy written;
  written.is_shared = true;
  double work = 0, bytes = 0;
  for (const GemmCall &call : calls) {
    GemmRoute route;
    LPT_TRY(select_route(context, call, is_check_only, written, route));
    if (is_check_only || is_empty(route.request)) continue;
    work += flops_of(route.request) / 2;
    bytes += bytes_of(route.request);
    wholes.push_back({route.kernel, route.request});
  }
  if (wholes.empty()) return {};
  const int64_t width = width_of(context);
  std::vector<GemmTask> tasks;
  // One thread gains nothing from smaller tasks. work is 0 if k is 0, but c still needs its bias and beta.
  const double most_work = width == 1 ? INFINITY : std::max(work / static_cast<double>(4 * width), kLeastWork);
  for (const GemmTask &whole : wholes) partition_into_tasks(whole.kernel, whole.request, most_work, tasks);
  size_t scratch_bytes = 0;
  for (const GemmTask &task : tasks)
    scratch_bytes = std::max(scratch_bytes, aligned(task.kernel->scratch_bytes(task.request)));
  const int64_t threads = std::clamp<int64_t>(static_cast<int64_t>(work / kLeastWork), 1, width);
  int64_t elements = 0;
  for (const GemmTask &task : tasks) elements += task.request.m * task.request.n;
  const ProfileScope measure(context, "gemm", wholes.front().kernel->name, bytes, 2 * work);
  return run_dynamic(context, {static_cast<int64_t>(tasks.size()), threads, scratch_bytes}, elements,
                     [&](int64_t item, std::byte *scratch) {
                       const GemmTask &task = tasks[static_cast<size_t>(item)];
                       GemmRequest request = task.request;
                       request.scratch = scratch;
                       task.kernel->run(request);
                     });
}

}  // namespace lpt
