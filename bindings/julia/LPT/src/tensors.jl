"Elements in memory with a format, extents and parts."
mutable struct Tensor <: Handle
    raw::Ptr{Cvoid}
    memory::Any # keeps wrapped memory alive
    Tensor(raw::Ptr{Cvoid}, memory) = own(new(raw, memory), :lpt_tensor_destroy)
end

const Number = Union{Float64,Float32,Float16,Int64,Int32,Int16,Int8,UInt8}
format_of(::Type{Float64}) = Lib.LPT_FORMAT_F64
format_of(::Type{Float32}) = Lib.LPT_FORMAT_F32
format_of(::Type{Float16}) = Lib.LPT_FORMAT_F16
format_of(::Type{Int64}) = Lib.LPT_FORMAT_INT64
format_of(::Type{Int32}) = Lib.LPT_FORMAT_INT32
format_of(::Type{Int16}) = Lib.LPT_FORMAT_INT16
format_of(::Type{Int8}) = Lib.LPT_FORMAT_INT8
format_of(::Type{UInt8}) = Lib.LPT_FORMAT_UINT8

"Create a tensor with elements of 0 and scales of 1. Extents are those of LPT: elements along the last axis are adjacent."
function Tensor(context::Context, format::Integer, extents::Integer...)
    out, counts = Ref{Ptr{Cvoid}}(C_NULL), collect(Int64, extents)
    check(context, Lib.lpt_tensor_create(context, format, length(counts), counts, out))
    Tensor(out[], nothing)
end

"""
    Tensor(context, x)

Wrap a matrix, or a view of its columns, as its transpose, without a copy: a column of Julia is a row of LPT. The tensor keeps
`x` alive.
"""
function Tensor(context::Context, x::StridedMatrix{T}) where {T<:Number}
    stride(x, 1) == 1 || size(x, 1) <= 1 ||
        throw(LPTError(Lib.LPT_INVALID_ARGUMENT, "stride(x, 1) is $(stride(x, 1)): expected 1"))
    out = Ref{Ptr{Cvoid}}(C_NULL)
    GC.@preserve x check(context, Lib.lpt_tensor_wrap_matrix(
        context, format_of(T), pointer(x), size(x, 2), size(x, 1), size(x, 2) > 1 ? stride(x, 2) : 0, out))
    Tensor(out[], x)
end

"Wrap a vector as a matrix of one row."
Tensor(context::Context, x::StridedVector{<:Number}) = Tensor(context, reshape(x, length(x), 1))

"Return a part of a tensor, which shares its memory and may outlive it."
function part(context::Context, tensor::Tensor, which)
    out = Ref{Ptr{Cvoid}}(C_NULL)
    check(context, Lib.lpt_tensor_view_part(context, tensor, which, out))
    Tensor(out[], tensor.memory)
end

function describe(context::Context, tensor::Tensor)
    description = with(Lib.lpt_tensor_description)
    check(context, Lib.lpt_tensor_describe(context, tensor, description))
    description[]
end

"Return the extents of a tensor, in the order of LPT."
function extents(context::Context, tensor::Tensor)
    GC.@preserve tensor begin
        description = describe(context, tensor)
        Tuple(unsafe_load(description.extents, axis) for axis in 1:description.rank)
    end
end

"Return a copy of the bytes of a dense tensor without scales, such as a part."
function bytes(context::Context, tensor::Tensor)
    GC.@preserve tensor begin
        data, count = dense(context, tensor)
        copy(unsafe_wrap(Array, Ptr{UInt8}(data), count))
    end
end

"Write all bytes of a dense tensor without scales."
function Base.copyto!(context::Context, tensor::Tensor, source::AbstractVector{UInt8})
    GC.@preserve tensor begin
        data, count = dense(context, tensor)
        count == length(source) ||
            throw(LPTError(Lib.LPT_INVALID_ARGUMENT, "source has $(length(source)) bytes: expected $count"))
        copyto!(unsafe_wrap(Array, Ptr{UInt8}(data), count), source)
    end
    tensor
end

