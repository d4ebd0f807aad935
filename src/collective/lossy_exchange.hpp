// One exchange of packets between all ranks of a lossy link.
#pragma once

#include <functional>
#include <vector>

#include "src/collective/lossy_link.hpp"
#include "src/tensor/flat_view.hpp"

namespace lpt {

// What one rank sends and receives. Rank q gets the packets of outgoing[q] bytes, and sends incoming[q] bytes.
struct LossyExchange {
  LossyExchange(const char *operation, const MatrixView &whole, int64_t most_packets)
      : signature{operation, whole.format.id, whole.rows, whole.columns, 0}, most_packets(most_packets) {}

  Signature signature;            // without the choice
  std::vector<int64_t> agreed;    // other values that must be the same on all ranks
  int64_t most_packets;           // of the longest part of all ranks
  std::vector<int64_t> outgoing;  // bytes; the entries of this rank are 0
  std::vector<int64_t> incoming;
  // read() copies bytes for rank q to a packet; write() copies bytes of rank q from a packet, which has arrived first.
  std::function<void(size_t q, int64_t begin, int64_t bytes, std::byte *packet)> read;
  std::function<void(size_t q, int64_t begin, int64_t bytes, const std::byte *packet)> write;
};

int64_t packets_of(const LossyLink &link, int64_t bytes);

// Returns the packets of the longest part. Rejects parts with more packets than a header can number.
Status count_most_packets(const LossyLink &link, const FlatView &view, const std::vector<Range> &parts,
                          int64_t &out_packets);

// arrivals[q][k] is 1 if packet k of rank q arrived; empty for this rank.
using PacketArrivals = std::vector<std::vector<uint8_t>>;

Status exchange_packets(LossyLink &link, Engine &engine, const LossyExchange &exchange, PacketArrivals &out_arrivals);

}  // namespace lpt
