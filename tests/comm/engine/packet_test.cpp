// Packets of lossy links that are damaged, repeated or forged with the key of the link.
#include "src/comm/datagram/packet.hpp"

#include <functional>

#include "src/collective/lossy_link.hpp"
#include "tests/comm/local.hpp"
#include "tests/comm/lossy.hpp"

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

// Rank 0 sends a packet that is valid except for one member of its header, and loses all others. Rank 1 drops and counts it.
TEST(LossyLink, DropsForgedPackets) {
  using Info = lpt_lossy_link_info;
  struct Forgery {
    const char *name;
    std::function<void(PacketHeader &)> change;
    int64_t Info::*count;
  };
  const Forgery forgeries[] = {
      {"none", [](PacketHeader &) {}, &Info::received_count},
      {"an earlier call", [](PacketHeader &header) { header.call = 0; }, &Info::late_count},
      {"a later call", [](PacketHeader &header) { header.call = 9; }, &Info::late_count},
      {"a negative rank", [](PacketHeader &header) { header.sender = -1; }, &Info::malformed_count},
      {"no rank", [](PacketHeader &header) { header.sender = 2; }, &Info::malformed_count},
      {"the receiver", [](PacketHeader &header) { header.sender = 1; }, &Info::malformed_count},
      {"a negative index", [](PacketHeader &header) { header.index = -1; }, &Info::malformed_count},
      {"no packet", [](PacketHeader &header) { header.index = 2; }, &Info::malformed_count},
      {"the last index", [](PacketHeader &header) { header.index = INT32_MAX; }, &Info::malformed_count},
      {"the length of another packet", [](PacketHeader &header) { header.bytes = 16; }, &Info::malformed_count},
      {"a length that the link does not have", [](PacketHeader &header) { header.bytes = 64; }, &Info::malformed_count},
      {"no bytes", [](PacketHeader &header) { header.bytes = 0; }, &Info::malformed_count},
  };
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.timeout_seconds = 100.0;
  for (const Forgery &forgery : forgeries) {
    SCOPED_TRACE(forgery.name);
    run_ranks(2, options, [&](const Rank &self, Comm &) {
      const LossyLink link = make_link(self, lossy_options(32, 1.0));  // packets of 32 and 16 bytes
      std::vector<float> memory(24, 5.0f);
      const Tensor output = wrap_axes(self.context, LPT_FORMAT_F32, memory.data(), {24});
      const Tensor part = view(self.context, output.get(), {self.rank * 12}, {12});
      if (self.rank == 0) {
        PacketHeader header{0, 0, 0, link->key, 1, 0, 32};
        forgery.change(header);
        const std::vector<std::byte> packet = sealed(header, std::byte{0});
        EXPECT_EQ(DatagramSocket::Sent::kYes,
                  link->socket->send(link->peers[1].address, packet.data(), static_cast<int64_t>(packet.size())));
      }
      ASSERT_TRUE(self.ok(lpt_barrier(self.context, self.comm)));
      ASSERT_TRUE(
          self.ok(lpt_lossy_all_gather(self.context, link.get(), part.get(), nullptr, 0, output.get(), nullptr)));
      if (self.rank == 0) return;
      const bool is_taken = forgery.count == &Info::received_count;
      std::vector<float> expected(24, 5.0f);
      if (is_taken) std::fill(expected.begin(), expected.begin() + 8, 0.0f);
      EXPECT_EQ(expected, memory);
      const Info info = read(self, link);
      EXPECT_EQ(1, info.*forgery.count);
      EXPECT_EQ(1, info.received_count + info.duplicate_count + info.late_count + info.malformed_count +
                       info.corrupted_count + info.stranger_count);
    });
  }
}

}  // namespace
}  // namespace lpt::test
