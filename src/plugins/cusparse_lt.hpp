// The part of cuSPARSELt that GEMMs with 2:4 operands use. The first such GEMM opens it by name. The caller allocates its
// structs, whose sizes differ between releases with one file name. So only the releases below are supported. Functions and
// enumerators are the same in the headers of 0.7.1 (PyTorch 2.8 to 2.10), 0.8.1 (2.11) and 0.10.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lpt::cusparse {

// An opaque struct that the library initializes. It has 1024 bytes in 0.7, 512 bytes since 0.8.
struct alignas(16) Opaque {
  uint8_t bytes[1024];
};
struct Handle : Opaque {};
struct Matrix : Opaque {};
struct Description : Opaque {};  // of a GEMM
struct Selection : Opaque {};    // of the kernel of a GEMM
struct Plan : Opaque {};

// Versions: major · 10^6 + minor · 100 + patch.
constexpr int64_t kLeastVersion = 700, kMostVersion = 1099;

enum StatusCode : int32_t {
  kSuccess = 0,
  kNotInitialized = 1,
  kInvalidValue = 3,
  kOtherDevice = 4,
  kExecutionFailed = 6,
  kTypeNotSupported = 8,
  kNotSupported = 10
};
enum Property : int32_t { kMajor = 0, kMinor = 1, kPatch = 2 };
enum Operation : int32_t { kAsStored = 0, kTransposed = 1 };
enum Order : int32_t { kInColumns = 1, kInRows = 2 };
enum Sparsity : int32_t { kHalf = 0 };
enum ComputeType : int32_t { kComputeInt32 = 0, kComputeF32 = 2 };
enum Algorithm : int32_t { kDefault = 0 };
constexpr uint32_t kBoundary = 16;  // alignment of every matrix, in bytes

struct Functions {
  int32_t (*property)(int32_t which, int32_t *out);
  const char *(*status_name)(int32_t status);
  int32_t (*create)(Handle *out);
  int32_t (*destroy)(const Handle *handle);
  int32_t (*create_dense)(const Handle *handle, Matrix *out, int64_t rows, int64_t columns, int64_t leading,
                          uint32_t boundary, int32_t type, int32_t order);
  int32_t (*create_sparse)(const Handle *handle, Matrix *out, int64_t rows, int64_t columns, int64_t leading,
                           uint32_t boundary, int32_t type, int32_t order, int32_t sparsity);
  int32_t (*destroy_matrix)(const Matrix *matrix);
  int32_t (*create_description)(const Handle *handle, Description *out, int32_t operation_a, int32_t operation_b,
                                const Matrix *a, const Matrix *b, const Matrix *c, const Matrix *d, int32_t compute);
  int32_t (*select)(const Handle *handle, Selection *out, const Description *description, int32_t algorithm);
  int32_t (*destroy_selection)(const Selection *selection);  // nullptr in 0.7, whose selections own nothing
  int32_t (*create_plan)(const Handle *handle, Plan *out, const Description *description, const Selection *selection);
  int32_t (*destroy_plan)(const Plan *plan);
  int32_t (*workspace)(const Handle *handle, const Plan *plan, size_t *out_bytes);
  int32_t (*compressed)(const Handle *handle, const Plan *plan, size_t *out_bytes, size_t *out_buffer_bytes);
  int32_t (*compress)(const Handle *handle, const Plan *plan, const void *dense, void *compressed, void *buffer,
                      void *stream);
  int32_t (*multiply)(const Handle *handle, const Plan *plan, const void *alpha, const void *a, const void *b,
                      const void *beta, const void *c, void *d, void *workspace, void **streams, int32_t stream_count);
};

// Finds the functions of the library that LPT_CUSPARSELT names, otherwise of libcusparseLt.so.0. Returns an empty text, or the
// reason of a failure.
std::string open(Functions &out_functions, int64_t &out_version);

}  // namespace lpt::cusparse
