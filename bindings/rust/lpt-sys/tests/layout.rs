//! Sizes and offsets of the structs of lpt.h, measured by gcc. Written by `python3 tools/make_bindings.py write`.
#![cfg_attr(rustfmt, rustfmt_skip)]
use lpt_sys::*;
use std::mem::{size_of, MaybeUninit};
use std::ptr::addr_of;

macro_rules! offset {
    ($struct:ty, $member:ident) => {{
        let value = MaybeUninit::<$struct>::uninit();
        // Only addresses are computed; nothing is read.
        unsafe { addr_of!((*value.as_ptr()).$member) as usize - value.as_ptr() as usize }
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
fn lpt_device_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_device_info>(), 688);
    assert_eq!(offset!(lpt_device_info, struct_size), 0);
    assert_eq!(offset!(lpt_device_info, device), 8);
    assert_eq!(offset!(lpt_device_info, index), 12);
    assert_eq!(offset!(lpt_device_info, count), 16);
    assert_eq!(offset!(lpt_device_info, is_usable), 20);
    assert_eq!(offset!(lpt_device_info, capability_major), 24);
    assert_eq!(offset!(lpt_device_info, capability_minor), 28);
    assert_eq!(offset!(lpt_device_info, processor_count), 32);
    assert_eq!(offset!(lpt_device_info, reserved), 36);
    assert_eq!(offset!(lpt_device_info, memory_bytes), 40);
    assert_eq!(offset!(lpt_device_info, name), 48);
    assert_eq!(offset!(lpt_device_info, reason), 176);
}

#[test]
fn lpt_context_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_context_options>(), 144);
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
    assert_eq!(offset!(lpt_context_options, stream), 112);
    assert_eq!(offset!(lpt_context_options, device_allocate), 120);
    assert_eq!(offset!(lpt_context_options, device_release), 128);
    assert_eq!(offset!(lpt_context_options, device_allocator_user), 136);
}

#[test]
fn lpt_profile_entry_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_profile_entry>(), 136);
    assert_eq!(offset!(lpt_profile_entry, struct_size), 0);
    assert_eq!(offset!(lpt_profile_entry, operation), 8);
    assert_eq!(offset!(lpt_profile_entry, kernel), 40);
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
    assert_eq!(size_of::<lpt_tensor_description>(), 64);
    assert_eq!(offset!(lpt_tensor_description, struct_size), 0);
    assert_eq!(offset!(lpt_tensor_description, format), 8);
    assert_eq!(offset!(lpt_tensor_description, data), 16);
    assert_eq!(offset!(lpt_tensor_description, rank), 24);
    assert_eq!(offset!(lpt_tensor_description, reserved), 28);
    assert_eq!(offset!(lpt_tensor_description, extents), 32);
    assert_eq!(offset!(lpt_tensor_description, strides), 40);
    assert_eq!(offset!(lpt_tensor_description, device), 48);
    assert_eq!(offset!(lpt_tensor_description, device_index), 52);
    assert_eq!(offset!(lpt_tensor_description, flags), 56);
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
fn lpt_statistics_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_statistics_info>(), 64);
    assert_eq!(offset!(lpt_statistics_info, struct_size), 0);
    assert_eq!(offset!(lpt_statistics_info, element_count), 8);
    assert_eq!(offset!(lpt_statistics_info, nan_count), 16);
    assert_eq!(offset!(lpt_statistics_info, clipped_count), 24);
    assert_eq!(offset!(lpt_statistics_info, underflow_count), 32);
    assert_eq!(offset!(lpt_statistics_info, amax), 40);
    assert_eq!(offset!(lpt_statistics_info, squared_sum), 48);
    assert_eq!(offset!(lpt_statistics_info, squared_error), 56);
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
    assert_eq!(offset!(lpt_scaler_options, history_decay), 28);
}

#[test]
fn lpt_scaler_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_scaler_info>(), 24);
    assert_eq!(offset!(lpt_scaler_info, struct_size), 0);
    assert_eq!(offset!(lpt_scaler_info, amax), 8);
    assert_eq!(offset!(lpt_scaler_info, running_amax), 12);
    assert_eq!(offset!(lpt_scaler_info, update_count), 16);
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
fn lpt_sparse_fit_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_sparse_fit_info>(), 32);
    assert_eq!(offset!(lpt_sparse_fit_info, struct_size), 0);
    assert_eq!(offset!(lpt_sparse_fit_info, masked_error), 8);
    assert_eq!(offset!(lpt_sparse_fit_info, fitted_error), 16);
    assert_eq!(offset!(lpt_sparse_fit_info, iteration_count), 24);
}

#[test]
fn lpt_calibration_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_calibration_options>(), 24);
    assert_eq!(offset!(lpt_calibration_options, struct_size), 0);
    assert_eq!(offset!(lpt_calibration_options, flags), 8);
    assert_eq!(offset!(lpt_calibration_options, has_gram), 16);
    assert_eq!(offset!(lpt_calibration_options, has_cross_gram), 20);
}

