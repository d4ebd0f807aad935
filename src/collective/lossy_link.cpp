#include "src/collective/lossy_link.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

#include "src/call/operation.hpp"
#include "src/comm/datagram/packet.hpp"

namespace lpt {
namespace {

constexpr int32_t kMostPayloadBytes = 65400;  // with headers less than the limit of UDP

// What each rank sends to all others when it creates a link.
struct Announcement {
  SocketAddress address;
  int64_t buffer_bytes;
  uint64_t key;
};

Status check_link_options(const lpt_lossy_link_options &options) {
  if (std::memchr(options.address, 0, sizeof options.address) == nullptr) {
    return invalid("options->address has no end: expected at most %zu characters", sizeof options.address - 1);
  }
  if (options.port < 0 || options.port > 65535) {
    return invalid("options->port is %d: expected 0 to 65535", options.port);
  }
  if (options.payload_bytes < 8 || options.payload_bytes > kMostPayloadBytes || options.payload_bytes % 8 != 0) {
    return invalid("options->payload_bytes is %d: expected a multiple of 8 from 8 to %d", options.payload_bytes,
                   kMostPayloadBytes);
  }
  LPT_TRY(check_finite("options->timeout_seconds", options.timeout_seconds, 1e-6, 1e9));
  LPT_TRY(check_finite("options->quiet_seconds", options.quiet_seconds, 0.0, 3600.0));
  LPT_TRY(check_finite("options->injected_loss", options.injected_loss, 0.0, 1.0));
  LPT_TRY(check_finite("options->injected_duplication", options.injected_duplication, 0.0, 1.0));
  LPT_TRY(check_finite("options->injected_reordering", options.injected_reordering, 0.0, 1.0));
  return check_finite("options->injected_corruption", options.injected_corruption, 0.0, 1.0);
}

// Sends the announcement of this rank to all others, and fills those of the others.
Status exchange_announcements(Engine &engine, int64_t payload_bytes, std::vector<Announcement> &announcements) {
  constexpr int64_t kBytes = sizeof(Announcement);
  const auto self = static_cast<size_t>(engine.rank());
  std::vector<Bytes> incoming;
  for (Announcement &one : announcements) incoming.push_back({reinterpret_cast<std::byte *>(&one), kBytes});
  const std::vector<Bytes> outgoing(announcements.size(), incoming[self]);
  const ExchangeGuard guard(engine);
  LPT_TRY(engine.all_to_all_v({"lossy_link_create", 0, payload_bytes, 0, 0}, outgoing.data(), incoming.data()));
  for (size_t q = 0; q < announcements.size(); ++q) {
    if (q != self) std::memmove(&announcements[q], incoming[q].data, sizeof(Announcement));
  }
  LPT_TRY(engine.release());
  const auto family = [&](size_t q) { return announcements[q].address.family(); };
  for (size_t q = 1; q < announcements.size(); ++q) {
    if (family(q) == family(0)) continue;
    const auto name = [&](size_t rank) { return family(rank) == AF_INET ? "IPv4" : "IPv6"; };
    return Status(LPT_MISMATCH,
                  text("ranks disagree: rank 0 has an address of %s, rank %zu of %s", name(0), q, name(q)));
  }
  return {};
}

// Returns the packets that a rank may send to each other rank before a barrier, so that receive buffers do not overflow. A
// buffer holds packets of two rounds at most: ranks that have left a barrier send those of the next. Linux may count up to a
// quarter of a buffer that is free as used, and counts a packet as a block of memory and a record: bit_ceil(...) + 256.
int64_t packets_of_round(int64_t buffer_bytes, int64_t payload_bytes, size_t ranks) {
  const uint64_t counted = std::bit_ceil(static_cast<uint64_t>(kPacketHeaderBytes + payload_bytes) + 512) + 256;
  const uint64_t senders = std::max<size_t>(ranks - 1, 1);
  return std::max<int64_t>(1, static_cast<int64_t>(static_cast<uint64_t>(buffer_bytes) / (4 * senders * counted)));
}

}  // namespace

Status create_lossy_link(Context &context, Comm &comm, const lpt_lossy_link_options &options, LossyLink **out_link) {
  LPT_TRY(check_link_options(options));
  LPT_TRY(check_on_cpus(comm));
  auto link = std::make_unique<LossyLink>();
  LPT_TRY(DatagramSocket::open(options.address, options.port, link->socket));
  std::random_device source;
  std::vector<Announcement> announcements(static_cast<size_t>(comm.engine->ranks()));
  announcements[static_cast<size_t>(comm.engine->rank())] = {link->socket->address(), link->socket->buffer_bytes(),
                                                             static_cast<uint64_t>(source()) << 32 | source()};
  link->comm = &comm;
  link->rank = comm.engine->rank();
  link->peers.resize(announcements.size());
  link->injector = {options.injected_loss, options.injected_duplication, options.injected_reordering,
                    options.injected_corruption, options.seed};
  link->payload_bytes = options.payload_bytes;
  link->timeout_seconds = options.timeout_seconds;
  link->quiet_seconds = options.quiet_seconds;
  link->packet.resize(static_cast<size_t>(kPacketHeaderBytes + options.payload_bytes));
  link->received.resize(link->packet.size());
  LPT_TRY(run_collective(
      context, comm,
      [&](Context &, Engine &engine) { return exchange_announcements(engine, options.payload_bytes, announcements); },
      nullptr));
  int64_t buffer_bytes = announcements[0].buffer_bytes;
  for (size_t q = 0; q < announcements.size(); ++q) {
    link->peers[q].address = announcements[q].address;
    buffer_bytes = std::min(buffer_bytes, announcements[q].buffer_bytes);
  }
  link->key = announcements[0].key;
  link->round_packets = packets_of_round(buffer_bytes, options.payload_bytes, announcements.size());
  *out_link = link.release();
  return {};
}

Status lossy_link_info(const LossyLink &link, int32_t peer, lpt_lossy_link_info &out_info) {
  const auto ranks = static_cast<int32_t>(link.peers.size());
  if (peer < -1 || peer >= ranks || peer == link.rank) {
    return invalid("peer is %d: expected another rank, 0 to %d, or -1", peer, ranks - 1);
  }
  out_info.rank_count = ranks;
  out_info.port = link.socket->port();
  out_info.payload_bytes = link.payload_bytes;
  out_info.receive_buffer_bytes = link.socket->buffer_bytes();
  out_info.call_count = link.calls;
  for (int32_t q = 0; q < ranks; ++q) {
    if (peer >= 0 && q != peer) continue;
    const LossyPeer &one = link.peers[static_cast<size_t>(q)];
    out_info.sent_count += one.sent;
    out_info.unsent_count += one.unsent;
    out_info.received_count += one.received;
    out_info.lost_count += one.lost;
    out_info.duplicate_count += one.duplicates;
    out_info.late_count += one.late;
  }
  if (peer >= 0) return {};
  out_info.corrupted_count = link.corrupted;
  out_info.stranger_count = link.strangers;
  out_info.malformed_count = link.malformed;
  return {};
}

}  // namespace lpt
