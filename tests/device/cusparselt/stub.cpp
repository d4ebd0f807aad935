// A libcusparseLt.so.0 for machines without a GPU. It checks calls and descriptors against the documentation of cuSPARSELt
// 0.10, compresses in a private layout, and multiplies compressed operands in scalar loops. With LPT_CUSPARSELT_MINOR defined
// as 7 it is release 0.7, in which selections are not destroyed.
//
// Environment variables for tests: LPT_TEST_CUSPARSELT_MINOR, the minor version; LPT_TEST_CUSPARSELT_FAILS: init, plan,
// compress or multiply; LPT_TEST_CAPABILITY, the compute capability of the device.
#ifndef LPT_CUSPARSELT_MINOR
#define LPT_CUSPARSELT_MINOR 10
#endif

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "src/plugins/cusparse_lt.hpp"
#include "tests/device/cuda_numbers.hpp"

namespace lpt::cusparse {
namespace {

constexpr uint64_t kHandle = 0x4C5448414E444C45, kMatrix = 0x4C544D4154524958, kDescription = 0x4C54444553435249;
constexpr uint64_t kSelection = 0x4C5453454C454354, kPlan = 0x4C54504C414E2121, kCompressed = 0x4C54434F4D505245;
constexpr size_t kHeadBytes = 16, kBufferBytes = 512, kWorkspaceBytes = 1024;

int32_t multiplied = 0;

// Contents of the opaque structs of the caller.
struct MatrixInside {
  uint64_t kind;
  int64_t rows, columns, leading;
  int32_t type, order;
  bool is_sparse;

