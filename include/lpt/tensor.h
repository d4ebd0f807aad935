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
  LPT_TENSOR_PART_BLOCK_SCALES = 1, /**< Matrix with one scale per block: block rows × block columns. */
  LPT_TENSOR_PART_TENSOR_SCALE = 2, /**< One f32 scale. */
  LPT_TENSOR_PART_ZERO_POINTS = 3,  /**< Matrix with one zero point per block, shaped as the block scales. */
  /**
   * Indices of the stored elements of a 2:4 format: bytes, rows × (columns / 8, rounded up). See lpt_sparse_compress().
   */
  LPT_TENSOR_PART_SPARSE_INDICES = 4
};

/** @brief Format, memory and shape of a tensor. */
typedef struct lpt_tensor_description {
  size_t struct_size;     /**< sizeof(lpt_tensor_description) of the caller. */
  lpt_format format;      /**< Format of the tensor. */
  void *data;             /**< First element, aligned to its size; NULL: without data, for LPT_CHECK_ONLY. */
  int32_t rank;           /**< Number of axes, 0 to 8. */
  int32_t reserved;       /**< 0. */
  const int64_t *extents; /**< Array of `rank` extents, each at least 0. */
  const int64_t *strides; /**< Array of `rank` strides in elements; NULL: dense, last axis fastest. */
  lpt_device device;      /**< Device of `data`; lpt_tensor_describe() sets it, lpt_tensor_wrap() ignores it. */
  int32_t device_index;   /**< Index of the device within its kind; likewise. */
  lpt_flags flags;        /**< LPT_TENSOR_READ_ONLY, LPT_TENSOR_UNCHECKED, or 0; the second is for lpt_tensor_wrap(). */
} lpt_tensor_description;

/** @brief Defaults of lpt_tensor_description. */
#define LPT_TENSOR_DESCRIPTION_INIT \
  { sizeof(lpt_tensor_description), LPT_FORMAT_NONE, NULL, 0, 0, NULL, NULL, LPT_DEVICE_CPU, 0, 0 }

/**
 * @brief Creates a tensor whose elements are zero, whose scales are 1, and whose zero points are 0.
 *
 * Shapes    The tensor is dense. The product of its extents is at most 2^56.
 *
 * Formats   Any. Formats with scales take rank 2 or more, 2:4 formats take rank 2.
 *
 * Device    The memory is on the context's device. On the CPU it comes from the context's allocator. On a GPU the
 *           initialization is queued, and the call waits for it if the format has f32 scales.
 *
 * @param[in]  format     A format.
 * @param[in]  rank       0 to 8.
 * @param[in]  extents    Array of `rank` numbers of at least 0; may be NULL if `rank` is 0.
 * @param[out] out_tensor Destroy it with lpt_tensor_destroy().
 *
 * @retval LPT_INVALID_ARGUMENT `format` is not a format, or `rank` or an extent is out of range.
 * @retval LPT_WORK_FAILED      On a GPU, work on the stream failed.
 */
LPT_API lpt_status lpt_tensor_create(lpt_context *context, lpt_format format, int32_t rank, const int64_t *extents,
                                     lpt_tensor **out_tensor);

/**
 * @brief Creates a matrix whose elements are zero, as lpt_tensor_create() with rank 2.
 *
 * @param[in]  format     Any format.
 * @param[in]  rows       At least 0.
 * @param[in]  columns    At least 0.
 * @param[out] out_tensor Destroy it with lpt_tensor_destroy().
 *
 * @retval LPT_INVALID_ARGUMENT `format`, `rows` or `columns` is out of range.
 */
LPT_API lpt_status lpt_tensor_create_matrix(lpt_context *context, lpt_format format, int64_t rows, int64_t columns,
                                            lpt_tensor **out_tensor);

/**
 * @brief Creates a tensor in memory of the caller.
 *
 * Shapes    Rank is 0 to 8. A stride of 0 is only allowed along an axis of at most one element. Elements that share
 *           bytes need stride 1 along the last axis, and other strides that are multiples of the elements of one pack.
 *
 * Formats   Formats without scales. Use lpt_tensor_combine() for formats with scales, and for 2:4 formats.
 *
 * Device    The memory is on the context's device. On a GPU the driver is queried, unless LPT_TENSOR_UNCHECKED is set.
 *
 * Ownership The tensor borrows the memory until it is destroyed. It copies the arrays of the description.
 *
 * @param[in]  description Must not be NULL.
 * @param[out] out_tensor  Destroy it with lpt_tensor_destroy().
 *
 * @retval LPT_INVALID_ARGUMENT An extent, a stride or the format is out of range, or `data` is not aligned or not on
 *                              the context's GPU.
 * @retval LPT_UNSUPPORTED      `reserved` is not 0, or `flags` has another flag.
 */
