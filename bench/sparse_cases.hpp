// Selections of one matrix with kernels of kernels/sparse_mask, for the sparsity benchmark.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/peaks.hpp"
#include "kernels/sparse_mask/sparse_mask.hpp"

namespace lpt::bench {

// One result.
struct SparseRate {
  std::string name, row, measure;
  double seconds = 0, gigaelements = 0, gigabytes = 0, memcpy_gigabytes = 0;
  double ratio = 0, bar = 0;  // bar 0: no target
};

struct SparseCase {
  std::string name;
  int32_t kept, of;
  lpt_sparse_rule rule = LPT_SPARSE_RULE_MAGNITUDE;
  bool is_transposed = false;  // groups along columns, across cache lines
  lpt_format format = LPT_FORMAT_F32;
  bool wants_mask = false, wants_masked = true;
  bool is_in_place = false;
  int32_t rounds = 7;
};

// The source of all cases of one size, and their outputs.
class SparseMatrix {
 public:
  SparseMatrix(int64_t rows, int64_t columns, bool is_streamed);

  SparseMaskRequest request(const SparseCase &given);
  int64_t elements() const { return rows_ * columns_; }
  // Copies the f32 source to other memory: the reference for a selection.
  void copy();

 private:
  int64_t rows_, columns_;
  bool is_streamed_;  // far larger than the caches
  std::vector<float> numbers_, masked_, copy_;
  std::vector<uint8_t> mask_;
};

// Measures the fastest seconds of both. The runs are interleaved, so that a drifting clock affects both.
template <typename First, typename Second>
void race(bool is_short, const First &first, const Second &second, double &best_first, double &best_second) {
  const int rounds = is_short ? 60 : 9, repeats = is_short ? 8 : 1;
  const auto time = [&](const auto &run, double &best) {
    const double begin = now();
    for (int i = 0; i < repeats; ++i) run();
    best = std::min(best, (now() - begin) / repeats);
  };
  best_first = best_second = 1e9;
  for (int round = 0; round < rounds; ++round) {
    time(first, best_first);
    time(second, best_second);
  }
}

// Returns the bytes read and written once, per element.
double bytes_of(const SparseCase &given);

// Returns the fastest kernel that supports the request, of this instruction set, or of any (0). NULL: none.
const KernelEntry<SparseMaskRequest> *row_for(const SparseMaskRequest &request, CpuFeatures isa);

}  // namespace lpt::bench
