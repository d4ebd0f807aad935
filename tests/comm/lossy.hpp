// Lossy links of the tests.
#pragma once

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <cstdlib>

#include "tests/comm/suite.hpp"

namespace lpt::test {

// Sets the IPv4 address of an interface. Ranks of several machines cannot use that of loopback.
inline void set_address(const char *interface, lpt_lossy_link_options &options) {
  ifaddrs *first = nullptr;
  ASSERT_EQ(0, getifaddrs(&first));
  bool is_found = false;
  for (const ifaddrs *one = first; one != nullptr && !is_found; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET || std::string(interface) != one->ifa_name) {
      continue;
    }
    const auto *address = reinterpret_cast<const sockaddr_in *>(one->ifa_addr);
    is_found = inet_ntop(AF_INET, &address->sin_addr, options.address, sizeof options.address) != nullptr;
  }
  freeifaddrs(first);
  EXPECT_TRUE(is_found) << interface;
}

inline lpt_lossy_link_options lossy_options(int32_t payload_bytes, double loss = 0.0, uint64_t seed = 0) {
  lpt_lossy_link_options options = LPT_LOSSY_LINK_OPTIONS_INIT;
  if (const char *interface = std::getenv("LPT_TEST_INTERFACE")) set_address(interface, options);
  options.payload_bytes = payload_bytes;
  options.injected_loss = loss;
  options.seed = Random(seed).bits();
  return options;
}

inline LossyLink make_link(const Rank &self, const lpt_lossy_link_options &options) {
  LossyLink link;
  EXPECT_TRUE(self.ok(lpt_lossy_link_create(self.context, self.comm, &options, out(link))));
  return link;
}

inline lpt_lossy_link_info read(const Rank &self, const LossyLink &link, int32_t peer = -1) {
  lpt_lossy_link_info info = LPT_LOSSY_LINK_INFO_INIT;
  EXPECT_TRUE(self.ok(lpt_lossy_link_read(self.context, link.get(), peer, &info)));
  return info;
}

// Extents of the parts of ranks, which differ.
inline std::vector<int64_t> uneven_counts(int32_t ranks, int64_t step) {
  std::vector<int64_t> counts;
  for (int32_t q = 0; q < ranks; ++q) counts.push_back((q % 3 + 1) * step + 1);
  return counts;
}

}  // namespace lpt::test
