# Structs of lpt.h; the header documents the contracts. Written by `python3 tools/make_bindings.py write`.

struct lpt_random
    seed::UInt64
    offset::Int64
    row_stride::Int64
    stream::UInt32
    step::UInt32
end

struct lpt_device_info
    struct_size::Csize_t
    device::lpt_device
    index::Int32
    count::Int32
    is_usable::Int32
    capability_major::Int32
    capability_minor::Int32
    processor_count::Int32
    reserved::Int32
    memory_bytes::Int64
    name::NTuple{128,UInt8}
    reason::NTuple{512,UInt8}
end

struct lpt_context_options
    struct_size::Csize_t
    thread_count::Int32
    isa::lpt_isa
    log_level::lpt_log_level
    parallel_for_width::Int32
    log::Ptr{Cvoid}
    log_user::Ptr{Cvoid}
    allocate::Ptr{Cvoid}
    release::Ptr{Cvoid}
    allocator_user::Ptr{Cvoid}
    parallel_for::Ptr{Cvoid}
    parallel_for_user::Ptr{Cvoid}
    error_text::Ptr{UInt8}
    error_text_bytes::Csize_t
    device::lpt_device
    device_index::Int32
    threads_of::Ptr{Cvoid}
    stream::Ptr{Cvoid}
    device_allocate::Ptr{Cvoid}
    device_release::Ptr{Cvoid}
    device_allocator_user::Ptr{Cvoid}
end

struct lpt_profile_entry
    struct_size::Csize_t
    operation::NTuple{32,UInt8}
    kernel::NTuple{64,UInt8}
    calls::Int64
    seconds::Cdouble
    bytes::Cdouble
    flops::Cdouble
end

struct lpt_format_description
    struct_size::Csize_t
    element::lpt_format
    block_scale::lpt_format
    tensor_scale::lpt_format
    block_rows::lpt_block_extent
    block_columns::lpt_block_extent
    element_bits::Int32
    exponent_bits::Int32
    mantissa_bits::Int32
    exponent_bias::Int32
    special::lpt_element_special
    reserved::Int32
    largest::Cdouble
    zero_point::lpt_format
    sparse_kept::Int32
    sparse_of::Int32
end

struct lpt_tensor_description
    struct_size::Csize_t
    format::lpt_format
    data::Ptr{Cvoid}
    rank::Int32
    reserved::Int32
    extents::Ptr{Int64}
    strides::Ptr{Int64}
    device::lpt_device
    device_index::Int32
    flags::lpt_flags
end

struct lpt_quantize_options
    struct_size::Csize_t
    flags::lpt_flags
    rounding::lpt_rounding
    overflow::lpt_overflow
    scale_rule::lpt_scale_rule
    stochastic_bits::Int32
    philox_rounds::Int32
    hadamard_size::Int32
    random::lpt_random
    scaler::Ptr{Cvoid}
    smoothing::Ptr{Cvoid}
    hadamard_signs::Ptr{Cvoid}
    random_words::Ptr{Cvoid}
    scale_list::Ptr{Cvoid}
    statistics::Ptr{Cvoid}
end

struct lpt_statistics_info
    struct_size::Csize_t
    element_count::Int64
    nan_count::Int64
    clipped_count::Int64
    underflow_count::Int64
    amax::Cdouble
    squared_sum::Cdouble
    squared_error::Cdouble
end

struct lpt_dequantize_options
    struct_size::Csize_t
    flags::lpt_flags
end

struct lpt_hadamard_options
    struct_size::Csize_t
    flags::lpt_flags
    size::Int32
    is_inverse::Int32
    signs::Ptr{Cvoid}
end

struct lpt_convert_options
    struct_size::Csize_t
    flags::lpt_flags
    statistics::Ptr{Cvoid}
end

struct lpt_scaler_options
    struct_size::Csize_t
    kind::lpt_scaler_kind
    history_length::Int32
    margin::Int32
    history_rule::lpt_scaler_history_rule
    zero_rule::lpt_scaler_zero_rule
    history_decay::Cfloat
end

struct lpt_scaler_info
    struct_size::Csize_t
    amax::Cfloat
    running_amax::Cfloat
    update_count::Int64
end

struct lpt_sparse_fit_options
    struct_size::Csize_t
    flags::lpt_flags
    iterations::Int32
    reserved::Int32
    damping::Cdouble
end

