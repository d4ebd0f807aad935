#include "src/collective/lossy_exchange.hpp"

#include <algorithm>
#include <limits>

#include "src/comm/checksum.hpp"
#include "src/comm/datagram/packet.hpp"

namespace lpt {
namespace {

// A rank receives after this many packets that it sends.
constexpr int kBurstPackets = 16;

// A rank receives at most this many packets at once, so that strangers cannot hold it up: more than two rounds have.
constexpr int kMostReceived = 8192;

class PacketExchange {
 public:
  PacketExchange(LossyLink &link, Engine &engine, const LossyExchange &exchange, PacketArrivals &arrivals)
      : link_(link),
        engine_(engine),
        exchange_(exchange),
        arrivals_(arrivals),
        self_(static_cast<size_t>(engine.rank())) {
    arrivals_.resize(exchange.incoming.size());
    for (size_t q = 0; q < arrivals_.size(); ++q) {
      arrivals_[q].assign(static_cast<size_t>(packets_of(link, exchange.incoming[q])), 0);
      missing_ += static_cast<int64_t>(arrivals_[q].size());
    }
  }

  // No rank sends packets of this call before all have entered it. Those that have arrived before belong to none.
  Status run() {
    ++link_.calls;
    receive_arrived();
    LPT_TRY(engine_.barrier(signature()));
    for (int64_t first = 0; first < exchange_.most_packets; first += link_.round_packets) {
      send_round(first, std::min(exchange_.most_packets, first + link_.round_packets));
      LPT_TRY(engine_.barrier({"lossy round", 0, link_.calls, first, 0}));
      receive_arrived();
    }
    receive_rest();
    for (size_t q = 0; q < arrivals_.size(); ++q) {
      link_.peers[q].lost += std::count(arrivals_[q].begin(), arrivals_[q].end(), 0);
    }
    return {};
  }

 private:
  struct HeldPacket {
    size_t peer;
    std::vector<std::byte> bytes;
  };

  Signature signature() const {
    std::vector<int64_t> agreed = exchange_.agreed;
    agreed.push_back(link_.calls);
    const uint64_t hash = checksum(agreed.data(), static_cast<int64_t>(agreed.size() * sizeof agreed[0]));
    Signature signature = exchange_.signature;
    signature.choice = static_cast<int64_t>(hash);
    return signature;
  }

  // Sends packets [first, end) of each part. Each rank begins with the next one, so that no rank gets all packets at once.
  void send_round(int64_t first, int64_t end) {
    const size_t ranks = arrivals_.size();
    int in_burst = 0;
    for (int64_t k = first; k < end; ++k) {
      for (size_t i = 1; i < ranks; ++i) {
        const size_t q = (self_ + i) % ranks;
        if (k * link_.payload_bytes >= exchange_.outgoing[q]) continue;
        send_packet(q, k);
        if (++in_burst % kBurstPackets == 0) receive_arrived();
      }
    }
    for (const HeldPacket &held : held_) transmit(held.peer, held.bytes.data(), held.bytes.size());
    held_.clear();
  }

  void send_packet(size_t q, int64_t k) {
    std::byte *const packet = link_.packet.data();
    const int64_t begin = k * link_.payload_bytes;
    const int64_t bytes = std::min(link_.payload_bytes, exchange_.outgoing[q] - begin);
    const auto size = static_cast<size_t>(kPacketHeaderBytes + bytes);
    const auto sender = static_cast<int32_t>(self_), index = static_cast<int32_t>(k);
    exchange_.read(q, begin, bytes, packet + kPacketHeaderBytes);
    seal_packet({0, 0, sender, link_.key, link_.calls, index, static_cast<int32_t>(bytes)}, packet);
    ++link_.peers[q].sent;
    const PacketFate fate = link_.injector.fate(sender, static_cast<int32_t>(q), link_.calls, index);
    if (fate.is_lost) return;
    if (fate.is_corrupted) {
      const size_t bit = fate.random_bit % (8 * size);
      packet[bit / 8] ^= std::byte{1} << (bit % 8);
    }
    for (int copy = 0; copy < (fate.is_duplicated ? 2 : 1); ++copy) {
      if (fate.is_reordered) {
        held_.push_back({q, std::vector<std::byte>(packet, packet + size)});
      } else {
        transmit(q, packet, size);
      }
    }
  }