#[test]
fn lpt_calibration_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_calibration_info>(), 40);
    assert_eq!(offset!(lpt_calibration_info, struct_size), 0);
    assert_eq!(offset!(lpt_calibration_info, row_count), 8);
    assert_eq!(offset!(lpt_calibration_info, amax), 16);
    assert_eq!(offset!(lpt_calibration_info, mean), 24);
    assert_eq!(offset!(lpt_calibration_info, mean_square), 32);
}

#[test]
fn lpt_weights_fit_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_weights_fit_options>(), 72);
    assert_eq!(offset!(lpt_weights_fit_options, struct_size), 0);
    assert_eq!(offset!(lpt_weights_fit_options, flags), 8);
    assert_eq!(offset!(lpt_weights_fit_options, method), 16);
    assert_eq!(offset!(lpt_weights_fit_options, order), 20);
    assert_eq!(offset!(lpt_weights_fit_options, scale_rule), 24);
    assert_eq!(offset!(lpt_weights_fit_options, reserved), 28);
    assert_eq!(offset!(lpt_weights_fit_options, damping), 32);
    assert_eq!(offset!(lpt_weights_fit_options, cross_gram), 40);
    assert_eq!(offset!(lpt_weights_fit_options, inputs), 48);
    assert_eq!(offset!(lpt_weights_fit_options, reference), 56);
    assert_eq!(offset!(lpt_weights_fit_options, input_format), 64);
}

#[test]
fn lpt_weights_fit_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_weights_fit_info>(), 56);
    assert_eq!(offset!(lpt_weights_fit_info, struct_size), 0);
    assert_eq!(offset!(lpt_weights_fit_info, nearest_error), 8);
    assert_eq!(offset!(lpt_weights_fit_info, fitted_error), 16);
    assert_eq!(offset!(lpt_weights_fit_info, damping), 24);
    assert_eq!(offset!(lpt_weights_fit_info, ratio), 32);
    assert_eq!(offset!(lpt_weights_fit_info, sample_error), 40);
    assert_eq!(offset!(lpt_weights_fit_info, has_maxima), 48);
    assert_eq!(offset!(lpt_weights_fit_info, reserved), 52);
}

#[test]
fn lpt_format_choose_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_format_choose_info>(), 32);
    assert_eq!(offset!(lpt_format_choose_info, struct_size), 0);
    assert_eq!(offset!(lpt_format_choose_info, error), 8);
    assert_eq!(offset!(lpt_format_choose_info, bound), 16);
    assert_eq!(offset!(lpt_format_choose_info, bytes), 24);
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
    assert_eq!(offset!(lpt_gemm_options, reserved), 52);
    assert_eq!(offset!(lpt_gemm_options, residual), 56);
    assert_eq!(offset!(lpt_gemm_options, quantize), 64);
    assert_eq!(offset!(lpt_gemm_options, outlier_threshold), 72);
    assert_eq!(offset!(lpt_gemm_options, emulation), 80);
}

#[test]
fn lpt_gemm_plan_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_gemm_plan_info>(), 112);
    assert_eq!(offset!(lpt_gemm_plan_info, struct_size), 0);
    assert_eq!(offset!(lpt_gemm_plan_info, m), 8);
    assert_eq!(offset!(lpt_gemm_plan_info, n), 16);
    assert_eq!(offset!(lpt_gemm_plan_info, k), 24);
    assert_eq!(offset!(lpt_gemm_plan_info, workspace_bytes), 32);
    assert_eq!(offset!(lpt_gemm_plan_info, part_count), 40);
    assert_eq!(offset!(lpt_gemm_plan_info, kernel), 48);
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
fn lpt_sparse_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_sparse_info>(), 56);
    assert_eq!(offset!(lpt_sparse_info, struct_size), 0);
    assert_eq!(offset!(lpt_sparse_info, element_count), 8);
    assert_eq!(offset!(lpt_sparse_info, kept_count), 16);
    assert_eq!(offset!(lpt_sparse_info, special_groups), 24);
    assert_eq!(offset!(lpt_sparse_info, energy), 32);
    assert_eq!(offset!(lpt_sparse_info, kept_energy), 40);
    assert_eq!(offset!(lpt_sparse_info, variance), 48);
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
fn lpt_rotary_scaling_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_rotary_scaling>(), 80);
    assert_eq!(offset!(lpt_rotary_scaling, struct_size), 0);
    assert_eq!(offset!(lpt_rotary_scaling, flags), 8);
    assert_eq!(offset!(lpt_rotary_scaling, kind), 16);
    assert_eq!(offset!(lpt_rotary_scaling, reserved), 20);
    assert_eq!(offset!(lpt_rotary_scaling, base), 24);
    assert_eq!(offset!(lpt_rotary_scaling, factor), 32);
    assert_eq!(offset!(lpt_rotary_scaling, original_positions), 40);
    assert_eq!(offset!(lpt_rotary_scaling, beta_fast), 48);
    assert_eq!(offset!(lpt_rotary_scaling, beta_slow), 56);
    assert_eq!(offset!(lpt_rotary_scaling, low_frequency_factor), 64);
    assert_eq!(offset!(lpt_rotary_scaling, high_frequency_factor), 72);
}

