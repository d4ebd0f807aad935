/**
 * @file lpt.h
 * @brief LPT, the low-precision training toolkit: the public interface. Research features are in lpt/research.h.
 *
 * LPT converts numbers to and from small formats (FP8, FP4, MX, NVFP4, INT8), multiplies matrices that are stored in
 * them, and trains with them: linear layers under a recipe, scalers, activations, and an optimizer whose state is FP8.
 *
 * Three steps of use:
 *   1. create a context: it is the worker (threads, error text, choice of kernels);
 *   2. wrap your memory as tensors, or let the library create them; a format says what the bytes mean;
 *   3. call an operation with the context first and the outputs last, and look at the status it returns.
 *
 * The context is the worker, handles are data, options configure one call.
 *
 * @section ownership Ownership
 * *borrowed*: the caller keeps it and it must live for the call. *given*: the library takes it. *returned*: the caller
 * ends it with the destroy function that is named. Every destroy takes NULL, may run on any thread at any moment, waits
 * for nothing and sets no error text. The order of destruction is free: a tensor may outlive the context that made it.
 * The library never frees what it did not allocate.
 *
 * @section threads Threads
 * A context serves one call at a time; contexts share nothing mutable, except a thread pool (`threads_of` of
 * lpt_context_options). A call with a context that another thread uses returns LPT_BUSY and changes nothing. So does a call
 * from a callback of the library (log, progress, allocator, parallel_for, codec) with the context that runs it; a callback
 * may use another context. A handle may be used with any context, one writer at a time, ordered by the caller. Results
 * never depend on the number of threads.
 *
 * @section options Options
 * An options struct begins with `struct_size`. Fill it with its `…_INIT` macro, or with its `…_init` function from a
 * language that has no C macros; NULL stands for those defaults. A program compiled against a newer header than the
 * library gets LPT_UNSUPPORTED when it sets a member that the library does not know. Handles inside options are
 * borrowed for the call. With LPT_CHECK_ONLY in `flags` an operation checks its arguments and picks its kernel, then
 * returns without running: the status and lpt_context_explanation() tell what would have happened. A handle that it would
 * return is NULL then.
 *
 * @section errors Errors
 * Every function that can fail returns an lpt_status; the text stands in the context, see lpt_context_error(). An error
 * that is found before the work starts leaves every output untouched. No exception, signal or exit leaves the library.
 *
 * @section shapes Shapes
 * Extents and strides are counted in elements, the last axis is the fastest. An operation on rows and columns folds the
 * leading axes of its tensors into rows. Extents may be zero. A *vector* of n is a tensor of rank 1 or a matrix of one row.
 * Every size works; nothing must be padded. Unless said otherwise outputs may not overlap inputs or each other, and a
 * row's elements are adjacent (stride 1 along the last axis).
 *
 * @section devices Devices
 * A context works on one device: the CPU, or a GPU whose plugin is opened when the first context requests it. What a
 * context makes is in its device's memory, and what it wraps must be there; an operation takes tensors of its context's
 * device, and returns LPT_UNSUPPORTED where it has no kernel. lpt_tensor_copy() goes from one memory to the other. On a GPU
 * an operation queues its work on the context's stream and returns: outputs are ready, and memory may be used again, when the
 * stream has come there. What goes wrong then is reported by a later call, lpt_context_synchronize() at the latest.
 *
 * @section rounding Rounding
 * A cast multiplies once in f32 by the inverse scale and rounds once. Stochastic rounding takes its bits from
 * lpt_random: the bits belong to the element's place, so they depend neither on threads nor on how a tensor is split.
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

/* Training. */
#include "lpt/linear.h"
#include "lpt/nn.h"
#include "lpt/optimizer.h"

/* Ranks. */
#include "lpt/comm.h"
#include "lpt/data_parallel.h"
#include "lpt/partial.h"

#endif
