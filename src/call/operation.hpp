// What every operation does around its kernels: check, select, split, measure.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <span>
#include <type_traits>

#include "src/base/kernel_entry.hpp"
#include "src/base/philox.hpp"
#include "src/call/context.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// ---- texts of errors

inline long long number(int64_t value) { return static_cast<long long>(value); }  // for %lld

// One of an array of arguments.
inline std::string item(const char *array, int64_t index) { return text("%s[%lld]", array, number(index)); }

// ---- checks: an error names the argument, its value and what was expected

// The same shape as `like`, which messages call `like_name`.
Status check_shape(const MatrixView &view, const char *name, int64_t rows, int64_t columns, const char *like_name);

// One of f64, f32, bf16, f16.
bool is_wide_float(lpt_format format);
Status check_wide_float(const MatrixView &view, const char *name);

// The memory of two views must not overlap: elements, and places of sparse ones. Interleaved columns of one matrix do not.
Status check_no_overlap(const MatrixView &a, const char *a_name, const MatrixView &b, const char *b_name);

// The same, or one and the same matrix: there a number is read before it is written.
Status check_in_place(const MatrixView &a, const char *a_name, const MatrixView &b, const char *b_name);

// A dense vector as a view of one row.
MatrixView vector_view(lpt_format format, const void *data, int64_t count);

// A dense matrix of a plain format.
MatrixView dense_view(lpt_format format, void *data, int64_t rows, int64_t columns);

// Rows and columns changed places. For numbers in rows alone.
MatrixView transposed_view(const MatrixView &view);

// Elements from row to row: rows of packed elements begin on packs.
int64_t dense_row_stride(lpt_format element, int64_t columns);

// The block scales of a view as a matrix.
MatrixView scales_of(const MatrixView &view);

// Choices that a caller may get wrong.
Status check_choice(const char *name, int32_t value, int32_t last);
Status check_flags(const char *name, uint64_t flags, uint64_t known = LPT_CHECK_ONLY);
Status check_finite(const char *name, double value, double least, double most);
Status make_random(const lpt_random &random, RandomDomain space, uint32_t role, int64_t columns, int32_t bits,
                   int32_t rounds, RandomSource &out_source);

inline bool is_check_only(uint64_t flags) { return (flags & LPT_CHECK_ONLY) != 0; }

// ---- scratch

// Lays out a matrix of `format` in one piece of memory: payload, block scales, tensor scale, each aligned.
// Returns its bytes; with memory NULL it only computes them.
size_t lay_out_matrix(const Format &format, int64_t rows, int64_t columns, std::byte *memory, MatrixView &out_view);

// Scratch where the context works, on the CPU or its device, until the next call of the context; uncleared.
Status take_scratch(Context &context, size_t bytes, std::byte **out);

// A matrix there; with `is_check_only` one without data.
Status take_matrix(Context &context, const Format &format, int64_t rows, int64_t columns, bool is_check_only,
                   MatrixView &out_view);
Status take_matrix(Context &context, lpt_format format, int64_t rows, int64_t columns, bool is_check_only,
                   MatrixView &out_view);

// ---- selection of a kernel

// Records in the context's explanation that a kernel was rejected, or selected.
void log_rejected(Context &context, const char *kernel, const Rejection &rejection);
void log_selected(Context &context, const char *operation, const char *kernel);
Status no_kernel(Context &context, const char *operation, std::initializer_list<lpt_format> formats);

// The first kernel that runs `request`; nullptr: none does. The explanation names it, or every kernel's reason. Selection
// formats nothing, as small GEMMs are frequent.
template <typename Request>
const KernelEntry<Request> *find_kernel(Context &context, const char *operation,
                                        std::span<const KernelEntry<Request>> kernels, const Request &request) {
  for (const KernelEntry<Request> &kernel : kernels) {
    const Rejection rejection = rejection_of(kernel, request, context.machine);
    if (rejection.is_none()) {
      log_selected(context, operation, kernel.name);
      return &kernel;
    }
    log_rejected(context, kernel.name, rejection);
  }
  return nullptr;
}

// As find_kernel(), of the kernels of the CPU; without one an error lists every kernel's reason.
template <typename Request>
Status select_kernel(Context &context, const char *operation, std::span<const KernelEntry<Request>> kernels,
                     const Request &request, std::initializer_list<lpt_format> formats,
                     const KernelEntry<Request> **out_kernel) {
  *out_kernel = find_kernel(context, operation, kernels, request);
  return *out_kernel != nullptr ? Status() : no_kernel(context, operation, formats);
}

// The kernels of a family for the context's device.
template <typename Request>
std::span<const KernelEntry<Request>> kernels_of(const Context &context, const KernelFamily<Request> &family) {
  if (context.machine.kind == LPT_DEVICE_CPU) {
    return family.builtin == nullptr ? std::span<const KernelEntry<Request>>() : family.builtin();
  }
  for (const DeviceFamily &known : context.queue.families()) {
    if (std::strcmp(known.name, family.name) != 0 || known.entry_bytes != sizeof(KernelEntry<Request>)) continue;
    return {static_cast<const KernelEntry<Request> *>(known.entries), static_cast<size_t>(known.entry_count)};
  }
  return {};
}

// As select_kernel() above, of the kernels for the context's device.
template <typename Request>
Status select_kernel(Context &context, const std::type_identity_t<KernelFamily<Request>> &family,
                     const Request &request, std::initializer_list<lpt_format> formats,
                     const KernelEntry<Request> **out_kernel) {
  return select_kernel(context, family.name, kernels_of<Request>(context, family), request, formats, out_kernel);
}

