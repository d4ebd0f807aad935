// A transport over TCP for lpt_comm_create_custom(): each rank has one connection to each other rank. Ranks are threads or
// processes of this machine.
#pragma once

#include <deque>

#include "tests/comm/connections.hpp"

namespace lpt::test {

// Precedes the bytes of a message. `bytes` 0: this rank sends nothing more.
struct SocketFrame {
  int32_t tag, zero;
  int64_t bytes;
};

struct SocketRequest {
  bool is_send;
  int32_t peer;
  SocketFrame frame;
  std::byte *data;
  int64_t sent = 0;  // bytes of frame and data
  bool is_done = false, is_cancelled = false;
  std::vector<std::byte> kept{};  // data of a send that was cancelled after its begin
};

// The transport of one rank, the `user` of the functions.
class SocketRank {
 public:
  explicit SocketRank(std::vector<Socket> &&sockets) : peers_(sockets.size()) {
    for (size_t q = 0; q < peers_.size(); ++q) peers_[q].socket = std::move(sockets[q]);
  }
  SocketRank(const SocketRank &) = delete;
  SocketRank &operator=(const SocketRank &) = delete;

  static lpt_comm_functions functions() {
    lpt_comm_functions functions = LPT_COMM_FUNCTIONS_INIT;
    std::snprintf(functions.name, sizeof functions.name, "sockets");
    functions.send = send;
    functions.receive = receive;
    functions.test = test;
    functions.cancel = cancel;
    functions.close = close_all;
    return functions;
  }

  int32_t closes = 0;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int64_t kMostBytes = int64_t{1} << 40;

  struct Message {
    int32_t tag;
    std::vector<std::byte> bytes;
  };

  struct Peer {
    Socket socket;
    std::list<SocketRequest> requests;  // in the order of their begins
    std::deque<Message> messages;       // complete, and not received yet
    std::vector<std::byte> incoming;    // the begin of the next frame
    bool has_left = false;              // after its last frame
    lpt_status status = LPT_OK;
    const char *error = "";
  };

  static void end_peer(Peer &peer, lpt_status status, const char *text) {
    if (peer.has_left || peer.status != LPT_OK) return;
    peer.status = status;
    peer.error = text;
  }

  // Sends messages in order, as much as the socket takes.
  static void flush(Peer &peer) {
    for (auto it = peer.requests.begin(); it != peer.requests.end();) {
      SocketRequest &send = *it;
      if (send.is_send && !send.is_done && !send_rest(peer, send)) return;
      it = send.is_done && send.is_cancelled ? peer.requests.erase(it) : std::next(it);
    }
  }

  // Returns whether the send is complete. A rank that has left or is closed needs no message.
  static bool send_rest(Peer &peer, SocketRequest &send) {
    constexpr auto kHeader = int64_t{sizeof(SocketFrame)};
    while (send.sent < kHeader + send.frame.bytes && !peer.has_left) {
      const bool is_header = send.sent < kHeader;
      const std::byte *const from =
          is_header ? reinterpret_cast<const std::byte *>(&send.frame) + send.sent : send.data + (send.sent - kHeader);
      const int64_t rest = (is_header ? 0 : send.frame.bytes) + kHeader - send.sent;
      const ssize_t done = ::send(peer.socket.file(), from, static_cast<size_t>(rest), MSG_NOSIGNAL);
      if (done < 0 && errno == EAGAIN) return false;
      if (done < 0) break;  // closed: its last messages may have the reason, so read() reports it
      send.sent += done;
    }
    return send.is_done = true;
  }

  // Takes the bytes that have arrived.
  static void read(Peer &peer) {
    std::vector<std::byte> buffer(1 << 16);
    while (!peer.has_left && peer.status == LPT_OK) {
      const ssize_t got = recv(peer.socket.file(), buffer.data(), buffer.size(), 0);
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) return end_peer(peer, LPT_ABORTED, "closed its connection");
      peer.incoming.insert(peer.incoming.end(), buffer.begin(), buffer.begin() + got);
      take_frames(peer);
    }
  }

  static void take_frames(Peer &peer) {
    size_t at = 0;
    SocketFrame frame{};
    while (peer.incoming.size() - at >= sizeof frame) {
      std::memcpy(&frame, &peer.incoming[at], sizeof frame);
      if (frame.tag < 0 || frame.zero != 0 || frame.bytes < 0 || frame.bytes > kMostBytes) {
        return end_peer(peer, LPT_MISMATCH, "sent a damaged frame");
      }
      peer.has_left = frame.bytes == 0;
      if (peer.has_left || peer.incoming.size() - at - sizeof frame < static_cast<size_t>(frame.bytes)) break;
      const auto begin = peer.incoming.begin() + static_cast<std::ptrdiff_t>(at + sizeof frame);
      peer.messages.push_back({frame.tag, {begin, begin + frame.bytes}});
      at += sizeof frame + static_cast<size_t>(frame.bytes);
    }
    peer.incoming.erase(peer.incoming.begin(), peer.incoming.begin() + static_cast<std::ptrdiff_t>(at));
    match(peer);
  }