LPT_API lpt_status lpt_tensor_wrap(lpt_context *context, const lpt_tensor_description *description,
                                   lpt_tensor **out_tensor);

/**
 * @brief Creates a matrix in memory of the caller.
 *
 * Formats   Formats without scales. Use lpt_tensor_combine() for formats with scales, and for 2:4 formats.
 *
 * Device    The memory is on the context's device.
 *
 * Ownership The tensor borrows the memory until it is destroyed.
 *
 * @param[in]  format     A format without scales.
 * @param[in]  data       First element, aligned to its size; NULL: a tensor without data, for LPT_CHECK_ONLY.
 * @param[in]  rows       At least 0.
 * @param[in]  columns    At least 0.
 * @param[in]  row_stride Elements from one row to the next, at least `columns`; 0: dense rows. A multiple of the
 *                        elements of one pack if elements share bytes.
 * @param[out] out_tensor Destroy it with lpt_tensor_destroy().
 *
 * @retval LPT_INVALID_ARGUMENT `format`, `rows`, `columns` or `row_stride` is out of range, or `data` is not aligned or
 *                              not on the context's GPU.
 */
LPT_API lpt_status lpt_tensor_wrap_matrix(lpt_context *context, lpt_format format, void *data, int64_t rows,
                                          int64_t columns, int64_t row_stride, lpt_tensor **out_tensor);

/**
 * @brief Creates a read-only matrix in memory of the caller, as lpt_tensor_wrap_matrix() with LPT_TENSOR_READ_ONLY.
 *
 * @param[in]  format     A format without scales.
 * @param[in]  data       First element, aligned to its size; NULL: a tensor without data, for LPT_CHECK_ONLY.
 * @param[in]  rows       At least 0.
 * @param[in]  columns    At least 0.
 * @param[in]  row_stride As for lpt_tensor_wrap_matrix().
 * @param[out] out_tensor Destroy it with lpt_tensor_destroy().
 *
 * @retval LPT_INVALID_ARGUMENT As for lpt_tensor_wrap_matrix().
 */
LPT_API lpt_status lpt_tensor_wrap_const_matrix(lpt_context *context, lpt_format format, const void *data, int64_t rows,
                                                int64_t columns, int64_t row_stride, lpt_tensor **out_tensor);

/**
 * @brief Creates a tensor of a range of each axis of another tensor.
 *
 * Shapes    The view begins and ends on block edges of the format or at the end of an axis. Blocks of a full axis may
 *           be cut. Elements that share bytes must begin on a whole pack. Views of a tensor with block scales cut only
 *           the first and the last axis. Columns of 2:4 formats are cut at multiples of 8. Packed weights are cut only
 *           along their rows, see lpt_weights_pack().
 *
 * Device    Any; the call copies nothing.
 *
 * Overlap   View and source use the same memory, and both may write it.
 *
 * Ownership Memory of the library lives as long as the source or the view. Memory of the caller stays borrowed.
 *
 * @param[in]  tensor     The source.
 * @param[in]  begins     Array of one first index per axis.
 * @param[in]  extents    Array of one extent per axis.
 * @param[out] out_tensor Destroy it with lpt_tensor_destroy().
 *
 * @retval LPT_INVALID_ARGUMENT The range exceeds the source, cuts a block or a byte, or cuts an axis that must be
 *                              complete.
 */
LPT_API lpt_status lpt_tensor_view(lpt_context *context, const lpt_tensor *tensor, const int64_t *begins,
                                   const int64_t *extents, lpt_tensor **out_tensor);

/**
 * @brief Creates a tensor of one part of another tensor: its elements, its scales, its zero points or its indices.
 *
 * Shapes    The payload has the shape of `tensor`; that of a 2:4 format has the stored columns. Block scales, zero
 *           points and indices are matrices. The tensor scale has rank 0.
 *
 * Overlap   The part and the tensor use the same memory, and both may write it.
 *
 * Ownership Memory of the library lives as long as one of the tensors. Memory of the caller stays borrowed.
 *
 * @param[in]  tensor     The source.
 * @param[in]  part       One of lpt_tensor_part_values.
 * @param[out] out_tensor Destroy it with lpt_tensor_destroy().
 *
 * @retval LPT_INVALID_ARGUMENT The format of `tensor` has no such part.
 * @retval LPT_UNSUPPORTED      `tensor` is packed weights.
 */
LPT_API lpt_status lpt_tensor_view_part(lpt_context *context, const lpt_tensor *tensor, lpt_tensor_part part,
                                        lpt_tensor **out_tensor);