struct lpt_sparse_fit_info
    struct_size::Csize_t
    masked_error::Cdouble
    fitted_error::Cdouble
    iteration_count::Int64
end

struct lpt_calibration_options
    struct_size::Csize_t
    flags::lpt_flags
    has_gram::Int32
    has_cross_gram::Int32
end

struct lpt_calibration_info
    struct_size::Csize_t
    row_count::Int64
    amax::Cdouble
    mean::Cdouble
    mean_square::Cdouble
end

struct lpt_weights_fit_options
    struct_size::Csize_t
    flags::lpt_flags
    method::lpt_weights_fit_method
    order::lpt_weights_fit_order
    scale_rule::lpt_scale_rule
    reserved::Int32
    damping::Cdouble
    cross_gram::Ptr{Cvoid}
    inputs::Ptr{Cvoid}
    reference::Ptr{Cvoid}
    input_format::lpt_format
end

struct lpt_weights_fit_info
    struct_size::Csize_t
    nearest_error::Cdouble
    fitted_error::Cdouble
    damping::Cdouble
    ratio::Cdouble
    sample_error::Cdouble
    has_maxima::Int32
    reserved::Int32
end

struct lpt_format_choose_info
    struct_size::Csize_t
    error::Cdouble
    bound::Cdouble
    bytes::Int64
end

struct lpt_gemm_plan_info
    struct_size::Csize_t
    m::Int64
    n::Int64
    k::Int64
    workspace_bytes::Csize_t
    part_count::Int64
    kernel::NTuple{64,UInt8}
end

struct lpt_gemm_operands
    struct_size::Csize_t
    bias::Ptr{Cvoid}
    residual::Ptr{Cvoid}
    quantize::Ptr{lpt_quantize_options}
end

struct lpt_sparse_options
    struct_size::Csize_t
    flags::lpt_flags
    kept::Int32
    of::Int32
    rule::lpt_sparse_rule
    direction::lpt_sparse_direction
    solver::lpt_sparse_solver
    iterations::Int32
    sharpness::Cdouble
    random::lpt_random
    philox_rounds::Int32
    reserved::Int32
    importance::Ptr{Cvoid}
end

struct lpt_sparse_info
    struct_size::Csize_t
    element_count::Int64
    kept_count::Int64
    special_groups::Int64
    energy::Cdouble
    kept_energy::Cdouble
    variance::Cdouble
end

struct lpt_weights_options
    struct_size::Csize_t
    flags::lpt_flags
    output_order::Ptr{Int32}
    input_order::Ptr{Int32}
    storage::lpt_weights_storage
    tile_rows::Int32
    tile_columns::Int32
    reserved::Int32
end

struct lpt_rotary_scaling
    struct_size::Csize_t
    flags::lpt_flags
    kind::lpt_rotary_scaling_kind
    reserved::Int32
    base::Cdouble
    factor::Cdouble
    original_positions::Int64
    beta_fast::Cdouble
    beta_slow::Cdouble
    low_frequency_factor::Cdouble
    high_frequency_factor::Cdouble
end

struct lpt_rotary_options
    struct_size::Csize_t
    flags::lpt_flags
    positions::Ptr{Cvoid}
    first_position::Int64
    layout::lpt_rotary_layout
    is_inverse::Int32
    scale::Cdouble
end

struct lpt_kv_cache_options
    struct_size::Csize_t
    flags::lpt_flags
    batches::Int64
    key_heads::Int64
    capacity::Int64
    key_width::Int64
    value_width::Int64
    key_format::lpt_format
    value_format::lpt_format
    key_scale_rule::lpt_scale_rule
    value_scale_rule::lpt_scale_rule
    key_scale::Cdouble
    value_scale::Cdouble
end

struct lpt_linear_gemm_options
    struct_size::Csize_t
    flags::lpt_flags
    hadamard_size::lpt_hadamard_size
    hadamard_signs::lpt_hadamard_signs
    hadamard_axis::lpt_hadamard_axis
    source::lpt_linear_source
    draws::Int32
    parts::Int32
    output_scale::lpt_linear_output_scale
    reserved::Int32
end

struct lpt_linear_shape
    struct_size::Csize_t
    input_columns::Int64
    output_columns::Int64
end

struct lpt_linear_options
    struct_size::Csize_t
    flags::lpt_flags
    random::lpt_random
    first_row::Int64
    bias::Ptr{Cvoid}
    input_smoothing::Ptr{Cvoid}
    is_accumulated::Int32
    parallel::lpt_linear_parallel
    comm::Ptr{Cvoid}
    plan::Ptr{Cvoid}
