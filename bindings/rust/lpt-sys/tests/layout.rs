//! Sizes and offsets that gcc measured of lpt.h's structs. Written by `python3 tools/make_bindings.py write`.
#![cfg_attr(rustfmt, rustfmt_skip)]
use lpt_sys::*;
use std::mem::{size_of, MaybeUninit};
use std::ptr::addr_of;

macro_rules! offset {
    ($struct:ty, $member:ident) => {{
        let place = MaybeUninit::<$struct>::uninit();
        // Addresses alone are looked at.
        unsafe { addr_of!((*place.as_ptr()).$member) as usize - place.as_ptr() as usize }
    }};
}

#[test]
fn lpt_random_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_random>(), 32);
    assert_eq!(offset!(lpt_random, seed), 0);
    assert_eq!(offset!(lpt_random, offset), 8);
    assert_eq!(offset!(lpt_random, row_stride), 16);
    assert_eq!(offset!(lpt_random, stream), 24);
    assert_eq!(offset!(lpt_random, step), 28);
}

#[test]
fn lpt_device_description_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_device_description>(), 688);
    assert_eq!(offset!(lpt_device_description, struct_size), 0);
    assert_eq!(offset!(lpt_device_description, device), 8);
    assert_eq!(offset!(lpt_device_description, index), 12);
    assert_eq!(offset!(lpt_device_description, count), 16);
    assert_eq!(offset!(lpt_device_description, is_usable), 20);
    assert_eq!(offset!(lpt_device_description, capability_major), 24);
    assert_eq!(offset!(lpt_device_description, capability_minor), 28);
    assert_eq!(offset!(lpt_device_description, processor_count), 32);
    assert_eq!(offset!(lpt_device_description, reserved), 36);
    assert_eq!(offset!(lpt_device_description, memory_bytes), 40);
    assert_eq!(offset!(lpt_device_description, name), 48);
    assert_eq!(offset!(lpt_device_description, reason), 176);
}

#[test]
fn lpt_context_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_context_options>(), 112);
    assert_eq!(offset!(lpt_context_options, struct_size), 0);
    assert_eq!(offset!(lpt_context_options, thread_count), 8);
    assert_eq!(offset!(lpt_context_options, isa), 12);
    assert_eq!(offset!(lpt_context_options, log_level), 16);
    assert_eq!(offset!(lpt_context_options, parallel_for_width), 20);
    assert_eq!(offset!(lpt_context_options, log), 24);
    assert_eq!(offset!(lpt_context_options, log_user), 32);
    assert_eq!(offset!(lpt_context_options, allocate), 40);
    assert_eq!(offset!(lpt_context_options, release), 48);
    assert_eq!(offset!(lpt_context_options, allocator_user), 56);
    assert_eq!(offset!(lpt_context_options, parallel_for), 64);
    assert_eq!(offset!(lpt_context_options, parallel_for_user), 72);
    assert_eq!(offset!(lpt_context_options, error_text), 80);
    assert_eq!(offset!(lpt_context_options, error_text_bytes), 88);
    assert_eq!(offset!(lpt_context_options, device), 96);
    assert_eq!(offset!(lpt_context_options, device_index), 100);
    assert_eq!(offset!(lpt_context_options, threads_of), 104);
}

#[test]
fn lpt_profile_entry_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_profile_entry>(), 136);
    assert_eq!(offset!(lpt_profile_entry, struct_size), 0);
    assert_eq!(offset!(lpt_profile_entry, operation), 8);
    assert_eq!(offset!(lpt_profile_entry, row), 40);
    assert_eq!(offset!(lpt_profile_entry, calls), 104);
    assert_eq!(offset!(lpt_profile_entry, seconds), 112);
    assert_eq!(offset!(lpt_profile_entry, bytes), 120);
    assert_eq!(offset!(lpt_profile_entry, flops), 128);
}

