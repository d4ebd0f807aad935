// Common parts of operations: checks, scratch, selection of kernels, partition of work, progress, profile.
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

// Texts of errors.

inline long long number(int64_t value) { return static_cast<long long>(value); }  // for %lld

// Returns the text of one element of an array argument.
inline std::string item(const char *array, int64_t index) { return text("%s[%lld]", array, number(index)); }

// Checks. An error contains the argument, its value and the expectation.

// Checks that a view has the given shape, which is that of the argument `like_name`.
Status check_shape(const MatrixView &view, const char *name, int64_t rows, int64_t columns, const char *like_name);

// Test for, and require, one of f64, f32, bf16, f16.
bool is_wide_float(lpt_format format);
Status check_wide_float(const MatrixView &view, const char *name);

// Rejects views whose memory overlaps: elements, or indices of sparse views. Interleaved columns of one matrix do not overlap.
Status check_no_overlap(const MatrixView &a, const char *a_name, const MatrixView &b, const char *b_name);

// The same, but accepts two equal views: each element is read before it is written.
Status check_in_place(const MatrixView &a, const char *a_name, const MatrixView &b, const char *b_name);

// Returns a dense vector as a view of one row.
MatrixView vector_view(lpt_format format, const void *data, int64_t count);

// Returns a dense matrix of a format, without scales.
MatrixView dense_view(lpt_format format, void *data, int64_t rows, int64_t columns);

// Returns the transposed view: rows and columns are exchanged with their strides. For row-major layouts only.
MatrixView transposed_view(const MatrixView &view);

// Returns the stride between rows in elements: rows of packed elements begin at packs.
int64_t dense_row_stride(lpt_format element, int64_t columns);

// Returns the block scales of a view as a matrix.
MatrixView scales_of(const MatrixView &view);

// Checks of options.
Status check_choice(const char *name, int32_t value, int32_t last);
Status check_flags(const char *name, uint64_t flags, uint64_t known = LPT_CHECK_ONLY);
Status check_finite(const char *name, double value, double least, double most);
Status make_random(const lpt_random &random, RandomDomain space, uint32_t role, int64_t columns, int32_t bits,
                   int32_t rounds, RandomSource &out_source);

inline bool is_check_only(uint64_t flags) { return (flags & LPT_CHECK_ONLY) != 0; }

// Scratch.

// Lays out a matrix of `format` in contiguous memory: payload, block scales, tensor scale and zero points, each aligned.
// Returns the bytes; with memory NULL it only computes them.
size_t lay_out_matrix(const Format &format, int64_t rows, int64_t columns, std::byte *memory, MatrixView &out_view);

// Allocates scratch on the context's device, valid until the next call of the context. It is not cleared.
Status take_scratch(Context &context, size_t bytes, std::byte **out);

// Allocates a matrix as scratch; with `is_check_only` the matrix has no data.
Status take_matrix(Context &context, const Format &format, int64_t rows, int64_t columns, bool is_check_only,
                   MatrixView &out_view);
Status take_matrix(Context &context, lpt_format format, int64_t rows, int64_t columns, bool is_check_only,
                   MatrixView &out_view);

// Selection of a kernel.

// Records in the context's explanation that a kernel was rejected, or selected.
void log_rejected(Context &context, const char *kernel, const Rejection &rejection);
void log_selected(Context &context, const char *operation, const char *kernel);
Status no_kernel(Context &context, const char *operation, std::initializer_list<lpt_format> formats);

// Returns the first kernel that supports `request`, or nullptr. The explanation contains its name, or the reason of every
// kernel. Selection formats no texts, as small GEMMs are frequent.
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

// The same as find_kernel(). If no kernel supports the request, the error lists the reason of every kernel.
template <typename Request>
Status select_kernel(Context &context, const char *operation, std::span<const KernelEntry<Request>> kernels,
                     const Request &request, std::initializer_list<lpt_format> formats,
                     const KernelEntry<Request> **out_kernel) {
  *out_kernel = find_kernel(context, operation, kernels, request);
  return *out_kernel != nullptr ? Status() : no_kernel(context, operation, formats);
}