#[test]
fn lpt_rotary_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_rotary_options>(), 48);
    assert_eq!(offset!(lpt_rotary_options, struct_size), 0);
    assert_eq!(offset!(lpt_rotary_options, flags), 8);
    assert_eq!(offset!(lpt_rotary_options, positions), 16);
    assert_eq!(offset!(lpt_rotary_options, first_position), 24);
    assert_eq!(offset!(lpt_rotary_options, layout), 32);
    assert_eq!(offset!(lpt_rotary_options, is_inverse), 36);
    assert_eq!(offset!(lpt_rotary_options, scale), 40);
}

#[test]
fn lpt_attention_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_attention_options>(), 80);
    assert_eq!(offset!(lpt_attention_options, struct_size), 0);
    assert_eq!(offset!(lpt_attention_options, flags), 8);
    assert_eq!(offset!(lpt_attention_options, scale), 16);
    assert_eq!(offset!(lpt_attention_options, is_causal), 24);
    assert_eq!(offset!(lpt_attention_options, reserved), 28);
    assert_eq!(offset!(lpt_attention_options, window), 32);
    assert_eq!(offset!(lpt_attention_options, mask), 40);
    assert_eq!(offset!(lpt_attention_options, log_sum_exp), 48);
    assert_eq!(offset!(lpt_attention_options, output), 56);
    assert_eq!(offset!(lpt_attention_options, key_lengths), 64);
    assert_eq!(offset!(lpt_attention_options, exaq), 72);
}

#[test]
fn lpt_kv_cache_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_kv_cache_options>(), 96);
    assert_eq!(offset!(lpt_kv_cache_options, struct_size), 0);
    assert_eq!(offset!(lpt_kv_cache_options, flags), 8);
    assert_eq!(offset!(lpt_kv_cache_options, batches), 16);
    assert_eq!(offset!(lpt_kv_cache_options, key_heads), 24);
    assert_eq!(offset!(lpt_kv_cache_options, capacity), 32);
    assert_eq!(offset!(lpt_kv_cache_options, key_width), 40);
    assert_eq!(offset!(lpt_kv_cache_options, value_width), 48);
    assert_eq!(offset!(lpt_kv_cache_options, key_format), 56);
    assert_eq!(offset!(lpt_kv_cache_options, value_format), 64);
    assert_eq!(offset!(lpt_kv_cache_options, key_scale_rule), 72);
    assert_eq!(offset!(lpt_kv_cache_options, value_scale_rule), 76);
    assert_eq!(offset!(lpt_kv_cache_options, key_scale), 80);
    assert_eq!(offset!(lpt_kv_cache_options, value_scale), 88);
}

#[test]
fn lpt_linear_gemm_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_linear_gemm_options>(), 48);
    assert_eq!(offset!(lpt_linear_gemm_options, struct_size), 0);
    assert_eq!(offset!(lpt_linear_gemm_options, flags), 8);
    assert_eq!(offset!(lpt_linear_gemm_options, hadamard_size), 16);
    assert_eq!(offset!(lpt_linear_gemm_options, hadamard_signs), 20);
    assert_eq!(offset!(lpt_linear_gemm_options, hadamard_axis), 24);
    assert_eq!(offset!(lpt_linear_gemm_options, source), 28);
    assert_eq!(offset!(lpt_linear_gemm_options, draws), 32);
    assert_eq!(offset!(lpt_linear_gemm_options, parts), 36);
    assert_eq!(offset!(lpt_linear_gemm_options, output_scale), 40);
    assert_eq!(offset!(lpt_linear_gemm_options, reserved), 44);
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
    assert_eq!(size_of::<lpt_linear_options>(), 96);
    assert_eq!(offset!(lpt_linear_options, struct_size), 0);
    assert_eq!(offset!(lpt_linear_options, flags), 8);
    assert_eq!(offset!(lpt_linear_options, random), 16);
    assert_eq!(offset!(lpt_linear_options, first_row), 48);
    assert_eq!(offset!(lpt_linear_options, bias), 56);
    assert_eq!(offset!(lpt_linear_options, input_smoothing), 64);
    assert_eq!(offset!(lpt_linear_options, is_accumulated), 72);
    assert_eq!(offset!(lpt_linear_options, parallel), 76);
    assert_eq!(offset!(lpt_linear_options, comm), 80);
    assert_eq!(offset!(lpt_linear_options, plan), 88);
}

#[test]
fn lpt_loss_scaler_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_loss_scaler_options>(), 56);
    assert_eq!(offset!(lpt_loss_scaler_options, struct_size), 0);
    assert_eq!(offset!(lpt_loss_scaler_options, initial_scale), 8);
    assert_eq!(offset!(lpt_loss_scaler_options, growth_factor), 16);
    assert_eq!(offset!(lpt_loss_scaler_options, backoff_factor), 24);
    assert_eq!(offset!(lpt_loss_scaler_options, growth_interval), 32);
    assert_eq!(offset!(lpt_loss_scaler_options, min_scale), 40);
    assert_eq!(offset!(lpt_loss_scaler_options, max_scale), 48);
}

#[test]
fn lpt_loss_scaler_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_loss_scaler_info>(), 40);
    assert_eq!(offset!(lpt_loss_scaler_info, struct_size), 0);
    assert_eq!(offset!(lpt_loss_scaler_info, scale), 8);
    assert_eq!(offset!(lpt_loss_scaler_info, finite_count), 16);
    assert_eq!(offset!(lpt_loss_scaler_info, skipped_count), 24);
    assert_eq!(offset!(lpt_loss_scaler_info, is_skipped), 32);
    assert_eq!(offset!(lpt_loss_scaler_info, reserved), 36);
}

