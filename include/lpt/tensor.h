/**
 * @file tensor.h
 * @brief Tensors: creation, views, parts, copies, and exchange by DLPack.
 */
#ifndef LPT_TENSOR_H
#define LPT_TENSOR_H

#include "common.h"
#include "context.h"
#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief A part of a tensor; one of lpt_tensor_part_values. */
typedef int32_t lpt_tensor_part;

/** @brief Values of lpt_tensor_part. */
enum lpt_tensor_part_values {
  LPT_TENSOR_PART_PAYLOAD = 0,      /**< The elements. */
  LPT_TENSOR_PART_BLOCK_SCALES = 1, /**< A matrix of scales, one per block, rows of blocks by columns of blocks. */
  LPT_TENSOR_PART_TENSOR_SCALE = 2, /**< One scale. */
  LPT_TENSOR_PART_ZERO_POINTS = 3,  /**< A matrix of zero points, one per block, as the block scales. */
  /** Where the elements of a 2:4 format belong: bytes, rows by columns / 8 rounded up; see lpt_sparse_compress(). */
  LPT_TENSOR_PART_SPARSE_INDICES = 4
};

/** @brief Flag of a tensor: operations reject it as an output. Its views and parts inherit the flag. */
#define LPT_TENSOR_READ_ONLY UINT64_C(1)

/** @brief A tensor taken apart. */
typedef struct lpt_tensor_description {
  size_t struct_size;     /**< sizeof(lpt_tensor_description) of the caller. */
  lpt_format format;      /**< What the payload means. */
  void *data;             /**< First element, aligned to its size; NULL: without data, for LPT_CHECK_ONLY. */
  int32_t rank;           /**< Number of axes, 0 to 8. */
  int32_t reserved;       /**< 0. */
  const int64_t *extents; /**< `rank` extents. */
  const int64_t *strides; /**< `rank` strides in elements; NULL: dense, last axis fastest. */
  lpt_device device;      /**< Where `data` is, as lpt_tensor_describe() tells it; not looked at when wrapping. */
  int32_t device_index;   /**< The same: which device of this kind. */
  uint64_t flags;         /**< LPT_TENSOR_READ_ONLY or 0. */
} lpt_tensor_description;

/** @brief Defaults of lpt_tensor_description. */
#define LPT_TENSOR_DESCRIPTION_INIT \
  { sizeof(lpt_tensor_description), LPT_FORMAT_NONE, NULL, 0, 0, NULL, NULL, LPT_DEVICE_CPU, 0, 0 }

/**
 * @brief Creates a tensor in memory of its own: zero elements, all scales 1, all zero points 0.
 * @param context whose device it is on. On the CPU its allocator is used; on a GPU filling it is queued.
 * @param format any format; one with scales takes rank 2 or more.
 * @param rank 0 to 8.
 * @param extents `rank` numbers, none negative.
 * @param out_tensor returned; destroy with lpt_tensor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_tensor_create(lpt_context *context, lpt_format format, int32_t rank, const int64_t *extents,
                                     lpt_tensor **out_tensor);

/**
 * @brief Creates a matrix: lpt_tensor_create() of rank 2.
 *
 * @param[in]  format     Any format.
 * @param[in]  rows       At least 0.
 * @param[in]  columns    At least 0.
 * @param[out] out_tensor Receives the tensor; destroy it with lpt_tensor_destroy().
 * @retval LPT_INVALID_ARGUMENT `format` is no format, an extent is negative, or the extents multiply to more than 2^56.
 */
LPT_API lpt_status lpt_tensor_create_matrix(lpt_context *context, lpt_format format, int64_t rows, int64_t columns,
                                            lpt_tensor **out_tensor);

/**
 * @brief Makes a tensor of the caller's memory, which is borrowed until the tensor is destroyed.
 * @param context the context. Of a GPU: the memory is that GPU's.
 * @param description a plain format; formats with scales are made with lpt_tensor_combine().
 * @param out_tensor returned; destroy with lpt_tensor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_tensor_wrap(lpt_context *context, const lpt_tensor_description *description,
                                   lpt_tensor **out_tensor);

/**
 * @brief Makes a matrix of the caller's memory, which is borrowed until the tensor is destroyed.
 * @param context the context. Of a GPU: the memory is that GPU's.
 * @param format a plain format.
 * @param data first element, aligned to its size; NULL: a tensor without data, for LPT_CHECK_ONLY.
 * @param rows at least 0.
 * @param columns at least 0.
 * @param row_stride elements from one row to the next; 0: `columns`.
 * @param out_tensor returned; destroy with lpt_tensor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_tensor_wrap_matrix(lpt_context *context, lpt_format format, void *data, int64_t rows,
                                          int64_t columns, int64_t row_stride, lpt_tensor **out_tensor);

/**
 * @brief Makes a read-only matrix of the caller's memory: lpt_tensor_wrap_matrix() with LPT_TENSOR_READ_ONLY.
 *
 * Ownership The memory is borrowed until the last tensor that shares it is destroyed. No operation writes it.
 *
 * @param[in]  format     A plain format.
 * @param[in]  data       First element, aligned to its size. NULL: a tensor without data, for LPT_CHECK_ONLY.
 * @param[in]  rows       At least 0.
 * @param[in]  columns    At least 0.
 * @param[in]  row_stride Elements from one row to the next, at least `columns`. 0: `columns`.
 * @param[out] out_tensor Receives the tensor; destroy it with lpt_tensor_destroy().
 * @retval LPT_INVALID_ARGUMENT The format has scales, `data` is not aligned, or an extent or the stride is out of range.
 */
