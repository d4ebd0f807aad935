// GEMM by a vendor's library, such as cuBLASLt: what a plugin has of it, and which of its GEMMs serves a
// request. All here is the host's: no number is read.
#pragma once

#include <compare>
#include <span>

#include "kernels/gemm/gemm.hpp"

namespace lpt {

// How a library receives an operand's scales. Lanes are what is not summed over.
enum class LibraryScales : int32_t {
  kNone,       // it has none, or what is done to the sums has them
  kTensor,     // one f32
  kLanes,      // an f32 for each lane
  kLanes128,   // an f32 for each 128 of k of a lane
  kBlocks128,  // an f32 for 128 lanes × 128 of k
  kTiles32,    // e8m0fnu for each 32 of k, in tiles of 128 × 4
  kTiles16     // e4m3fn for each 16 of k, likewise
};

// As stored: rows of adjacent elements.
struct LibraryOperand {
  lpt_format element;
  LibraryScales scales;
  int64_t rows, columns, stride;  // in elements
  bool is_transposed;             // as in GemmRequest
  int32_t boundary;               // bytes that its address is a multiple of: a power of two, 256 at most
  bool is_sparse = false;         // at most two of each 4 of k are not 0; zeros are stored

  auto operator<=>(const LibraryOperand &) const = default;
};

// c(m, n) = alpha · a · b + beta · c + bias: all but addresses and the two factors, so that it is prepared once.
struct LibraryGemm {
  int64_t m, n, k;
  LibraryOperand a, b;
  lpt_format c;      // f32, bf16, f16
  bool is_integer;   // int8 by int8: c is int32, alpha 1, beta 0
  bool has_factors;  // alpha and beta are on the device
  bool has_bias;     // f32, one for each column
  bool reads_c;      // beta is not 0
  int32_t boundary;  // of c
  int64_t c_stride;
  bool is_fast = false;  // FP8: the library may keep fewer bits of a sum

  auto operator<=>(const LibraryGemm &) const = default;
};

struct LibraryAddresses {
  const void *a, *b, *a_scales, *b_scales, *bias;
  void *c, *workspace;
  float alpha, beta;
  const float *factors;  // of has_factors: alpha, beta
};

// A library on one device. Functions return an lpt_status; other than 0 with one line of text in `error`, cut to error_bytes.
// The device is the calling thread's own.
struct GemmLibrary {
  const char *name;

  int32_t (*open)(void **out_session, int64_t *out_version, char *error, size_t error_bytes);
  void (*close)(void *session);

  // Queries the library for its ways to run a GEMM, the likeliest first. LPT_UNSUPPORTED: it has none.
  int32_t (*prepare)(void *session, const LibraryGemm *gemm, void **out_prepared, size_t *out_workspace_bytes,
                     char *error, size_t error_bytes);
  void (*release)(void *prepared);

  // Queues the GEMM. The workspace is on 256 bytes.
  int32_t (*run)(void *session, const void *prepared, const LibraryAddresses *addresses, void *stream, char *error,
                 size_t error_bytes);

  // Runs each algorithm some times, synchronizes, and keeps the fastest for later runs. Not with beta.
  // NULL: it has one way.
  int32_t (*tune)(void *session, void *prepared, const LibraryAddresses *addresses, void *stream, char *error,
                  size_t error_bytes);
};

// ---- the choice: a function of the request, the device and the library's version

struct LibraryMachine {
  int32_t capability;      // 90 is 9.0
  int64_t version;         // 120900 is 12.9.0
  bool may_round = false;  // the caller takes operands that are rounded on their way, for speed
};

// What an operand is written out as before it is multiplied.
enum class OperandConversion : int32_t {
  kNone,
  kCodes,    // its codes as numbers: what is done to the sums has its scales, or the library
  kBlocks,   // numbers times their block scales; the sums have the tensor scale
  kNumbers,  // numbers times all scales, rounded as lpt_dequantize() does
  kFolded    // e2m1fn times powers of two as e4m3fn, with an f32 for each 128 of k in the order of kLanes128
};

struct LibraryPlan {
  LibraryGemm gemm;  // of the lifted operands; its boundaries are those of what is not lifted
  OperandConversion a_conversion, b_conversion;  // to gemm.a.element and gemm.b.element
  bool has_finish;                               // the GEMM gives f32 or int32; gemm_finish makes c of them
  bool is_in_place;                              // they are in the memory of c
};

// One of a library's kinds of GEMMs. It is no KernelEntry: it gives a plan instead of running, needs a version of the
// library, and may round.
struct LibraryKernelEntry {
  const char *name;
  int32_t min_capability, max_capability;
  int64_t min_version;
  const char *(*unsupported_reason)(const GemmRequest &);
  LibraryPlan (*plan)(const GemmRequest &);
  bool rounds_operands = false;   // only where that is requested
  bool accumulates_fast = false;  // only where that is permitted: LibraryGemm::is_fast
};

// Fastest first.
std::span<const LibraryKernelEntry> gemm_library_kernels();

// Of requests with a 2:4 operand, whose view is the sparse one still: the library reads it as it is written out.
std::span<const LibraryKernelEntry> gemm_sparse_library_kernels();

// Scales that neither the library nor a conversion applies: sums are multiplied by them, those of a tensor within alpha.
struct EpilogueScales {
  bool has_rows, has_tensor;
};
EpilogueScales epilogue_scales(const MatrixView &view, LibraryScales known, OperandConversion conversion);

// A phrase, or nullptr: it will run.
const char *library_rejection(const LibraryKernelEntry &kernel, const LibraryMachine &machine,
                              const GemmRequest &request);

// ---- what our kernels do before and after; a device has kernels for each

// target(i, j) = the number of source's code less its zero point, times its scales where `has_scales`. To bf16, f16, f32. To
// e4m3fn of int4 without scales; and of mxfp4: with scales that are written to target.block_scales, f32 of steps × lanes.
struct OperandConversionRequest {
  MatrixView source, target;
  bool has_scales;
};

// Scales as the library reads them: of `lanes` × `steps`, from rows of lanes.
struct LibraryScalesRequest {
  LibraryScales layout;  // kLanes128, kBlocks128, kTiles32, kTiles16
  const void *source;
  int64_t stride;  // of source, in scales
  int64_t lanes, steps;
  void *target;
};

// Bytes of what is written there.
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

// factors = alpha · a_tensor · b_tensor, beta.
struct GemmFactorsRequest {
  float alpha, beta;
  const float *a_tensor, *b_tensor;  // NULL: 1
  float *factors;
};

// c(i, j) = alpha · rows(i) · columns(j) · a_tensor · b_tensor · x(i, j) + beta · c(i, j) + bias(j). c may be in the memory of x.
struct GemmEpilogueRequest {
  const void *x;  // f32, or int32; NULL: zeros
  int64_t x_stride;
  bool is_integer;
  MatrixView c;                      // f32, bf16, f16
  const float *rows, *columns;       // NULL: ones
  int64_t rows_step, columns_step;   // from factor to factor
  const float *a_tensor, *b_tensor;  // NULL: 1
  const float *bias;                 // NULL: zeros
  float alpha, beta;
};

}  // namespace lpt