  int64_t place(int64_t row, int64_t column) const {
    return order == kInRows ? row * leading + column : column * leading + row;
  }
};
struct DescriptionInside {
  uint64_t kind;
  const Matrix *a, *b, *c;
  int32_t operation_a, operation_b, compute;
};
struct SelectionInside {
  uint64_t kind;
  const Description *description;
};
struct PlanInside {
  uint64_t kind;
  const Description *description;
  const Selection *selection;
};
struct HandleInside {
  uint64_t kind;
};

// Returns nullptr if the struct is not initialized, or destroyed.
template <typename Inside>
const Inside *look(const Opaque *opaque, uint64_t kind) {
  const auto *const inside = reinterpret_cast<const Inside *>(opaque->bytes);
  return inside->kind == kind ? inside : nullptr;
}

template <typename Inside>
int32_t keep(Opaque *opaque, const Inside &inside) {
  static_assert(sizeof(Inside) <= sizeof opaque->bytes);
  std::memset(opaque->bytes, 0xA5, sizeof opaque->bytes);
  std::memcpy(opaque->bytes, &inside, sizeof inside);
  return kSuccess;
}

int32_t destroy(const Opaque *opaque, uint64_t kind) {
  if (look<HandleInside>(opaque, kind) == nullptr) return kInvalidValue;
  std::memset(const_cast<Opaque *>(opaque)->bytes, 0, sizeof opaque->bytes);
  return kSuccess;
}

int32_t number(const char *name, int32_t otherwise) {
  const char *const words = std::getenv(name);
  return words == nullptr ? otherwise : std::atoi(words);
}

bool fails(const char *what) {
  const char *const words = std::getenv("LPT_TEST_CUSPARSELT_FAILS");
  return words != nullptr && std::strcmp(words, what) == 0;
}

bool is_started(const Handle *handle) { return look<HandleInside>(handle, kHandle) != nullptr; }
bool is_on(const void *address, uintptr_t boundary) { return reinterpret_cast<uintptr_t>(address) % boundary == 0; }

// Requirements of the documentation.

bool is_known(int32_t type) {
  return type == cublas::kF32 || type == cublas::kF16 || type == cublas::kBf16 || type == cublas::kInt8 ||
         type == cublas::kInt32 || type == cublas::kE4m3fn || type == cublas::kE5m2;
}

int32_t keep_matrix(const Handle *handle, Matrix *out, const MatrixInside &m, uint32_t boundary) {
  if (!is_started(handle)) return kNotInitialized;
  if (!is_known(m.type) || boundary == 0 || boundary % 16 != 0) return kInvalidValue;
  if (m.order != kInRows && m.order != kInColumns) return kInvalidValue;
  const int64_t unit = (m.is_sparse ? 256 : 128) / cublas::bits_of(m.type);
  if (m.rows <= 0 || m.columns <= 0 || m.rows % unit != 0 || m.columns % unit != 0) return kNotSupported;
  const bool is_wide = m.leading >= (m.order == kInRows ? m.columns : m.rows);
  if (!is_wide || m.leading * cublas::bits_of(m.type) % 128 != 0) return kInvalidValue;
  return keep(out, m);
}

bool is_byte_float(int32_t type) { return type == cublas::kE4m3fn || type == cublas::kE5m2; }

// Table of supported types; C and D have one type.
bool are_types_right(int32_t ab, int32_t c, int32_t compute, int32_t capability) {
  if (ab == cublas::kF16 || ab == cublas::kBf16) return c == ab && compute == kComputeF32 && capability >= 80;
  const bool is_half = c == cublas::kF16 || c == cublas::kBf16;
  if (ab == cublas::kInt8) return (is_half || c == cublas::kInt32) && compute == kComputeInt32 && capability >= 80;
  return is_byte_float(ab) && (is_half || c == cublas::kF32) && compute == kComputeF32 && capability >= 90;
}

// Byte elements must be adjacent along k in both operands.
bool is_layout_right(const DescriptionInside &d, const MatrixInside &a, const MatrixInside &b) {
  if (cublas::bits_of(a.type) > 8) return true;
  return (a.order == kInRows) == (d.operation_a == kAsStored) && (b.order == kInRows) == (d.operation_b == kTransposed);
}

struct Gemm {
  DescriptionInside d;
  MatrixInside a, b, c;
  int64_t m, n, k;
};

// Reads the GEMM of the given structs, if all of them are valid and consistent.
int32_t read(const DescriptionInside *d, Gemm &out) {
  if (d == nullptr) return kInvalidValue;
  const auto *const a = look<MatrixInside>(d->a, kMatrix), *const b = look<MatrixInside>(d->b, kMatrix);
  const auto *const c = look<MatrixInside>(d->c, kMatrix);
  if (a == nullptr || b == nullptr || c == nullptr) return kInvalidValue;
  const bool is_a = d->operation_a == kTransposed, is_b = d->operation_b == kTransposed;
  const int64_t m = is_a ? a->columns : a->rows, k = is_a ? a->rows : a->columns;
  const int64_t b_k = is_b ? b->columns : b->rows, n = is_b ? b->rows : b->columns;
  if (k != b_k || c->rows != m || c->columns != n || a->type != b->type) return kInvalidValue;
  if (!a->is_sparse || b->is_sparse || c->is_sparse) return kNotSupported;
  const int32_t capability = number("LPT_TEST_CAPABILITY", 90);
  if (!are_types_right(a->type, c->type, d->compute, capability) || !is_layout_right(*d, *a, *b)) return kNotSupported;
  out = {*d, *a, *b, *c, m, n, k};
  return kSuccess;
}

int32_t read(const Handle *handle, const Plan *opaque, Gemm &out) {
  if (!is_started(handle)) return kNotInitialized;
  const auto *const plan = look<PlanInside>(opaque, kPlan);
  if (plan == nullptr || look<SelectionInside>(plan->selection, kSelection) == nullptr) return kInvalidValue;
  return read(look<DescriptionInside>(plan->description, kDescription), out);
}

// Compressed layout: a header, two elements of each group of four of a row, then their indices.

struct Halves {
  uint8_t *numbers, *places;
  int64_t bytes;  // of an element
};

Halves halves_of(const MatrixInside &a, void *compressed) {
  auto *const memory = static_cast<uint8_t *>(compressed) + kHeadBytes;
  const int64_t bytes = cublas::bits_of(a.type) / 8;
  return {memory, memory + a.rows * a.columns / 2 * bytes, bytes};
}

size_t compressed_bytes(const MatrixInside &a) {
  return kHeadBytes + static_cast<size_t>(a.rows * a.columns / 2 * (cublas::bits_of(a.type) / 8 + 1));
}

// Returns true if at most two of the four elements from (row, 4 · group) on are not 0.
bool compress_group(const MatrixInside &a, const uint8_t *dense, int64_t row, int64_t group, const Halves &to) {
  const int64_t first = (row * a.columns + 4 * group) / 2;
  int64_t kept = 0;
  std::memset(to.numbers + first * to.bytes, 0, static_cast<size_t>(2 * to.bytes));
  to.places[first] = to.places[first + 1] = 0;
  for (int64_t place = 0; place < 4; ++place) {
    const uint8_t *const from = dense + a.place(row, 4 * group + place) * to.bytes;
    if (std::all_of(from, from + to.bytes, [](uint8_t byte) { return byte == 0; })) continue;
    if (kept == 2) return false;
    std::memcpy(to.numbers + (first + kept) * to.bytes, from, static_cast<size_t>(to.bytes));
    to.places[first + kept++] = static_cast<uint8_t>(place);
  }
  return true;
}

int32_t compress(const MatrixInside &a, const void *dense, void *compressed) {
  std::memcpy(compressed, &kCompressed, sizeof kCompressed);
  const Halves to = halves_of(a, compressed);
  for (int64_t row = 0; row < a.rows; ++row) {
    for (int64_t group = 0; group < a.columns / 4; ++group) {
      if (!compress_group(a, static_cast<const uint8_t *>(dense), row, group, to)) return kExecutionFailed;
    }
  }
  return kSuccess;
}

double sum_of(const Gemm &p, const Halves &a, const void *b, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t h = 0; h < p.k / 2; ++h) {
    const int64_t at = i * (p.k / 2) + h, s = h / 2 * 4 + a.places[at];
    const int64_t b_place = p.d.operation_b == kTransposed ? p.b.place(j, s) : p.b.place(s, j);
    sum += cublas::number_at(p.a.type, a.numbers, at) * cublas::number_at(p.b.type, b, b_place);
  }
  return sum;
}

void multiply(const Gemm &p, float alpha, void *compressed, const void *b, float beta, void *d) {
  const Halves a = halves_of(p.a, compressed);
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      const int64_t place = p.c.place(i, j);
      const double before = beta == 0 ? 0 : beta * cublas::number_at(p.c.type, d, place);
      cublas::store(p.c.type, d, place, alpha * sum_of(p, a, b, i, j) + before);
    }
  }
}

}  // namespace
}  // namespace lpt::cusparse

