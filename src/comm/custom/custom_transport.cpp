#include "src/comm/custom/custom_transport.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "src/comm/message_header.hpp"

namespace lpt {
namespace {

// Tags per comm: those of the message channel, which uses tag 0 for headers.
constexpr int32_t kHeaderTagOfChannel = 0;
constexpr int64_t kTagsOfComm = int64_t{LPT_WIRE_LAST_TAG} + 1;
constexpr int64_t kMostComms = (int64_t{1} << 31) / kTagsOfComm;

// A header in transit, padded to a fixed size: both sides must pass the same byte count, whatever the payload.
struct PaddedHeader {
  int64_t bytes;
  std::byte data[sizeof(MessageHeader)];
};

// The pending receive of the next header of one rank.
struct HeaderReceive {
  PaddedHeader header;
  void *request = nullptr;
  bool is_posted = false;
};

struct CustomEndpoint {
  // The first member, destroyed last: requests end before the functions are closed.
  std::shared_ptr<CustomFunctions> functions;
  int32_t rank;
  std::vector<int32_t> members;  // rank numbers of the functions, by rank of this comm
  int64_t first_tag;
  std::vector<HeaderReceive> headers;  // by rank
  int32_t first_peer = 0;              // the rank whose header is tested first
  Status failure{};                    // the first error: a message may be lost, so no header is taken after it

  CustomEndpoint(std::shared_ptr<CustomFunctions> all, int32_t own_rank, std::vector<int32_t> names, int64_t comm)
      : functions(std::move(all)),
        rank(own_rank),
        members(std::move(names)),
        first_tag(comm * kTagsOfComm),
        headers(members.size()) {}
  CustomEndpoint(const CustomEndpoint &) = delete;
  CustomEndpoint &operator=(const CustomEndpoint &) = delete;
  ~CustomEndpoint() {
    for (HeaderReceive &header : headers) functions->cancel(&header.request);
  }

  int32_t ranks() const { return static_cast<int32_t>(members.size()); }

  Status send(int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request) const {
    return functions->send(members[static_cast<size_t>(peer)], tag_of(tag), data, bytes, out_request);
  }
  Status receive(int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request) const {
    return functions->receive(members[static_cast<size_t>(peer)], tag_of(tag), data, bytes, out_request);
  }