#[test]
fn lpt_embedding_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_embedding_options>(), 32);
    assert_eq!(offset!(lpt_embedding_options, struct_size), 0);
    assert_eq!(offset!(lpt_embedding_options, flags), 8);
    assert_eq!(offset!(lpt_embedding_options, padding_index), 16);
    assert_eq!(offset!(lpt_embedding_options, is_accumulated), 24);
    assert_eq!(offset!(lpt_embedding_options, reserved), 28);
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
    assert_eq!(size_of::<lpt_rmsnorm_options>(), 40);
    assert_eq!(offset!(lpt_rmsnorm_options, struct_size), 0);
    assert_eq!(offset!(lpt_rmsnorm_options, flags), 8);
    assert_eq!(offset!(lpt_rmsnorm_options, epsilon), 16);
    assert_eq!(offset!(lpt_rmsnorm_options, is_accumulated), 24);
    assert_eq!(offset!(lpt_rmsnorm_options, reserved), 28);
    assert_eq!(offset!(lpt_rmsnorm_options, residual_gradient), 32);
}

#[test]
fn lpt_layernorm_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_layernorm_options>(), 40);
    assert_eq!(offset!(lpt_layernorm_options, struct_size), 0);
    assert_eq!(offset!(lpt_layernorm_options, flags), 8);
    assert_eq!(offset!(lpt_layernorm_options, epsilon), 16);
    assert_eq!(offset!(lpt_layernorm_options, is_accumulated), 24);
    assert_eq!(offset!(lpt_layernorm_options, reserved), 28);
    assert_eq!(offset!(lpt_layernorm_options, residual_gradient), 32);
}

#[test]
fn lpt_softmax_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_softmax_options>(), 32);
    assert_eq!(offset!(lpt_softmax_options, struct_size), 0);
    assert_eq!(offset!(lpt_softmax_options, flags), 8);
    assert_eq!(offset!(lpt_softmax_options, scale), 16);
    assert_eq!(offset!(lpt_softmax_options, is_causal), 24);
    assert_eq!(offset!(lpt_softmax_options, reserved), 28);
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
    assert_eq!(size_of::<lpt_optimizer_parameter>(), 88);
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
    assert_eq!(offset!(lpt_optimizer_parameter, random_stream), 80);
}

#[test]
fn lpt_optimizer_step_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_optimizer_step_options>(), 104);
    assert_eq!(offset!(lpt_optimizer_step_options, struct_size), 0);
    assert_eq!(offset!(lpt_optimizer_step_options, flags), 8);
    assert_eq!(offset!(lpt_optimizer_step_options, learning_rate), 16);
    assert_eq!(offset!(lpt_optimizer_step_options, gradient_scale), 24);
    assert_eq!(offset!(lpt_optimizer_step_options, random), 32);
    assert_eq!(offset!(lpt_optimizer_step_options, first_moment_rounding), 64);
    assert_eq!(offset!(lpt_optimizer_step_options, second_moment_rounding), 68);
    assert_eq!(offset!(lpt_optimizer_step_options, parameter_rounding), 72);
    assert_eq!(offset!(lpt_optimizer_step_options, is_nonfinite_skipped), 76);
    assert_eq!(offset!(lpt_optimizer_step_options, largest_norm), 80);
    assert_eq!(offset!(lpt_optimizer_step_options, gradient_norm), 88);
    assert_eq!(offset!(lpt_optimizer_step_options, loss_scaler), 96);
}

#[test]
fn lpt_optimizer_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_optimizer_info>(), 40);
    assert_eq!(offset!(lpt_optimizer_info, struct_size), 0);
    assert_eq!(offset!(lpt_optimizer_info, gradient_norm), 8);
    assert_eq!(offset!(lpt_optimizer_info, clip_factor), 16);
    assert_eq!(offset!(lpt_optimizer_info, skipped_count), 24);
    assert_eq!(offset!(lpt_optimizer_info, is_skipped), 32);
    assert_eq!(offset!(lpt_optimizer_info, reserved), 36);
}

#[test]
fn lpt_gradients_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_gradients_info>(), 24);
    assert_eq!(offset!(lpt_gradients_info, struct_size), 0);
    assert_eq!(offset!(lpt_gradients_info, sum_of_squares), 8);
    assert_eq!(offset!(lpt_gradients_info, nonfinite_count), 16);
}

#[test]
fn lpt_comm_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_comm_options>(), 40);
    assert_eq!(offset!(lpt_comm_options, struct_size), 0);
    assert_eq!(offset!(lpt_comm_options, flags), 8);
    assert_eq!(offset!(lpt_comm_options, timeout_seconds), 16);
    assert_eq!(offset!(lpt_comm_options, bootstrap), 24);
    assert_eq!(offset!(lpt_comm_options, emulation), 32);
}