// ---- parts

// Views of some rows or columns; begins on block edges.
MatrixView cut_rows(const MatrixView &view, int64_t begin, int64_t count);
MatrixView cut_columns(const MatrixView &view, int64_t begin, int64_t count);

// Copies the rows of a plain matrix to one of the same format and shape.
void copy_matrix(const MatrixView &source, const MatrixView &target);

// How a loop over `count` units is cut: into parts of whole units, enough for the context's threads, none tiny.
struct Parts {
  int64_t count;   // parts
  int64_t length;  // units of each, the last one may be shorter
};
Parts split(const Context &context, int64_t units, int64_t work_per_unit);

// Runs body(begin, count) for each of these parts.
template <typename Body>
void parallel_parts(Context &context, int64_t units, int64_t work_per_unit, const Body &body) {
  const Parts parts = split(context, units, work_per_unit);
  if (parts.count == 1) return body(int64_t{0}, units);  // short calls are many
  parallel_for(context, parts.count, [&](int64_t i) {
    const int64_t begin = i * parts.length;
    body(begin, std::min(parts.length, units - begin));
  });
}

// ---- progress

// The same for a loop that tells its progress: parts of a million or more, so that there is something to tell.
Parts split_reported(const Context &context, int64_t units, int64_t work_per_unit);

Status cancelled(int64_t done, int64_t work);

// While it lives a context tells no progress: a rank that stops would leave the others waiting.
class SuppressProgress {
 public:
  explicit SuppressProgress(Context &context) : context_(context), progress_(context.progress) {
    context.progress = nullptr;
  }
  ~SuppressProgress() { context_.progress = progress_; }
  SuppressProgress(const SuppressProgress &) = delete;
  SuppressProgress &operator=(const SuppressProgress &) = delete;

 private:
  Context &context_;
  const lpt_progress_function progress_;
};

// Runs body(part) for `count` parts of about the same work, `work` in all. If the caller wants to know, tells after each
// step how much is done, and stops if reported so.
template <typename Body>
Status run_reported(Context &context, int64_t count, int64_t work, const Body &body) {
  if (context.progress == nullptr) {
    if (count == 1) {  // short calls are many
      body(int64_t{0});
    } else {
      parallel_for(context, count, body);
    }
    return {};
  }
  const int64_t step = std::max<int64_t>(width_of(context), (count + 99) / 100);
  for (int64_t begin = 0; begin < count; begin += step) {
    const int64_t end = std::min(begin + step, count);
    parallel_for(context, end - begin, [&](int64_t i) { body(begin + i); });
    const auto share = static_cast<double>(end) / static_cast<double>(count);
    const int64_t done = end == count ? work : static_cast<int64_t>(static_cast<double>(work) * share);
    if (context.progress(context.progress_user, done, work) != 0) return cancelled(done, work);
  }
  return {};
}

// Items that threads take in turn, each with bytes of scratch of its own. Progress is reported after a multiple of `batch`.
struct WorkQueue {
  int64_t count, threads;
  size_t thread_bytes;
  int64_t batch = 1;
};

// Runs body(item, scratch) for each: a thread takes the next item when it has finished one. Reports progress in units of `work`, as
// run_reported() does.
template <typename Body>
Status run_dynamic(Context &context, const WorkQueue &queue, int64_t work, const Body &body) {
  std::byte *memory = nullptr;
  LPT_TRY(context.arena->take(static_cast<size_t>(queue.threads) * queue.thread_bytes, &memory));
  if (queue.count == 1 && context.progress == nullptr) {  // short calls are many
    body(int64_t{0}, memory);
    return {};
  }
  const int64_t batches = queue.count / queue.batch;
  const int64_t steps = context.progress == nullptr ? 1 : std::min<int64_t>(batches, 100);
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t end = batches * (step + 1) / steps * queue.batch;
    std::atomic<int64_t> next{batches * step / steps * queue.batch};
    const auto take = [&](int64_t thread) {
      std::byte *const mine = memory + static_cast<size_t>(thread) * queue.thread_bytes;
      for (int64_t item = next++; item < end; item = next++) body(item, mine);
    };
    parallel_for(context, queue.threads, std::cref(take));
    if (context.progress == nullptr) continue;
    const double share = static_cast<double>(end) / static_cast<double>(queue.count);
    const int64_t done = end == queue.count ? work : static_cast<int64_t>(static_cast<double>(work) * share);
    if (context.progress(context.progress_user, done, work) != 0) return cancelled(done, work);
  }
  return {};
}

// ---- profile

// Measures its own lifetime when a profile is taken.
class ProfileScope {
 public:
  ProfileScope(Context &context, const char *operation, const char *kernel, double bytes, double flops = 0.0)
      : context_(context), operation_(operation), kernel_(kernel), bytes_(bytes), flops_(flops) {
    if (context.profile.is_enabled()) begin_ = std::chrono::steady_clock::now();
  }
  ~ProfileScope() {
    if (context_.profile.is_enabled()) context_.profile.record(operation_, kernel_, begin_, bytes_, flops_);
  }
  ProfileScope(const ProfileScope &) = delete;
  ProfileScope &operator=(const ProfileScope &) = delete;

 private:
  Context &context_;
  const char *operation_;
  const char *kernel_;
  double bytes_, flops_;
  std::chrono::steady_clock::time_point begin_;
};

double view_bytes(const MatrixView &view);

}  // namespace lpt
