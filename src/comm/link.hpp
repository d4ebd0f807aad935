// A wire's end, owned: the table's functions with statuses.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "src/base/status.hpp"
#include "src/comm/wire.hpp"

namespace lpt {

class Link {
 public:
  Link(const lpt_wire_table &table, void *link) : table_(&table), link_(link) {}
  Link(const Link &) = delete;
  Link &operator=(const Link &) = delete;
  ~Link() {
    if (link_ != nullptr) table_->close(link_);
  }

  const char *name() const { return table_->name; }
  bool copies_sends() const { return table_->copies_sends != 0; }

  // No members: NULL comes out.
  Status split(const std::vector<int32_t> &members, double seconds, std::unique_ptr<Link> &out_link) {
    auto link = std::make_unique<Link>(*table_, nullptr);  // the owner first: there may be no memory for it later
    const int32_t *const first = members.empty() ? nullptr : members.data();
    LPT_TRY(call(table_->split, link_, first, static_cast<int32_t>(members.size()), seconds, &link->link_));
    if (link->link_ != nullptr) out_link = std::move(link);
    return {};
  }

  Status send(int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request) {
    return call(table_->send, link_, peer, tag, data, bytes, out_request);
  }

  Status receive(int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request) {
    return call(table_->receive, link_, peer, tag, data, bytes, out_request);
  }

  // The message of a receive that is done.
  struct Received {
    int32_t peer = LPT_WIRE_ANY_RANK;
    int64_t bytes = 0;
  };

  // A request that is done, or has failed, becomes NULL.
  Status test(void **request, Received &out_received) {
    int32_t is_done = 0;
    const Status status = call(table_->test, link_, *request, &is_done, &out_received.peer, &out_received.bytes);
    if (is_done != 0 || !status.is_ok()) *request = nullptr;
    return status;
  }

  void abandon(void **request) {
    if (*request != nullptr) table_->abandon(link_, std::exchange(*request, nullptr));
  }

  template <typename Function, typename... Arguments>
  static Status call(Function function, Arguments... arguments) {
    char error[512] = "";
    const int32_t code = function(arguments..., error, sizeof error);
    return code == LPT_OK ? Status() : Status(code, error);
  }

 private:
  const lpt_wire_table *table_;
  void *link_;
};

}  // namespace lpt