using namespace lpt::cusparse;

#define LPT_STUB extern "C" __attribute__((visibility("default")))

LPT_STUB int32_t cusparseLtGetProperty(int32_t which, int32_t *out) {
  *out = which == kMinor ? number("LPT_TEST_CUSPARSELT_MINOR", LPT_CUSPARSELT_MINOR) : 0;
  return kSuccess;
}

LPT_STUB const char *cusparseLtGetErrorName(int32_t status) {
  return status == kNotInitialized    ? "CUSPARSE_STATUS_NOT_INITIALIZED"
         : status == kInvalidValue    ? "CUSPARSE_STATUS_INVALID_VALUE"
         : status == kExecutionFailed ? "CUSPARSE_STATUS_EXECUTION_FAILED"
                                      : "CUSPARSE_STATUS_NOT_SUPPORTED";
}

LPT_STUB int32_t cusparseLtInit(Handle *out) {
  return fails("init") ? int32_t{kNotInitialized} : keep(out, HandleInside{kHandle});
}
LPT_STUB int32_t cusparseLtDestroy(const Handle *handle) { return destroy(handle, kHandle); }

LPT_STUB int32_t cusparseLtDenseDescriptorInit(const Handle *handle, Matrix *out, int64_t rows, int64_t columns,
                                               int64_t leading, uint32_t boundary, int32_t type, int32_t order) {
  return keep_matrix(handle, out, {kMatrix, rows, columns, leading, type, order, false}, boundary);
}
LPT_STUB int32_t cusparseLtStructuredDescriptorInit(const Handle *handle, Matrix *out, int64_t rows, int64_t columns,
                                                    int64_t leading, uint32_t boundary, int32_t type, int32_t order,
                                                    int32_t sparsity) {
  if (sparsity != kHalf) return kInvalidValue;
  return keep_matrix(handle, out, {kMatrix, rows, columns, leading, type, order, true}, boundary);
}
LPT_STUB int32_t cusparseLtMatDescriptorDestroy(const Matrix *matrix) { return destroy(matrix, kMatrix); }