// Returns the kernels of a family for the context's device.
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

// The same as select_kernel() above, with the kernels for the context's device.
template <typename Request>
Status select_kernel(Context &context, const std::type_identity_t<KernelFamily<Request>> &family,
                     const Request &request, std::initializer_list<lpt_format> formats,
                     const KernelEntry<Request> **out_kernel) {
  return select_kernel(context, family.name, kernels_of<Request>(context, family), request, formats, out_kernel);
}

// Parts of views and loops.

// Return views of some rows or columns, which begin at block bounds.
MatrixView cut_rows(const MatrixView &view, int64_t begin, int64_t count);
MatrixView cut_columns(const MatrixView &view, int64_t begin, int64_t count);

// Copies the rows of a matrix without scales to a matrix of the same format and shape.
void copy_matrix(const MatrixView &source, const MatrixView &target);

// Partition of a loop into parts of full units: enough for the context's threads, none too small.
struct Parts {
  int64_t count;   // parts
  int64_t length;  // units per part; the last part may be shorter
};
Parts split(const Context &context, int64_t units, int64_t work_per_unit);

// Runs body(begin, count) for each part of split().
template <typename Body>
void parallel_parts(Context &context, int64_t units, int64_t work_per_unit, const Body &body) {
  const Parts parts = split(context, units, work_per_unit);
  if (parts.count == 1) return body(int64_t{0}, units);  // fast path: short calls are frequent
  parallel_for(context, parts.count, [&](int64_t i) {
    const int64_t begin = i * parts.length;
    body(begin, std::min(parts.length, units - begin));
  });
}

// Progress.

// The same as split(), for a loop that reports its progress: a part has at least 2^20 elements of work.
Parts split_reported(const Context &context, int64_t units, int64_t work_per_unit);

Status cancelled(int64_t done, int64_t work);

// Disables the progress reports of a context during its lifetime. A rank that is cancelled leaves the other ranks waiting.
class SuppressProgress {
 public:
  explicit SuppressProgress(Context &context) : context_(context), progress_(context.progress) {
    context.progress = nullptr;
  }
  ~SuppressProgress() { context_.progress = progress_; }
  SuppressProgress(const SuppressProgress &) = delete;
  SuppressProgress &operator=(const SuppressProgress &) = delete;

  // Reports the progress of the operation that suppresses those of its parts.
  Status report(int64_t done, int64_t work) const {
    if (progress_ == nullptr || progress_(context_.progress_user, done, work) == 0) return {};
    return cancelled(done, work);
  }

 private:
  Context &context_;
  const lpt_progress_function progress_;
};

// Runs body(part) for `count` parts of about equal work, `work` in total. If the context has a progress function, calls it
// after each step with the work done, and stops if it returns nonzero.
template <typename Body>
Status run_reported(Context &context, int64_t count, int64_t work, const Body &body) {
  if (context.progress == nullptr) {
    if (count == 1) {  // fast path: short calls are frequent
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

// Items that threads take dynamically, each thread with separate scratch. Progress is reported after a multiple of `batch`
// items.
struct WorkQueue {
  int64_t count, threads;
  size_t thread_bytes;
  int64_t batch = 1;
};

// Runs body(item, scratch) for each item: a thread takes the next item when it has finished one. Reports progress in units of
// `work`, as run_reported() does.
template <typename Body>
Status run_dynamic(Context &context, const WorkQueue &queue, int64_t work, const Body &body) {
  std::byte *memory = nullptr;
  LPT_TRY(context.host_scratch->take(static_cast<size_t>(queue.threads) * queue.thread_bytes, &memory));
  if (queue.count == 1 && context.progress == nullptr) {  // fast path: short calls are frequent
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

// Profile.

// Measures its lifetime if the profile is enabled.
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
