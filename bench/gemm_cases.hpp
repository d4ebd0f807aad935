// GEMMs by name: shapes, pairs of formats, what their speed is held against, and what it shall reach.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lpt.h"

namespace lpt::bench {

// What bounds a GEMM: one of the CPU's multiplications, or reading the weights once.
enum class GemmLimit { kF32, kBf16, kInt8, kRead };
const char *limit_name(GemmLimit limit);
std::optional<GemmLimit> limit_of_name(const std::string &name);

// c (m × n) = a (m × k) · b (k × n). Weights are stored n × k, transposed, unless it says otherwise.
struct GemmShape {
  std::string name;
  int64_t m = 0, k = 0, n = 0;
  bool is_a_transposed = false, is_b_transposed = true;

  double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
  bool is_matrix_vector() const { return m == 1; }
  bool is_plain_layer() const { return !is_a_transposed && is_b_transposed; }
};

struct GemmPair {
  std::string name;  // "bf16:int4_1x128"
  lpt_format a = LPT_FORMAT_NONE, b = LPT_FORMAT_NONE;
  GemmLimit limit = GemmLimit::kF32;  // of shapes that are no matrix-vector GEMM
};

// A group (`gemm_groups`), one of its members, or any M x K x N such as 16x4096x4096, or 256 for a square. Empty: there is
// no such shape.
std::vector<GemmShape> shapes_of(const std::string &name);
std::string gemm_groups();  // their names, for people

// The pairs that are measured when none is named.
std::vector<GemmPair> usual_pairs();
// A:B of any two formats. Nothing: one of them is no format.
std::optional<GemmPair> pair_of(const std::string &name);

// Has scales in f32, other than one for all. In shapes that are no plain layer those scales would lie along k, which is
// slow and no one's need.
bool has_wide_scales(const GemmPair &pair);

// The share of its limit that a GEMM with packed weights shall reach; 0: no bar.
double bar_of(const GemmPair &pair, const GemmShape &shape, lpt_isa isa);

}  // namespace lpt::bench
