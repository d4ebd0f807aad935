// Contenders of a GEMM benchmark: a pair of formats with its operands, or the GEMM of another library.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/gemm_cases.hpp"
#include "lpt.h"

namespace lpt::bench {

struct GemmContender {
  std::string name;  // of the pair, or of the peer
  bool is_packed = false, is_peer = false;
  std::string row;  // the kernel that runs
  GemmLimit kind = GemmLimit::kF32;
  double bar = 0;
  size_t weight_bytes = 0;                  // elements and scales
  std::vector<std::function<void()>> runs;  // on one thread; if more threads are requested, also on all of them
};

// The operands and the result of one shape. Throws std::runtime_error if the library fails or computes a wrong result.
class GemmOperands {
 public:
  // Uses one thread, and also `threads` threads if this is more than one.
  GemmOperands(const GemmShape &shape, int threads, lpt_isa isa);
  ~GemmOperands();
  GemmOperands(const GemmOperands &) = delete;
  GemmOperands &operator=(const GemmOperands &) = delete;

  // Returns the pair with dense weights, with packed weights, or both. For an omitted contender, `reason` states why. Each has
  // run once on every number of threads, and some elements of its result are compared with an f64 sum.
  std::vector<GemmContender> contenders(const GemmPair &pair, bool wants_plain, bool wants_packed, std::string &reason);

 private:
  std::shared_ptr<lpt_tensor> quantized(lpt_format format, int64_t rows, int64_t columns);
  std::vector<float> first_rows(const lpt_tensor *tensor, lpt_format format, bool is_whole, int64_t *out_rows);
  void check_result(const GemmPair &pair, const lpt_tensor *a, const lpt_tensor *b, const std::string &what);
  std::string row_of(const lpt_tensor *a, const lpt_tensor *b, const lpt_gemm_options &options);

  const GemmShape shape_;
  const lpt_isa isa_;
  std::vector<lpt_context *> contexts_;
  std::vector<float> numbers_, result_;
  lpt_tensor *c_ = nullptr;
};

}  // namespace lpt::bench
