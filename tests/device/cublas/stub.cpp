// A libcublasLt.so.13 for machines without a GPU. It checks descriptors against the documentation of cuBLAS, as the real
// library does only in its heuristics, and multiplies in scalar loops.
//
// Environment variables for tests: LPT_TEST_CUBLASLT_VERSION; LPT_TEST_CUBLASLT_FAILS: create, find, find_fast, find_nothing or
// multiply; LPT_TEST_CAPABILITY, the compute capability of the device.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "tests/device/cuda_numbers.hpp"

namespace lpt::cublas {

struct DescriptionOpaque {
  int32_t compute, factor;
  int32_t pointer_mode = kOnHost;
  int32_t operation_a = kAsStored, operation_b = kAsStored;
  uint32_t epilogue = kNoEpilogue;
  const void *bias = nullptr, *scales_a = nullptr, *scales_b = nullptr;
  int32_t bias_type = -1, mode_a = kScalar, mode_b = kScalar;
  int8_t is_fast = 0;
};
struct LayoutOpaque {
  int32_t type;
  uint64_t rows, columns;
  int64_t leading;
};
struct PreferenceOpaque {
  uint64_t most_workspace_bytes = 0;
  uint32_t boundary_a = 256, boundary_b = 256, boundary_c = 256, boundary_d = 256;
};

namespace {

constexpr int32_t kExecutionFailed = 13;
constexpr uint64_t kMagic = 0x5354554257415953;
constexpr int32_t kWays = 3;
constexpr size_t kWorkspace[kWays] = {1024, 0, 4096};

int32_t last_way = -1, last_pointer_mode = -1, last_is_fast = -1, multiplied = 0;

int32_t number(const char *name, int32_t otherwise) {
  const char *const words = std::getenv(name);
  return words == nullptr ? otherwise : std::atoi(words);
}

bool fails(const char *what) {
  const char *const words = std::getenv("LPT_TEST_CUBLASLT_FAILS");
  return words != nullptr && std::strcmp(words, what) == 0;
}

int32_t capability() { return number("LPT_TEST_CAPABILITY", 90); }

bool is_byte_float(int32_t type) { return type == kE4m3fn || type == kE5m2; }

// Requirements of the documentation.

// A GEMM with its shape: op(A) is m × k, op(B) is k × n, D is m × n.
struct Gemm {
  const DescriptionOpaque &d;
  const LayoutOpaque &a, &b, &c;
  int64_t m, n, k;
};

Gemm gemm_of(const DescriptionOpaque &d, const LayoutOpaque &a, const LayoutOpaque &b, const LayoutOpaque &c) {
  const int64_t k = static_cast<int64_t>(d.operation_a == kTransposed ? a.rows : a.columns);
  return {d, a, b, c, static_cast<int64_t>(c.rows), static_cast<int64_t>(c.columns), k};
}

bool do_shapes_fit(const Gemm &p) {
  const bool is_a = p.d.operation_a == kTransposed, is_b = p.d.operation_b == kTransposed;
  const auto m = static_cast<int64_t>(is_a ? p.a.columns : p.a.rows);
  const auto n = static_cast<int64_t>(is_b ? p.b.rows : p.b.columns);
  const auto b_k = static_cast<int64_t>(is_b ? p.b.columns : p.b.rows);
  const auto holds = [](const LayoutOpaque &layout) {
    return layout.rows > 0 && layout.columns > 0 && layout.leading >= static_cast<int64_t>(layout.rows);
  };
  return m == p.m && n == p.n && b_k == p.k && holds(p.a) && holds(p.b) && holds(p.c);
}

// Returns true if rows are aligned to `bytes`, A is transposed and B is not: the requirement of narrow precisions.
bool is_narrow_layout(const Gemm &p, int64_t bytes) {
  const bool is_tn = p.d.operation_a == kTransposed && p.d.operation_b == kAsStored;
  return is_tn && p.a.leading * bits_of(p.a.type) % (8 * bytes) == 0 &&
         p.b.leading * bits_of(p.b.type) % (8 * bytes) == 0;
}

bool are_modes_right(const Gemm &p) {
  const int32_t a = p.d.mode_a, b = p.d.mode_b;
  if (a == kScalar && b == kScalar) return is_byte_float(p.a.type);
  const bool is_hopper = capability() == 90;
  if (a == kOuterVector && b == kOuterVector) return is_hopper;
  const auto is_of_128 = [](int32_t mode) { return mode == kVector128 || mode == kBlock128; };
  if (is_of_128(a) && is_of_128(b))
    return is_hopper && !(a == kBlock128 && b == kBlock128) && p.m % 4 == 0 && p.n % 4 == 0;
  if (a != b || capability() < 100) return false;
  return a == kVector16 ? p.a.type == kE2m1fn && p.b.type == kE2m1fn : is_byte_float(p.a.type);
}

bool is_narrow_gemm_right(const Gemm &p) {
  if (p.d.compute != kComputeF32 || p.d.factor != kF32 || p.d.epilogue != kNoEpilogue) return false;
  if (p.a.type == kE5m2 && p.b.type == kE5m2) return false;
  if (!is_narrow_layout(p, 16) || p.k % 16 != 0 || p.m % 16 != 0 || capability() < 89) return false;
  const bool is_result = p.c.type == kF32 || p.c.type == kBf16 || p.c.type == kF16;
  return is_result && p.c.leading * bits_of(p.c.type) % 128 == 0 && are_modes_right(p);
}

bool is_integer_gemm_right(const Gemm &p) {
  if (p.d.compute != kComputeInt32 || p.d.factor != kInt32 || p.c.type != kInt32) return false;
  return is_narrow_layout(p, 4) && p.m % 4 == 0 && p.k % 4 == 0 && p.d.epilogue == kNoEpilogue;
}

bool is_wide_gemm_right(const Gemm &p) {
  if (p.d.compute != kComputeF32 || p.d.factor != kF32 || p.a.type != p.b.type) return false;
  if (p.a.type != kF32 && p.a.type != kBf16 && p.a.type != kF16) return false;
  if (p.d.mode_a != kScalar || p.d.mode_b != kScalar || p.d.scales_a != nullptr || p.d.scales_b != nullptr)
    return false;
  const bool is_bias = p.d.epilogue == kNoEpilogue || (p.d.bias_type == p.c.type && p.d.bias != nullptr);
  return is_bias && (p.c.type == p.a.type || p.c.type == kF32);
}

// Returns true for FP8 with tensor or row scales, on devices where fast accumulation has an effect.
bool may_be_fast(const Gemm &p) {
  const bool is_of_blocks = p.d.mode_a == kVector128 || p.d.mode_a == kBlock128;
  return is_byte_float(p.a.type) && is_byte_float(p.b.type) && !is_of_blocks && capability() <= 90;
}

bool is_right(const Gemm &p) {
  if (!do_shapes_fit(p) || (p.d.is_fast != 0 && !may_be_fast(p))) return false;
  if (p.a.type == kInt8 && p.b.type == kInt8) return is_integer_gemm_right(p);
  const bool is_narrow =
      (is_byte_float(p.a.type) && is_byte_float(p.b.type)) || (p.a.type == kE2m1fn && p.b.type == kE2m1fn);
  return is_narrow ? is_narrow_gemm_right(p) : is_wide_gemm_right(p);
}

// Elements.

// Scales in tiles of 128 × 4, each stored as 32 rows of 4 × 4 bytes.
double tile_scale(const void *scales, int64_t lane, int64_t step, int64_t steps, const Element &element) {
  const int64_t tiles = (steps + 3) / 4;
  const int64_t place = (lane / 128 * tiles + step / 4) * 512 + lane % 32 * 16 + lane % 128 / 32 * 4 + step % 4;
  return decode(element, static_cast<const uint8_t *>(scales)[place]);
}

// Returns the factor of element `p` of a lane; `lanes` is m for A and n for B.
double scale_at(int32_t mode, const void *scales, int64_t lane, int64_t p, int64_t lanes, int64_t k) {
  const auto *const floats = static_cast<const float *>(scales);
  switch (mode) {
    case kScalar:
      return scales == nullptr ? 1.0 : floats[0];
    case kOuterVector:
      return floats[lane];
    case kVector128:
      return floats[p / 128 * lanes + lane];
    case kBlock128:
      return floats[lane / 128 * (((k + 127) / 128 + 3) / 4 * 4) + p / 128];
    case kVector32:
      return tile_scale(scales, lane, p / 32, (k + 31) / 32, kElementE8m0fnu);
    default:
      return tile_scale(scales, lane, p / 16, (k + 15) / 16, kElementE4m3fn);
  }
}

double factor_at(int32_t type, const void *factor) {
  return type == kInt32 ? *static_cast<const int32_t *>(factor) : *static_cast<const float *>(factor);
}

void multiply(const Gemm &p, double alpha, const void *a, const void *b, double beta, void *c) {
  const bool is_a = p.d.operation_a == kTransposed, is_b = p.d.operation_b == kTransposed;
  for (int64_t j = 0; j < p.n; ++j) {
    for (int64_t i = 0; i < p.m; ++i) {
      double sum = 0;
      for (int64_t s = 0; s < p.k; ++s) {
        sum += number_at(p.a.type, a, is_a ? i * p.a.leading + s : s * p.a.leading + i) *
               scale_at(p.d.mode_a, p.d.scales_a, i, s, p.m, p.k) *
               number_at(p.b.type, b, is_b ? s * p.b.leading + j : j * p.b.leading + s) *
               scale_at(p.d.mode_b, p.d.scales_b, j, s, p.n, p.k);
      }
      const int64_t place = j * p.c.leading + i;
      double value = alpha * sum + (beta == 0 ? 0 : beta * number_at(p.c.type, c, place));
      if (p.d.epilogue == kBiasEpilogue) value += number_at(p.d.bias_type, p.d.bias, i);
      store(p.c.type, c, place, value);
    }
  }
}

bool is_on(const void *address, uintptr_t boundary) { return reinterpret_cast<uintptr_t>(address) % boundary == 0; }

template <typename Value>
int32_t take(Value &member, const void *value, size_t bytes) {
  if (bytes != sizeof member) return kInvalidValue;
  std::memcpy(&member, value, bytes);
  return kSuccess;
}

}  // namespace
}  // namespace lpt::cublas