LPT_STUB int32_t cusparseLtMatmulDescriptorInit(const Handle *handle, Description *out, int32_t operation_a,
                                                int32_t operation_b, const Matrix *a, const Matrix *b, const Matrix *c,
                                                const Matrix *d, int32_t compute) {
  if (!is_started(handle)) return kNotInitialized;
  if (c != d) return kNotSupported;  // supports only the documented cases that tests use
  const DescriptionInside inside{kDescription, a, b, c, operation_a, operation_b, compute};
  Gemm gemm;
  const int32_t status = read(&inside, gemm);
  return status == kSuccess ? keep(out, inside) : status;
}

LPT_STUB int32_t cusparseLtMatmulAlgSelectionInit(const Handle *handle, Selection *out, const Description *description,
                                                  int32_t algorithm) {
  if (!is_started(handle)) return kNotInitialized;
  if (algorithm != kDefault || look<DescriptionInside>(description, kDescription) == nullptr) return kInvalidValue;
  return keep(out, SelectionInside{kSelection, description});
}
#if LPT_CUSPARSELT_MINOR > 7
LPT_STUB int32_t cusparseLtMatmulAlgSelectionDestroy(const Selection *selection) {
  return destroy(selection, kSelection);
}
#endif

LPT_STUB int32_t cusparseLtMatmulPlanInit(const Handle *handle, Plan *out, const Description *description,
                                          const Selection *selection) {
  if (fails("plan")) return kNotSupported;
  const auto *const selected = look<SelectionInside>(selection, kSelection);
  if (selected == nullptr || selected->description != description) return kInvalidValue;
  keep(out, PlanInside{kPlan, description, selection});
  Gemm gemm;
  return read(handle, out, gemm);
}
LPT_STUB int32_t cusparseLtMatmulPlanDestroy(const Plan *plan) { return destroy(plan, kPlan); }

LPT_STUB int32_t cusparseLtMatmulGetWorkspace(const Handle *handle, const Plan *plan, size_t *out_bytes) {
  Gemm gemm;
  *out_bytes = kWorkspaceBytes;
  return read(handle, plan, gemm);
}

LPT_STUB int32_t cusparseLtSpMMACompressedSize(const Handle *handle, const Plan *plan, size_t *out_bytes,
                                               size_t *out_buffer_bytes) {
  Gemm gemm;
  const int32_t status = read(handle, plan, gemm);
  if (status != kSuccess) return status;
  *out_bytes = compressed_bytes(gemm.a);
  *out_buffer_bytes = kBufferBytes;
  return kSuccess;
}

LPT_STUB int32_t cusparseLtSpMMACompress(const Handle *handle, const Plan *plan, const void *dense, void *compressed,
                                         void *buffer, void *) {
  Gemm gemm;
  const int32_t status = read(handle, plan, gemm);
  if (status != kSuccess || fails("compress")) return status != kSuccess ? status : int32_t{kExecutionFailed};
  if (!is_on(dense, 16) || !is_on(compressed, 16) || !is_on(buffer, 16)) return kInvalidValue;
  std::memset(buffer, 0x5A, kBufferBytes);
  return compress(gemm.a, dense, compressed);
}

LPT_STUB int32_t cusparseLtMatmul(const Handle *handle, const Plan *plan, const void *alpha, const void *a,
                                  const void *b, const void *beta, const void *c, void *d, void *workspace,
                                  void **streams, int32_t stream_count) {
  Gemm gemm;
  const int32_t status = read(handle, plan, gemm);
  if (status != kSuccess || fails("multiply")) return status != kSuccess ? status : int32_t{kExecutionFailed};
  const bool is_placed = is_on(a, 16) && is_on(b, 16) && is_on(d, 16) && is_on(workspace, 16) && c == d;
  if (!is_placed || streams == nullptr || stream_count != 1) return kInvalidValue;
  if (std::memcmp(a, &kCompressed, sizeof kCompressed) != 0)
    return kExecutionFailed;  // the memory has no compressed
                              // operand
  std::memset(workspace, 0x5A, kWorkspaceBytes);
  multiply(gemm, *static_cast<const float *>(alpha), const_cast<void *>(a), b, *static_cast<const float *>(beta), d);
  ++multiplied;
  return kSuccess;
}

// For tests: the number of GEMMs.
LPT_STUB int32_t lpt_stub_sparse_multiplied() { return multiplied; }
