/**
 * @file lpt.h
 * @brief The public C interface of LPT, the low-precision training toolkit.
 *
 * LPT casts tensors to small formats (FP8, FP6, FP4, MX, NVFP4, INT8, INT4), multiplies matrices in these formats, and
 * trains with them. It has linear layers with recipes of the literature, optimizers with FP8 moments, N:M sparse masks,
 * and collectives. Research functions are in lpt/research.h.
 *
 * A *context* runs operations: it owns threads, scratch memory and the text of the last error. A *tensor* is memory with a
 * *format*. Options configure one call. The order of parameters is context, object, inputs, options, outputs, future.
 *
 * @section tour Tour
 * The first 20 functions and their destroy functions, in one program that trains an FP8 layer for three steps:
 * @code{.c}
 * #include <lpt.h>
 * #include <stdio.h>
 * #include <stdlib.h>
 *
 * static lpt_context *context;
 * static void check(lpt_status status) {
 *   if (status != LPT_OK) fprintf(stderr, "%s\n", lpt_context_error(context)), exit(1);
 * }
 *
 * int main(void) {
 *   static float x[4 * 32], w[16 * 32], dw[16 * 32];
 *   lpt_tensor *X, *W, *DW, *Q, *QW, *Y, *S;
 *   lpt_recipe *recipe;
 *   lpt_linear *layer;
 *   lpt_optimizer *adamw;
 *   lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
 *   lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
 *   lpt_gemm_options transposed = LPT_GEMM_OPTIONS_INIT;
 *   lpt_linear_options options = LPT_LINEAR_OPTIONS_INIT;
 *   size_t bytes;
 *   int64_t index;
 *   for (int i = 0; i < 4 * 32; ++i) x[i] = (float)(i % 7) - 3;
 *   for (int i = 0; i < 16 * 32; ++i) w[i] = (float)(i % 5) / 8;
 *   if (lpt_context_create(NULL, &context) != LPT_OK) return 1;
 *   check(lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, x, 4, 32, 0, &X));
 *   check(lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, w, 16, 32, 0, &W));
 *   check(lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, dw, 16, 32, 0, &DW));
 *
 *   // Cast, GEMM, cast back.
 *   check(lpt_tensor_create_matrix(context, LPT_FORMAT_MXFP8_E4M3, 4, 32, &Q));
 *   check(lpt_tensor_create_matrix(context, LPT_FORMAT_NVFP4, 16, 32, &QW));
 *   check(lpt_tensor_create_matrix(context, LPT_FORMAT_F32, 4, 16, &Y));
 *   check(lpt_quantize(context, X, NULL, Q, NULL));
 *   check(lpt_quantize(context, W, NULL, QW, NULL));
 *   transposed.is_b_transposed = 1;
 *   check(lpt_gemm(context, Q, QW, &transposed, Y));  // Y = X · Wᵀ
 *   printf("%g\n", ((const float *)lpt_tensor_const_data(Y))[0]);
 *   check(lpt_dequantize(context, Q, NULL, X));
 *
 *   // A layer with FP8 GEMMs, and an optimizer with FP8 moments.
 *   check(lpt_recipe_create(context, "fp8_current", &recipe));
 *   shape.input_columns = 32, shape.output_columns = 16;
 *   check(lpt_linear_create(context, recipe, &shape, &layer));
 *   check(lpt_linear_saved_size(context, layer, 4, &bytes));
 *   check(lpt_tensor_create_matrix(context, LPT_FORMAT_UINT8, 1, (int64_t)bytes, &S));
 *   check(lpt_optimizer_create(context, NULL, &adamw));
 *   parameter.elements = 16 * 32;
 *   parameter.first_moment = parameter.second_moment = LPT_FORMAT_E4M3FN_TENSOR;
 *   check(lpt_optimizer_add(context, adamw, NULL, &parameter, &index));
 *
 *   // Training. Recipes that round stochastically need other random bits in each layer and in each step.
 *   options.random.seed = 1, options.random.stream = 0;  // the index of the layer
 *   for (options.random.step = 0; options.random.step < 3; ++options.random.step) {
 *     check(lpt_linear_prepare(context, layer, W, &options));
 *     check(lpt_linear_forward(context, layer, X, &options, S, Y));
 *     check(lpt_linear_backward(context, layer, S, Y, &options, NULL, DW, NULL));  // the loss is |Y|² / 2
 *     check(lpt_optimizer_step(context, adamw, &index, 1, (const lpt_tensor *const *)&DW, NULL, &W));
 *     check(lpt_linear_update_scalers(context, &layer, 1));
 *   }
 *
 *   lpt_optimizer_destroy(adamw), lpt_linear_destroy(layer), lpt_recipe_destroy(recipe);
 *   lpt_tensor_destroy(X), lpt_tensor_destroy(W), lpt_tensor_destroy(DW), lpt_tensor_destroy(Q);
 *   lpt_tensor_destroy(QW), lpt_tensor_destroy(Y), lpt_tensor_destroy(S), lpt_context_destroy(context);
 *   return 0;
 * }
 * @endcode
 * Ranks: lpt_comm_create_local(), lpt_comm_create_mpi() and lpt_comm_create_nccl(), then lpt_all_reduce(). GPUs: `device`
 * of lpt_context_options. Other formats: lpt_format_from_name(). Kernels that ran: lpt_context_explanation().
 *
 * @section ownership Ownership
 * The caller owns inputs and outputs, which must be valid during the call; wrapped memory until its last tensor is
 * destroyed. The caller destroys what a function returns by a parameter `out_…`. Every destroy function takes NULL, may run
 * on any thread, and does not block. Handles may be destroyed in any order: a tensor may outlive its context.
 *
 * @section threads Threads
 * A context runs one call at a time. A call with a context in use returns LPT_BUSY and has no effect. This includes calls
 * from callbacks of the context; a callback may use another context. Other handles may be used with any context on any thread, by one
 * writer at a time. Results do not depend on the number of threads.
 *
 * @section options Options
 * A struct of options begins with `struct_size`. Initialize it with its macro LPT_…_INIT, or with lpt_struct_init(). NULL
 * stands for the defaults. Handles in options are borrowed for the call. With LPT_CHECK_ONLY in `flags` an operation checks
 * its arguments, selects a kernel, and returns without running.
 *
 * @section errors Errors
 * Functions that can fail return lpt_status; lpt_context_error() has the text. An error that is found before the work begins
 * leaves outputs unchanged. The library throws no exception and ends no process. Any function may return:
 *   LPT_INVALID_ARGUMENT  a required pointer is NULL, a handle is of another kind, or `struct_size` is too small;
 *   LPT_UNSUPPORTED       a struct of a later release sets a member that this release does not have;
 *   LPT_OUT_OF_MEMORY     memory or scratch memory cannot be allocated;
 *   LPT_BUSY              the context is in use;
 *   LPT_INTERNAL          a defect of the library.
 *
 * @section shapes Shapes
 * Extents and strides count elements; the last axis varies fastest. Operations on matrices fold the leading axes of a tensor
 * into rows. Extents may be 0, and every size is supported without padding. A vector of n elements has rank 1, or rank 2
 * with one row. Unless stated otherwise, elements of a row are adjacent, and outputs overlap neither inputs nor each other.
 *
 * @section devices Devices
 * A context works on one device: the CPU, or a GPU, whose plugin is loaded when a context first needs it. Its tensors are in
 * the memory of that device; lpt_tensor_copy() copies between devices. On a GPU an operation is queued on the stream of the
 * context and returns; later calls report its errors, lpt_context_synchronize() at the latest.
 *
 * @section rounding Rounding
 * A cast multiplies by the inverse scale in f32 and rounds once. The bits of stochastic rounding are a function of
 * lpt_random and the index of the element. They depend neither on threads nor on how a tensor is split.
 */
#ifndef LPT_H
#define LPT_H

/* Contexts, formats, tensors. */
#include "lpt/common.h"
#include "lpt/context.h"
#include "lpt/format.h"
#include "lpt/tensor.h"

/* Casts. */
#include "lpt/foreign_layout.h"
#include "lpt/quantize.h"
#include "lpt/scaler.h"

/* GEMM and sparse matrices. */
#include "lpt/calibration.h"
#include "lpt/gemm.h"
#include "lpt/sparse.h"
#include "lpt/weights.h"

/* Training, and inference. */
#include "lpt/attention.h"
#include "lpt/cache.h"
#include "lpt/linear.h"
#include "lpt/loss_scaler.h"
#include "lpt/nn.h"
#include "lpt/optimizer.h"
#include "lpt/recipe.h"

/* Ranks. */
#include "lpt/collective.h"
#include "lpt/comm.h"
#include "lpt/comm_custom.h"
#include "lpt/data_parallel.h"
#include "lpt/partial.h"

#endif
