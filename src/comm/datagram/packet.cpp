#include "src/comm/datagram/packet.hpp"

#include <cstring>

#include "src/comm/checksum.hpp"

namespace lpt {
namespace {

constexpr uint32_t kPacketMagic = 0x4C50'5450;  // LPTP

uint64_t packet_checksum(const std::byte *packet, int64_t bytes) {
  constexpr int64_t kSkipped = sizeof(uint64_t);
  return checksum(packet + kSkipped, bytes - kSkipped);
}

}  // namespace

void seal_packet(PacketHeader header, std::byte *packet) {
  header.magic = kPacketMagic;
  std::memcpy(packet, &header, sizeof header);
  header.checksum = packet_checksum(packet, kPacketHeaderBytes + header.bytes);
  std::memcpy(packet, &header.checksum, sizeof header.checksum);
}

PacketFault open_packet(const std::byte *packet, int64_t bytes, uint64_t key, PacketHeader &out_header) {
  if (bytes < kPacketHeaderBytes) return PacketFault::kMalformed;
  std::memcpy(&out_header, packet, sizeof out_header);
  if (out_header.magic != kPacketMagic || out_header.bytes != bytes - kPacketHeaderBytes)
    return PacketFault::kMalformed;
  if (out_header.key != key) return PacketFault::kStranger;
  return out_header.checksum == packet_checksum(packet, bytes) ? PacketFault::kNone : PacketFault::kCorrupted;
}

}  // namespace lpt
