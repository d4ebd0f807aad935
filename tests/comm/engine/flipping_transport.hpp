// The transport between threads, with one flipped bit in one message header.
#pragma once

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "src/comm/local/local_transport.hpp"

namespace lpt::test {

struct Flip {
  int64_t header = 0;  // number of the damaged header of the rank, from 1; 0: none
  size_t bit = 0;
};

class FlippingTransport {
 public:
  static std::unique_ptr<Endpoint> open(std::shared_ptr<LocalGroup> group, int32_t rank, const Flip &flip) {
    return std::make_unique<Endpoint>(kTable,
                                      new FlippingTransport(open_local_endpoint(std::move(group), rank, {}), flip));
  }

 private:
  FlippingTransport(std::unique_ptr<Endpoint> &&inner, const Flip &flip) : inner_(std::move(inner)), flip_(flip) {}

  static FlippingTransport &self(void *endpoint) { return *static_cast<FlippingTransport *>(endpoint); }

  static int32_t code_of(const Status &status, char *error, size_t error_bytes) {
    if (!status.is_ok()) std::snprintf(error, error_bytes, "%s", status.message().c_str());
    return status.code();
  }

  static int32_t send(void *endpoint, int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request,
                      char *error, size_t error_bytes) {
    const auto *const first = static_cast<const unsigned char *>(data);
    std::vector<unsigned char> copy(first, first + bytes);
    const Flip &flip = self(endpoint).flip_;
    if (tag == 0 && ++self(endpoint).headers_ == flip.header && flip.bit / 8 < copy.size()) {
      copy[flip.bit / 8] = static_cast<unsigned char>(copy[flip.bit / 8] ^ (1U << flip.bit % 8));
    }
    return code_of(self(endpoint).inner_->send(peer, tag, copy.data(), bytes, out_request), error, error_bytes);
  }

  static int32_t receive(void *endpoint, int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request,
                         char *error, size_t error_bytes) {
    return code_of(self(endpoint).inner_->receive(peer, tag, data, bytes, out_request), error, error_bytes);
  }

  static int32_t test(void *endpoint, void *request, int32_t *out_is_done, int32_t *out_peer, int64_t *out_bytes,
                      char *error, size_t error_bytes) {
    Endpoint::Received received;
    const Status status = self(endpoint).inner_->test(&request, received);
    *out_peer = received.peer;
    *out_bytes = received.bytes;
    *out_is_done = request == nullptr ? 1 : 0;
    return code_of(status, error, error_bytes);
  }

  static void abandon(void *endpoint, void *request) { self(endpoint).inner_->abandon(&request); }

  static void close(void *endpoint) { delete &self(endpoint); }

  static constexpr lpt_transport_table kTable{
      LPT_WIRE_ABI, sizeof(lpt_transport_table), "flipping", 1, 0, nullptr, nullptr, send, receive, test, abandon,
      close};

  const std::unique_ptr<Endpoint> inner_;
  const Flip flip_;
  int64_t headers_ = 0;
};

}  // namespace lpt::test