#[test]
fn lpt_format_description_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_format_description>(), 88);
    assert_eq!(offset!(lpt_format_description, struct_size), 0);
    assert_eq!(offset!(lpt_format_description, element), 8);
    assert_eq!(offset!(lpt_format_description, block_scale), 16);
    assert_eq!(offset!(lpt_format_description, tensor_scale), 24);
    assert_eq!(offset!(lpt_format_description, block_rows), 32);
    assert_eq!(offset!(lpt_format_description, block_columns), 36);
    assert_eq!(offset!(lpt_format_description, element_bits), 40);
    assert_eq!(offset!(lpt_format_description, exponent_bits), 44);
    assert_eq!(offset!(lpt_format_description, mantissa_bits), 48);
    assert_eq!(offset!(lpt_format_description, exponent_bias), 52);
    assert_eq!(offset!(lpt_format_description, special), 56);
    assert_eq!(offset!(lpt_format_description, reserved), 60);
    assert_eq!(offset!(lpt_format_description, largest), 64);
    assert_eq!(offset!(lpt_format_description, zero_point), 72);
    assert_eq!(offset!(lpt_format_description, sparse_kept), 80);
    assert_eq!(offset!(lpt_format_description, sparse_of), 84);
}

#[test]
fn lpt_tensor_description_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_tensor_description>(), 56);
    assert_eq!(offset!(lpt_tensor_description, struct_size), 0);
    assert_eq!(offset!(lpt_tensor_description, format), 8);
    assert_eq!(offset!(lpt_tensor_description, data), 16);
    assert_eq!(offset!(lpt_tensor_description, rank), 24);
    assert_eq!(offset!(lpt_tensor_description, reserved), 28);
    assert_eq!(offset!(lpt_tensor_description, extents), 32);
    assert_eq!(offset!(lpt_tensor_description, strides), 40);
    assert_eq!(offset!(lpt_tensor_description, device), 48);
    assert_eq!(offset!(lpt_tensor_description, device_index), 52);
}

#[test]
fn lpt_quantize_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_quantize_options>(), 120);
    assert_eq!(offset!(lpt_quantize_options, struct_size), 0);
    assert_eq!(offset!(lpt_quantize_options, flags), 8);
    assert_eq!(offset!(lpt_quantize_options, rounding), 16);
    assert_eq!(offset!(lpt_quantize_options, overflow), 20);
    assert_eq!(offset!(lpt_quantize_options, scale_rule), 24);
    assert_eq!(offset!(lpt_quantize_options, stochastic_bits), 28);
    assert_eq!(offset!(lpt_quantize_options, philox_rounds), 32);
    assert_eq!(offset!(lpt_quantize_options, hadamard_size), 36);
    assert_eq!(offset!(lpt_quantize_options, random), 40);
    assert_eq!(offset!(lpt_quantize_options, scaler), 72);
    assert_eq!(offset!(lpt_quantize_options, smoothing), 80);
    assert_eq!(offset!(lpt_quantize_options, hadamard_signs), 88);
    assert_eq!(offset!(lpt_quantize_options, random_words), 96);
    assert_eq!(offset!(lpt_quantize_options, scale_list), 104);
    assert_eq!(offset!(lpt_quantize_options, statistics), 112);
}

#[test]
fn lpt_statistics_values_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_statistics_values>(), 64);
    assert_eq!(offset!(lpt_statistics_values, struct_size), 0);
    assert_eq!(offset!(lpt_statistics_values, element_count), 8);
    assert_eq!(offset!(lpt_statistics_values, nan_count), 16);
    assert_eq!(offset!(lpt_statistics_values, clipped_count), 24);
    assert_eq!(offset!(lpt_statistics_values, underflow_count), 32);
    assert_eq!(offset!(lpt_statistics_values, amax), 40);
    assert_eq!(offset!(lpt_statistics_values, squared_sum), 48);
    assert_eq!(offset!(lpt_statistics_values, squared_error), 56);
}

#[test]
fn lpt_dequantize_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_dequantize_options>(), 16);
    assert_eq!(offset!(lpt_dequantize_options, struct_size), 0);
    assert_eq!(offset!(lpt_dequantize_options, flags), 8);
}

