// GEMM by a vendor library such as cuBLASLt: the interface of a plugin, and the choice of the library GEMM for a request. This
// is host code; it reads no tensor memory.
#pragma once

#include <compare>
#include <span>

#include "kernels/gemm/gemm.hpp"

namespace lpt {

// How a library receives the scales of an operand. A lane is a row of a or a column of b.
enum class LibraryScales : int32_t {
  kNone,       // none, or they are applied to the sums
  kTensor,     // one f32
  kLanes,      // one f32 per lane
  kLanes128,   // one f32 per 128 elements of k of a lane
  kBlocks128,  // one f32 per block of 128 lanes × 128 elements of k
  kTiles32,    // one e8m0fnu per 32 elements of k, in tiles of 128 × 4
  kTiles16     // one e4m3fn per 16 elements of k, in tiles of 128 × 4
};

// An operand as it is stored: rows of adjacent elements.
struct LibraryOperand {
  lpt_format element;
  LibraryScales scales;
  int64_t rows, columns, stride;  // in elements
  bool is_transposed;             // as in GemmRequest
  int32_t boundary;               // alignment of the address in bytes: a power of two, at most 256
  bool is_sparse = false;         // 2:4: at most two of each 4 elements of k are not 0; zeros are stored

  auto operator<=>(const LibraryOperand &) const = default;
};

// c(m, n) = alpha · a · b + beta · c + bias, without addresses, alpha and beta, so that it is prepared once.
struct LibraryGemm {
  int64_t m, n, k;
  LibraryOperand a, b;
  lpt_format c;      // f32, bf16, f16
  bool is_integer;   // int8 by int8: c is int32, alpha is 1, beta is 0
  bool has_factors;  // alpha and beta are in device memory
  bool has_bias;     // f32, one per column
  bool reads_c;      // beta is not 0
  int32_t boundary;  // alignment of c in bytes
  int64_t c_stride;
  bool is_fast = false;  // FP8: the library may accumulate with fewer bits

  auto operator<=>(const LibraryGemm &) const = default;
};

struct LibraryAddresses {
  const void *a, *b, *a_scales, *b_scales, *bias;
  void *c, *workspace;
  float alpha, beta;
  const float *factors;  // if has_factors: alpha, beta in device memory
};

// A library on one device. Functions return an lpt_status. If it is not 0, they write one line of text to `error`, truncated to
// error_bytes. The device is the current device of the calling thread.
struct GemmLibrary {
  const char *name;

  int32_t (*open)(void **out_session, int64_t *out_version, char *error, size_t error_bytes);
  void (*close)(void *session);

  // Prepares a GEMM: queries the algorithms of the library, in the order of its heuristic. Returns LPT_UNSUPPORTED if it has
  // none.
  int32_t (*prepare)(void *session, const LibraryGemm *gemm, void **out_prepared, size_t *out_workspace_bytes,
                     char *error, size_t error_bytes);
  void (*release)(void *prepared);

  // Queues the GEMM. The workspace is aligned to 256 bytes.
  int32_t (*run)(void *session, const void *prepared, const LibraryAddresses *addresses, void *stream, char *error,
                 size_t error_bytes);