LPT_API lpt_status lpt_tensor_wrap_const_matrix(lpt_context *context, lpt_format format, const void *data, int64_t rows,
                                                int64_t columns, int64_t row_stride, lpt_tensor **out_tensor);

/**
 * @brief Makes a tensor of a part of another one; both may write the same memory, which lives as long as either.
 * @param context the context.
 * @param tensor the source.
 * @param begins first index along each axis; on block edges of the format, and on whole bytes along the last axis.
 * @param extents extents of the view; they end on block edges or at the source's end.
 * @param out_tensor returned; destroy with lpt_tensor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_tensor_view(lpt_context *context, const lpt_tensor *tensor, const int64_t *begins,
                                   const int64_t *extents, lpt_tensor **out_tensor);

/**
 * @brief Makes a tensor of one part: the elements as a plain tensor, or the scales.
 * @param context the context.
 * @param tensor the source.
 * @param part which part.
 * @param out_tensor returned; destroy with lpt_tensor_destroy(). The scales of blocks are a matrix.
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the format has no such part; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_tensor_view_part(lpt_context *context, const lpt_tensor *tensor, lpt_tensor_part part,
                                        lpt_tensor **out_tensor);

/**
 * @brief Makes a matrix of its parts: the inverse of lpt_tensor_view_part(). The parts' memory is borrowed, or lives on if it
 *        is the library's.
 * @param context the context.
 * @param format what the parts make.
 * @param rows rows of the matrix.
 * @param columns columns of the matrix; the payload may be given as bytes (LPT_FORMAT_UINT8) when elements are smaller.
 * @param parts indexed by lpt_tensor_part; NULL for parts that the format lacks. Scales are dense.
 * @param part_count length of `parts`.
 * @param out_tensor returned; destroy with lpt_tensor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT when a part is missing or of the wrong format or shape; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_tensor_combine(lpt_context *context, lpt_format format, int64_t rows, int64_t columns,
                                      const lpt_tensor *const *parts, int32_t part_count, lpt_tensor **out_tensor);

/**
 * @brief Takes a tensor apart.
 * @param context the context.
 * @param tensor the tensor.
 * @param out_description its `struct_size` is set by the caller; written. Its arrays live as long as the tensor.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_tensor_describe(lpt_context *context, const lpt_tensor *tensor,
                                       lpt_tensor_description *out_description);

/**
 * @brief Returns the format of a tensor.
 *
 * @param[in] tensor The tensor.
 * @return The format; LPT_FORMAT_NONE for NULL.
 */
LPT_API lpt_format lpt_tensor_format(const lpt_tensor *tensor);

/**
 * @brief Returns the number of axes of a tensor.
 *
 * @param[in] tensor The tensor.
 * @return 0 to 8; 0 for NULL.
 */
LPT_API int32_t lpt_tensor_rank(const lpt_tensor *tensor);

/**
 * @brief Returns the extent of one axis of a tensor.
 *
 * @param[in] tensor The tensor.
 * @param[in] axis   0 for the first axis; -1 for the last.
 * @return The extent in elements; 0 for NULL and for an axis that the tensor lacks.
 */
LPT_API int64_t lpt_tensor_extent(const lpt_tensor *tensor, int32_t axis);

/**
 * @brief Returns the stride of one axis of a tensor.
 *
 * @param[in] tensor The tensor.
 * @param[in] axis   0 for the first axis; -1 for the last.
 * @return The stride in elements; 0 for NULL and for an axis that the tensor lacks.
 */
LPT_API int64_t lpt_tensor_stride(const lpt_tensor *tensor, int32_t axis);

/**
 * @brief Returns the memory of a tensor's payload, to be written.
 *
 * @param[in] tensor The tensor.
 * @return The first element, in memory of the tensor's device. NULL for NULL, for a read-only tensor, for packed weights and
 *         for a tensor without data.
 */
LPT_API void *lpt_tensor_data(lpt_tensor *tensor);

/**
 * @brief Returns the memory of a tensor's payload, to be read.
 *
 * @param[in] tensor The tensor.
 * @return The first element, in memory of the tensor's device. NULL for NULL, for packed weights and for a tensor without
 *         data.
 */
LPT_API const void *lpt_tensor_const_data(const lpt_tensor *tensor);