#[test]
fn lpt_hadamard_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_hadamard_options>(), 32);
    assert_eq!(offset!(lpt_hadamard_options, struct_size), 0);
    assert_eq!(offset!(lpt_hadamard_options, flags), 8);
    assert_eq!(offset!(lpt_hadamard_options, size), 16);
    assert_eq!(offset!(lpt_hadamard_options, is_inverse), 20);
    assert_eq!(offset!(lpt_hadamard_options, signs), 24);
}

#[test]
fn lpt_convert_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_convert_options>(), 24);
    assert_eq!(offset!(lpt_convert_options, struct_size), 0);
    assert_eq!(offset!(lpt_convert_options, flags), 8);
    assert_eq!(offset!(lpt_convert_options, statistics), 16);
}

#[test]
fn lpt_scaler_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_scaler_options>(), 32);
    assert_eq!(offset!(lpt_scaler_options, struct_size), 0);
    assert_eq!(offset!(lpt_scaler_options, kind), 8);
    assert_eq!(offset!(lpt_scaler_options, history_length), 12);
    assert_eq!(offset!(lpt_scaler_options, margin), 16);
    assert_eq!(offset!(lpt_scaler_options, history_rule), 20);
    assert_eq!(offset!(lpt_scaler_options, zero_rule), 24);
    assert_eq!(offset!(lpt_scaler_options, reserved), 28);
}

#[test]
fn lpt_scaler_values_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_scaler_values>(), 24);
    assert_eq!(offset!(lpt_scaler_values, struct_size), 0);
    assert_eq!(offset!(lpt_scaler_values, amax), 8);
    assert_eq!(offset!(lpt_scaler_values, running_amax), 12);
    assert_eq!(offset!(lpt_scaler_values, update_count), 16);
}

#[test]
fn lpt_sparse_fit_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_sparse_fit_options>(), 32);
    assert_eq!(offset!(lpt_sparse_fit_options, struct_size), 0);
    assert_eq!(offset!(lpt_sparse_fit_options, flags), 8);
    assert_eq!(offset!(lpt_sparse_fit_options, iterations), 16);
    assert_eq!(offset!(lpt_sparse_fit_options, reserved), 20);
    assert_eq!(offset!(lpt_sparse_fit_options, damping), 24);
}

#[test]
fn lpt_sparse_fit_values_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_sparse_fit_values>(), 32);
    assert_eq!(offset!(lpt_sparse_fit_values, struct_size), 0);
    assert_eq!(offset!(lpt_sparse_fit_values, masked_error), 8);
    assert_eq!(offset!(lpt_sparse_fit_values, fitted_error), 16);
    assert_eq!(offset!(lpt_sparse_fit_values, iteration_count), 24);
}

#[test]
fn lpt_gemm_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_gemm_options>(), 88);
    assert_eq!(offset!(lpt_gemm_options, struct_size), 0);
    assert_eq!(offset!(lpt_gemm_options, flags), 8);
    assert_eq!(offset!(lpt_gemm_options, alpha), 16);
    assert_eq!(offset!(lpt_gemm_options, beta), 24);
    assert_eq!(offset!(lpt_gemm_options, is_a_transposed), 32);
    assert_eq!(offset!(lpt_gemm_options, is_b_transposed), 36);
    assert_eq!(offset!(lpt_gemm_options, bias), 40);
    assert_eq!(offset!(lpt_gemm_options, activation), 48);
    assert_eq!(offset!(lpt_gemm_options, arithmetic), 52);
    assert_eq!(offset!(lpt_gemm_options, residual), 56);
    assert_eq!(offset!(lpt_gemm_options, quantize), 64);
    assert_eq!(offset!(lpt_gemm_options, outlier_threshold), 72);
    assert_eq!(offset!(lpt_gemm_options, arithmetic_bits), 80);
    assert_eq!(offset!(lpt_gemm_options, reserved), 84);
}