  bool has_sent(size_t q, const std::byte *packet, size_t size, DatagramSocket::Sent &out_sent) {
    out_sent = link_.socket->send(link_.peers[q].address, packet, static_cast<int64_t>(size));
    return out_sent == DatagramSocket::Sent::kYes;
  }

  // Where the system accepts no packet, this rank receives until it does. After one time limit later packets do not wait.
  void transmit(size_t q, const std::byte *packet, size_t size) {
    DatagramSocket::Sent sent;
    if (has_sent(q, packet, size, sent)) return;
    const Deadline deadline(link_.timeout_seconds);
    while (sent == DatagramSocket::Sent::kBusy && !is_stuck_) {
      is_stuck_ = deadline.is_over();
      receive_arrived();
      link_.socket->wait(true, deadline.next_wakeup());
      if (has_sent(q, packet, size, sent)) return;
    }
    ++link_.peers[q].unsent;
  }

  // Receives the packets that have arrived.
  void receive_arrived() {
    for (int i = 0; i < kMostReceived; ++i) {
      const int64_t bytes = link_.socket->receive(link_.received.data(), static_cast<int64_t>(link_.received.size()));
      if (bytes < 0) return;
      take_packet(bytes);
    }
  }

  // Receives after all ranks have sent everything.
  void receive_rest() {
    using Clock = Deadline::Clock;
    const Deadline deadline(link_.timeout_seconds);
    const auto quiet = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(link_.quiet_seconds));
    Clock::time_point end = Clock::now() + quiet;
    for (;;) {
      const int64_t before = missing_;
      receive_arrived();
      if (missing_ == 0 || deadline.is_over()) return;
      if (missing_ < before) {
        end = Clock::now() + quiet;
      } else if (Clock::now() >= end) {
        return;
      }
      link_.socket->wait(false, std::min(end, deadline.next_wakeup()));
    }
  }

  void take_packet(int64_t bytes) {
    if (bytes > static_cast<int64_t>(link_.received.size())) bytes = 0;  // longer than any packet of the link
    PacketHeader header;
    const std::byte *const packet = link_.received.data();
    switch (open_packet(packet, bytes, link_.key, header)) {
      case PacketFault::kMalformed:
        ++link_.malformed;
        return;
      case PacketFault::kStranger:
        ++link_.strangers;
        return;
      case PacketFault::kCorrupted:
        ++link_.corrupted;
        return;
      case PacketFault::kNone:
        break;
    }
    const auto q = static_cast<size_t>(header.sender), k = static_cast<size_t>(header.index);  // negative: too large
    if (q >= arrivals_.size()) {
      ++link_.malformed;
      return;
    }
    if (header.call != link_.calls) {
      ++link_.peers[q].late;
      return;
    }
    const int64_t begin = header.index * link_.payload_bytes;
    if (k >= arrivals_[q].size() || header.bytes != std::min(link_.payload_bytes, exchange_.incoming[q] - begin)) {
      ++link_.malformed;
      return;
    }
    uint8_t &has_arrived = arrivals_[q][k];
    if (has_arrived != 0) {
      ++link_.peers[q].duplicates;
      return;
    }
    exchange_.write(q, begin, header.bytes, packet + kPacketHeaderBytes);
    has_arrived = 1;
    ++link_.peers[q].received;
    --missing_;
  }

  LossyLink &link_;
  Engine &engine_;
  const LossyExchange &exchange_;
  PacketArrivals &arrivals_;
  const size_t self_;
  int64_t missing_ = 0;
  bool is_stuck_ = false;  // the socket
  std::vector<HeldPacket> held_;
};

}  // namespace

int64_t packets_of(const LossyLink &link, int64_t bytes) {
  return bytes / link.payload_bytes + (bytes % link.payload_bytes != 0 ? 1 : 0);
}

Status count_most_packets(const LossyLink &link, const FlatView &view, const std::vector<Range> &parts,
                          int64_t &out_packets) {
  out_packets = 0;
  for (const Range &part : parts) out_packets = std::max(out_packets, packets_of(link, view.bytes(part.count())));
  if (out_packets <= std::numeric_limits<int32_t>::max()) return {};
  return invalid("a part has %lld packets: expected at most %d, use longer packets", number(out_packets),
                 std::numeric_limits<int32_t>::max());
}

Status exchange_packets(LossyLink &link, Engine &engine, const LossyExchange &exchange, PacketArrivals &out_arrivals) {
  return PacketExchange(link, engine, exchange, out_arrivals).run();
}

}  // namespace lpt
