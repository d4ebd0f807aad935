"""lpt.torch: PyTorch layers that compute in low precision on the CPU. It requires torch, which `import lpt` does not.

    import lpt.torch
    lpt.torch.convert_(model, "fp8_current", skip=["head"])    # the layers of torch.nn.Linear follow a recipe

docs/guides/pytorch.md is the guide.
"""
from ._attention import CrossEntropyLoss, rotary, scaled_dot_product_attention
from ._autocast import autocast
from ._autopilot import Autopilot
from ._compare import Comparison, compare
from ._convert import convert_, update_
from ._hook import ReduceState, reduce_hook
from ._linear import Linear
from ._norm import LayerNorm, RMSNorm, SwiGLU
from ._optim import SGD, Adam, AdamW, Lion
from ._quantize import QuantizedLinear, dequantize_, quantize_
from ._ranks import ColumnParallelLinear, RowParallelLinear, comm_of, partial_sum
from ._sparse import decay_masked_, mask_of, prune_, sparsify_

__all__ = ["Adam", "AdamW", "Autopilot", "ColumnParallelLinear", "Comparison", "CrossEntropyLoss", "LayerNorm", "Linear", "Lion",
           "QuantizedLinear", "RMSNorm", "ReduceState", "RowParallelLinear", "SGD", "SwiGLU", "autocast", "comm_of",
           "compare", "convert_", "decay_masked_", "dequantize_", "mask_of", "partial_sum", "prune_", "quantize_",
           "reduce_hook", "rotary", "scaled_dot_product_attention", "sparsify_", "update_"]
