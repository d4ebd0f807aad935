#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cuda_runtime_api.h"

namespace {

constexpr size_t kPage = 4096;
constexpr int kPoison = 0xA5;
constexpr size_t kMemory = size_t{1} << 30;  // of a device

struct Block {
  size_t bytes;
  int device;
};

// Work that has not ended when it was queued; it begins when what was pending before it has.
class Pending {
 public:
  using List = std::vector<std::shared_ptr<Pending>>;
  Pending(const PendingWork &work, List before) : work_(work), before_(std::move(before)) {}
  ~Pending() { work_.drop(work_.self); }
  Pending(const Pending &) = delete;
  Pending &operator=(const Pending &) = delete;

  bool has_ended() {
    const std::lock_guard<std::mutex> hold(mutex_);
    while (!before_.empty() && before_.back()->has_ended()) before_.pop_back();
    has_ended_ = has_ended_ || (before_.empty() && work_.has_ended(work_.self));
    return has_ended_;
  }

 private:
  const PendingWork work_;
  List before_;
  std::mutex mutex_;
  bool has_ended_ = false;
};
using PendingList = Pending::List;

std::mutex mutex;
std::mutex unlocked;                                    // held while device memory is open
std::map<uintptr_t, Block> blocks;                      // by their first byte
std::map<std::pair<int, void *>, PendingList> streams;  // by device and stream: what has not ended there
std::map<void *, PendingList> events;                   // what had not when they were recorded
std::vector<std::weak_ptr<Pending>> all_pending;
std::map<void *, std::deque<std::function<void()>>> late;  // by stream: what LPT_TEST_LATE holds back
std::atomic<int> queued{0};                                // pieces of work
thread_local int current = 0;
thread_local cudaError_t last = cudaSuccess;

int number(const char *name, int otherwise) {
  const char *const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

cudaError_t told(cudaError_t error) {
  if (error != cudaSuccess) last = error;
  return error;
}

void protect(int rights) {
  const std::lock_guard<std::mutex> hold(mutex);
  for (const auto &[begin, block] : blocks) mprotect(reinterpret_cast<void *>(begin), block.bytes, rights);
}

// What was queued and failed later is told by every call from then on, as by a broken context.
cudaError_t broken() {
  const int fails_at = number("LPT_TEST_FAILS_AT", 0);
  return fails_at != 0 && queued >= fails_at ? told(cudaErrorIllegalAddress) : cudaSuccess;
}

int device_count() { return number("LPT_TEST_DEVICES", 2); }

bool have_ended(const PendingList &list) {
  return std::all_of(list.begin(), list.end(), [](const auto &pending) { return pending->has_ended(); });
}

PendingList pending_on(int device, cudaStream_t stream) {
  const std::lock_guard<std::mutex> hold(mutex);
  return streams[{device, stream}];
}

// A device gets on whoever looks at it, or nobody.
void get_all_on() {
  PendingList live;
  {
    const std::lock_guard<std::mutex> hold(mutex);
    std::erase_if(all_pending, [](const auto &known) { return known.expired(); });
    for (const auto &known : all_pending) {
      if (std::shared_ptr<Pending> pending = known.lock()) live.push_back(std::move(pending));
    }
  }
  for (const auto &pending : live) pending->has_ended();
}

// A rank that never comes would hold a test for ever.
void wait_for(const PendingList &list) {
  const auto begin = std::chrono::steady_clock::now();
  while (!have_ended(list)) {
    get_all_on();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (std::chrono::steady_clock::now() - begin < std::chrono::seconds(60)) continue;
    std::fprintf(stderr, "work queued on a device of tests has not ended within a minute\n");
    std::abort();
  }
}

bool is_late() { return number("LPT_TEST_LATE", 0) != 0; }

void do_late_work_of(void *stream) {
  if (late[stream].empty()) return;
  unlock_devices();
  for (; !late[stream].empty(); late[stream].pop_front()) late[stream].front()();
  lock_devices();
}

cudaError_t queue(cudaStream_t stream, const char *name, std::function<void()> work) {
  tell_step(name, stream);
  wait_for_stream(stream);
  if (broken() != cudaSuccess) return cudaErrorIllegalAddress;
  ++queued;
  if (is_late()) {
    late[stream].push_back(std::move(work));
    return cudaSuccess;
  }
  unlock_devices();
  work();
  lock_devices();
  return cudaSuccess;
}

// The device of a place, -1 of the processor's.
int device_of(const void *memory) {
  cudaPointerAttributes facts;
  cudaPointerGetAttributes(&facts, memory);
  return facts.device;
}

// As CUDA does it where memory of the processor takes part: the caller finds the copy done.
cudaError_t queue_copy(const void *target, const void *source, cudaStream_t stream, std::function<void()> work) {
  const cudaError_t error = queue(stream, "copy", std::move(work));
  if (error == cudaSuccess && (device_of(target) < 0 || device_of(source) < 0)) do_late_work_of(stream);
  return error;
}

void copy_rows(void *target, size_t target_stride, const void *source, size_t source_stride, size_t row_bytes,
               size_t rows) {
  for (size_t r = 0; r < rows; ++r) {
    std::memcpy(static_cast<char *>(target) + r * target_stride, static_cast<const char *>(source) + r * source_stride,
                row_bytes);
  }
}

}  // namespace

void queue_kernel(void *stream, std::function<void()> work) {
  if (!is_late()) return work();
  late[stream].push_back(std::move(work));
}

void unlock_devices() {
  unlocked.lock();
  protect(PROT_READ | PROT_WRITE);
}

void lock_devices() {
  protect(PROT_NONE);
  unlocked.unlock();
}

void tell_step(const char *work, cudaStream_t stream) {
  const char *const path = std::getenv("LPT_TEST_STEPS");
  if (path == nullptr) return;
  FILE *const file = std::fopen((path + std::to_string(current)).c_str(), "a");
  if (file == nullptr) return;
  std::fprintf(file, "%s %s\n", stream == nullptr ? "context" : "comm", work);
  std::fclose(file);
}

void wait_for_stream(cudaStream_t stream) {
  wait_for(pending_on(current, stream));
  const std::lock_guard<std::mutex> hold(mutex);
  streams[{current, stream}].clear();
}

cudaError_t cudaDriverGetVersion(int *version) {
  *version = number("LPT_TEST_DRIVER", 13000);
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count) {
  const char *const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  *count = 0;
  if (number("LPT_TEST_DRIVER", 13000) < 13000) return told(cudaErrorInsufficientDriver);
  if (visible != nullptr && *visible == '\0') return told(cudaErrorNoDevice);
  *count = device_count();
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *facts, int) {
  const int capability = number("LPT_TEST_CAPABILITY", 90);
  *facts = {"threads of the processor", kMemory, capability / 10, capability % 10, 1};
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
  *device = current;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= device_count()) return told(cudaErrorInvalidDevice);
  current = device;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes) {
  const size_t whole = (bytes + kPage - 1) / kPage * kPage;
  if (bytes > kMemory) return told(cudaErrorMemoryAllocation);
  void *const place = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return told(cudaErrorMemoryAllocation);
  std::memset(place, kPoison, whole);
  mprotect(place, whole, PROT_NONE);
  const std::lock_guard<std::mutex> hold(mutex);
  blocks[reinterpret_cast<uintptr_t>(place)] = {whole, current};
  *memory = place;
  return cudaSuccess;
}