end

struct lpt_loss_scaler_options
    struct_size::Csize_t
    initial_scale::Cdouble
    growth_factor::Cdouble
    backoff_factor::Cdouble
    growth_interval::Int64
    min_scale::Cdouble
    max_scale::Cdouble
end

struct lpt_loss_scaler_info
    struct_size::Csize_t
    scale::Cdouble
    finite_count::Int64
    skipped_count::Int64
    is_skipped::Int32
    reserved::Int32
end

struct lpt_embedding_options
    struct_size::Csize_t
    flags::lpt_flags
    padding_index::Int64
    is_accumulated::Int32
    reserved::Int32
end

struct lpt_swiglu_options
    struct_size::Csize_t
    flags::lpt_flags
    smoothing::lpt_swiglu_smoothing
    reserved::Int32
end

struct lpt_rmsnorm_options
    struct_size::Csize_t
    flags::lpt_flags
    epsilon::Cdouble
    is_accumulated::Int32
    reserved::Int32
    residual_gradient::Ptr{Cvoid}
end

struct lpt_layernorm_options
    struct_size::Csize_t
    flags::lpt_flags
    epsilon::Cdouble
    is_accumulated::Int32
    reserved::Int32
    residual_gradient::Ptr{Cvoid}
end

struct lpt_softmax_options
    struct_size::Csize_t
    flags::lpt_flags
    scale::Cdouble
    is_causal::Int32
    reserved::Int32
end

struct lpt_cross_entropy_options
    struct_size::Csize_t
    flags::lpt_flags
    comm::Ptr{Cvoid}
    ignored_target::Int64
    label_smoothing::Cdouble
    reduction::lpt_loss_reduction
    reserved::Int32
end

struct lpt_optimizer_options
    struct_size::Csize_t
    flags::lpt_flags
    beta1::Cdouble
    beta2::Cdouble
    epsilon::Cdouble
    second_underflow::lpt_optimizer_underflow
    method::lpt_optimizer_method
    is_nesterov::Int32
    reserved::Int32
end

struct lpt_optimizer_parameter
    struct_size::Csize_t
    elements::Int64
    first_moment::lpt_format
    second_moment::lpt_format
    weight_decay::Cdouble
    is_first_expanded::Int32
    is_second_expanded::Int32
    compensation::lpt_format
    first_scaling::lpt_scaler_kind
    second_scaling::lpt_scaler_kind
    whole_elements::Int64
    var"begin"::Int64
    random_stream::Int64
end

struct lpt_optimizer_step_options
    struct_size::Csize_t
    flags::lpt_flags
    learning_rate::Cdouble
    gradient_scale::Cdouble
    random::lpt_random
    first_moment_rounding::lpt_rounding
    second_moment_rounding::lpt_rounding
    parameter_rounding::lpt_rounding
    is_nonfinite_skipped::Int32
    largest_norm::Cdouble
    gradient_norm::Cdouble
    loss_scaler::Ptr{Cvoid}
end

struct lpt_optimizer_info
    struct_size::Csize_t
    gradient_norm::Cdouble
    clip_factor::Cdouble
    skipped_count::Int64
    is_skipped::Int32
    reserved::Int32
end

struct lpt_gradients_info
    struct_size::Csize_t
    sum_of_squares::Cdouble
    nonfinite_count::Int64
end

struct lpt_comm_info
    struct_size::Csize_t
    rank::Int32
    rank_count::Int32
    engine::NTuple{32,UInt8}
    collectives::Int64
    bytes_sent::Int64
    bytes_received::Int64
    seconds::Cdouble
end

struct lpt_comm_functions
    struct_size::Csize_t
    name::NTuple{32,UInt8}
    send::Ptr{Cvoid}
    receive::Ptr{Cvoid}
    test::Ptr{Cvoid}
    cancel::Ptr{Cvoid}
    exchange::Ptr{Cvoid}
    all_reduce::Ptr{Cvoid}
    abort::Ptr{Cvoid}
    close::Ptr{Cvoid}
end

struct lpt_gradient_buckets_options
    struct_size::Csize_t
    flags::lpt_flags
    bucket_bytes::Csize_t
    order::lpt_gradient_buckets_order
    reserved::Int32
    names::Ptr{Ptr{UInt8}}
end

