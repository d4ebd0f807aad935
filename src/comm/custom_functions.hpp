// Functions of a transport that the caller supplies, with statuses and one thread at a time.
#pragma once

#include <mutex>

#include "lpt.h"
#include "src/base/status.hpp"
#include "src/comm/transport.hpp"

namespace lpt {

// Rejects a name that is none, and functions that are missing.
Status check_functions(const lpt_comm_functions &functions);

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

  // A request becomes NULL when it ends.
  Status send(int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request);
  Status receive(int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request);
  Status test(void **request);
  void cancel(void **request);

 private:
  template <typename Function, typename... Arguments>
  Status call(const char *name, const Function &function, Arguments... arguments);

  const lpt_comm_functions functions_;
  void *const user_;
  std::mutex mutex_;  // held while a function runs
};

}  // namespace lpt