/**
 * @brief Creates a matrix from its parts; the inverse of lpt_tensor_view_part().
 *
 * Shapes    The payload is rows × columns, with only the stored columns for 2:4 formats. Other parts have the shapes of
 *           lpt_tensor_view_part() and are dense. A payload of elements of at most 8 bits may also be given as uint8
 *           bytes.
 *
 * Device    All parts are on one device.
 *
 * Ownership The matrix shares the memory of its parts. Memory of the library lives as long as one of the tensors.
 *           Memory of the caller stays borrowed.
 *
 * @param[in]  format     Format of the matrix.
 * @param[in]  rows       At least 0.
 * @param[in]  columns    At least 0.
 * @param[in]  parts      Array indexed by lpt_tensor_part; NULL for each part that the format does not have.
 * @param[in]  part_count Length of `parts`, 1 to 64.
 * @param[out] out_tensor Destroy it with lpt_tensor_destroy().
 *
 * @retval LPT_INVALID_ARGUMENT A part is missing, not part of the format, on another device, or of a wrong format,
 *                              shape or stride.
 * @retval LPT_UNSUPPORTED      A part is packed weights, is of a 2:4 format, or has axes that do not fold into rows.
 */
LPT_API lpt_status lpt_tensor_combine(lpt_context *context, lpt_format format, int64_t rows, int64_t columns,
                                      const lpt_tensor *const *parts, int32_t part_count, lpt_tensor **out_tensor);

/**
 * @brief Returns the format, memory and shape of a tensor.
 *
 * Ownership `extents` and `strides` are valid until the tensor is destroyed.
 *
 * @param[in]     tensor          The tensor.
 * @param[in,out] out_description The caller sets its `struct_size`.
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
 * @param[in] axis   0 is the first axis, -1 the last.
 * @return The extent in elements; 0 for NULL and for an axis that the tensor does not have.
 */
LPT_API int64_t lpt_tensor_extent(const lpt_tensor *tensor, int32_t axis);

/**
 * @brief Returns the stride of one axis of a tensor.
 *
 * @param[in] tensor The tensor.
 * @param[in] axis   0 is the first axis, -1 the last.
 * @return The stride in elements; 0 for NULL and for an axis that the tensor does not have.
 */
LPT_API int64_t lpt_tensor_stride(const lpt_tensor *tensor, int32_t axis);

/**
 * @brief Returns the memory of the elements of a tensor, for writing.
 *
 * @param[in] tensor The tensor.
 * @return The first element, on the tensor's device. NULL for NULL, read-only tensors, packed weights and tensors without
 *         data.
 */
LPT_API void *lpt_tensor_data(lpt_tensor *tensor);

/**
 * @brief Returns the memory of the elements of a tensor, for reading.
 *
 * @param[in] tensor The tensor.
 * @return The first element, on the tensor's device. NULL for NULL, packed weights and tensors without data.
 */
LPT_API const void *lpt_tensor_const_data(const lpt_tensor *tensor);

/**
 * @brief Returns the device of a tensor.
 *
 * @param[in]  tensor    The tensor.
 * @param[out] out_index Index of the device within its kind. NULL is allowed.
 * @return The kind of device; LPT_DEVICE_CPU for NULL.
 */
LPT_API lpt_device lpt_tensor_device(const lpt_tensor *tensor, int32_t *out_index);

/**
 * @brief Returns the number of bytes that the elements, scales and other parts of a tensor take.
 *
 * Gaps between rows do not count. For packed weights the number includes their padding.
 *
 * @param[in]  tensor         The tensor.
 * @param[out] out_size_bytes Number of bytes.
 */
LPT_API lpt_status lpt_tensor_size(lpt_context *context, const lpt_tensor *tensor, size_t *out_size_bytes);

/**
 * @brief Copies a tensor with all its parts between devices or within one.
 *
 * Shapes    Both tensors have the same extents; strides may differ. Elements of a row are adjacent.
 *
 * Formats   Both tensors have the same format. Packed weights are not supported.
 *
 * Device    Each tensor is on the context's device or on the CPU. A GPU context also copies between its GPU and another
 *           one. On a GPU the copy is queued: CPU memory may be read or changed after lpt_context_synchronize().
 *
 * Overlap   Source and target must not overlap.
 *
 * @param[in]  source The source.
 * @param[out] target The target.
 *
 * @retval LPT_INVALID_ARGUMENT Formats or extents differ, the tensors overlap, a tensor has no data, or the context
 *                              cannot access its device.
 * @retval LPT_UNSUPPORTED      A tensor is packed weights, its elements of a row are not adjacent, or its axes do not
 *                              fold into rows.
 * @retval LPT_WORK_FAILED      On a GPU, the copy cannot be queued, or work on the stream failed.
 */
LPT_API lpt_status lpt_tensor_copy(lpt_context *context, const lpt_tensor *source, lpt_tensor *target);

