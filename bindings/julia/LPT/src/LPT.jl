"""
LPT, the low-precision training toolkit, for Julia: a layer over `liblpt` with the contracts of `lpt.h`.

A `Context` runs operations, handles own data, and options configure one call. Options are keywords with the names of members
in lpt.h.

Matrices of Julia are column-major, matrices of LPT are row-major. `Tensor(context, x)` therefore wraps a matrix `x` as its
transpose, without a copy. It has `size(x, 2)` rows of `size(x, 1)` columns, and blocks of scales run along columns of Julia.
`gemm!` of matrices computes the product of the matrices of Julia. `LPT.Lib` has all functions of lpt.h by their C names.
"""
module LPT

using Libdl

export Context, Tensor, Recipe, Linear, Optimizer, CommGroup, Comm, Future, LPTError
export quantize!, dequantize!, gemm!, weights_pack, weights_state_save, weights_state_load, part, bytes, format_from_name,
    format_name, prepare!, new_saved, forward!, backward!, update!, add!, find_parameter, step!, state_save, state_load!, sparse_mask_select!,
    sparse_mask_check, all_reduce!, all_reduce_start!, all_gather!, set_log!, set_progress!, Codec, tensor_copy!, PartialPlan,
    partial_all_reduce!, sequence_gather!, sequence_scatter!, GradientBuckets, begin!, ready!, add_shards!, step_shards!,
    state_load_many!

"Every function, struct and constant of lpt.h."
module Lib
using Libdl
const _library = Ref{Ptr{Cvoid}}(C_NULL)
const _symbols = Dict{Symbol,Ptr{Cvoid}}()
const _lock = ReentrantLock()
# Load the library by its SONAME; the environment variable LPT_LIBRARY selects another file.
function __init__()
    empty!(_symbols)
    _library[] = Libdl.dlopen(get(ENV, "LPT_LIBRARY", "liblpt.so.1"))
end
_symbol(name::Symbol) = lock(() -> get!(() -> Libdl.dlsym(_library[], name), _symbols, name), _lock)
include("lib/kinds.jl")
include("lib/structs.jl")
include("lib/functions.jl")
for name in names(@__MODULE__; all = true)
    startswith(String(name), "LPT_") && @eval export $name
end
end

include("handles.jl")
include("callbacks.jl")
include("tensors.jl")
include("devices.jl")
include("ranks.jl")
include("training.jl")
include("partial.jl")
include("buckets.jl")

"Return the level of the binary interface of the loaded library."
abi_level() = Lib.lpt_abi_level()

end