 private:
  int32_t tag_of(int32_t tag) const { return static_cast<int32_t>(first_tag + tag); }
};

struct CustomRequest {
  int32_t peer;  // LPT_WIRE_ANY_RANK: receives the next header of any rank
  void *data;
  int64_t bytes;
  std::unique_ptr<PaddedHeader> header{};  // padded copy of a header that is sent; NULL for other messages
  void *request = nullptr;
};

CustomEndpoint &custom(void *endpoint) { return *static_cast<CustomEndpoint *>(endpoint); }

int32_t custom_status(CustomEndpoint &self, const Status &status, char *error, size_t error_bytes) {
  if (status.is_ok()) return LPT_OK;
  if (self.failure.is_ok()) self.failure = status;
  std::snprintf(error, error_bytes, "%s", status.message().c_str());
  return status.code();
}

int32_t send_custom(void *endpoint, int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request,
                    char *error, size_t error_bytes) {
  auto sending = std::make_unique<CustomRequest>(CustomRequest{peer, nullptr, bytes});
  if (tag == kHeaderTagOfChannel) {
    sending->header = std::make_unique<PaddedHeader>();
    sending->header->bytes = bytes;
    std::memcpy(sending->header->data, data, static_cast<size_t>(bytes));
    data = sending->header.get();
    bytes = sizeof(PaddedHeader);
  }
  const Status status = custom(endpoint).send(peer, tag, data, bytes, &sending->request);
  *out_request = sending->request == nullptr ? nullptr : sending.release();
  return custom_status(custom(endpoint), status, error, error_bytes);
}

int32_t receive_custom(void *endpoint, int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request,
                       char *error, size_t error_bytes) {
  auto receiving = std::make_unique<CustomRequest>(CustomRequest{peer, data, bytes});
  Status status;
  if (peer != LPT_WIRE_ANY_RANK) status = custom(endpoint).receive(peer, tag, data, bytes, &receiving->request);
  if (status.is_ok()) *out_request = receiving.release();
  return custom_status(custom(endpoint), status, error, error_bytes);
}

// Takes the next header of `peer` if it has arrived. Posts a receive for it if none is pending.
Status take_header_of(CustomEndpoint &self, int32_t peer, const CustomRequest &requested, bool &out_has_arrived,
                      int64_t *out_bytes) {
  HeaderReceive &receive = self.headers[static_cast<size_t>(peer)];
  if (!receive.is_posted) {
    LPT_TRY(self.receive(peer, kHeaderTagOfChannel, &receive.header, int64_t{sizeof receive.header}, &receive.request));
    receive.is_posted = true;
  }
  LPT_TRY(self.functions->test(&receive.request));
  if (receive.request != nullptr) return {};
  receive.is_posted = false;
  const int64_t bytes = receive.header.bytes;
  if (bytes < 0 || bytes > requested.bytes) {
    return Status(LPT_MISMATCH, text("message header from rank %d: length is %lld bytes: expected 0 to %lld", peer,
                                     static_cast<long long>(bytes), static_cast<long long>(requested.bytes)));
  }
  std::memcpy(requested.data, receive.header.data, static_cast<size_t>(bytes));
  *out_bytes = bytes;
  out_has_arrived = true;
  return {};
}

// Tests the ranks in cyclic order, beginning after the sender of the previous header, so that no rank starves the others.
Status take_header(CustomEndpoint &self, const CustomRequest &requested, bool &out_has_arrived, int32_t *out_peer,
                   int64_t *out_bytes) {
  LPT_TRY(self.failure);
  for (int32_t i = 0; i < self.ranks() && !out_has_arrived; ++i) {
    const int32_t peer = (self.first_peer + i) % self.ranks();
    if (peer == self.rank) continue;
    LPT_TRY(take_header_of(self, peer, requested, out_has_arrived, out_bytes));
    *out_peer = peer;
  }
  if (out_has_arrived) self.first_peer = (*out_peer + 1) % self.ranks();
  return {};
}

int32_t test_custom(void *endpoint, void *request, int32_t *out_is_done, int32_t *out_peer, int64_t *out_bytes,
                    char *error, size_t error_bytes) {
  CustomEndpoint &self = custom(endpoint);
  auto *const requested = static_cast<CustomRequest *>(request);
  Status status;
  bool is_done = false;
  if (requested->peer == LPT_WIRE_ANY_RANK) {
    status = take_header(self, *requested, is_done, out_peer, out_bytes);
  } else {
    status = self.functions->test(&requested->request);
    is_done = requested->request == nullptr;
    *out_peer = requested->peer;
    *out_bytes = requested->bytes;
  }
  *out_is_done = is_done ? 1 : 0;
  if (is_done || !status.is_ok()) delete requested;
  return custom_status(custom(endpoint), status, error, error_bytes);
}

void abandon_custom(void *endpoint, void *request) {
  auto *const requested = static_cast<CustomRequest *>(request);
  custom(endpoint).functions->cancel(&requested->request);
  delete requested;
}

void close_custom(void *endpoint) { delete &custom(endpoint); }

// The numbers of comms increase on every rank, so no two comms with two common ranks share tags.
int32_t split_custom(void *endpoint, const int32_t *members, int32_t count, int64_t number, double, void **out_link,
                     char *error, size_t error_bytes) {
  const CustomEndpoint &self = custom(endpoint);
  if (number >= kMostComms) {
    std::snprintf(error, error_bytes, "split: the comm is number %lld of its transport: expected at most %lld",
                  static_cast<long long>(number), static_cast<long long>(kMostComms) - 1);
    return LPT_UNSUPPORTED;
  }
  if (members == nullptr) return LPT_OK;
  const auto rank = static_cast<int32_t>(std::find(members, members + count, self.rank) - members);
  std::vector<int32_t> names;
  for (int32_t i = 0; i < count; ++i) names.push_back(self.members[static_cast<size_t>(members[i])]);
  *out_link = new CustomEndpoint(self.functions, rank, std::move(names), number);
  return LPT_OK;
}

}  // namespace

std::unique_ptr<Endpoint> open_custom_endpoint(std::shared_ptr<CustomFunctions> functions, int32_t rank,
                                               int32_t ranks) {
  lpt_transport_table &table = functions->table;
  table = {LPT_WIRE_ABI,   sizeof table, functions->name(), 0,           0, nullptr, split_custom, send_custom,
           receive_custom, test_custom,  abandon_custom,    close_custom};
  std::vector<int32_t> names(static_cast<size_t>(ranks));
  std::iota(names.begin(), names.end(), 0);
  auto end = std::make_unique<CustomEndpoint>(std::move(functions), rank, std::move(names), 0);
  auto owner = std::make_unique<Endpoint>(table, end.get());
  static_cast<void>(end.release());
  return owner;
}

}  // namespace lpt
