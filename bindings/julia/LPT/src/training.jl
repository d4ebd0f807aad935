"How a linear layer casts the operands of its three GEMMs, and runs these."
mutable struct Recipe <: Handle
    raw::Ptr{Cvoid}
    function Recipe(context::Context, name::AbstractString)
        out = Ref{Ptr{Cvoid}}(C_NULL)
        check(context, Lib.lpt_recipe_create(context, name, out))
        own(new(out[]), :lpt_recipe_destroy)
    end
end

"A linear layer: its recipe, its scalers, and the casts of its weight. It does not own the weight."
mutable struct Linear <: Handle
    raw::Ptr{Cvoid}
    function Linear(context::Context, recipe::Recipe, input_columns, output_columns)
        out = Ref{Ptr{Cvoid}}(C_NULL)
        shape = with(Lib.lpt_linear_shape; input_columns = input_columns, output_columns = output_columns)
        check(context, Lib.lpt_linear_create(context, recipe, shape, out))
        own(new(out[]), :lpt_linear_destroy)
    end
end

"Cast the weight; call it after every change of the weight."
prepare!(context::Context, linear::Linear, weight::Tensor; members...) =
    check(context, Lib.lpt_linear_prepare(context, linear, weight, with(Lib.lpt_linear_options; members...)))

"Create a vector for the data that forward saves of `rows` rows; each micro-batch in flight requires one."
function new_saved(context::Context, linear::Linear, rows)
    count = Ref{Csize_t}(0)
    check(context, Lib.lpt_linear_saved_size(context, linear, rows, count))
    Tensor(context, Lib.LPT_FORMAT_UINT8, count[])
end

"Return NULL or the handle."
optional(handle) = handle === nothing ? C_NULL : handle

"Compute y = x · wᵀ + bias, and save the data that backward needs; `saved` nothing: inference."
function forward!(context::Context, linear::Linear, output::Tensor, input::Tensor, saved = nothing; bias = nothing, members...)
    options = with(Lib.lpt_linear_options; bias = bias === nothing ? C_NULL : bias.raw, members...)
    GC.@preserve bias check(context, Lib.lpt_linear_forward(context, linear, input, options, optional(saved), output))
    output
end

"Compute the gradients of input, weight and bias that are not `nothing`."
function backward!(context::Context, linear::Linear, saved::Tensor, output_gradient::Tensor; input_gradient = nothing,
                   weight_gradient = nothing, bias_gradient = nothing, members...)
    check(context, Lib.lpt_linear_backward(
        context, linear, saved, output_gradient, with(Lib.lpt_linear_options; members...), optional(input_gradient),
        optional(weight_gradient), optional(bias_gradient)))
end

"Complete an optimizer step for the scalers of the layer."
update!(context::Context, linear::Linear) =
    GC.@preserve linear check(context, Lib.lpt_linear_update_scalers(context, Ref(linear.raw), 1))

"An optimizer, which owns the state of many parameters, not the parameters."
mutable struct Optimizer <: Handle
    raw::Ptr{Cvoid}
    function Optimizer(context::Context; members...)
        out = Ref{Ptr{Cvoid}}(C_NULL)
        check(context, Lib.lpt_optimizer_create(context, with(Lib.lpt_optimizer_options; members...), out))
        own(new(out[]), :lpt_optimizer_destroy)
    end
end

"""
    add!(context, optimizer, elements; name = nothing, members...)

Add a parameter with zero moments, and return its index, from 0. Keywords are members of lpt_optimizer_parameter. `find_parameter`
returns the index of a `name`.
"""
function add!(context::Context, optimizer::Optimizer, elements; name = nothing, members...)
    index = Ref{Int64}(-1)
    parameter = with(Lib.lpt_optimizer_parameter; elements = elements, members...)
    check(context, Lib.lpt_optimizer_add(context, optimizer, something(name, C_NULL), parameter, index))
    index[]
end

"Return the index of the parameter with this name."
function find_parameter(context::Context, optimizer::Optimizer, name::AbstractString)
    index = Ref{Int64}(-1)
    check(context, Lib.lpt_optimizer_find(context, optimizer, name, index))
    index[]
