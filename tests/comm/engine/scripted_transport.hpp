// A transport that receives a script and ignores sends, for one rank without others.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "src/comm/endpoint.hpp"

namespace lpt::test {

struct ScriptedMessage {
  int32_t peer, tag;
  std::vector<std::byte> bytes;
};

class ScriptedTransport {
 public:
  static std::unique_ptr<Endpoint> open(std::deque<ScriptedMessage> script) {
    return std::make_unique<Endpoint>(kTable, new ScriptedTransport(std::move(script)));
  }

 private:
  struct Request {
    int32_t peer, tag;
    void *data;
    int64_t bytes;
  };

  // After this number of polls without a message, all ranks have left.
  static constexpr int kMostIdleLooks = 4;

  explicit ScriptedTransport(std::deque<ScriptedMessage> &&script) : script_(std::move(script)) {}

  static ScriptedTransport &self(void *endpoint) { return *static_cast<ScriptedTransport *>(endpoint); }

  static int32_t send(void *, int32_t, int32_t, const void *, int64_t, void **out_request, char *, size_t) {
    *out_request = nullptr;
    return LPT_OK;
  }

  static int32_t receive(void *, int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request, char *,
                         size_t) {
    *out_request = new Request{peer, tag, data, bytes};
    return LPT_OK;
  }

  static int32_t test(void *endpoint, void *request, int32_t *out_is_done, int32_t *out_peer, int64_t *out_bytes,
                      char *error, size_t error_bytes) {
    ScriptedTransport &wire = self(endpoint);
    const auto *const requested = static_cast<Request *>(request);
    const auto message = std::find_if(wire.script_.begin(), wire.script_.end(), [&](const ScriptedMessage &m) {
      return m.tag == requested->tag && (requested->peer == LPT_WIRE_ANY_RANK || m.peer == requested->peer);
    });
    if (message == wire.script_.end()) {
      if (++wire.idle_looks_ <= kMostIdleLooks) return LPT_OK;
      std::snprintf(error, error_bytes, "the script is over");
    } else {
      wire.idle_looks_ = 0;
      *out_peer = message->peer;
      *out_bytes = static_cast<int64_t>(message->bytes.size());
      *out_is_done = *out_bytes <= requested->bytes ? 1 : 0;
      if (*out_is_done == 0) std::snprintf(error, error_bytes, "a message is longer than the place for it");
      if (*out_is_done != 0 && *out_bytes > 0)
        std::memcpy(requested->data, message->bytes.data(), message->bytes.size());
      wire.script_.erase(message);
    }
    delete requested;
    return *out_is_done != 0 ? LPT_OK : LPT_ABORTED;
  }

  static void abandon(void *, void *request) { delete static_cast<Request *>(request); }

  static void close(void *endpoint) { delete &self(endpoint); }

  static constexpr lpt_transport_table kTable{
      LPT_WIRE_ABI, sizeof(lpt_transport_table), "scripted", 1, 0, nullptr, nullptr, send, receive, test, abandon,
      close};

  std::deque<ScriptedMessage> script_;
  int idle_looks_ = 0;
};

}  // namespace lpt::test