function dense(context::Context, tensor::Tensor)
    description, size_bytes, count = describe(context, tensor), Ref{Csize_t}(0), 1
    description.device == Lib.LPT_DEVICE_CPU || throw(LPTError(Lib.LPT_INVALID_ARGUMENT,
        "tensor is on another device: expected the CPU, see tensor_copy!"))
    for axis in description.rank:-1:1
        extent = unsafe_load(description.extents, axis)
        extent > 1 && unsafe_load(description.strides, axis) != count &&
            throw(LPTError(Lib.LPT_INVALID_ARGUMENT, "tensor has gaps: expected a dense one"))
        count *= extent
    end
    check(context, Lib.lpt_tensor_size(context, tensor, size_bytes))
    description.data, Int(size_bytes[])
end

"Return the format of a name such as \"mxfp8_e4m3\"."
function format_from_name(name::AbstractString)
    out = Ref(Lib.LPT_FORMAT_NONE)
    status = Lib.lpt_format_from_name(C_NULL, name, out)
    status == Lib.LPT_OK || throw(LPTError(status, "name is '$name': expected a format"))
    out[]
end

function format_name(format::Integer)
    text, needed = zeros(UInt8, 256), Ref{Csize_t}(0)
    status = Lib.lpt_format_write_name(C_NULL, format, text, length(text), needed)
    status == Lib.LPT_OK || throw(LPTError(status, "format is $format: expected a format"))
    GC.@preserve text unsafe_string(pointer(text))
end

"Cast a tensor to the format of `quantized`, and compute its scales. Keywords are members of lpt_quantize_options."
function quantize!(context::Context, quantized::Tensor, source::Tensor; members...)
    check(context, Lib.lpt_quantize(context, source, with(Lib.lpt_quantize_options; members...), quantized, C_NULL))
    quantized
end

"Decode a tensor to the format of `output`: f64, f32, bf16 or f16."
function dequantize!(context::Context, output::Tensor, source::Tensor)
    check(context, Lib.lpt_dequantize(context, source, C_NULL, output))
    output
end

"Compute c = alpha · a · b + beta · c of tensors by lpt_gemm(). Keywords are members of lpt_gemm_options."
function gemm!(context::Context, c::Tensor, a::Tensor, b::Tensor; bias = nothing, members...)
    given = bias === nothing ? C_NULL : bias.raw
    options = with(Lib.lpt_gemm_options; bias = given, members...)
    GC.@preserve bias check(context, Lib.lpt_gemm(context, a, b, options, c))
    c
end

"Compute c = alpha · a · b + beta · c of matrices of Julia, without copies, as cᵀ = bᵀ · aᵀ."
function gemm!(context::Context, c::StridedMatrix, a::StridedMatrix, b::StridedMatrix; members...)
    gemm!(context, Tensor(context, c), Tensor(context, b), Tensor(context, a); members...)
    c
end

"Pack weights (n × k) for GEMM, as a transposed b. Keywords are members of lpt_weights_options."
function weights_pack(context::Context, weights::Tensor; members...)
    out = Ref{Ptr{Cvoid}}(C_NULL)
    check(context, Lib.lpt_weights_pack(context, weights, with(Lib.lpt_weights_options; members...), out))
    Tensor(out[], nothing)
end

function weights_state_save(context::Context, packed::Tensor)
    count = Ref{Csize_t}(0)
    check(context, Lib.lpt_weights_state_size(context, packed, count))
    state = Vector{UInt8}(undef, count[])
    check(context, Lib.lpt_weights_state_save(context, packed, state, length(state)))
    state
end

function weights_state_load(context::Context, state::Vector{UInt8})
    out = Ref{Ptr{Cvoid}}(C_NULL)
    check(context, Lib.lpt_weights_state_load(context, state, length(state), out))
    Tensor(out[], nothing)
end

"Select N of every M elements: `mask`, uint8, is 1 for kept elements. Return an lpt_sparse_info."
function sparse_mask_select!(context::Context, mask::Tensor, source::Tensor; members...)
    values = with(Lib.lpt_sparse_info)
    options = with(Lib.lpt_sparse_options; members...)
    check(context, Lib.lpt_sparse_mask_select(context, source, options, mask, C_NULL, values))
    values[]
end

"Count the groups of `of` elements that keep more than `kept`."
function sparse_mask_check(context::Context, mask::Tensor, kept, of, direction = Lib.LPT_SPARSE_DIRECTION_ROW)
    count = Ref{Int64}(0)
    check(context, Lib.lpt_sparse_mask_check(context, mask, kept, of, direction, count))
    count[]
end
