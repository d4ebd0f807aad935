// TCP connections between ranks of this machine: listeners, and greetings that tell ranks from strangers.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <list>
#include <thread>
#include <utility>

#include "tests/comm/suite.hpp"

namespace lpt::test {

constexpr uint64_t kSocketMark = 0x4C50545F52414E4B;

// Both ends of a connection send it first.
struct SocketGreeting {
  uint64_t mark = kSocketMark;
  int32_t rank, ranks;
};

class Socket {
 public:
  explicit Socket(int file = -1) : file_(file) {}
  Socket(Socket &&other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~Socket() {
    if (file_ >= 0) close(file_);
  }
  int file() const { return file_; }

 private:
  int file_;
};

inline sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A socket that listens at a free port.
struct SocketListener {
  Socket socket{::socket(AF_INET, SOCK_STREAM, 0)};
  int port = 0;

  SocketListener() {
    sockaddr_in address = loopback(0);
    socklen_t bytes = sizeof address;
    auto *const any = reinterpret_cast<sockaddr *>(&address);
    EXPECT_EQ(0, bind(socket.file(), any, bytes));
    EXPECT_EQ(0, listen(socket.file(), 64));
    EXPECT_EQ(0, getsockname(socket.file(), any, &bytes));
    EXPECT_EQ(0, fcntl(socket.file(), F_SETFL, O_NONBLOCK));
    port = ntohs(address.sin_port);
  }
};

// Connects to a listener of this machine, until it accepts or the deadline passes. The socket has no file if it failed.
inline Socket connect_to(int port, std::chrono::steady_clock::time_point deadline) {
  const sockaddr_in address = loopback(port);
  for (;;) {
    Socket socket(::socket(AF_INET, SOCK_STREAM, 0));
    if (connect(socket.file(), reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0) return socket;
    if (std::chrono::steady_clock::now() > deadline) return Socket();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Connects a rank to all others: it connects to the ranks before it, and accepts those after it. Connections that do not begin
// with a greeting are dropped.
class Connector {
 public:
  Connector(int32_t rank, int32_t ranks) : sockets(static_cast<size_t>(ranks)), rank_(rank), ranks_(ranks) {}

  // After an error, `error` has its text.
  lpt_status connect_all(const std::vector<SocketListener> &listeners, double seconds) {
    const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    const Clock::time_point deadline = Clock::now() + limit;
    for (int32_t q = 0; q < rank_; ++q) greet(connect_to(listeners[static_cast<size_t>(q)].port, deadline), q);
    lpt_status status = LPT_OK;
    while (missing_ > 0 && status == LPT_OK) {
      if (Clock::now() > deadline) return fail(LPT_TIMEOUT, missing_text(seconds));
      greet(Socket(accept(listeners[static_cast<size_t>(rank_)].socket.file(), nullptr, nullptr)), -1);
      for (auto it = unknown_.begin(); it != unknown_.end() && status == LPT_OK;) {
        it = has_ended(*it, status) ? unknown_.erase(it) : std::next(it);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return status;
  }

  std::vector<Socket> sockets;  // by rank, without that of this rank
  std::string error;

 private:
  using Clock = std::chrono::steady_clock;

  // A connection whose greeting has not arrived.
  struct Unknown {
    Socket socket;
    int32_t expected;  // -1: any rank after this one
    std::vector<std::byte> bytes{};
  };

  lpt_status fail(lpt_status status, const std::string &text) {
    error = text;
    return status;
  }

  std::string missing_text(double seconds) const {
    std::string text = "rank";
    for (int32_t q = 0; q < ranks_; ++q) {
      if (q != rank_ && sockets[static_cast<size_t>(q)].file() < 0) text += " " + std::to_string(q);
    }
    char rest[100];
    std::snprintf(rest, sizeof rest, " did not connect within %g seconds; connections without a greeting: %d", seconds,
                  strangers_);
    return text + rest;
  }

  void greet(Socket socket, int32_t expected) {
    if (socket.file() < 0) return;
    const int one = 1;
    setsockopt(socket.file(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(socket.file(), F_SETFL, O_NONBLOCK);
    const SocketGreeting greeting{.rank = rank_, .ranks = ranks_};
    send(socket.file(), &greeting, sizeof greeting, MSG_NOSIGNAL);
    unknown_.push_back({std::move(socket), expected});
  }

  // Returns whether the connection is no longer unknown: it is that of a rank, or of a stranger, or of a rank with an error.
  bool has_ended(Unknown &unknown, lpt_status &status) {
    SocketGreeting greeting{};
    std::byte buffer[sizeof greeting];
    const ssize_t got = recv(unknown.socket.file(), buffer, sizeof greeting - unknown.bytes.size(), 0);
    if (got < 0 && errno == EAGAIN) return false;
    if (got > 0) unknown.bytes.insert(unknown.bytes.end(), buffer, buffer + got);
    std::memcpy(&greeting, unknown.bytes.data(), unknown.bytes.size());
    const size_t marked = std::min(unknown.bytes.size(), sizeof kSocketMark);
    if (got <= 0 || std::memcmp(&greeting.mark, &kSocketMark, marked) != 0) {
      ++strangers_;
      return true;
    }
    if (unknown.bytes.size() < sizeof greeting) return false;
    status = check(greeting, unknown.expected);
    if (status == LPT_OK) {
      sockets[static_cast<size_t>(greeting.rank)] = std::move(unknown.socket);
      --missing_;
    }
    return true;
  }

  lpt_status check(const SocketGreeting &greeting, int32_t expected) {
    const std::string name = "rank " + std::to_string(greeting.rank);
    if (greeting.ranks != ranks_) {
      return fail(LPT_MISMATCH,
                  name + " has " + std::to_string(greeting.ranks) + " ranks: expected " + std::to_string(ranks_));
    }
    const bool is_later = greeting.rank > rank_ && greeting.rank < ranks_;
    if (expected < 0 ? !is_later : greeting.rank != expected) {
      return fail(LPT_MISMATCH, name + " connects to rank " + std::to_string(rank_) + ": expected another rank");
    }
    if (sockets[static_cast<size_t>(greeting.rank)].file() >= 0) return fail(LPT_MISMATCH, name + " connects twice");
    return LPT_OK;
  }

  const int32_t rank_, ranks_;
  int32_t missing_ = ranks_ - 1;
  std::list<Unknown> unknown_;
  int32_t strangers_ = 0;
};

}  // namespace lpt::test
