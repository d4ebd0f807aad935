#include "src/tensor/dlpack.hpp"

#include <algorithm>
#include <iterator>

#include "src/call/operation.hpp"
#include "src/tensor/dlpack_abi.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

namespace {

struct Type {
  const char *name;
  int32_t code, bits;
  lpt_format format;
};

// The DLPack types that have a format. If two entries have the same format, export uses the first.
constexpr Type kTypes[] = {
    {"int", 0, 2, LPT_FORMAT_INT2},
    {"int", 0, 4, LPT_FORMAT_INT4},
    {"int", 0, 8, LPT_FORMAT_INT8},
    {"int", 0, 16, LPT_FORMAT_INT16},
    {"int", 0, 32, LPT_FORMAT_INT32},
    {"int", 0, 64, LPT_FORMAT_INT64},
    {"uint", 1, 4, LPT_FORMAT_UINT4},
    {"uint", 1, 8, LPT_FORMAT_UINT8},
    {"float", 2, 16, LPT_FORMAT_F16},
    {"float", 2, 32, LPT_FORMAT_F32},
    {"float", 2, 64, LPT_FORMAT_F64},
    {"bfloat", 4, 16, LPT_FORMAT_BF16},
    {"bool", 6, 8, LPT_FORMAT_UINT8},
    {"float8_e3m4", 7, 8, LPT_FORMAT_E3M4},
    {"float8_e4m3", 8, 8, LPT_FORMAT_E4M3},
    {"float8_e4m3b11fnuz", 9, 8, LPT_FORMAT_E4M3B11FNUZ},
    {"float8_e4m3fn", 10, 8, LPT_FORMAT_E4M3FN},
    {"float8_e4m3fnuz", 11, 8, LPT_FORMAT_E4M3FNUZ},
    {"float8_e5m2", 12, 8, LPT_FORMAT_E5M2},
    {"float8_e5m2fnuz", 13, 8, LPT_FORMAT_E5M2FNUZ},
    {"float8_e8m0fnu", 14, 8, LPT_FORMAT_E8M0FNU},
    {"float6_e2m3fn", 15, 6, LPT_FORMAT_E2M3FN},
    {"float6_e3m2fn", 16, 6, LPT_FORMAT_E3M2FN},
    {"float4_e2m1fn", 17, 4, LPT_FORMAT_E2M1FN},
};

// By type code.
constexpr const char *kTypeNames[] = {"int",
                                      "uint",
                                      "float",
                                      "opaque handle",
                                      "bfloat",
                                      "complex",
                                      "bool",
                                      "float8_e3m4",
                                      "float8_e4m3",
                                      "float8_e4m3b11fnuz",
                                      "float8_e4m3fn",
                                      "float8_e4m3fnuz",
                                      "float8_e5m2",
                                      "float8_e5m2fnuz",
                                      "float8_e8m0fnu",
                                      "float6_e2m3fn",
                                      "float6_e3m2fn",
                                      "float4_e2m1fn"};

// By device type minus 1.
constexpr const char *kDeviceNames[] = {"cpu",          "cuda",   "cuda_host", "opencl",  nullptr,     nullptr,
                                        "vulkan",       "metal",  "vpi",       "rocm",    "rocm_host", "ext_dev",
                                        "cuda_managed", "oneapi", "webgpu",    "hexagon", "maia",      "trainium"};

int32_t device_type_of(const Device &device) { return device.is_cpu() ? kDLCpu : kDLCuda; }

// Rejects memory of another device than that of the context.
Status check_device(const Context &context, const DLDevice &device) {
  const Device &own = context.queue.device();
  if (device.device_type == device_type_of(own)) {
    // The CPU has one index; other libraries store any number.
    if (own.is_cpu() || device.device_id == own.index) return {};
    return invalid("device_id is %d: expected %d, where the context works", device.device_id, own.index);
  }
  const int64_t index = int64_t{device.device_type} - 1;
  const bool is_known = index >= 0 && index < std::ssize(kDeviceNames) && kDeviceNames[index] != nullptr;
  return unsupported("device_type is %d, %s: expected %d, %s, where the context works", device.device_type,
                     is_known ? kDeviceNames[index] : "unknown", device_type_of(own), device_text(own).c_str());
}

Status format_of_type(const DLDataType &type, lpt_format &out_format) {
  for (const Type &row : kTypes) {
    if (row.code != type.code || row.bits != type.bits) continue;
    out_format = row.format;
    return {};
  }
  const bool is_known = type.code < std::size(kTypeNames);
  return unsupported("dtype is code %d, %s, of %d bits: LPT has no such format", type.code,
                     is_known ? kTypeNames[type.code] : "unknown", type.bits);
}

// Converts lanes to elements of the last axis. Updates `shape` and `strides`, which have one entry for each axis.
Status unfold_lanes(const DLTensor &source, int64_t *shape, int64_t *strides) {
  const int64_t lanes = source.dtype.lanes;
  const int32_t last = source.ndim - 1;
  if (lanes == 0) return invalid("dtype.lanes is 0: expected at least 1");
  if (lanes == 1) return {};
  if (last < 0) return unsupported("dtype.lanes is %d of a tensor without axes: expected 1", source.dtype.lanes);
  if (strides[last] != 1) {
    return unsupported("strides[%d] is %lld with %d lanes: expected 1", last, number(strides[last]),
                       source.dtype.lanes);
  }
  for (int32_t i = 0; i < last; ++i) {
    if (!multiply(strides[i], lanes, strides[i]))
      return invalid("strides[%d] times %lld lanes does not fit", i, number(lanes));
  }
  if (!multiply(shape[last], lanes, shape[last])) {
    return invalid("shape[%d] is %lld: times %lld lanes it does not fit", last, number(shape[last]), number(lanes));
  }
  return {};
}

// Sets the stride of every axis, in elements of all lanes. Other libraries store any stride for an axis of extent 1, so it is
// replaced.
void read_strides(const DLTensor &source, int32_t pack, int64_t *strides) {
  int64_t dense = 1;
  for (int32_t i = source.ndim - 1; i >= 0; --i) {
    const bool is_idle = source.shape[i] <= 1;
    const bool is_last = i == source.ndim - 1;
    if (is_idle) {
      strides[i] = is_last ? 1 : (dense + pack - 1) / pack * pack;
    } else {
      strides[i] = source.strides != nullptr ? source.strides[i] : dense;
    }
    dense *= source.shape[i];
  }
}

bool is_empty(const DLTensor &source) {
  for (int32_t i = 0; i < source.ndim; ++i) {
    if (source.shape[i] == 0) return true;
  }
  return false;
}

Status address_of(const DLTensor &source, void **out_data) {
  *out_data = nullptr;
  if (is_empty(source)) return {};
  if (source.data == nullptr) return invalid("data is NULL: expected memory of the elements");
  const auto begin = reinterpret_cast<uintptr_t>(source.data);
  if (source.byte_offset > UINTPTR_MAX - begin) {
    return invalid("byte_offset is %llu: it leads past the end of memory",
                   static_cast<unsigned long long>(source.byte_offset));
  }
  *out_data = static_cast<std::byte *>(source.data) + source.byte_offset;
  return {};
}

Status check_axes(const DLTensor &source) {
  if (source.ndim < 0 || source.ndim > kMostAxes)
    return invalid("ndim is %d: expected 0 to %d", source.ndim, kMostAxes);
  if (source.ndim > 0 && source.shape == nullptr) return invalid("shape is NULL: expected %d numbers", source.ndim);
  return check_tensor_extents(source.ndim, source.shape);
}

Status wrap_dlpack(Context &context, const DLTensor &source, Tensor **out_tensor) {
  LPT_TRY(check_device(context, source.device));
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  LPT_TRY(format_of_type(source.dtype, description.format));
  LPT_TRY(check_axes(source));
  int64_t shape[kMostAxes] = {}, strides[kMostAxes] = {};
  std::copy_n(source.shape, source.ndim, shape);
  read_strides(source, packing_of(description.format).elements, strides);
  LPT_TRY(unfold_lanes(source, shape, strides));
  LPT_TRY(address_of(source, &description.data));
  description.rank = source.ndim;
  description.extents = shape;
  // The strides of an empty tensor have no meaning.
  description.strides = is_empty(source) ? nullptr : strides;
  return wrap_tensor(context, description, out_tensor);
}

Status check_version(const DLManagedTensorVersioned &managed) {
  if (managed.major != 1) {
    return unsupported("version is %u.%u: expected major 1", managed.major, managed.minor);
  }
  if ((managed.flags & kDLPadded) != 0 && managed.dl_tensor.dtype.bits < 8) {
    return unsupported("flags have IS_SUBBYTE_TYPE_PADDED, one element of %d bits in a byte: expected packed elements",
                       managed.dl_tensor.dtype.bits);
  }
  return {};
}

// Sets the outputs only after all checks succeed.
Status read_dlpack(Context &context, const void *managed, int32_t is_versioned, lpt_flags *out_flags,
                   std::unique_ptr<Tensor> &out_tensor) {
  const auto *versioned = static_cast<const DLManagedTensorVersioned *>(managed);
  const auto *legacy = static_cast<const DLManagedTensor *>(managed);
  if (is_versioned != 0 && is_versioned != 1) return invalid("is_versioned is %d: expected 0 or 1", is_versioned);
  if (is_versioned == 1) LPT_TRY(check_version(*versioned));
  const uint64_t flags = is_versioned == 1 ? versioned->flags & (kDLReadOnly | kDLCopied) : 0;
  Tensor *tensor = nullptr;
  LPT_TRY(wrap_dlpack(context, is_versioned == 1 ? versioned->dl_tensor : legacy->dl_tensor, &tensor));
  out_tensor.reset(tensor);
  tensor->is_read_only = (flags & kDLReadOnly) != 0;
  if (out_flags != nullptr) {
    *out_flags =
        ((flags & kDLReadOnly) != 0 ? LPT_DLPACK_READ_ONLY : 0) | ((flags & kDLCopied) != 0 ? LPT_DLPACK_COPIED : 0);
  }
  return {};
}

template <typename Managed>
std::shared_ptr<std::byte> keep(void *data, void *given) {
  auto *managed = static_cast<Managed *>(given);
  // The owner is set after its allocation: if make_shared() throws, the deleter must not run.
  const auto owner = std::make_shared<std::unique_ptr<Managed, void (*)(Managed *)>>(nullptr, [](Managed *ended) {
    if (ended->deleter != nullptr) ended->deleter(ended);
  });
  owner->reset(managed);
  return {owner, static_cast<std::byte *>(data)};
}

}  // namespace