// Waits for the device, as CUDA does.
cudaError_t cudaFree(void *memory) {
  PendingList all;
  {
    const std::lock_guard<std::mutex> hold(mutex);
    for (const auto &[place, list] : streams) {
      if (place.first == current) all.insert(all.end(), list.begin(), list.end());
    }
  }
  wait_for(all);
  for (const auto &[stream, works] : late) do_late_work_of(stream);
  const std::lock_guard<std::mutex> hold(mutex);
  const auto found = blocks.find(reinterpret_cast<uintptr_t>(memory));
  if (found == blocks.end()) return told(cudaErrorInvalidValue);
  munmap(memory, found->second.bytes);
  blocks.erase(found);
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *facts, const void *memory) {
  const std::lock_guard<std::mutex> hold(mutex);
  const auto place = reinterpret_cast<uintptr_t>(memory);
  auto found = blocks.upper_bound(place);
  *facts = {cudaMemoryTypeUnregistered, -1};
  if (found == blocks.begin()) return cudaSuccess;
  --found;
  if (place < found->first + found->second.bytes) *facts = {cudaMemoryTypeDevice, found->second.device};
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream) {
  return queue(stream, "fill", [=] { std::memset(memory, value, bytes); });
}

cudaError_t cudaMemcpyAsync(void *target, const void *source, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  return queue_copy(target, source, stream, [=] { std::memcpy(target, source, bytes); });
}

