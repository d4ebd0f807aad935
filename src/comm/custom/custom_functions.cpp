#include "src/comm/custom/custom_functions.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lpt {
namespace {

bool is_printable(char c) { return c >= ' ' && c <= '~'; }

// Replaces characters that are not printable ASCII: error texts of LPT are one line of ASCII.
void make_printable(char *text) {
  for (; *text != '\0'; ++text) {
    if (!is_printable(*text)) *text = *text == '\n' || *text == '\t' ? ' ' : '?';
  }
}

// Converts the return value of a caller's function to a Status. A value that is no lpt_status error becomes LPT_WORK_FAILED.
Status status_of(const char *name, int32_t code, char *words) {
  if (code == LPT_OK) return {};
  make_printable(words);
  const bool is_known = code >= LPT_INVALID_ARGUMENT && code <= LPT_BUSY;
  if (!is_known) {
    return Status(LPT_WORK_FAILED, text("functions->%s returned %d: expected an lpt_status%s%s", name, code,
                                        *words == '\0' ? "" : "; ", words));
  }
  if (*words == '\0') return Status(code, text("functions->%s failed: %s", name, lpt_status_string(code)));
  return Status(code, text("functions->%s failed: %s", name, words));
}

}  // namespace

Status check_functions(const lpt_comm_functions &functions) {
  const char *const name = functions.name, *const end = std::find(name, name + sizeof functions.name, '\0');
  const auto bytes = static_cast<size_t>(end - name);
  if (bytes == 0 || bytes == sizeof functions.name) {
    return invalid("functions->name has %zu bytes: expected 1 to %zu", bytes, sizeof functions.name - 1);
  }
  if (!std::all_of(name, end, is_printable)) {
    return invalid("functions->name has a byte that is not printable: expected ASCII");
  }
  const std::pair<const char *, bool> messages[] = {{"send", functions.send != nullptr},
                                                    {"receive", functions.receive != nullptr},
                                                    {"test", functions.test != nullptr},
                                                    {"cancel", functions.cancel != nullptr}};
  const auto is_given = [](const std::pair<const char *, bool> &function) { return function.second; };
  if (functions.exchange != nullptr && std::none_of(std::begin(messages), std::end(messages), is_given)) return {};
  const auto *const missing = std::find_if_not(std::begin(messages), std::end(messages), is_given);
  if (missing == std::end(messages)) return {};
  return invalid("functions->%s is NULL: expected send, receive, test and cancel%s", missing->first,
                 functions.exchange == nullptr ? ", or exchange" : ", or none of them");
}

void ExchangedBytes::set(int32_t peer, const Bytes &out, const Bytes &in) {
  const auto at = static_cast<size_t>(peer);
  outgoing[at] = out.data;
  outgoing_bytes[at] = out.count;
  incoming[at] = in.data;
  incoming_bytes[at] = in.count;
}

template <typename Function, typename... Arguments>
Status CustomFunctions::call(const char *name, const Function &function, Arguments... arguments) {
  char error[512] = "";
  const int32_t code = function(user_, arguments..., error, sizeof error);
  *std::rbegin(error) = '\0';
  return status_of(name, code, error);
}

template <typename Function, typename... Arguments>
Status CustomFunctions::call_locked(const char *name, const Function &function, Arguments... arguments) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return call(name, function, arguments...);
}

Status CustomFunctions::exchange(const ExchangedBytes &bytes, double timeout_seconds) {
  void *const no_stream = nullptr;
  return call("exchange", functions_.exchange, no_stream, bytes.outgoing.data(), bytes.outgoing_bytes.data(),
              bytes.incoming.data(), bytes.incoming_bytes.data(), timeout_seconds);
}

Status CustomFunctions::all_reduce(const DeviceSum &sum, double timeout_seconds) {
  void *const no_stream = nullptr;
  return call("all_reduce", functions_.all_reduce, no_stream, sum.input, sum.output, sum.elements, sum.format,
              sum.reduction, timeout_seconds);
}

void CustomFunctions::abort() noexcept {
  if (functions_.abort != nullptr) functions_.abort(user_);
}

Status CustomFunctions::send(int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request) {
  void *request = nullptr;
  LPT_TRY(call_locked("send", functions_.send, peer, tag, data, bytes, &request));
  *out_request = request;
  return {};
}

Status CustomFunctions::receive(int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request) {
  void *request = nullptr;
  LPT_TRY(call_locked("receive", functions_.receive, peer, tag, data, bytes, &request));
  *out_request = request;
  return {};
}

Status CustomFunctions::test(void **request) {
  if (*request == nullptr) return {};
  int32_t is_done = 0;
  const Status status = call_locked("test", functions_.test, *request, &is_done);
  if (is_done != 0 || !status.is_ok()) *request = nullptr;
  return status;
}

void CustomFunctions::cancel(void **request) {
  if (*request == nullptr) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  functions_.cancel(user_, std::exchange(*request, nullptr));
}

}  // namespace lpt
