#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "cuda_runtime_api.h"

namespace {

constexpr size_t kPage = 4096;
constexpr int kPoison = 0xA5;
constexpr size_t kMemory = size_t{1} << 30;  // bytes per device

struct Block {
  size_t bytes;
  int device;
};

// A queued work item. Returns false if it is not complete; then it is called again.
using Work = std::function<bool()>;
using Stream = std::pair<int, void *>;  // device and handle

std::recursive_mutex machine;                    // serializes all calls
std::map<uintptr_t, Block> blocks;               // by address
int queued = 0;                                  // number of queued work items
int unlocked = 0;                                // nesting of unlock_devices()
std::map<Stream, std::deque<Work>> streams;      // incomplete work
std::map<void *, std::shared_ptr<bool>> events;  // true if the stream has reached the last record of the event
thread_local int current = 0;                    // of cudaSetDevice()
thread_local int entered[8];                     // of cuCtxPushCurrent(): the last one is current
thread_local size_t entered_count = 0;
thread_local cudaError_t last = cudaSuccess;

int number(const char *name, int otherwise) {
  const char *const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

cudaError_t reported(cudaError_t error) {
  if (error != cudaSuccess) last = error;
  return error;
}

void protect(int rights) {
  for (const auto &[begin, block] : blocks) mprotect(reinterpret_cast<void *>(begin), block.bytes, rights);
}

// If queued work has failed, every later call reports it, as with a broken CUDA context.
cudaError_t broken() {
  const int fails_at = number("LPT_TEST_FAILS_AT", 0);
  return fails_at != 0 && queued >= fails_at ? reported(cudaErrorIllegalAddress) : cudaSuccess;
}

// CUDA creates a context at the first use of a device; unused devices have none.
void start_context(int device) {
  const char *const path = std::getenv("LPT_TEST_CONTEXTS");
  FILE *const file = path == nullptr ? nullptr : std::fopen((path + std::to_string(device)).c_str(), "a");
  if (file != nullptr) std::fclose(file);
}

// Returns the device of the current driver context of the thread, else that of cudaSetDevice().
int device_here() { return entered_count == 0 ? current : entered[entered_count - 1]; }

int use_device() {
  start_context(device_here());
  return device_here();
}

void make_progress(std::deque<Work> &works) {
  while (!works.empty() && works.front()()) works.pop_front();
}

void make_all_progress() {
  for (auto &[stream, works] : streams) make_progress(works);
}

// Limits the wait, because a missing rank otherwise blocks a test without limit.
template <typename Condition>
void wait_until(const Condition &is_present) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    {
      const std::lock_guard<std::recursive_mutex> hold(machine);
      if (is_present()) return;
      make_all_progress();
      if (is_present()) return;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (std::chrono::steady_clock::now() - begin < std::chrono::seconds(60)) continue;
    std::fprintf(stderr, "work queued on a device of tests has not ended within a minute\n");
    std::abort();
  }
}

void do_work_of(void *stream) {
  std::deque<Work> *works = nullptr;
  {
    const std::lock_guard<std::recursive_mutex> hold(machine);
    works = &streams[{use_device(), stream}];
    make_progress(*works);
  }
  wait_until([&] { return works->empty(); });
}

bool is_late() { return number("LPT_TEST_LATE", 0) != 0; }

int device_count() { return number("LPT_TEST_DEVICES", 2); }

// Appends a line to LPT_TEST_STEPS.
void log_step(const char *work, void *stream) {
  const char *const path = std::getenv("LPT_TEST_STEPS");
  if (path == nullptr) return;
  FILE *const file = std::fopen((path + std::to_string(use_device())).c_str(), "a");
  if (file == nullptr) return;
  std::fprintf(file, "%s %s\n", stream == nullptr ? "context" : "comm", work);
  std::fclose(file);
}

void push(int device, void *stream, const char *name, Work work) {
  const std::lock_guard<std::recursive_mutex> hold(machine);
  log_step(name, stream);
  std::deque<Work> &works = streams[{device, stream}];
  works.push_back(std::move(work));
  if (!is_late()) make_progress(works);
}

// Work that completes when it runs.
Work at_once(std::function<void()> work) {
  return [work = std::move(work)] {
    unlock_devices();
    work();
    lock_devices();
    return true;
  };
}

cudaError_t queue(cudaStream_t stream, const char *name, std::function<void()> work) {
  if (broken() != cudaSuccess) return cudaErrorIllegalAddress;
  ++queued;
  push(use_device(), stream, name, at_once(std::move(work)));
  return cudaSuccess;
}

// Returns the device of an address, -1 for host memory.
int device_of(const void *memory) {
  cudaPointerAttributes facts;
  cudaPointerGetAttributes(&facts, memory);
  return facts.device;
}

// Like CUDA with host memory: the copy is complete when the call returns.
cudaError_t queue_copy(const void *target, const void *source, cudaStream_t stream, std::function<void()> work) {
  const cudaError_t error = queue(stream, "copy", std::move(work));
  if (error == cudaSuccess && (device_of(target) < 0 || device_of(source) < 0)) do_work_of(stream);
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
  push(use_device(), stream, "kernel", at_once(std::move(work)));
}

void unlock_devices() {
  machine.lock();
  if (unlocked++ == 0) protect(PROT_READ | PROT_WRITE);
}

void lock_devices() {
  if (--unlocked == 0) protect(PROT_NONE);
  machine.unlock();
}

const TestRuntime &test_runtime() {
  static constexpr TestRuntime kRuntime = {
      unlock_devices, lock_devices, use_device, [](int device, cudaStream_t stream, PendingWork work) {
        const std::shared_ptr<void> self(work.self, work.drop);
        push(device, stream, "message", [self, has_ended = work.has_ended] { return has_ended(self.get()); });
      }};
  return kRuntime;
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
  if (number("LPT_TEST_DRIVER", 13000) < 13000) return reported(cudaErrorInsufficientDriver);
  if (visible != nullptr && *visible == '\0') return reported(cudaErrorNoDevice);
  *count = device_count();
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *facts, int) {
  const int capability = number("LPT_TEST_CAPABILITY", 90);
  *facts = {"threads of the CPU", kMemory, capability / 10, capability % 10, 1};
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
  *device = device_here();
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= device_count()) return reported(cudaErrorInvalidDevice);
  current = device;
  if (entered_count != 0) entered[entered_count - 1] = device;
  start_context(device);  // as in CUDA 12.0 and later
  return cudaSuccess;
}

