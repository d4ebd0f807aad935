#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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
std::map<uintptr_t, Block> blocks;  // by their first byte
int queued = 0;                     // pieces of work
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

template <typename Work>
cudaError_t queue(const Work &work) {
  if (broken() != cudaSuccess) return cudaErrorIllegalAddress;
  ++queued;
  unlock_devices();
  work();
  lock_devices();
  return cudaSuccess;
}

}  // namespace

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

cudaError_t cudaFree(void *memory) {
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

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t) {
  return queue([&] { std::memset(memory, value, bytes); });
}

cudaError_t cudaMemcpyAsync(void *target, const void *source, size_t bytes, cudaMemcpyKind, cudaStream_t) {
  return queue([&] { std::memcpy(target, source, bytes); });
}

cudaError_t cudaMemcpy2DAsync(void *target, size_t target_stride, const void *source, size_t source_stride,
                              size_t row_bytes, size_t rows, cudaMemcpyKind, cudaStream_t) {
  if (target_stride < row_bytes || source_stride < row_bytes) return told(cudaErrorInvalidValue);
  return queue([&] {
    for (size_t r = 0; r < rows; ++r) {
      std::memcpy(static_cast<char *>(target) + r * target_stride,
                  static_cast<const char *>(source) + r * source_stride, row_bytes);
    }
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t) { return broken(); }

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
