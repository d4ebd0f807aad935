# Callbacks: the library calls functions of Julia on the calling thread. Exceptions must not pass through C code. They are
# stored, and the call throws them.

"A callback and its first exception. Its address is the `user` argument of the C functions."
mutable struct Callback
    call::Any
    error::Any
    Callback(call) = new(call, nothing)
end

Base.pointer(callback::Callback) = pointer_from_objref(callback)

"Return `call(callback.call)`, or `otherwise` if it throws."
function guarded(call, callback::Callback, otherwise)
    try
        call(callback.call)
    catch error
        callback.error === nothing && (callback.error = error)
        otherwise
    end
end

function take_error!(callback::Callback)
    error, callback.error = callback.error, nothing
    error
end
take_error!(::Nothing) = nothing

callback_at(user) = unsafe_pointer_to_objref(user)::Callback

call_log(user::Ptr{Cvoid}, level::Int32, text::Ptr{UInt8})::Cvoid =
    guarded(log -> (log(level, unsafe_string(text)); nothing), callback_at(user), nothing)

call_progress(user::Ptr{Cvoid}, done::Int64, total::Int64)::Int32 =
    guarded(is_cancelled -> Int32(is_cancelled(done, total) === true), callback_at(user), Int32(1))

"""
    set_log!(log, context, level)

Set a function `log(level, text)`, which receives lines up to a level; `nothing` disables the log.

If the function throws, the operation completes, and then throws the exception.
"""
function set_log!(log, context::Context, level = Lib.LPT_LOG_LEVEL_INFO)
    callback = log === nothing ? nothing : Callback(log)
    function_, user = log === nothing ? (C_NULL, C_NULL) :
                      (@cfunction(call_log, Cvoid, (Ptr{Cvoid}, Int32, Ptr{UInt8})), pointer(callback))
    status = Lib.lpt_context_set_log(context, level, function_, user)
    status == Lib.LPT_OK && (context.log = callback)
    check(context, status)
end

"""
    set_progress!(is_cancelled, context)

Set a function `is_cancelled(done, total)`, which casts and GEMMs call with numbers of elements; `nothing` removes it.

If the function returns `true`, the call fails with LPT_CANCELLED. If it throws, the call throws the exception. Outputs are
incomplete in both cases.
"""
function set_progress!(is_cancelled, context::Context)
    callback = is_cancelled === nothing ? nothing : Callback(is_cancelled)
    function_, user = is_cancelled === nothing ? (C_NULL, C_NULL) :
                      (@cfunction(call_progress, Int32, (Ptr{Cvoid}, Int64, Int64)), pointer(callback))
    status = Lib.lpt_context_set_progress(context, function_, user)
    status == Lib.LPT_OK && (context.progress = callback)
    check(context, status)
end

# The first result for a count is kept, because it determines the sizes of arrays.
call_bytes_for(user::Ptr{Cvoid}, count::Int64)::Int64 =
    guarded(codec -> get!(() -> Int64(codec.bytes_for(count)), codec.sizes, count), callback_at(user), Int64(-1))

call_encode(user::Ptr{Cvoid}, numbers::Ptr{Float32}, count::Int64, bytes::Ptr{UInt8})::Int32 =
    guarded(callback_at(user), Int32(-1)) do codec
        codec.encode(unsafe_wrap(Array, bytes, codec.sizes[count]), unsafe_wrap(Array, numbers, count))
        Int32(0)
    end

call_decode(user::Ptr{Cvoid}, bytes::Ptr{UInt8}, count::Int64, numbers::Ptr{Float32})::Int32 =
    guarded(callback_at(user), Int32(-1)) do codec
        codec.decode(unsafe_wrap(Array, numbers, count), unsafe_wrap(Array, bytes, codec.sizes[count]))
        Int32(0)
    end

"""
    Codec(name; bytes_for, encode, decode)

A caller-supplied compression for the messages of reductions, the same on all ranks.

`bytes_for(count)` returns the number of bytes that encode `count` elements; it is called once for each count.
`encode(bytes, numbers)` and `decode(numbers, bytes)` write all of their first argument. The arrays are valid only during the
call. If a function throws, the reduction ends and throws the exception.

The library calls the functions on threads of the context, and functions of Julia must run on threads of Julia. The context must
therefore have one thread.
"""
mutable struct Codec
    raw::Lib.lpt_comm_codec
    callback::Callback
    function Codec(name::AbstractString; bytes_for, encode, decode)
        isascii(name) && 1 <= length(name) <= 12 && !('\0' in name) ||
            throw(LPTError(Lib.LPT_INVALID_ARGUMENT, "name is \"$name\": expected 1 to 12 bytes of ASCII"))
        callback = Callback((bytes_for = bytes_for, encode = encode, decode = decode, sizes = Dict{Int64,Int64}()))
        name_bytes = ntuple(i -> i <= length(name) ? UInt8(name[i]) : 0x00, 16)
        raw = with(Lib.lpt_comm_codec; name = name_bytes, user = pointer(callback),
                   bytes_for = @cfunction(call_bytes_for, Int64, (Ptr{Cvoid}, Int64)),
                   encode = @cfunction(call_encode, Int32, (Ptr{Cvoid}, Ptr{Float32}, Int64, Ptr{UInt8})),
                   decode = @cfunction(call_decode, Int32, (Ptr{Cvoid}, Ptr{UInt8}, Int64, Ptr{Float32})))
        new(raw[], callback)
    end
end

"Call `call` with a codec or NULL, and check its status; throw the exception of the codec."
function with_codec(call, context::Context, codec)
    codec === nothing && return check(context, call(C_NULL))
    context.thread_count == 1 ||
        throw(LPTError(Lib.LPT_UNSUPPORTED, "thread_count is $(context.thread_count): expected 1 with a codec"))
    native = Ref(codec.raw)
    GC.@preserve codec native begin
        status = call(Base.unsafe_convert(Ptr{Lib.lpt_comm_codec}, native))
    end
    check(context, status, codec.callback)
end
