// Owning handle of a transport endpoint: the functions of the table with Status results.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "src/base/status.hpp"
#include "src/comm/transport.hpp"

namespace lpt {

class Endpoint {
 public:
  Endpoint(const lpt_transport_table &table, void *endpoint) : table_(&table), endpoint_(endpoint) {}
  Endpoint(const Endpoint &) = delete;
  Endpoint &operator=(const Endpoint &) = delete;
  ~Endpoint() {
    if (endpoint_ != nullptr) table_->close(endpoint_);
  }

  const char *name() const { return table_->name; }
  bool copies_sends() const { return table_->copies_sends != 0; }

  // Opens the endpoint of a subgroup. With empty `members` the rank joins none and `out_link` is not set.
  Status split(const std::vector<int32_t> &members, int64_t number, double seconds,
               std::unique_ptr<Endpoint> &out_link) {
    auto endpoint = std::make_unique<Endpoint>(*table_, nullptr);  // first: a later allocation could fail
    const int32_t *const first = members.empty() ? nullptr : members.data();
    LPT_TRY(call(table_->split, endpoint_, first, static_cast<int32_t>(members.size()), number, seconds,
                 &endpoint->endpoint_));
    if (endpoint->endpoint_ != nullptr) out_link = std::move(endpoint);
    return {};
  }

  Status send(int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request) {
    return call(table_->send, endpoint_, peer, tag, data, bytes, out_request);
  }

  Status receive(int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request) {
    return call(table_->receive, endpoint_, peer, tag, data, bytes, out_request);
  }

  // The sender and length of a completed receive.
  struct Received {
    int32_t peer = LPT_WIRE_ANY_RANK;
    int64_t bytes = 0;
  };

  // Sets *request to NULL if it is complete or has failed.
  Status test(void **request, Received &out_received) {
    int32_t is_done = 0;
    const Status status = call(table_->test, endpoint_, *request, &is_done, &out_received.peer, &out_received.bytes);
    if (is_done != 0 || !status.is_ok()) *request = nullptr;
    return status;
  }

  void abandon(void **request) {
    if (*request != nullptr) table_->abandon(endpoint_, std::exchange(*request, nullptr));
  }

  template <typename Function, typename... Arguments>
  static Status call(Function function, Arguments... arguments) {
    char error[512] = "";
    const int32_t code = function(arguments..., error, sizeof error);
    return code == LPT_OK ? Status() : Status(code, error);
  }

 private:
  const lpt_transport_table *table_;
  void *endpoint_;
};

}  // namespace lpt