using namespace lpt::cublas;

#define LPT_STUB extern "C" __attribute__((visibility("default")))

LPT_STUB size_t cublasLtGetVersion() { return static_cast<size_t>(number("LPT_TEST_CUBLASLT_VERSION", 130100)); }

LPT_STUB const char *cublasLtGetStatusName(int32_t status) {
  return status == kNotInitialized ? "CUBLAS_STATUS_NOT_INITIALIZED"
         : status == kNotSupported ? "CUBLAS_STATUS_NOT_SUPPORTED"
         : status == kInvalidValue ? "CUBLAS_STATUS_INVALID_VALUE"
                                   : "CUBLAS_STATUS_EXECUTION_FAILED";
}

LPT_STUB int32_t cublasLtCreate(Handle *out) {
  static char memory;
  if (fails("create")) return kNotInitialized;
  *out = reinterpret_cast<Handle>(&memory);
  return kSuccess;
}
LPT_STUB int32_t cublasLtDestroy(Handle) { return kSuccess; }

LPT_STUB int32_t cublasLtMatmulDescCreate(Description *out, int32_t compute, int32_t factor) {
  *out = new DescriptionOpaque{compute, factor};
  return kSuccess;
}
LPT_STUB int32_t cublasLtMatmulDescDestroy(Description description) {
  delete description;
  return kSuccess;
}
LPT_STUB int32_t cublasLtMatmulDescSetAttribute(Description d, int32_t attribute, const void *value, size_t bytes) {
  switch (attribute) {
    case kPointerMode:
      return take(d->pointer_mode, value, bytes);
    case kOperationA:
      return take(d->operation_a, value, bytes);
    case kOperationB:
      return take(d->operation_b, value, bytes);
    case kEpilogue:
      return take(d->epilogue, value, bytes);
    case kBiasAddress:
      return take(d->bias, value, bytes);
    case kFastAccumulation:
      return take(d->is_fast, value, bytes);
    case kBiasType:
      return take(d->bias_type, value, bytes);
    case kScalesAddressA:
      return take(d->scales_a, value, bytes);
    case kScalesAddressB:
      return take(d->scales_b, value, bytes);
    case kScaleModeA:
      return take(d->mode_a, value, bytes);
    case kScaleModeB:
      return take(d->mode_b, value, bytes);
    default:
      return kInvalidValue;
  }
}

