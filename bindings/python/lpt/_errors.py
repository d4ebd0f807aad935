"""Exceptions: one class per status, each carrying the library's own text."""


class Error(Exception):
    """What the library refuses or cannot do; the text names the argument, its value and what was expected. status: the
    lpt_status."""

    status = 0


class InvalidArgument(Error, ValueError):
    """An argument is wrong."""


class Unsupported(Error, NotImplementedError):
    """Well formed, but nothing here can do it; the text lists what was tried and why not."""


class OutOfMemory(Error, MemoryError):
    """Memory could not be had."""


class InvalidState(Error, ValueError):
    """A saved state is truncated, damaged, or of another kind; nothing was changed."""


class Internal(Error, RuntimeError):
    """A defect of the library."""


class Cancelled(Error):
    """The progress callback asked for it; outputs hold parts of the result."""


class Aborted(Error, ConnectionError):
    """Another rank has left or given up; the text names it."""


class Timeout(Error, TimeoutError):
    """Another rank did not come in time; the text names those that are missing."""


class Mismatch(Error, RuntimeError):
    """Ranks do not agree about a collective, or bytes were damaged on their way."""


class WorkFailed(Error, RuntimeError):
    """A device failed, at this call or at work queued before; the text has its driver's words."""


class Busy(Error, RuntimeError):
    """The context is in use by another call: of another thread, or of the library's callback that made this one."""


# By lpt_status.
BY_STATUS = (Error, InvalidArgument, Unsupported, OutOfMemory, InvalidState, Internal, Cancelled, Aborted, Timeout,
             Mismatch, WorkFailed, Busy)
for _status, _kind in enumerate(BY_STATUS):
    _kind.status = _status
