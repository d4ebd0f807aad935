"""Contexts: the workers. Every thread has one of its own unless another is given; these share one pool of threads."""
from __future__ import annotations

__all__ = ["Context", "build_info", "default_context", "device_describe", "set_default_context"]

import threading
import weakref
from operator import index as index_of

from . import capi

TYPE_CHECKING = False  # importing typing would take longer than all else here
if TYPE_CHECKING:
    from typing import Any, Callable, List, Optional, Union


# Contexts of GPUs, whose streams other libraries have to wait for.
gpu_contexts: weakref.WeakSet[Context] = weakref.WeakSet()


class Context:
    """A worker: threads, choice of kernels, error text, profile. Serves one call at a time: a second one raises Busy.

    thread_count: 0 for as many as the process may use. threads_of: a context whose threads this one shares. isa: the
    highest instruction set to use ("auto", "reference", "x86_avx2", "x86_avx512", "x86_avx512_bf16", "x86_amx"). device:
    "cpu" or "cuda", with device_index; what operations make lies there. Work of a GPU is queued: what it reads has to stay
    until synchronize(). A with statement closes the context.
    """

    __slots__ = ("_handle", "_log", "_progress", "_stream", "device", "device_index", "__weakref__")

    def __init__(self, thread_count: int = 0, isa: str = "auto", *, device: str = "cpu", device_index: int = 0,
                 threads_of: Optional[Context] = None) -> None:
        options = capi.lpt_context_options()
        options.thread_count = thread_count
        options.isa = constant("LPT_ISA_", isa)
        options.device = constant("LPT_DEVICE_", device)
        options.device_index = device_index
        options.threads_of = None if threads_of is None else handle_of(threads_of)
        self._handle = capi.context_of(options)
        self.device, self.device_index = device, device_index
        self._stream = _DEFAULT_STREAM
        if device == "cuda":
            gpu_contexts.add(self)
        # Kept for as long as the library may call them.
        self._log: Any = None
        self._progress: Any = None

    def __reduce__(self):
        raise TypeError("a context is a worker of this process and cannot be pickled")

    def close(self) -> None:
        """Ends the context, after the calls that use it. A thread whose own context it is gets a new one."""
        self._handle = None  # calls hold the handle until they end
        gpu_contexts.discard(self)
        if getattr(_local, "context", None) is self:
            del _local.context, _local.handle

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def explanation(self) -> str:
        """Which kernel the last operation took, and why each faster one was passed over."""
        return capi.lpt_context_explanation(handle_of(self))

    def set_threads(self, thread_count: int) -> None:
        """Gives this context threads of its own, so many; 0: as many as the process may use."""
        capi.lpt_context_set_threads(handle_of(self), thread_count)

    def set_isa(self, isa: str) -> None:
        """Changes the highest instruction set that may be used."""
        capi.lpt_context_set_isa(handle_of(self), constant("LPT_ISA_", isa))

    def set_stream(self, stream: Optional[int]) -> None:
        """Queues work of a GPU on another stream, by its address: torch.cuda.Stream.cuda_stream; None: CUDA's default."""
        capi.lpt_context_set_stream(handle_of(self), stream)
        self._stream = stream or _DEFAULT_STREAM

    def synchronize(self) -> None:
        """Waits for what is queued."""
        capi.lpt_context_synchronize(handle_of(self))

    def set_log(self, log: Optional[Callable[[int, str], None]], level: str = "info") -> None:
        """Calls log(level, text) on the thread that is at work; None: silent."""
        called = _called_back(log)
        capi.lpt_context_set_log(handle_of(self), constant("LPT_LOG_LEVEL_", level), called)
        self._log = called

    def set_progress(self, progress: Optional[Callable[[int, int], Any]]) -> None:
        """Calls progress(done, whole) in long calls. What is true stops the call with Cancelled."""
        called = _called_back(progress)
        capi.lpt_context_set_progress(handle_of(self), called)
        self._progress = called

    def start_profile(self) -> None:
        """Forgets what was recorded and starts to record."""
        capi.lpt_context_set_profile(handle_of(self), 1)

    def stop_profile(self) -> List[dict]:
        """Ends recording; entries with operation, kernel, calls, seconds, bytes and flops, longest time first."""
        capi.lpt_context_set_profile(handle_of(self), 0)
        entries = []
        for index in range(capi.lpt_context_profile_count(handle_of(self))):
            entry = capi.lpt_profile_entry()
            capi.lpt_context_profile_entry(handle_of(self), index, entry)
            entries.append(values_of(entry))
        return entries

    def save_profile(self, path: str) -> None:
        """Writes the recorded calls as a Chrome trace."""
        capi.lpt_context_profile_save(handle_of(self), path)