#[test]
fn lpt_comm_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_comm_info>(), 80);
    assert_eq!(offset!(lpt_comm_info, struct_size), 0);
    assert_eq!(offset!(lpt_comm_info, rank), 8);
    assert_eq!(offset!(lpt_comm_info, rank_count), 12);
    assert_eq!(offset!(lpt_comm_info, engine), 16);
    assert_eq!(offset!(lpt_comm_info, collectives), 48);
    assert_eq!(offset!(lpt_comm_info, bytes_sent), 56);
    assert_eq!(offset!(lpt_comm_info, bytes_received), 64);
    assert_eq!(offset!(lpt_comm_info, seconds), 72);
}

#[test]
fn lpt_reduce_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_reduce_options>(), 104);
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
    assert_eq!(offset!(lpt_reduce_options, outer_comm), 88);
    assert_eq!(offset!(lpt_reduce_options, outer), 96);
}

#[test]
fn lpt_all_gather_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_all_gather_options>(), 32);
    assert_eq!(offset!(lpt_all_gather_options, struct_size), 0);
    assert_eq!(offset!(lpt_all_gather_options, flags), 8);
    assert_eq!(offset!(lpt_all_gather_options, codec), 16);
    assert_eq!(offset!(lpt_all_gather_options, cast), 24);
}

#[test]
fn lpt_comm_functions_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_comm_functions>(), 104);
    assert_eq!(offset!(lpt_comm_functions, struct_size), 0);
    assert_eq!(offset!(lpt_comm_functions, name), 8);
    assert_eq!(offset!(lpt_comm_functions, send), 40);
    assert_eq!(offset!(lpt_comm_functions, receive), 48);
    assert_eq!(offset!(lpt_comm_functions, test), 56);
    assert_eq!(offset!(lpt_comm_functions, cancel), 64);
    assert_eq!(offset!(lpt_comm_functions, exchange), 72);
    assert_eq!(offset!(lpt_comm_functions, all_reduce), 80);
    assert_eq!(offset!(lpt_comm_functions, abort), 88);
    assert_eq!(offset!(lpt_comm_functions, close), 96);
}

#[test]
fn lpt_gradient_buckets_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_gradient_buckets_options>(), 40);
    assert_eq!(offset!(lpt_gradient_buckets_options, struct_size), 0);
    assert_eq!(offset!(lpt_gradient_buckets_options, flags), 8);
    assert_eq!(offset!(lpt_gradient_buckets_options, bucket_bytes), 16);
    assert_eq!(offset!(lpt_gradient_buckets_options, order), 24);
    assert_eq!(offset!(lpt_gradient_buckets_options, reserved), 28);
    assert_eq!(offset!(lpt_gradient_buckets_options, names), 32);
}

#[test]
fn lpt_gradient_buckets_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_gradient_buckets_info>(), 48);
    assert_eq!(offset!(lpt_gradient_buckets_info, struct_size), 0);
    assert_eq!(offset!(lpt_gradient_buckets_info, bucket_count), 8);
    assert_eq!(offset!(lpt_gradient_buckets_info, ready_count), 16);
    assert_eq!(offset!(lpt_gradient_buckets_info, launched_count), 24);
    assert_eq!(offset!(lpt_gradient_buckets_info, wait_seconds), 32);
    assert_eq!(offset!(lpt_gradient_buckets_info, is_recorded), 40);
    assert_eq!(offset!(lpt_gradient_buckets_info, reserved), 44);
}

#[test]
fn lpt_optimizer_shard_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_optimizer_shard_options>(), 24);
    assert_eq!(offset!(lpt_optimizer_shard_options, struct_size), 0);
    assert_eq!(offset!(lpt_optimizer_shard_options, flags), 8);
    assert_eq!(offset!(lpt_optimizer_shard_options, reduce), 16);
}

#[test]
fn lpt_partial_plan_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_partial_plan_options>(), 88);
    assert_eq!(offset!(lpt_partial_plan_options, struct_size), 0);
    assert_eq!(offset!(lpt_partial_plan_options, flags), 8);
    assert_eq!(offset!(lpt_partial_plan_options, hidden_columns), 16);
    assert_eq!(offset!(lpt_partial_plan_options, shared_columns), 24);
    assert_eq!(offset!(lpt_partial_plan_options, rank_count), 32);
    assert_eq!(offset!(lpt_partial_plan_options, private_scale), 36);
    assert_eq!(offset!(lpt_partial_plan_options, custom_scale), 40);
    assert_eq!(offset!(lpt_partial_plan_options, forward_wire), 48);
    assert_eq!(offset!(lpt_partial_plan_options, backward_wire), 56);
    assert_eq!(offset!(lpt_partial_plan_options, chunk_rows), 64);
    assert_eq!(offset!(lpt_partial_plan_options, link_latency_seconds), 72);
    assert_eq!(offset!(lpt_partial_plan_options, link_bytes_per_second), 80);
}

#[test]
fn lpt_partial_plan_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_partial_plan_info>(), 56);
    assert_eq!(offset!(lpt_partial_plan_info, struct_size), 0);
    assert_eq!(offset!(lpt_partial_plan_info, hidden_columns), 8);
    assert_eq!(offset!(lpt_partial_plan_info, shared_columns), 16);
    assert_eq!(offset!(lpt_partial_plan_info, rank_count), 24);
    assert_eq!(offset!(lpt_partial_plan_info, reserved), 28);
    assert_eq!(offset!(lpt_partial_plan_info, private_scale), 32);
    assert_eq!(offset!(lpt_partial_plan_info, forward_row_bytes), 40);
    assert_eq!(offset!(lpt_partial_plan_info, backward_row_bytes), 48);
}

