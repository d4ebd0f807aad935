// The structs of DLPack. Their layout is a published binary interface; names are those of dlpack.h 1.1.
#pragma once

#include <cstdint>

namespace lpt {

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;  // in elements of all lanes; NULL: dense
  uint64_t byte_offset;
};

// The struct of DLPack releases below 1.0, without version and flags.
struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(DLManagedTensor *self);
};

struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void *manager_ctx;
  void (*deleter)(DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
};

static_assert(sizeof(DLTensor) == 48 && sizeof(DLManagedTensor) == 64 && sizeof(DLManagedTensorVersioned) == 80);

constexpr int32_t kDLCpu = 1, kDLCuda = 2;
constexpr uint64_t kDLReadOnly = 1, kDLCopied = 2, kDLPadded = 4;

}  // namespace lpt
