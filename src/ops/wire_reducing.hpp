// One reduction over ranks whose numbers are cast for their travel.
#pragma once

#include "src/ops/wire.hpp"

namespace lpt {

struct WireReducing {
  const char *operation;
  Wire wire;
  MatrixView input, output;  // as in Reducing
  Reduction reduction;
  double factor;
  const Row<ReduceRequest> *row, *row_to_f32;  // sums of f32 in the tensor's own format, and as they are
  std::vector<Range> shares;                   // of each rank, in elements of the input
  int64_t site;                                // as in Reducing
  Device device;                               // as in Reducing
  const DeviceRow<ReduceRequest> *device_row;  // in place of both rows
};

Signature signature_of(const WireReducing &reducing);

// Bytes that a tensor takes on the wire.
int64_t wire_bytes(const WireReducing &reducing);

// Every rank gets the whole: all inputs go to all, or shares go to their ranks and what became of them to all.
Status reduce_in_one_shot(Context &worker, Engine &engine, const WireReducing &reducing);
Status reduce_in_two_shots(Context &worker, Engine &engine, const WireReducing &reducing);

// Every rank gets its share.
Status reduce_wire_to_parts(Context &worker, Engine &engine, const WireReducing &reducing);

}  // namespace lpt
