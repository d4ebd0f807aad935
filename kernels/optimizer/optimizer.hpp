// Kernels of optimizer steps and of gradient norms.
#pragma once

#include <span>

#include "kernels/common/simd_entries.hpp"
#include "lpt.h"
#include "src/base/kernel_entry.hpp"
#include "src/base/philox.hpp"
#include "src/formats/dynamic_tree.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// Constants of one step. They are computed in double and rounded once, so that all kernels use the same values.
struct StepConstants {
  float beta1, one_minus_beta1, beta2, one_minus_beta2;
  float root_correction;  // 1 / (1 - beta2^t)
  float step_size;        // Adam, AdamW: learning rate / (1 - beta1^t); otherwise the learning rate
  float decay;            // learning rate · weight decay; 0 if decay is coupled
  float coupled_decay;    // weight decay that is added to the gradient; 0 if decay is decoupled
  float epsilon;
  float gradient_scale;  // the caller's scale times the clip factor
  bool is_nesterov;
};

// One array that a step reads and writes. value = element · scale. A format without scale has scale 1.
struct StateArray {
  void *data = nullptr;                 // NULL: the method has no such state
  lpt_format element = LPT_FORMAT_F32;  // f32, bf16, f16, e4m3fn, e4m3, e5m2, kDynamicSigned, kDynamicUnsigned
  float scale = 1.0f;                   // of the whole array, if `block` is 0: decodes the stored elements
  float inverse_scale = 1.0f;           // of the new scale: encodes the new values
  int64_t block = 0;                    // elements per scale: 128 or 256, counted from element 0; 0: one scale or none
  float *block_scales = nullptr;        // one per block; if it is expanded, the largest magnitude of the block
  uint16_t *exponents = nullptr;        // one per block: 16 · k of the expansion; NULL: not expanded
  lpt_rounding rounding = LPT_ROUNDING_NEAREST_EVEN;
  lpt_optimizer_underflow underflow = LPT_OPTIMIZER_UNDERFLOW_ALLOWED;
  RandomSource random = {};  // element i has index offset + i
};

struct StepScales;     // cuda_found.hpp: scales that a device computes
struct GradientStats;  // cuda_found.hpp: results of a pass over all gradients

// A step of a range of one parameter, with the formulas of lpt_optimizer_step. The new scale of a whole array depends on its
// new amax. Such arrays need two passes, all others one:
//   measure: computes the new values and raises amax[0..2] (first, second, parameter) to their largest finite magnitudes;
//            writes nothing else;
//   store:   computes the same values and writes all arrays in place; also raises amax if it is not NULL.
// The amax of an array without a scale of the whole array (f32, bf16, blocks) does not change.
//
// Exact: all kernels return the same bits. Each element is computed in f32, with one rounding per operation and without
// contraction:
//   g  = gradient · gradient_scale
//   Adam, SGD, if coupled_decay is not 0: g = g + coupled_decay · p
//   AdamW, Adam:  m' = beta1 · m + one_minus_beta1 · g
//                 v' = beta2 · v + (one_minus_beta2 · g) · g
//                 u  = m' / (sqrt(v' · root_correction) + epsilon);  0 if m' is 0, which avoids 0 / 0
//   SGD:          m' = beta1 · m + g
//                 u  = is_nesterov ? g + beta1 · m' : m'
//   Lion:         c  = beta1 · m + one_minus_beta1 · g
//                 m' = beta2 · m + one_minus_beta2 · g
//                 u  = sign of c: 1 or -1; c if c is zero or NaN
//   all:          p' = (p - decay · p) - step_size · u
// With compensation, which requires bf16 parameters, the last line is
//                 d = c - (decay · p + step_size · u),  p' = round(p + d),  c' = round to nearest even(d - (p' - p))
// A state is read as element · scale and written as round(value · inverse_scale), saturated. A NaN is stored as the positive
// quiet NaN.
//
// Blocks. f32_scale() computes the scale of a block from its new finite amax by the AMAX rule, and inverse_scale() its inverse.
// kDynamic elements have no NaN: a block with a NaN gets a NaN scale, and its NaNs get the code of zero.
//
// Expansion (power.hpp). The largest and the smallest positive finite magnitude of a block determine its exponent, and each
// magnitude is expanded. A block without such magnitudes gets the scale 1 and the exponent 16.
//
// Underflow, if |scaled value| is below the smallest positive value s of the element: ALLOWED rounds by `rounding`. CLAMP
// stores at least s if the unscaled value is not zero. STOCHASTIC stores s with the probability |scaled value| / s, otherwise
// zero: the stochastic rounding of encode(), but only below s. Dynamic trees round to nearest and ignore `rounding`.
struct StepRequest {
  lpt_optimizer_method method;
  int64_t begin, count;  // full blocks, except at the end of the parameter; arrays begin at element 0 of it
  const void *gradient;
  lpt_format gradient_format;  // f32, bf16
  StateArray first, second, parameter, compensation;
  StepConstants constants;
  bool is_measure;
  float *amax;  // of first, second and parameter; NULL: not computed

  // Only for devices, in device memory: values that the host does not have. NULL: the members above are used.
  const StepScales *stored = nullptr, *next = nullptr;  // scales of the moments for decoding and encoding
  const GradientStats *gradients = nullptr;             // gradient_scale
  uint32_t delayed = 0;  // bit k: moment k; measure does nothing if `stored` has a nonzero amax of each
};

std::span<const KernelEntry<StepRequest>> step_kernels();

// Sums of squares of a gradient, for its norm. The elements are divided into blocks of kNormBlock, counted from element 0. In
// each block, lane i of sixteen adds the squares of elements i, i + 16, i + 32, ... in f64, in which the squares are exact.
// Then lanes 8 to 15 are added to lanes 0 to 7, lanes 4 to 7 to lanes 0 to 3, and so on. Elements that are not finite are
// counted and add nothing. Exact: all kernels return the same bits.
constexpr int64_t kNormBlock = 4096;

struct NormRequest {
  const void *gradient;
  lpt_format gradient_format;  // f32, bf16
  int64_t begin, count;        // begin is a multiple of kNormBlock
  double *sums;                // element i is set to the sum of block i
  int64_t *nonfinite_count;    // incremented by the number of elements that are not finite
};

std::span<const KernelEntry<NormRequest>> norm_kernels();

// Kernels of the table.
void step_any_ref(const StepRequest &request);
void norm_any_ref(const NormRequest &request);

LPT_DECLARE_SIMD(step, StepRequest)
LPT_DECLARE_SIMD(norm, NormRequest)

}  // namespace lpt