// Contexts of the driver: the primary context of a device is its number plus one.

using DriverContext = struct CUctx_st *;

namespace {

int init_driver(unsigned) { return cudaSuccess; }

int retain_primary(DriverContext *context, int device) {
  if (device < 0 || device >= device_count()) return cudaErrorInvalidDevice;
  start_context(device);
  *context = reinterpret_cast<DriverContext>(static_cast<intptr_t>(device) + 1);
  return cudaSuccess;
}

int get_current(DriverContext *context) {
  *context = entered_count == 0 ? nullptr : reinterpret_cast<DriverContext>(intptr_t{device_here()} + 1);
  return cudaSuccess;
}

int push_current(DriverContext context) {
  if (entered_count == std::size(entered)) return cudaErrorInvalidValue;
  entered[entered_count++] = static_cast<int>(reinterpret_cast<intptr_t>(context) - 1);
  return cudaSuccess;
}

int pop_current(DriverContext *context) {
  get_current(context);
  if (entered_count == 0) return cudaErrorInvalidValue;
  --entered_count;
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult *result) {
  const std::map<std::string, void *> known = {{"cuInit", reinterpret_cast<void *>(init_driver)},
                                               {"cuDevicePrimaryCtxRetain", reinterpret_cast<void *>(retain_primary)},
                                               {"cuCtxGetCurrent", reinterpret_cast<void *>(get_current)},
                                               {"cuCtxPushCurrent", reinterpret_cast<void *>(push_current)},
                                               {"cuCtxPopCurrent", reinterpret_cast<void *>(pop_current)}};
  const auto found = known.find(symbol);
  *result = found == known.end() ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
  *function = found == known.end() ? nullptr : found->second;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes) {
  const size_t whole = (bytes + kPage - 1) / kPage * kPage;
  if (bytes > kMemory || number("LPT_TEST_NO_MEMORY", 0) != 0) return reported(cudaErrorMemoryAllocation);
  void *const place = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return reported(cudaErrorMemoryAllocation);
  std::memset(place, kPoison, whole);
  mprotect(place, whole, PROT_NONE);
  const std::lock_guard<std::recursive_mutex> hold(machine);
  blocks[reinterpret_cast<uintptr_t>(place)] = {whole, use_device()};
  *memory = place;
  return cudaSuccess;
}

// Waits for all work on the device, as CUDA does.
cudaError_t cudaFree(void *memory) {
  const int device = use_device();
  wait_until([device] {
    make_all_progress();
    const auto is_done = [device](const auto &known) { return known.first.first != device || known.second.empty(); };
    return std::all_of(streams.begin(), streams.end(), is_done);
  });
  const std::lock_guard<std::recursive_mutex> hold(machine);
  const auto found = blocks.find(reinterpret_cast<uintptr_t>(memory));
  if (found == blocks.end()) return reported(cudaErrorInvalidValue);
  munmap(memory, found->second.bytes);
  blocks.erase(found);
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *facts, const void *memory) {
  const std::lock_guard<std::recursive_mutex> hold(machine);
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
  if (target_stride < row_bytes || source_stride < row_bytes) return reported(cudaErrorInvalidValue);
  return queue_copy(target, source, stream,
                    [=] { copy_rows(target, target_stride, source, source_stride, row_bytes, rows); });
}

// Rejects memory that is not on the given devices.
cudaError_t cudaMemcpyPeerAsync(void *target, int target_device, const void *source, int source_device, size_t bytes,
                                cudaStream_t stream) {
  if (device_of(target) != target_device || device_of(source) != source_device) return reported(cudaErrorInvalidValue);
  return queue(stream, "copy", [=] { std::memcpy(target, source, bytes); });
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *parameters, cudaStream_t stream) {
  const cudaMemcpy3DPeerParms all = *parameters;
  const cudaPitchedPtr target = all.dstPtr, source = all.srcPtr;
  const cudaExtent extent = all.extent;
  const bool is_right = device_of(target.ptr) == all.dstDevice && device_of(source.ptr) == all.srcDevice &&
                        target.pitch >= extent.width && source.pitch >= extent.width && extent.depth == 1;
  if (!is_right) return reported(cudaErrorInvalidValue);
  return queue(stream, "copy",
               [=] { copy_rows(target.ptr, target.pitch, source.ptr, source.pitch, extent.width, extent.height); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  do_work_of(stream);
  return broken();
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  *stream = reinterpret_cast<cudaStream_t>(new char);
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  do_work_of(stream);
  const std::lock_guard<std::recursive_mutex> hold(machine);
  streams.erase({use_device(), stream});
  delete reinterpret_cast<char *>(stream);
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new char);
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const std::lock_guard<std::recursive_mutex> hold(machine);
  events.erase(event);
  delete reinterpret_cast<char *>(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const std::lock_guard<std::recursive_mutex> hold(machine);
  const auto is_past = std::make_shared<bool>(false);
  events[event] = is_past;
  push(use_device(), stream, "mark", [is_past] { return *is_past = true; });
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const std::lock_guard<std::recursive_mutex> hold(machine);
  const auto known = events.find(event);
  if (known == events.end()) return cudaSuccess;
  push(use_device(), stream, "wait", [is_past = known->second] { return *is_past; });
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::lock_guard<std::recursive_mutex> hold(machine);
  if (broken() != cudaSuccess) return cudaErrorIllegalAddress;
  make_all_progress();
  const auto known = events.find(event);
  return known == events.end() || *known->second ? cudaSuccess : reported(cudaErrorNotReady);
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
