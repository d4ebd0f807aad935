// Transport functions that the caller supplies: converts their results to Status and serializes the message functions.
#pragma once

#include <mutex>

#include "lpt.h"
#include "src/comm/engine.hpp"
#include "src/comm/transport.hpp"

namespace lpt {

// Rejects a name that is empty, too long or not printable, and an incomplete set of functions.
Status check_functions(const lpt_comm_functions &functions);

// Pointers and byte counts of the transfers between this rank and each rank, in the layout of exchange().
struct ExchangedBytes {
  std::vector<const void *> outgoing;
  std::vector<int64_t> outgoing_bytes;
  std::vector<void *> incoming;
  std::vector<int64_t> incoming_bytes;

  explicit ExchangedBytes(int32_t ranks)
      : outgoing(static_cast<size_t>(ranks)),
        outgoing_bytes(outgoing.size()),
        incoming(outgoing.size()),
        incoming_bytes(outgoing.size()) {}
  void set(int32_t peer, const Bytes &out, const Bytes &in);
};

// Shared by a comm and all comms that are split from it. The destructor calls the caller's close().
class CustomFunctions {
 public:
  CustomFunctions(const lpt_comm_functions &functions, void *user) : functions_(functions), user_(user) {}
  CustomFunctions(const CustomFunctions &) = delete;
  CustomFunctions &operator=(const CustomFunctions &) = delete;
  ~CustomFunctions() {
    if (functions_.close != nullptr) functions_.close(user_);
  }

  const char *name() const { return functions_.name; }

  // Transport table of the endpoints of open_custom_endpoint(). These endpoints own a reference to this object.
  lpt_transport_table table{};

  bool has_messages() const { return functions_.send != nullptr; }
  bool has_exchange() const { return functions_.exchange != nullptr; }
  bool has_all_reduce() const { return functions_.all_reduce != nullptr; }

  // Collectives of all ranks, which block until the other ranks call them. Another thread may send messages meanwhile.
  Status exchange(const ExchangedBytes &bytes, double timeout_seconds);
  Status all_reduce(const DeviceSum &sum, double timeout_seconds);

  // Calls the caller's abort(), if set, which ends a collective of another thread or of other ranks.
  void abort() noexcept;

  // Message functions. A request that has ended is set to NULL.
  Status send(int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request);
  Status receive(int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request);
  Status test(void **request);
  void cancel(void **request);

 private:
  template <typename Function, typename... Arguments>
  Status call(const char *name, const Function &function, Arguments... arguments);
  template <typename Function, typename... Arguments>
  Status call_locked(const char *name, const Function &function, Arguments... arguments);

  const lpt_comm_functions functions_;
  void *const user_;
  std::mutex mutex_;  // held while a message function runs
};

}  // namespace lpt
