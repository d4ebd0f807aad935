#include "src/ops/gemm_arithmetic.hpp"

#include "src/ops/operation.hpp"

namespace lpt {
namespace {

// Bits that an arithmetic may be given; none where `most` is 0.
struct BitRange {
  int32_t least, most;
};

BitRange bits_of(lpt_arithmetic arithmetic) {
  if (arithmetic == LPT_ARITHMETIC_L_MUL) return {1, 23};
  if (arithmetic == LPT_ARITHMETIC_TENSOR_CORE) return {10, 24};
  return {0, 0};
}

}  // namespace

// Which formats an arithmetic takes, its row says.
Status check_arithmetic(const lpt_gemm_options &options, const MatrixView &, const MatrixView &) {
  LPT_TRY(check_choice("arithmetic", options.arithmetic, LPT_ARITHMETIC_TENSOR_CORE));
  const BitRange range = bits_of(options.arithmetic);
  const int32_t bits = options.arithmetic_bits;
  if (bits == 0 || (range.most != 0 && bits >= range.least && bits <= range.most)) return {};
  if (range.most == 0) return invalid("arithmetic_bits is %d: arithmetic %d takes 0 alone", bits, options.arithmetic);
  return invalid("arithmetic_bits is %d: expected 0, or %d to %d with arithmetic %d", bits, range.least, range.most,
                 options.arithmetic);
}

}  // namespace lpt