LPT_STUB int32_t cublasLtMatrixLayoutCreate(Layout *out, int32_t type, uint64_t rows, uint64_t columns,
                                            int64_t leading) {
  *out = new LayoutOpaque{type, rows, columns, leading};
  return kSuccess;
}
LPT_STUB int32_t cublasLtMatrixLayoutDestroy(Layout layout) {
  delete layout;
  return kSuccess;
}

LPT_STUB int32_t cublasLtMatmulPreferenceCreate(Preference *out) {
  *out = new PreferenceOpaque;
  return kSuccess;
}
LPT_STUB int32_t cublasLtMatmulPreferenceDestroy(Preference preference) {
  delete preference;
  return kSuccess;
}
LPT_STUB int32_t cublasLtMatmulPreferenceSetAttribute(Preference p, int32_t attribute, const void *value,
                                                      size_t bytes) {
  switch (attribute) {
    case kMostWorkspaceBytes:
      return take(p->most_workspace_bytes, value, bytes);
    case kBoundaryA:
      return take(p->boundary_a, value, bytes);
    case kBoundaryB:
      return take(p->boundary_b, value, bytes);
    case kBoundaryC:
      return take(p->boundary_c, value, bytes);
    case kBoundaryD:
      return take(p->boundary_d, value, bytes);
    default:
      return kInvalidValue;
  }
}