struct lpt_gradient_buckets_info
    struct_size::Csize_t
    bucket_count::Int64
    ready_count::Int64
    launched_count::Int64
    wait_seconds::Cdouble
    is_recorded::Int32
    reserved::Int32
end

struct lpt_partial_plan_options
    struct_size::Csize_t
    flags::lpt_flags
    hidden_columns::Int64
    shared_columns::Int64
    rank_count::Int32
    private_scale::lpt_partial_scale
    custom_scale::Cdouble
    forward_wire::lpt_format
    backward_wire::lpt_format
    chunk_rows::Int64
    link_latency_seconds::Cdouble
    link_bytes_per_second::Cdouble
end

struct lpt_partial_plan_info
    struct_size::Csize_t
    hidden_columns::Int64
    shared_columns::Int64
    rank_count::Int32
    reserved::Int32
    private_scale::Cdouble
    forward_row_bytes::Cdouble
    backward_row_bytes::Cdouble
end

struct lpt_sequence_attention_options
    struct_size::Csize_t
    flags::lpt_flags
    scale::Cdouble
    is_causal::Int32
    layout::lpt_sequence_layout
    wire::lpt_format
    log_sum_exp::Ptr{Cvoid}
    output::Ptr{Cvoid}
end

struct lpt_autopilot_options
    struct_size::Csize_t
    step_count::Int64
    interval::Int64
    budget::Cdouble
    loss_limit::Cdouble
    clipped_limit::Cdouble
    amax_growth_limit::Cdouble
    alignment_limit::Cdouble
    noise_ratio_limit::Cdouble
    calm_decisions::Int64
    raises_last_steps::Int32
    reserved::Int32
end

struct lpt_autopilot_decision
    step::Int64
    layer::Int32
    gemm::lpt_linear_gemm
    old_level::Int32
    new_level::Int32
    reason::lpt_autopilot_reason
    reserved::Int32
    value::Cdouble
    limit::Cdouble
end

struct lpt_autopilot_info
    struct_size::Csize_t
    steps_done::Int64
    decision_count::Int64
    mean_cost::Cdouble
    next_cost::Cdouble
end

struct lpt_comm_codec
    struct_size::Csize_t
    name::NTuple{16,UInt8}
    bytes_for::Ptr{Cvoid}
    encode::Ptr{Cvoid}
    decode::Ptr{Cvoid}
    decode_add::Ptr{Cvoid}
    user::Ptr{Cvoid}
end

struct lpt_reduce_options
    struct_size::Csize_t
    flags::lpt_flags
    reduction::lpt_reduction
    reserved::Int32
    factor::Cdouble
    wire::lpt_format
    algorithm::lpt_reduce_algorithm
    rounding::lpt_rounding
    random::lpt_random
    codec::Ptr{lpt_comm_codec}
    outer_comm::Ptr{Cvoid}
    outer::Ptr{lpt_reduce_options}
end

struct lpt_all_gather_options
    struct_size::Csize_t
    flags::lpt_flags
    codec::Ptr{lpt_comm_codec}
    cast::Ptr{lpt_quantize_options}
end

struct lpt_optimizer_shard_options
    struct_size::Csize_t
    flags::lpt_flags
    reduce::Ptr{lpt_reduce_options}
end

struct lpt_cost_link
    struct_size::Csize_t
    latency_seconds::Cdouble
    bytes_per_second::Cdouble
    reduce_bytes_per_second::Cdouble
end

struct lpt_cost_info
    struct_size::Csize_t
    algorithm::lpt_cost_algorithm
    step_count::Int32
    payload_bytes::Cdouble
    rank_bytes::Cdouble
    total_bytes::Cdouble
    seconds::Cdouble
end

struct lpt_cost_cast_rates
    struct_size::Csize_t
    overhead_seconds::Cdouble
    encode_bytes_per_second::Cdouble
    decode_bytes_per_second::Cdouble
end

struct lpt_delay_options
    struct_size::Csize_t
    flags::lpt_flags
    strength::Cdouble
    norm::lpt_delay_norm
    reserved::Int32
end

struct lpt_drop_compute_info
    struct_size::Csize_t
    threshold_seconds::Cdouble
    full_seconds::Cdouble
    step_seconds::Cdouble
    kept_fraction::Cdouble
    speedup::Cdouble
end

struct lpt_gemm_emulation
    struct_size::Csize_t
    arithmetic::lpt_gemm_arithmetic
    bits::Int32
end

