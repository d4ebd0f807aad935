// The family of optimizer steps.
#pragma once

#include <span>

#include "kernels/common/simd_entries.hpp"
#include "lpt.h"
#include "src/base/kernel_entry.hpp"
#include "src/base/philox.hpp"
#include "src/formats/dynamic_tree.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// Numbers of one step, made in double and rounded once, so that every row uses the same.
struct StepConstants {
  float beta1, one_minus_beta1, beta2, one_minus_beta2;
  float root_correction;  // 1 / (1 - beta2^t)
  float step_size;        // of Adam and AdamW learning rate / (1 - beta1^t), else the learning rate
  float decay;            // learning rate · weight decay; 0 where decay is coupled
  float coupled_decay;    // weight decay that is added to the gradient; 0 where decay is decoupled
  float epsilon;
  float gradient_scale;  // the caller's and the clip factor in one number
  bool is_nesterov;
};

// One of the arrays that a step reads and writes. value = element · scale; a format without scale has scale 1.
struct StateArray {
  void *data = nullptr;                 // NULL: the method keeps no such state
  lpt_format element = LPT_FORMAT_F32;  // f32, bf16, f16, e4m3fn, e4m3, e5m2, kDynamicSigned, kDynamicUnsigned
  float scale = 1.0f;                   // of the whole array, where `block` is 0: decodes what is stored now
  float inverse_scale = 1.0f;           // and this encodes what will be stored
  int64_t block = 0;                    // elements per scale: 0, 128, 256; counted from element 0
  float *block_scales = nullptr;        // one per block; where it is expanded, the block's largest magnitude
  uint16_t *exponents = nullptr;        // one per block: 16 · k of the expansion; NULL: it is not expanded
  lpt_rounding rounding = LPT_ROUNDING_NEAREST_EVEN;
  lpt_optimizer_underflow underflow = LPT_OPTIMIZER_UNDERFLOW_ALLOWED;
  RandomSource random = {};  // index of element i: offset + i
};

struct StepScales;     // cuda_found.hpp: what a device finds
struct GradientFacts;  // likewise

// A range of one parameter, with the formulas of lpt_optimizer_step. A new scale of a whole array needs its new amax, so
// that there are two passes over such arrays, and one over all others:
//   measure: computes the new numbers and raises amax[0..2] (first, second, parameter) to their largest finite
//            magnitudes; writes nothing else;
//   store:   computes them again and writes all arrays in place; raises amax as well when it is not NULL.
// The amax of an array without a scale of the whole (f32, bf16, blocks) is left alone.
//
// Exact: every row gives the same bits. Per element, in f32, one rounding for each sign, nothing contracted:
//   g  = gradient · gradient_scale
//   Adam, SGD, where coupled_decay is not 0: g = g + coupled_decay · p
//   AdamW, Adam:  m' = beta1 · m + one_minus_beta1 · g
//                 v' = beta2 · v + (one_minus_beta2 · g) · g
//                 u  = m' / (sqrt(v' · root_correction) + epsilon);  0 where m' is zero, so that 0 / 0 never happens
//   SGD:          m' = beta1 · m + g
//                 u  = is_nesterov ? g + beta1 · m' : m'
//   Lion:         c  = beta1 · m + one_minus_beta1 · g
//                 m' = beta2 · m + one_minus_beta2 · g
//                 u  = sign of c: 1, -1, c itself where it is zero or NaN
//   all:          p' = (p - decay · p) - step_size · u
// With compensation, of bf16 parameters, the last line is
//                 d = c - (decay · p + step_size · u),  p' = round(p + d),  c' = round to nearest even(d - (p' - p))
// A state is read as element · scale and written as round(value · inverse_scale), saturated; a NaN as the positive quiet
// one.
//
// Blocks. A block's scale is that of the AMAX rule from its new finite amax (f32_scale), its inverse inverse_scale(). A
// kDynamic element has no NaN: a block with one gets a NaN scale, and zero codes for the NaNs. Expansion (power.hpp):
// the block's largest and smallest positive finite magnitudes give its exponent, and each magnitude is stretched. A
// block without such numbers keeps 1 and an exponent of 16.
//
// Underflow, where |scaled value| is below the smallest code s and not zero: ALLOWED rounds as `rounding` says; CLAMP
// makes at least s of it; STOCHASTIC makes s with the probability |scaled value| / s, else zero (the stochastic rounding
// of encode(), below s alone). Lists round to nearest whatever `rounding` says.
struct StepRequest {
  lpt_optimizer_method method;
  int64_t begin, count;  // elements of this part, whole blocks save at the parameter's end; arrays are the parameter's
  const void *gradient;
  lpt_format gradient_format;  // f32, bf16
  StateArray first, second, parameter, compensation;
  StepConstants constants;
  bool is_measure;
  float *amax;  // three numbers

  // On a device alone, in its memory, for what the host does not know; NULL: the numbers above are it.
  const StepScales *stored = nullptr, *next = nullptr;  // scales of the moments, for reading and for writing
  const GradientFacts *gradients = nullptr;             // gradient_scale
  uint32_t delayed = 0;  // bit k: of moment k; measuring does nothing where `stored` has an amax of each of these
};

std::span<const KernelEntry<StepRequest>> step_kernels();

// Sums of squares of a gradient, for its norm. The elements are cut in blocks of kNormBlock, counted from element 0. In
// each, sixteen lanes add the squares of elements i, i + 16, i + 32, ... in f64, where a square is exact; then lanes 8 to 15
// are added to 0 to 7, 4 to 7 to 0 to 3, and so on. What is not finite is counted and adds nothing. Exact.
constexpr int64_t kNormBlock = 4096;

struct NormRequest {
  const void *gradient;
  lpt_format gradient_format;  // f32, bf16
  int64_t begin, count;        // begin is a multiple of kNormBlock
  double *sums;                // sum of block i, written
  int64_t *nonfinite_count;    // raised
};

std::span<const KernelEntry<NormRequest>> norm_kernels();

// Kernels of the table.
void step_any_ref(const StepRequest &request);
void norm_any_ref(const NormRequest &request);

LPT_DECLARE_SIMD(step, StepRequest)
LPT_DECLARE_SIMD(norm, NormRequest)

}  // namespace lpt