#[test]
fn lpt_gemm_plan_values_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_gemm_plan_values>(), 112);
    assert_eq!(offset!(lpt_gemm_plan_values, struct_size), 0);
    assert_eq!(offset!(lpt_gemm_plan_values, m), 8);
    assert_eq!(offset!(lpt_gemm_plan_values, n), 16);
    assert_eq!(offset!(lpt_gemm_plan_values, k), 24);
    assert_eq!(offset!(lpt_gemm_plan_values, workspace_bytes), 32);
    assert_eq!(offset!(lpt_gemm_plan_values, part_count), 40);
    assert_eq!(offset!(lpt_gemm_plan_values, row), 48);
}

#[test]
fn lpt_gemm_operands_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_gemm_operands>(), 32);
    assert_eq!(offset!(lpt_gemm_operands, struct_size), 0);
    assert_eq!(offset!(lpt_gemm_operands, bias), 8);
    assert_eq!(offset!(lpt_gemm_operands, residual), 16);
    assert_eq!(offset!(lpt_gemm_operands, quantize), 24);
}

#[test]
fn lpt_sparse_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_sparse_options>(), 96);
    assert_eq!(offset!(lpt_sparse_options, struct_size), 0);
    assert_eq!(offset!(lpt_sparse_options, flags), 8);
    assert_eq!(offset!(lpt_sparse_options, kept), 16);
    assert_eq!(offset!(lpt_sparse_options, of), 20);
    assert_eq!(offset!(lpt_sparse_options, rule), 24);
    assert_eq!(offset!(lpt_sparse_options, direction), 28);
    assert_eq!(offset!(lpt_sparse_options, solver), 32);
    assert_eq!(offset!(lpt_sparse_options, iterations), 36);
    assert_eq!(offset!(lpt_sparse_options, sharpness), 40);
    assert_eq!(offset!(lpt_sparse_options, random), 48);
    assert_eq!(offset!(lpt_sparse_options, philox_rounds), 80);
    assert_eq!(offset!(lpt_sparse_options, reserved), 84);
    assert_eq!(offset!(lpt_sparse_options, importance), 88);
}

#[test]
fn lpt_sparse_values_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_sparse_values>(), 56);
    assert_eq!(offset!(lpt_sparse_values, struct_size), 0);
    assert_eq!(offset!(lpt_sparse_values, element_count), 8);
    assert_eq!(offset!(lpt_sparse_values, kept_count), 16);
    assert_eq!(offset!(lpt_sparse_values, special_groups), 24);
    assert_eq!(offset!(lpt_sparse_values, energy), 32);
    assert_eq!(offset!(lpt_sparse_values, kept_energy), 40);
    assert_eq!(offset!(lpt_sparse_values, variance), 48);
}

#[test]
fn lpt_weights_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_weights_options>(), 48);
    assert_eq!(offset!(lpt_weights_options, struct_size), 0);
    assert_eq!(offset!(lpt_weights_options, flags), 8);
    assert_eq!(offset!(lpt_weights_options, output_order), 16);
    assert_eq!(offset!(lpt_weights_options, input_order), 24);
    assert_eq!(offset!(lpt_weights_options, storage), 32);
    assert_eq!(offset!(lpt_weights_options, tile_rows), 36);
    assert_eq!(offset!(lpt_weights_options, tile_columns), 40);
    assert_eq!(offset!(lpt_weights_options, reserved), 44);
}

#[test]
fn lpt_product_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_product_options>(), 48);
    assert_eq!(offset!(lpt_product_options, struct_size), 0);
    assert_eq!(offset!(lpt_product_options, flags), 8);
    assert_eq!(offset!(lpt_product_options, hadamard_size), 16);
    assert_eq!(offset!(lpt_product_options, hadamard_signs), 20);
    assert_eq!(offset!(lpt_product_options, hadamard_axis), 24);
    assert_eq!(offset!(lpt_product_options, source), 28);
    assert_eq!(offset!(lpt_product_options, draws), 32);
    assert_eq!(offset!(lpt_product_options, parts), 36);
    assert_eq!(offset!(lpt_product_options, output_scale), 40);
    assert_eq!(offset!(lpt_product_options, reserved), 44);
}