#[test]
fn lpt_sequence_attention_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_sequence_attention_options>(), 56);
    assert_eq!(offset!(lpt_sequence_attention_options, struct_size), 0);
    assert_eq!(offset!(lpt_sequence_attention_options, flags), 8);
    assert_eq!(offset!(lpt_sequence_attention_options, scale), 16);
    assert_eq!(offset!(lpt_sequence_attention_options, is_causal), 24);
    assert_eq!(offset!(lpt_sequence_attention_options, layout), 28);
    assert_eq!(offset!(lpt_sequence_attention_options, wire), 32);
    assert_eq!(offset!(lpt_sequence_attention_options, log_sum_exp), 40);
    assert_eq!(offset!(lpt_sequence_attention_options, output), 48);
}

#[test]
fn lpt_autopilot_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_autopilot_options>(), 88);
    assert_eq!(offset!(lpt_autopilot_options, struct_size), 0);
    assert_eq!(offset!(lpt_autopilot_options, step_count), 8);
    assert_eq!(offset!(lpt_autopilot_options, interval), 16);
    assert_eq!(offset!(lpt_autopilot_options, budget), 24);
    assert_eq!(offset!(lpt_autopilot_options, loss_limit), 32);
    assert_eq!(offset!(lpt_autopilot_options, clipped_limit), 40);
    assert_eq!(offset!(lpt_autopilot_options, amax_growth_limit), 48);
    assert_eq!(offset!(lpt_autopilot_options, alignment_limit), 56);
    assert_eq!(offset!(lpt_autopilot_options, noise_ratio_limit), 64);
    assert_eq!(offset!(lpt_autopilot_options, calm_decisions), 72);
    assert_eq!(offset!(lpt_autopilot_options, raises_last_steps), 80);
    assert_eq!(offset!(lpt_autopilot_options, reserved), 84);
}

#[test]
fn lpt_autopilot_decision_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_autopilot_decision>(), 48);
    assert_eq!(offset!(lpt_autopilot_decision, step), 0);
    assert_eq!(offset!(lpt_autopilot_decision, layer), 8);
    assert_eq!(offset!(lpt_autopilot_decision, gemm), 12);
    assert_eq!(offset!(lpt_autopilot_decision, old_level), 16);
    assert_eq!(offset!(lpt_autopilot_decision, new_level), 20);
    assert_eq!(offset!(lpt_autopilot_decision, reason), 24);
    assert_eq!(offset!(lpt_autopilot_decision, reserved), 28);
    assert_eq!(offset!(lpt_autopilot_decision, value), 32);
    assert_eq!(offset!(lpt_autopilot_decision, limit), 40);
}

#[test]
fn lpt_autopilot_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_autopilot_info>(), 40);
    assert_eq!(offset!(lpt_autopilot_info, struct_size), 0);
    assert_eq!(offset!(lpt_autopilot_info, steps_done), 8);
    assert_eq!(offset!(lpt_autopilot_info, decision_count), 16);
    assert_eq!(offset!(lpt_autopilot_info, mean_cost), 24);
    assert_eq!(offset!(lpt_autopilot_info, next_cost), 32);
}

#[test]
fn lpt_comm_codec_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_comm_codec>(), 64);
    assert_eq!(offset!(lpt_comm_codec, struct_size), 0);
    assert_eq!(offset!(lpt_comm_codec, name), 8);
    assert_eq!(offset!(lpt_comm_codec, bytes_for), 24);
    assert_eq!(offset!(lpt_comm_codec, encode), 32);
    assert_eq!(offset!(lpt_comm_codec, decode), 40);
    assert_eq!(offset!(lpt_comm_codec, decode_add), 48);
    assert_eq!(offset!(lpt_comm_codec, user), 56);
}

#[test]
fn lpt_cost_link_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_cost_link>(), 32);
    assert_eq!(offset!(lpt_cost_link, struct_size), 0);
    assert_eq!(offset!(lpt_cost_link, latency_seconds), 8);
    assert_eq!(offset!(lpt_cost_link, bytes_per_second), 16);
    assert_eq!(offset!(lpt_cost_link, reduce_bytes_per_second), 24);
}

#[test]
fn lpt_cost_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_cost_info>(), 48);
    assert_eq!(offset!(lpt_cost_info, struct_size), 0);
    assert_eq!(offset!(lpt_cost_info, algorithm), 8);
    assert_eq!(offset!(lpt_cost_info, step_count), 12);
    assert_eq!(offset!(lpt_cost_info, payload_bytes), 16);
    assert_eq!(offset!(lpt_cost_info, rank_bytes), 24);
    assert_eq!(offset!(lpt_cost_info, total_bytes), 32);
    assert_eq!(offset!(lpt_cost_info, seconds), 40);
}

