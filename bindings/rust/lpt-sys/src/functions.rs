//! Functions of lpt.h; the header documents the contracts. Written by `python3 tools/make_bindings.py write`.
#![cfg_attr(rustfmt, rustfmt_skip)]
use crate::kinds::*;
use crate::structs::*;
use std::os::raw::{c_char, c_void};

extern "C" {
    /// Returns the release of the loaded library as a number.
    pub fn lpt_version() -> i32;
    /// Returns the release of the loaded library as text.
    pub fn lpt_version_string() -> *const c_char;
    /// Returns the level of the binary interface, which is the number in the library's SONAME.
    pub fn lpt_abi_level() -> i32;
    /// Returns how the library was built.
    pub fn lpt_build_info() -> *const c_char;
    /// Returns the name of a status.
    pub fn lpt_status_string(status: lpt_status) -> *const c_char;
    /// Writes the defaults of a struct that begins with `struct_size`, those of its macro LPT_…_INIT.
    pub fn lpt_struct_init(name: *const c_char, object: *mut c_void, struct_size: usize) -> i32;
    /// Describes a device and reports whether a context can work on it.
    pub fn lpt_device_describe(context: *mut lpt_context, device: lpt_device, index: i32, out_description: *mut lpt_device_info) -> lpt_status;
    /// Creates a context.
    pub fn lpt_context_create(options: *const lpt_context_options, out_context: *mut *mut lpt_context) -> lpt_status;
    /// Destroys a context and ends its threads.
    pub fn lpt_context_destroy(context: *mut lpt_context);
    /// Returns the error text of the last call with a context.
    pub fn lpt_context_error(context: *const lpt_context) -> *const c_char;
    /// Returns which kernels the last operation selected, and why it rejected others.
    pub fn lpt_context_explanation(context: *const lpt_context) -> *const c_char;
    /// Changes the number of threads of a context.
    pub fn lpt_context_set_threads(context: *mut lpt_context, thread_count: i32) -> lpt_status;
    /// Changes the highest instruction set that a context may use.
    pub fn lpt_context_set_isa(context: *mut lpt_context, isa: lpt_isa) -> lpt_status;
    /// Changes the stream on which a GPU context queues its work.
    pub fn lpt_context_set_stream(context: *mut lpt_context, stream: *mut c_void) -> lpt_status;
    /// Returns the stream on which a context queues its work.
    pub fn lpt_context_stream(context: *const lpt_context) -> *mut c_void;
    /// Makes later work of a context wait for the work that is queued on another stream so far.
    pub fn lpt_context_wait_stream(context: *mut lpt_context, stream: *mut c_void) -> lpt_status;
    /// Makes later work of another stream wait for the work that the context has queued so far.
    pub fn lpt_context_notify_stream(context: *mut lpt_context, stream: *mut c_void) -> lpt_status;
    /// Makes later work of a context wait for an event.
    pub fn lpt_context_wait_event(context: *mut lpt_context, event: *mut c_void) -> lpt_status;
    /// Records an event behind the work that the context has queued so far.
    pub fn lpt_context_record_event(context: *mut lpt_context, event: *mut c_void) -> lpt_status;
    /// Frees scratch memory of a context, of the CPU and of the GPU, until it holds no more than a number of bytes.
    pub fn lpt_context_trim(context: *mut lpt_context, keep_bytes: usize) -> lpt_status;
    /// Blocks until all work queued on the context's stream is complete.
    pub fn lpt_context_synchronize(context: *mut lpt_context) -> lpt_status;
    /// Changes the function that receives the log of a context, and its level.
    pub fn lpt_context_set_log(context: *mut lpt_context, level: lpt_log_level, log: lpt_log_function, log_user: *mut c_void) -> lpt_status;
    /// Sets a function that receives the progress of calls that may return LPT_CANCELLED, and may cancel them.
    pub fn lpt_context_set_progress(context: *mut lpt_context, progress: lpt_progress_function, progress_user: *mut c_void) -> lpt_status;
    /// Starts a new profile, or stops the current one.
    pub fn lpt_context_set_profile(context: *mut lpt_context, is_enabled: i32) -> lpt_status;
    /// Returns the number of profile entries, one per operation step and kernel.
    pub fn lpt_context_profile_count(context: *mut lpt_context, out_count: *mut i64) -> lpt_status;
    /// Returns one entry of the profile, the longest time first.
    pub fn lpt_context_profile_entry(context: *mut lpt_context, index: i64, out_entry: *mut lpt_profile_entry) -> lpt_status;
    /// Writes the first 100 000 kernel runs of the profile as a Chrome trace (JSON).
    pub fn lpt_context_profile_save(context: *mut lpt_context, path: *const c_char) -> lpt_status;
    /// Returns the format of a description.
    pub fn lpt_format_from_description(context: *mut lpt_context, description: *const lpt_format_description, out_format: *mut lpt_format) -> lpt_status;
    /// Returns the format of a name.
    pub fn lpt_format_from_name(context: *mut lpt_context, name: *const c_char, out_format: *mut lpt_format) -> lpt_status;
    /// Writes the name of a format, which lpt_format_from_name() reads.
    pub fn lpt_format_write_name(context: *mut lpt_context, format: lpt_format, buffer: *mut c_char, buffer_bytes: usize, out_needed_bytes: *mut usize) -> lpt_status;
    /// Returns the parts of a format.
    pub fn lpt_format_describe(context: *mut lpt_context, format: lpt_format, out_description: *mut lpt_format_description) -> lpt_status;
    /// Writes a text of several lines that explains the bytes of a format.
    pub fn lpt_format_write_text(context: *mut lpt_context, format: lpt_format, buffer: *mut c_char, buffer_bytes: usize, out_needed_bytes: *mut usize) -> lpt_status;
    /// Returns the number of formats in lpt_format_values that tensors can have.
    pub fn lpt_format_count() -> i64;
    /// Returns a format of lpt_format_values, in the order of their numbers.
    pub fn lpt_format_at(index: i64) -> lpt_format;
    /// Returns the name of a format of lpt_format_values.
    pub fn lpt_format_name(format: lpt_format) -> *const c_char;
    /// Creates a tensor whose elements are zero, whose scales are 1, and whose zero points are 0.
    pub fn lpt_tensor_create(context: *mut lpt_context, format: lpt_format, rank: i32, extents: *const i64, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a matrix whose elements are zero, as lpt_tensor_create() with rank 2.
    pub fn lpt_tensor_create_matrix(context: *mut lpt_context, format: lpt_format, rows: i64, columns: i64, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a tensor in memory of the caller.
    pub fn lpt_tensor_wrap(context: *mut lpt_context, description: *const lpt_tensor_description, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a matrix in memory of the caller.
    pub fn lpt_tensor_wrap_matrix(context: *mut lpt_context, format: lpt_format, data: *mut c_void, rows: i64, columns: i64, row_stride: i64, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a read-only matrix in memory of the caller, as lpt_tensor_wrap_matrix() with LPT_TENSOR_READ_ONLY.
    pub fn lpt_tensor_wrap_const_matrix(context: *mut lpt_context, format: lpt_format, data: *const c_void, rows: i64, columns: i64, row_stride: i64, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a tensor of a range of each axis of another tensor.
    pub fn lpt_tensor_view(context: *mut lpt_context, tensor: *const lpt_tensor, begins: *const i64, extents: *const i64, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a tensor of one part of another tensor: its elements, its scales, its zero points or its indices.
    pub fn lpt_tensor_view_part(context: *mut lpt_context, tensor: *const lpt_tensor, part: lpt_tensor_part, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a matrix from its parts; the inverse of lpt_tensor_view_part().
    pub fn lpt_tensor_combine(context: *mut lpt_context, format: lpt_format, rows: i64, columns: i64, parts: *const *const lpt_tensor, part_count: i32, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Returns the format, memory and shape of a tensor.
    pub fn lpt_tensor_describe(context: *mut lpt_context, tensor: *const lpt_tensor, out_description: *mut lpt_tensor_description) -> lpt_status;
    /// Returns the format of a tensor.
    pub fn lpt_tensor_format(tensor: *const lpt_tensor) -> lpt_format;
    /// Returns the number of axes of a tensor.
    pub fn lpt_tensor_rank(tensor: *const lpt_tensor) -> i32;
    /// Returns the extent of one axis of a tensor.
    pub fn lpt_tensor_extent(tensor: *const lpt_tensor, axis: i32) -> i64;
    /// Returns the stride of one axis of a tensor.
    pub fn lpt_tensor_stride(tensor: *const lpt_tensor, axis: i32) -> i64;
    /// Returns the memory of the elements of a tensor, for writing.
    pub fn lpt_tensor_data(tensor: *mut lpt_tensor) -> *mut c_void;
    /// Returns the memory of the elements of a tensor, for reading.
    pub fn lpt_tensor_const_data(tensor: *const lpt_tensor) -> *const c_void;
    /// Returns the device of a tensor.
    pub fn lpt_tensor_device(tensor: *const lpt_tensor, out_index: *mut i32) -> lpt_device;
    /// Returns the number of bytes that the elements, scales and other parts of a tensor take.
    pub fn lpt_tensor_size(context: *mut lpt_context, tensor: *const lpt_tensor, out_size_bytes: *mut usize) -> lpt_status;
    /// Copies a tensor with all its parts between devices or within one.
    pub fn lpt_tensor_copy(context: *mut lpt_context, source: *const lpt_tensor, target: *mut lpt_tensor) -> lpt_status;
    /// Destroys a tensor.
    pub fn lpt_tensor_destroy(tensor: *mut lpt_tensor);
    /// Creates a tensor in memory that another library describes by DLPack 1.x, without a copy.
    pub fn lpt_tensor_from_dlpack(context: *mut lpt_context, managed: *const c_void, is_versioned: i32, out_flags: *mut lpt_flags, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a tensor as lpt_tensor_from_dlpack() does, and takes the ownership of the DLPack struct.
    pub fn lpt_tensor_take_dlpack(context: *mut lpt_context, managed: *mut c_void, is_versioned: i32, out_flags: *mut lpt_flags, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a DLPack struct that describes a tensor for another library, without a copy.
    pub fn lpt_tensor_to_dlpack(context: *mut lpt_context, tensor: *const lpt_tensor, is_versioned: i32, out_managed: *mut *mut c_void) -> lpt_status;
    /// Returns the number of bytes that a tensor takes in a foreign layout.
    pub fn lpt_foreign_layout_size(context: *mut lpt_context, tensor: *const lpt_tensor, layout: lpt_foreign_layout, out_size_bytes: *mut usize) -> lpt_status;
    /// Writes a tensor in a foreign layout.
    pub fn lpt_foreign_layout_export(context: *mut lpt_context, tensor: *const lpt_tensor, layout: lpt_foreign_layout, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Reads a tensor from a foreign layout.
    pub fn lpt_foreign_layout_import(context: *mut lpt_context, buffer: *const c_void, buffer_bytes: usize, layout: lpt_foreign_layout, tensor: *mut lpt_tensor) -> lpt_status;
    /// Casts a matrix to another format, computes the scales of that format, and optionally transposes it.
    pub fn lpt_quantize(context: *mut lpt_context, source: *const lpt_tensor, options: *const lpt_quantize_options, quantized: *mut lpt_tensor, transposed: *mut lpt_tensor) -> lpt_status;
    /// Casts a matrix to a format and back to a wide float.
    pub fn lpt_fake_quantize(context: *mut lpt_context, source: *const lpt_tensor, format: lpt_format, options: *const lpt_quantize_options, output: *mut lpt_tensor) -> lpt_status;
    /// Creates statistics of casts; all sums are zero.
    pub fn lpt_statistics_create(context: *mut lpt_context, out_statistics: *mut *mut lpt_statistics) -> lpt_status;
    /// Destroys statistics.
    pub fn lpt_statistics_destroy(statistics: *mut lpt_statistics);
    /// Returns the sums of statistics.
    pub fn lpt_statistics_read(context: *mut lpt_context, statistics: *const lpt_statistics, out_info: *mut lpt_statistics_info) -> lpt_status;
    /// Sets all sums of statistics to zero.
    pub fn lpt_statistics_reset(context: *mut lpt_context, statistics: *mut lpt_statistics) -> lpt_status;
    /// Decodes a matrix to a wide float: (element - zero point) · (block scale · tensor scale).
    pub fn lpt_dequantize(context: *mut lpt_context, source: *const lpt_tensor, options: *const lpt_dequantize_options, output: *mut lpt_tensor) -> lpt_status;
    /// Rotates each group of columns by a Hadamard matrix.
    pub fn lpt_hadamard(context: *mut lpt_context, source: *const lpt_tensor, options: *const lpt_hadamard_options, output: *mut lpt_tensor) -> lpt_status;
    /// Draws random signs for lpt_hadamard().
    pub fn lpt_hadamard_draw_signs(context: *mut lpt_context, random: *const lpt_random, signs: *mut lpt_tensor) -> lpt_status;
    /// Converts codes between similar FP8 elements without a new amax.
    pub fn lpt_convert(context: *mut lpt_context, source: *const lpt_tensor, options: *const lpt_convert_options, output: *mut lpt_tensor) -> lpt_status;
    /// Creates a scaler, which records the amax of the casts of one site.
    pub fn lpt_scaler_create(context: *mut lpt_context, options: *const lpt_scaler_options, out_scaler: *mut *mut lpt_scaler) -> lpt_status;
    /// Destroys a scaler.
    pub fn lpt_scaler_destroy(scaler: *mut lpt_scaler);
    /// Completes an optimizer step: moves the running maximum of each scaler into its history.
    pub fn lpt_scaler_update(context: *mut lpt_context, scalers: *const *mut lpt_scaler, scaler_count: i64) -> lpt_status;
    /// Returns the state of a scaler.
    pub fn lpt_scaler_read(context: *mut lpt_context, scaler: *const lpt_scaler, out_info: *mut lpt_scaler_info) -> lpt_status;
    /// Returns the number of bytes that lpt_scaler_state_save() writes.
    pub fn lpt_scaler_state_size(context: *mut lpt_context, scaler: *const lpt_scaler, out_size_bytes: *mut usize) -> lpt_status;
    /// Saves the state of a scaler.
    pub fn lpt_scaler_state_save(context: *mut lpt_context, scaler: *const lpt_scaler, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Replaces the state of a scaler by a saved one.
    pub fn lpt_scaler_state_load(context: *mut lpt_context, scaler: *mut lpt_scaler, buffer: *const c_void, buffer_bytes: usize) -> lpt_status;
    /// Fits a masked weight to the outputs of the dense weight, without training.
    pub fn lpt_sparse_fit(context: *mut lpt_context, weight: *const lpt_tensor, mask: *const lpt_tensor, inputs: *const lpt_tensor, options: *const lpt_sparse_fit_options, output: *mut lpt_tensor, bias_change: *mut lpt_tensor, out_info: *mut lpt_sparse_fit_info) -> lpt_status;
    /// Creates empty statistics of the inputs of a layer.
    pub fn lpt_calibration_create(context: *mut lpt_context, columns: i64, options: *const lpt_calibration_options, out_calibration: *mut *mut lpt_calibration) -> lpt_status;
    /// Destroys statistics of calibration.
    pub fn lpt_calibration_destroy(calibration: *mut lpt_calibration);
    /// Adds a batch of inputs.
    pub fn lpt_calibration_add(context: *mut lpt_context, calibration: *mut lpt_calibration, inputs: *const lpt_tensor, reference: *const lpt_tensor) -> lpt_status;
    /// Replaces the statistics of each rank by those of the inputs of all ranks.
    pub fn lpt_calibration_all_reduce(context: *mut lpt_context, comm: *mut lpt_comm, calibration: *mut lpt_calibration) -> lpt_status;
    /// Writes a matrix or a vector of statistics.
    pub fn lpt_calibration_read(context: *mut lpt_context, calibration: *const lpt_calibration, value: lpt_calibration_value, output: *mut lpt_tensor) -> lpt_status;
    /// Returns statistics over all columns.
    pub fn lpt_calibration_describe(context: *mut lpt_context, calibration: *const lpt_calibration, out_info: *mut lpt_calibration_info) -> lpt_status;
    /// Returns a magnitude that a share of the elements does not exceed.
    pub fn lpt_calibration_percentile(context: *mut lpt_context, calibration: *const lpt_calibration, share: f64, out_magnitude: *mut f64) -> lpt_status;
    /// Quantizes the weight of a linear layer so that its outputs for calibration data change little.
    pub fn lpt_weights_fit(context: *mut lpt_context, weight: *const lpt_tensor, gram: *const lpt_tensor, options: *const lpt_weights_fit_options, output: *mut lpt_tensor, input_factors: *mut lpt_tensor, bias_change: *mut lpt_tensor, out_info: *mut lpt_weights_fit_info) -> lpt_status;
    /// Chooses one of several formats for each tensor: the smallest sum of errors within a budget of bytes.
    pub fn lpt_format_choose(context: *mut lpt_context, errors: *const f64, bytes: *const i64, tensor_count: i64, candidate_count: i64, budget_bytes: i64, out_choices: *mut i64, out_info: *mut lpt_format_choose_info) -> lpt_status;
    /// Multiplies two matrices, or two batches of matrices, of any formats.
    pub fn lpt_gemm(context: *mut lpt_context, a: *const lpt_tensor, b: *const lpt_tensor, options: *const lpt_gemm_options, c: *mut lpt_tensor) -> lpt_status;
    /// Multiplies groups of rows, each by its own matrix, as in a mixture of experts.
    pub fn lpt_gemm_grouped(context: *mut lpt_context, a: *const lpt_tensor, b: *const lpt_tensor, group_ends: *const lpt_tensor, options: *const lpt_gemm_options, c: *mut lpt_tensor) -> lpt_status;
    /// Checks a GEMM and selects its kernel once for many calls.
    pub fn lpt_gemm_plan_create(context: *mut lpt_context, a: *const lpt_tensor, b: *const lpt_tensor, options: *const lpt_gemm_options, c: *const lpt_tensor, out_plan: *mut *mut lpt_gemm_plan) -> lpt_status;
    /// Multiplies matrices by a plan.
    pub fn lpt_gemm_plan_run(context: *mut lpt_context, plan: *const lpt_gemm_plan, a: *const lpt_tensor, b: *const lpt_tensor, operands: *const lpt_gemm_operands, c: *mut lpt_tensor) -> lpt_status;
    /// Returns the properties of a plan.
    pub fn lpt_gemm_plan_read(context: *mut lpt_context, plan: *const lpt_gemm_plan, out_info: *mut lpt_gemm_plan_info) -> lpt_status;
    /// Destroys a plan.
    pub fn lpt_gemm_plan_destroy(plan: *mut lpt_gemm_plan);
    /// Selects N of every M elements, and writes the mask and the masked matrix.
    pub fn lpt_sparse_mask_select(context: *mut lpt_context, source: *const lpt_tensor, options: *const lpt_sparse_options, mask: *mut lpt_tensor, masked: *mut lpt_tensor, out_info: *mut lpt_sparse_info) -> lpt_status;
    /// Counts the groups of a mask that keep more than N of M elements.
    pub fn lpt_sparse_mask_check(context: *mut lpt_context, mask: *const lpt_tensor, kept: i32, of: i32, direction: lpt_sparse_direction, out_count: *mut i64) -> lpt_status;
    /// Counts the elements in which two masks differ: the flips since the last selection.
    pub fn lpt_sparse_mask_compare(context: *mut lpt_context, mask: *const lpt_tensor, other: *const lpt_tensor, out_count: *mut i64) -> lpt_status;
    /// Applies a mask: output = source where the mask is not 0, else 0.
    pub fn lpt_sparse_mask_apply(context: *mut lpt_context, source: *const lpt_tensor, mask: *const lpt_tensor, output: *mut lpt_tensor) -> lpt_status;
    /// Adds masked decay: gradient += rate · weight where the mask is 0.
    pub fn lpt_sparse_mask_decay(context: *mut lpt_context, weight: *const lpt_tensor, mask: *const lpt_tensor, rate: f64, gradient: *mut lpt_tensor) -> lpt_status;
    /// Compresses a 2:4 matrix: stores the two kept columns of every four, and their indices.
    pub fn lpt_sparse_compress(context: *mut lpt_context, source: *const lpt_tensor, mask: *const lpt_tensor, compressed: *mut lpt_tensor, transposed: *mut lpt_tensor) -> lpt_status;
    /// Decompresses a 2:4 matrix: the inverse of lpt_sparse_compress(), with zeros where nothing is stored.
    pub fn lpt_sparse_decompress(context: *mut lpt_context, compressed: *const lpt_tensor, output: *mut lpt_tensor) -> lpt_status;
    /// Packs weights once for many GEMMs: the same codes and scales in the order that kernels read.
    pub fn lpt_weights_pack(context: *mut lpt_context, weights: *const lpt_tensor, options: *const lpt_weights_options, out_packed: *mut *mut lpt_tensor) -> lpt_status;
    /// Finds an order of the rows of weights for which fewer tiles have elements that are not zero.
    pub fn lpt_weights_order(context: *mut lpt_context, weights: *const lpt_tensor, options: *const lpt_weights_options, order: *mut i32, out_given_count: *mut i64, out_count: *mut i64) -> lpt_status;
    /// Writes packed weights as rows, in their packed order.
    pub fn lpt_weights_unpack(context: *mut lpt_context, packed: *const lpt_tensor, weights: *mut lpt_tensor) -> lpt_status;
    /// Returns the number of bytes that lpt_weights_state_save() writes.
    pub fn lpt_weights_state_size(context: *mut lpt_context, packed: *const lpt_tensor, out_size_bytes: *mut usize) -> lpt_status;
    /// Saves packed weights.
    pub fn lpt_weights_state_save(context: *mut lpt_context, packed: *const lpt_tensor, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Creates packed weights from a saved state.
    pub fn lpt_weights_state_load(context: *mut lpt_context, buffer: *const c_void, buffer_bytes: usize, out_packed: *mut *mut lpt_tensor) -> lpt_status;
    /// Computes the frequencies of a rotary position embedding, in radians per position.
    pub fn lpt_rotary_frequencies(context: *mut lpt_context, options: *const lpt_rotary_scaling, frequencies: *mut lpt_tensor) -> lpt_status;
    /// Rotates pairs of columns of queries or keys by position · frequency (rotary position embedding).
    pub fn lpt_rotary(context: *mut lpt_context, input: *const lpt_tensor, frequencies: *const lpt_tensor, options: *const lpt_rotary_options, output: *mut lpt_tensor) -> lpt_status;
    /// Computes scaled dot-product attention: output = softmax(scale · query · key^T + mask) · value, for every head.
    pub fn lpt_attention_forward(context: *mut lpt_context, query: *const lpt_tensor, key: *const lpt_tensor, value: *const lpt_tensor, options: *const lpt_attention_options, output: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradients of lpt_attention_forward() for query, key and value.
    pub fn lpt_attention_backward(context: *mut lpt_context, query: *const lpt_tensor, key: *const lpt_tensor, value: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_attention_options, query_gradient: *mut lpt_tensor, key_gradient: *mut lpt_tensor, value_gradient: *mut lpt_tensor) -> lpt_status;
    /// Creates an empty store of keys and values.
    pub fn lpt_kv_cache_create(context: *mut lpt_context, options: *const lpt_kv_cache_options, out_cache: *mut *mut lpt_kv_cache) -> lpt_status;
    /// Destroys a store of keys and values.
    pub fn lpt_kv_cache_destroy(cache: *mut lpt_kv_cache);
    /// Casts keys and values to the formats of the cache, and appends them to its batches.
    pub fn lpt_kv_cache_append(context: *mut lpt_context, cache: *mut lpt_kv_cache, keys: *const lpt_tensor, values: *const lpt_tensor, counts: *const lpt_tensor) -> lpt_status;
    /// Drops the last positions of batches, as speculative decoding does with tokens that are not accepted.
    pub fn lpt_kv_cache_truncate(context: *mut lpt_context, cache: *mut lpt_kv_cache, lengths: *const lpt_tensor) -> lpt_status;
    /// Replaces each batch by a copy of a batch, as beam search does with the beams that continue.
    pub fn lpt_kv_cache_select(context: *mut lpt_context, cache: *mut lpt_kv_cache, batches: *const lpt_tensor) -> lpt_status;
    /// Creates tensors of the memory of a cache: operands of lpt_attention_forward().
    pub fn lpt_kv_cache_view(context: *mut lpt_context, cache: *const lpt_kv_cache, out_keys: *mut *mut lpt_tensor, out_values: *mut *mut lpt_tensor, out_lengths: *mut *mut lpt_tensor) -> lpt_status;
    /// Returns the number of bytes of the keys and values of all positions up to the capacity, with their scales.
    pub fn lpt_kv_cache_size(context: *mut lpt_context, cache: *const lpt_kv_cache, out_size_bytes: *mut usize) -> lpt_status;
    /// Creates a recipe by name.
    pub fn lpt_recipe_create(context: *mut lpt_context, name: *const c_char, out_recipe: *mut *mut lpt_recipe) -> lpt_status;
    /// Returns the number of recipes that lpt_recipe_create() supports.
    pub fn lpt_recipe_count() -> i64;
    /// Returns the name of a recipe that lpt_recipe_create() supports.
    pub fn lpt_recipe_name(index: i64) -> *const c_char;
    /// Destroys a recipe; layers that were created with it stay valid.
    pub fn lpt_recipe_destroy(recipe: *mut lpt_recipe);
    /// Changes one cast of a recipe; existing layers keep theirs.
    pub fn lpt_recipe_set_cast(context: *mut lpt_context, recipe: *mut lpt_recipe, cast: lpt_linear_cast, format: lpt_format, options: *const lpt_quantize_options) -> lpt_status;
    /// Changes the source of the tensor scales of one operand; existing layers keep theirs.
    pub fn lpt_recipe_set_scaler(context: *mut lpt_context, recipe: *mut lpt_recipe, operand: lpt_linear_operand, options: *const lpt_scaler_options) -> lpt_status;
    /// Returns the format of one cast of a recipe.
    pub fn lpt_recipe_cast_format(context: *mut lpt_context, recipe: *const lpt_recipe, cast: lpt_linear_cast, out_format: *mut lpt_format) -> lpt_status;
    /// Changes the options of one GEMM of a recipe; existing layers keep theirs.
    pub fn lpt_recipe_set_gemm(context: *mut lpt_context, recipe: *mut lpt_recipe, product: lpt_linear_gemm, options: *const lpt_linear_gemm_options) -> lpt_status;
    /// Sets both operands of one GEMM to a high precision, for quantization-aware fine-tuning.
    pub fn lpt_recipe_set_high_precision(context: *mut lpt_context, recipe: *mut lpt_recipe, product: lpt_linear_gemm, format: lpt_format) -> lpt_status;
    /// Makes one operand of a recipe sparse: N of every M elements are kept, before rotation and cast.
    pub fn lpt_recipe_set_sparsity(context: *mut lpt_context, recipe: *mut lpt_recipe, operand: lpt_linear_operand, interval: i32, options: *const lpt_sparse_options) -> lpt_status;
    /// Creates a linear layer, which owns its scalers and the casts of its weight, not the weight.
    pub fn lpt_linear_create(context: *mut lpt_context, recipe: *const lpt_recipe, shape: *const lpt_linear_shape, out_linear: *mut *mut lpt_linear) -> lpt_status;
    /// Destroys a linear layer.
    pub fn lpt_linear_destroy(linear: *mut lpt_linear);
    /// Sets the recipe of a layer, from its next lpt_linear_prepare() on.
    pub fn lpt_linear_set_recipe(context: *mut lpt_context, linear: *mut lpt_linear, recipe: *const lpt_recipe) -> lpt_status;
    /// Casts the weight for the forward and backward GEMMs; call it after every change of the weight.
    pub fn lpt_linear_prepare(context: *mut lpt_context, linear: *mut lpt_linear, weight: *const lpt_tensor, options: *const lpt_linear_options) -> lpt_status;
    /// Returns the number of bytes that lpt_linear_forward() saves for backward.
    pub fn lpt_linear_saved_size(context: *mut lpt_context, linear: *const lpt_linear, rows: i64, out_size_bytes: *mut usize) -> lpt_status;
    /// Returns the number of bytes of the weight's casts, with masks.
    pub fn lpt_linear_cast_size(context: *mut lpt_context, linear: *const lpt_linear, out_size_bytes: *mut usize) -> lpt_status;
    /// Computes y = x · wᵀ + bias, and saves the data that backward needs.
    pub fn lpt_linear_forward(context: *mut lpt_context, linear: *mut lpt_linear, input: *const lpt_tensor, options: *const lpt_linear_options, saved: *mut lpt_tensor, output: *mut lpt_tensor) -> lpt_status;
    /// Computes dx = dy · w, dw = dyᵀ · x and db = the column sums of dy, each one if its output is given.
    pub fn lpt_linear_backward(context: *mut lpt_context, linear: *mut lpt_linear, saved: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_linear_options, input_gradient: *mut lpt_tensor, weight_gradient: *mut lpt_tensor, bias_gradient: *mut lpt_tensor) -> lpt_status;
    /// Sets the recorded amax of the scalers of many layers to the maximum over ranks, in one message.
    pub fn lpt_linear_share_amax(context: *mut lpt_context, comm: *mut lpt_comm, linears: *const *mut lpt_linear, linear_count: i64) -> lpt_status;
    /// Completes an optimizer step for the scalers of many layers; see lpt_scaler_update().
    pub fn lpt_linear_update_scalers(context: *mut lpt_context, linears: *const *mut lpt_linear, linear_count: i64) -> lpt_status;
    /// Reads the state of one scaler of a layer.
    pub fn lpt_linear_scaler_read(context: *mut lpt_context, linear: *const lpt_linear, operand: lpt_linear_operand, out_info: *mut lpt_scaler_info) -> lpt_status;
    /// Reads the mask that the last lpt_linear_prepare() selected for the weight of a layer.
    pub fn lpt_linear_mask_read(context: *mut lpt_context, linear: *const lpt_linear, mask: *mut lpt_tensor) -> lpt_status;
    /// Starts or stops the collection of statistics of the casts of a layer.
    pub fn lpt_linear_watch(context: *mut lpt_context, linear: *mut lpt_linear, is_watched: i32) -> lpt_status;
    /// Reads the statistics of one cast of a watched layer since lpt_linear_watch().
    pub fn lpt_linear_cast_read(context: *mut lpt_context, linear: *const lpt_linear, cast: lpt_linear_cast, out_info: *mut lpt_statistics_info) -> lpt_status;
    /// Returns the number of bytes that lpt_linear_state_save() writes.
    pub fn lpt_linear_state_size(context: *mut lpt_context, linear: *const lpt_linear, out_size_bytes: *mut usize) -> lpt_status;
    /// Saves the scalers of a layer, and the mask of a sparse weight.
    pub fn lpt_linear_state_save(context: *mut lpt_context, linear: *const lpt_linear, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Restores the scalers of a layer, and the mask of a sparse weight.
    pub fn lpt_linear_state_load(context: *mut lpt_context, linear: *mut lpt_linear, buffer: *const c_void, buffer_bytes: usize) -> lpt_status;
    /// Creates a loss scaler.
    pub fn lpt_loss_scaler_create(context: *mut lpt_context, options: *const lpt_loss_scaler_options, out_loss_scaler: *mut *mut lpt_loss_scaler) -> lpt_status;
    /// Destroys a loss scaler.
    pub fn lpt_loss_scaler_destroy(loss_scaler: *mut lpt_loss_scaler);
    /// Updates the scale after the steps of all optimizers and parameter groups.
    pub fn lpt_loss_scaler_update(context: *mut lpt_context, loss_scaler: *mut lpt_loss_scaler) -> lpt_status;
    /// Reads the scale and the counts.
    pub fn lpt_loss_scaler_read(context: *mut lpt_context, loss_scaler: *const lpt_loss_scaler, out_info: *mut lpt_loss_scaler_info) -> lpt_status;
    /// Returns the number of bytes that lpt_loss_scaler_state_save() writes.
    pub fn lpt_loss_scaler_state_size(context: *mut lpt_context, loss_scaler: *const lpt_loss_scaler, out_size_bytes: *mut usize) -> lpt_status;
    /// Saves the scale and the counts: portable, versioned, with a checksum.
    pub fn lpt_loss_scaler_state_save(context: *mut lpt_context, loss_scaler: *const lpt_loss_scaler, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Replaces the scale and the counts by saved ones.
    pub fn lpt_loss_scaler_state_load(context: *mut lpt_context, loss_scaler: *mut lpt_loss_scaler, buffer: *const c_void, buffer_bytes: usize) -> lpt_status;
    /// Looks up rows of a table: row r of `output` is row indices\[r\] of `weight`.
    pub fn lpt_embedding_forward(context: *mut lpt_context, weight: *const lpt_tensor, indices: *const lpt_tensor, options: *const lpt_embedding_options, output: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradient of the table of lpt_embedding_forward().
    pub fn lpt_embedding_backward(context: *mut lpt_context, indices: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_embedding_options, weight_gradient: *mut lpt_tensor) -> lpt_status;
    /// Computes output = silu(gate) · up, where silu(x) = x / (1 + exp(-x)).
    pub fn lpt_swiglu_forward(context: *mut lpt_context, gate: *const lpt_tensor, up: *const lpt_tensor, options: *const lpt_swiglu_options, output: *mut lpt_tensor, smoothing: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradients of lpt_swiglu_forward(); factors of smoothing are constants without a gradient.
    pub fn lpt_swiglu_backward(context: *mut lpt_context, gate: *const lpt_tensor, up: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_swiglu_options, gate_gradient: *mut lpt_tensor, up_gradient: *mut lpt_tensor) -> lpt_status;
    /// Computes output = input · r · weight, where r = 1 / sqrt(mean of input² over the row + epsilon).
    pub fn lpt_rmsnorm_forward(context: *mut lpt_context, input: *const lpt_tensor, weight: *const lpt_tensor, options: *const lpt_rmsnorm_options, output: *mut lpt_tensor, inverse_rms: *mut lpt_tensor) -> lpt_status;
    /// Computes sum = residual + branch, then the RMSNorm of the sum, row by row.
    pub fn lpt_rmsnorm_forward_sum(context: *mut lpt_context, residual: *const lpt_tensor, branch: *const lpt_tensor, weight: *const lpt_tensor, options: *const lpt_rmsnorm_options, sum: *mut lpt_tensor, output: *mut lpt_tensor, inverse_rms: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradients of lpt_rmsnorm_forward().
    pub fn lpt_rmsnorm_backward(context: *mut lpt_context, input: *const lpt_tensor, weight: *const lpt_tensor, inverse_rms: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_rmsnorm_options, input_gradient: *mut lpt_tensor, weight_gradient: *mut lpt_tensor) -> lpt_status;
    /// Computes output = (input - m) · r · weight + bias, with the mean m and r = 1 / sqrt(variance + epsilon) of the row.
    pub fn lpt_layernorm_forward(context: *mut lpt_context, input: *const lpt_tensor, weight: *const lpt_tensor, bias: *const lpt_tensor, options: *const lpt_layernorm_options, output: *mut lpt_tensor, mean: *mut lpt_tensor, inverse_deviation: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradients of lpt_layernorm_forward().
    pub fn lpt_layernorm_backward(context: *mut lpt_context, input: *const lpt_tensor, weight: *const lpt_tensor, mean: *const lpt_tensor, inverse_deviation: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_layernorm_options, input_gradient: *mut lpt_tensor, weight_gradient: *mut lpt_tensor, bias_gradient: *mut lpt_tensor) -> lpt_status;
    /// Computes output = exp(scale · input - max) / sum along the last axis.
    pub fn lpt_softmax_forward(context: *mut lpt_context, input: *const lpt_tensor, options: *const lpt_softmax_options, output: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradient of lpt_softmax_forward(): scale · y · (dy - sum(y · dy)), where y is `output`.
    pub fn lpt_softmax_backward(context: *mut lpt_context, output: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_softmax_options, input_gradient: *mut lpt_tensor) -> lpt_status;
    /// Computes the loss -log softmax(logits)\[target\] of every row, in nats; ranks may share the classes.
    pub fn lpt_cross_entropy_forward(context: *mut lpt_context, logits: *const lpt_tensor, targets: *const lpt_tensor, options: *const lpt_cross_entropy_options, loss: *mut lpt_tensor, log_sums: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradient of lpt_cross_entropy_forward() for the logits of this rank.
    pub fn lpt_cross_entropy_backward(context: *mut lpt_context, logits: *const lpt_tensor, targets: *const lpt_tensor, log_sums: *const lpt_tensor, loss_gradient: *const lpt_tensor, options: *const lpt_cross_entropy_options, logits_gradient: *mut lpt_tensor) -> lpt_status;
    /// Creates an optimizer without parameters.
    pub fn lpt_optimizer_create(context: *mut lpt_context, options: *const lpt_optimizer_options, out_optimizer: *mut *mut lpt_optimizer) -> lpt_status;
    /// Destroys an optimizer and its state.
    pub fn lpt_optimizer_destroy(optimizer: *mut lpt_optimizer);
    /// Stores the state of an optimizer in mapped files, for state larger than memory.
    pub fn lpt_optimizer_set_directory(context: *mut lpt_context, optimizer: *mut lpt_optimizer, directory: *const c_char, resident_bytes: usize) -> lpt_status;
    /// Adds a parameter with zero moments.
    pub fn lpt_optimizer_add(context: *mut lpt_context, optimizer: *mut lpt_optimizer, name: *const c_char, parameter: *const lpt_optimizer_parameter, out_index: *mut i64) -> lpt_status;
    /// Finds a parameter by its name.
    pub fn lpt_optimizer_find(context: *mut lpt_context, optimizer: *const lpt_optimizer, name: *const c_char, out_index: *mut i64) -> lpt_status;
    /// Steps many parameters.
    pub fn lpt_optimizer_step(context: *mut lpt_context, optimizer: *mut lpt_optimizer, indices: *const i64, count: i64, gradients: *const *const lpt_tensor, options: *const lpt_optimizer_step_options, parameters: *const *mut lpt_tensor) -> lpt_status;
    /// Reads the result of the last step.
    pub fn lpt_optimizer_read(context: *mut lpt_context, optimizer: *const lpt_optimizer, out_info: *mut lpt_optimizer_info) -> lpt_status;
    /// Computes the sum of squares of many gradients in f64, and counts elements that are not finite.
    pub fn lpt_gradients_measure(context: *mut lpt_context, gradients: *const *const lpt_tensor, count: i64, out_info: *mut lpt_gradients_info) -> lpt_status;
    /// Returns the number of bytes of the state of all parameters, with scales, in memory or in files.
    pub fn lpt_optimizer_size(context: *mut lpt_context, optimizer: *const lpt_optimizer, out_size_bytes: *mut usize) -> lpt_status;
    /// Returns the number of bytes that lpt_optimizer_state_save() writes for one parameter.
    pub fn lpt_optimizer_state_size(context: *mut lpt_context, optimizer: *const lpt_optimizer, index: i64, out_size_bytes: *mut usize) -> lpt_status;
    /// Saves the state of one parameter: portable, versioned, with a checksum.
    pub fn lpt_optimizer_state_save(context: *mut lpt_context, optimizer: *const lpt_optimizer, index: i64, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Restores the state of one parameter.
    pub fn lpt_optimizer_state_load(context: *mut lpt_context, optimizer: *mut lpt_optimizer, index: i64, buffer: *const c_void, buffer_bytes: usize) -> lpt_status;
    /// Restores the state of one parameter, or of a shard, from saved shards with other cuts.
    pub fn lpt_optimizer_state_load_many(context: *mut lpt_context, optimizer: *mut lpt_optimizer, index: i64, buffers: *const *const c_void, buffer_bytes: *const usize, count: i64) -> lpt_status;
    /// Creates a group of ranks that are threads of one process.
    pub fn lpt_comm_group_create(context: *mut lpt_context, rank_count: i32, out_group: *mut *mut lpt_comm_group) -> lpt_status;
    /// Aborts all calls of all ranks of a group, current and later ones; they return LPT_ABORTED.
    pub fn lpt_comm_group_abort(group: *mut lpt_comm_group);
    /// Destroys a group; comms that were created with it stay valid.
    pub fn lpt_comm_group_destroy(group: *mut lpt_comm_group);
    /// Creates the comm of one rank of a group; returns after all ranks have called it.
    pub fn lpt_comm_create_local(context: *mut lpt_context, group: *mut lpt_comm_group, rank: i32, options: *const lpt_comm_options, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Creates the comm of one process of an MPI job; returns after all of its processes have called it.
    pub fn lpt_comm_create_mpi(context: *mut lpt_context, options: *const lpt_comm_options, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Creates the comm of one process from an MPI communicator; returns after all of its processes have called it.
    pub fn lpt_comm_adopt_mpi(context: *mut lpt_context, fortran_handle: i32, options: *const lpt_comm_options, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Creates the comm of a rank with a GPU, which sends data by NCCL; returns after all ranks have called it.
    pub fn lpt_comm_create_nccl(context: *mut lpt_context, options: *const lpt_comm_options, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Creates the comm of a rank with a GPU from an NCCL communicator.
    pub fn lpt_comm_adopt_nccl(context: *mut lpt_context, nccl_comm: *mut c_void, options: *const lpt_comm_options, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Creates comms of subsets of ranks: ranks with the same color share one.
    pub fn lpt_comm_split(context: *mut lpt_context, comm: *mut lpt_comm, color: i32, key: i32, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Destroys a comm.
    pub fn lpt_comm_destroy(comm: *mut lpt_comm);
    /// Reads the rank, the number of ranks, the engine and the traffic of a comm.
    pub fn lpt_comm_read(context: *mut lpt_context, comm: *const lpt_comm, out_info: *mut lpt_comm_info) -> lpt_status;
    /// Waits for a collective and returns its status and text.
    pub fn lpt_future_wait(context: *mut lpt_context, future: *mut lpt_future) -> lpt_status;
    /// Returns whether a collective has ended, without waiting.
    pub fn lpt_future_is_done(context: *mut lpt_context, future: *const lpt_future, out_is_done: *mut i32) -> lpt_status;
    /// Destroys a future; its collective continues.
    pub fn lpt_future_destroy(future: *mut lpt_future);
    /// Returns after all ranks have called it.
    pub fn lpt_barrier(context: *mut lpt_context, comm: *mut lpt_comm) -> lpt_status;
    /// Reduces a tensor over all ranks; every rank gets the result.
    pub fn lpt_all_reduce(context: *mut lpt_context, comm: *mut lpt_comm, input: *const lpt_tensor, options: *const lpt_reduce_options, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Reduces a tensor over all ranks; each rank gets its part of the result, along the first axis.
    pub fn lpt_reduce_scatter(context: *mut lpt_context, comm: *mut lpt_comm, input: *const lpt_tensor, counts: *const i64, options: *const lpt_reduce_options, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Concatenates the parts of all ranks along the first axis; every rank gets the result.
    pub fn lpt_all_gather(context: *mut lpt_context, comm: *mut lpt_comm, input: *const lpt_tensor, counts: *const i64, options: *const lpt_all_gather_options, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Sends the tensor of one rank, with all its scales, to all ranks.
    pub fn lpt_broadcast(context: *mut lpt_context, comm: *mut lpt_comm, root: i32, tensor: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Sends each rank a part of the input, and concatenates the parts received, along the first axis.
    pub fn lpt_all_to_all(context: *mut lpt_context, comm: *mut lpt_comm, input: *const lpt_tensor, send_counts: *const i64, receive_counts: *const i64, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Sends a tensor to one rank; it may return before the other rank has received it.
    pub fn lpt_send(context: *mut lpt_context, comm: *mut lpt_comm, tensor: *const lpt_tensor, peer: i32, tag: i32, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Receives a tensor from one rank.
    pub fn lpt_receive(context: *mut lpt_context, comm: *mut lpt_comm, tensor: *mut lpt_tensor, peer: i32, tag: i32, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Reduces many tensors in place by one message: gains of norms, biases, buckets of gradients.
    pub fn lpt_all_reduce_many(context: *mut lpt_context, comm: *mut lpt_comm, tensors: *const *mut lpt_tensor, count: i64, options: *const lpt_reduce_options, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Returns whether a tensor has the same bits on all ranks; eight bytes of each rank are sent.
    pub fn lpt_comm_compare(context: *mut lpt_context, comm: *mut lpt_comm, tensor: *const lpt_tensor, out_is_same: *mut i32) -> lpt_status;
    /// Creates the comm of one rank over the caller's transport; returns after all ranks have called it.
    pub fn lpt_comm_create_custom(context: *mut lpt_context, functions: *const lpt_comm_functions, user: *mut c_void, rank: i32, rank_count: i32, options: *const lpt_comm_options, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Groups gradients in buckets, each reduced in place by one message as soon as its gradients are ready.
    pub fn lpt_gradient_buckets_create(context: *mut lpt_context, comm: *mut lpt_comm, gradients: *const *mut lpt_tensor, count: i64, options: *const lpt_gradient_buckets_options, out_buckets: *mut *mut lpt_gradient_buckets) -> lpt_status;
    /// Starts a backward pass.
    pub fn lpt_gradient_buckets_begin(context: *mut lpt_context, buckets: *mut lpt_gradient_buckets, is_last: i32, options: *const lpt_reduce_options) -> lpt_status;
    /// Marks a gradient as ready, and starts the reduction of buckets that are complete.
    pub fn lpt_gradient_buckets_ready(context: *mut lpt_context, buckets: *mut lpt_gradient_buckets, index: i64) -> lpt_status;
    /// Completes a pass: waits until all gradients are reduced.
    pub fn lpt_gradient_buckets_wait(context: *mut lpt_context, buckets: *mut lpt_gradient_buckets) -> lpt_status;
    /// Reads the state of buckets.
    pub fn lpt_gradient_buckets_read(context: *mut lpt_context, buckets: *const lpt_gradient_buckets, out_info: *mut lpt_gradient_buckets_info) -> lpt_status;
    /// Destroys buckets; reductions in flight continue.
    pub fn lpt_gradient_buckets_destroy(buckets: *mut lpt_gradient_buckets);
    /// Adds this rank's shards of many parameters to an optimizer; nothing is sent.
    pub fn lpt_optimizer_add_shards(context: *mut lpt_context, comm: *const lpt_comm, optimizer: *mut lpt_optimizer, names: *const *const c_char, parameters: *const *const lpt_optimizer_parameter, count: i64, out_indices: *mut i64) -> lpt_status;
    /// Steps parameters whose state is sharded over ranks; all ranks call it.
    pub fn lpt_optimizer_step_shards(context: *mut lpt_context, comm: *mut lpt_comm, optimizer: *mut lpt_optimizer, indices: *const i64, count: i64, gradients: *const *const lpt_tensor, options: *const lpt_optimizer_step_options, shards: *const lpt_optimizer_shard_options, parameters: *const *mut lpt_tensor) -> lpt_status;
    /// Computes how many columns a fraction of all columns shares, rounded down.
    pub fn lpt_partial_shared_columns(context: *mut lpt_context, hidden_columns: i64, fraction: f64, out_shared_columns: *mut i64) -> lpt_status;
    /// Creates a plan, which states the shared columns for all calls.
    pub fn lpt_partial_plan_create(context: *mut lpt_context, options: *const lpt_partial_plan_options, out_plan: *mut *mut lpt_partial_plan) -> lpt_status;
    /// Destroys a plan.
    pub fn lpt_partial_plan_destroy(plan: *mut lpt_partial_plan);
    /// Reads the properties of a plan.
    pub fn lpt_partial_plan_read(context: *mut lpt_context, plan: *const lpt_partial_plan, format: lpt_format, out_info: *mut lpt_partial_plan_info) -> lpt_status;
    /// Sums the shared columns over all ranks, and scales the private columns of this rank.
    pub fn lpt_partial_all_reduce(context: *mut lpt_context, comm: *mut lpt_comm, plan: *const lpt_partial_plan, pass: lpt_partial_pass, input: *const lpt_tensor, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Multiplies by this rank's slice of a row-parallel weight, and sums the shared columns over all ranks.
    pub fn lpt_partial_gemm(context: *mut lpt_context, comm: *mut lpt_comm, plan: *const lpt_partial_plan, a: *const lpt_tensor, b: *const lpt_tensor, options: *const lpt_gemm_options, c: *mut lpt_tensor) -> lpt_status;
    /// Multiplies the private rows of an initial weight by the scale of a plan, in place.
    pub fn lpt_partial_scale_weight(context: *mut lpt_context, plan: *const lpt_partial_plan, weight: *mut lpt_tensor) -> lpt_status;
    /// Gathers the rows of all ranks, in rank order, before a column-parallel layer (sequence parallelism).
    pub fn lpt_sequence_gather(context: *mut lpt_context, comm: *mut lpt_comm, plan: *const lpt_partial_plan, input: *const lpt_tensor, row_counts: *const i64, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Sums the rows of all ranks after a row-parallel layer without a comm, and gives each rank its rows of the sum.
    pub fn lpt_sequence_scatter(context: *mut lpt_context, comm: *mut lpt_comm, plan: *const lpt_partial_plan, pass: lpt_partial_pass, input: *const lpt_tensor, row_counts: *const i64, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Computes attention over a sequence whose positions are divided among ranks (sequence parallelism).
    pub fn lpt_sequence_attention_forward(context: *mut lpt_context, ring: *mut lpt_comm, heads: *mut lpt_comm, query: *const lpt_tensor, key: *const lpt_tensor, value: *const lpt_tensor, options: *const lpt_sequence_attention_options, output: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradients of lpt_sequence_attention_forward() for query, key and value.
    pub fn lpt_sequence_attention_backward(context: *mut lpt_context, ring: *mut lpt_comm, heads: *mut lpt_comm, query: *const lpt_tensor, key: *const lpt_tensor, value: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_sequence_attention_options, query_gradient: *mut lpt_tensor, key_gradient: *mut lpt_tensor, value_gradient: *mut lpt_tensor) -> lpt_status;
    /// Creates an autopilot.
    pub fn lpt_autopilot_create(context: *mut lpt_context, ladder: *const *const lpt_recipe, costs: *const f64, level_count: i32, work: *const f64, layer_count: i32, options: *const lpt_autopilot_options, out_autopilot: *mut *mut lpt_autopilot) -> lpt_status;
    /// Destroys an autopilot.
    pub fn lpt_autopilot_destroy(autopilot: *mut lpt_autopilot);
    /// Reports a signal for the next decision; the worst of several reports counts.
    pub fn lpt_autopilot_observe(context: *mut lpt_context, autopilot: *mut lpt_autopilot, layer: i32, signal: lpt_autopilot_reason, value: f64) -> lpt_status;
    /// Reports the casts of a watched layer for the next decision: NaNs, clipped shares, amax and errors.
    pub fn lpt_autopilot_observe_linear(context: *mut lpt_context, autopilot: *mut lpt_autopilot, layer: i32, linear: *const lpt_linear) -> lpt_status;
    /// Ends a step: adds its cost, and changes levels.
    pub fn lpt_autopilot_step(context: *mut lpt_context, autopilot: *mut lpt_autopilot, step: i64, loss: f64, out_change_count: *mut i64) -> lpt_status;
    /// Creates the recipe of a layer: the casts and options of each GEMM are those of its level.
    pub fn lpt_autopilot_recipe(context: *mut lpt_context, autopilot: *const lpt_autopilot, layer: i32, out_recipe: *mut *mut lpt_recipe) -> lpt_status;
    /// Reads the state of an autopilot.
    pub fn lpt_autopilot_read(context: *mut lpt_context, autopilot: *const lpt_autopilot, out_info: *mut lpt_autopilot_info) -> lpt_status;
    /// Copies all decisions, in order.
    pub fn lpt_autopilot_decisions(context: *mut lpt_context, autopilot: *const lpt_autopilot, decision_count: i64, decisions: *mut lpt_autopilot_decision) -> lpt_status;
    /// Makes an autopilot follow a list of decisions instead of signals, for example that of another run.
    pub fn lpt_autopilot_replay(context: *mut lpt_context, autopilot: *mut lpt_autopilot, decisions: *const lpt_autopilot_decision, decision_count: i64) -> lpt_status;
    /// Returns the number of bytes that lpt_autopilot_state_save() writes.
    pub fn lpt_autopilot_state_size(context: *mut lpt_context, autopilot: *const lpt_autopilot, out_size_bytes: *mut usize) -> lpt_status;
    /// Saves the levels, the decisions, and what was reported.
    pub fn lpt_autopilot_state_save(context: *mut lpt_context, autopilot: *const lpt_autopilot, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Restores a saved state.
    pub fn lpt_autopilot_state_load(context: *mut lpt_context, autopilot: *mut lpt_autopilot, buffer: *const c_void, buffer_bytes: usize) -> lpt_status;
    /// Averages a tensor over all ranks by its signs, one bit per element, with error feedback.
    pub fn lpt_all_reduce_signs(context: *mut lpt_context, comm: *mut lpt_comm, input: *const lpt_tensor, worker_error: *mut lpt_tensor, server_error: *mut lpt_tensor, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Returns how many elements of a tensor this rank averages in lpt_all_reduce_signs().
    pub fn lpt_all_reduce_signs_share(context: *mut lpt_context, comm: *const lpt_comm, element_count: i64, out_element_count: *mut i64) -> lpt_status;
    /// Computes the cost of a collective: successive messages, bytes, seconds.
    pub fn lpt_cost_estimate(context: *mut lpt_context, collective: lpt_cost_collective, algorithm: lpt_cost_algorithm, ranks: i32, elements: i64, payload: lpt_format, link: *const lpt_cost_link, out_info: *mut lpt_cost_info) -> lpt_status;
    /// Fits a link to measured times: seconds = latency_seconds + bytes / bytes_per_second.
    pub fn lpt_cost_fit_link(context: *mut lpt_context, bytes: *const f64, seconds: *const f64, count: i64, out_link: *mut lpt_cost_link) -> lpt_status;
    /// Computes from how many elements a collective takes less time with cast elements.
    pub fn lpt_cost_break_even(context: *mut lpt_context, collective: lpt_cost_collective, algorithm: lpt_cost_algorithm, ranks: i32, plain: lpt_format, payload: lpt_format, rates: *const lpt_cost_cast_rates, link: *const lpt_cost_link, out_elements: *mut i64) -> lpt_status;
    /// Corrects gradients of the parameters of this rank to first order for the mean parameters of all ranks.
    pub fn lpt_delay_compensate(context: *mut lpt_context, own: *const *const lpt_tensor, mean: *const *const lpt_tensor, count: i64, options: *const lpt_delay_options, gradients: *const *mut lpt_tensor) -> lpt_status;
    /// Finds the threshold with the maximum speedup from measured times, or computes the speedup of a threshold.
    pub fn lpt_drop_compute_fit(context: *mut lpt_context, seconds: *const f64, ranks: i32, steps: i64, micro_batches: i32, serial_seconds: f64, threshold_seconds: f64, out_info: *mut lpt_drop_compute_info) -> lpt_status;
    /// Finds the threshold with the maximum speedup for normal times, or computes the speedup of a threshold.
    pub fn lpt_drop_compute_estimate(context: *mut lpt_context, ranks: i32, micro_batches: i32, mean_seconds: f64, deviation_seconds: f64, serial_seconds: f64, threshold_seconds: f64, out_info: *mut lpt_drop_compute_info) -> lpt_status;
    /// Computes a softmax along the last axis, with the argument of exp rounded to one of 2^bits levels.
    pub fn lpt_exaq_softmax_forward(context: *mut lpt_context, input: *const lpt_tensor, options: *const lpt_exaq_options, output: *mut lpt_tensor) -> lpt_status;
    /// Creates the lossy link of one rank; returns after all ranks of the comm have called it.
    pub fn lpt_lossy_link_create(context: *mut lpt_context, comm: *mut lpt_comm, options: *const lpt_lossy_link_options, out_link: *mut *mut lpt_lossy_link) -> lpt_status;
    /// Reads the state of a link, and counts of packets.
    pub fn lpt_lossy_link_read(context: *mut lpt_context, link: *const lpt_lossy_link, peer: i32, out_info: *mut lpt_lossy_link_info) -> lpt_status;
    /// Destroys a link and closes its socket.
    pub fn lpt_lossy_link_destroy(link: *mut lpt_lossy_link);
    /// Averages a tensor over all ranks by packets; each rank gets its part of the result, along the first axis.
    pub fn lpt_lossy_reduce_scatter(context: *mut lpt_context, link: *mut lpt_lossy_link, input: *const lpt_tensor, counts: *const i64, mode: lpt_lossy_mode, loss: *const f64, arrival_count: i64, output: *mut lpt_tensor, out_arrivals: *mut u8) -> lpt_status;
    /// Concatenates the parts of all ranks along the first axis by packets; elements that are lost keep their values.
    pub fn lpt_lossy_all_gather(context: *mut lpt_context, link: *mut lpt_lossy_link, input: *const lpt_tensor, counts: *const i64, age_count: i64, output: *mut lpt_tensor, ages: *mut i32) -> lpt_status;
    /// Computes the drift of replicas, and the weights and variances of averages, for a probability of loss.
    pub fn lpt_lossy_estimate(context: *mut lpt_context, loss: f64, rank_count: i32, out_info: *mut lpt_lossy_info) -> lpt_status;
    /// Measures the noise that quantization adds to gradients, relative to their norm: |g| / |q(g) - g|.
    pub fn lpt_noise_measure(context: *mut lpt_context, gradients: *const *const lpt_tensor, noisy: *const *const lpt_tensor, count: i64, options: *const lpt_noise_options, out_info: *mut lpt_noise_info) -> lpt_status;
    /// Measures the cosine between the gate weight and the up weight of each channel.
    pub fn lpt_swiglu_alignment(context: *mut lpt_context, gate_weight: *const lpt_tensor, up_weight: *const lpt_tensor, cosines: *mut lpt_tensor, out_info: *mut lpt_swiglu_alignment_info) -> lpt_status;
    /// Creates an empty monitor.
    pub fn lpt_monitor_create(context: *mut lpt_context, out_monitor: *mut *mut lpt_monitor) -> lpt_status;
    /// Destroys a monitor.
    pub fn lpt_monitor_destroy(monitor: *mut lpt_monitor);
    /// Records one value.
    pub fn lpt_monitor_record(context: *mut lpt_context, monitor: *mut lpt_monitor, step: i64, name: *const c_char, value: f64) -> lpt_status;
    /// Records the amax of the scalers of a layer, and statistics of its casts if it is watched.
    pub fn lpt_monitor_record_linear(context: *mut lpt_context, monitor: *mut lpt_monitor, step: i64, name: *const c_char, linear: *const lpt_linear) -> lpt_status;
    /// Records statistics of casts: amax, and shares of clipped, underflowed and NaN elements.
    pub fn lpt_monitor_record_statistics(context: *mut lpt_context, monitor: *mut lpt_monitor, step: i64, name: *const c_char, statistics: *const lpt_statistics) -> lpt_status;
    /// Returns the number of recorded values.
    pub fn lpt_monitor_count(context: *mut lpt_context, monitor: *const lpt_monitor, out_count: *mut i64) -> lpt_status;
    /// Writes all values to a CSV file (RFC 4180).
    pub fn lpt_monitor_save(context: *mut lpt_context, monitor: *const lpt_monitor, path: *const c_char) -> lpt_status;
    /// Computes the power of a multiply-add.
    pub fn lpt_power_estimate(context: *mut lpt_context, options: *const lpt_power_options, out_flips: *mut f64) -> lpt_status;
    /// Casts a weight to integers whose mean magnitude is about `additions`.
    pub fn lpt_power_quantize(context: *mut lpt_context, weight: *const lpt_tensor, additions: f64, output: *mut lpt_tensor, out_info: *mut lpt_power_info) -> lpt_status;
    /// Creates a topology of a known shape.
    pub fn lpt_topology_create(context: *mut lpt_context, kind: lpt_topology_kind, extents: *const i64, extent_count: i32, link: *const lpt_cost_link, upper_link: *const lpt_cost_link, out_topology: *mut *mut lpt_topology) -> lpt_status;
    /// Creates a topology from a list of links.
    pub fn lpt_topology_create_graph(context: *mut lpt_context, rank_count: i32, switch_count: i32, links: *const lpt_topology_link, link_count: i64, out_topology: *mut *mut lpt_topology) -> lpt_status;
    /// Reads the size of a topology.
    pub fn lpt_topology_read(context: *mut lpt_context, topology: *const lpt_topology, out_info: *mut lpt_topology_info) -> lpt_status;
    /// Copies the links of a topology.
    pub fn lpt_topology_links(context: *mut lpt_context, topology: *const lpt_topology, link_count: i64, out_links: *mut lpt_topology_link) -> lpt_status;
    /// Destroys a topology; its schedules stay valid.
    pub fn lpt_topology_destroy(topology: *mut lpt_topology);
    /// Builds a schedule of an all-reduce, and verifies it as lpt_schedule_create_sends() does.
    pub fn lpt_schedule_create(context: *mut lpt_context, topology: *const lpt_topology, algorithm: lpt_schedule_algorithm, options: *const lpt_schedule_options, out_schedule: *mut *mut lpt_schedule) -> lpt_status;
    /// Verifies a list of sends symbolically and makes a schedule of it.
    pub fn lpt_schedule_create_sends(context: *mut lpt_context, topology: *const lpt_topology, chunk_count: i32, sends: *const lpt_schedule_send, send_count: i64, out_schedule: *mut *mut lpt_schedule) -> lpt_status;
    /// Reads the size of a schedule.
    pub fn lpt_schedule_read(context: *mut lpt_context, schedule: *const lpt_schedule, out_info: *mut lpt_schedule_info) -> lpt_status;
    /// Copies the sends of a schedule and their paths.
    pub fn lpt_schedule_sends(context: *mut lpt_context, schedule: *const lpt_schedule, send_count: i64, hop_count: i64, out_sends: *mut lpt_schedule_send, out_hop_counts: *mut i32, out_hops: *mut i32) -> lpt_status;
    /// Simulates the time of a schedule.
    pub fn lpt_schedule_simulate(context: *mut lpt_context, schedule: *const lpt_schedule, bytes: f64, reduce_bytes_per_second: f64, link_count: i64, out_seconds: *mut f64, out_link_seconds: *mut f64) -> lpt_status;
    /// Reduces a tensor over all ranks by a schedule; every rank gets the result.
    pub fn lpt_schedule_all_reduce(context: *mut lpt_context, comm: *mut lpt_comm, schedule: *const lpt_schedule, input: *const lpt_tensor, options: *const lpt_reduce_options, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Destroys a schedule; collectives in progress keep what they need.
    pub fn lpt_schedule_destroy(schedule: *mut lpt_schedule);
    /// Computes the number of masks that a pattern allows (its diversity), in bits per element.
    pub fn lpt_sparse_diversity(context: *mut lpt_context, kept: i32, of: i32, direction: lpt_sparse_direction, count: lpt_sparse_count, out_bits: *mut f64) -> lpt_status;
    /// Selects N for a model that was pruned without a pattern.
    pub fn lpt_sparse_choose_kept(context: *mut lpt_context, zero_share: f64, of: i32, confidence: f64, out_kept: *mut i32) -> lpt_status;
    /// Applies a mask, and adds the mean of the dropped elements of each group to its kept ones (mean absorption).
    pub fn lpt_sparse_absorb(context: *mut lpt_context, source: *const lpt_tensor, mask: *const lpt_tensor, of: i32, direction: lpt_sparse_direction, output: *mut lpt_tensor) -> lpt_status;
    /// Reorders the input columns of a weight so that an N:M mask along rows keeps more of its energy.
    pub fn lpt_sparse_order(context: *mut lpt_context, weight: *const lpt_tensor, options: *const lpt_sparse_options, order: *mut i32, out_info: *mut lpt_sparse_info) -> lpt_status;
}