#[test]
fn lpt_linear_shape_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_linear_shape>(), 24);
    assert_eq!(offset!(lpt_linear_shape, struct_size), 0);
    assert_eq!(offset!(lpt_linear_shape, input_columns), 8);
    assert_eq!(offset!(lpt_linear_shape, output_columns), 16);
}

#[test]
fn lpt_linear_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_linear_options>(), 104);
    assert_eq!(offset!(lpt_linear_options, struct_size), 0);
    assert_eq!(offset!(lpt_linear_options, flags), 8);
    assert_eq!(offset!(lpt_linear_options, random), 16);
    assert_eq!(offset!(lpt_linear_options, first_row), 48);
    assert_eq!(offset!(lpt_linear_options, bias), 56);
    assert_eq!(offset!(lpt_linear_options, input_smoothing), 64);
    assert_eq!(offset!(lpt_linear_options, is_accumulated), 72);
    assert_eq!(offset!(lpt_linear_options, reserved), 76);
    assert_eq!(offset!(lpt_linear_options, comm), 80);
    assert_eq!(offset!(lpt_linear_options, plan), 88);
    assert_eq!(offset!(lpt_linear_options, parallel), 96);
    assert_eq!(offset!(lpt_linear_options, reserved_two), 100);
}

#[test]
fn lpt_swiglu_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_swiglu_options>(), 24);
    assert_eq!(offset!(lpt_swiglu_options, struct_size), 0);
    assert_eq!(offset!(lpt_swiglu_options, flags), 8);
    assert_eq!(offset!(lpt_swiglu_options, smoothing), 16);
    assert_eq!(offset!(lpt_swiglu_options, reserved), 20);
}

#[test]
fn lpt_rmsnorm_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_rmsnorm_options>(), 32);
    assert_eq!(offset!(lpt_rmsnorm_options, struct_size), 0);
    assert_eq!(offset!(lpt_rmsnorm_options, flags), 8);
    assert_eq!(offset!(lpt_rmsnorm_options, epsilon), 16);
    assert_eq!(offset!(lpt_rmsnorm_options, is_accumulated), 24);
    assert_eq!(offset!(lpt_rmsnorm_options, reserved), 28);
}

#[test]
fn lpt_softmax_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_softmax_options>(), 48);
    assert_eq!(offset!(lpt_softmax_options, struct_size), 0);
    assert_eq!(offset!(lpt_softmax_options, flags), 8);
    assert_eq!(offset!(lpt_softmax_options, scale), 16);
    assert_eq!(offset!(lpt_softmax_options, is_causal), 24);
    assert_eq!(offset!(lpt_softmax_options, reserved), 28);
    assert_eq!(offset!(lpt_softmax_options, exaq_clip), 32);
    assert_eq!(offset!(lpt_softmax_options, exaq_bits), 40);
    assert_eq!(offset!(lpt_softmax_options, reserved_two), 44);
}

#[test]
fn lpt_cross_entropy_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_cross_entropy_options>(), 48);
    assert_eq!(offset!(lpt_cross_entropy_options, struct_size), 0);
    assert_eq!(offset!(lpt_cross_entropy_options, flags), 8);
    assert_eq!(offset!(lpt_cross_entropy_options, comm), 16);
    assert_eq!(offset!(lpt_cross_entropy_options, ignored_target), 24);
    assert_eq!(offset!(lpt_cross_entropy_options, label_smoothing), 32);
    assert_eq!(offset!(lpt_cross_entropy_options, reduction), 40);
    assert_eq!(offset!(lpt_cross_entropy_options, reserved), 44);
}

