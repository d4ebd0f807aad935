// cuBLASLt itself as a peer of GEMMs: opened where it is, by its versioned name. Without its header when this was built, or
// without the library or a GPU, every GEMM is missing, with the reason.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/gpu/machine.hpp"

namespace lpt::bench {

// c(m, n) = a(m, k) · b(n, k)^T, rows one after the other. FP8 with one scale of 1 for each operand, or with vectors of scales.
// Fast: sums stay in the short accumulator of the tensor cores, which LPT's own GEMM never does.
enum class PeerKind { kBf16, kFp8, kFp8Fast, kFp8Rows, kFp8RowsFast, kFp8Groups };

class Cublaslt {
 public:
  explicit Cublaslt(const Machine &machine);
  ~Cublaslt();

  // Text of its version, or why it is not here.
  const std::string &text() const { return text_; }
  bool is_here() const { return impl_ != nullptr; }

  // Queues the GEMM on the default stream. Throws Missing with cuBLASLt's status.
  std::function<void()> gemm(PeerKind kind, const Tensor &a, const Tensor &b, const Tensor &c, int64_t m, int64_t n,
                             int64_t k);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
  std::string text_;
};

}  // namespace lpt::bench
