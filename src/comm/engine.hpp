// Engines send bytes between ranks. The meaning of the bytes is defined by operations.
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

// What a rank is about to do. All ranks of a collective must be about to do the same; send and receive compare it in pairs.
struct Signature {
  const char *operation;
  int64_t format;
  int64_t rows, columns;
  int64_t choice;  // root, reduction, wire format: whatever else must agree
};

// What went through an engine.
struct Traffic {
  int64_t bytes_sent = 0, bytes_received = 0;
};

struct EngineOptions {
  double timeout_seconds = 0.0;  // 0: for ever
  bool has_checksums = false;
  double link_latency_seconds = 0.0, link_bytes_per_second = 0.0;  // emulated; 0: none
  int64_t damaged_message = 0;                                     // from 1; 0: none
};

// The status that ends a comm must be had without memory as well: its text is a short one then, which takes none.
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

// One rank's side of a communicator. Used by one thread at a time, except interrupt(). After an error every call fails with
// the same text, and so do the calls in which other ranks wait.
class Engine {
 public:
  virtual ~Engine() = default;

  int32_t rank() const { return rank_; }
  int32_t ranks() const { return ranks_; }
  const Traffic &traffic() const { return traffic_; }
  virtual const char *name() const = 0;

  // The device whose memory it transfers. On a GPU transfers are queued: DeviceEngine.
  virtual Device device() const { return {}; }

  // True: ranks may read and write each other's memory, and publish() is supported.
  virtual bool shares_memory() const = 0;

  // Every rank sends outgoing[q] to each rank q and receives incoming[q] from it, incoming[q].count bytes. incoming[q].data is
  // memory for them; on return it is where they are: there, or in the memory of rank q. Entries of the own rank are ignored.
  // Both arrays and the bytes must not change until release().
  virtual Status all_to_all_v(const Signature &signature, const Bytes *outgoing, Bytes *incoming) = 0;

  // Where memory is shared: every rank publishes a pointer to data of its own, which is valid until release().
  virtual Status publish(const Signature &signature, const void *face) = 0;
  virtual const void *shown(int32_t rank) const = 0;

  // Ends an exchange: own bytes may change afterwards. All ranks call it.
  virtual Status release() = 0;

  // False: send(), receive() and split() are not supported.
  virtual bool has_messages() const { return true; }

  virtual Status send(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) = 0;
  virtual Status receive(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) = 0;

  // A sum that the transport makes in an order of its own, where has_sum() is true.
  virtual bool has_sum() const { return false; }
  virtual Status sum(const Signature &signature, const DeviceSum &sum);

  // An engine for the ranks of the same color, ordered by (key, rank). All ranks call it; color -1 gets none.
  virtual Status split(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine) = 0;

  // Aborts the communicator for all ranks. Any thread may call it.
  virtual void interrupt(const char *reason) noexcept = 0;

  // An exchange without bytes.
  Status barrier(const Signature &signature);

  // Ends an exchange that an error left open, as other ranks may still read this rank's bytes. See ExchangeGuard.
  virtual void complete_exchange() noexcept {}

  // Counts what an operation moved by itself, through shared memory.
  void count(int64_t bytes_sent, int64_t bytes_received) {
    traffic_.bytes_sent += bytes_sent;
    traffic_.bytes_received += bytes_received;
  }

 protected:
  int32_t rank_ = 0, ranks_ = 1;
  Traffic traffic_;
};

// Declared after the data of an exchange: the destructor waits until other ranks have read it, before it goes out of scope.
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