#[test]
fn lpt_optimizer_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_optimizer_options>(), 56);
    assert_eq!(offset!(lpt_optimizer_options, struct_size), 0);
    assert_eq!(offset!(lpt_optimizer_options, flags), 8);
    assert_eq!(offset!(lpt_optimizer_options, beta1), 16);
    assert_eq!(offset!(lpt_optimizer_options, beta2), 24);
    assert_eq!(offset!(lpt_optimizer_options, epsilon), 32);
    assert_eq!(offset!(lpt_optimizer_options, second_underflow), 40);
    assert_eq!(offset!(lpt_optimizer_options, method), 44);
    assert_eq!(offset!(lpt_optimizer_options, is_nesterov), 48);
    assert_eq!(offset!(lpt_optimizer_options, reserved), 52);
}

#[test]
fn lpt_optimizer_parameter_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_optimizer_parameter>(), 80);
    assert_eq!(offset!(lpt_optimizer_parameter, struct_size), 0);
    assert_eq!(offset!(lpt_optimizer_parameter, elements), 8);
    assert_eq!(offset!(lpt_optimizer_parameter, first_moment), 16);
    assert_eq!(offset!(lpt_optimizer_parameter, second_moment), 24);
    assert_eq!(offset!(lpt_optimizer_parameter, weight_decay), 32);
    assert_eq!(offset!(lpt_optimizer_parameter, is_first_expanded), 40);
    assert_eq!(offset!(lpt_optimizer_parameter, is_second_expanded), 44);
    assert_eq!(offset!(lpt_optimizer_parameter, compensation), 48);
    assert_eq!(offset!(lpt_optimizer_parameter, first_scaling), 56);
    assert_eq!(offset!(lpt_optimizer_parameter, second_scaling), 60);
    assert_eq!(offset!(lpt_optimizer_parameter, whole_elements), 64);
    assert_eq!(offset!(lpt_optimizer_parameter, begin), 72);
}

#[test]
fn lpt_step_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_step_options>(), 96);
    assert_eq!(offset!(lpt_step_options, struct_size), 0);
    assert_eq!(offset!(lpt_step_options, flags), 8);
    assert_eq!(offset!(lpt_step_options, learning_rate), 16);
    assert_eq!(offset!(lpt_step_options, gradient_scale), 24);
    assert_eq!(offset!(lpt_step_options, random), 32);
    assert_eq!(offset!(lpt_step_options, first_moment_rounding), 64);
    assert_eq!(offset!(lpt_step_options, second_moment_rounding), 68);
    assert_eq!(offset!(lpt_step_options, parameter_rounding), 72);
    assert_eq!(offset!(lpt_step_options, is_nonfinite_skipped), 76);
    assert_eq!(offset!(lpt_step_options, largest_norm), 80);
    assert_eq!(offset!(lpt_step_options, gradient_norm), 88);
}

#[test]
fn lpt_optimizer_values_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_optimizer_values>(), 40);
    assert_eq!(offset!(lpt_optimizer_values, struct_size), 0);
    assert_eq!(offset!(lpt_optimizer_values, gradient_norm), 8);
    assert_eq!(offset!(lpt_optimizer_values, clip_factor), 16);
    assert_eq!(offset!(lpt_optimizer_values, skipped_count), 24);
    assert_eq!(offset!(lpt_optimizer_values, is_skipped), 32);
    assert_eq!(offset!(lpt_optimizer_values, reserved), 36);
}

#[test]
fn lpt_gradient_values_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_gradient_values>(), 24);
    assert_eq!(offset!(lpt_gradient_values, struct_size), 0);
    assert_eq!(offset!(lpt_gradient_values, sum_of_squares), 8);
    assert_eq!(offset!(lpt_gradient_values, nonfinite_count), 16);
}

#[test]
fn lpt_comm_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_comm_options>(), 48);
    assert_eq!(offset!(lpt_comm_options, struct_size), 0);
    assert_eq!(offset!(lpt_comm_options, flags), 8);
    assert_eq!(offset!(lpt_comm_options, timeout_seconds), 16);
    assert_eq!(offset!(lpt_comm_options, link_latency_seconds), 24);
    assert_eq!(offset!(lpt_comm_options, link_bytes_per_second), 32);
    assert_eq!(offset!(lpt_comm_options, damaged_message), 40);
}

