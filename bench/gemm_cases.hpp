// Named GEMMs: shapes, pairs of formats, the limit of their speed, and their targets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lpt.h"

namespace lpt::bench {

// The limit of a GEMM: a multiplication of the CPU, or reading the weights once.
enum class GemmLimit { kF32, kBf16, kInt8, kRead };
const char *limit_name(GemmLimit limit);
std::optional<GemmLimit> limit_of_name(const std::string &name);

// c (m × n) = a (m × k) · b (k × n). Weights are stored transposed as n × k, unless specified otherwise.
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
  GemmLimit limit = GemmLimit::kF32;  // of shapes other than matrix-vector
};

// Returns a group (`gemm_groups`), one of its members, or any M x K x N such as 16x4096x4096, or 256 for a square. Empty for an
// unknown shape.
std::vector<GemmShape> shapes_of(const std::string &name);
std::string gemm_groups();  // their names, as text

// The pairs that are measured by default.
std::vector<GemmPair> usual_pairs();
// Parses A:B of any two formats. Returns nothing if one of them is not a format.
std::optional<GemmPair> pair_of(const std::string &name);

// Returns whether a format has f32 scales, other than one per tensor. In transposed shapes these scales run along k, which is
// slow and not used in practice.
bool has_wide_scales(const GemmPair &pair);

// Returns the target: the fraction of its limit for a GEMM with packed weights; 0: no target.
double bar_of(const GemmPair &pair, const GemmShape &shape, lpt_isa isa);

}  // namespace lpt::bench