_DEFAULT_STREAM = 1  # CUDA's, as DLPack numbers it; others by their address


def streams_of(index: int) -> List[int]:
    """The streams on which contexts of a GPU queue their work."""
    return sorted({context._stream for context in list(gpu_contexts) if context.device_index == index})


def wait_for_work(index: int, stream: Optional[int]) -> None:
    """Work of a GPU that is queued on other streams than a consumer's is done. Its stream as DLPack numbers it; -1: no wait."""
    if stream == 0:
        raise BufferError("stream is 0: expected None, -1, 1, 2, or the address of a stream")
    if stream == -1:
        return
    for context in list(gpu_contexts):
        if context.device_index == index and context._stream != (_DEFAULT_STREAM if stream is None else stream):
            context.synchronize()


def device_describe(device: str = "cpu", index: int = 0) -> dict:
    """What a device is: count, is_usable and the reason why not, name, memory_bytes, processor_count, capability_major and
    capability_minor. One that is not there is no error."""
    description = capi.lpt_device_info()
    capi.lpt_device_describe(None, constant("LPT_DEVICE_", device), index, description)
    return values_of(description)


def build_info() -> str:
    """Release, compiler and instruction sets of the library, in a line."""
    return capi.lpt_build_info()


_local = threading.local()
_shared: dict = {}  # a context that no call uses: the default contexts of all threads share its threads


def default_context() -> Context:
    """The calling thread's own context, made at its first use; it ends with the thread. All of them share one pool of threads.
    A forked process starts new threads for its pool."""
    handle_of(None)
    return _local.context


def set_default_context(context: Context) -> None:
    """Makes a context the calling thread's own."""
    if not isinstance(context, Context):
        raise TypeError(f"context is {context!r}: expected a Context")
    _local.handle = handle_of(context)
    _local.context = context


def handle_of(context: Optional[Context]) -> Any:
    if context is not None:
        if context._handle is None:
            raise ValueError("context is closed: expected an open one")
        return context._handle
    try:
        return _local.handle
    except AttributeError:
        # setdefault() lets one of several threads win, without a lock that a forked process would inherit.
        pool = _shared.get("pool") or _shared.setdefault("pool", Context())
        set_default_context(Context(threads_of=pool))
        return _local.handle


def call_back(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function of the user inside a call of the library, which may use the thread's context: calls without a context
    get a new one meanwhile."""
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
    """The number of a constant by the end of its name: constant("LPT_ISA_", "auto"). name: of the argument, for errors."""
    name = name or prefix[4:-1].lower()
    if not isinstance(value, str):
        try:
            return index_of(value)
        except TypeError:
            raise TypeError(f"{name} is {value!r}: expected a name or a number of {prefix}*") from None
    found = getattr(capi, prefix + value.upper(), None)
    if found is None:
        names = sorted(name[len(prefix):].lower() for name in dir(capi) if name.startswith(prefix))
        raise ValueError(f'{name} is "{value}": expected one of {", ".join(names)}')
    return found


def values_of(struct: Any) -> dict:
    """The members of a struct of answers."""
    return {name: getattr(struct, name) for name in members_of(type(struct))}


_members: dict = {}


def members_of(kind: type) -> tuple:
    if kind not in _members:
        hidden = ("struct_size", "reserved", "this", "thisown")
        _members[kind] = tuple(name for name in dir(kind)
                               if not name.startswith("__") and name not in hidden and not callable(getattr(kind, name)))
    return _members[kind]