  // Gives each message to the first receive of its tag.
  static void match(Peer &peer) {
    for (auto message = peer.messages.begin(); message != peer.messages.end();) {
      const auto receive = std::find_if(peer.requests.begin(), peer.requests.end(), [&](const SocketRequest &one) {
        return !one.is_send && !one.is_done && one.frame.tag == message->tag;
      });
      if (receive == peer.requests.end()) {
        ++message;
        continue;
      }
      if (receive->frame.bytes != static_cast<int64_t>(message->bytes.size())) {
        return end_peer(peer, LPT_MISMATCH, "sent another number of bytes");
      }
      std::memcpy(receive->data, message->bytes.data(), message->bytes.size());
      receive->is_done = true;
      message = peer.messages.erase(message);
    }
  }

  void make_progress() {
    for (Peer &peer : peers_) {
      if (peer.socket.file() < 0) continue;
      read(peer);
      flush(peer);
    }
  }

  static void erase(Peer &peer, const void *request) {
    peer.requests.remove_if([&](const SocketRequest &one) { return &one == request; });
  }

  // Sends may be cancelled after a part of them was sent: the rest follows from a copy.
  static void cancel_request(Peer &peer, SocketRequest &request) {
    if (!request.is_send || request.is_done || request.sent == 0) return erase(peer, &request);
    request.is_cancelled = true;
    request.kept.assign(request.data, request.data + request.frame.bytes);
    request.data = request.kept.data();
  }

  int32_t start(bool is_send, int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request) {
    Peer &other = peers_[static_cast<size_t>(peer)];
    other.requests.push_back({is_send, peer, {tag, 0, bytes}, static_cast<std::byte *>(data)});
    *out_request = &other.requests.back();
    is_send ? flush(other) : match(other);
    return LPT_OK;
  }

  static SocketRank &self(void *user) { return *static_cast<SocketRank *>(user); }

  static int32_t send(void *user, int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request,
                      char *, size_t) {
    return self(user).start(true, peer, tag, const_cast<void *>(data), bytes, out_request);
  }

  static int32_t receive(void *user, int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request, char *,
                         size_t) {
    return self(user).start(false, peer, tag, data, bytes, out_request);
  }

  static int32_t test(void *user, void *request, int32_t *out_is_done, char *error, size_t error_bytes) {
    self(user).make_progress();
    const SocketRequest &tested = *static_cast<SocketRequest *>(request);
    const int32_t rank = tested.peer;
    Peer &peer = self(user).peers_[static_cast<size_t>(rank)];
    *out_is_done = tested.is_done ? 1 : 0;
    const lpt_status status = tested.is_done ? LPT_OK : peer.status;
    if (status != LPT_OK) std::snprintf(error, error_bytes, "rank %d %s", rank, peer.error);
    if (tested.is_done || status != LPT_OK) erase(peer, request);
    return status;
  }

  static void cancel(void *user, void *request) {
    SocketRequest &cancelled = *static_cast<SocketRequest *>(request);
    cancel_request(self(user).peers_[static_cast<size_t>(cancelled.peer)], cancelled);
  }

  // Sends the last frame and reads those of the others, for at most a second: a socket that is closed with bytes to read would
  // discard the bytes that it has to send.
  static void close_all(void *user) {
    const Clock::time_point deadline = Clock::now() + std::chrono::seconds(1);
    std::vector<Peer> &peers = self(user).peers_;
    for (Peer &peer : peers) {
      if (peer.socket.file() >= 0) peer.requests.push_back({true, 0, {}, nullptr, 0, false, true});
    }
    const auto is_open = [](const Peer &peer) {
      const bool has_sends =
          std::any_of(peer.requests.begin(), peer.requests.end(), [](const auto &one) { return one.is_send; });
      return peer.socket.file() >= 0 && peer.status == LPT_OK && (has_sends || !peer.has_left);
    };
    while (std::any_of(peers.begin(), peers.end(), is_open) && Clock::now() < deadline) {
      self(user).make_progress();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    ++self(user).closes;
    for (Peer &peer : peers) peer.socket = Socket();
  }

  std::vector<Peer> peers_;
};

// Runs body(rank, its comm) on one rank. Connection and creation must succeed.
template <typename Body>
void run_socket_rank(const std::vector<SocketListener> &listeners, int32_t rank, const lpt_comm_options &options,
                     const Body &body) {
  const auto ranks = static_cast<int32_t>(listeners.size());
  const Context context = make_context(1);
  Connector connector(rank, ranks);
  ASSERT_EQ(LPT_OK, connector.connect_all(listeners, 100.0)) << connector.error;
  SocketRank sockets(std::move(connector.sockets));
  const lpt_comm_functions functions = SocketRank::functions();
  Comm comm;
  ASSERT_TRUE(
      ok(context.get(), lpt_comm_create_custom(context.get(), &functions, &sockets, rank, ranks, &options, out(comm))));
  body(Rank{context.get(), comm.get(), rank, ranks}, comm);
}

// Runs body(rank, its comm) on `ranks` threads.
template <typename Body>
void run_socket_ranks(int32_t ranks, const lpt_comm_options &options, const Body &body) {
  const std::vector<SocketListener> listeners(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] { run_socket_rank(listeners, rank, options, body); });
  }
  for (std::thread &thread : threads) thread.join();
}

}  // namespace lpt::test