#[test]
fn lpt_cost_cast_rates_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_cost_cast_rates>(), 32);
    assert_eq!(offset!(lpt_cost_cast_rates, struct_size), 0);
    assert_eq!(offset!(lpt_cost_cast_rates, overhead_seconds), 8);
    assert_eq!(offset!(lpt_cost_cast_rates, encode_bytes_per_second), 16);
    assert_eq!(offset!(lpt_cost_cast_rates, decode_bytes_per_second), 24);
}

#[test]
fn lpt_delay_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_delay_options>(), 32);
    assert_eq!(offset!(lpt_delay_options, struct_size), 0);
    assert_eq!(offset!(lpt_delay_options, flags), 8);
    assert_eq!(offset!(lpt_delay_options, strength), 16);
    assert_eq!(offset!(lpt_delay_options, norm), 24);
    assert_eq!(offset!(lpt_delay_options, reserved), 28);
}

#[test]
fn lpt_drop_compute_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_drop_compute_info>(), 48);
    assert_eq!(offset!(lpt_drop_compute_info, struct_size), 0);
    assert_eq!(offset!(lpt_drop_compute_info, threshold_seconds), 8);
    assert_eq!(offset!(lpt_drop_compute_info, full_seconds), 16);
    assert_eq!(offset!(lpt_drop_compute_info, step_seconds), 24);
    assert_eq!(offset!(lpt_drop_compute_info, kept_fraction), 32);
    assert_eq!(offset!(lpt_drop_compute_info, speedup), 40);
}

#[test]
fn lpt_gemm_emulation_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_gemm_emulation>(), 16);
    assert_eq!(offset!(lpt_gemm_emulation, struct_size), 0);
    assert_eq!(offset!(lpt_gemm_emulation, arithmetic), 8);
    assert_eq!(offset!(lpt_gemm_emulation, bits), 12);
}

#[test]
fn lpt_comm_emulation_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_comm_emulation>(), 32);
    assert_eq!(offset!(lpt_comm_emulation, struct_size), 0);
    assert_eq!(offset!(lpt_comm_emulation, link_latency_seconds), 8);
    assert_eq!(offset!(lpt_comm_emulation, link_bytes_per_second), 16);
    assert_eq!(offset!(lpt_comm_emulation, damaged_message), 24);
}

#[test]
fn lpt_exaq_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_exaq_options>(), 40);
    assert_eq!(offset!(lpt_exaq_options, struct_size), 0);
    assert_eq!(offset!(lpt_exaq_options, flags), 8);
    assert_eq!(offset!(lpt_exaq_options, scale), 16);
    assert_eq!(offset!(lpt_exaq_options, clip), 24);
    assert_eq!(offset!(lpt_exaq_options, bits), 32);
    assert_eq!(offset!(lpt_exaq_options, is_causal), 36);
}

#[test]
fn lpt_lossy_link_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_lossy_link_options>(), 136);
    assert_eq!(offset!(lpt_lossy_link_options, struct_size), 0);
    assert_eq!(offset!(lpt_lossy_link_options, address), 8);
    assert_eq!(offset!(lpt_lossy_link_options, port), 72);
    assert_eq!(offset!(lpt_lossy_link_options, payload_bytes), 76);
    assert_eq!(offset!(lpt_lossy_link_options, timeout_seconds), 80);
    assert_eq!(offset!(lpt_lossy_link_options, quiet_seconds), 88);
    assert_eq!(offset!(lpt_lossy_link_options, injected_loss), 96);
    assert_eq!(offset!(lpt_lossy_link_options, injected_duplication), 104);
    assert_eq!(offset!(lpt_lossy_link_options, injected_reordering), 112);
    assert_eq!(offset!(lpt_lossy_link_options, injected_corruption), 120);
    assert_eq!(offset!(lpt_lossy_link_options, seed), 128);
}

#[test]
fn lpt_lossy_link_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_lossy_link_info>(), 112);
    assert_eq!(offset!(lpt_lossy_link_info, struct_size), 0);
    assert_eq!(offset!(lpt_lossy_link_info, rank_count), 8);
    assert_eq!(offset!(lpt_lossy_link_info, port), 12);
    assert_eq!(offset!(lpt_lossy_link_info, payload_bytes), 16);
    assert_eq!(offset!(lpt_lossy_link_info, receive_buffer_bytes), 24);
    assert_eq!(offset!(lpt_lossy_link_info, call_count), 32);
    assert_eq!(offset!(lpt_lossy_link_info, sent_count), 40);
    assert_eq!(offset!(lpt_lossy_link_info, unsent_count), 48);
    assert_eq!(offset!(lpt_lossy_link_info, received_count), 56);
    assert_eq!(offset!(lpt_lossy_link_info, lost_count), 64);
    assert_eq!(offset!(lpt_lossy_link_info, duplicate_count), 72);
    assert_eq!(offset!(lpt_lossy_link_info, late_count), 80);
    assert_eq!(offset!(lpt_lossy_link_info, corrupted_count), 88);
    assert_eq!(offset!(lpt_lossy_link_info, stranger_count), 96);
    assert_eq!(offset!(lpt_lossy_link_info, malformed_count), 104);
}