/**
 * @brief Returns the device of a tensor's memory.
 *
 * @param[in]  tensor    The tensor.
 * @param[out] out_index Receives the index of the device. NULL is allowed.
 * @return The kind of device; LPT_DEVICE_CPU for NULL.
 */
LPT_API lpt_device lpt_tensor_device(const lpt_tensor *tensor, int32_t *out_index);

/**
 * @brief Returns how many bytes the elements and scales of a tensor take, without gaps between rows.
 * @param context the context.
 * @param tensor the tensor.
 * @param out_size_bytes returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_tensor_size(lpt_context *context, const lpt_tensor *tensor, size_t *out_size_bytes);

/**
 * @brief Copies a tensor with all its parts: from one memory to another, or within one.
 *
 * Shapes    both have the same extents; strides may differ.
 * Formats   both have the same; packed weights are not taken.
 * Overlap   none.
 *
 * @param context its device, or the CPU, is where source and target lie. On a GPU the copy is queued: memory of the
 *        CPU that takes part may be read or changed after lpt_context_synchronize().
 * @param source borrowed.
 * @param target written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_WORK_FAILED.
 */
LPT_API lpt_status lpt_tensor_copy(lpt_context *context, const lpt_tensor *source, lpt_tensor *target);

/**
 * @brief Destroys a tensor. Memory that was wrapped is left alone.
 * @param tensor NULL is allowed.
 */
LPT_API void lpt_tensor_destroy(lpt_tensor *tensor);

/** @brief Flag of lpt_tensor_from_dlpack(): the memory must not be written. */
#define LPT_DLPACK_READ_ONLY UINT64_C(1)

/** @brief Flag of lpt_tensor_from_dlpack(): the memory is a copy that the producer made. */
#define LPT_DLPACK_COPIED UINT64_C(2)

/**
 * @brief Makes a tensor of what another library describes by DLPack 1.x, without a copy. The description is read here; the
 *        memory is borrowed until the tensor is destroyed, and the caller keeps the struct and calls its deleter.
 *
 * Types     float of 16, 32 and 64 bits, bfloat, int of 2, 4, 8 and 16, uint of 4 and 8, bool (as uint8), and the float8,
 *           float6 and float4 types that have a format. Lanes are elements of the last axis, which is dense then.
 * Layout    rank 0 to 8 and strides as for lpt_tensor_wrap(); byte_offset is added. Small elements are packed, rows on whole
 *           packs; padded ones (one in a byte) are rejected. A tensor without elements may have no memory.
 * Device    the context's: kDLCPU, or kDLCUDA with its index.
 * Version   major 1 of the versioned struct, any minor.
 * Scales    are sent as tensors of their own: take each one, and join them with lpt_tensor_combine().
 * Source    dlpack.h 1.1, https://dmlc.github.io/dlpack.
 *
 * @param context the context.
 * @param managed a DLManagedTensorVersioned, or a DLManagedTensor; borrowed for the call.
 * @param is_versioned 1: DLManagedTensorVersioned; 0: DLManagedTensor, which has no flags.
 * @param out_flags returned: LPT_DLPACK_READ_ONLY, LPT_DLPACK_COPIED, else 0; NULL is allowed.
 * @param out_tensor returned; destroy with lpt_tensor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED for a type, a layout, a device or a version that LPT does not take;
 *         LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_tensor_from_dlpack(lpt_context *context, const void *managed, int32_t is_versioned,
                                          uint64_t *out_flags, lpt_tensor **out_tensor);

/**
 * @brief Makes a tensor as lpt_tensor_from_dlpack() does, and takes the struct over: its deleter is called once, when the last
 *        tensor that shares the memory is destroyed, on that thread. After an error the caller has it still.
 * @param context the context.
 * @param managed a DLManagedTensorVersioned, or a DLManagedTensor; given. Its deleter may be NULL.
 * @param is_versioned 1: DLManagedTensorVersioned; 0: DLManagedTensor.
 * @param out_flags as for lpt_tensor_from_dlpack().
 * @param out_tensor returned; destroy with lpt_tensor_destroy().
 * @return as lpt_tensor_from_dlpack().
 */
LPT_API lpt_status lpt_tensor_take_dlpack(lpt_context *context, void *managed, int32_t is_versioned,
                                          uint64_t *out_flags, lpt_tensor **out_tensor);

/**
 * @brief Describes a plain tensor by DLPack, for another library, without a copy. A tensor with scales goes part by part, see
 *        lpt_tensor_view_part(). Memory of the library lives as long as the struct; wrapped memory must.
 * @param context the context.
 * @param tensor borrowed; may be destroyed before the struct.
 * @param is_versioned 1: a DLManagedTensorVersioned of 1.1; 0: a DLManagedTensor.
 * @param out_managed returned; its deleter ends it, once, on any thread.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED for formats that DLPack has no type for; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_tensor_to_dlpack(lpt_context *context, const lpt_tensor *tensor, int32_t is_versioned,
                                        void **out_managed);

#ifdef __cplusplus
}
#endif

#endif