/**
 * @brief Destroys a tensor.
 *
 * Ownership Memory of the library is freed with the last tensor that uses it. Memory of the caller is not freed.
 *
 * @param[in] tensor NULL is allowed.
 */
LPT_API void lpt_tensor_destroy(lpt_tensor *tensor);

/**
 * @brief Creates a tensor in memory that another library describes by DLPack 1.x, without a copy.
 *
 * Formats   Types float of 16, 32 and 64 bits, bfloat, int of 2 to 64 bits, and uint of 4 and 8 bits. Type bool, as
 *           uint8. The float8, float6 and float4 types that have a format. Lanes become elements of the last axis,
 *           which must be dense. Scales are separate tensors: import each one and join them with lpt_tensor_combine().
 *
 * Shapes    Rank and strides as for lpt_tensor_wrap(); `byte_offset` is added. Elements below 8 bits must be packed,
 *           with rows of whole packs. A tensor without elements may have no memory.
 *
 * Device    The context's device: kDLCPU, or kDLCUDA with its index.
 *
 * Ownership The struct is only read during the call. The memory is borrowed until the tensor is destroyed. The caller
 *           keeps the struct and calls its deleter.
 *
 * Source    dlpack.h 1.1, https://dmlc.github.io/dlpack. Its read-only flag makes a tensor with LPT_TENSOR_READ_ONLY.
 *
 * @param[in]  managed      A DLManagedTensorVersioned of major version 1, or a DLManagedTensor.
 * @param[in]  is_versioned 1: DLManagedTensorVersioned; 0: DLManagedTensor, which has no flags.
 * @param[out] out_flags    LPT_DLPACK_READ_ONLY and LPT_DLPACK_COPIED, or 0. NULL is allowed.
 * @param[out] out_tensor   Destroy it with lpt_tensor_destroy().
 *
 * @retval LPT_INVALID_ARGUMENT `is_versioned` is neither 0 nor 1, or a member of the struct is out of range. The memory is
 *                              on another GPU.
 * @retval LPT_UNSUPPORTED      LPT has no such type, layout or version, or the memory is on another kind of device.
 */
LPT_API lpt_status lpt_tensor_from_dlpack(lpt_context *context, const void *managed, int32_t is_versioned,
                                          lpt_flags *out_flags, lpt_tensor **out_tensor);

/**
 * @brief Creates a tensor as lpt_tensor_from_dlpack() does, and takes the ownership of the DLPack struct.
 *
 * Ownership The library calls the deleter once, when the last tensor that uses the memory is destroyed. After an error
 *           the caller still owns the struct.
 *
 * Threads   The deleter runs on the thread that destroys the last tensor.
 *
 * @param[in]  managed      A DLManagedTensorVersioned of major version 1, or a DLManagedTensor; its deleter may be
 *                          NULL.
 * @param[in]  is_versioned 1: DLManagedTensorVersioned; 0: DLManagedTensor, which has no flags.
 * @param[out] out_flags    LPT_DLPACK_READ_ONLY and LPT_DLPACK_COPIED, or 0. NULL is allowed.
 * @param[out] out_tensor   Destroy it with lpt_tensor_destroy().
 *
 * @retval LPT_INVALID_ARGUMENT As for lpt_tensor_from_dlpack().
 * @retval LPT_UNSUPPORTED      As for lpt_tensor_from_dlpack().
 */
LPT_API lpt_status lpt_tensor_take_dlpack(lpt_context *context, void *managed, int32_t is_versioned,
                                          lpt_flags *out_flags, lpt_tensor **out_tensor);

/**
 * @brief Creates a DLPack struct that describes a tensor for another library, without a copy.
 *
 * Formats   Formats without scales that have a DLPack type. Export other tensors by parts, see lpt_tensor_view_part().
 *
 * Device    The struct names the tensor's device. The call does not wait for queued work.
 *
 * Ownership Memory of the library lives as long as the struct, and `tensor` may be destroyed first. Memory of the
 *           caller must outlive the struct. The deleter of the struct ends it, once, on any thread.
 *
 * @param[in]  tensor       The tensor.
 * @param[in]  is_versioned 1: a DLManagedTensorVersioned of version 1.1; 0: a DLManagedTensor.
 * @param[out] out_managed  The struct; end it with its deleter.
 *
 * @retval LPT_INVALID_ARGUMENT `is_versioned` is neither 0 nor 1.
 * @retval LPT_UNSUPPORTED      The tensor is packed weights, or DLPack has no type for its format.
 */
LPT_API lpt_status lpt_tensor_to_dlpack(lpt_context *context, const lpt_tensor *tensor, int32_t is_versioned,
                                        void **out_managed);

#ifdef __cplusplus
}
#endif

#endif
