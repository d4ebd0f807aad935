"""N:M sparse masks, and compressed 2:4 matrices."""
from __future__ import annotations

__all__ = ["sparse_absorb", "sparse_apply", "sparse_check", "sparse_choose_kept", "sparse_compare", "sparse_compress",
           "sparse_decay", "sparse_decompress", "sparse_diversity", "sparse_fit", "sparse_order", "sparse_select",
           "sparse_values"]

from array import array

from . import capi
from ._context import Context, constant, handle_of, values_of
from ._options import options, takes
from ._tensor import Tensor, read, tensor_of, written

TYPE_CHECKING = False  # importing typing takes longer than the rest of this module
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple
    from typing_extensions import Unpack
    from ._keywords import SparseFitOptions, SparseOptions


@takes(capi.lpt_sparse_options)
def sparse_select(x: Any, *, context: Optional[Context] = None, **given: Unpack[SparseOptions]) -> Tuple[Tensor, Tensor]:
    """Select N of every M elements, and return the mask (uint8) and the masked tensor (lpt_sparse_mask_select())."""
    keep: List[Any] = []
    source = read(x)
    mask = capi.tensor_like(handle_of(context), source, capi.LPT_FORMAT_UINT8, 0)
    masked = capi.tensor_like(handle_of(context), source, capi.tensor_format(source), 0)
    capi.lpt_sparse_mask_select(handle_of(context), source, options(capi.lpt_sparse_options, given, keep), mask, masked,
                                None)
    return mask, masked


@takes(capi.lpt_sparse_options)
def sparse_order(weight: Any, *, context: Optional[Context] = None, **given: Unpack[SparseOptions]
                 ) -> Tuple[List[int], Dict[str, Any]]:
    """Reorder input columns so that an N:M mask along rows keeps more energy (lpt_sparse_order()).

    Returns the order of columns, and the energies as a dict.
    """
    keep: List[Any] = []
    source, values = read(weight), capi.lpt_sparse_info()
    order = array("i", range(source.shape[-1]))
    capi.lpt_sparse_order(handle_of(context), source, options(capi.lpt_sparse_options, given, keep), order, values)
    return order.tolist(), values_of(values)


@takes(capi.lpt_sparse_options)
def sparse_values(x: Any, *, context: Optional[Context] = None, **given: Unpack[SparseOptions]) -> Dict[str, Any]:
    """Return statistics of a selection by sparse_select(): energy, kept_energy, variance and counts."""
    keep: List[Any] = []
    values = capi.lpt_sparse_info()
    source = read(x)
    mask = capi.tensor_like(handle_of(context), source, capi.LPT_FORMAT_UINT8, 0)
    capi.lpt_sparse_mask_select(handle_of(context), source, options(capi.lpt_sparse_options, given, keep), mask, None,
                                values)
    return values_of(values)


def sparse_apply(x: Any, mask: Any, *, out: Any = None, context: Optional[Context] = None) -> Tensor:
    """Set elements of x to 0 where the mask is 0 (lpt_sparse_mask_apply())."""
    source = read(x)
    result = capi.tensor_like(handle_of(context), source, capi.tensor_format(source), 0) if out is None else written(out)
    capi.lpt_sparse_mask_apply(handle_of(context), source, read(mask), result)
    return result


def sparse_absorb(x: Any, mask: Any, of: int = 4, direction: str = "row", *, out: Any = None,
                  context: Optional[Context] = None) -> Tensor:
    """Apply a mask, and add the mean of the dropped elements of each group to its kept ones (lpt_sparse_absorb()).

    of: the number of elements in a group. direction: the axis of groups, "row" or "column".
    """
    source = read(x)
    result = capi.tensor_like(handle_of(context), source, capi.tensor_format(source), 0) if out is None else written(out)
    capi.lpt_sparse_absorb(handle_of(context), source, read(mask), of, constant("LPT_SPARSE_DIRECTION_", direction), result)
    return result


