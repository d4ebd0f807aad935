"""Contexts, which run operations. Each thread has a default context; all default contexts share one thread pool."""
from __future__ import annotations

__all__ = ["Context", "build_info", "default_context", "device_describe", "set_default_context"]

import threading
import weakref
from bisect import bisect_left
from operator import index as index_of

from . import capi

TYPE_CHECKING = False  # importing typing takes longer than the rest of this module
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, NoReturn, Optional, Tuple, Union


# Contexts on GPUs. A DLPack consumer must synchronize with their streams.
gpu_contexts: weakref.WeakSet[Context] = weakref.WeakSet()


class Context:
    """Runs operations: holds threads, kernel selection, error text and profile (lpt_context).

    A context runs one call at a time; a second call raises Busy. A with statement closes the context.

    thread_count: number of threads; 0 for all CPUs that the process may use.
    isa: the highest instruction set to use: "auto", "reference", "x86_avx2", "x86_avx512", "x86_avx512_bf16" or "x86_amx".
    device: "cpu" or "cuda", the device on which operations run and allocate their results; device_index selects one.
    threads_of: a context whose threads this context shares.
    stream: the first CUDA stream of the context, as in set_stream().

    Operations on a GPU are queued on a stream. The caller keeps their inputs alive until synchronize().
    """

    __slots__ = ("_handle", "_log", "_progress", "_stream", "device", "device_index", "__weakref__")

    def __init__(self, thread_count: int = 0, isa: str = "auto", *, device: str = "cpu", device_index: int = 0,
                 threads_of: Optional[Context] = None, stream: Optional[int] = None) -> None:
        options = capi.lpt_context_options()
        options.thread_count = thread_count
        options.isa = constant("LPT_ISA_", isa)
        options.device = constant("LPT_DEVICE_", device)
        options.device_index = device_index
        options.threads_of = None if threads_of is None else handle_of(threads_of, "threads_of")
        options.stream = stream
        self._handle = capi.context_of(options)
        self.device: str = device
        self.device_index: int = device_index
        self._stream = stream or _DEFAULT_STREAM
        if device == "cuda":
            gpu_contexts.add(self)
        # References to callbacks that the library may call.
        self._log: Any = None
        self._progress: Any = None

    def __reduce__(self) -> NoReturn:
        raise TypeError("a context belongs to its process and cannot be pickled")

    def close(self) -> None:
        """Close the context after its current call; a thread with this default context gets a new one at its next call."""
        self._handle = None  # a running call holds a reference to the handle
        gpu_contexts.discard(self)
        if getattr(_local, "context", None) is self:
            del _local.context, _local.handle

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def explanation(self) -> str:
        """Text that names the kernel of the last operation, and the reason why each faster kernel was not used."""
        return capi.lpt_context_explanation(handle_of(self))

    def set_threads(self, thread_count: int) -> None:
        """Set the number of threads, which the context then owns; 0 for all CPUs that the process may use."""
        capi.lpt_context_set_threads(handle_of(self), thread_count)

    def set_isa(self, isa: str) -> None:
        """Set the highest instruction set that kernels may use; names as for Context()."""
        capi.lpt_context_set_isa(handle_of(self), constant("LPT_ISA_", isa))

    def set_stream(self, stream: Optional[int]) -> None:
        """Set the CUDA stream on which the context queues work.

        stream: the address of a stream, such as torch.cuda.Stream.cuda_stream; None for the default stream of CUDA.
        """
        capi.lpt_context_set_stream(handle_of(self), stream)
        self._stream = stream or _DEFAULT_STREAM

    @property
    def stream(self) -> int:
        """Address of the CUDA stream of the context; 0 for the default stream of CUDA, and on the CPU."""
        return capi.lpt_context_stream(handle_of(self))

    def wait_stream(self, stream: Optional[int]) -> None:
        """Make later work of the context wait for the work that is queued on another stream so far."""
        capi.lpt_context_wait_stream(handle_of(self), stream)

    def notify_stream(self, stream: Optional[int]) -> None:
        """Make later work of another stream wait for the work that the context has queued so far."""
        capi.lpt_context_notify_stream(handle_of(self), stream)

    def wait_event(self, event: int) -> None:
        """Make later work of the context wait for an event, such as torch.cuda.Event.cuda_event."""
        capi.lpt_context_wait_event(handle_of(self), event)

    def record_event(self, event: int) -> None:
        """Record an event behind the work that the context has queued so far."""
        capi.lpt_context_record_event(handle_of(self), event)

    def trim(self, keep_bytes: int = 0) -> None:
        """Free scratch memory until the context holds no more than keep_bytes."""
        capi.lpt_context_trim(handle_of(self), keep_bytes)

    def synchronize(self) -> None:
        """Wait until all queued work is complete; on a CPU context, return at once."""
        capi.lpt_context_synchronize(handle_of(self))

    def set_log(self, log: Optional[Callable[[int, str], None]], level: str = "info") -> None:
        """Set a function log(level, text), which the library calls on the thread of the operation; None disables logging."""
        called = _called_back(log)
        capi.lpt_context_set_log(handle_of(self), constant("LPT_LOG_LEVEL_", level), called)
        self._log = called

    def set_progress(self, progress: Optional[Callable[[int, int], Any]]) -> None:
        """Set a function progress(done, total), which long operations call; None removes it.

        If it returns a true value, the operation stops and raises Cancelled.
        """
        called = _called_back(progress)
        capi.lpt_context_set_progress(handle_of(self), called)
        self._progress = called

    def start_profile(self) -> None:
        """Clear the profile and start recording."""
        capi.lpt_context_set_profile(handle_of(self), 1)

    def stop_profile(self) -> List[Dict[str, Any]]:
        """Stop recording and return the entries of the profile, longest time first.

        Each entry is a dict of operation, kernel, calls, seconds, bytes and flops.
        """
        capi.lpt_context_set_profile(handle_of(self), 0)
        entries: List[Dict[str, Any]] = []
        for index in range(capi.lpt_context_profile_count(handle_of(self))):
            entry = capi.lpt_profile_entry()
            capi.lpt_context_profile_entry(handle_of(self), index, entry)
            entries.append(values_of(entry))
        return entries

    def save_profile(self, path: str) -> None:
        """Write the recorded calls as a Chrome trace."""
        capi.lpt_context_profile_save(handle_of(self), path)


