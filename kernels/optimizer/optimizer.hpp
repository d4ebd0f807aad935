// The family of optimizer steps.
#pragma once

#include <span>

#include "lpt.h"
#include "src/base/philox.hpp"
#include "src/base/row.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// Numbers of one step, made in double and rounded once, so that every row uses the same.
struct AdamwConstants {
  float beta1, one_minus_beta1, beta2, one_minus_beta2;
  float root_correction;  // 1 / (1 - beta2^t)
  float step_size;        // learning rate / (1 - beta1^t)
  float decay;            // learning rate · weight decay
  float epsilon;
  float gradient_scale;
};

// One of the three arrays that a step reads and writes. value = element · scale; a format without scale has scale 1.
struct StateArray {
  void *data;
  lpt_format element;   // f32, bf16, f16, e4m3fn, e4m3, e5m2
  float scale;          // decodes what is stored now
  float inverse_scale;  // encodes what will be stored
  lpt_rounding rounding;
  bool is_clamped;      // a value that is not zero keeps at least the smallest code
  RandomSource random;  // index of element i: offset + i
};

// A range of one parameter, with the formula of lpt_optimizer_step. Two passes, since a new scale needs the new amax:
//   measure: computes the new m, v, p and raises amax[0..2] to their largest finite magnitudes; writes nothing else;
//   store:   computes them again and writes all three arrays in place.
// Formats without scale need no measure, and the amax of an f32 or bf16 array is left alone.
//
// Exact: every row gives the same bits. Per element, in f32, one rounding for each sign, nothing contracted:
//   g  = gradient · gradient_scale
//   m' = beta1 · m + one_minus_beta1 · g
//   v' = beta2 · v + (one_minus_beta2 · g) · g
//   u  = m' / (sqrt(v' · root_correction) + epsilon);  0 where m' is zero, so that 0 / 0 never happens
//   p' = (p - decay · p) - step_size · u
// A state is read as element · scale and written as round(value · inverse_scale), saturated; a NaN as the positive quiet
// one.
struct AdamwRequest {
  int64_t begin, count;  // elements of this part; arrays are those of the whole parameter
  const void *gradient;
  lpt_format gradient_format;  // f32, bf16
  StateArray first, second, parameter;
  AdamwConstants constants;
  bool is_measure;
  float *amax;  // three numbers
};

std::span<const Row<AdamwRequest>> adamw_kernels();

}  // namespace lpt
