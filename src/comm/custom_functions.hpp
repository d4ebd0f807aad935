// Functions of a transport that the caller supplies, with statuses and one thread at a time.
#pragma once

#include <mutex>

#include "lpt.h"
#include "src/comm/engine.hpp"
#include "src/comm/transport.hpp"

namespace lpt {

// Rejects a name that is none, and functions that are missing.
Status check_functions(const lpt_comm_functions &functions);

// What a rank sends to and receives from each rank.
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

// Shared by a comm and the comms that were split from it; the last one calls close().
class CustomFunctions {
 public:
  CustomFunctions(const lpt_comm_functions &functions, void *user) : functions_(functions), user_(user) {}
  CustomFunctions(const CustomFunctions &) = delete;
  CustomFunctions &operator=(const CustomFunctions &) = delete;
  ~CustomFunctions() {
    if (functions_.close != nullptr) functions_.close(user_);
  }

  const char *name() const { return functions_.name; }

  // The table of the endpoints of open_custom_endpoint(), which live no longer than the functions.
  lpt_transport_table table{};

  bool has_messages() const { return functions_.send != nullptr; }
  bool has_exchange() const { return functions_.exchange != nullptr; }
  bool has_all_reduce() const { return functions_.all_reduce != nullptr; }

  // Collectives of all ranks, which wait for the others: messages may be sent by another thread meanwhile.
  Status exchange(const ExchangedBytes &bytes, double timeout_seconds);
  Status all_reduce(const DeviceSum &sum, double timeout_seconds);

  // Ends the collective of another thread, or of other ranks.
  void abort() noexcept;

  // A request becomes NULL when it ends.
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
  std::mutex mutex_;  // held while a function of messages runs
};

}  // namespace lpt
