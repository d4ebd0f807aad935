// One reduction over ranks, from checked views to bytes on the way and sums.
#pragma once

#include <vector>

#include "kernels/reduce/reduce.hpp"
#include "src/ops/comm.hpp"
#include "src/ops/operation.hpp"

namespace lpt {

// A range of elements in their logical order, row after row.
struct Range {
  int64_t begin, end;
  int64_t count() const { return end - begin; }
};

struct Reducing {
  const char *operation;
  MatrixView input, output;  // all_reduce: of one shape; reduce_scatter: output is this rank's part of the input
  Reduction reduction;
  double factor;
  const Row<ReduceRequest> *row;
  std::vector<Range> shares;  // of each rank, in elements of the input
};

// The element ranges that ranks reduce, of `elements`: equal, and cut at multiples of `unit`, here those of a cache line.
std::vector<Range> equal_shares(int64_t elements, int32_t ranks, int64_t unit = 32);

// Every rank gets the whole.
Status reduce_to_all(Context &worker, Engine &engine, const Reducing &reducing);

// Every rank gets its share.
Status reduce_to_parts(Context &worker, Engine &engine, const Reducing &reducing);

}  // namespace lpt
