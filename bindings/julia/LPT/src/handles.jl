"Error of a call: the status, and the error text of the library."
struct LPTError <: Exception
    status::Lib.lpt_status
    text::String
end

"Return the name of a status, such as \"invalid argument\"."
status_text(status) = unsafe_string(Lib.lpt_status_string(status))

Base.showerror(io::IO, error::LPTError) =
    print(io, status_text(error.status), isempty(error.text) ? "" : ": ", error.text)

"Owns a handle of the library. The finalizer or `close` destroys it."
abstract type Handle end

# ccall keeps converted arguments alive during the call.
Base.unsafe_convert(::Type{Ptr{Cvoid}}, handle::Handle) = handle.raw

# A finalizer may run while its task holds the lock of _symbol(). Look up the symbol before.
function own(handle::Handle, destroy::Symbol)
    address = Lib._symbol(destroy)
    finalizer(handle) do one
        raw, one.raw = one.raw, C_NULL
        raw == C_NULL || ccall(address, Cvoid, (Ptr{Cvoid},), raw)
    end
end

Base.close(handle::Handle) = finalize(handle)

"Runs operations: holds threads, memory, error text and the choice of kernels. It runs one call at a time."
mutable struct Context <: Handle
    raw::Ptr{Cvoid}
    thread_count::Int # requested number; 0: all CPUs
    log::Any          # keeps the callback alive
    progress::Any     # keeps the callback alive
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

"Throw the exception of a callback in the last call, or an LPTError unless `status` is LPT_OK."
function check(context::Context, status, callbacks...)
    # The error text of the context belongs to the call that is running.
    status == Lib.LPT_BUSY && throw(LPTError(status, ""))
    for callback in (context.log, context.progress, callbacks...)
        error = take_error!(callback)
        error === nothing || throw(error)
    end
    status == Lib.LPT_OK && return nothing
    throw(LPTError(status, GC.@preserve context unsafe_string(Lib.lpt_context_error(context))))
end

"Return the defaults of an options struct with changed members; `true` and `false` become 1 and 0."
function with(::Type{T}; members...) where {T}
    defaults = Ref{T}()
    Lib._defaults(T, defaults)
    for name in keys(members)
        name in fieldnames(T) || throw(LPTError(Lib.LPT_INVALID_ARGUMENT, "$name is not a member of $(nameof(T))"))
    end
    Ref(T((convert(fieldtype(T, name), get(members, name, getfield(defaults[], name))) for name in fieldnames(T))...))
end

"Return a source of random bits; see lpt_random in lpt.h."
random(; seed = 0, offset = 0, row_stride = 0, stream = 0, step = 0) = Lib.lpt_random(seed, offset, row_stride, stream, step)
