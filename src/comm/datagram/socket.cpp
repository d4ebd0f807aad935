#include "src/comm/datagram/socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace lpt {
namespace {

// Requested; the system grants up to net.core.rmem_max.
constexpr int kRequestedBufferBytes = 4 << 20;

Status parse_address(const char *address, int32_t port, SocketAddress &out) {
  out = {};
  sockaddr_in four{};
  sockaddr_in6 six{};
  bool is_any = false;
  if (inet_pton(AF_INET, address, &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(static_cast<uint16_t>(port));
    is_any = four.sin_addr.s_addr == htonl(INADDR_ANY);
    out.bytes = sizeof four;
    std::memcpy(&out.storage, &four, sizeof four);
  } else if (inet_pton(AF_INET6, address, &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(static_cast<uint16_t>(port));
    is_any = IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr) != 0;
    out.bytes = sizeof six;
    std::memcpy(&out.storage, &six, sizeof six);
  }
  if (out.bytes != 0 && !is_any) return {};
  return invalid("options->address is \"%s\": expected a numeric IPv4 or IPv6 address to which other ranks can send",
                 address);
}

}  // namespace

Status DatagramSocket::open(const char *address, int32_t port, std::unique_ptr<DatagramSocket> &out_socket) {
  SocketAddress requested;
  LPT_TRY(parse_address(address, port, requested));
  const int file = socket(requested.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file < 0) {
    return unsupported("options->address is \"%s\": the system opens no socket for it: %s", address, strerror(errno));
  }
  std::unique_ptr<DatagramSocket> made(new DatagramSocket(file));
  if (bind(file, reinterpret_cast<const sockaddr *>(&requested.storage), requested.bytes) != 0) {
    return invalid("options->address is \"%s\" and options->port is %d: expected a free port of this machine: %s",
                   address, port, strerror(errno));
  }
  made->address_.bytes = sizeof made->address_.storage;
  int granted = 0;
  socklen_t granted_bytes = sizeof granted;
  setsockopt(file, SOL_SOCKET, SO_RCVBUF, &kRequestedBufferBytes, sizeof kRequestedBufferBytes);
  if (getsockname(file, reinterpret_cast<sockaddr *>(&made->address_.storage), &made->address_.bytes) != 0 ||
      getsockopt(file, SOL_SOCKET, SO_RCVBUF, &granted, &granted_bytes) != 0) {
    return Status(LPT_WORK_FAILED, text("a socket has no address or buffer: %s", strerror(errno)));
  }
  made->buffer_bytes_ = granted;
  out_socket = std::move(made);
  return {};
}

DatagramSocket::~DatagramSocket() { close(file_); }

int32_t DatagramSocket::port() const {
  in_port_t port = 0;  // at the same offset for both families
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  std::memcpy(&port, reinterpret_cast<const char *>(&address_.storage) + offsetof(sockaddr_in, sin_port), sizeof port);
  return ntohs(port);
}

DatagramSocket::Sent DatagramSocket::send(const SocketAddress &to, const std::byte *packet, int64_t bytes) {
  ssize_t sent = -1;
  do {
    sent = sendto(file_, packet, static_cast<size_t>(bytes), MSG_NOSIGNAL,
                  reinterpret_cast<const sockaddr *>(&to.storage), to.bytes);
  } while (sent < 0 && errno == EINTR);
  if (sent == bytes) return Sent::kYes;
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? Sent::kBusy : Sent::kFailed;
}

int64_t DatagramSocket::receive(std::byte *packet, int64_t capacity) {
  ssize_t bytes = -1;
  do {
    bytes = recv(file_, packet, static_cast<size_t>(capacity), MSG_TRUNC);
  } while (bytes < 0 && errno == EINTR);
  return bytes;
}

void DatagramSocket::wait(bool for_send, Deadline::Clock::time_point end) {
  using namespace std::chrono;
  const auto left = std::max(duration_cast<nanoseconds>(end - Deadline::Clock::now()), nanoseconds(0)).count();
  const timespec limit{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
  pollfd polled{file_, static_cast<short>(for_send ? POLLIN | POLLOUT : POLLIN), 0};
  ppoll(&polled, 1, &limit, nullptr);
}

}  // namespace lpt
