// Engines send bytes between ranks. Operations define the meaning of the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "src/backends/device.hpp"
#include "src/backends/device_transport.hpp"
#include "src/base/status.hpp"

namespace lpt {

struct Bytes {
  std::byte *data;
  int64_t count;
};

// The call of one rank. All ranks of a collective must make the same call; send and receive compare it in pairs.
struct Signature {
  const char *operation;
  int64_t format;
  int64_t rows, columns;
  int64_t choice;  // root, reduction, wire format: all other values that must agree
};

// Bytes that an engine has sent and received.
struct Traffic {
  int64_t bytes_sent = 0, bytes_received = 0;
};

struct EngineOptions {
  double timeout_seconds = 0.0;  // 0: no limit
  bool has_checksums = false;
  double link_latency_seconds = 0.0, link_bytes_per_second = 0.0;  // emulated; 0: none
  int64_t damaged_message = 0;                                     // payload to damage (tests), from 1; 0: none
};

// Makes the status that ends a comm, even if memory is exhausted: the text is then short enough to need no allocation.
template <typename MakeText>
Status make_last_status(lpt_status code, const MakeText &make_text) noexcept {
  try {
    return Status(code, make_text());
  } catch (const std::bad_alloc &) {
    return Status(code, "out of memory");
  }
}

inline Status copy_of(const Status &status) noexcept {
  return make_last_status(status.code(), [&] { return status.message(); });
}

// One rank's side of a communicator. One thread at a time may use it, except for interrupt(). After an error every call fails
// with the same text, as do the calls in which other ranks wait.
class Engine {
 public:
  virtual ~Engine() = default;

  int32_t rank() const { return rank_; }
  int32_t ranks() const { return ranks_; }
  const Traffic &traffic() const { return traffic_; }
  virtual const char *name() const = 0;

  // The device whose memory it transfers. On a GPU, DeviceEngine queues the transfers.
  virtual Device device() const { return {}; }

  // Returns true if ranks can read and write each other's memory. publish() is then supported.
  virtual bool shares_memory() const = 0;

  // Sends outgoing[q] to each rank q and receives incoming[q].count bytes from it. incoming[q].data is a buffer for them. On
  // return it points to the bytes: in that buffer, or in the memory of rank q. The entries of this rank are ignored. Both
  // arrays and the bytes must not change until release().
  virtual Status all_to_all_v(const Signature &signature, const Bytes *outgoing, Bytes *incoming) = 0;

  // With shared memory: publishes a pointer to data of this rank, valid until release(). published() returns the pointer of `rank`.
  virtual Status publish(const Signature &signature, const void *face) = 0;
  virtual const void *published(int32_t rank) const = 0;

  // Ends an exchange; afterwards the bytes of this rank may change. All ranks call it.
  virtual Status release() = 0;

  // Returns false if send(), receive() and split() are not supported.
  virtual bool has_messages() const { return true; }

  virtual Status send(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) = 0;
  virtual Status receive(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) = 0;

  // A sum that the transport computes, in an unspecified order. Requires has_sum().
  virtual bool has_sum() const { return false; }
  virtual Status sum(const Signature &signature, const DeviceSum &sum);

  // Creates an engine for the ranks of the same color, ordered by (key, rank). All ranks call it; a negative color creates
  // none.
  virtual Status split(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine) = 0;

  // Aborts the communicator for all ranks. Any thread may call it.
  virtual void interrupt(const char *reason) noexcept = 0;

  // An all-to-all without payload: a barrier.
  Status barrier(const Signature &signature);

  // Completes an exchange that an error left open, as other ranks may still read the bytes of this rank. See ExchangeGuard.
  virtual void complete_exchange() noexcept {}

  // Adds to the traffic. Operations call it for bytes that they copy through shared memory.
  void count(int64_t bytes_sent, int64_t bytes_received) {
    traffic_.bytes_sent += bytes_sent;
    traffic_.bytes_received += bytes_received;
  }

 protected:
  int32_t rank_ = 0, ranks_ = 1;
  Traffic traffic_;
};

// Declared after the data of an exchange: the destructor waits until other ranks have read the data, before it is destroyed.
class ExchangeGuard {
 public:
  explicit ExchangeGuard(Engine &engine) : engine_(engine) {}
  ~ExchangeGuard() { engine_.complete_exchange(); }
  ExchangeGuard(const ExchangeGuard &) = delete;
  ExchangeGuard &operator=(const ExchangeGuard &) = delete;

 private:
  Engine &engine_;
};

inline Status Engine::sum(const Signature &signature, const DeviceSum &) {
  return Status(LPT_INTERNAL, std::string(signature.operation) + ": the transport has no sums");
}

inline Status Engine::barrier(const Signature &signature) {
  const std::vector<Bytes> nothing(static_cast<size_t>(ranks_), Bytes{nullptr, 0});
  std::vector<Bytes> incoming = nothing;
  const ExchangeGuard guard(*this);
  LPT_TRY(all_to_all_v(signature, nothing.data(), incoming.data()));
  return release();
}

}  // namespace lpt
