#include "src/backends/cuda/cuda_backend.hpp"

#include <cstdio>
#include <cstdlib>

#include "src/backends/cuda/on_device.hpp"

namespace lpt {
namespace {

// The lowest compute capability for which kernels are compiled, times 10.
constexpr int32_t kLeastCapability = 80;

cudaStream_t stream_of(void *stream) { return static_cast<cudaStream_t>(stream); }
cudaEvent_t event_of(void *event) { return static_cast<cudaEvent_t>(event); }

int32_t status_of(cudaError_t error) {
  if (error == cudaSuccess) return LPT_OK;
  return error == cudaErrorMemoryAllocation ? LPT_OUT_OF_MEMORY : LPT_WORK_FAILED;
}

// Returns the status of a call with the text of the driver. Clears the last error of the thread, which a later launch would
// report.
int32_t reported(const char *doing, int32_t index, cudaError_t error, char *text, size_t text_bytes) {
  if (error == cudaSuccess) return LPT_OK;
  cudaGetLastError();
  std::snprintf(text, text_bytes, "%s on cuda:%d: %s", doing, index, cudaGetErrorString(error));
  return status_of(error);
}

void set_reason(cudaError_t error, lpt_device_info &description) {
  cudaGetLastError();
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  const char *const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  std::snprintf(description.reason, sizeof description.reason, "%s (driver %d, runtime %d%s%s)",
                cudaGetErrorString(error), driver, runtime, visible == nullptr ? "" : ", CUDA_VISIBLE_DEVICES is ",
                visible == nullptr ? ""
                : *visible == '\0' ? "empty"
                                   : visible);
}

void set_properties(const cudaDeviceProp &facts, lpt_device_info &description) {
  description.capability_major = facts.major;
  description.capability_minor = facts.minor;
  description.processor_count = facts.multiProcessorCount;
  description.memory_bytes = static_cast<int64_t>(facts.totalGlobalMem);
  std::snprintf(description.name, sizeof description.name, "%.127s", facts.name);
  description.is_usable = 10 * facts.major + facts.minor >= kLeastCapability ? 1 : 0;
  if (description.is_usable == 1) return;
  std::snprintf(description.reason, sizeof description.reason,
                "%s has compute capability %d.%d: expected %d.%d or later", facts.name, facts.major, facts.minor,
                kLeastCapability / 10, kLeastCapability % 10);
}

// Queries the driver without starting work on a device.
int32_t describe(int32_t index, lpt_device_info *out_description, char *, size_t) {
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
  if (error != cudaSuccess) {
    set_reason(error, *out_description);
    return LPT_OK;
  }
  out_description->count = count;
  if (index >= count) {
    std::snprintf(out_description->reason, sizeof out_description->reason, "there are %d devices: expected 0 to %d",
                  count, count - 1);
    return LPT_OK;
  }
  cudaDeviceProp facts;
  error = cudaGetDeviceProperties(&facts, index);
  if (error == cudaSuccess) {
    set_properties(facts, *out_description);
  } else {
    set_reason(error, *out_description);
  }
  return LPT_OK;
}

int32_t allocate(int32_t index, size_t bytes, void **out_memory, char *text, size_t text_bytes) {
  const OnDevice here(index);
  return reported("allocating", index, here.run([&] { return cudaMalloc(out_memory, bytes); }), text, text_bytes);
}

// cudaFree() waits for the device, so no queued work can use the memory afterwards. Errors after the end of the runtime of the
// process are ignored.
void release(int32_t index, void *memory) {
  const OnDevice here(index);
  if (here.run([&] { return cudaFree(memory); }) != cudaSuccess) cudaGetLastError();
}

int32_t check(int32_t index, const void *memory, char *text, size_t text_bytes) {
  const OnDevice here(index);
  cudaPointerAttributes facts;
  const cudaError_t error = here.run([&] { return cudaPointerGetAttributes(&facts, memory); });
  if (error != cudaSuccess) return reported("requesting a pointer", index, error, text, text_bytes);
  const bool is_managed = facts.type == cudaMemoryTypeManaged;
  if (is_managed || (facts.type == cudaMemoryTypeDevice && facts.device == index)) return LPT_OK;
  if (facts.type == cudaMemoryTypeDevice) {
    std::snprintf(text, text_bytes, "expected memory of cuda:%d, it is of cuda:%d", index, facts.device);
  } else {
    std::snprintf(text, text_bytes, "expected memory of cuda:%d, it is of the CPU", index);
  }
  return LPT_INVALID_ARGUMENT;
}

int32_t fill(int32_t index, void *stream, void *memory, uint8_t value, size_t bytes, char *text, size_t text_bytes) {
  const OnDevice here(index);
  const cudaError_t error = here.run([&] { return cudaMemsetAsync(memory, value, bytes, stream_of(stream)); });
  return reported("filling memory", index, error, text, text_bytes);
}

// Contiguous rows are copied as one run of any length, as strides have a limit.
cudaError_t copy_rows(const CopyRequest &request, cudaStream_t stream) {
  const auto row_bytes = static_cast<size_t>(request.row_bytes), rows = static_cast<size_t>(request.rows);
  const bool is_run = request.target_stride == request.row_bytes && request.source_stride == request.row_bytes;
  if (is_run || rows == 1) {
    return cudaMemcpyAsync(request.target, request.source, row_bytes * rows, cudaMemcpyDefault, stream);
  }
  return cudaMemcpy2DAsync(request.target, static_cast<size_t>(request.target_stride), request.source,
                           static_cast<size_t>(request.source_stride), row_bytes, rows, cudaMemcpyDefault, stream);
}

int32_t copy(int32_t index, void *stream, const CopyRequest *request, char *text, size_t text_bytes) {
  const OnDevice here(index);
  const cudaError_t error = here.run([&] { return copy_rows(*request, stream_of(stream)); });
  return reported("copying", index, error, text, text_bytes);
}

// The memory of one device need not be mapped for the other: the driver copies through the CPU if necessary.
cudaError_t copy_rows_between(const CopyRequest &request, int target_index, int source_index, cudaStream_t stream) {
  const auto row_bytes = static_cast<size_t>(request.row_bytes), rows = static_cast<size_t>(request.rows);
  const bool is_run = request.target_stride == request.row_bytes && request.source_stride == request.row_bytes;
  if (is_run || rows == 1) {
    return cudaMemcpyPeerAsync(request.target, target_index, request.source, source_index, row_bytes * rows, stream);
  }
  cudaMemcpy3DPeerParms all = {};
  all.srcPtr = {const_cast<void *>(request.source), static_cast<size_t>(request.source_stride), row_bytes, rows};
  all.srcDevice = source_index;
  all.dstPtr = {request.target, static_cast<size_t>(request.target_stride), row_bytes, rows};
  all.dstDevice = target_index;
  all.extent = {row_bytes, rows, 1};
  return cudaMemcpy3DPeerAsync(&all, stream);
}

int32_t copy_between(int32_t index, void *stream, const CopyRequest *request, int32_t target_index,
                     int32_t source_index, char *text, size_t text_bytes) {
  const OnDevice here(index);
  const cudaError_t error =
      here.run([&] { return copy_rows_between(*request, target_index, source_index, stream_of(stream)); });
  return reported("copying between devices", index, error, text, text_bytes);
}

int32_t synchronize(int32_t index, void *stream, char *text, size_t text_bytes) {
  const OnDevice here(index);
  const cudaError_t error = here.run([&] { return cudaStreamSynchronize(stream_of(stream)); });
  return reported("work queued before", index, error, text, text_bytes);
}

int32_t enter(int32_t index, void *, int32_t *out_is_entered, char *text, size_t text_bytes) {
  bool is_entered = false;
  const cudaError_t error = enter_device(index, is_entered);
  *out_is_entered = is_entered ? 1 : 0;
  return reported("choosing the device", index, error, text, text_bytes);
}

int32_t leave(int32_t index, int32_t is_entered, char *text, size_t text_bytes) {
  const cudaError_t error = cudaGetLastError();
  if (is_entered == 1) leave_device();
  return reported("a launch", index, error, text, text_bytes);
}

// Creates a stream that, unlike most streams, does not wait for CUDA's default stream.
int32_t make_stream(int32_t index, void **out_stream, char *text, size_t text_bytes) {
  const OnDevice here(index);
  cudaStream_t stream = nullptr;
  const cudaError_t error = here.run([&] { return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); });
  *out_stream = stream;
  return reported("making a stream", index, error, text, text_bytes);
}

void drop_stream(int32_t index, void *stream) {
  const OnDevice here(index);
  if (here.run([&] { return cudaStreamDestroy(stream_of(stream)); }) != cudaSuccess) cudaGetLastError();
}

int32_t make_event(int32_t index, void **out_event, char *text, size_t text_bytes) {
  const OnDevice here(index);
  cudaEvent_t event = nullptr;
  const cudaError_t error = here.run([&] { return cudaEventCreateWithFlags(&event, cudaEventDisableTiming); });
  *out_event = event;
  return reported("making an event", index, error, text, text_bytes);
}

void drop_event(int32_t index, void *event) {
  const OnDevice here(index);
  if (here.run([&] { return cudaEventDestroy(event_of(event)); }) != cudaSuccess) cudaGetLastError();
}

int32_t record(int32_t index, void *event, void *stream, char *text, size_t text_bytes) {
  const OnDevice here(index);
  const cudaError_t error = here.run([&] { return cudaEventRecord(event_of(event), stream_of(stream)); });
  return reported("recording an event", index, error, text, text_bytes);
}

int32_t follow(int32_t index, void *stream, void *event, char *text, size_t text_bytes) {
  const OnDevice here(index);
  const cudaError_t error = here.run([&] { return cudaStreamWaitEvent(stream_of(stream), event_of(event), 0); });
  return reported("waiting for an event", index, error, text, text_bytes);
}

int32_t is_past(int32_t index, void *event, int32_t *out_is_past, char *text, size_t text_bytes) {
  const OnDevice here(index);
  const cudaError_t error = here.run([&] { return cudaEventQuery(event_of(event)); });
  *out_is_past = error == cudaErrorNotReady ? 0 : 1;
  if (error != cudaErrorNotReady) return reported("work queued before", index, error, text, text_bytes);
  cudaGetLastError();
  return LPT_OK;
}

}  // namespace

const Backend &cuda_backend() {
  static constexpr Backend kCuda = {.describe = describe,
                                    .allocate = allocate,
                                    .release = release,
                                    .check = check,
                                    .fill = fill,
                                    .copy = copy,
                                    .copy_between = copy_between,
                                    .synchronize = synchronize,
                                    .enter = enter,
                                    .leave = leave,
                                    .make_stream = make_stream,
                                    .drop_stream = drop_stream,
                                    .make_event = make_event,
                                    .drop_event = drop_event,
                                    .record = record,
                                    .follow = follow,
                                    .is_past = is_past};
  return kCuda;
}

}  // namespace lpt
