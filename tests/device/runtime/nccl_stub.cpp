// libnccl.so.2 for tests. Ranks are threads of this process, and their memory is that of the CUDA test runtime, which passes
// its interface to lpt_test_connect(). Calls and constants are those of NCCL's public interface.
//
// Environment variables for tests: LPT_TEST_NCCL_VERSION, default 22809; LPT_TEST_NCCL_FAILS_AT, the group of messages of rank
// 0 after which its communicator reports an error of another rank; LPT_TEST_NCCL_REJECTS_RANK, a rank that is rejected.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda_runtime_api.h"

namespace {

enum Result : int { kSuccess = 0, kInvalidArgument = 4, kInvalidUsage = 5, kRemoteError = 6, kInProgress = 7 };

struct Id {
  char bytes[128];
};

int number(const char *name, int otherwise) {
  const char *const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

const TestRuntime *runtime = nullptr;
thread_local std::string last_error;

Result rejected(Result result, const std::string &words) {
  last_error = words;
  return result;
}

// A message in transfer; its bytes are in the memory of the sender.
struct Layout {
  const void *data;
  size_t bytes;
  std::atomic<bool> is_taken{false};
};

// The ranks of one communicator.
struct Team {
  explicit Team(int count) : devices(static_cast<size_t>(count), -1) {}
  int ranks() const { return static_cast<int>(devices.size()); }

  std::mutex mutex;
  std::vector<int> devices;  // of the ranks that have joined
  int come = 0;
  bool is_aborted = false;
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<Layout>>> mail;  // by sender and receiver

  struct Option {
    int color, key, rank;
  };
  struct Split {
    std::vector<Option> requests;
    std::map<int, std::shared_ptr<Team>> parts;  // by color
  };
  std::map<int, Split> splits;
};

std::mutex registry_mutex;
std::map<std::string, std::shared_ptr<Team>> registry;

}  // namespace

struct ncclComm {
  std::shared_ptr<Team> team;
  int rank, device;
  int groups = 0, splits = 0;
  std::atomic<bool> has_failed{false};
  ncclComm **split_place = nullptr;  // of a split that waits for other ranks
};

namespace {

struct Message {
  bool is_sent;
  void *data;
  size_t bytes;
  int peer;
};

// Messages that were queued as one group. The group completes when all its messages have been received, or its communicator is
// aborted.
struct Group {
  std::shared_ptr<Team> team;
  int rank;
  std::vector<Message> messages;
  std::function<void()> finish;
  std::vector<char> space;  // scratch for the messages
  bool has_begun = false, has_finished = false;
  std::vector<std::shared_ptr<Layout>> sent;
  std::vector<bool> is_present;
};

struct Opened {
  ncclComm *comm = nullptr;
  cudaStream_t stream = nullptr;
  std::vector<Message> messages;
  int depth = 0;
};
thread_local Opened opened;

void begin(Group &self) {
  self.has_begun = true;
  self.is_present.assign(self.messages.size(), false);
  for (const Message &message : self.messages) {
    if (!message.is_sent) continue;
    self.sent.push_back(std::make_shared<Layout>());
    self.sent.back()->data = message.data;
    self.sent.back()->bytes = message.bytes;
    self.team->mail[{self.rank, message.peer}].push_back(self.sent.back());
  }
}

// Returns false if the message has not arrived, or has another size, which NCCL does not detect.
bool take(Group &self, const Message &message) {
  auto &mail = self.team->mail[{message.peer, self.rank}];
  if (mail.empty() || mail.front()->bytes != message.bytes) return false;
  runtime->unlock();
  std::memcpy(message.data, mail.front()->data, message.bytes);
  runtime->lock();
  mail.front()->is_taken = true;
  mail.pop_front();
  return true;
}

bool has_ended(void *place) {
  Group &self = *static_cast<Group *>(place);
  const std::lock_guard<std::mutex> hold(self.team->mutex);
  if (self.team->is_aborted) return true;
  if (!self.has_begun) begin(self);
  bool is_all = true;
  for (size_t i = 0; i < self.messages.size(); ++i) {
    if (self.messages[i].is_sent) continue;
    if (!self.is_present[i]) self.is_present[i] = take(self, self.messages[i]);
    is_all = is_all && self.is_present[i];
  }
  if (is_all && self.finish && !self.has_finished) self.finish();
  self.has_finished = is_all;
  for (const auto &layout : self.sent) is_all = is_all && layout->is_taken;
  return is_all;
}

void drop(void *place) { delete static_cast<Group *>(place); }

void queue_group(ncclComm *comm, cudaStream_t stream, std::unique_ptr<Group> made) {
  runtime->queue(comm->device, stream, {made.release(), has_ended, drop});
  ++comm->groups;
  if (comm->rank == 0 && comm->groups == number("LPT_TEST_NCCL_FAILS_AT", 0)) comm->has_failed = true;
}

std::unique_ptr<Group> new_group(const ncclComm *comm) {
  auto made = std::make_unique<Group>();
  made->team = comm->team;
  made->rank = comm->rank;
  return made;
}

Result add(ncclComm *comm, bool is_sent, const void *data, size_t count, int type, int peer, cudaStream_t stream) {
  if (opened.depth == 0 || type != 1) return rejected(kInvalidUsage, "the stub takes bytes in groups alone");
  if (peer < 0 || peer >= comm->team->ranks()) return rejected(kInvalidArgument, "no such peer");
  opened.comm = comm;
  opened.stream = stream;
  opened.messages.push_back({is_sent, const_cast<void *>(data), count, peer});
  return kSuccess;
}

Result join(const std::shared_ptr<Team> &team, int rank, ncclComm **out) {
  const std::lock_guard<std::mutex> hold(team->mutex);
  const int device = runtime->current_device();
  for (int q = 0; q < team->ranks(); ++q) {
    if (team->devices[static_cast<size_t>(q)] != device) continue;
    return rejected(kInvalidUsage, "Duplicate GPU detected : rank " + std::to_string(rank) + " and rank " +
                                       std::to_string(q) + " both on CUDA device " + std::to_string(device));
  }
  team->devices[static_cast<size_t>(rank)] = device;
  ++team->come;
  *out = new ncclComm{team, rank, device};
  return kInProgress;
}

// Creates the communicator of one color after all ranks of the parent have called split.
void finish_split(ncclComm *comm) {
  const std::lock_guard<std::mutex> hold(comm->team->mutex);
  Team::Split &split = comm->team->splits[comm->splits];
  if (comm->split_place == nullptr || static_cast<int>(split.requests.size()) < comm->team->ranks()) return;
  Team::Option mine{};
  for (const Team::Option &option : split.requests) mine = option.rank == comm->rank ? option : mine;
  std::vector<std::pair<int, int>> members;  // key and rank
  for (const Team::Option &option : split.requests) {
    if (option.color == mine.color) members.emplace_back(option.key, option.rank);
  }
  std::sort(members.begin(), members.end());
  const auto place = std::find(members.begin(), members.end(), std::pair(mine.key, mine.rank)) - members.begin();
  auto &part = split.parts[mine.color];
  if (part == nullptr) part = std::make_shared<Team>(static_cast<int>(members.size()));
  if (mine.color >= 0) join(part, static_cast<int>(place), comm->split_place);
  comm->split_place = nullptr;
  ++comm->splits;
}

float joined(int operation, float a, float b) {
  return operation == 2 ? std::max(a, b) : operation == 3 ? std::min(a, b) : a + b;
}

// NCCL adds in an unspecified order. The stub adds in reverse, so that tests detect a dependence on rank order.
Result sum(const void *input, void *output, size_t count, size_t begin, size_t length, int type, int operation,
           ncclComm *comm, cudaStream_t stream) {
  if (type != 7) return rejected(kInvalidArgument, "the stub adds f32 alone");
  const int ranks = comm->team->ranks();
  const size_t bytes = count * sizeof(float);
  std::unique_ptr<Group> made = new_group(comm);
  made->space.resize(static_cast<size_t>(ranks) * bytes);
  for (int q = 0; q < ranks; ++q) {
    if (q == comm->rank) continue;
    made->messages.push_back({true, const_cast<void *>(input), bytes, q});
    made->messages.push_back({false, made->space.data() + static_cast<size_t>(q) * bytes, bytes, q});
  }
  Group *const group = made.get();
  made->finish = [=] {
    runtime->unlock();
    std::memcpy(group->space.data() + static_cast<size_t>(comm->rank) * bytes, input, bytes);
    const auto *const all = reinterpret_cast<const float *>(group->space.data());
    for (size_t i = 0; i < length; ++i) {
      float total = all[static_cast<size_t>(ranks - 1) * count + begin + i];
      for (int q = ranks - 2; q >= 0; --q)
        total = joined(operation, total, all[static_cast<size_t>(q) * count + begin + i]);
      static_cast<float *>(output)[i] = operation == 4 ? total / static_cast<float>(ranks) : total;
    }
    runtime->lock();
  };
  queue_group(comm, stream, std::move(made));
  return kSuccess;
}

}  // namespace

#define STUB extern "C" __attribute__((visibility("default")))

STUB void lpt_test_connect(const TestRuntime *given) { runtime = given; }

STUB Result ncclGetVersion(int *version) {
  *version = number("LPT_TEST_NCCL_VERSION", 22809);
  return kSuccess;
}

STUB Result ncclGetUniqueId(Id *id) {
  static std::atomic<int> made{0};
  *id = {};
  std::snprintf(id->bytes, sizeof id->bytes, "team %d", ++made);
  return kSuccess;
}

STUB Result ncclCommInitRankConfig(ncclComm **comm, int ranks, Id id, int rank, void *) {
  *comm = nullptr;
  if (runtime == nullptr) return rejected(kInvalidUsage, "the stub was not connected");
  if (rank == number("LPT_TEST_NCCL_REJECTS_RANK", -1)) return rejected(kInvalidUsage, "this rank is rejected");
  std::shared_ptr<Team> team;
  {
    const std::lock_guard<std::mutex> hold(registry_mutex);
    auto &known = registry[id.bytes];
    if (known == nullptr) known = std::make_shared<Team>(ranks);
    team = known;
  }
  return join(team, rank, comm);
}

STUB Result ncclCommSplit(ncclComm *comm, int color, int key, ncclComm **part, void *) {
  *part = nullptr;
  comm->split_place = part;
  const std::lock_guard<std::mutex> hold(comm->team->mutex);
  comm->team->splits[comm->splits].requests.push_back({color, key, comm->rank});
  return kInProgress;
}

STUB Result ncclCommGetAsyncError(ncclComm *comm, Result *state) {
  if (comm->split_place != nullptr) finish_split(comm);
  const std::lock_guard<std::mutex> hold(comm->team->mutex);
  const bool is_waiting = comm->team->come < comm->team->ranks() || comm->split_place != nullptr;
  *state = comm->has_failed ? kRemoteError : is_waiting ? kInProgress : kSuccess;
  return kSuccess;
}

STUB Result ncclCommCount(const ncclComm *comm, int *count) {
  *count = comm->team->ranks();
  return kSuccess;
}

STUB Result ncclCommUserRank(const ncclComm *comm, int *rank) {
  *rank = comm->rank;
  return kSuccess;
}

STUB Result ncclCommCuDevice(const ncclComm *comm, int *device) {
  *device = comm->device;
  return kSuccess;
}

STUB Result ncclCommFinalize(ncclComm *) { return kInProgress; }

STUB Result ncclCommDestroy(ncclComm *comm) {
  delete comm;
  return kSuccess;
}

// Also ends the work of the other ranks; the real NCCL reports an error to them, or nothing.
STUB Result ncclCommAbort(ncclComm *comm) {
  {
    const std::lock_guard<std::mutex> hold(comm->team->mutex);
    comm->team->is_aborted = true;
  }
  delete comm;
  return kSuccess;
}

STUB Result ncclGroupStart() {
  if (opened.depth++ == 0) opened.messages.clear();
  return kSuccess;
}

STUB Result ncclGroupEnd() {
  if (--opened.depth > 0 || opened.messages.empty()) return kSuccess;
  std::unique_ptr<Group> made = new_group(opened.comm);
  made->messages = std::move(opened.messages);
  opened.messages.clear();
  queue_group(opened.comm, opened.stream, std::move(made));
  return kInProgress;
}

STUB Result ncclSend(const void *data, size_t count, int type, int peer, ncclComm *comm, cudaStream_t stream) {
  return add(comm, true, data, count, type, peer, stream);
}

STUB Result ncclRecv(void *data, size_t count, int type, int peer, ncclComm *comm, cudaStream_t stream) {
  return add(comm, false, data, count, type, peer, stream);
}

STUB Result ncclAllReduce(const void *input, void *output, size_t count, int type, int operation, ncclComm *comm,
                          cudaStream_t stream) {
  return sum(input, output, count, 0, count, type, operation, comm, stream);
}

STUB Result ncclReduceScatter(const void *input, void *output, size_t count_of_one, int type, int operation,
                              ncclComm *comm, cudaStream_t stream) {
  const auto ranks = static_cast<size_t>(comm->team->ranks()), rank = static_cast<size_t>(comm->rank);
  return sum(input, output, ranks * count_of_one, rank * count_of_one, count_of_one, type, operation, comm, stream);
}

STUB const char *ncclGetErrorString(Result result) {
  switch (result) {
    case kInvalidArgument:
      return "invalid argument";
    case kInvalidUsage:
      return "invalid usage";
    case kRemoteError:
      return "remote process exited or there was a network error";
    default:
      return "unknown result code";
  }
}

STUB const char *ncclGetLastError(ncclComm *) { return last_error.c_str(); }