LPT_STUB int32_t cublasLtMatmulAlgoGetHeuristic(Handle, Description d, Layout a, Layout b, Layout c, Layout,
                                                Preference p, int32_t most, Found *out_found, int32_t *out_count) {
  *out_count = 0;
  if (fails("find_nothing")) return kSuccess;
  if (fails("find") || (fails("find_fast") && d->is_fast != 0)) return kNotSupported;
  if (!is_right(gemm_of(*d, *a, *b, *c))) return kNotSupported;
  const uint32_t least = bits_of(a->type) <= 8 ? 16 : 2;
  if (p->boundary_a < least || p->boundary_b < least || p->boundary_d < least) return kNotSupported;
  for (uint64_t way = 0; way < kWays && *out_count < most; ++way) {
    if (kWorkspace[way] > p->most_workspace_bytes) continue;
    out_found[(*out_count)++] = {{{kMagic, way}}, kWorkspace[way], kSuccess, 1.0f, {}};
  }
  return kSuccess;
}

LPT_STUB int32_t cublasLtMatmulAlgoCheck(Handle, Description d, Layout a, Layout b, Layout c, Layout,
                                         const Algorithm *algorithm, Found *out_found) {
  if (algorithm->words[0] != kMagic || algorithm->words[1] >= kWays) return kInvalidValue;
  if (!is_right(gemm_of(*d, *a, *b, *c))) return kNotSupported;
  out_found->workspace_bytes = kWorkspace[algorithm->words[1]];
  return kSuccess;
}

LPT_STUB int32_t cublasLtMatmul(Handle, Description d, const void *alpha, const void *a, Layout a_layout, const void *b,
                                Layout b_layout, const void *beta, const void *, Layout, void *c, Layout c_layout,
                                const Algorithm *algorithm, void *workspace, size_t workspace_bytes, void *) {
  const Gemm gemm = gemm_of(*d, *a_layout, *b_layout, *c_layout);
  if (fails("multiply")) return kExecutionFailed;
  if (algorithm->words[0] != kMagic || !is_right(gemm)) return kInvalidValue;
  const uint64_t way = algorithm->words[1];
  const uintptr_t boundary = bits_of(a_layout->type) <= 8 ? 16 : 2;
  const bool is_placed = is_on(a, boundary) && is_on(b, boundary) && is_on(c, boundary) && is_on(workspace, 256);
  if (workspace_bytes < kWorkspace[way] || !is_placed) return kInvalidValue;
  if (workspace_bytes > 0) std::memset(workspace, 0x5A, workspace_bytes);
  if (way == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the first suggestion of the heuristic is
                                                                // not the fastest
  multiply(gemm, factor_at(d->factor, alpha), a, b, factor_at(d->factor, beta), c);
  last_way = static_cast<int32_t>(way);
  last_pointer_mode = d->pointer_mode;
  last_is_fast = d->is_fast;
  ++multiplied;
  return kSuccess;
}

// For tests: algorithm of the last GEMM, its pointer mode, whether it was fast, and the number of GEMMs.
LPT_STUB int32_t lpt_stub_last_way() { return last_way; }
LPT_STUB int32_t lpt_stub_last_pointer_mode() { return last_pointer_mode; }
LPT_STUB int32_t lpt_stub_last_is_fast() { return last_is_fast; }
LPT_STUB int32_t lpt_stub_multiplied() { return multiplied; }