_DEFAULT_STREAM = 1  # number of CUDA's default stream in DLPack; other streams have their address


def streams_of(index: int) -> List[int]:
    """Return the streams on which contexts of a GPU queue work."""
    return sorted({context._stream for context in list(gpu_contexts) if context.device_index == index})


def wait_for_work(index: int, stream: Optional[int]) -> None:
    """Wait for work that contexts of a GPU queued on other streams than the stream of a DLPack consumer.

    stream: the consumer's stream as in DLPack; -1 to skip the wait.
    """
    if stream == 0:
        raise BufferError("stream is 0: expected None, -1, 1, 2, or the address of a stream")
    if stream == -1:
        return
    for context in list(gpu_contexts):
        if context.device_index == index and context._stream != (_DEFAULT_STREAM if stream is None else stream):
            context.synchronize()


def device_describe(device: str = "cpu", index: int = 0) -> Dict[str, Any]:
    """Describe a device (lpt_device_describe()); a missing device is not an error.

    Returns a dict of count, is_usable, reason (why the device is not usable), name, memory_bytes, processor_count,
    capability_major and capability_minor.
    """
    description = capi.lpt_device_info()
    capi.lpt_device_describe(None, constant("LPT_DEVICE_", device), index, description)
    return values_of(description)


def build_info() -> str:
    """Return the release, compiler and instruction sets of the library in one line."""
    return capi.lpt_build_info()


_local = threading.local()
_shared: Dict[Any, Any] = {}  # "pool": a context whose threads the default contexts of all threads share; it runs no calls


def default_context() -> Context:
    """Return the default context of the calling thread, which is created at its first use and ends with the thread.

    Default contexts of all threads share one thread pool. A forked process starts new threads for its pool.
    """
    handle_of(None)
    return _local.context


def set_default_context(context: Context) -> None:
    """Set the default context of the calling thread."""
    if not isinstance(context, Context):
        raise TypeError(f"context is {context!r}: expected a Context")
    _local.handle = handle_of(context)
    _local.context = context


def handle_of(context: Optional[Context], name: str = "context") -> Any:
    if context is not None:
        if not isinstance(context, Context):
            raise TypeError(f"{name} is {context!r}: expected a Context or None")
        if context._handle is None:
            raise ValueError("context is closed: expected an open one")
        return context._handle
    try:
        return _local.handle
    except AttributeError:
        # setdefault() is atomic, so that no lock is needed, which a forked process would inherit.
        pool = _shared.get("pool") or _shared.setdefault("pool", Context())
        set_default_context(Context(threads_of=pool))
        return _local.handle


def call_back(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of the user inside a callback of the library.

    The outer call may use the default context of the thread. Until the function returns, a new default context replaces it.
    """
    outer = dict(_local.__dict__)
    _local.__dict__.clear()
    try:
        return function(*arguments)
    finally:
        _local.__dict__.clear()
        _local.__dict__.update(outer)


def _called_back(function: Any) -> Any:
    return (lambda *arguments: call_back(function, *arguments)) if callable(function) else function


def constant(prefix: str, value: Union[str, int], name: str = "") -> int:
    """Return a constant by the suffix of its name, such as constant("LPT_ISA_", "auto"); name: the argument, for errors."""
    name = name or prefix[:-1].rsplit("_", 1)[1].lower()
    if not isinstance(value, str):
        try:
            return index_of(value)
        except TypeError:
            raise TypeError(f"{name} is {value!r}: expected a name or a number of {prefix}*") from None
    found = getattr(capi, prefix + value.upper(), None)
    if found is None:
        raise ValueError(f'{name} is "{value}": expected one of {", ".join(names_of(prefix))}')
    return found


_constants = sorted(name for name in vars(capi) if name.startswith("LPT_"))


def names_of(prefix: str) -> List[str]:
    """Return the ends of the names of constants, in lower case."""
    begin, end = bisect_left(_constants, prefix), bisect_left(_constants, prefix + "a")
    return [name[len(prefix):].lower() for name in _constants[begin:end]]


def flag(value: Any, name: str) -> bool:
    """Return an argument that is True or False; also 0, 1, and a bool of NumPy."""
    if isinstance(value, (str, bytes)) or value not in (0, 1):
        raise TypeError(f"{name} is {value!r}: expected True or False")
    return bool(value)


def member_handle(value: Any, name: str, kind: str) -> Any:
    """Return the handle of an argument; kind: the name of its class, for errors."""
    try:
        return value._handle
    except AttributeError:
        raise TypeError(f"{name} is {value!r}: expected a {kind}") from None


def values_of(struct: Any) -> Dict[str, Any]:
    """Return the members of an info struct as a dict."""
    return {name: getattr(struct, name) for name in members_of(type(struct))}


_members: Dict[Any, Tuple[str, ...]] = {}


def members_of(kind: Any) -> Tuple[str, ...]:
    if kind not in _members:
        hidden = ("struct_size", "reserved", "this", "thisown")
        _members[kind] = tuple(name for name in dir(kind)
                               if not name.startswith("__") and name not in hidden and not callable(getattr(kind, name)))
    return _members[kind]
