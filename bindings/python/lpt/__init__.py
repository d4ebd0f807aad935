"""LPT, the low-precision training toolkit: casts, GEMM, collectives and training in FP8, FP4, MX, NVFP4, INT8 and others.

    import lpt
    q = lpt.quantize(x, "nvfp4")      # x: a NumPy array, a torch tensor or any buffer; not copied
    y = lpt.gemm(q, w)                # operands of any two formats
    lpt.dequantize(q)                 # an lpt.Tensor; memoryview(), numpy.asarray() and torch.from_dlpack() share its memory

lpt.capi exports every function of lpt.h under its C name. docs/languages/python.md is the guide.
"""
import os as _os

from . import capi
from ._errors import (BY_STATUS as _BY_STATUS, Aborted, Busy, Cancelled, Error, Internal, InvalidArgument, InvalidState,
                      Mismatch, OutOfMemory, Timeout, Unsupported, WorkFailed)

capi.set_error_classes(_BY_STATUS)

from . import _autopilot, _comm, _context, _loss_scaler, _lossy, _monitor, _nn, _ops, _schedule, _sparse, _tensor, _train  # noqa: E402
from ._autopilot import *  # noqa: E402, F403
from ._codec import Codec  # noqa: E402
from ._comm import *  # noqa: E402, F403
from ._context import *  # noqa: E402, F403
from ._loss_scaler import *  # noqa: E402, F403
from ._lossy import *  # noqa: E402, F403
from ._monitor import *  # noqa: E402, F403
from ._nn import *  # noqa: E402, F403
from ._ops import *  # noqa: E402, F403
from ._options import Random  # noqa: E402
from ._schedule import *  # noqa: E402, F403
from ._sparse import *  # noqa: E402, F403
from ._tensor import *  # noqa: E402, F403
from ._train import *  # noqa: E402, F403

__version__ = capi.lpt_version_string()


def get_include() -> str:
    """Return the directory of lpt.h, to compile C code against the library of this package."""
    return _os.path.join(_os.path.dirname(__file__), "include")


# Type checkers read this form.
__all__ = ["Aborted", "Busy", "Cancelled", "Codec", "Error", "Internal", "InvalidArgument", "InvalidState", "Mismatch",
           "OutOfMemory", "Random", "Timeout", "Unsupported", "WorkFailed", "capi", "get_include"]
__all__ += _autopilot.__all__
__all__ += _comm.__all__
__all__ += _context.__all__
__all__ += _loss_scaler.__all__
__all__ += _lossy.__all__
__all__ += _monitor.__all__
__all__ += _nn.__all__
__all__ += _ops.__all__
__all__ += _schedule.__all__
__all__ += _sparse.__all__
__all__ += _tensor.__all__
__all__ += _train.__all__