Status borrow_dlpack(Context &context, const void *managed, int32_t is_versioned, lpt_flags *out_flags,
                     Tensor **out_tensor) {
  std::unique_ptr<Tensor> tensor;
  LPT_TRY(read_dlpack(context, managed, is_versioned, out_flags, tensor));
  *out_tensor = tensor.release();
  return {};
}

Status take_dlpack(Context &context, void *managed, int32_t is_versioned, lpt_flags *out_flags, Tensor **out_tensor) {
  std::unique_ptr<Tensor> tensor;
  LPT_TRY(read_dlpack(context, managed, is_versioned, out_flags, tensor));
  tensor->storage[LPT_TENSOR_PART_PAYLOAD] = is_versioned == 1 ? keep<DLManagedTensorVersioned>(tensor->data, managed)
                                                               : keep<DLManagedTensor>(tensor->data, managed);
  *out_tensor = tensor.release();
  return {};
}

namespace {

// The context of an exported struct. The tensor owns the memory and stores the extents and strides.
template <typename Managed>
struct Given {
  Managed managed;
  Tensor tensor;
};

template <typename Managed>
Managed *give(const Tensor &tensor, const DLDataType &type) {
  auto given = std::make_unique<Given<Managed>>(Given<Managed>{{}, tensor});
  Managed &managed = given->managed;
  const DLDevice device = {device_type_of(tensor.device), tensor.device.index};
  managed.dl_tensor = {tensor.data, device, tensor.rank, type, given->tensor.extents, given->tensor.strides, 0};
  managed.manager_ctx = given.get();
  managed.deleter = [](Managed *self) { delete static_cast<Given<Managed> *>(self->manager_ctx); };
  return &given.release()->managed;
}

Status type_of_format(const Tensor &tensor, DLDataType &out_type) {
  if (is_packed(tensor.layout)) return unsupported("tensor is packed weights: DLPack has no such layout");
  if (!tensor.format.is_plain() || tensor.format.is_sparse) {
    return unsupported("tensor is %s: DLPack has no scales and no indices; give each part, see lpt_tensor_view_part()",
                       tensor_text(tensor).c_str());
  }
  for (const Type &row : kTypes) {
    if (row.format != tensor.format.id) continue;
    out_type = {static_cast<uint8_t>(row.code), static_cast<uint8_t>(row.bits), 1};
    return {};
  }
  return unsupported("tensor is %s: DLPack has no such type", tensor_text(tensor).c_str());
}

}  // namespace

Status give_dlpack(const Tensor &tensor, int32_t is_versioned, void **out_managed) {
  DLDataType type;
  LPT_TRY(type_of_format(tensor, type));
  if (is_versioned == 0) {
    if (tensor.is_read_only) {
      return unsupported("tensor is read-only: only the versioned struct of DLPack can state that");
    }
    *out_managed = give<DLManagedTensor>(tensor, type);
  } else if (is_versioned == 1) {
    auto *managed = give<DLManagedTensorVersioned>(tensor, type);
    managed->major = 1;
    managed->minor = 1;
    managed->flags = tensor.is_read_only ? kDLReadOnly : 0;
    *out_managed = managed;
  } else {
    return invalid("is_versioned is %d: expected 0 or 1", is_versioned);
  }
  return {};
}

}  // namespace lpt
