// Wire formats: tensors are cast for a transfer. Selects formats and kernels, lays out messages, casts slices.
#pragma once

#include <vector>

#include "kernels/quantize/quantize.hpp"
#include "src/ranks/reducing.hpp"

namespace lpt {

// A wire format and its casts. A slice is cast as a matrix of one row.
struct Wire {
  Format format;
  bool is_whole;         // scales depend on all elements of a slice: it is cast at once, not in spans
  int64_t segment;       // spans of a slice are multiples of this many elements
  QuantizeRequest cast;  // request common to all casts; random: state of element 0
  // `own` is the tensor's format. Set for the CPU only: on other devices slices are cast at once, with kernels selected per
  // cast.
  const KernelEntry<QuantizeRequest> *from_own, *from_f32;
  const KernelEntry<DequantizeRequest> *to_own, *to_f32;
};

// Checks options->wire, rounding and random for tensors of format `own` on `device`, and selects kernels.
Status choose_wire(Context &context, const lpt_reduce_options &options, const Format &own, const Device &device,
                   Wire &out_wire);

// Random numbers of the first cast on `rank`, and of the second cast, which do not depend on the rank.
RandomSource first_draws(const Wire &wire, int32_t rank);
RandomSource second_draws(const Wire &wire);

// Layout of slices in a message: components in order of decreasing width, so that all are aligned without gaps.
struct MessageLayout {
  std::vector<MatrixView> shares;
  int64_t bytes;
};
MessageLayout lay_out_message(const Wire &wire, const std::vector<Range> &ranges, std::byte *memory);
Status take_message(Context &worker, const Wire &wire, const std::vector<Range> &ranges, MessageLayout &out_layout,
                    Bytes &out_bytes);

// Casts a span of a slice; requires !is_whole. `index`: tensor index of the first element.
void cast_span(const Wire &wire, const MatrixView &source, const MatrixView &target, const RandomSource &draws,
               int64_t index);

// Casts a full slice. `index`: tensor index of the first element.
Status cast_share(Context &worker, const Wire &wire, const MatrixView &source, const MatrixView &share,
                  const RandomSource &draws, int64_t index);

}  // namespace lpt