end

"Step parameters; clipping and skipping apply to all of them together."
function step!(context::Context, optimizer::Optimizer, indices::Vector{Int64}, gradients::Vector{Tensor},
               parameters::Vector{Tensor}; members...)
    check_operands(indices, gradients, parameters)
    read, written = [one.raw for one in gradients], [one.raw for one in parameters]
    GC.@preserve gradients parameters check(context, Lib.lpt_optimizer_step(
        context, optimizer, indices, length(indices), read, with(Lib.lpt_optimizer_step_options; members...), written))
end

check_operands(indices, gradients, parameters) =
    length(gradients) == length(parameters) == length(indices) || throw(LPTError(Lib.LPT_INVALID_ARGUMENT,
        "gradients has $(length(gradients)) elements, parameters has $(length(parameters)): " *
        "expected as many as indices, $(length(indices))"))

"""
    add_shards!(context, optimizer, comm, parameters)

Add this rank's shards of full parameters, and return their indices. Each parameter is a named tuple of members of
lpt_optimizer_parameter. All ranks add the same parameters and get the same indices.
"""
function add_shards!(context::Context, optimizer::Optimizer, comm::Comm, parameters)
    kinds = [with(Lib.lpt_optimizer_parameter; one...) for one in parameters]
    indices = fill(Int64(-1), length(kinds))
    GC.@preserve kinds begin
        pointers = [Base.unsafe_convert(Ptr{Lib.lpt_optimizer_parameter}, kind) for kind in kinds]
        check(context, Lib.lpt_optimizer_add_shards(context, comm, optimizer, C_NULL, pointers, length(pointers), indices))
    end
    indices
end

"""
    step_shards!(context, optimizer, comm, indices, gradients, parameters; reduce = nothing, members...)

Step full parameters whose state is sharded over ranks; all ranks call it. Without `reduce`, gradients are the same on all ranks
(ZeRO 1). Otherwise `reduce` is a named tuple of members of lpt_reduce_options, with which the step reduces them (ZeRO 2).
"""
function step_shards!(context::Context, optimizer::Optimizer, comm::Comm, indices::Vector{Int64}, gradients::Vector{Tensor},
                      parameters::Vector{Tensor}; reduce = nothing, members...)
    check_operands(indices, gradients, parameters)
    read, written = [one.raw for one in gradients], [one.raw for one in parameters]
    reduction = reduce === nothing ? nothing : with(Lib.lpt_reduce_options; reduce...)
    GC.@preserve gradients parameters reduction begin
        address = reduction === nothing ? C_NULL : Base.unsafe_convert(Ptr{Lib.lpt_reduce_options}, reduction)
        shards = with(Lib.lpt_optimizer_shard_options; reduce = address)
        check(context, Lib.lpt_optimizer_step_shards(context, comm, optimizer, indices, length(indices), read,
                                                     with(Lib.lpt_optimizer_step_options; members...), shards, written))
    end
end

"Save the state of one parameter as bytes."
function state_save(context::Context, optimizer::Optimizer, index)
    count = Ref{Csize_t}(0)
    check(context, Lib.lpt_optimizer_state_size(context, optimizer, index, count))
    state = Vector{UInt8}(undef, count[])
    check(context, Lib.lpt_optimizer_state_save(context, optimizer, index, state, length(state)))
    state
end

"Restore the state of one parameter from saved bytes."
state_load!(context::Context, optimizer::Optimizer, index, state::Vector{UInt8}) =
    check(context, Lib.lpt_optimizer_state_load(context, optimizer, index, state, length(state)))

"Restore the state of one parameter or shard from saved shards with other cuts, in any order."
function state_load_many!(context::Context, optimizer::Optimizer, index, states::Vector{Vector{UInt8}})
    GC.@preserve states begin
        buffers, sizes = [Ptr{Cvoid}(pointer(state)) for state in states], Csize_t[length(state) for state in states]
        check(context, Lib.lpt_optimizer_state_load_many(context, optimizer, index, buffers, sizes, length(states)))
    end
end
