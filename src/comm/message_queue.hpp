// Messages from one rank of a local group to another, in the order of sending.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "src/comm/engine.hpp"

namespace lpt {

struct Message {
  int32_t tag = 0;
  Signature signature{};
  std::chrono::steady_clock::time_point arrival{};  // of emulated links: when take() may return it
  std::vector<std::byte> bytes;
};

class MessageQueue {
 public:
  void put(Message &&message) {
    const std::lock_guard<std::mutex> lock(mutex_);
    messages_.push_back(std::move(message));
  }

  // Takes the first message of the tag. Returns false if there is none or it has not arrived.
  bool take(int32_t tag, Message &out_message) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto message = messages_.begin(); message != messages_.end(); ++message) {
      if (message->tag != tag) continue;
      if (message->arrival > std::chrono::steady_clock::now()) return false;
      out_message = std::move(*message);
      messages_.erase(message);
      return true;
    }
    return false;
  }

 private:
  std::mutex mutex_;
  std::deque<Message> messages_;
};

}  // namespace lpt
