// Packets of lossy links that are damaged.
#include "src/comm/datagram/packet.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace lpt::test {
namespace {

std::vector<std::byte> sealed(const PacketHeader &header, std::byte filling) {
  std::vector<std::byte> packet(static_cast<size_t>(kPacketHeaderBytes + header.bytes), filling);
  seal_packet(header, packet.data());
  return packet;
}

TEST(Packet, IsRejectedWithAnyBitFlippedAndWithAnyOtherLength) {
  constexpr uint64_t kKey = 0x1234'5678'9ABC'DEF0;
  for (const int32_t payload : {0, 8, 88}) {
    std::vector<std::byte> packet = sealed({0, 0, 3, kKey, 17, 5, payload}, std::byte{0x5A});
    const auto size = static_cast<int64_t>(packet.size());
    PacketHeader found{};
    ASSERT_EQ(PacketFault::kNone, open_packet(packet.data(), size, kKey, found));
    EXPECT_EQ(3, found.sender);
    EXPECT_EQ(17, found.call);
    EXPECT_EQ(5, found.index);
    EXPECT_EQ(PacketFault::kStranger, open_packet(packet.data(), size, kKey ^ 1, found));
    for (int64_t length = 0; length < size; ++length) {
      EXPECT_EQ(PacketFault::kMalformed, open_packet(packet.data(), length, kKey, found)) << length;
    }
    packet.push_back(std::byte{0});
    EXPECT_EQ(PacketFault::kMalformed, open_packet(packet.data(), size + 1, kKey, found));
    for (size_t bit = 0; bit < 8 * static_cast<size_t>(size); ++bit) {
      const std::byte mask = std::byte{1} << (bit % 8);
      packet[bit / 8] ^= mask;
      EXPECT_NE(PacketFault::kNone, open_packet(packet.data(), size, kKey, found)) << bit;
      packet[bit / 8] ^= mask;
    }
  }
}

}  // namespace
}  // namespace lpt::test
