#include "src/comm/local/local_transport.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace lpt {
namespace {

using Clock = std::chrono::steady_clock;

Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
}

struct LocalEndpoint {
  std::shared_ptr<LocalGroup> group;
  int32_t rank;
  double latency_seconds, bytes_per_second;
  Clock::time_point is_free_at{};  // end of the previous message: a rank sends one message at a time
  bool has_sent = false;
};

struct LocalRequest {
  int32_t peer, tag;
  void *data;
  int64_t bytes;
};

LocalEndpoint &local(void *link) { return *static_cast<LocalEndpoint *>(link); }

int32_t reported(const Status &status, char *error, size_t error_bytes) {
  if (!status.is_ok()) std::snprintf(error, error_bytes, "%s", status.message().c_str());
  return status.code();
}

Clock::time_point arrival_of(LocalEndpoint &link, int64_t bytes) {
  if (link.latency_seconds <= 0.0 && link.bytes_per_second <= 0.0) return {};
  link.is_free_at = std::max(link.is_free_at, Clock::now());
  if (link.bytes_per_second > 0.0) link.is_free_at += seconds(static_cast<double>(bytes) / link.bytes_per_second);
  return link.is_free_at + seconds(link.latency_seconds);
}

int32_t send(void *link, int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request, char *,
             size_t) {
  LocalEndpoint &self = local(link);
  Message message;
  message.tag = tag;
  const auto *first = static_cast<const std::byte *>(data);
  message.bytes.assign(first, first + bytes);
  message.arrival = arrival_of(self, bytes);
  self.group->message_queue(self.rank, peer).put(std::move(message));
  self.has_sent = true;
  *out_request = nullptr;
  return LPT_OK;
}

int32_t receive(void *, int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request, char *, size_t) {
  *out_request = new LocalRequest{peer, tag, data, bytes};
  return LPT_OK;
}

bool take(LocalEndpoint &link, const LocalRequest &request, Message &out_message, int32_t *out_peer) {
  const bool is_from_any = request.peer == LPT_WIRE_ANY_RANK;
  const int32_t first = is_from_any ? 0 : request.peer;
  const int32_t last = is_from_any ? link.group->ranks() - 1 : request.peer;
  for (int32_t q = first; q <= last; ++q) {
    *out_peer = q;
    if (link.group->message_queue(q, link.rank).take(request.tag, out_message)) return true;
  }
  return false;
}

int32_t test(void *link, void *request, int32_t *out_is_done, int32_t *out_peer, int64_t *out_bytes, char *error,
             size_t error_bytes) {
  LocalEndpoint &self = local(link);
  auto *requested = static_cast<LocalRequest *>(request);
  Message message;
  Status status;
  if (take(self, *requested, message, out_peer)) {
    *out_bytes = static_cast<int64_t>(message.bytes.size());
    if (*out_bytes > requested->bytes) {
      status = Status(LPT_INTERNAL, "a message is longer than the place for it");
    } else if (!message.bytes.empty()) {
      std::memcpy(requested->data, message.bytes.data(), message.bytes.size());
    }
    *out_is_done = 1;
  } else {
    status = self.group->state();
  }
  if (*out_is_done != 0 || !status.is_ok()) delete requested;
  return reported(status, error, error_bytes);
}

void abandon(void *, void *request) { delete static_cast<LocalRequest *>(request); }

// Leaves the group. A rank that has sent no message could not create its engine, so no header reports its departure: aborts the
// group.
void close(void *link) {
  LocalEndpoint &self = local(link);
  self.group->leave(self.rank);
  if (!self.has_sent) {
    self.group->abort_all(make_last_status(LPT_ABORTED, [&] { return text("rank %d has left", self.rank); }));
  }
  delete &self;
}

// The first member identifies the subgroup.
int32_t split(void *link, const int32_t *members, int32_t count, int64_t number, double, void **out_link, char *,
              size_t) {
  LocalEndpoint &self = local(link);
  if (members == nullptr) return LPT_OK;
  const auto place = static_cast<int32_t>(std::find(members, members + count, self.rank) - members);
  try {
    auto part =
        std::make_unique<LocalEndpoint>(LocalEndpoint{nullptr, place, self.latency_seconds, self.bytes_per_second});
    part->group = self.group->part_of({static_cast<uint64_t>(number), members[0]}, count);
    *out_link = part.release();
  } catch (const std::bad_alloc &) {
    // The other ranks of the subgroup wait for this rank. Aborting the group also aborts its subgroups.
    self.group->abort_all(make_last_status(LPT_ABORTED, [&] { return text("split: rank %d failed", self.rank); }));
    throw;
  }
  return LPT_OK;
}

constexpr lpt_transport_table kTable{
    LPT_WIRE_ABI, sizeof(lpt_transport_table), "local messages", 1, 0, nullptr, split, send, receive, test, abandon,
    close};

}  // namespace

std::unique_ptr<Endpoint> open_local_endpoint(std::shared_ptr<LocalGroup> group, int32_t rank,
                                              const EngineOptions &options) {
  auto link = std::make_unique<LocalEndpoint>(
      LocalEndpoint{std::move(group), rank, options.link_latency_seconds, options.link_bytes_per_second});
  auto owner = std::make_unique<Endpoint>(kTable, link.get());
  static_cast<void>(link.release());
  return owner;
}

}  // namespace lpt
