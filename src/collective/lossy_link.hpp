// Lossy links: sockets, peers and counts of packets.
#pragma once

#include <memory>
#include <vector>

#include "lpt/research/lossy.h"
#include "src/comm/datagram/injector.hpp"
#include "src/comm/datagram/socket.hpp"
#include "src/ranks/comm.hpp"

namespace lpt {

// Another rank, and counts of the packets to it and from it: see lpt_lossy_link_info.
struct LossyPeer {
  SocketAddress address;
  int64_t sent = 0, unsent = 0, received = 0, lost = 0, duplicates = 0, late = 0;
};

}  // namespace lpt

struct lpt_lossy_link {
  lpt::HandleKind kind = lpt::HandleKind::kLossyLink;
  lpt_comm *comm = nullptr;  // not owned
  int32_t rank = 0;
  std::unique_ptr<lpt::DatagramSocket> socket;
  std::vector<lpt::LossyPeer> peers;  // of all ranks
  lpt::PacketInjector injector;
  uint64_t key = 0;  // of rank 0
  int64_t payload_bytes = 0, round_packets = 0, calls = 0;
  double timeout_seconds = 0.0, quiet_seconds = 0.0;
  int64_t corrupted = 0, strangers = 0, malformed = 0;  // packets
  std::vector<std::byte> packet, received;              // to send, and received
};

namespace lpt {

using LossyLink = lpt_lossy_link;

Status create_lossy_link(Context &context, Comm &comm, const lpt_lossy_link_options &options, LossyLink **out_link);
Status lossy_link_info(const LossyLink &link, int32_t peer, lpt_lossy_link_info &out_info);

}  // namespace lpt