struct lpt_gemm_options
    struct_size::Csize_t
    flags::lpt_flags
    alpha::Cdouble
    beta::Cdouble
    is_a_transposed::Int32
    is_b_transposed::Int32
    bias::Ptr{Cvoid}
    activation::lpt_activation
    reserved::Int32
    residual::Ptr{Cvoid}
    quantize::Ptr{lpt_quantize_options}
    outlier_threshold::Cdouble
    emulation::Ptr{lpt_gemm_emulation}
end

struct lpt_comm_emulation
    struct_size::Csize_t
    link_latency_seconds::Cdouble
    link_bytes_per_second::Cdouble
    damaged_message::Int64
end

struct lpt_comm_options
    struct_size::Csize_t
    flags::lpt_flags
    timeout_seconds::Cdouble
    bootstrap::Ptr{Cvoid}
    emulation::Ptr{lpt_comm_emulation}
end

struct lpt_exaq_options
    struct_size::Csize_t
    flags::lpt_flags
    scale::Cdouble
    clip::Cdouble
    bits::Int32
    is_causal::Int32
end

struct lpt_attention_options
    struct_size::Csize_t
    flags::lpt_flags
    scale::Cdouble
    is_causal::Int32
    reserved::Int32
    window::Int64
    mask::Ptr{Cvoid}
    log_sum_exp::Ptr{Cvoid}
    output::Ptr{Cvoid}
    key_lengths::Ptr{Cvoid}
    exaq::Ptr{lpt_exaq_options}
end

struct lpt_lossy_link_options
    struct_size::Csize_t
    address::NTuple{64,UInt8}
    port::Int32
    payload_bytes::Int32
    timeout_seconds::Cdouble
    quiet_seconds::Cdouble
    injected_loss::Cdouble
    injected_duplication::Cdouble
    injected_reordering::Cdouble
    injected_corruption::Cdouble
    seed::UInt64
end

struct lpt_lossy_link_info
    struct_size::Csize_t
    rank_count::Int32
    port::Int32
    payload_bytes::Int64
    receive_buffer_bytes::Int64
    call_count::Int64
    sent_count::Int64
    unsent_count::Int64
    received_count::Int64
    lost_count::Int64
    duplicate_count::Int64
    late_count::Int64
    corrupted_count::Int64
    stranger_count::Int64
    malformed_count::Int64
end

struct lpt_lossy_info
    struct_size::Csize_t
    drift::Cdouble
    one_step_drift::Cdouble
    mean_age::Cdouble
    owner_weight::Cdouble
    other_weight::Cdouble
    horvitz_thompson_variance::Cdouble
end

struct lpt_noise_options
    struct_size::Csize_t
    flags::lpt_flags
    kind::lpt_noise_kind
    reserved::Int32
end

struct lpt_noise_info
    struct_size::Csize_t
    gradient_norm::Cdouble
    noise_norm::Cdouble
    ratio::Cdouble
    nonfinite_count::Int64
    is_noisy::Int32
    reserved::Int32
end

struct lpt_swiglu_alignment_info
    struct_size::Csize_t
    mean::Cdouble
    mean_magnitude::Cdouble
    largest::Cdouble
    largest_channel::Int64
end

struct lpt_power_options
    struct_size::Csize_t
    arithmetic::lpt_power_arithmetic
    weight_bits::Int32
    input_bits::Int32
    accumulator_bits::Int32
    additions::Cdouble
end

struct lpt_power_info
    struct_size::Csize_t
    additions::Cdouble
    largest_code::Int64
    clipped_count::Int64
end

struct lpt_topology_link
    source::Int32
    target::Int32
    latency_seconds::Cdouble
    bytes_per_second::Cdouble
end

struct lpt_topology_info
    struct_size::Csize_t
    kind::lpt_topology_kind
    rank_count::Int32
    switch_count::Int32
    link_count::Int32
end

struct lpt_schedule_send
    step::Int32
    source::Int32
    target::Int32
    first_chunk::Int32
    chunk_count::Int32
    operation::lpt_schedule_operation
end

struct lpt_schedule_options
    struct_size::Csize_t
    group_ranks::Int32
    tree_chunks::Int32
end

struct lpt_schedule_info
    struct_size::Csize_t
    algorithm::lpt_schedule_algorithm
    rank_count::Int32
    chunk_count::Int32
    step_count::Int32
    add_step_count::Int32
    copy_step_count::Int32
    least_step_count::Int32
    reserved::Int32
    send_count::Int64
    hop_count::Int64
end
