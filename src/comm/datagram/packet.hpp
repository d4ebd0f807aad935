// Packets of lossy links: a header, then elements.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lpt {

// Sent as it is in memory.
struct PacketHeader {
  uint64_t checksum;  // of all bytes after it
  uint32_t magic;
  int32_t sender;  // rank
  uint64_t key;    // of the link
  int64_t call;    // number of the call on the link
  int32_t index;   // of the packet among those of its sender to one rank
  int32_t bytes;   // after the header
};
constexpr int64_t kPacketHeaderBytes = 40;
static_assert(sizeof(PacketHeader) == kPacketHeaderBytes);

// Writes the header before the payload, which follows it in memory. Sets its magic and checksum.
void seal_packet(PacketHeader header, std::byte *packet);

// Why a packet is dropped before its content is read.
enum class PacketFault : uint8_t { kNone, kMalformed, kStranger, kCorrupted };

// Checks a packet of `bytes` bytes. The header is valid only without a fault.
PacketFault open_packet(const std::byte *packet, int64_t bytes, uint64_t key, PacketHeader &out_header);

}  // namespace lpt
