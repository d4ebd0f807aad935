// Numbers in another format for the time of a transfer: choices, places in a message, casts of pieces.
#pragma once

#include <vector>

#include "kernels/quantize/quantize.hpp"
#include "src/ranks/reducing.hpp"

namespace lpt {

// How numbers are cast to a wire and back. A share is cast as a matrix of one row.
struct Wire {
  Format format;
  bool is_whole;         // its scales need all numbers of a share: it is not cast piece by piece
  int64_t segment;       // elements of a piece are a multiple of this
  QuantizeRequest cast;  // what all casts have in common; random: of element 0
  // The tensor's own format. On another device than the CPU shares are cast whole, by rows that are chosen then.
  const KernelEntry<QuantizeRequest> *from_own, *from_f32;
  const KernelEntry<DequantizeRequest> *to_own, *to_f32;
};

// Checks options->wire, rounding and random for tensors of format `own` on a device, and chooses kernels.
Status choose_wire(Context &context, const lpt_reduce_options &options, const Format &own, const Device &device,
                   Wire &out_wire);

// The draws of a first cast by one rank, and of the second one, whoever does it.
RandomSource first_draws(const Wire &wire, int32_t rank);
RandomSource second_draws(const Wire &wire);

// Where the shares of a message lie: parts in the order of their widths, so that each is aligned, without gaps.
struct MessageLayout {
  std::vector<MatrixView> shares;
  int64_t bytes;
};
MessageLayout lay_out_message(const Wire &wire, const std::vector<Range> &ranges, std::byte *memory);
Status take_message(Context &worker, const Wire &wire, const std::vector<Range> &ranges, MessageLayout &out_layout,
                    Bytes &out_bytes);

// Casts adjacent numbers of a piece of a share that is not whole. `index`: of its first element in the tensor.
void cast_piece(const Wire &wire, const MatrixView &source, const MatrixView &target, const RandomSource &draws,
                int64_t index);

// The same for a share.
Status cast_share(Context &worker, const Wire &wire, const MatrixView &source, const MatrixView &share,
                  const RandomSource &draws, int64_t index);

}  // namespace lpt
