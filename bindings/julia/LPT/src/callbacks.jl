# Functions of Julia that the library calls, on the thread that calls it. An exception must not run through C: it ends here, and is
# thrown by the call.

"What the library calls, and what became of it. Its address is the functions' `user`."
mutable struct Callback
    call::Any
    error::Any
    Callback(call) = new(call, nothing)
end

Base.pointer(callback::Callback) = pointer_from_objref(callback)

"Calls a function of the user's; `otherwise` where it throws."
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
    guarded(hear -> (hear(level, unsafe_string(text)); nothing), callback_at(user), nothing)

call_progress(user::Ptr{Cvoid}, done::Int64, whole::Int64)::Int32 =
    guarded(is_enough -> Int32(is_enough(done, whole) === true), callback_at(user), Int32(1))

"""
    set_log!(hear, context, level)

Has lines up to a level logged: `hear(level, text)`; `nothing` for silence. Where it throws, the call does its work and throws that.
"""
function set_log!(hear, context::Context, level = Lib.LPT_LOG_LEVEL_INFO)
    callback = hear === nothing ? nothing : Callback(hear)
    function_, user = hear === nothing ? (C_NULL, C_NULL) :
                      (@cfunction(call_log, Cvoid, (Ptr{Cvoid}, Int32, Ptr{UInt8})), pointer(callback))
    status = Lib.lpt_context_set_log(context, level, function_, user)
    status == Lib.LPT_OK && (context.log = callback)
    check(context, status)
end

"""
    set_progress!(is_enough, context)

Has casts and products tell elements done and in all: `is_enough(done, whole)`; `nothing` for no more. `true` ends the call, and so
does an exception, which it throws; outputs are then written in part.
"""
function set_progress!(is_enough, context::Context)
    callback = is_enough === nothing ? nothing : Callback(is_enough)
    function_, user = is_enough === nothing ? (C_NULL, C_NULL) :
                      (@cfunction(call_progress, Int32, (Ptr{Cvoid}, Int64, Int64)), pointer(callback))
    status = Lib.lpt_context_set_progress(context, function_, user)
    status == Lib.LPT_OK && (context.progress = callback)
    check(context, status)
end

# What was told once holds: arrays are made by it.
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

A compression of your own, in which the numbers of reductions travel; the same on all ranks. `bytes_for(count)` tells the bytes of so many numbers
and is asked once for each count, `encode(bytes, numbers)` and `decode(numbers, bytes)` write all of their first argument, an array that is
not theirs to keep. An exception ends the reduction, which throws it.

The library calls them on the threads of the context, and Julia's functions may run on Julia's own: the context has one thread.
"""
mutable struct Codec
    raw::Lib.lpt_comm_codec
    callback::Callback
    function Codec(name::AbstractString; bytes_for, encode, decode)
        isascii(name) && 1 <= length(name) <= 12 && !('\0' in name) ||
            throw(LPTError(Lib.LPT_INVALID_ARGUMENT, "name is \"$name\": expected 1 to 12 bytes of ASCII"))
        callback = Callback((bytes_for = bytes_for, encode = encode, decode = decode, sizes = Dict{Int64,Int64}()))
        letters = ntuple(i -> i <= length(name) ? UInt8(name[i]) : 0x00, 16)
        raw = with(Lib.lpt_comm_codec; name = letters, user = pointer(callback),
                   bytes_for = @cfunction(call_bytes_for, Int64, (Ptr{Cvoid}, Int64)),
                   encode = @cfunction(call_encode, Int32, (Ptr{Cvoid}, Ptr{Float32}, Int64, Ptr{UInt8})),
                   decode = @cfunction(call_decode, Int32, (Ptr{Cvoid}, Ptr{UInt8}, Int64, Ptr{Float32})))
        new(raw[], callback)
    end
end

"Calls with a codec, or with C's NULL; throws what the codec threw."
function with_codec(call, context::Context, codec)
    codec === nothing && return check(context, call(C_NULL))
    context.thread_count == 1 ||
        throw(LPTError(Lib.LPT_UNSUPPORTED, "thread_count is $(context.thread_count): expected 1 with a codec of Julia"))
    native = Ref(codec.raw)
    GC.@preserve codec native begin
        status = call(Base.unsafe_convert(Ptr{Lib.lpt_comm_codec}, native))
    end
    check(context, status, codec.callback)
end
