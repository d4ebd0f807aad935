/**
 * @file emulation.h
 * @brief Research: emulated arithmetic of GEMMs; emulated links and damaged messages of local ranks.
 */
#ifndef LPT_RESEARCH_EMULATION_H
#define LPT_RESEARCH_EMULATION_H

#include "../common.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief How a GEMM multiplies and adds two elements.
 *
 * All values except LPT_GEMM_ARITHMETIC_NATIVE emulate other machines, element by element. f64 supports only NATIVE.
 */
enum lpt_gemm_arithmetic_values {
  LPT_GEMM_ARITHMETIC_NATIVE = 0,           /**< Products of the elements, added in the order of the kernel. */
  LPT_GEMM_ARITHMETIC_L_MUL = 1,            /**< Integer addition of exponents and mantissas (arXiv 2410.00907). */
  LPT_GEMM_ARITHMETIC_PIECEWISE_AFFINE = 2, /**< (1 + x)(1 + y) as 1 + x + y, or 2(x + y) from x + y = 1 (PAM). */
  LPT_GEMM_ARITHMETIC_SHIFT = 3, /**< Integers shifted by powers of two: one operand e3m0, the other of integers. */
  LPT_GEMM_ARITHMETIC_TENSOR_CORE = 4 /**< Sums of 14 bits, added to f32 every 128 steps of k, as FP8 on Hopper. */
};
/** @brief An arithmetic of a GEMM; one of lpt_gemm_arithmetic_values. */
typedef int32_t lpt_gemm_arithmetic;

/**
 * @brief Arithmetic that a GEMM emulates; `emulation` of lpt_gemm_options.
 *
 * docs/reference/accumulation.md defines the bits and lists the formats of each arithmetic.
 */
struct lpt_gemm_emulation {
  size_t struct_size;             /**< sizeof(lpt_gemm_emulation) of the caller. */
  lpt_gemm_arithmetic arithmetic; /**< How elements are multiplied and added. Default NATIVE. */
  /**
   * L_MUL: mantissa bits to which operands are cut, 1 to 23; 0: those of the formats. TENSOR_CORE: bits of a sum, 10 to
   * 24; 0: 14. Other values: 0, the default.
   */
  int32_t bits;
};

/** @brief Defaults of lpt_gemm_emulation: nothing is emulated. */
#define LPT_GEMM_EMULATION_INIT \
  { sizeof(lpt_gemm_emulation), LPT_GEMM_ARITHMETIC_NATIVE, 0 }

/**
 * @brief Link that the ranks of a local group emulate; `emulation` of lpt_comm_options.
 *
 * Ranks send messages if a member is not 0. The link must be the same on all ranks.
 */
struct lpt_comm_emulation {
  size_t struct_size;           /**< sizeof(lpt_comm_emulation) of the caller. */
  double link_latency_seconds;  /**< Latency of each message, up to 3600 seconds. Default 0. */
  double link_bytes_per_second; /**< Bandwidth of the link of a rank; 0, the default: not limited. */
  int64_t damaged_message;      /**< Number of the message of this rank that is damaged, from 1; 0: none. */
};

/** @brief Defaults of lpt_comm_emulation: nothing is emulated. */
#define LPT_COMM_EMULATION_INIT \
  { sizeof(lpt_comm_emulation), 0.0, 0.0, 0 }

#ifdef __cplusplus
}
#endif

#endif
