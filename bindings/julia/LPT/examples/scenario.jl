# The scenario of tests/bindings/scenario.c in Julia. Rows of C are columns of Julia: a 4 × 32 matrix of C is 32 × 4 here.
using LPT
using LPT.Lib

const rows, columns, outputs = 4, 32, 8

function report(name, numbers::Vector{UInt8})
    digest = foldl((sum, byte) -> (sum ⊻ byte) * 0x00000100000001b3, numbers; init = 0xcbf29ce484222325)
    println(name, " ", string(digest; base = 16, pad = 16))
end
report(name, numbers::Array) = report(name, collect(reinterpret(UInt8, vec(numbers))))
report(name, context, tensor, which) = report(name, bytes(context, part(context, tensor, which)))

filled(step, shape...) = reshape(Float32[(i * 7 % 13 - 6) * step for i in 0:prod(shape)-1], shape...)

function quantize_both(context)
    numbers, restored = filled(0.25f0, columns, rows), zeros(Float32, columns, rows)
    source, target = Tensor(context, numbers), Tensor(context, restored)
    nvfp4 = Tensor(context, LPT_FORMAT_NVFP4, rows, columns)
    fp8 = Tensor(context, format_from_name("e4m3fn_row"), rows, columns)
    quantize!(context, nvfp4, source)
    dequantize!(context, target, nvfp4)
    report("nvfp4.payload", context, nvfp4, LPT_TENSOR_PART_PAYLOAD)
    report("nvfp4.block_scales", context, nvfp4, LPT_TENSOR_PART_BLOCK_SCALES)
    report("nvfp4.tensor_scale", context, nvfp4, LPT_TENSOR_PART_TENSOR_SCALE)
    report("nvfp4.numbers", restored)
    quantize!(context, fp8, source)
    dequantize!(context, target, fp8)
    report("e4m3fn.payload", context, fp8, LPT_TENSOR_PART_PAYLOAD)
    report("e4m3fn.numbers", restored)
    quantize!(context, fp8, source; rounding = LPT_ROUNDING_STOCHASTIC, random = LPT.random(seed = 7))
    report("e4m3fn.stochastic", context, fp8, LPT_TENSOR_PART_PAYLOAD)
end

function multiply(context)
    numbers = zeros(Float32, outputs, rows)
    a, b = Tensor(context, filled(1f0, columns, rows)), Tensor(context, filled(1f0, columns, outputs))
    c, fp8 = Tensor(context, numbers), Tensor(context, LPT_FORMAT_E4M3FN, outputs, columns)
    gemm!(context, c, a, b; is_b_transposed = true)
    report("gemm.f32", numbers)
    quantize!(context, fp8, b)
    state = weights_state_save(context, weights_pack(context, fp8))
    report("weights.state", state)
    gemm!(context, c, a, weights_state_load(context, state); is_b_transposed = true, alpha = 0.5)
    report("gemm.loaded", numbers)
    try
        gemm!(context, c, a, b)
    catch error
        println("gemm.error ", sprint(showerror, error))
    end
end

function train_layer(context)
    y, dw = zeros(Float32, outputs, rows), zeros(Float32, columns, outputs)
    linear = Linear(context, Recipe(context, "mxfp8"), columns, outputs)
    prepare!(context, linear, Tensor(context, filled(1f0, columns, outputs)))
    saved = new_saved(context, linear, rows)
    forward!(context, linear, Tensor(context, y), Tensor(context, filled(1f0, columns, rows)), saved)
    report("linear.output", y)
    gradient = Tensor(context, filled(1f0, outputs, rows))
    backward!(context, linear, saved, gradient; weight_gradient = Tensor(context, dw))
    report("linear.weight_gradient", dw)
end

function adamw(context)
    optimizer, moment = Optimizer(context), LPT_FORMAT_E4M3FN_1X128
    add!(context, optimizer, rows * columns; first_moment = moment, second_moment = moment, weight_decay = 0.125)
    optimizer
end

function optimize(context)
    numbers = filled(0.25f0, columns, rows)
    parameter, gradient = Tensor(context, numbers), Tensor(context, filled(1f0, columns, rows))
    first, second = adamw(context), adamw(context)
    step!(context, first, [0], [gradient], [parameter]; learning_rate = 0.5)
    report("adamw.parameter", numbers)
    state = state_save(context, first, 0)
    report("adamw.state", state)
    state_load!(context, second, 0, state)
    close(first)
    step!(context, second, [0], [gradient], [parameter]; learning_rate = 0.5)
    report("adamw.loaded", numbers)
    state[length(state)÷2+1] ⊻= 1
    try
        state_load!(context, second, 0, state)
    catch error
        println("adamw.damaged ", LPT.status_text(error.status))
    end
end

function mask(context)
    chosen = Tensor(context, LPT_FORMAT_UINT8, rows, columns)
    counted = sparse_mask_select!(context, chosen, Tensor(context, filled(0.25f0, columns, rows)))
    report("mask.2_4", context, chosen, LPT_TENSOR_PART_PAYLOAD)
    println("mask.counts ", counted.kept_count, " ", sparse_mask_check(context, chosen, 2, 4))
end

function reduce(context)
    numbers = filled(1f0, columns, rows)
    comm = Comm(context, CommGroup(1), 0)
    wait(context, all_reduce_start!(context, comm, Tensor(context, numbers); factor = 0.5))
    report("reduce.numbers", numbers)
end

function outlive()
    context = Context()
    tensor = Tensor(context, LPT_FORMAT_F32, rows, columns)
    alone = part(context, tensor, LPT_TENSOR_PART_PAYLOAD)
    close(tensor)
    close(context)
    context = Context()
    copyto!(context, alone, collect(reinterpret(UInt8, vec(filled(0.25f0, columns, rows)))))
    report("part.alone", bytes(context, alone))
end

context = Context()
println("abi ", LPT.abi_level())
for tell in (quantize_both, multiply, train_layer, optimize, mask, reduce)
    tell(context)
end
outlive()
