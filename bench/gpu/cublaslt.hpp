// cuBLASLt as a peer of GEMMs, loaded at run time by its versioned name. Without its header at build time, or without the
// library or a GPU, every GEMM is missing with the reason.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/gpu/machine.hpp"

namespace lpt::bench {

// c(m, n) = a(m, k) · b(n, k)^T, row-major. FP8 has one scale of 1 for each operand, or vectors of scales. Fast: sums remain in
// the short accumulator of the tensor cores, which LPT GEMMs do not use by default.
enum class PeerKind { kBf16, kFp8, kFp8Fast, kFp8Rows, kFp8RowsFast, kFp8Groups };

class Cublaslt {
 public:
  explicit Cublaslt(const Machine &machine);
  ~Cublaslt();

  // Returns its version, or why it is not available.
  const std::string &text() const { return text_; }
  bool is_here() const { return impl_ != nullptr; }

  // Returns a function that enqueues the GEMM on the default stream. Throws Missing with the status of cuBLASLt.
  std::function<void()> gemm(PeerKind kind, const Tensor &a, const Tensor &b, const Tensor &c, int64_t m, int64_t n,
                             int64_t k);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
  std::string text_;
};

}  // namespace lpt::bench