cudaError_t cudaMemcpy2DAsync(void *target, size_t target_stride, const void *source, size_t source_stride,
                              size_t row_bytes, size_t rows, cudaMemcpyKind, cudaStream_t stream) {
  if (target_stride < row_bytes || source_stride < row_bytes) return told(cudaErrorInvalidValue);
  return queue_copy(target, source, stream,
                    [=] { copy_rows(target, target_stride, source, source_stride, row_bytes, rows); });
}

// Memory of another device than is said is refused.
cudaError_t cudaMemcpyPeerAsync(void *target, int target_device, const void *source, int source_device, size_t bytes,
                                cudaStream_t stream) {
  if (device_of(target) != target_device || device_of(source) != source_device) return told(cudaErrorInvalidValue);
  return queue(stream, "copy", [=] { std::memcpy(target, source, bytes); });
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *parameters, cudaStream_t stream) {
  const cudaMemcpy3DPeerParms all = *parameters;
  const cudaPitchedPtr target = all.dstPtr, source = all.srcPtr;
  const cudaExtent extent = all.extent;
  const bool is_right = device_of(target.ptr) == all.dstDevice && device_of(source.ptr) == all.srcDevice &&
                        target.pitch >= extent.width && source.pitch >= extent.width && extent.depth == 1;
  if (!is_right) return told(cudaErrorInvalidValue);
  return queue(stream, "copy",
               [=] { copy_rows(target.ptr, target.pitch, source.ptr, source.pitch, extent.width, extent.height); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  do_late_work_of(stream);
  wait_for_stream(stream);
  return broken();
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  *stream = reinterpret_cast<cudaStream_t>(new char);
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  wait_for_stream(stream);
  const std::lock_guard<std::mutex> hold(mutex);
  streams.erase({current, stream});
  delete reinterpret_cast<char *>(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const std::lock_guard<std::mutex> hold(mutex);
  tell_step("wait", stream);
  PendingList &list = streams[{current, stream}];
  const PendingList &more = events[event];
  list.insert(list.end(), more.begin(), more.end());
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new char);
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const std::lock_guard<std::mutex> hold(mutex);
  events.erase(event);
  delete reinterpret_cast<char *>(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const std::lock_guard<std::mutex> hold(mutex);
  tell_step("mark", stream);
  events[event] = streams[{current, stream}];
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  PendingList list;
  {
    const std::lock_guard<std::mutex> hold(mutex);
    list = events[event];
  }
  if (broken() != cudaSuccess) return cudaErrorIllegalAddress;
  get_all_on();
  return have_ended(list) ? cudaSuccess : told(cudaErrorNotReady);
}

const TestRuntime &test_runtime() {
  static constexpr TestRuntime kRuntime = {unlock_devices, lock_devices, [] { return current; },
                                           [](int device, cudaStream_t stream, PendingWork work) {
                                             tell_step("message", stream);
                                             const std::lock_guard<std::mutex> hold(mutex);
                                             PendingList &list = streams[{device, stream}];
                                             auto pending = std::make_shared<Pending>(work, list);
                                             all_pending.push_back(pending);
                                             list.push_back(std::move(pending));
                                           }};
  return kRuntime;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = last;
  last = cudaSuccess;
  return error;
}

const char *cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    default:
      return "invalid argument";
  }
}
