"""8-bit optimizer state and optimizer steps of bitsandbytes on the CPU, for peers.py, and the f32 step of PyTorch."""
import bitsandbytes
import torch
from bitsandbytes import functional

from peers_race import Contender

NAME = f"bitsandbytes {bitsandbytes.__version__}"
BLOCK = 256  # of the state of its optimizers


def step(name, optimizer, count, **options):
    parameter = torch.nn.Parameter(torch.randn(count))
    parameter.grad = torch.randn(count)
    return Contender(name, "", 0, optimizer([parameter], lr=1e-3, **options).step)


def casts(count):
    """Casts of one state: a step of AdamW casts two, both ways."""
    source, code = torch.randn(count), functional.create_dynamic_map()
    codes, state = functional.quantize_blockwise(source, code=code, blocksize=BLOCK)
    yield Contender("bitsandbytes quantize_blockwise", "", 0,
                    lambda: functional.quantize_blockwise(source, code=code, blocksize=BLOCK))
    yield Contender("bitsandbytes dequantize_blockwise", "", 0, lambda: functional.dequantize_blockwise(codes, state))


def contenders(count, threads):
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    return [*casts(count), step("bitsandbytes AdamW8bit", bitsandbytes.optim.AdamW8bit, count),
            step("bitsandbytes Lion8bit", bitsandbytes.optim.Lion8bit, count),
            step("PyTorch AdamW, f32, fused", torch.optim.AdamW, count, fused=True)]