  // Times each algorithm, synchronizes, and selects the fastest for later runs. It must not be called if beta is not 0, because
  // it runs the GEMM several times. NULL: the library has one algorithm.
  int32_t (*tune)(void *session, void *prepared, const LibraryAddresses *addresses, void *stream, char *error,
                  size_t error_bytes);
};

// The selection depends on the request, the device and the version of the library.

struct LibraryTarget {
  int32_t capability;      // 90: compute capability 9.0
  int64_t version;         // 120900: version 12.9.0
  bool may_round = false;  // the caller permits operands that are rounded by a conversion, for speed
};

// The form to which an operand is converted before the library multiplies it.
enum class OperandConversion : int32_t {
  kNone,
  kCodes,    // decoded codes; the library or the epilogue applies the scales
  kBlocks,   // elements times their block scales; the epilogue applies the tensor scale
  kNumbers,  // elements times all scales, rounded as in lpt_dequantize()
  kFolded    // e2m1fn times powers of two as e4m3fn, with one f32 per 128 elements of k as in kLanes128
};

struct LibraryPlan {
  LibraryGemm gemm;  // of the converted operands; its alignments are those of the operands that are not converted
  OperandConversion a_conversion, b_conversion;  // to gemm.a.element and gemm.b.element
  bool has_finish;   // the GEMM writes f32 or int32; the kernel gemm_finish computes c from it
  bool is_in_place;  // the f32 output of the GEMM is stored in the memory of c
};

// One kind of GEMM of a library. It is not a KernelEntry: it returns a plan instead of running, requires a version of the
// library, and may round operands.
struct LibraryKernelEntry {
  const char *name;
  int32_t min_capability, max_capability;
  int64_t min_version;
  const char *(*unsupported_reason)(const GemmRequest &);
  LibraryPlan (*plan)(const GemmRequest &);
  bool rounds_operands = false;   // selected only if the caller permits it: LibraryTarget::may_round
  bool accumulates_fast = false;  // selected only if the caller permits it; sets LibraryGemm::is_fast
};

// Fastest first.
std::span<const LibraryKernelEntry> gemm_library_kernels();

// Entries for requests with a 2:4 operand. The view of the request is still sparse; the library reads its dense copy.
std::span<const LibraryKernelEntry> gemm_sparse_library_kernels();

// Scales that neither the library nor a conversion applies. The sums are multiplied by them; tensor scales are part of alpha.
struct EpilogueScales {
  bool has_rows, has_tensor;
};
EpilogueScales epilogue_scales(const MatrixView &view, LibraryScales known, OperandConversion conversion);

// Returns why the entry does not run the request, or nullptr.
const char *library_rejection(const LibraryKernelEntry &kernel, const LibraryTarget &machine,
                              const GemmRequest &request);

// Kernels that run before and after the library GEMM. A device has kernels for each request type.

// target(i, j) = the decoded element of source minus its zero point, times its scales if `has_scales`. The target is bf16, f16
// or f32, or e4m3fn for two sources. int4 is converted without scales. mxfp4 is converted with scales, and the remaining f32
// scales, steps × lanes, are written to target.block_scales.
struct OperandConversionRequest {
  MatrixView source, target;
  bool has_scales;
};

// Copies scales to the order that the library reads. The source has `lanes` rows of `steps` scales.
struct LibraryScalesRequest {
  LibraryScales layout;  // kLanes128, kBlocks128, kTiles32, kTiles16
  const void *source;
  int64_t stride;  // of source, in scales
  int64_t lanes, steps;
  void *target;
};

// Returns the bytes of the scales in the target order.
constexpr size_t library_scales_bytes(LibraryScales layout, int64_t lanes, int64_t steps) {
  const int64_t even_steps = (steps + 3) / 4 * 4;
  switch (layout) {
    case LibraryScales::kLanes128:
      return static_cast<size_t>(lanes * steps) * sizeof(float);
    case LibraryScales::kBlocks128:
      return static_cast<size_t>(lanes * even_steps) * sizeof(float);
    case LibraryScales::kTiles32:
    case LibraryScales::kTiles16:
      return static_cast<size_t>((lanes + 127) / 128 * 128 * even_steps);
    default:
      return 0;
  }
}

// Writes factors = {alpha · a_tensor · b_tensor, beta}.
struct GemmFactorsRequest {
  float alpha, beta;
  const float *a_tensor, *b_tensor;  // NULL: 1
  float *factors;
};

// c(i, j) = alpha · rows(i) · columns(j) · a_tensor · b_tensor · x(i, j) + beta · c(i, j) + bias(j). c and x may be the same
// memory.
struct GemmEpilogueRequest {
  const void *x;  // f32 or int32; NULL: zeros
  int64_t x_stride;
  bool is_integer;
  MatrixView c;                      // f32, bf16, f16
  const float *rows, *columns;       // NULL: ones
  int64_t rows_step, columns_step;   // stride between factors, in elements
  const float *a_tensor, *b_tensor;  // NULL: 1
  const float *bias;                 // NULL: zeros
  float alpha, beta;
};

}  // namespace lpt