#[test]
fn lpt_lossy_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_lossy_info>(), 56);
    assert_eq!(offset!(lpt_lossy_info, struct_size), 0);
    assert_eq!(offset!(lpt_lossy_info, drift), 8);
    assert_eq!(offset!(lpt_lossy_info, one_step_drift), 16);
    assert_eq!(offset!(lpt_lossy_info, mean_age), 24);
    assert_eq!(offset!(lpt_lossy_info, owner_weight), 32);
    assert_eq!(offset!(lpt_lossy_info, other_weight), 40);
    assert_eq!(offset!(lpt_lossy_info, horvitz_thompson_variance), 48);
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
fn lpt_noise_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_noise_info>(), 48);
    assert_eq!(offset!(lpt_noise_info, struct_size), 0);
    assert_eq!(offset!(lpt_noise_info, gradient_norm), 8);
    assert_eq!(offset!(lpt_noise_info, noise_norm), 16);
    assert_eq!(offset!(lpt_noise_info, ratio), 24);
    assert_eq!(offset!(lpt_noise_info, nonfinite_count), 32);
    assert_eq!(offset!(lpt_noise_info, is_noisy), 40);
    assert_eq!(offset!(lpt_noise_info, reserved), 44);
}

#[test]
fn lpt_swiglu_alignment_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_swiglu_alignment_info>(), 40);
    assert_eq!(offset!(lpt_swiglu_alignment_info, struct_size), 0);
    assert_eq!(offset!(lpt_swiglu_alignment_info, mean), 8);
    assert_eq!(offset!(lpt_swiglu_alignment_info, mean_magnitude), 16);
    assert_eq!(offset!(lpt_swiglu_alignment_info, largest), 24);
    assert_eq!(offset!(lpt_swiglu_alignment_info, largest_channel), 32);
}

#[test]
fn lpt_power_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_power_options>(), 32);
    assert_eq!(offset!(lpt_power_options, struct_size), 0);
    assert_eq!(offset!(lpt_power_options, arithmetic), 8);
    assert_eq!(offset!(lpt_power_options, weight_bits), 12);
    assert_eq!(offset!(lpt_power_options, input_bits), 16);
    assert_eq!(offset!(lpt_power_options, accumulator_bits), 20);
    assert_eq!(offset!(lpt_power_options, additions), 24);
}

#[test]
fn lpt_power_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_power_info>(), 32);
    assert_eq!(offset!(lpt_power_info, struct_size), 0);
    assert_eq!(offset!(lpt_power_info, additions), 8);
    assert_eq!(offset!(lpt_power_info, largest_code), 16);
    assert_eq!(offset!(lpt_power_info, clipped_count), 24);
}

#[test]
fn lpt_topology_link_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_topology_link>(), 24);
    assert_eq!(offset!(lpt_topology_link, source), 0);
    assert_eq!(offset!(lpt_topology_link, target), 4);
    assert_eq!(offset!(lpt_topology_link, latency_seconds), 8);
    assert_eq!(offset!(lpt_topology_link, bytes_per_second), 16);
}

#[test]
fn lpt_topology_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_topology_info>(), 24);
    assert_eq!(offset!(lpt_topology_info, struct_size), 0);
    assert_eq!(offset!(lpt_topology_info, kind), 8);
    assert_eq!(offset!(lpt_topology_info, rank_count), 12);
    assert_eq!(offset!(lpt_topology_info, switch_count), 16);
    assert_eq!(offset!(lpt_topology_info, link_count), 20);
}

#[test]
fn lpt_schedule_send_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_schedule_send>(), 24);
    assert_eq!(offset!(lpt_schedule_send, step), 0);
    assert_eq!(offset!(lpt_schedule_send, source), 4);
    assert_eq!(offset!(lpt_schedule_send, target), 8);
    assert_eq!(offset!(lpt_schedule_send, first_chunk), 12);
    assert_eq!(offset!(lpt_schedule_send, chunk_count), 16);
    assert_eq!(offset!(lpt_schedule_send, operation), 20);
}

#[test]
fn lpt_schedule_options_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_schedule_options>(), 16);
    assert_eq!(offset!(lpt_schedule_options, struct_size), 0);
    assert_eq!(offset!(lpt_schedule_options, group_ranks), 8);
    assert_eq!(offset!(lpt_schedule_options, tree_chunks), 12);
}

#[test]
fn lpt_schedule_info_is_laid_out_as_in_c() {
    assert_eq!(size_of::<lpt_schedule_info>(), 56);
    assert_eq!(offset!(lpt_schedule_info, struct_size), 0);
    assert_eq!(offset!(lpt_schedule_info, algorithm), 8);
    assert_eq!(offset!(lpt_schedule_info, rank_count), 12);
    assert_eq!(offset!(lpt_schedule_info, chunk_count), 16);
    assert_eq!(offset!(lpt_schedule_info, step_count), 20);
    assert_eq!(offset!(lpt_schedule_info, add_step_count), 24);
    assert_eq!(offset!(lpt_schedule_info, copy_step_count), 28);
    assert_eq!(offset!(lpt_schedule_info, least_step_count), 32);
    assert_eq!(offset!(lpt_schedule_info, reserved), 36);
    assert_eq!(offset!(lpt_schedule_info, send_count), 40);
    assert_eq!(offset!(lpt_schedule_info, hop_count), 48);
}
