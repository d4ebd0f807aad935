// The wire among threads, with one bit of one message header flipped on its way.
#pragma once

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "src/comm/local_wire.hpp"

namespace lpt::test {

struct Flip {
  int64_t header = 0;  // which of the rank's headers, from 1; 0: none
  size_t bit = 0;
};

class FlippingWire {
 public:
  static std::unique_ptr<Link> open(std::shared_ptr<Team> team, int32_t rank, const Flip &flip) {
    return std::make_unique<Link>(kTable, new FlippingWire(open_local_link(std::move(team), rank, {}), flip));
  }

 private:
  FlippingWire(std::unique_ptr<Link> &&inner, const Flip &flip) : inner_(std::move(inner)), flip_(flip) {}

  static FlippingWire &self(void *link) { return *static_cast<FlippingWire *>(link); }

  static int32_t code_of(const Status &status, char *error, size_t error_bytes) {
    if (!status.is_ok()) std::snprintf(error, error_bytes, "%s", status.message().c_str());
    return status.code();
  }

  static int32_t send(void *link, int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request,
                      char *error, size_t error_bytes) {
    const auto *const first = static_cast<const unsigned char *>(data);
    std::vector<unsigned char> copy(first, first + bytes);
    const Flip &flip = self(link).flip_;
    if (tag == 0 && ++self(link).headers_ == flip.header && flip.bit / 8 < copy.size()) {
      copy[flip.bit / 8] = static_cast<unsigned char>(copy[flip.bit / 8] ^ (1U << flip.bit % 8));
    }
    return code_of(self(link).inner_->send(peer, tag, copy.data(), bytes, out_request), error, error_bytes);
  }

  static int32_t receive(void *link, int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request,
                         char *error, size_t error_bytes) {
    return code_of(self(link).inner_->receive(peer, tag, data, bytes, out_request), error, error_bytes);
  }

  static int32_t test(void *link, void *request, int32_t *out_is_done, int32_t *out_peer, int64_t *out_bytes,
                      char *error, size_t error_bytes) {
    Link::Received received;
    const Status status = self(link).inner_->test(&request, received);
    *out_peer = received.peer;
    *out_bytes = received.bytes;
    *out_is_done = request == nullptr ? 1 : 0;
    return code_of(status, error, error_bytes);
  }

  static void abandon(void *link, void *request) { self(link).inner_->abandon(&request); }

  static void close(void *link) { delete &self(link); }

  static constexpr lpt_wire_table kTable{
      LPT_WIRE_ABI, sizeof(lpt_wire_table), "flipping", 1, 0, nullptr, nullptr, send, receive, test, abandon, close};

  const std::unique_ptr<Link> inner_;
  const Flip flip_;
  int64_t headers_ = 0;
};

}  // namespace lpt::test
