// A UDP socket that never blocks, except in wait().
#pragma once

#include <sys/socket.h>

#include <memory>

#include "src/base/status.hpp"
#include "src/comm/deadline.hpp"

namespace lpt {

struct SocketAddress {
  sockaddr_storage storage;
  socklen_t bytes;

  int family() const { return storage.ss_family; }
};

class DatagramSocket {
 public:
  // Opens a socket at a numeric IPv4 or IPv6 address. Port 0: a free one.
  static Status open(const char *address, int32_t port, std::unique_ptr<DatagramSocket> &out_socket);
  ~DatagramSocket();
  DatagramSocket(const DatagramSocket &) = delete;
  DatagramSocket &operator=(const DatagramSocket &) = delete;

  const SocketAddress &address() const { return address_; }  // with its port
  int32_t port() const;

  // The limit of memory for packets that have arrived. The system counts its records of them, too.
  int64_t buffer_bytes() const { return buffer_bytes_; }

  enum class Sent : uint8_t { kYes, kBusy, kFailed };
  Sent send(const SocketAddress &to, const std::byte *packet, int64_t bytes);

  // Copies a packet, up to `capacity` bytes, and returns its length, which may be larger; -1 if none has arrived.
  int64_t receive(std::byte *packet, int64_t capacity);

  // Waits until a packet can be received or, with for_send, sent. Also returns at `end`, and after signals.
  void wait(bool for_send, Deadline::Clock::time_point end);

 private:
  explicit DatagramSocket(int file) : file_(file) {}

  const int file_;
  SocketAddress address_{};
  int64_t buffer_bytes_ = 0;
};

}  // namespace lpt
