// Numbers in another format for the time of their travel: choices, places in a message, casts of pieces.
#pragma once

#include <vector>

#include "kernels/quantize/quantize.hpp"
#include "src/ops/reducing.hpp"

namespace lpt {

// How numbers are cast to a wire and back. A share is cast as a matrix of one row.
struct Wire {
  Format format;
  bool is_whole;         // its scales need all numbers of a share: it is not cast piece by piece
  int64_t piece;         // elements of a piece are a multiple of this
  QuantizeRequest cast;  // what all casts have in common; random: of element 0
  const Row<QuantizeRequest> *from_own, *from_f32;  // the tensor's own format
  const Row<DequantizeRequest> *to_own, *to_f32;
};

// Checks options->wire, rounding and random for tensors of format `own`, and chooses kernels.
Status choose_wire(Context &context, const lpt_reduce_options &options, const Format &own, Wire &out_wire);

// The draws of a first cast by one rank, and of the second one, whoever does it.
RandomSource first_draws(const Wire &wire, int32_t rank);
RandomSource second_draws(const Wire &wire);

// Where the shares of a message lie: parts in the order of their widths, so that each is aligned, without gaps.
struct Parcel {
  std::vector<MatrixView> shares;
  int64_t bytes;
};
Parcel lay_out_parcel(const Wire &wire, const std::vector<Range> &ranges, std::byte *memory);
Status take_parcel(Context &worker, const Wire &wire, const std::vector<Range> &ranges, Parcel &out_parcel,
                   Bytes &out_bytes);

// Casts adjacent numbers of a piece of a share that is not whole. `index`: of its first element in the tensor.
void cast_piece(const Wire &wire, const MatrixView &source, const MatrixView &target, const RandomSource &draws,
                int64_t index);

// The same for a share.
Status cast_share(Context &worker, const Wire &wire, const MatrixView &source, const MatrixView &share,
                  const RandomSource &draws, int64_t index);

// A matrix as a line of numbers.
class Line {
 public:
  explicit Line(const MatrixView &view);

  int64_t bytes(int64_t elements) const { return elements * element_bytes_; }

  // Whether a range lies in one run, and where.
  bool is_run(const Range &range) const;
  MatrixView run(const Range &range) const;

  void copy_to(const Range &range, void *run) const;
  void copy_from(const Range &range, const void *run) const;

 private:
  template <typename Copy>
  void for_rows(const Range &range, const Copy &copy) const;

  MatrixView view_;
  int64_t columns_;  // of a run
  int64_t element_bytes_;
};

// Some elements of one share.
struct Spot {
  size_t share;
  int64_t begin, count;  // from the share's begin
};

// All elements of the ranges, in pieces of `length`.
std::vector<Spot> spots_of(const std::vector<Range> &ranges, int64_t length);

// Runs body(spot, scratch) for each, with `bytes` of scratch for each thread.
template <typename Body>
Status for_spots(Context &worker, const std::vector<Spot> &spots, int64_t bytes, const Body &body) {
  const auto count = static_cast<int64_t>(spots.size());
  const int64_t threads = std::min<int64_t>(width_of(worker), count);
  const int64_t room = (bytes + 63) / 64 * 64;
  std::byte *memory = nullptr;
  LPT_TRY(worker.arena->take(static_cast<size_t>(threads * room), &memory));
  if (threads <= 1) {
    for (const Spot &spot : spots) body(spot, memory);
    return {};
  }
  std::atomic<int64_t> next{0};
  const auto take = [&](int64_t thread) {
    for (int64_t i = next++; i < count; i = next++) body(spots[static_cast<size_t>(i)], memory + thread * room);
  };
  parallel_for(worker, threads, std::cref(take));
  return {};
}

}  // namespace lpt
