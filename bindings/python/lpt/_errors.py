"""Exceptions: one class for each status, with the error text of the library."""


class Error(Exception):
    """Base class of all errors of the library.

    The text names the argument, its value and the expected values. status is the lpt_status.
    """

    status = 0


class InvalidArgument(Error, ValueError):
    """An argument is invalid."""


class Unsupported(Error, NotImplementedError):
    """The arguments are valid, but no kernel or device supports them; the text lists the reasons."""


class OutOfMemory(Error, MemoryError):
    """Memory could not be allocated."""


class InvalidState(Error, ValueError):
    """A saved state is truncated, damaged, or of another kind; the object is unchanged."""


class Internal(Error, RuntimeError):
    """An internal error of the library."""


class Cancelled(Error):
    """The progress callback cancelled the operation; outputs are incomplete."""


class Aborted(Error, ConnectionError):
    """Another rank has failed or closed its communicator; the text names it."""


class Timeout(Error, TimeoutError):
    """Other ranks did not join a collective before the timeout; the text names them."""


class Mismatch(Error, RuntimeError):
    """Ranks call different collectives, or a message was damaged in transfer."""


class WorkFailed(Error, RuntimeError):
    """A device failed in this call or in work queued before; the text contains the message of the driver."""


class Busy(Error, RuntimeError):
    """The context is in use by another call, on another thread or on this thread around a callback."""


# Indexed by lpt_status.
BY_STATUS = (Error, InvalidArgument, Unsupported, OutOfMemory, InvalidState, Internal, Cancelled, Aborted, Timeout,
             Mismatch, WorkFailed, Busy)
for _status, _kind in enumerate(BY_STATUS):
    _kind.status = _status
