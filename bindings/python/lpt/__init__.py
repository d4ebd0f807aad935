"""LPT, the low-precision training toolkit: numbers in FP8, FP4, MX, NVFP4, INT8 and others, products of them, and training.

    import lpt
    q = lpt.quantize(x, "nvfp4")      # x: a NumPy array, a torch tensor, any buffer; without a copy
    y = lpt.gemm(q, w)                # any two formats
    lpt.dequantize(q)                 # an lpt.Tensor: memoryview(), numpy.asarray(), torch.from_dlpack() share its memory

Every function of the C header is in lpt.capi under its own name. docs/languages/python.md is the guide.
"""
import os as _os

from . import capi
from ._errors import (BY_STATUS as _BY_STATUS, Aborted, Busy, Cancelled, Error, Internal, InvalidArgument, InvalidState, Mismatch,
                      OutOfMemory, Timeout, Unsupported, WorkFailed)

capi.set_error_classes(_BY_STATUS)

from ._codec import Codec  # noqa: E402
from ._comm import Comm, Future, GradientBuckets, Group, PartialPlan  # noqa: E402  (classes of errors come first)
from ._context import Context, build_info, default_context, device_describe, set_default_context  # noqa: E402
from ._monitor import Monitor, collective_cost, cost_break_even, link_fit, noise_measure, swiglu_alignment  # noqa: E402
from ._ops import (GemmPlan, Statistics, convert, dequantize, foreign_layout_export, foreign_layout_import, fake_quantize,  # noqa: E402
                   cross_entropy, cross_entropy_backward, format_describe, format_from_description, gemm, gemm_grouped, hadamard, quantize, random_signs, rmsnorm,
                   rmsnorm_backward, rmsnorm_sum, softmax, softmax_backward, swiglu, swiglu_backward, tensor_copy, weights_load,
                   weights_order, weights_pack, weights_save, weights_unpack)
from ._options import Random  # noqa: E402
from ._sparse import (sparse_absorb, sparse_apply, sparse_check, sparse_choose_kept, sparse_compare,  # noqa: E402
                      sparse_compress, sparse_decay, sparse_decompress, sparse_diversity, sparse_fit, sparse_order, sparse_select, sparse_values)
from ._tensor import Tensor, combine, empty, format_name, format_text, from_dlpack  # noqa: E402
from ._train import Linear, Optimizer, Recipe, Scaler, gradients_measure, recipe_names, share_amax, update  # noqa: E402

__version__ = capi.lpt_version_string()


def get_include() -> str:
    """The folder of lpt.h, for those who compile against the library inside this package."""
    return _os.path.join(_os.path.dirname(__file__), "include")


__all__ = [name for name in dir() if not name.startswith("_")]