#[test]
fn lpt_comm_values_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_comm_values>(), 80);
    assert_eq!(offset!(lpt_comm_values, struct_size), 0);
    assert_eq!(offset!(lpt_comm_values, rank), 8);
    assert_eq!(offset!(lpt_comm_values, rank_count), 12);
    assert_eq!(offset!(lpt_comm_values, engine), 16);
    assert_eq!(offset!(lpt_comm_values, collectives), 48);
    assert_eq!(offset!(lpt_comm_values, bytes_sent), 56);
    assert_eq!(offset!(lpt_comm_values, bytes_received), 64);
    assert_eq!(offset!(lpt_comm_values, seconds), 72);
}

#[test]
fn lpt_reduce_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_reduce_options>(), 88);
    assert_eq!(offset!(lpt_reduce_options, struct_size), 0);
    assert_eq!(offset!(lpt_reduce_options, flags), 8);
    assert_eq!(offset!(lpt_reduce_options, reduction), 16);
    assert_eq!(offset!(lpt_reduce_options, reserved), 20);
    assert_eq!(offset!(lpt_reduce_options, factor), 24);
    assert_eq!(offset!(lpt_reduce_options, wire), 32);
    assert_eq!(offset!(lpt_reduce_options, algorithm), 40);
    assert_eq!(offset!(lpt_reduce_options, rounding), 44);
    assert_eq!(offset!(lpt_reduce_options, random), 48);
    assert_eq!(offset!(lpt_reduce_options, codec), 80);
}

#[test]
fn lpt_bucket_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_bucket_options>(), 40);
    assert_eq!(offset!(lpt_bucket_options, struct_size), 0);
    assert_eq!(offset!(lpt_bucket_options, flags), 8);
    assert_eq!(offset!(lpt_bucket_options, bucket_bytes), 16);
    assert_eq!(offset!(lpt_bucket_options, order), 24);
    assert_eq!(offset!(lpt_bucket_options, reserved), 28);
    assert_eq!(offset!(lpt_bucket_options, names), 32);
}

#[test]
fn lpt_bucket_values_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_bucket_values>(), 48);
    assert_eq!(offset!(lpt_bucket_values, struct_size), 0);
    assert_eq!(offset!(lpt_bucket_values, bucket_count), 8);
    assert_eq!(offset!(lpt_bucket_values, ready_count), 16);
    assert_eq!(offset!(lpt_bucket_values, launched_count), 24);
    assert_eq!(offset!(lpt_bucket_values, wait_seconds), 32);
    assert_eq!(offset!(lpt_bucket_values, is_recorded), 40);
    assert_eq!(offset!(lpt_bucket_values, reserved), 44);
}

#[test]
fn lpt_shard_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_shard_options>(), 24);
    assert_eq!(offset!(lpt_shard_options, struct_size), 0);
    assert_eq!(offset!(lpt_shard_options, flags), 8);
    assert_eq!(offset!(lpt_shard_options, reduce), 16);
}

#[test]
fn lpt_partial_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_partial_options>(), 88);
    assert_eq!(offset!(lpt_partial_options, struct_size), 0);
    assert_eq!(offset!(lpt_partial_options, flags), 8);
    assert_eq!(offset!(lpt_partial_options, hidden_columns), 16);
    assert_eq!(offset!(lpt_partial_options, shared_columns), 24);
    assert_eq!(offset!(lpt_partial_options, rank_count), 32);
    assert_eq!(offset!(lpt_partial_options, private_scale), 36);
    assert_eq!(offset!(lpt_partial_options, custom_scale), 40);
    assert_eq!(offset!(lpt_partial_options, forward_wire), 48);
    assert_eq!(offset!(lpt_partial_options, backward_wire), 56);
    assert_eq!(offset!(lpt_partial_options, chunk_rows), 64);
    assert_eq!(offset!(lpt_partial_options, link_latency_seconds), 72);
    assert_eq!(offset!(lpt_partial_options, link_bytes_per_second), 80);
}

