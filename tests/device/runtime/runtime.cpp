#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

#include "cuda_runtime_api.h"

namespace {

constexpr int kDevices = 2;
constexpr size_t kPage = 4096;
constexpr int kPoison = 0xA5;
constexpr size_t kMemory = size_t{1} << 30;  // of a device

struct Block {
  size_t bytes;
  int device;
};

std::mutex mutex;
std::map<uintptr_t, Block> blocks;                            // by their first byte
int queued = 0;                                               // pieces of work
std::map<void *, std::deque<std::function<void()>>> streams;  // what is not done yet
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

void do_work_of(void *stream) {
  std::deque<std::function<void()>> &works = streams[stream];
  unlock_devices();
  for (; !works.empty(); works.pop_front()) works.front()();
  lock_devices();
}

bool is_late() { return number("LPT_TEST_LATE", 0) != 0; }

cudaError_t queue(cudaStream_t stream, std::function<void()> work) {
  if (broken() != cudaSuccess) return cudaErrorIllegalAddress;
  ++queued;
  streams[stream].push_back(std::move(work));
  if (!is_late()) do_work_of(stream);
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
  const cudaError_t error = queue(stream, std::move(work));
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
  if (!is_late()) return work();
  streams[stream].push_back(std::move(work));
}

void unlock_devices() { protect(PROT_READ | PROT_WRITE); }
void lock_devices() { protect(PROT_NONE); }

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
  *count = kDevices;
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
  if (device < 0 || device >= kDevices) return told(cudaErrorInvalidDevice);
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

// Waits for all that is queued, as CUDA does.
cudaError_t cudaFree(void *memory) {
  for (const auto &[stream, works] : streams) do_work_of(stream);
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
  return queue(stream, [=] { std::memset(memory, value, bytes); });
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
  return queue(stream, [=] { std::memcpy(target, source, bytes); });
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *parameters, cudaStream_t stream) {
  const cudaMemcpy3DPeerParms all = *parameters;
  const cudaPitchedPtr target = all.dstPtr, source = all.srcPtr;
  const cudaExtent extent = all.extent;
  const bool is_right = device_of(target.ptr) == all.dstDevice && device_of(source.ptr) == all.srcDevice &&
                        target.pitch >= extent.width && source.pitch >= extent.width && extent.depth == 1;
  if (!is_right) return told(cudaErrorInvalidValue);
  return queue(stream,
               [=] { copy_rows(target.ptr, target.pitch, source.ptr, source.pitch, extent.width, extent.height); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  do_work_of(stream);
  return broken();
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
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    default:
      return "invalid argument";
  }
}