def sparse_diversity(kept: int = 2, of: int = 4, direction: str = "row", *, count: str = "exact") -> float:
    """Return the number of masks that a pattern allows, in bits per element (lpt_sparse_diversity())."""
    return capi.lpt_sparse_diversity(handle_of(None), kept, of, constant("LPT_SPARSE_DIRECTION_", direction),
                                     constant("LPT_SPARSE_COUNT_", count))


def sparse_choose_kept(zero_share: float, of: int = 4, confidence: float = 0.95) -> int:
    """Select N of an N:M pattern for weights that were pruned without a pattern (lpt_sparse_choose_kept()).

    zero_share: the fraction of zero weights. of: the number of elements in a group (M).
    """
    return capi.lpt_sparse_choose_kept(handle_of(None), zero_share, of, confidence)


def sparse_check(mask: Any, kept: int = 2, of: int = 4, direction: str = "row", *,
                 context: Optional[Context] = None) -> int:
    """Count the groups of a mask with more than kept nonzero elements (lpt_sparse_mask_check())."""
    return capi.lpt_sparse_mask_check(handle_of(context), read(mask), kept, of,
                                      constant("LPT_SPARSE_DIRECTION_", direction))


def sparse_compare(mask: Any, other: Any, *, context: Optional[Context] = None) -> int:
    """Count the elements in which two masks differ (lpt_sparse_mask_compare())."""
    return capi.lpt_sparse_mask_compare(handle_of(context), read(mask), read(other))


def sparse_decay(weight: Any, mask: Any, rate: float, gradient: Any, *, context: Optional[Context] = None) -> None:
    """Add rate · weight to the gradient where the mask is 0, in place (lpt_sparse_mask_decay())."""
    capi.lpt_sparse_mask_decay(handle_of(context), read(weight), read(mask), rate, written(gradient))


def sparse_compress(x: Any, mask: Any = None, *, context: Optional[Context] = None) -> Tensor:
    """Compress a dense matrix to 2:4 (lpt_sparse_compress()); the format of the result has the suffix "/2:4"."""
    source = read(x)
    compressed = capi.tensor_like(handle_of(context), source, capi.lpt_format_from_name(None, source.format + "/2:4"), 0)
    capi.lpt_sparse_compress(handle_of(context), source, None if mask is None else read(mask), compressed, None)
    return compressed


def sparse_decompress(compressed: Tensor, *, out: Any = None, context: Optional[Context] = None) -> Tensor:
    """Convert a 2:4 matrix to a dense matrix (lpt_sparse_decompress())."""
    name = tensor_of(compressed, "compressed").format
    if not name.endswith("/2:4"):
        raise ValueError(f"compressed is {name}: expected a 2:4 format, such as {name}/2:4")
    dense = capi.lpt_format_from_name(None, name[: -len("/2:4")])
    result = capi.tensor_like(handle_of(context), compressed, dense, 0) if out is None else written(out)
    capi.lpt_sparse_decompress(handle_of(context), compressed, result)
    return result


@takes(capi.lpt_sparse_fit_options)
def sparse_fit(weight: Any, mask: Any, inputs: Any, *, context: Optional[Context] = None, **given: Unpack[SparseFitOptions]
               ) -> Tuple[Tensor, Dict[str, Any]]:
    """Fit a masked weight to the outputs of the dense weight for some inputs, without training (lpt_sparse_fit()).

    Returns the fitted weight, and the errors before and after as a dict.
    """
    keep: List[Any] = []
    source, values = read(weight), capi.lpt_sparse_fit_info()
    result = capi.tensor_like(handle_of(context), source, capi.LPT_FORMAT_F32, 0)
    capi.lpt_sparse_fit(handle_of(context), source, read(mask), read(inputs),
                        options(capi.lpt_sparse_fit_options, given, keep), result, None, values)
    return result, values_of(values)
