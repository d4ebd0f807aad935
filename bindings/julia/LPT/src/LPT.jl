"""
LPT, the low-precision training toolkit, for Julia: a layer over `liblpt`, whose contracts are those of `lpt.h`.

A `Context` is the worker, handles are data, options configure one call: keywords with the names of members in lpt.h. Julia's
matrices are column-major and LPT's rows are adjacent, so a matrix `x` is wrapped without a copy as the tensor of its
transpose: `Tensor(context, x)` has `size(x, 2)` rows of `size(x, 1)` columns, and blocks of scales run down Julia's columns.
`gemm!` speaks of Julia's matrices all the same. All functions of lpt.h are in `LPT.Lib`, called by their own names.
"""
module LPT

using Libdl

export Context, Tensor, Recipe, Linear, Optimizer, CommGroup, Comm, Future, LPTError
export quantize!, dequantize!, gemm!, weights_pack, weights_state_save, weights_state_load, part, bytes, format_from_name,
    format_name, prepare!, new_saved, forward!, backward!, update!, add!, step!, state_save, state_load!, sparse_mask_select!,
    sparse_mask_check, all_reduce!, all_reduce_start!, all_gather!, set_log!, set_progress!, Codec, tensor_copy!, PartialPlan,
    partial_all_reduce!, sequence_gather!, sequence_scatter!, GradientBuckets, begin!, ready!, add_shards!, step_shards!,
    state_load_many!

"Every function, struct and constant of lpt.h."
module Lib
using Libdl
const _library = Ref{Ptr{Cvoid}}(C_NULL)
const _symbols = Dict{Symbol,Ptr{Cvoid}}()
const _lock = ReentrantLock()
# By its SONAME; LPT_LIBRARY names another file.
function __init__()
    empty!(_symbols)
    _library[] = Libdl.dlopen(get(ENV, "LPT_LIBRARY", "liblpt.so.1"))
end
_symbol(name::Symbol) = lock(() -> get!(() -> Libdl.dlsym(_library[], name), _symbols, name), _lock)
include("LibLPT.jl")
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

"The level of the binary interface of the library that is loaded."
abi_level() = Lib.lpt_abi_level()

end
