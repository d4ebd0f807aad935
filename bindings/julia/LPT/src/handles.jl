"A call that did not end well: its status, and the library's text."
struct LPTError <: Exception
    status::Lib.lpt_status
    text::String
end

"A status in words, such as \"invalid argument\"."
status_text(status) = unsafe_string(Lib.lpt_status_string(status))

Base.showerror(io::IO, error::LPTError) =
    print(io, status_text(error.status), isempty(error.text) ? "" : ": ", error.text)

"Owns a handle of the library, which a finalizer ends, or `close`."
abstract type Handle end

# ccall keeps what it converts alive for the call.
Base.unsafe_convert(::Type{Ptr{Cvoid}}, handle::Handle) = handle.raw

# Finalizers run at any moment: looking a symbol up there could wait for its own lock, so it was looked up before.
function own(handle::Handle, destroy::Symbol)
    place = Lib._symbol(destroy)
    finalizer(handle) do one
        raw, one.raw = one.raw, C_NULL
        raw == C_NULL || ccall(place, Cvoid, (Ptr{Cvoid},), raw)
    end
end

Base.close(handle::Handle) = finalize(handle)

"The worker. It serves one task at a time."
mutable struct Context <: Handle
    raw::Ptr{Cvoid}
    thread_count::Int # as wished for: 0 is as many as there are cores
    log::Any          # what the library calls lives as long
    progress::Any
    function Context(; thread_count = 0, members...)
        text, out = zeros(UInt8, 256), Ref{Ptr{Cvoid}}(C_NULL)
        GC.@preserve text begin
            options = with(Lib.lpt_context_options; error_text = pointer(text), error_text_bytes = length(text),
                           thread_count = thread_count, members...)
            status = Lib.lpt_context_create(options, out)
        end
        status == Lib.LPT_OK || throw(LPTError(status, unsafe_string(pointer(text))))
        own(new(out[], thread_count, nothing, nothing), :lpt_context_destroy)
    end
end

"Throws what a callback threw in the last call, or what that came to, unless it is LPT_OK."
function check(context::Context, status, callbacks...)
    # The context's texts are those of the call that runs.
    status == Lib.LPT_BUSY && throw(LPTError(status, ""))
    for callback in (context.log, context.progress, callbacks...)
        error = take_error!(callback)
        error === nothing || throw(error)
    end
    status == Lib.LPT_OK && return nothing
    throw(LPTError(status, GC.@preserve context unsafe_string(Lib.lpt_context_error(context))))
end

"The library's defaults of an options struct, with the members that are named changed; a truth is a number in C."
function with(::Type{T}; members...) where {T}
    place = Ref{T}()
    Lib._defaults(T, place)
    for name in keys(members)
        name in fieldnames(T) || throw(LPTError(Lib.LPT_INVALID_ARGUMENT, "$name is no member of $(nameof(T))"))
    end
    Ref(T((convert(fieldtype(T, name), get(members, name, getfield(place[], name))) for name in fieldnames(T))...))
end

"Where random bits come from; see lpt_random in lpt.h."
random(; seed = 0, offset = 0, row_stride = 0, stream = 0, step = 0) = Lib.lpt_random(seed, offset, row_stride, stream, step)