#[test]
fn lpt_partial_values_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_partial_values>(), 56);
    assert_eq!(offset!(lpt_partial_values, struct_size), 0);
    assert_eq!(offset!(lpt_partial_values, hidden_columns), 8);
    assert_eq!(offset!(lpt_partial_values, shared_columns), 16);
    assert_eq!(offset!(lpt_partial_values, rank_count), 24);
    assert_eq!(offset!(lpt_partial_values, reserved), 28);
    assert_eq!(offset!(lpt_partial_values, private_scale), 32);
    assert_eq!(offset!(lpt_partial_values, forward_row_bytes), 40);
    assert_eq!(offset!(lpt_partial_values, backward_row_bytes), 48);
}

#[test]
fn lpt_codec_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_codec>(), 64);
    assert_eq!(offset!(lpt_codec, struct_size), 0);
    assert_eq!(offset!(lpt_codec, name), 8);
    assert_eq!(offset!(lpt_codec, bytes_for), 24);
    assert_eq!(offset!(lpt_codec, encode), 32);
    assert_eq!(offset!(lpt_codec, decode), 40);
    assert_eq!(offset!(lpt_codec, decode_add), 48);
    assert_eq!(offset!(lpt_codec, user), 56);
}

#[test]
fn lpt_link_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_link>(), 32);
    assert_eq!(offset!(lpt_link, struct_size), 0);
    assert_eq!(offset!(lpt_link, latency_seconds), 8);
    assert_eq!(offset!(lpt_link, bytes_per_second), 16);
    assert_eq!(offset!(lpt_link, reduce_bytes_per_second), 24);
}

#[test]
fn lpt_cost_values_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_cost_values>(), 48);
    assert_eq!(offset!(lpt_cost_values, struct_size), 0);
    assert_eq!(offset!(lpt_cost_values, algorithm), 8);
    assert_eq!(offset!(lpt_cost_values, step_count), 12);
    assert_eq!(offset!(lpt_cost_values, payload_bytes), 16);
    assert_eq!(offset!(lpt_cost_values, rank_bytes), 24);
    assert_eq!(offset!(lpt_cost_values, total_bytes), 32);
    assert_eq!(offset!(lpt_cost_values, seconds), 40);
}

#[test]
fn lpt_cast_rates_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_cast_rates>(), 32);
    assert_eq!(offset!(lpt_cast_rates, struct_size), 0);
    assert_eq!(offset!(lpt_cast_rates, overhead_seconds), 8);
    assert_eq!(offset!(lpt_cast_rates, encode_bytes_per_second), 16);
    assert_eq!(offset!(lpt_cast_rates, decode_bytes_per_second), 24);
}

#[test]
fn lpt_noise_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_noise_options>(), 24);
    assert_eq!(offset!(lpt_noise_options, struct_size), 0);
    assert_eq!(offset!(lpt_noise_options, flags), 8);
    assert_eq!(offset!(lpt_noise_options, kind), 16);
    assert_eq!(offset!(lpt_noise_options, reserved), 20);
}

#[test]
fn lpt_noise_values_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_noise_values>(), 48);
    assert_eq!(offset!(lpt_noise_values, struct_size), 0);
    assert_eq!(offset!(lpt_noise_values, gradient_norm), 8);
    assert_eq!(offset!(lpt_noise_values, noise_norm), 16);
    assert_eq!(offset!(lpt_noise_values, ratio), 24);
    assert_eq!(offset!(lpt_noise_values, nonfinite_count), 32);
    assert_eq!(offset!(lpt_noise_values, is_noisy), 40);
    assert_eq!(offset!(lpt_noise_values, reserved), 44);
}

#[test]
fn lpt_alignment_values_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_alignment_values>(), 40);
    assert_eq!(offset!(lpt_alignment_values, struct_size), 0);
    assert_eq!(offset!(lpt_alignment_values, mean), 8);
    assert_eq!(offset!(lpt_alignment_values, mean_magnitude), 16);
    assert_eq!(offset!(lpt_alignment_values, largest), 24);
    assert_eq!(offset!(lpt_alignment_values, largest_channel), 32);
}
